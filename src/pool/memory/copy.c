/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between the host and a device: direct for pinned memory, staged for pageable memory.
 */
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/counters.h"
#include "pool/memory/memory.h"
#include "pool/stream/capture.h"

struct host_copy {
    struct memory_transfer transfer;
    struct driver_queue *queue; /* of the stream */
    const pool_buffer *buffer;
    int waits;                   /* the stream is NULL */
    const pool_stream *captured; /* the stream, if a graph is captured from it */
    int to_host;
};

static pool_status check_copy(const char *call, const struct host_copy *copy, uint64_t offset)
{
    uint64_t bytes = copy->transfer.bytes;
    uintptr_t host = (uintptr_t)copy->transfer.host;
    pool_status status =
        memory_check_range(call, copy->buffer, offset, bytes, copy->to_host ? "from" : "to");

    if (status)
        return status;
    if (bytes && !host)
        return base_fail_null(call, copy->to_host ? "to" : "from");
    if (bytes > SIZE_MAX || host + (uintptr_t)bytes < host)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %s at %p extend beyond the end of the address space", call,
            base_size_text(bytes).text, copy->transfer.host);
    return POOL_OK;
}

/* One driver call; its accesses to pageable memory are complete when it returns. */
static pool_status copy_direct(
    struct device_memory *memory, const struct memory_transfer *t, int to_host)
{
    struct driver *driver = memory->driver;
    pool_status status = POOL_OK;

    for (uint64_t done = 0, part; done < t->bytes && !status; done += part) {
        const CUdeviceptr device = t->device + done;
        unsigned char *host = t->host + done;
        size_t bytes = (size_t)(part = base_min(t->bytes - done, memory->parts.link));

        if (to_host)
            status = DRIVER_CALL_FOR(driver, MemcpyDtoHAsync(host, device, bytes, t->stream), "%s",
                base_size_text(bytes).text);
        else
            status = DRIVER_CALL_FOR(driver, MemcpyHtoDAsync(device, host, bytes, t->stream), "%s",
                base_size_text(bytes).text);
    }
    return status;
}

/*
 * Pageable copies to the host exclude each other in a context, the waits for their streams
 * included: beside kernels of 40 ms with such a copy of 1 KiB or more, another thread's copy took
 * 40 ms to 1.7 s (H100, driver 580.159). So the driver gets none of any size.
 *
 * To the device, copies of up to 64 KiB do not wait: the driver copies the bytes into its command
 * buffer, and does not exclude others (measured to 64 KiB; from 1 MiB on it does). A staged copy
 * would cost an event and a slot more. The driver does not overwrite its memory, so secrets do not
 * pass through it.
 */
pool_status memory_copy_pageable(
    struct device_memory *memory, const struct memory_transfer *transfer, int to_host)
{
    struct driver *driver = memory->driver;
    pool_status status;

    if (!to_host && !transfer->secret &&
        transfer->bytes <= memory->staging.large.shape.direct_bytes)
        return copy_direct(memory, transfer, to_host);
    status = to_host ? memory_stage_out(memory, transfer) : memory_stage_in(memory, transfer);
    if (status != POOL_ERR_OUT_OF_HOST_MEMORY || transfer->secret)
        return status;
    status = copy_direct(memory, transfer, to_host);
    if (!status && to_host)
        status = DRIVER_CALL(driver, StreamSynchronize(transfer->stream));
    return status;
}

static pool_status copy_inside(struct device_scope *scope, const struct host_copy *copy)
{
    const struct memory_transfer *t = &copy->transfer;
    struct device_memory *memory;
    enum memory_kind place;
    struct trace_range range;
    pool_status status = memory_kind_of(scope->driver, t->host, t->bytes, &place);

    if (!status)
        status = memory_of(scope, &memory);
    if (status)
        return status;
    if (place == MEMORY_ON_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%p is device memory: use pool_buffer_adopt and pool_copy_device", (void *)t->host);
    if (copy->captured && place == MEMORY_PAGEABLE)
        return stream_refuse_captured(copy->to_host ? "pool_copy_to_host" : "pool_copy_to_device",
            copy->captured, MEMORY_PAGEABLE_COPY);
    trace_begin(&range, POOL_TRACE_COPY, copy->to_host ? "download" : "upload", "",
        pool_device_ordinal(scope->device), t->bytes);
    driver_work_begin(copy->queue);
    if (place == MEMORY_PAGEABLE)
        status = memory_copy_pageable(memory, t, copy->to_host);
    else
        status = copy_direct(memory, t, copy->to_host);
    driver_work_returned(copy->queue);
    if (!status)
        device_count_copy(
            scope->device, copy->to_host ? COUNTER_COPY_TO_HOST : COUNTER_COPY_TO_DEVICE, t->bytes);
    if (!status && copy->waits) {
        status = stream_synchronize(scope->driver, t->stream, copy->queue);
    } else if (copy->waits && pool_status_class(status) == POOL_CLASS_CALL) {
        /* Earlier parts of the copy still use the host's memory. */
        struct base_error_copy first;

        base_error_save(&first);
        (void)stream_synchronize(scope->driver, t->stream, copy->queue);
        base_error_restore(&first);
    }
    return trace_end(&range, status);
}

static pool_status copy_host(
    const char *call, struct host_copy *copy, uint64_t offset, pool_stream *stream)
{
    pool_device *device = NULL;
    struct device_scope scope;
    pool_status status = check_copy(call, copy, offset);

    if (!status)
        device = copy->buffer->device;
    if (!status)
        status = stream_handle_of_work_on_gpu(stream, &device, &copy->transfer.stream);
    if (status)
        return status;
    copy->transfer.device = copy->buffer->address + offset;
    copy->transfer.priority = stream_priority_on(stream, device);
    copy->transfer.secret = memory_is_secret(copy->buffer);
    copy->waits = !stream;
    copy->captured = stream_capture_of(stream) ? stream : NULL;
    copy->queue = stream_queue_on(stream, device);
    status = memory_enter(copy->buffer, device, &scope);
    if (status)
        return status;
    return device_leave(&scope, copy->transfer.bytes ? copy_inside(&scope, copy) : POOL_OK);
}

pool_status pool_copy_to_device(
    pool_buffer *to, uint64_t offset, const void *from, uint64_t bytes, pool_stream *stream)
{
    struct host_copy copy = {.buffer = to};

    copy.transfer.host = (unsigned char *)(uintptr_t)from; /* only read, see `to_host` */
    copy.transfer.bytes = bytes;
    return copy_host(__func__, &copy, offset, stream);
}

pool_status pool_copy_to_host(
    void *to, const pool_buffer *from, uint64_t offset, uint64_t bytes, pool_stream *stream)
{
    struct host_copy copy = {.buffer = from, .to_host = 1};

    copy.transfer.host = to;
    copy.transfer.bytes = bytes;
    return copy_host(__func__, &copy, offset, stream);
}
