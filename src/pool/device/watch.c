/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog: finds devices that make no progress, in pools that ask for it and wherever a lease
 * is overdue. A device makes progress when the position up
 * to which any of its streams is known to have finished moves on, or when it has no unfinished
 * work. The library's own waits and queries move it; where nobody waits, the monitor queries the
 * streams.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/work.h"
#include "pool/device/pool.h"

/* A device is checked this often within its timeout, but not more often than SHORTEST_NS. */
#define LOOKS_PER_TIMEOUT 4
#define SHORTEST_NS 1000000u
#define LONGEST_NS 1000000000u

/* The longest timeout while a lease on the device is overdue: its job should have ended, so that
 * work which makes no progress is suspected sooner. */
#define OVERDUE_TIMEOUT_NS 1000000000u

/* 0: the device is not watched. */
static uint64_t timeout_of(const pool_device *device)
{
    uint64_t timeout_ns = device->pool->stall_timeout_ns;

    if (atomic_load(&device->watch.overdue) > 0 && (!timeout_ns || timeout_ns > OVERDUE_TIMEOUT_NS))
        return OVERDUE_TIMEOUT_NS;
    return timeout_ns;
}

static uint64_t interval_of(uint64_t timeout_ns)
{
    uint64_t interval = timeout_ns / LOOKS_PER_TIMEOUT;

    return interval < SHORTEST_NS ? SHORTEST_NS : interval > LONGEST_NS ? LONGEST_NS : interval;
}

static void clear_stall(pool_device *device)
{
    if (atomic_exchange(&device->watch.is_stalled, 0))
        base_log(POOL_LOG_INFO, "device %d (%s) makes progress again", device->properties.ordinal,
            device->properties.uuid);
}

/* Marks the device and notifies the fault hook, once until it makes progress again. */
static void report_stall(pool_device *device, uint64_t stalled_ns)
{
    struct driver_fault fault = {.device = device->properties.ordinal, .culprit = -1};
    char cause[256];

    if (atomic_exchange(&device->watch.is_stalled, 1))
        return;
    snprintf(cause, sizeof(cause), "device %d (%s) has made no progress for %.3f s",
        device->properties.ordinal, device->properties.uuid, (double)stalled_ns / 1e9);
    snprintf(fault.message, sizeof(fault.message), "%s", cause);
    driver_work_list(&device->work, &fault);
    base_log(POOL_LOG_WARN, "%s", fault.message);
    device_report_stall(device, &fault);
    device_end_worker(device, cause); /* which adds the kernels */
}

/* Called by the monitor's thread only. */
static void watch_device(pool_device *device, uint64_t timeout_ns)
{
    struct device_watch *watch = &device->watch;
    struct base_error_copy first;
    uint64_t now, finished, since_ns;

    if (!timeout_ns) { /* its leases are no longer overdue */
        atomic_store(&watch->since_ns, 0);
        atomic_store(&watch->is_stalled, 0);
        return;
    }
    if (!device_usable(device, DEVICE_USE_CALLS) ||
        !atomic_load_explicit(&device->context, memory_order_acquire))
        return;
    if (driver_work_load(&device->work).items) {
        /* While this call does not return, device_is_stalled sees when it began. */
        atomic_store(&watch->query_began_ns, base_clock_ns());
        base_error_save(&first);
        (void)device_poll_work(device, 0);
        base_error_restore(&first);
        atomic_store(&watch->query_began_ns, 0);
    }
    now = base_clock_ns();
    finished = driver_work_finished(&device->work);
    since_ns = atomic_load(&watch->since_ns);
    if (!driver_work_load(&device->work).items) {
        atomic_store(&watch->since_ns, 0);
        clear_stall(device);
    } else if (!since_ns || finished != watch->finished) {
        /* Not `now`: the thread may have been delayed since. */
        atomic_store(&watch->since_ns, base_clock_ns());
        /* Without progress a stall stays, which another thread may have found during the query. */
        if (finished != watch->finished)
            clear_stall(device);
    } else if (now - since_ns >= timeout_ns) {
        report_stall(device, now - since_ns);
    }
    watch->finished = finished;
}

static uint64_t watch_pool(void *user, uint64_t now_ns)
{
    device_pool *pool = user;
    uint64_t shortest = 0;

    (void)now_ns;
    for (size_t i = 0; i < pool->count; i++) {
        uint64_t timeout_ns = timeout_of(&pool->devices[i]);

        watch_device(&pool->devices[i], timeout_ns);
        if (timeout_ns && (!shortest || timeout_ns < shortest))
            shortest = timeout_ns;
    }
    return shortest ? base_clock_ns() + interval_of(shortest) : MONITOR_NEVER;
}

pool_status device_pool_start_watch(device_pool *pool)
{
    pool->watch_task = (struct monitor_task){.run = watch_pool, .user = pool};
    if (!pool->stall_timeout_ns)
        return POOL_OK;
    return monitor_schedule(
        pool->monitor, &pool->watch_task, base_clock_ns() + interval_of(pool->stall_timeout_ns));
}

void device_overdue_changed(pool_device *device, int change)
{
    atomic_fetch_add(&device->watch.overdue, change);
}

void device_pool_watch(device_pool *pool)
{
    (void)monitor_schedule(pool->monitor, &pool->watch_task, base_clock_ns());
}

int device_is_stalled(pool_device *device)
{
    uint64_t timeout_ns = timeout_of(device), began_ns, now;

    if (!timeout_ns || !device_usable(device, DEVICE_USE_CALLS))
        return 0;
    began_ns = atomic_load(&device->watch.query_began_ns);
    now = base_clock_ns();
    if (began_ns && now > began_ns && now - began_ns >= timeout_ns)
        report_stall(device, now - began_ns);
    return atomic_load(&device->watch.is_stalled);
}
