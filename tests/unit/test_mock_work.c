/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mock driver: memory and its account, pools, copies, streams, events, modules, launches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool/mock.h>

#include "support/misuse.h"

#define MIB ((size_t)1 << 20)
#define TOTAL (64 * MIB)

static pool_mock *mock;
static const pool_cuda_api *cu;
static CUcontext context;
static CUcontext other; /* of device 1, not current */

static int set_up(void **state)
{
    const pool_mock_params params = {
        .struct_size = sizeof(params), .devices = 2, .memory_bytes = TOTAL, .context_bytes = MIB};

    (void)state;
    if (pool_mock_create(&mock, &params) != POOL_OK)
        return -1;
    cu = pool_mock_table(mock);
    return cu->Init(0) || cu->DevicePrimaryCtxRetain(&other, 1) ||
           cu->DevicePrimaryCtxRetain(&context, 0) || cu->CtxPushCurrent(context);
}

/* A test that leaves anything behind has failed. */
static int tear_down(void **state)
{
    int wrong = 0;

    (void)state;
    if (cu->CtxPopCurrent(NULL) || cu->DevicePrimaryCtxRelease(0) || cu->DevicePrimaryCtxRelease(1))
        wrong = -1;
    if (*pool_mock_leaks(mock)) {
        print_error("%s", pool_mock_leaks(mock));
        wrong = -1;
    }
    pool_mock_destroy(&mock);
    return wrong;
}

static size_t free_now(void)
{
    size_t free_bytes = 0;
    size_t total = 0;

    assert_int_equal(cu->MemGetInfo(&free_bytes, &total), 0);
    assert_int_equal(total, TOTAL);
    return free_bytes;
}

static void test_account(void **state)
{
    CUdeviceptr a = 0;
    CUdeviceptr b = 0;
    CUdeviceptr base = 0;
    size_t bytes = 0;

    (void)state;
    assert_int_equal(free_now(), TOTAL - MIB); /* the context's own */
    assert_int_equal(cu->MemAlloc(&a, 0), 1);
    assert_int_equal(cu->MemAlloc(NULL, 5), 1);
    assert_int_equal(cu->MemAlloc(&a, TOTAL - MIB + 1), 2);
    assert_int_equal(cu->MemAlloc(&a, 10 * MIB), 0);
    assert_int_equal(cu->MemAlloc(&b, 100), 0);
    assert_int_equal(a % 512, 0);
    assert_int_equal(free_now(), TOTAL - 11 * MIB - 100);
    assert_int_equal(pool_mock_set_free_memory(mock, 0, MIB), 0);
    assert_int_equal(free_now(), MIB);
    assert_int_equal(cu->MemFree(b), 0);
    assert_int_equal(free_now(), MIB + 100);
    assert_int_equal(cu->MemFree(b), 1);
    assert_int_equal(cu->MemFree(a + 512), 1);
    assert_int_equal(cu->MemFree(0), 1);
    assert_int_equal(cu->MemGetAddressRange(&base, &bytes, a + 77), 0);
    assert_int_equal(base, a);
    assert_int_equal(bytes, 10 * MIB);
    assert_int_equal(cu->MemGetAddressRange(&base, &bytes, a + 10 * MIB), 500);
    assert_non_null(strstr(pool_mock_leaks(mock), "mem1 of 10485760 bytes on device 0"));
    assert_int_equal(cu->MemFree(a), 0);
    assert_int_equal(pool_mock_set_free_memory(mock, 0, TOTAL + 1), POOL_ERR_INVALID_ARGUMENT);
    /* The other device has its own account. */
    assert_int_equal(cu->CtxPushCurrent(other), 0);
    assert_int_equal(free_now(), TOTAL - MIB);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
}

static void test_huge_memory_costs_nothing(void **state)
{
    CUdeviceptr a = 0;

    (void)state;
    assert_int_equal(pool_mock_set_memory(mock, 0, (uint64_t)40 << 30), 0);
    assert_int_equal(cu->MemAlloc(&a, (size_t)32 << 30), 0);
    assert_int_equal(cu->MemsetD8(a + ((size_t)31 << 30), 7, 10), 0);
    unsigned char byte = 0;
    assert_int_equal(cu->MemcpyDtoH(&byte, a + ((size_t)31 << 30) + 9, 1), 0);
    assert_int_equal(byte, 7);
    assert_int_equal(cu->MemFree(a), 0);
    assert_int_equal(pool_mock_set_memory(mock, 0, TOTAL), 0);
}

static void test_context_takes_its_handles_along(void **state)
{
    CUcontext own = NULL;
    CUdeviceptr a = 0;
    CUstream stream = NULL;
    pool_mock_balance balance;

    (void)state;
    assert_int_equal(cu->CtxCreate(&own, 0, 0), 0);
    assert_int_equal(cu->MemAlloc(&a, 100), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 1, 0), 0);
    assert_int_equal(cu->CtxDestroy(own), 0);
    assert_int_equal(cu->MemFree(a), 1);
    assert_int_equal(cu->StreamDestroy(stream), 400);
    pool_mock_get_balance(mock, &balance);
    assert_int_equal(balance.orphaned, 2);
    assert_int_equal(balance.allocations, 0);
    assert_string_equal(pool_mock_leaks(mock) + strlen("primary0 is still retained 1 times\n") * 2,
        "mem1 died with its context\nstream1 died with its context\n"
        "a thread still has 1 contexts on its stack\n");
    assert_int_equal(free_now(), TOTAL - MIB);
    /* That was the test's purpose: a new mock, so that tear_down finds it clean. */
    pool_mock_destroy(&mock);
    assert_int_equal(set_up(NULL), 0);
}

static void test_copies(void **state)
{
    unsigned char in[100];
    unsigned char out[100] = {0};
    CUdeviceptr a = 0;
    CUdeviceptr b = 0;

    (void)state;
    for (int i = 0; i < 100; i++)
        in[i] = (unsigned char)i;
    assert_int_equal(cu->MemAlloc(&a, 100), 0);
    assert_int_equal(cu->MemcpyDtoH(out, a, 100), 0);
    assert_int_not_equal(out[50], 0); /* new memory is not zero */
    assert_int_equal(cu->CtxPushCurrent(other), 0);
    assert_int_equal(cu->MemAlloc(&b, 100), 0);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->MemcpyHtoD(a, in, 101), 1);
    assert_int_equal(cu->MemcpyHtoD(a + 50, in, 51), 1);
    assert_int_equal(cu->MemcpyHtoD(a, NULL, 5), 1);
    assert_int_equal(cu->MemcpyHtoD(12345, in, 5), 1);
    assert_int_equal(cu->MemcpyHtoD(a, in, 100), 0);
    assert_int_equal(cu->MemcpyPeer(b, context, a, context, 100), 1);
    assert_int_equal(cu->MemcpyPeer(b, NULL, a, context, 100), 201);
    assert_int_equal(cu->MemcpyPeer(b, other, a, context, 100), 0);
    assert_int_equal(cu->MemsetD32(a, 0x01020304, 25), 0);
    assert_int_equal(cu->MemsetD32(a, 0, 26), 1);
    assert_int_equal(cu->MemsetD32(a + 2, 0, 2), 1);
    assert_int_equal(cu->MemsetD16Async(a + 2, 0x0909, 1, NULL), 0);
    assert_int_equal(cu->MemcpyDtoDAsync(a + 8, b + 8, 2, NULL), 0);
    assert_int_equal(cu->MemcpyDtoHAsync(out, a, 100, NULL), 0);
    assert_memory_equal(out, "\x04\x03\x09\x09\x04\x03\x02\x01\x08\x09\x02\x01", 12);
    assert_int_equal(cu->MemcpyHtoDAsync(a, in, 1, (CUstream)&out), 400);
    assert_int_equal(cu->MemFree(a), 0);
    assert_int_equal(cu->MemcpyDtoH(out, a, 1), 1);
    assert_int_equal(cu->MemFree(b), 0);
}

static void test_host_memory_and_pointers(void **state)
{
    void *pinned = NULL;
    char own[256];
    CUdeviceptr a = 0;
    CUdeviceptr seen = 0;
    CUcontext of = NULL;
    unsigned type = 0;
    int ordinal = -1;

    (void)state;
    assert_int_equal(cu->MemHostAlloc(&pinned, 0, 0), 1);
    assert_int_equal(cu->MemHostAlloc(&pinned, 64, 8), 1);
    assert_int_equal(cu->MemHostAlloc(&pinned, 64, 1), 0);
    memset(pinned, 1, 64);
    assert_int_equal(cu->MemHostGetDevicePointer(&seen, pinned, 0), 0);
    assert_int_equal(cu->MemHostGetDevicePointer(&seen, own, 0), 1);
    assert_int_equal(cu->MemHostRegister(own, sizeof(own), 0), 0);
    assert_int_equal(cu->MemHostRegister(own + 100, 10, 0), 712);
    assert_int_equal(cu->MemHostUnregister(own + 100), 713);
    assert_int_equal(cu->PointerGetAttribute(&type, 2, (CUdeviceptr)(uintptr_t)(own + 5)), 0);
    assert_int_equal(type, 1);
    assert_int_equal(cu->MemHostUnregister(own), 0);
    assert_int_equal(cu->MemHostUnregister(own), 713);
    assert_int_equal(cu->MemAlloc(&a, 64), 0);
    assert_int_equal(cu->PointerGetAttribute(&type, 2, a + 63), 0);
    assert_int_equal(type, 2);
    assert_int_equal(cu->PointerGetAttribute(&type, 2, a + 64), 1);
    assert_int_equal(cu->PointerGetAttribute(&ordinal, 9, a), 0);
    assert_int_equal(ordinal, 0);
    assert_int_equal(cu->PointerGetAttribute(&of, 1, a), 0);
    assert_ptr_equal(of, context);
    assert_int_equal(cu->PointerGetAttribute(&seen, 4, a), 1); /* no host address */
    assert_int_equal(cu->PointerGetAttribute(&type, 2, (CUdeviceptr)(uintptr_t)own), 1);
    assert_int_equal(cu->MemFreeHost(own), 1);
    assert_int_equal(cu->MemFree((CUdeviceptr)(uintptr_t)pinned), 1);
    assert_int_equal(cu->MemFreeHost(pinned), 0);
    assert_int_equal(cu->MemFreeHost(pinned), 1);
    assert_int_equal(cu->MemFree(a), 0);
}

static uint64_t pool_value(CUmemoryPool pool, pool_cu_enum attribute)
{
    uint64_t value = 0;

    assert_int_equal(cu->MemPoolGetAttribute(pool, attribute, &value), 0);
    return value;
}

static void test_memory_pool(void **state)
{
    pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
    CUmemoryPool pool = NULL;
    CUdeviceptr a = 0;
    CUdeviceptr b = 0;
    CUcontext of = context;
    uint64_t threshold = 5 * MIB;

    (void)state;
    props.location.id = 2;
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 1);
    props.location.id = 0;
    props.allocation_type = 0;
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 1);
    props.allocation_type = 1;
    assert_int_equal(
        pool_mock_set_attribute(mock, 0, POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0), 0);
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 801);
    assert_int_equal(
        pool_mock_set_attribute(mock, 0, POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1), 0);
    assert_int_equal(cu->MemPoolCreate(&pool, &props), 0);
    assert_int_equal(cu->MemPoolSetAttribute(pool, 4, &threshold), 0);
    assert_int_equal(cu->MemPoolSetAttribute(pool, 5, &threshold), 1);
    assert_int_equal(cu->MemAllocFromPoolAsync(&a, TOTAL, pool, NULL), 2);
    assert_int_equal(cu->MemAllocFromPoolAsync(&a, 8 * MIB, pool, NULL), 0);
    assert_int_equal(cu->MemAllocFromPoolAsync(&b, 2 * MIB, pool, NULL), 0);
    assert_int_equal(pool_value(pool, 7), 10 * MIB);
    assert_int_equal(free_now(), TOTAL - 11 * MIB);
    assert_int_equal(cu->PointerGetAttribute(&of, 1, a), 0);
    assert_null(of); /* pool memory belongs to no context */
    assert_int_equal(cu->MemFreeAsync(a, NULL), 0);
    assert_int_equal(cu->MemFreeAsync(a, NULL), 1);
    assert_int_equal(pool_value(pool, 7), 2 * MIB);
    assert_int_equal(pool_value(pool, 5), 10 * MIB); /* kept until a synchronisation */
    assert_int_equal(cu->StreamSynchronize(NULL), 0);
    assert_int_equal(pool_value(pool, 5), 5 * MIB);
    assert_int_equal(cu->MemPoolTrimTo(pool, 0), 0);
    assert_int_equal(pool_value(pool, 5), 2 * MIB);
    assert_int_equal(pool_value(pool, 8), 10 * MIB);
    /* Destroyed with an allocation alive: it ends with that. */
    assert_int_equal(cu->MemPoolDestroy(pool), 0);
    assert_int_equal(cu->MemPoolDestroy(pool), 1);
    assert_int_equal(cu->MemAllocFromPoolAsync(&a, 1, pool, NULL), 1);
    assert_int_equal(free_now(), TOTAL - 3 * MIB);
    assert_int_equal(cu->MemFreeAsync(b, NULL), 0);
    assert_int_equal(free_now(), TOTAL - MIB);
}

static void test_streams_and_events(void **state)
{
    CUstream stream = NULL;
    CUevent start = NULL;
    CUevent end = NULL;
    CUevent plain = NULL;
    CUcontext of = NULL;
    int priority = 9;
    float elapsed = -1;

    (void)state;
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 2, 0), 1);
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 1, -99), 0);
    assert_int_equal(cu->StreamGetPriority(stream, &priority), 0);
    assert_int_equal(priority, -5);
    assert_int_equal(cu->StreamGetCtx(stream, &of), 0);
    assert_ptr_equal(of, context);
    assert_int_equal(cu->EventCreate(&start, 8), 1);
    assert_int_equal(cu->EventCreate(&start, 4), 1);
    assert_int_equal(cu->EventCreate(&start, 0), 0);
    assert_int_equal(cu->EventCreate(&end, 0), 0);
    assert_int_equal(cu->EventCreate(&plain, 2), 0);
    assert_int_equal(cu->EventQuery(start), 0); /* never recorded: nothing to wait for */
    assert_int_equal(cu->EventElapsedTime(&elapsed, start, end), 400);
    assert_int_equal(cu->EventRecord(start, stream), 0);
    assert_int_equal(cu->EventRecord(end, NULL), 0);
    assert_int_equal(cu->EventElapsedTime(&elapsed, start, end), 0);
    assert_true(elapsed >= 0);
    assert_int_equal(cu->EventRecord(plain, NULL), 0);
    assert_int_equal(cu->EventElapsedTime(&elapsed, start, plain), 400);
    assert_int_equal(cu->StreamWaitEvent(stream, end, 0), 0);
    assert_int_equal(cu->StreamWaitEvent(stream, (CUevent)stream, 0), 400);
    assert_int_equal(cu->CtxPushCurrent(other), 0);
    assert_int_equal(cu->EventRecord(plain, NULL), 400); /* another context's stream */
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->StreamDestroy(NULL), 400);
    assert_int_equal(cu->EventDestroy(start), 0);
    assert_int_equal(cu->EventDestroy(start), 400);
    assert_int_equal(cu->EventRecord(start, stream), 400);
    assert_int_equal(cu->EventDestroy(end), 0);
    assert_int_equal(cu->EventDestroy(plain), 0);
    assert_int_equal(cu->StreamDestroy(stream), 0);
    assert_int_equal(cu->StreamQuery(stream), 400);
    assert_int_equal(cu->StreamDestroy(stream), 400);
}

static void count_up(void *user)
{
    CUcontext current;

    /* A host function must not call the driver. */
    *(int *)user += cu->CtxGetCurrent(&current) == 800 ? 1 : 1000;
}

static void *let_go(void *arg)
{
    pool_mock_resume(arg);
    return NULL;
}

static void test_work_that_waits(void **state)
{
    CUstream stream = NULL;
    CUevent event = NULL;
    int ran = 0;
    pthread_t thread;

    (void)state;
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 1, 0), 0);
    assert_int_equal(cu->EventCreate(&event, 2), 0);
    assert_int_equal(cu->LaunchHostFunc(stream, count_up, &ran), 0);
    assert_int_equal(ran, 1);
    assert_int_equal(cu->LaunchHostFunc(stream, NULL, &ran), 1);
    pool_mock_stall(mock);
    assert_int_equal(cu->StreamQuery(stream), 0); /* its work was before */
    assert_int_equal(cu->LaunchHostFunc(stream, count_up, &ran), 0);
    assert_int_equal(cu->EventRecord(event, stream), 0);
    assert_int_equal(ran, 1);
    assert_int_equal(cu->StreamQuery(stream), 600);
    assert_int_equal(cu->StreamQuery(NULL), 0);
    assert_int_equal(cu->StreamWaitEvent(NULL, event, 0), 0);
    assert_int_equal(cu->StreamQuery(NULL), 600);
    assert_int_equal(cu->EventQuery(event), 600);
    assert_int_equal(pthread_create(&thread, NULL, let_go, mock), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->EventSynchronize(event), 0);
    assert_int_equal(ran, 2);
    assert_int_equal(cu->StreamQuery(stream), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(cu->EventDestroy(event), 0);
    assert_int_equal(cu->StreamDestroy(stream), 0);
}

/* c[i] = a[i] + k, the effect that a test gives its kernel. */
static pool_cu_result add_effect(void *user, const pool_mock_launch *launch)
{
    uint64_t address;
    uint32_t k;

    memcpy(&address, launch->arguments[0], sizeof(address));
    memcpy(&k, launch->arguments[1], sizeof(k));
    uint32_t *values = (uint32_t *)(uintptr_t)address;
    for (uint32_t i = 0; i < launch->grid[0] * launch->block[0]; i++)
        values[i] += k;
    *(int *)user += 1;
    return k == 700 ? 700 : 0;
}

static void test_modules_and_launches(void **state)
{
    static const uint32_t sizes[] = {8, 4};
    int effects = 0;
    const pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = "add",
        .argument_bytes = sizes,
        .argument_count = 2,
        .shared_bytes = 1024,
        .max_threads = 256,
        .effect = add_effect,
        .user = &effects};
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUfunction named = NULL;
    CUdeviceptr data = 0;
    CUdeviceptr global = 0;
    size_t offset = 0;
    size_t bytes = 0;
    int value = 0;
    uint32_t k = 5;
    uint32_t host[64];
    pool_mock_launch seen;

    (void)state;
    assert_int_equal(pool_mock_add_kernel(mock, &kernel), POOL_OK);
    assert_int_equal(pool_mock_add_kernel(mock, &kernel), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_mock_add_global(mock, "table", 48), POOL_OK);
    assert_int_equal(cu->ModuleLoadData(&module, NULL), 1);
    assert_int_equal(cu->ModuleLoadData(&module, ""), 200);
    assert_int_equal(
        cu->ModuleLoadData(&module, ".version 9.0\n.visible .entry named(\n.param .u64 a,\n"
                                    ".param .align 8 .b8 s[24]\n)\n{ ret; }\n.entry bare(){ret;}"),
        0);
    assert_int_equal(cu->ModuleGetFunction(&function, module, "nothing"), 500);
    assert_int_equal(cu->ModuleGetFunction(&function, module, "add"), 0);
    assert_int_equal(cu->ModuleGetFunction(&named, module, "named"), 0);
    assert_int_equal(cu->FuncGetParamInfo(named, 1, &offset, &bytes), 0);
    assert_int_equal(offset, 8);
    assert_int_equal(bytes, 24);
    assert_int_equal(cu->FuncGetParamInfo(named, 2, &offset, &bytes), 1);
    assert_int_equal(cu->ModuleGetFunction(&named, module, "bare"), 0);
    assert_int_equal(cu->ModuleGetGlobal(&global, &bytes, module, "table"), 0);
    assert_int_equal(bytes, 48);
    assert_int_equal(cu->ModuleGetGlobal(&global, &bytes, module, "tables"), 500);
    assert_int_equal(cu->FuncGetAttribute(&value, 0, function), 0);
    assert_int_equal(value, 256);
    assert_int_equal(cu->FuncSetAttribute(function, 8, 232448), 1);
    assert_int_equal(cu->FuncSetAttribute(function, 8, 200000), 0);
    assert_int_equal(cu->OccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, 0), 0);
    assert_int_equal(value, 8);
    assert_int_equal(cu->OccupancyMaxPotentialBlockSize(&value, &value, function, NULL, 0, 0), 0);

    assert_int_equal(cu->MemAlloc(&data, sizeof(host)), 0);
    assert_int_equal(cu->MemsetD32(data, 10, 64), 0);
    void *arguments[] = {&data, &k};
    assert_int_equal(cu->LaunchKernel(function, 0, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL), 1);
    assert_int_equal(cu->LaunchKernel(function, 1, 65536, 1, 1, 1, 1, 0, NULL, arguments, NULL), 1);
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 512, 1, 1, 0, NULL, arguments, NULL), 701);
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 32, 64, 1, 0, NULL, arguments, NULL), 1);
    assert_int_equal(
        cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 200001, NULL, arguments, NULL), 1);
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 1);
    assert_int_equal(effects, 0);
    assert_int_equal(cu->LaunchKernel(function, 2, 1, 1, 32, 1, 1, 64, NULL, arguments, NULL), 0);
    k = 99; /* the value was taken at the launch */
    assert_int_equal(cu->MemcpyDtoH(host, data, sizeof(host)), 0);
    assert_int_equal(host[0], 15);
    assert_int_equal(host[63], 15);
    assert_int_equal(pool_mock_launches(mock, "add"), 1);
    assert_int_equal(pool_mock_get_launch(mock, 1, &seen), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_mock_get_launch(mock, 0, &seen), POOL_OK);
    assert_string_equal(seen.kernel, "add");
    assert_int_equal(seen.grid[0], 2);
    assert_int_equal(seen.dynamic_shared_bytes, 64);
    assert_int_equal(*(const uint32_t *)seen.arguments[1], 5);
    /* Packed arguments. */
    struct {
        CUdeviceptr data;
        uint32_t k;
    } packed = {data, 1};
    size_t packed_bytes = 12;
    void *extra[] = {(void *)1, &packed, (void *)2, &packed_bytes, NULL};
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), 0);
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, extra), 1);
    assert_int_equal(
        cu->LaunchCooperativeKernel(function, 132 * 8 + 1, 1, 1, 256, 1, 1, 0, NULL, arguments),
        720);
    /* A function goes with its module and its context. */
    assert_int_equal(cu->CtxPushCurrent(other), 0);
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), 400);
    assert_int_equal(cu->ModuleUnload(module), 201);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
    assert_int_equal(cu->ModuleUnload(module), 400);
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), 400);
    assert_int_equal(cu->MemFree(data), 0);
}

static void test_fault_from_a_kernel(void **state)
{
    static const uint32_t sizes[] = {8, 4};
    int effects = 0;
    const pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = "add",
        .argument_bytes = sizes,
        .argument_count = 2,
        .effect = add_effect,
        .user = &effects};
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr data = 0;
    uint32_t k = 700;
    void *arguments[] = {&data, &k};

    (void)state;
    assert_int_equal(pool_mock_add_kernel(mock, &kernel), POOL_OK);
    assert_int_equal(cu->ModuleLoadData(&module, "x"), 0);
    assert_int_equal(cu->ModuleGetFunction(&function, module, "add"), 0);
    assert_int_equal(cu->MemAlloc(&data, 64), 0);
    assert_int_equal(cu->LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), 700);
    assert_int_equal(cu->CtxSynchronize(), 700);
    assert_int_equal(cu->MemFree(data), 700);
    assert_int_equal(pool_mock_poison(mock, POOL_CU_SUCCESS), POOL_OK);
    assert_int_equal(cu->MemFree(data), 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
}

static void test_refused_images(void **state)
{
    char log[64] = "";
    pool_cu_enum options[] = {5, 6};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    CUmodule module = NULL;

    (void)state;
    assert_int_equal(pool_mock_reject_images(mock, POOL_CU_INVALID_PTX, "line 3: what?"), 0);
    assert_int_equal(cu->ModuleLoadDataEx(&module, "x", 2, options, values), 218);
    assert_string_equal(log, "line 3: what?");
    assert_int_equal(pool_mock_reject_images(mock, POOL_CU_SUCCESS, NULL), 0);
    assert_int_equal(cu->ModuleLoadDataEx(&module, "x", 2, options, NULL), 1);
    assert_int_equal(cu->ModuleLoadDataEx(&module, "\177ELF and more", 0, NULL, NULL), 0);
    assert_int_equal(cu->ModuleUnload(module), 0);
}

static void *hammer(void *arg)
{
    uintptr_t wrong = 0;

    wrong |= cu->CtxPushCurrent(arg) != 0;
    for (int i = 0; i < 300; i++) {
        CUdeviceptr a = 0;
        CUstream stream = NULL;

        wrong |= cu->MemAlloc(&a, 100) || cu->StreamCreateWithPriority(&stream, 0, 0);
        wrong |= cu->MemsetD8Async(a, 1, 100, stream) || cu->StreamSynchronize(stream);
        wrong |= cu->StreamDestroy(stream) || cu->MemFree(a);
    }
    wrong |= cu->CtxPopCurrent(NULL) != 0;
    return (void *)wrong;
}

static void test_threads(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, i % 2 ? other : context), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;

        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(pool_mock_calls(mock, "cuMemAlloc"), 1200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Partitions: sizes of an H200, scopes of streams, what keeps the primary context, and leaks. */
static void test_green_contexts(void **state)
{
    pool_cu_dev_resource all, group, rest, mine;
    CUdevResourceDesc desc = NULL;
    CUcontext scope = NULL, of = NULL;
    CUgreenCtx green = NULL, found = NULL;
    CUstream stream = NULL, plain = NULL, later = NULL;
    CUevent event = NULL;
    CUdevice device = -1;
    CUdeviceptr address;
    unsigned count = 1, flags;
    int active = 0;

    (void)state;
    assert_int_equal(cu->DeviceGetDevResource(1, &all, 1), 0);
    assert_int_equal(all.sm_count, 132);
    assert_int_equal(cu->DevSmResourceSplitByCount(&group, &count, &all, &rest, 0, 60), 0);
    assert_int_equal(group.sm_count, 64);
    assert_int_equal(rest.sm_count, 68);
    assert_int_equal(cu->DevResourceGenerateDesc(&desc, &rest, 1), 0);
    assert_int_equal(cu->GreenCtxCreate(&green, desc, 0, 1), 1);
    assert_int_equal(cu->GreenCtxCreate(&green, desc, 1, 1), 0);
    assert_string_equal(pool_mock_leaks(mock) + strlen("primary0 is still retained 1 times\n"
                                                       "primary1 is still retained 1 times\n"),
        "green1 on device 1 was not destroyed\na thread still has 1 contexts on its stack\n");
    assert_int_equal(cu->CtxFromGreenCtx(&scope, green), 0);
    assert_int_equal(cu->CtxGetDevResource(scope, &mine, 1), 0);
    assert_int_equal(mine.sm_count, 68);
    assert_int_equal(cu->CtxGetDevResource(other, &mine, 1), 0);
    assert_int_equal(mine.sm_count, 132);
    assert_int_equal(cu->CtxPushCurrent(scope), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&stream, 1, 0), 0);
    assert_int_equal(cu->StreamGetGreenCtx(stream, &found), 0);
    assert_ptr_equal(found, green);
    assert_int_equal(cu->StreamGetCtx(stream, &of), 0);
    assert_ptr_equal(of, scope);
    assert_int_equal(cu->StreamGetCtx(NULL, &of), 0);
    assert_ptr_equal(of, scope);
    assert_int_equal(cu->StreamQuery((CUstream)(uintptr_t)2), 400);
    assert_int_equal(cu->MemAlloc(&address, 64), 0);
    assert_int_equal(cu->PointerGetAttribute(&of, 1, address), 0);
    assert_ptr_equal(of, other); /* the primary context's */
    assert_int_equal(cu->CtxDestroy(scope), 201);
    assert_int_equal(cu->EventCreate(&event, 2), 0);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    /* A recording is reached with the stalled work of its context; waits for it are as long. */
    pool_mock_stall(mock);
    assert_int_equal(cu->MemsetD8Async(address, 0, 64, NULL), 0); /* of device 0 */
    assert_int_equal(cu->GreenCtxRecordEvent(green, event), 0);
    assert_int_equal(cu->EventQuery(event), 0);
    assert_int_equal(cu->CtxPushCurrent(scope), 0);
    assert_int_equal(cu->MemsetD8Async(address, 0, 64, stream), 0);
    assert_int_equal(cu->GreenCtxRecordEvent(green, event), 0);
    assert_int_equal(cu->EventQuery(event), 600);
    assert_int_equal(cu->GreenCtxStreamCreate(&later, green, 1, 0), 0);
    assert_int_equal(cu->StreamQuery(later), 0);
    assert_int_equal(cu->GreenCtxWaitEvent(green, event), 0);
    assert_int_equal(cu->StreamQuery(later), 600);
    pool_mock_resume(mock);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->StreamCreateWithPriority(&plain, 1, 0), 0);
    assert_int_equal(cu->StreamGetGreenCtx(plain, &found), 0);
    assert_null(found);
    assert_int_equal(cu->StreamDestroy(plain), 0);
    /* It keeps the primary context; after its end its CUcontext may still become current. */
    assert_int_equal(cu->StreamDestroy(stream), 0);
    assert_int_equal(cu->StreamDestroy(later), 0);
    assert_int_equal(cu->CtxPushCurrent(other), 0);
    assert_int_equal(cu->EventDestroy(event), 0);
    assert_int_equal(cu->MemFree(address), 0);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(1), 0);
    assert_int_equal(cu->DevicePrimaryCtxGetState(1, &flags, &active), 0);
    assert_int_equal(active, 1);
    assert_int_equal(cu->GreenCtxDestroy(green), 0);
    assert_int_equal(cu->DevicePrimaryCtxGetState(1, &flags, &active), 0);
    assert_int_equal(active, 0);
    assert_int_equal(cu->GreenCtxDestroy(green), 201);
    assert_int_equal(cu->CtxPushCurrent(scope), 0);
    assert_int_equal(cu->CtxGetDevice(&device), 0);
    assert_int_equal(device, 1);
    assert_int_equal(cu->MemFree(address), 709);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&other, 1), 0);
}

/* What the mock refuses, as mock.h says. */
static pool_cu_code refusal_of(const char *kind)
{
    static const struct {
        const char *kind;
        pool_cu_code code;
    } codes[] = {{"", POOL_CU_INVALID_VALUE}, {"DEVICE", POOL_CU_INVALID_DEVICE},
        {"CONTEXT", POOL_CU_INVALID_CONTEXT}, {"MEMORY_POOL", POOL_CU_INVALID_VALUE},
        {"ALLOCATION", POOL_CU_INVALID_VALUE}, {"GRAPH", POOL_CU_INVALID_VALUE},
        {"GRAPH_EXEC", POOL_CU_INVALID_VALUE}, {"RESOURCE_DESC", POOL_CU_INVALID_VALUE},
        {"GREEN", POOL_CU_INVALID_CONTEXT}};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (strcmp(codes[i].kind, kind) == 0)
            return codes[i].code;
    return POOL_CU_INVALID_HANDLE;
}

/* Every argument of every function that can be wrong: refused, logged, and nothing has happened. */
static void test_misuse(void **state)
{
    const pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
    const pool_cu_mem_allocation_prop prop = {.type = 1, .location = {1, 0}};
    const pool_mock_kernel kernel = {.struct_size = sizeof(kernel), .name = "text"};
    struct misuse with = {.context = context, .is_with_context = true};
    unsigned refused = 0;
    pool_cu_dev_resource all;
    CUstream stale;

    (void)state;
    assert_int_equal(pool_mock_add_kernel(mock, &kernel), POOL_OK);
    assert_int_equal(cu->StreamCreateWithPriority(&stale, 1, 0), 0);
    assert_int_equal(cu->StreamDestroy(stale), 0);
    with.handle = (uintptr_t)stale;
    assert_int_equal(cu->StreamCreateWithPriority(&with.STREAM, 1, 0), 0);
    assert_int_equal(cu->EventCreate(&with.EVENT, 0), 0);
    assert_int_equal(cu->ModuleLoadData(&with.MODULE, ".version 8.0\n"), 0);
    assert_int_equal(cu->ModuleGetFunction(&with.KERNEL, with.MODULE, "text"), 0);
    assert_int_equal(cu->MemPoolCreate(&with.MEMORY_POOL, &props), 0);
    assert_int_equal(cu->MemCreate(&with.ALLOCATION, 2 * MIB, &prop, 0), 0);
    assert_int_equal(cu->StreamBeginCapture(with.STREAM, 0), 0);
    assert_int_equal(cu->StreamEndCapture(with.STREAM, &with.GRAPH), 0);
    assert_int_equal(cu->GraphInstantiateWithFlags(&with.GRAPH_EXEC, with.GRAPH, 0), 0);
    assert_int_equal(cu->DeviceGetDevResource(0, &all, 1), 0);
    assert_int_equal(cu->DevResourceGenerateDesc(&with.RESOURCE_DESC, &all, 1), 0);
    assert_int_equal(cu->GreenCtxCreate(&with.GREEN, with.RESOURCE_DESC, 0, 1), 0);
    for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
        struct misused found = {0};

        for (int number = 0; !found.is_beyond; number++) {
            pool_mock_reset_calls(mock);
            found = misuses[i].call(cu, &with, number);
            if (!found.argument)
                continue;
            refused++;
            if (found.code != (pool_cu_result)refusal_of(found.kind))
                fail_msg("%s, %s: %u", misuses[i].name, found.argument, found.code);
            assert_non_null(strstr(pool_mock_log(mock), misuses[i].name));
            if (found.kind[0] && strcmp(found.kind, "DEVICE") != 0)
                assert_non_null(strstr(pool_mock_log(mock), "stale"));
        }
    }
    assert_true(refused > 150);
    assert_int_equal(cu->GreenCtxDestroy(with.GREEN), 0);
    assert_int_equal(cu->GraphExecDestroy(with.GRAPH_EXEC), 0);
    assert_int_equal(cu->GraphDestroy(with.GRAPH), 0);
    assert_int_equal(cu->MemRelease(with.ALLOCATION), 0);
    assert_int_equal(cu->MemPoolDestroy(with.MEMORY_POOL), 0);
    assert_int_equal(cu->ModuleUnload(with.MODULE), 0);
    assert_int_equal(cu->EventDestroy(with.EVENT), 0);
    assert_int_equal(cu->StreamDestroy(with.STREAM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_account),
        TEST(test_huge_memory_costs_nothing),
        TEST(test_context_takes_its_handles_along),
        TEST(test_copies),
        TEST(test_host_memory_and_pointers),
        TEST(test_memory_pool),
        TEST(test_streams_and_events),
        TEST(test_work_that_waits),
        TEST(test_modules_and_launches),
        TEST(test_fault_from_a_kernel),
        TEST(test_refused_images),
        TEST(test_threads),
        TEST(test_misuse),
        TEST(test_green_contexts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
