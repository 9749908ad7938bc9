/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills, synchronous and on streams. The bytes are moved at the call; every device
 * range is checked against the live allocations, host ranges only for NULL.
 */
#include "driver/mock/mock.h"

#include <string.h>

enum { MEMORYTYPE_HOST = 1, MEMORYTYPE_DEVICE = 2 }; /* of cuda.h's CUmemorytype */

static bool is_device_memory(const struct mock_memory *memory)
{
    return memory->kind != MOCK_REGISTERED_MEMORY;
}

/* The host address of a device range, or NULL when the range is not inside one allocation or
 * adjoining mappings of virtual memory. */
static void *device_range(const struct mock_call *call, CUdeviceptr address, size_t bytes)
{
    const struct mock_memory *memory = mock_memory_at(call->mock, address);
    uint64_t at = address, end = address + bytes;

    if (!memory || !is_device_memory(memory))
        return NULL;
    while (end - at > memory->bytes - (at - memory->base)) {
        at = memory->base + memory->bytes;
        memory = memory->kind == MOCK_MAPPED_MEMORY ? mock_memory_at(call->mock, at) : NULL;
        if (!memory || memory->kind != MOCK_MAPPED_MEMORY)
            return NULL;
    }
    return (void *)(uintptr_t)address;
}

/*
 * Finds the stream of an asynchronous call and records the work; a synchronous call has no stream.
 */
static pool_cu_result on_stream(struct mock_call *call, bool is_async, CUstream handle)
{
    struct mock_stream *stream;
    pool_cu_result code;

    if (!is_async)
        return POOL_CU_SUCCESS;
    code = mock_stream_get(call, handle, &stream);
    if (code == POOL_CU_SUCCESS)
        mock_stream_work(call, stream);
    return code;
}

static pool_cu_result copy_bytes(struct mock_call *call, void *to, const void *from, size_t bytes,
    bool is_async, CUstream stream)
{
    pool_cu_result code;

    if (bytes > 0 && (!to || !from))
        return POOL_CU_INVALID_VALUE;
    code = on_stream(call, is_async, stream);
    if (code == POOL_CU_SUCCESS && bytes > 0 && !call->is_captured)
        memmove(to, from, bytes);
    return code;
}

pool_cu_result mock_cu_MemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemcpyHtoD, MOCK_INSIDE, -1, "apz", to, from, bytes))
        return call.code;
    return mock_leave(
        &call, copy_bytes(&call, device_range(&call, to, bytes), from, bytes, false, NULL));
}

pool_cu_result mock_cu_MemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemcpyDtoH, MOCK_INSIDE, -1, "paz", to, from, bytes))
        return call.code;
    return mock_leave(
        &call, copy_bytes(&call, to, device_range(&call, from, bytes), bytes, false, NULL));
}

pool_cu_result mock_cu_MemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemcpyDtoD, MOCK_INSIDE, -1, "aaz", to, from, bytes))
        return call.code;
    void *target = device_range(&call, to, bytes);
    return mock_leave(
        &call, copy_bytes(&call, target, device_range(&call, from, bytes), bytes, false, NULL));
}

pool_cu_result mock_cu_MemcpyHtoDAsync(
    CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_MemcpyHtoDAsync, MOCK_INSIDE, -1, "apzh", to, from, bytes, stream))
        return call.code;
    return mock_leave(
        &call, copy_bytes(&call, device_range(&call, to, bytes), from, bytes, true, stream));
}

pool_cu_result mock_cu_MemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_MemcpyDtoHAsync, MOCK_INSIDE, -1, "pazh", to, from, bytes, stream))
        return call.code;
    return mock_leave(
        &call, copy_bytes(&call, to, device_range(&call, from, bytes), bytes, true, stream));
}

pool_cu_result mock_cu_MemcpyDtoDAsync(
    CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_MemcpyDtoDAsync, MOCK_INSIDE, -1, "aazh", to, from, bytes, stream))
        return call.code;
    void *target = device_range(&call, to, bytes);
    return mock_leave(
        &call, copy_bytes(&call, target, device_range(&call, from, bytes), bytes, true, stream));
}

/* The first byte of a side's rows, or NULL. */
static unsigned char *rows_of(
    const struct mock_call *call, const pool_cu_copy_side *side, size_t width, size_t height)
{
    size_t first = side->y * side->pitch + side->x_bytes;
    size_t extent = (height - 1) * side->pitch + width;

    if (height > 1 && side->pitch < width)
        return NULL;
    if (side->memory_type == MEMORYTYPE_HOST)
        return side->host ? (unsigned char *)side->host + first : NULL;
    if (side->memory_type != MEMORYTYPE_DEVICE)
        return NULL;
    return device_range(call, side->device + first, extent);
}

static pool_cu_result copy_rows(
    struct mock_call *call, const pool_cu_copy_2d *copy, CUstream stream)
{
    unsigned char *to, *from;
    pool_cu_result code;

    if (!copy)
        return POOL_CU_INVALID_VALUE;
    code = on_stream(call, true, stream);
    if (code || !copy->height || !copy->width_bytes)
        return code;
    to = rows_of(call, &copy->to, copy->width_bytes, copy->height);
    from = rows_of(call, &copy->from, copy->width_bytes, copy->height);
    if (!to || !from)
        return POOL_CU_INVALID_VALUE;
    for (size_t row = 0; row < copy->height && !call->is_captured; row++)
        memmove(to + row * copy->to.pitch, from + row * copy->from.pitch, copy->width_bytes);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_cu_Memcpy2DAsync(const pool_cu_copy_2d *copy, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_Memcpy2DAsync, MOCK_INSIDE, -1, "ph", copy, stream))
        return call.code;
    return mock_leave(&call, copy_rows(&call, copy, stream));
}

/* Checks that a range lies in memory of the given context's device. */
static pool_cu_result check_owner(
    const struct mock_call *call, CUdeviceptr address, CUcontext context)
{
    const struct mock_context *owner = mock_context_get(call->mock, context);
    const struct mock_memory *memory = mock_memory_at(call->mock, address);

    if (!owner)
        return POOL_CU_INVALID_CONTEXT;
    if (!memory || memory->device != owner->object.device)
        return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}

static pool_cu_result copy_peer(struct mock_call *call, CUdeviceptr to, CUcontext to_context,
    CUdeviceptr from, CUcontext from_context, size_t bytes, bool is_async, CUstream stream)
{
    pool_cu_result code = check_owner(call, to, to_context);

    if (code == POOL_CU_SUCCESS)
        code = check_owner(call, from, from_context);
    if (code)
        return code;
    void *target = device_range(call, to, bytes);
    return copy_bytes(call, target, device_range(call, from, bytes), bytes, is_async, stream);
}

pool_cu_result mock_cu_MemcpyPeer(
    CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemcpyPeer, MOCK_INSIDE, -1, "ahahz", to, to_context, from,
            from_context, bytes))
        return call.code;
    return mock_leave(
        &call, copy_peer(&call, to, to_context, from, from_context, bytes, false, NULL));
}

pool_cu_result mock_cu_MemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemcpyPeerAsync, MOCK_INSIDE, -1, "ahahzh", to, to_context, from,
            from_context, bytes, stream))
        return call.code;
    return mock_leave(
        &call, copy_peer(&call, to, to_context, from, from_context, bytes, true, stream));
}

/* ---- fills ----------------------------------------------------------------------------------- */

static pool_cu_result fill_range(struct mock_call *call, CUdeviceptr to, const void *value,
    size_t width, size_t count, bool is_async, CUstream stream)
{
    unsigned char *at;
    pool_cu_result code;

    if (count > SIZE_MAX / width || to % width != 0)
        return POOL_CU_INVALID_VALUE;
    at = device_range(call, to, count * width);
    if (count > 0 && !at)
        return POOL_CU_INVALID_VALUE;
    code = on_stream(call, is_async, stream);
    if (code || call->is_captured)
        return code;
    if (width == 1 && count > 0)
        memset(at, *(const unsigned char *)value, count);
    for (size_t i = 0; width > 1 && i < count; i++)
        memcpy(at + i * width, value, width);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_cu_MemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemsetD8, MOCK_INSIDE, -1, "auz", to, (unsigned)value, count))
        return call.code;
    return mock_leave(&call, fill_range(&call, to, &value, sizeof(value), count, false, NULL));
}

pool_cu_result mock_cu_MemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemsetD16, MOCK_INSIDE, -1, "auz", to, (unsigned)value, count))
        return call.code;
    return mock_leave(&call, fill_range(&call, to, &value, sizeof(value), count, false, NULL));
}

pool_cu_result mock_cu_MemsetD32(CUdeviceptr to, unsigned int value, size_t count)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemsetD32, MOCK_INSIDE, -1, "auz", to, value, count))
        return call.code;
    return mock_leave(&call, fill_range(&call, to, &value, sizeof(value), count, false, NULL));
}

pool_cu_result mock_cu_MemsetD8Async(
    CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemsetD8Async, MOCK_INSIDE, -1, "auzh", to, (unsigned)value,
            count, stream))
        return call.code;
    return mock_leave(&call, fill_range(&call, to, &value, sizeof(value), count, true, stream));
}

pool_cu_result mock_cu_MemsetD16Async(
    CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_MemsetD16Async, MOCK_INSIDE, -1, "auzh", to, (unsigned)value,
            count, stream))
        return call.code;
    return mock_leave(&call, fill_range(&call, to, &value, sizeof(value), count, true, stream));
}

pool_cu_result mock_cu_MemsetD32Async(
    CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_MemsetD32Async, MOCK_INSIDE, -1, "auzh", to, value, count, stream))
        return call.code;
    return mock_leave(&call, fill_range(&call, to, &value, sizeof(value), count, true, stream));
}
