/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues a joint MSM. A chunk of scalars is sorted once, and the sorted entries, which are
 * indices of bases, are taken with the bases of each of its terms; these are added to the buckets
 * of the term's result. In the end one reduction takes the buckets of all results.
 */
#include "base/math.h"
#include "base/status.h"
#include "pool/stream/phase.h"
#include "zk/msm/joint.h"
#include "zk/operation/pipeline.h"

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Whether an earlier term sorts the scalars of this one. */
static bool follows(const struct msm_joint_call *call, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (msm_joint_shares_sort(&call->terms[index], &call->terms[i]))
            return true;
    return false;
}

static uint32_t count_terms(const struct msm_joint_call *call, uint32_t leader)
{
    uint32_t terms = 0;

    for (uint32_t i = leader; i < call->count; i++)
        terms += msm_joint_shares_sort(&call->terms[i], &call->terms[leader]);
    return terms;
}

static bool set_next_chunk(void *user, struct pipeline_chunk *slot)
{
    struct msm_joint_call *call = user;
    struct msm_joint_chunk *chunk = &call->chunk;

    chunk->first += chunk->count;
    while (
        chunk->leader < call->count && (chunk->first == call->terms[chunk->leader].scalars.count ||
                                           follows(call, chunk->leader))) {
        chunk->leader++;
        chunk->first = 0;
    }
    if (chunk->leader == call->count)
        return false;
    chunk->count =
        base_min(call->max_chunk, call->terms[chunk->leader].scalars.count - chunk->first);
    slot->first = chunk->first;
    slot->count = chunk->count * count_terms(call, chunk->leader); /* of the progress */
    return true;
}

static pool_status upload_scalars(void *user, struct pipeline_chunk *slot)
{
    const struct msm_joint_call *call = user;
    const pool_span *scalars = &call->terms[call->chunk.leader].scalars;
    const uint64_t bytes = call->msm.curve->scalar_field->bytes;
    const pool_span chunk = span_slice(scalars, bytes, call->chunk.first, call->chunk.count);

    return chunk.space == POOL_MEMORY_DEVICE
               ? POOL_OK
               : pool_copy_to_device(call->msm.frame.block, call->scalars_at[slot->slot],
                     chunk.data, span_extent(&chunk, bytes), slot->target.stream);
}

/* ---- computation ----------------------------------------------------------------------------- */

static struct msm_chunk_operands operands_of(const struct msm_joint_call *call, uint32_t slot)
{
    const pool_msm_term *leader = &call->terms[call->chunk.leader];
    const uint64_t bytes = call->msm.curve->scalar_field->bytes;
    const uint64_t stride = span_stride(&leader->scalars, bytes);

    return (struct msm_chunk_operands){.count = call->chunk.count,
        .scalars = leader->scalars.space == POOL_MEMORY_DEVICE
                       ? (CUdeviceptr)(uintptr_t)leader->scalars.data + call->chunk.first * stride
                       : call->msm.frame.address + call->scalars_at[slot],
        .scalar_stride = stride / sizeof(uint32_t),
        .scalar_batch_stride = call->chunk.count,
        .scalar_form = leader->scalars.form,
        .reduces = (call->msm.frame.exec.checks & POOL_CHECK_REDUCE) != 0,
        .base_stride = msm_affine_bytes(call->msm.curve),
        .first_base = call->chunk.first,
        .multiple_stride = leader->bases->count};
}

static pool_status check_scalars(
    const struct msm_joint_call *call, const struct msm_chunk_operands *operands)
{
    const struct msm_scalars scalars = {.data = operands->scalars,
        .stride = operands->scalar_stride,
        .count = operands->count,
        .form = operands->scalar_form,
        .bits = call->params.scalar_bits};
    const struct msm_check_result result = {.buffer = call->msm.frame.block,
        .offset = call->msm.plan.check_at,
        .address = call->msm.frame.address + call->msm.plan.check_at,
        .first_index = call->chunk.first};

    return call->msm.frame.exec.checks & POOL_CHECK_CANONICAL
               ? msm_check_scalars(&call->msm.run, &scalars, &result)
               : POOL_OK;
}

/* Adds a term's bases of the sorted entries to the buckets of its result. */
static pool_status accumulate_term(
    struct msm_joint_call *call, const pool_msm_term *term, const struct msm_chunk_operands *sorted)
{
    const uint64_t bucket_bytes = 2 * msm_affine_bytes(call->msm.curve);
    struct msm_chunk_operands operands = *sorted;
    struct msm_plan plan = call->chunk_plan;
    struct msm_run run = call->msm.run;

    plan.buckets_at += term->result * plan.buckets * bucket_bytes;
    run.plan = &plan;
    run.chunks = call->is_added[term->result];
    call->is_added[term->result] = true;
    operands.bases = term->bases->address + term->first_base * operands.base_stride;
    return msm_run_accumulate(&run, &operands);
}

static pool_status add_chunk(void *user, struct pipeline_chunk *slot)
{
    struct msm_joint_call *call = user;
    const pool_msm_term *leader = &call->terms[call->chunk.leader];
    const struct msm_chunk_operands operands = operands_of(call, slot->slot);
    struct msm_run run = call->msm.run;
    struct phase phase;
    pool_status status = check_scalars(call, &operands);

    run.plan = &call->chunk_plan;
    if (!status) {
        phase_begin(&phase, run.device, run.stream, "msm", "sort");
        status = phase_end(&phase, msm_run_sort(&run, &operands));
    }
    for (uint32_t i = call->chunk.leader; i < call->count && !status; i++)
        if (msm_joint_shares_sort(&call->terms[i], leader))
            status = accumulate_term(call, &call->terms[i], &operands);
    return status;
}

static uint32_t extras_of(const struct msm_joint_call *call)
{
    return (call->msm.job.combines_on_host ? 0 : MSM_COMBINES_ON_DEVICE) |
           (call->chunk_plan.affine.passes ? MSM_PASSES_AFFINE : 0);
}

pool_status msm_joint_run(void *user)
{
    struct msm_joint_call *call = user;
    struct exec_target *target = &call->msm.frame.target;
    const struct pipeline pipeline = {.target = *target,
        .progress = &call->msm.frame.progress,
        .weight = 1,
        .next = set_next_chunk,
        .slots = call->slots,
        .is_serial = true,
        .upload = upload_scalars,
        .compute = add_chunk,
        .user = call};
    const struct msm_chunk results = {.msms = call->msm.params.batch};
    pool_status status;

    call->msm.run = (struct msm_run){.device = target->device,
        .stream = target->stream,
        .slices = target->slices,
        .curve = call->msm.curve,
        .plan = &call->all,
        .workspace = call->msm.frame.address,
        .share = exec_share_of(&call->msm.frame.exec, target->device),
        .extras = extras_of(call)};
    status = msm_run_clear(&call->msm.run);
    if (!status)
        status = pipeline_run(&pipeline);
    if (!status)
        status = msm_run_reduce(&call->msm.run);
    if (!status)
        status = msm_results_store(&call->msm, &results);
    return status ? status : msm_results_write(&call->msm);
}
