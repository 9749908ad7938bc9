/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the simulated driver, its devices, contexts and each thread's stack of them.
 */
#include "driver.h"

#include <sys/wait.h>

static void test_before_start(void **state)
{
    const pool_cuda_api *table = sim_driver_table();
    size_t bytes;
    int value;

    (void)state;
    assert_int_equal(table->struct_size, sizeof(*table));
    assert_int_equal(table->Init(0), 100);
    assert_int_equal(table->DeviceGetCount(&value), 3);
    assert_int_equal(table->MemGetInfo(&bytes, &bytes), 3);
    assert_int_equal(table->DriverGetVersion(&value), 0);
    assert_int_equal(value, 13000);
}

static void test_open_and_share(void **state)
{
    const pool_cuda_api *other;
    int count;

    (void)state;
    assert_int_equal(sim_open("sim:2", &cu), POOL_OK);
    assert_int_equal(cu->DeviceGetCount(&count), 3);
    assert_int_equal(cu->Init(1), 1);
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->DeviceGetCount(&count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(sim_open("sim:2,mem=8G", &other), POOL_OK); /* the same in other words */
    assert_ptr_equal(other, cu);
    assert_int_equal(sim_open("sim:3", &other), POOL_ERR_BUSY);
    assert_non_null(strstr(pool_last_error()->message, "another kind"));
    assert_int_equal(sim_open("sim:bad", &other), POOL_ERR_INVALID_ARGUMENT);
    sim_close();
    assert_int_equal(cu->DeviceGetCount(&count), 0);
    sim_close();
    assert_int_equal(cu->DeviceGetCount(&count), 3);
    assert_int_equal(sim_open("sim:3", &other), POOL_OK);
    sim_close();
}

static void test_devices(void **state)
{
    char name[64], pci[16], second[16];
    pool_cu_uuid one, again, two;
    CUdevice device = -1;
    size_t bytes;
    int value;

    (void)state;
    sim_begin("sim:2,mem=2G,cc=86,name=Card");
    assert_int_equal(cu->DeviceGet(&device, 1), 0);
    assert_int_equal(device, 1);
    assert_int_equal(cu->DeviceGet(&device, 2), 101);
    assert_int_equal(cu->DeviceGet(&device, -1), 101);
    assert_int_equal(cu->DeviceGet(NULL, 0), 1);
    assert_int_equal(cu->DeviceGetName(name, sizeof(name), 0), 0);
    assert_string_equal(name, "Card");
    assert_int_equal(cu->DeviceGetName(name, 3, 0), 0);
    assert_string_equal(name, "Ca");
    assert_int_equal(cu->DeviceGetName(name, 0, 0), 1);
    assert_int_equal(cu->DeviceGetName(name, sizeof(name), 7), 101);
    assert_int_equal(cu->DeviceTotalMem(&bytes, 0), 0);
    assert_int_equal(bytes, UINT64_C(2) << 30);
    assert_int_equal(cu->DeviceGetUuid(&one, 0), 0);
    assert_int_equal(cu->DeviceGetUuidV2(&again, 0), 0);
    assert_int_equal(cu->DeviceGetUuid(&two, 1), 0);
    assert_memory_equal(&one, &again, sizeof(one));
    assert_memory_not_equal(&one, &two, 4);
    assert_int_equal(cu->DeviceGetPCIBusId(pci, sizeof(pci), 0), 0);
    assert_int_equal(cu->DeviceGetPCIBusId(second, sizeof(second), 1), 0);
    assert_string_equal(pci, "0000:10:00.0");
    assert_string_equal(second, "0000:11:00.0");
    assert_int_equal(cu->DeviceGetPCIBusId(second, 12, 1), 1);
    assert_int_equal(cu->DeviceGetByPCIBusId(&device, "0000:11:00.0"), 0);
    assert_int_equal(device, 1);
    assert_int_equal(cu->DeviceGetByPCIBusId(&device, "0000:12:00.0"), 101);
    assert_int_equal(cu->DeviceGetByPCIBusId(&device, "nonsense"), 1);
    assert_int_equal(cu->DeviceCanAccessPeer(&value, 0, 1), 0);
    assert_int_equal(value, 1);
    assert_int_equal(cu->DeviceCanAccessPeer(&value, 0, 0), 0);
    assert_int_equal(value, 0);
    assert_int_equal(cu->DeviceCanAccessPeer(&value, 0, 5), 101);
    assert_int_equal(cu->DeviceGetP2PAttribute(&value, 2, 0, 1), 0);
    assert_int_equal(value, 1);
    assert_int_equal(cu->DeviceGetP2PAttribute(&value, 2, 0, 0), 101);
    assert_int_equal(cu->DeviceGetP2PAttribute(&value, 77, 0, 1), 1);
    sim_close();
}

static int attribute(pool_cu_enum which)
{
    int value = -77;

    assert_int_equal(cu->DeviceGetAttribute(&value, which, 0), 0);
    return value;
}

static void test_attributes(void **state)
{
    static const int capabilities[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    char spec[32];
    int value;

    (void)state;
    for (size_t at = 0; at < sizeof(capabilities) / sizeof(capabilities[0]); at++) {
        snprintf(spec, sizeof(spec), "sim:cc=%d,sms=6", capabilities[at]);
        sim_begin(spec);
        assert_int_equal(attribute(75) * 10 + attribute(76), capabilities[at]);
        assert_int_equal(attribute(16), 6);
        assert_int_equal(attribute(10), 32);
        assert_int_equal(attribute(1), 1024);
        assert_int_equal(attribute(8), 49152);
        /* An opted-in block with what is reserved for it fits a multiprocessor exactly. */
        assert_int_equal(attribute(97) + attribute(111), attribute(81));
        assert_true(attribute(39) >= 1024 && attribute(39) % 512 == 0);
        assert_true(attribute(106) >= 16);
        assert_int_equal(attribute(115), 1);
        assert_int_equal(attribute(95), 1);
        assert_int_equal(attribute(41), 1);
        /* Every attribute of CUDA 13.0 has an answer. */
        for (pool_cu_enum which = 1; which <= 147; which++)
            assert_int_not_equal(attribute(which), -77);
        assert_int_equal(cu->DeviceGetAttribute(&value, 0, 0), 1);
        assert_int_equal(cu->DeviceGetAttribute(&value, 148, 0), 1);
        assert_int_equal(cu->DeviceGetAttribute(&value, 10, 1), 101);
        assert_int_equal(cu->DeviceGetAttribute(NULL, 10, 0), 1);
        sim_close();
    }
}

static void test_error_names(void **state)
{
    const char *text;

    (void)state;
    assert_int_equal(sim_driver_table()->GetErrorName(700, &text), 0);
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(sim_driver_table()->GetErrorName(0, &text), 0);
    assert_string_equal(text, "CUDA_SUCCESS");
    assert_int_equal(sim_driver_table()->GetErrorName(12345, &text), 1);
    assert_null(text);
    assert_int_equal(sim_driver_table()->GetErrorString(2, &text), 0);
    assert_string_equal(text, "out of memory");
    assert_int_equal(sim_driver_table()->GetErrorString(12345, &text), 1);
}

/* Flags are set before or after the activation and last until the final release. */
static void test_primary_flags(void **state)
{
    CUcontext context = NULL;
    unsigned flags = 9;
    int active = 9;

    (void)state;
    sim_begin("sim:2");
    assert_int_equal(cu->DevicePrimaryCtxSetFlags(5, 4), 101);
    assert_int_equal(cu->DevicePrimaryCtxSetFlags(0, 0x100), 1);
    assert_int_equal(cu->DevicePrimaryCtxSetFlags(0, 3), 1); /* two ways of scheduling */
    assert_int_equal(cu->DevicePrimaryCtxSetFlags(0, 4), 0);
    assert_int_equal(cu->DevicePrimaryCtxGetState(0, &flags, &active), 0);
    assert_int_equal(flags, 4);
    assert_int_equal(active, 0);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu->CtxPushCurrent(context), 0);
    assert_int_equal(cu->CtxGetFlags(&flags), 0);
    assert_int_equal(flags, 4);
    assert_int_equal(cu->DevicePrimaryCtxSetFlags(0, 1), 0);
    assert_int_equal(cu->CtxGetFlags(&flags), 0);
    assert_int_equal(flags, 1);
    assert_int_equal(cu->DevicePrimaryCtxGetState(1, &flags, &active), 0);
    assert_int_equal(flags, 0);
    assert_int_equal(cu->CtxPopCurrent(&context), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    assert_int_equal(cu->DevicePrimaryCtxGetState(0, &flags, &active), 0);
    assert_int_equal(flags, 0);
    sim_close();
}

static void test_primary(void **state)
{
    CUcontext one = NULL, two = NULL, now = NULL;
    size_t free_bytes, free_before, total;
    unsigned flags;
    int active;

    (void)state;
    sim_begin("sim:2,mem=16G,free=15G");
    assert_int_equal(cu->DevicePrimaryCtxGetState(0, &flags, &active), 0);
    assert_int_equal(active, 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 201);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&one, 5), 101);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&one, 0), 0);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&two, 0), 0);
    assert_ptr_equal(one, two);
    assert_int_equal(cu->CtxGetCurrent(&now), 0);
    assert_null(now);
    assert_int_equal(cu->MemGetInfo(&free_bytes, &total), 201);
    assert_int_equal(cu->CtxPushCurrent(one), 0);
    assert_int_equal(cu->MemGetInfo(&free_before, &total), 0);
    assert_int_equal(total, UINT64_C(16) << 30);
    assert_int_equal(free_before, (UINT64_C(15) << 30) - (UINT64_C(524) << 20));
    assert_int_equal(cu->CtxDestroy(one), 201); /* not for primary ones */
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    assert_int_equal(cu->MemGetInfo(&free_bytes, &total), 0);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    assert_int_equal(cu->MemGetInfo(&free_bytes, &total), 709);
    assert_int_equal(cu->CtxPushCurrent(one), 709);
    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 201);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&two, 0), 0); /* revives the same handle */
    assert_ptr_equal(one, two);
    assert_int_equal(cu->MemGetInfo(&free_bytes, &total), 0);
    assert_int_equal(free_bytes, free_before);
    assert_int_equal(cu->CtxPopCurrent(&now), 0);
    assert_ptr_equal(now, one);
    sim_end_context();
}

static void test_stack(void **state)
{
    CUcontext one, two, popped = NULL, now;
    CUdevice device;
    unsigned value;

    (void)state;
    sim_begin("sim:2");
    assert_int_equal(cu->CtxPopCurrent(&popped), 201);
    assert_int_equal(cu->CtxGetDevice(&device), 201);
    assert_int_equal(cu->CtxSynchronize(), 201);
    assert_int_equal(cu->CtxPushCurrent(NULL), 1);
    assert_int_equal(cu->CtxPushCurrent((CUcontext)(uintptr_t)0x1234), 201);
    assert_int_equal(cu->CtxCreate(&one, 0, 9), 101);
    assert_int_equal(cu->CtxCreate(&one, 0x100, 0), 1);
    assert_int_equal(cu->CtxCreate(&one, 3, 0), 1);
    assert_int_equal(cu->CtxCreate(&one, 4, 0), 0);
    assert_int_equal(cu->CtxCreate(&two, 0, 1), 0);
    assert_int_equal(cu->CtxGetDevice(&device), 0);
    assert_int_equal(device, 1);
    assert_int_equal(cu->CtxPushCurrent(one), 0);
    assert_int_equal(cu->CtxGetDevice(&device), 0);
    assert_int_equal(device, 0);
    assert_int_equal(cu->CtxGetFlags(&value), 0);
    assert_int_equal(value, 4);
    assert_int_equal(cu->CtxGetApiVersion(two, &value), 0);
    assert_int_equal(value, 3020);
    /* one, two, one: set replaces the top, set NULL takes it off. */
    assert_int_equal(cu->CtxSetCurrent(two), 0);
    assert_int_equal(cu->CtxSetCurrent(NULL), 0);
    assert_int_equal(cu->CtxGetCurrent(&now), 0);
    assert_ptr_equal(now, two);
    /* Destroying the current one takes it off. */
    assert_int_equal(cu->CtxDestroy(two), 0);
    assert_int_equal(cu->CtxGetCurrent(&now), 0);
    assert_ptr_equal(now, one);
    assert_int_equal(cu->CtxDestroy(two), 709);
    assert_int_equal(cu->CtxPushCurrent(two), 709);
    /* One that is deeper in the stack stays there, and calls report that it was destroyed. */
    assert_int_equal(cu->CtxCreate(&two, 0, 1), 0);
    assert_int_equal(cu->CtxDestroy(one), 0);
    assert_int_equal(cu->CtxPopCurrent(&popped), 0);
    assert_ptr_equal(popped, two);
    assert_int_equal(cu->CtxSynchronize(), 709);
    assert_int_equal(cu->CtxPopCurrent(&popped), 0);
    assert_ptr_equal(popped, one);
    assert_int_equal(cu->CtxPopCurrent(NULL), 201);
    for (int depth = 0; depth < 1000; depth++)
        assert_int_equal(cu->CtxPushCurrent(two), 0);
    for (int depth = 0; depth < 1000; depth++)
        assert_int_equal(cu->CtxPopCurrent(NULL), 0);
    assert_int_equal(cu->CtxDestroy(two), 0);
    sim_close();
}

static void *other_thread(void *argument)
{
    CUcontext now = (CUcontext)(uintptr_t)1;

    (void)argument;
    assert_int_equal(cu->CtxGetCurrent(&now), 0);
    return now;
}

static void test_stack_is_per_thread(void **state)
{
    CUcontext context = sim_begin_context("sim"), now;
    pthread_t thread;
    void *seen;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, &seen);
    assert_null(seen);
    /* A stack does not outlive the driver, and neither do handles. */
    sim_end_context();
    sim_begin("sim");
    assert_int_equal(cu->CtxGetCurrent(&now), 0);
    assert_null(now);
    assert_int_equal(cu->CtxPushCurrent(context), 201);
    sim_close();
    CUcontext later = sim_begin_context("sim"); /* in the same slot as the old one */
    assert_ptr_not_equal(later, context);
    assert_int_equal(cu->CtxPushCurrent(context), 201);
    sim_end_context();
}

static void test_limits(void **state)
{
    int least = 9, greatest = 9;
    size_t value;

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(cu->CtxGetLimit(&value, 0), 0);
    assert_int_equal(value, 1024);
    assert_int_equal(cu->CtxSetLimit(0, 4096), 0);
    assert_int_equal(cu->CtxGetLimit(&value, 0), 0);
    assert_int_equal(value, 4096);
    assert_int_equal(cu->CtxSetLimit(0, 1 << 20), 1);
    assert_int_equal(cu->CtxSetLimit(6, 1), 215);
    assert_int_equal(cu->CtxGetLimit(&value, 99), 1);
    assert_int_equal(cu->CtxGetLimit(NULL, 0), 1);
    assert_int_equal(cu->CtxGetStreamPriorityRange(&least, &greatest), 0);
    assert_int_equal(least, 0);
    assert_int_equal(greatest, -5);
    sim_end_context();
}

static void test_contexts_need_memory(void **state)
{
    CUcontext made[17];
    int count = 0;

    (void)state;
    sim_begin("sim:mem=1G");
    while (count < 17 && cu->CtxCreate(&made[count], 0, 0) == 0)
        count++;
    assert_int_equal(count, 16); /* a sixteenth of a small device each */
    assert_int_equal(cu->CtxCreate(&made[16], 0, 0), 2);
    while (count > 0)
        assert_int_equal(cu->CtxDestroy(made[--count]), 0);
    assert_int_equal(cu->CtxCreate(&made[0], 0, 0), 0);
    assert_int_equal(cu->CtxDestroy(made[0]), 0);
    sim_close();
}

static void test_peers(void **state)
{
    CUcontext one, two, same;

    (void)state;
    sim_begin("sim:2");
    assert_int_equal(cu->CtxCreate(&same, 0, 0), 0);
    assert_int_equal(cu->CtxCreate(&two, 0, 1), 0);
    assert_int_equal(cu->CtxCreate(&one, 0, 0), 0);
    assert_int_equal(cu->CtxDisablePeerAccess(two), 705);
    assert_int_equal(cu->CtxEnablePeerAccess(two, 1), 1);
    assert_int_equal(cu->CtxEnablePeerAccess(two, 0), 0);
    assert_int_equal(cu->CtxEnablePeerAccess(two, 0), 704);
    assert_int_equal(cu->CtxEnablePeerAccess(one, 0), 217);
    assert_int_equal(cu->CtxEnablePeerAccess(same, 0), 217);
    assert_int_equal(cu->CtxEnablePeerAccess(NULL, 0), 201);
    assert_int_equal(cu->CtxDisablePeerAccess(two), 0);
    assert_int_equal(cu->CtxDisablePeerAccess(two), 705);
    assert_int_equal(cu->CtxEnablePeerAccess(two, 0), 0);
    assert_int_equal(cu->CtxDestroy(two), 0);
    assert_int_equal(cu->CtxDisablePeerAccess(two), 709);
    assert_int_equal(cu->CtxDestroy(one), 0);
    assert_int_equal(cu->CtxDestroy(same), 0);
    sim_close();
}

static void test_fork(void **state)
{
    CUcontext now;
    int status = 0;
    pid_t child;

    (void)state;
    sim_begin_context("sim");
    child = fork();
    if (child == 0) {
        size_t bytes;
        int wrong =
            cu->CtxGetCurrent(&now) != 3 || cu->MemGetInfo(&bytes, &bytes) != 3 || cu->Init(0) != 3;
        sim_close();
        _exit(wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(cu->CtxGetCurrent(&now), 0);
    sim_end_context();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_before_start),
        cmocka_unit_test(test_open_and_share),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_error_names),
        cmocka_unit_test(test_primary),
        cmocka_unit_test(test_primary_flags),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_stack_is_per_thread),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_contexts_need_memory),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_fork),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
