/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of time: what the hook receives, how ranges nest, and what a profiler's library receives.
 * The profiler is fake_profiler.c, which this program loads as it would load a profiler.
 */
#include <devicepool.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "driver/trace.h"
#include "support/assert.h"

/* What the fake profiler has received so far. */
static const char *profiler_log(void)
{
    const char *(*received)(void) = NULL;
    void *library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);

    assert_non_null(library);
    *(void **)&received = dlsym(library, "fake_profiler_log");
    assert_non_null(received);
    dlclose(library); /* the library under test keeps it loaded */
    return received();
}

static struct seen {
    pool_trace_event events[16];
    char names[16][32];
    char subjects[16][32];
    unsigned count;
} seen;

static void record(void *user, const pool_trace_event *event)
{
    struct seen *to = user;

    assert_true(to->count < 16);
    assert_int_equal(event->struct_size, sizeof(*event));
    to->events[to->count] = *event;
    strncpy(to->names[to->count], event->name, 31);
    strncpy(to->subjects[to->count], event->subject, 31);
    to->count++;
}

static void test_ranges_nest(void **state)
{
    struct trace_range outer, inner;

    (void)state;
    memset(&seen, 0, sizeof(seen));
    pool_trace_set(record, &seen);
    trace_begin(&outer, POOL_TRACE_OPERATION, "msm", "bn254", 1, 1024);
    trace_begin(&inner, POOL_TRACE_PHASE, "sort", NULL, 1, 0);
    assert_int_equal(trace_end(&inner, POOL_OK), POOL_OK);
    assert_int_equal(trace_end(&outer, POOL_ERR_TIMEOUT), POOL_ERR_TIMEOUT);
    pool_trace_set(NULL, NULL);
    assert_int_equal(seen.count, 4);
    assert_string_equal(seen.names[0], "msm");
    assert_string_equal(seen.subjects[0], "bn254");
    assert_string_equal(seen.subjects[1], "");
    assert_int_equal(seen.events[0].device, 1);
    assert_int_equal(seen.events[0].items, 1024);
    assert_int_equal(seen.events[0].parent, 0);
    assert_int_equal(seen.events[1].parent, seen.events[0].id);
    assert_int_equal(seen.events[2].id, seen.events[1].id);
    assert_int_equal(seen.events[2].is_end, 1);
    assert_int_equal(seen.events[3].id, seen.events[0].id);
    assert_int_equal(seen.events[3].status, POOL_ERR_TIMEOUT);
    for (unsigned i = 1; i < seen.count; i++)
        assert_true(seen.events[i].time_ns >= seen.events[i - 1].time_ns);
}

/* A hook that is set in the middle of a range sees only ranges that begin later. */
static void test_hook_set_within_a_range(void **state)
{
    struct trace_range outer, inner;

    (void)state;
    memset(&seen, 0, sizeof(seen));
    trace_begin(&outer, POOL_TRACE_OPERATION, "ntt", "bn254_fr", 0, 8);
    pool_trace_set(record, &seen);
    trace_begin(&inner, POOL_TRACE_COPY, "upload", "", 0, 8);
    pool_trace_set(NULL, NULL);
    trace_end(&inner, POOL_OK);
    trace_end(&outer, POOL_OK);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.names[0], "upload");
    assert_int_equal(seen.events[1].is_end, 1);
}

static void test_profiler_gets_ranges(void **state)
{
    struct trace_range range, copy;

    (void)state;
    trace_begin(&range, POOL_TRACE_OPERATION, "msm", "bn254", 0, 16);
    trace_begin(&copy, POOL_TRACE_COPY, "upload", "", 0, 0);
    trace_end(&copy, POOL_OK);
    trace_end(&range, POOL_OK);
    assert_non_null(strstr(profiler_log(), "push(msm bn254, 16 items) push(upload) pop pop"));
}

/* A range covers the wait of a thread, however it ends; requests that need not wait have none. */
static void test_lease_wait(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:1", .slots = 1};
    pool_request request = {.struct_size = sizeof(request), .label = "block 7"};
    device_pool *pool = NULL;
    pool_lease *held = NULL, *second = NULL;

    (void)state;
    memset(&seen, 0, sizeof(seen));
    assert_ok(pool_create(&pool, &params));
    pool_trace_set(record, &seen);
    assert_ok(pool_acquire(pool, &request, &held));
    assert_status(pool_acquire(pool, &request, &second), POOL_ERR_TIMEOUT);
    assert_int_equal(seen.count, 0);
    request.timeout_ns = 20000000;
    assert_status(pool_acquire(pool, &request, &second), POOL_ERR_TIMEOUT);
    pool_trace_set(NULL, NULL);
    assert_int_equal(seen.count, 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(seen.events[i].kind, POOL_TRACE_LEASE_WAIT);
        assert_string_equal(seen.names[i], "lease wait");
        assert_string_equal(seen.subjects[i], "block 7");
        assert_int_equal(seen.events[i].device, -1);
        assert_int_equal(seen.events[i].is_end, i);
        assert_int_equal(seen.events[i].id, seen.events[0].id);
    }
    assert_int_not_equal(seen.events[0].id, 0);
    assert_int_equal(seen.events[0].status, POOL_OK);
    assert_int_equal(seen.events[1].status, POOL_ERR_TIMEOUT);
    assert_true(seen.events[1].time_ns - seen.events[0].time_ns >= request.timeout_ns);
    assert_non_null(strstr(profiler_log(), "push(lease wait block 7) pop"));
    assert_ok(pool_release(&held));
    assert_ok(pool_destroy(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_nest),
        cmocka_unit_test(test_hook_set_within_a_range),
        cmocka_unit_test(test_profiler_gets_ranges),
        cmocka_unit_test(test_lease_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
