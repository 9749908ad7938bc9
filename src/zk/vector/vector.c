/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, products and copies of vectors, element by element, with the factors that forms call for.
 */

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/operation/timeout.h"
#include "zk/vector/check.h"
#include "zk/vector/kernels.h"
#include "zk/vector/vector.h"

pool_status vector_read_exec(const pool_field *field, const pool_exec *exec,
    struct vector_call *call, enum pool_vector_operation operation, const char *name)
{
    static const struct exec_rules rules = {
        .checks = POOL_CHECK_CANONICAL, .has_async = true, .has_memory_limit = true};
    pool_status status = field ? POOL_OK : base_fail_null(name, "field");

    memset(call, 0, sizeof(*call));
    call->name = name;
    call->operation = operation;
    call->target.field = field;
    return status ? status : exec_read(name, exec, &rules, &call->exec);
}

pool_status vector_begin(const pool_field *field, const pool_exec *exec, struct vector_call *call,
    enum pool_vector_operation operation, const char *name)
{
    pool_status status = vector_read_exec(field, exec, call, operation, name);

    return status ? status : exec_target_init(&call->target, &call->exec);
}

static pool_status check_spans(
    const struct vector_call *call, const pool_span *in, const pool_span *out, int same_is_allowed)
{
    pool_status status = elements_check(&call->target, in, "argument");

    if (!status)
        status = elements_check(&call->target, out, "result");
    if (!status && in->count != out->count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the argument has %llu elements and the result %llu", (unsigned long long)in->count,
            (unsigned long long)out->count);
    if (!status)
        status = elements_check_overlap(call->target.field, in, out, same_is_allowed);
    return status;
}

pool_status vector_begin_unary(const pool_field *field, const pool_exec *exec,
    struct vector_call *call, const pool_span *a, const pool_span *out, int same_is_allowed,
    enum pool_vector_operation operation, const char *name)
{
    pool_status status = base_check_pointers(name, {"a", a}, {"out", out});

    if (status)
        return status;
    status = vector_begin(field, exec, call, operation, name);
    call->a = a;
    call->out = out;
    return status ? status : check_spans(call, a, out, same_is_allowed);
}

struct factors {
    CUdeviceptr a, b, out;
};

static pool_status combine(const struct exec_target *target, enum vector_op op, const pool_span *a,
    const pool_span *b, const pool_span *out, const struct factors *factors)
{
    uint32_t code = (uint32_t)op;
    struct vector_arg first = vector_arg_of(target->field, a),
                      second = vector_arg_of(target->field, b),
                      result = vector_arg_of(target->field, out);
    struct factors by = *factors;
    uint64_t count = out->count;
    void *arguments[] = {&code, &first, &second, &result, &by.a, &by.b, &by.out, &count};
    static const size_t sizes[] = {4, 16, 16, 16, 8, 8, 8, 8};
    struct module_launch launch = {.count = 8, .arguments = arguments, .sizes = sizes};

    return count ? vector_launch(target, "vector_apply", count, &launch) : POOL_OK;
}

pool_status vector_copy(
    const struct exec_target *target, const pool_span *from, const pool_span *to)
{
    const struct factors none = {0};

    return combine(target, VECTOR_COPY, from, from, to, &none);
}

/* Factors R^exponents[i], and `scalar` (may be NULL) in the last; 0 where a factor is 1. */
static pool_status make_factors(struct vector_call *call, const struct vector_exponents *powers,
    const uint64_t *scalar, struct factors *factors)
{
    const int exponents[3] = {powers->a, powers->b, powers->out};
    const pool_field *field = call->target.field;
    uint8_t packed[3 * POOL_FIELD_MAX_BYTES];
    CUdeviceptr address = 0;
    pool_status status;

    if (!exponents[0] && !exponents[1] && !exponents[2] && !scalar)
        return POOL_OK;
    for (size_t i = 0; i < 3; i++) {
        uint64_t value[FIELD_MAX_LIMBS];

        field_power_of_r(field, value, exponents[i]);
        if (i == 2 && scalar)
            field_mul(field, value, value, scalar);
        field_store_for_device(field, packed + i * field->bytes, value);
    }
    status = vector_upload_constants(call, packed, 3, &address);
    factors->a = exponents[0] ? address : 0;
    factors->b = exponents[1] ? address + field->bytes : 0;
    factors->out = exponents[2] || scalar ? address + 2 * field->bytes : 0;
    return status;
}

struct vector_exponents vector_factor_exponents(const struct vector_call *call)
{
    int a = (int)call->a->form, b = (int)call->b->form, out = (int)call->out->form;

    switch (call->operation) {
    case POOL_VECTOR_ADD:
    case POOL_VECTOR_SUB:
        return (struct vector_exponents){.a = out - a, .b = out - b};
    case POOL_VECTOR_MUL:
        return (struct vector_exponents){
            .out = out - a - b + field_device_degree(call->target.field)};
    default:
        return (struct vector_exponents){.out = out - a};
    }
}

static enum vector_op op_of(enum pool_vector_operation operation)
{
    return operation == POOL_VECTOR_ADD   ? VECTOR_ADD
           : operation == POOL_VECTOR_SUB ? VECTOR_SUB
           : operation == POOL_VECTOR_MUL ? VECTOR_MUL
                                          : VECTOR_COPY;
}

static pool_status apply(struct vector_call *call)
{
    const pool_span *a = &call->chunk->in[0], *out = &call->chunk->out;
    const pool_span *b = call->b == call->a ? a : &call->chunk->in[1];
    const struct vector_exponents exponents = vector_factor_exponents(call);
    struct factors factors = {0};
    pool_status status = make_factors(call, &exponents, call->user, &factors);

    return status ? status : combine(&call->target, op_of(call->operation), a, b, out, &factors);
}

static pool_status binary(const pool_field *field, const pool_exec *exec,
    enum pool_vector_operation operation, const pool_span *a, const pool_span *b,
    const pool_span *out, const char *name)
{
    struct vector_call call;
    pool_status status = base_check_pointers(name, {"a", a}, {"b", b}, {"out", out});

    if (status)
        return status;
    status = vector_begin(field, exec, &call, operation, name);
    if (!status)
        status = check_spans(&call, a, out, 1);
    if (!status)
        status = check_spans(&call, b, out, 1);
    call.a = a;
    call.b = b;
    call.out = out;
    call.compute = apply;
    return status ? status : vector_run(&call);
}

static pool_status vector_add_timed(void *const *a)
{
    return pool_vector_add(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_vector_add(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const pool_span *b, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_add_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_SPAN(a), TIMED_SPAN(b), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    return binary(field, exec, POOL_VECTOR_ADD, a, b, out, "pool_vector_add");
}

static pool_status vector_sub_timed(void *const *a)
{
    return pool_vector_sub(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_vector_sub(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const pool_span *b, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_sub_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_SPAN(a), TIMED_SPAN(b), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    return binary(field, exec, POOL_VECTOR_SUB, a, b, out, "pool_vector_sub");
}

static pool_status vector_mul_timed(void *const *a)
{
    return pool_vector_mul(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_vector_mul(const pool_field *field, const pool_exec *exec, const pool_span *a,
    const pool_span *b, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_mul_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_SPAN(a), TIMED_SPAN(b), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    return binary(field, exec, POOL_VECTOR_MUL, a, b, out, "pool_vector_mul");
}

pool_status vector_load_scalar(
    const pool_field *field, const void *packed, const char *name, uint64_t *limbs)
{
    memset(limbs, 0, FIELD_MAX_LIMBS * sizeof(*limbs));
    if (!packed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: the scalar must not be NULL", name);
    field_load(field, limbs, packed);
    if (!field_is_canonical(field, limbs))
        return base_fail(
            POOL_ERR_BAD_DATA, "%s: a number is not below the modulus of %s", name, field->name);
    field_to_montgomery(field, limbs, limbs);
    return POOL_OK;
}

static pool_status vector_scale_timed(void *const *a)
{
    return pool_vector_scale(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_vector_scale(const pool_field *field, const pool_exec *exec, const void *scalar,
    const pool_span *a, const pool_span *out)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(vector_scale_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(exec),
            TIMED_POINTER(scalar), TIMED_SPAN(a), TIMED_SPAN(out));
    EXEC_SCOPE(exec);
    uint64_t value[FIELD_MAX_LIMBS];
    struct vector_call call;
    pool_status status;

    status = base_check_pointers("pool_vector_scale", {"a", a}, {"out", out});
    if (status)
        return status;
    status = vector_begin(field, exec, &call, POOL_VECTOR_SCALE, "pool_vector_scale");
    if (!status)
        status = vector_load_scalar(call.target.field, scalar, "pool_vector_scale", value);
    if (!status)
        status = check_spans(&call, a, out, 1);
    call.a = call.b = a;
    call.out = out;
    call.compute = apply;
    call.user = value;
    return status ? status : vector_run(&call);
}

/* ---- forecasts ------------------------------------------------------------------------------- */

/* The spans that an operation has. */
static const struct {
    bool has_a, has_b, has_out;
} spans_of[] = {
    [POOL_VECTOR_ADD] = {true, true, true},
    [POOL_VECTOR_SUB] = {true, true, true},
    [POOL_VECTOR_MUL] = {true, true, true},
    [POOL_VECTOR_SCALE] = {true, false, true},
    [POOL_VECTOR_INVERSE] = {true, false, true},
    [POOL_VECTOR_BIT_REVERSE] = {true, false, true},
    [POOL_VECTOR_TRANSPOSE] = {true, false, true},
    [POOL_VECTOR_POWERS] = {false, false, true},
    [POOL_VECTOR_EVALUATE] = {true, false, false},
};

/* Sets *count to the elements of the first span that is checked. */
static pool_status check_forecast_span(const struct vector_call *call, const char *name,
    const pool_span *span, bool is_expected, uint64_t *count)
{
    const pool_field *field = call->target.field;
    const struct span_item item = {field->bytes, "elements", field->name};
    pool_status status;

    if (!span && is_expected)
        return base_fail_null(call->name, name);
    if (span && !is_expected)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` must be NULL; the operation %d does not have it", call->name, name,
            (int)call->operation);
    if (!span)
        return POOL_OK;
    status = span_check_shape(span, &item, name);
    if (!status && *count != UINT64_MAX && span->count != *count)
        status =
            base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `%s` has %llu elements and another span %llu",
                call->name, name, (unsigned long long)span->count, (unsigned long long)*count);
    *count = span->count;
    return status;
}

pool_status pool_vector_workspace(const pool_field *field, const pool_exec *exec,
    pool_vector_operation operation, const pool_span *a, const pool_span *b, const pool_span *out,
    uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    uint64_t count = UINT64_MAX;
    struct vector_call call;
    struct vector_plan plan;
    pool_status status = vector_read_exec(field, exec, &call, operation, __func__);

    if (!status)
        status = base_check_ranges(__func__, {"operation", operation, 0, POOL_VECTOR_EVALUATE});
    if (!status)
        status = check_forecast_span(&call, "a", a, spans_of[operation].has_a, &count);
    if (!status)
        status = check_forecast_span(&call, "b", b, spans_of[operation].has_b, &count);
    if (!status)
        status = check_forecast_span(&call, "out", out, spans_of[operation].has_out, &count);
    if (!status && !bytes)
        status = base_fail_null(__func__, "bytes");
    if (status)
        return status;
    call.a = a;
    call.b = operation == POOL_VECTOR_SCALE ? a : b;
    call.out = out;
    status = vector_plan_call(&call, &plan);
    if (!status)
        *bytes = plan.bytes;
    return status;
}

static pool_status vector_warm_up_timed(void *const *a)
{
    return pool_vector_warm_up(a[0], a[1]);
}

pool_status pool_vector_warm_up(const pool_field *field, const pool_exec *given)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(vector_warm_up_timed, NULL, TIMED_POINTER(field), TIMED_EXEC(given));
    EXEC_SCOPE(given);
    pool_exec exec;
    pool_status status;

    if (!field)
        return base_fail_null("pool_vector_warm_up", "field");
    status = exec_read_warm_up(__func__, given, &exec);
    return status ? status : vector_load_programs(exec.device, field);
}
