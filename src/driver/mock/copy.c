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

/* A synchronous call has no stream. */
static pool_cu_result copy_bytes(
    struct mock_call *call, void *to, const void *from, size_t bytes, struct mock_stream *stream)
{
    if (bytes > 0 && (!to || !from))
        return POOL_CU_INVALID_VALUE;
    if (stream)
        mock_stream_work(call, stream);
    if (bytes > 0 && !call->is_captured)
        memmove(to, from, bytes);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemcpyHtoDAsync(struct mock_call *call, CUdeviceptr to, const void *from,
    size_t bytes, struct mock_stream *stream)
{
    return copy_bytes(call, device_range(call, to, bytes), from, bytes, stream);
}

pool_cu_result mock_do_MemcpyDtoHAsync(
    struct mock_call *call, void *to, CUdeviceptr from, size_t bytes, struct mock_stream *stream)
{
    return copy_bytes(call, to, device_range(call, from, bytes), bytes, stream);
}

pool_cu_result mock_do_MemcpyDtoDAsync(struct mock_call *call, CUdeviceptr to, CUdeviceptr from,
    size_t bytes, struct mock_stream *stream)
{
    void *target = device_range(call, to, bytes);

    return copy_bytes(call, target, device_range(call, from, bytes), bytes, stream);
}

pool_cu_result mock_do_MemcpyHtoD(
    struct mock_call *call, CUdeviceptr to, const void *from, size_t bytes)
{
    return mock_do_MemcpyHtoDAsync(call, to, from, bytes, NULL);
}

pool_cu_result mock_do_MemcpyDtoH(struct mock_call *call, void *to, CUdeviceptr from, size_t bytes)
{
    return mock_do_MemcpyDtoHAsync(call, to, from, bytes, NULL);
}

pool_cu_result mock_do_MemcpyDtoD(
    struct mock_call *call, CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return mock_do_MemcpyDtoDAsync(call, to, from, bytes, NULL);
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

pool_cu_result mock_do_Memcpy2DAsync(
    struct mock_call *call, const pool_cu_copy_2d *copy, struct mock_stream *stream)
{
    unsigned char *to, *from;

    mock_stream_work(call, stream);
    if (!copy->height || !copy->width_bytes)
        return POOL_CU_SUCCESS;
    to = rows_of(call, &copy->to, copy->width_bytes, copy->height);
    from = rows_of(call, &copy->from, copy->width_bytes, copy->height);
    if (!to || !from)
        return POOL_CU_INVALID_VALUE;
    for (size_t row = 0; row < copy->height && !call->is_captured; row++)
        memmove(to + row * copy->to.pitch, from + row * copy->from.pitch, copy->width_bytes);
    return POOL_CU_SUCCESS;
}

/* Checks that a range lies in memory of the given context's device. */
static pool_cu_result check_owner(
    const struct mock_call *call, CUdeviceptr address, const struct mock_context *owner)
{
    const struct mock_memory *memory = mock_memory_at(call->mock, address);

    if (!owner)
        return POOL_CU_INVALID_CONTEXT;
    if (!memory || memory->device != owner->object.device)
        return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_MemcpyPeerAsync(struct mock_call *call, CUdeviceptr to,
    struct mock_context *to_context, CUdeviceptr from, struct mock_context *from_context,
    size_t bytes, struct mock_stream *stream)
{
    pool_cu_result code = check_owner(call, to, to_context);

    if (code == POOL_CU_SUCCESS)
        code = check_owner(call, from, from_context);
    return code ? code : mock_do_MemcpyDtoDAsync(call, to, from, bytes, stream);
}

pool_cu_result mock_do_MemcpyPeer(struct mock_call *call, CUdeviceptr to,
    struct mock_context *to_context, CUdeviceptr from, struct mock_context *from_context,
    size_t bytes)
{
    return mock_do_MemcpyPeerAsync(call, to, to_context, from, from_context, bytes, NULL);
}

/* ---- fills ----------------------------------------------------------------------------------- */

static pool_cu_result fill_range(struct mock_call *call, CUdeviceptr to, const void *value,
    size_t width, size_t count, struct mock_stream *stream)
{
    unsigned char *at;

    if (count > SIZE_MAX / width || to % width != 0)
        return POOL_CU_INVALID_VALUE;
    at = device_range(call, to, count * width);
    if (count > 0 && !at)
        return POOL_CU_INVALID_VALUE;
    if (stream)
        mock_stream_work(call, stream);
    if (call->is_captured)
        return POOL_CU_SUCCESS;
    if (width == 1 && count > 0)
        memset(at, *(const unsigned char *)value, count);
    for (size_t i = 0; width > 1 && i < count; i++)
        memcpy(at + i * width, value, width);
    return POOL_CU_SUCCESS;
}

#define FILL(name, type)                                                                           \
    pool_cu_result mock_do_##name##Async(struct mock_call *call, CUdeviceptr to, type value,       \
        size_t count, struct mock_stream *stream)                                                  \
    {                                                                                              \
        return fill_range(call, to, &value, sizeof(value), count, stream);                         \
    }                                                                                              \
    pool_cu_result mock_do_##name(                                                                 \
        struct mock_call *call, CUdeviceptr to, type value, size_t count)                          \
    {                                                                                              \
        return fill_range(call, to, &value, sizeof(value), count, NULL);                           \
    }

FILL(MemsetD8, unsigned char)
FILL(MemsetD16, unsigned short)
FILL(MemsetD32, unsigned int)
