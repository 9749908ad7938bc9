/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items in host memory, piece by piece. Each slot has a stream of its own, so that copies in both
 * directions and kernels run at once. The slots' streams wait for the call's stream before they
 * start, and the call's stream waits for them at the end.
 */
#include <string.h>

#include "base/status.h"
#include "poseidon/launch.h"
#include "stream/stream.h"
#include "vector/check.h"

/* One piece coming, one computing, one going. */
enum { SLOTS = 3 };

/* 32 MiB take 0.6 ms on the link, many times what a piece costs in calls, and hold more states than
 * a chip runs at once. */
size_t poseidon_piece_bytes = 32 << 20;

struct slot {
    struct memory_site site;
    pool_stream *own;
    pool_event *done; /* all of `own` */
    struct poseidon_landing from;
    struct poseidon_landing to;
    pool_span out;      /* of the piece under way */
    uint64_t under_way; /* items that are not counted yet */
};

struct feed {
    const struct poseidon_pieces *pieces;
    uint64_t most; /* items of a piece */
    uint64_t count;
    int slots;         /* 1: on the call's own stream */
    pool_event *start; /* what the call's stream had before the slots */
    struct slot slot[SLOTS];
};

static uint64_t items_of_piece(const struct poseidon_pieces *pieces)
{
    size_t larger = pieces->in_bytes > pieces->out_bytes ? pieces->in_bytes : pieces->out_bytes;
    bool on_device = pieces->in->place == POOL_MEMORY_DEVICE &&
                     (!pieces->out || pieces->out->place == POOL_MEMORY_DEVICE);
    uint64_t items = poseidon_piece_bytes / larger / pieces->unit * pieces->unit;

    items = items ? items : pieces->unit;
    return on_device || pieces->in->count <= items ? pieces->in->count : items;
}

static pool_status open_slot(struct feed *feed, struct slot *slot)
{
    const struct poseidon_pieces *pieces = feed->pieces;
    pool_status status = POOL_OK;

    slot->site = pieces->site;
    if (feed->slots > 1) {
        status = pool_stream_create(slot->site.device, NULL, &slot->own);
        if (!status)
            status = pool_event_create(slot->site.device, 0, &slot->done);
        if (!status)
            status = pool_stream_wait_event(slot->own, feed->start);
    }
    if (slot->own)
        slot->site.stream = slot->own;
    if (!status)
        status = poseidon_landing_make(
            &slot->from, &slot->site, pieces->in, pieces->in_bytes, feed->most);
    if (!status)
        status = poseidon_landing_make(
            &slot->to, &slot->site, pieces->out, pieces->out_bytes, feed->most);
    return status;
}

/* The first failure of a clean-up stays the answer and the error's detail. */
static pool_status first_of(struct base_error_copy *first, pool_status status, pool_status end)
{
    if (!status && end)
        base_error_save(first);
    return status ? status : end;
}

static pool_status close_event(
    struct base_error_copy *first, pool_event **event, pool_status status)
{
    status = first_of(first, status, pool_event_destroy(event));
    if (*event)
        stream_discard_event(*event);
    *event = NULL;
    return status;
}

/* What the call's stream does next comes after the slot's work. After a failure the host waits:
 * copies may still read and write the caller's memory. */
static pool_status close_slot(struct slot *slot, pool_stream *stream, pool_status status)
{
    struct base_error_copy first;

    if (!slot->own) {
        status = poseidon_landing_free(&slot->from, &slot->site, status);
        return poseidon_landing_free(&slot->to, &slot->site, status);
    }
    base_error_save(&first);
    if (!status)
        status = first_of(&first, status, pool_event_record(slot->done, slot->own));
    if (!status)
        status = first_of(&first, status, pool_stream_wait_event(stream, slot->done));
    if (status)
        status = first_of(&first, status, pool_stream_synchronize(slot->own));
    if (status)
        base_error_restore(&first);
    status = poseidon_landing_free(&slot->from, &slot->site, status);
    status = poseidon_landing_free(&slot->to, &slot->site, status);
    base_error_save(&first);
    status = close_event(&first, &slot->done, status);
    status = first_of(&first, status, pool_stream_destroy(&slot->own));
    if (slot->own)
        stream_discard(slot->own);
    if (status)
        base_error_restore(&first);
    return status;
}

/* The slot's last piece is counted, and done unless the call is asynchronous: its buffers are used
 * again in the order of its stream. */
static pool_status settle(struct feed *feed, struct slot *slot)
{
    uint64_t amount = slot->under_way * feed->pieces->weight;
    pool_status status = POOL_OK;

    if (!slot->under_way)
        return POOL_OK;
    slot->under_way = 0;
    if (slot->own && !feed->pieces->watch->is_async)
        status = pool_stream_synchronize(slot->own);
    return status ? status : poseidon_watch_done(feed->pieces->watch, &slot->site, amount);
}

/* `piece` lies on the device; its first item is item `first` of `in`. */
static pool_status check_piece(const struct poseidon_pieces *pieces, const struct memory_site *site,
    const pool_span *piece, uint64_t first)
{
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)piece->data,
        .stride = memory_span_stride(piece, pieces->in_bytes),
        .count = piece->count,
        .elements = pieces->elements,
        .first = pieces->first + first,
        .what = pieces->what};

    return pieces->checks ? vector_check_elements(site, pieces->field, &items) : POOL_OK;
}

static pool_status begin(struct feed *feed, uint64_t index)
{
    const struct poseidon_pieces *pieces = feed->pieces;
    struct slot *slot = &feed->slot[index % SLOTS];
    uint64_t first = index * feed->most;
    uint64_t rest = pieces->in->count - first;
    uint64_t count = rest < feed->most ? rest : feed->most;
    pool_span in = poseidon_span_part(pieces->in, pieces->in_bytes, first, count);
    pool_span from = poseidon_landing_there(&slot->from, &in);
    pool_span to = {0};
    pool_status status = settle(feed, slot);

    if (!status)
        status = poseidon_landing_up(&slot->from, &slot->site, &in);
    if (!status)
        status = check_piece(pieces, &slot->site, &from, first);
    if (pieces->out) {
        slot->out = poseidon_span_part(pieces->out, pieces->out_bytes, first, count);
        to = poseidon_landing_there(&slot->to, &slot->out);
    }
    if (!status)
        status = pieces->work(pieces->user, &slot->site, &from, pieces->out ? &to : NULL, first);
    if (!status)
        slot->under_way = count;
    return status;
}

/* A piece is fetched after the next one was enqueued: copies to pageable memory make the host wait.
 */
static pool_status run(struct feed *feed)
{
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < feed->count + 1 && !status; i++) {
        struct slot *last = &feed->slot[(i + SLOTS - 1) % SLOTS];
        if (i < feed->count)
            status = begin(feed, i);
        if (i > 0 && !status)
            status = poseidon_landing_down(&last->to, &last->site, 0, &last->out);
    }
    for (uint64_t i = feed->count; i < feed->count + SLOTS && !status; i++)
        status = settle(feed, &feed->slot[i % SLOTS]);
    return status;
}

pool_status poseidon_pieces_run(const struct poseidon_pieces *pieces)
{
    struct feed feed = {.pieces = pieces, .most = items_of_piece(pieces), .slots = 1};
    struct base_error_copy first;
    pool_status status = POOL_OK;

    if (pieces->in->count == 0)
        return POOL_OK;
    feed.count = (pieces->in->count - 1) / feed.most + 1;
    if (feed.count > 1) {
        feed.slots = SLOTS;
        status = pool_event_create(pieces->site.device, 0, &feed.start);
        if (!status)
            status = pool_event_record(feed.start, pieces->site.stream);
    }
    for (int i = 0; i < feed.slots && !status; i++)
        status = open_slot(&feed, &feed.slot[i]);
    if (!status)
        status = run(&feed);
    for (int i = 0; i < feed.slots; i++)
        status = close_slot(&feed.slot[i], pieces->site.stream, status);
    base_error_save(&first);
    status = close_event(&first, &feed.start, status);
    if (status)
        base_error_restore(&first);
    return status;
}

pool_status poseidon_watch_done(
    struct poseidon_watch *watch, const struct memory_site *site, uint64_t amount)
{
    pool_status status = POOL_OK;

    if (!watch->progress && !watch->cancel)
        return POOL_OK;
    if (!watch->is_async)
        status = pool_stream_synchronize(site->stream);
    return status ? status : poseidon_watch_count(watch, amount);
}
