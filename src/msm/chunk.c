/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the chunks of a call: host memory is uploaded on a second stream while the previous chunk is
 * computed; then bases are converted, operands are checked, and the products are added to the
 * buckets.
 */
#include "base/status.h"
#include "msm/call.h"
#include "stream/stream.h"

/* The upload of chunks from the host. With one slot everything is on the call's stream. */
struct upload {
    struct msm_call *call;
    pool_stream *stream;     /* of copies */
    pool_stream *owned;      /* NULL with one slot */
    pool_event *uploaded;    /* the chunk's copies */
    pool_event *consumed[2]; /* a slot has been read */
    uint64_t slot;
};

static pool_status open_upload(struct upload *upload)
{
    const struct exec_target *site = &upload->call->site;
    pool_status status;

    upload->stream = site->stream;
    if (upload->call->plan.slots == 1)
        return POOL_OK;
    status = pool_stream_create(site->device, NULL, &upload->owned);
    if (!status)
        status = pool_event_create(site->device, 0, &upload->uploaded);
    for (int i = 0; !status && i < 2; i++)
        status = pool_event_create(site->device, 0, &upload->consumed[i]);
    /* The workspace was allocated in the order of the call's stream. */
    if (!status)
        status = pool_event_record(upload->uploaded, site->stream);
    if (!status)
        status = pool_stream_wait_event(upload->owned, upload->uploaded);
    if (!status)
        upload->stream = upload->owned;
    return status;
}

/* Destroys an event; the pool takes over one that cannot be destroyed now. Returns the first
 * failure. */
static pool_status close_event(pool_event **event, pool_status status)
{
    pool_status end = pool_event_destroy(event);

    if (*event)
        stream_discard_event(*event);
    *event = NULL;
    return status ? status : end;
}

/* The call's stream waits for the copies, unless something failed before it could. */
static pool_status close_upload(struct upload *upload, pool_status status)
{
    struct base_error_copy first;
    pool_status end = POOL_OK;

    base_error_save(&first);
    if (status && upload->owned)
        (void)pool_stream_synchronize(upload->owned);
    end = close_event(&upload->consumed[0], end);
    end = close_event(&upload->consumed[1], end);
    end = close_event(&upload->uploaded, end);
    pool_status destroyed = pool_stream_destroy(&upload->owned);
    if (upload->owned)
        stream_discard(upload->owned);
    if (status)
        base_error_restore(&first);
    return status ? status : end ? end : destroyed;
}

/* Copies host items from `first` on to offset `at` of the workspace. */
static pool_status copy_items(const struct upload *upload, const pool_span *span, uint64_t stride,
    uint64_t item_bytes, uint64_t first, uint64_t count, uint64_t at)
{
    if (span->space == POOL_MEMORY_DEVICE || count == 0)
        return POOL_OK;
    return pool_copy_to_device(upload->call->workspace, at,
        (const uint8_t *)span->data + first * stride, (count - 1) * stride + item_bytes,
        upload->stream);
}

/* The index of a chunk's first point in the span, or after first_base in the handle. */
static uint64_t first_base(const struct msm_call *call, const struct msm_chunk *chunk)
{
    return (call->job.shares_bases ? 0 : chunk->msm * call->job.msm.count) + chunk->first;
}

static uint64_t first_scalar(const struct msm_call *call, const struct msm_chunk *chunk)
{
    return chunk->msm * call->job.msm.count + chunk->first;
}

/* Whether the points of this chunk have not been uploaded and converted yet. */
static bool needs_bases(const struct msm_call *call, const struct msm_chunk *chunk)
{
    return call->job.has_bases_span && (chunk->index == 1 || !call->plan.uploads_bases_once);
}

static uint64_t base_slot(const struct upload *upload)
{
    return upload->call->plan.uploads_bases_once ? 0 : upload->slot;
}

static pool_status upload_chunk(struct upload *upload, const struct msm_chunk *chunk)
{
    const struct msm_call *call = upload->call;
    const struct msm_chunk_plan *plan = &call->plan;
    pool_status status = POOL_OK;

    upload->slot = plan->slots == 2 ? chunk->index % 2 : 0;
    if (upload->owned && chunk->index > 2)
        status = pool_stream_wait_event(upload->owned, upload->consumed[upload->slot]);
    if (!status)
        status = copy_items(upload, &call->scalars, call->job.scalar_stride,
            call->curve->scalar_field->bytes, first_scalar(call, chunk), chunk->msms * chunk->count,
            plan->scalars_at[upload->slot]);
    if (!status && needs_bases(call, chunk))
        status = copy_items(upload, &call->points, call->job.base_stride,
            pool_point_bytes(call->curve, call->params.point_layout), first_base(call, chunk),
            msm_chunk_bases(&call->job, chunk), plan->bases_at[base_slot(upload)]);
    if (!status && upload->owned)
        status = pool_event_record(upload->uploaded, upload->owned);
    if (!status && upload->owned)
        status = pool_stream_wait_event(call->site.stream, upload->uploaded);
    return status;
}

static struct msm_check_result check_result(const struct msm_call *call, uint64_t first_index)
{
    return (struct msm_check_result){.buffer = call->workspace,
        .offset = call->plan.check_at,
        .address = call->address + call->plan.check_at,
        .first_index = first_index};
}

/* Converts and checks the points of a span. */
static pool_status prepare_span(
    const struct upload *upload, const struct msm_chunk *chunk, struct msm_chunk_operands *operands)
{
    struct msm_call *call = upload->call;
    struct msm_input_bases input = call->input;
    const struct msm_check_result result = check_result(call, first_base(call, chunk));
    bool converts = call->job.converts_bases;
    pool_status status = POOL_OK;

    input.count = msm_chunk_bases(&call->job, chunk);
    if (call->job.bases_on_host)
        input.data = call->address + call->plan.bases_at[base_slot(upload)];
    else
        input.data += first_base(call, chunk) * call->job.base_stride;
    operands->bases = converts ? call->address + call->plan.converted_at : input.data;
    operands->base_stride = converts ? msm_affine_bytes(call->curve) : call->job.base_stride;
    operands->base_batch_stride = call->job.shares_bases ? 0 : call->job.msm.count;
    if (!needs_bases(call, chunk))
        return POOL_OK;
    if (converts)
        status = msm_convert_bases(&call->run, &input, operands->bases);
    if (!status)
        status = msm_check_bases(
            &call->run, &input, &result, operands->bases, operands->base_stride, call->exec.checks);
    return status;
}

static void use_handle(
    const struct msm_call *call, const struct msm_chunk *chunk, struct msm_chunk_operands *operands)
{
    const struct pool_bases *bases = call->params.bases;

    operands->bases = bases->address;
    operands->base_stride = msm_affine_bytes(call->curve);
    operands->first_base = call->params.first_base + first_base(call, chunk);
    operands->base_batch_stride = call->job.shares_bases ? 0 : call->job.msm.count;
    operands->multiple_stride = bases->count;
}

static pool_status prepare_scalars(
    const struct upload *upload, const struct msm_chunk *chunk, struct msm_chunk_operands *operands)
{
    struct msm_call *call = upload->call;
    const struct msm_check_result result = check_result(call, first_scalar(call, chunk));

    operands->scalars = call->job.scalars_on_host
                            ? call->address + call->plan.scalars_at[upload->slot]
                            : (CUdeviceptr)(uintptr_t)call->scalars.data +
                                  first_scalar(call, chunk) * call->job.scalar_stride;
    operands->scalar_stride = call->job.scalar_stride / 4;
    operands->scalar_batch_stride = call->job.msm.count;
    operands->scalar_form = call->scalars.form;
    operands->reduces = (call->exec.checks & POOL_CHECK_REDUCE) != 0;
    if (!(call->exec.checks & POOL_CHECK_CANONICAL))
        return POOL_OK;
    const struct msm_scalars scalars = {.data = operands->scalars,
        .stride = operands->scalar_stride,
        .count = chunk->msms * chunk->count,
        .form = operands->scalar_form,
        .bits = call->params.scalar_bits};
    return msm_check_scalars(&call->run, &scalars, &result);
}

static pool_status add_chunk(struct upload *upload, const struct msm_chunk *chunk)
{
    struct msm_call *call = upload->call;
    struct msm_chunk_operands operands = {.count = chunk->count};
    pool_status status;

    if (msm_chunk_begins_sub_batch(chunk)) {
        call->run.plan = msm_chunk_plan_of(&call->plan, chunk);
        call->run.chunks = 0;
    }
    status = prepare_scalars(upload, chunk, &operands);
    if (!status && call->params.bases)
        use_handle(call, chunk, &operands);
    else if (!status)
        status = prepare_span(upload, chunk, &operands);
    if (!status)
        status = msm_run_add(&call->run, &operands);
    if (!status && upload->owned)
        status = pool_event_record(upload->consumed[upload->slot], call->site.stream);
    return status;
}

static pool_status run_chunk(struct upload *upload, const struct msm_chunk *chunk)
{
    struct msm_call *call = upload->call;
    pool_status status = memory_exec_cancelled("pool_msm", &call->exec);

    if (!status)
        status = upload_chunk(upload, chunk);
    if (!status)
        status = add_chunk(upload, chunk);
    if (!status && msm_chunk_ends_sub_batch(&call->job, chunk)) {
        status = msm_run_reduce(&call->run);
        if (!status)
            status = msm_results_store(call, chunk);
    }
    if (!status)
        memory_exec_report(&call->exec, first_scalar(call, chunk) + chunk->msms * chunk->count,
            call->scalars.count);
    return status;
}

pool_status msm_call_run(struct msm_call *call)
{
    struct upload upload = {.call = call};
    struct msm_chunk chunk = {0};
    pool_status status = open_upload(&upload);

    call->run = (struct msm_run){.device = call->site.device,
        .stream = call->site.stream,
        .curve = call->curve,
        .workspace = call->address};
    while (!status && msm_chunk_next(&call->job, &call->plan, &chunk))
        status = run_chunk(&upload, &chunk);
    return close_upload(&upload, status);
}
