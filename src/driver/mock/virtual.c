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

static bool is_valid_prop(const struct mock_call *call, const pool_cu_mem_allocation_prop *prop)
{
    return prop->type == ALLOCATION_PINNED && prop->location.type == LOCATION_DEVICE &&
           mock_is_device(call, prop->location.id);
}

pool_cu_result mock_do_MemGetAllocationGranularity(struct mock_call *call, size_t *bytes,
    const pool_cu_mem_allocation_prop *prop, pool_cu_enum option)
{
    if (!is_valid_prop(call, prop) || option > GRANULARITY_RECOMMENDED)
        return POOL_CU_INVALID_VALUE;
    *bytes = GRANULARITY;
    return POOL_CU_SUCCESS;
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

pool_cu_result mock_do_MemCreate(struct mock_call *call, CUmemGenericAllocationHandle *allocation,
    size_t bytes, const pool_cu_mem_allocation_prop *prop, unsigned long long flags)
{
    int device = prop->location.id, descriptor;

    if (!bytes || bytes % GRANULARITY || flags || !is_valid_prop(call, prop))
        return POOL_CU_INVALID_VALUE;
    if (prop->handle_types & ~(unsigned)HANDLE_DESCRIPTOR)
        return POOL_CU_NOT_SUPPORTED;
    descriptor = memfd_create("devicepool mock memory", MFD_CLOEXEC);
    if (descriptor >= 0 && ftruncate(descriptor, (off_t)bytes)) {
        close(descriptor);
        descriptor = -1;
    }
    struct mock_allocation *made = add_allocation(call->mock, device, bytes, descriptor);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->is_exportable = prop->handle_types != 0;
    *allocation = (uintptr_t)mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemRelease(struct mock_call *call, struct mock_allocation *allocation)
{
    allocation->is_released = true;
    end_if_unused(call->mock, allocation);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemExportToShareableHandle(struct mock_call *call, void *shareable,
    struct mock_allocation *allocation, pool_cu_enum type, unsigned long long flags)
{
    (void)call;
    if (!allocation->is_exportable || type != HANDLE_DESCRIPTOR || flags)
        return POOL_CU_INVALID_VALUE;
    int descriptor = fcntl(allocation->descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0)
        return POOL_CU_OPERATING_SYSTEM;
    *(int *)shareable = descriptor;
    return POOL_CU_SUCCESS;
}

/* What another mock exports is imported to device 0. */
pool_cu_result mock_do_MemImportFromShareableHandle(struct mock_call *call,
    CUmemGenericAllocationHandle *allocation, void *shareable, pool_cu_enum type)
{
    int given = (int)(intptr_t)shareable;
    struct stat status;

    if (type != HANDLE_DESCRIPTOR || fstat(given, &status) || status.st_size <= 0 ||
        (size_t)status.st_size % GRANULARITY)
        return POOL_CU_INVALID_VALUE;
    struct mock_allocation *made =
        add_allocation(call->mock, 0, (size_t)status.st_size, fcntl(given, F_DUPFD_CLOEXEC, 0));
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->is_exportable = true;
    *allocation = (uintptr_t)mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
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
pool_cu_result mock_do_MemAddressReserve(struct mock_call *call, CUdeviceptr *address, size_t bytes,
    size_t alignment, CUdeviceptr wanted, unsigned long long flags)
{
    (void)wanted;
    if (!bytes || bytes % GRANULARITY || alignment > GRANULARITY || (alignment & (alignment - 1)) ||
        flags)
        return POOL_CU_INVALID_VALUE;
    void *base = reserve(bytes);
    struct mock_memory *memory =
        base ? mock_memory_new(call->mock, MOCK_RESERVED_MEMORY, bytes, base) : NULL;
    if (!memory) {
        if (base)
            munmap(base, bytes);
        return POOL_CU_OUT_OF_MEMORY;
    }
    memory->mapped = bytes;
    *address = memory->base;
    return POOL_CU_SUCCESS;
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

pool_cu_result mock_do_MemAddressFree(struct mock_call *call, CUdeviceptr address, size_t bytes)
{
    struct mock_memory *memory = find_reservation(call->mock, address, bytes);
    if (!memory || memory->base != address || memory->bytes != bytes ||
        is_mapped(call->mock, address, bytes))
        return POOL_CU_INVALID_VALUE;
    mock_memory_release(call->mock, memory);
    return POOL_CU_SUCCESS;
}

/* ---- mappings -------------------------------------------------------------------------------- */

pool_cu_result mock_do_MemMap(struct mock_call *call, CUdeviceptr address, size_t bytes,
    size_t offset, struct mock_allocation *allocation, unsigned long long flags)
{
    if (!bytes || bytes % GRANULARITY || address % GRANULARITY || offset % GRANULARITY || flags ||
        offset > allocation->bytes || bytes > allocation->bytes - offset ||
        !find_reservation(call->mock, address, bytes) || is_mapped(call->mock, address, bytes))
        return POOL_CU_INVALID_VALUE;
    void *base = (void *)(uintptr_t)address;
    struct mock_memory *mapping = mock_memory_new(call->mock, MOCK_MAPPED_MEMORY, bytes, base);
    if (!mapping)
        return POOL_CU_OUT_OF_MEMORY;
    mapping->allocation = allocation;
    mapping->device = allocation->object.device;
    allocation->mappings++;
    if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, allocation->descriptor,
            (off_t)offset) == MAP_FAILED) {
        mock_memory_release(call->mock, mapping);
        return POOL_CU_OUT_OF_MEMORY;
    }
    return POOL_CU_SUCCESS;
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

pool_cu_result mock_do_MemUnmap(struct mock_call *call, CUdeviceptr address, size_t bytes)
{
    struct mock_memory *mapping = find_mapping(call->mock, address, bytes);
    if (!mapping)
        return POOL_CU_INVALID_VALUE;
    mock_memory_release(call->mock, mapping);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemSetAccess(struct mock_call *call, CUdeviceptr address, size_t bytes,
    const pool_cu_mem_access *access, size_t access_count)
{
    if (!access_count || !find_mapping(call->mock, address, bytes))
        return POOL_CU_INVALID_VALUE;
    for (size_t i = 0; i < access_count; i++)
        if (access[i].location.type != LOCATION_DEVICE ||
            !mock_is_device(call, access[i].location.id) ||
            (access[i].flags && access[i].flags != ACCESS_READ_WRITE))
            return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}
