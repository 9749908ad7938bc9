/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of vectors: their arguments. apply.c and the files behind it compute, run.c runs.
 */
#include "zk/vector/vector.h"

#include <string.h>

#include "base/params.h"
#include "base/status.h"

enum {
    UNARY = VECTOR_A | VECTOR_OUT | VECTOR_IN_PLACE,
    BINARY = UNARY | VECTOR_B | VECTOR_CHUNKS,
};

static const struct vector_function functions[] = {
    [POOL_VECTOR_ADD] = {BINARY, NULL, vector_compute_elements},
    [POOL_VECTOR_SUB] = {BINARY, NULL, vector_compute_elements},
    [POOL_VECTOR_MUL] = {BINARY, NULL, vector_compute_elements},
    [POOL_VECTOR_SCALE] = {UNARY | VECTOR_SCALAR | VECTOR_CHUNKS, NULL, vector_compute_elements},
    [POOL_VECTOR_INVERSE] = {UNARY | VECTOR_CHUNKS, NULL, vector_compute_inverses},
    [POOL_VECTOR_BIT_REVERSE] = {UNARY, vector_check_reversal, vector_compute_reversal},
    [POOL_VECTOR_TRANSPOSE] = {VECTOR_A | VECTOR_OUT, vector_check_transposition,
        vector_compute_transposition},
    [POOL_VECTOR_POWERS] = {VECTOR_OUT | VECTOR_SCALAR | VECTOR_CHUNKS, NULL,
        vector_compute_powers},
    [POOL_VECTOR_EVALUATE] = {VECTOR_A | VECTOR_SCALAR | VECTOR_CHUNKS, NULL, vector_compute_value},
};

/* ---- arguments ------------------------------------------------------------------------------- */

static pool_status check_span(
    const struct vector_call *call, const char *name, const pool_span *span, bool is_expected)
{
    if (!span && is_expected)
        return base_fail_null(call->frame.name, name);
    if (span && !is_expected)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` must be NULL; the operation %d does not have it", call->frame.name, name,
            (int)call->operation);
    return POOL_OK;
}

static pool_status read_arguments(void *user)
{
    struct vector_call *call = user;
    const struct vector_function *function;
    pool_status status = base_check_ranges(
        call->frame.name, {"operation", call->operation, 0, POOL_VECTOR_EVALUATE});

    if (status)
        return status;
    function = call->function = &functions[call->operation];
    status = check_span(call, "a", call->a, function->has & VECTOR_A);
    if (!status)
        status = check_span(call, "b", call->b, function->has & VECTOR_B);
    if (!status)
        status = check_span(call, "out", call->out, function->has & VECTOR_OUT);
    if (!status && (function->has & VECTOR_SCALAR) && !call->frame.is_forecast)
        status = vector_load_scalar(call->field, call->scalar, call->frame.name, call->number);
    if (!status && call->operation == POOL_VECTOR_EVALUATE && !call->value &&
        !call->frame.is_forecast)
        status = base_fail_null(call->frame.name, "value");
    if (call->operation == POOL_VECTOR_SCALE)
        call->b = call->a;
    return status;
}

static void set_operands(void *user)
{
    struct vector_call *call = user;

    operation_set_elements(
        &call->frame, call->field, call->out ? call->out->count : call->a->count);
}

static pool_status check_with_result(const struct vector_call *call, const pool_span *in)
{
    if (!in || !call->out)
        return POOL_OK;
    if (in->count != call->out->count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `out` has %llu elements and another span %llu", call->frame.name,
            (unsigned long long)call->out->count, (unsigned long long)in->count);
    return elements_check_overlap(
        call->field, in, call->out, call->function->has & VECTOR_IN_PLACE);
}

static pool_status check_call(void *user)
{
    struct vector_call *call = user;
    pool_status status = check_with_result(call, call->a);

    if (!status)
        status = check_with_result(call, call->b);
    return status || !call->function->check || call->frame.is_forecast
               ? status
               : call->function->check(call);
}

static const struct operation operation = {.counter = "vector",
    .call_bytes = sizeof(struct vector_call),
    .rules = {.checks = POOL_CHECK_CANONICAL, .has_async = true, .has_memory_limit = true},
    .arguments = {{.name = "field", .at = offsetof(struct vector_call, field)},
        {"a", offsetof(struct vector_call, a), OPERATION_SPAN, true, .operand = "vector a"},
        {"b", offsetof(struct vector_call, b), OPERATION_SPAN, true, .operand = "vector b"},
        {"out", offsetof(struct vector_call, out), OPERATION_SPAN, true, .operand = "result"}},
    .read = read_arguments,
    .prepare = set_operands,
    .check = check_call,
    .plan = vector_plan_call,
    .run = vector_run};

#define VECTOR_CALL(its_operation, ...)                                                            \
    {                                                                                              \
        .frame = OPERATION_CALL(&operation, exec), .operation = (its_operation), .field = field,   \
        __VA_ARGS__                                                                                \
    }

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_vector_add(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const pool_span *b, const pool_span *out)
{
    struct vector_call call = VECTOR_CALL(POOL_VECTOR_ADD, .a = a, .b = b, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_sub(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const pool_span *b, const pool_span *out)
{
    struct vector_call call = VECTOR_CALL(POOL_VECTOR_SUB, .a = a, .b = b, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_mul(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const pool_span *b, const pool_span *out)
{
    struct vector_call call = VECTOR_CALL(POOL_VECTOR_MUL, .a = a, .b = b, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_scale(const pool_field *field, const pool_exec *exec, const void *scalar,
    const pool_span *a, const pool_span *out)
{
    struct vector_call call = VECTOR_CALL(POOL_VECTOR_SCALE, .scalar = scalar, .a = a, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_inverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out)
{
    struct vector_call call = VECTOR_CALL(POOL_VECTOR_INVERSE, .a = a, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_bit_reverse(
    const pool_field *field, const pool_exec *exec, const pool_span *a, const pool_span *out)
{
    struct vector_call call = VECTOR_CALL(POOL_VECTOR_BIT_REVERSE, .a = a, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_transpose(const pool_field *field, const pool_exec *exec, uint64_t rows,
    uint64_t columns, const pool_span *a, const pool_span *out)
{
    struct vector_call call =
        VECTOR_CALL(POOL_VECTOR_TRANSPOSE, .rows = rows, .columns = columns, .a = a, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_powers(
    const pool_field *field, const pool_exec *exec, const void *base, const pool_span *out)
{
    struct vector_call call = VECTOR_CALL(POOL_VECTOR_POWERS, .scalar = base, .out = out);

    return operation_run(&call.frame);
}

pool_status pool_vector_evaluate(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const void *point, void *value)
{
    struct vector_call call =
        VECTOR_CALL(POOL_VECTOR_EVALUATE, .scalar = point, .a = a, .value = value);

    return operation_run(&call.frame);
}

pool_status pool_vector_workspace(const pool_field *field, const pool_exec *exec,
    pool_vector_operation of, const pool_span *a, const pool_span *b, const pool_span *out,
    uint64_t *bytes)
{
    struct vector_call call = VECTOR_CALL(of, .a = a, .b = b, .out = out);

    return operation_forecast(&call.frame, bytes);
}

static pool_status load(struct operation_call *call, const void *field)
{
    return vector_load_programs(call->exec.device, field);
}

pool_status pool_vector_warm_up(const pool_field *field, const pool_exec *exec)
{
    return operation_warm_up(__func__, exec, "field", field, load);
}
