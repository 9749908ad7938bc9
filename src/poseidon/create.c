/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter sets of the user's own (built-in ones come here too): reading and checking what they
 * are made from, references, facts.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "field/integer.h"
#include "poseidon/kernels.h"

/* Up to this width the partial rounds are scaled (partial_rounds.c): one product of 2 n + 1 is
 * saved for constants that differ by round. Beyond, the constants of all rounds outgrow the fast
 * constant memory of a multiprocessor while the gain shrinks below 1 in 11. */
enum { SCALED_WIDTH_MAX = 5 };

static const struct base_struct poseidon_params_type = BASE_STRUCT(pool_poseidon_params);

void pool_poseidon_params_init(pool_poseidon_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status check_rounds(const pool_poseidon_params *params)
{
    pool_status status = params->field ? base_check_ranges("pool_poseidon_create",
                                             {"kind", params->kind, 0, POOL_POSEIDON2},
                                             {"form", params->form, 0, POOL_FORM_MONTGOMERY},
                                             {"feed_forward", params->feed_forward, 0, 1})
                                       : base_fail_null("pool_poseidon_create", "field");

    if (status)
        return status;
    if (params->width < 2 || params->width > POOL_POSEIDON_MAX_WIDTH)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the width is %u, 2 to %d are possible",
            params->width, POOL_POSEIDON_MAX_WIDTH);
    if (params->full_rounds < 2 || params->full_rounds > POSEIDON_MAX_FULL_ROUNDS)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "unsupported value %u for `full_rounds`: must be from 2 to %d", params->full_rounds,
            POSEIDON_MAX_FULL_ROUNDS);
    if (params->full_rounds % 2 && (params->kind != POOL_POSEIDON || params->partial_rounds))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "unsupported value %u for `full_rounds`: must be even, except in a set of kind "
            "POOL_POSEIDON without partial rounds",
            params->full_rounds);
    if (params->partial_rounds > POSEIDON_MAX_PARTIAL_ROUNDS)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%u partial rounds, up to %d are possible",
            params->partial_rounds, POSEIDON_MAX_PARTIAL_ROUNDS);
    if (params->partial_lane >= params->width)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "partial lane %u of %u lanes",
            params->partial_lane, params->width);
    return POOL_OK;
}

/* x^alpha is a permutation when alpha and p - 1 have no common factor. */
static pool_status check_alpha(const pool_poseidon_params *params)
{
    uint64_t order[FIELD_MAX_LIMBS];
    uint64_t a = params->alpha;
    uint64_t b;

    if (a < 3 || a > POSEIDON_MAX_ALPHA || a % 2 == 0)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "alpha is %u: must be an odd number from 3 to %d", params->alpha, POSEIDON_MAX_ALPHA);
    memcpy(order, params->field->modulus, sizeof(order));
    order[0] -= 1;
    b = field_integer_mod_small(order, a, params->field->limbs);
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    if (a != 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "alpha %u and p - 1 have the common factor %llu, so x^alpha is no permutation",
            params->alpha, (unsigned long long)a);
    return POOL_OK;
}

static pool_status check_count(const void *elements, size_t given, size_t wanted, const char *what)
{
    if (!elements || given != wanted)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s must be %zu elements, %zu are given",
            what, wanted, elements ? given : 0);
    return POOL_OK;
}

static pool_status check_counts(const pool_poseidon_params *params)
{
    size_t t = params->width;
    size_t each = params->kind == POOL_POSEIDON2 ? 1 : t;
    size_t constants = params->full_rounds * t + params->partial_rounds * each;
    pool_status status;

    if (!params->round_constants || (params->round_constant_count != constants &&
                                        params->round_constant_count != constants + t))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the round constants must be %zu elements, or %zu with final ones, %zu are given",
            constants, constants + t, params->round_constants ? params->round_constant_count : 0);
    status = check_count(params->matrix, params->matrix_count, t * t, "matrix");
    if (!status && params->kind == POOL_POSEIDON2)
        status = check_count(
            params->internal_diagonal, params->internal_diagonal_count, t, "internal diagonal");
    if (!status && params->kind == POOL_POSEIDON && params->internal_diagonal)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "an internal diagonal is given, but the kind is POSEIDON");
    return status;
}

/* The lanes of hashing, defaults filled in. */
static pool_status read_lanes(pool_poseidon *set, const pool_poseidon_params *params)
{
    uint32_t t = set->width;

    set->inputs = params->inputs ? params->inputs : t - 1;
    set->input_lane = params->inputs || params->input_lane ? params->input_lane : 1;
    set->rate = params->rate ? params->rate : set->inputs;
    set->tag_lane = params->tag_lane;
    set->output_lane = params->output_lane;
    set->digest = params->digest ? params->digest : 1;
    set->feed_forward = params->feed_forward != 0;
    if (set->input_lane >= t || set->inputs > t - set->input_lane)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%u inputs from lane %u on do not fit %u lanes",
            set->inputs, set->input_lane, t);
    if (set->rate > t - set->input_lane)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "a rate of %u from lane %u on does not fit %u lanes", set->rate, set->input_lane, t);
    if (set->output_lane >= t || set->digest > t - set->output_lane)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "a digest of %u from lane %u on does not fit %u lanes", set->digest, set->output_lane,
            t);
    if (set->tag_lane >= t)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "tag lane %u of %u lanes", set->tag_lane, t);
    if (!field_is_zero(set->field, set->tag) && set->tag_lane >= set->input_lane &&
        set->tag_lane < set->input_lane + set->inputs)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_poseidon_create: `domain_tag` is not 0 and `tag_lane` %u is an input's: inputs "
            "are in lanes %u to %u",
            set->tag_lane, set->input_lane, set->input_lane + set->inputs - 1);
    return POOL_OK;
}

static pool_status copy_elements(pool_poseidon *set, uint64_t **copy, const void *elements,
    size_t count, pool_form form, const char *what)
{
    *copy = base_calloc(count, set->field->limbs * sizeof(**copy));
    if (!*copy)
        return base_fail_memory("a Poseidon set");
    return poseidon_load(set->field, *copy, elements, count, form, what);
}

static void exchange(pool_poseidon *set, uint64_t *x, uint64_t *y)
{
    uint64_t kept[FIELD_MAX_LIMBS];

    field_copy(set->field, kept, x);
    field_copy(set->field, x, y);
    field_copy(set->field, y, kept);
}

/* Lane 0 and the partial lane change places. */
static void exchange_lanes(pool_poseidon *set)
{
    size_t t = set->width;
    size_t limbs = set->field->limbs;
    size_t other = set->partial_lane;

    if (other == 0)
        return;
    for (size_t i = 0; i < t; i++)
        exchange(set, set->matrix + i * t * limbs, set->matrix + (i * t + other) * limbs);
    for (size_t j = 0; j < t; j++)
        exchange(set, set->matrix + j * limbs, set->matrix + (other * t + j) * limbs);
    if (set->diagonal)
        exchange(set, set->diagonal, set->diagonal + other * limbs);
    size_t before = (size_t)set->full_rounds / 2;
    for (size_t round = 0; round < set->full_rounds + set->partial_rounds; round++) {
        bool is_full = round < before || round >= before + set->partial_rounds;
        size_t start = round * t;
        if (set->kind == POOL_POSEIDON2 && !is_full)
            continue;
        if (set->kind == POOL_POSEIDON2 && round >= before)
            start -= set->partial_rounds * (t - 1);
        exchange(set, set->constants + start * limbs, set->constants + (start + other) * limbs);
    }
    if (poseidon_final_constants(set)) {
        uint64_t *final = set->constants + poseidon_constant_count(set) * limbs;
        exchange(set, final, final + other * limbs);
    }
}

static pool_status check_invertible(pool_poseidon *set)
{
    size_t t = set->width;
    size_t limbs = set->field->limbs;
    uint64_t *matrix = base_calloc(t * t, limbs * sizeof(*matrix));
    bool invertible;
    pool_status status;

    if (!matrix)
        return base_fail_memory("a matrix");
    status = poseidon_matrix_inverse(set->field, matrix, set->matrix, set->width, &invertible);
    if (!status && !invertible)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "the matrix is not invertible");
    if (!status && set->diagonal) {
        for (size_t i = 0; i < t * t; i++)
            field_set_one(set->field, matrix + i * limbs);
        for (size_t i = 0; i < t; i++)
            field_add(set->field, matrix + i * (t + 1) * limbs, matrix + i * (t + 1) * limbs,
                set->diagonal + i * limbs);
        status = poseidon_matrix_inverse(set->field, matrix, matrix, set->width, &invertible);
        if (!status && !invertible)
            status = base_fail(POOL_ERR_INVALID_ARGUMENT, "the internal matrix is not invertible");
    }
    base_free(matrix);
    return status;
}

static void digest_elements(
    struct base_sha256 *digest, const pool_field *field, const uint64_t *limbs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t standard[FIELD_MAX_LIMBS];
        uint8_t bytes[POOL_FIELD_MAX_BYTES];
        field_from_montgomery(field, standard, limbs + i * field->limbs);
        field_integer_to_bytes(bytes, 8 * (size_t)field->limbs, false, standard, field->limbs);
        base_sha256_add(digest, bytes, 8 * (size_t)field->limbs);
    }
}

static pool_status make_fingerprint(pool_poseidon *set)
{
    static const char version[] = "devicepool Poseidon set 1";
    uint32_t numbers[] = {set->kind, set->width, set->alpha, set->full_rounds, set->partial_rounds,
        set->partial_lane, set->inputs, set->input_lane, set->rate, set->tag_lane, set->output_lane,
        set->digest, set->feed_forward, set->field->limbs};
    size_t t = set->width;
    uint8_t bytes[sizeof(numbers)];
    struct base_sha256 *digest = base_sha256_begin();

    if (!digest)
        return base_fail_memory("a fingerprint");
    base_sha256_add(digest, version, sizeof(version));
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(numbers[i / 4] >> (8 * (i % 4)));
    base_sha256_add(digest, bytes, sizeof(bytes));
    uint8_t modulus[POOL_FIELD_MAX_BYTES];
    field_integer_to_bytes(
        modulus, 8 * (size_t)set->field->limbs, false, set->field->modulus, set->field->limbs);
    base_sha256_add(digest, modulus, 8 * (size_t)set->field->limbs);
    digest_elements(digest, set->field, set->tag, 1);
    digest_elements(digest, set->field, set->constants, set->constant_count);
    digest_elements(digest, set->field, set->matrix, t * t);
    if (set->diagonal)
        digest_elements(digest, set->field, set->diagonal, t);
    return base_sha256_end(digest, set->fingerprint);
}

static void set_free(pool_poseidon *set)
{
    base_free(set->constants);
    base_free(set->matrix);
    base_free(set->diagonal);
    poseidon_free_window(&set->window);
    poseidon_program_free(atomic_load(&set->program));
    pool_field_destroy(&set->field);
    base_free(set);
}

static pool_status set_fill(pool_poseidon *set, const pool_poseidon_params *params)
{
    size_t t = params->width;
    pool_status status = POOL_OK;

    set->kind = params->kind;
    set->width = params->width;
    set->alpha = params->alpha;
    set->full_rounds = params->full_rounds;
    set->partial_rounds = params->partial_rounds;
    set->partial_lane = params->partial_lane;
    set->constant_count = params->round_constant_count;
    if (params->domain_tag)
        status = poseidon_load(
            set->field, set->tag, params->domain_tag, 1, params->form, "the domain tag");
    if (!status)
        status = read_lanes(set, params);
    if (!status)
        status = copy_elements(set, &set->constants, params->round_constants, set->constant_count,
            params->form, "round constant");
    if (!status)
        status =
            copy_elements(set, &set->matrix, params->matrix, t * t, params->form, "matrix element");
    if (!status && set->kind == POOL_POSEIDON2)
        status = copy_elements(set, &set->diagonal, params->internal_diagonal, t, params->form,
            "internal diagonal's element");
    if (!status)
        status = check_invertible(set);
    if (status)
        return status;
    exchange_lanes(set);
    status = make_fingerprint(set);
    return status ? status : poseidon_derive_window(set, t <= SCALED_WIDTH_MAX);
}

pool_status pool_poseidon_create(const pool_poseidon_params *given, pool_poseidon **set)
{
    pool_poseidon_params params;
    pool_poseidon *made;
    pool_status status =
        base_struct_read(&poseidon_params_type, "pool_poseidon_create", "params", given, &params);

    if (!status && !set)
        status = base_fail_null("pool_poseidon_create", "set");
    if (!status && params.name && strlen(params.name) > POSEIDON_MAX_NAME)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the set's name has %zu characters, %d are allowed", strlen(params.name),
            POSEIDON_MAX_NAME);
    if (!status)
        status = check_rounds(&params);
    if (!status)
        status = check_alpha(&params);
    if (!status)
        status = check_counts(&params);
    if (status)
        return status;
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return base_fail_memory("a Poseidon set");
    atomic_init(&made->references, 1);
    strcpy(made->name, params.name ? params.name : "custom");
    made->field = pool_field_retain(params.field);
    status = set_fill(made, &params);
    if (status) {
        set_free(made);
        return status;
    }
    *set = made;
    return POOL_OK;
}

pool_poseidon *pool_poseidon_retain(pool_poseidon *set)
{
    if (set)
        atomic_fetch_add_explicit(&set->references, 1, memory_order_relaxed);
    return set;
}

void pool_poseidon_destroy(pool_poseidon **set)
{
    if (!set || !*set)
        return;
    if (atomic_fetch_sub_explicit(&(*set)->references, 1, memory_order_acq_rel) == 1)
        set_free(*set);
    *set = NULL;
}

const char *pool_poseidon_name(const pool_poseidon *set)
{
    return set ? set->name : "";
}

const pool_field *pool_poseidon_field(const pool_poseidon *set)
{
    return set ? set->field : NULL;
}

uint32_t pool_poseidon_width(const pool_poseidon *set)
{
    return set ? set->width : 0;
}

uint32_t pool_poseidon_inputs(const pool_poseidon *set)
{
    return set ? set->inputs : 0;
}

uint32_t pool_poseidon_rate(const pool_poseidon *set)
{
    return set ? set->rate : 0;
}

uint32_t pool_poseidon_digest(const pool_poseidon *set)
{
    return set ? set->digest : 0;
}

pool_status pool_poseidon_fingerprint(
    const pool_poseidon *set, uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    if (!set || !fingerprint)
        return base_fail_null("pool_poseidon_fingerprint", set ? "fingerprint" : "set");
    memcpy(fingerprint, set->fingerprint, POOL_FINGERPRINT_BYTES);
    return POOL_OK;
}
