/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind of memory at an address, pageable, pinned, managed or device memory, from the driver.
 */
#include "base/status.h"
#include "driver/attributes.h"
#include "pool/memory/memory.h"

/*
 * cuPointerGetAttributes succeeds for memory that the driver does not know: the type is then 0 and
 * the memory is pageable. cuPointerGetAttribute would fail, and profilers would show a failed call
 * for each copy of pageable memory.
 */
static pool_status kind_of_byte(struct driver *driver, uintptr_t byte, enum memory_kind *kind)
{
    pool_cu_enum attributes[] = {
        DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE, DRIVER_POINTER_ATTRIBUTE_IS_MANAGED};
    unsigned type = 0, managed = 0;
    void *values[] = {&type, &managed};
    pool_status status =
        DRIVER_CALL_FOR(driver, PointerGetAttributes(2, attributes, values, (CUdeviceptr)byte),
            "0x%llx", (unsigned long long)byte);

    if (status)
        return status;
    if (type == DRIVER_MEMORYTYPE_DEVICE)
        *kind = managed ? MEMORY_MANAGED : MEMORY_ON_DEVICE;
    else
        *kind = type == DRIVER_MEMORYTYPE_HOST ? MEMORY_PINNED : MEMORY_PAGEABLE;
    return POOL_OK;
}

pool_status memory_kind_of(
    struct driver *driver, const void *data, uint64_t bytes, enum memory_kind *kind)
{
    enum memory_kind first = MEMORY_PAGEABLE, last = MEMORY_PAGEABLE;
    pool_status status = kind_of_byte(driver, (uintptr_t)data, &first);

    if (!status)
        status = kind_of_byte(driver, (uintptr_t)data + (uintptr_t)(bytes - 1), &last);
    if (status)
        return status;
    /* A partially pinned range may only be accessed by the host. */
    *kind = first == last ? first : MEMORY_PAGEABLE;
    if (first == MEMORY_ON_DEVICE || last == MEMORY_ON_DEVICE)
        *kind = MEMORY_ON_DEVICE;
    return POOL_OK;
}

pool_status memory_find_kind(
    pool_device *device, const void *data, uint64_t bytes, enum memory_kind *kind)
{
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    return status ? status : device_leave(&scope, memory_kind_of(scope.driver, data, bytes, kind));
}
