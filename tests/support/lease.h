/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of leases share: requests, counts, threads that wait for a lease.
 */
#ifndef TESTS_SUPPORT_LEASE_H
#define TESTS_SUPPORT_LEASE_H

#include "support/mock_pool.h"

#include <pthread.h>
#include <sched.h>

#include "base/clock.h"

#define MS 1000000ull

static inline uint32_t index_of_device(pool_device *device)
{
    return pool_device_index(device);
}

static inline pool_request request_of(uint64_t bytes)
{
    return (pool_request){.struct_size = sizeof(pool_request), .bytes = bytes};
}

static inline pool_device *device_of_lease(const pool_lease *lease, uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_lease_device(lease, index, &device));
    return device;
}

static inline pool_lease_counts counts_of(device_pool *pool)
{
    pool_lease_counts counts = {.struct_size = sizeof(counts)};

    assert_ok(pool_get_lease_counts(pool, &counts));
    return counts;
}

static inline void fill_slots(device_pool *pool, pool_lease **leases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_ok(pool_acquire(pool, NULL, &leases[i]));
}

static inline void release_all(pool_lease **leases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_ok(pool_release(&leases[i]));
}

/* A request on a thread of its own. */
struct waiter {
    device_pool *pool;
    pool_request request;
    pool_lease *lease;
    pool_status status;
    uint64_t ended;
    atomic_int is_over;
    pthread_t thread;
};

static inline void *wait_for_lease(void *user)
{
    struct waiter *waiter = user;

    waiter->status = pool_acquire(waiter->pool, &waiter->request, &waiter->lease);
    waiter->ended = base_clock_ns();
    atomic_store(&waiter->is_over, 1);
    return NULL;
}

/* Starts a thread and returns when its request waits, or has waited already: a deadline may pass
 * before this thread sees it. */
static inline void start_waiter(struct waiter *waiter, device_pool *pool)
{
    uint32_t before = counts_of(pool).waiting;

    waiter->pool = pool;
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for_lease, waiter), 0);
    while (counts_of(pool).waiting == before && !atomic_load(&waiter->is_over))
        sched_yield();
}

#endif
