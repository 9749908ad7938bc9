/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: the accounting of each device, device and host allocations, pointer attributes.
 *
 * Every allocation is real host memory, and its device address is the host address. Small
 * allocations come from malloc, so that a sanitizer detects an effect that writes past their end;
 * large ones are mapped without reservation, so that a hundred gigabytes cost nothing until they
 * are touched. As on a device, new memory does not start with zeros.
 */
#include "driver/mock/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAP_FROM ((size_t)1 << 20) /* allocations of at least this size are separate mappings */
#define ALIGNMENT ((size_t)512)    /* alignment of the real driver */
#define FILL_BYTES ((size_t)65536)
#define FILL_VALUE 0xa5
#define MAX_BYTES (SIZE_MAX / 4)

static const char *const kind_names[MOCK_MEMORY_KINDS] = {
    [MOCK_DEVICE_MEMORY] = "mem",
    [MOCK_POOLED_MEMORY] = "pooled",
    [MOCK_GLOBAL_MEMORY] = "global",
    [MOCK_HOST_MEMORY] = "host",
    [MOCK_REGISTERED_MEMORY] = "registered",
    [MOCK_RESERVED_MEMORY] = "reserved",
    [MOCK_MAPPED_MEMORY] = "mapped",
    [MOCK_OPENED_MEMORY] = "opened",
};

uint64_t mock_device_free(const struct mock_device *device)
{
    int64_t left = (int64_t)device->total - (int64_t)device->used - device->foreign;

    return left > 0 ? (uint64_t)left : 0;
}

void mock_memory_name(const struct mock_memory *memory, char *text, size_t size)
{
    snprintf(text, size, "%s%u", kind_names[memory->kind], memory->number);
}

/* Index of the first entry with a base above `address`. */
static size_t index_above(const pool_mock *mock, uint64_t address)
{
    size_t low = 0;
    size_t high = mock->memory_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (mock->memory[middle]->base > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct mock_memory *mock_memory_at(const pool_mock *mock, uint64_t address)
{
    size_t next = index_above(mock, address);

    if (next == 0)
        return NULL;
    struct mock_memory *memory = mock->memory[next - 1];
    return address - memory->base < memory->bytes && memory->kind != MOCK_RESERVED_MEMORY ? memory
                                                                                          : NULL;
}

static bool allocate_host_memory(struct mock_memory *memory)
{
    void *bytes;

    if (memory->bytes > MAX_BYTES)
        return false;
    if (memory->bytes < MAP_FROM) {
        if (posix_memalign(&bytes, ALIGNMENT, memory->bytes) != 0)
            return false;
        memset(bytes, FILL_VALUE, memory->bytes < FILL_BYTES ? memory->bytes : FILL_BYTES);
    } else {
        bytes = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (bytes == MAP_FAILED)
            return false;
        memory->mapped = memory->bytes;
        memset(bytes, FILL_VALUE, FILL_BYTES);
    }
    memory->base = (uint64_t)(uintptr_t)bytes;
    return true;
}

static void free_host_memory(pool_mock *mock, struct mock_memory *memory)
{
    void *bytes = (void *)(uintptr_t)memory->base;

    if (memory->kind == MOCK_REGISTERED_MEMORY)
        return;
    if (memory->is_shared)
        close(memory->descriptor);
    if (memory->kind == MOCK_MAPPED_MEMORY) {
        mock_allocation_unmap(mock, memory);
        return;
    }
    if (memory->mapped)
        munmap(bytes, memory->mapped);
    else
        free(bytes);
}

static bool reserve_entry(pool_mock *mock)
{
    if (mock->memory_count < mock->memory_capacity)
        return true;
    size_t capacity = mock->memory_capacity ? mock->memory_capacity * 2 : 64;
    struct mock_memory **larger = realloc(mock->memory, capacity * sizeof(*larger));
    if (!larger)
        return false;
    mock->memory = larger;
    mock->memory_capacity = capacity;
    return true;
}

struct mock_memory *mock_memory_new(
    pool_mock *mock, enum mock_memory_kind kind, size_t bytes, void *registered)
{
    struct mock_memory *memory = calloc(1, sizeof(*memory));

    if (!memory || !reserve_entry(mock)) {
        free(memory);
        return NULL;
    }
    memory->kind = kind;
    memory->bytes = bytes;
    memory->base = (uint64_t)(uintptr_t)registered;
    if (!registered && !allocate_host_memory(memory)) {
        free(memory);
        return NULL;
    }
    memory->number = ++mock->memory_numbers[kind];
    memory->id = ++mock->next_memory_id;
    size_t at = index_above(mock, memory->base);
    memmove(&mock->memory[at + 1], &mock->memory[at],
        (mock->memory_count - at) * sizeof(*mock->memory));
    mock->memory[at] = memory;
    mock->memory_count++;
    return memory;
}

void mock_memory_release(pool_mock *mock, struct mock_memory *memory)
{
    size_t at = index_above(mock, memory->base) - 1;

    memmove(&mock->memory[at], &mock->memory[at + 1],
        (mock->memory_count - at - 1) * sizeof(*mock->memory));
    mock->memory_count--;
    if (memory->kind == MOCK_DEVICE_MEMORY || memory->kind == MOCK_GLOBAL_MEMORY)
        mock->devices[memory->device].used -= memory->bytes;
    if (memory->kind == MOCK_POOLED_MEMORY)
        mock_pool_unuse(mock, memory->pool, memory->bytes);
    free_host_memory(mock, memory);
    free(memory);
}

/* ---- device memory --------------------------------------------------------------------------- */

pool_cu_result mock_do_MemGetInfo(struct mock_call *call, size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = mock_device_free(&call->mock->devices[call->device]);
    *total_bytes = call->mock->devices[call->device].total;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemAlloc(struct mock_call *call, CUdeviceptr *address, size_t bytes)
{
    struct mock_device *device = &call->mock->devices[call->device];
    if (bytes == 0)
        return POOL_CU_INVALID_VALUE;
    if (bytes > mock_device_free(device))
        return POOL_CU_OUT_OF_MEMORY;
    struct mock_memory *memory = mock_memory_new(call->mock, MOCK_DEVICE_MEMORY, bytes, NULL);
    if (!memory)
        return POOL_CU_OUT_OF_MEMORY;
    memory->device = call->device;
    memory->context = call->context;
    device->used += bytes;
    *address = memory->base;
    return POOL_CU_SUCCESS;
}

void mock_memory_release_failed(struct mock_call *call, uint64_t address)
{
    if (!call->on_demand)
        return;
    pthread_mutex_lock(&call->mock->lock);
    struct mock_memory *memory = mock_memory_at(call->mock, address);
    if (memory && memory->base == address)
        memory->release_failed = true;
    pthread_mutex_unlock(&call->mock->lock);
}

/* The live memory of that kind that starts exactly at `address`. */
static struct mock_memory *memory_starting_at(
    const pool_mock *mock, uint64_t address, enum mock_memory_kind kind)
{
    struct mock_memory *memory = mock_memory_at(mock, address);

    return memory && memory->base == address && memory->kind == kind ? memory : NULL;
}

pool_cu_result mock_do_MemFree(struct mock_call *call, CUdeviceptr address)
{
    struct mock_memory *memory = memory_starting_at(call->mock, address, MOCK_DEVICE_MEMORY);
    if (!memory)
        memory = memory_starting_at(call->mock, address, MOCK_POOLED_MEMORY);
    if (!memory)
        return POOL_CU_INVALID_VALUE;
    mock_memory_release(call->mock, memory);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemGetAddressRange(
    struct mock_call *call, CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    const struct mock_memory *memory = mock_memory_at(call->mock, address);
    if (!memory || memory->kind == MOCK_REGISTERED_MEMORY)
        return POOL_CU_NOT_FOUND;
    if (base)
        *base = memory->base;
    if (bytes)
        *bytes = memory->bytes;
    return POOL_CU_SUCCESS;
}

/* ---- host memory ----------------------------------------------------------------------------- */

pool_cu_result mock_do_MemHostAlloc(
    struct mock_call *call, void **host, size_t bytes, unsigned int flags)
{
    if (bytes == 0 || (flags & ~7u))
        return POOL_CU_INVALID_VALUE;
    struct mock_memory *memory = mock_memory_new(call->mock, MOCK_HOST_MEMORY, bytes, NULL);
    if (!memory)
        return POOL_CU_OUT_OF_MEMORY;
    memory->device = call->device;
    memory->context = call->context;
    memory->flags = flags;
    *host = (void *)(uintptr_t)memory->base;
    return POOL_CU_SUCCESS;
}

/* Releases the memory of that kind that starts at `host`; the code if there is none. */
static pool_cu_result release_host_memory(
    struct mock_call *call, const void *host, enum mock_memory_kind kind, pool_cu_result none)
{
    struct mock_memory *memory = memory_starting_at(call->mock, (uintptr_t)host, kind);

    if (!memory)
        return host ? none : POOL_CU_INVALID_VALUE;
    mock_memory_release(call->mock, memory);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemFreeHost(struct mock_call *call, void *host)
{
    return release_host_memory(call, host, MOCK_HOST_MEMORY, POOL_CU_INVALID_VALUE);
}

/* Whether any recorded memory overlaps [address, address + bytes). */
static bool overlaps(const pool_mock *mock, uint64_t address, size_t bytes)
{
    size_t next = index_above(mock, address);

    return mock_memory_at(mock, address) != NULL ||
           (next < mock->memory_count && mock->memory[next]->base - address < bytes);
}

pool_cu_result mock_do_MemHostRegister(
    struct mock_call *call, void *host, size_t bytes, unsigned int flags)
{
    if (!host || bytes == 0 || (flags & ~15u))
        return POOL_CU_INVALID_VALUE;
    if (overlaps(call->mock, (uintptr_t)host, bytes))
        return POOL_CU_HOST_MEMORY_ALREADY_REGISTERED;
    struct mock_memory *memory = mock_memory_new(call->mock, MOCK_REGISTERED_MEMORY, bytes, host);
    if (!memory)
        return POOL_CU_OUT_OF_MEMORY;
    memory->device = call->device;
    memory->context = call->context;
    memory->flags = flags;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemHostUnregister(struct mock_call *call, void *host)
{
    return release_host_memory(
        call, host, MOCK_REGISTERED_MEMORY, POOL_CU_HOST_MEMORY_NOT_REGISTERED);
}

pool_cu_result mock_do_MemHostGetDevicePointer(
    struct mock_call *call, CUdeviceptr *address, void *host, unsigned int flags)
{
    const struct mock_memory *memory = mock_memory_at(call->mock, (uintptr_t)host);

    if (flags != 0 || !memory ||
        (memory->kind != MOCK_HOST_MEMORY && memory->kind != MOCK_REGISTERED_MEMORY))
        return POOL_CU_INVALID_VALUE;
    *address = (uintptr_t)host;
    return POOL_CU_SUCCESS;
}

/* ---- pointer attributes ---------------------------------------------------------------------- */

enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE_POINTER = 3,
    POINTER_HOST_POINTER = 4,
    POINTER_BUFFER_ID = 7,
    POINTER_IS_MANAGED = 8,
    POINTER_DEVICE_ORDINAL = 9,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_SIZE = 12,
    POINTER_MAPPED = 13,
    POINTER_POOL = 17,
    MEMORY_TYPE_HOST = 1,
    MEMORY_TYPE_DEVICE = 2
};

static pool_cu_result write_pointer_attribute(const pool_mock *mock,
    const struct mock_memory *memory, uint64_t address, pool_cu_enum attribute, void *value)
{
    bool on_host = memory->kind == MOCK_HOST_MEMORY || memory->kind == MOCK_REGISTERED_MEMORY;

    switch (attribute) {
    case POINTER_CONTEXT:
        *(CUcontext *)value =
            memory->context ? mock_object_handle(mock, &memory->context->object) : NULL;
        return POOL_CU_SUCCESS;
    case POINTER_MEMORY_TYPE:
        *(unsigned *)value = on_host ? MEMORY_TYPE_HOST : MEMORY_TYPE_DEVICE;
        return POOL_CU_SUCCESS;
    case POINTER_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return POOL_CU_SUCCESS;
    case POINTER_HOST_POINTER:
        if (!on_host)
            return POOL_CU_INVALID_VALUE;
        *(void **)value = (void *)(uintptr_t)address;
        return POOL_CU_SUCCESS;
    case POINTER_BUFFER_ID:
        *(unsigned long long *)value = memory->id;
        return POOL_CU_SUCCESS;
    case POINTER_IS_MANAGED:
        *(unsigned *)value = 0;
        return POOL_CU_SUCCESS;
    case POINTER_DEVICE_ORDINAL:
        *(int *)value = memory->device;
        return POOL_CU_SUCCESS;
    case POINTER_RANGE_START:
        *(CUdeviceptr *)value = memory->base;
        return POOL_CU_SUCCESS;
    case POINTER_RANGE_SIZE:
        *(size_t *)value = memory->bytes;
        return POOL_CU_SUCCESS;
    case POINTER_MAPPED:
        *(unsigned *)value = 1;
        return POOL_CU_SUCCESS;
    case POINTER_POOL:
        *(CUmemoryPool *)value =
            memory->pool ? mock_object_handle(mock, &memory->pool->object) : NULL;
        return POOL_CU_SUCCESS;
    default:
        return POOL_CU_INVALID_VALUE;
    }
}

pool_cu_result mock_do_PointerGetAttribute(
    struct mock_call *call, void *value, pool_cu_enum attribute, CUdeviceptr address)
{
    const struct mock_memory *memory = mock_memory_at(call->mock, address);
    if (!memory)
        return POOL_CU_INVALID_VALUE;
    return write_pointer_attribute(call->mock, memory, address, attribute, value);
}

/* The result of cuPointerGetAttributes for memory that the driver does not know. */
static pool_cu_result write_default_attribute(pool_cu_enum attribute, void *value)
{
    static const int no_ordinal = -2;
    static const uint64_t zero;

    switch (attribute) {
    case 2: /* memory type */
    case 8: /* managed */
        memcpy(value, &zero, sizeof(unsigned int));
        return POOL_CU_SUCCESS;
    case 9: /* ordinal */
        memcpy(value, &no_ordinal, sizeof(no_ordinal));
        return POOL_CU_SUCCESS;
    case 1: /* context, device pointer, host pointer, buffer id, range start, range size */
    case 3:
    case 4:
    case 7:
    case 11:
    case 12:
        memcpy(value, &zero, sizeof(zero));
        return POOL_CU_SUCCESS;
    default:
        return POOL_CU_INVALID_VALUE;
    }
}

pool_cu_result mock_do_PointerGetAttributes(struct mock_call *call, unsigned int count,
    pool_cu_enum *attributes, void **values, CUdeviceptr address)
{
    pool_cu_result code = POOL_CU_SUCCESS;

    const struct mock_memory *memory = mock_memory_at(call->mock, address);
    if (!count)
        code = POOL_CU_INVALID_VALUE;
    for (unsigned i = 0; i < count && !code; i++)
        code = !values[i] ? POOL_CU_INVALID_VALUE
               : memory
                   ? write_pointer_attribute(call->mock, memory, address, attributes[i], values[i])
                   : write_default_attribute(attributes[i], values[i]);
    return code;
}
