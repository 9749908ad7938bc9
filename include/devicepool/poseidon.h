/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon and Poseidon2: permutations, fixed-length hashes, sponges and Merkle trees, on a device
 * or, on request, on the host.
 *
 * "Poseidon over BN254 with t = 3" names at least four different functions. A parameter set here is
 * an immutable object that defines one of them: field, width, S-box, rounds, constants, matrices,
 * and for hashing the domain tag and which state elements are inputs and outputs. Its name says
 * whose function it is, its fingerprint covers the whole definition.
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

/* A parameter set, with a reference count. Any number of threads may use one concurrently. */
typedef struct pool_poseidon pool_poseidon;

/*
 * POSEIDON: each round adds t constants, applies the S-box x^alpha to every state element (full
 * round) or to one (partial round), and multiplies the state by the MDS matrix. POSEIDON2: the
 * external layer is applied once before the first round; partial rounds add one constant and
 * multiply by J + diag(internal_diagonal), where J is all ones.
 */
typedef enum pool_poseidon_kind { POOL_POSEIDON = 0, POOL_POSEIDON2 = 1 } pool_poseidon_kind;

#define POOL_POSEIDON_MAX_WIDTH 64 /* of a parameter set: state elements */

/*
 * The number of built-in parameter sets, and their names: static strings, NULL past the end. Any
 * thread.
 *   circom-bn254-t2 … -t17             circomlib, circomlibjs, light-poseidon: 1 … 16 inputs
 *   neptune-bls12_381-arity2 4 8 11 16 24 36, each also with -strengthened
 *   eip5988-bn254-t3 -t5, eip5988-bls12_381-t3 -t5      the reference permutations
 *   orchard-pallas-t3                  zcash Orchard (P128Pow5T3), hashing two elements
 *   horizen-bn254-t3 horizen-bls12_381-t2 -t3 horizen-pallas-t3 horizen-vesta-t3
 *   horizen-goldilocks-t12             the Poseidon function of HorizenLabs/poseidon2
 *   jmagan-bls12_381-t2 … -t17         npm poseidon-bls12381: 1 … 16 inputs
 *   plonky2-goldilocks-t12
 *   plonky3-goldilocks-t8 -t12 plonky3-babybear-t16 -t24 plonky3-koalabear-t16 -t24
 *   plonky3-mersenne31-t16
 *   starknet-stark252-t3
 *   mina-kimchi-pallas-t3 mina-legacy-pallas-t3         Mina, over the base field of Pallas
 *   poseidon2-horizen-bn254-t2 -t3 -t4 poseidon2-horizen-bls12_381-t2 -t3 -t4
 *   poseidon2-taceo-bn254-t8 -t12 -t16      crate taceo-poseidon2
 *   poseidon2-horizen-pallas-t3 poseidon2-horizen-vesta-t3
 *   poseidon2-horizen-goldilocks-t8 -t12 poseidon2-horizen-babybear-t24 (RISC Zero's)
 *   poseidon2-plonky3-goldilocks-t8 -t12 -t16 poseidon2-plonky3-babybear-t16 -t24
 *   poseidon2-plonky3-koalabear-t16 -t24 poseidon2-plonky3-mersenne31-t16 -t24
 */
POOL_API size_t pool_poseidon_count(void);
POOL_API const char *pool_poseidon_name_at(size_t index);

/*
 * The built-in parameter set of that name, which is computed at its first use (milliseconds) and
 * stays. The caller owns one reference. POOL_ERR_NOT_FOUND, POOL_ERR_OUT_OF_HOST_MEMORY.
 */
POOL_API pool_status pool_poseidon_by_name(const char *name, pool_poseidon **set);

/*
 * A custom parameter set. Elements are packed field elements in `form`; arrays are copied. Zero is
 * the default of every member that is not marked as required. t stands for width, state elements
 * have the indices 0 … t - 1.
 */
typedef struct pool_poseidon_params {
    size_t struct_size;
    const char *name;        /* up to 63 characters; NULL: "custom" */
    const pool_field *field; /* required; the set holds a reference */
    pool_poseidon_kind kind;
    uint32_t width; /* required, 2 … POOL_POSEIDON_MAX_WIDTH */
    uint32_t alpha; /* required: odd, 3 … 255, coprime to p - 1 */
    /* Required, 2 … 128: half before and half after the partial rounds. Even, except for kind
       POOL_POSEIDON without partial rounds. */
    uint32_t full_rounds;
    uint32_t partial_rounds; /* up to 1024 */
    uint32_t partial_index;  /* the state element with the S-box in partial rounds */
    pool_form form;          /* of all elements below */
    /* Required, round by round. POSEIDON: t per round, (full_rounds + partial_rounds) * t.
       POSEIDON2: t per full round and one per partial round, full_rounds * t + partial_rounds. In
       both cases t more are final constants, added after the last linear layer. A round that adds
       no constants has zeros. */
    const void *round_constants;
    size_t round_constant_count;
    /* Required: t * t, row-major, invertible. POSEIDON: the MDS matrix; POSEIDON2: the matrix of
       the external layer. The state becomes mds * state. */
    const void *mds;
    size_t mds_count;
    const void *internal_diagonal; /* POSEIDON2: t, required; J + diag must be invertible */
    size_t internal_diagonal_count;
    /* Hashing. All zeros define it as circom does: inputs are state elements 1 … t - 1, element 0
       holds the domain tag 0 and is the digest. */
    uint32_t max_inputs;  /* the most elements of a fixed-length hash; 0: t - 1 */
    uint32_t input_index; /* first input; 0 stands for 1 unless max_inputs is given */
    uint32_t rate;        /* elements of a sponge's block, from input_index on; 0: max_inputs */
    uint32_t domain_tag_index; /* the state element that holds the domain tag */
    const void *domain_tag;    /* one element; NULL: 0. Must be 0 if an input has its index */
    uint32_t output_index;     /* first element of the digest */
    uint32_t digest_elements;  /* 0: 1 */
    int32_t feed_forward;      /* 1: adds the state before the permutation to the one after it */
} pool_poseidon_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_poseidon_params_init(pool_poseidon_params *params, size_t struct_size);

/*
 * Validates the definition (sizes, elements below p, alpha coprime to p - 1, matrices invertible,
 * indices within the state) and derives the forms in which devices and the host compute. Whether
 * the function is secure is for its author to say. POOL_ERR_INVALID_ARGUMENT names the member,
 * POOL_ERR_BAD_DATA an element that is not below p. The caller owns one reference.
 */
POOL_API pool_status pool_poseidon_create(const pool_poseidon_params *params, pool_poseidon **set);

/* Adds a reference and returns `set`; NULL returns NULL. */
POOL_API pool_poseidon *pool_poseidon_retain(pool_poseidon *set);
/* Releases a reference and sets *set to NULL. NULL and a pointer to NULL: no-op. */
POOL_API void pool_poseidon_destroy(pool_poseidon **set);

/* Properties of a parameter set. Any thread. NULL returns an empty string, NULL or 0. */
POOL_API const char *pool_poseidon_name(const pool_poseidon *set);
POOL_API const pool_field *pool_poseidon_field(const pool_poseidon *set);
POOL_API uint32_t pool_poseidon_width(const pool_poseidon *set);
/* The most elements of a fixed-length hash. */
POOL_API uint32_t pool_poseidon_max_inputs(const pool_poseidon *set);
/* The rate of a sponge. */
POOL_API uint32_t pool_poseidon_rate(const pool_poseidon *set);
/* The elements of a fixed-length hash's digest and of a tree's node. */
POOL_API uint32_t pool_poseidon_digest_elements(const pool_poseidon *set);

/* SHA-256 of the whole definition, without the name. */
POOL_API pool_status pool_poseidon_fingerprint(
    const pool_poseidon *set, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/*
 * Compiles the set's kernels for a device and tests them, so that no later call has to wait for
 * that. Blocks. Of `exec` cancel, device, lease and timeout_ns.
 */
POOL_API pool_status pool_poseidon_warm_up(const pool_poseidon *set, const pool_exec *exec);

/*
 * The operations below use all members of `exec`; a workspace takes all device memory of a call.
 * The check is POOL_CHECK_CANONICAL, on a device as on the host. Progress counts states, items or
 * nodes; without is_async the call waits for the device from time to time, so that it reports
 * completed work.
 *
 * A span is `count` items of packed elements. An output span specifies where the results are stored
 * and in which form. When a device computes, spans in host memory pass through it in chunks of up
 * to 32 MiB, so they may be larger than its memory. A memory limit reduces the chunks, down to one
 * item, or the children of one node of a tree; the levels of a tree are not divided. After a
 * failure the results may have been written in part. With exec->device_count consecutive items, or
 * subtrees, are distributed over the devices, and the levels of a tree are in host memory or stay
 * on the devices (pool_poseidon_merkle_shards). See docs/several-devices.md.
 *
 * Each has a function that reports the exact number of device bytes that a call with the same
 * arguments allocates, or its workspace must have (0 on the host): at most exec->memory_limit,
 * unless that is 0. The spans' data is not read and may be NULL; a device is not needed. Kernels
 * that the first call loads do not count. With exec->device_count it sets bytes[i] for device i.
 * Errors: as of the call, for the same arguments.
 */

/* Permutes states->count states of t elements each. Both spans may be the same memory. */
POOL_API pool_status pool_poseidon_permute(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results);
/* The device memory that pool_poseidon_permute allocates, see above. */
POOL_API pool_status pool_poseidon_permute_workspace(const pool_poseidon *set,
    const pool_exec *exec, const pool_span *states, const pool_span *results, uint64_t *bytes);

/*
 * Computes one digest per item of `inputs`. An item has `elements` elements, 1 … the set's
 * max_inputs; the state elements of absent inputs are 0.
 */
POOL_API pool_status pool_poseidon_hash(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests);
/* The device memory that pool_poseidon_hash allocates, see above. */
POOL_API pool_status pool_poseidon_hash_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests, uint64_t *bytes);

/* How a block is absorbed into the rate elements of the state. */
typedef enum pool_sponge_mode {
    POOL_SPONGE_ADD = 0,      /* the block is added to them */
    POOL_SPONGE_OVERWRITE = 1 /* the block replaces them; a short last block leaves the rest */
} pool_sponge_mode;

/* What follows the last element of a message. */
typedef enum pool_sponge_padding {
    POOL_SPONGE_PAD_NONE = 0, /* nothing; an empty message is not permuted */
    POOL_SPONGE_PAD_10 = 1,   /* always a 1, then zeros up to a whole block */
    POOL_SPONGE_PAD_ZERO = 2  /* zeros up to a whole block; an empty message is a block of zeros */
} pool_sponge_padding;

/* Zero is the default of every member but struct_size and `elements`. */
typedef struct pool_poseidon_sponge_params {
    size_t struct_size;
    uint32_t elements;        /* of each message */
    uint32_t output_elements; /* of each result; 0: the elements of a digest */
    uint32_t rate;            /* 0: the set's */
    pool_sponge_mode mode;
    pool_sponge_padding padding;
    /* The initial value of the state element domain_tag_index, in standard form and host memory;
       NULL: 0. Must be 0 if that element is within the rate. */
    const void *domain_tag;
} pool_poseidon_sponge_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_poseidon_sponge_params_init(
    pool_poseidon_sponge_params *params, size_t struct_size);

/*
 * Absorbs each message in blocks of `rate` elements, with a permutation after each block, then
 * squeezes `output_elements` elements, with a permutation after each `rate` of them.
 */
POOL_API pool_status pool_poseidon_sponge(const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results);
/* The device memory that pool_poseidon_sponge allocates, see above. */
POOL_API pool_status pool_poseidon_sponge_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results,
    uint64_t *bytes);

/*
 * A Merkle tree. Level 0 holds the leaves' digests: a leaf of as many elements as a digest is its
 * own digest; any other is hashed by a sponge with the set's rate, the domain tag 0, no padding and
 * `leaf_mode`. Each node of level i + 1 is the fixed-length hash of its `arity` children. The tree
 * has up to arity^height leaves. `padding` is the digest of absent leaves, so that the padding node
 * of level i, which stands for a subtree without leaves, is the root of a tree of height i whose
 * leaves are all padding. Zero is the default of every member but struct_size and `arity`.
 */
typedef struct pool_merkle_params {
    size_t struct_size;
    uint32_t arity;         /* 2 … 16; arity digests must fit the set's max_inputs */
    uint32_t leaf_elements; /* 0: the elements of a digest */
    uint32_t height;        /* 0: the smallest for the number of leaves */
    uint32_t kept_levels;   /* levels that are stored, counted from the root; 0: all height + 1 */
    pool_sponge_mode leaf_mode;
    const void *padding; /* one digest in standard form and host memory; NULL: zeros */
} pool_merkle_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_merkle_params_init(pool_merkle_params *params, size_t struct_size);

/* A level stores only nodes with a leaf in their subtree: level i has ceil(leaves / arity^i). */
typedef struct pool_merkle_shape {
    size_t struct_size;
    uint32_t height;
    uint32_t first_level;  /* the lowest kept level; 0 if all are kept */
    uint64_t digest_count; /* of all kept levels, the items of the `levels` span */
    uint64_t path_count;   /* digests of an opening, height * (arity - 1) */
    uint64_t bytes;        /* of all kept levels, packed */
} pool_merkle_shape;

/* Fills `shape`, whose struct_size is set, for a tree of that many leaves. */
POOL_API pool_status pool_merkle_get_shape(const pool_poseidon *set,
    const pool_merkle_params *params, uint64_t leaves, pool_merkle_shape *shape);

/*
 * Builds the tree of leaves->count leaves, at least 1, and writes the kept levels from the lowest
 * one to the root, digest_count items in all.
 */
POOL_API pool_status pool_poseidon_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *levels);
/* The device memory that pool_poseidon_merkle_build allocates, see above. */
POOL_API pool_status pool_poseidon_merkle_build_workspace(const pool_poseidon *set,
    const pool_exec *exec, const pool_merkle_params *params, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes);

/*
 * Sets digests[i] to the number of digests in shard i of `levels` where the levels of a tree over
 * several devices stay there (POOL_MEMORY_SHARDED). exec->device_count must not be 0. Each device
 * has the kept levels of its subtrees from the lowest one to the level of their roots, which is the
 * same on all devices; the first device has the levels above that behind them, up to the root.
 * The division follows the devices and `leaves`, a span in host memory or sharded; its data is not
 * read (except for the array of shards) and may be NULL. Errors: those of
 * pool_poseidon_merkle_build_workspace for these arguments.
 */
POOL_API pool_status pool_poseidon_merkle_shards(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t *digests);

/*
 * Writes the opening of leaf `index`: the siblings on its path to the root, level by level, in each
 * level the arity - 1 others in their order. `path` has path_count digests in host memory. `levels`
 * is the result of pool_poseidon_merkle_build for `leaf_count` leaves. If the lowest levels were
 * not kept, `leaves` must be the same leaves, so that the leaf's subtree can be built again;
 * otherwise it may be NULL. Blocks until the path is written. With exec->device_count, the devices
 * of the build in their order, levels are in host memory or sharded as they were built; leaves that
 * were sharded must then be passed in any case. Subtrees are built by the devices that have their
 * leaves, from host memory by the first one.
 */
POOL_API pool_status pool_poseidon_merkle_open(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, uint64_t index, const pool_span *path);
/* The device memory that pool_poseidon_merkle_open allocates, see above. */
POOL_API pool_status pool_poseidon_merkle_open_workspace(const pool_poseidon *set,
    const pool_exec *exec, const pool_merkle_params *params, uint64_t leaf_count,
    const pool_span *leaves, const pool_span *levels, uint64_t index, const pool_span *path,
    uint64_t *bytes);

/*
 * Sets *is_member to 1 if `leaf` (leaf_elements elements) is leaf `index` of a tree with that root,
 * else to 0. Everything is in host memory and in `form` and is computed on the host. The params'
 * `height` must not be 0; an index of arity^height or more is not a member.
 */
POOL_API pool_status pool_poseidon_merkle_verify(const pool_poseidon *set,
    const pool_merkle_params *params, pool_form form, const void *root, const void *leaf,
    uint64_t index, const void *path, int32_t *is_member);

#ifdef __cplusplus
}
#endif

#endif
