/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt: validation; run.c runs the chunks.
 */
#include "zk/ntt/ntt.h"

#include <string.h>

#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/counters.h"
#include "zk/operation/timeout.h"
#include "zk/operation/workspace.h"

static const struct base_struct ntt_params_type = BASE_STRUCT(pool_ntt_params);

void pool_ntt_params_init(pool_ntt_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

const struct exec_rules ntt_exec_rules = {.checks = POOL_CHECK_CANONICAL,
    .has_async = true,
    .has_workspace = true,
    .has_memory_limit = true,
    .has_devices = true,
    .has_async_devices = true};

static pool_status read_params(const char *call, const pool_ntt_params *given,
    const pool_exec *given_exec, pool_ntt_params *params, pool_exec *exec)
{
    pool_status status = base_struct_read(&ntt_params_type, call, "params", given, params);

    if (!status && !params->domain)
        status = base_fail_null(call, "params->domain");
    if (!status)
        status = base_check_ranges(call, {"direction", params->direction, 0, POOL_NTT_INVERSE},
            {"order", params->order, 0, POOL_NTT_RR},
            {"layout", params->layout, 0, POOL_NTT_COLUMNS}, {"coset", params->coset, 0, 1});
    if (!status)
        status = exec_read(call, given_exec, &ntt_exec_rules, exec);
    if (!params->batch)
        params->batch = 1;
    return status;
}

pool_status ntt_check_count(const pool_ntt_params *params, const pool_span *span, const char *what)
{
    uint32_t log_size = params->domain->log_size;

    if (params->batch > UINT64_MAX >> log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu transforms of 2^%u points are too many",
            (unsigned long long)params->batch, log_size);
    if (span->count != params->batch << log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the %s has %llu elements: %llu transforms of 2^%u points have %llu", what,
            (unsigned long long)span->count, (unsigned long long)params->batch, log_size,
            (unsigned long long)(params->batch << log_size));
    return POOL_OK;
}

static pool_status check_counts(const struct ntt_call *call)
{
    pool_status status = ntt_check_count(&call->params, &call->in, "input");

    if (!status)
        status = ntt_check_count(&call->params, &call->out, "output");
    if (!status)
        status = elements_check_overlap(call->target.field, &call->in, &call->out, 1);
    return status;
}

static pool_status check_spans(const struct ntt_call *call)
{
    bool is_same = elements_are_same(call->target.field, &call->in, &call->out) &&
                   call->in.form == call->out.form;
    pool_status status = elements_check(&call->target, &call->in, "input");

    if (!status && !is_same)
        status = elements_check(&call->target, &call->out, "output");
    return status ? status : check_counts(call);
}

/* For forecasts: not the data. */
static pool_status check_shapes(const struct ntt_call *call)
{
    const pool_field *field = call->target.field;
    const struct span_item item = {field->bytes, "elements", field->name};
    pool_status status = span_check_shape(&call->in, &item, "input");

    if (!status)
        status = span_check_shape(&call->out, &item, "output");
    return status ? status : check_counts(call);
}

static void init_job(struct ntt_call *call)
{
    const pool_ntt_params *params = &call->params;
    const pool_field *field = call->target.field;
    bool is_inverse = params->direction == POOL_NTT_INVERSE;
    struct ntt_operands *operands = &call->operands;

    call->job = (struct ntt_job){.words = field->words,
        .log_size = params->domain->log_size,
        .batch = params->batch,
        .order = params->order,
        .layout = params->layout,
        .coset_in = params->coset && !is_inverse,
        .coset_out = params->coset && is_inverse,
        .tuning = params->domain->tuning};
    *operands = (struct ntt_operands){.element_bytes = field->bytes,
        .in_stride = span_stride(&call->in, field->bytes),
        .in_is_on_host = call->in.space == POOL_MEMORY_HOST,
        .in_is_packed = elements_are_packed(field, &call->in),
        .out_is_on_host = call->out.space == POOL_MEMORY_HOST,
        .out_is_packed = elements_are_packed(field, &call->out),
        .has_workspace = call->exec.workspace != NULL,
        .has_checks = call->exec.checks != 0};
    operands->is_in_place = !operands->in_is_on_host && operands->in_is_packed &&
                            !operands->out_is_on_host && operands->out_is_packed &&
                            call->in.data == call->out.data;
}

static pool_status prepare(const char *name, const pool_ntt_params *given, const pool_exec *exec,
    const pool_span *in, const pool_span *out, struct ntt_call *call)
{
    pool_status status = base_check_pointers(name, {"in", in}, {"out", out});

    memset(call, 0, sizeof(*call));
    if (!status)
        status = read_params(name, given, exec, &call->params, &call->exec);
    if (status)
        return status;
    call->in = *in;
    call->out = *out;
    call->target.field = call->params.domain->field;
    call->job.log_size = call->params.domain->log_size;
    return call->exec.device_count ? POOL_OK : exec_target_init(&call->target, &call->exec);
}

static pool_status plan_chunks(const struct ntt_call *call, struct ntt_chunks *chunks)
{
    const struct chip chip = chip_of(call->target.device);

    return ntt_plan_chunks(&chip, &call->job, &call->operands, exec_limit(&call->exec), chunks);
}

/* A workspace that is large enough takes all of the call's memory, so that the chunks, which are
 * written then, are those of a call without one. Else it takes the results of passes. */
static bool takes_all(struct ntt_call *call, struct ntt_chunks *chunks)
{
    const struct chip chip = chip_of(call->target.device);

    if (!call->exec.workspace)
        return false;
    call->operands.has_workspace = false;
    /* The smallest first, as a plan that exceeds the limit is a failure. */
    if (!ntt_plan_smallest(&chip, &call->job, &call->operands, chunks) &&
        chunks->bytes <= exec_limit(&call->exec) &&
        (chunks->rows == call->job.batch || !plan_chunks(call, chunks)) &&
        workspace_fits(&call->exec, chunks->bytes))
        return true;
    call->operands.has_workspace = true;
    return false;
}

/* What a workspace of the caller's has to have for the results of passes: all elements, packed. */
static uint64_t workspace_bytes(const struct ntt_call *call)
{
    return (call->job.batch << call->job.log_size) * call->target.field->bytes;
}

/* Refused or not whether this size of transform has a use for it or not. `is_whole`: it has been
 * compared with the call's memory. */
static pool_status check_workspace(const struct ntt_call *call, bool is_whole)
{
    pool_buffer *given = call->exec.workspace;
    const uint64_t bytes = is_whole ? 0 : workspace_bytes(call);
    CUdeviceptr address = 0;
    pool_status status;

    if (!given)
        return POOL_OK;
    status = pool_buffer_address(given, &address);
    if (status)
        return status;
    if (pool_buffer_device(given) != call->target.device)
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_ntt: `workspace` is memory of device %d, not %d",
            pool_device_ordinal(pool_buffer_device(given)),
            pool_device_ordinal(call->target.device));
    if (pool_buffer_bytes(given) < bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: `workspace` has %llu bytes; the results of passes need %llu",
            (unsigned long long)pool_buffer_bytes(given), (unsigned long long)bytes);
    if (address % 16)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: `workspace` is at 0x%llx, which is no multiple of 16",
            (unsigned long long)address);
    status =
        workspace_check_overlap("pool_ntt", given, &call->in, call->target.field->bytes, "input");
    if (!status)
        status = workspace_check_overlap(
            "pool_ntt", given, &call->out, call->target.field->bytes, "output");
    return status;
}

/* One binding for all the calls below: each of them then finds the context current. */
static pool_status run_inside(struct ntt_call *call)
{
    struct workspace workspace;
    struct ntt_chunks chunks;
    bool is_whole;
    pool_status status = check_spans(call);

    if (status)
        return status;
    init_job(call);
    is_whole = takes_all(call, &chunks);
    status = check_workspace(call, is_whole);
    if (!status && !is_whole)
        status = plan_chunks(call, &chunks);
    if (!status && is_whole)
        status = workspace_open(&workspace, "pool_ntt", &call->exec, chunks.bytes, &call->target);
    return status ? status : ntt_call_run(call, &chunks);
}

static pool_status run_on_device(struct ntt_call *call)
{
    struct device_operation operation;
    struct device_scope scope;
    pool_status status = device_enter(call->target.device, &scope);

    if (status)
        return status;
    device_operation_begin(
        &operation, call->target.device, "ntt", call->target.field->name, call->in.count);
    status = device_operation_end(&operation, run_inside(call));
    return device_leave(&scope, status);
}

pool_status ntt_compute(const pool_ntt_params *params, const pool_exec *exec, const pool_span *in,
    const pool_span *out, uint64_t first)
{
    struct ntt_call call;
    pool_status status = prepare("pool_ntt", params, exec, in, out, &call);

    call.first = first;
    return status ? status : run_on_device(&call);
}

static pool_status ntt_timed(void *const *a)
{
    return pool_ntt(a[0], a[1], a[2], a[3]);
}

pool_status pool_ntt(
    const pool_ntt_params *params, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(ntt_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(exec), TIMED_SPAN(in),
            TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    struct ntt_call call;
    pool_status status = prepare("pool_ntt", params, exec, in, out, &call);

    if (status)
        return status;
    return call.exec.device_count ? ntt_run_on_devices(&call) : run_on_device(&call);
}

pool_status pool_ntt_workspace(const pool_ntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct ntt_chunks chunks;
    struct ntt_call call;
    pool_status status;

    if (!bytes)
        return base_fail_null("pool_ntt_workspace", "bytes");
    status = prepare("pool_ntt_workspace", params, exec, in, out, &call);
    if (!status && call.exec.device_count)
        return ntt_workspace_on_devices(&call, bytes);
    if (!status)
        status = check_shapes(&call);
    if (status)
        return status;
    init_job(&call);
    if (takes_all(&call, &chunks))
        chunks.bytes = 0;
    else
        status = plan_chunks(&call, &chunks);
    if (!status)
        *bytes = chunks.bytes;
    return status;
}

pool_status ntt_forecast(const pool_ntt_params *params, const pool_exec *exec, const pool_span *in,
    const pool_span *out, uint64_t *bytes)
{
    struct ntt_chunks chunks;
    struct ntt_call call;
    pool_status status = prepare("pool_ntt_workspace", params, exec, in, out, &call);

    if (!status)
        status = check_shapes(&call);
    if (status)
        return status;
    init_job(&call);
    call.operands.has_workspace = false;
    status = plan_chunks(&call, &chunks);
    if (!status)
        *bytes = chunks.bytes;
    return status;
}
