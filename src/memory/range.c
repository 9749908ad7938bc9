/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses: their mappings, the devices that have access to them, the buffers in them.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "memory/virtual.h"
#include "pool/release.h"

/* Devices with access, the range's own included. */
#define DEVICES_MAX (MEMORY_PEERS_MAX + 1)

struct range_mapping {
    struct range_mapping *next;
    uint64_t offset;
    pool_physical *physical; /* a reference */
};

struct pool_range {
    atomic_uint magic;
    struct device_memory *memory;
    CUdeviceptr address;
    uint64_t bytes;
    unsigned renewals;   /* of the device when it was reserved */
    atomic_uint buffers; /* blocks in the list below */
    pthread_mutex_t lock;
    struct range_mapping *mappings;             /* guarded by lock, in order of their offsets */
    struct memory_block *blocks;                /* guarded by lock: of buffers in the range */
    struct device_memory *devices[DEVICES_MAX]; /* guarded by lock: with access, the own first */
    unsigned device_count;                      /* guarded by lock */
    pool_range *next; /* of the device's ranges that no caller has; guarded by their lock */
};

static pool_status check_range(const char *call, const pool_range *range)
{
    if (!range)
        return base_fail_null(call, "range");
    if (atomic_load_explicit(&range->magic, memory_order_relaxed) != MEMORY_RANGE_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `range` has been destroyed, or never was a range", call);
    return POOL_OK;
}

static pool_status check_renewals(const pool_range *range)
{
    return device_check_renewals(range->memory->device, range->renewals, "the range of addresses");
}

/* Enters the device of a range that has not ended with an earlier process. */
static pool_status enter(const pool_range *range, struct device_scope *scope)
{
    pool_status status = device_enter(range->memory->device, scope);

    if (status)
        return status;
    status = check_renewals(range);
    return status ? device_leave(scope, status) : POOL_OK;
}

/* Whether the two ranges of bytes have one in common. */
static bool do_overlap(uint64_t offset, uint64_t bytes, uint64_t other, uint64_t other_bytes)
{
    return offset < other + other_bytes && other < offset + bytes;
}

static pool_status check_inside(
    const char *call, const pool_range *range, uint64_t offset, uint64_t bytes)
{
    if (offset > range->bytes || bytes > range->bytes - offset)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %s from offset %llu extend beyond the range of %s", call,
            base_size_text(bytes).text, (unsigned long long)offset,
            base_size_text(range->bytes).text);
    return POOL_OK;
}

static pool_status check_multiple(
    const char *call, const char *name, uint64_t value, uint64_t granularity)
{
    if (value % granularity)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` is %llu, which is no multiple of the granularity of %llu bytes", call, name,
            (unsigned long long)value, (unsigned long long)granularity);
    return POOL_OK;
}

/* ---- reservation ------------------------------------------------------------------------------
 */

static void free_range(pool_range *range)
{
    pool_device *device = range->memory->device;

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
    created->bytes = bytes;
    created->renewals = device_renewals(memory->device);
    created->devices[created->device_count++] = memory;
    pthread_mutex_init(&created->lock, NULL);
    atomic_init(&created->magic, MEMORY_RANGE_MAGIC);
    device_dependent_added(memory->device, DEVICE_DEPENDENT_VIRTUAL);
    *range = created;
    return POOL_OK;
}

/* Destroys a range that no caller has seen; what cannot be done now is done by pool_memory_trim or
 * with the pool. */
static void discard_range(pool_range *created)
{
    struct memory_virtual *virtual = &created->memory->virtual;
    pool_device *device = created->memory->device;
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

    if (device_is_forked(memory->device))
        return;
    pthread_mutex_lock(&memory->virtual.lock);
    at = memory->virtual.orphans;
    memory->virtual.orphans = NULL;
    pthread_mutex_unlock(&memory->virtual.lock);
    while (at) {
        pool_range *next = at->next;

        if (driver_alive)
            (void)DRIVER_CLEANUP(memory->driver, MemAddressFree(at->address, (size_t)at->bytes));
        device_dependent_added(memory->device, DEVICE_DEPENDENT_VIRTUAL);
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

/* ---- access -----------------------------------------------------------------------------------
 */

/* UNSUPPORTED where `device` cannot address memory of `owner`. */
static pool_status check_peer(
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

/* Gives devices access to a mapping, or takes it back. */
static pool_cu_result set_access(const pool_range *range, const struct range_mapping *mapping,
    struct device_memory *const *devices, unsigned count, pool_cu_enum flags)
{
    pool_cu_mem_access access[DEVICES_MAX];

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
        if (range->device_count + more == DEVICES_MAX)
            return base_fail(POOL_ERR_UNSUPPORTED,
                "pool_range_grant_access: at most %d devices can address a range", DEVICES_MAX);
        for (struct range_mapping *at = range->mappings; at && !status; at = at->next)
            status = check_peer("pool_range_grant_access", added[i], at->physical->memory);
        if (!status)
            status = check_peer("pool_range_grant_access", added[i], range->memory);
        if (status)
            return status;
        end[more++] = added[i];
    }
    for (struct range_mapping *at = range->mappings; at && more; at = at->next) {
        code = set_access(range, at, end, more, DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE);
        status = driver_check(driver, code, "cuMemSetAccess");
        if (!status)
            continue;
        for (struct range_mapping *back = range->mappings; back != at; back = back->next)
            if (!driver_is_poisoned(driver))
                (void)set_access(range, back, end, more, DRIVER_MEM_ACCESS_FLAGS_PROT_NONE);
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
    struct device_memory *added[DEVICES_MAX] = {NULL};
    struct device_scope scope;
    pool_status status = check_range(__func__, range);

    if (!status && count && !devices)
        status = base_fail_null(__func__, "devices");
    if (!status && count > DEVICES_MAX)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "pool_range_grant_access: at most %d devices can address a range", DEVICES_MAX);
    for (size_t i = 0; i < count && !status; i++)
        status = memory_of_device(range, devices[i], &added[i]);
    if (!status)
        status = enter(range, &scope);
    if (status)
        return status;
    pthread_mutex_lock(&range->lock);
    status = grant_locked(scope.driver, range, added, count);
    pthread_mutex_unlock(&range->lock);
    return device_leave(&scope, status);
}

/* ---- mappings ---------------------------------------------------------------------------------
 */

/* Where a mapping of these bytes is inserted, if they are free. */
static pool_status find_gap(
    pool_range *range, uint64_t offset, uint64_t bytes, struct range_mapping ***link)
{
    struct range_mapping **at = &range->mappings;

    while (*at && (*at)->offset + (*at)->physical->bytes <= offset)
        at = &(*at)->next;
    if (*at && do_overlap(offset, bytes, (*at)->offset, (*at)->physical->bytes))
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
        status = check_peer("pool_range_map", range->devices[i], physical->memory);
    if (!status)
        status = DRIVER_CALL_FOR(driver,
            MemMap(address, (size_t)physical->bytes, 0, physical->allocation, 0), "%s",
            base_size_text(physical->bytes).text);
    if (status)
        return status;
    code = set_access(range, mapping, range->devices, range->device_count,
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
        status = check_inside("pool_range_map", range, offset, physical->bytes);
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
    pool_status status = check_range(__func__, range);

    if (!status)
        status = memory_check_physical(__func__, physical);
    if (!status && physical->memory->driver != range->memory->driver)
        status = base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_range_map: the range and the memory belong to different drivers");
    if (!status)
        status = enter(range, &scope);
    if (status)
        return status;
    status = memory_check_physical_renewals(physical);
    if (!status)
        status = map_inside(&scope, range, offset, physical);
    return device_leave(&scope, status);
}

/* What may still use the mappings. A device that cannot be entered any more has no work that could
 * be waited for. */
static pool_status wait_for_devices(const pool_range *range)
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

/* With the lock held, when nothing uses the memory: ends the mappings that start in these bytes.
 * The mapping whose end fails remains, and those behind it. */
static pool_status unmap_locked(
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
        if (do_overlap(offset, bytes, at->offset, at->physical->bytes) &&
            (at->offset < offset || at->offset + at->physical->bytes > offset + bytes))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_range_unmap: the mapping of %s at offset %llu is only partly inside",
                base_size_text(at->physical->bytes).text, (unsigned long long)at->offset);
    for (const struct memory_block *at = range->blocks; at; at = at->next_of_range)
        if (do_overlap(offset, bytes, at->address - range->address, at->bytes))
            return base_fail(POOL_ERR_BUSY,
                "pool_range_unmap: a buffer of %s at offset %llu of the range still exists",
                base_size_text(at->bytes).text, (unsigned long long)(at->address - range->address));
    return POOL_OK;
}

pool_status pool_range_unmap(pool_range *range, uint64_t offset, uint64_t bytes)
{
    struct device_scope scope;
    uint64_t granularity = 0;
    pool_status status = check_range(__func__, range);

    if (!status)
        status = check_inside(__func__, range, offset, bytes);
    if (!status)
        status = enter(range, &scope);
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
        status = wait_for_devices(range);
    if (!status)
        status = unmap_locked(scope.driver, range, offset, bytes);
    pthread_mutex_unlock(&range->lock);
    return device_leave(&scope, status);
}

/* ---- destruction ------------------------------------------------------------------------------
 */

/* The driver's part has ended with its process, or cannot be reached. */
static void forget_mappings(pool_range *range)
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

/* Whether the driver has released the range although the call failed. */
static bool has_ended(pool_status status)
{
    return status == POOL_ERR_DEVICE_LOST || pool_status_class(status) == POOL_CLASS_PROCESS;
}

static pool_status destroy_inside(struct driver *driver, pool_range *range, bool *stays)
{
    pool_status first, status;

    pthread_mutex_lock(&range->lock);
    first = wait_for_devices(range);
    if (!first)
        first = unmap_locked(driver, range, 0, range->bytes);
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
    status = check_range(__func__, *range);
    if (!status && atomic_load(&(*range)->buffers))
        status =
            base_fail(POOL_ERR_BUSY, "pool_range_destroy: %u buffer%s of the range still exist%s",
                atomic_load(&(*range)->buffers), base_plural(atomic_load(&(*range)->buffers)),
                atomic_load(&(*range)->buffers) == 1 ? "s" : "");
    if (status)
        return status;
    release = device_enter_to_destroy_object(
        (*range)->memory->device, (*range)->renewals, &scope, &status);
    if (release == DEVICE_RELEASE_RETAIN)
        return status;
    if (release == DEVICE_RELEASE_ENTERED)
        status = device_leave(&scope, destroy_inside(scope.driver, *range, &stays));
    if (stays)
        return status;
    base_error_save(&first);
    forget_mappings(*range);
    base_error_restore(&first);
    free_range(*range);
    *range = NULL;
    return status == POOL_ERR_DEVICE_LOST ? POOL_OK : status;
}

/* ---- buffers ----------------------------------------------------------------------------------
 */

static pool_status check_mapped(const pool_range *range, uint64_t offset, uint64_t bytes)
{
    uint64_t end = offset; /* everything before it is mapped */

    for (const struct range_mapping *at = range->mappings; at; at = at->next)
        if (at->offset <= end && end < at->offset + at->physical->bytes)
            end = at->offset + at->physical->bytes;
    if (end < offset + bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_range_buffer: no memory is mapped at offset %llu of the range",
            (unsigned long long)end);
    return POOL_OK;
}

pool_status pool_range_buffer(
    pool_range *range, uint64_t offset, uint64_t bytes, pool_buffer **buffer)
{
    pool_buffer *created = NULL;
    pool_status status = check_range(__func__, range);

    if (!status && !buffer)
        status = base_fail_null(__func__, "buffer");
    if (!status)
        status = check_inside(__func__, range, offset, bytes);
    if (!status)
        status = device_check_forked(range->memory->device);
    if (!status)
        status = device_check_usable(range->memory->device);
    if (!status)
        status = check_renewals(range);
    if (status)
        return status;
    pthread_mutex_lock(&range->lock);
    status = check_mapped(range, offset, bytes);
    if (!status)
        status = memory_buffer_in_range(
            range->memory, range, bytes ? range->address + offset : 0, bytes, &created);
    if (!status) {
        atomic_store(&created->block->renewals, range->renewals);
        created->block->next_of_range = range->blocks;
        range->blocks = created->block;
        atomic_fetch_add(&range->buffers, 1);
    }
    pthread_mutex_unlock(&range->lock);
    if (!status)
        *buffer = created;
    return status;
}

void memory_range_forget(pool_range *range, struct memory_block *block)
{
    struct memory_block **link = &range->blocks;

    if (!device_is_forked(range->memory->device)) { /* else nobody reads the list any more */
        pthread_mutex_lock(&range->lock);
        while (*link != block)
            link = &(*link)->next_of_range;
        *link = block->next_of_range;
        pthread_mutex_unlock(&range->lock);
    }
    atomic_fetch_sub(&range->buffers, 1);
}

/* ---- properties -------------------------------------------------------------------------------
 */

pool_status pool_range_address(const pool_range *range, CUdeviceptr *address)
{
    pool_status status = check_range(__func__, range);

    if (!status && !address)
        status = base_fail_null(__func__, "address");
    if (!status)
        *address = range->address;
    return status;
}

uint64_t pool_range_bytes(const pool_range *range)
{
    return range && !check_range(__func__, range) ? range->bytes : 0;
}

pool_device *pool_range_device(const pool_range *range)
{
    return range && !check_range(__func__, range) ? range->memory->device : NULL;
}

uint64_t pool_range_mapped_bytes(const pool_range *range)
{
    pool_range *object = (pool_range *)(uintptr_t)range;
    uint64_t bytes = 0;

    if (!range || check_range(__func__, range) || device_is_forked(range->memory->device))
        return 0;
    pthread_mutex_lock(&object->lock);
    for (const struct range_mapping *at = range->mappings; at; at = at->next)
        bytes += at->physical->bytes;
    pthread_mutex_unlock(&object->lock);
    return bytes;
}
