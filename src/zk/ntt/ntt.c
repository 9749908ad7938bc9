/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt: its arguments and its memory; run.c runs the chunks, devices.c has several devices.
 */
#include "zk/ntt/ntt.h"

#include "base/params.h"
#include "base/status.h"

static const struct base_struct ntt_params_type = BASE_STRUCT(pool_ntt_params);

void pool_ntt_params_init(pool_ntt_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static pool_status read_params(void *user)
{
    struct ntt_call *call = user;
    pool_ntt_params *params = &call->params;
    const char *name = call->frame.name;
    pool_status status = params->domain ? POOL_OK : base_fail_null(name, "params->domain");

    if (!status)
        status = base_check_ranges(name, {"direction", params->direction, 0, POOL_NTT_INVERSE},
            {"order", params->order, 0, POOL_NTT_RR},
            {"layout", params->layout, 0, POOL_NTT_COLUMNS}, {"coset", params->coset, 0, 1});
    if (!params->batch)
        params->batch = 1;
    return status;
}

static void set_job(void *user)
{
    struct ntt_call *call = user;
    const pool_ntt_params *params = &call->params;
    const pool_field *field = params->domain->field;
    bool is_inverse = params->direction == POOL_NTT_INVERSE;
    struct ntt_operands *operands = &call->operands;

    operation_set_elements(&call->frame, field, call->in->count);
    call->job = (struct ntt_job){.words = field->words,
        .log_size = params->domain->log_size,
        .batch = params->batch,
        .order = params->order,
        .layout = params->layout,
        .coset_in = params->coset && !is_inverse,
        .coset_out = params->coset && is_inverse,
        .tuning = params->domain->tuning};
    *operands = (struct ntt_operands){.element_bytes = field->bytes,
        .in_stride = span_stride(call->in, field->bytes),
        .in_is_on_host = call->in->space == POOL_MEMORY_HOST,
        .in_is_packed = elements_are_packed(field, call->in),
        .out_is_on_host = call->out->space == POOL_MEMORY_HOST,
        .out_is_packed = elements_are_packed(field, call->out),
        .has_checks = call->frame.exec.checks != 0};
    operands->is_in_place = !operands->in_is_on_host && operands->in_is_packed &&
                            !operands->out_is_on_host && operands->out_is_packed &&
                            call->in->data == call->out->data;
}

static pool_status check_count(
    const pool_ntt_params *params, const pool_span *span, const char *what)
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

static pool_status check_spans(void *user)
{
    const struct ntt_call *call = user;
    pool_status status = check_count(&call->params, call->in, "input");

    if (!status)
        status = check_count(&call->params, call->out, "output");
    return status ? status
                  : elements_check_overlap(call->frame.target.field, call->in, call->out, 1);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static pool_status plan_chunks(struct ntt_call *call, uint64_t limit)
{
    const struct chip chip = chip_of(call->frame.target.device);
    pool_status status = ntt_plan_chunks(&chip, &call->job, &call->operands, limit, &call->chunks);

    call->frame.memory.bytes = call->chunks.bytes;
    return status;
}

/* A workspace that is large enough takes all of the call's memory, so that the chunks are those of
 * a call without one. */
static bool takes_all(struct ntt_call *call, uint64_t limit)
{
    const struct chip chip = chip_of(call->frame.target.device);

    /* The smallest first, as a plan that exceeds the limit is a failure. */
    return !ntt_plan_smallest(&chip, &call->job, &call->operands, &call->chunks) &&
           call->chunks.bytes <= limit &&
           (call->chunks.rows == call->job.batch || !plan_chunks(call, limit)) &&
           operation_workspace_fits(&call->frame, call->chunks.bytes);
}

/* A smaller workspace takes the results of passes: all elements, packed. It is refused or not
 * whether this size of transform has a use for it or not. */
static pool_status plan(void *user, uint64_t limit)
{
    struct ntt_call *call = user;
    struct operation_memory *memory = &call->frame.memory;

    if (!call->frame.exec.workspace)
        return plan_chunks(call, limit);
    if (takes_all(call, limit)) {
        memory->bytes = call->frame.is_forecast ? 0 : call->chunks.bytes;
        return POOL_OK;
    }
    call->operands.has_workspace = true;
    memory->part_bytes = (call->job.batch << call->job.log_size) * call->frame.target.field->bytes;
    return plan_chunks(call, limit);
}

static const struct operation operation = {.counter = "ntt",
    .call_bytes = sizeof(struct ntt_call),
    .rules = {.checks = POOL_CHECK_CANONICAL,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true,
        .has_devices = true,
        .has_async_devices = true},
    .arguments = {{"params", offsetof(struct ntt_call, given), OPERATION_PARAMS,
                      .type = &ntt_params_type, .copy_at = offsetof(struct ntt_call, params)},
        {"in", offsetof(struct ntt_call, in), OPERATION_SPAN, .operand = "input"},
        {"out", offsetof(struct ntt_call, out), OPERATION_SPAN, .operand = "output"}},
    .forecasts_by_chip = true,
    .read = read_params,
    .prepare = set_job,
    .check = check_spans,
    .plan = plan,
    .run = ntt_call_run,
    .divide = ntt_divide,
    .part = ntt_part};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_ntt(
    const pool_ntt_params *params, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    struct ntt_call call = {
        .frame = OPERATION_CALL(&operation, exec), .given = params, .in = in, .out = out};

    return operation_run(&call.frame);
}

pool_status pool_ntt_workspace(const pool_ntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    struct ntt_call call = {
        .frame = OPERATION_CALL(&operation, exec), .given = params, .in = in, .out = out};

    return operation_forecast(&call.frame, bytes);
}
