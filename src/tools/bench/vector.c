/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures functions of vectors in device memory, over fields of at most 64 bits and their
 * extensions. Every result is checked by plain arithmetic.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct vector_state {
    struct bench_small_field small;
    uint64_t bytes;
    uint8_t *operands[2]; /* in the form of the measurement */
    uint8_t base[POOL_FIELD_MAX_BYTES];
    struct bench_array arrays[3]; /* operands, results */
};

static bool has_field(const char *subject)
{
    struct bench_small_field small;

    return bench_small_field(subject, &small);
}

static pool_status create_vector(struct bench_run *run)
{
    const struct bench_case *spec = &run->spec;
    struct vector_state *vector = bench_keep(run, 1, sizeof(*vector));
    const pool_field *field;
    pool_status status = POOL_OK;

    run->state = vector;
    run->units = (double)spec->size;
    bench_small_field(spec->subject, &vector->small);
    field = vector->small.field;
    vector->bytes = spec->size * pool_field_element_bytes(field);
    for (uint64_t i = 0; i < 2 && !status; i++) {
        vector->operands[i] = bench_keep(run, 1, vector->bytes);
        status = bench_random_scalars(field, 1 + i, spec->size, spec->form, vector->operands[i]);
    }
    return status ? status : bench_random_scalars(field, 3, 1, POOL_FORM_STANDARD, vector->base);
}

static pool_status warm_up_vector(struct bench_run *run)
{
    const struct vector_state *vector = run->state;

    return pool_vector_warm_up(
        vector->small.field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

static pool_status upload_vector(struct bench_run *run)
{
    struct vector_state *vector = run->state;
    pool_status status = POOL_OK;

    for (int i = 0; i < 3 && !status; i++)
        status = bench_place(run,
            &(struct bench_items){.from = i < 2 ? vector->operands[i] : NULL,
                .item_bytes = vector->bytes / run->spec.size,
                .count = run->spec.size,
                .form = run->spec.form},
            &vector->arrays[i]);
    return status;
}

static pool_status call_vector(struct bench_run *run)
{
    const struct vector_state *vector = run->state;
    const pool_field *field = vector->small.field;
    const pool_exec *exec = &run->exec;
    const pool_span *a = &vector->arrays[0].span, *b = &vector->arrays[1].span;
    const pool_span *out = &vector->arrays[2].span;

    switch (run->spec.function) {
    case POOL_VECTOR_ADD:
        return pool_vector_add(field, exec, a, b, out);
    case POOL_VECTOR_INVERSE:
        return pool_vector_inverse(field, exec, a, out);
    case POOL_VECTOR_POWERS:
        return pool_vector_powers(field, exec, vector->base, out);
    default:
        return pool_vector_mul(field, exec, a, b, out);
    }
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Result i, with the one before it, from elements in standard form. */
static bool is_result(const struct vector_state *vector, pool_vector_operation function,
    const uint8_t *const operands[], const uint8_t *results, uint64_t i)
{
    const struct bench_small_field *small = &vector->small;
    const uint64_t zero[BENCH_MAX_DEGREE] = {0}, one[BENCH_MAX_DEGREE] = {1};
    uint64_t a[BENCH_MAX_DEGREE], b[BENCH_MAX_DEGREE], result[BENCH_MAX_DEGREE];

    bench_small_load(small, operands[0], i, a);
    bench_small_load(small, operands[1], i, b);
    bench_small_load(small, results, i, result);
    switch (function) {
    case POOL_VECTOR_ADD:
        bench_small_add(small, a, a, b);
        break;
    case POOL_VECTOR_INVERSE:
        if (bench_small_is_equal(small, a, zero))
            break; /* its inverse is 0 */
        bench_small_multiply(small, result, result, a);
        memcpy(a, one, sizeof(a));
        break;
    case POOL_VECTOR_POWERS:
        memcpy(a, one, sizeof(a));
        if (i) {
            bench_small_load(small, results, i - 1, a);
            bench_small_load(small, vector->base, 0, b);
            bench_small_multiply(small, a, a, b);
        }
        break;
    default:
        bench_small_multiply(small, a, a, b);
        break;
    }
    return bench_small_is_equal(small, result, a);
}

static pool_status to_standard(
    const struct bench_run *run, const uint8_t *elements, uint8_t *standard)
{
    const struct vector_state *vector = run->state;

    memcpy(standard, elements, vector->bytes);
    return run->spec.form == POOL_FORM_STANDARD ? POOL_OK
                                                : pool_field_from_montgomery(vector->small.field,
                                                      standard, run->spec.size, standard);
}

static pool_status check_vector(struct bench_run *run, bool *is_correct)
{
    const struct vector_state *vector = run->state;
    const uint64_t size = run->spec.size;
    uint8_t *standard[3];
    pool_status status;

    for (int i = 0; i < 3; i++)
        standard[i] = bench_alloc(1, vector->bytes);
    status = bench_gather(&vector->arrays[2], standard[2]);
    *is_correct = !status && !pool_field_check(vector->small.field, standard[2], size, NULL);
    for (int i = 0; i < 3 && !status && *is_correct; i++)
        status = to_standard(run, i < 2 ? vector->operands[i] : standard[2], standard[i]);
    for (uint64_t i = 0; i < size && !status && *is_correct; i++)
        *is_correct = is_result(vector, run->spec.function,
            (const uint8_t *const[]){standard[0], standard[1]}, standard[2], i);
    for (int i = 0; i < 3; i++)
        free(standard[i]);
    return status;
}

const struct bench_operation bench_vector = {
    .name = "vector",
    .options = "function montgomery",
    .unit = "elements",
    .option = "field",
    .arrays = 2,
    .default_subjects = "goldilocks_x2,babybear_x4",
    .default_sizes = "2^10,2^12,2^14",
    .has_subject = has_field,
    .create = create_vector,
    .warm_up = warm_up_vector,
    .upload = upload_vector,
    .call = call_vector,
    .check = check_vector,
};
