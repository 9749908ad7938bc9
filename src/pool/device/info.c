/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties and state of a device, and its links to other devices, for callers.
 */
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "pool/device/pool.h"

static void fill_state(const pool_device *device, pool_device_info *info)
{
    info->state = device_state(device);
    base_text_copy(info->reason, sizeof(info->reason), device_reason(device).text);
}

void device_read_info(const pool_device *device, pool_device_info *info)
{
    *info = device->properties;
    info->has_context = atomic_load_explicit(&device->context, memory_order_acquire) != NULL;
    info->free_bytes = device_account_free(&device->gpu->account);
    fill_state(device, info);
}

/* The constant properties, and the current free memory, state and reason. */
static pool_status fill_info(pool_device *device, pool_device_info *info)
{
    pool_status status = POOL_OK;

    *info = device->properties;
    info->state = device_state(device);
    info->has_context = atomic_load_explicit(&device->context, memory_order_acquire) != NULL;
    if (info->has_context && device_usable(device, DEVICE_USE_CALLS))
        status = device_sample(device, &info->free_bytes, NULL);
    /* The query itself may have detected that the device or the process is unusable. */
    fill_state(device, info);
    return device_usable(device, DEVICE_USE_CALLS) ? status : POOL_OK;
}

pool_status pool_device_get_info(pool_device *device, pool_device_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_device_info);
    pool_device_info now;
    pool_status status = device ? base_struct_check(&type, "pool_device_get_info", "info", info)
                                : base_fail_null("pool_device_get_info", "device");

    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (!status)
        status = fill_info(device, &now);
    if (status)
        return status;
    base_struct_write(&type, &now, info);
    return POOL_OK;
}

uint64_t device_slice_ns(const pool_device *device, uint64_t asked)
{
    return asked ? asked : device->pool->slice_ns;
}

uint64_t device_shared_slice_ns(const pool_device *device, uint64_t asked)
{
    return asked ? asked : device->pool->shared_slice_ns;
}

uint32_t device_shared_multiprocessors(const pool_device *device)
{
    enum { DEFAULT_SHARE = 16 };
    uint32_t given = device->pool->shared_multiprocessors;

    if (given == UINT32_MAX)
        return 0;
    return given ? given : (uint32_t)device->properties.multiprocessors / DEFAULT_SHARE;
}

pool_status device_read_peer(const pool_device *from, const pool_device *to, pool_peer_info *info)
{
    struct driver *driver = from->driver;
    int access = 0, atomics = 0, rank = 0;
    pool_status status;

    if (from->gpu == to->gpu) {
        info->access = info->native_atomics = 1;
        return POOL_OK;
    }

    DRIVER_TRY_FOR(driver, status, out,
        DeviceGetP2PAttribute(
            &access, DRIVER_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, from->handle, to->handle),
        "device %d, device %d", from->handle, to->handle);
    DRIVER_TRY_FOR(driver, status, out,
        DeviceGetP2PAttribute(&atomics, DRIVER_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
            from->handle, to->handle),
        "device %d, device %d", from->handle, to->handle);
    DRIVER_TRY_FOR(driver, status, out,
        DeviceGetP2PAttribute(
            &rank, DRIVER_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, from->handle, to->handle),
        "device %d, device %d", from->handle, to->handle);
    info->access = access != 0;
    info->native_atomics = atomics != 0;
    info->performance_rank = rank;
out:
    return status;
}

pool_status pool_device_get_peer(pool_device *from, pool_device *to, pool_peer_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_peer_info);
    pool_peer_info now = {0};
    pool_status status = base_check_pointers("pool_device_get_peer", {"from", from}, {"to", to});

    if (!status)
        status = base_struct_check(&type, "pool_device_get_peer", "info", info);
    if (status)
        return status;
    if (from->pool != to->pool)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_device_get_peer: from and to belong to different pools");
    status = device_pool_check(from->pool, DEVICE_USE_DRIVER);
    if (!status)
        status = device_read_peer(from, to, &now);
    if (status)
        return status;
    base_struct_write(&type, &now, info);
    return POOL_OK;
}
