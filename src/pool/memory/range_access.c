/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices that have access to the mappings of a range.
 */
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/memory/range.h"

pool_status memory_range_check_peer(
    const char *call, const struct device_memory *device, const struct device_memory *owner)
{
    struct driver *driver = owner->driver;
    int can = 0;
    pool_status status;

    if (device == owner)
        return POOL_OK;
    if (!(driver->api.flags & POOL_CUDA_ISOLATED_DEVICES)) {
        status = DRIVER_CALL_FOR(driver, DeviceCanAccessPeer(&can, device->handle, owner->handle),
            "device %d, device %d", device->handle, owner->handle);
        if (status || can)
            return status;
    }
    return base_fail(POOL_ERR_UNSUPPORTED, "%s: device %d cannot address memory of device %d", call,
        pool_device_ordinal(device->device), pool_device_ordinal(owner->device));
}

pool_cu_result memory_range_set_access(const pool_range *range, const struct range_mapping *mapping,
    struct device_memory *const *devices, unsigned count, pool_cu_enum flags)
{
    pool_cu_mem_access access[MEMORY_RANGE_DEVICES];

    for (unsigned i = 0; i < count; i++)
        access[i] = (pool_cu_mem_access){
            .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = devices[i]->handle},
            .flags = flags};
    return range->memory->driver->api.MemSetAccess(
        range->address + mapping->offset, (size_t)mapping->physical->bytes, access, count);
}

static bool has_access(const pool_range *range, const struct device_memory *device)
{
    for (unsigned i = 0; i < range->device_count; i++)
        if (range->devices[i] == device)
            return true;
    return false;
}

/* With the lock held: adds the devices behind those that have access already. */
static pool_status grant_locked(
    struct driver *driver, pool_range *range, struct device_memory *const *added, size_t count)
{
    struct device_memory **end = &range->devices[range->device_count];
    unsigned more = 0;
    pool_cu_result code;
    pool_status status = POOL_OK;

    for (size_t i = 0; i < count; i++) {
        bool is_known = has_access(range, added[i]);

        for (unsigned k = 0; k < more && !is_known; k++)
            is_known = end[k] == added[i];
        if (is_known)
            continue;
        if (range->device_count + more == MEMORY_RANGE_DEVICES)
            return base_fail(POOL_ERR_UNSUPPORTED,
                "pool_range_grant_access: at most %d devices can address a range",
                MEMORY_RANGE_DEVICES);
        for (struct range_mapping *at = range->mappings; at && !status; at = at->next)
            status =
                memory_range_check_peer("pool_range_grant_access", added[i], at->physical->memory);
        if (!status)
            status = memory_range_check_peer("pool_range_grant_access", added[i], range->memory);
        if (status)
            return status;
        end[more++] = added[i];
    }
    for (struct range_mapping *at = range->mappings; at && more; at = at->next) {
        code =
            memory_range_set_access(range, at, end, more, DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE);
        status = driver_check(driver, code, "cuMemSetAccess");
        if (!status)
            continue;
        for (struct range_mapping *back = range->mappings; back != at; back = back->next)
            if (!driver_is_poisoned(driver))
                (void)memory_range_set_access(
                    range, back, end, more, DRIVER_MEM_ACCESS_FLAGS_PROT_NONE);
        return status;
    }
    range->device_count += more;
    return POOL_OK;
}

/* The memory of a device of the same driver, created inside its own context. */
static pool_status memory_of_device(
    const pool_range *range, pool_device *device, struct device_memory **memory)
{
    struct device_scope scope;
    pool_status status;

    if (!device)
        return base_fail_null("pool_range_grant_access", "devices[i]");
    if (device_driver(device) != range->memory->driver)
        return base_fail(POOL_ERR_WRONG_DEVICE, "the devices belong to different drivers");
    status = device_enter(device, &scope);
    return status ? status : device_leave(&scope, memory_of(&scope, memory));
}

pool_status pool_range_grant_access(pool_range *range, pool_device *const *devices, size_t count)
{
    struct device_memory *added[MEMORY_RANGE_DEVICES] = {NULL};
    struct device_scope scope;
    pool_status status = memory_range_check(__func__, range);

    if (!status && count && !devices)
        status = base_fail_null(__func__, "devices");
    if (!status && count > MEMORY_RANGE_DEVICES)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "pool_range_grant_access: at most %d devices can address a range",
            MEMORY_RANGE_DEVICES);
    for (size_t i = 0; i < count && !status; i++)
        status = memory_of_device(range, devices[i], &added[i]);
    if (!status)
        status = memory_range_enter(range, &scope);
    if (status)
        return status;
    pthread_mutex_lock(&range->lock);
    status = grant_locked(scope.driver, range, added, count);
    pthread_mutex_unlock(&range->lock);
    return device_leave(&scope, status);
}
