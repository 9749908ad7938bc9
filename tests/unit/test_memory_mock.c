/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory where the driver must be scripted or looked into: a full device, secrets, drivers without
 * memory pools, frees while work is under way, failures, fork and poison.
 */
#include "memory_support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "memory/memory.h"

#define MIB ((size_t)1 << 20)

static uint64_t calls(const char *function)
{
    return pool_mock_calls(memory_mock, function);
}

static struct device_memory *device_memory_of(pool_device *device)
{
    struct device_memory *memory = NULL;
    struct device_scope scope;

    assert_ok(device_enter(device, &scope));
    assert_ok(device_leave(&scope, memory_of(&scope, &memory)));
    return memory;
}

/* ---- a full device -------------------------------------------------------------------------- */

static void test_full_once(void **state)
{
    pool_buffer *first = NULL, *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 1, &first));
    pool_mock_fail(
        memory_mock, "cuMemAllocFromPoolAsync", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_alloc(memory_device(0), MIB, &buffer));
    assert_int_equal(calls("cuMemPoolTrimTo"), 1);
    assert_int_equal(calls("cuMemAllocFromPoolAsync"), 2);
    assert_ok(pool_buffer_free(&buffer));
    assert_ok(pool_buffer_free(&first));
}

static void test_full_for_good(void **state)
{
    pool_buffer *buffer = NULL;
    const char *text;

    (void)state;
    pool_mock_set_free(memory_mock, 0, 10 * MIB);
    assert_status(
        pool_buffer_alloc(memory_device(0), 1000 * MIB, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_null(buffer);
    assert_int_equal(calls("cuMemAllocFromPoolAsync"), 2);
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
    pool_mock_set_free(memory_mock, 0, 100 * MIB);
    for (int i = 1; i <= 3; i++) { /* each too large for what is free beside the last */
        assert_ok(pool_buffer_alloc(memory_device(0), (uint64_t)(64 + i) * MIB, &buffer));
        assert_ok(pool_buffer_free(&buffer));
    }
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.used_bytes, 0);
    assert_true(info.reserved_bytes <= 100 * MIB);
}

/* ---- secrets -------------------------------------------------------------------------------- */

static struct {
    CUdeviceptr address;
    size_t bytes;
    int frees;
    int was_wiped;
} watched;

/* Looks at the memory in the moment in which it is given back. */
static pool_cu_result watch_frees(void *user, const char *function, uint64_t call)
{
    (void)user;
    (void)call;
    if (!strncmp(function, "cuMemFree", 9) && strncmp(function, "cuMemFreeHost", 13)) {
        watched.frees++;
        watched.was_wiped = memory_all((void *)(uintptr_t)watched.address, watched.bytes, 0);
    }
    return POOL_CU_SUCCESS;
}

static pool_buffer *make_secret(uint64_t bytes, uint32_t flags)
{
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = bytes, .flags = flags};
    pool_buffer *buffer = NULL;

    assert_ok(pool_buffer_create(memory_device(0), &params, &buffer));
    assert_ok(pool_buffer_address(buffer, &watched.address));
    watched.bytes = bytes;
    watched.frees = 0;
    watched.was_wiped = -1;
    assert_ok(pool_buffer_fill8(buffer, 0, bytes, 0x5e, NULL));
    pool_mock_set_hook(memory_mock, watch_frees, NULL);
    return buffer;
}

static void check_secret_is_wiped(void)
{
    pool_buffer *buffer = make_secret(5000, 0), *slice = NULL;

    /* The watch itself sees what is not wiped. */
    assert_ok(pool_buffer_free(&buffer));
    assert_int_equal(watched.frees, 1);
    assert_int_equal(watched.was_wiped, 0);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_free(&buffer));
    assert_int_equal(watched.frees, 1);
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    /* The last slice gives all of it back, not only its own part. */
    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_slice(buffer, 4999, 1, &slice));
    assert_int_equal(pool_buffer_flags(slice), POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_free(&buffer));
    assert_int_equal(watched.frees, 0);
    assert_ok(pool_buffer_free_on(&slice, NULL));
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_free_on(&buffer, NULL));
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    /* One failure of the overwriting is got over. */
    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    pool_mock_fail(memory_mock, "cuMemsetD8Async", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_ok(pool_buffer_free(&buffer));
    assert_int_equal(watched.frees, 1);
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);
}

static void test_secret_is_wiped(void **state)
{
    (void)state;
    check_secret_is_wiped();
}

static int set_up_without_pools(void **state)
{
    const pool_mock_params mock = {.struct_size = sizeof(mock), .devices = 1};
    pool_params params = {.struct_size = sizeof(params)};

    (void)state;
    if (pool_mock_create(&memory_mock, &mock))
        return -1;
    pool_mock_remove(memory_mock, "cuMemAllocFromPoolAsync");
    params.driver = pool_mock_table(memory_mock);
    return pool_create(&memory_pool, &params) ? -1 : 0;
}

static void test_secret_without_pools(void **state)
{
    (void)state;
    check_secret_is_wiped();
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
    assert_int_equal(calls("cuMemAlloc"), 1);
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.memory_pool, 0);
    assert_int_equal(info.reserved_bytes, 64);
    assert_status(pool_memory_set_threshold(device, 0), POOL_ERR_UNSUPPORTED);
    assert_status(pool_memory_handle(device, &handle), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_trim(device, 0));
    assert_ok(pool_memory_reset_high(device));
    assert_ok(pool_buffer_free(&buffer));
    assert_int_equal(calls("cuMemFree"), 1);
    pool_mock_fail(memory_mock, "cuMemAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_FROM_THEN_ON);
    assert_status(pool_buffer_alloc(device, 77, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(calls("cuMemAlloc"), 3);
}

/* A secret that cannot be overwritten is not given back. */
static void test_secret_is_withheld(void **state)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_buffer *buffer = make_secret(5000, POOL_BUFFER_SECRET);
    CUdeviceptr address = watched.address;

    (void)state;
    pool_mock_fail(memory_mock, "cuMemsetD8*", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_FROM_THEN_ON);
    assert_status(pool_buffer_free(&buffer), POOL_ERR_DRIVER);
    assert_null(buffer);
    assert_int_equal(watched.frees, 0);
    pool_mock_clear_failures(memory_mock);
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.withheld_bytes, 5000);
    assert_int_equal(info.used_bytes, 0);
    /* For the balance of this test only. */
    assert_ok(pool_bind(memory_device(0)));
    assert_int_equal(memory_driver(memory_device(0))->MemFree(address), 0);
    assert_ok(pool_unbind(memory_device(0)));
}

/* A zeroed secret whose zeroing failed is overwritten all the same before it goes. */
static void test_secret_made_halfway(void **state)
{
    pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = 100,
        .flags = POOL_BUFFER_SECRET | POOL_BUFFER_ZEROED};
    pool_buffer *buffer = NULL;

    (void)state;
    (void)device_memory_of(memory_device(0));
    pool_mock_fail(memory_mock, "cuStreamSynchronize", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_ONCE);
    pool_mock_reset_calls(memory_mock);
    assert_status(pool_buffer_create(memory_device(0), &params, &buffer), POOL_ERR_DRIVER);
    assert_null(buffer);
    assert_int_equal(calls("cuMemsetD8Async"), 2);
    assert_int_equal(calls("cuMemFreeAsync"), 1);
    assert_non_null(strstr(pool_last_error()->call, "StreamSynchronize"));
}

/* Whether any slot of the device's staging holds anything but zeros. */
static int staging_is_wiped(void)
{
    struct device_memory *memory = device_memory_of(memory_device(0));
    int wiped = 1;

    assert_non_null(memory->staging.rings);
    for (struct memory_ring *ring = memory->staging.rings; ring; ring = ring->next)
        wiped = wiped && memory_all(ring->slots, memory_ring_bytes(ring), 0);
    return wiped;
}

static void test_staging_of_secrets(void **state)
{
    size_t bytes = 20 * MIB + 3; /* more than a ring */
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *plain = NULL, *secret;

    (void)state;
    memory_pattern(data, bytes, 9);
    assert_ok(pool_buffer_alloc(memory_device(0), bytes, &plain));
    assert_ok(pool_copy_to_device(plain, 0, data, bytes, NULL));
    assert_false(staging_is_wiped()); /* the look itself can fail */
    assert_ok(pool_trim(memory_device(0), 0));
    secret = make_secret(bytes, POOL_BUFFER_SECRET);
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_ok(pool_copy_to_device(secret, 0, data, bytes, NULL));
    assert_true(staging_is_wiped());
    assert_ok(pool_copy_to_host(back, secret, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 9);
    assert_true(staging_is_wiped());
    /* Small ones too go our way and not the driver's. */
    assert_ok(pool_copy_to_device(secret, 0, data, 10, NULL));
    assert_ok(pool_copy_to_host(back, secret, 0, 10, NULL));
    assert_true(staging_is_wiped());
    for (uint64_t n = 1; n < 40; n += 6) { /* and when something fails in the middle */
        pool_mock_fail(memory_mock, "cuMemcpyHtoDAsync", n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        pool_mock_fail(memory_mock, "cuEventRecord", 2 * n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        (void)pool_copy_to_device(secret, 0, data, bytes, NULL);
        pool_mock_clear_failures(memory_mock);
        assert_true(staging_is_wiped());
        pool_mock_fail(memory_mock, "cuMemcpyDtoHAsync", n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        pool_mock_fail(memory_mock, "cuEventQuery", 2 * n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        (void)pool_copy_to_host(back, secret, 0, bytes, NULL);
        pool_mock_clear_failures(memory_mock);
        assert_true(staging_is_wiped());
    }
    assert_ok(pool_buffer_free(&secret));
    assert_ok(pool_buffer_free(&plain));
    free(data);
    free(back);
}

/* Between devices that cannot address each other the driver would stage; we do. */
static void test_secret_between_devices(void **state)
{
    size_t bytes = 3 * MIB;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *secret, *there = NULL;

    (void)state;
    pool_mock_set_peer(memory_mock, 0, 1, 0, 0, 0);
    pool_mock_set_peer(memory_mock, 1, 0, 0, 0, 0);
    memory_pattern(data, bytes, 2);
    secret = make_secret(bytes, POOL_BUFFER_SECRET);
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_ok(pool_copy_to_device(secret, 0, data, bytes, NULL));
    assert_ok(pool_buffer_alloc(memory_device(1), bytes, &there));
    assert_ok(pool_copy_between(there, 0, secret, 0, bytes, NULL));
    assert_int_equal(calls("cuMemcpyPeerAsync"), 0);
    assert_ok(pool_copy_to_host(back, there, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 2);
    assert_true(staging_is_wiped());
    assert_status(pool_enable_peer(memory_device(0), memory_device(1)), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_copy_between(there, 0, there, MIB, MIB, NULL));
    assert_ok(pool_buffer_free(&secret));
    assert_ok(pool_buffer_free(&there));
    free(data);
    free(back);
}

static void test_peers(void **state)
{
    pool_buffer *here = NULL, *there = NULL;

    (void)state;
    assert_ok(pool_buffer_zeroed(memory_device(0), 64, &here));
    assert_ok(pool_buffer_zeroed(memory_device(1), 64, &there));
    assert_ok(pool_copy_between(there, 0, here, 0, 64, NULL));
    assert_ok(pool_copy_between(there, 0, here, 0, 64, NULL));
    assert_int_equal(calls("cuMemcpyPeerAsync"), 2);
    assert_int_equal(calls("cuCtxEnablePeerAccess"), 1); /* once a direction */
    assert_int_equal(calls("cuMemPoolSetAccess"), 1);
    assert_ok(pool_enable_peer(memory_device(1), memory_device(0)));
    assert_ok(pool_enable_peer(memory_device(0), memory_device(1)));
    assert_ok(pool_enable_peer(memory_device(0), memory_device(0)));
    assert_int_equal(calls("cuCtxEnablePeerAccess"), 2);
    assert_ok(pool_buffer_free(&here));
    assert_ok(pool_buffer_free(&there));
}

static void test_pinned_secret(void **state)
{
    pool_pinned *pinned = NULL;
    unsigned char *own = aligned_alloc(4096, 8192);

    (void)state;
    memset(own, 0x5e, 8192);
    assert_ok(pool_pinned_register(memory_device(0), own, 8192, POOL_PINNED_SECRET, &pinned));
    assert_ok(pool_pinned_free(&pinned));
    assert_true(memory_all(own, 8192, 0));
    memset(own, 0x5e, 8192);
    assert_ok(pool_pinned_register(memory_device(0), own, 8192, 0, &pinned));
    assert_ok(pool_pinned_free(&pinned));
    assert_true(memory_all(own, 8192, 0x5e));
    pool_mock_fail(memory_mock, "cuMemHostAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
    assert_status(
        pool_pinned_alloc(memory_device(0), 8192, 0, &pinned), POOL_ERR_OUT_OF_HOST_MEMORY);
    assert_null(pinned);
    free(own);
}

/* ---- work under way ------------------------------------------------------------------------- */

/* Freeing waits on the device for all streams, and not at all on the host. */
static void test_free_while_in_use(void **state)
{
    pool_device *device = memory_device(0);
    pool_pinned *pinned = NULL;
    pool_stream *busy = NULL, *idle = NULL;
    pool_buffer *first = NULL, *second = NULL;

    (void)state;
    assert_ok(pool_pinned_alloc(device, 64, 0, &pinned));
    assert_ok(pool_stream_create(device, NULL, &busy));
    assert_ok(pool_stream_create(device, NULL, &idle));
    assert_ok(pool_buffer_zeroed(device, 64, &first));
    assert_ok(pool_buffer_zeroed(device, 64, &second));
    pool_mock_hold(memory_mock);
    assert_ok(pool_copy_to_device(first, 0, pool_pinned_data(pinned), 64, busy));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_free(&first)); /* would hang here if it waited */
    assert_int_equal(calls("cuEventRecord"), 1);
    assert_int_equal(calls("cuStreamWaitEvent"), 1);
    assert_int_equal(calls("cuMemFreeAsync"), 1);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_free_on(&second, busy));
    assert_int_equal(calls("cuEventRecord"), 0);
    assert_int_equal(calls("cuMemFreeAsync"), 1);
    pool_mock_let_go(memory_mock);
    assert_ok(pool_stream_destroy(&busy));
    assert_ok(pool_stream_destroy(&idle));
    assert_ok(pool_pinned_free(&pinned));
}

/* An asynchronous copy of pinned memory returns while the device is busy. */
static void test_enqueue_only(void **state)
{
    pool_device *device = memory_device(0);
    pool_pinned *pinned = NULL;
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    unsigned char *pageable = calloc(1, 3 * MIB);

    (void)state;
    assert_ok(pool_pinned_alloc(device, MIB, 0, &pinned));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_buffer_alloc(device, 3 * MIB, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, pageable, 3 * MIB, NULL));
    pool_mock_hold(memory_mock);
    assert_ok(pool_copy_to_device(buffer, 0, pool_pinned_data(pinned), MIB, stream));
    assert_ok(pool_copy_to_host(pool_pinned_data(pinned), buffer, 0, MIB, stream));
    assert_ok(pool_copy_between(buffer, 0, buffer, MIB, MIB, stream));
    assert_ok(pool_buffer_fill32(buffer, 0, 4, 1, stream));
    /* Pageable memory that fits into the ring: staged, not waited for. */
    assert_ok(pool_copy_to_device(buffer, 0, pageable, 3 * MIB, stream));
    assert_status(pool_stream_query(stream), POOL_ERR_NOT_READY);
    pool_mock_let_go(memory_mock);
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_buffer_free(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_pinned_free(&pinned));
    free(pageable);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* No staging memory: the driver's own way is slower, and better than an error. */
static void test_no_staging(void **state)
{
    size_t bytes = 2 * MIB;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *buffer = NULL, *secret;

    (void)state;
    memory_pattern(data, bytes, 4);
    pool_mock_fail(memory_mock, "cuMemHostAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_FROM_THEN_ON);
    assert_ok(pool_buffer_from_host(memory_device(0), data, bytes, &buffer));
    assert_ok(pool_copy_to_host(back, buffer, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 4);
    secret = make_secret(bytes, POOL_BUFFER_SECRET);
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_status(pool_copy_to_device(secret, 0, data, bytes, NULL), POOL_ERR_OUT_OF_HOST_MEMORY);
    assert_ok(pool_buffer_free(&buffer));
    assert_ok(pool_buffer_free(&secret));
    free(data);
    free(back);
}

/* A failed copy leaves staging that works, and the first failure as the thread's detail. */
static void test_copy_fails(void **state)
{
    size_t bytes = 18 * MIB;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *buffer = NULL;

    (void)state;
    memory_pattern(data, bytes, 6);
    assert_ok(pool_buffer_alloc(memory_device(0), bytes, &buffer));
    for (uint64_t n = 1; n <= 18; n += 4) {
        pool_mock_fail(memory_mock, "cuMemcpyHtoDAsync", n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        assert_status(pool_copy_to_device(buffer, 0, data, bytes, NULL), POOL_ERR_INVALID_ARGUMENT);
        assert_non_null(strstr(pool_last_error()->call, "MemcpyHtoDAsync"));
        pool_mock_fail(memory_mock, "cuEventRecord", n, POOL_CU_NOT_PERMITTED, POOL_MOCK_ONCE);
        assert_status(pool_copy_to_host(back, buffer, 0, bytes, NULL), POOL_ERR_DRIVER);
        assert_ok(pool_copy_to_device(buffer, 0, data, bytes, NULL));
        assert_ok(pool_copy_to_host(back, buffer, 0, bytes, NULL));
        memory_check_pattern(back, bytes, 6);
        assert_int_equal(pool_mock_depth(memory_mock), 0);
    }
    assert_ok(pool_buffer_free(&buffer));
    free(data);
    free(back);
}

/* Staging that the device may still use is never used again. */
static void test_ring_is_given_up(void **state)
{
    unsigned char *data = calloc(1, 2 * MIB);
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_mock_balance balance;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 2 * MIB, &buffer));
    pool_mock_fail(memory_mock, "cuEventRecord", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_ONCE);
    pool_mock_fail(
        memory_mock, "cuStreamSynchronize", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_FROM_THEN_ON);
    assert_status(pool_copy_to_device(buffer, 0, data, 2 * MIB, NULL), POOL_ERR_DRIVER);
    assert_non_null(strstr(pool_last_error()->call, "EventRecord"));
    pool_mock_clear_failures(memory_mock);
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.staging_bytes, 0);
    pool_mock_get_balance(memory_mock, &balance);
    assert_int_equal(balance.host_allocations, 1);
    assert_ok(pool_copy_to_device(buffer, 0, data, 2 * MIB, NULL));
    assert_ok(pool_buffer_free(&buffer));
    free(data);
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
               (status = pool_pinned_alloc(device, 1, 0, &pinned)));
        base_alloc_set_hook(NULL, NULL);
        if (status)
            assert_status(status, POOL_ERR_OUT_OF_HOST_MEMORY);
        assert_ok(pool_buffer_free(&buffer));
        assert_ok(pool_buffer_free(&slice));
        assert_ok(pool_stream_destroy(&stream));
        assert_ok(pool_event_destroy(&event));
        assert_ok(pool_pinned_free(&pinned));
    }
    free(data);
}

/* ---- the process ---------------------------------------------------------------------------- */

static void count_log(void *user, pool_log_level level, const char *message)
{
    (void)level;
    (void)message;
    ++*(int *)user;
}

static void test_poison(void **state)
{
    pool_device *device = memory_device(0);
    pool_buffer *buffer = make_secret(2 * MIB, POOL_BUFFER_SECRET);
    unsigned char *data = calloc(1, 2 * MIB);
    pool_stream *stream = NULL;
    pool_event *event = NULL;
    pool_pinned *pinned = NULL;
    int lines = 0;

    (void)state;
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_ok(pool_copy_to_device(buffer, 0, data, 2 * MIB, NULL));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_event_create(device, 0, &event));
    assert_ok(pool_pinned_alloc(device, 10, POOL_PINNED_SECRET, &pinned));
    pool_mock_poison(memory_mock, POOL_CU_ILLEGAL_ADDRESS);
    assert_status(pool_copy_to_device(buffer, 0, data, 2 * MIB, stream), POOL_ERR_PROCESS_POISONED);
    assert_status(pool_buffer_alloc(device, 1, &(pool_buffer *){NULL}), POOL_ERR_PROCESS_POISONED);
    assert_status(pool_stream_wait(stream, UINT64_MAX), POOL_ERR_PROCESS_POISONED);
    pool_mock_reset_calls(memory_mock);
    pool_log_set(count_log, &lines, POOL_LOG_DEBUG);
    assert_ok(pool_buffer_free(&buffer));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_pinned_free(&pinned));
    assert_ok(pool_destroy(&memory_pool));
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    assert_int_equal(lines, 0); /* destructors are silent */
    assert_int_equal(calls("cuMem*"), 0);
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
    if (pool_buffer_free(&buffer) || pool_stream_destroy(&stream) || pool_event_destroy(&event))
        return 4;
    if (pool_destroy(&memory_pool))
        return 5;
    return calls(NULL) == 0 ? 0 : 6;
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
    assert_ok(pool_buffer_free(&buffer));
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
    before = calls(NULL);
    assert_status(pool_buffer_fill8(here, 0, 1, 0, there), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_to_device(here, 0, &before, 1, there), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_between(here, 0, here, 1, 1, there), POOL_ERR_WRONG_DEVICE);
    assert_status(pool_copy_to_device(here, 8, &before, 1, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_fill16(here, 1, 1, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_buffer_fill32(here, 0, 0x4000000000000001ull, 0, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_buffer_free_on(&here, there), POOL_ERR_WRONG_DEVICE);
    assert_int_equal(calls(NULL), before);
    assert_ok(pool_buffer_free(&here));
    assert_ok(pool_stream_destroy(&there));
}

/* The driver's copy does not take overlap: it is given pieces, or the way over other memory. */
static void test_overlap_is_cut(void **state)
{
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), 3000, &buffer));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_between(buffer, 1000, buffer, 0, 1000, NULL)); /* they only touch */
    assert_int_equal(calls("cuMemcpyDtoDAsync"), 1);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_between(buffer, 999, buffer, 0, 1998, NULL));
    assert_int_equal(calls("cuMemcpyDtoDAsync"), 2);
    assert_int_equal(calls("cuMemAllocFromPoolAsync"), 0);
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_copy_between(buffer, 0, buffer, 1, 2000, NULL));
    assert_int_equal(calls("cuMemcpyDtoDAsync"), 2);
    assert_int_equal(calls("cuMemAllocFromPoolAsync"), 1);
    assert_int_equal(calls("cuMemFreeAsync"), 1);
    assert_ok(pool_buffer_free(&buffer));
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
    pool_mock_hold(memory_mock);
    assert_ok(pool_buffer_fill8(slice, 0, 32, 1, busy));
    assert_ok(pool_buffer_free_on(&slice, busy));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_buffer_free_on(&whole, idle));
    assert_int_equal(calls("cuEventRecord"), 1);
    assert_int_equal(calls("cuStreamWaitEvent"), 1);
    pool_mock_let_go(memory_mock);
    assert_ok(pool_stream_destroy(&busy));
    assert_ok(pool_stream_destroy(&idle));
}

/* More helpers than slots: nobody may fill a slot before it is sent, or empty one too early. */
static void test_tight_ring(void **state)
{
    static const uint32_t slots[] = {1, 2, 3};
    size_t bytes = 3 * MIB + 17;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(memory_device(0), bytes, &buffer));
    for (uint32_t i = 0; i < 9; i++) {
        const struct memory_staging_shape shape = {
            .helpers = 3, .slots = slots[i % 3], .piece_bytes = 4096};

        assert_ok(memory_staging_reshape(memory_device(0), &shape));
        memory_pattern(data, bytes, i);
        assert_ok(pool_copy_to_device(buffer, 0, data, bytes, NULL));
        memset(back, 0, bytes);
        assert_ok(pool_copy_to_host(back, buffer, 0, bytes, NULL));
        memory_check_pattern(back, bytes, i);
    }
    assert_ok(pool_buffer_free(&buffer));
    free(data);
    free(back);
}

static void *let_go_later(void *argument)
{
    struct timespec pause = {.tv_nsec = 30000000};

    (void)argument;
    nanosleep(&pause, NULL);
    pool_mock_let_go(memory_mock);
    return NULL;
}

/* Copies under way keep their rings; when there is none left the next copy waits for one. */
static void test_rings_under_way(void **state)
{
    unsigned char *data = calloc(1, MIB);
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    uint64_t start;
    pthread_t thread;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_ok(pool_buffer_alloc(memory_device(0), MIB, &buffer));
    pool_mock_hold(memory_mock);
    for (int i = 0; i < 4; i++)
        assert_ok(pool_copy_to_device(buffer, 0, data, MIB, stream));
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.staging_bytes, 4 * 16 * MIB);
    assert_int_equal(pthread_create(&thread, NULL, let_go_later, NULL), 0);
    start = base_clock_ns();
    assert_ok(pool_copy_to_device(buffer, 0, data, MIB, stream));
    assert_true(base_clock_ns() - start > 20000000);
    pthread_join(thread, NULL);
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.staging_bytes, 4 * 16 * MIB);
    assert_ok(pool_buffer_free(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    free(data);
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
    assert_ptr_equal(pool_mock_current(memory_mock), mine);
    pool_mock_fail(memory_mock, "cuMemsetD8Async", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_status(pool_buffer_fill8(buffer, 0, 1, 1, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ptr_equal(pool_mock_current(memory_mock), mine);
    assert_ok(pool_buffer_free(&buffer));
    assert_ptr_equal(pool_mock_current(memory_mock), mine);
    assert_int_equal(pool_mock_depth(memory_mock), 1);
    assert_int_equal(api->CtxDestroy(mine), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
#define TEST_WITHOUT_POOLS(name)                                                                   \
    cmocka_unit_test_setup_teardown(name, set_up_without_pools, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_full_once),
        TEST(test_full_for_good),
        TEST(test_full_of_unused),
        TEST(test_secret_is_wiped),
        TEST_WITHOUT_POOLS(test_secret_without_pools),
        TEST_WITHOUT_POOLS(test_without_pools),
        TEST(test_secret_is_withheld),
        TEST(test_secret_made_halfway),
        TEST(test_staging_of_secrets),
        TEST(test_secret_between_devices),
        TEST(test_peers),
        TEST(test_pinned_secret),
        TEST(test_free_while_in_use),
        TEST(test_enqueue_only),
        TEST(test_no_staging),
        TEST(test_copy_fails),
        TEST(test_ring_is_given_up),
        TEST(test_host_memory_fails),
        TEST(test_poison),
        TEST(test_fork),
        TEST(test_refused_early),
        TEST(test_overlap_is_cut),
        TEST(test_free_of_shared),
        TEST(test_tight_ring),
        TEST(test_rings_under_way),
        TEST(test_context_is_restored),
    };

    return cmocka_run_group_tests_name("memory on the mock", tests, NULL, NULL);
}
