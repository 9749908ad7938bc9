/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permutation on the host: as it is defined, and in the recurrence form that devices compute.
 * Both use Montgomery form and the library's order of state elements.
 */
#include <string.h>

#include "zk/poseidon/poseidon.h"

/* x = x^alpha */
static void sbox(const pool_poseidon *set, uint64_t *x)
{
    uint64_t base[FIELD_MAX_LIMBS];

    field_copy(set->field, base, x);
    for (uint32_t bit = 31 - (uint32_t)__builtin_clz(set->alpha); bit-- > 0;) {
        field_sqr(set->field, x, x);
        if ((set->alpha >> bit) & 1)
            field_mul(set->field, x, x, base);
    }
}

static void linear_layer(const pool_poseidon *set, const uint64_t *matrix, uint64_t *state)
{
    uint64_t result[POSEIDON_STATE_LIMBS];

    poseidon_matrix_vector(set->field, result, matrix, state, set->width, set->width);
    memcpy(state, result, (size_t)set->width * set->field->limbs * sizeof(*state));
}

/* state = (J + diag(d)) state */
static void internal_layer(const pool_poseidon *set, uint64_t *state)
{
    const pool_field *field = set->field;
    uint64_t sum[FIELD_MAX_LIMBS];

    field_set_zero(field, sum);
    for (uint32_t i = 0; i < set->width; i++)
        field_add(field, sum, sum, state + (size_t)i * field->limbs);
    for (uint32_t i = 0; i < set->width; i++) {
        uint64_t *element = state + (size_t)i * field->limbs;
        field_mul(field, element, element, set->diagonal + (size_t)i * field->limbs);
        field_add(field, element, element, sum);
    }
}

static void add_constants(
    const pool_poseidon *set, uint64_t *state, const uint64_t *constants, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *element = state + (size_t)i * set->field->limbs;
        field_add(set->field, element, element, constants + (size_t)i * set->field->limbs);
    }
}

static void add_final_constants(const pool_poseidon *set, uint64_t *state)
{
    const uint64_t *constants = poseidon_final_constants(set);

    if (constants)
        add_constants(set, state, constants, set->width);
}

/* constants NULL: they have been added already. */
static void full_round(
    const pool_poseidon *set, uint64_t *state, const uint64_t *constants, const uint64_t *matrix)
{
    if (constants)
        add_constants(set, state, constants, set->width);
    for (uint32_t i = 0; i < set->width; i++)
        sbox(set, state + (size_t)i * set->field->limbs);
    linear_layer(set, matrix, state);
}

void poseidon_permute_reference(const pool_poseidon *set, uint64_t *state)
{
    size_t step = (size_t)set->width * set->field->limbs;
    const uint64_t *constants = set->constants;
    uint32_t half = set->full_rounds / 2;
    uint32_t second_half = set->full_rounds - half; /* half + 1 for an odd number */

    if (set->kind == POOL_POSEIDON2)
        linear_layer(set, set->mds, state);
    for (uint32_t round = 0; round < half; round++, constants += step)
        full_round(set, state, constants, set->mds);
    for (uint32_t round = 0; round < set->partial_rounds; round++) {
        if (set->kind == POOL_POSEIDON2) {
            add_constants(set, state, constants, 1);
            sbox(set, state);
            internal_layer(set, state);
            constants += set->field->limbs;
        } else {
            add_constants(set, state, constants, set->width);
            sbox(set, state);
            linear_layer(set, set->mds, state);
            constants += step;
        }
    }
    for (uint32_t round = 0; round < second_half; round++, constants += step)
        full_round(set, state, constants, set->mds);
    add_final_constants(set, state);
}

/* One partial round of state = (u, z_1 … z_n). */
static void recurrence_round(const pool_poseidon *set, uint64_t *state, uint32_t round)
{
    const pool_field *field = set->field;
    const struct poseidon_recurrence *recurrence = &set->recurrence;
    size_t limbs = field->limbs;
    uint32_t n = set->width - 1;
    size_t offset = recurrence->is_scaled ? (size_t)round * 2 * n * limbs : 0;
    const uint64_t *a = recurrence->coefficients + offset;
    const uint64_t *h = a + n * limbs;
    uint64_t output[FIELD_MAX_LIMBS];
    uint64_t next[FIELD_MAX_LIMBS];

    sbox(set, state);
    poseidon_matrix_vector(field, next, a, state + limbs, 1, n);
    field_add(field, next, next, state);
    poseidon_matrix_vector(field, output, h, state + limbs, 1, n);
    field_mul(field, state, state, recurrence->head);
    field_add(field, state, state, output);
    field_add(field, state, state, recurrence->partial_constants + round * limbs);
    memmove(state + 2 * limbs, state + limbs, (n - 1) * limbs * sizeof(*state));
    field_copy(field, state + limbs, next);
}

static void permute_by_recurrence(const pool_poseidon *set, uint64_t *state)
{
    const pool_field *field = set->field;
    const struct poseidon_recurrence *recurrence = &set->recurrence;
    size_t step = (size_t)set->width * field->limbs;
    uint32_t half = set->full_rounds / 2;
    uint32_t n = set->width - 1;
    uint64_t elements[POSEIDON_STATE_LIMBS];
    const uint64_t *constants = set->constants;

    for (uint32_t round = 0; round < half; round++, constants += step)
        full_round(set, state, constants, round + 1 < half ? set->mds : recurrence->entry_mds);
    add_constants(set, state, recurrence->entry_constant, 1);
    for (uint32_t round = 0; round < set->partial_rounds; round++)
        recurrence_round(set, state, round);
    poseidon_matrix_vector(field, elements, recurrence->exit_matrix, state + field->limbs, n, n);
    memcpy(state + field->limbs, elements, (size_t)n * field->limbs * sizeof(*state));
    add_constants(set, state + field->limbs, recurrence->exit_constants, n);
    constants += set->partial_rounds * step;
    full_round(set, state, NULL, recurrence->exit_mds);
    for (uint32_t round = 1; round < half; round++)
        full_round(set, state, constants + round * step, set->mds);
    add_final_constants(set, state);
}

void poseidon_permute(const pool_poseidon *set, uint64_t *state)
{
    if (set->recurrence.is_used)
        permute_by_recurrence(set, state);
    else
        poseidon_permute_reference(set, state);
}
