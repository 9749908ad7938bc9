/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short form of POSEIDON's partial rounds.
 *
 * 1. Constants. A partial round raises lane 0 only, so the constants of the other lanes can be
 *    pushed through it and its matrix into the next round. What stays is one constant k_i a round,
 *    and changed constants of the first full round of the second half.
 * 2. Matrix. With M = ((m, v), (w, N)) and s_i the raised lane 0, the other lanes y follow
 *    y' = N y + w s, and lane 0 gets m s + v y + k. That is a linear system with one input and one
 *    output, so where w, N w, N^2 w … span the space it has a controller form: lanes y = T z with
 *    z' = (s + sum a_j z_j, z_1, …, z_(n-1)), N^n w = a_1 N^(n-1) w + … + a_n w (a from the
 *    characteristic polynomial of N), T = (w, N w - a_1 w, …), and v y = sum h_j z_j with h = v T.
 *    T moves into the matrices before and after the partial rounds.
 * 3. Scaling, as an option. Lane 0 of round i may be kept as u_i = (lane 0 + k_i) / l_i; then
 *    s_i = l_i^alpha u_i^alpha. With l_(i+1) = m l_i^alpha the factor of u^alpha in lane 0 is 1,
 * and when each z is kept divided by the l^alpha of its birth its factor in z' is 1 as well. The
 * price is that a and h differ from round to round.
 *
 * Products a round: 2 n scaled, 2 n + 1 not, and two sums to be reduced, where the usual sparse
 * form has 2 n + 1 and n + 1.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "poseidon/poseidon.h"

/* What is worked out on the way; all of it one allocation. */
struct work {
    uint64_t *below;    /* n * n: N */
    uint64_t *column;   /* n: w */
    uint64_t *krylov;   /* n * n: columns N^j w, and its inverse */
    uint64_t *power;    /* n: N^n w, and a vector on the way */
    uint64_t *next;     /* t */
    uint64_t *basis;    /* n * n: T */
    uint64_t *inverse;  /* n * n: T^-1 */
    uint64_t *feedback; /* n: a */
    uint64_t *output;   /* n: h */
    uint64_t *lane;     /* partial_rounds + 1: k */
    uint64_t *sigma;    /* partial_rounds + 1: l^alpha */
    uint64_t *lambda;   /* partial_rounds + 1: 1 / l */
    uint64_t *memory;
};

static uint64_t *at(const pool_poseidon *set, uint64_t *elements, size_t index)
{
    return elements + index * set->field->limbs;
}

static pool_status work_make(const pool_poseidon *set, struct work *work)
{
    size_t n = set->width - 1;
    size_t rounds = (size_t)set->partial_rounds + 1;
    size_t sizes[] = {n * n, n, n * n, n, n + 1, n * n, n * n, n, n, rounds, rounds, rounds};
    uint64_t **parts[] = {&work->below, &work->column, &work->krylov, &work->power, &work->next,
        &work->basis, &work->inverse, &work->feedback, &work->output, &work->lane, &work->sigma,
        &work->lambda};
    size_t total = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        total += sizes[i];
    work->memory = base_calloc(total, set->field->limbs * sizeof(uint64_t));
    if (!work->memory)
        return base_fail_memory("short partial rounds");
    total = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        *parts[i] = at(set, work->memory, total);
        total += sizes[i];
    }
    return POOL_OK;
}

static void power_alpha(const pool_poseidon *set, uint64_t *power, const uint64_t *x)
{
    uint64_t exponent = set->alpha;
    field_pow(set->field, power, x, &exponent, 1);
}

/* Step 1. The constants of lanes 1 … n of the following full round go to window->after. */
static void push_constants(pool_poseidon *set, struct work *work)
{
    const pool_field *field = set->field;
    uint32_t t = set->width;
    uint64_t pushed[POSEIDON_STATE_LIMBS];
    uint64_t moved[POSEIDON_STATE_LIMBS];
    size_t first = (size_t)set->full_rounds / 2 * t;

    memcpy(pushed, at(set, set->constants, first), (size_t)t * field->limbs * sizeof(*pushed));
    for (uint32_t round = 0; round < set->partial_rounds; round++) {
        const uint64_t *following = at(set, set->constants, first + (size_t)(round + 1) * t);
        field_copy(field, at(set, work->lane, round), pushed);
        field_set_zero(field, pushed);
        poseidon_matrix_vector(field, moved, set->matrix, pushed, t, t);
        for (uint32_t i = 0; i < t; i++)
            field_add(field, at(set, pushed, i), at(set, moved, i), following + i * field->limbs);
    }
    field_copy(field, at(set, work->lane, set->partial_rounds), pushed);
    memcpy(set->window.after, at(set, pushed, 1), (size_t)(t - 1) * field->limbs * sizeof(*pushed));
}

/* N, w and the columns N^j w; work->power is N^n w then. */
static void make_krylov(const pool_poseidon *set, struct work *work)
{
    const pool_field *field = set->field;
    uint32_t t = set->width;
    uint32_t n = t - 1;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t *row = at(set, set->matrix, (size_t)(i + 1) * t);
        field_copy(field, at(set, work->column, i), row);
        memcpy(at(set, work->below, (size_t)i * n), row + field->limbs,
            (size_t)n * field->limbs * sizeof(*row));
    }
    memcpy(work->power, work->column, (size_t)n * field->limbs * sizeof(*work->power));
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = 0; i < n; i++)
            field_copy(field, at(set, work->krylov, (size_t)i * n + j), at(set, work->power, i));
        poseidon_matrix_vector(field, work->next, work->below, work->power, n, n);
        memcpy(work->power, work->next, (size_t)n * field->limbs * sizeof(*work->power));
    }
}

/* a, T and h. */
static void make_controller(const pool_poseidon *set, struct work *work)
{
    const pool_field *field = set->field;
    uint32_t n = set->width - 1;
    uint64_t term[FIELD_MAX_LIMBS];

    poseidon_matrix_vector(field, work->next, work->krylov, work->power, n, n);
    for (uint32_t j = 0; j < n; j++)
        field_copy(field, at(set, work->feedback, j), at(set, work->next, n - 1 - j));
    memcpy(work->power, work->column, (size_t)n * field->limbs * sizeof(*work->power));
    for (uint32_t j = 0; j < n; j++) {
        field_set_zero(field, at(set, work->output, j));
        for (uint32_t i = 0; i < n; i++) {
            field_copy(field, at(set, work->basis, (size_t)i * n + j), at(set, work->power, i));
            field_mul(field, term, at(set, set->matrix, i + 1), at(set, work->power, i));
            field_add(field, at(set, work->output, j), at(set, work->output, j), term);
        }
        poseidon_matrix_vector(field, work->next, work->below, work->power, n, n);
        for (uint32_t i = 0; i < n; i++) {
            field_mul(field, term, at(set, work->feedback, j), at(set, work->column, i));
            field_sub(field, at(set, work->power, i), at(set, work->next, i), term);
        }
    }
}

/* l^alpha and 1 / l by round; all ones without scaling. */
static void make_scales(const pool_poseidon *set, struct work *work)
{
    const pool_field *field = set->field;
    uint64_t inverse_head[FIELD_MAX_LIMBS];
    uint64_t lambda[FIELD_MAX_LIMBS];
    uint64_t power[FIELD_MAX_LIMBS];

    field_set_one(field, lambda);
    field_inverse(field, inverse_head, set->matrix);
    for (uint32_t i = 0; i <= set->partial_rounds; i++) {
        field_set_one(field, at(set, work->sigma, i));
        field_set_one(field, at(set, work->lambda, i));
    }
    for (uint32_t i = 0; set->window.is_scaled && i <= set->partial_rounds; i++) {
        if (i > 0) {
            power_alpha(set, power, at(set, work->lambda, i - 1));
            field_mul(field, at(set, work->lambda, i), power, inverse_head);
            field_mul(field, lambda, set->matrix, at(set, work->sigma, i - 1));
        }
        power_alpha(set, at(set, work->sigma, i), lambda);
    }
}

/* Round `round`'s a and h, with the scales of the window's births. */
static void put_sums(pool_poseidon *set, const struct work *work, uint32_t round)
{
    const pool_field *field = set->field;
    uint32_t n = set->width - 1;
    uint64_t *a = at(set, set->window.sums, (size_t)round * 2 * n);
    uint64_t *h = at(set, a, n);
    uint64_t inverse[FIELD_MAX_LIMBS];

    power_alpha(set, inverse, at(set, work->lambda, round)); /* 1 / sigma */
    for (uint32_t j = 0; j < n; j++) {
        field_copy(field, at(set, a, j), at(set, work->feedback, j));
        field_copy(field, at(set, h, j), at(set, work->output, j));
        if (!set->window.is_scaled)
            continue;
        if (round >= j + 1) {
            const uint64_t *birth = at(set, work->sigma, round - j - 1);
            field_mul(field, at(set, a, j), at(set, a, j), birth);
            field_mul(field, at(set, h, j), at(set, h, j), birth);
        }
        field_mul(field, at(set, a, j), at(set, a, j), inverse);
        field_mul(field, at(set, h, j), at(set, h, j), at(set, work->lambda, round + 1));
    }
}

static void put_rounds(pool_poseidon *set, const struct work *work)
{
    const pool_field *field = set->field;
    struct poseidon_window *window = &set->window;

    field_copy(field, window->first, work->lane);
    if (window->is_scaled)
        field_set_one(field, window->head);
    else
        field_copy(field, window->head, set->matrix);
    for (uint32_t i = 0; i < set->partial_rounds; i++) {
        field_mul(field, at(set, window->lane, i), at(set, work->lane, i + 1),
            at(set, work->lambda, i + 1));
        if (i == 0 || window->is_scaled)
            put_sums(set, work, i);
    }
}

/* The matrices around the partial rounds. */
static void put_matrices(pool_poseidon *set, const struct work *work)
{
    const pool_field *field = set->field;
    struct poseidon_window *window = &set->window;
    uint32_t t = set->width;
    uint32_t n = t - 1;
    uint32_t rounds = set->partial_rounds;
    uint64_t term[FIELD_MAX_LIMBS];

    memcpy(window->entry, set->matrix, (size_t)t * field->limbs * sizeof(*term));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < t; j++) {
            uint64_t *sum = at(set, window->entry, (size_t)(i + 1) * t + j);
            field_set_zero(field, sum);
            for (uint32_t k = 0; k < n; k++) {
                field_mul(field, term, at(set, work->inverse, (size_t)i * n + k),
                    at(set, set->matrix, (size_t)(k + 1) * t + j));
                field_add(field, sum, sum, term);
            }
        }
        for (uint32_t j = 0; j < n; j++) {
            uint64_t *entry = at(set, window->exit, (size_t)i * n + j);
            field_copy(field, entry, at(set, work->basis, (size_t)i * n + j));
            if (rounds >= j + 1)
                field_mul(field, entry, entry, at(set, work->sigma, rounds - j - 1));
        }
    }
    memcpy(window->back, set->matrix, (size_t)t * t * field->limbs * sizeof(*term));
    for (uint32_t i = 0; i < t; i++) {
        uint64_t *entry = at(set, window->back, (size_t)i * t);
        field_mul(field, entry, entry, at(set, work->sigma, rounds));
    }
}

static pool_status window_make(pool_poseidon *set)
{
    struct poseidon_window *window = &set->window;
    size_t t = set->width;
    size_t n = t - 1;
    size_t rounds = set->partial_rounds;
    size_t sizes[] = {
        t * t, 1, 1, 2 * n * (window->is_scaled ? rounds : 1), rounds, n * n, n, t * t};
    uint64_t **parts[] = {&window->entry, &window->first, &window->head, &window->sums,
        &window->lane, &window->exit, &window->after, &window->back};
    size_t total = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        total += sizes[i];
    window->entry = base_calloc(total, set->field->limbs * sizeof(uint64_t));
    if (!window->entry)
        return base_fail_memory("short partial rounds");
    total = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        *parts[i] = at(set, window->entry, total);
        total += sizes[i];
    }
    return POOL_OK;
}

void poseidon_free_window(struct poseidon_window *window)
{
    base_free(window->entry);
    memset(window, 0, sizeof(*window));
}

static pool_status derive_inside(pool_poseidon *set, struct work *work)
{
    uint32_t n = set->width - 1;
    bool spans;
    pool_status status;

    make_krylov(set, work);
    status = poseidon_matrix_inverse(set->field, work->krylov, work->krylov, n, &spans);
    if (status || !spans)
        return status;
    make_controller(set, work);
    status = poseidon_matrix_inverse(set->field, work->inverse, work->basis, n, &spans);
    if (status || !spans)
        return status;
    status = window_make(set);
    if (status)
        return status;
    push_constants(set, work);
    make_scales(set, work);
    put_rounds(set, work);
    put_matrices(set, work);
    set->window.is_used = true;
    return POOL_OK;
}

/* Leaves is_used false where there is no such form: then the rounds run as they are defined. */
pool_status poseidon_derive_window(pool_poseidon *set, bool is_scaled)
{
    struct work work;
    pool_status status;

    poseidon_free_window(&set->window);
    if (set->kind != POOL_POSEIDON || set->partial_rounds == 0)
        return POOL_OK;
    status = work_make(set, &work);
    if (status)
        return status;
    set->window.is_scaled = is_scaled && !field_is_zero(set->field, set->matrix);
    status = derive_inside(set, &work);
    base_free(work.memory);
    if (status)
        poseidon_free_window(&set->window);
    return status;
}
