/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools of the caller: a device's allocations come from a pool that the caller created.
 */
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/memory/memory.h"

static pool_status check_address(struct device_memory *memory, CUdeviceptr address)
{
    pool_cu_enum questions[] = {
        DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE, DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 0;
    int ordinal = -1;
    void *answers[] = {&type, &ordinal};
    pool_status status =
        DRIVER_CALL(memory->driver, PointerGetAttributes(2, questions, answers, address));

    if (status)
        return status;
    if (type != DRIVER_MEMORYTYPE_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_memory_adopt: `handle` is not a pool of device memory");
    if (ordinal != pool_device_ordinal(memory->device))
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_memory_adopt: `handle` is a memory pool of device %d, not of %d", ordinal,
            pool_device_ordinal(memory->device));
    return POOL_OK;
}

/*
 * The driver does not report a pool's device, so one byte is allocated from the pool; the device of
 * its address is the pool's.
 */
static pool_status check_pool(struct device_memory *memory, CUmemoryPool handle)
{
    struct driver *driver = memory->driver;
    CUdeviceptr address = 0;
    pool_cu_result code =
        driver->api.MemAllocFromPoolAsync(&address, 1, handle, memory->alloc_order);
    pool_status status;

    if (code == POOL_CU_INVALID_VALUE || code == POOL_CU_INVALID_HANDLE)
        return base_fail_driver(POOL_ERR_INVALID_ARGUMENT, (int)code, driver_code_name(code),
            "cuMemAllocFromPoolAsync",
            "pool_memory_adopt: `handle` (%p) is not a memory pool of device %d", (void *)handle,
            pool_device_ordinal(memory->device));
    status = DRIVER_CHECK_FOR(driver, code, "cuMemAllocFromPoolAsync", "1 byte");
    if (status)
        return status;
    status = check_address(memory, address);
    if (status) {
        DRIVER_CLEANUP_QUIETLY(driver, MemFreeAsync(address, memory->alloc_order));
        DRIVER_CLEANUP_QUIETLY(driver, StreamSynchronize(memory->alloc_order));
        return status;
    }
    status = DRIVER_CALL(driver, MemFreeAsync(address, memory->alloc_order));
    if (!status)
        status = DRIVER_CALL(driver, StreamSynchronize(memory->alloc_order));
    return status;
}

/* Concurrent allocations of other threads may come from either pool. */
static pool_status replace_pool(struct device_memory *memory, CUmemoryPool pool)
{
    CUmemoryPool before = atomic_exchange(&memory->pool, pool);
    uint64_t threshold = 0;
    pool_status status = memory_grant_pool_access(memory);

    if (!status)
        status = DRIVER_CALL(memory->driver,
            MemPoolGetAttribute(pool, DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    if (!status && pool != memory->own_pool) /* its unused memory is released */
        status = memory_trim_pools(memory, UINT64_MAX);
    if (status) {
        atomic_compare_exchange_strong(&memory->pool, &pool, before);
        return status;
    }
    atomic_store(&memory->threshold, threshold);
    return POOL_OK;
}

static pool_status adopt_inside(struct device_scope *scope, CUmemoryPool handle)
{
    struct device_memory *memory;
    pool_status status = memory_of(scope, &memory);

    if (status)
        return status;
    if (!memory->own_pool)
        return base_fail(POOL_ERR_UNSUPPORTED, "device %d has no stream-ordered memory pools",
            pool_device_ordinal(memory->device));
    if (handle && handle != memory->own_pool)
        status = check_pool(memory, handle);
    if (status)
        return status;
    return replace_pool(memory, handle ? handle : memory->own_pool);
}

pool_status pool_memory_adopt(pool_device *device, CUmemoryPool handle)
{
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    if (handle)
        status = device_check_raw(device, __func__);
    return device_leave(&scope, status ? status : adopt_inside(&scope, handle));
}
