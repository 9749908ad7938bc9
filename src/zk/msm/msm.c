/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_msm, its forecast and its warm-up: their arguments. call.c plans, run.c enqueues.
 */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "zk/msm/call.h"

static const struct base_struct msm_params_type = BASE_STRUCT(pool_msm_params);

void pool_msm_params_init(pool_msm_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- params ---------------------------------------------------------------------------------- */

static bool has_bases(const pool_msm_params *params)
{
    return params->bases || params->device_bases;
}

static pool_status check_params(const struct msm_call *msm)
{
    const pool_msm_params *params = &msm->params;
    const uint32_t checks = msm->frame.exec.checks;
    const char *call = msm->frame.name;
    pool_status status =
        base_check_ranges(call, {"point_layout", params->point_layout, 0, POOL_POINT_XYZZ},
            {"result_layout", params->result_layout, 0, POOL_POINT_XYZZ},
            {"shared_bases", params->shared_bases, 0, 1},
            {"replicated_bases", params->replicated_bases, 0, 1},
            {"affine_passes", params->affine_passes == POOL_AFFINE_NONE ? 0 : params->affine_passes,
                0, MSM_MAX_AFFINE_PASSES});

    if (!status && params->window_bits)
        status = base_check_ranges(
            call, {"window_bits", params->window_bits, MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS});
    if (!status)
        status = msm_check_devices(msm);
    if (status)
        return status;
    if (!params->curve && !has_bases(params))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `curve` and `bases` are both NULL; one of them is required", call);
    if ((checks & POOL_CHECK_REDUCE) && params->scalar_bits)
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
    if (has_bases(params) && (checks & POOL_CHECK_SUBGROUP))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `checks`; with `params->bases`, which are checked "
            "where they are made, only scalars can be",
            call, checks);
    return POOL_OK;
}

/* Bases that the call is described with take the place of those of its params. */
static pool_status use_described(struct msm_call *call)
{
    const char *name = call->frame.name;
    pool_exec *exec = &call->frame.exec;

    if (!call->described)
        return POOL_OK;
    if (has_bases(&call->params))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `params->bases` must be NULL; the bases are those of the object", name);
    call->params.bases = call->described;
    return device_or_bound(exec->device, &call->described->device);
}

static pool_status read_params(void *user)
{
    struct msm_call *call = user;
    const char *name = call->frame.name;
    pool_status status = use_described(call);

    if (!status)
        status = check_params(call);
    if (status)
        return status;
    if (!call->points == !has_bases(&call->params))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            call->points
                ? "%s: `points` and `params->bases` are both given; one of them must be NULL"
                : "%s: `points` and `params->bases` are both NULL; one of them is required",
            name);
    if (!call->params.batch)
        call->params.batch = 1;
    status = msm_call_resolve(call);
    return status ? status
                  : base_check_ranges(name, {"scalar_bits", call->params.scalar_bits, 0,
                                                8 * call->curve->scalar_field->bytes});
}

/* ---- the table ------------------------------------------------------------------------------- */

static void set_items(void *user)
{
    struct msm_call *call = user;
    const pool_curve *curve = call->curve;
    const pool_field *order = curve->scalar_field;
    struct span_item *item = call->frame.item;

    call->frame.subject = curve->name;
    call->frame.items = call->scalars->count;
    item[0] = (struct span_item){.bytes = order->bytes, .kind = "elements", .name = order->name};
    item[1] = (struct span_item){.bytes = pool_point_bytes(curve, call->params.point_layout),
        .kind = "points",
        .name = curve->name};
    item[2] = (struct span_item){.bytes = pool_point_bytes(curve, call->params.result_layout),
        .kind = "points",
        .name = curve->name};
}

/* NULL: the points are a span. The params may be invalid. */
static pool_device *device_of_bases(const void *user)
{
    const pool_msm_params *params = ((const struct msm_call *)user)->given;

    return base_struct_is_valid(&msm_params_type, params) &&
                   params->struct_size >=
                       offsetof(pool_msm_params, bases) + sizeof(params->bases) &&
                   params->bases
               ? params->bases->device
               : NULL;
}

static const struct operation operation = {.counter = "msm",
    .call_bytes = sizeof(struct msm_call),
    .rules = {.checks = POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP | POOL_CHECK_REDUCE,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true,
        .has_devices = true,
        .has_async_devices = true},
    .arguments = {{"params", offsetof(struct msm_call, given), OPERATION_PARAMS,
                      .type = &msm_params_type, .copy_at = offsetof(struct msm_call, params)},
        {"scalars", offsetof(struct msm_call, scalars), OPERATION_SPAN,
            .operand = "span of scalars"},
        {"points", offsetof(struct msm_call, points), OPERATION_SPAN, .is_optional = true,
            .operand = "span of points"},
        {"results", offsetof(struct msm_call, results), OPERATION_SPAN,
            .operand = "span of results"}},
    .forecasts_by_chip = true,
    .takes_block = true,
    .device = device_of_bases,
    .read = read_params,
    .prepare = set_items,
    .check = msm_call_check,
    .plan = msm_call_plan,
    .restore = msm_call_restore,
    .run = msm_call_run,
    .divide = msm_divide,
    .part = msm_make_part};

/* ---- public ---------------------------------------------------------------------------------- */

#define MSM_CALL(its_name, its_points)                                                             \
    {                                                                                              \
        .frame = {.operation = &operation, .name = (its_name), .given = exec}, .given = params,    \
        .scalars = scalars, .points = (its_points), .results = results,                            \
        .tuning = &msm_default_tuning                                                              \
    }

pool_status msm_compute(const struct msm_tuning *tuning, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *points, const pool_span *scalars,
    const pool_span *results)
{
    struct msm_call call = MSM_CALL("pool_msm", points);

    call.tuning = tuning;
    return operation_run(&call.frame);
}

pool_status pool_msm(const pool_msm_params *params, const pool_exec *exec, const pool_span *points,
    const pool_span *scalars, const pool_span *results)
{
    return msm_compute(&msm_default_tuning, params, exec, points, scalars, results);
}

pool_status pool_msm_workspace(const pool_msm_params *params, const pool_exec *exec,
    const pool_span *points, const pool_span *scalars, const pool_span *results, uint64_t *bytes)
{
    struct msm_call call = MSM_CALL(__func__, points);

    return operation_forecast(&call.frame, bytes);
}

pool_status msm_workspace_of_described(const char *name, struct pool_bases *described,
    const pool_msm_params *params, const pool_exec *exec, const pool_span *scalars,
    const pool_span *results, uint64_t *bytes)
{
    struct msm_call call = MSM_CALL(name, NULL);

    call.described = described;
    return operation_forecast(&call.frame, bytes);
}

static pool_status load(struct operation_call *call, const void *curve)
{
    return msm_load_programs(call->exec.device, curve);
}

pool_status pool_msm_warm_up(const pool_curve *curve, const pool_exec *exec)
{
    return operation_warm_up(__func__, exec, "curve", curve, load);
}
