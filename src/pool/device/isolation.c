/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools with worker processes: the end of a worker makes its device unusable, and no other one,
 * until a replacement has taken over (readmit.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/worker/worker.h"
#include "pool/device/pool.h"

static bool is_isolated(const device_pool *pool)
{
    return pool->driver->api.flags & POOL_CUDA_ISOLATED_DEVICES;
}

void device_expect_use(pool_device *device)
{
    if (is_isolated(device->pool))
        worker_wake(device->properties.ordinal);
}

pool_status device_check_raw(const pool_device *device, const char *call)
{
    if (!is_isolated(device->pool))
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: device %d is used by a worker process, whose handles are of no use here: code that "
        "calls the driver itself needs a pool without worker processes",
        call, device->properties.ordinal);
}

/* What the device had is gone with its process. */
void device_lose(pool_device *device)
{
    char cause[1024] = "";

    worker_explain_loss(device->properties.ordinal, cause, sizeof(cause));
    atomic_store(&device->is_lost, true);
    (void)base_fail(POOL_ERR_DEVICE_LOST, "its worker process is lost: %s", cause);
    (void)device_mark_unusable(device);
}

/* It stays lost: no other process is started. */
static void note_given_up(pool_device *device)
{
    char cause[1024] = "";

    worker_explain_loss(device->properties.ordinal, cause, sizeof(cause));
    device_set_loss(device, cause);
}

void device_note_worker(pool_device *device)
{
    struct worker_status worker;

    if (is_isolated(device->pool) && worker_get_status(device->properties.ordinal, &worker))
        atomic_store(&device->worker_generation, worker.generation);
}

bool device_wait_worker(const pool_device *device)
{
    struct worker_status worker;

    while (is_isolated(device->pool) && worker_get_status(device->properties.ordinal, &worker) &&
           (worker.state == WORKER_STATE_LOST || worker.state == WORKER_STATE_STARTING))
        base_sleep_ns(1000000);
    return is_isolated(device->pool) && worker.state == WORKER_STATE_RUNNING;
}

bool device_has_same_worker(const pool_device *device)
{
    struct worker_status worker;

    return !is_isolated(device->pool) ||
           (worker_get_status(device->properties.ordinal, &worker) &&
               worker.state == WORKER_STATE_RUNNING &&
               worker.generation == atomic_load(&device->worker_generation));
}

/* Whether the process of this generation has finished work of jobs since it was taken into service,
 * rather than only its probe. */
static bool has_served(pool_device *device, unsigned generation)
{
    return atomic_load(&device->served_generation) == generation &&
           driver_work_finished(&device->work) > atomic_load(&device->served_from);
}

/* Before what is unfinished ends with the process. */
static void note_service(device_pool *pool, int ordinal)
{
    struct worker_status worker;

    for (size_t i = 0; i < pool->count; i++)
        if (pool->devices[i].properties.ordinal == ordinal && worker_get_status(ordinal, &worker) &&
            has_served(&pool->devices[i], worker.generation)) {
            worker_skip_pause(ordinal);
            /* Once: its successors that end as they start have the same generation here. */
            atomic_store(&pool->devices[i].served_generation, 0);
        }
}

/* On the supervisor's thread. */
static void worker_changed(void *user, int ordinal, enum worker_state state)
{
    device_pool *pool = user;
    struct base_error_copy before;

    base_error_save(&before);
    if (state == WORKER_STATE_LOST)
        note_service(pool, ordinal);
    for (size_t i = 0; i < pool->count && state != WORKER_STATE_RUNNING; i++)
        if (pool->devices[i].properties.ordinal == ordinal &&
            device_usable(&pool->devices[i], DEVICE_USE_CALLS))
            device_lose(&pool->devices[i]);
    for (size_t i = 0; i < pool->count && state == WORKER_STATE_FAILED; i++)
        if (pool->devices[i].properties.ordinal == ordinal)
            note_given_up(&pool->devices[i]);
    if (device_pool_start_readmission(pool))
        base_log(POOL_LOG_WARN, "device %d: its worker process is not taken into service again: %s",
            ordinal, pool_last_error()->message);
    base_error_restore(&before);
}

/* Worker processes may have ended while the devices were prepared, before anyone listened. */
pool_status device_pool_start_isolation(device_pool *pool, device_probe_function *probe)
{
    pool_status status;

    pool->probe = probe;
    pool->readmission_task = (struct monitor_task){.run = device_pool_readmit, .user = pool};
    if (!is_isolated(pool))
        return POOL_OK;
    status = worker_listen(worker_changed, pool);
    if (status)
        return status;
    for (size_t i = 0; i < pool->count; i++)
        if (device_usable(&pool->devices[i], DEVICE_USE_CALLS) &&
            !device_has_same_worker(&pool->devices[i]))
            device_lose(&pool->devices[i]);
    for (size_t i = 0; i < pool->count && !status; i++)
        if (atomic_load(&pool->devices[i].is_lost))
            status = device_pool_start_readmission(pool);
    return status;
}

pool_status device_pool_start_readmission(device_pool *pool)
{
    return pool->readmission_task.run
               ? monitor_schedule(pool->readmission, &pool->readmission_task, base_clock_ns())
               : POOL_OK;
}

pool_status pool_device_readmit(pool_device *device)
{
    pool_status refusal;

    if (!device)
        return base_fail_null("pool_device_readmit", "device");
    refusal = device_refusal(device, DEVICE_USE_CALLS);
    if (!refusal)
        return POOL_OK;
    if (refusal != POOL_ERR_DEVICE_LOST || !device->can_return)
        return device_refuse(device, DEVICE_USE_CALLS);
    base_log(POOL_LOG_INFO, "device %d (%s) is to be taken into service again",
        device->properties.ordinal, device->properties.uuid);
    if (is_isolated(device->pool))
        worker_restart(device->properties.ordinal);
    return device_pool_start_readmission(device->pool);
}

void device_pool_stop_isolation(device_pool *pool)
{
    if (is_isolated(pool) && device_pool_usable(pool, DEVICE_USE_HOST))
        worker_unlisten(worker_changed, pool);
}

void device_end_worker(const pool_device *device, const char *cause)
{
    if (is_isolated(device->pool))
        worker_end(device->properties.ordinal, cause);
}

void device_suspect(pool_device *device, const char *reason)
{
    pool_status status;

    if (is_isolated(device->pool))
        worker_end(device->properties.ordinal, reason);
    else
        (void)device_enter_quarantine(device, reason, &status);
}

const char *device_worker_state_name(size_t state)
{
    static const char *const names[DEVICE_WORKER_STATES] = {[WORKER_STATE_ABSENT] = "absent",
        [WORKER_STATE_STARTING] = "starting",
        [WORKER_STATE_RUNNING] = "running",
        [WORKER_STATE_LOST] = "lost",
        [WORKER_STATE_FAILED] = "failed"};

    return names[state];
}

const char *device_worker_path_name(size_t path)
{
    return path ? "pinned" : "device";
}

bool device_read_worker(const pool_device *device, struct device_worker *worker)
{
    struct worker_status status;

    if (!is_isolated(device->pool) || !device_usable(device, DEVICE_USE_HOST) ||
        !worker_get_status(device->properties.ordinal, &status))
        return false;
    *worker = (struct device_worker){.pid = (uint64_t)status.pid,
        .generation = status.generation,
        .restarts = status.generation ? status.generation - 1 : 0,
        .peer_bytes = {status.window_bytes, status.pinned_bytes},
        .state = status.state};
    base_text_copy(worker->cause, sizeof(worker->cause), status.cause);
    return true;
}
