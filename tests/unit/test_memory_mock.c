/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory where the driver has to be scripted or inspected: a full device, drivers without memory
 * pools, peers, frees while work is unfinished, failures, fork and poison.
 */
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define MIB ((size_t)1 << 20)

static void test_full_once(void **state)
{
    pool_buffer *first = NULL, *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 1, &first));
    pool_mock_fail(
        memory_mock, "cuMemAllocFromPoolAsync", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_alloc(memory_device(0), MIB, &buffer));
    assert_int_equal(memory_calls("cuMemPoolTrimTo"), 1);
    assert_int_equal(memory_calls("cuMemAllocFromPoolAsync"), 2);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_buffer_destroy(&first));
}

static void test_full_for_good(void **state)
{
    pool_buffer *buffer = NULL;
    const char *text;

    (void)state;
    pool_mock_set_free_memory(memory_mock, 0, 10 * MIB);
    assert_status(
        pool_buffer_alloc(memory_device(0), 1000 * MIB, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_null(buffer);
    assert_int_equal(memory_calls("cuMemAllocFromPoolAsync"), 2);
    text = pool_last_error()->message;
    assert_non_null(strstr(text, "1048576000 bytes"));
    assert_non_null(strstr(text, "10485760 of"));
    assert_non_null(strstr(text, "reserved"));
    assert_int_equal(pool_last_error()->driver_code, POOL_CU_OUT_OF_MEMORY);
}

/* What the pool keeps unused is given up for an allocation that needs it. */
static void test_full_of_unused(void **state)
{
    pool_buffer *buffer = NULL;
    pool_memory_info info = {.struct_size = sizeof(info)};

    (void)state;
    pool_mock_set_free_memory(memory_mock, 0, 100 * MIB);
    for (int i = 1; i <= 3; i++) { /* each too large for the free memory next to the last */
        assert_ok(pool_buffer_alloc(memory_device(0), (uint64_t)(64 + i) * MIB, &buffer));
        assert_ok(pool_buffer_destroy(&buffer));
    }
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.used_bytes, 0);
    assert_true(info.reserved_bytes <= 100 * MIB);
}

static void test_without_pools(void **state)
{
    pool_device *device = memory_device(0);
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_buffer *buffer = NULL;
    unsigned char back[64];
    CUmemoryPool handle;

    (void)state;
    assert_ok(pool_buffer_zeroed(device, 64, &buffer));
    assert_ok(pool_copy_to_host(back, buffer, 0, 64, NULL));
    assert_true(memory_all(back, 64, 0));
    assert_int_equal(memory_calls("cuMemAlloc"), 1);
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.memory_pool, 0);
    assert_int_equal(info.reserved_bytes, 64);
    assert_status(pool_memory_set_threshold(device, 0), POOL_ERR_UNSUPPORTED);
    assert_status(pool_memory_handle(device, &handle), POOL_ERR_UNSUPPORTED);
    assert_status(pool_memory_adopt(device, NULL), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_reset_high_water(device));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(memory_calls("cuMemFree"), 1);
    pool_mock_fail(memory_mock, "cuMemAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_FROM_THEN_ON);
    assert_status(pool_buffer_alloc(device, 77, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(memory_calls("cuMemAlloc"), 3);
}

static void test_peers(void **state)
{
    pool_buffer *here = NULL, *there = NULL;

    (void)state;
    assert_ok(pool_buffer_zeroed(memory_device(0), 64, &here));
    assert_ok(pool_buffer_zeroed(memory_device(1), 64, &there));
    assert_ok(pool_copy_device(there, 0, here, 0, 64, NULL));
    assert_ok(pool_copy_device(there, 0, here, 0, 64, NULL));
    assert_int_equal(memory_calls("cuMemcpyPeerAsync"), 2);
    assert_int_equal(memory_calls("cuCtxEnablePeerAccess"), 1); /* once a direction */
    assert_int_equal(memory_calls("cuMemPoolSetAccess"), 1);
    assert_ok(pool_device_enable_peer(memory_device(1), memory_device(0)));
    assert_ok(pool_device_enable_peer(memory_device(0), memory_device(1)));
    assert_ok(pool_device_enable_peer(memory_device(0), memory_device(0)));
    assert_int_equal(memory_calls("cuCtxEnablePeerAccess"), 2);
    assert_ok(pool_buffer_destroy(&here));
    assert_ok(pool_buffer_destroy(&there));
}

/* A pool that is adopted later is as accessible as the one before; if it cannot be, that one
 * stays. */
static void test_adopted_pool_and_peers(void **state)
{
    pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {.type = 1, .id = 0}};
    const pool_cuda_api *api = pool_mock_table(memory_mock);
    CUmemoryPool mine = NULL, own, handle;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 64, &buffer));
    assert_ok(pool_device_enable_peer(memory_device(1), memory_device(0)));
    assert_ok(pool_memory_handle(memory_device(0), &own));
    assert_int_equal(api->MemPoolCreate(&mine, &props), 0);
    pool_mock_reset_calls(memory_mock);
    pool_mock_fail(memory_mock, "cuMemPoolSetAccess", 1, POOL_CU_NOT_SUPPORTED, POOL_MOCK_ONCE);
    assert_int_not_equal(pool_memory_adopt(memory_device(0), mine), POOL_OK);
    assert_ok(pool_memory_handle(memory_device(0), &handle));
    assert_ptr_equal(handle, own);
    assert_ok(pool_memory_adopt(memory_device(0), mine));
    assert_int_equal(memory_calls("cuMemPoolSetAccess"), 2);
    assert_ok(pool_memory_adopt(memory_device(0), mine)); /* again: no change */
    assert_status(
        pool_memory_adopt(memory_device(0), (CUmemoryPool)state), POOL_ERR_INVALID_ARGUMENT);
    assert_says("is not a memory pool of device 0");
    /* The device_pool ends without the caller's pool: its memory has to be freed before. */
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_destroy(&memory_pool));
    assert_int_equal(api->MemPoolDestroy(mine), 0);
}

/* Freeing waits on the device for all streams, and not at all on the host. */
static void test_free_while_in_use(void **state)
{
    pool_device *device = memory_device(0);
    pool_pinned *pinned = NULL;
    pool_stream *busy = NULL, *idle = NULL;
    pool_buffer *first = NULL, *second = NULL;

    (void)state;
    assert_ok(pool_pinned_create(device, 64, 0, &pinned));
    assert_ok(pool_stream_create(device, NULL, &busy));
    assert_ok(pool_stream_create(device, NULL, &idle));
    assert_ok(pool_buffer_zeroed(device, 64, &first));
    assert_ok(pool_buffer_zeroed(device, 64, &second));
    pool_mock_stall(memory_mock);
    assert_ok(pool_copy_to_device(first, 0, pool_pinned_data(pinned), 64, busy));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_destroy(&first)); /* would hang here if it waited */
    assert_int_equal(memory_calls("cuEventRecord"), 1);
    assert_int_equal(memory_calls("cuStreamWaitEvent"), 1);
    assert_int_equal(memory_calls("cuMemFreeAsync"), 1);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_destroy_on(&second, busy));
    assert_int_equal(memory_calls("cuEventRecord"), 0);
    assert_int_equal(memory_calls("cuMemFreeAsync"), 1);
    pool_mock_resume(memory_mock);
    assert_ok(pool_stream_destroy(&busy));
    assert_ok(pool_stream_destroy(&idle));
    assert_ok(pool_pinned_destroy(&pinned));
}

/* Memory that had slices is freed after all streams, whatever stream its last handle names. */
static void test_free_of_shared(void **state)
{
    pool_device *device = memory_device(0);
    pool_stream *busy = NULL, *idle = NULL;
    pool_buffer *whole = NULL, *slice = NULL;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &busy));
    assert_ok(pool_stream_create(device, NULL, &idle));
    assert_ok(pool_buffer_alloc(device, 64, &whole));
    assert_ok(pool_buffer_slice(whole, 0, 32, &slice));
    pool_mock_stall(memory_mock);
    assert_ok(pool_buffer_fill8(slice, 0, 32, 1, busy));
    assert_ok(pool_buffer_destroy_on(&slice, busy));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_destroy_on(&whole, idle));
    assert_int_equal(memory_calls("cuEventRecord"), 1);
    assert_int_equal(memory_calls("cuStreamWaitEvent"), 1);
    pool_mock_resume(memory_mock);
    assert_ok(pool_stream_destroy(&busy));
    assert_ok(pool_stream_destroy(&idle));
}

static int refuse_allocation(void *user)
{
    return --*(int *)user == 0;
}

static void test_host_memory_fails(void **state)
{
    pool_device *device = memory_device(0);
    unsigned char *data = calloc(1, 2 * MIB);

    (void)state;
    for (int n = 1; n < 12; n++) {
        pool_buffer *buffer = NULL, *slice = NULL;
        pool_stream *stream = NULL;
        pool_event *event = NULL;
        pool_pinned *pinned = NULL;
        int left = n;
        pool_status status;

        base_alloc_set_hook(refuse_allocation, &left);
        (void)((status = pool_buffer_from_host(device, data, 2 * MIB, &buffer)) ||
               (status = pool_buffer_slice(buffer, 0, 1, &slice)) ||
               (status = pool_stream_create(device, NULL, &stream)) ||
               (status = pool_event_create(device, 0, &event)) ||
               (status = pool_pinned_create(device, 1, 0, &pinned)));
        base_alloc_set_hook(NULL, NULL);
        if (status)
            assert_status(status, POOL_ERR_OUT_OF_HOST_MEMORY);
        assert_ok(pool_buffer_destroy(&buffer));
        assert_ok(pool_buffer_destroy(&slice));
        assert_ok(pool_stream_destroy(&stream));
        assert_ok(pool_event_destroy(&event));
        assert_ok(pool_pinned_destroy(&pinned));
    }
    free(data);
}

static void count_log(void *user, const pool_log_record *record)
{
    (void)record;
    ++*(int *)user;
}

static void test_poison(void **state)
{
    pool_device *device = memory_device(0);
    pool_buffer_params secret = {
        .struct_size = sizeof(secret), .bytes = 2 * MIB, .flags = POOL_BUFFER_SECRET};
    pool_buffer *buffer = NULL;
    unsigned char *data = calloc(1, 2 * MIB);
    pool_stream *stream = NULL;
    pool_event *event = NULL;
    pool_pinned *pinned = NULL;
    int lines = 0;

    (void)state;
    assert_ok(pool_buffer_create(device, &secret, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, data, 2 * MIB, NULL));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_event_create(device, 0, &event));
    assert_ok(pool_pinned_create(device, 10, POOL_PINNED_SECRET, &pinned));
    pool_mock_poison(memory_mock, POOL_CU_ILLEGAL_ADDRESS);
    assert_status(pool_copy_to_device(buffer, 0, data, 2 * MIB, stream), POOL_ERR_PROCESS_POISONED);
    assert_status(pool_buffer_alloc(device, 1, &(pool_buffer *){NULL}), POOL_ERR_PROCESS_POISONED);
    assert_status(pool_stream_wait(stream, UINT64_MAX), POOL_ERR_PROCESS_POISONED);
    pool_mock_reset_calls(memory_mock);
    pool_log_set(count_log, &lines, POOL_LOG_DEBUG);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_destroy(&memory_pool));
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    assert_int_equal(lines, 0); /* destructors are silent */
    assert_int_equal(memory_calls("cuMem*"), 0);
    free(data);
    pool_mock_destroy(&memory_mock);
}

static int in_child(pool_buffer *buffer, pool_stream *stream, pool_event *event)
{
    pool_device *device = pool_buffer_device(buffer);
    pool_buffer *other = NULL;
    char byte = 0;

    if (pool_buffer_alloc(device, 1, &other) != POOL_ERR_FORKED)
        return 1;
    if (pool_copy_to_device(buffer, 0, &byte, 1, NULL) != POOL_ERR_FORKED)
        return 2;
    if (pool_stream_synchronize(stream) != POOL_ERR_FORKED ||
        pool_event_record(event, stream) != POOL_ERR_FORKED)
        return 3;
    pool_mock_reset_calls(memory_mock);
    if (pool_buffer_destroy(&buffer) || pool_stream_destroy(&stream) || pool_event_destroy(&event))
        return 4;
    if (pool_destroy(&memory_pool))
        return 5;
    return memory_calls(NULL) == 0 ? 0 : 6;
}

static void test_fork(void **state)
{
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;
    pool_event *event = NULL;
    int status = -1;
    pid_t child;

    (void)state;
    assert_ok(pool_buffer_zeroed(memory_device(0), 64, &buffer));
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_ok(pool_event_create(memory_device(0), 0, &event));
    child = fork();
    assert_true(child >= 0);
    if (!child)
        _exit(in_child(buffer, stream, event));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_event_destroy(&event));
}

/* Wrong devices are refused before the driver hears of it. */
static void test_refused_early(void **state)
{
    pool_stream *there = NULL;
    pool_buffer *here = NULL;
    uint64_t before;

    (void)state;
    assert_ok(pool_stream_create(memory_device(1), NULL, &there));
    assert_ok(pool_buffer_alloc(memory_device(0), 8, &here));
    before = memory_calls(NULL);
    assert_status(pool_buffer_fill8(here, 0, 1, 0, there), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_to_device(here, 0, &before, 1, there), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_device(here, 0, here, 1, 1, there), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_to_device(here, 8, &before, 1, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_fill16(here, 1, 1, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_buffer_fill32(here, 0, 0x4000000000000001ull, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_destroy_on(&here, there), POOL_ERR_WRONG_DEVICE);
    assert_int_equal(memory_calls(NULL), before);
    assert_ok(pool_buffer_destroy(&here));
    assert_ok(pool_stream_destroy(&there));
}

/* The caller's own context stays where it is. */
static void test_context_is_restored(void **state)
{
    const pool_cuda_api *api = pool_mock_table(memory_mock);
    CUcontext mine = NULL;
    pool_buffer *buffer = NULL;
    char byte = 1;

    (void)state;
    assert_int_equal(api->CtxCreate(&mine, 0, 1), 0);
    assert_ok(pool_buffer_from_host(memory_device(0), &byte, 1, &buffer));
    assert_ptr_equal(pool_mock_current_context(memory_mock), mine);
    pool_mock_fail(memory_mock, "cuMemsetD8Async", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_status(pool_buffer_fill8(buffer, 0, 1, 1, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ptr_equal(pool_mock_current_context(memory_mock), mine);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ptr_equal(pool_mock_current_context(memory_mock), mine);
    assert_int_equal(pool_mock_depth(memory_mock), 1);
    assert_int_equal(api->CtxDestroy(mine), 0);
}

/* The driver's own free and unload would wait for the work: they are not called meanwhile. */
static void test_free_beside_unfinished_work(void **state)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry other()\n{\n\tret;\n}\n";
    pool_pinned *pinned[2] = {0};
    pool_buffer *buffer = NULL;
    pool_module *module = NULL;
    pool_stream *stream = NULL;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_ok(pool_pinned_create(memory_device(0), 64, 0, &pinned[i]));
    assert_ok(pool_buffer_alloc(memory_device(1), 64, &buffer));
    assert_ok(pool_stream_create(memory_device(1), NULL, &stream));
    assert_ok(pool_module_load(memory_device(1), ptx, sizeof(ptx), &module));
    pool_mock_stall(memory_mock);
    assert_ok(pool_buffer_fill8(buffer, 0, 64, 1, stream));
    assert_ok(pool_pinned_destroy(&pinned[0]));
    pool_module_destroy(&module);
    assert_null(pinned[0]);
    assert_int_equal(memory_calls("cuMemFreeHost"), 0);
    assert_int_equal(memory_calls("cuModuleUnload"), 0);
    pool_mock_resume(memory_mock);
    /* Beyond the threshold it is released, now that the devices are idle. */
    assert_ok(pool_pinned_set_threshold(memory_device(0), 0));
    assert_int_equal(memory_calls("cuMemFreeHost"), 1);
    assert_ok(pool_pinned_destroy(&pinned[1]));
    assert_int_equal(memory_calls("cuMemFreeHost"), 2);
    assert_ok(pool_module_load(memory_device(1), ptx, sizeof(ptx), &module));
    assert_int_equal(memory_calls("cuModuleUnload"), 1);
    pool_module_destroy(&module);
    assert_int_equal(memory_calls("cuModuleUnload"), 2);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
#define TEST_WITHOUT_POOLS(name)                                                                   \
    cmocka_unit_test_setup_teardown(name, memory_set_up_without_pools, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_full_once),
        TEST(test_full_for_good),
        TEST(test_full_of_unused),
        TEST_WITHOUT_POOLS(test_without_pools),
        TEST(test_peers),
        TEST(test_adopted_pool_and_peers),
        TEST(test_free_while_in_use),
        TEST(test_free_of_shared),
        TEST(test_host_memory_fails),
        TEST(test_poison),
        TEST(test_fork),
        TEST(test_refused_early),
        TEST(test_context_is_restored),
        TEST(test_free_beside_unfinished_work),
    };

    return cmocka_run_group_tests_name("memory on the mock", tests, NULL, NULL);
}
