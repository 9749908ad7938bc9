/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an address lies: pageable, pinned, managed or device memory, by the driver's own answer.
 */
#include "base/status.h"
#include "driver/attributes.h"
#include "memory/memory.h"

/*
 * The question in the plural is no error for memory that the driver does not know: the type then
 * stays 0 and the memory is pageable. (Asked one by one, each copy of pageable memory would show as
 * a failed call in every tool that watches the driver.)
 */
static pool_status place_of_byte(struct driver *driver, uintptr_t byte, enum memory_place *place)
{
    pool_cu_enum questions[] = {
        DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE, DRIVER_POINTER_ATTRIBUTE_IS_MANAGED};
    unsigned type = 0, managed = 0;
    void *answers[] = {&type, &managed};
    pool_status status =
        DRIVER_CALL_FOR(driver, PointerGetAttributes(2, questions, answers, (CUdeviceptr)byte),
            "0x%llx", (unsigned long long)byte);

    if (status)
        return status;
    if (type == DRIVER_MEMORYTYPE_DEVICE)
        *place = managed ? MEMORY_MANAGED : MEMORY_ON_DEVICE;
    else
        *place = type == DRIVER_MEMORYTYPE_HOST ? MEMORY_PINNED : MEMORY_PAGEABLE;
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
