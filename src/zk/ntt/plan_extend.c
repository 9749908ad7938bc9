/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a low-degree extension, a pure function.
 *
 * With n coefficients of a column and N = 2^b n results, decimation in frequency transforms the b
 * highest bits of the index first. Of the inputs of those butterflies only one is not zero, so that
 * one kernel computes all of them, reading n elements and writing N (ptx/ntt/extend.cu). What
 * remains are 2^b transforms of n points with the twiddles of the large domain: passes that begin
 * with log_done = b. The kernel takes the place of a copy that pads columns with zeros, and the
 * pass that N points may need beyond those of n points is saved. Kernels of one length
 * (ptx/ntt/pass_word.cu) spread the coefficients while their first pass loads them.
 *
 * Intermediate results are where memory is free anyway: the coefficients are in the output until it
 * is written, the workspace of the inverse transform too, and scratch memory is left for what has
 * no place there.
 */
#include "zk/ntt/extend.h"

#include <string.h>

#include "base/math.h"
#include "base/status.h"
#include "pool/memory/scratch.h"

/* Of the scratch memory's parts; more than vector loads need. */
enum { ALIGNMENT = 256 };

static bool takes_reversed(const struct ntt_extend_job *job)
{
    return job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;
}

static bool gives_reversed(const struct ntt_extend_job *job)
{
    return job->order == POOL_NTT_NR || job->order == POOL_NTT_RR;
}

/* The coefficients are in natural order, unless the caller's are not. */
static struct ntt_job inverse_job(const struct ntt_extend_job *job)
{
    return (struct ntt_job){.words = job->words,
        .log_size = job->log_size - job->log_blowup,
        .batch = job->batch,
        .order = takes_reversed(job) ? POOL_NTT_RN : POOL_NTT_NN,
        .layout = job->layout,
        .tuning = job->tuning};
}

/* Without a blow-up it is a transform on the coset, which may read the caller's coefficients. */
static struct ntt_job forward_job(const struct ntt_extend_job *job)
{
    struct ntt_job forward = {.words = job->words,
        .log_size = job->log_size,
        .log_done = job->log_blowup,
        .batch = job->batch,
        .order = gives_reversed(job) ? POOL_NTT_NR : POOL_NTT_NN,
        .layout = job->layout,
        .coset_in = job->log_blowup == 0,
        .tuning = job->tuning};

    if (job->log_blowup == 0 && job->from_coefficients)
        forward.order = job->order;
    return forward;
}

static bool make_passes(const struct chip *chip, const struct ntt_job *job, struct ntt_plan *passes)
{
    const struct ntt_tuning tuning = ntt_tuning_for(job, chip);

    return ntt_plan_make(&tuning, chip, job, passes);
}

static enum ntt_extend_place place_coefficients(
    const struct ntt_extend_operands *operands, const struct ntt_extend_plan *plan)
{
    bool out_is_free = !plan->spreads || plan->spread != NTT_EXTEND_OUT;

    if (!plan->inverts)
        return operands->out_begins_with_in && !out_is_free ? NTT_EXTEND_COEFFICIENTS
                                                            : NTT_EXTEND_IN;
    if (operands->keeps_coefficients)
        return NTT_EXTEND_KEPT;
    if (out_is_free)
        return NTT_EXTEND_OUT;
    return operands->in_is_on_host ? NTT_EXTEND_IN : NTT_EXTEND_COEFFICIENTS;
}

static enum ntt_extend_place inverse_workspace(
    const struct ntt_extend_operands *operands, const struct ntt_extend_plan *plan)
{
    bool is_in_place = plan->coefficients == NTT_EXTEND_IN ||
                       (plan->coefficients == NTT_EXTEND_KEPT && operands->coefficients_are_in) ||
                       (plan->coefficients == NTT_EXTEND_OUT && operands->out_begins_with_in);

    if (!plan->inverts || !ntt_plan_needs_workspace(&plan->passes[POOL_NTT_INVERSE], is_in_place,
                              operands->in_is_on_host || operands->out_begins_with_in))
        return NTT_EXTEND_NOWHERE;
    if (plan->spread == NTT_EXTEND_WORKSPACE || plan->coefficients == NTT_EXTEND_OUT)
        return NTT_EXTEND_WORKSPACE;
    if (!operands->out_begins_with_in)
        return NTT_EXTEND_OUT;
    return plan->spreads ? NTT_EXTEND_OUT_TAIL : NTT_EXTEND_WORKSPACE;
}

static enum ntt_extend_place forward_workspace(
    const struct ntt_extend_operands *operands, const struct ntt_extend_plan *plan)
{
    bool is_in_place = plan->coefficients == NTT_EXTEND_OUT ||
                       (plan->coefficients == NTT_EXTEND_IN && operands->out_begins_with_in);
    bool in_may_be_overwritten = plan->coefficients == NTT_EXTEND_IN && operands->in_is_on_host;

    if (plan->spreads || !ntt_plan_needs_workspace(
                             &plan->passes[POOL_NTT_FORWARD], is_in_place, in_may_be_overwritten))
        return NTT_EXTEND_NOWHERE;
    return NTT_EXTEND_WORKSPACE;
}

/* Kernels of one length spread coefficients in natural order with their first pass, where that does
 * not write where it reads. */
static bool fuse_spread(
    const struct chip *chip, const struct ntt_extend_job *job, struct ntt_extend_plan *plan)
{
    struct ntt_job fused = plan->forward;

    if (!ntt_tuning_for(&plan->forward, chip).by_length ||
        (!plan->inverts && takes_reversed(job)) ||
        (plan->passes[POOL_NTT_FORWARD].count == 1 && plan->spread != NTT_EXTEND_OUT))
        return false;
    fused.coset_in = true;
    if (!make_passes(chip, &fused, &plan->passes[POOL_NTT_FORWARD]))
        return false;
    plan->forward = fused;
    return true;
}

bool ntt_extend_plan_make(const struct chip *chip, const struct ntt_extend_job *job,
    const struct ntt_extend_operands *operands, struct ntt_extend_plan *plan)
{
    const uint64_t points = job->batch << (job->log_size - job->log_blowup);
    bool has_workspace;

    memset(plan, 0, sizeof(*plan));
    plan->inverts = !job->from_coefficients;
    plan->spreads = job->log_blowup != 0;
    plan->inverse = inverse_job(job);
    plan->forward = forward_job(job);
    if (!make_passes(chip, &plan->inverse, &plan->passes[POOL_NTT_INVERSE]) ||
        !make_passes(chip, &plan->forward, &plan->passes[POOL_NTT_FORWARD]) ||
        base_ceil_div(points, NTT_EXTEND_THREADS) > INT32_MAX)
        return false;
    if (plan->spreads)
        plan->spread = plan->passes[POOL_NTT_FORWARD].last_is_out_of_place ? NTT_EXTEND_WORKSPACE
                                                                           : NTT_EXTEND_OUT;
    plan->coefficients = place_coefficients(operands, plan);
    plan->copies = !plan->inverts && plan->coefficients == NTT_EXTEND_COEFFICIENTS;
    if (!plan->spreads)
        plan->spread = plan->coefficients;
    plan->spreads_apart = plan->spreads && !fuse_spread(chip, job, plan);
    plan->workspace[POOL_NTT_INVERSE] = inverse_workspace(operands, plan);
    plan->workspace[POOL_NTT_FORWARD] = forward_workspace(operands, plan);
    if (plan->coefficients == NTT_EXTEND_COEFFICIENTS)
        plan->coefficients_bytes =
            base_ceil_div(points * operands->element_bytes, ALIGNMENT) * ALIGNMENT;
    has_workspace = plan->spread == NTT_EXTEND_WORKSPACE ||
                    plan->workspace[POOL_NTT_INVERSE] == NTT_EXTEND_WORKSPACE ||
                    plan->workspace[POOL_NTT_FORWARD] == NTT_EXTEND_WORKSPACE;
    plan->scratch_bytes = plan->coefficients_bytes;
    if (has_workspace)
        plan->scratch_bytes += (points << job->log_blowup) * operands->element_bytes;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* One chunk is uploaded, one computed and one downloaded. */
enum { SLOTS = 3 };

static pool_status scratch_of(const struct chip *chip, const struct ntt_extend_job *job,
    const struct ntt_extend_operands *operands, uint64_t columns, uint64_t *bytes)
{
    struct ntt_extend_job chunk = *job;
    struct ntt_extend_plan plan;

    chunk.batch = columns;
    if (!ntt_extend_plan_make(chip, &chunk, operands, &plan))
        return ntt_plan_fail(&plan.forward);
    *bytes = plan.scratch_bytes;
    return POOL_OK;
}

/* The memory of chunks of that many columns. The last one may have another plan. */
static pool_status set_chunks(const struct chip *chip, const struct ntt_extend_job *job,
    const struct ntt_extend_operands *operands, struct ntt_extend_chunks *chunks)
{
    const uint64_t rest = job->batch % chunks->columns, bytes = operands->element_bytes;
    const uint64_t results = (chunks->columns << job->log_size) * bytes;
    const uint64_t points = results >> job->log_blowup;
    uint64_t last = 0, copies = 0;
    pool_status status = scratch_of(chip, job, operands, chunks->columns, &chunks->scratch_bytes);

    if (!status && rest)
        status = scratch_of(chip, job, operands, rest, &last);
    if (status)
        return status;
    chunks->scratch_bytes = base_max(chunks->scratch_bytes, last);
    if (operands->in_is_on_host)
        copies += memory_scratch_bytes(points);
    if (operands->out_is_on_host)
        copies += memory_scratch_bytes(results);
    if (operands->keeps_coefficients && operands->coefficients_are_on_host)
        copies += memory_scratch_bytes(points);
    chunks->bytes = chunks->slots * (copies + memory_scratch_bytes(chunks->scratch_bytes)) +
                    (operands->has_checks ? memory_scratch_bytes(sizeof(uint64_t)) : 0);
    return POOL_OK;
}

/* Fewer columns first: chunks in progress at a time hide the copies. */
static bool shrink_chunks(const struct ntt_extend_job *job, struct ntt_extend_chunks *chunks)
{
    if (chunks->columns == 1 && chunks->slots == 1)
        return false;
    if (chunks->columns == 1) {
        chunks->slots--;
        return true;
    }
    chunks->columns = (chunks->columns + 1) / 2;
    chunks->slots = (uint32_t)base_min(SLOTS, base_ceil_div(job->batch, chunks->columns));
    return true;
}

pool_status ntt_extend_plan_chunks(const struct chip *chip, const struct ntt_extend_job *job,
    const struct ntt_extend_operands *operands, uint64_t limit, struct ntt_extend_chunks *chunks)
{
    bool is_divisible = job->layout == POOL_NTT_ROWS && operands->in_is_on_host &&
                        operands->out_is_on_host &&
                        (!operands->keeps_coefficients || operands->coefficients_are_on_host);
    uint64_t most = base_max(
        chip_tuning(chip)->ntt_chunk_bytes / (operands->element_bytes << job->log_size), 1);
    pool_status status;

    *chunks = (struct ntt_extend_chunks){
        .columns = is_divisible ? base_min(most, job->batch) : job->batch};
    chunks->slots = (uint32_t)base_min(SLOTS, base_ceil_div(job->batch, chunks->columns));
    status = set_chunks(chip, job, operands, chunks);
    while (!status && chunks->bytes > limit) {
        if (!is_divisible || !shrink_chunks(job, chunks))
            return exec_fail_limit("pool_ntt_extend", limit, chunks->bytes);
        status = set_chunks(chip, job, operands, chunks);
    }
    return status;
}
