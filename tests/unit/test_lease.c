/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease/: requests by threads, properties of leases, their release, misuse, and the effects on the
 * pool.
 */
#include "support/lease.h"

#include <stdatomic.h>
#include <time.h>

#include "base/status.h"
#include "pool/lease/admission.h"
#include "zk/operation/exec.h"

/* --- granting -----------------------------------------------------------------------------------
 */

static void test_all_defaults(void **state)
{
    struct world world = world_with_pool(2);
    pool_lease *lease = NULL;
    pool_lease_info info = {.struct_size = sizeof(info)};

    (void)state;
    assert_ok(pool_acquire(world.pool, NULL, &lease));
    assert_int_equal(pool_lease_device_count(lease), 1);
    assert_non_null(device_of_lease(lease, 0));
    assert_ok(pool_lease_get_info(lease, &info));
    assert_int_equal(info.slots, 1);
    assert_int_equal(info.devices, 1);
    assert_int_equal(info.bytes, 0);
    assert_string_equal(info.label, "");
    assert_int_equal(counts_of(world.pool).leases, 1);
    assert_ok(pool_release(&lease));
    assert_null(lease);
    assert_int_equal(counts_of(world.pool).leases, 0);
    assert_int_equal(counts_of(world.pool).granted, 1);
    world_end(&world);
}

/* Requests that are made at once spread over the devices, with bytes and without. */
static void test_spreads(void **state)
{
    (void)state;
    for (int with_bytes = 0; with_bytes <= 1; with_bytes++) {
        struct world world = world_with_pool(4);
        pool_request request = request_of(with_bytes ? GIB : 0);
        pool_lease *leases[8];
        unsigned on_device[4] = {0};

        for (int i = 0; i < 8; i++) {
            assert_ok(pool_acquire(world.pool, &request, &leases[i]));
            on_device[index_of_device(device_of_lease(leases[i], 0))]++;
        }
        for (int i = 0; i < 4; i++)
            assert_int_equal(on_device[i], 2);
        for (int i = 0; i < 8; i++)
            assert_ok(pool_release(&leases[i]));
        world_end(&world);
    }
}

static void test_bytes_are_reserved(void **state)
{
    struct world world = world_with_pool(1);
    pool_request request = request_of(80 * GIB);
    pool_lease *first = NULL, *second = NULL;

    (void)state;
    assert_ok(pool_acquire(world.pool, &request, &first));
    assert_status(pool_acquire(world.pool, &request, &second), POOL_ERR_TIMEOUT);
    assert_null(second);
    request.bytes = 20 * GIB;
    assert_ok(pool_acquire(world.pool, &request, &second));
    assert_ok(pool_release(&first));
    assert_ok(pool_release(&second));
    request.bytes = 80 * GIB;
    assert_ok(pool_acquire(world.pool, &request, &first));
    assert_ok(pool_release(&first));
    world_end(&world);
}

static void test_several_devices(void **state)
{
    struct world world = world_with_pool(4);
    pool_request request = request_of(GIB);
    pool_lease *lease = NULL;

    (void)state;
    for (request.devices = 1; request.devices <= 4; request.devices++) {
        assert_ok(pool_acquire(world.pool, &request, &lease));
        assert_int_equal(pool_lease_device_count(lease), request.devices);
        for (uint32_t i = 1; i < request.devices; i++)
            assert_true(index_of_device(device_of_lease(lease, i)) >
                        index_of_device(device_of_lease(lease, i - 1)));
        assert_ok(pool_release(&lease));
    }
    world_end(&world);
}

static void test_one_device(void **state)
{
    struct world world = world_with_pool(3);
    pool_request request = request_of(GIB);
    pool_lease *lease = NULL;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        request.device = device_of(&world, i);
        assert_ok(pool_acquire(world.pool, &request, &lease));
        assert_ptr_equal(device_of_lease(lease, 0), request.device);
        assert_ok(pool_release(&lease));
    }
    request.devices = 2;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    world_end(&world);
}

static int filter_odd(void *user, const pool_candidate *candidate)
{
    ++*(unsigned *)user;
    return index_of_device(candidate->device) % 2 == 1;
}

static double score_index(void *user, const pool_candidate *candidate)
{
    ++*(unsigned *)user;
    return (double)index_of_device(candidate->device);
}

static void test_filter_and_score(void **state)
{
    struct world world = world_with_pool(4);
    unsigned calls = 0;
    pool_pick pick = {.struct_size = sizeof(pick), .filter = filter_odd, .user = &calls};
    pool_request request = request_of(GIB);
    pool_lease *lease = NULL;

    (void)state;
    request.pick = &pick;
    for (int i = 0; i < 6; i++) {
        assert_ok(pool_acquire(world.pool, &request, &lease));
        assert_int_equal(index_of_device(device_of_lease(lease, 0)) % 2, 1);
        assert_ok(pool_release(&lease));
    }
    assert_int_equal(calls, 6 * 4);
    request.devices = 3;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_NOT_FOUND);
    assert_says("2 of 4 devices");
    request.devices = 0;
    pick.filter = NULL;
    pick.policy = POOL_POLICY_SCORE;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    pick.score = score_index;
    assert_ok(pool_acquire(world.pool, &request, &lease));
    assert_int_equal(index_of_device(device_of_lease(lease, 0)), 3);
    assert_ok(pool_release(&lease));
    pick.min_free_bytes = UINT64_MAX;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_NOT_FOUND);
    world_end(&world);
}

/* Round robin visits all devices; least loaded avoids the one with work outside of leases. */
static void test_policies(void **state)
{
    struct world world = world_with_pool(4);
    pool_pick pick = {.struct_size = sizeof(pick), .policy = POOL_POLICY_ROUND_ROBIN};
    pool_request request = request_of(GIB);
    pool_lease *lease = NULL;
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    unsigned seen = 0;

    (void)state;
    request.pick = &pick;
    for (int i = 0; i < 4; i++) {
        assert_ok(pool_acquire(world.pool, &request, &lease));
        seen |= 1u << index_of_device(device_of_lease(lease, 0));
        assert_ok(pool_release(&lease));
    }
    assert_int_equal(seen, 15);
    pick.policy = POOL_POLICY_LEAST_LOADED;
    assert_ok(pool_stream_create(device_of(&world, 2), NULL, &stream));
    assert_ok(pool_buffer_alloc(device_of(&world, 2), 4096, &buffer));
    pool_mock_stall(world.mock);
    assert_ok(pool_buffer_fill8(buffer, 0, 4096, 1, stream));
    for (int i = 0; i < 40; i++) {
        assert_ok(pool_acquire(world.pool, &request, &lease));
        assert_int_not_equal(index_of_device(device_of_lease(lease, 0)), 2);
        assert_ok(pool_release(&lease));
    }
    pool_mock_resume(world.mock);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    world_end(&world);
}

/* --- refusals -----------------------------------------------------------------------------------
 */

static void test_impossible_requests(void **state)
{
    struct world world = world_with_pool(2);
    pool_request request = request_of(200 * GIB);
    pool_lease *lease = NULL;

    (void)state;
    request.timeout_ns = POOL_WAIT_FOREVER;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says("200 GiB on 1 device");
    request.bytes = 0;
    request.slots = POOL_LEASE_SLOTS + 1;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`slots` is 5, each device has 4");
    request.slots = 0;
    request.devices = 3;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`devices` is 3, the pool has 2 devices");
    base_fail(POOL_ERR_DRIVER, "lost for a test");
    device_mark_unusable(device_of(&world, 0));
    request.devices = 2;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_NO_DEVICE);
    assert_null(lease);
    world_end(&world);
}

static void test_wrong_members(void **state)
{
    struct world world = world_with_pool(1), other = {0};
    char label[POOL_LEASE_LABEL_BYTES + 1];
    pool_request request = request_of(0);
    pool_lease *lease = NULL;

    (void)state;
    (void)other;
    assert_status(pool_acquire(NULL, NULL, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_acquire(world.pool, NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    request.struct_size = 3;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    request = request_of(0);
    request.priority = POOL_LEASE_PRIORITY_MAX + 1;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_says("priority");
    request.priority = 0;
    request.flags = 1u << 31;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_says("flags");
    request.flags = 0;
    memset(label, 'x', sizeof(label) - 1);
    label[sizeof(label) - 1] = '\0';
    request.label = label;
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_says("label");
    label[POOL_LEASE_LABEL_BYTES - 1] = '\0';
    assert_ok(pool_acquire(world.pool, &request, &lease));
    assert_ok(pool_release(&lease));
    world_end(&world);
}

/* --- waiting ------------------------------------------------------------------------------------
 */

static void test_wait_ends_with_release(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS];
    struct waiter waiter = {.request = request_of(0)};
    pool_lease_info info = {.struct_size = sizeof(info)};

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    waiter.request.timeout_ns = POOL_WAIT_FOREVER;
    start_waiter(&waiter, world.pool);
    assert_ok(pool_release(&leases[1]));
    pthread_join(waiter.thread, NULL);
    assert_ok(waiter.status);
    assert_ok(pool_lease_get_info(waiter.lease, &info));
    assert_true(info.waited_ns > 0);
    assert_ok(pool_release(&waiter.lease));
    for (uint32_t i = 0; i < POOL_LEASE_SLOTS; i++)
        assert_ok(pool_release(&leases[i]));
    world_end(&world);
}

static void test_deadline(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS], *late = NULL;
    pool_request request = request_of(GIB);
    uint64_t before = base_clock_ns();

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    request.timeout_ns = 20 * MS;
    request.label = "late";
    assert_status(pool_acquire(world.pool, &request, &late), POOL_ERR_TIMEOUT);
    assert_true(base_clock_ns() - before >= 20 * MS);
    assert_says("\"late\"");
    assert_says("0 of 4 slots free");
    assert_null(late);
    assert_int_equal(counts_of(world.pool).waiting, 0);
    assert_int_equal(counts_of(world.pool).failed, 1);
    for (uint32_t i = 0; i < POOL_LEASE_SLOTS; i++)
        assert_ok(pool_release(&leases[i]));
    world_end(&world);
}

/* More threads than a cancel object can wake at once. */
#define CANCELLED 20

static void test_cancel(void **state)
{
    struct world world = world_with_pool(1);
    struct waiter waiters[CANCELLED] = {0};
    pool_lease *leases[POOL_LEASE_SLOTS], *late = NULL;
    pool_cancel *cancel = NULL;

    (void)state;
    assert_ok(pool_cancel_create(&cancel));
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    for (int i = 0; i < CANCELLED; i++) {
        waiters[i].request = request_of(0);
        waiters[i].request.timeout_ns = POOL_WAIT_FOREVER;
        waiters[i].request.cancel = cancel;
        start_waiter(&waiters[i], world.pool);
    }
    pool_cancel_request(cancel);
    for (int i = 0; i < CANCELLED; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].status, POOL_ERR_CANCELLED);
        assert_null(waiters[i].lease);
    }
    assert_status(pool_acquire(world.pool, &waiters[0].request, &late), POOL_ERR_CANCELLED);
    for (uint32_t i = 0; i < POOL_LEASE_SLOTS; i++)
        assert_ok(pool_release(&leases[i]));
    pool_cancel_destroy(&cancel);
    world_end(&world);
}

static void test_priorities(void **state)
{
    struct world world = world_with_pool(1);
    struct waiter low = {.request = request_of(0)}, high = {.request = request_of(0)};
    pool_lease *leases[POOL_LEASE_SLOTS];

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    low.request.timeout_ns = high.request.timeout_ns = POOL_WAIT_FOREVER;
    high.request.priority = 1;
    start_waiter(&low, world.pool);
    start_waiter(&high, world.pool);
    assert_ok(pool_release(&leases[0]));
    pthread_join(high.thread, NULL);
    assert_ok(high.status);
    assert_int_equal(counts_of(world.pool).waiting, 1);
    assert_ok(pool_release(&high.lease));
    pthread_join(low.thread, NULL);
    assert_ok(low.status);
    assert_ok(pool_release(&low.lease));
    for (uint32_t i = 1; i < POOL_LEASE_SLOTS; i++)
        assert_ok(pool_release(&leases[i]));
    world_end(&world);
}

/* Memory that another process frees is seen by the samples, without any release here. */
static void test_other_processes_free_memory(void **state)
{
    struct world world = world_of(1);
    struct waiter waiter = {.request = request_of(100 * GIB)};

    (void)state;
    assert_ok(pool_mock_set_free_memory(world.mock, 0, 10 * GIB));
    assert_ok(pool_create(&world.pool, &world.params));
    waiter.request.timeout_ns = POOL_WAIT_FOREVER;
    start_waiter(&waiter, world.pool);
    assert_ok(pool_mock_set_free_memory(world.mock, 0, 120 * GIB));
    pthread_join(waiter.thread, NULL);
    assert_ok(waiter.status);
    assert_ok(pool_release(&waiter.lease));
    world_end(&world);
}

/* --- misuse -------------------------------------------------------------------------------------
 */

static void test_stale_leases(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *stale = NULL, *copy = NULL, *other = NULL;
    pool_lease_info info = {.struct_size = sizeof(info)};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_device *device = NULL;
    pool_stream *stream = NULL;

    (void)state;
    assert_ok(pool_acquire(world.pool, NULL, &stale));
    copy = stale;
    assert_ok(pool_release(&copy));
    for (int i = 0; i < LEASES_UNUSED; i++) {
        copy = stale;
        assert_status(pool_release(&copy), POOL_ERR_INVALID_ARGUMENT);
        assert_ok(pool_acquire(world.pool, NULL, &other));
        assert_ptr_not_equal(other, stale);
        assert_ok(pool_release(&other));
    }
    assert_int_equal(pool_lease_device_count(stale), 0);
    assert_status(pool_lease_device(stale, 0, &device), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_lease_stream(stale, 0, &stream), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_lease_get_info(stale, &info), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_lease_get_usage(stale, 0, &usage), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_release(NULL));
    copy = NULL;
    assert_ok(pool_release(&copy));
    world_end(&world);
}

static void *release_in_thread(void *lease)
{
    return (void *)(intptr_t)pool_release(lease);
}

static void test_release_from_another_thread(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *lease = NULL;
    pthread_t thread;
    void *status = NULL;

    (void)state;
    assert_ok(pool_acquire(world.pool, NULL, &lease));
    assert_int_equal(pthread_create(&thread, NULL, release_in_thread, &lease), 0);
    pthread_join(thread, &status);
    assert_ok((pool_status)(intptr_t)status);
    world_end(&world);
}

static void test_pool_destroy_is_refused(void **state)
{
    struct world world = world_with_pool(1);
    pool_request request = request_of(0);
    pool_lease *lease = NULL;

    (void)state;
    request.label = "block 1200";
    assert_ok(pool_acquire(world.pool, &request, &lease));
    assert_status(pool_destroy(&world.pool), POOL_ERR_BUSY);
    assert_says("1 lease held, 0 requests waiting");
    assert_says("\"block 1200\"");
    assert_ok(pool_release(&lease));
    world_end(&world);
}

static void test_index_beyond_the_last(void **state)
{
    struct world world = world_with_pool(2);
    pool_request request = request_of(GIB);
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_device *device = NULL;
    pool_lease *lease = NULL;

    (void)state;
    request.devices = 2;
    assert_ok(pool_acquire(world.pool, &request, &lease));
    assert_ok(pool_lease_get_usage(lease, 1, &usage));
    assert_ptr_equal(usage.device, device_of(&world, 1));
    assert_int_equal(usage.limit_bytes, GIB);
    assert_int_equal(usage.used_bytes, 0);
    assert_status(pool_lease_get_usage(lease, 2, &usage), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_lease_device(lease, 2, &device), POOL_ERR_INVALID_ARGUMENT);
    assert_says("`index` is 2, the lease has 2 devices");
    assert_ok(pool_release(&lease));
    world_end(&world);
}

/* --- streams, budgets, time ---------------------------------------------------------------------
 */

static void test_streams_are_reused(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *lease = NULL, *second = NULL;
    pool_stream *stream = NULL, *again = NULL, *other = NULL;
    uint64_t made;

    (void)state;
    assert_ok(pool_acquire(world.pool, NULL, &lease));
    assert_ok(pool_lease_stream(lease, 0, &stream));
    assert_ok(pool_lease_stream(lease, 0, &again));
    assert_ptr_equal(stream, again);
    assert_ptr_equal(pool_stream_device(stream), device_of(&world, 0));
    assert_status(pool_stream_destroy(&again), POOL_ERR_INVALID_ARGUMENT);
    assert_says("stream of a lease");
    assert_ok(pool_acquire(world.pool, NULL, &second));
    assert_ok(pool_lease_stream(second, 0, &other));
    assert_ptr_not_equal(stream, other);
    assert_ok(pool_release(&second));
    assert_ok(pool_release(&lease));
    made = pool_mock_calls(world.mock, "cuStreamCreateWithPriority");
    for (int i = 0; i < 10; i++) {
        assert_ok(pool_acquire(world.pool, NULL, &lease));
        assert_ok(pool_lease_stream(lease, 0, &again));
        assert_ok(pool_release(&lease));
    }
    assert_int_equal(pool_mock_calls(world.mock, "cuStreamCreateWithPriority"), made);
    world_end(&world);
}

/* The classes -10, 0, 10 and 100 have levels of their own, created by the driver as such. */
static void test_levels(void **state)
{
    static const struct {
        int32_t class;
        const char *call;
    } rows[] = {{-10, "cuStreamCreateWithPriority(1, -1) = 0"},
        {0, "cuStreamCreateWithPriority(1, -2) = 0"}, {10, "cuStreamCreateWithPriority(1, -4) = 0"},
        {100, "cuStreamCreateWithPriority(1, -5) = 0"}};
    struct world world = world_with_pool(1);
    pool_stream *stream = NULL;

    (void)state;
    for (int i = 0; i < 4; i++) {
        pool_request request = request_of(0);
        pool_lease *lease = NULL;

        request.priority = rows[i].class;
        assert_null(strstr(pool_mock_log(world.mock), rows[i].call));
        assert_ok(pool_acquire(world.pool, &request, &lease));
        assert_ok(pool_lease_stream(lease, 0, &stream));
        assert_non_null(strstr(pool_mock_log(world.mock), rows[i].call));
        assert_ok(pool_release(&lease));
    }
    world_end(&world);
}

/* The classes are those of the pool's params. */
static void test_given_levels(void **state)
{
    static const struct {
        int32_t class, level;
    } rows[] = {{-6, -2}, {-5, -2}, {-4, 0}, {0, 0}, {6, 0}, {7, 2}, {999, 2}, {1000, 3}};
    struct world world = world_of(1);
    char *text = NULL;

    (void)state;
    world.params = (pool_params){.struct_size = sizeof(world.params),
        .driver = world.params.driver,
        .urgent_classes = {7, 7, 1000},
        .background_classes = {-5, -5}};
    assert_ok(pool_create(&world.pool, &world.params));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pool_lease_info info = {.struct_size = sizeof(info)};
        pool_request request = request_of(0);
        pool_lease *lease = NULL;

        request.priority = rows[i].class;
        assert_ok(pool_acquire(world.pool, &request, &lease));
        assert_ok(pool_lease_get_info(lease, &info));
        assert_int_equal(info.level, rows[i].level);
        assert_ok(pool_release(&lease));
    }
    assert_ok(pool_describe(world.pool, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, "level -2 from class -5 down, -1 from class -5 down, 0, 1 from "
                                 "class 7 up, 2 from class 7 up, 3 from class 1000 up"));
    pool_text_free(&text);
    assert_ok(pool_describe(world.pool, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"urgent_classes\":\t[7, 7, 1000]"));
    assert_non_null(strstr(text, "\"background_classes\":\t[-5, -5]"));
    pool_text_free(&text);
    world_end(&world);
}

static void test_wrong_levels(void **state)
{
    static const struct {
        int32_t urgent[3], background[2];
        const char *message;
    } rows[] = {{{0, 1, 2}, {0}, "`urgent_classes[0]` is 0"},
        {{5, 4, 6}, {0}, "`urgent_classes[1]` is 4"},
        {{-1, 4, 6}, {0}, "`urgent_classes[0]` is -1"},
        {{0}, {-3, -2}, "`background_classes[1]` is -2"},
        {{0}, {0, -2}, "`background_classes[0]` is 0"},
        {{0}, {INT32_MIN, 1}, "`background_classes[1]` is 1"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world = world_of(1);

        memcpy(world.params.urgent_classes, rows[i].urgent, sizeof(rows[i].urgent));
        memcpy(world.params.background_classes, rows[i].background, sizeof(rows[i].background));
        assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
        assert_says(rows[i].message);
        pool_mock_destroy(&world.mock);
    }
}

/* A stream with unfinished work is not given to the next lease. */
static void test_busy_streams_are_left(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *lease = NULL;
    pool_stream *stream = NULL, *next = NULL;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(device_of(&world, 0), 4096, &buffer));
    assert_ok(pool_acquire(world.pool, NULL, &lease));
    assert_ok(pool_lease_stream(lease, 0, &stream));
    pool_mock_stall(world.mock);
    assert_ok(pool_buffer_fill8(buffer, 0, 4096, 1, stream));
    assert_ok(pool_release(&lease));
    assert_ok(pool_acquire(world.pool, NULL, &lease));
    assert_ok(pool_lease_stream(lease, 0, &next));
    assert_ptr_not_equal(next, stream);
    assert_ok(pool_release(&lease));
    pool_mock_resume(world.mock);
    assert_ok(pool_acquire(world.pool, NULL, &lease));
    assert_ok(pool_lease_stream(lease, 0, &next));
    assert_ptr_equal(next, stream);
    assert_ok(pool_release(&lease));
    assert_ok(pool_buffer_destroy(&buffer));
    world_end(&world);
}

static void test_budget(void **state)
{
    struct world world = world_with_pool(2);
    struct lease_budget *budget = NULL, *other = NULL;
    pool_request request = request_of(1000);
    pool_lease *lease = NULL, *stale;
    pool_lease_usage usage = {.struct_size = sizeof(usage)};

    (void)state;
    request.label = "small";
    request.device = device_of(&world, 1);
    assert_ok(pool_acquire(world.pool, &request, &lease));
    assert_ok(lease_budget_of("test", lease, NULL, &budget));
    assert_ok(lease_budget_of("test", lease, device_of(&world, 1), &other));
    assert_ptr_equal(budget, other);
    assert_status(
        lease_budget_of("test", lease, device_of(&world, 0), &other), POOL_ERR_WRONG_DEVICE);
    assert_ok(lease_budget_charge(budget, 600));
    lease_budget_retain(budget);
    assert_status(lease_budget_charge(budget, 401), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says("\"small\"");
    assert_status(lease_budget_charge(budget, UINT64_MAX), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_ok(lease_budget_charge(budget, 400));
    assert_int_equal(lease_budget_left(budget), 0);
    assert_true(lease_budget_uncharge(budget, 400));
    assert_ok(pool_lease_get_usage(lease, 0, &usage));
    assert_int_equal(usage.used_bytes, 600);
    assert_int_equal(usage.peak_bytes, 1000);
    stale = lease;
    assert_ok(pool_release(&lease));
    assert_status(lease_budget_charge(budget, 1), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(lease_budget_left(budget), 0);
    /* Not reused while a block refers to the budget. */
    for (int i = 0; i < 3 * LEASES_UNUSED; i++) {
        assert_ok(pool_acquire(world.pool, NULL, &lease));
        assert_ptr_not_equal(lease, stale);
        assert_ok(pool_release(&lease));
    }
    assert_false(lease_budget_uncharge(budget, 600));
    lease_budget_release(budget);
    world_end(&world);
}

static atomic_uint_least64_t fake_time; /* the monitor reads it too */

static uint64_t fake_clock(void)
{
    return fake_time;
}

/* Waits of threads are not affected. */
static void set_clock(device_pool *pool, uint64_t (*clock)(void))
{
    struct admission *admission = NULL;

    assert_ok(admission_of(pool, &admission));
    atomic_store(&admission->clock, clock);
}

static void test_overdue(void **state)
{
    struct world world = world_with_pool(1);
    pool_request request = request_of(0);
    pool_lease_info info = {.struct_size = sizeof(info)};
    pool_lease *lease = NULL;

    (void)state;
    fake_time = 1000 * MS;
    set_clock(world.pool, fake_clock);
    request.duration_ns = 100 * MS;
    assert_ok(pool_acquire(world.pool, &request, &lease));
    fake_time += 100 * MS;
    assert_ok(pool_lease_get_info(lease, &info));
    assert_int_equal(info.held_ns, 100 * MS);
    assert_int_equal(info.is_overdue, 0);
    assert_int_equal(counts_of(world.pool).overdue, 0);
    fake_time += 1;
    assert_ok(pool_lease_get_info(lease, &info));
    assert_int_equal(info.is_overdue, 1);
    assert_int_equal(counts_of(world.pool).overdue, 1);
    assert_ok(pool_release(&lease));
    world_end(&world);
}

/* What the log said about overdue leases. */
static struct {
    atomic_int lines;
    atomic_int device;
    char label[POOL_LEASE_LABEL_BYTES];
} overdue_log;

static void hear_overdue(void *user, const pool_log_record *record)
{
    (void)user;
    if (!strstr(record->message, "is overdue"))
        return;
    atomic_store(&overdue_log.device, record->device);
    snprintf(overdue_log.label, sizeof(overdue_log.label), "%s", record->lease);
    atomic_fetch_add(&overdue_log.lines, 1);
}

/* The monitor finds each overdue lease once, without anybody asking, the latest one of those with
 * the same duration too. */
static void test_overdue_is_reported(void **state)
{
    struct world world = world_with_pool(1);
    pool_request request = request_of(0);
    pool_lease *leases[3] = {NULL};

    (void)state;
    pool_log_set(hear_overdue, NULL, POOL_LOG_WARN);
    request.duration_ns = 3600000 * MS;
    request.label = "an hour";
    assert_ok(pool_acquire(world.pool, &request, &leases[0]));
    request.duration_ns = 20 * MS;
    request.label = "short";
    for (int i = 1; i < 3; i++) {
        assert_ok(pool_acquire(world.pool, &request, &leases[i]));
        for (uint64_t start = base_clock_ns(); atomic_load(&overdue_log.lines) < i;)
            assert_true(base_clock_ns() - start < 60000 * MS);
    }
    assert_int_equal(atomic_load(&overdue_log.device), 0);
    assert_string_equal(overdue_log.label, "short");
    assert_int_equal(counts_of(world.pool).overdue, 2);
    assert_int_equal(counts_of(world.pool).became_overdue, 2);
    base_sleep_ns(60 * MS);
    for (int i = 0; i < 3; i++)
        assert_ok(pool_release(&leases[i]));
    assert_int_equal(atomic_load(&overdue_log.lines), 2);
    assert_int_equal(counts_of(world.pool).overdue, 0);
    assert_int_equal(counts_of(world.pool).became_overdue, 2);
    pool_log_set(NULL, NULL, POOL_LOG_WARN);
    world_end(&world);
}

/* --- eight threads on four devices --------------------------------------------------------------
 */

struct asker {
    device_pool *pool;
    pthread_barrier_t *barrier;
    pool_lease *lease;
    pthread_t thread;
};

static void *ask_once(void *user)
{
    struct asker *asker = user;
    pool_request request = request_of(40 * GIB);

    pthread_barrier_wait(asker->barrier);
    assert_ok(pool_acquire(asker->pool, &request, &asker->lease));
    return NULL;
}

static void test_threads_that_ask_at_once(void **state)
{
    struct world world = world_with_pool(4);
    struct asker askers[8];
    pthread_barrier_t barrier;
    unsigned on_device[4] = {0};

    (void)state;
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; i++) {
        askers[i] = (struct asker){.pool = world.pool, .barrier = &barrier};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_once, &askers[i]), 0);
    }
    /* All leases are held before the first one is released. */
    for (int i = 0; i < 8; i++)
        pthread_join(askers[i].thread, NULL);
    for (int i = 0; i < 8; i++) {
        on_device[index_of_device(device_of_lease(askers[i].lease, 0))]++;
        assert_ok(pool_release(&askers[i].lease));
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(on_device[i], 2);
    pthread_barrier_destroy(&barrier);
    world_end(&world);
}

static uint64_t sharing_clock_ns;

static uint64_t read_sharing_clock(void)
{
    return sharing_clock_ns;
}

/* The longest launches of a call, where they fill the device and where they do not. */
static void check_slices(pool_lease *lease, const pool_device *device, uint64_t slice_ns)
{
    pool_exec exec = {.lease = lease};

    assert_int_equal(exec_share_of(&exec, device).slice_ns, slice_ns);
    assert_int_equal(exec_share_of(&exec, device).partial_slice_ns, POOL_SLICE_NS);
    exec.slice_ns = 7000;
    assert_int_equal(exec_share_of(&exec, device).slice_ns, 7000);
    assert_int_equal(exec_share_of(&exec, device).partial_slice_ns, 7000);
}

/* What a call under a lease leaves to others: nothing while it is alone, or has all slots. */
static void test_shared_devices(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *first, *second;
    pool_request request = {.struct_size = sizeof(request)};
    pool_lease *lease = NULL, *other = NULL, *all = NULL;

    (void)state;
    sharing_clock_ns = GIB;
    set_clock(world.pool, read_sharing_clock);
    assert_ok(pool_device_at(world.pool, 0, &first));
    assert_ok(pool_device_at(world.pool, 1, &second));
    request.device = first;
    assert_false(lease_is_shared(NULL, first));
    assert_ok(pool_acquire(world.pool, &request, &lease));
    assert_true(lease_is_shared(NULL, first));
    assert_false(lease_is_shared(NULL, second));
    assert_false(lease_is_shared(lease, first));
    assert_false(lease_is_shared(lease, second));
    /* One after the other is not beside each other. */
    assert_ok(pool_release(&lease));
    assert_ok(pool_acquire(world.pool, &request, &lease));
    assert_false(lease_is_shared(lease, first));
    check_slices(lease, first, POOL_SLICE_NS);
    assert_ok(pool_acquire(world.pool, &request, &other));
    assert_true(lease_is_shared(lease, first));
    assert_true(lease_is_shared(other, first));
    assert_false(lease_is_shared(other, second));
    check_slices(lease, first, POOL_SHARED_SLICE_NS);
    assert_ok(pool_release(&other));
    sharing_clock_ns += 999999999;
    assert_true(lease_is_shared(lease, first));
    sharing_clock_ns++;
    assert_false(lease_is_shared(lease, first));
    /* On several devices. */
    request.device = NULL;
    request.devices = 2;
    assert_ok(pool_acquire(world.pool, &request, &other));
    assert_true(lease_is_shared(lease, first));
    assert_true(lease_is_shared(other, first));
    assert_false(lease_is_shared(other, second));
    assert_ok(pool_release(&lease));
    assert_ok(pool_release(&other));
    /* All slots. */
    request.devices = 1;
    request.device = first;
    request.slots = POOL_LEASE_SLOTS;
    assert_ok(pool_acquire(world.pool, &request, &all));
    assert_false(lease_is_shared(all, first));
    assert_ok(pool_release(&all));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_defaults),
        cmocka_unit_test(test_spreads),
        cmocka_unit_test(test_bytes_are_reserved),
        cmocka_unit_test(test_several_devices),
        cmocka_unit_test(test_one_device),
        cmocka_unit_test(test_filter_and_score),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_impossible_requests),
        cmocka_unit_test(test_wrong_members),
        cmocka_unit_test(test_wait_ends_with_release),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_other_processes_free_memory),
        cmocka_unit_test(test_stale_leases),
        cmocka_unit_test(test_release_from_another_thread),
        cmocka_unit_test(test_pool_destroy_is_refused),
        cmocka_unit_test(test_index_beyond_the_last),
        cmocka_unit_test(test_shared_devices),
        cmocka_unit_test(test_streams_are_reused),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_given_levels),
        cmocka_unit_test(test_wrong_levels),
        cmocka_unit_test(test_busy_streams_are_left),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_overdue),
        cmocka_unit_test(test_overdue_is_reported),
        cmocka_unit_test(test_threads_that_ask_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
