/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_matrix_evaluate: for each point, the factors of the columns' elements, which all columns
 * share, and the columns' products with them.
 */
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/commit.h"
#include "zk/fri/fri.h"
#include "zk/vector/vector.h"

enum { MAX_POINTS = 64 };

static const struct base_struct evaluate_params_type = BASE_STRUCT(pool_matrix_evaluate_params);

void pool_matrix_evaluate_params_init(pool_matrix_evaluate_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- the arithmetic of the host -------------------------------------------------------------- */

/* ((z / s)^N - 1) / N; 0 for a point of the domain. */
static void common_factor(const struct fri_evaluation *call, const uint64_t *z, uint64_t *factor)
{
    const pool_field *field = call->params.field, *base = field->base;
    const pool_ntt_domain *domain = call->params.domain;
    uint64_t inverse[FIELD_MAX_LIMBS] = {0}, one[FIELD_MAX_LIMBS], size[FIELD_MAX_LIMBS] = {0};

    field_set_one(field, one);
    inverse[0] = call->params.on_subgroup ? base->one[0] : domain->coset[POOL_NTT_INVERSE][0];
    field_mul(field, factor, z, inverse);
    field_square_times(field, factor, factor, domain->log_size);
    field_sub(field, factor, factor, one);
    size[0] = domain->inverse_size[0];
    field_mul(field, factor, factor, size);
}

pool_status fri_load_point(
    const struct fri_evaluation *call, uint32_t index, uint64_t *z, uint64_t *factor)
{
    const pool_field *field = call->params.field;
    pool_status status =
        vector_load_scalar(field, call->points + (size_t)index * field->bytes, call->frame.name, z);

    if (status)
        return status;
    field_set_one(field, factor);
    if (!call->params.domain)
        return POOL_OK;
    common_factor(call, z, factor);
    return field_is_zero(field, factor)
               ? base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: point %u is in the domain",
                     call->frame.name, (unsigned)index)
               : POOL_OK;
}

void fri_store_values(const struct fri_evaluation *call, uint32_t index, const uint64_t *factor)
{
    const pool_field *field = call->params.field;
    const unsigned char *from = call->partial;
    unsigned char *to = call->values + (size_t)index * call->matrix->width * field->bytes;

    for (uint32_t c = 0; c < call->matrix->width; c++, to += field->bytes) {
        uint64_t sum[FIELD_MAX_LIMBS] = {0}, part[FIELD_MAX_LIMBS] = {0};

        for (uint64_t s = 0; s < call->segments; s++, from += field->bytes) {
            field_load(field, part, from);
            field_add(field, sum, sum, part);
        }
        field_mul(field, sum, sum, factor); /* a product with a Montgomery form keeps the form */
        if (call->matrix->span.form == POOL_FORM_MONTGOMERY)
            field_from_montgomery(field, sum, sum);
        field_store(field, to, sum);
    }
}

/* ---- arguments ------------------------------------------------------------------------------- */

static pool_status check_matrix(const struct fri_evaluation *call)
{
    const pool_matrix *matrix = call->matrix;
    const pool_ntt_domain *domain = call->params.domain;
    pool_status status =
        base_check_ranges(call->frame.name, {"layout", matrix->layout, 0, POOL_MATRIX_ROWS});

    if (status)
        return status;
    if (!base_is_power_of_two(matrix->height) || matrix->height >> POOL_NTT_MAX_LOG_SIZE > 1 ||
        !matrix->width || matrix->span.count != commit_item_count(matrix))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the matrix must have a height that is a power of two and one item per row or "
            "column",
            call->frame.name);
    if (domain && matrix->height != UINT64_C(1) << domain->log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the matrix has %llu rows and the domain 2^%u points", call->frame.name,
            (unsigned long long)matrix->height, (unsigned)domain->log_size);
    return POOL_OK;
}

static pool_status read_evaluation(void *user)
{
    struct fri_evaluation *call = user;
    const char *name = call->frame.name;
    uint64_t z[FIELD_MAX_LIMBS], factor[FIELD_MAX_LIMBS];
    pool_status status = fri_check_field(name, call->params.field, call->params.domain);

    if (!status)
        status = base_check_ranges(name,
            {"is_bit_reversed", call->params.is_bit_reversed, 0, call->params.domain != NULL},
            {"on_subgroup", call->params.on_subgroup, 0, call->params.domain != NULL},
            {"count", call->count, 1, MAX_POINTS});
    if (!status)
        status = check_matrix(call);
    for (uint32_t i = 0; i < call->count && !call->frame.is_forecast && !status; i++)
        status = fri_load_point(call, i, z, factor);
    return status;
}

static void prepare_evaluation(void *user)
{
    struct fri_evaluation *call = user;

    operation_set_elements(&call->frame, call->params.field, call->matrix->height);
    call->frame.item[0] = commit_item_of(call->params.field->base, call->matrix);
}

static const struct operation operation = {.counter = "evaluate",
    .call_bytes = sizeof(struct fri_evaluation),
    .rules = {.checks = POOL_CHECK_CANONICAL, .has_memory_limit = true},
    .arguments = {{"params", offsetof(struct fri_evaluation, given), OPERATION_PARAMS,
                      .type = &evaluate_params_type,
                      .copy_at = offsetof(struct fri_evaluation, params)},
        {"matrix", offsetof(struct fri_evaluation, matrix), OPERATION_MATRIX, .operand = "matrix"},
        {"points", offsetof(struct fri_evaluation, points), .is_for_run = true},
        {"values", offsetof(struct fri_evaluation, values), .is_for_run = true}},
    .read = read_evaluation,
    .prepare = prepare_evaluation,
    .plan = fri_plan_evaluation,
    .run = fri_run_evaluation};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_matrix_evaluate(const pool_matrix_evaluate_params *params, const pool_exec *exec,
    const pool_matrix *matrix, const void *points, uint32_t count, void *values)
{
    struct fri_evaluation call = {.frame = OPERATION_CALL(&operation, exec),
        .given = params,
        .matrix = matrix,
        .points = points,
        .count = count,
        .values = values};

    return operation_run(&call.frame);
}

pool_status pool_matrix_evaluate_workspace(const pool_matrix_evaluate_params *params,
    const pool_exec *exec, const pool_matrix *matrix, uint32_t count, uint64_t *bytes)
{
    struct fri_evaluation call = {.frame = OPERATION_CALL(&operation, exec),
        .given = params,
        .matrix = matrix,
        .count = count};

    return operation_forecast(&call.frame, bytes);
}
