/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches in host memory, a part at a time: while one part is transformed the next one comes and
 * the last one goes. Each slot has a stream of its own; the call's stream is before all of them and
 * after all of them.
 */
#include "ntt/entry.h"

#include <string.h>

#include "base/status.h"

/*
 * Three slots: one coming, one computing, one going. Parts of 16 MiB take 0.3 ms on the link,
 * which is many times what a part costs in calls.
 */
enum { SLOTS = 3 };
#define PART_BYTES ((uint64_t)16 << 20)

struct slot {
    pool_stream *stream;
    pool_event *done;
    struct ntt_call call; /* the part under way */
    int is_computed;      /* to be delivered */
};

struct chunks {
    struct ntt_call *whole;
    uint64_t rows; /* of a part */
    uint64_t parts;
    pool_event *start;
    struct slot slot[SLOTS];
};

static uint64_t rows_of_part(const struct ntt_call *call)
{
    uint64_t row = (uint64_t)call->place.field->bytes << call->run.job.log_size;
    uint64_t rows = PART_BYTES / row;

    return rows ? rows : 1;
}

bool ntt_call_is_chunked(const struct ntt_call *call)
{
    const pool_field *field = call->place.field;

    return call->in.place == POOL_PLACE_HOST && call->out.place == POOL_PLACE_HOST &&
           ntt_span_is_packed(field, &call->in) && ntt_span_is_packed(field, &call->out) &&
           call->params.layout == POOL_NTT_ROWS && !call->params.workspace &&
           call->params.batch > rows_of_part(call);
}

static pool_status open_slot(struct chunks *chunks, struct slot *slot)
{
    pool_device *device = chunks->whole->place.device;
    pool_status status = pool_stream_create(device, NULL, &slot->stream);

    if (!status)
        status = pool_event_create(device, 0, &slot->done);
    return status ? status : pool_stream_wait_event(slot->stream, chunks->start);
}

static pool_status open_all(struct chunks *chunks)
{
    struct ntt_call *whole = chunks->whole;
    pool_status status = pool_event_create(whole->place.device, 0, &chunks->start);

    if (!status)
        status = pool_event_record(chunks->start, whole->place.stream);
    for (int i = 0; !status && i < SLOTS; i++)
        status = open_slot(chunks, &chunks->slot[i]);
    return status;
}

/* The call's stream goes on after the slots, also after a failure. */
static pool_status close_all(struct chunks *chunks, pool_status status)
{
    struct base_error_copy first;

    base_error_save(&first);
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &chunks->slot[i];
        pool_status end = POOL_OK;

        if (slot->stream && slot->done) {
            end = pool_event_record(slot->done, slot->stream);
            if (!end)
                end = pool_stream_wait_event(chunks->whole->place.stream, slot->done);
        }
        if (!status && end)
            base_error_save(&first);
        status = status ? status : end;
        pool_event_destroy(&slot->done);
        pool_stream_destroy(&slot->stream);
    }
    pool_event_destroy(&chunks->start);
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
    slot->call.place.stream = slot->stream;
    slot->call.run.place.stream = slot->stream;
    slot->call.in.data = (uint8_t *)whole->in.data + first * row * whole->place.field->bytes;
    slot->call.out.data = (uint8_t *)whole->out.data + first * row * whole->place.field->bytes;
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

pool_status ntt_call_enqueue_chunks(struct ntt_call *call)
{
    struct chunks chunks = {.whole = call, .rows = rows_of_part(call)};
    pool_status status = open_all(&chunks);

    chunks.parts = (call->params.batch - 1) / chunks.rows + 1;
    /* A part is delivered after the next one was enqueued: pageable copies make the host wait. */
    for (uint64_t i = 0; !status && i < chunks.parts + 1; i++) {
        struct slot *last = &chunks.slot[(i + SLOTS - 1) % SLOTS];

        if (i < chunks.parts) {
            struct slot *slot = &chunks.slot[i % SLOTS];

            cut(&chunks, i, slot);
            status = ntt_run_plan(&slot->call.run, &slot->call.plan);
            if (!status)
                status = ntt_call_compute(&slot->call);
            slot->is_computed = !status;
        }
        if (!status && i > 0)
            status = finish(last);
    }
    for (int i = 0; i < SLOTS; i++)
        if (chunks.slot[i].is_computed) {
            chunks.slot[i].is_computed = 0;
            status = ntt_call_release(&chunks.slot[i].call, status);
        }
    return close_all(&chunks, status);
}
