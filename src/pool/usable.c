/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published set of usable devices. A choice reads it without a lock, so a set never changes and
 * is freed only with the pool. When a device becomes unusable, the next set, which is one device
 * smaller, is built in memory allocated at creation, so marking a device unusable cannot fail.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "pool/pool.h"

static const struct device_set no_devices = {0};

pool_status device_set_allocate(device_pool *pool)
{
    /* One set for each number of usable devices, from `count` down to 0. */
    pool->sets = base_calloc(pool->count + 1, sizeof(*pool->sets));
    pool->set_devices = base_calloc((pool->count + 1) * pool->count, sizeof(*pool->set_devices));
    atomic_store(&pool->usable, &no_devices);
    return pool->sets && pool->set_devices ? POOL_OK : base_fail_memory("the pool's device sets");
}

void device_set_free(device_pool *pool)
{
    base_free(pool->sets);
    base_free(pool->set_devices);
}

void device_set_publish(device_pool *pool)
{
    struct device_set *set;
    pool_device **devices;

    pthread_mutex_lock(&pool->state_lock);
    atomic_store_explicit(&pool->whole_count, 0, memory_order_release);
    if (pool->is_poisoned || pool->sets_used > pool->count) {
        atomic_store_explicit(&pool->usable, &no_devices, memory_order_release);
        pthread_mutex_unlock(&pool->state_lock);
        return;
    }
    devices = pool->set_devices + pool->sets_used * pool->count;
    set = &pool->sets[pool->sets_used++];
    for (size_t i = 0; i < pool->count; i++)
        if (atomic_load(&pool->devices[i].state) == POOL_DEVICE_READY)
            devices[set->count++] = &pool->devices[i];
    set->devices = devices;
    if (set->count) {
        /*
         * counter * reciprocal mod 2^64 is the fraction of counter / count, so its product with
         * count has the remainder in its upper half. That is exact while counter * count < 2^64
         * (reciprocal is too large by less than count / count), hence the limit.
         */
        set->reciprocal = UINT64_MAX / set->count + 1;
        set->limit = UINT64_MAX / set->count / set->count * set->count;
    }
    atomic_store_explicit(&pool->usable, set, memory_order_release);
    if (set->count == pool->count && base_is_power_of_two(set->count))
        atomic_store_explicit(&pool->whole_count, set->count, memory_order_release);
    pthread_mutex_unlock(&pool->state_lock);
}
