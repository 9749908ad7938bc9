/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt_extend and what belongs to it: validation, and calls on one device and on several.
 */
#include "zk/ntt/extend_call.h"

#include <string.h>

#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/counters.h"
#include "zk/operation/timeout.h"
#include "zk/operation/workspace.h"

static const struct base_struct ntt_extend_params_type = BASE_STRUCT(pool_ntt_extend_params);

void pool_ntt_extend_params_init(pool_ntt_extend_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- validation ------------------------------------------------------------------------------ */

pool_status ntt_extend_params_read(
    const char *call, const pool_ntt_extend_params *given, pool_ntt_extend_params *params)
{
    pool_status status = base_struct_read(&ntt_extend_params_type, call, "params", given, params);

    if (!status && !params->domain)
        status = base_fail_null(call, "params->domain");
    if (!status)
        status = base_check_ranges(call, {"order", params->order, 0, POOL_NTT_RR},
            {"layout", params->layout, 0, POOL_NTT_COLUMNS},
            {"from_coefficients", params->from_coefficients, 0, 1},
            {"log_blowup", params->log_blowup, 0,
                (int64_t)base_min(POOL_NTT_MAX_LOG_BLOWUP, params->domain->log_size)});
    if (!params->batch)
        params->batch = 1;
    return status;
}

/* The domain whose root is the 2^log_blowup-th power of the results' root. */
static pool_status find_columns_domain(
    const pool_ntt_extend_params *params, pool_ntt_domain **domain)
{
    *domain = params->domain;
    if (params->log_blowup == 0)
        return POOL_OK;
    return ntt_domain_power(params->domain, params->domain->log_size - params->log_blowup, domain);
}

static pool_status check_count(
    const struct ntt_extend_call *call, const pool_span *span, uint32_t log_size, const char *what)
{
    if (call->params.batch > UINT64_MAX >> log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt_extend: %llu columns of 2^%u elements are too many",
            (unsigned long long)call->params.batch, log_size);
    if (span->count == call->params.batch << log_size)
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "pool_ntt_extend: the %s has %llu elements: %llu columns of 2^%u have %llu", what,
        (unsigned long long)span->count, (unsigned long long)call->params.batch, log_size,
        (unsigned long long)(call->params.batch << log_size));
}

static pool_status check_packed(
    const struct ntt_extend_call *call, const pool_span *span, const char *what)
{
    if (elements_are_packed(call->target.field, span))
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "pool_ntt_extend: the %s at 0x%llx with a stride of %llu bytes is not packed and aligned",
        what, (unsigned long long)(uintptr_t)span->data, (unsigned long long)span->stride);
}

/* With `checks_data` also its address. */
static pool_status check_span(const struct ntt_extend_call *call, const pool_span *span,
    uint32_t log_size, const char *what, bool checks_data)
{
    const pool_field *field = call->target.field;
    const struct span_item item = {field->bytes, "elements", field->name};
    pool_status status = checks_data ? elements_check(&call->target, span, what)
                                     : span_check_shape(span, &item, what);

    if (!status)
        status = check_count(call, span, log_size, what);
    return status ? status : check_packed(call, span, what);
}

static bool is_same_device_memory(const pool_span *a, const pool_span *b)
{
    return a->data && a->data == b->data && a->space == POOL_MEMORY_DEVICE &&
           b->space == POOL_MEMORY_DEVICE;
}

static pool_status check_overlaps(const struct ntt_extend_call *call)
{
    const uint64_t bytes = call->target.field->bytes;

    if (spans_overlap(&call->in, bytes, &call->out, bytes) &&
        !is_same_device_memory(&call->in, &call->out))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt_extend: input and output overlap in memory, and the output does not begin "
            "with the input in device memory");
    if (spans_overlap(&call->coefficients, bytes, &call->out, bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt_extend: `coefficients` and output overlap in memory");
    if (spans_overlap(&call->coefficients, bytes, &call->in, bytes) &&
        call->coefficients.data != call->in.data)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt_extend: `coefficients` and input overlap in memory and are not the same "
            "elements");
    return POOL_OK;
}

/* Spans of shards have no memory of their own. */
static pool_status check_host_overlaps(const struct ntt_extend_call *call)
{
    struct ntt_extend_call host = *call;
    pool_span *spans[] = {&host.in, &host.coefficients, &host.out};

    for (int i = 0; i < 3; i++)
        if (spans[i]->space == POOL_MEMORY_SHARDED)
            spans[i]->data = NULL;
    return check_overlaps(&host);
}

static pool_status check_spans(const struct ntt_extend_call *call, bool checks_data)
{
    const uint32_t log_size = call->job.log_size, log_points = log_size - call->job.log_blowup;
    pool_status status = check_span(call, &call->in, log_points, "input", checks_data);

    if (!status && call->operands.keeps_coefficients)
        status = check_span(call, &call->coefficients, log_points, "`coefficients`", checks_data);
    if (!status)
        status = check_span(call, &call->out, log_size, "output", checks_data);
    return status ? status : check_overlaps(call);
}

static void init_job(struct ntt_extend_call *call)
{
    const pool_ntt_extend_params *params = &call->params;
    const pool_field *field = params->domain->field;

    call->job = (struct ntt_extend_job){.words = field->words,
        .log_size = params->domain->log_size,
        .log_blowup = params->log_blowup,
        .batch = params->batch,
        .order = params->order,
        .layout = params->layout,
        .from_coefficients = params->from_coefficients,
        .tuning = params->domain->tuning};
    call->operands = (struct ntt_extend_operands){.element_bytes = field->bytes,
        .in_is_on_host = call->in.space == POOL_MEMORY_HOST,
        .out_is_on_host = call->out.space == POOL_MEMORY_HOST,
        .keeps_coefficients = call->coefficients.count != 0,
        .coefficients_are_on_host = call->coefficients.space == POOL_MEMORY_HOST,
        .out_begins_with_in = is_same_device_memory(&call->in, &call->out),
        .coefficients_are_in = is_same_device_memory(&call->in, &call->coefficients),
        .has_checks = call->exec.checks != 0};
}

static pool_status prepare(const char *name, const pool_ntt_extend_params *params,
    const pool_exec *exec, const pool_span *in, const pool_span *coefficients, const pool_span *out,
    struct ntt_extend_call *call)
{
    static const struct exec_rules rules = {.checks = POOL_CHECK_CANONICAL,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true,
        .has_devices = true,
        .has_async_devices = true};
    pool_status status = base_check_pointers(name, {"in", in}, {"out", out});

    memset(call, 0, sizeof(*call));
    if (!status)
        status = ntt_extend_params_read(name, params, &call->params);
    if (!status)
        status = exec_read(name, exec, &rules, &call->exec);
    if (!status && coefficients && call->params.from_coefficients)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `coefficients` must be NULL with `from_coefficients`", name);
    if (!status && coefficients && !coefficients->count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `coefficients` has no elements", name);
    if (status)
        return status;
    call->in = *in;
    call->out = *out;
    if (coefficients)
        call->coefficients = *coefficients;
    call->target.field = call->params.domain->field;
    init_job(call);
    return call->exec.device_count ? POOL_OK : exec_target_init(&call->target, &call->exec);
}

static pool_status plan_chunks(struct ntt_extend_call *call)
{
    const struct chip chip = chip_of(call->target.device);

    return ntt_extend_plan_chunks(
        &chip, &call->job, &call->operands, exec_limit(&call->exec), &call->chunks);
}

/* ---- public ---------------------------------------------------------------------------------- */

static pool_status open_workspace(struct ntt_extend_call *call, struct workspace *workspace)
{
    static const char name[] = "pool_ntt_extend";
    const uint64_t bytes = call->target.field->bytes;
    const struct workspace_span spans[] = {{&call->in, bytes, "input"},
        {&call->coefficients, bytes, "coefficients"}, {&call->out, bytes, "output"}};
    pool_status status =
        workspace_open(workspace, name, &call->exec, call->chunks.bytes, &call->target);

    return status ? status : workspace_check_spans(name, &call->exec, spans, 3);
}

static pool_status run_inside(struct ntt_extend_call *call)
{
    struct workspace workspace;
    pool_status status = check_spans(call, true);

    if (!status)
        status = plan_chunks(call);
    if (!status)
        status = open_workspace(call, &workspace);
    if (!status)
        status = find_columns_domain(&call->params, &call->columns_domain);
    return status ? status : ntt_extend_run_chunks(call);
}

static pool_status run_on_device(struct ntt_extend_call *call)
{
    struct device_operation operation;
    struct device_scope scope;
    pool_status status = device_enter(call->target.device, &scope);

    if (status)
        return status;
    device_operation_begin(
        &operation, call->target.device, "ntt", call->target.field->name, call->out.count);
    status = device_operation_end(&operation, run_inside(call));
    return device_leave(&scope, status);
}

pool_status ntt_extend_compute(const pool_ntt_extend_params *params, const pool_exec *exec,
    const struct ntt_extend_spans *spans, uint64_t first)
{
    struct ntt_extend_call call;
    pool_status status = prepare("pool_ntt_extend", params, exec, &spans->in,
        spans->coefficients.count ? &spans->coefficients : NULL, &spans->out, &call);

    call.first = first;
    return status ? status : run_on_device(&call);
}

/* The whole job's spans in host memory are checked as one device's; shards are, part by part. */
static pool_status check_job(struct ntt_extend_call *call, bool checks_data)
{
    const uint32_t log_size = call->job.log_size, log_points = log_size - call->job.log_blowup;
    const struct {
        const pool_span *span;
        uint32_t log_size;
        const char *what;
    } spans[] = {{&call->in, log_points, "input"}, {&call->out, log_size, "output"},
        {&call->coefficients, log_points, "`coefficients`"}};
    const int count = call->operands.keeps_coefficients ? 3 : 2;
    pool_status status = POOL_OK;

    for (int i = 0; i < count && !status; i++)
        status =
            spans[i].span->space == POOL_MEMORY_SHARDED
                ? check_count(call, spans[i].span, spans[i].log_size, spans[i].what)
                : check_span(call, spans[i].span, spans[i].log_size, spans[i].what, checks_data);
    return status ? status : check_host_overlaps(call);
}

static pool_status divide_call(const char *name, struct ntt_extend_call *call, bool has_data,
    struct ntt_extend_division *division)
{
    pool_status status;

    *division = (struct ntt_extend_division){.params = call->params,
        .exec = call->exec,
        .spans = {call->in, call->coefficients, call->out}};
    status = ntt_extend_divide(name, division);
    return status ? status : check_job(call, has_data);
}

pool_status ntt_extend_read_division(const char *name, const pool_ntt_extend_params *params,
    const pool_exec *exec, const struct ntt_extend_spans *spans, bool has_data,
    struct ntt_extend_division *division)
{
    struct ntt_extend_call call;
    pool_status status = prepare(name, params, exec, &spans->in,
        spans->coefficients.count ? &spans->coefficients : NULL, &spans->out, &call);

    return status ? status : divide_call(name, &call, has_data, division);
}

static pool_status run_on_devices(struct ntt_extend_call *call)
{
    struct ntt_extend_division division;
    pool_status status = divide_call("pool_ntt_extend", call, true, &division);

    return status ? status : ntt_extend_run_division(&division);
}

static pool_status ntt_extend_timed(void *const *a)
{
    return pool_ntt_extend(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_ntt_extend(const pool_ntt_extend_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *coefficients, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(ntt_extend_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(exec),
            TIMED_SPAN(in), TIMED_SPAN(coefficients), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    struct ntt_extend_call call;
    pool_status status = prepare("pool_ntt_extend", params, exec, in, coefficients, out, &call);

    if (status)
        return status;
    return call.exec.device_count ? run_on_devices(&call) : run_on_device(&call);
}

static pool_status forecast_on_devices(struct ntt_extend_call *call, uint64_t *bytes)
{
    struct ntt_extend_division division;
    pool_status status = divide_call("pool_ntt_extend_workspace", call, false, &division);

    return status ? status : ntt_extend_forecast_division(&division, bytes);
}

pool_status pool_ntt_extend_workspace(const pool_ntt_extend_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *coefficients, const pool_span *out, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct ntt_extend_call call;
    pool_status status;

    if (!bytes)
        return base_fail_null("pool_ntt_extend_workspace", "bytes");
    status = prepare("pool_ntt_extend_workspace", params, exec, in, coefficients, out, &call);
    if (status)
        return status;
    if (call.exec.device_count)
        return forecast_on_devices(&call, bytes);
    status = check_spans(&call, false);
    if (!status)
        status = plan_chunks(&call);
    if (!status)
        *bytes = call.chunks.bytes;
    return status;
}

static pool_status ntt_extend_warm_up_timed(void *const *a)
{
    return pool_ntt_extend_warm_up(a[0], a[1]);
}

pool_status pool_ntt_extend_warm_up(
    const pool_ntt_extend_params *given_params, const pool_exec *given)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(
            ntt_extend_warm_up_timed, NULL, TIMED_PARAMS(given_params), TIMED_EXEC(given));
    EXEC_SCOPE(given);
    pool_ntt_extend_params params;
    pool_ntt_domain *columns = NULL;
    pool_stream *stream = NULL;
    pool_kernel *kernel;
    pool_exec exec;
    pool_status status = ntt_extend_params_read("pool_ntt_extend_warm_up", given_params, &params);

    if (!status)
        status = exec_read_warm_up(__func__, given, &exec);
    if (!status)
        status = find_columns_domain(&params, &columns);
    if (!status)
        status = pool_stream_default(exec.device, &stream);
    if (!status)
        status = ntt_tables_warm_up(params.domain, params.log_blowup, stream, NTT_FORWARD_BIT);
    if (!status)
        status = exec_check_cancelled(__func__, &exec);
    if (!status && !params.from_coefficients)
        status = ntt_tables_warm_up(columns, 0, stream, NTT_INVERSE_BIT);
    if (!status && params.log_blowup)
        status = ntt_extend_kernel(exec.device, params.domain->field, &kernel);
    return status;
}
