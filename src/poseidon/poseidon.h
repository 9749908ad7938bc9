/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameter set as the files of this room see it, and the host arithmetic over it. Nothing up
 * to the line "Devices" knows of a device.
 *
 * Lanes. Inside the library lane 0 is the one that partial rounds raise: where a set raises another
 * one, that lane and lane 0 are exchanged in constants, matrices and numbers of lanes when the set
 * is made, and in states when they are loaded and stored (poseidon_outer).
 *
 * Elements are field->limbs limbs in Montgomery form, one after another.
 */
#ifndef POSEIDON_POSEIDON_H
#define POSEIDON_POSEIDON_H

#include <stdatomic.h>

#include <devicepool/poseidon.h>

#include "field/field.h"

enum {
    POSEIDON_MAX_NAME = 63,
    POSEIDON_MAX_FULL_ROUNDS = 128,
    POSEIDON_MAX_PARTIAL_ROUNDS = 1024,
    POSEIDON_MAX_ALPHA = 255,
    /* A state on the stack. */
    POSEIDON_STATE_LIMBS = POOL_POSEIDON_MAX_WIDTH * FIELD_MAX_LIMBS,
};

/*
 * The partial rounds of a POSEIDON set in few products (partial_rounds.c has the derivation): n = t
 * - 1 lanes beside lane 0 become a window z of the last n values of a recurrence, so that a round
 * is s = u^alpha;  new = s + sum a_j z_j;  u = head s + sum h_j z_j + k;  z = (new, z_1 … z_n-1)
 * two sums of products, whatever t is. When is_scaled, head is 1 and a and h differ by round.
 */
struct poseidon_window {
    bool is_used;
    bool is_scaled;
    uint64_t *entry; /* t * t: replaces the matrix of the last full round of the first half */
    uint64_t *first; /* 1: added to lane 0 after that */
    uint64_t *head;  /* 1: the factor of s; one when is_scaled */
    uint64_t *sums;  /* a_1 … a_n, h_1 … h_n: once, or for each round when is_scaled */
    uint64_t *lane;  /* one a partial round: k */
    uint64_t *exit;  /* n * n: from the window to lanes 1 … n */
    uint64_t *after; /* n: added to those then; stands for the next full round's constants */
    uint64_t *back;  /* t * t: replaces the matrix of the first full round of the second half */
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
    uint32_t partial_lane; /* exchanged with lane 0 */
    uint32_t inputs;
    uint32_t input_lane; /* numbers of lanes here are the caller's */
    uint32_t rate;
    uint32_t tag_lane;
    uint32_t output_lane;
    uint32_t digest;
    bool feed_forward;
    uint64_t tag[FIELD_MAX_LIMBS];
    uint64_t *constants; /* as in pool_poseidon_params, final ones last */
    size_t constant_count;
    uint64_t *matrix;   /* t * t */
    uint64_t *diagonal; /* POSEIDON2: t */
    struct poseidon_window window;
    _Atomic(struct poseidon_program *) program; /* kernels.c: NULL until a device needs it */
};

/* The caller's lane that is lane `lane` inside, and the reverse: an exchange. */
static inline uint32_t poseidon_outer(const pool_poseidon *set, uint32_t lane)
{
    return lane == 0 ? set->partial_lane : lane == set->partial_lane ? 0 : lane;
}

/* Those that rounds add; final ones follow them. */
static inline size_t poseidon_constant_count(const pool_poseidon *set)
{
    size_t full = (size_t)set->full_rounds * set->width;
    size_t each = set->kind == POOL_POSEIDON2 ? 1 : set->width;
    return full + set->partial_rounds * each;
}

/* Added after the last linear layer; NULL: none. */
static inline const uint64_t *poseidon_final_constants(const pool_poseidon *set)
{
    size_t of_rounds = poseidon_constant_count(set);
    return set->constant_count > of_rounds ? set->constants + of_rounds * set->field->limbs : NULL;
}

/* partial_rounds.c: makes set->window, with is_used false where there is no such form. */
pool_status poseidon_derive_window(pool_poseidon *set, bool is_scaled);
void poseidon_free_window(struct poseidon_window *window);

/* matrix.c: matrices row by row, over the host arithmetic. */
void poseidon_matrix_vector(const pool_field *field, uint64_t *result, const uint64_t *matrix,
    const uint64_t *vector, uint32_t rows, uint32_t columns);
/* *invertible false, and nothing written, when it is not. `matrix` and `inverse` may be one. */
pool_status poseidon_matrix_inverse(const pool_field *field, uint64_t *inverse,
    const uint64_t *matrix, uint32_t size, bool *invertible);

/* grain.c: where the constants of built-in sets come from. */
/* Self-shrinking Grain: the bits that the Poseidon paper's generator makes. */
struct poseidon_grain {
    uint64_t low; /* bits 0 … 63 of the register, the oldest is bit 0 */
    uint64_t high;
};
void poseidon_grain_start(struct poseidon_grain *grain, uint32_t sbox, uint32_t bits,
    uint32_t width, uint32_t full_rounds, uint32_t partial_rounds);
/* An element of field->bits bits in standard form: drawn again until below p, or reduced mod p. */
void poseidon_grain_below(
    struct poseidon_grain *grain, const pool_field *field, uint64_t *standard);
void poseidon_grain_reduced(
    struct poseidon_grain *grain, const pool_field *field, uint64_t *standard);
/* ChaCha8 keyed as rand_core's seed_from_u64(0); numbers below p by the high half of a product. */
void poseidon_chacha_elements(const pool_field *field, uint64_t *elements, size_t count);
/* The first SHA-256 of "<prefix><i>_<j>", j = 0, 1, …, that is below p, for i from `first` on. */
pool_status poseidon_coda_elements(
    const pool_field *field, const char *prefix, size_t first, uint64_t *elements, size_t count);
/* SHA-256 of "Hades0", "Hades1", … modulo p. */
pool_status poseidon_hades_elements(const pool_field *field, uint64_t *elements, size_t count);

/* permute.c: t elements, inner order of lanes, in place. Plain is the definition, poseidon_permute
 * the short form. */
void poseidon_permute_plain(const pool_poseidon *set, uint64_t *state);
void poseidon_permute(const pool_poseidon *set, uint64_t *state);

/* hash.c: elements in Montgomery limbs. */
void poseidon_hash_one(
    const pool_poseidon *set, const uint64_t *inputs, uint32_t count, uint64_t *digest);

struct poseidon_sponge {
    uint32_t elements;
    uint32_t squeezed;
    uint32_t rate;
    pool_sponge_mode mode;
    pool_sponge_padding padding;
    uint64_t tag[FIELD_MAX_LIMBS];
};
void poseidon_sponge_one(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const uint64_t *message, uint64_t *result);
/* Its params checked, after base_struct_read. */
pool_status poseidon_sponge_read(const pool_poseidon *set,
    const pool_poseidon_sponge_params *params, struct poseidon_sponge *sponge);

/* A tree, its params read and checked. */
struct poseidon_tree {
    pool_merkle_params params;
    uint32_t arity;
    uint32_t height;
    uint32_t first_row;
    bool hashes_leaves;
    struct poseidon_sponge leaf; /* when hashes_leaves */
    uint32_t leaf_elements;
    uint64_t leaves;
    uint64_t row_count[65]; /* nodes of row r with a leaf below */
    uint64_t row_start[65]; /* of kept rows, in digests */
    uint64_t digests;       /* of all kept rows */
    uint64_t *padding;      /* height + 1 digests: missing nodes by row */
};
/* The children and hashed leaves that building it reads, for a watch. */
uint64_t poseidon_tree_work(const struct poseidon_tree *tree);
/* `call` is the public function, for texts. */
pool_status poseidon_tree_read(const char *call, const pool_poseidon *set,
    const pool_merkle_params *given, uint64_t leaves, struct poseidon_tree *tree);
void poseidon_tree_free(struct poseidon_tree *tree);
void poseidon_leaf_digest(const pool_poseidon *set, const struct poseidon_tree *tree,
    const uint64_t *leaf, uint64_t *digest);

/* host.c: on checked spans in host memory. */
struct poseidon_watch;
/* POOL_ERR_BAD_DATA for an element that is not below p. */
struct vector_items;
pool_status poseidon_host_check(
    const pool_poseidon *set, const pool_span *span, const struct vector_items *items);
pool_status poseidon_host_permute(const pool_poseidon *set, const pool_span *states,
    const pool_span *results, struct poseidon_watch *watch);
pool_status poseidon_host_hash(const pool_poseidon *set, const pool_span *inputs, uint32_t elements,
    const pool_span *digests, struct poseidon_watch *watch);
pool_status poseidon_host_sponge(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const pool_span *messages, const pool_span *results, struct poseidon_watch *watch);
pool_status poseidon_host_build(const pool_poseidon *set, const struct poseidon_tree *tree,
    const pool_span *leaves, const pool_span *rows, struct poseidon_watch *watch);

/* span.c: elements as they lie in spans to and from Montgomery limbs. */
pool_status poseidon_span_check(const pool_span *span, size_t item_bytes, const char *what);
static inline unsigned char *poseidon_span_item(
    const pool_span *span, size_t item_bytes, uint64_t index)
{
    return (unsigned char *)span->data + index * (span->stride ? span->stride : item_bytes);
}
/* Refuses elements that are not below p. */
pool_status poseidon_load(const pool_field *field, uint64_t *limbs, const void *packed,
    size_t count, pool_form form, const char *what);
/* Takes any: one that is not below p gives a wrong result. */
void poseidon_load_trusted(
    const pool_field *field, uint64_t *limbs, const void *packed, size_t count, pool_form form);
void poseidon_store(
    const pool_field *field, void *packed, const uint64_t *limbs, size_t count, pool_form form);

/* poseidon.c: a validated copy; NULL stands for all defaults. */
pool_status poseidon_exec_read(const char *call, const pool_exec *given, pool_exec *exec);

/* Progress and cancellation of a call, as its pool_exec says. */
struct poseidon_watch {
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    const pool_cancel *cancel;
    uint64_t done;
    uint64_t told; /* of `done`, the last time */
    uint64_t total;
    bool is_async; /* counts what is enqueued; else what is done */
};
/* poseidon.c */
/* pool_poseidon_merkle_build over leaves of which the first has the index `first_leaf` in messages.
 */
pool_status poseidon_build(const pool_poseidon *set, const pool_exec *given,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *rows);
struct poseidon_watch poseidon_watch_of(const pool_exec *exec, uint64_t total);
/* Counts, and tells now and then; POOL_ERR_CANCELLED when that was asked for. */
pool_status poseidon_watch_count(struct poseidon_watch *watch, uint64_t amount);

/* Devices (device_ops.c, merkle_build.c): on checked spans. */
pool_status poseidon_device_permute(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results);
pool_status poseidon_device_hash(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests);
pool_status poseidon_device_sponge(const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_sponge *sponge, const pool_span *messages, const pool_span *results);
pool_status poseidon_device_build(const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_tree *tree, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *rows);
/* `bytes` of device memory, waited for. */
pool_status poseidon_device_read(const pool_exec *exec, const void *from, void *to, size_t bytes);

#endif
