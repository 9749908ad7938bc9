/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_bases_create: points brought to a device part by part, checked, and multiplied for tables.
 * Points from a file are checked here, too.
 */
#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "msm/bases.h"

enum { ALIGNMENT = 256 };

static const struct base_struct points_params_type = BASE_STRUCT(pool_bases_params);

void pool_bases_params_init(pool_bases_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

pool_status points_params_copy(const char *call, const pool_bases_params *given,
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

/* How the table is cut, by the plan of a sum over all points. */
static pool_status set_table(const pool_bases_params *params, struct pool_bases *points)
{
    const struct chip chip = chip_of(points->device);
    const pool_field *order = points->curve->scalar_field;
    struct msm_job job = {.coordinate_words = points->curve->coordinates.bytes / 4,
        .scalar_words = order->words,
        .order_bits = order->bits,
        .scalar_bits = params->scalar_bits,
        .count = points->count,
        .chunk_count = 1,
        .batch = 1,
        .precompute_factor = params->precompute_factor < POINTS_MAX_LEVELS
                                 ? params->precompute_factor
                                 : POINTS_MAX_LEVELS,
        .window_bits = params->window_bits};
    struct msm_plan plan;
    pool_status status;

    points->scalar_bits = params->scalar_bits;
    if (params->precompute_factor < 2)
        return POOL_OK;
    status = msm_plan_make(&chip, &job, &plan);
    if (status)
        return status;
    points->asked = params->precompute_factor;
    points->window_bits = plan.window_bits;
    points->groups = plan.sets_per_msm;
    points->levels = (uint32_t)base_ceil_div(plan.windows, plan.sets_per_msm);
    if (points->count > INT32_MAX / points->levels)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu points at %u levels are more than 2^31 - 1", (unsigned long long)points->count,
            points->levels);
    return POOL_OK;
}

/* A making under way, and its scratch memory. */
struct making {
    struct pool_bases *points;
    const pool_bases_params *params; /* of a creation */
    const pool_exec *exec;
    const pool_span *span;
    struct msm_input_bases source;
    struct msm_run run;
    struct exec_target site;
    pool_buffer *scratch;
    CUdeviceptr answer; /* of checks; the raw points and the multiples are behind it */
    CUdeviceptr raw;
    CUdeviceptr doubled;
};

static pool_status take_scratch(struct making *making)
{
    uint64_t count = base_min(making->span->count, POINTS_PART);
    uint64_t raw = making->span->space == POOL_MEMORY_HOST ? count * making->source.stride * 4 : 0;
    uint64_t doubled =
        making->points->levels > 1 ? 2 * count * msm_affine_bytes(making->points->curve) : 0;

    raw = (raw + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    pool_status status =
        memory_scratch(&making->site, ALIGNMENT + raw + doubled, &making->scratch, &making->answer);
    making->raw = making->answer + ALIGNMENT;
    making->doubled = making->raw + raw;
    return status;
}

static pool_status bring(struct making *making, uint64_t first, uint64_t count)
{
    uint64_t bytes = msm_affine_bytes(making->points->curve);
    uint64_t stride = making->source.stride * 4;
    CUdeviceptr to = making->points->address + first * bytes;
    const struct msm_check_result answer = {
        .buffer = making->scratch, .address = making->answer, .first_index = first};
    struct msm_input_bases part = making->source;
    pool_status status = POOL_OK;

    part.data = (CUdeviceptr)(uintptr_t)making->span->data + first * stride;
    part.count = count;
    if (making->span->space == POOL_MEMORY_HOST) {
        uint64_t size =
            (count - 1) * stride + pool_point_bytes(making->points->curve, making->params->layout);

        part.data = making->raw;
        status = pool_copy_to_device(making->scratch, ALIGNMENT,
            (const uint8_t *)making->span->data + first * stride, size, making->run.stream);
    }
    if (!status)
        status = msm_convert_bases(&making->run, &part, to);
    if (!status)
        status = msm_check_bases(&making->run, &part, &answer, to, bytes, making->exec->checks);
    return status;
}

static pool_status multiply(struct making *making, uint64_t first, uint64_t count)
{
    const struct pool_bases *points = making->points;
    uint64_t bytes = msm_affine_bytes(points->curve);
    pool_status status = POOL_OK;

    for (uint32_t level = 1; !status && level < points->levels; level++) {
        CUdeviceptr to = points->address + (level * points->count + first) * bytes;
        const struct msm_doubling multiples = {.bases = to - points->count * bytes,
            .out = to,
            .scratch = making->doubled,
            .count = count,
            .doublings = points->window_bits * points->groups};

        status = msm_double_bases(&making->run, &multiples);
    }
    return status;
}

static pool_status make_parts(struct making *making)
{
    uint64_t total = making->span->count;
    pool_status status = POOL_OK;

    for (uint64_t first = 0; !status && first < total; first += POINTS_PART) {
        uint64_t count = total - first < POINTS_PART ? total - first : POINTS_PART;

        status = memory_exec_cancelled("pool_bases_create", making->exec);
        if (!status)
            status = bring(making, first, count);
        if (!status)
            status = multiply(making, first, count);
        if (!status)
            memory_exec_report(making->exec, first + count, total);
    }
    return status;
}

/* The caller's memory is not looked at any more when this returns, whatever the status. */
static pool_status make_all(struct making *making)
{
    struct base_error_copy first;
    pool_status status = points_allocate(making->points, making->run.stream), end;

    if (!status)
        status = take_scratch(making);
    if (!status)
        status = make_parts(making);
    status = memory_scratch_free(&making->site, &making->scratch, status);
    base_error_save(&first);
    end = pool_stream_synchronize(making->run.stream);
    if (status)
        base_error_restore(&first);
    return status ? status : end;
}

static pool_status check_parts(struct making *making)
{
    uint64_t bytes = msm_affine_bytes(making->points->curve), total = making->points->count;
    pool_status status = POOL_OK;

    for (uint64_t first = 0; !status && first < total; first += POINTS_PART) {
        uint64_t count = total - first < POINTS_PART ? total - first : POINTS_PART;
        const struct msm_check_result answer = {
            .buffer = making->scratch, .address = making->answer, .first_index = first};
        struct msm_input_bases part = making->source;

        part.data += first * bytes;
        part.count = count;
        status = memory_exec_cancelled("pool_bases_load", making->exec);
        if (!status)
            status = msm_check_bases(
                &making->run, &part, &answer, part.data, bytes, making->exec->checks);
        if (!status)
            status = multiply(making, first, count);
    }
    return status;
}

pool_status points_check_loaded(
    struct pool_bases *points, const pool_exec *exec, const struct exec_target *site)
{
    const pool_span span = {.data = (void *)(uintptr_t)points->address,
        .count = points->count,
        .form = field_device_degree(points->curve->coordinates.field) ? POOL_FORM_MONTGOMERY
                                                                      : POOL_FORM_STANDARD,
        .space = POOL_MEMORY_DEVICE};
    struct making making = {.points = points, .exec = exec, .span = &span, .site = *site};
    pool_status status;

    if (!exec->checks)
        return POOL_OK;
    making.run =
        (struct msm_run){.device = site->device, .stream = site->stream, .curve = points->curve};
    msm_input_bases_init(&making.source, points->curve, &span, POOL_POINT_AFFINE);
    status = take_scratch(&making);
    if (!status)
        status = check_parts(&making);
    status = memory_scratch_free(&making.site, &making.scratch, status);
    return status ? status : pool_stream_synchronize(site->stream);
}

static pool_status create_inside(const pool_bases_params *params, const pool_exec *exec,
    const struct exec_target *site, const pool_span *span, pool_bases **points)
{
    struct making making = {.params = params, .exec = exec, .span = span, .site = *site};
    pool_status status = points_begin(site->device, params->curve, span->count, &making.points);

    if (status)
        return status;
    making.run = (struct msm_run){
        .device = site->device, .stream = site->stream, .curve = making.points->curve};
    msm_input_bases_init(&making.source, params->curve, span, params->layout);
    status = set_table(params, making.points);
    if (!status)
        status = make_all(&making);
    if (status)
        return points_discard(making.points, status);
    *points = making.points;
    return POOL_OK;
}

pool_status pool_bases_create(const pool_bases_params *given, const pool_exec *given_exec,
    const pool_span *span, pool_bases **points)
{
    pool_bases *made = NULL;
    pool_bases_params params;
    pool_exec exec;
    struct exec_target site;
    struct device_scope scope;
    pool_status status = points_params_copy("pool_bases_create", given, given_exec, &params, &exec);

    if (status)
        return status;
    status = base_check_pointers("pool_bases_create", {"points", span}, {"handle", points});
    if (status)
        return status;
    status = exec_target_init(&site, exec.device, exec.stream);
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
    status = device_leave(&scope, create_inside(&params, &exec, &site, span, &made));
    return points_hand_over(made, status, points);
}
