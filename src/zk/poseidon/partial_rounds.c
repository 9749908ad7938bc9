/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recurrence form of POSEIDON's partial rounds, derived when a parameter set is created.
 *
 * 1. Constants. A partial round applies the S-box to state element 0 only, so the constants of the
 *    other elements can be product through it and through the MDS matrix into the next round. One
 *    constant k_i per round remains, and the constants of the first full round of the second half
 *    change.
 * 2. Matrix. Let M = ((m, v), (w, N)) and let s_i be the output of the S-box. The other elements y
 *    follow y' = N y + w s, and element 0 becomes m s + v y + k. This is a linear system with one
 *    input and one output. If w, N w, N^2 w, … span the space, it has a controller form: y = T z
 *    with z' = (s + sum a_j z_j, z_1, …, z_(n-1)), where N^n w = a_1 N^(n-1) w + … + a_n w (a from
 *    the characteristic polynomial of N), T = (w, N w - a_1 w, …), and v y = sum h_j z_j with
 *    h = v T. T is multiplied into the matrices before and after the partial rounds.
 * 3. Scaling, for narrow states. Element 0 of round i may be stored as u_i = (element 0 + k_i) /
 *    l_i; then s_i = l_i^alpha u_i^alpha. With l_(i+1) = m l_i^alpha the factor of u^alpha in
 *    element 0 is 1, and if each z is stored divided by the l^alpha of the round that computed it,
 *    its factor in z' is 1 as well. In exchange a and h differ from round to round.
 *
 * A round takes 2 n products scaled, 2 n + 1 unscaled, and two reductions. The usual form with
 * sparse matrices takes 2 n + 1 products and n + 1 reductions.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "zk/poseidon/poseidon.h"

/* Intermediate results of the derivation, in one allocation. */
struct derivation {
    uint64_t *submatrix; /* n * n: N */
    uint64_t *column;    /* n: w */
    uint64_t *krylov;    /* n * n: columns N^j w, later the inverse of that matrix */
    uint64_t *power;     /* n: N^n w, later scratch */
    uint64_t *next;      /* t: scratch */
    uint64_t *basis;     /* n * n: T */
    uint64_t *inverse;   /* n * n: T^-1 */
    uint64_t *feedback;  /* n: a */
    uint64_t *output;    /* n: h */
    uint64_t *constants; /* partial_rounds + 1: k */
    uint64_t *sigma;     /* partial_rounds + 1: l^alpha */
    uint64_t *lambda;    /* partial_rounds + 1: 1 / l */
    uint64_t *memory;
};

static uint64_t *at(const pool_poseidon *set, uint64_t *elements, size_t index)
{
    return elements + index * set->field->limbs;
}

static pool_status allocate_derivation(const pool_poseidon *set, struct derivation *work)
{
    size_t n = set->width - 1;
    size_t rounds = (size_t)set->partial_rounds + 1;
    size_t sizes[] = {n * n, n, n * n, n, n + 1, n * n, n * n, n, n, rounds, rounds, rounds};
    uint64_t **arrays[] = {&work->submatrix, &work->column, &work->krylov, &work->power,
        &work->next, &work->basis, &work->inverse, &work->feedback, &work->output, &work->constants,
        &work->sigma, &work->lambda};
    size_t total = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        total += sizes[i];
    work->memory = base_calloc(total, set->field->limbs * sizeof(uint64_t));
    if (!work->memory)
        return base_fail_memory("the recurrence form of the partial rounds");
    total = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        *arrays[i] = at(set, work->memory, total);
        total += sizes[i];
    }
    return POOL_OK;
}

static void sbox(const pool_poseidon *set, uint64_t *power, const uint64_t *x)
{
    uint64_t exponent = set->alpha;
    field_pow(set->field, power, x, &exponent, 1);
}

/* Step 1. The changed constants of elements 1 to n of the next full round become exit_constants. */
static void move_constants(pool_poseidon *set, struct derivation *work)
{
    const pool_field *field = set->field;
    uint32_t t = set->width;
    uint64_t moved[POSEIDON_STATE_LIMBS];
    uint64_t product[POSEIDON_STATE_LIMBS];
    size_t first = (size_t)set->full_rounds / 2 * t;

    memcpy(moved, at(set, set->constants, first), (size_t)t * field->limbs * sizeof(*moved));
    for (uint32_t round = 0; round < set->partial_rounds; round++) {
        const uint64_t *following = at(set, set->constants, first + (size_t)(round + 1) * t);
        field_copy(field, at(set, work->constants, round), moved);
        field_set_zero(field, moved);
        poseidon_matrix_vector(field, product, set->mds, moved, t, t);
        for (uint32_t i = 0; i < t; i++)
            field_add(field, at(set, moved, i), at(set, product, i), following + i * field->limbs);
    }
    field_copy(field, at(set, work->constants, set->partial_rounds), moved);
    memcpy(set->recurrence.exit_constants, at(set, moved, 1),
        (size_t)(t - 1) * field->limbs * sizeof(*moved));
}

/* Step 2: N, w and the columns N^j w; afterwards work->power is N^n w. */
static void compute_krylov_matrix(const pool_poseidon *set, struct derivation *work)
{
    const pool_field *field = set->field;
    uint32_t t = set->width;
    uint32_t n = t - 1;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t *row = at(set, set->mds, (size_t)(i + 1) * t);
        field_copy(field, at(set, work->column, i), row);
        memcpy(at(set, work->submatrix, (size_t)i * n), row + field->limbs,
            (size_t)n * field->limbs * sizeof(*row));
    }
    memcpy(work->power, work->column, (size_t)n * field->limbs * sizeof(*work->power));
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = 0; i < n; i++)
            field_copy(field, at(set, work->krylov, (size_t)i * n + j), at(set, work->power, i));
        poseidon_matrix_vector(field, work->next, work->submatrix, work->power, n, n);
        memcpy(work->power, work->next, (size_t)n * field->limbs * sizeof(*work->power));
    }
}

/* Step 2: a, T and h. */
static void compute_controller_form(const pool_poseidon *set, struct derivation *work)
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
            field_mul(field, term, at(set, set->mds, i + 1), at(set, work->power, i));
            field_add(field, at(set, work->output, j), at(set, work->output, j), term);
        }
        poseidon_matrix_vector(field, work->next, work->submatrix, work->power, n, n);
        for (uint32_t i = 0; i < n; i++) {
            field_mul(field, term, at(set, work->feedback, j), at(set, work->column, i));
            field_sub(field, at(set, work->power, i), at(set, work->next, i), term);
        }
    }
}

/* Step 3: l^alpha and 1 / l of each round; all 1 without scaling. */
static void compute_scales(const pool_poseidon *set, struct derivation *work)
{
    const pool_field *field = set->field;
    uint64_t inverse_head[FIELD_MAX_LIMBS];
    uint64_t lambda[FIELD_MAX_LIMBS];
    uint64_t power[FIELD_MAX_LIMBS];

    field_set_one(field, lambda);
    field_inverse(field, inverse_head, set->mds);
    for (uint32_t i = 0; i <= set->partial_rounds; i++) {
        field_set_one(field, at(set, work->sigma, i));
        field_set_one(field, at(set, work->lambda, i));
    }
    for (uint32_t i = 0; set->recurrence.is_scaled && i <= set->partial_rounds; i++) {
        if (i > 0) {
            sbox(set, power, at(set, work->lambda, i - 1));
            field_mul(field, at(set, work->lambda, i), power, inverse_head);
            field_mul(field, lambda, set->mds, at(set, work->sigma, i - 1));
        }
        sbox(set, at(set, work->sigma, i), lambda);
    }
}

/* The coefficients a and h of a round, with the scales of the recurrence state's values. */
static void store_coefficients(pool_poseidon *set, const struct derivation *work, uint32_t round)
{
    const pool_field *field = set->field;
    uint32_t n = set->width - 1;
    uint64_t *a = at(set, set->recurrence.coefficients, (size_t)round * 2 * n);
    uint64_t *h = at(set, a, n);
    uint64_t inverse[FIELD_MAX_LIMBS];

    sbox(set, inverse, at(set, work->lambda, round)); /* 1 / sigma */
    for (uint32_t j = 0; j < n; j++) {
        field_copy(field, at(set, a, j), at(set, work->feedback, j));
        field_copy(field, at(set, h, j), at(set, work->output, j));
        if (!set->recurrence.is_scaled)
            continue;
        if (round >= j + 1) {
            const uint64_t *scale = at(set, work->sigma, round - j - 1);
            field_mul(field, at(set, a, j), at(set, a, j), scale);
            field_mul(field, at(set, h, j), at(set, h, j), scale);
        }
        field_mul(field, at(set, a, j), at(set, a, j), inverse);
        field_mul(field, at(set, h, j), at(set, h, j), at(set, work->lambda, round + 1));
    }
}

static void store_rounds(pool_poseidon *set, const struct derivation *work)
{
    const pool_field *field = set->field;
    struct poseidon_recurrence *recurrence = &set->recurrence;

    field_copy(field, recurrence->entry_constant, work->constants);
    if (recurrence->is_scaled)
        field_set_one(field, recurrence->head);
    else
        field_copy(field, recurrence->head, set->mds);
    for (uint32_t i = 0; i < set->partial_rounds; i++) {
        field_mul(field, at(set, recurrence->partial_constants, i), at(set, work->constants, i + 1),
            at(set, work->lambda, i + 1));
        if (i == 0 || recurrence->is_scaled)
            store_coefficients(set, work, i);
    }
}

/* The matrices before and after the partial rounds. */
static void store_matrices(pool_poseidon *set, const struct derivation *work)
{
    const pool_field *field = set->field;
    struct poseidon_recurrence *recurrence = &set->recurrence;
    uint32_t t = set->width;
    uint32_t n = t - 1;
    uint32_t rounds = set->partial_rounds;
    uint64_t term[FIELD_MAX_LIMBS];

    memcpy(recurrence->entry_mds, set->mds, (size_t)t * field->limbs * sizeof(*term));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < t; j++) {
            uint64_t *sum = at(set, recurrence->entry_mds, (size_t)(i + 1) * t + j);
            field_set_zero(field, sum);
            for (uint32_t k = 0; k < n; k++) {
                field_mul(field, term, at(set, work->inverse, (size_t)i * n + k),
                    at(set, set->mds, (size_t)(k + 1) * t + j));
                field_add(field, sum, sum, term);
            }
        }
        for (uint32_t j = 0; j < n; j++) {
            uint64_t *entry = at(set, recurrence->exit_matrix, (size_t)i * n + j);
            field_copy(field, entry, at(set, work->basis, (size_t)i * n + j));
            if (rounds >= j + 1)
                field_mul(field, entry, entry, at(set, work->sigma, rounds - j - 1));
        }
    }
    memcpy(recurrence->exit_mds, set->mds, (size_t)t * t * field->limbs * sizeof(*term));
    for (uint32_t i = 0; i < t; i++) {
        uint64_t *entry = at(set, recurrence->exit_mds, (size_t)i * t);
        field_mul(field, entry, entry, at(set, work->sigma, rounds));
    }
}

static pool_status allocate_recurrence(pool_poseidon *set)
{
    struct poseidon_recurrence *recurrence = &set->recurrence;
    size_t t = set->width;
    size_t n = t - 1;
    size_t rounds = set->partial_rounds;
    size_t sizes[] = {
        t * t, 1, 1, 2 * n * (recurrence->is_scaled ? rounds : 1), rounds, n * n, n, t * t};
    uint64_t **arrays[] = {&recurrence->entry_mds, &recurrence->entry_constant, &recurrence->head,
        &recurrence->coefficients, &recurrence->partial_constants, &recurrence->exit_matrix,
        &recurrence->exit_constants, &recurrence->exit_mds};
    size_t total = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        total += sizes[i];
    recurrence->entry_mds = base_calloc(total, set->field->limbs * sizeof(uint64_t));
    if (!recurrence->entry_mds)
        return base_fail_memory("the recurrence form of the partial rounds");
    total = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        *arrays[i] = at(set, recurrence->entry_mds, total);
        total += sizes[i];
    }
    return POOL_OK;
}

void poseidon_recurrence_free(struct poseidon_recurrence *recurrence)
{
    base_free(recurrence->entry_mds);
    memset(recurrence, 0, sizeof(*recurrence));
}

static pool_status derive_recurrence(pool_poseidon *set, struct derivation *work)
{
    uint32_t n = set->width - 1;
    bool is_basis;
    pool_status status;

    compute_krylov_matrix(set, work);
    status = poseidon_matrix_inverse(set->field, work->krylov, work->krylov, n, &is_basis);
    if (status || !is_basis)
        return status;
    compute_controller_form(set, work);
    status = poseidon_matrix_inverse(set->field, work->inverse, work->basis, n, &is_basis);
    if (status || !is_basis)
        return status;
    status = allocate_recurrence(set);
    if (status)
        return status;
    move_constants(set, work);
    compute_scales(set, work);
    store_rounds(set, work);
    store_matrices(set, work);
    set->recurrence.is_used = true;
    return POOL_OK;
}

/* Leaves is_used false if the matrix has no controller form; the rounds are then computed as they
 * are defined. */
pool_status poseidon_recurrence_derive(pool_poseidon *set, bool is_scaled)
{
    struct derivation work;
    pool_status status;

    poseidon_recurrence_free(&set->recurrence);
    if (set->kind != POOL_POSEIDON || set->partial_rounds == 0)
        return POOL_OK;
    status = allocate_derivation(set, &work);
    if (status)
        return status;
    set->recurrence.is_scaled = is_scaled && !field_is_zero(set->field, set->mds);
    status = derive_recurrence(set, &work);
    base_free(work.memory);
    if (status)
        poseidon_recurrence_free(&set->recurrence);
    return status;
}
