/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published set of ready devices. A choice reads it without a lock, so a set never changes and
 * is never freed before the pool. When a device is lost, the next set is built in memory that was
 * reserved at creation: so losing a device needs no memory and cannot fail itself.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/device/pool.h"

static struct device_set no_devices = {0};

pool_status device_set_allocate(device_pool *pool)
{
    /* The first set, and with every device lost one by one another set for each loss. */
    pool->reserve = base_calloc(pool->count + 1, sizeof(*pool->reserve));
    pool->reserve_devices =
        base_calloc((pool->count + 1) * pool->count, sizeof(*pool->reserve_devices));
    atomic_store(&pool->usable, &no_devices);
    return pool->reserve && pool->reserve_devices ? POOL_OK
                                                  : base_fail_memory("the pool's device sets");
}

static bool is_of_reserve(const device_pool *pool, const struct device_set *set)
{
    return (uintptr_t)set >= (uintptr_t)pool->reserve &&
           (uintptr_t)set <= (uintptr_t)(pool->reserve + pool->count);
}

void device_set_free(device_pool *pool)
{
    for (struct device_set *at = pool->sets, *next; at; at = next) {
        next = at->next;
        if (!is_of_reserve(pool, at))
            base_free(at);
    }
    for (struct device_set *at = pool->spares, *next; at; at = next) {
        next = at->next;
        base_free(at);
    }
    base_free(pool->reserve);
    base_free(pool->reserve_devices);
}

static bool is_ready(const pool_device *device)
{
    return atomic_load(&device->state) == POOL_DEVICE_READY;
}

/* A set that was published before and has exactly the devices that are ready now. */
static struct device_set *find_set(const device_pool *pool, uint32_t count)
{
    for (struct device_set *at = pool->sets; at; at = at->next) {
        uint32_t i = 0;

        while (at->count == count && i < count && is_ready(at->devices[i]))
            i++;
        if (at->count == count && i == count)
            return at;
    }
    return NULL;
}

static struct device_set *allocate_set(size_t count)
{
    struct device_set *set = base_calloc(1, sizeof(*set) + count * sizeof(*set->devices));

    if (set)
        set->devices = (pool_device **)(set + 1);
    return set;
}

static struct device_set *take_from_reserve(device_pool *pool)
{
    struct device_set *set = pool->spares;

    if (set) {
        pool->spares = set->next;
        return set;
    }
    set = &pool->reserve[pool->reserve_used];
    set->devices = pool->reserve_devices + pool->reserve_used++ * pool->count;
    return set;
}

pool_status device_set_replenish_locked(device_pool *pool)
{
    size_t left = pool->count + 1 - pool->reserve_used, needed = 1;
    struct device_set *set;

    for (set = pool->spares; set; set = set->next)
        left++;
    for (size_t i = 0; i < pool->count; i++)
        needed += device_usable(&pool->devices[i], DEVICE_USE_CALLS);
    if (left >= needed)
        return POOL_OK;
    set = allocate_set(pool->count);
    if (!set)
        return base_fail_memory("the pool's set of ready devices");
    set->next = pool->spares;
    pool->spares = set;
    return POOL_OK;
}

static void fill_set(device_pool *pool, struct device_set *set)
{
    for (size_t i = 0; i < pool->count; i++)
        if (is_ready(&pool->devices[i]))
            set->devices[set->count++] = &pool->devices[i];
    if (!set->count)
        return;
    /*
     * counter * reciprocal mod 2^64 is the fraction of counter / count, so its product with count
     * has the remainder in its upper half. That is exact while counter * count < 2^64 (reciprocal
     * is too large by less than count / count), hence the limit.
     */
    set->reciprocal = UINT64_MAX / set->count + 1;
    set->limit = UINT64_MAX / set->count / set->count * set->count;
}

pool_status device_set_publish_locked(device_pool *pool, bool may_allocate)
{
    struct device_set *set = &no_devices;
    uint32_t count = 0;

    for (size_t i = 0; i < pool->count; i++)
        count += is_ready(&pool->devices[i]);
    if (!pool->is_poisoned && count) {
        set = find_set(pool, count);
        if (!set) {
            set = may_allocate ? allocate_set(count) : take_from_reserve(pool);
            if (!set)
                return base_fail_memory("the pool's set of ready devices");
            fill_set(pool, set);
            set->next = pool->sets;
            pool->sets = set;
        }
    }
    atomic_store_explicit(&pool->whole_count, 0, memory_order_release);
    atomic_store_explicit(&pool->usable, set, memory_order_release);
    if (set->count && set->count == pool->count && (set->count & (set->count - 1)) == 0)
        atomic_store_explicit(&pool->whole_count, set->count, memory_order_release);
    return POOL_OK;
}

void device_set_publish(device_pool *pool)
{
    pthread_mutex_lock(&pool->state_lock);
    (void)device_set_publish_locked(pool, false);
    pthread_mutex_unlock(&pool->state_lock);
}
