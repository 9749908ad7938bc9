/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of what the library may hold of a device's memory (pool_params.memory_limit): what is
 * allocated is compared with it before every allocation, by the account of the device; what the
 * memory pool has reserved, after every allocation that succeeded.
 */
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "pool/memory/durable.h"
#include "pool/memory/resident.h"

/* What `pool` has reserved, and how much of it is not in use. */
static pool_status measure_pool(
    struct driver *driver, CUmemoryPool pool, uint64_t *reserved, uint64_t *unused)
{
    uint64_t used = 0;
    pool_status status;

    DRIVER_TRY(driver, status, out,
        MemPoolGetAttribute(pool, DRIVER_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, reserved));
    DRIVER_TRY(driver, status, out,
        MemPoolGetAttribute(pool, DRIVER_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    *unused = *reserved > used ? *reserved - used : 0;
out:
    return status;
}

uint64_t memory_unpooled_bytes(struct device_memory *memory)
{
    return memory_durable_bytes(memory) + memory_gauge_now(&memory->physical) +
           memory_gauge_now(&memory->shareable);
}

/*
 * Of a pool of the caller's, which the caller allocates from as well, only the library's buffers
 * and what is not in use count.
 */
pool_status memory_measure_held(void *object, uint64_t *held_bytes)
{
    struct device_memory *memory = object;
    CUmemoryPool pool = atomic_load(&memory->pool);
    uint64_t reserved = 0, unused = 0, unused_by_caller = 0;
    pool_status status;

    *held_bytes = memory_gauge_now(&memory->used) + memory_gauge_now(&memory->quarantined);
    if (!pool)
        return POOL_OK;
    if (pool == memory->own_pool) {
        status = DRIVER_CALL(memory->driver,
            MemPoolGetAttribute(pool, DRIVER_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, held_bytes));
        *held_bytes += memory_unpooled_bytes(memory);
        return status;
    }
    status = measure_pool(memory->driver, memory->own_pool, &reserved, &unused);
    if (!status)
        status = measure_pool(memory->driver, pool, &reserved, &unused_by_caller);
    *held_bytes += unused + unused_by_caller;
    return status;
}

/* Where the allocation has been made, the numbers include it: it was the driver's memory pool that
 * has grown too far. */
static pool_status refuse(
    struct device_memory *memory, uint64_t asked, uint64_t held, bool is_allocated)
{
    struct device_account_info account;
    uint64_t others;

    device_account_read(memory->device, &account);
    others = account.used - (is_allocated ? base_min(asked, account.used) : 0);
    return base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
        "an allocation of %s on device %d would exceed the memory limit of %s: %llu bytes are used "
        "by %sbuffers, %llu %s held with what the memory pool keeps%s, and %llu are reserved by %u "
        "lease%s (%llu of these used); pool_params.memory_limit and DEVICEPOOL_MEMORY_LIMIT set "
        "the limit",
        base_size_text(asked).text, pool_device_ordinal(memory->device),
        base_size_text(account.limit).text, (unsigned long long)others,
        is_allocated ? "other " : "", (unsigned long long)held, is_allocated ? "would be" : "are",
        is_allocated ? ", which the driver extends in larger units" : "",
        (unsigned long long)account.reserved, account.leases, base_plural(account.leases),
        (unsigned long long)account.charged);
}

pool_status memory_limit_fail(struct device_memory *memory, uint64_t bytes)
{
    uint64_t held = 0;
    pool_status status = memory_measure_held(memory, &held);

    return status ? status : refuse(memory, bytes, held, false);
}

/* Pools may keep what the limit leaves beside the memory outside of them. */
static pool_status trim_to(struct device_memory *memory, uint64_t limit)
{
    uint64_t unpooled = memory_unpooled_bytes(memory);

    return memory_trim_pools(memory, limit > unpooled ? limit - unpooled : 0);
}

/*
 * Under limit_lock: releases unused memory and evicts resident objects that nobody uses. If that is
 * not enough, frees that were enqueued on streams are still pending, as the other buffers do not
 * exceed the limit: it waits for them, first those of the allocation's own stream. Captured streams
 * have none, and must not be waited for.
 */
static pool_status reduce(struct device_memory *memory, const struct memory_request *request,
    uint64_t limit, uint64_t *held)
{
    struct driver *driver = memory->driver;
    pool_status status = memory_measure_held(memory, held);

    for (int attempt = 0; !status && *held > limit && attempt < 3; attempt++) {
        if (attempt == 1 && !request->ordered)
            continue;
        if (attempt == 1)
            status = DRIVER_CALL(driver, StreamSynchronize(request->stream));
        else if (attempt == 2)
            status = memory_wait_for_streams(memory);
        if (!status)
            status = trim_to(memory, limit);
        if (!status)
            status = memory_measure_held(memory, held);
        if (!status && *held > limit &&
            memory_resident_evict(memory->device, *held - limit, false)) {
            status = trim_to(memory, limit);
            if (!status)
                status = memory_measure_held(memory, held);
        }
    }
    return status;
}

pool_status memory_limit_check(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    struct device_account_info account;
    uint64_t held = 0;
    pool_status status;

    device_account_read(memory->device, &account);
    if (account.limit == UINT64_MAX)
        return POOL_OK;
    status = memory_measure_held(memory, &held);
    if (!status && held <= account.limit)
        return POOL_OK;
    pthread_mutex_lock(&memory->limit_lock);
    if (!status && !request->is_spare)
        status = reduce(memory, request, account.limit, &held);
    if (!status && held > account.limit)
        status = refuse(memory, request->bytes, held, true);
    /* Before the next thread looks, which may be within the limit then. */
    if (status) {
        struct base_error_copy first;

        base_error_save(&first);
        memory_undo_allocation(memory, request, address);
        (void)trim_to(memory, account.limit);
        base_error_restore(&first);
    }
    pthread_mutex_unlock(&memory->limit_lock);
    return status;
}
