/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_msm: what is refused, and the memory that a call has. The pieces are chunk.c's.
 */
#include "base/text.h"
#include "msm/call.h"

#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "memory/memory.h"

/* Calls that take less than this ask the driver for memory without asking how much there is. */
#define SMALL_BYTES ((uint64_t)256 << 20)

static const struct base_struct msm_params_type = BASE_STRUCT(pool_msm_params);

void pool_msm_params_init(pool_msm_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status read_params(const char *call, const pool_msm_params *given,
    const pool_exec *given_exec, pool_msm_params *params, pool_exec *exec)
{
    static const struct memory_exec_rules rules = {
        .checks = POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP | POOL_CHECK_REDUCE,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true};
    pool_status status = base_struct_read(&msm_params_type, call, "params", given, params);

    if (!status)
        status = base_check_ranges(call, {"point_layout", params->point_layout, 0, POOL_POINT_XYZZ},
            {"result_layout", params->result_layout, 0, POOL_POINT_XYZZ},
            {"shared_points", params->shared_points, 0, 1});
    if (!status && params->window_bits)
        status = base_check_ranges(
            call, {"window_bits", params->window_bits, MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS});
    if (!status)
        status = memory_exec_read(call, given_exec, &rules, exec);
    if (status)
        return status;
    if (!params->curve && !params->points)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `curve` and `points` are both NULL; one of them is required", call);
    if ((exec->checks & POOL_CHECK_REDUCE) && params->scalar_bits)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `scalar_bits`; it must be 0 where scalars are reduced",
            call, params->scalar_bits);
    if (!params->points && params->first_point)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `first_point`; it must be 0 without `points`", call,
            (unsigned long long)params->first_point);
    if (params->points && (exec->checks & POOL_CHECK_SUBGROUP))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `checks`; with `params->points`, which are checked "
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

/* A handle's curve and device are the call's; another curve that computes the same will do. */
static pool_status take_handle(const char *name, struct msm_call *call)
{
    const struct pool_bases *points = call->params.points;

    if (!points) {
        call->curve = call->params.curve;
        return check_scalar_bits(name, call);
    }
    call->curve = points->curve;
    if (call->params.curve && memcmp(call->params.curve->fingerprint, points->curve->fingerprint,
                                  sizeof(points->curve->fingerprint)) != 0)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the points are of %s, not of %s",
            points->curve->name, call->params.curve->name);
    if (call->exec.device && call->exec.device != points->device)
        return base_fail(POOL_ERR_WRONG_DEVICE, "the points are on device %d, not on %d",
            pool_device_ordinal(points->device), pool_device_ordinal(call->exec.device));
    call->exec.device = points->device;
    if (points->levels > 1 && call->params.window_bits &&
        call->params.window_bits != points->window_bits)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `window_bits`; the tables are for %u", name,
            call->params.window_bits, points->window_bits);
    return check_scalar_bits(name, call);
}

static pool_status prepare(const char *name, const pool_msm_params *given, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results,
    struct msm_call *call)
{
    pool_status status;

    memset(call, 0, sizeof(*call));
    status = read_params(name, given, exec, &call->params, &call->exec);
    if (!status)
        status = base_check_pointers(name, {"scalars", scalars}, {"results", results});
    if (status)
        return status;
    if (!points == !call->params.points)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            points ? "%s: `points` and `params->points` are both given; one of them must be NULL"
                   : "%s: `points` and `params->points` are both NULL; one of them is required",
            name);
    status = take_handle(name, call);
    if (!status)
        status = memory_site_init(&call->site, call->exec.device, call->exec.stream);
    if (status)
        return status;
    if (points)
        call->points = *points;
    call->scalars = *scalars;
    call->results = *results;
    call->result_bytes = pool_point_bytes(call->curve, call->params.result_layout);
    return POOL_OK;
}

/* The sums' scalars, points and results have to be as many as go together. */
static pool_status check_counts(struct msm_call *call)
{
    const pool_msm_params *params = &call->params;
    uint64_t points;

    if (call->scalars.count % params->batch)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu scalars are not those of %llu sums",
            (unsigned long long)call->scalars.count, (unsigned long long)params->batch);
    call->count = call->scalars.count / params->batch;
    if (call->results.count != params->batch)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu sums have no %llu results",
            (unsigned long long)params->batch, (unsigned long long)call->results.count);
    points = params->shared_points ? call->count : call->scalars.count;
    if (!params->points && call->points.count != points)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "there are %llu points for %llu",
            (unsigned long long)call->points.count, (unsigned long long)points);
    if (params->points && (params->first_point > params->points->count ||
                              points > params->points->count - params->first_point))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu points from %llu on are more than the handle's %llu", (unsigned long long)points,
            (unsigned long long)params->first_point, (unsigned long long)params->points->count);
    return POOL_OK;
}

/* Tables made for short scalars have no multiples for longer ones: there is nothing to read. */
static pool_status check_table(const struct msm_call *call)
{
    const struct pool_bases *points = call->params.points;
    struct msm_cut cut = {.count = 1};
    struct msm_plan plan;
    pool_status status;

    if (!points || points->levels == 1)
        return POOL_OK;
    cut.window_bits = points->window_bits;
    status = msm_cut_plan(call, &cut, 1, &plan);
    if (!status && plan.windows > points->levels * points->groups)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "scalars of %u bits have %u windows of %u bits, and the tables are for %u",
            call->params.scalar_bits ? call->params.scalar_bits : call->curve->scalar_field->bits,
            plan.windows, points->window_bits, points->levels * points->groups);
    return status;
}

typedef pool_status (*span_check)(const struct memory_site *site, const pool_span *span,
    const struct memory_item *item, const char *what);

static pool_status check_shapes(const struct memory_site *site, const pool_span *span,
    const struct memory_item *item, const char *what)
{
    (void)site;
    return memory_span_check_shape(span, item, what);
}

static pool_status check_spans(struct msm_call *call, span_check check)
{
    const pool_curve *curve = call->curve;
    const struct memory_item points = {
        pool_point_bytes(curve, call->params.point_layout), "points", curve->name};
    const struct memory_item results = {call->result_bytes, "points", curve->name};
    const struct memory_item scalars = {
        curve->scalar_field->bytes, "elements", curve->scalar_field->name};
    pool_status status = check(&call->site, &call->scalars, &scalars, "span of scalars");

    if (!status && !call->params.points)
        status = check(&call->site, &call->points, &points, "span of points");
    if (!status)
        status = check(&call->site, &call->results, &results, "span of results");
    if (!status &&
        (memory_spans_overlap(&call->results, results.bytes, &call->scalars, scalars.bytes) ||
            memory_spans_overlap(&call->results, results.bytes, &call->points, points.bytes)))
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the results overlap the points or the scalars in memory");
    call->point_stride = memory_span_stride(&call->points, points.bytes);
    call->scalar_stride = memory_span_stride(&call->scalars, scalars.bytes);
    if (!status)
        status = check_counts(call);
    if (!status)
        status = check_table(call);
    if (!status && !call->params.points) {
        msm_input_bases_init(&call->source, curve, &call->points, call->params.point_layout);
        /* It comes to an aligned place. */
        if (call->points.place == POOL_MEMORY_HOST)
            call->source.data = 0;
    }
    return status;
}

/* Asynchronous results go to pinned memory in the stream's order; pageable memory can only be
 * written by a host that waits. */
static pool_status find_results(struct msm_call *call)
{
    enum memory_place place = MEMORY_PAGEABLE;
    struct device_scope scope;
    pool_status status;

    if (!call->exec.is_async || call->results.place == POOL_MEMORY_DEVICE)
        return POOL_OK;
    status = device_enter(call->site.device, &scope);
    if (status)
        return status;
    status =
        device_leave(&scope, memory_place_of(scope.driver, call->results.data,
                                 memory_span_extent(&call->results, call->result_bytes), &place));
    call->enqueues_results = place != MEMORY_PAGEABLE;
    return status;
}

/* A part stays free for kernels still to be loaded, and what the driver keeps for them. */
static pool_status free_bytes(const struct msm_call *call, uint64_t *bytes)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_memory_get_info(call->site.device, &info);

    if (!status)
        *bytes = (info.free_bytes + (info.reserved_bytes - info.used_bytes)) / 32 * 31;
    return status;
}

static pool_status use_given(struct msm_call *call)
{
    pool_buffer *given = call->exec.workspace;
    pool_status status = msm_cut_make(
        call, call->exec.memory_limit ? call->exec.memory_limit : UINT64_MAX, &call->cut);

    if (status)
        return status;
    if (pool_buffer_device(given) != call->site.device)
        return base_fail(POOL_ERR_WRONG_DEVICE, "the workspace is memory of another device");
    if (pool_buffer_bytes(given) < call->cut.bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_msm: `workspace` has %s; %s are needed",
            base_size_text(pool_buffer_bytes(given)).text, base_size_text(call->cut.bytes).text);
    status = pool_buffer_address(given, &call->address);
    if (!status && call->address % 256)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "the workspace is not aligned to 256 bytes");
    call->workspace = given;
    return status;
}

/* Less than a cut that did not fit; the failure of the last try stays where nothing smaller is. */
static pool_status make_room(struct msm_call *call)
{
    struct base_error_copy full;
    uint64_t limit = 0;
    pool_status status;

    base_error_save(&full);
    status = free_bytes(call, &limit);
    if (status)
        return status;
    if (limit >= call->cut.bytes)
        limit = call->cut.bytes / 8 * 7;
    status = msm_cut_make(call, limit, &call->cut);
    if (status)
        base_error_restore(&full);
    return status;
}

/* What fails for other reasons than room shows here first. */
static pool_status wake_memory(const struct msm_call *call)
{
    struct device_memory *memory;
    struct device_scope scope;
    pool_status status = device_enter(call->site.device, &scope);

    return status ? status : device_leave(&scope, memory_of(&scope, &memory));
}

/* What others take in between makes the pieces smaller, until nothing smaller is left. */
static pool_status take_workspace(struct msm_call *call)
{
    uint64_t limit = call->exec.memory_limit ? call->exec.memory_limit : UINT64_MAX;
    pool_status status = msm_cut_make(call, limit, &call->cut);

    if (!status)
        status = wake_memory(call);
    if (!status && !call->exec.memory_limit && call->cut.bytes > SMALL_BYTES) {
        status = free_bytes(call, &limit);
        if (!status && call->cut.bytes > limit)
            status = msm_cut_make(call, limit, &call->cut);
    }
    while (!status) {
        status = memory_temporary(&call->site, call->cut.bytes, &call->own, &call->address);
        if (status != POOL_ERR_OUT_OF_DEVICE_MEMORY)
            break;
        status = make_room(call);
    }
    call->workspace = call->own;
    return status;
}

/* One binding for all the calls below: each of them then finds the context current. */
static pool_status run_inside(struct msm_call *call)
{
    pool_status status = check_spans(call, memory_span_check);

    if (!status)
        status = find_results(call);
    if (!status)
        status = call->exec.workspace ? use_given(call) : take_workspace(call);
    if (status)
        return memory_temporary_free(&call->site, &call->own, status);
    status = msm_call_run(call);
    if (!status)
        status = msm_deliver_all(call);
    status = memory_temporary_free(&call->site, &call->own, status);
    return memory_site_end(&call->site, call->exec.is_async, status);
}

pool_status pool_msm(const pool_msm_params *params, const pool_exec *exec, const pool_span *points,
    const pool_span *scalars, const pool_span *results)
{
    struct device_scope scope;
    struct msm_call call;
    pool_status status = prepare("pool_msm", params, exec, points, scalars, results, &call);

    if (!status)
        status = device_enter(call.site.device, &scope);
    return status ? status : device_leave(&scope, run_inside(&call));
}

pool_status pool_msm_workspace(const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results, uint64_t *bytes)
{
    struct msm_call call;
    pool_status status;

    if (!bytes)
        return base_fail_null("pool_msm_workspace", "bytes");
    status = prepare("pool_msm_workspace", params, exec, points, scalars, results, &call);
    if (!status)
        status = check_spans(&call, check_shapes);
    if (!status)
        status = msm_cut_make(
            &call, call.exec.memory_limit ? call.exec.memory_limit : UINT64_MAX, &call.cut);
    if (!status)
        *bytes = call.cut.bytes;
    return status;
}

pool_status pool_msm_warm_up(const pool_curve *curve, pool_device *device)
{
    pool_status status;

    if (!curve)
        return base_fail_null("pool_msm_warm_up", "curve");
    status = device_or_bound(device, &device);
    return status ? status : msm_load_programs(device, curve);
}
