/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcuda.so.1 over simulated devices, as programs use it: linked or by dlopen, with declarations
 * of their own and no header of this library. Kernels are checked by their results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As in cuda.h. */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUlib_st *CUlibrary;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

#define FUNCTIONS(X)                                                                               \
    X(cuInit, (unsigned flags))                                                                    \
    X(cuDriverGetVersion, (int *version))                                                          \
    X(cuDeviceGetCount, (int *count))                                                              \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                               \
    X(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device))                        \
    X(cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device))                      \
    X(cuCtxCreate_v4, (CUcontext * context, void *params, unsigned flags, CUdevice device))        \
    X(cuCtxDestroy_v2, (CUcontext context))                                                        \
    X(cuCtxSetCurrent, (CUcontext context))                                                        \
    X(cuCtxGetDevice_v2, (CUdevice * device, CUcontext context))                                   \
    X(cuCtxSynchronize, (void))                                                                    \
    X(cuModuleLoadData, (CUmodule * module, const void *image))                                    \
    X(cuModuleLoad, (CUmodule * module, const char *path))                                         \
    X(cuModuleUnload, (CUmodule module))                                                           \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))             \
    X(cuLibraryLoadData, (CUlibrary * library, const void *code, void *options, void **values,     \
                             unsigned count, void *more, void **more_values, unsigned more_count)) \
    X(cuLibraryUnload, (CUlibrary library))                                                        \
    X(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name))                \
    X(cuLibraryGetGlobal,                                                                          \
        (CUdeviceptr * address, size_t * bytes, CUlibrary library, const char *))                  \
    X(cuKernelGetFunction, (CUfunction * function, CUkernel kernel))                               \
    X(cuKernelGetName, (const char **name, CUkernel kernel))                                       \
    X(cuKernelGetAttribute, (int *value, int attribute, CUkernel kernel, CUdevice device))         \
    X(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,     \
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,   \
                          CUstream stream, void **arguments, void **extra))                        \
    X(cuLaunchKernel_ptsz,                                                                         \
        (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
            unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,                  \
            void **arguments, void **extra))                                                       \
    X(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                        \
    X(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags))                    \
    X(cuMemAllocPitch_v2,                                                                          \
        (CUdeviceptr * address, size_t * pitch, size_t width, size_t height, unsigned item))       \
    X(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream))                     \
    X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                                      \
    X(cuMemFree_v2, (CUdeviceptr address))                                                         \
    X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))                           \
    X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))                                 \
    X(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                                  \
    X(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))            \
    X(cuMemcpyAsync_ptsz, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))       \
    X(cuMemcpy_ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                             \
    X(cuMemsetD2D32_v2,                                                                            \
        (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height))               \
    X(cuMemAdvise, (CUdeviceptr address, size_t bytes, int advice, CUdevice device))               \
    X(cuStreamCreate, (CUstream * stream, unsigned flags))                                         \
    X(cuStreamDestroy_v2, (CUstream stream))                                                       \
    X(cuStreamSynchronize, (CUstream stream))                                                      \
    X(cuStreamAddCallback,                                                                         \
        (CUstream stream, void (*call)(CUstream, int, void *), void *user, unsigned flags))        \
    X(cuStreamGetCtx_v2, (CUstream stream, CUcontext * context, void **green))                     \
    X(cuEventCreate, (CUevent * event, unsigned flags))                                            \
    X(cuEventDestroy_v2, (CUevent event))                                                          \
    X(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags))                    \
    X(cuEventElapsedTime_v2, (float *milliseconds, CUevent begin, CUevent end))                    \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,                                        \
        (int *blocks, CUfunction function, int block, size_t shared, unsigned flags))              \
    X(cuArrayCreate_v2, (void **array, const void *descriptor))                                    \
    X(cuGetProcAddress,                                                                            \
        (const char *name, void **function, int version, unsigned long long flags))                \
    X(cuGetProcAddress_v2,                                                                         \
        (const char *name, void **function, int version, unsigned long long flags, int *found))    \
    X(cuGetExportTable, (const void **table, const void *id))
#define DECLARE(name, parameters) extern int name parameters;
FUNCTIONS(DECLARE)
#undef DECLARE

#define OK(call) assert_int_equal(call, 0)

enum { COUNT = 1000, BLOCK = 128 };

static const char ptx[] =
    ".version 7.0\n.target sm_60\n.address_size 64\n"
    ".visible .global .align 4 .u32 scale = 3;\n"
    ".visible .entry scale_add(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n"
    "\t.reg .pred %p;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %d<6>;\n"
    "\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, %tid.x;\n"
    "\tmad.lo.u32 %r1, %r1, %r2, %r3;\n\tld.param.u32 %r2, [n];\n"
    "\tsetp.ge.u32 %p, %r1, %r2;\n\t@%p bra done;\n"
    "\tld.param.u64 %d1, [x];\n\tld.param.u64 %d2, [y];\n\tmul.wide.u32 %d3, %r1, 4;\n"
    "\tadd.u64 %d1, %d1, %d3;\n\tadd.u64 %d2, %d2, %d3;\n"
    "\tld.global.u32 %r4, [%d1];\n\tld.global.u32 %r5, [%d2];\n\tld.global.u32 %r6, [scale];\n"
    "\tmad.lo.u32 %r5, %r4, %r6, %r5;\n\tst.global.u32 [%d2], %r5;\n"
    "done:\n\tret;\n}\n";

static CUcontext context;
static uint32_t x[COUNT], y[COUNT];
static CUdeviceptr on_device[2];

/* y = scale x + y, computed on the device from the inputs of `fill`. */
static void fill(void)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = i * i;
        y[i] = 7 * i + 1;
    }
    OK(cuMemcpyHtoD_v2(on_device[0], x, sizeof(x)));
    OK(cuMemcpyHtoD_v2(on_device[1], y, sizeof(y)));
}

static void check(uint32_t scale)
{
    uint32_t result[COUNT];

    OK(cuMemcpyDtoH_v2(result, on_device[1], sizeof(result)));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(result[i], scale * i * i + 7 * i + 1);
}

static int launch(void *function, CUstream stream)
{
    uint32_t count = COUNT;
    void *arguments[] = {&on_device[0], &on_device[1], &count};

    return cuLaunchKernel(
        function, (COUNT + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, arguments, NULL);
}

static int set_up(void **state)
{
    int version = 0, count = 0, major = 0, minor = 0;
    CUdevice device;

    (void)state;
    assert_int_equal(cuDeviceGetCount(&count), 3); /* before cuInit */
    OK(cuDriverGetVersion(&version));
    assert_true(version >= 12000 && version <= 20000);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    assert_int_equal(count, 2);
    OK(cuDeviceGet(&device, 1));
    OK(cuDeviceComputeCapability(&major, &minor, device));
    assert_int_equal(major * 10 + minor, 86);
    OK(cuCtxCreate_v4(&context, NULL, 0, device));
    OK(cuCtxGetDevice_v2(&device, context));
    assert_int_equal(device, 1);
    for (int i = 0; i < 2; i++)
        OK(cuMemAlloc_v2(&on_device[i], sizeof(x)));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        OK(cuMemFree_v2(on_device[i]));
    OK(cuCtxDestroy_v2(context));
    return 0;
}

static void test_module(void **state)
{
    char path[] = "libcuda-XXXXXX";
    int file = mkstemp(path), blocks = 0;
    CUmodule module;
    CUfunction function;

    (void)state;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "scale_add"));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, BLOCK, 0, 0));
    assert_true(blocks >= 1 && blocks <= 32);
    fill();
    OK(launch(function, NULL));
    OK(cuCtxSynchronize());
    check(3);
    OK(cuModuleUnload(module));
    assert_int_equal(write(file, ptx, sizeof(ptx) - 1), sizeof(ptx) - 1);
    close(file);
    OK(cuModuleLoad(&module, path));
    unlink(path);
    assert_int_equal(cuModuleLoad(&module, path), 301);
    OK(cuModuleGetFunction(&function, module, "scale_add"));
    fill();
    OK(launch(function, NULL));
    check(3);
    OK(cuModuleUnload(module));
}

/* A library is loaded where it is needed: in both contexts, with variables of its own in each. */
static void test_library(void **state)
{
    struct {
        uint32_t magic, version;
        const void *image, *file;
    } wrapper = {0x466243b1, 1, ptx, NULL};
    const uint32_t five = 5;
    CUlibrary library, other;
    CUkernel kernel, same, none;
    CUfunction function;
    CUcontext second;
    CUdeviceptr global = 0, first[2];
    const char *name = NULL;
    size_t bytes = 0;
    const unsigned char elf[64] = "\177ELF\2\1\1";
    char *text = strdup(ptx);
    int value = 0;

    (void)state;
    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    free(text); /* it was copied */
    OK(cuLibraryGetKernel(&kernel, library, "scale_add"));
    OK(cuLibraryGetKernel(&same, library, "scale_add"));
    assert_ptr_equal(kernel, same);
    assert_int_equal(cuLibraryGetKernel(&none, library, "missing"), 500);
    OK(cuKernelGetName(&name, kernel));
    assert_string_equal(name, "scale_add");
    OK(cuKernelGetAttribute(&value, 0, kernel, 0));
    assert_true(value >= 1 && value <= 1024);
    fill();
    OK(launch(kernel, NULL)); /* a kernel is valid as a function */
    check(3);
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuLibraryGetGlobal(&global, &bytes, library, "scale"));
    assert_int_equal(bytes, 4);
    OK(cuMemcpyHtoD_v2(global, &five, 4));
    fill();
    OK(launch(function, NULL));
    check(5);
    OK(cuCtxCreate_v2(&second, 0, 1));
    for (int i = 0; i < 2; i++) {
        first[i] = on_device[i]; /* memory belongs to a context */
        OK(cuMemAlloc_v2(&on_device[i], sizeof(x)));
    }
    fill();
    OK(launch(kernel, NULL)); /* of the second context, where scale is 3 */
    check(3);
    OK(cuCtxDestroy_v2(second));
    memcpy(on_device, first, sizeof(first));
    OK(cuCtxSetCurrent(context));
    fill();
    OK(launch(kernel, NULL));
    check(5);
    OK(cuLibraryLoadData(&other, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryUnload(other));
    OK(cuLibraryUnload(library));
    assert_int_equal(cuLibraryUnload(library), 400);
    assert_int_equal(launch(kernel, NULL), 400);
    assert_int_equal(cuLibraryLoadData(&library, "nonsense", NULL, NULL, 0, NULL, NULL, 0), 200);
    assert_int_equal(cuLibraryLoadData(&library, elf, NULL, NULL, 0, NULL, NULL, 0), 209);
}

static void note(CUstream stream, int code, void *user)
{
    (void)stream;
    *(int *)user = code + 1;
}

static void test_streams(void **state)
{
    CUstream stream;
    CUcontext of_stream = NULL;
    CUevent begin, end;
    CUmodule module;
    CUfunction function;
    void *green = &green;
    float milliseconds = -1;
    int called = 0;

    (void)state;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamGetCtx_v2(stream, &of_stream, &green));
    assert_ptr_equal(of_stream, context);
    assert_null(green);
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "scale_add"));
    fill();
    OK(cuEventRecordWithFlags(begin, stream, 0));
    OK(launch(function, stream));
    OK(cuEventRecordWithFlags(end, stream, 0));
    OK(cuStreamAddCallback(stream, note, &called, 0));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(called, 1);
    OK(cuEventElapsedTime_v2(&milliseconds, begin, end));
    assert_true(milliseconds >= 0);
    check(3);
    OK(cuEventDestroy_v2(begin));
    OK(cuEventDestroy_v2(end));
    OK(cuStreamDestroy_v2(stream));
    OK(cuModuleUnload(module));
}

/* The NULL stream of the second functions is the thread's: work of the legacy stream waits for
 * blocking streams, that of the thread's does not, so both have to be reached. */
static void test_thread_stream(void **state)
{
    uint32_t count = COUNT;
    void *arguments[] = {&on_device[0], &on_device[1], &count};
    CUmodule module;
    CUfunction function;
    CUstream of_thread = (CUstream)2;
    uint32_t result[COUNT] = {0};

    (void)state;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "scale_add"));
    fill();
    OK(cuLaunchKernel_ptsz(
        function, (COUNT + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyAsync_ptsz((CUdeviceptr)(uintptr_t)result, on_device[1], sizeof(result), NULL));
    OK(cuStreamSynchronize(of_thread));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(result[i], 3 * i * i + 7 * i + 1);
    OK(cuMemcpy_ptds(on_device[0], on_device[1], sizeof(x)));
    OK(cuModuleUnload(module));
}

static void test_memory(void **state)
{
    uint32_t host[COUNT], rows[2][5];
    CUdeviceptr managed = 0, pitched = 0, pooled = 0;
    size_t pitch = 0;

    (void)state;
    fill();
    /* Where the memory is follows from the addresses. */
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)host, on_device[0], sizeof(host)));
    assert_memory_equal(host, x, sizeof(x));
    OK(cuMemcpy(on_device[1], on_device[0], sizeof(x)));
    memset(host, 0, sizeof(host));
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)host, on_device[1], sizeof(host), NULL));
    OK(cuStreamSynchronize(NULL));
    assert_memory_equal(host, x, sizeof(x));
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)host, (CUdeviceptr)(uintptr_t)y, sizeof(host)));
    assert_memory_equal(host, y, sizeof(y));
    /* Managed memory is read and written by both. */
    OK(cuMemAllocManaged(&managed, sizeof(x), 1));
    assert_int_equal(cuMemAllocManaged(&managed, sizeof(x), 9), 1);
    OK(cuMemAdvise(managed, sizeof(x), 1, 0));
    assert_int_equal(cuMemAdvise(managed, sizeof(x) + 1, 1, 0), 1);
    memcpy((void *)(uintptr_t)managed, y, sizeof(y));
    OK(cuMemcpy(on_device[1], managed, sizeof(y)));
    OK(cuMemcpyDtoH_v2(host, on_device[1], sizeof(host)));
    assert_memory_equal(host, y, sizeof(y));
    OK(cuMemFree_v2(managed));
    OK(cuMemAllocPitch_v2(&pitched, &pitch, 20, 2, 4));
    assert_true(pitch >= 20 && pitch % 32 == 0);
    OK(cuMemsetD2D32_v2(pitched, pitch, 0xabcd, 5, 2));
    for (int row = 0; row < 2; row++) {
        OK(cuMemcpyDtoH_v2(rows[row], pitched + (size_t)row * pitch, 20));
        for (int at = 0; at < 5; at++)
            assert_int_equal(rows[row][at], 0xabcd);
    }
    assert_int_equal(cuMemsetD2D32_v2(pitched, 4, 0, 5, 2), 1);
    OK(cuMemFree_v2(pitched));
    OK(cuMemAllocAsync(&pooled, sizeof(x), NULL));
    OK(cuMemcpy(pooled, on_device[0], sizeof(x)));
    OK(cuMemFreeAsync(pooled, NULL));
}

/* What libcuda.so.550.163.01 answers. */
static void test_lookup(void **state)
{
    static const struct {
        const char *name;
        int version, found;
        const char *exported;
    } rows[] = {
        {"cuMemAlloc", 12000, 0, "cuMemAlloc_v2"},
        {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"},
        {"cuMemAlloc", 2000, 0, "cuMemAlloc"},
        {"cuMemAlloc", 1000, 2, NULL},
        {"cuMemAlloc", 99999, 0, "cuMemAlloc_v2"},
        {"cuMemAlloc_v2", 12000, 1, NULL},
        {"cuNothing", 12000, 1, NULL},
        {"", 12000, 1, NULL},
        {"cuGreenCtxCreate", 12000, 2, NULL},
        {"cuGreenCtxCreate", 12040, 0, "cuGreenCtxCreate"},
        {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"},
        {"cuGetProcAddress", 11030, 0, "cuGetProcAddress"},
        {"cuGetProcAddress", 11020, 2, NULL},
        {"cuCtxCreate", 12000, 0, "cuCtxCreate_v3"},
        {"cuGraphInstantiate", 12000, 0, "cuGraphInstantiateWithFlags"},
        {"cuMemcpyAsync", 12000, 0, "cuMemcpyAsync"},
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *function, *plain;
    int found;

    (void)state;
    assert_non_null(library);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        function = &found;
        found = -1;
        OK(cuGetProcAddress_v2(rows[i].name, &function, rows[i].version, 0, &found));
        if (found != rows[i].found ||
            function != (rows[i].exported ? dlsym(library, rows[i].exported) : NULL))
            fail_msg("%s %d: %d", rows[i].name, rows[i].version, found);
        assert_int_equal(
            cuGetProcAddress(rows[i].name, &function, rows[i].version, 0), rows[i].found ? 500 : 0);
    }
    /* Flag 2: the default stream is the thread's. */
    OK(cuGetProcAddress_v2("cuLaunchKernel", &function, 12000, 2, NULL));
    assert_ptr_equal(function, dlsym(library, "cuLaunchKernel_ptsz"));
    OK(cuGetProcAddress_v2("cuMemcpyAsync", &function, 12000, 2, NULL));
    assert_ptr_equal(function, dlsym(library, "cuMemcpyAsync_ptsz"));
    OK(cuGetProcAddress_v2("cuMemcpy", &function, 12000, 2, NULL));
    OK(cuGetProcAddress_v2("cuMemcpy", &plain, 12000, 1, NULL));
    assert_ptr_equal(function, plain);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &function, 12000, 4, &found), 1);
    assert_int_equal(cuGetProcAddress_v2(NULL, &function, 12000, 0, &found), 1);
    dlclose(library);
}

static void test_absent(void **state)
{
    const unsigned char id[16] = {0x6b};
    const void *table = id;
    void *array;

    (void)state;
    assert_int_equal(cuArrayCreate_v2(&array, NULL), 801);
    assert_int_equal(cuGetExportTable(&table, id), 500);
    assert_null(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_thread_stream),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_absent),
    };

    setenv("DEVICEPOOL_SIM", "sim:2,cc=86,mem=64M", 1);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
