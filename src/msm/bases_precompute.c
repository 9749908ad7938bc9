/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_bases_create: copies points to a device in chunks, converts and checks them, and computes
 * the precomputed multiples. Bases from a file are checked here too.
 */
#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "msm/bases.h"
#include "pool/counters.h"

enum { ALIGNMENT = 256 };

static const struct base_struct points_params_type = BASE_STRUCT(pool_bases_params);

void pool_bases_params_init(pool_bases_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

pool_status msm_bases_params_copy(const char *call, const pool_bases_params *given,
    const pool_exec *given_exec, pool_bases_params *params, pool_exec *exec)
{
    static const struct memory_exec_rules rules = {.checks = POOL_CHECK_SUBGROUP};
    pool_status status = base_struct_read(&points_params_type, call, "params", given, params);

    if (!status && !params->curve)
        status = base_fail_null(call, "params->curve");
    if (!status)
        status = base_check_ranges(call, {"layout", params->layout, 0, POOL_POINT_XYZZ},
            {"scalar_bits", params->scalar_bits, 0, 8 * params->curve->scalar_field->bytes});
    if (!status && params->window_bits)
        status = base_check_ranges(
            call, {"window_bits", params->window_bits, MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS});
    return status ? status : memory_exec_read(call, given_exec, &rules, exec);
}

/* Window bits and the length of scalars belong to precomputed multiples. */
static pool_status check_unused_members(const pool_bases_params *params)
{
    uint32_t window_bits = params->window_bits, scalar_bits = params->scalar_bits;

    if (params->precompute_factor >= 2 || (!window_bits && !scalar_bits))
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "pool_bases_create: unsupported value %u for `%s`; it must be 0 with a "
        "`precompute_factor` of %u, which stores no multiples; pool_msm_params has its own",
        window_bits ? window_bits : scalar_bits, window_bits ? "window_bits" : "scalar_bits",
        params->precompute_factor);
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
        .count = bases->count,
        .chunk_count = 1,
        .batch = 1,
        .precompute_factor = params->precompute_factor < MSM_BASES_MAX_FACTOR
                                 ? params->precompute_factor
                                 : MSM_BASES_MAX_FACTOR,
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

/* Bases that are being created or checked, and scratch memory. */
struct bases_builder {
    struct pool_bases *bases;
    const pool_bases_params *params; /* of a creation */
    const pool_exec *exec;
    const pool_span *span;
    struct msm_input_bases source;
    struct msm_run run;
    struct exec_target site;
    pool_buffer *scratch;
    CUdeviceptr result; /* of checks; followed by the raw points and the multiples */
    CUdeviceptr raw;
    CUdeviceptr doubled;
};

static pool_status allocate_scratch(struct bases_builder *builder)
{
    uint64_t count = base_min(builder->span->count, MSM_BASES_CHUNK);
    uint64_t raw =
        builder->span->space == POOL_MEMORY_HOST ? count * builder->source.stride * 4 : 0;
    uint64_t doubled =
        builder->bases->factor > 1 ? 2 * count * msm_affine_bytes(builder->bases->curve) : 0;

    raw = (raw + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    pool_status status = memory_scratch(
        &builder->site, ALIGNMENT + raw + doubled, &builder->scratch, &builder->result);
    builder->raw = builder->result + ALIGNMENT;
    builder->doubled = builder->raw + raw;
    return status;
}

static pool_status convert_chunk(struct bases_builder *builder, uint64_t first, uint64_t count)
{
    uint64_t bytes = msm_affine_bytes(builder->bases->curve);
    uint64_t stride = builder->source.stride * 4;
    CUdeviceptr to = builder->bases->address + first * bytes;
    const struct msm_check_result result = {
        .buffer = builder->scratch, .address = builder->result, .first_index = first};
    struct msm_input_bases chunk = builder->source;
    pool_status status = POOL_OK;

    chunk.data = (CUdeviceptr)(uintptr_t)builder->span->data + first * stride;
    chunk.count = count;
    if (builder->span->space == POOL_MEMORY_HOST) {
        uint64_t size =
            (count - 1) * stride + pool_point_bytes(builder->bases->curve, builder->params->layout);

        chunk.data = builder->raw;
        status = pool_copy_to_device(builder->scratch, ALIGNMENT,
            (const uint8_t *)builder->span->data + first * stride, size, builder->run.stream);
    }
    if (!status)
        status = msm_convert_bases(&builder->run, &chunk, to);
    if (!status)
        status = msm_check_bases(&builder->run, &chunk, &result, to, bytes, builder->exec->checks);
    return status;
}

static pool_status compute_multiples(struct bases_builder *builder, uint64_t first, uint64_t count)
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

        status = msm_double_bases(&builder->run, &multiples);
    }
    return status;
}

static pool_status build_chunks(struct bases_builder *builder)
{
    uint64_t total = builder->span->count;
    pool_status status = POOL_OK;

    for (uint64_t first = 0; !status && first < total; first += MSM_BASES_CHUNK) {
        uint64_t count = total - first < MSM_BASES_CHUNK ? total - first : MSM_BASES_CHUNK;

        status = memory_exec_cancelled("pool_bases_create", builder->exec);
        if (!status)
            status = convert_chunk(builder, first, count);
        if (!status)
            status = compute_multiples(builder, first, count);
        if (!status)
            memory_exec_report(builder->exec, first + count, total);
    }
    return status;
}

/* The caller's memory is not accessed any more when this returns, whatever the status. */
static pool_status build_bases(struct bases_builder *builder)
{
    struct base_error_copy first;
    pool_status status = msm_bases_allocate(builder->bases, &builder->site), end;

    if (!status)
        status = allocate_scratch(builder);
    if (!status)
        status = build_chunks(builder);
    status = memory_scratch_free(&builder->site, &builder->scratch, status);
    base_error_save(&first);
    end = pool_stream_synchronize(builder->run.stream);
    if (status)
        base_error_restore(&first);
    return status ? status : end;
}

static pool_status check_chunks(struct bases_builder *builder)
{
    uint64_t bytes = msm_affine_bytes(builder->bases->curve), total = builder->bases->count;
    pool_status status = POOL_OK;

    for (uint64_t first = 0; !status && first < total; first += MSM_BASES_CHUNK) {
        uint64_t count = total - first < MSM_BASES_CHUNK ? total - first : MSM_BASES_CHUNK;
        const struct msm_check_result result = {
            .buffer = builder->scratch, .address = builder->result, .first_index = first};
        struct msm_input_bases chunk = builder->source;

        chunk.data += first * bytes;
        chunk.count = count;
        status = memory_exec_cancelled("pool_bases_load", builder->exec);
        if (!status)
            status = msm_check_bases(
                &builder->run, &chunk, &result, chunk.data, bytes, builder->exec->checks);
        if (!status)
            status = compute_multiples(builder, first, count);
    }
    return status;
}

pool_status msm_bases_check_loaded(
    struct pool_bases *bases, const pool_exec *exec, const struct exec_target *site)
{
    const pool_span span = {.data = (void *)(uintptr_t)bases->address,
        .count = bases->count,
        .form = field_device_degree(bases->curve->coordinates.field) ? POOL_FORM_MONTGOMERY
                                                                     : POOL_FORM_STANDARD,
        .space = POOL_MEMORY_DEVICE};
    struct bases_builder builder = {.bases = bases, .exec = exec, .span = &span, .site = *site};
    pool_status status;

    if (!exec->checks)
        return POOL_OK;
    builder.run =
        (struct msm_run){.device = site->device, .stream = site->stream, .curve = bases->curve};
    msm_input_bases_init(&builder.source, bases->curve, &span, POOL_POINT_AFFINE);
    status = allocate_scratch(&builder);
    if (!status)
        status = check_chunks(&builder);
    status = memory_scratch_free(&builder.site, &builder.scratch, status);
    return status ? status : pool_stream_synchronize(site->stream);
}

static pool_status create_inside(const pool_bases_params *params, const pool_exec *exec,
    const struct exec_target *site, const pool_span *span, pool_bases **bases)
{
    struct bases_builder builder = {.params = params, .exec = exec, .span = span, .site = *site};
    pool_status status = msm_bases_begin(site->device, params->curve, span->count, &builder.bases);

    if (status)
        return status;
    builder.run = (struct msm_run){
        .device = site->device, .stream = site->stream, .curve = builder.bases->curve};
    msm_input_bases_init(&builder.source, params->curve, span, params->layout);
    status = set_precomputation(params, builder.bases);
    if (!status)
        status = build_bases(&builder);
    if (status)
        return msm_bases_discard(builder.bases, status);
    *bases = builder.bases;
    return POOL_OK;
}

pool_status pool_bases_create(const pool_bases_params *given, const pool_exec *given_exec,
    const pool_span *span, pool_bases **bases)
{
    pool_bases *created = NULL;
    pool_bases_params params;
    pool_exec exec;
    struct exec_target site;
    struct device_operation counted;
    struct device_scope scope;
    pool_status status =
        msm_bases_params_copy("pool_bases_create", given, given_exec, &params, &exec);

    if (!status)
        status = check_unused_members(&params);
    if (status)
        return status;
    status = base_check_pointers("pool_bases_create", {"points", span}, {"bases", bases});
    if (status)
        return status;
    status = exec_target_init(&site, &exec);
    const struct memory_item item = {
        pool_point_bytes(params.curve, params.layout), "points", params.curve->name};
    if (!status)
        status = memory_span_check(&site, span, &item, "span of points");
    if (!status && span->count > INT32_MAX)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu points are more than 2^31 - 1",
            (unsigned long long)span->count);
    if (!status)
        status = device_enter(site.device, &scope);
    if (status)
        return status;
    device_operation_begin(&counted, site.device, "bases", params.curve->name, span->count);
    status = device_operation_end(&counted, create_inside(&params, &exec, &site, span, &created));
    status = device_leave(&scope, status);
    return msm_bases_return(created, status, bases);
}
