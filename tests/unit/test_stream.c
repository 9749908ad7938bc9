/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events on the mock, on simulated devices and on real ones: the behaviour that all
 * drivers have in common.
 */
#include "support/memory.h"

#include <stdatomic.h>
#include <string.h>

#include "driver/work.h"
#include "pool/device/release.h"
#include "pool/stream/stream.h"

static void test_nulls(void **state)
{
    pool_device *device = memory_device(0);
    pool_stream_params params = {.struct_size = sizeof(params)};
    pool_stream *stream = NULL, *made = NULL;
    pool_event *event = NULL, *other = NULL;
    double ms = -1;
    int32_t number;
    uint32_t flags;

    (void)state;
    pool_stream_params_init(NULL, 64);
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_event_create(device, POOL_EVENT_TIMING, &event));
#define REFUSED(call) assert_status((call), POOL_ERR_INVALID_ARGUMENT)
    REFUSED(pool_stream_get_priority_range(NULL, &number, &number));
    REFUSED(pool_stream_get_priority_range(device, NULL, &number));
    REFUSED(pool_stream_get_priority_range(device, &number, NULL));
    REFUSED(pool_stream_create(NULL, NULL, &made));
    REFUSED(pool_stream_create(device, NULL, NULL));
    REFUSED(pool_stream_adopt(NULL, NULL, &made));
    REFUSED(pool_stream_adopt(device, NULL, NULL));
    REFUSED(pool_stream_default(NULL, &made));
    REFUSED(pool_stream_default(device, NULL));
    REFUSED(pool_stream_handle(NULL, &(CUstream){NULL}));
    REFUSED(pool_stream_handle(stream, NULL));
    REFUSED(pool_stream_get_priority(NULL, &number));
    REFUSED(pool_stream_get_priority(stream, NULL));
    REFUSED(pool_stream_get_flags(NULL, &flags));
    REFUSED(pool_stream_get_flags(stream, NULL));
    REFUSED(pool_stream_query(NULL));
    REFUSED(pool_stream_synchronize(NULL));
    REFUSED(pool_stream_wait(NULL, 1));
    REFUSED(pool_device_synchronize(NULL));
    REFUSED(pool_device_wait(NULL, 1));
    REFUSED(pool_stream_wait_event(NULL, event));
    REFUSED(pool_stream_wait_event(stream, NULL));
    REFUSED(pool_stream_call(NULL, NULL, NULL));
    REFUSED(pool_stream_call(stream, NULL, NULL));
    REFUSED(pool_event_create(NULL, 0, &other));
    REFUSED(pool_event_create(device, 0, NULL));
    REFUSED(pool_event_create(device, 1u << 31, &other));
    REFUSED(pool_event_handle(NULL, &(CUevent){NULL}));
    REFUSED(pool_event_handle(event, NULL));
    REFUSED(pool_event_record(NULL, stream));
    REFUSED(pool_event_query(NULL));
    REFUSED(pool_event_synchronize(NULL));
    REFUSED(pool_event_wait(NULL, 1));
    REFUSED(pool_event_elapsed(NULL, event, &ms));
    REFUSED(pool_event_elapsed(event, NULL, &ms));
    REFUSED(pool_event_elapsed(event, event, NULL));
    params.flags = 1u << 31;
    REFUSED(pool_stream_create(device, &params, &made));
    params.flags = 0;
    params.struct_size = 0;
    REFUSED(pool_stream_create(device, &params, &made));
#undef REFUSED
    assert_null(made);
    assert_null(other);
    assert_null(pool_stream_device(NULL));
    assert_null(pool_event_device(NULL));
    assert_ok(pool_stream_destroy(NULL));
    assert_ok(pool_stream_destroy(&made));
    assert_ok(pool_event_destroy(NULL));
    assert_ok(pool_event_destroy(&other));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&stream));
    assert_null(event);
    assert_null(stream);
}

static void test_foreign_handles(void **state)
{
    uint64_t words[64] = {0};
    pool_stream *stream = (pool_stream *)words;
    pool_event *event = (pool_event *)words;

    (void)state;
    assert_status(pool_stream_query(stream), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_stream_destroy(&stream), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_event_query(event), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_event_destroy(&event), POOL_ERR_INVALID_ARGUMENT);
    assert_null(pool_stream_device(stream));
    assert_null(pool_event_device(event));
}

static void test_priorities(void **state)
{
    pool_device *device = memory_device(0);
    pool_stream_params params = {.struct_size = sizeof(params), .priority = -1000};
    pool_stream *stream = NULL;
    int32_t least = 99, most = 99, is = 99;
    uint32_t flags = 99;

    (void)state;
    assert_ok(pool_stream_get_priority_range(device, &least, &most));
    assert_true(most <= least && least <= 0);
    assert_ok(pool_stream_create(device, &params, &stream));
    assert_ok(pool_stream_get_priority(stream, &is));
    assert_int_equal(is, most);
    assert_ok(pool_stream_get_flags(stream, &flags));
    assert_int_equal(flags, 0);
    assert_ok(pool_stream_destroy(&stream));
    params.priority = 1000;
    params.flags = POOL_STREAM_BLOCKING;
    assert_ok(pool_stream_create(device, &params, &stream));
    assert_ok(pool_stream_get_priority(stream, &is));
    assert_int_equal(is, least);
    assert_ok(pool_stream_get_flags(stream, &flags));
    assert_int_equal(flags, POOL_STREAM_BLOCKING);
    assert_ok(pool_stream_destroy(&stream));
}

/* The driver's priority of a level where there are all of CUDA's: 0 to -5, level 0 is -2. */
static int32_t priority_of(pool_device *device, int32_t level)
{
    int32_t least = 0, most = 0, priority = -2 - level;

    assert_ok(pool_stream_get_priority_range(device, &least, &most));
    if (most == -5)
        return priority;
    priority = most / 2 - level; /* a driver with fewer */
    return priority > least ? least : priority < most ? most : priority;
}

/* Classes that differ in their level have streams of their own, also after their return. */
static void test_levels_of_leases(void **state)
{
    static const struct {
        int32_t class, level;
    } rows[] = {{-1000, -2}, {-100, -2}, {-99, -1}, {-10, -1}, {-1, -1}, {0, 0}, {1, 1}, {9, 1},
        {10, 2}, {99, 2}, {100, 3}, {1000, 3}};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    pool_device *device = memory_device(0);
    pool_stream *streams[ROWS];

    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < ROWS; i++) {
            const pool_request request = {.struct_size = sizeof(request),
                .device = device,
                .priority = rows[i].class,
                .timeout_ns = POOL_WAIT_FOREVER};
            pool_lease_info info = {.struct_size = sizeof(info)};
            pool_lease *lease = NULL;
            int32_t priority = 99;

            assert_ok(pool_acquire(memory_pool, &request, &lease));
            assert_ok(pool_lease_stream(lease, 0, &streams[i]));
            assert_ok(pool_stream_get_priority(streams[i], &priority));
            assert_int_equal(priority, priority_of(device, rows[i].level));
            assert_ok(pool_lease_get_info(lease, &info));
            assert_int_equal(info.level, rows[i].level);
            assert_ok(pool_release(&lease));
            for (int k = 0; k < i; k++)
                assert_int_equal(streams[k] == streams[i], rows[k].level == rows[i].level);
        }
}

/* Streams of the library have the priority of the stream that they work for. */
static void test_levels_of_sets(void **state)
{
    pool_device *device = memory_device(0);
    const pool_stream_params params = {.struct_size = sizeof(params), .priority = -4};
    pool_stream *urgent = NULL, *normal = NULL;
    struct stream_set *sets[2], *again = NULL;
    struct device_scope scope;
    int32_t priority = 99;

    (void)state;
    assert_ok(pool_stream_create(device, &params, &urgent));
    assert_ok(pool_stream_create(device, NULL, &normal));
    assert_ok(pool_stream_get_priority(normal, &priority));
    assert_int_equal(priority, priority_of(device, 0));
    assert_ok(device_enter(device, &scope));
    assert_ok(stream_set_take(device, urgent, 1, 1, &sets[0]));
    stream_set_return(sets[0]);
    assert_ok(stream_set_take(device, normal, 1, 1, &sets[1]));
    assert_ptr_not_equal(sets[1], sets[0]);
    assert_ok(pool_stream_get_priority(sets[0]->stream[0], &priority));
    assert_int_equal(priority, priority_of(device, 2));
    assert_ok(pool_stream_get_priority(sets[1]->stream[0], &priority));
    assert_int_equal(priority, priority_of(device, 0));
    stream_set_return(sets[1]);
    assert_ok(stream_set_take(device, urgent, 1, 1, &again));
    assert_ptr_equal(again, sets[0]);
    stream_set_return(again);
    /* Calls on the default stream have the level of class 0. */
    assert_ok(stream_set_take(device, NULL, 1, 1, &again));
    assert_ptr_equal(again, sets[1]);
    stream_set_return(again);
    assert_ok(device_leave(&scope, POOL_OK));
    assert_ok(pool_stream_destroy(&urgent));
    assert_ok(pool_stream_destroy(&normal));
}

static void test_adopt(void **state)
{
    pool_device *device = memory_device(0);
    const pool_cuda_api *api = memory_driver(device);
    pool_stream *stream = NULL, *whole = NULL;
    CUstream raw = NULL, handle = NULL;
    pool_buffer *buffer = NULL;
    uint32_t word = 0;

    (void)state;
    assert_ok(pool_bind(device));
    assert_int_equal(api->StreamCreateWithPriority(&raw, 1, 0), 0);
    assert_ok(pool_unbind(device));
    assert_status(pool_stream_adopt(device, raw, &stream), memory_raw_status());
    if (stream) {
        assert_ok(pool_stream_handle(stream, &handle));
        assert_ptr_equal(handle, raw);
        assert_ptr_equal(pool_stream_device(stream), device);
        assert_ok(pool_stream_synchronize(stream));
        assert_ok(pool_stream_destroy(&stream));
    }
    if (pool_device_count(memory_pool) > 1 && !memory_raw_status())
        assert_status(pool_stream_adopt(memory_device(1), raw, &stream), POOL_ERR_WRONG_DEVICE);
    assert_null(stream);
    /* The wrapper's end was not the stream's. */
    assert_ok(pool_bind(device));
    assert_int_equal(api->StreamSynchronize(raw), 0);
    assert_int_equal(api->StreamDestroy(raw), 0);
    assert_ok(pool_unbind(device));
    /* The calling thread's default stream. */
    raw = (CUstream)(uintptr_t)2;
    assert_status(pool_stream_adopt(device, raw, &stream), memory_raw_status());
    if (stream) {
        assert_ok(pool_buffer_alloc(device, sizeof(word), &buffer));
        assert_ok(pool_buffer_fill8(buffer, 0, sizeof(word), 5, stream));
        assert_ok(pool_copy_to_host(&word, buffer, 0, sizeof(word), stream));
        assert_int_equal(word, 0x05050505);
        assert_ok(pool_stream_synchronize(stream));
        assert_ok(pool_buffer_destroy(&buffer));
        assert_ok(pool_stream_destroy(&stream));
    }
    assert_ok(pool_stream_adopt(device, NULL, &stream));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_stream_destroy(&stream));
    /* The device's own cannot be taken away. */
    assert_ok(pool_stream_default(device, &whole));
    assert_ok(pool_stream_query(whole));
    stream = whole;
    assert_status(pool_stream_destroy(&stream), POOL_ERR_INVALID_ARGUMENT);
    assert_ptr_equal(stream, whole);
}

static void test_events(void **state)
{
    pool_device *device = memory_device(0);
    pool_event *start = NULL, *end = NULL, *plain = NULL;
    pool_stream *stream = NULL, *other = NULL;
    CUevent handle = NULL;
    double ms = -1;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_stream_create(device, NULL, &other));
    assert_ok(pool_event_create(device, POOL_EVENT_TIMING | POOL_EVENT_SLEEP, &start));
    assert_ok(pool_event_create(device, POOL_EVENT_TIMING, &end));
    assert_ok(pool_event_create(device, 0, &plain));
    assert_status(pool_event_handle(start, &handle), memory_raw_status());
    assert_true(handle || memory_raw_status());
    assert_ptr_equal(pool_event_device(start), device);
    /* Never recorded: done, holds nothing up, has no time. */
    assert_ok(pool_event_query(start));
    assert_ok(pool_event_synchronize(start));
    assert_ok(pool_stream_wait_event(stream, start));
    assert_status(pool_event_elapsed(start, end, &ms), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_event_record(start, stream));
    assert_ok(pool_event_record(plain, stream));
    assert_ok(pool_stream_wait_event(other, plain));
    assert_ok(pool_event_record(end, other));
    assert_ok(pool_event_synchronize(end));
    assert_ok(pool_event_wait(end, 1000000000));
    assert_ok(pool_event_query(end));
    assert_status(pool_event_elapsed(start, plain, &ms), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_event_elapsed(start, end, &ms));
    assert_true(ms >= 0 && ms < 10000);
    assert_ok(pool_event_record(plain, NULL));
    assert_ok(pool_event_synchronize(plain));
    assert_ok(pool_event_destroy(&start));
    assert_ok(pool_event_destroy(&end));
    assert_ok(pool_event_destroy(&plain));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_stream_destroy(&other));
}

static void test_two_devices(void **state)
{
    pool_event *event = NULL, *there = NULL;
    pool_stream *stream = NULL;
    double ms;

    (void)state;
    if (pool_device_count(memory_pool) < 2)
        return;
    assert_ok(pool_stream_create(memory_device(1), NULL, &stream));
    assert_ok(pool_event_create(memory_device(0), POOL_EVENT_TIMING, &event));
    assert_ok(pool_event_create(memory_device(1), POOL_EVENT_TIMING, &there));
    assert_status(pool_event_record(event, stream), POOL_ERR_WRONG_DEVICE);
    assert_ok(pool_event_record(event, NULL));
    assert_ok(pool_event_record(there, stream));
    /* Waiting across devices is allowed. */
    assert_ok(pool_stream_wait_event(stream, event));
    assert_ok(pool_stream_synchronize(stream));
    assert_status(pool_event_elapsed(event, there, &ms), POOL_ERR_WRONG_DEVICE);
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_event_destroy(&there));
    assert_ok(pool_stream_destroy(&stream));
}

static void count_up(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

static void test_host_calls(void **state)
{
    pool_stream *stream = NULL;
    atomic_int calls = 0;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    for (int i = 0; i < 10; i++)
        assert_ok(pool_stream_call(stream, count_up, &calls));
    assert_ok(pool_stream_synchronize(stream));
    assert_int_equal(atomic_load(&calls), 10);
    assert_ok(pool_stream_query(stream));
    assert_ok(pool_stream_wait(stream, 0));
    assert_ok(pool_stream_destroy(&stream));
}

/* Both waits cover all streams of the device and leave the thread's context as it was. */
static void test_device_waits(void **state)
{
    pool_device *device = memory_device(0);
    pool_stream *streams[3] = {NULL};
    pool_buffer *buffer = NULL;
    CUcontext current = NULL;
    atomic_int calls = 0;

    (void)state;
    assert_ok(pool_device_synchronize(device)); /* nothing to wait for */
    assert_ok(pool_device_wait(device, 0));
    assert_ok(pool_buffer_alloc(device, 4096, &buffer));
    for (int i = 0; i < 3; i++)
        assert_ok(pool_stream_create(device, NULL, &streams[i]));
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < 3; i++) {
            assert_ok(pool_buffer_fill8(buffer, (uint64_t)i * 1024, 1024, 1, streams[i]));
            assert_ok(pool_stream_call(streams[i], count_up, &calls));
        }
        assert_ok(round == 1 ? pool_device_synchronize(device)
                             : pool_device_wait(device, UINT64_C(20000000000)));
        assert_int_equal(atomic_load(&calls), 3 * round);
        assert_int_equal(driver_work_load(device_work(device)).items, 0); /* known to be done */
    }
    assert_int_equal(memory_driver(device)->CtxGetCurrent(&current), 0);
    assert_null(current);
    for (int i = 0; i < 3; i++)
        assert_ok(pool_stream_destroy(&streams[i]));
    assert_ok(pool_buffer_destroy(&buffer));
}

static void test_pool_is_busy(void **state)
{
    pool_stream *stream = NULL;
    pool_event *event = NULL;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_status(pool_destroy(&memory_pool), POOL_ERR_BUSY);
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_event_create(memory_device(0), 0, &event));
    assert_status(pool_destroy(&memory_pool), POOL_ERR_BUSY);
    assert_ok(pool_event_destroy(&event));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nulls),
        TEST(test_foreign_handles),
        TEST(test_priorities),
        TEST(test_levels_of_leases),
        TEST(test_levels_of_sets),
        TEST(test_adopt),
        TEST(test_events),
        TEST(test_two_devices),
        TEST(test_host_calls),
        TEST(test_device_waits),
        TEST(test_pool_is_busy),
    };
    int skipped = memory_choose(argc, argv, "mock");

    return skipped ? skipped : cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
