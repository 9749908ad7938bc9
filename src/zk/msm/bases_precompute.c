/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies points to a device in chunks, converts and checks them, and computes the precomputed
 * multiples. Bases from a file are checked here too.
 */
#include "base/math.h"
#include "base/status.h"
#include "zk/msm/bases.h"
#include "zk/operation/pipeline.h"

enum { ALIGNMENT = 256 };

static uint32_t factor_of(const pool_bases_params *params, const struct chip *chip)
{
    const uint32_t words = (uint32_t)(params->curve->coordinates.bytes / sizeof(uint32_t));
    const uint32_t tuned = chip_tuning(chip)->msm[tuning_msm_width(words)].table_factor;

    return params->precompute_factor == POOL_PRECOMPUTE_AUTO && tuned ? tuned
                                                                      : params->precompute_factor;
}

/* Sets factor, window bits and bucket sets by the plan of an MSM over all bases. */
static pool_status set_precomputation(const pool_bases_params *params, struct pool_bases *bases)
{
    const struct chip chip = chip_of(bases->device);
    const pool_field *order = bases->curve->scalar_field;
    struct msm_job job = {.coordinate_words = bases->curve->coordinates.bytes / 4,
        .scalar_words = order->words,
        .order_bits = order->bits,
        .scalar_bits = params->scalar_bits,
        .count = params->planned_terms ? params->planned_terms : bases->count,
        .chunk_count = 1,
        .batch = 1,
        .precompute_factor = (uint32_t)base_min(factor_of(params, &chip), MSM_BASES_MAX_FACTOR),
        .window_bits = params->window_bits};
    struct msm_plan plan;
    pool_status status;

    bases->scalar_bits = params->scalar_bits;
    if (params->precompute_factor < 2)
        return POOL_OK;
    status = msm_plan_make(&chip, &job, &plan);
    if (status)
        return status;
    bases->requested_factor = params->precompute_factor;
    bases->window_bits = plan.window_bits;
    bases->bucket_sets = plan.sets_per_msm;
    bases->factor = (uint32_t)base_ceil_div(plan.windows, plan.sets_per_msm);
    if (bases->count > INT32_MAX / bases->factor)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu points times a precompute factor of %u are more than 2^31 - 1",
            (unsigned long long)bases->count, bases->factor);
    return POOL_OK;
}

/* ---- the memory of a creation ---------------------------------------------------------------- */

/* Chunks, and scratch memory for an answer of checks and the multiples in progress. */
struct build_plan {
    uint64_t chunk_items;
    uint32_t slots;
    uint64_t scratch_bytes;
};

static struct build_plan plan_build(const struct pool_bases *bases, const pool_span *span)
{
    uint64_t count = base_min(span->count, MSM_BASES_CHUNK);
    bool overlaps = span->space == POOL_MEMORY_HOST && span->count > count;

    return (struct build_plan){.chunk_items = count,
        .slots = overlaps ? 2 : 1,
        .scratch_bytes = memory_scratch_bytes(
            ALIGNMENT + (bases->factor > 1 ? 2 * count * msm_affine_bytes(bases->curve) : 0))};
}

uint64_t msm_bases_build_bytes(
    const struct pool_bases *bases, const pool_span *span, pool_point_layout layout)
{
    const struct build_plan plan = plan_build(bases, span);
    uint64_t item_bytes = pool_point_bytes(bases->curve, layout);
    pool_span chunk = *span;

    chunk.count = plan.chunk_items;
    return plan.scratch_bytes +
           (span->space == POOL_MEMORY_HOST
                   ? plan.slots * memory_scratch_bytes(span_extent(&chunk, item_bytes))
                   : 0);
}

/* ---- creation -------------------------------------------------------------------------------- */

/* Bases that are being created or checked, and scratch memory. */
struct bases_builder {
    struct pool_bases *bases;
    uint64_t first; /* index of the span's first point */
    struct exec_target target;
    struct progress *progress;
    struct msm_input_bases source;
    bool converts; /* otherwise the source is the bases themselves */
    pool_buffer *scratch;
    CUdeviceptr result;  /* of checks */
    CUdeviceptr doubled; /* multiples in progress */
};

static pool_status compute_multiples(
    const struct bases_builder *builder, const struct msm_run *run, uint64_t first, uint64_t count)
{
    const struct pool_bases *bases = builder->bases;
    uint64_t bytes = msm_affine_bytes(bases->curve);
    pool_status status = POOL_OK;

    for (uint32_t level = 1; !status && level < bases->factor; level++) {
        CUdeviceptr to = bases->address + (level * bases->count + first) * bytes;
        const struct msm_doubling multiples = {.bases = to - bases->count * bytes,
            .out = to,
            .scratch = builder->doubled,
            .count = count,
            .doublings = bases->window_bits * bases->bucket_sets};

        status = msm_double_bases(run, &multiples);
    }
    return status;
}

static uint32_t extras_of(const struct bases_builder *builder)
{
    bool doubles = builder->bases->factor > 1;

    return (builder->converts || doubles ? MSM_CONVERTS_BASES : 0) |
           (builder->progress->exec->checks & POOL_CHECK_ON_CURVE ? MSM_CHECKS_BASES : 0) |
           (doubles ? MSM_DOUBLES_BASES : 0);
}

static pool_status build_chunk(void *user, struct pipeline_chunk *chunk)
{
    const struct bases_builder *builder = user;
    const struct pool_bases *bases = builder->bases;
    const uint64_t bytes = msm_affine_bytes(bases->curve), first = builder->first + chunk->first;
    CUdeviceptr to = bases->address + first * bytes;
    const struct msm_run run = {.device = bases->device,
        .stream = chunk->target.stream,
        .curve = bases->curve,
        .extras = extras_of(builder),
        .slices = chunk->target.slices,
        .share = {.slice_ns = chunk->target.slice_ns}};
    const struct msm_check_result result = {
        .buffer = builder->scratch, .address = builder->result, .first_index = chunk->first};
    struct msm_input_bases source = builder->source;
    pool_status status = POOL_OK;

    source.data = (CUdeviceptr)(uintptr_t)chunk->in[0].data;
    source.count = chunk->count;
    if (builder->converts)
        status = msm_convert_bases(&run, &source, to);
    if (!status)
        status =
            msm_check_bases(&run, &source, &result, to, bytes, builder->progress->exec->checks);
    return status ? status : compute_multiples(builder, &run, first, chunk->count);
}

/* The points of the span are not accessed any more when this returns, whatever the status. */
static pool_status build_bases(
    struct bases_builder *builder, const pool_span *span, pool_point_layout layout)
{
    const pool_curve *curve = builder->bases->curve;
    const struct build_plan plan = plan_build(builder->bases, span);
    const struct pipeline pipeline = {.target = builder->target,
        .progress = builder->progress,
        .weight = 1,
        .count = span->count,
        .chunk_items = plan.chunk_items,
        .slots = plan.slots,
        .is_serial = true,
        .is_uploaded_ahead = true,
        .in = {{span, pool_point_bytes(curve, layout), false}},
        .compute = build_chunk,
        .user = builder};
    pool_status status =
        scratch_allocate(&builder->target, plan.scratch_bytes, &builder->scratch, &builder->result);

    builder->doubled = builder->result + ALIGNMENT;
    msm_input_bases_init(&builder->source, curve, span, layout);
    if (!status)
        status = pipeline_run(&pipeline);
    status = scratch_free(&builder->target, &builder->scratch, status);
    return exec_target_end(&builder->target, false, status);
}

pool_status msm_bases_check_loaded(
    struct pool_bases *bases, const struct exec_target *target, struct progress *progress)
{
    const pool_span span = {.data = (void *)(uintptr_t)bases->address,
        .count = bases->count,
        .form = field_device_degree(bases->curve->coordinates.field) ? POOL_FORM_MONTGOMERY
                                                                     : POOL_FORM_STANDARD,
        .space = POOL_MEMORY_DEVICE};
    struct bases_builder builder = {.bases = bases, .target = *target, .progress = progress};

    return progress->exec->checks ? build_bases(&builder, &span, POOL_POINT_AFFINE) : POOL_OK;
}

pool_status msm_bases_describe(
    const pool_bases_params *params, uint64_t count, struct pool_bases *described)
{
    pool_device *device = described->device;

    *described = (struct pool_bases){.device = device,
        .curve = (pool_curve *)(uintptr_t)params->curve,
        .count = params->leading_infinities + count,
        .requested_factor = 1,
        .factor = 1};
    return set_precomputation(params, described);
}

/* Infinity is all zeros, and so are its multiples. */
static pool_status store_infinities(const struct bases_builder *builder)
{
    const struct pool_bases *bases = builder->bases;
    const uint64_t bytes = msm_affine_bytes(bases->curve);
    pool_status status = POOL_OK;

    for (uint32_t level = 0; builder->first && level < bases->factor && !status; level++)
        status = memory_clear_words(bases->device, builder->target.stream,
            bases->address + level * bases->count * bytes, builder->first * bytes / 4);
    return status;
}

pool_status msm_bases_create(void *user)
{
    struct bases_call *call = user;
    const struct pool_bases *described = &call->described;
    struct bases_builder builder = {.first = call->params.leading_infinities,
        .target = call->frame.target,
        .progress = &call->frame.progress,
        .converts = true};
    pool_status status = msm_bases_begin(
        call->frame.target.device, described->curve, described->count, &builder.bases);

    if (status)
        return status;
    call->frame.made = builder.bases;
    builder.bases->requested_factor = described->requested_factor;
    builder.bases->factor = described->factor;
    builder.bases->bucket_sets = described->bucket_sets;
    builder.bases->window_bits = described->window_bits;
    builder.bases->scalar_bits = described->scalar_bits;
    status = msm_bases_allocate(builder.bases, &builder.target);
    if (!status)
        status = store_infinities(&builder);
    return status ? status : build_bases(&builder, call->points, call->params.layout);
}
