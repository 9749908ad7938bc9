/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered memory pools. A pool retains freed memory until a synchronisation finds more than
 * its release threshold unused, or until a trim.
 */
#include "driver/mock/mock.h"

#include <stdlib.h>
#include <string.h>

enum {
    POOL_ATTR_REUSE_FIRST = 1,
    POOL_ATTR_REUSE_LAST = 3,
    POOL_ATTR_RELEASE_THRESHOLD = 4,
    POOL_ATTR_RESERVED_CURRENT = 5,
    POOL_ATTR_RESERVED_HIGH = 6,
    POOL_ATTR_USED_CURRENT = 7,
    POOL_ATTR_USED_HIGH = 8,
    ALLOCATION_PINNED = 1,
    LOCATION_DEVICE = 1
};

static void retain_at_most(pool_mock *mock, struct mock_memory_pool *pool, uint64_t keep)
{
    uint64_t target = pool->used > keep ? pool->used : keep;

    if (pool->reserved <= target)
        return;
    mock->devices[pool->object.device].used -= pool->reserved - target;
    pool->reserved = target;
}

void mock_pools_trim(pool_mock *mock, int device)
{
    for (size_t i = 0; i < mock->object_count; i++) {
        struct mock_object *object = mock->objects[i];

        if (object && object->kind == MOCK_MEMORY_POOL && object->device == device) {
            struct mock_memory_pool *pool = (struct mock_memory_pool *)object;
            retain_at_most(mock, pool, pool->threshold);
        }
    }
}

/* A destroyed pool is freed with its last allocation. */
static void end_if_empty(pool_mock *mock, struct mock_memory_pool *pool)
{
    if (!pool->is_destroyed || pool->allocations > 0)
        return;
    retain_at_most(mock, pool, 0);
    mock_object_release(mock, &pool->object);
}

void mock_pool_unuse(pool_mock *mock, struct mock_memory_pool *pool, uint64_t bytes)
{
    pool->used -= bytes;
    pool->allocations--;
    end_if_empty(mock, pool);
}

pool_cu_result mock_do_MemPoolCreate(
    struct mock_call *call, CUmemoryPool *pool, const pool_cu_mem_pool_props *props)
{
    int device = props->location.id;

    if (props->allocation_type != ALLOCATION_PINNED || props->location.type != LOCATION_DEVICE)
        return POOL_CU_INVALID_VALUE;
    if (!mock_is_device(call, device))
        return POOL_CU_INVALID_VALUE;
    if (!call->mock->devices[device].attributes[POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED])
        return POOL_CU_NOT_SUPPORTED;
    struct mock_memory_pool *made =
        mock_object_new(call->mock, sizeof(*made), MOCK_MEMORY_POOL, device, NULL);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->max_bytes = props->max_size;
    for (int i = 0; i < 3; i++)
        made->reuse[i] = 1;
    *pool = mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemPoolDestroy(struct mock_call *call, struct mock_memory_pool *pool)
{
    pool->is_destroyed = true;
    end_if_empty(call->mock, pool);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemPoolTrimTo(
    struct mock_call *call, struct mock_memory_pool *pool, size_t keep_bytes)
{
    retain_at_most(call->mock, pool, keep_bytes);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemPoolSetAttribute(
    struct mock_call *call, struct mock_memory_pool *pool, pool_cu_enum attribute, void *value)
{
    uint64_t bytes = 0;

    (void)call;
    if (attribute >= POOL_ATTR_REUSE_FIRST && attribute <= POOL_ATTR_REUSE_LAST) {
        memcpy(&pool->reuse[attribute - 1], value, sizeof(int));
        return POOL_CU_SUCCESS;
    }
    memcpy(&bytes, value, sizeof(bytes));
    if (attribute == POOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = bytes;
    else if (attribute == POOL_ATTR_RESERVED_HIGH && bytes == 0) /* only a reset is allowed */
        pool->reserved_high = pool->reserved;
    else if (attribute == POOL_ATTR_USED_HIGH && bytes == 0)
        pool->used_high = pool->used;
    else
        return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemPoolGetAttribute(
    struct mock_call *call, struct mock_memory_pool *pool, pool_cu_enum attribute, void *value)
{
    (void)call;
    if (attribute < POOL_ATTR_REUSE_FIRST || attribute > POOL_ATTR_USED_HIGH)
        return POOL_CU_INVALID_VALUE;
    if (attribute <= POOL_ATTR_REUSE_LAST) {
        memcpy(value, &pool->reuse[attribute - 1], sizeof(int));
        return POOL_CU_SUCCESS;
    }
    const uint64_t values[] = {
        pool->threshold, pool->reserved, pool->reserved_high, pool->used, pool->used_high};
    memcpy(value, &values[attribute - POOL_ATTR_RELEASE_THRESHOLD], sizeof(uint64_t));
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemPoolSetAccess(struct mock_call *call, struct mock_memory_pool *pool,
    const pool_cu_mem_access *access, size_t access_count)
{
    for (size_t i = 0; i < access_count; i++) {
        int device = access[i].location.id;

        if (access[i].location.type != LOCATION_DEVICE || !mock_is_device(call, device))
            return POOL_CU_INVALID_DEVICE;
        if (device != pool->object.device &&
            !call->mock->devices[device].peers[pool->object.device].access)
            return POOL_CU_PEER_ACCESS_UNSUPPORTED;
    }
    return POOL_CU_SUCCESS;
}

/* Increases the reservation when the pool's unused bytes do not suffice. */
static bool reserve_bytes(pool_mock *mock, struct mock_memory_pool *pool, uint64_t bytes)
{
    struct mock_device *device = &mock->devices[pool->object.device];
    uint64_t unused = pool->reserved - pool->used;

    if (pool->max_bytes && (bytes > pool->max_bytes || pool->used > pool->max_bytes - bytes))
        return false;
    if (bytes > unused) {
        if (bytes - unused > mock_device_free(device))
            return false;
        device->used += bytes - unused;
        pool->reserved += bytes - unused;
    }
    return true;
}

pool_cu_result mock_do_MemAllocFromPoolAsync(struct mock_call *call, CUdeviceptr *address,
    size_t bytes, struct mock_memory_pool *pool, struct mock_stream *stream)
{
    if (bytes == 0) { /* as the real driver: a successful no-op */
        *address = 0;
        return POOL_CU_SUCCESS;
    }
    uint64_t reserved = pool->reserved;
    if (!reserve_bytes(call->mock, pool, bytes))
        return POOL_CU_OUT_OF_MEMORY;
    struct mock_memory *memory = mock_memory_new(call->mock, MOCK_POOLED_MEMORY, bytes, NULL);
    if (!memory) {
        retain_at_most(call->mock, pool, reserved);
        return POOL_CU_OUT_OF_MEMORY;
    }
    memory->device = pool->object.device;
    memory->pool = pool;
    pool->used += bytes;
    pool->allocations++;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    pool->reserved_high =
        pool->reserved > pool->reserved_high ? pool->reserved : pool->reserved_high;
    mock_stream_work(call, stream);
    *address = memory->base;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemFreeAsync(
    struct mock_call *call, CUdeviceptr address, struct mock_stream *stream)
{
    struct mock_memory *memory = mock_memory_at(call->mock, address);
    if (!memory || memory->base != address ||
        (memory->kind != MOCK_POOLED_MEMORY && memory->kind != MOCK_DEVICE_MEMORY))
        return POOL_CU_INVALID_VALUE;
    mock_memory_release(call->mock, memory);
    mock_stream_work(call, stream);
    return POOL_CU_SUCCESS;
}
