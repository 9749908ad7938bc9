/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events where work has to stay unfinished or the driver has to fail. */
#include "support/memory.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static void count_log(void *user, const pool_log_record *record)
{
    (void)record;
    ++*(int *)user;
}

static void test_deadlines(void **state)
{
    pool_stream *stream = NULL;
    pool_event *event = NULL;
    uint64_t start, spent;
    int lines = 0;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_ok(pool_event_create(memory_device(0), 0, &event));
    pool_mock_stall(memory_mock);
    assert_ok(pool_event_record(event, stream));
    pool_log_set(count_log, &lines, POOL_LOG_DEBUG);
    assert_status(pool_stream_query(stream), POOL_ERR_NOT_READY);
    assert_status(pool_event_query(event), POOL_ERR_NOT_READY);
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    assert_int_equal(lines, 0); /* an answer, not a failure */
    assert_status(pool_stream_wait(stream, 0), POOL_ERR_TIMEOUT);
    start = base_clock_ns();
    assert_status(pool_stream_wait(stream, 20000000), POOL_ERR_TIMEOUT);
    spent = base_clock_ns() - start;
    assert_true(spent >= 20000000 && spent < 60000000000u);
    assert_non_null(strstr(pool_last_error()->message, "had not finished"));
    start = base_clock_ns();
    assert_status(pool_event_wait(event, 20000000), POOL_ERR_TIMEOUT);
    spent = base_clock_ns() - start;
    assert_true(spent >= 20000000 && spent < 60000000000u);
    assert_status(pool_device_wait(memory_device(0), 0), POOL_ERR_TIMEOUT);
    assert_says("the work of device 0 had not finished");
    assert_status(pool_device_wait(memory_device(0), 1000000), POOL_ERR_TIMEOUT);
    assert_ok(pool_device_wait(memory_device(1), 0));
    pool_mock_resume(memory_mock);
    assert_ok(pool_device_wait(memory_device(0), 60000000000u));
    assert_ok(pool_stream_wait(stream, 0));
    assert_ok(pool_event_wait(event, 0));
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&stream));
}

static void *let_go_later(void *argument)
{
    struct timespec pause = {.tv_nsec = 20000000};

    (void)argument;
    nanosleep(&pause, NULL);
    pool_mock_resume(memory_mock);
    return NULL;
}

/* A wait ends with the work, long before its deadline. */
static void test_wait_ends(void **state)
{
    pool_stream *stream = NULL;
    pool_event *event = NULL;
    uint64_t start;
    pthread_t thread;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_ok(pool_event_create(memory_device(0), 0, &event));
    pool_mock_stall(memory_mock);
    assert_ok(pool_event_record(event, stream));
    assert_int_equal(pthread_create(&thread, NULL, let_go_later, NULL), 0);
    start = base_clock_ns();
    assert_ok(pool_stream_wait(stream, 60000000000u));
    assert_true(base_clock_ns() - start < 30000000000u);
    pthread_join(thread, NULL);
    assert_ok(pool_event_destroy(&event));
    assert_ok(pool_stream_destroy(&stream));
}

/* A stream that goes with work on it: later frees still wait for that work. */
static void test_destroyed_while_busy(void **state)
{
    pool_stream *stream = NULL;
    pool_event *event = NULL;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_ok(pool_event_create(memory_device(0), 0, &event));
    pool_mock_stall(memory_mock);
    assert_ok(pool_event_record(event, stream));
    pool_mock_reset_calls(memory_mock);
    assert_ok(pool_stream_destroy(&stream));
    assert_int_equal(pool_mock_calls(memory_mock, "cuStreamWaitEvent"), 1);
    assert_int_equal(pool_mock_calls(memory_mock, "cuStreamDestroy"), 1);
    pool_mock_resume(memory_mock);
    assert_ok(pool_event_destroy(&event));
}

/* Failures leave no handle, say which call it was, and the next try works. */
static void test_failures(void **state)
{
    static const struct {
        const char *function;
        pool_cu_code code;
        pool_status status;
    } cases[] = {
        {"cuCtxGetStreamPriorityRange", POOL_CU_INVALID_CONTEXT, POOL_ERR_DRIVER}, /* asked once */
        {"cuStreamCreateWithPriority", POOL_CU_OUT_OF_MEMORY, POOL_ERR_OUT_OF_DEVICE_MEMORY},
        {"cuEventCreate", POOL_CU_NOT_SUPPORTED, POOL_ERR_UNSUPPORTED},
    };
    pool_stream_params params = {.struct_size = sizeof(params), .priority = -1};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pool_stream *stream = NULL;
        pool_status status;

        pool_mock_fail(memory_mock, cases[i].function, 1, cases[i].code, POOL_MOCK_ONCE);
        status = pool_stream_create(memory_device(0), &params, &stream);
        if (pool_mock_failures_made(memory_mock) > i) {
            assert_int_equal(pool_status_class(status), POOL_CLASS_CALL);
            assert_int_equal(pool_last_error()->driver_code, (int)cases[i].code);
            assert_non_null(strstr(pool_last_error()->call, cases[i].function));
            assert_null(stream);
        }
        pool_mock_clear_failures(memory_mock);
        assert_ok(pool_stream_destroy(&stream));
        assert_ok(pool_stream_create(memory_device(0), &params, &stream));
        assert_ok(pool_stream_destroy(&stream));
    }
    assert_true(pool_mock_failures_made(memory_mock) >= 2);
}

/* Times of events that have none are refused without asking. */
static void test_no_times(void **state)
{
    pool_event *plain = NULL, *timed = NULL;
    double ms = -1;

    (void)state;
    assert_ok(pool_event_create(memory_device(0), 0, &plain));
    assert_ok(pool_event_create(memory_device(0), POOL_EVENT_TIMING, &timed));
    assert_status(pool_event_elapsed(timed, timed, &ms), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "never recorded"));
    assert_status(pool_event_elapsed(plain, timed, &ms), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "POOL_EVENT_TIMING"));
    assert_int_equal(pool_mock_calls(memory_mock, "cuEventElapsedTime"), 0);
    assert_true(ms < 0);
    assert_ok(pool_event_destroy(&plain));
    assert_ok(pool_event_destroy(&timed));
}

/* A priority beyond the range is brought into it by us, not left to the driver. */
static void test_priority_is_clamped(void **state)
{
    pool_stream_params params = {.struct_size = sizeof(params), .priority = -1000};
    pool_stream *stream = NULL;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), &params, &stream));
    assert_null(strstr(pool_mock_log(memory_mock), "-1000"));
    assert_ok(pool_stream_destroy(&stream));
}

/* The object is gone also when the driver does not want to give it up; it says so. */
static void test_destroy_fails(void **state)
{
    pool_stream *stream = NULL;
    pool_event *event = NULL;

    (void)state;
    assert_ok(pool_stream_create(memory_device(0), NULL, &stream));
    assert_ok(pool_event_create(memory_device(0), 0, &event));
    pool_mock_fail(memory_mock, "cuStreamDestroy", 1, POOL_CU_INVALID_CONTEXT, POOL_MOCK_ONCE);
    pool_mock_fail(memory_mock, "cuEventDestroy", 1, POOL_CU_INVALID_CONTEXT, POOL_MOCK_ONCE);
    assert_int_equal(pool_status_class(pool_stream_destroy(&stream)), POOL_CLASS_CALL);
    assert_null(stream);
    assert_int_equal(pool_status_class(pool_event_destroy(&event)), POOL_CLASS_CALL);
    assert_null(event);
}

/* Devices of two pools may have the same ordinal, which would explain nothing. */
static void test_stream_of_another_pool(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:1"};
    device_pool *other = NULL;
    pool_device *device;
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    char host[16];

    (void)state;
    assert_ok(pool_create(&other, &params));
    assert_ok(pool_device_at(other, 0, &device));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_buffer_alloc(memory_device(0), sizeof(host), &buffer));
    assert_status(pool_copy_to_host(host, buffer, 0, sizeof(host), stream), POOL_ERR_WRONG_DEVICE);
    assert_says("the stream belongs to device 0 of another pool, the work is for device 0");
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_destroy(&other));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_deadlines),
        TEST(test_wait_ends),
        TEST(test_destroyed_while_busy),
        TEST(test_failures),
        TEST(test_no_times),
        TEST(test_priority_is_clamped),
        TEST(test_destroy_fails),
        TEST(test_stream_of_another_pool),
    };

    return cmocka_run_group_tests_name("streams on the mock", tests, NULL, NULL);
}
