/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries that change nothing: the device of the current context and of a memory address.
 */
#include <stdint.h>

#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "pool/device/pool.h"

pool_status pool_bound_device(device_pool *pool, pool_device **device)
{
    CUcontext current = NULL;
    pool_status status;

    status = base_check_pointers("pool_bound_device", {"pool", pool}, {"device", device});
    if (status)
        return status;
    status = device_pool_check(pool, DEVICE_USE_DRIVER);
    if (!status)
        status = DRIVER_CALL(pool->driver, CtxGetCurrent(&current));
    if (status)
        return status;
    for (size_t i = 0; current && i < pool->count; i++)
        if (atomic_load_explicit(&pool->devices[i].context, memory_order_acquire) == current) {
            *device = &pool->devices[i];
            return POOL_OK;
        }
    return base_fail(POOL_ERR_NOT_BOUND, "%s",
        current ? "the current context of this thread does not belong to the pool"
                : "this thread has no current context");
}

pool_status pool_check_device(device_pool *pool, int ordinal)
{
    pool_device *bound = NULL;
    pool_status status = pool_bound_device(pool, &bound);

    if (status)
        return status;
    if (bound->properties.ordinal != ordinal)
        return base_fail(POOL_ERR_WRONG_DEVICE, "device %d (%s) is bound, not device %d",
            bound->properties.ordinal, bound->properties.uuid, ordinal);
    return POOL_OK;
}

pool_status pool_pointer_device(device_pool *pool, const void *ptr, pool_device **device)
{
    pool_cu_enum questions[] = {
        DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE, DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned int type = 0;
    int ordinal = -1;
    void *answers[] = {&type, &ordinal};
    pool_status status;

    status = base_check_pointers("pool_pointer_device", {"pool", pool}, {"device", device});
    if (status)
        return status;
    status = device_pool_check(pool, DEVICE_USE_DRIVER);
    if (!status)
        status = DRIVER_CALL_FOR(pool->driver,
            PointerGetAttributes(2, questions, answers, (CUdeviceptr)(uintptr_t)ptr), "%p", ptr);
    if (!status && type == 0)
        status = base_fail(POOL_ERR_NOT_FOUND, "%p is not memory that the driver knows", ptr);
    if (!status && type == DRIVER_MEMORYTYPE_HOST)
        status = base_fail(POOL_ERR_NOT_FOUND, "%p is host memory", ptr);
    if (status)
        return status;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->devices[i].properties.ordinal == ordinal) {
            *device = &pool->devices[i];
            return POOL_OK;
        }
    return base_fail(
        POOL_ERR_NOT_FOUND, "%p is memory of device %d, which is not in the pool", ptr, ordinal);
}
