/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Destruction of a pool. It waits only where the driver does (for unfinished work, when memory and
 * contexts are released), and makes no driver call in a poisoned process or a forked child.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "pool/device/pool.h"
#include "pool/metrics/status_socket.h"

/* How long pool_destroy waits for a task of the monitor, which may be in a slow driver call such as
 * the creation of a context, and for driver calls that an abandoned device may block. */
#define STOP_NS 5000000000u

/* Whether driver calls can succeed: not in a forked child, nor after a sticky fault. */
static int is_driver_alive(const device_pool *pool)
{
    CUcontext current;
    pool_cu_result code;

    if (!device_pool_usable(pool, DEVICE_USE_DRIVER))
        return 0;
    code = pool->driver->api.CtxGetCurrent(&current);
    if (driver_code_class(code) == POOL_CLASS_PROCESS && code != POOL_CU_DEINITIALIZED)
        driver_check(pool->driver, code, "cuCtxGetCurrent");
    return code != POOL_CU_DEINITIALIZED && device_pool_usable(pool, DEVICE_USE_DRIVER);
}

/* The thread that takes lost devices into service again has not returned in time: it still uses
 * this device, which is left as it is. */
static bool is_renewing(const pool_device *device)
{
    return device->pool->is_leaked && atomic_load(&device->is_renewing);
}

/* Fails, and changes nothing, if the driver works but the device's context cannot be entered. */
static pool_status destroy_resource(pool_device *device, int driver_alive)
{
    struct device_scope scope;
    pool_status status = POOL_OK;
    int is_inside = 0;

    if (is_renewing(device))
        return POOL_OK;
    if (device_is_abandoned(device)) {
        /* Its resources may be in use by a thread that does not return; secrets are overwritten. */
        device_release_all_deferred(device, 0);
        return POOL_OK;
    }
    if (!atomic_load(&device->resources) && !device->deferred)
        return POOL_OK;
    if (driver_alive && device_usable(device, DEVICE_USE_RELEASE)) {
        status = device_enter_to_release(device, &scope);
        if (status && device_usable(device, DEVICE_USE_RELEASE))
            return status;
        is_inside = !status;
    }
    device_destroy_resources(device, is_inside);
    device_release_all_deferred(device, is_inside);
    if (is_inside)
        device_leave(&scope, POOL_OK);
    return POOL_OK;
}

/* The resources of all devices before any context: a resource may refer to several devices. */
static pool_status destroy_all_resources(device_pool *pool)
{
    int driver_alive = is_driver_alive(pool);
    pool_status status = POOL_OK;

    for (size_t i = pool->count; i-- > 0 && !status;)
        status = destroy_resource(
            &pool->devices[i], driver_alive && device_pool_usable(pool, DEVICE_USE_DRIVER));
    return status;
}

/* A call in a worker process that does not return ends with the process. */
static void end_awaited_workers(device_pool *pool)
{
    if (!(pool->driver->api.flags & POOL_CUDA_ISOLATED_DEVICES) ||
        (monitor_await_end(pool->readmission, STOP_NS) &&
            monitor_await_end(pool->monitor, STOP_NS)))
        return;
    for (size_t i = 0; i < pool->count; i++)
        if (atomic_load(&pool->devices[i].inside))
            device_end_worker(
                &pool->devices[i], "pool_destroy has waited for 5 s for a call in progress");
}

/* The monitors' tasks use the devices, so they end before them. No-op once they have ended. */
static void stop_monitor(device_pool *pool)
{
    bool is_ended;

    atomic_store(&pool->is_ending, true);
    end_awaited_workers(pool);
    is_ended = monitor_stop(pool->readmission, STOP_NS);
    if (monitor_stop(pool->monitor, STOP_NS) && is_ended)
        return;
    base_log(POOL_LOG_WARN,
        "pool_destroy: the monitor thread has not returned from a driver call or a callback for "
        "%.0f s; the pool's host memory is not freed",
        STOP_NS / 1e9);
    pool->is_leaked = true;
}

/* After the monitor has ended, or was left behind. */
static void close_status(device_pool *pool)
{
    device_pool_close_status(
        pool->status_socket, !device_pool_usable(pool, DEVICE_USE_HOST), !pool->is_leaked);
    pool->status_socket = NULL;
}

void device_pool_stop(device_pool *pool)
{
    int driver_alive;

    device_pool_stop_isolation(pool);
    stop_monitor(pool);
    close_status(pool);
    driver_alive = is_driver_alive(pool);
    for (size_t i = pool->count; i-- > 0;) {
        (void)destroy_resource(&pool->devices[i], driver_alive);
        /* The release itself may detect that the process is poisoned. */
        driver_alive = driver_alive && device_pool_usable(pool, DEVICE_USE_DRIVER);
        /* A context that has ended with its worker process is not released: the call names only the
         * device, and another pool may use the context of the successor. */
        if (driver_alive && !device_is_abandoned(&pool->devices[i]) &&
            !is_renewing(&pool->devices[i]) && device_has_same_worker(&pool->devices[i]) &&
            !device_has_lost_context(&pool->devices[i]))
            device_context_release(&pool->devices[i]);
    }
    driver_unlisten(pool->driver, device_pool_fault, pool);
    device_pool_free(pool);
}

/* The owner of an abandoned device's objects may be a thread that never returns; the probe of a
 * replaced worker process is the pool's own. */
static unsigned count_dependents(const pool_device *device, enum device_dependent kind)
{
    if (device_is_abandoned(device) ||
        (kind == DEVICE_DEPENDENT_PROBE && atomic_load(&device->is_readmitting)))
        return 0;
    return atomic_load_explicit(&device->dependents[kind], memory_order_acquire);
}

struct dependents {
    unsigned counts[DEVICE_DEPENDENT_KINDS];
    char names[DEVICE_DEPENDENT_KINDS][48]; /* of the first one of each kind; "": not known */
};

static void count_on_device(pool_device *device, struct dependents *found)
{
    for (int kind = 0; kind < DEVICE_DEPENDENT_KINDS; kind++)
        found->counts[kind] += count_dependents(device, (enum device_dependent)kind);
    pthread_mutex_lock(&device->pool->state_lock);
    for (const struct device_named *at = device->named; at; at = at->next)
        if (!found->names[at->kind][0] && count_dependents(device, at->kind))
            base_text_copy(found->names[at->kind], sizeof(found->names[at->kind]), at->name);
    pthread_mutex_unlock(&device->pool->state_lock);
}

/* POOL_ERR_BUSY with the number of each kind of dependent and the name of the first one, or
 * POOL_OK. */
static pool_status check_idle(const device_pool *pool)
{
    static const char *const kinds[DEVICE_DEPENDENT_KINDS][2] = {
        [DEVICE_DEPENDENT_BUFFER] = {"buffer", "buffers"},
        [DEVICE_DEPENDENT_BASES] = {"set of bases", "sets of bases"},
        [DEVICE_DEPENDENT_DOMAIN] = {"set of tables of NTT domains",
            "sets of tables of NTT domains"},
        [DEVICE_DEPENDENT_RESIDENT] = {"resident object", "resident objects"},
        [DEVICE_DEPENDENT_COPY] = {"copy of a resident object", "copies of resident objects"},
        [DEVICE_DEPENDENT_PINNED] = {"block of pinned memory", "blocks of pinned memory"},
        [DEVICE_DEPENDENT_STREAM] = {"stream or event", "streams or events"},
        [DEVICE_DEPENDENT_MODULE] = {"module", "modules"},
        [DEVICE_DEPENDENT_GRAPH] = {"graph", "graphs"},
        [DEVICE_DEPENDENT_PROBE] = {"probe", "probes"},
        [DEVICE_DEPENDENT_CALL] = {"call that its timeout has left behind",
            "calls that their timeouts have left behind"},
        [DEVICE_DEPENDENT_VIRTUAL] = {
            "range or physical allocation", "ranges and physical allocations"}};
    unsigned bindings = device_pool_bindings(pool, NULL);
    struct dependents found = {0};
    char text[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < pool->count; i++)
        count_on_device(&pool->devices[i], &found);
    if (bindings)
        used = (size_t)snprintf(
            text, sizeof(text), ", %u binding%s held by threads", bindings, base_plural(bindings));
    for (int kind = 0; kind < DEVICE_DEPENDENT_KINDS && used < sizeof(text); kind++) {
        unsigned count = found.counts[kind];
        const char *name = found.names[kind];

        if (count)
            used += (size_t)snprintf(text + used, sizeof(text) - used, ", %u %s%s%s%s%s", count,
                kinds[kind][count > 1], name[0] ? " (" : "",
                name[0] && count > 1 ? "the first: " : "", name, name[0] ? ")" : "");
    }
    return used ? base_fail(POOL_ERR_BUSY, "pool_destroy: the pool is in use: %s", text + 2)
                : POOL_OK;
}

static bool has_returning_device(const device_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        if (atomic_load(&pool->devices[i].is_renewing))
            return true;
    return false;
}

/* The preparation and the probe of a lost device that returns own modules and buffers for a moment:
 * they are waited for. */
static pool_status check_idle_or_returning(const device_pool *pool)
{
    bool is_returning;
    pool_status status;

    do {
        is_returning = has_returning_device(pool);
        status = check_idle(pool);
        if (status && is_returning)
            base_sleep_ns(200000);
    } while (status && is_returning);
    return status;
}

device_pool *pool_retain(device_pool *pool)
{
    if (pool)
        atomic_fetch_add_explicit(&pool->references, 1, memory_order_relaxed);
    return pool;
}

/* Releases a reference unless it is the last one, which stays until the pool is destroyed: that can
 * be refused. */
static bool release_reference(device_pool *pool)
{
    unsigned count = atomic_load_explicit(&pool->references, memory_order_acquire);

    while (count > 1)
        if (atomic_compare_exchange_weak_explicit(
                &pool->references, &count, count - 1, memory_order_acq_rel, memory_order_acquire))
            return true;
    return false;
}

/* In a forked child the threads that hold bindings do not exist. */
static pool_status check_can_destroy(device_pool *pool)
{
    pool_status status;

    if (!device_pool_usable(pool, DEVICE_USE_HOST))
        return POOL_OK;
    if (monitor_is_current(pool->monitor) || monitor_is_current(pool->readmission))
        return base_fail(POOL_ERR_BUSY,
            "pool_destroy was called by a callback of the pool's own monitor thread, which has to "
            "end first");
    status = device_pool_check_extension(pool);
    return status ? status : check_idle_or_returning(pool);
}

static void *destroy_beside_abandoned(void *argument)
{
    device_pool *pool = argument;

    if (!destroy_all_resources(pool))
        device_pool_stop(pool);
    atomic_store_explicit(&pool->is_stopped, 1, memory_order_release);
    return NULL;
}

/*
 * Releases what belongs to the devices that are not abandoned, on another thread, because a driver
 * call for these may wait for the abandoned ones as well. A thread that does not return in time is
 * left behind; the pool's host memory is never freed.
 */
static void leave_abandoned(device_pool *pool)
{
    uint64_t end = base_clock_ns() + STOP_NS;
    pthread_t thread;

    pool->is_leaked = true;
    if (!base_thread_start(&thread, destroy_beside_abandoned, pool)) {
        base_log(POOL_LOG_WARN, "pool_destroy: no thread could be started, so the contexts of all "
                                "devices stay until the process ends");
        return;
    }
    while (!atomic_load_explicit(&pool->is_stopped, memory_order_acquire) && base_clock_ns() < end)
        base_sleep_ns(200000);
    if (atomic_load_explicit(&pool->is_stopped, memory_order_acquire)) {
        pthread_join(thread, NULL);
        return;
    }
    pthread_detach(thread);
    base_log(POOL_LOG_WARN,
        "pool_destroy: the driver waits for an abandoned device; what is not released after %.0f s "
        "stays until the process ends",
        STOP_NS / 1e9);
}

pool_status pool_destroy(device_pool **pool)
{
    struct driver *driver;
    pool_status status;
    bool is_leaked;

    if (!pool || !*pool)
        return POOL_OK;
    if (release_reference(*pool)) {
        *pool = NULL;
        return POOL_OK;
    }
    status = check_can_destroy(*pool);
    if (status)
        return status;
    stop_monitor(*pool);
    if (device_pool_usable(*pool, DEVICE_USE_HOST) && device_pool_has_abandoned(*pool)) {
        close_status(*pool);
        leave_abandoned(*pool);
        *pool = NULL;
        return POOL_OK;
    }
    status = destroy_all_resources(*pool);
    if (status) {
        struct base_error_copy first;

        base_error_save(&first);
        if (!(*pool)->is_leaked) {
            atomic_store(&(*pool)->is_ending, false);
            (void)monitor_restart((*pool)->monitor);
            (void)monitor_restart((*pool)->readmission);
        }
        base_error_restore(&first);
        return status;
    }
    driver = (*pool)->driver;
    is_leaked = (*pool)->is_leaked;
    device_pool_stop(*pool);
    if (!is_leaked)
        driver_close(&driver);
    *pool = NULL;
    return POOL_OK;
}
