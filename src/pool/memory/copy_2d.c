/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of rows that are not adjacent, within a device or between it and the host.
 */
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "pool/device/counters.h"
#include "pool/memory/memory.h"
#include "pool/stream/capture.h"

struct rows_copy {
    pool_pitched to, from; /* with their pitches */
    pool_device *device;
    uint64_t row_bytes, rows;
    CUstream stream;
    int priority; /* of the stream */
    struct driver_queue *queue;
    bool waits;     /* the stream is NULL */
    bool is_secret; /* either buffer is */
};

/* Bytes from the first row's start to the last one's end. */
static uint64_t extent_of(const struct rows_copy *copy, const pool_pitched *side)
{
    return (copy->rows - 1) * side->pitch + copy->row_bytes;
}

static pool_status check_side(const struct rows_copy *copy, pool_pitched *side, const char *name)
{
    uint64_t extent;

    if (!side->pitch)
        side->pitch = copy->row_bytes;
    if (side->pitch < copy->row_bytes || side->pitch > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_copy_2d: unsupported value %llu for `%s->pitch`: rows have %llu bytes, and the "
            "maximum is 2^31-1",
            (unsigned long long)side->pitch, name, (unsigned long long)copy->row_bytes);
    if (copy->rows > UINT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_copy_2d: unsupported value %llu for `rows`: the maximum is 2^32-1",
            (unsigned long long)copy->rows);
    extent = extent_of(copy, side);
    if (side->buffer) {
        if (side->host)
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "pool_copy_2d: `%s` has both `buffer` and `host`", name);
        return memory_check_range("pool_copy_2d", side->buffer, side->offset, extent, name);
    }
    if (!side->host || side->offset)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_copy_2d: `%s` has no `buffer`, so `host` must not be NULL and `offset` must be 0",
            name);
    if ((uintptr_t)side->host + extent < (uintptr_t)side->host)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_copy_2d: the rows of `%s` extend beyond the end of the address space", name);
    return POOL_OK;
}

static pool_status check_copy(struct rows_copy *copy)
{
    pool_status status = check_side(copy, &copy->to, "to");

    if (!status)
        status = check_side(copy, &copy->from, "from");
    if (status)
        return status;
    if (!copy->to.buffer && !copy->from.buffer)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_copy_2d: both sides are host memory; at least one must be a buffer");
    copy->device = copy->to.buffer ? copy->to.buffer->device : copy->from.buffer->device;
    if (copy->from.buffer && !device_is_same_gpu(copy->from.buffer->device, copy->device))
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_copy_2d: the buffers belong to devices %d and %d; copy the rows by "
            "pool_copy_device",
            pool_device_ordinal(copy->to.buffer->device),
            pool_device_ordinal(copy->from.buffer->device));
    copy->is_secret = (copy->to.buffer && memory_is_secret(copy->to.buffer)) ||
                      (copy->from.buffer && memory_is_secret(copy->from.buffer));
    return POOL_OK;
}

/* Rows that are adjacent on both sides are one range: the driver copies them row by row. */
static bool is_linear(const struct rows_copy *copy)
{
    return copy->to.pitch == copy->row_bytes && copy->from.pitch == copy->row_bytes;
}

static pool_status copy_linear(const struct rows_copy *copy, pool_stream *stream)
{
    uint64_t bytes = copy->rows * copy->row_bytes;

    if (!copy->from.buffer)
        return pool_copy_to_device(
            copy->to.buffer, copy->to.offset, copy->from.host, bytes, stream);
    if (!copy->to.buffer)
        return pool_copy_to_host(
            copy->to.host, copy->from.buffer, copy->from.offset, bytes, stream);
    return pool_copy_device(
        copy->to.buffer, copy->to.offset, copy->from.buffer, copy->from.offset, bytes, stream);
}

/* Rows of pageable memory that do not fit into a slot. */
static pool_status copy_by_rows(const struct rows_copy *copy, pool_stream *stream)
{
    pool_status status = POOL_OK;

    for (uint64_t row = 0; row < copy->rows && !status; row++) {
        const uint64_t to = row * copy->to.pitch, from = row * copy->from.pitch;

        if (copy->to.buffer)
            status = pool_copy_to_device(copy->to.buffer, copy->to.offset + to,
                (const unsigned char *)copy->from.host + from, copy->row_bytes, stream);
        else
            status = pool_copy_to_host((unsigned char *)copy->to.host + to, copy->from.buffer,
                copy->from.offset + from, copy->row_bytes, stream);
    }
    return status;
}

static pool_cu_copy_side side_of(const pool_pitched *side)
{
    return (pool_cu_copy_side){
        .memory_type = side->buffer ? DRIVER_MEMORYTYPE_DEVICE : DRIVER_MEMORYTYPE_HOST,
        .host = side->host,
        .device = side->buffer ? side->buffer->address + side->offset : 0,
        .pitch = (size_t)side->pitch};
}

static pool_status copy_direct(struct driver *driver, const struct rows_copy *copy)
{
    const pool_cu_copy_2d rows = {.from = side_of(&copy->from),
        .to = side_of(&copy->to),
        .width_bytes = (size_t)copy->row_bytes,
        .height = (size_t)copy->rows};

    return DRIVER_CALL_FOR(driver, Memcpy2DAsync(&rows, copy->stream), "%llu rows of %llu bytes",
        (unsigned long long)copy->rows, (unsigned long long)copy->row_bytes);
}

/* Through staging memory, or by the driver where that cannot be pinned. */
static pool_status copy_pageable(
    struct driver *driver, struct device_memory *memory, const struct rows_copy *copy)
{
    const bool to_host = !copy->to.buffer;
    const pool_pitched *host = to_host ? &copy->to : &copy->from;
    const pool_pitched *side = to_host ? &copy->from : &copy->to;
    const struct memory_transfer transfer = {.host = host->host,
        .device = side->buffer->address + side->offset,
        .bytes = copy->rows * copy->row_bytes,
        .stream = copy->stream,
        .priority = copy->priority,
        .secret = copy->is_secret,
        .row_bytes = copy->row_bytes,
        .host_pitch = host->pitch,
        .device_pitch = side->pitch};
    pool_status status =
        to_host ? memory_stage_out(memory, &transfer) : memory_stage_in(memory, &transfer);

    if (status != POOL_ERR_OUT_OF_HOST_MEMORY || copy->is_secret)
        return status;
    status = copy_direct(driver, copy);
    return status ? status : DRIVER_CALL(driver, StreamSynchronize(copy->stream));
}

static pool_status copy_inside(struct device_scope *scope, struct device_memory *memory,
    const struct rows_copy *copy, bool is_pageable)
{
    pool_status status;

    driver_work_begin(copy->queue);
    status =
        is_pageable ? copy_pageable(scope->driver, memory, copy) : copy_direct(scope->driver, copy);
    driver_work_returned(copy->queue);
    if (!status)
        device_count_copy(scope->device,
            !copy->to.buffer     ? COUNTER_COPY_TO_HOST
            : !copy->from.buffer ? COUNTER_COPY_TO_DEVICE
                                 : COUNTER_COPY_ON_DEVICE,
            copy->rows * copy->row_bytes);
    if (!status && copy->waits)
        status = stream_synchronize(scope->driver, copy->stream, copy->queue);
    return status;
}

/* The kind of the host side's memory; ON_DEVICE where there is none. */
static pool_status find_host_kind(
    struct device_scope *scope, const struct rows_copy *copy, enum memory_kind *kind)
{
    const pool_pitched *host = copy->to.buffer ? &copy->from : &copy->to;
    pool_status status;

    *kind = MEMORY_ON_DEVICE;
    if (host->buffer)
        return POOL_OK;
    status = memory_kind_of(scope->driver, host->host, extent_of(copy, host), kind);
    if (!status && *kind == MEMORY_ON_DEVICE)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_copy_2d: %p is device memory: use pool_buffer_adopt", host->host);
    return status;
}

pool_status pool_copy_2d(const pool_pitched *to, const pool_pitched *from, uint64_t row_bytes,
    uint64_t rows, pool_stream *stream)
{
    struct rows_copy copy = {.row_bytes = row_bytes, .rows = rows, .waits = !stream};
    enum memory_kind kind = MEMORY_ON_DEVICE;
    struct device_memory *memory;
    struct device_scope scope;
    bool by_rows = false;
    pool_status status = base_check_pointers("pool_copy_2d", {"to", to}, {"from", from});

    if (status)
        return status;
    copy.to = *to;
    copy.from = *from;
    if (!row_bytes || !rows)
        return POOL_OK;
    status = check_copy(&copy);
    if (!status && is_linear(&copy))
        return copy_linear(&copy, stream);
    if (!status)
        status = stream_handle_of_work_on_gpu(stream, &copy.device, &copy.stream);
    if (!status && !device_driver(copy.device)->api.Memcpy2DAsync)
        status = base_fail(
            POOL_ERR_UNSUPPORTED, "pool_copy_2d: the driver's table has no cuMemcpy2DAsync");
    if (status)
        return status;
    copy.queue = stream_queue_on(stream, copy.device);
    copy.priority = stream_priority_on(stream, copy.device);
    status = device_enter(copy.device, &scope);
    if (status)
        return status;
    status = copy.to.buffer ? memory_check_renewals(copy.to.buffer) : POOL_OK;
    if (!status && copy.from.buffer)
        status = memory_check_renewals(copy.from.buffer);
    if (!status)
        status = memory_of(&scope, &memory);
    if (!status)
        status = find_host_kind(&scope, &copy, &kind);
    if (!status && kind == MEMORY_PAGEABLE && stream_capture_of(stream))
        status = stream_refuse_captured("pool_copy_2d", stream, MEMORY_PAGEABLE_COPY);
    if (!status)
        by_rows = kind == MEMORY_PAGEABLE && row_bytes > memory_longest_row(memory);
    if (!status && !by_rows)
        status = copy_inside(&scope, memory, &copy, kind == MEMORY_PAGEABLE);
    status = device_leave(&scope, status);
    return status || !by_rows ? status : copy_by_rows(&copy, stream);
}
