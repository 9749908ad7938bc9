/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures evaluations of a matrix's columns at a point outside their domain. The matrix is in
 * device memory and has the columns' values on the coset in bit-reversed order, as an extension
 * leaves them; the size is the number of rows, the batch that of the columns. The values are
 * compared with sums of powers of the point, from the coefficients, by plain arithmetic.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct evaluate_state {
    struct bench_small_field small; /* of the point */
    const pool_field *base;
    pool_ntt_params forward; /* from the coefficients to the matrix */
    pool_matrix_evaluate_params params;
    pool_matrix matrix;
    uint64_t count; /* elements */
    uint8_t *coefficients;
    uint8_t *values; /* one per column */
    uint8_t point[POOL_FIELD_MAX_BYTES];
    struct bench_array placed; /* the matrix */
};

static pool_status create_evaluate(struct bench_run *run)
{
    const struct bench_case *spec = &run->spec;
    struct evaluate_state *evaluate = bench_keep(run, 1, sizeof(*evaluate));
    pool_status status;

    run->state = evaluate;
    evaluate->count = spec->size * spec->batch;
    run->units = (double)evaluate->count;
    bench_small_field(spec->subject, &evaluate->small);
    evaluate->base = pool_field_base(evaluate->small.field);
    evaluate->coefficients = bench_keep(run, evaluate->count, evaluate->small.bytes);
    evaluate->values =
        bench_keep(run, spec->batch, pool_field_element_bytes(evaluate->small.field));
    evaluate->forward = (pool_ntt_params){.struct_size = sizeof(evaluate->forward),
        .coset = 1,
        .order = POOL_NTT_NR,
        .layout = spec->layout == POOL_MATRIX_ROWS ? POOL_NTT_COLUMNS : POOL_NTT_ROWS,
        .batch = spec->batch};
    evaluate->matrix =
        (pool_matrix){.height = spec->size, .width = (uint32_t)spec->batch, .layout = spec->layout};
    status = bench_create_domain(evaluate->base, spec->size, &evaluate->forward.domain);
    evaluate->params = (pool_matrix_evaluate_params){.struct_size = sizeof(evaluate->params),
        .field = evaluate->small.field,
        .domain = evaluate->forward.domain,
        .is_bit_reversed = 1};
    if (!status)
        status = bench_random_scalars(
            evaluate->base, 1, evaluate->count, POOL_FORM_STANDARD, evaluate->coefficients);
    return status ? status
                  : bench_random_scalars(
                        evaluate->small.field, 2, 1, POOL_FORM_STANDARD, evaluate->point);
}

static pool_status warm_up_evaluate(struct bench_run *run)
{
    const struct evaluate_state *evaluate = run->state;

    return pool_fri_warm_up(evaluate->small.field,
        &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

static pool_status upload_evaluate(struct bench_run *run)
{
    struct evaluate_state *evaluate = run->state;
    const pool_span in = {.data = evaluate->coefficients, .count = evaluate->count};
    pool_status status = bench_place(run,
        &(struct bench_items){.item_bytes = evaluate->small.bytes, .count = evaluate->count},
        &evaluate->placed);

    if (status)
        return status;
    evaluate->matrix.span = evaluate->placed.span;
    evaluate->matrix.span.count = evaluate->matrix.layout == POOL_MATRIX_ROWS
                                      ? evaluate->matrix.height
                                      : evaluate->matrix.width;
    return pool_ntt(&evaluate->forward, &run->exec, &in, &evaluate->placed.span);
}

static pool_status call_evaluate(struct bench_run *run)
{
    const struct evaluate_state *evaluate = run->state;

    return pool_matrix_evaluate(
        &evaluate->params, &run->exec, &evaluate->matrix, evaluate->point, 1, evaluate->values);
}

/* ---- the check ------------------------------------------------------------------------------- */

static pool_status check_matrix(const struct evaluate_state *evaluate, bool *is_correct)
{
    const uint64_t bytes = evaluate->count * evaluate->small.bytes;
    uint8_t *matrix = bench_alloc(1, bytes);
    pool_status status = bench_gather(&evaluate->placed, matrix);

    if (!status)
        *is_correct = bench_check_ntt(&evaluate->forward, evaluate->coefficients, matrix);
    free(matrix);
    return status;
}

static uint64_t coefficient(const struct evaluate_state *evaluate, uint64_t row, uint32_t column)
{
    const pool_matrix *matrix = &evaluate->matrix;
    const uint64_t index = matrix->layout == POOL_MATRIX_ROWS ? row * matrix->width + column
                                                              : column * matrix->height + row;
    uint64_t value = 0;

    memcpy(&value, evaluate->coefficients + index * evaluate->small.bytes, evaluate->small.bytes);
    return value;
}

struct column_sum {
    const struct evaluate_state *evaluate;
    uint32_t column;
    uint64_t point[BENCH_MAX_DEGREE];
    pthread_mutex_t lock;
    uint64_t total[BENCH_MAX_DEGREE]; /* guarded by lock */
};

/* Adds the terms of rows `first` to `end` - 1. */
static void add_terms(void *user, uint64_t first, uint64_t end)
{
    struct column_sum *column = user;
    const struct bench_small_field *small = &column->evaluate->small;
    uint64_t sum[BENCH_MAX_DEGREE] = {0}, term[BENCH_MAX_DEGREE] = {0}, power[BENCH_MAX_DEGREE];

    for (uint64_t row = end; row-- > first;) {
        term[0] = coefficient(column->evaluate, row, column->column);
        bench_small_multiply(small, sum, sum, column->point);
        bench_small_add(small, sum, sum, term);
    }
    bench_small_power(small, power, column->point, first);
    bench_small_multiply(small, sum, sum, power);
    pthread_mutex_lock(&column->lock);
    bench_small_add(small, column->total, column->total, sum);
    pthread_mutex_unlock(&column->lock);
}

static bool has_value(const struct evaluate_state *evaluate, uint32_t column)
{
    const struct bench_small_field *small = &evaluate->small;
    struct column_sum sum = {
        .evaluate = evaluate, .column = column, .lock = PTHREAD_MUTEX_INITIALIZER};
    uint64_t value[BENCH_MAX_DEGREE];

    bench_small_load(small, evaluate->point, 0, sum.point);
    bench_small_load(small, evaluate->values, column, value);
    bench_run_ranges(evaluate->matrix.height, add_terms, &sum);
    return bench_small_is_equal(small, sum.total, value);
}

static pool_status check_evaluate(struct bench_run *run, bool *is_correct)
{
    const struct evaluate_state *evaluate = run->state;
    pool_status status = check_matrix(evaluate, is_correct);

    for (uint32_t column = 0; column < evaluate->matrix.width && *is_correct && !status; column++)
        *is_correct = has_value(evaluate, column);
    return status;
}

static void destroy_evaluate(struct bench_run *run)
{
    struct evaluate_state *evaluate = run->state;

    pool_ntt_domain_destroy(&evaluate->forward.domain);
}

const struct bench_operation bench_evaluate = {
    .name = "evaluate",
    .options = "batch layout",
    .unit = "elements",
    .option = "field",
    .arrays = 1,
    .default_subjects = "babybear_x4",
    .default_sizes = "2^10,2^12,2^14",
    .is_blocking = true,
    .needs_powers = true,
    .has_subject = bench_has_extension,
    .max_size = bench_max_transform,
    .create = create_evaluate,
    .warm_up = warm_up_evaluate,
    .upload = upload_evaluate,
    .call = call_evaluate,
    .check = check_evaluate,
    .destroy = destroy_evaluate,
};
