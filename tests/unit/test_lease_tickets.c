/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease/: requests without a thread that waits: hooks, file descriptors, deadlines, destruction.
 */
#include "support/lease.h"

#include <poll.h>
#include <time.h>

#include "base/status.h"
#include "pool/lease/admission.h"

static const pool_request no_wait = {.struct_size = sizeof(no_wait)};
static const pool_request for_ever = {
    .struct_size = sizeof(for_ever), .timeout_ns = POOL_WAIT_FOREVER, .label = "patient"};

static int is_readable(int fd, int timeout_ms)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};

    return poll(&waiting, 1, timeout_ms) == 1;
}

static void test_ticket_granted_at_once(void **state)
{
    struct world world = world_with_pool(1);
    pool_ticket *ticket = NULL;
    pool_lease *lease = NULL, *again = NULL;
    int fd = -1;

    (void)state;
    assert_ok(pool_acquire_async(world.pool, &no_wait, NULL, NULL, &ticket));
    assert_ok(pool_ticket_fd(ticket, &fd));
    assert_true(is_readable(fd, 0));
    assert_ok(pool_ticket_take(ticket, &lease));
    assert_int_equal(pool_lease_device_count(lease), 1);
    assert_status(pool_ticket_take(ticket, &again), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_destroy(&world.pool), POOL_ERR_BUSY);
    assert_ok(pool_ticket_destroy(&ticket));
    assert_null(ticket);
    assert_int_equal(pool_lease_device_count(lease), 1); /* the lease is the caller's */
    assert_ok(pool_release(&lease));
    world_end(&world);
}

static void test_fd_becomes_readable(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS], *lease = NULL;
    pool_ticket *ticket = NULL;
    int fd = -1, same = -1;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    assert_ok(pool_acquire_async(world.pool, &for_ever, NULL, NULL, &ticket));
    assert_ok(pool_ticket_fd(ticket, &fd));
    assert_ok(pool_ticket_fd(ticket, &same));
    assert_int_equal(fd, same);
    assert_false(is_readable(fd, 0));
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_NOT_READY);
    assert_ok(pool_release(&leases[0]));
    assert_true(is_readable(fd, 60000));
    assert_ok(pool_ticket_take(ticket, &leases[0]));
    assert_ok(pool_ticket_destroy(&ticket));
    release_all(leases, POOL_LEASE_SLOTS);
    world_end(&world);
}

static void test_deadline_of_a_ticket(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS], *lease = NULL;
    pool_request request = for_ever;
    pool_ticket *ticket = NULL;
    int fd = -1;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    request.timeout_ns = 10 * MS;
    assert_ok(pool_acquire_async(world.pool, &request, NULL, NULL, &ticket));
    assert_ok(pool_ticket_fd(ticket, &fd));
    assert_true(is_readable(fd, 60000));
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_TIMEOUT);
    assert_says("\"patient\"");
    assert_ok(pool_ticket_destroy(&ticket));
    request.timeout_ns = 0;
    assert_ok(pool_acquire_async(world.pool, &request, NULL, NULL, &ticket));
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_TIMEOUT);
    assert_ok(pool_ticket_destroy(&ticket));
    release_all(leases, POOL_LEASE_SLOTS);
    world_end(&world);
}

static void test_cancel_of_a_ticket(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS], *lease = NULL;
    pool_request request = for_ever;
    pool_ticket *ticket = NULL;
    int fd = -1;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    assert_ok(pool_cancel_create(&request.cancel));
    assert_ok(pool_acquire_async(world.pool, &request, NULL, NULL, &ticket));
    assert_ok(pool_ticket_fd(ticket, &fd));
    assert_false(is_readable(fd, 20));
    pool_cancel_request(request.cancel);
    assert_true(is_readable(fd, 60000));
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_CANCELLED);
    assert_ok(pool_ticket_destroy(&ticket));
    pool_cancel_destroy(&request.cancel);
    release_all(leases, POOL_LEASE_SLOTS);
    world_end(&world);
}

/* The slot of the request has the failure that its ticket reports later, and nothing before. */
static void test_error_slot_of_a_ticket(void **state)
{
    struct world world = world_with_pool(1);
    pool_error_slot slot = {.struct_size = sizeof(slot)};
    pool_lease *leases[POOL_LEASE_SLOTS], *lease = NULL;
    pool_request request = for_ever;
    pool_ticket *ticket = NULL;
    int fd = -1;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    request.timeout_ns = 1000 * MS; /* so that it is not over before its result is requested */
    request.error = &slot;
    assert_ok(pool_acquire_async(world.pool, &request, NULL, NULL, &ticket));
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_NOT_READY);
    assert_int_equal(slot.status, POOL_OK);
    assert_ok(pool_ticket_fd(ticket, &fd));
    assert_true(is_readable(fd, 60000));
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_TIMEOUT);
    assert_int_equal(slot.status, POOL_ERR_TIMEOUT);
    assert_string_equal(slot.message, pool_last_error()->message);
    assert_non_null(strstr(slot.message, "\"patient\""));

    /* Once: the caller may use the slot for another call. */
    slot.status = POOL_OK;
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_TIMEOUT);
    assert_int_equal(slot.status, POOL_OK);
    assert_ok(pool_ticket_destroy(&ticket));

    slot.struct_size = 5;
    assert_status(
        pool_acquire_async(world.pool, &request, NULL, NULL, &ticket), POOL_ERR_INVALID_ARGUMENT);
    assert_says("request->error");
    assert_status(pool_acquire(world.pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    release_all(leases, POOL_LEASE_SLOTS);
    world_end(&world);
}

/* --- hooks --------------------------------------------------------------------------------------
 */

struct granted {
    atomic_int calls;
    pthread_t thread;
    pool_status status;
    pool_lease *lease;
    int destroys; /* the hook destroys the ticket */
    int sleeps;
    atomic_int is_over;
};

static void count_grant(void *user, pool_ticket *ticket)
{
    struct granted *granted = user;

    granted->thread = pthread_self();
    granted->status = pool_ticket_take(ticket, &granted->lease);
    atomic_fetch_add(&granted->calls, 1);
    if (granted->destroys)
        assert_ok(pool_ticket_destroy(&ticket));
    if (granted->sleeps)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store(&granted->is_over, 1);
}

static void wait_for_call(struct granted *granted)
{
    while (!atomic_load(&granted->is_over))
        sched_yield();
}

static void test_hook(void **state)
{
    (void)state;
    for (int waits = 0; waits <= 1; waits++)
        for (int destroys = 0; destroys <= 1; destroys++) {
            struct world world = world_with_pool(1);
            pool_lease *leases[POOL_LEASE_SLOTS] = {NULL};
            struct granted granted = {.destroys = destroys};
            pool_ticket *ticket = NULL;

            if (waits)
                fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
            assert_ok(pool_acquire_async(world.pool, &for_ever, count_grant, &granted, &ticket));
            assert_ok(pool_release(&leases[0]));
            wait_for_call(&granted);
            assert_ok(granted.status);
            assert_int_equal(granted.calls, 1);
            assert_false(pthread_equal(granted.thread, pthread_self()));
            if (!destroys)
                assert_ok(pool_ticket_destroy(&ticket));
            assert_ok(pool_release(&granted.lease));
            release_all(leases, POOL_LEASE_SLOTS);
            world_end(&world);
        }
}

static void test_hook_of_a_deadline(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS];
    struct granted granted = {0};
    pool_request request = for_ever;
    pool_ticket *ticket = NULL;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    request.timeout_ns = 5 * MS;
    assert_ok(pool_acquire_async(world.pool, &request, count_grant, &granted, &ticket));
    wait_for_call(&granted);
    assert_int_equal(granted.status, POOL_ERR_TIMEOUT);
    assert_ok(pool_ticket_destroy(&ticket));
    release_all(leases, POOL_LEASE_SLOTS);
    world_end(&world);
}

/* Destroying a ticket waits for its running hook; a waiting one's hook is never called. */
static void test_destroy_and_hooks(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS];
    struct granted granted = {.sleeps = 1}, never = {0};
    pool_ticket *ticket = NULL;

    (void)state;
    assert_ok(pool_acquire_async(world.pool, &for_ever, count_grant, &granted, &ticket));
    while (!atomic_load(&granted.calls))
        sched_yield();
    assert_ok(pool_ticket_destroy(&ticket));
    assert_int_equal(granted.is_over, 1);
    assert_ok(pool_release(&granted.lease));
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    assert_ok(pool_acquire_async(world.pool, &for_ever, count_grant, &never, &ticket));
    assert_ok(pool_ticket_destroy(&ticket));
    release_all(leases, POOL_LEASE_SLOTS);
    world_end(&world);
    assert_int_equal(never.calls, 0);
}

/* --- other ways to end --------------------------------------------------------------------------
 */

/* A lease that nobody took is released with its ticket, and the next request is granted. */
static void test_untaken_leases(void **state)
{
    struct world world = world_with_pool(1);
    pool_ticket *tickets[POOL_LEASE_SLOTS + 1];
    pool_lease *lease = NULL;

    (void)state;
    for (uint32_t i = 0; i <= POOL_LEASE_SLOTS; i++)
        assert_ok(pool_acquire_async(world.pool, &for_ever, NULL, NULL, &tickets[i]));
    assert_status(pool_ticket_take(tickets[POOL_LEASE_SLOTS], &lease), POOL_ERR_NOT_READY);
    assert_ok(pool_ticket_destroy(&tickets[1]));
    assert_ok(pool_ticket_take(tickets[POOL_LEASE_SLOTS], &lease));
    assert_ok(pool_release(&lease));
    for (uint32_t i = 0; i <= POOL_LEASE_SLOTS; i++)
        assert_ok(pool_ticket_destroy(&tickets[i]));
    world_end(&world);
}

static void test_refused_requests_make_no_ticket(void **state)
{
    struct world world = world_with_pool(1);
    pool_request request = for_ever;
    pool_ticket *ticket = NULL;

    (void)state;
    request.bytes = 200 * GIB;
    assert_status(pool_acquire_async(world.pool, &request, NULL, NULL, &ticket),
        POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_null(ticket);
    assert_status(
        pool_acquire_async(world.pool, &request, NULL, NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_ticket_take(NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_ticket_fd(NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_ticket_destroy(NULL));
    assert_ok(pool_ticket_destroy(&ticket));
    world_end(&world);
}

static void test_poison_decides_tickets(void **state)
{
    struct world world = world_with_pool(1);
    pool_lease *leases[POOL_LEASE_SLOTS], *lease = NULL;
    pool_device *device = device_of(&world, 0);
    struct granted granted = {0};
    pool_ticket *ticket = NULL, *hooked = NULL;
    pool_buffer *buffer = NULL;
    int fd = -1;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    assert_ok(pool_acquire_async(world.pool, &for_ever, NULL, NULL, &ticket));
    assert_ok(pool_acquire_async(world.pool, &for_ever, count_grant, &granted, &hooked));
    assert_ok(pool_ticket_fd(ticket, &fd));
    assert_ok(pool_mock_poison(world.mock, 700));
    assert_status(pool_buffer_alloc(device, 64, &buffer), POOL_ERR_PROCESS_POISONED);
    assert_true(is_readable(fd, 60000));
    assert_status(pool_ticket_take(ticket, &lease), POOL_ERR_PROCESS_POISONED);
    wait_for_call(&granted);
    assert_int_equal(granted.status, POOL_ERR_PROCESS_POISONED);
    assert_ok(pool_ticket_destroy(&ticket));
    assert_ok(pool_ticket_destroy(&hooked));
    release_all(leases, POOL_LEASE_SLOTS);
    assert_ok(pool_destroy(&world.pool));
    pool_mock_destroy(&world.mock);
}

static atomic_uint_fast64_t fake_time;

static uint64_t fake_clock(void)
{
    return atomic_load(&fake_time);
}

/* The monitor finds that a request's deadline has passed and that its cancel object is requested in
 * the same run: both are changed under the lock. A run that read the clock before the change sees
 * the cancel request only; therefore more than 20 times if all were such. */
static void test_deadline_and_cancel_at_once(void **state)
{
    struct world world = world_with_pool(1);
    pool_request request = {.struct_size = sizeof(request), .timeout_ns = 1000 * MS};
    pool_lease *leases[POOL_LEASE_SLOTS], *lease = NULL;
    struct admission *admission;
    int timeouts = 0;

    (void)state;
    fill_slots(world.pool, leases, POOL_LEASE_SLOTS);
    assert_ok(admission_of(world.pool, &admission));
    atomic_store(&fake_time, base_clock_ns());
    atomic_store(&admission->clock, fake_clock);
    for (int i = 0; i < 20 || !timeouts; i++) {
        pool_ticket *ticket = NULL;
        pool_status status;
        int fd = -1;

        assert_ok(pool_cancel_create(&request.cancel));
        assert_ok(pool_acquire_async(world.pool, &request, NULL, NULL, &ticket));
        assert_ok(pool_ticket_fd(ticket, &fd));
        pthread_mutex_lock(&admission->lock);
        atomic_fetch_add(&fake_time, 2000 * MS);
        pool_cancel_request(request.cancel);
        pthread_mutex_unlock(&admission->lock);
        assert_true(is_readable(fd, 60000));
        status = pool_ticket_take(ticket, &lease);
        assert_true(status == POOL_ERR_TIMEOUT || status == POOL_ERR_CANCELLED);
        timeouts += status == POOL_ERR_TIMEOUT;
        assert_ok(pool_ticket_destroy(&ticket));
        pool_cancel_destroy(&request.cancel);
    }
    release_all(leases, POOL_LEASE_SLOTS);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticket_granted_at_once),
        cmocka_unit_test(test_fd_becomes_readable),
        cmocka_unit_test(test_deadline_of_a_ticket),
        cmocka_unit_test(test_cancel_of_a_ticket),
        cmocka_unit_test(test_error_slot_of_a_ticket),
        cmocka_unit_test(test_hook),
        cmocka_unit_test(test_hook_of_a_deadline),
        cmocka_unit_test(test_destroy_and_hooks),
        cmocka_unit_test(test_untaken_leases),
        cmocka_unit_test(test_deadline_and_cancel_at_once),
        cmocka_unit_test(test_refused_requests_make_no_ticket),
        cmocka_unit_test(test_poison_decides_tickets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
