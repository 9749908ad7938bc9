/* SPDX-License-Identifier: Apache-2.0 */
/* What the operands of an MSM fulfil together, and the chunks of its call. */
#include "zk/msm/call.h"

#include <string.h>

#include "base/status.h"
#include "zk/curve/endomorphism.h"

bool msm_curve_has_origin(const pool_curve *curve)
{
    static const uint64_t zero[CURVE_MAX_LIMBS];

    return memcmp(curve->b, zero, curve->coordinates.limbs * sizeof(zero[0])) == 0;
}

static struct msm_job msm_job_of(const struct msm_call *call)
{
    const pool_field *order = call->curve->scalar_field;
    const struct pool_bases *bases = call->params.bases;
    bool is_precomputed = bases && bases->factor > 1;

    return (struct msm_job){.coordinate_words = call->curve->coordinates.bytes / 4,
        .scalar_words = order->words,
        .order_bits = order->bits,
        .scalar_bits = call->params.scalar_bits,
        .count = call->scalars->count / call->params.batch,
        .batch = call->params.batch,
        .precompute_factor = bases ? bases->factor : 1,
        .sets_per_msm = is_precomputed ? bases->bucket_sets : 0,
        .window_bits = is_precomputed ? bases->window_bits : call->params.window_bits,
        .affine_passes = msm_curve_has_origin(call->curve) || call->frame.memory.omits_optional
                             ? POOL_AFFINE_NONE
                             : call->params.affine_passes,
        .max_affine_groups = call->tuning->max_affine_groups,
        .never_copies_ahead = call->tuning->never_copies_ahead};
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Of the parts of a GPU, any of which can use the bases, the stream's. */
static pool_device *device_beside(const struct pool_bases *bases, const pool_stream *stream)
{
    pool_device *device = pool_stream_device(stream);

    return device && device_is_same_gpu(device, bases->device) ? device : bases->device;
}

/* Takes curve and device from a handle; the caller's curve may be another object for the same
 * curve. */
pool_status msm_call_resolve(struct msm_call *call)
{
    const pool_msm_params *params = &call->params;
    const struct pool_bases *bases = params->device_bases ? params->device_bases[0] : params->bases;
    pool_device **device = &call->frame.exec.device;
    const char *name = call->frame.name;

    call->curve = params->curve;
    if (!params->curve && !bases)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `device_bases[0]` must not be NULL", name);
    if (!params->curve || params->bases)
        call->curve = bases->curve;
    if (!params->bases)
        return POOL_OK;
    if (params->curve && memcmp(params->curve->fingerprint, bases->curve->fingerprint,
                             sizeof(bases->curve->fingerprint)) != 0)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `bases` are points of %s and `curve` is %s", name, bases->curve->name,
            params->curve->name);
    if (*device && !device_is_same_gpu(*device, bases->device))
        return base_fail(POOL_ERR_WRONG_DEVICE, "%s: `bases` are on device %d and `device` is %d",
            name, pool_device_ordinal(bases->device), pool_device_ordinal(*device));
    if (!*device)
        *device = device_beside(bases, call->frame.exec.stream);
    return POOL_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static pool_status check_counts(const struct msm_call *call)
{
    const pool_msm_params *params = &call->params;
    uint64_t needed;

    if (call->scalars->count % params->batch)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu scalars are not a multiple of a batch of %llu MSMs",
            (unsigned long long)call->scalars->count, (unsigned long long)params->batch);
    if (call->results->count != params->batch)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the span of results has room for %llu points; %llu MSMs have %llu results",
            (unsigned long long)call->results->count, (unsigned long long)params->batch,
            (unsigned long long)params->batch);
    needed = params->shared_bases ? call->scalars->count / params->batch : call->scalars->count;
    if (call->points && call->points->count != needed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the span of points has %llu points; the scalars need %llu",
            (unsigned long long)call->points->count, (unsigned long long)needed);
    if (params->bases && (params->first_base > params->bases->count ||
                             needed > params->bases->count - params->first_base))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu bases from %llu on are more than the %llu of `bases`", (unsigned long long)needed,
            (unsigned long long)params->first_base, (unsigned long long)params->bases->count);
    return POOL_OK;
}

/* Bases precomputed for short scalars lack the multiples that longer scalars need. */
static pool_status check_precomputed(const struct msm_call *call)
{
    const struct pool_bases *bases = call->params.bases;
    const struct msm_job job = msm_job_of(call);
    uint32_t windows;

    if (!bases || bases->factor == 1)
        return POOL_OK;
    if (call->params.window_bits && call->params.window_bits != bases->window_bits)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `window_bits`; `bases` are precomputed for %u",
            call->frame.name, call->params.window_bits, bases->window_bits);
    windows = msm_plan_windows(&job, bases->window_bits);
    if (windows > bases->factor * bases->bucket_sets)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "scalars of %u bits have %u windows of %u bits; `bases` are precomputed for %u",
            call->params.scalar_bits ? call->params.scalar_bits : call->curve->scalar_field->bits,
            windows, bases->window_bits, bases->factor * bases->bucket_sets);
    return POOL_OK;
}

static bool overlaps_results(const struct msm_call *call, const pool_span *span, uint32_t operand)
{
    const struct span_item *item = call->frame.item;

    return span && spans_overlap(call->results, item[MSM_RESULTS].bytes, span, item[operand].bytes);
}

pool_status msm_call_check(void *user)
{
    const struct msm_call *call = user;
    pool_status status = POOL_OK;

    if (!call->frame.is_forecast)
        status = msm_bases_check(call->params.bases);
    if (!status && (overlaps_results(call, call->scalars, MSM_SCALARS) ||
                       overlaps_results(call, call->points, MSM_POINTS)))
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the results overlap the points or the scalars in memory");
    if (!status)
        status = check_counts(call);
    return status ? status : check_precomputed(call);
}

/* ---- plan ------------------------------------------------------------------------------------ */

/* Splits the call's terms where that is faster. */
static void choose_halves(struct msm_call *call)
{
    const struct chip chip = chip_of(call->frame.target.device);
    const struct curve_endomorphism *endomorphism;

    if (!msm_plan_splits(&chip, &call->job.msm, call->tuning->splitting))
        return;
    endomorphism = curve_endomorphism_of(call->curve);
    if (endomorphism)
        call->job.msm.half_bits = endomorphism->bits;
}

static void set_job(struct msm_call *call)
{
    const struct span_item *item = call->frame.item;
    const pool_span *points = call->points;
    const pool_exec *exec = &call->frame.exec;

    if (points)
        msm_input_bases_init(&call->input, call->curve, points, call->params.point_layout);
    if (points && points->space == POOL_MEMORY_HOST)
        call->input.data = 0; /* uploaded to an aligned address */
    call->job = (struct msm_chunk_job){.msm = msm_job_of(call),
        .has_bases_span = points != NULL,
        .shares_bases = call->params.shared_bases,
        .converts_bases = points && !msm_input_is_converted(call->curve, &call->input),
        .bases_on_host = points && points->space == POOL_MEMORY_HOST,
        .scalars_on_host = call->scalars->space == POOL_MEMORY_HOST,
        .results_on_host = call->results->space == POOL_MEMORY_HOST,
        .has_checks = (exec->checks & (POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP)) != 0,
        .combines_on_host = !exec->is_async && call->params.batch <= MSM_HOST_COMBINES,
        .base_stride = points ? span_stride(points, item[MSM_POINTS].bytes) : 0,
        .scalar_stride = span_stride(call->scalars, item[MSM_SCALARS].bytes),
        .result_bytes = item[MSM_RESULTS].bytes};
    choose_halves(call);
}

pool_status msm_call_plan(void *user, uint64_t limit)
{
    struct msm_call *call = user;
    const struct chip chip = chip_of(call->frame.target.device);
    pool_status status;

    set_job(call);
    status = msm_chunk_plan_make(&chip, call->tuning, &call->job, limit, &call->plan);
    call->frame.memory.bytes = call->plan.bytes;
    call->frame.memory.has_optional = msm_chunk_plan_has_passes(&call->plan);
    return status;
}

pool_status msm_call_restore(void *user)
{
    const struct msm_call *call = user;

    return msm_restore_programs(call->frame.target.device, call->curve);
}
