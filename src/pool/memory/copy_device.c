/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between buffers: on one device, with overlap, and from device to device.
 */
#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/cleanup.h"
#include "pool/device/counters.h"
#include "pool/memory/memory.h"
#include "pool/stream/capture.h"

/*
 * Overlapping ranges are copied in chunks no longer than their distance, which do not overlap. If
 * there were more chunks than this, the copy uses a scratch allocation instead.
 */
#define PIECES_MAX 64
#define SCRATCH_BYTES (64u << 20)

struct pair {
    CUdeviceptr to, from;
    uint64_t bytes;
    CUstream stream;
};

/* The start of chunk `i`, counted from the side at which no unread byte is overwritten. */
static uint64_t chunk_start(const struct pair *pair, uint64_t size, uint64_t i, uint64_t *bytes)
{
    uint64_t done = i * size;

    *bytes = pair->bytes - done < size ? pair->bytes - done : size;
    return pair->to < pair->from ? done : pair->bytes - done - *bytes;
}

static pool_status copy_chunks(
    struct device_memory *memory, const struct pair *pair, uint64_t most, CUdeviceptr scratch)
{
    struct driver *driver = memory->driver;
    uint64_t size = base_min(most, memory->parts.device);
    uint64_t chunks = base_ceil_div(pair->bytes, size);
    pool_status status = POOL_OK;

    for (uint64_t i = 0; !status && i < chunks; i++) {
        uint64_t bytes, start = chunk_start(pair, size, i, &bytes);
        CUdeviceptr to = pair->to + start, from = pair->from + start;

        if (scratch) {
            status =
                DRIVER_CALL_FOR(driver, MemcpyDtoDAsync(scratch, from, (size_t)bytes, pair->stream),
                    "%s", base_size_text(bytes).text);
            from = scratch;
        }
        if (!status)
            status = DRIVER_CALL_FOR(driver, MemcpyDtoDAsync(to, from, (size_t)bytes, pair->stream),
                "%s", base_size_text(bytes).text);
    }
    return status;
}

static pool_status copy_scratch(struct device_memory *memory, const struct pair *pair, int secret)
{
    struct memory_request request = {.ordered = 1, .stream = pair->stream, .secret = secret};
    struct base_error_copy first;
    CUdeviceptr scratch;
    pool_status status, released;

    request.bytes = base_min(pair->bytes, SCRATCH_BYTES);
    status = memory_allocate(memory, &request, &scratch);
    if (status)
        return status;
    status = copy_chunks(memory, pair, request.bytes, scratch);
    base_error_save(&first);
    released = memory_release(memory, &request, scratch);
    if (!status)
        return released;
    base_error_restore(&first);
    return status;
}

static pool_status copy_local(
    struct device_scope *scope, const struct pair *pair, const pool_stream *stream, int secret)
{
    uint64_t distance = pair->to < pair->from ? pair->from - pair->to : pair->to - pair->from;
    struct device_memory *memory;
    pool_status status;

    if (!distance)
        return POOL_OK;
    status = memory_of(scope, &memory);
    if (status)
        return status;
    if (distance >= pair->bytes || (pair->bytes - 1) / distance < PIECES_MAX)
        return copy_chunks(memory, pair, base_min(distance, pair->bytes), 0);
    if (stream_capture_of(stream)) /* a graph would have the address of temporary memory */
        return stream_refuse_captured(
            "pool_copy_device", stream, "overlapping copies over a small distance");
    return copy_scratch(memory, pair, secret);
}

struct peer_copy {
    struct driver_queue *queue; /* of the copy's stream */
    struct pair pair;
    struct device_memory *to, *from; /* of both devices */
    pool_device *stream_device;      /* the stream's device */
    int priority;                    /* of the stream */
    int secret;
};

/* One side of a copy through the host; it is complete when this returns, also after a failure. */
static pool_status copy_one_side(struct device_memory *side, CUstream stream, void *slots,
    CUdeviceptr address, size_t bytes, int outward)
{
    struct base_error_copy first;
    struct device_scope scope;
    pool_status status = device_enter(side->device, &scope), waited;

    if (status)
        return status;
    if (outward)
        status = DRIVER_CALL_FOR(side->driver, MemcpyDtoHAsync(slots, address, bytes, stream), "%s",
            base_size_text(bytes).text);
    else
        status = DRIVER_CALL_FOR(side->driver, MemcpyHtoDAsync(address, slots, bytes, stream), "%s",
            base_size_text(bytes).text);
    base_error_save(&first);
    waited = DRIVER_CLEANUP(side->driver, StreamSynchronize(stream));
    if (status)
        base_error_restore(&first);
    else
        status = waited;
    return device_leave(&scope, status);
}

/*
 * Secrets between devices that cannot address each other: in chunks through the library's staging
 * ring, because the driver does not overwrite its staging memory. The device to which `stream` does
 * not belong uses its internal stream, and every copy on that is waited for.
 */
static pool_status copy_secret_by_host(struct peer_copy *copy)
{
    int to_runs = device_is_same_gpu(copy->stream_device, copy->to->device);
    struct device_memory *here = to_runs ? copy->to : copy->from;
    CUstream out = to_runs ? copy->from->alloc_order : copy->pair.stream;
    CUstream in = to_runs ? copy->pair.stream : copy->to->alloc_order;
    struct memory_ring *ring;
    uint64_t size;
    pool_status status = DRIVER_CALL(here->driver, StreamSynchronize(copy->pair.stream));

    if (!status)
        status =
            memory_ring_acquire(here, copy->pair.bytes, copy->pair.stream, copy->priority, &ring);
    if (status)
        return status;
    size = memory_ring_bytes(ring);
    for (uint64_t done = 0; !status && done < copy->pair.bytes; done += size) {
        uint64_t left = copy->pair.bytes - done;
        size_t bytes = base_min(left, size);

        status = copy_one_side(copy->from, out, ring->slots, copy->pair.from + done, bytes, 1);
        if (!status)
            status = copy_one_side(copy->to, in, ring->slots, copy->pair.to + done, bytes, 0);
    }
    if (!status || device_has_context(here->device))
        base_wipe(ring->slots, (size_t)size);
    memory_ring_release(here, ring);
    return status;
}

static pool_status copy_peer_parts(
    struct driver *driver, const struct peer_copy *copy, uint64_t most)
{
    const struct pair *pair = &copy->pair;
    pool_status status = POOL_OK;

    for (uint64_t done = 0, bytes; done < pair->bytes && !status; done += bytes) {
        bytes = base_min(pair->bytes - done, most);
        status = DRIVER_CALL_FOR(driver,
            MemcpyPeerAsync(pair->to + done, copy->to->context, pair->from + done,
                copy->from->context, (size_t)bytes, pair->stream),
            "%s from device %d to device %d", base_size_text(bytes).text,
            pool_device_ordinal(copy->from->device), pool_device_ordinal(copy->to->device));
    }
    return status;
}

static pool_status copy_peer(struct peer_copy *copy)
{
    int to_runs = device_is_same_gpu(copy->stream_device, copy->to->device), direct = 0;
    struct device_memory *here = to_runs ? copy->to : copy->from;
    struct device_memory *there = to_runs ? copy->from : copy->to;
    struct device_scope scope;
    pool_status status = memory_grant_access(there, here, &direct);

    if (!status)
        status = device_enter(copy->stream_device, &scope);
    if (status)
        return status;
    driver_work_begin(copy->queue);
    if (copy->secret && !direct)
        status = copy_secret_by_host(copy);
    else
        status = copy_peer_parts(scope.driver, copy, here->parts.peer);
    driver_work_returned(copy->queue);
    return device_leave(&scope, status);
}

static pool_status copy_between_devices(struct peer_copy *copy, pool_device *to, pool_device *from)
{
    pool_status status;

    if (device_driver(to) != device_driver(from))
        return base_fail(POOL_ERR_WRONG_DEVICE, "the buffers belong to different drivers");
    status = memory_of_both(to, from, &copy->to, &copy->from);
    return status ? status : copy_peer(copy);
}

/* The stream's device, which must be that of either buffer; without a stream the destination's. */
static pool_status choose_device(
    pool_device *to, pool_device *from, const pool_stream *stream, struct peer_copy *copy)
{
    pool_status status;

    copy->stream_device = to;
    if (stream && stream_check(__func__, stream) == POOL_OK &&
        device_is_same_gpu(stream->device, from))
        copy->stream_device = from;
    status = stream_handle_of_work_on_gpu(stream, &copy->stream_device, &copy->pair.stream);
    copy->queue = stream_queue_on(stream, copy->stream_device);
    copy->priority = stream_priority_on(stream, copy->stream_device);
    return status;
}

static pool_status wait_default(pool_device *device, CUstream handle)
{
    struct device_scope scope;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    return device_leave(
        &scope, stream_synchronize(scope.driver, handle, stream_queue_on(NULL, device)));
}

pool_status pool_copy_device(pool_buffer *to, uint64_t to_offset, const pool_buffer *from,
    uint64_t from_offset, uint64_t bytes, pool_stream *stream)
{
    struct peer_copy copy = {.pair = {.bytes = bytes}};
    struct device_scope scope;
    bool is_local = false;
    pool_status status = memory_check_range("pool_copy_device", to, to_offset, bytes, "to");

    if (!status)
        status = memory_check_range("pool_copy_device", from, from_offset, bytes, "from");
    if (!status)
        is_local = device_is_same_gpu(to->device, from->device);
    if (!status)
        status = choose_device(to->device, from->device, stream, &copy);
    if (!status && !is_local && stream_capture_of(stream))
        status = stream_refuse_captured("pool_copy_device", stream, "copies between devices");
    if (status)
        return status;
    copy.pair.to = to->address + to_offset;
    copy.pair.from = from->address + from_offset;
    copy.secret = memory_is_secret(to) || memory_is_secret(from);
    status = device_enter(copy.stream_device, &scope);
    if (status)
        return status;
    status = memory_check_renewals(to);
    if (!status)
        status = memory_check_renewals(from);
    if (!status && bytes && is_local)
        status = copy_local(&scope, &copy.pair, stream, copy.secret);
    status = device_leave(&scope, status);
    if (!status && bytes && !is_local)
        status = copy_between_devices(&copy, to->device, from->device);
    if (!status)
        device_count_copy(
            copy.stream_device, is_local ? COUNTER_COPY_ON_DEVICE : COUNTER_COPY_TO_PEER, bytes);
    if (!status && bytes && !stream)
        status = wait_default(copy.stream_device, copy.pair.stream);
    return status;
}
