/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-up of the pool's devices by index, ordinal, UUID and PCI address, and iteration. No driver
 * calls.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/params.h"
#include "base/status.h"
#include "pool/device/device_spec.h"
#include "pool/device/pool.h"

size_t pool_device_count(const device_pool *pool)
{
    return pool ? pool->count : 0;
}

size_t pool_usable_count(const device_pool *pool)
{
    size_t count = 0;

    for (size_t i = 0; pool && i < pool->count; i++)
        count += device_state(&pool->devices[i]) == POOL_DEVICE_READY;
    return count;
}

pool_status pool_device_at(device_pool *pool, size_t index, pool_device **device)
{
    pool_status status = base_check_pointers("pool_device_at", {"pool", pool}, {"device", device});
    if (status)
        return status;
    if (index >= pool->count)
        return base_fail(POOL_ERR_NOT_FOUND, "index %zu is out of range: the pool has %zu devices",
            index, pool->count);
    *device = &pool->devices[index];
    return POOL_OK;
}

pool_status pool_device_by_ordinal(device_pool *pool, int ordinal, pool_device **device)
{
    pool_status status =
        base_check_pointers("pool_device_by_ordinal", {"pool", pool}, {"device", device});
    if (status)
        return status;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->devices[i].properties.ordinal == ordinal) {
            *device = &pool->devices[i];
            return POOL_OK;
        }
    return base_fail(POOL_ERR_NOT_FOUND, "the pool has no device with ordinal %d", ordinal);
}

bool device_has_uuid(const pool_device *device, const char *text)
{
    const char *whole = device->properties.uuid;
    bool is_prefixed = !strncasecmp(text, "GPU-", 4) || !strncasecmp(text, "MIG-", 4);

    if (!*whole)
        return false;
    /* CUDA does not report the numbers of the instances behind the UUID of the GPU. */
    if (!strncasecmp(text, DEVICE_OLD_MIG, strlen(DEVICE_OLD_MIG)))
        return device->properties.mig &&
               !strncasecmp(device->gpu_uuid, text + 4, strcspn(text + 4, "/"));
    return !strncasecmp(is_prefixed ? whole : whole + 4, text, strlen(text));
}

pool_status pool_device_by_uuid(device_pool *pool, const char *uuid, pool_device **device)
{
    pool_device *found = NULL;
    pool_status status = base_check_pointers(
        "pool_device_by_uuid", {"pool", pool}, {"uuid", uuid}, {"device", device});
    if (status)
        return status;
    if (!*uuid)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_device_by_uuid: the UUID is empty");
    for (size_t i = 0; i < pool->count; i++) {
        if (!device_has_uuid(&pool->devices[i], uuid))
            continue;
        if (found && found->gpu == pool->devices[i].gpu)
            continue;
        if (found)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "\"%s\" is a prefix of more than one UUID of the pool: %s and %s", uuid,
                found->properties.uuid, pool->devices[i].properties.uuid);
        found = &pool->devices[i];
    }
    if (!found)
        return base_fail(
            POOL_ERR_NOT_FOUND, "the pool has no device whose UUID begins with \"%s\"", uuid);
    *device = found;
    return POOL_OK;
}

pool_status pool_device_by_pci(device_pool *pool, const char *address, pool_device **device)
{
    struct pci_address wanted, whole;
    pool_device *found = NULL;

    pool_status status = base_check_pointers(
        "pool_device_by_pci", {"pool", pool}, {"address", address}, {"device", device});
    if (status)
        return status;
    if (!pci_address_parse(address, &wanted))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_device_by_pci: `address` \"%s\" is not a PCI address such as \"0000:06:00.0\"",
            address);
    for (size_t i = 0; i < pool->count; i++) {
        pool_device *at = &pool->devices[i];

        if (!pci_address_parse(at->properties.pci, &whole) || !pci_address_matches(&wanted, &whole))
            continue;
        if (found && found->gpu == at->gpu)
            continue;
        if (found)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_device_by_pci: `address` \"%s\" matches more than one device of the pool, %s "
                "(%s) and %s (%s); MIG instances can be distinguished by UUID only",
                address, found->properties.pci, found->properties.uuid, at->properties.pci,
                at->properties.uuid);
        found = at;
    }
    if (!found)
        return base_fail(
            POOL_ERR_NOT_FOUND, "the pool has no device with the PCI address \"%s\"", address);
    *device = found;
    return POOL_OK;
}

pool_status pool_device_each(device_pool *pool, pool_device_visitor visit, void *user, int *answer)
{
    int last = 0;

    pool_status status = base_check_pointers("pool_device_each", {"pool", pool}, {"visit", visit});
    if (status)
        return status;
    for (size_t i = 0; i < pool->count && !last; i++)
        last = visit(user, &pool->devices[i]);
    if (answer)
        *answer = last;
    return POOL_OK;
}

int pool_device_index(const pool_device *device)
{
    return device ? (int)device->properties.index : -1;
}

int pool_device_ordinal(const pool_device *device)
{
    return device ? device->properties.ordinal : -1;
}

pool_device *pool_device_gpu(pool_device *device)
{
    return device ? device->gpu : NULL;
}

pool_device *device_gpu(const pool_device *device)
{
    return device->gpu;
}

pool_device *device_next_part(const pool_device *device, pool_device *part)
{
    pool_device *const end = device->pool->devices + device->pool->count;

    for (part = part ? part + 1 : device->gpu; part < end; part++)
        if (part->gpu == device->gpu)
            return part;
    return NULL;
}

struct device_part_name device_part_name(const pool_device *device)
{
    const pool_device_info *properties = &device->properties;
    struct device_part_name name = {""};

    if (properties->partitions)
        snprintf(name.text, sizeof(name.text), ", part %d of %d", properties->partition,
            properties->partitions);
    return name;
}

int pool_device_partition(const pool_device *device)
{
    return device && device->properties.partitions ? device->properties.partition : -1;
}

const char *pool_device_uuid(const pool_device *device)
{
    return device ? device->properties.uuid : "";
}

bool device_has_clusters(const pool_device *device)
{
    return device->has_clusters != 0;
}

const pool_device_info *device_properties(const pool_device *device)
{
    return &device->properties;
}

struct driver *device_driver(const pool_device *device)
{
    return device->driver;
}

device_pool *device_pool_of(const pool_device *device)
{
    return device->pool;
}

struct base_thread_pool *device_threads(const pool_device *device)
{
    return device->pool->threads;
}
