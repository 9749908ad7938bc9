/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a device's memory and the settings of its pool.
 */
#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "pool/memory/memory.h"
#include "pool/device/release.h"

static pool_status enter_memory(
    pool_device *device, struct device_scope *scope, struct device_memory **memory)
{
    pool_status status = device_enter(device, scope);

    if (status)
        return status;
    status = memory_of(scope, memory);
    return status ? device_leave(scope, status) : POOL_OK;
}

static pool_status read_pool(struct device_memory *memory, pool_memory_info *info)
{
    struct driver *driver = memory->driver;
    pool_status status = device_sample(memory->device, &info->free_bytes, &info->total_bytes);

    if (status || !memory->pool)
        return status;
    status =
        DRIVER_CALL(driver, MemPoolGetAttribute(memory->pool,
                                DRIVER_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &info->reserved_bytes));
    if (!status)
        status = DRIVER_CALL(
            driver, MemPoolGetAttribute(memory->pool, DRIVER_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
                        &info->reserved_high_water_bytes));
    info->reserved_bytes += memory_unpooled_bytes(memory);
    info->reserved_high_water_bytes =
        base_max(info->reserved_high_water_bytes, info->reserved_bytes);
    if (!status && memory_is_pool_adopted(memory)) /* its owner may have changed it */
        status = DRIVER_CALL(
            driver, MemPoolGetAttribute(memory->pool, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                        &info->release_threshold));
    return status;
}

static void read_gauges(struct device_memory *memory, pool_memory_info *info)
{
    struct device_pinned_bytes pinned = device_deferred_pinned_bytes(memory->device);

    info->used_bytes = memory_gauge_now(&memory->used);
    info->used_high_water_bytes = atomic_load(&memory->used.high);
    info->physical_bytes = memory_gauge_now(&memory->physical);
    info->reserved_bytes = info->used_bytes;
    info->reserved_high_water_bytes = info->used_high_water_bytes;
    info->release_threshold = atomic_load(&memory->threshold);
    info->pinned_bytes = memory_gauge_now(&memory->pinned);
    info->staging_bytes = atomic_load(&memory->staging.bytes);
    info->quarantined_bytes = memory_gauge_now(&memory->quarantined);
    info->buffers = memory_gauge_now(&memory->buffers);
    info->memory_pool = memory->pool != NULL;
    info->pinned_deferred_bytes = pinned.deferred;
    info->pinned_unused_bytes = pinned.unused;
    info->pinned_threshold = device_pinned_threshold(memory->device);
    info->pinned_allocations = atomic_load(&memory->pinned_allocations);
    info->pinned_reuses = atomic_load(&memory->pinned_reuses);
}

static void read_account(const pool_device *device, pool_memory_info *info)
{
    struct device_account_info account;

    device_account_read(device, &account);
    info->memory_limit = account.limit == UINT64_MAX ? 0 : account.limit;
    info->memory_headroom = account.headroom;
    info->available_bytes = account.available;
    info->lease_reserved_bytes = account.reserved;
    info->lease_charged_bytes = account.charged;
    info->leases = account.leases;
}

void memory_read_gauges(pool_device *device, pool_memory_info *info)
{
    struct device_memory *memory = memory_find(device);

    struct device_account_info account;

    *info = (pool_memory_info){.struct_size = sizeof(*info)};
    if (memory)
        read_gauges(memory, info);
    device_account_read(device, &account);
    info->reserved_bytes = account.held;
    read_account(device, info);
}

pool_status pool_memory_get_info(pool_device *device, pool_memory_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_memory_info);
    pool_memory_info read = {0};
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = base_struct_check(&type, "pool_memory_get_info", "info", info);

    if (!status)
        status = enter_memory(device, &scope, &memory);
    if (status)
        return status;
    read_gauges(memory, &read);
    status = device_leave(&scope, read_pool(memory, &read));
    if (status)
        return status;
    read_account(device, &read);
    base_struct_write(&type, &read, info);
    return POOL_OK;
}

pool_status pool_memory_reset_high_water(pool_device *device)
{
    struct device_memory *memory;
    struct device_scope scope;
    uint64_t zero = 0;
    pool_status status = enter_memory(device, &scope, &memory);

    if (status)
        return status;
    atomic_store(&memory->used.high, memory_gauge_now(&memory->used));
    if (memory->pool && !memory_is_pool_adopted(memory))
        status = DRIVER_CALL(memory->driver,
            MemPoolSetAttribute(memory->pool, DRIVER_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
    return device_leave(&scope, status);
}

static pool_status fail_no_pool(struct device_memory *memory)
{
    return base_fail(POOL_ERR_UNSUPPORTED, "device %d has no stream-ordered memory pools",
        pool_device_ordinal(memory->device));
}

pool_status pool_memory_set_threshold(pool_device *device, uint64_t bytes)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = enter_memory(device, &scope, &memory);

    if (status)
        return status;
    if (!memory->pool)
        status = fail_no_pool(memory);
    else if (memory_is_pool_adopted(memory))
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "pool_memory_set_threshold: the memory pool of device %d belongs to the caller; set "
            "its "
            "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD with cuMemPoolSetAttribute",
            pool_device_ordinal(device));
    else
        status = DRIVER_CALL(memory->driver,
            MemPoolSetAttribute(memory->pool, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
    if (!status)
        atomic_store(&memory->threshold, bytes);
    return device_leave(&scope, status);
}

pool_status pool_memory_handle(pool_device *device, CUmemoryPool *handle)
{
    struct device_memory *memory;
    struct device_scope scope;
    CUmemoryPool pool = NULL;
    pool_status status;

    if (!handle)
        return base_fail_null("pool_memory_handle", "handle");
    status = enter_memory(device, &scope, &memory);
    if (status)
        return status;
    pool = memory->pool;
    status = device_check_raw(device, __func__);
    if (!status && !pool)
        status = fail_no_pool(memory);
    status = device_leave(&scope, status);
    if (!status)
        *handle = pool;
    return status;
}

pool_status pool_pinned_set_threshold(pool_device *device, uint64_t bytes)
{
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    device_set_pinned_threshold(device, bytes);
    return device_leave(&scope, device_release_deferred(device, DEVICE_RELEASE_EXCESS));
}
