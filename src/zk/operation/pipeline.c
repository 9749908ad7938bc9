/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory streamed through a device: see pipeline.h. */
#include "zk/operation/pipeline.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/math.h"
#include "base/status.h"
#include "pool/stream/capture.h"
#include "zk/operation/slices.h"

static_assert((int)STREAM_SET_STREAMS == (int)PIPELINE_SLOTS, "one stream per slot");

/* Device memory for a slot's part of a span in host memory. */
struct staging {
    pool_buffer *buffer; /* NULL for a span in device memory */
    CUdeviceptr address;
    uint64_t stride;
    unsigned char *packed; /* host memory that strided items are copied through */
};

struct slot {
    struct pipeline_chunk chunk;
    /* SLOT_UPLOADING: the chunk is set, and its uploads are in progress. */
    enum { SLOT_IDLE, SLOT_UPLOADING, SLOT_COMPUTED, SLOT_ENQUEUED } state;
    struct staging in[PIPELINE_INPUTS];
    struct staging out;
    pool_buffer *scratch;
    CUdeviceptr scratch_address;
};

struct run {
    const struct pipeline *pipeline;
    uint64_t next_item;
    struct stream_set *set; /* NULL with one slot */
    pool_event *ordered;    /* orders two streams at a time */
    struct slot slots[PIPELINE_SLOTS];
    uint64_t begun;     /* chunks, up to the one whose uploads have begun */
    bool has_all;       /* there is no other chunk */
    pool_status status; /* of uploads ahead */
};

/* A part of an upload ahead: 0.4 ms of staging. */
#define UPLOAD_PART_BYTES (UINT64_C(8) << 20)

static pool_stream *copy_stream(const struct run *run, const struct slot *slot)
{
    if (!run->set)
        return run->pipeline->target.stream;
    return run->set->stream[run->pipeline->is_serial ? 0 : slot - run->slots];
}

static pool_stream *compute_stream(const struct run *run, const struct slot *slot)
{
    return run->pipeline->is_serial ? run->pipeline->target.stream : copy_stream(run, slot);
}

/* With `is_serial`: recorded after the computation of the slot's chunk. */
static pool_event *computed_event(const struct run *run, const struct slot *slot)
{
    return run->set->event[slot - run->slots];
}

static bool orders_stages(const struct run *run)
{
    return run->set && run->pipeline->is_serial;
}

static bool orders_uploads(const struct run *run)
{
    return orders_stages(run) && (run->pipeline->upload || run->pipeline->in[0].span);
}

static bool orders_downloads(const struct run *run)
{
    return orders_stages(run) && (run->pipeline->download || run->pipeline->out.span);
}

pool_status pipeline_order_streams(pool_event *event, pool_stream *earlier, pool_stream *later)
{
    pool_status status = pool_event_record(event, earlier);

    return status ? status : pool_stream_wait_event(later, event);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool is_strided(const struct pipeline_span *spec)
{
    return span_stride(spec->span, spec->item_bytes) != spec->item_bytes;
}

static pool_status alloc_staging(const struct pipeline *pipeline, const struct pipeline_span *spec,
    struct staging *staging, const struct exec_target *target)
{
    uint64_t items = pipeline->chunk_items;
    bool is_output = spec == &pipeline->out, has_gaps;

    if (!spec->span || spec->span->space == POOL_MEMORY_DEVICE || items == 0)
        return POOL_OK;
    has_gaps = is_strided(spec) && !is_output && !spec->packs;
    staging->stride = has_gaps ? spec->span->stride : spec->item_bytes;
    if (is_strided(spec) && !has_gaps) {
        staging->packed = base_calloc(items, spec->item_bytes);
        if (!staging->packed)
            return base_fail_memory("a buffer for strided items");
    }
    if (is_output && pipeline->is_in_place)
        return POOL_OK;
    return scratch_allocate(target, (items - 1) * staging->stride + spec->item_bytes,
        &staging->buffer, &staging->address);
}

static pool_status free_staging(
    struct staging *staging, const struct exec_target *target, pool_status status)
{
    base_free(staging->packed);
    return scratch_free(target, &staging->buffer, status);
}

/* The chunk's items in the caller's memory. */
static pool_span slice_of(const struct pipeline_span *spec, const struct pipeline_chunk *chunk)
{
    pool_span slice = *spec->span;

    if (chunk->first)
        slice.data = (uint8_t *)slice.data + chunk->first * span_stride(&slice, spec->item_bytes);
    slice.count = chunk->count;
    return slice;
}

/* The chunk's items in device memory. */
static pool_span staged_span(const struct pipeline_span *spec, const struct staging *staging,
    const struct pipeline_chunk *chunk)
{
    pool_span span = {0};

    if (spec->span)
        span = slice_of(spec, chunk);
    if (staging->buffer) {
        span.data = (void *)(uintptr_t)staging->address;
        span.stride = staging->stride;
        span.space = POOL_MEMORY_DEVICE;
    }
    return span;
}

void pipeline_upload(struct pipeline_chunk *chunk, pool_buffer *buffer, uint64_t offset,
    const void *host, uint64_t bytes)
{
    assert(chunk->upload_count < PIPELINE_COPIES);
    chunk->uploads[chunk->upload_count++] =
        (struct pipeline_copy){.buffer = buffer, .offset = offset, .host = host, .bytes = bytes};
}

static void upload_span(
    const struct pipeline_span *spec, const struct staging *staging, struct pipeline_chunk *chunk)
{
    uint64_t item_bytes = spec->item_bytes;
    pool_span slice;

    if (!staging->buffer)
        return;
    slice = slice_of(spec, chunk);
    for (uint64_t i = 0; staging->packed && i < slice.count; i++)
        memcpy(staging->packed + i * item_bytes, (const uint8_t *)slice.data + i * slice.stride,
            item_bytes);
    pipeline_upload(chunk, staging->buffer, 0, staging->packed ? staging->packed : slice.data,
        (slice.count - 1) * staging->stride + item_bytes);
}

/* The bytes between strided items must not be written, so the host scatters them. */
static pool_status download_span(const struct pipeline_span *spec, const struct staging *staging,
    const struct pipeline_chunk *chunk)
{
    uint64_t item_bytes = spec->item_bytes;
    pool_span slice;
    pool_status status;

    if (!spec->span || spec->span->space == POOL_MEMORY_DEVICE || chunk->count == 0)
        return POOL_OK;
    slice = slice_of(spec, chunk);
    status = pool_copy_to_host(staging->packed ? staging->packed : slice.data, chunk->result,
        chunk->result_offset, slice.count * item_bytes, chunk->target.stream);
    if (status || !staging->packed)
        return status;
    status = pool_stream_synchronize(chunk->target.stream);
    for (uint64_t i = 0; i < slice.count && !status; i++)
        memcpy(
            (uint8_t *)slice.data + i * slice.stride, staging->packed + i * item_bytes, item_bytes);
    return status;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* False past the last one. */
static bool set_next_chunk(struct run *run, struct slot *slot)
{
    const struct pipeline *pipeline = run->pipeline;
    struct pipeline_chunk *chunk = &slot->chunk;
    uint64_t rest = pipeline->count - run->next_item;

    *chunk = (struct pipeline_chunk){.slot = (uint32_t)(slot - run->slots),
        .first = run->next_item,
        .target = pipeline->target,
        .scratch = slot->scratch_address};
    if (pipeline->next)
        return pipeline->next(pipeline->user, chunk);
    chunk->count = rest < pipeline->chunk_items ? rest : pipeline->chunk_items;
    run->next_item += chunk->count;
    for (int i = 0; i < PIPELINE_INPUTS; i++)
        chunk->in[i] = staged_span(&pipeline->in[i], &slot->in[i], chunk);
    chunk->out = staged_span(&pipeline->out, &slot->out, chunk);
    chunk->result = pipeline->is_in_place ? slot->in[0].buffer : slot->out.buffer;
    return chunk->count != 0;
}

/* Waits for the slot's chunk if the caller wants to know when it is completed. Otherwise the order
 * of the streams protects the slot. */
static pool_status complete_chunk(const struct run *run, struct slot *slot)
{
    const struct pipeline *pipeline = run->pipeline;
    pool_status status = POOL_OK;

    if (slot->state == SLOT_IDLE)
        return POOL_OK;
    slot->state = SLOT_IDLE;
    if (progress_waits(pipeline->progress))
        status = orders_stages(run) && !orders_downloads(run)
                     ? pool_event_synchronize(computed_event(run, slot))
                     : pool_stream_synchronize(copy_stream(run, slot));
    return status ? status : progress_add(pipeline->progress, slot->chunk.count * pipeline->weight);
}

/* Uploads, at most `part` bytes at a time and at least one part, until `end` or to their end.
 */
static pool_status continue_uploads(
    const struct run *run, struct slot *slot, uint64_t part, uint64_t end)
{
    struct pipeline_chunk *chunk = &slot->chunk;
    bool is_late = false;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < chunk->upload_count && !status; i++) {
        struct pipeline_copy *upload = &chunk->uploads[i];

        while (upload->done < upload->bytes && !status) {
            const uint64_t bytes = base_min(upload->bytes - upload->done, part);

            if (is_late)
                return POOL_OK;
            status = pool_copy_to_device(upload->buffer, upload->offset + upload->done,
                upload->host + upload->done, bytes, copy_stream(run, slot));
            upload->done += bytes;
            is_late = base_clock_ns() > end;
        }
    }
    return status;
}

/* Sets the next chunk, if there is one, and begins its uploads. */
static pool_status begin_chunk(struct run *run)
{
    const struct pipeline *pipeline = run->pipeline;
    struct slot *slot = &run->slots[run->begun % pipeline->slots];
    pool_status status = complete_chunk(run, slot);

    if (status || run->has_all)
        return status;
    run->has_all = !set_next_chunk(run, slot);
    if (run->has_all)
        return POOL_OK;
    slot->state = SLOT_UPLOADING;
    status = progress_add(pipeline->progress, 0);
    if (!status && orders_uploads(run) && run->begun >= pipeline->slots)
        status = pool_stream_wait_event(copy_stream(run, slot), computed_event(run, slot));
    run->begun++;
    slot->chunk.target.stream = copy_stream(run, slot);
    for (int i = 0; i < PIPELINE_INPUTS && !status; i++)
        upload_span(&pipeline->in[i], &slot->in[i], &slot->chunk);
    if (!status && !pipeline->is_uploaded_ahead)
        status = continue_uploads(run, slot, UINT64_MAX, UINT64_MAX);
    if (!status && pipeline->upload)
        status = pipeline->upload(pipeline->user, &slot->chunk);
    return status;
}

/* Called while chunk number begun - 1 or the one before it is computed. */
static void upload_ahead(void *user)
{
    struct run *run = user;
    const struct pipeline *pipeline = run->pipeline;
    struct slices *slices = pipeline->target.slices;
    struct slot *slot = &run->slots[(run->begun - 1) % pipeline->slots];

    slices->meanwhile = NULL; /* what follows may wait itself */
    if (slot->state != SLOT_UPLOADING) {
        run->status = begin_chunk(run);
        slot = &run->slots[(run->begun - 1) % pipeline->slots];
    }
    if (!run->status && !run->has_all)
        run->status =
            continue_uploads(run, slot, UPLOAD_PART_BYTES, base_clock_ns() + slices->slice_ns / 2);
    if (!run->status && !run->has_all)
        slices->meanwhile = upload_ahead;
}

static pool_status compute_chunk(struct run *run, struct slot *slot)
{
    const struct pipeline *pipeline = run->pipeline;
    struct slices *slices =
        pipeline->is_uploaded_ahead && run->set ? pipeline->target.slices : NULL;
    pool_status status;

    slot->state = SLOT_COMPUTED;
    if (slices) {
        slices->meanwhile = upload_ahead;
        slices->user = run;
    }
    status = pipeline->compute(pipeline->user, &slot->chunk);
    if (slices)
        slices->meanwhile = NULL;
    return status ? status : run->status;
}

static pool_status enqueue_chunk(struct run *run, struct slot *slot)
{
    const struct pipeline *pipeline = run->pipeline;
    pool_status status = continue_uploads(run, slot, UINT64_MAX, UINT64_MAX);

    if (!status && orders_uploads(run))
        status =
            pipeline_order_streams(run->ordered, copy_stream(run, slot), compute_stream(run, slot));
    slot->chunk.target.stream = compute_stream(run, slot);
    if (!status && pipeline->compute)
        status = compute_chunk(run, slot);
    if (!status && orders_stages(run))
        status = pool_event_record(computed_event(run, slot), compute_stream(run, slot));
    if (!status && pipeline->finish)
        status = pipeline->finish(pipeline->user, &slot->chunk);
    if (!status)
        slot->state = SLOT_COMPUTED;
    return status;
}

static pool_status download_chunk(const struct run *run, struct slot *slot)
{
    const struct pipeline *pipeline = run->pipeline;
    pool_status status = POOL_OK;

    if (slot->state != SLOT_COMPUTED)
        return POOL_OK;
    slot->state = SLOT_ENQUEUED;
    slot->chunk.target.stream = copy_stream(run, slot);
    if (orders_downloads(run))
        status = pool_stream_wait_event(copy_stream(run, slot), computed_event(run, slot));
    if (!status)
        status = download_span(&pipeline->out, &slot->out, &slot->chunk);
    if (!status && pipeline->download)
        status = pipeline->download(pipeline->user, &slot->chunk);
    return status;
}

static pool_status run_chunks(struct run *run)
{
    const uint32_t slots = run->pipeline->slots;
    bool has_chunk = true;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; has_chunk && !status; i++) {
        struct slot *slot = &run->slots[i % slots];

        if (run->begun == i) /* it has not begun ahead */
            status = begin_chunk(run);
        has_chunk = run->begun > i;
        if (!status && has_chunk)
            status = enqueue_chunk(run, slot);
        /* The previous chunk; with one slot it is this one. */
        if (!status)
            status = download_chunk(run, &run->slots[(i + slots - 1) % slots]);
        for (uint32_t k = 1; k < slots && !has_chunk && !status; k++)
            status = complete_chunk(run, &run->slots[(i + k) % slots]);
    }
    return status;
}

static bool is_host_span(const struct pipeline_span *spec)
{
    return spec->span && spec->span->space == POOL_MEMORY_HOST;
}

/* ---- streams --------------------------------------------------------------------------------- */

static uint32_t stream_count(const struct pipeline *pipeline)
{
    return pipeline->is_serial ? 1 : pipeline->slots;
}

/* The slots' memory is allocated in the order of the streams that compute. */
static pool_status open_slots(struct run *run)
{
    const struct pipeline *pipeline = run->pipeline;
    struct exec_target target = pipeline->target;
    pool_status status = POOL_OK;

    if (pipeline->slots > 1)
        status = stream_set_take(target.device, pipeline->target.stream, stream_count(pipeline),
            pipeline->slots + 1, &run->set);
    if (!status && run->set)
        run->ordered = run->set->event[pipeline->slots];
    for (uint32_t i = 0; i < pipeline->slots && !status; i++) {
        struct slot *slot = &run->slots[i];

        target.stream = compute_stream(run, slot);
        for (int k = 0; k < PIPELINE_INPUTS && !status; k++)
            status = alloc_staging(pipeline, &pipeline->in[k], &slot->in[k], &target);
        if (!status)
            status = alloc_staging(pipeline, &pipeline->out, &slot->out, &target);
        if (!status && pipeline->scratch_bytes)
            status = scratch_allocate(
                &target, pipeline->scratch_bytes, &slot->scratch, &slot->scratch_address);
    }
    for (uint32_t i = 0; run->set && i < stream_count(pipeline) && !status; i++)
        status = pipeline_order_streams(run->ordered, pipeline->target.stream, run->set->stream[i]);
    return status;
}

/* After a failure the host waits, because copies may still access the caller's memory. */
static pool_status join_streams(struct run *run, pool_status status)
{
    struct base_error_copy first;

    for (uint32_t i = 0; run->set && i < stream_count(run->pipeline); i++) {
        if (!status)
            status = pipeline_order_streams(
                run->ordered, run->set->stream[i], run->pipeline->target.stream);
        slices_join(
            run->pipeline->target.slices, run->set->stream[i], run->pipeline->target.stream);
    }
    if (!status || !run->set)
        return status;
    base_error_save(&first);
    for (uint32_t i = 0; i < stream_count(run->pipeline); i++)
        (void)pool_stream_synchronize(run->set->stream[i]);
    base_error_restore(&first);
    return status;
}

static pool_status close_slots(struct run *run, pool_status status)
{
    struct exec_target target = run->pipeline->target;

    status = join_streams(run, status);
    for (uint32_t i = 0; i < run->pipeline->slots; i++) {
        struct slot *slot = &run->slots[i];

        target.stream = compute_stream(run, slot);
        for (int k = 0; k < PIPELINE_INPUTS; k++)
            status = free_staging(&slot->in[k], &target, status);
        status = free_staging(&slot->out, &target, status);
        status = scratch_free(&target, &slot->scratch, status);
    }
    if (run->set)
        stream_set_return(run->set);
    return status;
}

/* Streams of the library take no part in captures. */
static pool_status check_captured(const struct pipeline *pipeline)
{
    bool has_host_memory = is_host_span(&pipeline->out);

    for (int i = 0; i < PIPELINE_INPUTS; i++)
        has_host_memory |= is_host_span(&pipeline->in[i]);
    if (!has_host_memory && pipeline->slots == 1)
        return POOL_OK;
    return stream_refuse_captured(pipeline->progress ? pipeline->progress->call : NULL,
        pipeline->target.stream,
        "operands of host memory, or work in several chunks (pool_exec.memory_limit)");
}

pool_status pipeline_run(const struct pipeline *pipeline)
{
    struct run run = {.pipeline = pipeline};
    pool_status status = progress_add(pipeline->progress, 0);

    assert(!pipeline->is_uploaded_ahead || (!pipeline->out.span && !pipeline->download));
    if (!status && stream_capture_of(pipeline->target.stream))
        status = check_captured(pipeline);
    if (status)
        return status;
    status = open_slots(&run);
    if (!status)
        status = run_chunks(&run);
    return close_slots(&run, status);
}
