/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of a call: host memory comes on a stream of its own while the piece before it is
 * computed, then points are brought into shape, both are checked, and the buckets grow.
 */
#include "base/status.h"
#include "msm/call.h"
#include "stream/stream.h"

/* How pieces come from the host. With one slot all is on the call's stream. */
struct feed {
    struct msm_call *call;
    pool_stream *stream;
    pool_stream *own;
    pool_event *ready;       /* the piece is there */
    pool_event *consumed[2]; /* a slot has been read */
    uint64_t slot;
};

static pool_status open_feed(struct feed *feed)
{
    const struct memory_site *site = &feed->call->site;
    pool_status status;

    feed->stream = site->stream;
    if (feed->call->cut.slots == 1)
        return POOL_OK;
    status = pool_stream_create(site->device, NULL, &feed->own);
    if (!status)
        status = pool_event_create(site->device, 0, &feed->ready);
    for (int i = 0; !status && i < 2; i++)
        status = pool_event_create(site->device, 0, &feed->consumed[i]);
    /* The workspace is there in the order of the call's stream. */
    if (!status)
        status = pool_event_record(feed->ready, site->stream);
    if (!status)
        status = pool_stream_wait_event(feed->own, feed->ready);
    if (!status)
        feed->stream = feed->own;
    return status;
}

/* Gives an event back; what cannot go now the pool keeps. The first failure is the answer. */
static pool_status close_event(pool_event **event, pool_status status)
{
    pool_status end = pool_event_destroy(event);

    if (*event)
        stream_discard_event(*event);
    *event = NULL;
    return status ? status : end;
}

/* What was copied is waited for by the call's stream, unless something failed in between. */
static pool_status close_feed(struct feed *feed, pool_status status)
{
    struct base_error_copy first;
    pool_status end = POOL_OK;

    base_error_save(&first);
    if (status && feed->own)
        (void)pool_stream_synchronize(feed->own);
    end = close_event(&feed->consumed[0], end);
    end = close_event(&feed->consumed[1], end);
    end = close_event(&feed->ready, end);
    pool_status gone = pool_stream_destroy(&feed->own);
    if (feed->own)
        stream_discard(feed->own);
    if (status)
        base_error_restore(&first);
    return status ? status : end ? end : gone;
}

/* Host items from `first` on to a place of the workspace. */
static pool_status copy_in(const struct feed *feed, const pool_span *span, uint64_t stride,
    uint64_t item_bytes, uint64_t first, uint64_t count, uint64_t at)
{
    if (span->place == POOL_MEMORY_DEVICE || count == 0)
        return POOL_OK;
    return pool_copy_to_device(feed->call->workspace, at,
        (const uint8_t *)span->data + first * stride, (count - 1) * stride + item_bytes,
        feed->stream);
}

/* The number of a piece's first point in a span. */
static uint64_t first_point(const struct msm_call *call, const struct msm_piece *piece)
{
    return (call->params.shared_points ? 0 : piece->sum * call->count) + piece->first;
}

static uint64_t first_scalar(const struct msm_call *call, const struct msm_piece *piece)
{
    return piece->sum * call->count + piece->first;
}

/* Whether this piece's points are still to be brought. */
static bool needs_points(const struct msm_call *call, const struct msm_piece *piece)
{
    return !call->params.points && (piece->index == 1 || !msm_cut_brings_once(call, &call->cut));
}

static uint64_t point_slot(const struct feed *feed)
{
    return msm_cut_brings_once(feed->call, &feed->call->cut) ? 0 : feed->slot;
}

static pool_status upload(struct feed *feed, const struct msm_piece *piece)
{
    const struct msm_call *call = feed->call;
    const struct msm_cut *cut = &call->cut;
    pool_status status = POOL_OK;

    feed->slot = cut->slots == 2 ? piece->index % 2 : 0;
    if (feed->own && piece->index > 2)
        status = pool_stream_wait_event(feed->own, feed->consumed[feed->slot]);
    if (!status)
        status =
            copy_in(feed, &call->scalars, call->scalar_stride, call->curve->scalar_field->bytes,
                first_scalar(call, piece), piece->sums * piece->count, cut->scalars_at[feed->slot]);
    if (!status && needs_points(call, piece))
        status = copy_in(feed, &call->points, call->point_stride,
            pool_point_bytes(call->curve, call->params.point_layout), first_point(call, piece),
            msm_piece_points(call, piece), cut->points_at[point_slot(feed)]);
    if (!status && feed->own)
        status = pool_event_record(feed->ready, feed->own);
    if (!status && feed->own)
        status = pool_stream_wait_event(call->site.stream, feed->ready);
    return status;
}

/* Checked and imported points of a span, as the part reads them. */
static pool_status bring_points(
    const struct feed *feed, const struct msm_piece *piece, struct msm_chunk_operands *part)
{
    struct msm_call *call = feed->call;
    struct msm_input_bases source = call->source;
    const struct msm_check_result answer = {.buffer = call->workspace,
        .offset = call->cut.answer_at,
        .address = call->address + call->cut.answer_at,
        .first_index = first_point(call, piece)};
    bool is_ready = msm_input_is_converted(call->curve, &source);
    pool_status status = POOL_OK;

    source.count = msm_piece_points(call, piece);
    if (call->points.place == POOL_MEMORY_HOST)
        source.data = call->address + call->cut.points_at[point_slot(feed)];
    else
        source.data += first_point(call, piece) * call->point_stride;
    part->bases = is_ready ? source.data : call->address + call->cut.imported_at;
    part->base_stride = is_ready ? call->point_stride : msm_affine_bytes(call->curve);
    part->base_batch_stride = call->params.shared_points ? 0 : call->count;
    if (!needs_points(call, piece))
        return POOL_OK;
    if (!is_ready)
        status = msm_convert_bases(&call->run, &source, part->bases);
    if (!status)
        status = msm_check_bases(
            &call->run, &source, &answer, part->bases, part->base_stride, call->exec.checks);
    return status;
}

static void take_handle(
    const struct msm_call *call, const struct msm_piece *piece, struct msm_chunk_operands *part)
{
    const struct pool_bases *points = call->params.points;

    part->bases = points->address;
    part->base_stride = msm_affine_bytes(call->curve);
    part->first_base = call->params.first_point + first_point(call, piece);
    part->base_batch_stride = call->params.shared_points ? 0 : call->count;
    part->multiple_stride = points->count;
}

static pool_status bring_scalars(
    const struct feed *feed, const struct msm_piece *piece, struct msm_chunk_operands *part)
{
    struct msm_call *call = feed->call;
    const struct msm_check_result answer = {.buffer = call->workspace,
        .offset = call->cut.answer_at,
        .address = call->address + call->cut.answer_at,
        .first_index = first_scalar(call, piece)};

    part->scalars = call->scalars.place == POOL_MEMORY_HOST
                        ? call->address + call->cut.scalars_at[feed->slot]
                        : (CUdeviceptr)(uintptr_t)call->scalars.data +
                              first_scalar(call, piece) * call->scalar_stride;
    part->scalar_stride = call->scalar_stride / 4;
    part->scalar_batch_stride = call->count;
    part->scalar_form = call->scalars.form;
    part->reduces = (call->exec.checks & POOL_CHECK_REDUCE) != 0;
    if (!(call->exec.checks & POOL_CHECK_CANONICAL))
        return POOL_OK;
    const struct msm_scalars scalars = {.data = part->scalars,
        .stride = part->scalar_stride,
        .count = piece->sums * piece->count,
        .form = part->scalar_form,
        .bits = call->params.scalar_bits};
    return msm_check_scalars(&call->run, &scalars, &answer);
}

static pool_status add(struct feed *feed, const struct msm_piece *piece)
{
    struct msm_call *call = feed->call;
    struct msm_chunk_operands part = {.count = piece->count};
    pool_status status = POOL_OK;

    if (msm_piece_begins_run(piece)) {
        status = msm_cut_plan(call, &call->cut, piece->sums, &call->plan);
        call->run.chunks = 0;
    }
    if (!status)
        status = bring_scalars(feed, piece, &part);
    if (!status && call->params.points)
        take_handle(call, piece, &part);
    else if (!status)
        status = bring_points(feed, piece, &part);
    if (!status)
        status = msm_run_add(&call->run, &part);
    if (!status && feed->own)
        status = pool_event_record(feed->consumed[feed->slot], call->site.stream);
    return status;
}

static pool_status run_piece(struct feed *feed, const struct msm_piece *piece)
{
    struct msm_call *call = feed->call;
    pool_status status = memory_exec_cancelled("pool_msm", &call->exec);

    if (!status)
        status = upload(feed, piece);
    if (!status)
        status = add(feed, piece);
    if (!status && msm_piece_ends_run(call, piece)) {
        status = msm_run_reduce(&call->run);
        if (!status)
            status = msm_deliver_run(call, piece);
    }
    if (!status)
        memory_exec_report(&call->exec, first_scalar(call, piece) + piece->sums * piece->count,
            call->scalars.count);
    return status;
}

pool_status msm_call_run(struct msm_call *call)
{
    struct feed feed = {.call = call};
    struct msm_piece piece = {0};
    pool_status status = open_feed(&feed);

    call->run = (struct msm_run){.device = call->site.device,
        .stream = call->site.stream,
        .curve = call->curve,
        .plan = &call->plan,
        .workspace = call->address};
    while (!status && msm_cut_next(call, &call->cut, &piece))
        status = run_piece(&feed, &piece);
    return close_feed(&feed, status);
}
