/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory: reserved addresses, allocations without addresses, and mappings of these. An
 * allocation is a memfd, so that its exported descriptor is one.
 */
#include "driver/mock/mock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULARITY ((size_t)2 << 20)

enum {
    ALLOCATION_PINNED = 1,
    LOCATION_DEVICE = 1,
    HANDLE_DESCRIPTOR = 1,
    GRANULARITY_RECOMMENDED = 1,
    ACCESS_READ_WRITE = 3
};

static void *pointer(CUmemGenericAllocationHandle handle)
{
    return (void *)(uintptr_t)handle;
}

static struct mock_allocation *get_allocation(
    const pool_mock *mock, CUmemGenericAllocationHandle handle)
{
    struct mock_allocation *allocation =
        mock_object_of_kind(mock, pointer(handle), MOCK_ALLOCATION);

    return allocation && !allocation->is_released ? allocation : NULL;
}

/* It ends with its last handle or mapping. */
static void end_if_unused(pool_mock *mock, struct mock_allocation *allocation)
{
    if (!allocation->is_released || allocation->mappings)
        return;
    mock->devices[allocation->object.device].used -= allocation->bytes;
    mock_object_release(mock, &allocation->object);
}

void mock_allocation_unmap(pool_mock *mock, struct mock_memory *mapping)
{
    (void)mmap((void *)(uintptr_t)mapping->base, mapping->bytes, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    mapping->allocation->mappings--;
    end_if_unused(mock, mapping->allocation);
}

/* ---- allocations ----------------------------------------------------------------------------- */

static bool is_valid_prop(const pool_mock *mock, const pool_cu_mem_allocation_prop *prop)
{
    return prop && prop->type == ALLOCATION_PINNED && prop->location.type == LOCATION_DEVICE &&
           prop->location.id >= 0 && prop->location.id < mock->device_count;
}

pool_cu_result mock_cu_MemGetAllocationGranularity(
    size_t *bytes, const pool_cu_mem_allocation_prop *prop, pool_cu_enum option)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemGetAllocationGranularity, MOCK_QUERY, -1, "u", option))
        return call.code;
    if (!bytes || !is_valid_prop(call.mock, prop) || option > GRANULARITY_RECOMMENDED)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *bytes = GRANULARITY;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* Takes over the descriptor. */
static struct mock_allocation *add_allocation(
    pool_mock *mock, int device, size_t bytes, int descriptor)
{
    struct mock_allocation *made = calloc(1, sizeof(*made));

    if (!made || descriptor < 0 || bytes > mock_device_free(&mock->devices[device]) ||
        !mock_object_add(mock, &made->object, MOCK_ALLOCATION, device, NULL)) {
        if (descriptor >= 0)
            close(descriptor);
        free(made);
        return NULL;
    }
    made->bytes = bytes;
    made->descriptor = descriptor;
    mock->devices[device].used += bytes;
    return made;
}

pool_cu_result mock_cu_MemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
    const pool_cu_mem_allocation_prop *prop, unsigned long long flags)
{
    int device = prop ? prop->location.id : -1, descriptor;
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemCreate, MOCK_WORK, device, "zi", bytes, device))
        return call.code;
    if (!handle || !bytes || bytes % GRANULARITY || flags || !is_valid_prop(call.mock, prop))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (prop->handle_types & ~(unsigned)HANDLE_DESCRIPTOR)
        return mock_leave(&call, POOL_CU_NOT_SUPPORTED);
    descriptor = memfd_create("devicepool mock memory", MFD_CLOEXEC);
    if (descriptor >= 0 && ftruncate(descriptor, (off_t)bytes)) {
        close(descriptor);
        descriptor = -1;
    }
    struct mock_allocation *made = add_allocation(call.mock, device, bytes, descriptor);
    if (!made)
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    made->is_exportable = prop->handle_types != 0;
    *handle = (uintptr_t)mock_object_handle(call.mock, &made->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_MemRelease(CUmemGenericAllocationHandle handle)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemRelease, MOCK_WORK, -1, "h", pointer(handle))) {
        mock_release_failed(&call, pointer(handle));
        return call.code;
    }
    struct mock_allocation *allocation = get_allocation(call.mock, handle);
    if (!allocation)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    allocation->is_released = true;
    end_if_unused(call.mock, allocation);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_MemExportToShareableHandle(void *shareable,
    CUmemGenericAllocationHandle handle, pool_cu_enum type, unsigned long long flags)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_MemExportToShareableHandle, MOCK_WORK, -1, "hu", pointer(handle), type))
        return call.code;
    const struct mock_allocation *allocation = get_allocation(call.mock, handle);
    if (!shareable || !allocation || !allocation->is_exportable || type != HANDLE_DESCRIPTOR ||
        flags)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    int descriptor = fcntl(allocation->descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0)
        return mock_leave(&call, POOL_CU_OPERATING_SYSTEM);
    *(int *)shareable = descriptor;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* What another mock exports is imported to device 0. */
pool_cu_result mock_cu_MemImportFromShareableHandle(
    CUmemGenericAllocationHandle *handle, void *shareable, pool_cu_enum type)
{
    int given = (int)(intptr_t)shareable;
    struct mock_call call;
    struct stat status;

    if (!mock_enter(&call, MOCK_FN_MemImportFromShareableHandle, MOCK_WORK, -1, "iu", given, type))
        return call.code;
    if (!handle || type != HANDLE_DESCRIPTOR || fstat(given, &status) || status.st_size <= 0 ||
        (size_t)status.st_size % GRANULARITY)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    struct mock_allocation *made =
        add_allocation(call.mock, 0, (size_t)status.st_size, fcntl(given, F_DUPFD_CLOEXEC, 0));
    if (!made)
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    made->is_exportable = true;
    *handle = (uintptr_t)mock_object_handle(call.mock, &made->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* A multiple of the granularity; NULL: none is free. */
static void *reserve(size_t bytes)
{
    unsigned char *mapped = bytes > SIZE_MAX - GRANULARITY
                                ? MAP_FAILED
                                : mmap(NULL, bytes + GRANULARITY, PROT_NONE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t before;

    if (mapped == MAP_FAILED)
        return NULL;
    before = (GRANULARITY - (uintptr_t)mapped % GRANULARITY) % GRANULARITY;
    if (before)
        munmap(mapped, before);
    munmap(mapped + before + bytes, GRANULARITY - before);
    return mapped + before;
}

/* The requested address is only a hint, which the mock ignores. */
pool_cu_result mock_cu_MemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
    CUdeviceptr wanted, unsigned long long flags)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemAddressReserve, MOCK_WORK, -1, "za", bytes, wanted))
        return call.code;
    if (!address || !bytes || bytes % GRANULARITY || alignment > GRANULARITY ||
        (alignment & (alignment - 1)) || flags)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    void *base = reserve(bytes);
    struct mock_memory *memory =
        base ? mock_memory_new(call.mock, MOCK_RESERVED_MEMORY, bytes, base) : NULL;
    if (!memory) {
        if (base)
            munmap(base, bytes);
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    }
    memory->mapped = bytes;
    *address = memory->base;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* The reservation that contains the range, or NULL. */
static struct mock_memory *find_reservation(const pool_mock *mock, uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < mock->memory_count; i++) {
        struct mock_memory *memory = mock->memory[i];

        if (memory->kind == MOCK_RESERVED_MEMORY && address - memory->base < memory->bytes &&
            bytes <= memory->bytes - (address - memory->base))
            return memory;
    }
    return NULL;
}

/* Whether any mapping overlaps the range. */
static bool is_mapped(const pool_mock *mock, uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < mock->memory_count; i++) {
        const struct mock_memory *memory = mock->memory[i];

        if (memory->kind == MOCK_MAPPED_MEMORY && memory->base < address + bytes &&
            address < memory->base + memory->bytes)
            return true;
    }
    return false;
}

pool_cu_result mock_cu_MemAddressFree(CUdeviceptr address, size_t bytes)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemAddressFree, MOCK_WORK, -1, "az", address, bytes))
        return call.code;
    struct mock_memory *memory = find_reservation(call.mock, address, bytes);
    if (!memory || memory->base != address || memory->bytes != bytes ||
        is_mapped(call.mock, address, bytes))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    mock_memory_release(call.mock, memory);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* ---- mappings -------------------------------------------------------------------------------- */

pool_cu_result mock_cu_MemMap(CUdeviceptr address, size_t bytes, size_t offset,
    CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemMap, MOCK_WORK, -1, "azh", address, bytes, pointer(handle)))
        return call.code;
    struct mock_allocation *allocation = get_allocation(call.mock, handle);
    if (!allocation || !bytes || bytes % GRANULARITY || address % GRANULARITY ||
        offset % GRANULARITY || flags || offset > allocation->bytes ||
        bytes > allocation->bytes - offset || !find_reservation(call.mock, address, bytes) ||
        is_mapped(call.mock, address, bytes))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    void *base = (void *)(uintptr_t)address;
    struct mock_memory *mapping = mock_memory_new(call.mock, MOCK_MAPPED_MEMORY, bytes, base);
    if (!mapping)
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    mapping->allocation = allocation;
    mapping->device = allocation->object.device;
    allocation->mappings++;
    if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, allocation->descriptor,
            (off_t)offset) == MAP_FAILED) {
        mock_memory_release(call.mock, mapping);
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    }
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* The mapping that is exactly the range, or NULL. */
static struct mock_memory *find_mapping(const pool_mock *mock, uint64_t address, size_t bytes)
{
    struct mock_memory *memory = mock_memory_at(mock, address);

    return memory && memory->kind == MOCK_MAPPED_MEMORY && memory->base == address &&
                   memory->bytes == bytes
               ? memory
               : NULL;
}

pool_cu_result mock_cu_MemUnmap(CUdeviceptr address, size_t bytes)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemUnmap, MOCK_WORK, -1, "az", address, bytes))
        return call.code;
    struct mock_memory *mapping = find_mapping(call.mock, address, bytes);
    if (!mapping)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    mock_memory_release(call.mock, mapping);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_MemSetAccess(
    CUdeviceptr address, size_t bytes, const pool_cu_mem_access *access, size_t count)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemSetAccess, MOCK_WORK, -1, "azz", address, bytes, count))
        return call.code;
    if (!access || !count || !find_mapping(call.mock, address, bytes))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    for (size_t i = 0; i < count; i++)
        if (access[i].location.type != LOCATION_DEVICE || access[i].location.id < 0 ||
            access[i].location.id >= call.mock->device_count ||
            (access[i].flags && access[i].flags != ACCESS_READ_WRITE))
            return mock_leave(&call, POOL_CU_INVALID_VALUE);
    return mock_leave(&call, POOL_CU_SUCCESS);
}
