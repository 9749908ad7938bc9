/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codes that a driver returns for invalid calls, checked on the mock, on simulated devices and
 * on real ones: two drivers that only claim to be strict would let wrong code pass. What is
 * required of real drivers leaves out what only ends well by luck there: handles that are stale or
 * made up. usage: test_strict mock|sim|gpu        exit 77: there is no such driver here
 */
#include <stdio.h>
#include <string.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "driver/driver.h"
#include "driver/sim/table/sim.h"

static const pool_cuda_api *cu;
static int checked;
static int wrong;

static void compare(const char *call, pool_cu_result expected, pool_cu_result came, int line)
{
    checked++;
    if (came == expected)
        return;
    wrong++;
    printf("line %d: %s: expected %u, came %u\n", line, call, expected, came);
}

#define CODE(expected, call) compare(#call, (expected), cu->call, __LINE__)
#define SAME(expected, value)                                                                      \
    compare(#value, (pool_cu_result)(expected), (pool_cu_result)(value), __LINE__)

/* The driver's documents allow both for a context that was destroyed. */
static void compare_context(const char *call, pool_cu_result came, int line)
{
    compare(call, came == 709 ? 709 : 201, came, line);
}
#define REFUSED_CONTEXT(call) compare_context(#call, cu->call, __LINE__)

/* ---- outside any context -------------------------------------------------------------------- */

static void before_init(void)
{
    int number;
    CUcontext context;
    size_t bytes;

    CODE(3, DeviceGetCount(&number));
    CODE(3, DeviceGet(&number, 0));
    CODE(3, CtxGetCurrent(&context));
    CODE(3, DevicePrimaryCtxRetain(&context, 0));
    CODE(3, MemGetInfo(&bytes, &bytes));
    CODE(0, DriverGetVersion(&number));
    CODE(1, Init(1));
}

static void devices(void)
{
    int count = 0;
    int value;
    size_t bytes;
    char text[64];
    unsigned flags;
    const char *name;
    CUdevice device;

    CODE(0, DeviceGetCount(&count));
    CODE(101, DeviceGet(&device, count));
    CODE(101, DeviceGet(&device, -1));
    CODE(101, DeviceGetName(text, sizeof(text), 999));
    CODE(101, DeviceTotalMem(&bytes, 999));
    CODE(101, DeviceGetAttribute(&value, 75, 999));
    CODE(1, DeviceGetAttribute(&value, 0, 0));
    CODE(1, DeviceGetAttribute(&value, 100000, 0));
    CODE(1, DeviceGetAttribute(NULL, 75, 0));
    CODE(1, DeviceGetPCIBusId(text, 5, 0));
    CODE(101, DeviceGetPCIBusId(text, sizeof(text), 999));
    CODE(101, DeviceGetByPCIBusId(&device, "ffff:ff:1f.0"));
    CODE(101, DeviceCanAccessPeer(&value, 0, 999));
    CODE(101, DeviceGetP2PAttribute(&value, 1, 0, 0));
    CODE(101, DevicePrimaryCtxGetState(999, &flags, &value));
    CODE(101, DevicePrimaryCtxSetFlags(999, 0));
    CODE(1, DevicePrimaryCtxSetFlags(0, 0x100));
    CODE(1, GetErrorName(54321, &name));
    CODE(0, GetErrorName(700, &name));
    SAME(0, strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS"));
}

static void without_context(void)
{
    CUcontext context = NULL;
    CUdevice device;
    CUdeviceptr address;
    CUstream stream;
    CUevent event;
    CUmodule module;
    unsigned value;
    size_t bytes;
    int low;
    void *host;

    CODE(0, CtxGetCurrent(&context));
    SAME(0, context != NULL);
    CODE(201, CtxGetDevice(&device));
    CODE(201, CtxSynchronize());
    CODE(201, CtxPopCurrent(&context));
    CODE(0, CtxSetCurrent(NULL));
    CODE(201, CtxGetFlags(&value));
    CODE(201, CtxGetLimit(&bytes, 0));
    CODE(201, CtxGetStreamPriorityRange(&low, &low));
    CODE(201, MemGetInfo(&bytes, &bytes));
    CODE(201, MemAlloc(&address, 16));
    CODE(201, MemHostAlloc(&host, 16, 0));
    CODE(201, StreamCreateWithPriority(&stream, 1, 0));
    CODE(201, EventCreate(&event, 0));
    CODE(201, ModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n"));
    CODE(1, PointerGetAttribute(&value, 2, 0x1234));
    CODE(101, DevicePrimaryCtxRetain(&context, 999));
    CODE(101, CtxCreate(&context, 0, 999));
    CODE(201, DevicePrimaryCtxRelease(0));
}

/* ---- inside one ----------------------------------------------------------------------------- */

static void contexts(CUcontext primary)
{
    CUcontext again = NULL;
    CUcontext own = NULL;
    CUcontext top = NULL;
    CUdevice device = -1;
    unsigned version = 0;
    size_t value;
    int active = 0;

    CODE(0, DevicePrimaryCtxRetain(&again, 0));
    SAME(1, again == primary);
    CODE(0, DevicePrimaryCtxRelease(0));
    CODE(0, DevicePrimaryCtxGetState(0, &version, &active));
    SAME(1, active);
    CODE(201, CtxDestroy(primary));
    CODE(0, CtxCreate(&own, 0, 0)); /* and current */
    CODE(0, CtxGetCurrent(&top));
    SAME(1, top == own);
    CODE(0, CtxGetDevice(&device));
    SAME(0, device);
    CODE(0, CtxDestroy(own)); /* and popped */
    CODE(0, CtxGetCurrent(&top));
    SAME(1, top == primary);
    CODE(0, CtxPushCurrent(primary));
    CODE(0, CtxSetCurrent(NULL)); /* pops */
    CODE(0, CtxGetCurrent(&top));
    SAME(1, top == primary);
    CODE(1, CtxGetLimit(&value, 77));
    CODE(1, CtxSetLimit(77, 1));
    CODE(1, CtxGetLimit(NULL, 0));
}

static void memory(CUcontext primary)
{
    CUdeviceptr address = 0;
    CUdeviceptr base = 0;
    CUcontext of = NULL;
    size_t bytes = 0;
    unsigned type = 0;
    unsigned char data[16] = {1, 2, 3};

    CODE(1, MemAlloc(&address, 0));
    CODE(2, MemAlloc(&address, (size_t)1 << 50));
    CODE(0, MemAlloc(&address, 1000));
    CODE(1, MemFree(address + 256));
    CODE(0, MemGetAddressRange(&base, &bytes, address + 77));
    SAME(1, base == address && bytes == 1000);
    CODE(500, MemGetAddressRange(&base, &bytes, 0x1234));
    CODE(0, PointerGetAttribute(&type, 2, address + 5));
    SAME(2, type);
    CODE(0, PointerGetAttribute(&of, 1, address));
    SAME(1, of == primary);
    CODE(1, PointerGetAttribute(&of, 4, address)); /* device memory has no host address */
    CODE(0, MemcpyHtoD(address, data, sizeof(data)));
    CODE(0, MemcpyHtoD(address, data, 0));
    CODE(1, MemcpyHtoD(0x1234, data, sizeof(data)));
    CODE(1, MemcpyDtoH(data, 0x1234, sizeof(data)));
    CODE(1, MemcpyDtoD(address, 0x1234, 4));
    CODE(1, MemsetD32(address + 2, 0, 1));
    CODE(0, MemsetD8(address, 7, 0));
    CODE(0, MemFree(address));
    CODE(1, MemFree(address));
    CODE(1, MemFree(0x1234));
}

static void host_memory(void)
{
    static unsigned char own[8192] __attribute__((aligned(4096)));
    CUdeviceptr address;
    void *host = NULL;

    CODE(1, MemHostAlloc(&host, 4096, 0x80));
    CODE(0, MemHostAlloc(&host, 4096, 1));
    CODE(0, MemHostGetDevicePointer(&address, host, 0));
    CODE(1, MemHostGetDevicePointer(&address, own, 0));
    CODE(0, MemFreeHost(host));
    CODE(1, MemFreeHost(host));
    CODE(713, MemHostUnregister(own));
    CODE(0, MemHostRegister(own, sizeof(own), 0));
    CODE(712, MemHostRegister(own, sizeof(own), 0));
    CODE(0, MemHostUnregister(own));
    CODE(713, MemHostUnregister(own));
}

static void memory_pools(void)
{
    pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 999}};
    CUmemoryPool pool = NULL;
    CUdeviceptr address = 0;
    uint64_t value = 1 << 20;

    if (!cu->MemPoolCreate)
        return;
    CODE(1, MemPoolCreate(&pool, &props));
    props.location.id = 0;
    CODE(0, MemPoolCreate(&pool, &props));
    CODE(0, MemPoolSetAttribute(pool, 4, &value));
    CODE(0, MemPoolGetAttribute(pool, 4, &value));
    SAME(1 << 20, value);
    CODE(1, MemPoolGetAttribute(pool, 77, &value));
    CODE(0, MemAllocFromPoolAsync(&address, 0, pool, NULL));
    CODE(0, MemAllocFromPoolAsync(&address, 1000, pool, NULL));
    CODE(0, MemPoolGetAttribute(pool, 7, &value));
    SAME(1, value >= 1000);
    CODE(0, MemFreeAsync(address, NULL));
    CODE(0, StreamSynchronize(NULL));
    CODE(0, MemPoolTrimTo(pool, 0));
    CODE(0, MemPoolGetAttribute(pool, 5, &value));
    SAME(0, value);
    CODE(0, MemPoolDestroy(pool));
}

static void streams_and_events(void)
{
    CUstream stream = NULL;
    CUevent timed = NULL;
    CUevent plain = NULL;
    float elapsed;
    int priority = 9;

    CODE(1, StreamCreateWithPriority(&stream, 2, 0));
    CODE(0, StreamCreateWithPriority(&stream, 1, 100));
    CODE(0, StreamGetPriority(stream, &priority));
    SAME(0, priority);
    CODE(0, StreamQuery(stream));
    CODE(0, StreamQuery(NULL));
    CODE(1, EventCreate(&timed, 8));
    CODE(0, EventCreate(&timed, 0));
    CODE(0, EventCreate(&plain, 2));
    CODE(0, EventQuery(timed)); /* never recorded: nothing to wait for */
    CODE(0, EventSynchronize(timed));
    CODE(400, EventElapsedTime(&elapsed, timed, timed));
    CODE(0, StreamWaitEvent(stream, timed, 0));
    CODE(0, EventRecord(timed, stream));
    CODE(0, EventRecord(plain, stream));
    CODE(0, EventSynchronize(plain));
    CODE(0, EventElapsedTime(&elapsed, timed, timed));
    CODE(400, EventElapsedTime(&elapsed, timed, plain));
    CODE(0, EventDestroy(timed));
    CODE(0, EventDestroy(plain));
    CODE(0, StreamDestroy(stream));
}

static void modules(void)
{
    static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry one(.param .u32 n)\n.maxntid 64, 1, 1\n"
                              "{\n    ret;\n}\n";
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr address;
    size_t offset;
    size_t bytes = 0;
    int value = 0;
    unsigned n = 1;
    void *arguments[] = {&n};

    CODE(0, ModuleLoadData(&module, ptx));
    CODE(500, ModuleGetFunction(&function, module, "two"));
    CODE(0, ModuleGetFunction(&function, module, "one"));
    CODE(500, ModuleGetGlobal(&address, &bytes, module, "table"));
    CODE(0, FuncGetAttribute(&value, 1, function));
    SAME(0, value);
    CODE(1, FuncGetAttribute(&value, 777, function));
    CODE(1, FuncSetAttribute(function, 8, 1 << 24));
    if (cu->FuncGetParamInfo) {
        CODE(0, FuncGetParamInfo(function, 0, &offset, &bytes));
        SAME(4, bytes);
        CODE(1, FuncGetParamInfo(function, 1, &offset, &bytes));
    }
    CODE(1, LaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CODE(1, LaunchKernel(function, 1, 1, 1, 1, 1, 0, 0, NULL, arguments, NULL));
    CODE(1, LaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL));
    CODE(1, LaunchKernel(function, 1, 65536, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CODE(1, LaunchKernel(function, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, arguments, NULL));
    CODE(0, LaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    CODE(0, CtxSynchronize());
    CODE(0, ModuleUnload(module));
}

/* Stale handles: not tested on real drivers, which may dereference them. */
static void stale_handles(CUcontext primary)
{
    CUcontext own = NULL;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUmodule module = NULL;

    CODE(0, CtxCreate(&own, 0, 0));
    CODE(0, CtxDestroy(own));
    REFUSED_CONTEXT(CtxPushCurrent(own));
    REFUSED_CONTEXT(CtxSetCurrent(own));
    REFUSED_CONTEXT(CtxDestroy(own));
    CODE(0, StreamCreateWithPriority(&stream, 1, 0));
    CODE(0, StreamDestroy(stream));
    CODE(400, StreamQuery(stream));
    CODE(400, StreamDestroy(stream));
    CODE(0, EventCreate(&event, 0));
    CODE(0, EventDestroy(event));
    CODE(400, EventRecord(event, NULL));
    CODE(400, EventDestroy(event));
    CODE(0, ModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n"));
    CODE(0, ModuleUnload(module));
    CODE(400, ModuleUnload(module));
    CODE(400, EventQuery((CUevent)(void *)primary)); /* live, of another kind */
}

static int open_driver(const char *which, pool_mock **mock)
{
    static struct driver *real;

    if (strcmp(which, "mock") == 0) {
        if (pool_mock_create(mock, NULL))
            return 1;
        cu = pool_mock_table(*mock);
    } else if (strcmp(which, "sim") == 0) {
        if (sim_open("sim", &cu))
            return 1;
    } else {
        if (driver_open(NULL, &real)) {
            printf("skipped: %s\n", pool_last_error()->message);
            return 77;
        }
        cu = &real->api;
    }
    return 0;
}

int main(int count, char **arguments)
{
    const char *which = count > 1 ? arguments[1] : "mock";
    int is_real = strcmp(which, "gpu") == 0;
    pool_mock *mock = NULL;
    CUcontext primary = NULL;
    int status = open_driver(which, &mock);

    if (status)
        return status;
    if (!is_real) /* opening a real one initialises it */
        before_init();
    CODE(0, Init(0));
    devices();
    without_context();
    CODE(0, DevicePrimaryCtxRetain(&primary, 0));
    CODE(0, CtxPushCurrent(primary));
    contexts(primary);
    memory(primary);
    host_memory();
    memory_pools();
    streams_and_events();
    modules();
    if (!is_real)
        stale_handles(primary);
    CODE(0, CtxPopCurrent(NULL));
    CODE(0, DevicePrimaryCtxRelease(0));
    if (mock && *pool_mock_leaks(mock)) {
        printf("%s", pool_mock_leaks(mock));
        wrong++;
    }
    printf("%s: %d codes checked, %d not as expected\n", which, checked, wrong);
    pool_mock_destroy(&mock);
    return wrong ? 1 : 0;
}
