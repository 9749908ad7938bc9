/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's memory: its stream-ordered pool, allocations from it and frees to it.
 *
 * Two internal streams provide the order. Allocations that are usable immediately run on
 * `alloc_order`, on which no work ever waits. Frees run on the registry's reclaim stream, which
 * first waits for every other stream, so that frees never delay the caller's work.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "memory/durable.h"
#include "memory/resident.h"
#include "memory/virtual.h"
#include "pool/release.h"
#include "stream/capture.h"

void memory_gauge_add(struct memory_gauge *gauge, uint64_t bytes)
{
    uint64_t now = atomic_fetch_add_explicit(&gauge->now, bytes, memory_order_relaxed) + bytes;
    uint64_t high = atomic_load_explicit(&gauge->high, memory_order_relaxed);

    while (high < now && !atomic_compare_exchange_weak(&gauge->high, &high, now))
        ;
}

void memory_gauge_sub(struct memory_gauge *gauge, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&gauge->now, bytes, memory_order_relaxed);
}

/* Creates the device's pool, if driver and device support stream-ordered allocation. */
static pool_status create_pool(struct device_memory *memory)
{
    const pool_cuda_api *api = &memory->driver->api;
    pool_cu_mem_pool_props props = {.allocation_type = DRIVER_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = memory->handle}};
    uint64_t keep_all = UINT64_MAX;
    pool_cu_result code;
    pool_status status;

    memory->own_pool = NULL;
    if (!device_properties(memory->device)->memory_pools || !api->MemPoolCreate ||
        !api->MemPoolDestroy || !api->MemPoolTrimTo || !api->MemPoolSetAttribute ||
        !api->MemPoolGetAttribute || !api->MemAllocFromPoolAsync || !api->MemFreeAsync)
        return POOL_OK;
    code = api->MemPoolCreate(&memory->own_pool, &props);
    if (code == POOL_CU_NOT_SUPPORTED) {
        memory->own_pool = NULL;
        return POOL_OK;
    }
    status = driver_check(memory->driver, code, "cuMemPoolCreate");
    if (status)
        return status;
    status = DRIVER_CALL(memory->driver,
        MemPoolSetAttribute(memory->own_pool, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all));
    if (status)
        DRIVER_CLEANUP_QUIETLY(memory->driver, MemPoolDestroy(memory->own_pool));
    else
        atomic_store(&memory->threshold, keep_all);
    atomic_store(&memory->pool, status ? NULL : memory->own_pool);
    return status;
}

/* The charge of an allocation to its lease's budget and to the account of the device, which are
 * taken back together; each charge holds a reference to the budget. */
static pool_status charge(struct device_memory *memory, const struct memory_request *request)
{
    if (request->budget) {
        pool_status status = lease_budget_charge(request->budget, request->bytes);

        if (status)
            return status;
        lease_budget_retain(request->budget);
    }
    if (!device_account_add(memory->device, request->bytes, request->budget != NULL))
        return memory_limit_fail(memory, request->bytes);
    return POOL_OK;
}

static void uncharge(struct device_memory *memory, const struct memory_request *request)
{
    bool is_charged = request->budget && lease_budget_uncharge(request->budget, request->bytes);

    device_account_subtract(memory->device, request->bytes, is_charged);
    if (request->budget)
        lease_budget_release(request->budget);
}

static pool_cu_result allocate_ordinary(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address)
{
    const pool_cuda_api *api = &memory->driver->api;
    CUmemoryPool pool = atomic_load_explicit(&memory->pool, memory_order_acquire);

    if (!pool || request->is_shareable)
        return api->MemAlloc(address, (size_t)request->bytes);
    return api->MemAllocFromPoolAsync(address, (size_t)request->bytes, pool,
        request->ordered ? request->stream : memory->alloc_order);
}

/* Where descriptors or addresses have run out, or memory cannot be exported, ordinary memory does
 * as well as durable memory. `is_last`: also where the driver reports that as a lack of memory. */
static pool_cu_result allocate_once(struct device_memory *memory,
    const struct memory_request *request, bool is_last, CUdeviceptr *address)
{
    pool_cu_result code;

    if (request->physical)
        return memory_physical_allocate(memory, request->physical);
    if (request->durable) {
        code = memory_durable_allocate(memory, request->durable, request->bytes);
        *address = request->durable->address;
        if (!code || (code == POOL_CU_OUT_OF_MEMORY && !is_last))
            return code;
    }
    return allocate_ordinary(memory, request, address);
}

static const char *allocating_call(
    struct device_memory *memory, const struct memory_request *request)
{
    if (request->physical)
        return "cuMemCreate";
    return memory->pool && !request->is_shareable ? "cuMemAllocFromPoolAsync" : "cuMemAlloc";
}

/* The error of an allocation that failed twice, with the requested and the free bytes. */
static pool_status report_full(struct device_memory *memory, const struct memory_request *request)
{
    uint64_t requested = request->bytes;
    const pool_cuda_api *api = &memory->driver->api;
    uint64_t reserved = memory_gauge_now(&memory->used);
    size_t free_bytes = 0, total_bytes = 0;
    char call[80];

    api->MemGetInfo(&free_bytes, &total_bytes);
    if (memory->pool) {
        api->MemPoolGetAttribute(memory->pool, DRIVER_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
        reserved += memory_unpooled_bytes(memory);
    }
    snprintf(call, sizeof(call), "%s(%s)", allocating_call(memory, request),
        base_size_text(requested).text);
    return base_fail_driver(POOL_ERR_OUT_OF_DEVICE_MEMORY, POOL_CU_OUT_OF_MEMORY,
        driver_code_name(POOL_CU_OUT_OF_MEMORY), call,
        "device %d is out of memory for %llu byte%s: %llu of %llu bytes are free, %llu are "
        "reserved by "
        "the pool and %llu of these used by buffers",
        pool_device_ordinal(memory->device), (unsigned long long)requested, base_plural(requested),
        (unsigned long long)free_bytes, (unsigned long long)total_bytes,
        (unsigned long long)reserved, (unsigned long long)memory_gauge_now(&memory->used));
}

/* Drivers round the size up, so that the largest ones wrap around to 0 (seen with 580.159). */
static pool_status trim_pool(struct device_memory *memory, CUmemoryPool pool, uint64_t keep_bytes)
{
    if (keep_bytes > SIZE_MAX / 2)
        return POOL_OK;
    return DRIVER_CALL_FOR(memory->driver, MemPoolTrimTo(pool, (size_t)keep_bytes), "%s",
        base_size_text(keep_bytes).text);
}

pool_status memory_trim_pools(struct device_memory *memory, uint64_t keep_bytes)
{
    CUmemoryPool pool = atomic_load(&memory->pool);
    pool_status status = DRIVER_CALL(memory->driver, StreamSynchronize(memory->streams->reclaim));
    uint64_t threshold = 0;

    if (status || !pool)
        return status;
    keep_bytes = base_min(keep_bytes, SIZE_MAX);
    if (pool == memory->own_pool)
        return trim_pool(memory, pool, keep_bytes);
    status = trim_pool(memory, memory->own_pool, 0);
    if (!status)
        status = DRIVER_CALL(memory->driver,
            MemPoolGetAttribute(pool, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    return status ? status : trim_pool(memory, pool, base_max(keep_bytes, threshold));
}

static pool_status allocate_retrying(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address)
{
    pool_cu_result code = allocate_once(memory, request, false, address);

    if (code == POOL_CU_OUT_OF_MEMORY && request->is_spare)
        return report_full(memory, request);
    if (code == POOL_CU_OUT_OF_MEMORY) {
        pool_status status = POOL_OK;

        if (request->ordered) /* pending frees on the stream may suffice */
            status = DRIVER_CALL(memory->driver, StreamSynchronize(request->stream));
        (void)memory_resident_evict(memory->device, request->bytes, true);
        if (!status)
            status = memory_trim_pools(memory, 0);
        if (status)
            return status;
        code = allocate_once(memory, request, true, address);
        if (code == POOL_CU_OUT_OF_MEMORY)
            return report_full(memory, request);
    }
    return driver_check(memory->driver, code, allocating_call(memory, request));
}

void memory_undo_allocation(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    struct memory_request there = *request;
    struct base_error_copy first;

    there.stream = request->ordered ? request->stream : memory->alloc_order;
    there.ordered = 1;
    base_error_save(&first);
    if (!memory_release(memory, &there, address))
        (void)DRIVER_CLEANUP(memory->driver, StreamSynchronize(there.stream));
    base_error_restore(&first);
}

static void begin_use(struct device_memory *memory, const struct memory_request *request)
{
    memory_gauge_add(&memory->used, request->bytes);
    if (request->physical)
        memory_gauge_add(&memory->physical, request->bytes);
    if (request->is_shareable)
        memory_gauge_add(&memory->shareable, request->bytes);
}

/* Within the account's and the memory limit; *address is uninitialised, and may be in use by work
 * enqueued before. */
static pool_status allocate_within_limits(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address)
{
    pool_status status;

    memory_durable_unmap_closed(memory);
    status = charge(memory, request);
    if (status)
        return status;
    status = allocate_retrying(memory, request, address);
    if (status) {
        uncharge(memory, request);
        return status;
    }
    begin_use(memory, request);
    return memory_limit_check(memory, request, *address);
}

pool_status memory_allocate(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address)
{
    struct driver *driver = memory->driver;
    CUstream stream = request->ordered ? request->stream : memory->alloc_order;
    CUdeviceptr created = 0;
    pool_status status;

    if (request->bytes > SIZE_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the size does not fit this host");
    status = allocate_within_limits(memory, request, &created);
    /*
     * Drivers allocate memory in blocks (32 MiB on an H200) and place a large allocation in part in
     * the block of a small one. That block stays when the small one is evicted for the large one,
     * but is not needed again.
     */
    if (status == POOL_ERR_OUT_OF_DEVICE_MEMORY && created && !request->is_spare)
        status = allocate_within_limits(memory, request, &created);
    if (status || request->physical)
        return status;
    if (request->zeroed)
        DRIVER_TRY_FOR(driver, status, release,
            MemsetD8Async(created, 0, (size_t)request->bytes, stream), "%s",
            base_size_text(request->bytes).text);
    if (!request->ordered && (memory->pool || request->zeroed))
        DRIVER_TRY(driver, status, release, StreamSynchronize(stream));
    *address = created;
    return POOL_OK;
release:
    memory_undo_allocation(memory, request, created);
    return status;
}

static void end_use(struct device_memory *memory, const struct memory_request *request)
{
    memory_gauge_sub(&memory->used, request->bytes);
    if (request->physical)
        memory_gauge_sub(&memory->physical, request->bytes);
    if (request->is_shareable)
        memory_gauge_sub(&memory->shareable, request->bytes);
}

/* Memory of other processes, which account for it. */
static bool is_foreign(const struct memory_request *request)
{
    return request->is_opened || (request->physical && request->physical->is_imported);
}

/* Memory that must not be freed is listed and counted; trim and destruction retry it. */
static void quarantine(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    bool is_durable = memory_durable_is(request->durable),
         has_contents = !request->physical && !request->is_opened;
    struct memory_quarantined *entry = is_durable ? NULL : base_calloc(1, sizeof(*entry));

    if (!is_foreign(request)) {
        memory_gauge_add(&memory->quarantined, request->bytes);
        device_account_quarantined(memory->device, request->bytes);
    }
    base_log(POOL_LOG_WARN, "device %d: a block of %s could not be %s and is quarantined",
        pool_device_ordinal(memory->device), base_size_text(request->bytes).text,
        is_durable     ? "unmapped"
        : has_contents ? "overwritten"
                       : "released");
    memory_durable_abandon(memory, request->durable);
    if (!entry) { /* leaked until the process ends */
        pthread_mutex_lock(&memory->quarantined_lock);
        memory->leaked_bytes += is_foreign(request) ? 0 : request->bytes;
        pthread_mutex_unlock(&memory->quarantined_lock);
        return;
    }
    entry->address = address;
    entry->request = *request;
    entry->request.ordered = 0;
    entry->request.budget = NULL; /* it is outside of leases now */
    entry->request.durable = NULL;
    pthread_mutex_lock(&memory->quarantined_lock);
    entry->next = memory->quarantined_list;
    memory->quarantined_list = entry;
    pthread_mutex_unlock(&memory->quarantined_lock);
}

void memory_quarantine(struct memory_block *block)
{
    struct memory_request request = {.bytes = block->bytes,
        .secret = (block->flags & POOL_BUFFER_SECRET) != 0,
        .budget = block->budget,
        .durable = block->durable,
        .is_shareable = (block->flags & POOL_BUFFER_SHAREABLE) != 0,
        .is_opened = block->is_opened};

    quarantine(block->memory, &request, block->is_opened ? block->opened : block->address);
    memory_release_none(block->memory, &request);
}

void memory_quarantine_physical(struct device_memory *memory, const struct memory_request *request)
{
    quarantine(memory, request, 0);
    if (is_foreign(request))
        return;
    end_use(memory, request);
    uncharge(memory, request);
}

/* Waits for all work of the device. Not while a stream is captured: the driver would refuse that,
 * and end the capture. */
static pool_status wait_for_context(struct device_memory *memory)
{
    pool_status status = stream_check_no_captures(memory->device);

    return status ? status : DRIVER_CLEANUP(memory->driver, CtxSynchronize());
}

pool_status memory_wait_for_streams(struct device_memory *memory)
{
    pool_status status = stream_join_all(memory->driver, memory->streams);

    if (!status)
        return DRIVER_CALL(memory->driver, StreamSynchronize(memory->streams->reclaim));
    /* The order could not be enqueued; unless nothing can be, the host waits for everything. */
    return pool_status_class(status) == POOL_CLASS_CALL ? wait_for_context(memory) : status;
}

/* Overwrites a secret in the order of `stream`, on which its last use precedes. */
static pool_status overwrite(
    struct device_memory *memory, CUdeviceptr address, uint64_t bytes, CUstream stream)
{
    struct driver *driver = memory->driver;
    pool_status status = DRIVER_CALL_FOR(
        driver, MemsetD8Async(address, 0, (size_t)bytes, stream), "%s", base_size_text(bytes).text);

    if (!status || pool_status_class(status) == POOL_CLASS_PROCESS)
        return status;
    /* Retried synchronously before the memory is quarantined. */
    status = wait_for_context(memory);
    if (!status)
        status = DRIVER_CALL_FOR(
            driver, MemsetD8(address, 0, (size_t)bytes), "%s", base_size_text(bytes).text);
    if (!status)
        status = wait_for_context(memory);
    return status;
}

/* MemFree waits for all work on the device; a secret must be unused before it is overwritten. */
static pool_status release_plain(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    pool_status status = POOL_OK;

    if (request->secret) {
        status = wait_for_context(memory);
        if (!status)
            status = overwrite(memory, address, request->bytes, NULL);
        if (!status)
            status = DRIVER_CALL(memory->driver, StreamSynchronize(NULL));
        if (status) {
            quarantine(memory, request, address);
            return status;
        }
    }
    return DRIVER_CALL(memory->driver, MemFree(address));
}

/* The driver unmaps memory at once, so what may still use it has to end first. */
static pool_status release_durable(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    pool_status status = request->ordered
                             ? DRIVER_CALL(memory->driver, StreamSynchronize(request->stream))
                             : memory_wait_for_streams(memory);

    if (!status)
        return memory_durable_release(memory, request->durable);
    if (status != POOL_ERR_DEVICE_LOST && pool_status_class(status) != POOL_CLASS_PROCESS) {
        quarantine(memory, request, address);
        return status;
    }
    memory_durable_close(memory, request->durable);
    return status == POOL_ERR_DEVICE_LOST ? POOL_OK : status; /* it ended with the process */
}

static pool_status release_to_pool(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    CUstream stream = request->ordered ? request->stream : memory->streams->reclaim;
    struct driver *driver = memory->driver;
    pool_status first = POOL_OK, status;

    if (!request->ordered) {
        first = stream_join_all(driver, memory->streams);
        if (first) { /* the order could not be enqueued, so the host waits */
            status = wait_for_context(memory);
            if (status) {
                quarantine(memory, request, address);
                return first;
            }
        }
    }
    if (request->secret) {
        status = overwrite(memory, address, request->bytes, stream);
        if (status) {
            quarantine(memory, request, address);
            return first ? first : status;
        }
    }
    status = DRIVER_CALL(driver, MemFreeAsync(address, stream));
    if (status && pool_status_class(status) != POOL_CLASS_PROCESS) {
        /* The plain free also frees pool memory, after all work of the device. */
        if (!wait_for_context(memory))
            (void)DRIVER_CALL(driver, MemFree(address));
    }
    return first ? first : status;
}

/* It is no part of the account; the driver takes it away at once. */
static pool_status release_opened(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr opened)
{
    pool_status status;

    if (driver_is_poisoned(memory->driver))
        return POOL_OK;
    status = request->ordered ? DRIVER_CALL(memory->driver, StreamSynchronize(request->stream))
                              : memory_wait_for_streams(memory);
    if (!status)
        return DRIVER_CALL(memory->driver, IpcCloseMemHandle(opened));
    if (status != POOL_ERR_DEVICE_LOST && pool_status_class(status) != POOL_CLASS_PROCESS)
        quarantine(memory, request, opened);
    return status == POOL_ERR_DEVICE_LOST ? POOL_OK : status;
}

pool_status memory_release(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address)
{
    pool_status status = POOL_OK;

    if (request->is_opened)
        return release_opened(memory, request, address);
    if (is_foreign(request))
        return driver_is_poisoned(memory->driver)
                   ? POOL_OK
                   : memory_physical_release(memory, request->physical);
    end_use(memory, request);
    if (driver_is_poisoned(memory->driver))
        memory_durable_close(memory, request->durable);
    else if (request->physical)
        status = memory_physical_release(memory, request->physical);
    else if (memory_durable_is(request->durable))
        status = release_durable(memory, request, address);
    else
        status = memory->pool && !request->is_shareable ? release_to_pool(memory, request, address)
                                                        : release_plain(memory, request, address);
    uncharge(memory, request);
    return status;
}

void memory_release_none(struct device_memory *memory, const struct memory_request *request)
{
    if (is_foreign(request))
        return;
    memory_durable_close(memory, request->durable);
    end_use(memory, request);
    uncharge(memory, request);
}

/* Inside device_enter. Blocks that fail again are quarantined again. */
static void release_quarantined(struct device_memory *memory)
{
    struct memory_quarantined *entry;

    pthread_mutex_lock(&memory->quarantined_lock);
    entry = memory->quarantined_list;
    memory->quarantined_list = NULL;
    pthread_mutex_unlock(&memory->quarantined_lock);
    while (entry) {
        struct memory_quarantined *next = entry->next;

        if (!is_foreign(&entry->request)) {
            memory_gauge_sub(&memory->quarantined, entry->request.bytes);
            begin_use(memory, &entry->request);
        }
        (void)memory_release(memory, &entry->request, entry->address);
        base_free(entry->request.physical);
        base_free(entry);
        entry = next;
    }
}

static void free_quarantined_list(struct device_memory *memory)
{
    while (memory->quarantined_list) {
        struct memory_quarantined *entry = memory->quarantined_list;

        memory->quarantined_list = entry->next;
        base_free(entry->request.physical);
        base_free(entry);
    }
}

static void destroy_locks(struct device_memory *memory)
{
    device_lock_destroy(memory->device, &memory->virtual.lock);
    device_lock_destroy(memory->device, &memory->blocks_lock);
    device_lock_destroy(memory->device, &memory->digester.lock);
    device_lock_destroy(memory->device, &memory->durable_lock);
    device_lock_destroy(memory->device, &memory->limit_lock);
    device_lock_destroy(memory->device, &memory->quarantined_lock);
}

static pool_status create_memory(pool_device *device, void **object)
{
    struct device_memory *memory = base_calloc(1, sizeof(*memory));
    pool_status status;

    if (!memory)
        return base_fail_memory("the memory of a device");
    memory->device = device;
    memory->driver = device_driver(device);
    /* The streams are created before, and therefore destroyed after, the memory that waits on them.
     */
    status = stream_registry_of(device, &memory->streams);
    if (!status)
        status = memory_staging_init(&memory->staging);
    if (status)
        goto free_memory;
    if (pthread_mutex_init(&memory->quarantined_lock, NULL)) {
        status = base_fail_memory("a lock");
        goto free_staging;
    }
    if (pthread_mutex_init(&memory->limit_lock, NULL)) {
        status = base_fail_memory("a lock");
        goto destroy_quarantined_lock;
    }
    pthread_mutex_init(&memory->durable_lock, NULL);
    pthread_mutex_init(&memory->blocks_lock, NULL);
    pthread_mutex_init(&memory->digester.lock, NULL);
    pthread_mutex_init(&memory->virtual.lock, NULL);
    DRIVER_TRY(memory->driver, status, destroy_lock, CtxGetCurrent(&memory->context));
    DRIVER_TRY(memory->driver, status, destroy_lock, CtxGetDevice(&memory->handle));
    DRIVER_TRY(memory->driver, status, destroy_lock,
        StreamCreateWithPriority(&memory->alloc_order, DRIVER_STREAM_NON_BLOCKING, 0));
    status = create_pool(memory);
    if (status)
        goto destroy_stream;
    memory->held = (struct device_held){.measure = memory_measure_held, .object = memory};
    device_set_held(device, &memory->held);
    *object = memory;
    return POOL_OK;
destroy_stream:
    DRIVER_CLEANUP_QUIETLY(memory->driver, StreamDestroy(memory->alloc_order));
destroy_lock:
    pthread_mutex_destroy(&memory->virtual.lock);
    pthread_mutex_destroy(&memory->digester.lock);
    pthread_mutex_destroy(&memory->blocks_lock);
    pthread_mutex_destroy(&memory->durable_lock);
    pthread_mutex_destroy(&memory->limit_lock);
destroy_quarantined_lock:
    pthread_mutex_destroy(&memory->quarantined_lock);
free_staging:
    memory_staging_free(memory, 0);
free_memory:
    base_free(memory);
    return status;
}

static void destroy_memory(pool_device *device, void *object, int driver_alive)
{
    struct device_memory *memory = object;

    device_set_held(device, NULL);
    memory_staging_free(memory, driver_alive);
    memory_close_peers(memory, driver_alive);
    memory_digest_free(memory, driver_alive);
    memory_ranges_free(memory, driver_alive);
    if (driver_alive) {
        release_quarantined(memory);
        memory_durable_unmap_closed(memory);
        if (memory->own_pool)
            (void)DRIVER_CLEANUP(memory->driver, MemPoolDestroy(memory->own_pool));
        (void)DRIVER_CLEANUP(memory->driver, StreamDestroy(memory->alloc_order));
    }
    free_quarantined_list(memory);
    memory_durable_forget_closed(memory);
    destroy_locks(memory);
    base_free(memory);
}

/* What could not be overwritten or unmapped has ended with the process. */
static void forget_quarantined(struct device_memory *memory)
{
    pthread_mutex_lock(&memory->quarantined_lock);
    for (const struct memory_quarantined *at = memory->quarantined_list; at; at = at->next) {
        if (is_foreign(&at->request))
            continue;
        memory_gauge_sub(&memory->quarantined, at->request.bytes);
        device_account_subtract(memory->device, at->request.bytes, false);
    }
    free_quarantined_list(memory);
    memory_gauge_sub(&memory->quarantined, memory->leaked_bytes);
    device_account_subtract(memory->device, memory->leaked_bytes, false);
    memory->leaked_bytes = 0;
    pthread_mutex_unlock(&memory->quarantined_lock);
}

/* A pool of the caller's has ended, too: the library's own takes its place. */
static pool_status renew_memory(pool_device *device, void **object)
{
    struct device_memory *memory = *object;
    uint64_t threshold = atomic_load(&memory->threshold);
    pool_status status;

    (void)device;
    memory_lose_blocks(memory);
    memory_lose_physical(memory);
    forget_quarantined(memory);
    memory_staging_renew(memory);
    memory_digest_free(memory, 0);
    memory_ranges_free(memory, 0);
    status = DRIVER_CALL(memory->driver, CtxGetCurrent(&memory->context));
    if (!status)
        status = DRIVER_CALL(memory->driver,
            StreamCreateWithPriority(&memory->alloc_order, DRIVER_STREAM_NON_BLOCKING, 0));
    if (!status)
        status = create_pool(memory);
    if (!status && memory->own_pool)
        status =
            DRIVER_CALL(memory->driver, MemPoolSetAttribute(memory->own_pool,
                                            DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    if (!status)
        atomic_store(&memory->threshold, threshold);
    return status ? status : memory_durable_renew(memory);
}

/* After the resident objects: those that were released meanwhile leave their mappings. */
static pool_status restore_memory(pool_device *device, void *object)
{
    (void)device;
    memory_durable_unmap_closed(object);
    return POOL_OK;
}

static const struct device_resource_type memory_type = {.name = "memory",
    .create = create_memory,
    .destroy = destroy_memory,
    .renew = renew_memory,
    .restore = restore_memory};

struct device_memory *memory_find(pool_device *device)
{
    return device_resource_find(device, &memory_type);
}

pool_status memory_of(struct device_scope *scope, struct device_memory **memory)
{
    void *object;
    pool_status status = device_resource_get(scope->device, &memory_type, &object);

    if (!status)
        *memory = object;
    return status;
}

pool_status pool_memory_trim(pool_device *device, uint64_t keep_bytes)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = memory_of(&scope, &memory);
    if (!status) {
        status = memory_staging_trim(memory);
        memory_ranges_free(memory, 1);
        release_quarantined(memory);
        memory_durable_unmap_closed(memory);
    }
    if (!status) {
        pool_status released;

        status = memory_trim_pools(memory, keep_bytes);
        /* after the streams that have been destroyed */
        released = device_release_deferred(memory->device, DEVICE_RELEASE_ALL);
        status = status ? status : released;
    }
    return device_leave(&scope, status);
}
