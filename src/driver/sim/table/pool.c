/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools of the simulated driver: memory that a pool has reserved counts as used on its
 * device and is returned at the next synchronisation when more than the release threshold is
 * unused. Fragmentation is not modelled: unused reserved bytes satisfy any allocation.
 */
#include "base/alloc.h"
#include "driver/sim/table/state.h"

#define CHUNK ((uint64_t)2 << 20) /* granularity in which pools reserve device memory */

static void unlink_pool(struct sim_memory_pool *pool)
{
    struct sim_memory_pool **link = &sim_state.pools;

    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    base_free(pool);
}

/* Releases reserved memory down to `keep` bytes, but never memory in use. */
static void shrink_pool(struct sim_memory_pool *pool, uint64_t keep)
{
    uint64_t used = (pool->used + CHUNK - 1) / CHUNK * CHUNK;
    uint64_t left = keep > used ? keep / CHUNK * CHUNK : used;

    if (left < used)
        left = used;
    if (left >= pool->reserved)
        return;
    sim_state.devices[pool->device].used_bytes -= pool->reserved - left;
    pool->reserved = left;
}

void sim_memory_pool_release(struct sim_allocation *allocation)
{
    struct sim_memory_pool *pool = allocation->pool;

    pool->used -= (allocation->bytes + SIM_ALIGNMENT - 1) / SIM_ALIGNMENT * SIM_ALIGNMENT;
    if (pool->is_destroyed) {
        shrink_pool(pool, 0);
        if (pool->used == 0)
            unlink_pool(pool);
    }
}

void sim_memory_pools_trim(int device)
{
    for (struct sim_memory_pool *pool = sim_state.pools; pool; pool = pool->next) {
        if (pool->device == device && pool->reserved > pool->threshold)
            shrink_pool(pool, pool->threshold);
    }
}

void sim_memory_pools_free(void)
{
    while (sim_state.pools) {
        struct sim_memory_pool *pool = sim_state.pools;
        sim_state.pools = pool->next;
        base_free(pool);
    }
}

pool_cu_result sim_cu_MemPoolCreate(CUmemoryPool *pool, const pool_cu_mem_pool_props *props)
{
    struct sim_memory_pool *made;
    struct sim_call call;
    pool_cu_result code =
        sim_enter(&call, SIM_CU_MemPoolCreate, SIM_NEED_HEALTHY, props ? props->location.id : -1);

    if (code)
        return code;
    if (!pool || !props || props->allocation_type != DRIVER_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != DRIVER_MEM_LOCATION_TYPE_DEVICE)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (props->location.id < 0 || (uint32_t)props->location.id >= sim_state.config.device_count)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (props->handle_types != DRIVER_MEM_HANDLE_TYPE_NONE)
        return sim_leave(POOL_CU_NOT_SUPPORTED);
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    made->handle = sim_handle_create(SIM_HANDLE_MEMORY_POOL, made);
    if (!made->handle) {
        base_free(made);
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    }
    made->device = props->location.id;
    made->max_bytes = props->max_size;
    made->reuse[0] = made->reuse[1] = made->reuse[2] = 1;
    made->access = UINT64_C(1) << made->device;
    made->next = sim_state.pools;
    sim_state.pools = made;
    *pool = made->handle;
    return sim_leave(POOL_CU_SUCCESS);
}

static pool_cu_result enter_pool(struct sim_call *call, enum sim_driver_function function,
    enum sim_need need, CUmemoryPool handle, struct sim_memory_pool **pool)
{
    pool_cu_result code = sim_enter(call, function, need, -1);

    if (code)
        return code;
    *pool = sim_handle_get(SIM_HANDLE_MEMORY_POOL, handle);
    return *pool ? POOL_CU_SUCCESS : sim_leave(POOL_CU_INVALID_VALUE);
}

/* Memory in use remains valid and is released when it is freed. */
pool_cu_result sim_cu_MemPoolDestroy(CUmemoryPool handle)
{
    struct sim_memory_pool *pool;
    struct sim_call call;
    pool_cu_result code = enter_pool(&call, SIM_CU_MemPoolDestroy, SIM_NEED_INIT, handle, &pool);

    if (code)
        return code;
    sim_handle_release(pool->handle);
    pool->handle = NULL;
    pool->is_destroyed = true;
    shrink_pool(pool, 0);
    if (pool->used == 0)
        unlink_pool(pool);
    return sim_leave(sim_state.poison);
}

pool_cu_result sim_cu_MemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes)
{
    struct sim_memory_pool *pool;
    struct sim_call call;
    pool_cu_result code = enter_pool(&call, SIM_CU_MemPoolTrimTo, SIM_NEED_HEALTHY, handle, &pool);

    if (code)
        return code;
    shrink_pool(pool, keep_bytes);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemPoolSetAttribute(CUmemoryPool handle, pool_cu_enum attribute, void *value)
{
    struct sim_memory_pool *pool;
    struct sim_call call;
    pool_cu_result code =
        enter_pool(&call, SIM_CU_MemPoolSetAttribute, SIM_NEED_HEALTHY, handle, &pool);

    if (code)
        return code;
    if (!value)
        return sim_leave(POOL_CU_INVALID_VALUE);
    switch (attribute) {
    case DRIVER_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case DRIVER_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case DRIVER_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->reuse[attribute - 1] = *(const int *)value != 0;
        return sim_leave(POOL_CU_SUCCESS);
    case DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->threshold = *(const uint64_t *)value;
        return sim_leave(POOL_CU_SUCCESS);
    case DRIVER_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case DRIVER_MEMPOOL_ATTR_USED_MEM_HIGH:
        /* High-water marks can only be reset to 0. */
        if (*(const uint64_t *)value != 0)
            return sim_leave(POOL_CU_INVALID_VALUE);
        if (attribute == DRIVER_MEMPOOL_ATTR_USED_MEM_HIGH)
            pool->used_high = pool->used;
        else
            pool->reserved_high = pool->reserved;
        return sim_leave(POOL_CU_SUCCESS);
    default:
        return sim_leave(POOL_CU_INVALID_VALUE);
    }
}

pool_cu_result sim_cu_MemPoolGetAttribute(CUmemoryPool handle, pool_cu_enum attribute, void *value)
{
    struct sim_memory_pool *pool;
    struct sim_call call;
    pool_cu_result code =
        enter_pool(&call, SIM_CU_MemPoolGetAttribute, SIM_NEED_HEALTHY, handle, &pool);

    if (code)
        return code;
    const uint64_t numbers[] = {
        pool->threshold, pool->reserved, pool->reserved_high, pool->used, pool->used_high};
    if (!value || attribute == 0 || attribute > DRIVER_MEMPOOL_ATTR_USED_MEM_HIGH)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (attribute < DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        *(int *)value = pool->reuse[attribute - 1];
    else
        *(uint64_t *)value = numbers[attribute - DRIVER_MEMPOOL_ATTR_RELEASE_THRESHOLD];
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemPoolSetAccess(
    CUmemoryPool handle, const pool_cu_mem_access *access, size_t count)
{
    struct sim_memory_pool *pool;
    struct sim_call call;
    pool_cu_result code =
        enter_pool(&call, SIM_CU_MemPoolSetAccess, SIM_NEED_HEALTHY, handle, &pool);

    if (code)
        return code;
    uint64_t result = pool->access;
    for (size_t at = 0; at < count; at++) {
        if (!access || access[at].location.type != DRIVER_MEM_LOCATION_TYPE_DEVICE)
            return sim_leave(POOL_CU_INVALID_VALUE);
        const int device = access[at].location.id;
        if (device < 0 || (uint32_t)device >= sim_state.config.device_count)
            return sim_leave(POOL_CU_INVALID_DEVICE);
        if (access[at].flags && device != pool->device && !sim_are_peers(device, pool->device))
            return sim_leave(POOL_CU_INVALID_DEVICE);
        if (access[at].flags == DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE)
            result |= UINT64_C(1) << device;
        else if (access[at].flags == 0 && device != pool->device)
            result &= ~(UINT64_C(1) << device);
        else /* the pool's own device always has access */
            return sim_leave(access[at].flags ? POOL_CU_INVALID_VALUE : POOL_CU_INVALID_DEVICE);
    }
    sim_memory_write_lock();
    pool->access = result;
    sim_memory_write_unlock();
    return sim_leave(POOL_CU_SUCCESS);
}

/* Increases the pool's reservation so that `bytes` more fit. */
static pool_cu_result reserve_bytes(struct sim_memory_pool *pool, uint64_t bytes)
{
    if (pool->reserved - pool->used >= bytes)
        return POOL_CU_SUCCESS;
    uint64_t missing = bytes - (pool->reserved - pool->used);
    uint64_t step = (missing + CHUNK - 1) / CHUNK * CHUNK;
    uint64_t free_bytes = sim_memory_free_bytes(pool->device);

    if (step > free_bytes || (pool->max_bytes && pool->reserved + step > pool->max_bytes))
        step = missing;
    if (step > free_bytes || (pool->max_bytes && pool->reserved + step > pool->max_bytes))
        return POOL_CU_OUT_OF_MEMORY;
    pool->reserved += step;
    sim_state.devices[pool->device].used_bytes += step;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return POOL_CU_SUCCESS;
}

static struct sim_context *root_of(struct sim_context *context)
{
    return context ? context->root : NULL;
}

pool_cu_result sim_cu_MemAllocFromPoolAsync(
    CUdeviceptr *address, size_t bytes, CUmemoryPool handle, CUstream stream_handle)
{
    struct sim_allocation *made;
    struct sim_stream *stream;
    struct sim_memory_pool *pool;
    struct sim_call call;
    pool_cu_result code =
        enter_pool(&call, SIM_CU_MemAllocFromPoolAsync, SIM_NEED_CONTEXT, handle, &pool);

    if (code)
        return code;
    code = sim_stream_of(call.scope, stream_handle, &stream);
    if (!code && stream->capture) /* graphs that own memory are not simulated */
        code = sim_capture_violated(stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    if (code)
        return sim_leave(code);
    /* A pool may be of another device than the stream: its memory lives in a context there. */
    struct sim_context *owner = pool->device == call.context->device
                                    ? call.context
                                    : root_of(sim_state.devices[pool->device].contexts);
    if (!address || !owner)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (bytes == 0) { /* as the real driver: a successful no-op */
        *address = 0;
        return sim_leave(POOL_CU_SUCCESS);
    }
    if (bytes > sim_config_of(owner->device)->memory_bytes)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    const uint64_t rounded = (bytes + SIM_ALIGNMENT - 1) / SIM_ALIGNMENT * SIM_ALIGNMENT;
    code = reserve_bytes(pool, rounded);
    if (!code)
        code = sim_memory_allocate(owner, SIM_MEMORY_POOLED, bytes, SIM_ALIGNMENT, 0, &made);
    if (code)
        return sim_leave(code);
    made->pool = pool;
    pool->used += rounded;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    *address = made->base;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemFreeAsync(CUdeviceptr address, CUstream stream_handle)
{
    struct sim_allocation *found;
    struct sim_stream *stream;
    struct sim_call call;
    struct sim_work *work;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemFreeAsync, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    code = sim_stream_of(call.scope, stream_handle, &stream);
    if (!code && stream->capture) /* graphs that own memory are not simulated */
        code = sim_capture_violated(stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    if (code)
        return sim_leave(code);
    if (!address)
        return sim_leave(POOL_CU_SUCCESS);
    found = sim_memory_starting_at(address);
    if (!found || found->is_freeing || found->kind != SIM_MEMORY_POOLED)
        return sim_leave(POOL_CU_INVALID_VALUE);
    work = sim_work_create(SIM_WORK_FREE);
    if (!work)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    work->u.address = address;
    code = sim_enqueue(&call, stream, work);
    if (!code)
        found->is_freeing = true;
    return sim_leave(code);
}
