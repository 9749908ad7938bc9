/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools with worker processes: the end of a worker makes its device unusable, and no other one.
 */
#include "base/log.h"
#include "base/status.h"
#include "pool/pool.h"
#include "worker/worker.h"

static bool is_isolated(const device_pool *pool)
{
    return pool->driver->api.flags & POOL_CUDA_ISOLATED_DEVICES;
}

/* What the device had is gone with its process, so it stays unusable for this pool although a
 * replacement starts, which the next pool uses. */
static void lose_device(pool_device *device)
{
    char cause[512] = "";

    worker_explain_loss(device->properties.ordinal, cause, sizeof(cause));
    atomic_store(&device->is_lost, true);
    (void)base_fail(POOL_ERR_DEVICE_LOST, "its worker process is lost: %s", cause);
    (void)device_mark_unusable(device);
}

/* On the supervisor's thread. */
static void worker_changed(void *user, int ordinal, enum worker_state state)
{
    device_pool *pool = user;
    struct base_error_copy before;

    if (state != WORKER_STATE_LOST && state != WORKER_STATE_FAILED)
        return;
    base_error_save(&before);
    for (size_t i = 0; i < pool->count; i++)
        if (pool->devices[i].properties.ordinal == ordinal &&
            device_accepts_calls(&pool->devices[i]))
            lose_device(&pool->devices[i]);
    base_error_restore(&before);
}

pool_status device_pool_start_isolation(device_pool *pool)
{
    return is_isolated(pool) ? worker_listen(worker_changed, pool) : POOL_OK;
}

void device_pool_stop_isolation(device_pool *pool)
{
    if (is_isolated(pool) && pool->generation == driver_fork_generation())
        worker_unlisten(worker_changed, pool);
}

void device_end_worker(const pool_device *device, const char *cause)
{
    if (is_isolated(device->pool))
        worker_end(device->properties.ordinal, cause);
}
