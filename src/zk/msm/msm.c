/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_msm: argument validation and workspace allocation; the chunks are run by run.c.
 */
#include <string.h>

#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/counters.h"
#include "pool/memory/memory.h"
#include "zk/curve/endomorphism.h"
#include "zk/msm/call.h"
#include "zk/operation/timeout.h"

/* Calls that need less than this allocate without querying the free memory first. */
#define SMALL_BYTES ((uint64_t)256 << 20)

static const struct base_struct msm_params_type = BASE_STRUCT(pool_msm_params);
static const struct exec_rules exec_rules = {
    .checks = POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP | POOL_CHECK_REDUCE,
    .has_async = true,
    .has_workspace = true,
    .has_memory_limit = true,
    .has_devices = true,
    .has_async_devices = true};

void pool_msm_params_init(pool_msm_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static bool has_bases(const pool_msm_params *params)
{
    return params->bases || params->device_bases;
}

static pool_status check_device_bases(
    const char *call, const pool_msm_params *params, const pool_exec *exec)
{
    if (params->device_bases && !exec->device_count)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `device_bases` is given and `device_count` is 0", call);
    if (params->bases && exec->device_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `bases` cannot be combined with `device_count` %u; `device_bases` has those of "
            "each device",
            call, exec->device_count);
    if (params->replicated_bases && !params->device_bases)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 1 for `replicated_bases`; it must be 0 without `device_bases`",
            call);
    return POOL_OK;
}

static pool_status read_params(const char *call, const pool_msm_params *given,
    const pool_exec *given_exec, pool_msm_params *params, pool_exec *exec)
{
    pool_status status = base_struct_read(&msm_params_type, call, "params", given, params);

    if (!status)
        status = base_check_ranges(call, {"point_layout", params->point_layout, 0, POOL_POINT_XYZZ},
            {"result_layout", params->result_layout, 0, POOL_POINT_XYZZ},
            {"shared_bases", params->shared_bases, 0, 1},
            {"replicated_bases", params->replicated_bases, 0, 1},
            {"affine_passes", params->affine_passes == POOL_AFFINE_NONE ? 0 : params->affine_passes,
                0, MSM_MAX_AFFINE_PASSES});
    if (!status && params->window_bits)
        status = base_check_ranges(
            call, {"window_bits", params->window_bits, MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS});
    if (!status)
        status = exec_read(call, given_exec, &exec_rules, exec);
    if (status)
        return status;
    status = check_device_bases(call, params, exec);
    if (status)
        return status;
    if (!params->curve && !params->bases && !params->device_bases)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `curve` and `bases` are both NULL; one of them is required", call);
    if ((exec->checks & POOL_CHECK_REDUCE) && params->scalar_bits)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `scalar_bits`; it must be 0 where scalars are reduced",
            call, params->scalar_bits);
    if (!has_bases(params) && params->first_base)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `first_base`; it must be 0 without `bases`", call,
            (unsigned long long)params->first_base);
    if (has_bases(params) && params->point_layout)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %d for `point_layout`; it must be 0 with `bases`, which have a "
            "layout of their own",
            call, (int)params->point_layout);
    if (has_bases(params) && (exec->checks & POOL_CHECK_SUBGROUP))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `checks`; with `params->bases`, which are checked "
            "where they are made, only scalars can be",
            call, exec->checks);
    if (!params->batch)
        params->batch = 1;
    return POOL_OK;
}

static pool_status check_scalar_bits(const char *name, const struct msm_call *call)
{
    return base_check_ranges(
        name, {"scalar_bits", call->params.scalar_bits, 0, 8 * call->curve->scalar_field->bytes});
}

/* Takes curve and device from a handle; the caller's curve may be another object for the same
 * curve. */
static pool_status resolve_curve(const char *name, struct msm_call *call)
{
    const struct pool_bases *bases = call->params.bases;

    if (!bases) {
        const struct pool_bases *first =
            call->params.device_bases ? call->params.device_bases[0] : NULL;

        call->curve = call->params.curve ? call->params.curve : first ? first->curve : NULL;
        return call->curve ? check_scalar_bits(name, call)
                           : base_fail(POOL_ERR_INVALID_ARGUMENT,
                                 "%s: `device_bases[0]` must not be NULL", name);
    }
    call->curve = bases->curve;
    if (call->params.curve && memcmp(call->params.curve->fingerprint, bases->curve->fingerprint,
                                  sizeof(bases->curve->fingerprint)) != 0)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `bases` are points of %s and `curve` is %s", name, bases->curve->name,
            call->params.curve->name);
    if (call->exec.device && call->exec.device != bases->device)
        return base_fail(POOL_ERR_WRONG_DEVICE, "%s: `bases` are on device %d and `device` is %d",
            name, pool_device_ordinal(bases->device), pool_device_ordinal(call->exec.device));
    call->exec.device = bases->device;
    if (bases->factor > 1 && call->params.window_bits &&
        call->params.window_bits != bases->window_bits)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `window_bits`; `bases` are precomputed for %u", name,
            call->params.window_bits, bases->window_bits);
    return check_scalar_bits(name, call);
}

static pool_status read_call(const char *name, const pool_msm_params *given, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results,
    struct msm_call *call)
{
    pool_status status;

    memset(call, 0, sizeof(*call));
    call->tuning = &msm_default_tuning;
    status = read_params(name, given, exec, &call->params, &call->exec);
    if (!status)
        status = base_check_pointers(name, {"scalars", scalars}, {"results", results});
    if (status)
        return status;
    if (!points == !has_bases(&call->params))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            points ? "%s: `points` and `params->bases` are both given; one of them must be NULL"
                   : "%s: `points` and `params->bases` are both NULL; one of them is required",
            name);
    status = resolve_curve(name, call);
    if (!status && !call->exec.device_count)
        status = exec_target_init(&call->site, &call->exec);
    if (status)
        return status;
    if (points)
        call->points = *points;
    call->scalars = *scalars;
    call->results = *results;
    return POOL_OK;
}

/* Whether (0, 0), which is infinity to affine passes, is on the curve. */
static bool has_origin(const pool_curve *curve)
{
    static const uint64_t zero[CURVE_MAX_LIMBS];

    return memcmp(curve->b, zero, curve->coordinates.limbs * sizeof(zero[0])) == 0;
}

/* What the plan depends on; counts and strides follow when the spans have been checked. */
static struct msm_job msm_job_of(const struct msm_call *call)
{
    const pool_field *order = call->curve->scalar_field;
    const struct pool_bases *bases = call->params.bases;
    bool is_precomputed = bases && bases->factor > 1;

    return (struct msm_job){.coordinate_words = call->curve->coordinates.bytes / 4,
        .scalar_words = order->words,
        .order_bits = order->bits,
        .scalar_bits = call->params.scalar_bits,
        .count = call->scalars.count / call->params.batch,
        .batch = call->params.batch,
        .precompute_factor = bases ? bases->factor : 1,
        .sets_per_msm = is_precomputed ? bases->bucket_sets : 0,
        .window_bits = is_precomputed ? bases->window_bits : call->params.window_bits,
        .affine_passes = has_origin(call->curve) ? POOL_AFFINE_NONE : call->params.affine_passes,
        .max_affine_groups = call->tuning->max_affine_groups,
        .never_copies_ahead = call->tuning->never_copies_ahead};
}

/* The numbers of scalars, points and results must match. */
pool_status msm_check_counts(const struct msm_call *call)
{
    const pool_msm_params *params = &call->params;
    uint64_t needed;

    if (call->scalars.count % params->batch)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu scalars are not a multiple of a batch of %llu MSMs",
            (unsigned long long)call->scalars.count, (unsigned long long)params->batch);
    if (call->results.count != params->batch)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the span of results has room for %llu points; %llu MSMs have %llu results",
            (unsigned long long)call->results.count, (unsigned long long)params->batch,
            (unsigned long long)params->batch);
    needed = params->shared_bases ? call->scalars.count / params->batch : call->scalars.count;
    if (!has_bases(params) && call->points.count != needed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the span of points has %llu points; the scalars need %llu",
            (unsigned long long)call->points.count, (unsigned long long)needed);
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
    windows = msm_plan_windows(&job, bases->window_bits);
    if (windows > bases->factor * bases->bucket_sets)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "scalars of %u bits have %u windows of %u bits; `bases` are precomputed for %u",
            call->params.scalar_bits ? call->params.scalar_bits : call->curve->scalar_field->bits,
            windows, bases->window_bits, bases->factor * bases->bucket_sets);
    return POOL_OK;
}

typedef pool_status (*span_checker)(const struct exec_target *site, const pool_span *span,
    const struct span_item *item, const char *what);

/* Splits the call's terms where that is faster. */
static void choose_halves(struct msm_call *call)
{
    const struct chip chip = chip_of(call->site.device);
    const struct curve_endomorphism *endomorphism;

    if (!msm_plan_splits(&chip, &call->job.msm, call->tuning->splitting))
        return;
    endomorphism = curve_endomorphism_of(call->curve);
    if (endomorphism)
        call->job.msm.half_bits = endomorphism->bits;
}

static pool_status check_shape_only(const struct exec_target *site, const pool_span *span,
    const struct span_item *item, const char *what)
{
    (void)site;
    return span_check_shape(span, item, what);
}

static pool_status check_spans(struct msm_call *call, span_checker check)
{
    const pool_curve *curve = call->curve;
    const struct span_item points = {
        pool_point_bytes(curve, call->params.point_layout), "points", curve->name};
    const struct span_item results = {
        pool_point_bytes(curve, call->params.result_layout), "points", curve->name};
    const struct span_item scalars = {
        curve->scalar_field->bytes, "elements", curve->scalar_field->name};
    pool_status status = check(&call->site, &call->scalars, &scalars, "span of scalars");

    if (!status && !call->params.bases)
        status = check(&call->site, &call->points, &points, "span of points");
    if (!status)
        status = check(&call->site, &call->results, &results, "span of results");
    if (!status && (spans_overlap(&call->results, results.bytes, &call->scalars, scalars.bytes) ||
                       spans_overlap(&call->results, results.bytes, &call->points, points.bytes)))
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the results overlap the points or the scalars in memory");
    if (!status)
        status = msm_check_counts(call);
    if (!status)
        status = check_precomputed(call);
    if (status)
        return status;
    if (!call->params.bases) {
        msm_input_bases_init(&call->input, curve, &call->points, call->params.point_layout);
        if (call->points.space == POOL_MEMORY_HOST)
            call->input.data = 0; /* uploaded to an aligned address */
    }
    call->job = (struct msm_chunk_job){.msm = msm_job_of(call),
        .has_bases_span = !call->params.bases,
        .shares_bases = call->params.shared_bases,
        .converts_bases = !call->params.bases && !msm_input_is_converted(curve, &call->input),
        .bases_on_host = !call->params.bases && call->points.space == POOL_MEMORY_HOST,
        .scalars_on_host = call->scalars.space == POOL_MEMORY_HOST,
        .results_on_host = call->results.space == POOL_MEMORY_HOST,
        .has_checks = (call->exec.checks & (POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP)) != 0,
        .combines_on_host = !call->exec.is_async && call->params.batch <= MSM_HOST_COMBINES,
        .base_stride = span_stride(&call->points, points.bytes),
        .scalar_stride = span_stride(&call->scalars, scalars.bytes),
        .result_bytes = results.bytes};
    choose_halves(call);
    return POOL_OK;
}

/* Asynchronous results are copied to pinned memory in stream order; pageable memory can only be
 * written by a host that waits. */
static pool_status classify_results(struct msm_call *call)
{
    enum memory_kind place = MEMORY_PAGEABLE;
    struct device_scope scope;
    pool_status status;

    if (!call->exec.is_async || call->results.space == POOL_MEMORY_DEVICE)
        return POOL_OK;
    status = device_enter(call->site.device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, memory_kind_of(scope.driver, call->results.data,
                                      span_extent(&call->results, call->job.result_bytes), &place));
    call->enqueues_results = place != MEMORY_PAGEABLE;
    return status;
}

/* 1/32 stays free for kernels that are loaded later and what the driver allocates for them. */
static pool_status free_bytes(const struct msm_call *call, uint64_t *bytes)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_memory_get_info(call->site.device, &info);

    if (!status)
        *bytes = device_net_free(call->site.device) / 32 * 31;
    return status;
}

/* The largest chunks that need at most `limit` bytes. */
static pool_status plan_chunks(struct msm_call *call, uint64_t limit)
{
    const struct chip chip = chip_of(call->site.device);

    return msm_chunk_plan_make(&chip, call->tuning, &call->job, limit, &call->plan);
}

static uint64_t memory_limit(const struct msm_call *call)
{
    return call->exec.memory_limit ? call->exec.memory_limit : UINT64_MAX;
}

static pool_status check_workspace_overlap(const struct msm_call *call)
{
    const pool_buffer *given = call->exec.workspace;
    pool_status status = workspace_check_overlap(
        "pool_msm", given, &call->scalars, call->curve->scalar_field->bytes, "span of scalars");

    if (!status && !call->params.bases)
        status = workspace_check_overlap("pool_msm", given, &call->points,
            pool_point_bytes(call->curve, call->params.point_layout), "span of points");
    if (!status)
        status = workspace_check_overlap("pool_msm", given, &call->results,
            pool_point_bytes(call->curve, call->params.result_layout), "span of results");
    return status;
}

static pool_status plan_without_passes(struct msm_call *call, uint64_t limit)
{
    call->job.msm.affine_passes = POOL_AFFINE_NONE;
    return plan_chunks(call, limit);
}

static pool_status use_given_workspace(struct msm_call *call)
{
    pool_buffer *given = call->exec.workspace;
    pool_status status = plan_chunks(call, memory_limit(call));

    if (!status && pool_buffer_bytes(given) < call->plan.bytes &&
        msm_chunk_plan_has_passes(&call->plan))
        status = plan_without_passes(call, memory_limit(call));
    if (status)
        return status;
    if (pool_buffer_device(given) != call->site.device)
        return base_fail(
            POOL_ERR_WRONG_DEVICE, "pool_msm: `workspace` is memory of another device");
    if (pool_buffer_bytes(given) < call->plan.bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_msm: `workspace` has %s; %s are needed",
            base_size_text(pool_buffer_bytes(given)).text, base_size_text(call->plan.bytes).text);
    status = pool_buffer_address(given, &call->address);
    if (!status && call->address % 256)
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_msm: `workspace` is not aligned to 256 bytes");
    call->workspace = given;
    return status ? status : check_workspace_overlap(call);
}

/* Plans smaller chunks after an allocation failed. Where there are none, its failure is returned.
 */
static pool_status plan_smaller_chunks(struct msm_call *call)
{
    struct base_error_copy failure;
    uint64_t limit = 0;
    pool_status status;

    base_error_save(&failure);
    status = free_bytes(call, &limit);
    if (status)
        return status;
    if (limit >= call->plan.bytes)
        limit = call->plan.bytes / 8 * 7;
    status = plan_chunks(call, limit);
    if (status)
        base_error_restore(&failure);
    return status;
}

/* Creates the device's allocator first, so that other failures than a lack of memory show here. */
static pool_status ensure_allocator(const struct msm_call *call)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = device_enter(call->site.device, &scope);

    return status ? status : device_leave(&scope, memory_of(&scope, &memory));
}

/* Affine passes only where memory is free for them; else plans without them. */
static pool_status allocate_for_passes(struct msm_call *call)
{
    uint64_t limit = UINT64_MAX;
    pool_status status = POOL_ERR_OUT_OF_DEVICE_MEMORY;

    /* What a lease has reserved is not counted as free. */
    if (call->plan.bytes > SMALL_BYTES && !call->site.lease) {
        pool_status failure = free_bytes(call, &limit);

        if (failure)
            return failure;
    }
    if (call->plan.bytes <= limit)
        status = scratch_spare(&call->site, call->plan.bytes, &call->owned, &call->address);
    return status == POOL_ERR_OUT_OF_DEVICE_MEMORY ? plan_without_passes(call, memory_limit(call))
                                                   : status;
}

/* Retries with smaller chunks when other threads allocated memory in the meantime. */
static pool_status allocate_workspace(struct msm_call *call)
{
    uint64_t limit = memory_limit(call);
    pool_status status = plan_chunks(call, limit);

    if (!status)
        status = ensure_allocator(call);
    if (!status && msm_chunk_plan_has_passes(&call->plan))
        status = allocate_for_passes(call);
    if (call->owned) {
        call->workspace = call->owned;
        return status;
    }
    if (!status && !call->exec.memory_limit && call->plan.bytes > SMALL_BYTES) {
        status = free_bytes(call, &limit);
        if (!status && call->plan.bytes > limit)
            status = plan_chunks(call, limit);
    }
    while (!status) {
        status = scratch_allocate(&call->site, call->plan.bytes, &call->owned, &call->address);
        if (status != POOL_ERR_OUT_OF_DEVICE_MEMORY)
            break;
        /* What was evicted for it needs its memory again. */
        status = msm_restore_programs(call->site.device, call->curve);
        if (!status)
            status = plan_smaller_chunks(call);
    }
    call->workspace = call->owned;
    return status;
}

/* With the device's context current. */
static pool_status run_entered(struct msm_call *call)
{
    pool_status status = msm_bases_check(call->params.bases);

    if (!status)
        status = check_spans(call, span_check);
    if (!status)
        status = classify_results(call);
    if (!status)
        status = call->exec.workspace ? use_given_workspace(call) : allocate_workspace(call);
    if (status)
        return scratch_free(&call->site, &call->owned, status);
    status = msm_call_run(call);
    if (!status)
        status = msm_results_write(call);
    status = scratch_free(&call->site, &call->owned, status);
    return exec_target_end(&call->site, call->exec.is_async, status);
}

static pool_status run_on_device(struct msm_call *call)
{
    struct device_operation operation;
    struct device_scope scope;
    pool_status status = device_enter(call->site.device, &scope);

    if (status)
        return status;
    device_operation_begin(
        &operation, call->site.device, "msm", call->curve->name, call->scalars.count);
    status = device_operation_end(&operation, run_entered(call));
    return device_leave(&scope, status);
}

pool_status msm_compute(const struct msm_tuning *tuning, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *points, const pool_span *scalars,
    const pool_span *results)
{
    struct msm_call call;
    pool_status status = read_call("pool_msm", params, exec, points, scalars, results, &call);

    if (status)
        return status;
    call.tuning = tuning;
    return call.exec.device_count ? msm_devices_run(&call) : run_on_device(&call);
}

pool_status msm_compute_part(
    const struct msm_tuning *tuning, const struct msm_part *part, const pool_exec *exec)
{
    struct msm_call call;
    pool_status status = read_call("pool_msm", &part->params, exec,
        part->params.bases ? NULL : &part->points, &part->scalars, &part->results, &call);

    if (status)
        return status;
    call.tuning = tuning;
    call.first_point = part->first_point;
    call.first_scalar = part->first_scalar;
    return run_on_device(&call);
}

/* NULL: the points are a span. */
static pool_device *device_of_bases(const pool_msm_params *params)
{
    return base_struct_is_valid(&msm_params_type, params) &&
                   params->struct_size >=
                       offsetof(pool_msm_params, bases) + sizeof(params->bases) &&
                   params->bases
               ? params->bases->device
               : NULL;
}

static pool_status msm_timed(void *const *a)
{
    return pool_msm(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_msm(const pool_msm_params *params, const pool_exec *exec, const pool_span *points,
    const pool_span *scalars, const pool_span *results)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(msm_timed, device_of_bases(params), TIMED_PARAMS(params), TIMED_EXEC(exec),
            TIMED_SPAN(points), TIMED_SPAN(scalars), TIMED_SPAN(results));
    EXEC_SCOPE(exec);
    return msm_compute(&msm_default_tuning, params, exec, points, scalars, results);
}

static pool_status workspace_bytes(const char *name, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *points, const pool_span *scalars,
    const pool_span *results, uint64_t *bytes)
{
    struct msm_call call;
    pool_status status;

    if (!bytes)
        return base_fail_null(name, "bytes");
    status = read_call(name, params, exec, points, scalars, results, &call);
    if (!status && call.exec.device_count)
        return msm_devices_workspace(&call, bytes);
    if (!status)
        status = check_spans(&call, check_shape_only);
    if (!status)
        status = plan_chunks(&call, memory_limit(&call));
    if (!status)
        *bytes = call.plan.bytes;
    return status;
}

pool_status pool_msm_workspace(const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    return workspace_bytes(__func__, params, exec, points, scalars, results, bytes);
}

pool_status msm_workspace_of_described(const char *name, struct pool_bases *described,
    const pool_msm_params *given, const pool_exec *given_exec, const pool_span *scalars,
    const pool_span *results, uint64_t *bytes)
{
    pool_msm_params params;
    pool_exec exec;
    pool_status status = base_struct_read(&msm_params_type, name, "params", given, &params);

    if (!status)
        status = exec_read(name, given_exec, &exec_rules, &exec);
    if (!status && has_bases(&params))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `params->bases` must be NULL; the bases are those of the object", name);
    if (!status && exec.device_count)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "%s: `device_count` is not supported by this function; it must be 0", name);
    if (!status)
        status = device_or_bound(exec.device, &described->device);
    if (status)
        return status;
    params.bases = described;
    return workspace_bytes(name, &params, &exec, NULL, scalars, results, bytes);
}

static pool_status msm_warm_up_timed(void *const *a)
{
    return pool_msm_warm_up(a[0], a[1]);
}

pool_status pool_msm_warm_up(const pool_curve *curve, const pool_exec *given)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(msm_warm_up_timed, NULL, TIMED_POINTER(curve), TIMED_EXEC(given));
    EXEC_SCOPE(given);
    pool_exec exec;
    pool_status status;

    if (!curve)
        return base_fail_null("pool_msm_warm_up", "curve");
    status = exec_read_warm_up(__func__, given, &exec);
    return status ? status : msm_load_programs(exec.device, curve);
}
