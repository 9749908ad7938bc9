/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameter set as the files of this directory see it, and the host's arithmetic with it.
 *
 * State elements. Inside the library element 0 is the one that has the S-box in partial rounds. If
 * a parameter set defines another one, the two are exchanged in constants and matrices when the set
 * is created, and in states when they are loaded and stored (poseidon_state_index).
 *
 * Field elements are field->limbs limbs each, in Montgomery form, one after another.
 */
#ifndef POSEIDON_POSEIDON_H
#define POSEIDON_POSEIDON_H

#include <stdatomic.h>

#include <devicepool/poseidon.h>

#include "zk/field/field.h"
#include "zk/poseidon/plan.h"

enum {
    POSEIDON_MAX_NAME = 63,
    POSEIDON_MAX_FULL_ROUNDS = 128,
    POSEIDON_MAX_PARTIAL_ROUNDS = 1024,
    POSEIDON_MAX_ALPHA = 255,
    /* Limbs of the largest state. */
    POSEIDON_STATE_LIMBS = POOL_POSEIDON_MAX_WIDTH * FIELD_MAX_LIMBS,
};

/*
 * The partial rounds of a POSEIDON parameter set with few products; partial_rounds.c derives them.
 * The n = t - 1 state elements other than element 0 become the recurrence state z, the last n
 * values of a linear recurrence. With s = u^alpha a round is
 *     z' = (s + sum a_j z_j, z_1, …, z_(n-1)),  u' = head s + sum h_j z_j + k
 * which is two dot products for every t. When is_scaled, head is 1 and a and h differ by round.
 */
struct poseidon_recurrence {
    bool is_used;
    bool is_scaled;
    uint64_t *entry_mds;      /* t * t: in place of the MDS matrix of the last full round before */
    uint64_t *entry_constant; /* 1: added to element 0 after that */
    uint64_t *head;           /* 1: factor of s; one when is_scaled */
    uint64_t *coefficients;   /* a_1 … a_n, h_1 … h_n: once, or per round when is_scaled */
    uint64_t *partial_constants; /* partial_rounds: k */
    uint64_t *exit_matrix;       /* n * n: from the recurrence state to elements 1 … n */
    uint64_t *exit_constants;    /* n: added to those; include the next full round's constants */
    uint64_t *exit_mds; /* t * t: in place of the MDS matrix of the first full round after */
};

struct pool_poseidon {
    atomic_uint references;
    char name[POSEIDON_MAX_NAME + 1];
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    pool_field *field;
    pool_poseidon_kind kind;
    uint32_t width;
    uint32_t alpha;
    uint32_t full_rounds;
    uint32_t partial_rounds;
    uint32_t partial_index; /* exchanged with element 0 */
    uint32_t max_inputs;
    uint32_t input_index; /* this and the next indices are those of the definition */
    uint32_t rate;
    uint32_t domain_tag_index;
    uint32_t output_index;
    uint32_t digest_elements;
    bool feed_forward;
    uint64_t domain_tag[FIELD_MAX_LIMBS];
    uint64_t *constants; /* in the order of pool_poseidon_params.round_constants */
    size_t constant_count;
    uint64_t *mds;      /* t * t */
    uint64_t *diagonal; /* POSEIDON2: t */
    struct poseidon_recurrence recurrence;
    const struct poseidon_tuning *tuning; /* NULL: the device's; tests choose another one */
};

/* The index within the library's state of the definition's state element `index`, and the reverse:
 * the exchange of elements 0 and partial_index. */
static inline uint32_t poseidon_state_index(const pool_poseidon *set, uint32_t index)
{
    return index == 0 ? set->partial_index : index == set->partial_index ? 0 : index;
}

/* The number of constants that rounds add; the final ones follow them. */
static inline size_t poseidon_round_constant_count(const pool_poseidon *set)
{
    size_t full = (size_t)set->full_rounds * set->width;
    size_t per_partial = set->kind == POOL_POSEIDON2 ? 1 : set->width;
    return full + set->partial_rounds * per_partial;
}

/* The constants that are added after the last linear layer; NULL: none. */
static inline const uint64_t *poseidon_final_constants(const pool_poseidon *set)
{
    size_t count = poseidon_round_constant_count(set);
    return set->constant_count > count ? set->constants + count * set->field->limbs : NULL;
}

/* partial_rounds.c: computes set->recurrence; is_used is false if the matrix allows no such form.
 */
pool_status poseidon_recurrence_derive(pool_poseidon *set, bool is_scaled);
void poseidon_recurrence_free(struct poseidon_recurrence *recurrence);

/* matrix.c: dense matrices in row-major order. */
void poseidon_matrix_vector(const pool_field *field, uint64_t *result, const uint64_t *matrix,
    const uint64_t *vector, uint32_t rows, uint32_t columns);
/* Sets *is_invertible, and writes `inverse` if it is. `matrix` and `inverse` may be the same. */
pool_status poseidon_matrix_inverse(const pool_field *field, uint64_t *inverse,
    const uint64_t *matrix, uint32_t size, bool *is_invertible);

/* permute.c: in place, in the library's order of state elements. The reference form computes the
 * rounds as they are defined, poseidon_permute those of set->recurrence. */
void poseidon_permute_reference(const pool_poseidon *set, uint64_t *state);
void poseidon_permute(const pool_poseidon *set, uint64_t *state);

/* hash.c: one item, in limbs. */
void poseidon_hash_one(
    const pool_poseidon *set, const uint64_t *inputs, uint32_t count, uint64_t *digest);

struct poseidon_sponge {
    uint32_t elements;
    uint32_t output_elements;
    uint32_t rate;
    pool_sponge_mode mode;
    pool_sponge_padding padding;
    uint64_t domain_tag[FIELD_MAX_LIMBS];
};
/* Validates params that base_struct_read has copied. */
pool_status poseidon_sponge_init(const pool_poseidon *set,
    const pool_poseidon_sponge_params *params, struct poseidon_sponge *sponge);
/* Of a message with its padding, without the zeros that fill its last block. */
uint64_t poseidon_padded_length(const struct poseidon_sponge *sponge);
void poseidon_sponge_one(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const uint64_t *message, uint64_t *result);

/* elements.c: packed elements to and from limbs in Montgomery form. */
/* POOL_ERR_BAD_DATA for elements that are not below p; `name` says of which argument. */
pool_status poseidon_load(const pool_field *field, uint64_t *limbs, const void *packed,
    size_t count, pool_form form, const char *name);
/* Accepts all elements; those that are not below p give wrong results. */
void poseidon_load_unchecked(
    const pool_field *field, uint64_t *limbs, const void *packed, size_t count, pool_form form);
void poseidon_store(
    const pool_field *field, void *packed, const uint64_t *limbs, size_t count, pool_form form);

#endif
