/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline for items in host memory. Each slot has its own stream, so that kernels and copies
 * in both directions overlap. The slots' streams wait for the call's stream before they start, and
 * the call's stream waits for them at the end.
 */
#include "base/status.h"
#include "poseidon/run.h"
#include "stream/stream.h"
#include "vector/check.h"

struct slot {
    struct exec_target site;
    pool_stream *stream; /* NULL: the slot uses the call's stream */
    pool_event *done;    /* recorded after all work of the slot */
    struct poseidon_staging input;
    struct poseidon_staging output;
    pool_span out;    /* of the chunk in progress */
    uint64_t pending; /* items in progress that have not been counted yet */
};

struct state {
    const struct poseidon_pipeline *pipeline;
    struct poseidon_chunk_plan plan;
    size_t in_bytes;   /* per item */
    pool_event *start; /* recorded on the call's stream before the slots start */
    struct slot slots[POSEIDON_SLOTS];
};

static pool_status open_slot(struct state *state, struct slot *slot)
{
    const struct poseidon_pipeline *pipeline = state->pipeline;
    uint64_t capacity = state->plan.chunk_items;
    pool_status status = POOL_OK;

    slot->site = pipeline->site;
    if (state->plan.slots > 1) {
        status = pool_stream_create(slot->site.device, NULL, &slot->stream);
        if (!status)
            status = pool_event_create(slot->site.device, 0, &slot->done);
        if (!status)
            status = pool_stream_wait_event(slot->stream, state->start);
    }
    if (slot->stream)
        slot->site.stream = slot->stream;
    if (!status)
        status = poseidon_staging_alloc(
            &slot->input, &slot->site, pipeline->in.span, state->in_bytes, capacity);
    if (!status)
        status = poseidon_staging_alloc(
            &slot->output, &slot->site, pipeline->out, pipeline->out_bytes, capacity);
    return status;
}

/* Of several failures the first one determines the status and the error's message. */
static pool_status keep_first(struct base_error_copy *first, pool_status status, pool_status next)
{
    if (!status && next)
        base_error_save(first);
    return status ? status : next;
}

static pool_status destroy_event(
    struct base_error_copy *first, pool_event **event, pool_status status)
{
    status = keep_first(first, status, pool_event_destroy(event));
    if (*event)
        stream_discard_event(*event);
    *event = NULL;
    return status;
}

/* Later work of the call's stream starts after the slot's work. After a failure the host waits,
 * because copies may still access the caller's memory. */
static pool_status close_slot(struct slot *slot, pool_stream *call_stream, pool_status status)
{
    struct base_error_copy first;

    if (!slot->stream) {
        status = poseidon_staging_free(&slot->input, &slot->site, status);
        return poseidon_staging_free(&slot->output, &slot->site, status);
    }
    base_error_save(&first);
    if (!status)
        status = keep_first(&first, status, pool_event_record(slot->done, slot->stream));
    if (!status)
        status = keep_first(&first, status, pool_stream_wait_event(call_stream, slot->done));
    if (status)
        status = keep_first(&first, status, pool_stream_synchronize(slot->stream));
    if (status)
        base_error_restore(&first);
    status = poseidon_staging_free(&slot->input, &slot->site, status);
    status = poseidon_staging_free(&slot->output, &slot->site, status);
    base_error_save(&first);
    status = destroy_event(&first, &slot->done, status);
    status = keep_first(&first, status, pool_stream_destroy(&slot->stream));
    if (slot->stream)
        stream_discard(slot->stream);
    if (status)
        base_error_restore(&first);
    return status;
}

/* Counts the slot's chunk as progress, and waits for it unless the call is asynchronous: then the
 * order of the slot's stream protects its buffers. */
static pool_status complete_chunk(const struct poseidon_pipeline *pipeline, struct slot *slot)
{
    uint64_t amount = slot->pending * pipeline->weight;
    pool_status status = POOL_OK;

    if (!slot->pending)
        return POOL_OK;
    slot->pending = 0;
    if (memory_progress_waits(pipeline->progress))
        status = pool_stream_synchronize(slot->site.stream);
    return status ? status : memory_progress_add(pipeline->progress, amount);
}

/* `chunk` is in device memory; its first item is item `first` of the input. */
static pool_status check_chunk(const struct state *state, const struct exec_target *site,
    const pool_span *chunk, uint64_t first)
{
    const struct poseidon_pipeline *pipeline = state->pipeline;
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)chunk->data,
        .stride = memory_span_stride(chunk, state->in_bytes),
        .count = chunk->count,
        .elements = pipeline->in.elements,
        .first = pipeline->first_index + first,
        .what = pipeline->in.name};

    return pipeline->checks ? vector_check_elements(site, pipeline->set->field, &items) : POOL_OK;
}

/* Uploads, checks and computes chunk `index`. */
static pool_status enqueue_chunk(struct state *state, uint64_t index)
{
    const struct poseidon_pipeline *pipeline = state->pipeline;
    struct slot *slot = &state->slots[index % POSEIDON_SLOTS];
    uint64_t first = index * state->plan.chunk_items;
    uint64_t rest = pipeline->in.span->count - first;
    uint64_t count = rest < state->plan.chunk_items ? rest : state->plan.chunk_items;
    pool_span in = poseidon_span_slice(pipeline->in.span, state->in_bytes, first, count);
    pool_span staged_in = poseidon_staging_span(&slot->input, &in);
    pool_span staged_out = {0};
    pool_status status = complete_chunk(pipeline, slot);

    if (!status)
        status = poseidon_staging_upload(&slot->input, &slot->site, &in);
    if (!status)
        status = check_chunk(state, &slot->site, &staged_in, first);
    if (pipeline->out) {
        slot->out = poseidon_span_slice(pipeline->out, pipeline->out_bytes, first, count);
        staged_out = poseidon_staging_span(&slot->output, &slot->out);
    }
    if (!status)
        status = pipeline->compute(
            pipeline->user, &slot->site, &staged_in, pipeline->out ? &staged_out : NULL, first);
    if (!status)
        slot->pending = count;
    return status;
}

/* A chunk is downloaded after the next one has been enqueued, because copies to pageable memory
 * block the host. */
static pool_status run_chunks(struct state *state)
{
    uint64_t count = state->plan.chunk_count;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < count + 1 && !status; i++) {
        struct slot *previous = &state->slots[(i + POSEIDON_SLOTS - 1) % POSEIDON_SLOTS];

        if (i < count)
            status = enqueue_chunk(state, i);
        if (i > 0 && !status)
            status =
                poseidon_staging_download(&previous->output, &previous->site, 0, &previous->out);
    }
    for (uint64_t i = count; i < count + POSEIDON_SLOTS && !status; i++)
        status = complete_chunk(state->pipeline, &state->slots[i % POSEIDON_SLOTS]);
    return status;
}

pool_status poseidon_pipeline_run(const struct poseidon_pipeline *pipeline)
{
    struct state state = {.pipeline = pipeline,
        .in_bytes = (size_t)pipeline->in.elements * pipeline->set->field->bytes};
    const struct poseidon_job job = {.count = pipeline->in.span->count,
        .multiple = pipeline->multiple,
        .in_bytes = state.in_bytes,
        .out_bytes = pipeline->out_bytes,
        .uses_host_memory = pipeline->in.span->space == POOL_MEMORY_HOST ||
                            (pipeline->out && pipeline->out->space == POOL_MEMORY_HOST)};
    struct base_error_copy first;
    pool_status status = POOL_OK;

    state.plan = poseidon_plan_chunks(&pipeline->set->tuning, &job);
    if (state.plan.chunk_count == 0)
        return POOL_OK;
    if (state.plan.slots > 1) {
        status = pool_event_create(pipeline->site.device, 0, &state.start);
        if (!status)
            status = pool_event_record(state.start, pipeline->site.stream);
    }
    for (uint32_t i = 0; i < state.plan.slots && !status; i++)
        status = open_slot(&state, &state.slots[i]);
    if (!status)
        status = run_chunks(&state);
    for (uint32_t i = 0; i < state.plan.slots; i++)
        status = close_slot(&state.slots[i], pipeline->site.stream, status);
    base_error_save(&first);
    status = destroy_event(&first, &state.start, status);
    if (status)
        base_error_restore(&first);
    return status;
}
