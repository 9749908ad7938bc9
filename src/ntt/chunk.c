/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches in host memory, a part at a time: while one part is transformed the next one comes and
 * the last one goes. Each slot has a stream of its own; the call's stream is before all of them and
 * after all of them.
 */
#include "ntt/call.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/*
 * Three slots: one coming, one computing, one going. Parts of 16 MiB take 0.3 ms on the link,
 * which is many times what a part costs in calls.
 */
enum { SLOTS = NTT_LANES };
#define PART_BYTES ((uint64_t)16 << 20)

/* Another one only between tests. */
static uint64_t part_bytes = PART_BYTES;

void ntt_chunk_bytes_set(uint64_t bytes)
{
    part_bytes = bytes ? bytes : PART_BYTES;
}

struct slot {
    pool_stream *stream;
    struct ntt_call call; /* the part under way */
    int is_computed;      /* to be delivered */
};

struct chunks {
    struct ntt_call *whole;
    uint64_t rows;  /* of a part */
    uint32_t slots; /* in use */
    uint64_t parts;
    struct ntt_lanes *lanes;
    struct slot slot[SLOTS];
};

static uint64_t rows_of_part(const struct ntt_call *call)
{
    uint64_t row = (uint64_t)call->target.field->bytes << call->run.job.log_size;
    uint64_t rows = part_bytes / row;

    return rows ? rows : 1;
}

static bool can_be_chunked(const struct ntt_call *call)
{
    const pool_field *field = call->target.field;

    return call->in.space == POOL_MEMORY_HOST && call->out.space == POOL_MEMORY_HOST &&
           memory_elements_are_packed(field, &call->in) &&
           memory_elements_are_packed(field, &call->out) && call->params.layout == POOL_NTT_ROWS &&
           !call->exec.workspace;
}

/* Temporary memory of a chunk of so many rows. */
static pool_status bytes_of_chunk(const struct ntt_call *call, uint64_t rows, uint64_t *bytes)
{
    struct ntt_call chunk = *call;
    pool_status status;

    chunk.params.batch = chunk.run.job.batch = rows;
    chunk.in.count = chunk.out.count = rows << call->run.job.log_size;
    status = ntt_run_plan(&chunk.run, &chunk.plan);
    *bytes = ntt_call_allocates(&chunk);
    return status;
}

/* As many slots as fit with one row each, and then as many rows as fit. */
static pool_status limit_chunks(const struct ntt_call *call, struct ntt_chunking *chunking)
{
    uint64_t limit = call->exec.memory_limit, smallest, bytes;
    pool_status status = bytes_of_chunk(call, 1, &smallest);

    if (status)
        return status;
    if (smallest > limit)
        return memory_exec_fail_limit("pool_ntt", &call->exec, smallest);
    if (chunking->slots > limit / smallest)
        chunking->slots = (uint32_t)(limit / smallest);
    /* Plans differ by batch, so that a chunk may need another workspace than a row. */
    for (status = bytes_of_chunk(call, chunking->rows, &bytes);
         !status && chunking->rows > 1 && bytes > limit / chunking->slots;
         status = bytes_of_chunk(call, chunking->rows, &bytes))
        chunking->rows /= 2;
    return status;
}

pool_status ntt_call_chunking(const struct ntt_call *call, struct ntt_chunking *chunking)
{
    uint64_t limit = call->exec.memory_limit ? call->exec.memory_limit : UINT64_MAX;
    uint64_t whole = ntt_call_allocates(call);

    *chunking = (struct ntt_chunking){0};
    if (!can_be_chunked(call))
        return whole > limit ? memory_exec_fail_limit("pool_ntt", &call->exec, whole) : POOL_OK;
    if (call->params.batch <= rows_of_part(call) && whole <= limit)
        return POOL_OK;
    *chunking = (struct ntt_chunking){.rows = rows_of_part(call), .slots = SLOTS};
    if (chunking->rows > call->params.batch)
        chunking->rows = call->params.batch;
    return whole <= limit ? POOL_OK : limit_chunks(call, chunking);
}

static pool_status complete(struct ntt_lanes *lanes)
{
    pool_status status =
        lanes->start ? POOL_OK : pool_event_create(lanes->device, 0, &lanes->start);

    for (int i = 0; !status && i < NTT_LANES; i++) {
        if (!lanes->stream[i])
            status = pool_stream_create(lanes->device, NULL, &lanes->stream[i]);
        if (!status && !lanes->done[i])
            status = pool_event_create(lanes->device, 0, &lanes->done[i]);
    }
    return status;
}

pool_status ntt_lanes_take(pool_ntt_domain *domain, pool_device *device, struct ntt_lanes **lanes)
{
    struct ntt_lanes **at = &domain->lanes, *found;
    pool_status status = ntt_domain_check_forked(domain);

    if (status)
        return status;
    pthread_mutex_lock(&domain->lock);
    while (*at && (*at)->device != device)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&domain->lock);
    if (!found)
        found = base_calloc(1, sizeof(*found));
    if (!found)
        return base_fail_memory("the streams of a batch");
    found->device = device;
    status = complete(found);
    if (status)
        ntt_lanes_give(domain, found);
    else
        *lanes = found;
    return status;
}

void ntt_lanes_give(pool_ntt_domain *domain, struct ntt_lanes *lanes)
{
    pthread_mutex_lock(&domain->lock);
    lanes->next = domain->lanes;
    domain->lanes = lanes;
    pthread_mutex_unlock(&domain->lock);
}

pool_status ntt_lanes_close(struct ntt_lanes *lanes)
{
    pool_status first = POOL_OK, status;

    for (int i = 0; i < NTT_LANES; i++) {
        status = pool_stream_destroy(&lanes->stream[i]);
        if (lanes->stream[i])
            first = first ? first : status;
        status = pool_event_destroy(&lanes->done[i]);
        if (lanes->done[i])
            first = first ? first : status;
    }
    status = pool_event_destroy(&lanes->start);
    return first || !lanes->start ? first : status;
}

static pool_status open_all(struct chunks *chunks)
{
    struct ntt_call *whole = chunks->whole;
    pool_status status = ntt_lanes_take(whole->params.domain, whole->target.device, &chunks->lanes);

    if (!status)
        status = pool_event_record(chunks->lanes->start, whole->target.stream);
    for (int i = 0; !status && i < SLOTS; i++) {
        chunks->slot[i].stream = chunks->lanes->stream[i];
        status = pool_stream_wait_event(chunks->slot[i].stream, chunks->lanes->start);
    }
    return status;
}

/* The call's stream goes on after the slots, also after a failure, whose detail stays. */
static pool_status close_all(struct chunks *chunks, pool_status status)
{
    struct ntt_lanes *lanes = chunks->lanes;
    struct base_error_copy first;

    if (!lanes)
        return status;
    base_error_save(&first);
    for (int i = 0; i < SLOTS; i++) {
        pool_status end = pool_event_record(lanes->done[i], lanes->stream[i]);

        if (!end)
            end = pool_stream_wait_event(chunks->whole->target.stream, lanes->done[i]);
        if (!status && end)
            base_error_save(&first);
        status = status ? status : end;
        if (status) /* copies may still read and write the caller's memory */
            (void)pool_stream_synchronize(lanes->stream[i]);
    }
    ntt_lanes_give(chunks->whole->params.domain, lanes);
    if (status)
        base_error_restore(&first);
    return status;
}

/* Part `index` of the call, on the slot's stream, as a call of its own. */
static void cut(const struct chunks *chunks, uint64_t index, struct slot *slot)
{
    const struct ntt_call *whole = chunks->whole;
    uint64_t row = (uint64_t)1 << whole->run.job.log_size;
    uint64_t first = index * chunks->rows;
    uint64_t rows = whole->params.batch - first;

    if (rows > chunks->rows)
        rows = chunks->rows;
    slot->call = *whole;
    slot->call.params.batch = rows;
    slot->call.run.job.batch = rows;
    slot->call.target.stream = slot->stream;
    slot->call.run.target.stream = slot->stream;
    slot->call.in.data = (uint8_t *)whole->in.data + first * row * whole->target.field->bytes;
    slot->call.out.data = (uint8_t *)whole->out.data + first * row * whole->target.field->bytes;
    slot->call.first = first * row;
    slot->call.in.count = slot->call.out.count = rows * row;
}

static pool_status finish(struct slot *slot)
{
    pool_status status = POOL_OK;

    if (slot->is_computed) {
        slot->is_computed = 0;
        status = ntt_call_deliver(&slot->call);
    }
    return status;
}

static pool_status compute_part(struct chunks *chunks, uint64_t index)
{
    struct slot *slot = &chunks->slot[index % chunks->slots];
    pool_status status = memory_exec_cancelled("pool_ntt", &chunks->whole->exec);

    if (status)
        return status;
    cut(chunks, index, slot);
    status = ntt_run_plan(&slot->call.run, &slot->call.plan);
    if (!status)
        status = ntt_call_compute(&slot->call);
    slot->is_computed = !status;
    return status;
}

static pool_status finish_part(struct chunks *chunks, uint64_t index)
{
    const struct ntt_call *whole = chunks->whole;
    struct slot *slot = &chunks->slot[index % chunks->slots];
    pool_status status = finish(slot);

    if (!status)
        memory_exec_report(&whole->exec, slot->call.first + slot->call.in.count, whole->in.count);
    return status;
}

pool_status ntt_call_enqueue_chunks(struct ntt_call *call, const struct ntt_chunking *chunking)
{
    struct chunks chunks = {.whole = call, .rows = chunking->rows, .slots = chunking->slots};
    pool_status status = open_all(&chunks);

    chunks.parts = (call->params.batch - 1) / chunks.rows + 1;
    /* A part is delivered after the next one was enqueued: pageable copies make the host wait. With
     * one slot it is delivered at once. */
    for (uint64_t i = 0; !status && i < chunks.parts; i++) {
        status = compute_part(&chunks, i);
        if (!status && chunks.slots > 1 && i > 0)
            status = finish_part(&chunks, i - 1);
        if (!status && (chunks.slots == 1 || i + 1 == chunks.parts))
            status = finish_part(&chunks, i);
    }
    for (int i = 0; i < SLOTS; i++)
        if (chunks.slot[i].is_computed) {
            chunks.slot[i].is_computed = 0;
            status = ntt_call_release(&chunks.slot[i].call, status);
        }
    return close_all(&chunks, status);
}
