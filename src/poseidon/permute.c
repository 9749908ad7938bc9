/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permutation on the host: as it is defined, and in the short form that devices run. Both work
 * on Montgomery limbs in the inner order of lanes.
 */
#include <string.h>

#include "poseidon/poseidon.h"

static void raise_alpha(const pool_poseidon *set, uint64_t *x)
{
    uint64_t base[FIELD_MAX_LIMBS];

    field_copy(set->field, base, x);
    for (uint32_t bit = 31 - (uint32_t)__builtin_clz(set->alpha); bit-- > 0;) {
        field_sqr(set->field, x, x);
        if ((set->alpha >> bit) & 1)
            field_mul(set->field, x, x, base);
    }
}

static void multiply(const pool_poseidon *set, const uint64_t *matrix, uint64_t *state)
{
    uint64_t result[POSEIDON_STATE_LIMBS];

    poseidon_matrix_vector(set->field, result, matrix, state, set->width, set->width);
    memcpy(state, result, (size_t)set->width * set->field->limbs * sizeof(*state));
}

/* x_i += d_i x_i … : J + diag(d) */
static void multiply_internal(const pool_poseidon *set, uint64_t *state)
{
    const pool_field *field = set->field;
    uint64_t sum[FIELD_MAX_LIMBS];

    field_set_zero(field, sum);
    for (uint32_t i = 0; i < set->width; i++)
        field_add(field, sum, sum, state + (size_t)i * field->limbs);
    for (uint32_t i = 0; i < set->width; i++) {
        uint64_t *lane = state + (size_t)i * field->limbs;
        field_mul(field, lane, lane, set->diagonal + (size_t)i * field->limbs);
        field_add(field, lane, lane, sum);
    }
}

static void add_constants(
    const pool_poseidon *set, uint64_t *state, const uint64_t *constants, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *lane = state + (size_t)i * set->field->limbs;
        field_add(set->field, lane, lane, constants + (size_t)i * set->field->limbs);
    }
}

static void add_final_constants(const pool_poseidon *set, uint64_t *state)
{
    const uint64_t *constants = poseidon_final_constants(set);

    if (constants)
        add_constants(set, state, constants, set->width);
}

/* constants may be NULL: added already. */
static void full_round(
    const pool_poseidon *set, uint64_t *state, const uint64_t *constants, const uint64_t *matrix)
{
    if (constants)
        add_constants(set, state, constants, set->width);
    for (uint32_t i = 0; i < set->width; i++)
        raise_alpha(set, state + (size_t)i * set->field->limbs);
    multiply(set, matrix, state);
}

void poseidon_permute_plain(const pool_poseidon *set, uint64_t *state)
{
    size_t step = (size_t)set->width * set->field->limbs;
    const uint64_t *constants = set->constants;
    uint32_t half = set->full_rounds / 2;
    uint32_t rest = set->full_rounds - half; /* half + 1 in a set of full rounds only */

    if (set->kind == POOL_POSEIDON2)
        multiply(set, set->matrix, state);
    for (uint32_t round = 0; round < half; round++, constants += step)
        full_round(set, state, constants, set->matrix);
    for (uint32_t round = 0; round < set->partial_rounds; round++) {
        if (set->kind == POOL_POSEIDON2) {
            add_constants(set, state, constants, 1);
            raise_alpha(set, state);
            multiply_internal(set, state);
            constants += set->field->limbs;
        } else {
            add_constants(set, state, constants, set->width);
            raise_alpha(set, state);
            multiply(set, set->matrix, state);
            constants += step;
        }
    }
    for (uint32_t round = 0; round < rest; round++, constants += step)
        full_round(set, state, constants, set->matrix);
    add_final_constants(set, state);
}

/* state = (u, z_1 … z_n) through one partial round. */
static void window_round(const pool_poseidon *set, uint64_t *state, uint32_t round)
{
    const pool_field *field = set->field;
    const struct poseidon_window *window = &set->window;
    size_t limbs = field->limbs;
    uint32_t n = set->width - 1;
    const uint64_t *a = window->sums + (window->is_scaled ? (size_t)round * 2 * n * limbs : 0);
    uint64_t lane[FIELD_MAX_LIMBS];
    uint64_t born[FIELD_MAX_LIMBS];

    raise_alpha(set, state);
    poseidon_matrix_vector(field, born, a, state + limbs, 1, n);
    field_add(field, born, born, state);
    poseidon_matrix_vector(field, lane, a + n * limbs, state + limbs, 1, n);
    field_mul(field, state, state, window->head);
    field_add(field, state, state, lane);
    field_add(field, state, state, window->lane + round * limbs);
    memmove(state + 2 * limbs, state + limbs, (n - 1) * limbs * sizeof(*state));
    field_copy(field, state + limbs, born);
}

static void window_permute(const pool_poseidon *set, uint64_t *state)
{
    const pool_field *field = set->field;
    const struct poseidon_window *window = &set->window;
    size_t step = (size_t)set->width * field->limbs;
    uint32_t half = set->full_rounds / 2;
    uint32_t n = set->width - 1;
    uint64_t lanes[POSEIDON_STATE_LIMBS];
    const uint64_t *constants = set->constants;

    for (uint32_t round = 0; round < half; round++, constants += step)
        full_round(set, state, constants, round + 1 < half ? set->matrix : window->entry);
    add_constants(set, state, window->first, 1);
    for (uint32_t round = 0; round < set->partial_rounds; round++)
        window_round(set, state, round);
    poseidon_matrix_vector(field, lanes, window->exit, state + field->limbs, n, n);
    memcpy(state + field->limbs, lanes, (size_t)n * field->limbs * sizeof(*state));
    add_constants(set, state + field->limbs, window->after, n);
    constants += set->partial_rounds * step;
    full_round(set, state, NULL, window->back);
    for (uint32_t round = 1; round < half; round++)
        full_round(set, state, constants + round * step, set->matrix);
    add_final_constants(set, state);
}

void poseidon_permute(const pool_poseidon *set, uint64_t *state)
{
    if (set->window.is_used)
        window_permute(set, state);
    else
        poseidon_permute_plain(set, state);
}
