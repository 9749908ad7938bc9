/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory functions of the simulated driver: allocation, freeing, and queries about addresses.
 */
#include <sys/mman.h>

#include "driver/sim/table/state.h"

#include <string.h>

#define PAGE 4096u
#define HOST_ALLOC_FLAGS 7u
#define REGISTER_FLAGS 15u

pool_cu_result sim_cu_MemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemGetInfo, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (!free_bytes || !total_bytes)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *free_bytes = sim_memory_free_bytes(call.context->device);
    *total_bytes = sim_config_of(call.context->device)->memory_bytes;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemAlloc(CUdeviceptr *address, size_t bytes)
{
    struct sim_allocation *made;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemAlloc, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (!address || bytes == 0)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (bytes > sim_config_of(call.context->device)->memory_bytes)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    uint64_t charged = (bytes + SIM_ALIGNMENT - 1) / SIM_ALIGNMENT * SIM_ALIGNMENT;
    bool is_shareable = bytes % SIM_SHARED_GRANULARITY == 0;
    code = sim_memory_allocate(call.context, SIM_MEMORY_DEVICE, bytes,
        is_shareable ? PAGE : SIM_ALIGNMENT, charged, &made);
    if (code)
        return sim_leave(code);
    if (is_shareable)
        sim_shared_back(made);
    *address = made->base;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemFree(CUdeviceptr address)
{
    struct sim_allocation *found;
    struct sim_call call;
    pool_cu_result code =
        sim_enter(&call, SIM_CU_MemFree, SIM_NEED_INIT, -1); /* valid with any current context */

    if (code)
        return code;
    if (sim_context_is_ended_green(sim_context_current()))
        return sim_leave(POOL_CU_CONTEXT_IS_DESTROYED);
    if (!address)
        return sim_leave(POOL_CU_SUCCESS);
    found = sim_memory_starting_at(address);
    if (!found || found->is_freeing ||
        (found->kind != SIM_MEMORY_DEVICE && found->kind != SIM_MEMORY_POOLED))
        return sim_leave(POOL_CU_INVALID_VALUE);
    /* As on a GPU: what may still use the memory ends first. */
    found->is_freeing = true;
    const uint64_t id = found->id;
    code = sim_context_drain_alone(found->context);
    found = sim_memory_starting_at(address);
    if (found && found->id == id)
        sim_memory_release(found);
    return sim_leave(code);
}

pool_cu_result sim_cu_MemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    const struct sim_allocation *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemGetAddressRange, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    found = sim_memory_find(address, 1);
    if (!found)
        return sim_leave(POOL_CU_NOT_FOUND);
    if (base)
        *base = found->base;
    if (bytes)
        *bytes = found->bytes;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    struct sim_allocation *made;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemHostAlloc, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (!memory || flags > HOST_ALLOC_FLAGS)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (bytes == 0) { /* as the real driver: no allocation and no error */
        *memory = NULL;
        return sim_leave(POOL_CU_SUCCESS);
    }
    if (bytes > SIZE_MAX - PAGE)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *memory_range =
        mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_range == MAP_FAILED)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    code = sim_memory_register(
        call.context, SIM_MEMORY_PINNED, (uint64_t)(uintptr_t)memory_range, bytes, &made);
    if (code) {
        munmap(memory_range, whole);
        return sim_leave(code);
    }
    *memory = memory_range;
    return sim_leave(POOL_CU_SUCCESS);
}

/* Frees a pinned or unregisters a registered range; `absent` is the code when there is none at
 * `memory`. */
static pool_cu_result release_host_range(struct sim_call *call, enum sim_driver_function function,
    const void *memory, enum sim_memory_kind kind, pool_cu_result absent)
{
    struct sim_allocation *found;
    pool_cu_result code = sim_enter(call, function, SIM_NEED_CONTEXT_ONLY, -1);

    if (code)
        return code;
    if (!memory) /* NULL can be freed but not unregistered */
        return sim_leave(kind == SIM_MEMORY_PINNED ? POOL_CU_SUCCESS : POOL_CU_INVALID_VALUE);
    found = sim_memory_starting_at((uint64_t)(uintptr_t)memory);
    if (!found && sim_memory_overlaps((uint64_t)(uintptr_t)memory, 1))
        return sim_leave(POOL_CU_INVALID_VALUE); /* inside a range, not at its start */
    if (!found || found->kind != kind || found->is_freeing)
        return sim_leave(absent);
    found->is_freeing = true;
    const uint64_t id = found->id;
    code = sim_context_drain_alone(found->context);
    found = sim_memory_starting_at((uint64_t)(uintptr_t)memory);
    if (found && found->id == id)
        sim_memory_release(found);
    return sim_leave(code);
}

pool_cu_result sim_cu_MemFreeHost(void *memory)
{
    struct sim_call call;

    return release_host_range(
        &call, SIM_CU_MemFreeHost, memory, SIM_MEMORY_PINNED, POOL_CU_INVALID_VALUE);
}

pool_cu_result sim_cu_MemHostUnregister(void *memory)
{
    struct sim_call call;

    return release_host_range(&call, SIM_CU_MemHostUnregister, memory, SIM_MEMORY_REGISTERED,
        POOL_CU_HOST_MEMORY_NOT_REGISTERED);
}

pool_cu_result sim_cu_MemHostRegister(void *memory, size_t bytes, unsigned int flags)
{
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    struct sim_allocation *made;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemHostRegister, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    if (!memory || bytes == 0 || bytes > UINT64_MAX - base || flags > REGISTER_FLAGS)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (flags & ~(unsigned)(DRIVER_MEMHOSTREGISTER_PORTABLE | DRIVER_MEMHOSTREGISTER_DEVICEMAP))
        return sim_leave(POOL_CU_NOT_SUPPORTED);
    if (sim_memory_overlaps(base, bytes))
        return sim_leave(POOL_CU_HOST_MEMORY_ALREADY_REGISTERED);
    code = sim_memory_register(call.context, SIM_MEMORY_REGISTERED, base, bytes, &made);
    return sim_leave(code);
}

pool_cu_result sim_cu_MemHostGetDevicePointer(
    CUdeviceptr *address, void *memory, unsigned int flags)
{
    const struct sim_allocation *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemHostGetDevicePointer, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    found = sim_memory_find((uint64_t)(uintptr_t)memory, 1);
    if (!address || flags || !found ||
        (found->kind != SIM_MEMORY_PINNED && found->kind != SIM_MEMORY_REGISTERED))
        return sim_leave(POOL_CU_INVALID_VALUE);
    *address = (uint64_t)(uintptr_t)memory;
    return sim_leave(POOL_CU_SUCCESS);
}

/* Writes one attribute of an allocation in the width that cuda.h defines. */
static pool_cu_result write_attribute(
    const struct sim_allocation *found, pool_cu_enum attribute, CUdeviceptr address, void *value)
{
    bool is_host = found->kind == SIM_MEMORY_PINNED || found->kind == SIM_MEMORY_REGISTERED;

    switch (attribute) {
    case DRIVER_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = found->context ? found->context->handle : NULL;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)value = is_host ? DRIVER_MEMORYTYPE_HOST : DRIVER_MEMORYTYPE_DEVICE;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!is_host)
            return POOL_CU_INVALID_VALUE;
        *(void **)value = (void *)(uintptr_t)address;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = found->id;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned int *)value = 0;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = found->device;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = found->base;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = found->bytes;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned int *)value = 1;
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)value = found->pool ? found->pool->handle : NULL;
        return POOL_CU_SUCCESS;
    default:
        return POOL_CU_NOT_SUPPORTED;
    }
}

pool_cu_result sim_cu_PointerGetAttribute(void *value, pool_cu_enum attribute, CUdeviceptr address)
{
    const struct sim_allocation *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_PointerGetAttribute, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    found = sim_memory_find(address, 1);
    if (!value || !found || found->is_freeing || attribute == 0 || attribute > 21)
        return sim_leave(POOL_CU_INVALID_VALUE);
    return sim_leave(write_attribute(found, attribute, address, value));
}

/* The result of cuPointerGetAttributes for memory that the driver does not know. */
static pool_cu_result write_default_attribute(pool_cu_enum attribute, void *value)
{
    static const int no_ordinal = -2;
    static const uint64_t zero;

    switch (attribute) {
    case DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case DRIVER_POINTER_ATTRIBUTE_IS_MANAGED:
        memcpy(value, &zero, sizeof(unsigned int));
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        memcpy(value, &no_ordinal, sizeof(no_ordinal));
        return POOL_CU_SUCCESS;
    case DRIVER_POINTER_ATTRIBUTE_CONTEXT:
    case DRIVER_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case DRIVER_POINTER_ATTRIBUTE_HOST_POINTER:
    case DRIVER_POINTER_ATTRIBUTE_BUFFER_ID:
    case DRIVER_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case DRIVER_POINTER_ATTRIBUTE_RANGE_SIZE:
        memcpy(value, &zero, sizeof(zero));
        return POOL_CU_SUCCESS;
    default:
        return POOL_CU_INVALID_VALUE;
    }
}

pool_cu_result sim_cu_PointerGetAttributes(
    unsigned int count, pool_cu_enum *attributes, void **values, CUdeviceptr address)
{
    const struct sim_allocation *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_PointerGetAttributes, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    found = sim_memory_find(address, 1);
    if (found && found->is_freeing)
        found = NULL;
    if (!count || !attributes || !values)
        code = POOL_CU_INVALID_VALUE;
    for (unsigned i = 0; i < count && !code; i++)
        code = !values[i] ? POOL_CU_INVALID_VALUE
               : found    ? write_attribute(found, attributes[i], address, values[i])
                          : write_default_attribute(attributes[i], values[i]);
    return sim_leave(code);
}
