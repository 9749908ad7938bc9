/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, products and copies, element by element, with the factors that forms call for. */
#include "zk/vector/vector.h"

#include <string.h>

#include "base/status.h"

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
    unsigned first_block = 0;
    void *arguments[] = {
        &code, &first, &second, &result, &by.a, &by.b, &by.out, &count, &first_block};
    static const size_t sizes[] = {4, 16, 16, 16, 8, 8, 8, 8, 4};
    struct module_launch launch = {.count = 9,
        .arguments = arguments,
        .sizes = sizes,
        .seconds = vector_seconds(target, count, 4, 3),
        .first_block = &first_block};

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
    const pool_field *field = call->frame.target.field;
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
            .out = out - a - b + field_device_degree(call->frame.target.field)};
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

pool_status vector_compute_elements(struct vector_call *call)
{
    const pool_span *a = &call->chunk->in[0], *out = &call->chunk->out;
    const pool_span *b = call->b == call->a ? a : &call->chunk->in[1];
    const struct vector_exponents exponents = vector_factor_exponents(call);
    struct factors factors = {0};
    pool_status status = make_factors(
        call, &exponents, call->function->has & VECTOR_SCALAR ? call->number : NULL, &factors);

    return status ? status
                  : combine(&call->frame.target, op_of(call->operation), a, b, out, &factors);
}
