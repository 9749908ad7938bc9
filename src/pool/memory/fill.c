/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling buffers with a value of 8, 16 or 32 bits.
 */
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/memory/memory.h"

static pool_cu_result enqueue_fill(const pool_cuda_api *api, CUdeviceptr to, uint32_t value,
    unsigned width, size_t count, CUstream stream)
{
    if (width == 1)
        return api->MemsetD8Async(to, (unsigned char)value, count, stream);
    if (width == 2)
        return api->MemsetD16Async(to, (unsigned short)value, count, stream);
    return api->MemsetD32Async(to, value, count, stream);
}

pool_status memory_fill(struct device_memory *memory, const struct memory_fill *fill)
{
    static const char *const names[] = {"cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async"};
    const uint64_t most = memory->parts.device / fill->width;
    pool_status status = POOL_OK;

    for (uint64_t done = 0, count; done < fill->count && !status; done += count) {
        count = base_min(fill->count - done, most);
        status = DRIVER_CHECK_FOR(memory->driver,
            enqueue_fill(&memory->driver->api, fill->to + done * fill->width, fill->value,
                fill->width, (size_t)count, fill->stream),
            names[fill->width / 2], "%llu values of %s", (unsigned long long)count,
            base_size_text(fill->width).text);
    }
    return status;
}

static pool_status fill_buffer(const char *call, pool_buffer *buffer, uint64_t offset,
    uint64_t count, uint32_t value, unsigned width, pool_stream *stream)
{
    struct memory_fill fill = {.count = count, .value = value, .width = width};
    struct device_memory *memory;
    pool_device *device;
    struct device_scope scope;
    uint64_t bytes;
    pool_status status = memory_check_range(call, buffer, offset, 0, "buffer");

    if (status)
        return status;
    if (__builtin_mul_overflow(count, (uint64_t)width, &bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %llu values of %s do not fit in memory",
            call, (unsigned long long)count, base_size_text(width).text);
    status = memory_check_range(call, buffer, offset, bytes, "buffer");
    if (status)
        return status;
    if ((buffer->address + offset) % width)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "address 0x%llx plus offset %llu is not a multiple of %u", buffer->address,
            (unsigned long long)offset, width);
    device = buffer->device;
    fill.to = buffer->address + offset;
    status = stream_handle_of_work_on_gpu(stream, &device, &fill.stream);
    if (!status)
        status = memory_enter(buffer, device, &scope);
    if (status)
        return status;
    status = memory_of(&scope, &memory);
    if (!status && count) {
        struct driver_queue *queue = stream_queue_on(stream, device);

        driver_work_begin(queue);
        status = memory_fill(memory, &fill);
        driver_work_returned(queue);
        if (!status && !stream)
            status = stream_synchronize(scope.driver, fill.stream, queue);
    }
    return device_leave(&scope, status);
}

pool_status pool_buffer_fill8(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint8_t value, pool_stream *stream)
{
    return fill_buffer(__func__, buffer, offset, count, value, 1, stream);
}

pool_status pool_buffer_fill16(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint16_t value, pool_stream *stream)
{
    return fill_buffer(__func__, buffer, offset, count, value, 2, stream);
}

pool_status pool_buffer_fill32(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint32_t value, pool_stream *stream)
{
    return fill_buffer(__func__, buffer, offset, count, value, 4, stream);
}

pool_status memory_clear_words(
    pool_device *device, pool_stream *stream, CUdeviceptr words, uint64_t count)
{
    struct memory_fill fill = {.to = words, .count = count, .width = sizeof(uint32_t)};
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = stream_handle_of_work(stream, device, &fill.stream);

    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = memory_of(&scope, &memory);
    return device_leave(&scope, status ? status : memory_fill(memory, &fill));
}
