/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lost devices come back: when a replacement of the worker process runs, or after a moment where
 * another part of the process has ended the context, and nothing of what has ended is in use any
 * more, the device gets a context and new driver objects for its resources, is quarantined, probed,
 * and put into service.
 *
 * Nothing is in use when no thread is inside the device or in an operation on it, no resident
 * object is in use, and no lease, binding, range or physical memory of it exists. As its state is
 * UNUSABLE, none can be added meanwhile. The parts of a GPU are lost together and come back
 * together; "the device" below is then the first of them. Other objects of callers stay: they know
 * by device->renewals that they are of the ended process or context. Handles and addresses that
 * have passed that check are refused by the worker layer; where there is none, a device stays lost
 * long enough for a call that has made the check to enter the device, which refuses it.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "driver/worker/worker.h"
#include "pool/device/pool.h"

/* Between two looks whether a lost device is still in use: a job that fails releases its lease
 * within milliseconds. */
#define RETRY_NS 10000000u
/* A probe takes milliseconds; the first one also loads its kernel. */
#define PROBE_NS UINT64_C(30000000000)
/* New driver objects and the probe, also one that another thread has begun. A process that needs
 * longer is replaced, as other devices wait meanwhile. */
#define RETURN_NS (2 * PROBE_NS)

/* From the loss of a context to its successor, and between two attempts to create that. */
#define CONTEXT_PAUSE_NS UINT64_C(100000000)
#define CONTEXT_RETRY_NS UINT64_C(1000000000)

static bool is_bound(const pool_device *device)
{
    const device_pool *pool = device->pool;
    uint32_t *bindings = base_calloc(pool->count, sizeof(*bindings));
    bool is_bound = true;

    if (bindings) {
        device_pool_bindings(pool, bindings);
        is_bound = bindings[device - pool->devices] != 0;
    }
    base_free(bindings);
    return is_bound;
}

static bool is_part_in_use(pool_device *device)
{
    device_lose_resources(device);

    return atomic_load(&device->dependents[DEVICE_DEPENDENT_PROBE]) || atomic_load(&device->uses) ||
           atomic_load(&device->inside) || device_leases(device) || is_bound(device);
}

static bool is_in_use(pool_device *device)
{
    bool is_used = false;

    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        is_used = is_part_in_use(part) || is_used;
    return is_used;
}

/*
 * Objects that exist now are of the ended process: a thread that creates one is inside the device.
 * An operation that began before is seen by the second look; one that begins later finds out when
 * it checks its objects.
 */
static bool begin_renewal(pool_device *device)
{
    if (is_in_use(device))
        return false;
    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        atomic_fetch_add(&part->renewals, 1);
    return !is_in_use(device);
}

static pool_status renew_part(pool_device *device)
{
    struct device_scope scope;
    pool_status status = device_enter_again(device, &scope);

    if (status)
        return status;
    atomic_store(&device->watch.is_stalled, 0);
    atomic_store(&device->watch.since_ns, 0);
    status = device_leave(&scope, device_renew_resources(device));
    return status;
}

/* Until one fails. */
static pool_status for_each_part(pool_device *device, pool_status (*step)(pool_device *part))
{
    pool_status status = POOL_OK;

    for (pool_device *part = NULL; !status && (part = device_next_part(device, part));)
        status = step(part);
    return status;
}

/* What the parts have in common is renewed with the first one. */
static pool_status renew(pool_device *device)
{
    pool_status status = device_split_again(device);

    return status ? status : for_each_part(device, renew_part);
}

/* After a failure some parts may have returned, which are lost again with the process. */
static pool_status set_returned(pool_device *device, const char *reason)
{
    pool_status status = POOL_OK;

    for (pool_device *part = NULL; !status && (part = device_next_part(device, part));)
        status = device_set_returned(part, reason);
    return status;
}

static void set_readmitting(pool_device *device, bool is_readmitting)
{
    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        atomic_store(&part->is_readmitting, is_readmitting);
}

static bool runs(const pool_device *device, struct worker_status *worker)
{
    *worker = (struct worker_status){0};
    return worker_get_status(device->properties.ordinal, worker) &&
           worker->state == WORKER_STATE_RUNNING;
}

/* A process that cannot serve the device is replaced, with pauses, until too many have failed. One
 * that has ended already has perhaps been replaced, and the successor must not be ended. */
static void give_up_process(pool_device *device, pool_status status, const char *what)
{
    char cause[512];

    if (status == POOL_ERR_DEVICE_LOST)
        return;
    snprintf(cause, sizeof(cause), "%s: %.400s", what, pool_last_error()->message);
    device_end_worker(device, cause);
}

/* POOL_ERR_DEVICE_UNUSABLE: it has computed wrong results and stays quarantined. */
static pool_status probe_part(pool_device *device)
{
    pool_status status;

    while ((status = device->pool->probe(device, PROBE_NS)) == POOL_ERR_BUSY)
        base_sleep_ns(1000000); /* another thread probes it */
    if (status && status != POOL_ERR_DEVICE_UNUSABLE)
        give_up_process(device, status, "the probe of the new process failed");
    while (status == POOL_ERR_TIMEOUT && device_is_probing(device))
        base_sleep_ns(1000000); /* it returns, as its process has ended */
    return status;
}

/* The device accepts calls from here on, so that its next loss is noticed by the listener. */
static void put_into_service(pool_device *device, unsigned generation)
{
    struct worker_status worker;
    pool_status status;

    /* It may have ended before the state was changed. */
    if (!runs(device, &worker) || worker.generation != generation) {
        if (device_usable(device, DEVICE_USE_CALLS))
            device_lose(device);
        return;
    }
    status = for_each_part(device, probe_part);
    for (pool_device *part = NULL; (part = device_next_part(device, part));) {
        atomic_store(&part->served_from, driver_work_finished(&part->work));
        atomic_store(&part->served_generation, status ? 0 : generation);
    }
    if (!status)
        status = for_each_part(device, device_resume_returned);
    /* Here rather than by the listener, for whom the device would have been quarantined by its
     * user. */
    else if (status != POOL_ERR_DEVICE_UNUSABLE && device_usable(device, DEVICE_USE_CALLS))
        device_lose(device);
    if (status)
        base_log(POOL_LOG_WARN, "device %d (%s) is not in service again: %s",
            device->properties.ordinal, device->properties.uuid, pool_last_error()->message);
}

/* The calls in progress on the device then fail. On the thread of pool->monitor. */
static uint64_t end_slow_process(void *user, uint64_t now_ns)
{
    (void)now_ns;
    device_end_worker(user, "the new process does not answer");
    return MONITOR_NEVER;
}

static void return_into_service(pool_device *device, const struct worker_status *worker)
{
    char reason[sizeof(device->reason.text)];
    pool_status status = renew(device);

    if (status) {
        give_up_process(device, status, "the new process could not be prepared");
        return;
    }
    snprintf(reason, sizeof(reason), "worker process %d has replaced a lost one", (int)worker->pid);
    set_readmitting(device, true);
    status = set_returned(device, reason);
    if (!status) {
        base_log(POOL_LOG_INFO, "device %d (%s): %s", device->properties.ordinal,
            device->properties.uuid, reason);
        put_into_service(device, worker->generation);
    } else if (!device_is_abandoned(device)) {
        /* Not tried again: the process would keep the objects of each attempt. */
        give_up_process(device, status, "the new process could not be taken into service");
    }
    set_readmitting(device, false);
}

/* The same after the loss of its context. What could not be created is tried again later. */
static bool try_readmit_context(pool_device *device)
{
    uint64_t lost_at = atomic_load(&device->lost_at_ns), now = base_clock_ns();
    pool_status status;
    bool is_returned;

    if (now < lost_at || now - lost_at < CONTEXT_PAUSE_NS)
        return false;
    if (!begin_renewal(device) || for_each_part(device, device_reserve_return))
        return false;
    for (pool_device *part = NULL; (part = device_next_part(device, part));) {
        driver_work_end(&part->work);
        device_release_all_deferred(part, 0);
    }
    set_readmitting(device, true);
    status = renew(device);
    if (!status)
        status = set_returned(device,
            "it has a new context after another part of the process had destroyed the previous "
            "one");
    is_returned = !status;
    if (!status)
        status = for_each_part(device, probe_part);
    if (!status)
        status = for_each_part(device, device_resume_returned);
    if (status)
        base_log(POOL_LOG_WARN, "device %d (%s) is not in service again: %s",
            device->properties.ordinal, device->properties.uuid, pool_last_error()->message);
    if (!is_returned) { /* with what was created there; the next attempt has another context */
        for (pool_device *part = NULL; (part = device_next_part(device, part));)
            device_context_release(part);
        atomic_store(&device->lost_at_ns, now + CONTEXT_RETRY_NS - CONTEXT_PAUSE_NS);
    }
    set_readmitting(device, false);
    return is_returned;
}

static void end_work(pool_device *device)
{
    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        driver_work_end(&part->work);
}

/* false: it is to be tried again. */
static bool try_readmit(pool_device *device)
{
    struct monitor *monitor = device->pool->monitor;
    struct worker_status worker;

    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        device_lose_resources(part);
    if (device_has_lost_context(device))
        return !device->can_return || try_readmit_context(device);
    if (!runs(device, &worker)) {
        if (worker.state == WORKER_STATE_FAILED && !worker.pid)
            end_work(device);
        return true; /* the listener is called when one does */
    }
    /* Its process ended before this one was started. Pinned memory, also of other devices, may wait
     * for what had been enqueued. */
    end_work(device);
    if (!begin_renewal(device) || for_each_part(device, device_reserve_return))
        return false;
    device->return_task = (struct monitor_task){.run = end_slow_process, .user = device};
    if (monitor_schedule(monitor, &device->return_task, base_clock_ns() + RETURN_NS))
        return false;
    return_into_service(device, &worker);
    monitor_remove(monitor, &device->return_task, UINT64_MAX);
    return true;
}

/* pool_destroy sets is_ending before it looks at is_renewing. */
static bool readmit(pool_device *device)
{
    bool is_done;

    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        atomic_store(&part->is_renewing, true);
    is_done = !atomic_load(&device->pool->is_ending) && try_readmit(device);
    for (pool_device *part = NULL; (part = device_next_part(device, part));)
        atomic_store(&part->is_renewing, false);
    return is_done;
}

uint64_t device_pool_readmit(void *user, uint64_t now_ns)
{
    device_pool *pool = user;
    bool is_done = true;

    (void)now_ns;
    for (size_t i = 0; i < pool->count; i++) {
        pool_device *device = &pool->devices[i];

        if (device == device->gpu && device_is_lost(device))
            is_done = readmit(device) && is_done;
    }
    return is_done ? MONITOR_NEVER : base_clock_ns() + RETRY_NS;
}
