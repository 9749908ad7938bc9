/* SPDX-License-Identifier: Apache-2.0 */
/* pool_ntt_extend: its arguments; extend_run.c runs the chunks. */
#include "zk/ntt/extend.h"

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"

static const struct base_struct ntt_extend_params_type = BASE_STRUCT(pool_ntt_extend_params);

void pool_ntt_extend_params_init(pool_ntt_extend_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static pool_status check_params(const char *call, pool_ntt_extend_params *params)
{
    pool_status status = params->domain ? POOL_OK : base_fail_null(call, "params->domain");

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

pool_status ntt_extend_params_read(
    const char *call, const pool_ntt_extend_params *given, pool_ntt_extend_params *params)
{
    pool_status status = base_struct_read(&ntt_extend_params_type, call, "params", given, params);

    return status ? status : check_params(call, params);
}

static pool_status read_params(void *user)
{
    struct ntt_extend_call *call = user;
    const char *name = call->frame.name;
    pool_status status = check_params(name, &call->params);

    if (!status && call->coefficients && call->params.from_coefficients)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `coefficients` must be NULL with `from_coefficients`", name);
    if (!status && call->coefficients && !call->coefficients->count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `coefficients` has no elements", name);
    return status;
}

static bool is_same_device_memory(const pool_span *a, const pool_span *b)
{
    return a->data && a->data == b->data && a->space == POOL_MEMORY_DEVICE &&
           b->space == POOL_MEMORY_DEVICE;
}

static void set_job(void *user)
{
    struct ntt_extend_call *call = user;
    const pool_ntt_extend_params *params = &call->params;
    const pool_field *field = params->domain->field;

    operation_set_elements(&call->frame, field, call->out->count);
    call->job = (struct ntt_extend_job){.words = field->words,
        .log_size = params->domain->log_size,
        .log_blowup = params->log_blowup,
        .batch = params->batch,
        .order = params->order,
        .layout = params->layout,
        .from_coefficients = params->from_coefficients,
        .tuning = params->domain->tuning};
    call->operands = (struct ntt_extend_operands){.element_bytes = field->bytes,
        .in_is_on_host = call->in->space == POOL_MEMORY_HOST,
        .out_is_on_host = call->out->space == POOL_MEMORY_HOST,
        .keeps_coefficients = call->coefficients != NULL,
        .coefficients_are_on_host =
            call->coefficients && call->coefficients->space == POOL_MEMORY_HOST,
        .out_begins_with_in = is_same_device_memory(call->in, call->out),
        .coefficients_are_in =
            call->coefficients && is_same_device_memory(call->in, call->coefficients),
        .has_checks = call->frame.exec.checks != 0};
}

static pool_status check_count(
    const struct ntt_extend_call *call, const pool_span *span, uint32_t log_size, const char *what)
{
    if (call->params.batch > UINT64_MAX >> log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %llu columns of 2^%u elements are too many", call->frame.name,
            (unsigned long long)call->params.batch, log_size);
    if (span->count == call->params.batch << log_size)
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: the %s has %llu elements: %llu columns of 2^%u have %llu", call->frame.name, what,
        (unsigned long long)span->count, (unsigned long long)call->params.batch, log_size,
        (unsigned long long)(call->params.batch << log_size));
}

static pool_status check_packed(
    const struct ntt_extend_call *call, const pool_span *span, const char *what)
{
    if (elements_are_packed(call->frame.target.field, span))
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: the %s at 0x%llx with a stride of %llu bytes is not packed and aligned",
        call->frame.name, what, (unsigned long long)(uintptr_t)span->data,
        (unsigned long long)span->stride);
}

static pool_status check_span(
    const struct ntt_extend_call *call, const pool_span *span, uint32_t log_size, const char *what)
{
    pool_status status = check_count(call, span, log_size, what);

    return status || span->space == POOL_MEMORY_SHARDED ? status : check_packed(call, span, what);
}

static pool_status check_overlaps(const struct ntt_extend_call *call)
{
    const uint64_t bytes = call->frame.target.field->bytes;

    if (spans_overlap(call->in, bytes, call->out, bytes) &&
        !is_same_device_memory(call->in, call->out))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: input and output overlap in memory, and the output does not begin "
            "with the input in device memory",
            call->frame.name);
    if (call->coefficients && spans_overlap(call->coefficients, bytes, call->out, bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `coefficients` and output overlap in memory", call->frame.name);
    if (call->coefficients && spans_overlap(call->coefficients, bytes, call->in, bytes) &&
        call->coefficients->data != call->in->data)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `coefficients` and input overlap in memory and are not the same "
            "elements",
            call->frame.name);
    return POOL_OK;
}

static pool_status check_spans(void *user)
{
    const struct ntt_extend_call *call = user;
    const uint32_t log_size = call->job.log_size, log_points = log_size - call->job.log_blowup;
    pool_status status = check_span(call, call->in, log_points, "input");

    if (!status && call->coefficients)
        status = check_span(call, call->coefficients, log_points, "`coefficients`");
    if (!status)
        status = check_span(call, call->out, log_size, "output");
    return status ? status : check_overlaps(call);
}

static pool_status plan(void *user, uint64_t limit)
{
    struct ntt_extend_call *call = user;
    const struct chip chip = chip_of(call->frame.target.device);
    pool_status status =
        ntt_extend_plan_chunks(&chip, &call->job, &call->operands, limit, &call->chunks);

    call->frame.memory.bytes = call->chunks.bytes;
    return status;
}

/* ---- several devices: columns ---------------------------------------------------------------- */

static pool_status divide(void *user, struct operation_division *division)
{
    const struct ntt_extend_call *call = user;
    const uint64_t column = UINT64_C(1) << call->job.log_size;
    pool_status status = operation_check_layout(
        division, call->params.layout != POOL_NTT_ROWS && call->params.batch > 1);

    division->per_unit[0] = division->per_unit[1] = column >> call->job.log_blowup;
    division->per_unit[2] = column;
    return status ? status : operation_divide_units(division, call->params.batch, "columns");
}

static bool make_part(const void *whole, const struct operation_division *division, uint32_t index,
    uint32_t number, void *user)
{
    struct ntt_extend_call *part = user;

    (void)whole;
    part->params.batch = operation_take_units(division, index, &part->frame);
    part->first = division->first[index];
    return !number && part->params.batch;
}

const struct operation ntt_extend_operation = {.counter = "ntt",
    .call_bytes = sizeof(struct ntt_extend_call),
    .rules = {.checks = POOL_CHECK_CANONICAL,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true,
        .has_devices = true,
        .has_async_devices = true},
    .arguments = {{"params", offsetof(struct ntt_extend_call, given), OPERATION_PARAMS,
                      .type = &ntt_extend_params_type,
                      .copy_at = offsetof(struct ntt_extend_call, params)},
        {"in", offsetof(struct ntt_extend_call, in), OPERATION_SPAN, .operand = "input"},
        {"coefficients", offsetof(struct ntt_extend_call, coefficients), OPERATION_SPAN, true,
            .operand = "`coefficients`"},
        {"out", offsetof(struct ntt_extend_call, out), OPERATION_SPAN, .operand = "output"}},
    .forecasts_by_chip = true,
    .read = read_params,
    .prepare = set_job,
    .check = check_spans,
    .plan = plan,
    .run = ntt_extend_run,
    .divide = divide,
    .part = make_part};

/* ---- public ---------------------------------------------------------------------------------- */

#define EXTEND_CALL                                                                                \
    {                                                                                              \
        .frame = OPERATION_CALL(&ntt_extend_operation, exec), .given = params, .in = in,           \
        .coefficients = coefficients, .out = out                                                   \
    }

pool_status pool_ntt_extend(const pool_ntt_extend_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *coefficients, const pool_span *out)
{
    struct ntt_extend_call call = EXTEND_CALL;

    return operation_run(&call.frame);
}

pool_status pool_ntt_extend_workspace(const pool_ntt_extend_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *coefficients, const pool_span *out, uint64_t *bytes)
{
    struct ntt_extend_call call = EXTEND_CALL;

    return operation_forecast(&call.frame, bytes);
}

static pool_status load(void *user)
{
    struct ntt_extend_call *call = user;
    const pool_ntt_extend_params *params = &call->params;
    pool_device *device = call->frame.exec.device;
    pool_stream *stream = NULL;
    pool_kernel *kernel;
    pool_status status = ntt_extend_find_columns(call);

    if (!status)
        status = pool_stream_default(device, &stream);
    if (!status)
        status = ntt_tables_warm_up(params->domain, params->log_blowup, stream, NTT_FORWARD_BIT);
    if (!status)
        status = exec_check_cancelled(call->frame.name, &call->frame.exec);
    if (!status && !params->from_coefficients)
        status = ntt_tables_warm_up(call->columns_domain, 0, stream, NTT_INVERSE_BIT);
    if (!status && params->log_blowup)
        status = ntt_extend_kernel(device, params->domain->field, &kernel);
    return status;
}

pool_status pool_ntt_extend_warm_up(const pool_ntt_extend_params *params, const pool_exec *exec)
{
    static const struct operation operation = {.call_bytes = sizeof(struct ntt_extend_call),
        .rules = {.is_warm_up = true},
        .arguments = {{"params", offsetof(struct ntt_extend_call, given), OPERATION_PARAMS,
            .type = &ntt_extend_params_type, .copy_at = offsetof(struct ntt_extend_call, params)}},
        .read = read_params,
        .run = load};
    struct ntt_extend_call call = {.frame = OPERATION_CALL(&operation, exec), .given = params};

    return operation_run(&call.frame);
}
