/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling buffers with a value of 8, 16 or 32 bits.
 */
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

static pool_status fill_buffer(const char *call, pool_buffer *buffer, uint64_t offset,
    uint64_t count, uint32_t value, unsigned width, pool_stream *stream)
{
    static const char *const names[] = {"cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async"};
    pool_device *device;
    struct device_scope scope;
    CUstream handle = NULL;
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
    status = stream_handle_of_work_on_gpu(stream, &device, &handle);
    if (!status)
        status = memory_enter(buffer, device, &scope);
    if (status)
        return status;
    if (count) {
        struct driver_queue *queue = stream_queue_on(stream, device);

        driver_work_begin(queue);
        status = DRIVER_CHECK_FOR(scope.driver,
            enqueue_fill(
                &scope.driver->api, buffer->address + offset, value, width, (size_t)count, handle),
            names[width / 2], "%llu values of %s", (unsigned long long)count,
            base_size_text(width).text);
        driver_work_returned(queue);
        if (!status && !stream)
            status = stream_synchronize(scope.driver, handle, queue);
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
    struct device_scope scope;
    CUstream handle = NULL;
    pool_status status = stream_handle_of_work(stream, device, &handle);

    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = DRIVER_CALL_FOR(scope.driver, MemsetD32Async(words, 0, count, handle), "%s",
        base_size_text(count * 4).text);
    return device_leave(&scope, status);
}
