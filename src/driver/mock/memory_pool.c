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

static struct mock_memory_pool *get_pool(const pool_mock *mock, CUmemoryPool handle)
{
    struct mock_memory_pool *pool = mock_object_of_kind(mock, handle, MOCK_MEMORY_POOL);

    return pool && !pool->is_destroyed ? pool : NULL;
}

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

pool_cu_result mock_cu_MemPoolCreate(CUmemoryPool *pool, const pool_cu_mem_pool_props *props)
{
    struct mock_call call;
    int device = props ? props->location.id : -1;

    if (!mock_enter(&call, MOCK_FN_MemPoolCreate, MOCK_WORK, device, "i", device))
        return call.code;
    if (!pool || !props || props->allocation_type != ALLOCATION_PINNED ||
        props->location.type != LOCATION_DEVICE)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (device < 0 || device >= call.mock->device_count)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (!call.mock->devices[device].attributes[POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED])
        return mock_leave(&call, POOL_CU_NOT_SUPPORTED);
    struct mock_memory_pool *made = calloc(1, sizeof(*made));
    if (!made || !mock_object_add(call.mock, &made->object, MOCK_MEMORY_POOL, device, NULL)) {
        free(made);
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    }
    made->max_bytes = props->max_size;
    for (int i = 0; i < 3; i++)
        made->reuse[i] = 1;
    *pool = mock_object_handle(call.mock, &made->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_MemPoolDestroy(CUmemoryPool handle)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemPoolDestroy, MOCK_WORK, -1, "h", handle)) {
        mock_release_failed(&call, handle);
        return call.code;
    }
    struct mock_memory_pool *pool = get_pool(call.mock, handle);
    if (!pool)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    pool->is_destroyed = true;
    end_if_empty(call.mock, pool);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_MemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemPoolTrimTo, MOCK_WORK, -1, "hz", handle, keep_bytes))
        return call.code;
    struct mock_memory_pool *pool = get_pool(call.mock, handle);
    if (!pool)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    retain_at_most(call.mock, pool, keep_bytes);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

static pool_cu_result set_attribute(
    struct mock_memory_pool *pool, pool_cu_enum attribute, const void *value)
{
    uint64_t bytes = 0;

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

pool_cu_result mock_cu_MemPoolSetAttribute(CUmemoryPool handle, pool_cu_enum attribute, void *value)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemPoolSetAttribute, MOCK_WORK, -1, "hu", handle, attribute))
        return call.code;
    struct mock_memory_pool *pool = get_pool(call.mock, handle);
    if (!pool || !value)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    return mock_leave(&call, set_attribute(pool, attribute, value));
}

pool_cu_result mock_cu_MemPoolGetAttribute(CUmemoryPool handle, pool_cu_enum attribute, void *value)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemPoolGetAttribute, MOCK_WORK, -1, "hu", handle, attribute))
        return call.code;
    const struct mock_memory_pool *pool = get_pool(call.mock, handle);
    if (!pool || !value || attribute < POOL_ATTR_REUSE_FIRST || attribute > POOL_ATTR_USED_HIGH)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (attribute <= POOL_ATTR_REUSE_LAST) {
        memcpy(value, &pool->reuse[attribute - 1], sizeof(int));
        return mock_leave(&call, POOL_CU_SUCCESS);
    }
    const uint64_t values[] = {
        pool->threshold, pool->reserved, pool->reserved_high, pool->used, pool->used_high};
    memcpy(value, &values[attribute - POOL_ATTR_RELEASE_THRESHOLD], sizeof(uint64_t));
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_MemPoolSetAccess(
    CUmemoryPool handle, const pool_cu_mem_access *access, size_t count)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemPoolSetAccess, MOCK_WORK, -1, "hz", handle, count))
        return call.code;
    const struct mock_memory_pool *pool = get_pool(call.mock, handle);
    if (!pool || (!access && count > 0))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        int device = access[i].location.id;

        if (access[i].location.type != LOCATION_DEVICE || device < 0 ||
            device >= call.mock->device_count)
            return mock_leave(&call, POOL_CU_INVALID_DEVICE);
        if (device != pool->object.device &&
            !call.mock->devices[device].peers[pool->object.device].access)
            return mock_leave(&call, POOL_CU_PEER_ACCESS_UNSUPPORTED);
    }
    return mock_leave(&call, POOL_CU_SUCCESS);
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

pool_cu_result mock_cu_MemAllocFromPoolAsync(
    CUdeviceptr *address, size_t bytes, CUmemoryPool handle, CUstream stream_handle)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_MemAllocFromPoolAsync, MOCK_INSIDE, -1, "zhh", bytes, handle,
            stream_handle))
        return call.code;
    struct mock_memory_pool *pool = get_pool(call.mock, handle);
    if (!address || !pool)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    pool_cu_result code = mock_stream_get(&call, stream_handle, &stream);
    if (code)
        return mock_leave(&call, code);
    if (bytes == 0) { /* as the real driver: a successful no-op */
        *address = 0;
        return mock_leave(&call, POOL_CU_SUCCESS);
    }
    uint64_t reserved = pool->reserved;
    if (!reserve_bytes(call.mock, pool, bytes))
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    struct mock_memory *memory = mock_memory_new(call.mock, MOCK_POOLED_MEMORY, bytes, NULL);
    if (!memory) {
        retain_at_most(call.mock, pool, reserved);
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    }
    memory->device = pool->object.device;
    memory->pool = pool;
    pool->used += bytes;
    pool->allocations++;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    pool->reserved_high =
        pool->reserved > pool->reserved_high ? pool->reserved : pool->reserved_high;
    mock_stream_work(&call, stream);
    *address = memory->base;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_MemFreeAsync(CUdeviceptr address, CUstream stream_handle)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_MemFreeAsync, MOCK_INSIDE, -1, "ah", address, stream_handle)) {
        if (call.on_demand) {
            pthread_mutex_lock(&call.mock->lock);
            struct mock_memory *kept = mock_memory_at(call.mock, address);
            if (kept && kept->base == address)
                kept->release_failed = true;
            pthread_mutex_unlock(&call.mock->lock);
        }
        return call.code;
    }
    pool_cu_result code = mock_stream_get(&call, stream_handle, &stream);
    if (code)
        return mock_leave(&call, code);
    struct mock_memory *memory = mock_memory_at(call.mock, address);
    if (!memory || memory->base != address ||
        (memory->kind != MOCK_POOLED_MEMORY && memory->kind != MOCK_DEVICE_MEMORY))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    mock_memory_release(call.mock, memory);
    mock_stream_work(&call, stream);
    return mock_leave(&call, POOL_CU_SUCCESS);
}
