/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses: reservation, destruction, properties. range_map.c maps physical memory,
 * range_access.c gives devices access to it, range_buffer.c makes buffers of it.
 */
#include "pool/memory/range.h"

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"

pool_status memory_range_check(const char *call, const pool_range *range)
{
    if (!range)
        return base_fail_null(call, "range");
    if (atomic_load_explicit(&range->magic, memory_order_relaxed) != MEMORY_RANGE_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `range` has been destroyed, or never was a range", call);
    return POOL_OK;
}

pool_status memory_range_check_renewals(const pool_range *range)
{
    return device_check_object(range->device, range->renewals, "the range of addresses");
}

pool_status memory_range_enter(const pool_range *range, struct device_scope *scope)
{
    pool_status status = device_enter(range->device, scope);

    if (status)
        return status;
    status = memory_range_check_renewals(range);
    return status ? device_leave(scope, status) : POOL_OK;
}

pool_status memory_range_check_inside(
    const char *call, const pool_range *range, uint64_t offset, uint64_t bytes)
{
    if (offset > range->bytes || bytes > range->bytes - offset)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %s from offset %llu extend beyond the range of %s", call,
            base_size_text(bytes).text, (unsigned long long)offset,
            base_size_text(range->bytes).text);
    return POOL_OK;
}

/* ---- reservation ----------------------------------------------------------------------------- */

static void free_range(pool_range *range)
{
    pool_device *device = range->device;

    device_dependent_removed(device, DEVICE_DEPENDENT_VIRTUAL);
    atomic_store_explicit(&range->magic, MEMORY_DEAD, memory_order_relaxed);
    device_lock_destroy(device, &range->lock);
    base_free(range);
}

static pool_status reserve_inside(struct device_scope *scope, uint64_t bytes, pool_range **range)
{
    struct device_memory *memory;
    pool_range *created;
    pool_status status = memory_of(scope, &memory);

    if (!status)
        status = memory_round_to_granularity("pool_range_reserve", memory, &bytes);
    if (status)
        return status;
    created = base_calloc(1, sizeof(*created));
    if (!created)
        return base_fail_memory("a range of addresses");
    status =
        DRIVER_CALL_FOR(scope->driver, MemAddressReserve(&created->address, (size_t)bytes, 0, 0, 0),
            "%s", base_size_text(bytes).text);
    if (status) {
        base_free(created);
        return status;
    }
    created->memory = memory;
    created->device = scope->device;
    created->bytes = bytes;
    created->renewals = device_renewals(scope->device);
    created->devices[created->device_count++] = memory;
    pthread_mutex_init(&created->lock, NULL);
    atomic_init(&created->magic, MEMORY_RANGE_MAGIC);
    device_dependent_added(scope->device, DEVICE_DEPENDENT_VIRTUAL);
    *range = created;
    return POOL_OK;
}

/* Destroys a range that no caller has seen; what cannot be done now is done by pool_memory_trim or
 * with the pool. */
static void discard_range(pool_range *created)
{
    struct memory_virtual *virtual = &created->memory->virtual;
    pool_device *device = created->device;
    struct base_error_copy first;
    pool_range *left = created;

    base_error_save(&first);
    (void)pool_range_destroy(&left);
    base_error_restore(&first);
    if (!left)
        return;
    device_dependent_removed(device, DEVICE_DEPENDENT_VIRTUAL);
    pthread_mutex_lock(&virtual->lock);
    left->next = virtual->orphans;
    virtual->orphans = left;
    pthread_mutex_unlock(&virtual->lock);
}

void memory_ranges_free(struct device_memory *memory, int driver_alive)
{
    pool_range *at;

    if (!device_usable(memory->device, DEVICE_USE_HOST))
        return;
    pthread_mutex_lock(&memory->virtual.lock);
    at = memory->virtual.orphans;
    memory->virtual.orphans = NULL;
    pthread_mutex_unlock(&memory->virtual.lock);
    while (at) {
        pool_range *next = at->next;

        if (driver_alive)
            (void)DRIVER_CLEANUP(memory->driver, MemAddressFree(at->address, (size_t)at->bytes));
        device_dependent_added(at->device, DEVICE_DEPENDENT_VIRTUAL);
        free_range(at);
        at = next;
    }
}

pool_status pool_range_reserve(pool_device *device, uint64_t bytes, pool_range **range)
{
    struct device_scope scope;
    pool_range *created = NULL;
    pool_status status;

    status = base_check_pointers(__func__, {"device", device}, {"range", range});
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, reserve_inside(&scope, bytes, &created));
    if (status && created)
        discard_range(created);
    if (!status)
        *range = created;
    return status;
}

/* ---- destruction ----------------------------------------------------------------------------- */

/* Whether the driver has released the range although the call failed. */
static bool has_ended(pool_status status)
{
    return status == POOL_ERR_DEVICE_LOST || pool_status_class(status) == POOL_CLASS_PROCESS;
}

static pool_status destroy_inside(struct driver *driver, pool_range *range, bool *stays)
{
    pool_status first, status;

    pthread_mutex_lock(&range->lock);
    first = memory_range_wait(range);
    if (!first)
        first = memory_range_unmap_locked(driver, range, 0, range->bytes);
    pthread_mutex_unlock(&range->lock);
    *stays = first && range->mappings && !has_ended(first);
    if (*stays || has_ended(first))
        return first;
    status = DRIVER_CALL(driver, MemAddressFree(range->address, (size_t)range->bytes));
    *stays = status && !has_ended(status);
    return first ? first : status;
}

pool_status pool_range_destroy(pool_range **range)
{
    struct base_error_copy first;
    struct device_scope scope;
    enum device_release release;
    bool stays = false;
    pool_status status;

    if (!range || !*range)
        return POOL_OK;
    status = memory_range_check(__func__, *range);
    if (!status && atomic_load(&(*range)->buffers))
        status =
            base_fail(POOL_ERR_BUSY, "pool_range_destroy: %u buffer%s of the range still exist%s",
                atomic_load(&(*range)->buffers), base_plural(atomic_load(&(*range)->buffers)),
                atomic_load(&(*range)->buffers) == 1 ? "s" : "");
    if (status)
        return status;
    release = device_enter_to_destroy_object((*range)->device, (*range)->renewals, &scope, &status);
    if (release == DEVICE_RELEASE_RETAIN)
        return status;
    if (release == DEVICE_RELEASE_ENTERED)
        status = device_leave(&scope, destroy_inside(scope.driver, *range, &stays));
    if (stays)
        return status;
    base_error_save(&first);
    memory_range_forget_mappings(*range);
    base_error_restore(&first);
    free_range(*range);
    *range = NULL;
    return status == POOL_ERR_DEVICE_LOST ? POOL_OK : status;
}

/* ---- properties ------------------------------------------------------------------------------ */

pool_status pool_range_address(const pool_range *range, CUdeviceptr *address)
{
    pool_status status = memory_range_check(__func__, range);

    if (!status && !address)
        status = base_fail_null(__func__, "address");
    if (!status)
        *address = range->address;
    return status;
}

uint64_t pool_range_bytes(const pool_range *range)
{
    return range && !memory_range_check(__func__, range) ? range->bytes : 0;
}

pool_device *pool_range_device(const pool_range *range)
{
    return range && !memory_range_check(__func__, range) ? range->device : NULL;
}

uint64_t pool_range_mapped_bytes(const pool_range *range)
{
    pool_range *object = (pool_range *)(uintptr_t)range;
    uint64_t bytes = 0;

    if (!range || memory_range_check(__func__, range) ||
        !device_usable(range->device, DEVICE_USE_HOST))
        return 0;
    pthread_mutex_lock(&object->lock);
    for (const struct range_mapping *at = range->mappings; at; at = at->next)
        bytes += at->physical->bytes;
    pthread_mutex_unlock(&object->lock);
    return bytes;
}
