/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an address lies: pageable, pinned, managed or device memory, by the driver's own answer.
 */
#include "base/status.h"
#include "driver/attributes.h"
#include "memory/memory.h"

static pool_status managed_or_device(
    struct driver *driver, CUdeviceptr address, enum memory_place *place)
{
    unsigned managed = 0;
    pool_cu_result code =
        driver->api.PointerGetAttribute(&managed, DRIVER_POINTER_ATTRIBUTE_IS_MANAGED, address);

    /* A driver that does not know the question has no managed memory. */
    if (code && code != POOL_CU_INVALID_VALUE)
        return driver_check(driver, code, "cuPointerGetAttribute(IS_MANAGED)");
    *place = !code && managed ? MEMORY_MANAGED : MEMORY_ON_DEVICE;
    return POOL_OK;
}

/* Memory that the driver does not know is pageable: it answers INVALID_VALUE. */
static pool_status place_of_byte(struct driver *driver, uintptr_t byte, enum memory_place *place)
{
    unsigned type = 0;
    CUdeviceptr address = (CUdeviceptr)byte;
    pool_cu_result code =
        driver->api.PointerGetAttribute(&type, DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE, address);

    if (code == POOL_CU_INVALID_VALUE) {
        *place = MEMORY_PAGEABLE;
        return POOL_OK;
    }
    if (code)
        return driver_check(driver, code, "cuPointerGetAttribute(MEMORY_TYPE)");
    if (type == DRIVER_MEMORYTYPE_HOST)
        *place = MEMORY_PINNED;
    else if (type != DRIVER_MEMORYTYPE_DEVICE)
        *place = MEMORY_PAGEABLE;
    else
        return managed_or_device(driver, address, place);
    return POOL_OK;
}

pool_status memory_place_of(
    struct driver *driver, const void *data, uint64_t bytes, enum memory_place *place)
{
    enum memory_place first = MEMORY_PAGEABLE, last = MEMORY_PAGEABLE;
    pool_status status = place_of_byte(driver, (uintptr_t)data, &first);

    if (!status)
        status = place_of_byte(driver, (uintptr_t)data + (uintptr_t)(bytes - 1), &last);
    if (status)
        return status;
    /* A range that is pinned in part only is safe to read and write by the host alone. */
    *place = first == last ? first : MEMORY_PAGEABLE;
    if (first == MEMORY_ON_DEVICE || last == MEMORY_ON_DEVICE)
        *place = MEMORY_ON_DEVICE;
    return POOL_OK;
}
