/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mappings of a range: physical memory at a part of its addresses.
 */
#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/memory/range.h"
#include "pool/device/release.h"

static pool_status check_multiple(
    const char *call, const char *name, uint64_t value, uint64_t granularity)
{
    if (value % granularity)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` is %llu, which is no multiple of the granularity of %llu bytes", call, name,
            (unsigned long long)value, (unsigned long long)granularity);
    return POOL_OK;
}

/* Where a mapping of these bytes is inserted, if they are free. */
static pool_status find_gap(
    pool_range *range, uint64_t offset, uint64_t bytes, struct range_mapping ***link)
{
    struct range_mapping **at = &range->mappings;

    while (*at && (*at)->offset + (*at)->physical->bytes <= offset)
        at = &(*at)->next;
    if (*at && memory_range_overlaps(offset, bytes, (*at)->offset, (*at)->physical->bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_range_map: bytes of the range from offset %llu are mapped already",
            (unsigned long long)(*at)->offset);
    *link = at;
    return POOL_OK;
}

/* Ends a mapping that nobody has used yet; false: it remains. */
static bool take_back(struct driver *driver, CUdeviceptr address, uint64_t bytes)
{
    struct base_error_copy first;
    pool_status status;

    base_error_save(&first);
    status = DRIVER_CLEANUP(driver, MemUnmap(address, (size_t)bytes));
    base_error_restore(&first);
    return !status || driver_is_poisoned(driver);
}

/* With the lock held. *remains: the mapping is in the list, after a failure too if it could not be
 * taken back; it ends with pool_range_unmap or the range then. */
static pool_status map_locked(
    struct driver *driver, pool_range *range, struct range_mapping *mapping, bool *remains)
{
    pool_physical *physical = mapping->physical;
    CUdeviceptr address = range->address + mapping->offset;
    struct range_mapping **link = NULL;
    pool_cu_result code;
    pool_status status = find_gap(range, mapping->offset, physical->bytes, &link);

    for (unsigned i = 0; i < range->device_count && !status; i++)
        status = memory_range_check_peer("pool_range_map", range->devices[i], physical->memory);
    if (!status)
        status = DRIVER_CALL_FOR(driver,
            MemMap(address, (size_t)physical->bytes, 0, physical->allocation, 0), "%s",
            base_size_text(physical->bytes).text);
    if (status)
        return status;
    code = memory_range_set_access(range, mapping, range->devices, range->device_count,
        DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE);
    status = driver_check(driver, code, "cuMemSetAccess");
    *remains = !status || !take_back(driver, address, physical->bytes);
    if (*remains) {
        atomic_fetch_add(&physical->references, 1);
        mapping->next = *link;
        *link = mapping;
    }
    return status;
}

static pool_status map_inside(
    struct device_scope *scope, pool_range *range, uint64_t offset, pool_physical *physical)
{
    struct range_mapping *mapping;
    uint64_t granularity = 0, other = 0;
    bool remains = false;
    pool_status status = memory_granularity(range->memory, &granularity);

    if (!status && physical->memory != range->memory)
        status = memory_granularity(physical->memory, &other);
    if (!status)
        status = check_multiple("pool_range_map", "offset", offset, base_max(granularity, other));
    if (!status)
        status = memory_range_check_inside("pool_range_map", range, offset, physical->bytes);
    if (status)
        return status;
    mapping = base_calloc(1, sizeof(*mapping));
    if (!mapping)
        return base_fail_memory("a mapping");
    mapping->offset = offset;
    mapping->physical = physical;
    pthread_mutex_lock(&range->lock);
    status = map_locked(scope->driver, range, mapping, &remains);
    pthread_mutex_unlock(&range->lock);
    if (!remains)
        base_free(mapping);
    return status;
}

pool_status pool_range_map(pool_range *range, uint64_t offset, pool_physical *physical)
{
    struct device_scope scope;
    pool_status status = memory_range_check(__func__, range);

    if (!status)
        status = memory_check_physical(__func__, physical);
    if (!status && physical->memory->driver != range->memory->driver)
        status = base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_range_map: the range and the memory belong to different drivers");
    if (!status)
        status = memory_range_enter(range, &scope);
    if (status)
        return status;
    status = memory_check_physical_renewals(physical);
    if (!status)
        status = map_inside(&scope, range, offset, physical);
    return device_leave(&scope, status);
}

pool_status memory_range_wait(const pool_range *range)
{
    struct device_scope scope;
    pool_status status = POOL_OK;

    for (unsigned i = 0; i < range->device_count && !status; i++) {
        struct device_memory *memory = range->devices[i];

        switch (device_enter_to_destroy(memory->device, &scope, &status)) {
        case DEVICE_RELEASE_ENTERED:
            status = device_leave(&scope, memory_wait_for_streams(memory));
            break;
        case DEVICE_RELEASE_HOST_ONLY:
        case DEVICE_RELEASE_RETAIN:
            break;
        }
    }
    return status;
}

static bool is_within(const struct range_mapping *mapping, uint64_t offset, uint64_t bytes)
{
    return mapping->offset >= offset && mapping->offset - offset < bytes;
}

pool_status memory_range_unmap_locked(
    struct driver *driver, pool_range *range, uint64_t offset, uint64_t bytes)
{
    struct range_mapping **link = &range->mappings, *ended;
    pool_status first = POOL_OK, status;
    bool stays;

    while (*link) {
        if (!is_within(*link, offset, bytes)) {
            link = &(*link)->next;
            continue;
        }
        ended = *link;
        status = DRIVER_CALL(
            driver, MemUnmap(range->address + ended->offset, (size_t)ended->physical->bytes));
        if (status)
            return first ? first : status;
        *link = ended->next;
        status = memory_physical_drop(ended->physical, &stays);
        if (stays)
            memory_physical_abandon(ended->physical);
        first = first ? first : status;
        base_free(ended);
    }
    return first;
}

static pool_status check_unused(const pool_range *range, uint64_t offset, uint64_t bytes)
{
    for (const struct range_mapping *at = range->mappings; at; at = at->next)
        if (memory_range_overlaps(offset, bytes, at->offset, at->physical->bytes) &&
            (at->offset < offset || at->offset + at->physical->bytes > offset + bytes))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_range_unmap: the mapping of %s at offset %llu is only partly inside",
                base_size_text(at->physical->bytes).text, (unsigned long long)at->offset);
    for (const struct memory_block *at = range->blocks; at; at = at->next_of_range)
        if (memory_range_overlaps(offset, bytes, at->address - range->address, at->bytes))
            return base_fail(POOL_ERR_BUSY,
                "pool_range_unmap: a buffer of %s at offset %llu of the range still exists",
                base_size_text(at->bytes).text, (unsigned long long)(at->address - range->address));
    return POOL_OK;
}

pool_status pool_range_unmap(pool_range *range, uint64_t offset, uint64_t bytes)
{
    struct device_scope scope;
    uint64_t granularity = 0;
    pool_status status = memory_range_check(__func__, range);

    if (!status)
        status = memory_range_check_inside(__func__, range, offset, bytes);
    if (!status)
        status = memory_range_enter(range, &scope);
    if (status)
        return status;
    status = memory_granularity(range->memory, &granularity);
    if (!status)
        status = check_multiple(__func__, "offset", offset, granularity);
    if (!status)
        status = check_multiple(__func__, "bytes", bytes, granularity);
    if (status || !bytes)
        return device_leave(&scope, status);
    pthread_mutex_lock(&range->lock);
    status = check_unused(range, offset, bytes);
    if (!status)
        status = memory_range_wait(range);
    if (!status)
        status = memory_range_unmap_locked(scope.driver, range, offset, bytes);
    pthread_mutex_unlock(&range->lock);
    return device_leave(&scope, status);
}

void memory_range_forget_mappings(pool_range *range)
{
    while (range->mappings) {
        struct range_mapping *ended = range->mappings;
        bool stays;

        range->mappings = ended->next;
        (void)memory_physical_drop(ended->physical, &stays);
        if (stays)
            memory_physical_abandon(ended->physical);
        base_free(ended);
    }
}
