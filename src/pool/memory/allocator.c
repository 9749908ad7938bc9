/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of device memory: from the device's stream-ordered pool, plain, durable or without an
 * address, retried once what nobody needs has been released.
 *
 * Allocations that are usable immediately run on `alloc_order`, on which no work ever waits.
 */
#include <stdio.h>

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
