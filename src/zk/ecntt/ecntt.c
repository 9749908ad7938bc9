/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ecntt: validation and the workspace; run.c runs the chunks, devices.c deals batches out.
 */
#include "zk/ecntt/ecntt.h"

#include <string.h>

#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/counters.h"
#include "zk/msm/msm.h"
#include "zk/operation/timeout.h"

static_assert(ECNTT_FORWARD == (int)POOL_NTT_FORWARD && ECNTT_INVERSE == (int)POOL_NTT_INVERSE,
    "ptx/ecntt/args.h");

static const struct base_struct ecntt_params_type = BASE_STRUCT(pool_ecntt_params);

void pool_ecntt_params_init(pool_ecntt_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- validation ------------------------------------------------------------------------------ */

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

static pool_status read_params(const char *call, const pool_ecntt_params *given,
    const pool_exec *given_exec, pool_ecntt_params *params, pool_exec *exec)
{
    static const struct exec_rules rules = {.checks = POOL_CHECK_SUBGROUP,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true,
        .has_devices = true,
        .has_async_devices = true};
    pool_status status = base_struct_read(&ecntt_params_type, call, "params", given, params);

    if (!status)
        status = base_check_pointers(
            call, {"params->curve", params->curve}, {"params->domain", params->domain});
    if (!status)
        status = base_check_ranges(call, {"direction", params->direction, 0, POOL_NTT_INVERSE},
            {"order", params->order, 0, POOL_NTT_RR},
            {"layout", params->layout, 0, POOL_NTT_COLUMNS}, {"coset", params->coset, 0, 1},
            {"point_layout", params->point_layout, 0, POOL_POINT_XYZZ},
            {"result_layout", params->result_layout, 0, POOL_POINT_XYZZ});
    if (!status)
        status = exec_read(call, given_exec, &rules, exec);
    if (!params->batch)
        params->batch = 1;
    return status ? status : check_domain(call, params);
}

static void init_job(struct ecntt_call *call)
{
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
        .in_stride = span_stride(&call->in, in_bytes),
        .in_bytes = in_bytes,
        .out_bytes = pool_point_bytes(curve, params->result_layout),
        .in_is_on_host = call->in.space == POOL_MEMORY_HOST,
        .out_is_on_host = call->out.space == POOL_MEMORY_HOST,
        .has_checks = call->exec.checks != 0};
}

static pool_status prepare(const char *name, const pool_ecntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, struct ecntt_call *call)
{
    pool_status status = base_check_pointers(name, {"in", in}, {"out", out});

    memset(call, 0, sizeof(*call));
    if (!status)
        status = read_params(name, params, exec, &call->params, &call->exec);
    if (status)
        return status;
    call->in = *in;
    call->out = *out;
    init_job(call);
    return call->exec.device_count ? POOL_OK : exec_target_init(&call->target, &call->exec);
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
        call->job.is_interleaved ? call->in.count : (uint64_t)1 << call->job.log_size;

    if (base_ceil_div(points, ECNTT_THREADS) <= INT32_MAX)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED, "pool_ecntt: %llu points at a time are too many",
        (unsigned long long)points);
}

static bool is_same_memory(const struct ecntt_call *call)
{
    return call->in.data == call->out.data && call->in.space == call->out.space &&
           call->job.in_stride == span_stride(&call->out, call->job.out_bytes);
}

/* Shards are checked by the calls on their devices; devices.c refuses memory of one device. */
static pool_status check_span(const struct ecntt_call *call, const pool_span *span,
    uint64_t point_bytes, const char *what, bool checks_data)
{
    const struct span_item item = {point_bytes, "points", call->params.curve->name};
    pool_status status = POOL_OK;

    if (span->space == POOL_MEMORY_HOST || !call->exec.device_count)
        status = checks_data ? span_check(&call->target, span, &item, what)
                             : span_check_shape(span, &item, what);
    return status ? status : check_count(call, span, what);
}

static pool_status check_spans(const struct ecntt_call *call, bool checks_data)
{
    const uint64_t in_bytes = call->job.in_bytes, out_bytes = call->job.out_bytes;
    pool_status status = check_span(call, &call->in, in_bytes, "input", checks_data);

    if (!status)
        status = check_span(call, &call->out, out_bytes, "output", checks_data);
    if (!status && call->in.space != POOL_MEMORY_SHARDED &&
        spans_overlap(&call->in, in_bytes, &call->out, out_bytes) && !is_same_memory(call))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "input and output overlap in memory and are not the same points");
    return status || call->exec.device_count ? status : check_grid(call);
}

static pool_status make_plan(struct ecntt_call *call)
{
    const uint64_t limit = exec_limit(&call->exec);

    return ecntt_plan_make(&call->job, limit, &call->plan)
               ? POOL_OK
               : exec_fail_limit("pool_ecntt", limit, call->plan.bytes);
}

/* ---- workspace ------------------------------------------------------------------------------- */

static pool_status use_given_workspace(struct ecntt_call *call)
{
    pool_buffer *given = call->exec.workspace;
    pool_status status = pool_buffer_address(given, &call->address);

    if (status)
        return status;
    if (pool_buffer_device(given) != call->target.device)
        return base_fail(
            POOL_ERR_WRONG_DEVICE, "pool_ecntt: `workspace` is memory of another device");
    if (pool_buffer_bytes(given) < call->plan.bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_ecntt: `workspace` has %s; %s are needed",
            base_size_text(pool_buffer_bytes(given)).text, base_size_text(call->plan.bytes).text);
    if (call->address % 256)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_ecntt: `workspace` is not aligned to 256 bytes");
    call->workspace = given;
    status = workspace_check_overlap("pool_ecntt", given, &call->in, call->job.in_bytes, "input");
    if (!status)
        status =
            workspace_check_overlap("pool_ecntt", given, &call->out, call->job.out_bytes, "output");
    return status;
}

static pool_status find_workspace(struct ecntt_call *call)
{
    pool_status status = make_plan(call);

    if (status)
        return status;
    if (call->exec.workspace)
        return use_given_workspace(call);
    status = scratch_allocate(&call->target, call->plan.bytes, &call->owned, &call->address);
    call->workspace = call->owned;
    return status;
}

/* ---- public ---------------------------------------------------------------------------------- */

static pool_status run_inside(struct ecntt_call *call)
{
    pool_status status = check_spans(call, true);

    if (!status)
        status = find_workspace(call);
    if (status)
        return status;
    status = ecntt_run(call);
    status = scratch_free(&call->target, &call->owned, status);
    return exec_target_end(&call->target, call->exec.is_async, status);
}

static pool_status run_on_device(struct ecntt_call *call)
{
    struct device_operation operation;
    struct device_scope scope;
    pool_status status = device_enter(call->target.device, &scope);

    if (status)
        return status;
    device_operation_begin(
        &operation, call->target.device, "ecntt", call->params.curve->name, call->in.count);
    status = device_operation_end(&operation, run_inside(call));
    return device_leave(&scope, status);
}

pool_status ecntt_compute(const pool_ecntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t first)
{
    struct ecntt_call call;
    pool_status status = prepare("pool_ecntt", params, exec, in, out, &call);

    call.first = first;
    return status ? status : run_on_device(&call);
}

static pool_status ecntt_timed(void *const *a)
{
    return pool_ecntt(a[0], a[1], a[2], a[3]);
}

pool_status pool_ecntt(const pool_ecntt_params *params, const pool_exec *exec, const pool_span *in,
    const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(ecntt_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(exec), TIMED_SPAN(in),
            TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    struct ecntt_call call;
    pool_status status = prepare("pool_ecntt", params, exec, in, out, &call);

    if (status)
        return status;
    if (!call.exec.device_count)
        return run_on_device(&call);
    status = check_spans(&call, true);
    return status ? status : ecntt_run_on_devices(&call);
}

pool_status pool_ecntt_workspace(const pool_ecntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct ecntt_call call;
    pool_status status;

    if (!bytes)
        return base_fail_null("pool_ecntt_workspace", "bytes");
    status = prepare("pool_ecntt_workspace", params, exec, in, out, &call);
    if (!status)
        status = check_spans(&call, false);
    if (!status && call.exec.device_count)
        return ecntt_workspace_on_devices(&call, bytes);
    if (!status)
        status = make_plan(&call);
    if (!status)
        *bytes = call.plan.bytes;
    return status;
}

static pool_status ecntt_warm_up_timed(void *const *a)
{
    return pool_ecntt_warm_up(a[0], a[1]);
}

pool_status pool_ecntt_warm_up(const pool_curve *curve, const pool_exec *given)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(ecntt_warm_up_timed, NULL, TIMED_POINTER(curve), TIMED_EXEC(given));
    EXEC_SCOPE(given);
    pool_kernel *kernel;
    pool_exec exec;
    pool_status status;

    if (!curve)
        return base_fail_null("pool_ecntt_warm_up", "curve");
    status = exec_read_warm_up(__func__, given, &exec);
    if (!status)
        status = ecntt_kernel_get(exec.device, curve, ECNTT_KERNEL_STAGE, &kernel);
    if (!status)
        status = exec_check_cancelled(__func__, &exec);
    if (!status)
        status = ecntt_factors_kernel(exec.device, curve, &kernel);
    if (!status)
        status = exec_check_cancelled(__func__, &exec);
    if (!status)
        status = msm_kernel_get(exec.device, curve, MSM_CONVERT_BASES, MSM_CHECKS_BASES, &kernel);
    return status ? status : msm_kernel_get(exec.device, curve, MSM_CHECK_BASES, 0, &kernel);
}
