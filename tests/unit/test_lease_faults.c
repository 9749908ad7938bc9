/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease/: devices that are lost, drained or quarantined, and sticky faults, while requests wait and
 * leases are held.
 */
#include "support/lease.h"

#include <time.h>

#include "base/status.h"
#include "pool/lease/admission.h"

/* --- failures of devices ------------------------------------------------------------------------
 */

static void test_device_lost_while_waiting(void **state)
{
    struct world world = world_with_pool(2);
    pool_lease *leases[2 * POOL_LEASE_SLOTS];
    struct waiter pair = {.request = request_of(0)}, single = {.request = request_of(0)};

    (void)state;
    fill_slots(world.pool, leases, 2 * POOL_LEASE_SLOTS);
    pair.request.devices = 2;
    pair.request.timeout_ns = single.request.timeout_ns = POOL_WAIT_FOREVER;
    start_waiter(&pair, world.pool);
    start_waiter(&single, world.pool);
    base_fail(POOL_ERR_DRIVER, "lost for a test");
    device_mark_unusable(device_of(&world, 0));
    pthread_join(pair.thread, NULL);
    assert_int_equal(pair.status, POOL_ERR_NO_DEVICE);
    /* What was held there is released as usual; the other device serves the other request. */
    for (int i = 0; i < 2 * POOL_LEASE_SLOTS; i++)
        assert_ok(pool_release(&leases[i]));
    pthread_join(single.thread, NULL);
    assert_ok(single.status);
    assert_int_equal(index_of_device(device_of_lease(single.lease, 0)), 1);
    assert_ok(pool_release(&single.lease));
    world_end(&world);
}

static void test_poison_wakes_waiting_threads(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS], *late = NULL;
    struct waiter waiter = {.request = request_of(0)};
    pool_device *device = device_of(&world, 0);
    pool_buffer *buffer = NULL;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    waiter.request.timeout_ns = POOL_WAIT_FOREVER;
    start_waiter(&waiter, world.pool);
    assert_ok(pool_mock_poison(world.mock, 700));
    assert_status(pool_buffer_alloc(device, 64, &buffer), POOL_ERR_PROCESS_POISONED);
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.status, POOL_ERR_PROCESS_POISONED);
    assert_status(pool_acquire(world.pool, NULL, &late), POOL_ERR_PROCESS_POISONED);
    for (uint32_t i = 0; i < POOL_LEASE_SLOTS; i++)
        assert_ok(pool_release(&leases[i]));
    assert_ok(pool_destroy(&world.pool));
    pool_mock_destroy(&world.mock);
}

/* --- devices that are taken out of service ------------------------------------------------------
 */

static void test_drained_device(void **state)
{
    struct world world = world_with_pool(2);
    struct waiter waiter = {.request = request_of(0)};
    pool_lease *held = NULL, *lease = NULL;
    pool_request request = request_of(0);
    pool_device *device = device_of(&world, 0);

    (void)state;
    request.device = device;
    assert_ok(pool_acquire(world.pool, &request, &held));
    assert_ok(pool_device_drain(device));
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_TIMEOUT);
    for (int i = 0; i < 4; i++) {
        assert_ok(pool_acquire(world.pool, NULL, &lease));
        assert_int_equal(index_of_device(device_of_lease(lease, 0)), 1);
        assert_ok(pool_release(&lease));
    }
    assert_status(pool_device_wait_drained(device, 0), POOL_ERR_TIMEOUT);
    waiter.request = request;
    waiter.request.timeout_ns = POOL_WAIT_FOREVER;
    start_waiter(&waiter, world.pool);
    assert_ok(pool_release(&held));
    assert_ok(pool_device_wait_drained(device, 60000 * MS));
    assert_int_equal(counts_of(world.pool).waiting, 1);
    assert_ok(pool_device_resume(device));
    pthread_join(waiter.thread, NULL);
    assert_ok(waiter.status);
    assert_ptr_equal(device_of_lease(waiter.lease, 0), device);
    assert_ok(pool_release(&waiter.lease));
    world_end(&world);
}

static void test_quarantined_device(void **state)
{
    struct world world = world_with_pool(1);
    struct waiter waiter = {.request = request_of(0)};
    pool_lease *held = NULL;

    (void)state;
    assert_ok(pool_acquire(world.pool, NULL, &held));
    assert_ok(pool_device_quarantine(device_of(&world, 0), "wrong results"));
    waiter.request.timeout_ns = 20 * MS;
    start_waiter(&waiter, world.pool);
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.status, POOL_ERR_TIMEOUT);
    assert_ok(pool_release(&held));
    world_end(&world);
}

/* Leases on it do not keep the pool from being destroyed, and can be released even then, by a
 * thread that comes back from a driver call; so can the stream that one has on another device. The
 * last test: the driver stays open for that. */
static void test_abandoned_device(void **state)
{
    struct world world = world_with_pool(2);
    struct waiter waiter = {.request = request_of(0)};
    pool_request request = request_of(0), of_two = request_of(0);
    pool_lease *held = NULL, *pair = NULL;
    pool_stream *stream = NULL;

    (void)state;
    request.device = device_of(&world, 0);
    assert_ok(pool_acquire(world.pool, &request, &held));
    assert_ok(pool_lease_stream(held, 0, &stream));
    of_two.devices = 2;
    assert_ok(pool_acquire(world.pool, &of_two, &pair));
    assert_ok(pool_lease_stream(pair, 1, &stream));
    waiter.request = request;
    waiter.request.slots = POOL_LEASE_SLOTS;
    waiter.request.timeout_ns = POOL_WAIT_FOREVER;
    start_waiter(&waiter, world.pool);
    assert_ok(pool_device_abandon(request.device, "it hangs"));
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.status, POOL_ERR_NO_DEVICE);
    assert_ok(pool_destroy(&world.pool));
    assert_ok(pool_release(&held));
    assert_ok(pool_release(&pair));
    pool_mock_destroy(&world.mock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_lost_while_waiting),
        cmocka_unit_test(test_poison_wakes_waiting_threads),
        cmocka_unit_test(test_drained_device),
        cmocka_unit_test(test_quarantined_device),
        cmocka_unit_test(test_abandoned_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
