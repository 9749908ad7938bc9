/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts that another part of the process ends: by one cuDevicePrimaryCtxRelease too many, by
 * cudaDeviceReset, or by destroying a context that the pool created or adopted. Everything that the
 * library had there has ended, and the device is lost.
 *
 * A primary context keeps its handle when it is made again, so that the handle alone says nothing:
 * none of the old streams, modules and memory pools may be passed to the driver then, which would
 * read freed memory. Hence a call that enters the device compares the context's id before, which
 * the driver never uses twice. Drivers before CUDA 12.0 have no ids: there a context is found ended
 * while it is not active.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "pool/device/pool.h"

/* Contexts of worker processes are nobody else's. */
static bool can_be_ended(const pool_device *device)
{
    return !(device->driver->api.flags & POOL_CUDA_ISOLATED_DEVICES);
}

bool device_has_lost_context(const pool_device *device)
{
    return atomic_load(&device->is_lost) && can_be_ended(device);
}

bool device_pinned_has_ended(const pool_device *device, unsigned renewals)
{
    return can_be_ended(device) &&
           (device_has_lost_context(device) || device_renewals(device) != renewals);
}

bool device_can_return(const pool_device *device)
{
    return device->can_return;
}

pool_status device_note_context(pool_device *device, CUcontext context)
{
    const pool_cuda_api *api = &device->driver->api;
    unsigned long long id = 0;
    pool_status status = POOL_OK;

    if (can_be_ended(device) && api->CtxGetId)
        status = DRIVER_CALL_FOR(
            device->driver, CtxGetId(context, &id), "device %d", device->properties.ordinal);
    atomic_store(&device->context_id, status ? 0 : id);
    return status;
}

enum primary_state { PRIMARY_NONE, PRIMARY_UNKNOWN, PRIMARY_INACTIVE, PRIMARY_ACTIVE };

static enum primary_state primary_state(const pool_device *device)
{
    unsigned flags = 0;
    int is_active = 0;

    if (device->pool->context_mode != POOL_CONTEXT_PRIMARY)
        return PRIMARY_NONE;
    if (device->driver->api.DevicePrimaryCtxGetState(device->handle, &flags, &is_active))
        return PRIMARY_UNKNOWN;
    return is_active ? PRIMARY_ACTIVE : PRIMARY_INACTIVE;
}

static bool means_ended(pool_cu_result code)
{
    return code == POOL_CU_INVALID_CONTEXT || code == POOL_CU_CONTEXT_IS_DESTROYED;
}

/* Without an id: a query that fails in a context that has ended. */
static bool fails_when_used(const pool_device *device, CUcontext context)
{
    const pool_cuda_api *api = &device->driver->api;
    size_t free_bytes, total_bytes;
    CUcontext popped;
    pool_cu_result code = api->CtxPushCurrent(context);

    if (code)
        return means_ended(code);
    code = api->MemGetInfo(&free_bytes, &total_bytes);
    (void)api->CtxPopCurrent(&popped);
    return means_ended(code);
}

static bool is_ended(const pool_device *device)
{
    CUcontext context = atomic_load_explicit(&device->context, memory_order_acquire);
    unsigned long long known = atomic_load(&device->context_id), id = 0;
    pool_cu_result code;

    if (!context || !device_pool_usable(device->pool, DEVICE_USE_DRIVER))
        return false;
    if (primary_state(device) == PRIMARY_INACTIVE)
        return true;
    if (!known)
        return fails_when_used(device, context);
    code = device->driver->api.CtxGetId(context, &id);
    return code ? means_ended(code) : id != known;
}

/*
 * A primary context that was reset still counts the pool's reference, one that was released too
 * often does not, and the driver refuses another release then. While it is active the reference
 * that a release would take may be another owner's: the pool's own stays.
 */
static void drop_reference(const pool_device *device)
{
    enum primary_state state = primary_state(device);

    if (state == PRIMARY_INACTIVE || state == PRIMARY_UNKNOWN)
        (void)device->driver->api.DevicePrimaryCtxRelease(device->handle);
}

/* `failed`: the driver's failure that it was found by, or none. */
static pool_status lose_context(pool_device *device, const struct base_error_copy *failed)
{
    struct base_error_copy cause;
    pool_status status;
    int is_first;

    atomic_store(&device->gpu->lost_at_ns, base_clock_ns());
    atomic_store(&device->is_lost, true);
    (void)base_fail_driver(POOL_ERR_DEVICE_LOST, failed->error.driver_code,
        failed->error.driver_code ? failed->error.driver_name : "", failed->call,
        "its context was destroyed by another part of the process (cudaDeviceReset, "
        "cuDevicePrimaryCtxReset or one cuDevicePrimaryCtxRelease too many end a primary context, "
        "cuCtxDestroy any other)%s%s",
        failed->error.driver_code ? ": " : "", failed->error.driver_code ? failed->message : "");
    is_first = device_set_unusable(device);
    if (is_first) {
        for (pool_device *part = NULL; (part = device_next_part(device, part));) {
            if (part == device || atomic_load(&part->context))
                drop_reference(part);
            driver_work_end(&part->work);
        }
    }
    status = device_notify_unusable(device, is_first);
    base_error_save(&cause);
    if (is_first && device_pool_start_readmission(device->pool))
        base_log(POOL_LOG_WARN, "device %d (%s) is not taken into service again: %s",
            device->properties.ordinal, device->properties.uuid, pool_last_error()->message);
    base_error_restore(&cause);
    return status;
}

pool_status device_find_context_ended(pool_device *device, pool_status status)
{
    struct base_error_copy failed = {.error.status = POOL_OK};
    pool_status refusal;
    int is_inside;

    if (!can_be_ended(device))
        return status;
    if (status)
        base_error_save(&failed);
    is_inside = device_count_inside(device);
    refusal = device_refusal(device, DEVICE_USE_CALLS);
    if (refusal == POOL_ERR_DEVICE_LOST)
        status = device_refuse(device, DEVICE_USE_CALLS);
    else if (!refusal && is_ended(device))
        status = lose_context(device, &failed);
    else if (status)
        base_error_restore(&failed);
    device_count_outside(device, is_inside);
    return status;
}

pool_status device_check_context(pool_device *device)
{
    pool_status status = POOL_OK, refusal;
    CUcontext context;
    int is_inside;

    if (!can_be_ended(device))
        return POOL_OK;
    is_inside = device_count_inside(device);
    context = atomic_load_explicit(&device->context, memory_order_acquire);
    refusal = device_refusal(device, DEVICE_USE_CALLS);
    if (refusal == POOL_ERR_DEVICE_LOST)
        status = device_refuse(device, DEVICE_USE_CALLS);
    else if (context && !refusal)
        status = device_verify_context(device, context);
    device_count_outside(device, is_inside);
    return status;
}

bool device_has_context(pool_device *device)
{
    struct base_error_copy first;
    pool_status status;

    base_error_save(&first);
    status = device_check_context(device);
    base_error_restore(&first);
    return status != POOL_ERR_DEVICE_LOST;
}

pool_status device_verify_without_id(pool_device *device)
{
    return can_be_ended(device) && primary_state(device) == PRIMARY_INACTIVE
               ? device_find_context_ended(device, POOL_OK)
               : POOL_OK;
}

pool_status device_verify_context_slowly(pool_device *device, pool_cu_result code)
{
    pool_status status = driver_check(device->driver, code, "cuCtxGetId");

    if (!status || pool_status_class(status) == POOL_CLASS_CALL)
        status = device_find_context_ended(device, status);
    return status;
}
