/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mock driver: initialisation, devices, contexts and stacks, failures, script, balance. If the
 * mock were not strict, the library's own tests would pass without proving anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool/mock.h>

static pool_mock *mock;
static const pool_cuda_api *cu;

/* Starts each test with a mock of two devices, not initialised. */
static int set_up(void **state)
{
    const pool_mock_params params = {.struct_size = sizeof(params), .devices = 2};

    (void)state;
    if (pool_mock_create(&mock, &params) != POOL_OK)
        return -1;
    cu = pool_mock_table(mock);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pool_mock_destroy(&mock);
    return 0;
}

/* Initialised, with the primary context of device 0 current. */
static CUcontext with_context(void)
{
    CUcontext context = NULL;

    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu->CtxPushCurrent(context), 0);
    return context;
}

static void without_context(void)
{
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
}

static void test_one_mock_at_a_time(void **state)
{
    pool_mock *second = NULL;
    const pool_mock_params many = {.struct_size = sizeof(many), .devices = 65};

    (void)state;
    assert_int_equal(pool_mock_create(&second, NULL), POOL_ERR_BUSY);
    assert_null(second);
    assert_int_equal(pool_mock_create(&second, &many), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_mock_create(NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    pool_mock_destroy(NULL);
    pool_mock_destroy(&second);
}

static void test_table_is_complete(void **state)
{
    (void)state;
    assert_int_equal(cu->struct_size, sizeof(pool_cuda_api));
#define CHECK(field, symbol, suffix, version, need, parameters) assert_non_null(cu->field);
    POOL_CUDA_FUNCTIONS(CHECK)
#undef CHECK
    assert_int_equal(pool_mock_remove_function(mock, "cuMemPoolCreate"), POOL_OK);
    assert_null(cu->MemPoolCreate);
    assert_non_null(cu->MemPoolDestroy);
    assert_int_equal(pool_mock_remove_function(mock, "cuNothing"), POOL_ERR_NOT_FOUND);
    assert_string_equal(
        pool_mock_verify(mock), "pool_mock_remove_function: there is no function cuNothing\n");
}

static void test_nothing_before_init(void **state)
{
    int number = 0;
    CUcontext context;
    const char *name = NULL;

    (void)state;
    assert_int_equal(cu->DeviceGetCount(&number), 3);
    assert_int_equal(cu->DeviceGet(&number, 0), 3);
    assert_int_equal(cu->CtxGetCurrent(&context), 3);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&context, 0), 3);
    assert_int_equal(cu->CtxCreate(&context, 0, 0), 3);
    assert_int_equal(cu->CtxSynchronize(), 3);
    assert_int_equal(cu->DriverGetVersion(&number), 0);
    assert_int_equal(number, 13000);
    assert_int_equal(cu->GetErrorName(700, &name), 0);
    assert_string_equal(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(cu->GetErrorName(12345, &name), 1);
    assert_null(name);
    assert_int_equal(cu->Init(1), 1);
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->DeviceGetCount(&number), 0);
    assert_int_equal(number, 2);
}

static void test_no_devices(void **state)
{
    const pool_mock_params none = {.struct_size = sizeof(none), .devices = POOL_MOCK_NO_DEVICES};

    (void)state;
    pool_mock_destroy(&mock);
    assert_int_equal(pool_mock_create(&mock, &none), POOL_OK);
    assert_int_equal(pool_mock_table(mock)->Init(0), 100);
}

static void test_device_questions(void **state)
{
    CUdevice device;
    char text[64];
    size_t bytes = 0;
    int value = -1;
    pool_cu_uuid uuid[2];

    (void)state;
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->DeviceGet(&device, 2), 101);
    assert_int_equal(cu->DeviceGet(&device, -1), 101);
    assert_int_equal(cu->DeviceGet(NULL, 0), 1);
    assert_int_equal(cu->DeviceGet(&device, 1), 0);
    assert_int_equal(cu->DeviceGetName(text, sizeof(text), 7), 101);
    assert_int_equal(cu->DeviceGetName(text, 0, 1), 1);
    assert_int_equal(cu->DeviceGetName(text, 5, 1), 0);
    assert_string_equal(text, "Mock");
    assert_int_equal(cu->DeviceTotalMem(&bytes, 1), 0);
    assert_true(bytes == UINT64_C(143771) << 20);
    assert_int_equal(cu->DeviceGetAttribute(&value, 75, 1), 0);
    assert_int_equal(value, 9);
    assert_int_equal(cu->DeviceGetAttribute(&value, 0, 1), 1);
    assert_int_equal(cu->DeviceGetAttribute(&value, 75, 2), 101);
    assert_int_equal(
        pool_mock_set_attribute(mock, 1, POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, 80), POOL_OK);
    assert_int_equal(cu->DeviceGetAttribute(&value, 16, 1), 0);
    assert_int_equal(value, 80);
    assert_int_equal(cu->DeviceGetUuid(&uuid[0], 0), 0);
    assert_int_equal(cu->DeviceGetUuid(&uuid[1], 1), 0);
    assert_memory_not_equal(&uuid[0], &uuid[1], sizeof(uuid[0]));
    assert_int_equal(pool_mock_set_uuid(mock, 1, "0123456789abcdef", "fedcba9876543210"), POOL_OK);
    assert_int_equal(cu->DeviceGetUuid(&uuid[0], 1), 0);
    assert_int_equal(cu->DeviceGetUuidV2(&uuid[1], 1), 0);
    assert_memory_equal(&uuid[0], "0123456789abcdef", 16);
    assert_memory_equal(&uuid[1], "fedcba9876543210", 16);
    assert_int_equal(pool_mock_set_pci(mock, 1, 0x10000, 0xc1, 3), POOL_OK);
    assert_int_equal(cu->DeviceGetPCIBusId(text, 12, 1), 1);
    assert_int_equal(cu->DeviceGetPCIBusId(text, sizeof(text), 1), 0);
    assert_string_equal(text, "10000:C1:03.0");
    assert_int_equal(cu->DeviceGetByPCIBusId(&device, text), 0);
    assert_int_equal(device, 1);
    assert_int_equal(cu->DeviceGetByPCIBusId(&device, "0000:77:00.0"), 101);
    assert_int_equal(cu->DeviceGetByPCIBusId(&device, "x"), 1);
    assert_int_equal(pool_mock_set_name(mock, 9, "x"), POOL_ERR_NOT_FOUND);
}

static void test_peers(void **state)
{
    int value = -1;
    CUcontext other = NULL;

    (void)state;
    CUcontext context = with_context();
    assert_int_equal(pool_mock_set_peer(mock, 0, 1, 0, 0, 0), POOL_OK);
    assert_int_equal(pool_mock_set_peer(mock, 1, 0, 1, 0, 2), POOL_OK);
    assert_int_equal(pool_mock_set_peer(mock, 1, 1, 1, 0, 2), POOL_ERR_NOT_FOUND);
    assert_int_equal(cu->DeviceCanAccessPeer(&value, 0, 1), 0);
    assert_int_equal(value, 0);
    assert_int_equal(cu->DeviceCanAccessPeer(&value, 1, 0), 0);
    assert_int_equal(value, 1);
    assert_int_equal(cu->DeviceGetP2PAttribute(&value, 1, 1, 0), 0);
    assert_int_equal(value, 2);
    assert_int_equal(cu->DeviceGetP2PAttribute(&value, 3, 1, 0), 0);
    assert_int_equal(value, 0);
    assert_int_equal(cu->DeviceGetP2PAttribute(&value, 1, 1, 1), 101);
    assert_int_equal(cu->DeviceGetP2PAttribute(&value, 9, 1, 0), 1);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&other, 1), 0);
    assert_int_equal(cu->CtxEnablePeerAccess(other, 0), 217);
    assert_int_equal(cu->CtxEnablePeerAccess(context, 0), 201);
    assert_int_equal(pool_mock_set_peer(mock, 0, 1, 1, 1, 0), POOL_OK);
    assert_int_equal(cu->CtxDisablePeerAccess(other), 705);
    assert_int_equal(cu->CtxEnablePeerAccess(other, 1), 1);
    assert_int_equal(cu->CtxEnablePeerAccess(other, 0), 0);
    assert_int_equal(cu->CtxEnablePeerAccess(other, 0), 704);
    assert_non_null(strstr(pool_mock_leaks(mock), "primary0 still reaches 1 peers"));
    assert_int_equal(cu->CtxDisablePeerAccess(other), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(1), 0);
    without_context();
    assert_string_equal(pool_mock_leaks(mock), "");
}

static void test_primary_contexts(void **state)
{
    CUcontext first = NULL;
    CUcontext again = NULL;
    unsigned flags = 9;
    int active = 9;
    size_t bytes;

    (void)state;
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 201);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&first, 5), 101);
    assert_int_equal(cu->DevicePrimaryCtxRetain(NULL, 0), 1);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&first, 0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&again, 0), 0);
    assert_ptr_equal(first, again);
    assert_int_equal(cu->DevicePrimaryCtxGetState(0, &flags, &active), 0);
    assert_int_equal(active, 1);
    assert_int_equal(cu->CtxDestroy(first), 201);
    assert_string_equal(pool_mock_leaks(mock), "primary0 is still retained 2 times\n");
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    assert_int_equal(cu->CtxPushCurrent(first), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 201);
    assert_int_equal(cu->DevicePrimaryCtxGetState(0, &flags, &active), 0);
    assert_int_equal(active, 0);
    /* Current, but gone. */
    assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 709);
    assert_int_equal(cu->CtxPopCurrent(&again), 0);
    assert_ptr_equal(first, again);
    assert_int_equal(cu->CtxPushCurrent(first), 201);
    assert_int_equal(pool_mock_set_attribute(mock, 1, POOL_CU_ATTRIBUTE_COMPUTE_MODE, 2), POOL_OK);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&first, 1), 46);
    assert_string_equal(pool_mock_leaks(mock), "");
}

static void test_own_contexts(void **state)
{
    CUcontext context = NULL;
    CUcontext current = NULL;
    CUdevice device = -1;
    unsigned value = 0;
    size_t size = 0;

    (void)state;
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->CtxGetDevice(&device), 201);
    assert_int_equal(cu->CtxCreate(&context, 0x10000, 1), 1);
    assert_int_equal(cu->CtxCreate(&context, 4, 2), 101);
    assert_int_equal(cu->CtxCreate(&context, 4, 1), 0);
    assert_int_equal(cu->CtxGetCurrent(&current), 0);
    assert_ptr_equal(current, context);
    assert_int_equal(cu->CtxGetDevice(&device), 0);
    assert_int_equal(device, 1);
    assert_int_equal(cu->CtxGetFlags(&value), 0);
    assert_int_equal(value, 4);
    assert_int_equal(cu->CtxGetApiVersion(NULL, &value), 0);
    assert_int_equal(value, 3020);
    assert_int_equal(cu->CtxSetLimit(0, 4096), 0);
    assert_int_equal(cu->CtxGetLimit(&size, 0), 0);
    assert_int_equal(size, 4096);
    assert_int_equal(cu->CtxGetLimit(&size, 77), 1);
    assert_non_null(strstr(pool_mock_leaks(mock), "ctx1 on device 1 was not destroyed"));
    /* Destroying the current one pops it. */
    assert_int_equal(cu->CtxDestroy(context), 0);
    assert_int_equal(pool_mock_depth(mock), 0);
    assert_int_equal(cu->CtxDestroy(context), 201);
    assert_int_equal(cu->CtxDestroy(NULL), 1);
    assert_int_equal(cu->CtxPushCurrent(context), 201);
    assert_int_equal(cu->CtxPushCurrent((CUcontext)&size), 201);
    assert_string_equal(pool_mock_leaks(mock), "");
}

static void test_stack(void **state)
{
    CUcontext a = NULL;
    CUcontext b = NULL;
    CUcontext top = NULL;

    (void)state;
    a = with_context();
    assert_int_equal(cu->DevicePrimaryCtxRetain(&b, 1), 0);
    assert_int_equal(cu->CtxPushCurrent(b), 0);
    assert_int_equal(pool_mock_depth(mock), 2);
    assert_ptr_equal(pool_mock_current_context(mock), b);
    assert_int_equal(cu->CtxSetCurrent(a), 0); /* replaces the top */
    assert_int_equal(pool_mock_depth(mock), 2);
    assert_int_equal(cu->CtxSetCurrent(NULL), 0); /* pops */
    assert_int_equal(pool_mock_depth(mock), 1);
    assert_int_equal(cu->CtxPopCurrent(&top), 0);
    assert_ptr_equal(top, a);
    assert_int_equal(cu->CtxPopCurrent(&top), 201);
    assert_int_equal(cu->CtxSetCurrent(NULL), 0);
    assert_int_equal(cu->CtxGetCurrent(&top), 0);
    assert_null(top);
    assert_int_equal(cu->CtxSetCurrent(b), 0); /* an empty stack gets it */
    assert_int_equal(pool_mock_depth(mock), 1);
    assert_int_equal(cu->CtxSetCurrent((CUcontext)(uintptr_t)16), 201);
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(pool_mock_unpopped(mock), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(1), 0);
}

static void *empty_stack_thread(void *context)
{
    CUcontext current = context;
    uintptr_t wrong = 0;

    wrong |= cu->CtxGetCurrent(&current) != 0 || current != NULL;
    wrong |= cu->CtxSynchronize() != 201;
    wrong |= cu->CtxPushCurrent(context) != 0 || cu->CtxSynchronize() != 0;
    return (void *)wrong;
}

static void test_stacks_are_per_thread(void **state)
{
    pthread_t thread;
    void *wrong = NULL;
    pool_mock_balance balance;

    (void)state;
    CUcontext context = with_context();
    assert_int_equal(pthread_create(&thread, NULL, empty_stack_thread, context), 0);
    pthread_join(thread, &wrong);
    assert_null(wrong);
    assert_int_equal(pool_mock_depth(mock), 1);
    pool_mock_get_balance(mock, &balance);
    assert_int_equal(balance.stacked, 2);
    assert_int_equal(balance.primary_refs, 1);
}

static void test_fail_nth(void **state)
{
    size_t a;
    size_t b;

    (void)state;
    with_context();
    assert_int_equal(pool_mock_fail(mock, "cuMemGetInfo", 2, POOL_CU_UNKNOWN, POOL_MOCK_ONCE), 0);
    assert_int_equal(cu->MemGetInfo(&a, &b), 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->MemGetInfo(&a, &b), 999);
    assert_int_equal(cu->MemGetInfo(&a, &b), 0);
    pool_mock_fail(mock, NULL, 2, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_FROM_THEN_ON);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(cu->MemGetInfo(&a, &b), 2);
    assert_int_equal(cu->CtxSynchronize(), 2);
    assert_int_equal(pool_mock_failures_made(mock), 3);
    pool_mock_clear_failures(mock);
    pool_mock_fail_on(mock, 1, "cuDeviceGet*", 1, POOL_CU_INVALID_DEVICE, POOL_MOCK_FROM_THEN_ON);
    assert_int_equal(cu->DeviceTotalMem(&a, 1), 0);
    int value;
    assert_int_equal(cu->DeviceGetAttribute(&value, 16, 0), 0);
    assert_int_equal(cu->DeviceGetAttribute(&value, 16, 1), 101);
    pool_mock_clear_failures(mock);
    assert_int_equal(
        pool_mock_fail(mock, "cuTypo", 1, POOL_CU_UNKNOWN, POOL_MOCK_ONCE), POOL_ERR_NOT_FOUND);
    assert_int_equal(
        pool_mock_fail(mock, NULL, 0, POOL_CU_UNKNOWN, POOL_MOCK_ONCE), POOL_ERR_INVALID_ARGUMENT);
    without_context();
    assert_string_not_equal(pool_mock_verify(mock), "");
}

static void test_refused_release_is_no_leak(void **state)
{
    CUcontext context = NULL;
    pool_mock_balance balance;

    (void)state;
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->CtxCreate(&context, 0, 0), 0);
    pool_mock_fail(mock, "cuCtxPopCurrent", 1, POOL_CU_UNKNOWN, POOL_MOCK_ONCE);
    pool_mock_fail(mock, "cuCtxDestroy", 1, POOL_CU_UNKNOWN, POOL_MOCK_ONCE);
    assert_int_equal(cu->CtxPopCurrent(NULL), 999);
    assert_int_equal(pool_mock_unpopped(mock), 0);
    assert_int_equal(pool_mock_depth(mock), 1);
    assert_int_equal(cu->CtxDestroy(context), 999);
    pool_mock_get_balance(mock, &balance);
    assert_int_equal(balance.contexts, 1);
    assert_int_equal(balance.failed_releases, 1);
    assert_null(strstr(pool_mock_leaks(mock), "ctx1"));
    assert_int_equal(cu->CtxDestroy(context), 0);
}

static void test_sticky_fault(void **state)
{
    CUcontext context = NULL;
    CUdeviceptr address = 0;
    size_t a;
    int count = 0;

    (void)state;
    with_context();
    assert_int_equal(cu->MemAlloc(&address, 64), 0);
    pool_mock_fail(mock, "cuCtxSynchronize", 1, POOL_CU_ILLEGAL_ADDRESS, POOL_MOCK_ONCE);
    assert_int_equal(cu->CtxSynchronize(), 700);
    assert_int_equal(pool_mock_poisoned(mock), 700);
    assert_int_equal(cu->MemGetInfo(&a, &a), 700);
    assert_int_equal(cu->CtxCreate(&context, 0, 1), 700);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&context, 1), 700);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 700);
    /* Functions that access no device continue to work. */
    assert_int_equal(cu->DeviceGetCount(&count), 0);
    assert_int_equal(cu->CtxPopCurrent(&context), 0);
    /* Nothing can be released any more, so nothing is a leak. */
    assert_string_equal(pool_mock_leaks(mock), "");
    assert_int_equal(pool_mock_poison(mock, POOL_CU_OUT_OF_MEMORY), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_mock_poison(mock, POOL_CU_SUCCESS), POOL_OK);
    assert_non_null(strstr(pool_mock_leaks(mock), "was not freed"));
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
}

static void test_sticky_everywhere(void **state)
{
    const pool_mock_params params = {.struct_size = sizeof(params), .sticky_everywhere = 1};
    int count = 0;
    const char *name;

    (void)state;
    pool_mock_destroy(&mock);
    assert_int_equal(pool_mock_create(&mock, &params), POOL_OK);
    cu = pool_mock_table(mock);
    with_context();
    assert_int_equal(pool_mock_poison(mock, POOL_CU_LAUNCH_FAILED), POOL_OK);
    assert_int_equal(cu->DeviceGetCount(&count), 719);
    assert_int_equal(cu->CtxPopCurrent(NULL), 719);
    assert_int_equal(cu->Init(0), 719);
    assert_int_equal(cu->GetErrorName(719, &name), 0);
}

static pool_cu_result note_hook(void *user, const char *function, uint64_t call)
{
    uint64_t *last = user;
    size_t a;

    *last = call;
    /* No driver calls from here. */
    if (cu->MemGetInfo(&a, &a) != 800)
        *last = 1000;
    return strcmp(function, "cuMemGetInfo_v2") == 0 ? 46 : 0;
}

static void test_hook(void **state)
{
    uint64_t last = 0;
    size_t a;

    (void)state;
    with_context();
    pool_mock_set_hook(mock, note_hook, &last);
    assert_int_equal(cu->CtxSynchronize(), 0);
    assert_int_equal(last, 4);
    assert_int_equal(cu->MemGetInfo(&a, &a), 46);
    pool_mock_set_hook(mock, NULL, NULL);
    assert_int_equal(cu->MemGetInfo(&a, &a), 0);
    assert_int_equal(last, 5);
    without_context();
}

static void test_script(void **state)
{
    (void)state;
    pool_mock_expect(mock, "cuInit(0)", POOL_CU_SUCCESS);
    pool_mock_expect(mock, "cuDevicePrimaryCtxRetain", POOL_CU_SUCCESS);
    pool_mock_expect(mock, "cuCtxPushCurrent(primary0)", POOL_CU_SUCCESS);
    pool_mock_expect(mock, "...", POOL_CU_SUCCESS);
    pool_mock_expect(mock, "cuCtxSynchronize", POOL_CU_OUT_OF_MEMORY);
    with_context();
    assert_string_equal(pool_mock_verify(mock), "expected ..., which never came\n");
    assert_int_equal(cu->CtxGetFlags(&(unsigned){0}), 0);
    assert_int_equal(cu->CtxSynchronize(), 2);
    assert_string_equal(pool_mock_verify(mock), "");
    assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_string_equal(
        pool_mock_verify(mock), "call 6: expected no more calls, came cuCtxPopCurrent()\n");
    assert_int_equal(pool_mock_expect(mock, "cuNo()", POOL_CU_SUCCESS), POOL_ERR_NOT_FOUND);
}

static void test_script_mismatch(void **state)
{
    (void)state;
    pool_mock_expect(mock, "cuInit", POOL_CU_SUCCESS);
    pool_mock_expect(mock, "cuDevicePrimaryCtxRetain(1)", POOL_CU_SUCCESS);
    with_context();
    assert_string_equal(pool_mock_verify(mock),
        "call 2: expected cuDevicePrimaryCtxRetain(1), came cuDevicePrimaryCtxRetain(0)\n");
}

static void test_counts_and_log(void **state)
{
    (void)state;
    with_context();
    without_context();
    assert_int_equal(pool_mock_calls(mock, NULL), 5);
    assert_int_equal(pool_mock_calls(mock, "cuCtx*"), 2);
    assert_int_equal(pool_mock_calls(mock, "cuCtxPushCurrent"), 1);
    assert_int_equal(pool_mock_calls(mock, "cuCtxPushCurrent_v2"), 1);
    assert_true(pool_mock_calls(mock, "cuFoo") == UINT64_MAX);
    assert_string_equal(pool_mock_log(mock), "1: cuInit(0) = 0\n"
                                             "2: cuDevicePrimaryCtxRetain(0) = 0 on dev0\n"
                                             "3: cuCtxPushCurrent(primary0) = 0\n"
                                             "4: cuCtxPopCurrent() = 0 on dev0\n"
                                             "5: cuDevicePrimaryCtxRelease(0) = 0 on dev0\n");
    pool_mock_reset_calls(mock);
    assert_int_equal(pool_mock_calls(mock, NULL), 0);
    assert_string_equal(pool_mock_log(mock), "");
}

static void test_fork_child_is_refused(void **state)
{
    int status = 0;

    (void)state;
    with_context();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(cu->CtxSynchronize() == 3 && cu->Init(0) == 3 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(cu->CtxSynchronize(), 0);
    without_context();
}

static void test_calls_after_the_end(void **state)
{
    pool_cu_result (*init)(unsigned) = cu->Init;

    (void)state;
    assert_int_equal(cu->Init(0), 0);
    pool_mock_destroy(&mock);
    assert_null(mock);
    assert_int_equal(init(0), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_mock_at_a_time),
        TEST(test_table_is_complete),
        TEST(test_nothing_before_init),
        TEST(test_no_devices),
        TEST(test_device_questions),
        TEST(test_peers),
        TEST(test_primary_contexts),
        TEST(test_own_contexts),
        TEST(test_stack),
        TEST(test_stacks_are_per_thread),
        TEST(test_fail_nth),
        TEST(test_refused_release_is_no_leak),
        TEST(test_sticky_fault),
        TEST(test_sticky_everywhere),
        TEST(test_hook),
        TEST(test_script),
        TEST(test_script_mismatch),
        TEST(test_counts_and_log),
        TEST(test_fork_child_is_refused),
        TEST(test_calls_after_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
