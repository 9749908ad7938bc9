/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in flight on the devices of a pool, queried when a choice, a free or an unload needs it.
 */
#include "driver/work.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "pool/device/pool.h"

/*
 * cuStreamQuery takes under a microsecond, and a choice by load queries every stream with
 * unfinished work: eight streams each millisecond are less than one per cent of a core.
 */
#define POLL_NS 1000000u

struct driver_work *device_work(pool_device *device)
{
    return &device->work;
}

static int can_query(const pool_device *device)
{
    return atomic_load_explicit(&device->context, memory_order_acquire) &&
           device_usable(device, DEVICE_USE_CALLS);
}

/* Code and memory of a GPU are used by all parts of it. */
pool_status device_is_idle(pool_device *device)
{
    pool_status status = driver_work_poll(&device->work, 1);

    for (pool_device *part = NULL; !status && (part = device_next_part(device, part));)
        if (part != device && can_query(part))
            status = device_poll_work(part, 1);
    return status;
}

pool_status device_poll_work(pool_device *device, int all)
{
    struct device_scope scope;
    pool_status status = device_enter_uncounted(device, &scope), left;

    if (status)
        return status;
    status = driver_work_poll(&device->work, all);
    if (status != POOL_ERR_NOT_READY)
        return device_leave(&scope, status);
    left = device_leave(&scope, POOL_OK);
    return left ? left : status;
}

pool_status device_pool_is_idle(pool_device *device)
{
    device_pool *pool = device->pool;
    struct base_error_copy before;
    pool_status first = device_may_block(device) ? POOL_ERR_NOT_READY : POOL_OK;

    base_error_save(&before);

    /* Poll all devices even if one is busy: releases may be waiting for work that has finished. */
    for (size_t i = 0; i < pool->count && (!first || first == POOL_ERR_NOT_READY); i++) {
        pool_status status = POOL_OK;

        if (can_query(&pool->devices[i]))
            status = device_poll_work(&pool->devices[i], 1);
        /* It is about to become unusable, which is no failure of a call on this device. */
        if (status == POOL_ERR_DEVICE_LOST && &pool->devices[i] != device) {
            base_error_restore(&before);
            status = POOL_ERR_NOT_READY;
        }
        if (!first || (status && status != POOL_ERR_NOT_READY))
            first = status;
    }
    return first;
}

pool_status device_pool_poll_work(device_pool *pool)
{
    uint64_t now = base_clock_ns();
    uint64_t before = atomic_load_explicit(&pool->polled_at, memory_order_relaxed);
    pool_status status = POOL_OK;

    if ((before && now < before + POLL_NS) ||
        !atomic_compare_exchange_strong(&pool->polled_at, &before, now))
        return POOL_OK;
    for (size_t i = 0; i < pool->count; i++) {
        pool_device *device = &pool->devices[i];

        if (!can_query(device) || !driver_work_load(&device->work).streams)
            continue;
        status = device_poll_work(device, 0);
        if (status && device_pool_check(pool, DEVICE_USE_DRIVER))
            return device_pool_check(pool, DEVICE_USE_DRIVER);
    }
    return POOL_OK;
}

/* A device that was abandoned before a resource was created cannot use that resource. */
static bool can_use(const pool_device *device, unsigned abandoned)
{
    unsigned abandoned_as = atomic_load(&device->abandoned_as);

    return !abandoned_as || abandoned_as > abandoned;
}

pool_status device_pool_marks(
    pool_device *device, unsigned abandoned, struct driver_mark **marks, uint32_t *count)
{
    device_pool *pool = device->pool;
    struct driver_mark *found;
    uint32_t used = 0, capacity = 0;

    for (size_t i = 0; i < pool->count; i++)
        if (can_use(&pool->devices[i], abandoned))
            capacity += driver_work_unfinished(&pool->devices[i].work, NULL, 0);
    *marks = NULL;
    *count = 0;
    if (!capacity)
        return POOL_OK;
    capacity += 16; /* for streams that receive work in the meantime */
    found = base_calloc(capacity, sizeof(*found));
    if (!found)
        return base_fail_memory("the work that a free waits for");
    for (size_t i = 0; i < pool->count; i++)
        if (can_use(&pool->devices[i], abandoned))
            used += driver_work_unfinished(&pool->devices[i].work, found + used, capacity - used);
    *marks = found;
    *count = used;
    return POOL_OK;
}
