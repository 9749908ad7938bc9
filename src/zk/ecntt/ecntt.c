/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ecntt: its arguments, and its parts on several devices; plan.c chooses the chunks, run.c
 * runs them.
 */
#include "zk/ecntt/ecntt.h"

#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/msm/msm.h"

static_assert(ECNTT_FORWARD == (int)POOL_NTT_FORWARD && ECNTT_INVERSE == (int)POOL_NTT_INVERSE,
    "ptx/ecntt/args.h");

static const struct base_struct ecntt_params_type = BASE_STRUCT(pool_ecntt_params);

void pool_ecntt_params_init(pool_ecntt_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool has_same_modulus(const pool_field *a, const pool_field *b)
{
    return memcmp(a->modulus, b->modulus, sizeof(a->modulus)) == 0;
}

static pool_status check_domain(const char *call, const pool_ecntt_params *params)
{
    const pool_ntt_domain *domain = params->domain;

    if (!has_same_modulus(domain->field, params->curve->scalar_field))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the domain is one of %s, whose modulus is not the order of %s", call,
            domain->field->name, params->curve->name);
    if (domain->log_size > POOL_ECNTT_MAX_LOG_SIZE)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: a domain of 2^%u elements is larger than 2^%d, the most for points", call,
            domain->log_size, POOL_ECNTT_MAX_LOG_SIZE);
    return POOL_OK;
}

static pool_status read_params(void *user)
{
    struct ecntt_call *call = user;
    pool_ecntt_params *params = &call->params;
    const char *name = call->frame.name;
    pool_status status = base_check_pointers(
        name, {"params->curve", params->curve}, {"params->domain", params->domain});

    if (!status)
        status = base_check_ranges(name, {"direction", params->direction, 0, POOL_NTT_INVERSE},
            {"order", params->order, 0, POOL_NTT_RR},
            {"layout", params->layout, 0, POOL_NTT_COLUMNS}, {"coset", params->coset, 0, 1},
            {"point_layout", params->point_layout, 0, POOL_POINT_XYZZ},
            {"result_layout", params->result_layout, 0, POOL_POINT_XYZZ});
    if (!params->batch)
        params->batch = 1;
    return status ? status : check_domain(name, params);
}

static void set_job(void *user)
{
    struct ecntt_call *call = user;
    const pool_ecntt_params *params = &call->params;
    const pool_curve *curve = params->curve;
    const uint64_t in_bytes = pool_point_bytes(curve, params->point_layout);

    call->endomorphism = curve_endomorphism_of(curve);
    call->job = (struct ecntt_job){.log_size = params->domain->log_size,
        .batch = params->batch,
        .is_interleaved = params->layout == POOL_NTT_COLUMNS,
        .is_inverse = params->direction == POOL_NTT_INVERSE,
        .has_coset = params->coset,
        .coordinate_bytes = (uint32_t)curve->coordinates.bytes,
        .scalar_bits = curve->scalar_field->bits,
        .half_bits = call->endomorphism ? call->endomorphism->bits : 0,
        .in_stride = span_stride(call->in, in_bytes),
        .in_bytes = in_bytes,
        .out_bytes = pool_point_bytes(curve, params->result_layout),
        .in_is_on_host = call->in->space == POOL_MEMORY_HOST,
        .out_is_on_host = call->out->space == POOL_MEMORY_HOST,
        .has_checks = call->frame.exec.checks != 0};
    call->frame.subject = curve->name;
    call->frame.items = call->in->count;
    call->frame.item[0] =
        (struct span_item){.bytes = in_bytes, .kind = "points", .name = curve->name};
    call->frame.item[1] =
        (struct span_item){.bytes = call->job.out_bytes, .kind = "points", .name = curve->name};
}

static pool_status check_count(
    const struct ecntt_call *call, const pool_span *span, const char *what)
{
    const uint32_t log_size = call->job.log_size;

    if (call->params.batch > UINT64_MAX >> log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu transforms of 2^%u points are too many",
            (unsigned long long)call->params.batch, log_size);
    if (span->count != call->params.batch << log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the %s has %llu points: %llu transforms of 2^%u have %llu", what,
            (unsigned long long)span->count, (unsigned long long)call->params.batch, log_size,
            (unsigned long long)(call->params.batch << log_size));
    return POOL_OK;
}

/* A grid has at most 2^31 - 1 blocks; chunks of rows are far below. */
static pool_status check_grid(const struct ecntt_call *call)
{
    const uint64_t points =
        call->job.is_interleaved ? call->in->count : (uint64_t)1 << call->job.log_size;

    if (base_ceil_div(points, ECNTT_THREADS) <= INT32_MAX)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED, "%s: %llu points at a time are too many",
        call->frame.name, (unsigned long long)points);
}

static bool is_same_memory(const struct ecntt_call *call)
{
    return call->in->data == call->out->data && call->in->space == call->out->space &&
           call->job.in_stride == span_stride(call->out, call->job.out_bytes);
}

static pool_status check_spans(void *user)
{
    const struct ecntt_call *call = user;
    pool_status status = check_count(call, call->in, "input");

    if (!status)
        status = check_count(call, call->out, "output");
    if (!status && spans_overlap(call->in, call->job.in_bytes, call->out, call->job.out_bytes) &&
        !is_same_memory(call))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "input and output overlap in memory and are not the same points");
    return status || call->frame.exec.device_count ? status : check_grid(call);
}

static pool_status plan(void *user, uint64_t limit)
{
    struct ecntt_call *call = user;

    (void)ecntt_plan_make(&call->job, limit, &call->plan);
    call->frame.memory.bytes = call->plan.bytes;
    return POOL_OK;
}

/* ---- several devices ------------------------------------------------------------------------- */

static pool_status divide(void *user, struct operation_division *division)
{
    const struct ecntt_call *call = user;
    const pool_ecntt_params *params = &call->params;
    pool_status status =
        operation_check_layout(division, params->layout != POOL_NTT_ROWS && params->batch > 1);

    division->per_unit[0] = division->per_unit[1] = UINT64_C(1) << call->job.log_size;
    return status ? status : operation_divide_units(division, params->batch, "transforms");
}

static bool make_part(const void *whole, const struct operation_division *division, uint32_t index,
    uint32_t number, void *user)
{
    struct ecntt_call *part = user;

    (void)whole;
    part->params.batch = operation_take_units(division, index, &part->frame);
    part->first = division->first[index] << part->job.log_size;
    return !number && part->params.batch;
}

static const struct operation operation = {.counter = "ecntt",
    .call_bytes = sizeof(struct ecntt_call),
    .rules = {.checks = POOL_CHECK_SUBGROUP,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true,
        .has_devices = true,
        .has_async_devices = true},
    .arguments = {{"params", offsetof(struct ecntt_call, given), OPERATION_PARAMS,
                      .type = &ecntt_params_type, .copy_at = offsetof(struct ecntt_call, params)},
        {"in", offsetof(struct ecntt_call, in), OPERATION_SPAN, .operand = "input"},
        {"out", offsetof(struct ecntt_call, out), OPERATION_SPAN, .operand = "output"}},
    .forecasts_by_chip = true,
    .takes_block = true,
    .read = read_params,
    .prepare = set_job,
    .check = check_spans,
    .plan = plan,
    .run = ecntt_run,
    .divide = divide,
    .part = make_part};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_ecntt(const pool_ecntt_params *params, const pool_exec *exec, const pool_span *in,
    const pool_span *out)
{
    struct ecntt_call call = {
        .frame = OPERATION_CALL(&operation, exec), .given = params, .in = in, .out = out};

    return operation_run(&call.frame);
}

pool_status pool_ecntt_workspace(const pool_ecntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    struct ecntt_call call = {
        .frame = OPERATION_CALL(&operation, exec), .given = params, .in = in, .out = out};

    return operation_forecast(&call.frame, bytes);
}

static pool_status load(struct operation_call *call, const void *curve)
{
    pool_device *device = call->exec.device;
    pool_kernel *kernel;
    pool_status status = ecntt_kernel_get(device, curve, ECNTT_KERNEL_STAGE, &kernel);

    if (!status)
        status = exec_check_cancelled(call->name, &call->exec);
    if (!status)
        status = ecntt_factors_kernel(device, curve, &kernel);
    if (!status)
        status = exec_check_cancelled(call->name, &call->exec);
    if (!status)
        status = msm_kernel_get(device, curve, MSM_CONVERT_BASES, MSM_CHECKS_BASES, &kernel);
    return status ? status : msm_kernel_get(device, curve, MSM_CHECK_BASES, 0, &kernel);
}

pool_status pool_ecntt_warm_up(const pool_curve *curve, const pool_exec *exec)
{
    return operation_warm_up(__func__, exec, "curve", curve, load);
}
