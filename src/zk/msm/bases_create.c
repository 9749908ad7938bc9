/* SPDX-License-Identifier: Apache-2.0 */
/* pool_bases_create, pool_bases_load and their forecasts: arguments. */
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/msm/bases.h"

static const struct base_struct params_type = BASE_STRUCT(pool_bases_params);

void pool_bases_params_init(pool_bases_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* Window bits and the length of scalars belong to precomputed multiples. */
static pool_status check_unused_members(const char *call, const pool_bases_params *params)
{
    uint32_t window_bits = params->window_bits, scalar_bits = params->scalar_bits;

    if (params->precompute_factor >= 2 || (!window_bits && !scalar_bits))
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: unsupported value %u for `%s`; it must be 0 with a `precompute_factor` of %u, which "
        "stores no multiples; pool_msm_params has its own",
        call, window_bits ? window_bits : scalar_bits, window_bits ? "window_bits" : "scalar_bits",
        params->precompute_factor);
}

static pool_status read_params(void *user)
{
    const struct bases_call *call = user;
    const pool_bases_params *params = &call->params;
    const char *name = call->frame.name;
    pool_status status = params->curve ? POOL_OK : base_fail_null(name, "params->curve");

    if (!status)
        status = base_check_ranges(name, {"layout", params->layout, 0, POOL_POINT_XYZZ},
            {"scalar_bits", params->scalar_bits, 0, 8 * params->curve->scalar_field->bytes},
            {"planned_terms", (int64_t)base_min(params->planned_terms, INT64_MAX), 0, INT32_MAX});
    if (!status && params->window_bits)
        status = base_check_ranges(
            name, {"window_bits", params->window_bits, MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS});
    if (!status && call->points)
        status = check_unused_members(name, params);
    if (!status && call->frame.is_forecast && !call->bases_bytes)
        status = base_fail_null(name, "bases_bytes");
    return status;
}

static void set_points(void *user)
{
    struct bases_call *call = user;
    const pool_curve *curve = call->params.curve;

    call->frame.subject = curve->name;
    call->frame.items = call->points ? call->points->count : 0;
    call->frame.item[0] = (struct span_item){.bytes = pool_point_bytes(curve, call->params.layout),
        .kind = "points",
        .name = curve->name};
}

static pool_status check_count(void *user)
{
    const struct bases_call *call = user;

    const uint64_t points = call->points->count, infinities = call->params.leading_infinities;

    return points <= INT32_MAX && infinities <= INT32_MAX - points
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT,
                     infinities ? "%llu points behind %llu at infinity are more than 2^31 - 1"
                                : "%llu points are more than 2^31 - 1",
                     (unsigned long long)points, (unsigned long long)infinities);
}

/* ---- plans: the bases, which are described, and what is allocated besides them --------------- */

static pool_status plan_creation(void *user, uint64_t limit)
{
    struct bases_call *call = user;
    pool_status status;

    (void)limit;
    call->described.device = call->frame.target.device;
    status = msm_bases_describe(&call->params, call->points->count, &call->described);
    if (!status)
        call->frame.memory.bytes =
            msm_bases_bytes(&call->described) +
            msm_bases_build_bytes(&call->described, call->points, call->params.layout);
    return status;
}

/* A load reads the header itself. */
static pool_status plan_load(void *user, uint64_t limit)
{
    struct bases_call *call = user;
    pool_span loaded = {.space = POOL_MEMORY_DEVICE};
    pool_status status;

    (void)limit;
    if (!call->frame.is_forecast)
        return POOL_OK;
    call->described.curve = (pool_curve *)(uintptr_t)call->params.curve;
    status = msm_bases_describe_file(call->path, &call->described);
    if (status)
        return status;
    loaded.count = call->described.count;
    call->frame.memory.bytes = msm_bases_bytes(&call->described);
    if (call->frame.exec.checks)
        call->frame.memory.bytes +=
            msm_bases_build_bytes(&call->described, &loaded, POOL_POINT_AFFINE);
    return POOL_OK;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define PARAMS_ARGUMENT                                                                            \
    {                                                                                              \
        "params", offsetof(struct bases_call, given), OPERATION_PARAMS,                            \
            .type = &params_type, .copy_at = offsetof(struct bases_call, params)                   \
    }
#define BASES_ARGUMENT                                                                             \
    {                                                                                              \
        "bases", offsetof(struct bases_call, bases), OPERATION_RESULT,                             \
            .is_for_run = true, .discard = msm_bases_discard                                       \
    }

static const struct operation creation = {.counter = "bases",
    .call_bytes = sizeof(struct bases_call),
    .rules = {.checks = POOL_CHECK_SUBGROUP},
    .arguments = {PARAMS_ARGUMENT,
        {"points", offsetof(struct bases_call, points), OPERATION_SPAN,
            .operand = "span of points"},
        BASES_ARGUMENT},
    .forecasts_by_chip = true,
    .read = read_params,
    .prepare = set_points,
    .check = check_count,
    .plan = plan_creation,
    .run = msm_bases_create};

static const struct operation loading = {.counter = "bases",
    .call_bytes = sizeof(struct bases_call),
    .rules = {.checks = POOL_CHECK_SUBGROUP},
    .arguments = {PARAMS_ARGUMENT,
        {.name = "path", .at = offsetof(struct bases_call, path), .kind = OPERATION_STRING},
        BASES_ARGUMENT},
    .read = read_params,
    .prepare = set_points,
    .plan = plan_load,
    .run = msm_bases_load};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_bases_create(const pool_bases_params *params, const pool_exec *exec,
    const pool_span *points, pool_bases **bases)
{
    struct bases_call call = {.frame = OPERATION_CALL(&creation, exec),
        .given = params,
        .points = points,
        .bases = bases};

    return operation_run(&call.frame);
}

pool_status pool_bases_load(
    const pool_bases_params *params, const pool_exec *exec, const char *path, pool_bases **bases)
{
    struct bases_call call = {
        .frame = OPERATION_CALL(&loading, exec), .given = params, .path = path, .bases = bases};

    return operation_run(&call.frame);
}

static pool_status forecast(struct bases_call *call, uint64_t *bytes)
{
    pool_status status = operation_forecast(&call->frame, bytes);

    if (!status)
        *call->bases_bytes = msm_bases_bytes(&call->described);
    return status;
}

pool_status pool_bases_create_workspace(const pool_bases_params *params, const pool_exec *exec,
    const pool_span *points, uint64_t *bases_bytes, uint64_t *bytes)
{
    struct bases_call call = {.frame = OPERATION_CALL(&creation, exec),
        .given = params,
        .points = points,
        .bases_bytes = bases_bytes};

    return forecast(&call, bytes);
}

pool_status pool_bases_load_workspace(const pool_bases_params *params, const pool_exec *exec,
    const char *path, uint64_t *bases_bytes, uint64_t *bytes)
{
    struct bases_call call = {.frame = OPERATION_CALL(&loading, exec),
        .given = params,
        .path = path,
        .bases_bytes = bases_bytes};

    return forecast(&call, bytes);
}
