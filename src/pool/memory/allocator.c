/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of device memory: from the device's stream-ordered pool, plain, durable or without an
 * address, retried once what nobody needs has been released.
 *
 * Allocations that are usable immediately run on `alloc_order`, on which no work ever waits.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/memory/allocator.h"
#include "pool/memory/durable.h"
#include "pool/memory/resident.h"
#include "pool/memory/virtual.h"

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

/* ---- full devices ----------------------------------------------------------------------------
 *
 * A lease has its bytes. Where they are missing, they are in frees that have been enqueued, on any
 * stream of the device, and not been executed. An allocation under a lease takes the memory as soon
 * as it is free, and fails only if it is missing once the work before these frees has ended. What
 * becomes free meanwhile would be taken by other threads, and be in pending frees again: their
 * allocations stand back until it has succeeded, or for a moment, as its wait may take long.
 */
enum { ROUNDS_MAX = 64 };
#define STAND_BACK_NS UINT64_C(100000000)
#define FIRST_PAUSE_NS UINT64_C(20000)
#define LONGEST_PAUSE_NS UINT64_C(1000000)

static void stand_back(struct device_memory *memory)
{
    uint64_t start;

    if (!atomic_load_explicit(&memory->waiting, memory_order_relaxed))
        return;
    start = base_clock_ns();
    while (atomic_load_explicit(&memory->waiting, memory_order_relaxed) &&
           base_clock_ns() - start < STAND_BACK_NS)
        base_sleep_ns(FIRST_PAUSE_NS);
}

/* *code is that of the last attempt, at the latest after all work that is enqueued now. */
static pool_status allocate_polling(struct device_memory *memory,
    const struct memory_request *request, pool_cu_result *code, CUdeviceptr *address)
{
    struct driver *driver = memory->driver;
    pool_status status = stream_join_all(driver, memory->streams);

    for (uint64_t pause = FIRST_PAUSE_NS; !status; pause = base_min(pause * 2, LONGEST_PAUSE_NS)) {
        pool_status work = driver_check_query(
            driver, driver->api.StreamQuery(memory->streams->reclaim), "cuStreamQuery");

        if (work && work != POOL_ERR_NOT_READY)
            return work;
        status = memory_trim_unused(memory, 0);
        if (status)
            return status;
        *code = allocate_once(memory, request, false, address);
        if (!work || *code != POOL_CU_OUT_OF_MEMORY)
            return POOL_OK;
        status = driver_usable(driver);
        if (!status)
            status = device_check_waiting(memory->device);
        base_sleep_ns(pause);
    }
    return status;
}

/* Again where other threads have enqueued frees meanwhile. */
static pool_status wait_in_turn(struct device_memory *memory, const struct memory_request *request,
    pool_cu_result *code, CUdeviceptr *address)
{
    uint64_t frees;
    pool_status status;
    int rounds = 0;

    atomic_fetch_add(&memory->waiting, 1);
    pthread_mutex_lock(&memory->full_lock);
    do {
        (void)memory_resident_evict(memory->device, request->bytes, true);
        frees = atomic_load(&memory->frees);
        status = allocate_polling(memory, request, code, address);
    } while (!status && *code == POOL_CU_OUT_OF_MEMORY && frees != atomic_load(&memory->frees) &&
             ++rounds < ROUNDS_MAX);
    pthread_mutex_unlock(&memory->full_lock);
    atomic_fetch_sub(&memory->waiting, 1);
    return status;
}

/* Pending frees on the allocation's own stream and by pool_buffer_destroy may suffice. */
static pool_status wait_for_frees(
    struct device_memory *memory, const struct memory_request *request)
{
    pool_status status = POOL_OK;

    if (request->ordered)
        status = DRIVER_CALL(memory->driver, StreamSynchronize(request->stream));
    (void)memory_resident_evict(memory->device, request->bytes, true);
    return status ? status : memory_trim_pools(memory, 0);
}

static pool_status allocate_retrying(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address)
{
    pool_cu_result code;

    stand_back(memory);
    code = allocate_once(memory, request, false, address);
    if (code == POOL_CU_OUT_OF_MEMORY && request->is_spare)
        return report_full(memory, request);
    if (code == POOL_CU_OUT_OF_MEMORY) {
        pool_status status = request->budget ? wait_in_turn(memory, request, &code, address)
                                             : wait_for_frees(memory, request);
        if (status)
            return status;
        if (code == POOL_CU_OUT_OF_MEMORY)
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

/* Within the account's and the memory limit; *address is uninitialised, and may be in use by work
 * enqueued before. */
static pool_status allocate_within_limits(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr *address)
{
    pool_status status;

    memory_durable_unmap_closed(memory);
    status = memory_charge(memory, request);
    if (status)
        return status;
    status = allocate_retrying(memory, request, address);
    if (status) {
        memory_uncharge(memory, request);
        return status;
    }
    memory_begin_use(memory, request);
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
        status = memory_fill(
            memory, &(struct memory_fill){
                        .to = created, .count = request->bytes, .width = 1, .stream = stream});
    if (status)
        goto release;
    if (!request->ordered && (memory->pool || request->zeroed))
        DRIVER_TRY(driver, status, release, StreamSynchronize(stream));
    *address = created;
    return POOL_OK;
release:
    memory_undo_allocation(memory, request, created);
    return status;
}
