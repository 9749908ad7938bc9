/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free memory of the devices, sampled from the driver at most once per SAMPLE_NS. One thread
 * samples while the others use the previous values; they wait only for the first sample.
 */
#include "base/clock.h"
#include "base/host_memory.h"
#include "base/log.h"
#include "pool/device/pool.h"

/*
 * cuMemGetInfo takes 6.5 µs per device (H200, driver 580): sampling eight devices every 10 ms costs
 * half a percent of one core and shows the allocations of jobs that run for seconds in time.
 */
#define SAMPLE_NS 10000000u

void device_set_held(pool_device *device, const struct device_held *held)
{
    atomic_store_explicit(&device->held, held, memory_order_release);
}

static pool_status measure_held(const struct device_held *held, uint64_t *bytes)
{
    *bytes = 0;
    return held ? held->measure(held->object, bytes) : POOL_OK;
}

/* The driver's free bytes of an integrated device are those of the host without its page cache. */
static uint64_t free_of(const pool_device *device, uint64_t free_bytes)
{
    const device_pool *pool = device->pool;
    uint64_t available;

    if (!device->properties.integrated)
        return free_bytes;
    available =
        pool->host_memory ? pool->host_memory(pool->host_memory_user) : base_host_available("");
    if (!available)
        return free_bytes;
    return available < device->properties.total_bytes ? available : device->properties.total_bytes;
}

/*
 * What is held is measured before and after the free memory: of an allocation or a trim in between
 * the smaller value counts, so that no byte is counted twice.
 */
pool_status device_sample(pool_device *device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    const struct device_held *held = atomic_load_explicit(&device->gpu->held, memory_order_acquire);
    uint64_t held_before = 0, held_after = 0;
    size_t free_now = 0, total = 0;
    struct device_scope scope;
    pool_status status;

    status = device_enter_uncounted(device, &scope);
    if (status)
        return status;
    status = measure_held(held, &held_before);
    if (!status)
        status = DRIVER_CALL(scope.driver, MemGetInfo(&free_now, &total));
    if (!status)
        status = measure_held(held, &held_after);
    status = device_leave(&scope, status);
    if (status)
        return status;
    free_now = (size_t)free_of(device, free_now);
    device_account_sample(
        &device->gpu->account, free_now, held_before < held_after ? held_before : held_after);
    if (free_bytes)
        *free_bytes = free_now;
    if (total_bytes)
        *total_bytes = total;
    return POOL_OK;
}

/* A device whose query fails keeps its last value; only a poisoned process fails the call. */
static pool_status sample_all(device_pool *pool)
{
    const struct device_set *set = atomic_load_explicit(&pool->usable, memory_order_acquire);

    for (uint32_t i = 0; i < set->count; i++) {
        pool_device *device = set->devices[i];

        if (!atomic_load_explicit(&device->context, memory_order_acquire))
            continue;
        if (device_sample(device, NULL, NULL) && device_pool_check(pool, DEVICE_USE_DRIVER))
            return device_pool_check(pool, DEVICE_USE_DRIVER);
    }
    return POOL_OK;
}

/*
 * A sample does not show the memory of jobs that were assigned a device just before it, so these
 * count for one more interval. `before` 1: sampled early, because a context was created.
 */
static void age_choices(device_pool *pool, uint64_t before, uint64_t now)
{
    for (size_t i = 0; i < pool->count; i++) {
        pool_device *device = &pool->devices[i];
        unsigned recent = atomic_exchange_explicit(&device->chosen, 0, memory_order_relaxed);

        if (before == 1)
            atomic_fetch_add_explicit(&device->chosen_before, recent, memory_order_relaxed);
        else
            atomic_store_explicit(&device->chosen_before, now < before + 2 * SAMPLE_NS ? recent : 0,
                memory_order_relaxed);
    }
}

pool_status device_pool_sample(device_pool *pool)
{
    uint64_t now = base_clock_coarse_ns();
    uint64_t before = atomic_load_explicit(&pool->sampled_at, memory_order_acquire);
    pool_status status = POOL_OK;

    if (before && now < before + SAMPLE_NS)
        return POOL_OK;
    if (!before)
        pthread_mutex_lock(&pool->sample_lock);
    else if (pthread_mutex_trylock(&pool->sample_lock))
        return POOL_OK;
    if (atomic_load_explicit(&pool->sampled_at, memory_order_relaxed) == before) {
        status = sample_all(pool);
        age_choices(pool, before, now);
        atomic_store_explicit(&pool->sampled_at, base_clock_coarse_ns(), memory_order_release);
    }
    pthread_mutex_unlock(&pool->sample_lock);
    return status;
}

uint64_t device_share(const pool_device *device, unsigned *chosen)
{
    uint64_t before = atomic_load_explicit(&device->chosen_before, memory_order_relaxed);

    *chosen = atomic_load_explicit(&device->chosen, memory_order_relaxed);
    return device_net_free(device) / (1 + before + *chosen);
}
