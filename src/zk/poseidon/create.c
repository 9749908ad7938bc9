/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter sets: validation of pool_poseidon_params, derived values, references, properties.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "zk/field/integer.h"
#include "zk/poseidon/poseidon.h"

/* Up to this width the partial rounds are scaled (partial_rounds.c), which saves one product of
 * 2 n + 1 but needs different coefficients in every round. For wider states these coefficients
 * exceed the constant cache of a multiprocessor while the gain falls below 1 in 11. */
enum { SCALED_WIDTH_MAX = 5 };

static const struct base_struct poseidon_params_type = BASE_STRUCT(pool_poseidon_params);

void pool_poseidon_params_init(pool_poseidon_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static const char call[] = "pool_poseidon_create";

static pool_status refuse(const char *member, uint32_t value, const char *reason)
{
    return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unsupported value %u for `%s`; %s", call,
        value, member, reason);
}

static pool_status check_rounds(const pool_poseidon_params *params)
{
    bool is_even = params->full_rounds % 2 == 0;
    bool may_be_odd = params->kind == POOL_POSEIDON && params->partial_rounds == 0;
    pool_status status = base_check_pointers(call, {"field", params->field});

    if (!status)
        status = field_check_prime(call, params->field);
    if (!status)
        status = base_check_ranges(call, {"kind", params->kind, 0, POOL_POSEIDON2},
            {"form", params->form, 0, POOL_FORM_MONTGOMERY},
            {"feed_forward", params->feed_forward, 0, 1},
            {"width", params->width, 2, POOL_POSEIDON_MAX_WIDTH},
            {"full_rounds", params->full_rounds, 2, POSEIDON_MAX_FULL_ROUNDS},
            {"partial_rounds", params->partial_rounds, 0, POSEIDON_MAX_PARTIAL_ROUNDS},
            {"partial_index", params->partial_index, 0, (int64_t)params->width - 1});
    if (!status && !is_even && !may_be_odd)
        status = refuse("full_rounds", params->full_rounds,
            "it must be even, except for kind POOL_POSEIDON without partial rounds");
    return status;
}

/* x^alpha is a permutation if alpha and p - 1 have no common factor. */
static pool_status check_alpha(const pool_poseidon_params *params)
{
    uint64_t order[FIELD_MAX_LIMBS];
    uint64_t a = params->alpha;
    uint64_t b;

    if (a < 3 || a > POSEIDON_MAX_ALPHA || a % 2 == 0)
        return refuse("alpha", params->alpha, "it must be an odd number from 3 to 255");
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
            "%s: unsupported value %u for `alpha`; alpha and p - 1 have the common factor %llu, so "
            "x^alpha is not a permutation",
            call, params->alpha, (unsigned long long)a);
    return POOL_OK;
}

static pool_status check_count(
    const char *member, const void *elements, size_t count, size_t expected)
{
    if (!elements)
        return base_fail_null(call, member);
    if (count != expected)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `%s` must be %zu elements, %zu are given",
            call, member, expected, count);
    return POOL_OK;
}

static pool_status check_counts(const pool_poseidon_params *params)
{
    size_t t = params->width;
    size_t per_partial_round = params->kind == POOL_POSEIDON2 ? 1 : t;
    size_t constants = params->full_rounds * t + params->partial_rounds * per_partial_round;
    pool_status status = base_check_pointers(call, {"round_constants", params->round_constants});

    if (!status && params->round_constant_count != constants &&
        params->round_constant_count != constants + t)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `round_constants` must be %zu elements, or %zu with final constants, %zu are "
            "given",
            call, constants, constants + t, params->round_constant_count);
    if (!status)
        status = check_count("mds", params->mds, params->mds_count, t * t);
    if (!status && params->kind == POOL_POSEIDON2)
        status = check_count(
            "internal_diagonal", params->internal_diagonal, params->internal_diagonal_count, t);
    if (!status && params->kind == POOL_POSEIDON && params->internal_diagonal)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `internal_diagonal` must be NULL for kind POOL_POSEIDON", call);
    return status;
}

/* Elements index … index + count - 1 must be elements of the state. */
static pool_status check_state_range(const pool_poseidon *set, const char *count_member,
    uint32_t count, const char *index_member, uint32_t index)
{
    if (index < set->width && count <= set->width - index)
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: `%s` %u and `%s` %u exceed the state of %u elements", call, count_member, count,
        index_member, index, set->width);
}

/* Copies the members for hashing and their defaults. */
static pool_status read_hashing(pool_poseidon *set, const pool_poseidon_params *params)
{
    uint32_t first = params->max_inputs || params->input_index ? params->input_index : 1;
    pool_status status;

    set->max_inputs = params->max_inputs ? params->max_inputs : set->width - 1;
    set->input_index = first;
    set->rate = params->rate ? params->rate : set->max_inputs;
    set->domain_tag_index = params->domain_tag_index;
    set->output_index = params->output_index;
    set->digest_elements = params->digest_elements ? params->digest_elements : 1;
    set->feed_forward = params->feed_forward != 0;
    status = check_state_range(set, "max_inputs", set->max_inputs, "input_index", first);
    if (!status)
        status = check_state_range(set, "rate", set->rate, "input_index", first);
    if (!status)
        status = check_state_range(
            set, "digest_elements", set->digest_elements, "output_index", set->output_index);
    if (!status)
        status = base_check_ranges(
            call, {"domain_tag_index", set->domain_tag_index, 0, (int64_t)set->width - 1});
    if (!status && !field_is_zero(set->field, set->domain_tag) && set->domain_tag_index >= first &&
        set->domain_tag_index < first + set->max_inputs)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `domain_tag` must be 0 because `domain_tag_index` %u is within the inputs, state "
            "elements %u to %u",
            call, set->domain_tag_index, first, first + set->max_inputs - 1);
    return status;
}

static pool_status copy_elements(pool_poseidon *set, uint64_t **copy, const void *elements,
    size_t count, pool_form form, const char *what)
{
    *copy = base_calloc(count, set->field->limbs * sizeof(**copy));
    if (!*copy)
        return base_fail_memory("a Poseidon parameter set");
    return poseidon_load(set->field, *copy, elements, count, form, what);
}

static void swap_elements(const pool_field *field, uint64_t *x, uint64_t *y)
{
    uint64_t old[FIELD_MAX_LIMBS];

    field_copy(field, old, x);
    field_copy(field, x, y);
    field_copy(field, y, old);
}

/* Exchanges state elements 0 and partial_index in matrices and constants. */
static void swap_partial_element(pool_poseidon *set)
{
    const pool_field *field = set->field;
    size_t t = set->width;
    size_t limbs = field->limbs;
    size_t other = set->partial_index;
    size_t half = (size_t)set->full_rounds / 2;

    if (other == 0)
        return;
    for (size_t i = 0; i < t; i++)
        swap_elements(field, set->mds + i * t * limbs, set->mds + (i * t + other) * limbs);
    for (size_t j = 0; j < t; j++)
        swap_elements(field, set->mds + j * limbs, set->mds + (other * t + j) * limbs);
    if (set->diagonal)
        swap_elements(field, set->diagonal, set->diagonal + other * limbs);
    for (size_t round = 0; round < set->full_rounds + set->partial_rounds; round++) {
        bool is_full = round < half || round >= half + set->partial_rounds;
        size_t start = round * t;

        if (set->kind == POOL_POSEIDON2 && !is_full)
            continue;
        if (set->kind == POOL_POSEIDON2 && round >= half)
            start -= set->partial_rounds * (t - 1);
        swap_elements(
            field, set->constants + start * limbs, set->constants + (start + other) * limbs);
    }
    if (poseidon_final_constants(set)) {
        uint64_t *final = set->constants + poseidon_round_constant_count(set) * limbs;

        swap_elements(field, final, final + other * limbs);
    }
}

static pool_status check_invertible(pool_poseidon *set)
{
    size_t t = set->width;
    size_t limbs = set->field->limbs;
    uint64_t *matrix = base_calloc(t * t, limbs * sizeof(*matrix));
    bool is_invertible;
    pool_status status;

    if (!matrix)
        return base_fail_memory("a matrix");
    status = poseidon_matrix_inverse(set->field, matrix, set->mds, set->width, &is_invertible);
    if (!status && !is_invertible)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `mds` must be invertible", call);
    if (!status && set->diagonal) {
        for (size_t i = 0; i < t * t; i++)
            field_set_one(set->field, matrix + i * limbs);
        for (size_t i = 0; i < t; i++)
            field_add(set->field, matrix + i * (t + 1) * limbs, matrix + i * (t + 1) * limbs,
                set->diagonal + i * limbs);
        status = poseidon_matrix_inverse(set->field, matrix, matrix, set->width, &is_invertible);
        if (!status && !is_invertible)
            status = base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: J + diag(`internal_diagonal`) must be invertible", call);
    }
    base_free(matrix);
    return status;
}

static void hash_elements(
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

static pool_status compute_fingerprint(pool_poseidon *set)
{
    static const char version[] = "devicepool Poseidon set 1";
    uint32_t numbers[] = {set->kind, set->width, set->alpha, set->full_rounds, set->partial_rounds,
        set->partial_index, set->max_inputs, set->input_index, set->rate, set->domain_tag_index,
        set->output_index, set->digest_elements, set->feed_forward, set->field->limbs};
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
    hash_elements(digest, set->field, set->domain_tag, 1);
    hash_elements(digest, set->field, set->constants, set->constant_count);
    hash_elements(digest, set->field, set->mds, t * t);
    if (set->diagonal)
        hash_elements(digest, set->field, set->diagonal, t);
    return base_sha256_end(digest, set->fingerprint);
}

static void free_set(pool_poseidon *set)
{
    base_free(set->constants);
    base_free(set->mds);
    base_free(set->diagonal);
    poseidon_recurrence_free(&set->recurrence);
    pool_field_destroy(&set->field);
    base_free(set);
}

static pool_status init_set(pool_poseidon *set, const pool_poseidon_params *params)
{
    size_t t = params->width;
    pool_status status = POOL_OK;

    set->kind = params->kind;
    set->width = params->width;
    set->alpha = params->alpha;
    set->full_rounds = params->full_rounds;
    set->partial_rounds = params->partial_rounds;
    set->partial_index = params->partial_index;
    set->constant_count = params->round_constant_count;
    if (params->domain_tag)
        status = poseidon_load(
            set->field, set->domain_tag, params->domain_tag, 1, params->form, "`domain_tag`");
    if (!status)
        status = read_hashing(set, params);
    if (!status)
        status = copy_elements(set, &set->constants, params->round_constants, set->constant_count,
            params->form, "`round_constants`");
    if (!status)
        status = copy_elements(set, &set->mds, params->mds, t * t, params->form, "`mds`");
    if (!status && set->kind == POOL_POSEIDON2)
        status = copy_elements(
            set, &set->diagonal, params->internal_diagonal, t, params->form, "`internal_diagonal`");
    if (!status)
        status = check_invertible(set);
    if (status)
        return status;
    swap_partial_element(set);
    status = compute_fingerprint(set);
    return status ? status : poseidon_recurrence_derive(set, t <= SCALED_WIDTH_MAX);
}

pool_status pool_poseidon_create(const pool_poseidon_params *given, pool_poseidon **set)
{
    pool_poseidon_params params;
    pool_poseidon *created;
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
    created = base_calloc(1, sizeof(*created));
    if (!created)
        return base_fail_memory("a Poseidon parameter set");
    atomic_init(&created->references, 1);
    strcpy(created->name, params.name ? params.name : "custom");
    created->field = pool_field_retain(params.field);
    status = init_set(created, &params);
    if (status) {
        free_set(created);
        return status;
    }
    *set = created;
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
        free_set(*set);
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

uint32_t pool_poseidon_max_inputs(const pool_poseidon *set)
{
    return set ? set->max_inputs : 0;
}

uint32_t pool_poseidon_rate(const pool_poseidon *set)
{
    return set ? set->rate : 0;
}

uint32_t pool_poseidon_digest_elements(const pool_poseidon *set)
{
    return set ? set->digest_elements : 0;
}

pool_status pool_poseidon_fingerprint(
    const pool_poseidon *set, uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    if (!set || !fingerprint)
        return base_fail_null("pool_poseidon_fingerprint", set ? "fingerprint" : "set");
    memcpy(fingerprint, set->fingerprint, POOL_FINGERPRINT_BYTES);
    return POOL_OK;
}
