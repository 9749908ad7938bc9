/* SPDX-License-Identifier: Apache-2.0 */
/* Transcript: before init, devices, context stacks, limits, peers. */
#include <pthread.h>
#include <string.h>

#include "transcript.h"

static void before_init(void)
{
    CUcontext context;
    CUdeviceptr address;
    size_t bytes;
    int number;
    const char *name;

    SAY(DriverGetVersion(&number));
    SAY(DriverGetVersion(NULL));
    SAY(GetErrorName(3, &name));
    VALUE(strcmp(name, "CUDA_ERROR_NOT_INITIALIZED"));
    SAY(DeviceGetCount(&number));
    SAY(DeviceGetCount(NULL));
    SAY(DeviceGet(&number, 0));
    SAY(DeviceTotalMem(&bytes, 0));
    SAY(CtxGetCurrent(&context));
    SAY(CtxSynchronize());
    SAY(DevicePrimaryCtxRetain(&context, 0));
    SAY(MemGetInfo(&bytes, &bytes));
    SAY(MemAlloc(&address, 0));
    SAY(StreamSynchronize(NULL));
    SAY(Init(1));
    SAY(Init(0));
    SAY(Init(0));
    SAY(Init(7));
    SAY(CtxGetCurrent(&context));
    SAY(CtxSynchronize());
}

static void devices(void)
{
    char text[64];
    size_t bytes;
    int count = 0, value;
    unsigned flags;
    const char *name;
    CUdevice device;

    SAY(DeviceGetCount(&count));
    SAY(DeviceGetCount(NULL));
    SAY(DeviceGet(&device, 64));
    SAY(DeviceGet(&device, -1));
    SAY(DeviceGet(NULL, 0));
    SAY(DeviceGetName(text, sizeof(text), 999));
    SAY(DeviceGetName(text, 4, 0));
    VALUE(strlen(text));
    SAY(DeviceTotalMem(&bytes, 999));
    SAY(DeviceTotalMem(NULL, 0));
    SAY(DeviceGetAttribute(&value, 75, 999));
    SAY(DeviceGetAttribute(&value, 0, 0));
    SAY(DeviceGetAttribute(&value, 100000, 0));
    SAY(DeviceGetAttribute(NULL, 75, 0));
    SAY(DeviceGetPCIBusId(text, 5, 0));
    SAY(DeviceGetPCIBusId(text, sizeof(text), 999));
    SAY(DeviceGetByPCIBusId(&device, "ffff:ff:1f.0"));
    SAY(DeviceGetByPCIBusId(&device, "nonsense"));
    SAY(DeviceGetByPCIBusId(&device, NULL));
    SAY(DevicePrimaryCtxGetState(999, &flags, &value));
    SAY(DevicePrimaryCtxGetState(0, &flags, &value));
    VALUE(value);
    SAY(GetErrorName(54321, &name));
    SAY(GetErrorString(54321, &name));
    SAY(GetErrorString(700, &name));
}

/* What a GPU of compute capability 9.0 has, whatever its size and settings (ECC) and whatever is
 * not simulated (managed memory). */
static void chip(void)
{
    static const pool_cu_enum attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 31, 39, 41, 75,
        76, 78, 79, 80, 81, 82, 84, 87, 91, 95, 97, 106, 111, 115};
    int value;

    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        pool_cu_result code = cu->DeviceGetAttribute(&value, attributes[i], 0);

        printf("attribute %u -> %u: %d\n", attributes[i], code, value);
    }
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

    SAY(CtxGetCurrent(&context));
    VALUE(context != NULL);
    SAY(CtxGetCurrent(NULL));
    SAY(CtxGetDevice(&device));
    SAY(CtxSynchronize());
    SAY(CtxPopCurrent(&context));
    SAY(CtxPushCurrent(NULL));
    SAY(CtxSetCurrent(NULL));
    SAY(CtxDestroy(NULL));
    SAY(CtxGetFlags(&value));
    SAY(CtxGetLimit(&bytes, 0));
    SAY(CtxSetLimit(0, 4096));
    SAY(CtxGetApiVersion(NULL, &value));
    SAY(CtxGetStreamPriorityRange(&low, &low));
    SAY(MemGetInfo(&bytes, &bytes));
    SAY(MemAlloc(&address, 16));
    SAY(MemFree(0));
    SAY(MemFree(0x1234));
    SAY(MemHostAlloc(&host, 16, 0));
    SAY(MemcpyHtoD(0x1234, &value, 4));
    SAY(MemsetD8(0x1234, 0, 4));
    SAY(StreamCreateWithPriority(&stream, 1, 0));
    SAY(StreamSynchronize(NULL));
    SAY(StreamQuery(NULL));
    SAY(EventCreate(&event, 0));
    SAY(ModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n"));
    SAY(PointerGetAttribute(&value, 2, 0x1234));
    SAY(DevicePrimaryCtxRetain(&context, 999));
    SAY(DevicePrimaryCtxRetain(NULL, 0));
    SAY(DevicePrimaryCtxRelease(0));
    SAY(DevicePrimaryCtxRelease(999));
    SAY(CtxCreate(&context, 0, 999));
    SAY(CtxCreate(NULL, 0, 0));
    SAY(CtxCreate(&context, 0x7000000, 0));
}

static void *other_thread(void *user)
{
    CUcontext context = primary;

    (void)user;
    SAY(CtxGetCurrent(&context));
    VALUE(context == NULL);
    SAY(CtxSetCurrent(primary));
    SAY(CtxPushCurrent(primary));
    SAY(CtxPopCurrent(&context));
    VALUE(context == primary);
    SAY(CtxSynchronize());
    return NULL;
}

static void stack(void)
{
    CUcontext top = NULL, own = NULL, second = NULL;
    CUdevice device = -1;
    pthread_t thread;
    unsigned flags = 0, version = 0;
    int active = 0;

    SAY(DevicePrimaryCtxGetState(0, &flags, &active));
    VALUE(active);
    SAY(CtxDestroy(primary));
    SAY(CtxGetFlags(&flags));
    SAY(CtxGetApiVersion(primary, &version));
    SAY(CtxCreate(&own, 0, 0));
    SAY(CtxGetCurrent(&top));
    VALUE(top == own);
    SAY(CtxGetDevice(&device));
    SAY(CtxGetDevice(NULL));
    SAY(CtxCreate(&second, 4, 0));
    SAY(CtxGetFlags(&flags));
    VALUE(flags & 7);
    SAY(CtxPopCurrent(&top));
    VALUE(top == second);
    SAY(CtxGetCurrent(&top));
    VALUE(top == own);
    SAY(CtxPushCurrent(own));
    SAY(CtxPushCurrent(second));
    SAY(CtxDestroy(second));
    SAY(CtxGetCurrent(&top));
    VALUE(top == own);
    SAY(CtxSetCurrent(primary));
    SAY(CtxGetCurrent(&top));
    VALUE(top == primary);
    SAY(CtxPopCurrent(NULL));
    SAY(CtxGetCurrent(&top));
    VALUE(top == own);
    SAY(CtxSetCurrent(NULL));
    SAY(CtxGetCurrent(&top));
    VALUE(top == primary);
    SAY(CtxSetCurrent(own));
    SAY(CtxDestroy(own));
    SAY(CtxGetCurrent(&top));
    VALUE(top == NULL);
    SAY(CtxPopCurrent(&top));
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    SAY(CtxSetCurrent(primary));
    SAY(DevicePrimaryCtxRelease(0));
    SAY(DevicePrimaryCtxGetState(0, &flags, &active));
    VALUE(active);
    SAY(DevicePrimaryCtxRelease(0));
}

static void limits(void)
{
    size_t value = 0;

    for (pool_cu_enum limit = 0; limit < 4; limit++)
        printf("CtxGetLimit(%u) -> %u\n", limit, cu->CtxGetLimit(&value, limit));
    SAY(CtxGetLimit(&value, 77));
    SAY(CtxGetLimit(NULL, 0));
    SAY(CtxSetLimit(77, 1));
    SAY(CtxGetLimit(&value, 0));
    VALUE(value);
    SAY(CtxSetLimit(0, 4096));
    SAY(CtxGetLimit(&value, 0));
    VALUE(value);
    SAY(CtxSetLimit(0, 1));
    SAY(CtxSetLimit(0, (size_t)1 << 40));
    SAY(CtxSetLimit(1, 2 << 20));
    SAY(CtxGetLimit(&value, 1));
    VALUE(value);
    SAY(CtxSetLimit(2, 16 << 20));
    SAY(CtxGetLimit(&value, 2));
    VALUE(value);
}

static void peers(void)
{
    CUcontext own = NULL;
    int value = 7;

    SAY(DeviceCanAccessPeer(&value, 0, 0));
    VALUE(value);
    SAY(DeviceCanAccessPeer(&value, 0, 999));
    SAY(DeviceCanAccessPeer(&value, -1, 0));
    SAY(DeviceCanAccessPeer(NULL, 0, 0));
    SAY(DeviceGetP2PAttribute(&value, 1, 0, 0));
    SAY(DeviceGetP2PAttribute(&value, 1, 0, 999));
    SAY(DeviceGetP2PAttribute(&value, 99, 0, 0));
    SAY(CtxEnablePeerAccess(NULL, 0));
    SAY(CtxEnablePeerAccess(primary, 1));
    SAY(CtxEnablePeerAccess(primary, 0));
    SAY(CtxDisablePeerAccess(NULL));
    SAY(CtxDisablePeerAccess(primary));
    SAY(CtxCreate(&own, 0, 0));
    SAY(CtxEnablePeerAccess(primary, 0));
    SAY(CtxDisablePeerAccess(primary));
    SAY(CtxDestroy(own));
}

const struct section context_sections[] = {{"before init", before_init, 0}, {"devices", devices, 0},
    {"chip", chip, 0}, {"without a context", without_context, 0}, {"context stack", stack, 1},
    {"limits", limits, 1}, {"peers", peers, 1}, {NULL, NULL, 0}};
