/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon and Poseidon2: permutations, hashes of fixed length, sponges and Merkle trees, on a
 * device or, when asked for, on the host.
 *
 * "Poseidon over BN254 with three lanes" names at least four different functions. A parameter set
 * here is an immutable object that fixes everything: field, lanes, exponent, rounds, constants,
 * matrices, and for hashing the domain tag and which lanes are input and output. Its name says
 * whose function it is, its fingerprint covers all of it.
 */
#ifndef DEVICEPOOL_POSEIDON_H
#define DEVICEPOOL_POSEIDON_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/exec.h>
#include <devicepool/field.h>
#include <devicepool/span.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter set. Any number of threads may use one at once. Counts references. */
typedef struct pool_poseidon pool_poseidon;

/*
 * POSEIDON: each round adds t constants, raises all lanes (full) or one lane (partial) to alpha,
 * and multiplies by the matrix. POSEIDON2: multiplies by the matrix once before the first round;
 * partial rounds add one constant and multiply by J + diag(internal_diagonal), J all ones.
 */
typedef enum pool_poseidon_kind { POOL_POSEIDON = 0, POOL_POSEIDON2 = 1 } pool_poseidon_kind;

#define POOL_POSEIDON_MAX_WIDTH 64

/*
 * Names of the built-in sets, NULL past the end. Static. Any thread.
 *   circom-bn254-t2 … -t17             circomlib, circomlibjs, light-poseidon: 1 … 16 inputs
 *   neptune-bls12_381-arity2 4 8 11 16 24 36, each also with -strengthened
 *   eip5988-bn254-t3 -t5, eip5988-bls12_381-t3 -t5      the reference permutations
 *   orchard-pallas-t3                  zcash Orchard (P128Pow5T3), hashing two elements
 *   horizen-bn254-t3 horizen-bls12_381-t2 -t3 horizen-pallas-t3 horizen-vesta-t3
 *   horizen-goldilocks-t12             the Poseidon beside Poseidon2 in HorizenLabs/poseidon2
 *   plonky2-goldilocks-t12
 *   plonky3-goldilocks-t8 -t12 plonky3-babybear-t16 -t24 plonky3-koalabear-t16 -t24
 *   plonky3-mersenne31-t16
 *   starknet-stark252-t3
 *   mina-kimchi-pallas-t3 mina-legacy-pallas-t3         Mina, over the base field of Pallas
 *   poseidon2-horizen-bn254-t2 -t3 -t4 poseidon2-horizen-bls12_381-t2 -t3 -t4
 *   poseidon2-horizen-pallas-t3 poseidon2-horizen-vesta-t3
 *   poseidon2-horizen-goldilocks-t8 -t12 poseidon2-horizen-babybear-t24 (RISC Zero's)
 *   poseidon2-plonky3-goldilocks-t8 -t12 -t16 poseidon2-plonky3-babybear-t16 -t24
 *   poseidon2-plonky3-koalabear-t16 -t24 poseidon2-plonky3-mersenne31-t16 -t24
 */
POOL_API size_t pool_poseidon_count(void);
POOL_API const char *pool_poseidon_name_at(size_t index);

/*
 * The built-in set of that name, made at its first use (milliseconds) and kept. The caller owns one
 * reference. POOL_ERR_NOT_FOUND, POOL_ERR_OUT_OF_HOST_MEMORY.
 */
POOL_API pool_status pool_poseidon_by_name(const char *name, pool_poseidon **set);

/*
 * A set of one's own. Elements are packed field elements in `form`; arrays are copied. Zero is the
 * default of every member but those called required. t stands for width.
 */
typedef struct pool_poseidon_params {
    size_t struct_size;
    const char *name;        /* up to 63 characters; NULL: "custom" */
    const pool_field *field; /* required; the set holds a reference */
    pool_poseidon_kind kind;
    uint32_t width; /* required, 2 … POOL_POSEIDON_MAX_WIDTH */
    uint32_t alpha; /* required: odd, 3 … 255, coprime to p - 1 */
    /* Required, 2 … 128: half before, half after the partial ones. Even, except in a set of kind
       POOL_POSEIDON without partial rounds. */
    uint32_t full_rounds;
    uint32_t partial_rounds; /* up to 1024 */
    uint32_t partial_index;  /* the lane that partial rounds raise */
    pool_form form;          /* of all elements below */
    /* Round by round. POSEIDON: t each, (full_rounds + partial_rounds) * t in all. POSEIDON2: t for
       a full and one for a partial round, full_rounds * t + partial_rounds in all. In both, t more
       are final constants, added after the last linear layer; a round that adds none has zeros.
       Required. */
    const void *round_constants;
    size_t round_constant_count;
    const void *mds; /* t * t, row by row; state becomes matrix * state. Required; invertible. */
    size_t mds_count;
    const void *internal_diagonal; /* POSEIDON2: t, required; J + diag must be invertible */
    size_t internal_diagonal_count;
    /* Hashing. All 0: as circom does, inputs in lanes 1 … t - 1, lane 0 holds the tag 0 and gives
       the digest of one element. */
    uint32_t max_inputs;       /* most elements of a fixed-length hash; 0: t - 1 */
    uint32_t input_index;      /* first lane of the inputs; 0 is lane 1 unless inputs is given */
    uint32_t rate;             /* lanes of a sponge's block, from the input lane on; 0: inputs */
    uint32_t domain_tag_index; /* lane of the tag */
    const void
        *domain_tag; /* one element; NULL: 0. Not 0 only where domain_tag_index is no input's */
    uint32_t output_index;    /* first lane of the digest */
    uint32_t digest_elements; /* elements of a digest; 0: 1 */
    int32_t feed_forward; /* 1: the hash adds the state before the permutation to that after it */
} pool_poseidon_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_poseidon_params_init(pool_poseidon_params *params, size_t struct_size);

/*
 * Checks everything (sizes, elements below p, alpha coprime to p - 1, matrices invertible, lanes
 * within the state) and derives the forms that devices and host compute with. Whether the function
 * is a secure one is for its author to say. POOL_ERR_INVALID_ARGUMENT tells what is wrong,
 * POOL_ERR_BAD_DATA an element not below p. The caller owns one reference.
 */
POOL_API pool_status pool_poseidon_create(const pool_poseidon_params *params, pool_poseidon **set);

/* One more reference; NULL gives NULL. Giving one back; sets *set to NULL, NULL is nothing. */
POOL_API pool_poseidon *pool_poseidon_retain(pool_poseidon *set);
POOL_API void pool_poseidon_destroy(pool_poseidon **set);

/* Facts. Any thread. With NULL: an empty text, NULL or 0. */
POOL_API const char *pool_poseidon_name(const pool_poseidon *set);
POOL_API const pool_field *pool_poseidon_field(const pool_poseidon *set);
POOL_API uint32_t pool_poseidon_width(const pool_poseidon *set);
POOL_API uint32_t pool_poseidon_max_inputs(
    const pool_poseidon *set);                                  /* most of a fixed-length hash */
POOL_API uint32_t pool_poseidon_rate(const pool_poseidon *set); /* of a sponge */
POOL_API uint32_t pool_poseidon_digest_elements(const pool_poseidon *set); /* elements */

/* SHA-256 over all that defines the function, the name left out. */
POOL_API pool_status pool_poseidon_fingerprint(
    const pool_poseidon *set, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/* Compiles the set's kernels for a device and tests them, so that no call has to wait for it.
 * Blocks. `device` NULL: the one that the calling thread has bound. */
POOL_API pool_status pool_poseidon_warm_up(const pool_poseidon *set, pool_device *device);

/*
 * `exec` has a use for all but workspace and memory_limit. Checks: POOL_CHECK_CANONICAL, on a
 * device as on the host. Progress counts states or nodes; without is_async the call then waits from
 * time to time, so that what it reports is done. Spans: `count` items of packed elements; output
 * spans say where and how results are wanted. Host spans are staged in pieces when a device
 * computes, so they may be larger than its memory. After a failure results in memory of the caller
 * may have been written in part.
 */

/* states->count states of t elements each. In place when both spans are the same memory. */
POOL_API pool_status pool_poseidon_permute(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results);

/*
 * One digest for each item of `inputs`, which has `elements` (1 … the set's inputs) elements; the
 * lanes of missing ones are 0.
 */
POOL_API pool_status pool_poseidon_hash(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests);

/* How a block enters the rate lanes. */
typedef enum pool_sponge_mode {
    POOL_SPONGE_ADD = 0,      /* a block is added to the rate lanes */
    POOL_SPONGE_OVERWRITE = 1 /* a block replaces them; lanes beyond a short last block stay */
} pool_sponge_mode;

/* What follows the last element of a message. */
typedef enum pool_sponge_padding {
    POOL_SPONGE_PAD_NONE = 0, /* an empty message is not permuted at all */
    POOL_SPONGE_PAD_10 = 1    /* a 1 and then zeros up to a whole block, always */
} pool_sponge_padding;

/* Zero is the default of every member but struct_size and `elements`. */
typedef struct pool_poseidon_sponge_params {
    size_t struct_size;
    uint32_t elements;        /* of each message */
    uint32_t output_elements; /* elements of each result; 0: the set's digest */
    uint32_t rate;            /* 0: the set's */
    pool_sponge_mode mode;
    pool_sponge_padding padding;
    /* Element in the set's tag lane at the start, standard form, host; NULL: 0. Not 0 only where
       that lane is none of the rate. */
    const void *domain_tag;
} pool_poseidon_sponge_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_poseidon_sponge_params_init(
    pool_poseidon_sponge_params *params, size_t struct_size);

/*
 * Absorbs each message block by block, permuting after each block, then gives `squeezed` elements
 * from the rate lanes, permuting again after each `rate` of them.
 */
POOL_API pool_status pool_poseidon_sponge(const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results);

/*
 * A Merkle tree. Row 0 are the leaves' digests: a leaf of as many elements as a digest is its own
 * digest, any other is hashed by a sponge (the set's rate, tag 0, no padding, `leaf_mode`). Each
 * node of row r + 1 is the fixed-length hash of its `arity` children. Up to arity^height leaves;
 * leaves that are not there count as `padding` (a digest), so a missing node of row r is the root
 * of a tree of height r that is all padding. Zero is the default of every member but struct_size
 * and `arity`.
 */
typedef struct pool_merkle_params {
    size_t struct_size;
    uint32_t arity;         /* 2 … 16; arity * digest elements must fit the set's inputs */
    uint32_t leaf_elements; /* 0: those of a digest */
    uint32_t height;        /* 0: the smallest that holds the leaves */
    uint32_t kept_levels;   /* of the result, counted from the root; 0: all height + 1 */
    pool_sponge_mode leaf_mode;
    const void *padding; /* digest in standard form, host memory; NULL: zeros */
} pool_merkle_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_merkle_params_init(pool_merkle_params *params, size_t struct_size);

/* Rows hold only nodes with a leaf below: row r has ceil(leaves / arity^r), the last one 1. */
typedef struct pool_merkle_shape {
    size_t struct_size;
    uint32_t height;
    uint32_t first_level;  /* the lowest kept row: 0 when all are kept */
    uint64_t digest_count; /* in all kept rows: items of the `rows` span */
    uint64_t path_count;   /* digests of an opening: height * (arity - 1) */
} pool_merkle_shape;

/* Fills `shape` (struct_size set) for a tree of that many leaves. */
POOL_API pool_status pool_merkle_get_shape(const pool_poseidon *set,
    const pool_merkle_params *params, uint64_t leaves, pool_merkle_shape *shape);

/*
 * Builds the tree of leaves->count leaves (at least 1) and writes the kept rows, the lowest first
 * and the root last, as `digests` items. Leaves in host memory are streamed through the device in
 * pieces.
 */
POOL_API pool_status pool_poseidon_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *rows);

/*
 * The siblings of leaf `index` on the way to the root, row by row, each row's arity - 1 others in
 * order, as the items of `path` (digests in host memory, as many as the shape's path says). `rows`
 * is what merkle_build wrote for `leaf_count` leaves. When the lowest rows were not kept, `leaves`
 * must be the same leaves again, to rebuild the subtree; else it may be NULL. Waits for its own
 * copies.
 */
POOL_API pool_status pool_poseidon_merkle_open(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *rows, uint64_t index, const pool_span *path);

/*
 * Whether `leaf` (leaf_elements elements) is leaf `index` of a tree with that root: *is_member 1 or
 * 0. All host memory, all in `form`, computed on the host. `height` of the params must be given;
 * an index beyond arity^height is no member.
 */
POOL_API pool_status pool_poseidon_merkle_verify(const pool_poseidon *set,
    const pool_merkle_params *params, pool_form form, const void *root, const void *leaf,
    uint64_t index, const void *path, int32_t *is_member);

#ifdef __cplusplus
}
#endif

#endif
