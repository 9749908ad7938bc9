/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the chunks of a call: host memory is uploaded while the previous chunk is computed; then
 * bases are converted, operands are checked, and the products are added to the buckets.
 */
#include "base/status.h"
#include "memory/pipeline.h"
#include "msm/call.h"

/* Copies host items from `first` on to offset `at` of the workspace. */
static pool_status copy_items(const struct msm_call *call, const struct exec_target *target,
    const pool_span *span, uint64_t item_bytes, uint64_t first, uint64_t count, uint64_t at)
{
    uint64_t stride = memory_span_stride(span, item_bytes);

    if (span->space == POOL_MEMORY_DEVICE || count == 0)
        return POOL_OK;
    return pool_copy_to_device(call->workspace, at, (const uint8_t *)span->data + first * stride,
        (count - 1) * stride + item_bytes, target->stream);
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

static uint32_t base_slot(const struct msm_call *call, uint32_t slot)
{
    return call->plan.uploads_bases_once ? 0 : slot;
}

static bool set_next_chunk(void *user, struct memory_chunk *slot)
{
    struct msm_call *call = user;
    struct msm_chunk *chunk = &call->chunk;
    bool has_chunk = msm_chunk_next(&call->job, &call->plan, chunk);

    slot->first = first_scalar(call, chunk);
    slot->count = chunk->msms * chunk->count;
    return has_chunk;
}

static pool_status upload_chunk(void *user, struct memory_chunk *slot)
{
    const struct msm_call *call = user;
    const struct msm_chunk *chunk = &call->chunk;
    pool_status status =
        copy_items(call, &slot->target, &call->scalars, call->curve->scalar_field->bytes,
            slot->first, slot->count, call->plan.scalars_at[slot->slot]);

    if (!status && needs_bases(call, chunk))
        status = copy_items(call, &slot->target, &call->points,
            pool_point_bytes(call->curve, call->params.point_layout), first_base(call, chunk),
            msm_chunk_bases(&call->job, chunk), call->plan.bases_at[base_slot(call, slot->slot)]);
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
    struct msm_call *call, uint32_t slot, struct msm_chunk_operands *operands)
{
    const struct msm_chunk *chunk = &call->chunk;
    struct msm_input_bases input = call->input;
    const struct msm_check_result result = check_result(call, first_base(call, chunk));
    bool converts = call->job.converts_bases;
    pool_status status = POOL_OK;

    input.count = msm_chunk_bases(&call->job, chunk);
    if (call->job.bases_on_host)
        input.data = call->address + call->plan.bases_at[base_slot(call, slot)];
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

static void use_handle(const struct msm_call *call, struct msm_chunk_operands *operands)
{
    const struct pool_bases *bases = call->params.bases;

    operands->bases = bases->address;
    operands->base_stride = msm_affine_bytes(call->curve);
    operands->first_base = call->params.first_base + first_base(call, &call->chunk);
    operands->base_batch_stride = call->job.shares_bases ? 0 : call->job.msm.count;
    operands->multiple_stride = bases->count;
}

static pool_status prepare_scalars(
    struct msm_call *call, const struct memory_chunk *slot, struct msm_chunk_operands *operands)
{
    const struct msm_check_result result = check_result(call, slot->first);

    operands->scalars =
        call->job.scalars_on_host
            ? call->address + call->plan.scalars_at[slot->slot]
            : (CUdeviceptr)(uintptr_t)call->scalars.data + slot->first * call->job.scalar_stride;
    operands->scalar_stride = call->job.scalar_stride / 4;
    operands->scalar_batch_stride = call->job.msm.count;
    operands->scalar_form = call->scalars.form;
    operands->reduces = (call->exec.checks & POOL_CHECK_REDUCE) != 0;
    if (!(call->exec.checks & POOL_CHECK_CANONICAL))
        return POOL_OK;
    const struct msm_scalars scalars = {.data = operands->scalars,
        .stride = operands->scalar_stride,
        .count = slot->count,
        .form = operands->scalar_form,
        .bits = call->params.scalar_bits};
    return msm_check_scalars(&call->run, &scalars, &result);
}

static pool_status add_chunk(void *user, struct memory_chunk *slot)
{
    struct msm_call *call = user;
    struct msm_chunk_operands operands = {.count = call->chunk.count};
    pool_status status;

    if (msm_chunk_begins_sub_batch(&call->chunk)) {
        call->run.plan = msm_chunk_plan_of(&call->plan, &call->chunk);
        call->run.chunks = 0;
    }
    status = prepare_scalars(call, slot, &operands);
    if (!status && call->params.bases)
        use_handle(call, &operands);
    else if (!status)
        status = prepare_span(call, slot->slot, &operands);
    return status ? status : msm_run_add(&call->run, &operands);
}

static pool_status reduce_sub_batch(void *user, struct memory_chunk *slot)
{
    struct msm_call *call = user;
    pool_status status;

    (void)slot;
    if (!msm_chunk_ends_sub_batch(&call->job, &call->chunk))
        return POOL_OK;
    status = msm_run_reduce(&call->run);
    return status ? status : msm_results_store(call, &call->chunk);
}

pool_status msm_call_run(struct msm_call *call)
{
    struct memory_progress progress = {
        .call = "pool_msm", .exec = &call->exec, .total = call->scalars.count};
    const struct memory_pipeline pipeline = {.target = call->site,
        .progress = &progress,
        .weight = 1,
        .next = set_next_chunk,
        .slots = call->plan.slots,
        .is_serial = true,
        .upload = upload_chunk,
        .compute = add_chunk,
        .finish = reduce_sub_batch,
        .user = call};

    call->chunk = (struct msm_chunk){0};
    call->run = (struct msm_run){.device = call->site.device,
        .stream = call->site.stream,
        .curve = call->curve,
        .workspace = call->address};
    return memory_pipeline_run(&pipeline);
}
