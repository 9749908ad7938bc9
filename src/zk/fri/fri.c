/* SPDX-License-Identifier: Apache-2.0 */
/* pool_fri_fold, pool_matrix_bit_reverse and the warm-up: their arguments. run.c enqueues. */
#include "zk/fri/fri.h"

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/commit.h"
#include "zk/vector/vector.h"

/* ---- folds ----------------------------------------------------------------------------------- */

static const struct base_struct fold_params_type = BASE_STRUCT(pool_fri_fold_params);

void pool_fri_fold_params_init(pool_fri_fold_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status check_params(const char *call, const pool_fri_fold_params *params)
{
    uint32_t log_size;
    pool_status status = fri_check_field(call, params->field, params->domain);

    if (!status && !params->domain)
        status = base_fail_null(call, "params->domain");
    if (!status && !params->challenge)
        status = base_fail_null(call, "params->challenge");
    if (status)
        return status;
    log_size = params->domain->log_size;
    status = base_check_ranges(call, {"log_arity", params->log_arity, 1, FRI_MAX_LOG_ARITY},
        {"log_folded", params->log_folded, 0, log_size},
        {"is_bit_reversed", params->is_bit_reversed, 0, 1},
        {"on_subgroup", params->on_subgroup, 0, 1});
    if (!status && params->log_arity > log_size - params->log_folded)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: 2^%u values cannot be folded by 2^%u",
            call, (unsigned)(log_size - params->log_folded), (unsigned)params->log_arity);
    return status;
}

/* The kernel's constants; the fields of the call's memory are set per chunk. */
static pool_status store_constants(struct fri_fold_call *call)
{
    const pool_fri_fold_params *params = &call->params;
    const pool_field *field = params->field, *base = field->base;
    struct fri_fold_args *args = &call->args;
    uint64_t value[FIELD_MAX_LIMBS], step[FIELD_MAX_LIMBS];
    pool_status status = vector_load_scalar(field, params->challenge, call->frame.name, value);

    if (status)
        return status;
    for (uint32_t i = 0; i < params->log_arity; i++) {
        field_store_for_device(field, args->challenge[i], value);
        field_sqr(field, value, value);
    }
    fri_store_points(params->domain, params->log_folded, params->on_subgroup, &args->points);
    field_square_times(
        base, step, params->domain->root[POOL_NTT_INVERSE], params->log_folded + call->log_count);
    field_set_one(base, value);
    for (uint32_t i = 0; i < 4; i++) {
        field_store_for_device(base, args->zeta[i], value);
        field_mul(base, value, value, step);
    }
    field_set_one(base, value);
    for (uint32_t i = 0; i < params->log_arity; i++)
        field_halve(base, value, value);
    field_store_for_device(base, args->scale, value);
    args->log_count = call->log_count;
    args->is_reversed = (unsigned)params->is_bit_reversed;
    return POOL_OK;
}

static pool_status read_fold(void *user)
{
    struct fri_fold_call *call = user;
    uint32_t log_in;
    pool_status status = check_params(call->frame.name, &call->params);

    if (status)
        return status;
    log_in = call->params.domain->log_size - call->params.log_folded;
    call->log_count = log_in - call->params.log_arity;
    call->item_bytes = (uint64_t)call->params.field->bytes << call->params.log_arity;
    return store_constants(call);
}

static void prepare_fold(void *user)
{
    struct fri_fold_call *call = user;

    operation_set_elements(&call->frame, call->params.field, UINT64_C(1) << call->log_count);
}

static pool_status check_span(
    const struct fri_fold_call *call, const pool_span *span, uint32_t log_count, const char *name)
{
    const uint64_t bytes = call->params.field->bytes;

    if (span->count != UINT64_C(1) << log_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `%s` has %llu elements, not 2^%u",
            call->frame.name, name, (unsigned long long)span->count, (unsigned)log_count);
    return span_stride(span, bytes) == bytes
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: the elements of `%s` are not packed",
                     call->frame.name, name);
}

static pool_status check_fold(void *user)
{
    const struct fri_fold_call *call = user;
    pool_status status = check_span(call, call->in, call->log_count + call->params.log_arity, "in");

    if (!status)
        status = check_span(call, call->out, call->log_count, "out");
    if (!status && call->in->form != call->out->form)
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `in` and `out` have different forms", call->frame.name);
    return status ? status : elements_check_overlap(call->params.field, call->in, call->out, 0);
}

static const struct operation fold_operation = {.counter = "fold",
    .call_bytes = sizeof(struct fri_fold_call),
    .rules = {.checks = POOL_CHECK_CANONICAL, .has_async = true, .has_memory_limit = true},
    .arguments = {{"params", offsetof(struct fri_fold_call, given), OPERATION_PARAMS,
                      .type = &fold_params_type, .copy_at = offsetof(struct fri_fold_call, params)},
        {"in", offsetof(struct fri_fold_call, in), OPERATION_SPAN, .operand = "values"},
        {"out", offsetof(struct fri_fold_call, out), OPERATION_SPAN, .operand = "result"}},
    .read = read_fold,
    .prepare = prepare_fold,
    .check = check_fold,
    .plan = fri_plan_fold,
    .run = fri_run_fold};

pool_status pool_fri_fold(const pool_fri_fold_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out)
{
    struct fri_fold_call call = {
        .frame = OPERATION_CALL(&fold_operation, exec), .given = params, .in = in, .out = out};

    return operation_run(&call.frame);
}

pool_status pool_fri_fold_workspace(const pool_fri_fold_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    struct fri_fold_call call = {
        .frame = OPERATION_CALL(&fold_operation, exec), .given = params, .in = in, .out = out};

    return operation_forecast(&call.frame, bytes);
}

/* ---- rows in bit-reversed order -------------------------------------------------------------- */

static pool_status check_matrix(
    const struct fri_rows_call *call, const pool_matrix *matrix, const char *what)
{
    pool_status status =
        base_check_ranges(call->frame.name, {"layout", matrix->layout, 0, POOL_MATRIX_ROWS});

    if (status)
        return status;
    if (!base_is_power_of_two(matrix->height) || matrix->height >> COMMIT_MAX_LOG_HEIGHT > 1 ||
        !matrix->width || matrix->span.count != commit_item_count(matrix) ||
        matrix->span.space != POOL_MEMORY_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the %s must be in device memory, with a height that is a power of two and one "
            "item per row or column",
            call->frame.name, what);
    return POOL_OK;
}

static pool_status read_rows(void *user)
{
    const struct fri_rows_call *call = user;
    pool_status status = check_matrix(call, call->in, "argument");

    return status ? status : check_matrix(call, call->out, "result");
}

static void prepare_rows(void *user)
{
    struct fri_rows_call *call = user;

    operation_set_elements(&call->frame, call->field, call->in->height);
    call->frame.item[0] = commit_item_of(call->field, call->in);
    call->frame.item[1] = commit_item_of(call->field, call->out);
}

static pool_status check_rows(void *user)
{
    const struct fri_rows_call *call = user;
    const pool_matrix *in = call->in, *out = call->out;
    const uint64_t bytes = call->frame.item[0].bytes;
    const bool is_same = in->span.data == out->span.data &&
                         span_stride(&in->span, bytes) == span_stride(&out->span, bytes);

    if (in->height != out->height || in->width != out->width || in->layout != out->layout ||
        in->span.form != out->span.form)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the matrices differ in height, width, layout or form", call->frame.name);
    if (!is_same && spans_overlap(&in->span, bytes, &out->span, bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: the matrices overlap", call->frame.name);
    return POOL_OK;
}

pool_status pool_matrix_bit_reverse(
    const pool_field *field, const pool_exec *exec, const pool_matrix *in, const pool_matrix *out)
{
    static const struct operation operation = {.counter = "vector",
        .call_bytes = sizeof(struct fri_rows_call),
        .rules = {.has_async = true},
        .arguments = {{.name = "field", .at = offsetof(struct fri_rows_call, field)},
            {"in", offsetof(struct fri_rows_call, in), OPERATION_MATRIX, .operand = "argument"},
            {"out", offsetof(struct fri_rows_call, out), OPERATION_MATRIX, .operand = "result"}},
        .read = read_rows,
        .prepare = prepare_rows,
        .check = check_rows,
        .run = fri_run_rows};
    struct fri_rows_call call = {
        .frame = OPERATION_CALL(&operation, exec), .field = field, .in = in, .out = out};

    return operation_run(&call.frame);
}

/* ---- warm-up --------------------------------------------------------------------------------- */

static pool_status load(struct operation_call *call, const void *field)
{
    pool_status status = fri_check_field(call->name, field, NULL);

    if (!status)
        status = fri_load_programs(call->exec.device, field);
    return status ? status : pool_vector_warm_up(field, &call->exec);
}

pool_status pool_fri_warm_up(const pool_field *field, const pool_exec *exec)
{
    return operation_warm_up(__func__, exec, "params->field", field, load);
}
