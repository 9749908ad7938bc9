/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision of usable.h for a device or a pool as it is now, and its wording.
 */
#include "pool/device/usable.h"

#include "base/status.h"
#include "pool/device/pool.h"

pool_status device_refusal(const pool_device *device, enum device_use use)
{
    return device_usability(use, device_condition(device));
}

bool device_pool_usable(const device_pool *pool, enum device_use use)
{
    return !device_usability(use, device_pool_condition(pool));
}

pool_status device_pool_check(const device_pool *pool, enum device_use use)
{
    pool_status status = device_usability(use, device_pool_condition(pool));

    if (__builtin_expect(!status, 1))
        return POOL_OK;
    if (status == POOL_ERR_FORKED)
        return base_fail(POOL_ERR_FORKED,
            "the pool was created before fork(): CUDA does not work in a forked child; create a "
            "pool in a process that was started by exec");
    if (atomic_load_explicit(&pool->has_fault, memory_order_acquire))
        return base_fail_driver(POOL_ERR_PROCESS_POISONED, pool->driver->fault.code,
            driver_code_name((pool_cu_result)pool->driver->fault.code), "",
            "a sticky fault ended this process's use of every GPU, only another process can "
            "continue; "
            "first cause: %s",
            pool->first_cause);
    return driver_usable(pool->driver);
}

pool_status device_check(const pool_device *device, enum device_use use)
{
    return __builtin_expect(!device_refusal(device, use), 1) ? POOL_OK : device_refuse(device, use);
}

pool_status device_check_object(const pool_device *device, unsigned renewals, const char *what)
{
    pool_status status;

    if (__builtin_expect(device_renewals(device) == renewals, 1))
        return POOL_OK;
    status = device_pool_check(device->pool, DEVICE_USE_DRIVER);
    if (status)
        return status;
    return base_fail(POOL_ERR_DEVICE_LOST,
        "%s was lost with an earlier %s of device %d (%s), destroy it and create "
        "another one: %s",
        what, device->driver->api.flags & POOL_CUDA_ISOLATED_DEVICES ? "worker process" : "context",
        device->properties.ordinal, device->properties.uuid, device_loss(device).text);
}

pool_status device_refuse(const pool_device *device, enum device_use use)
{
    pool_status status = device_pool_check(
        device->pool, use == DEVICE_USE_HOST ? DEVICE_USE_HOST : DEVICE_USE_DRIVER);
    const pool_device_info *named = &device->properties;
    struct device_condition at;

    if (status)
        return status;
    pthread_mutex_lock(&device->pool->state_lock);
    at = device_condition(device);
    pthread_mutex_unlock(&device->pool->state_lock);
    status = device_usability(use, at);
    if (status != POOL_ERR_DEVICE_UNUSABLE)
        return base_fail(POOL_ERR_DEVICE_LOST, "device %d (%s) cannot be used: %s", named->ordinal,
            named->uuid, device_loss(device).text);
    if (!device_usability(DEVICE_USE_CALLS, at))
        return base_fail(status, "device %d (%s) has no context", named->ordinal, named->uuid);
    return base_fail(status, "device %d (%s) %s: %s", named->ordinal, named->uuid,
        at.state == POOL_DEVICE_ABANDONED ? "has been abandoned" : "cannot be used",
        device_reason(device).text);
}
