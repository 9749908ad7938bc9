/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merkle trees: their shape (merkle.c), the host's and the device's way to build one
 * (merkle_build.c, merkle_device.c) and openings (merkle_open.c).
 */
#ifndef POSEIDON_MERKLE_H
#define POSEIDON_MERKLE_H

#include "zk/operation/operation.h"
#include "zk/poseidon/poseidon.h"

enum { POSEIDON_MAX_HEIGHT = 64 };

/* A tree of validated pool_merkle_params. */
struct poseidon_tree {
    pool_merkle_params params;
    uint32_t arity;
    uint32_t height;
    uint32_t first_level; /* the lowest kept one */
    uint32_t leaf_elements;
    bool hashes_leaves;
    struct poseidon_sponge leaf_sponge; /* when hashes_leaves */
    uint64_t leaves;
    uint64_t level_nodes[POSEIDON_MAX_HEIGHT + 1]; /* nodes with a leaf in their subtree */
    uint64_t level_start[POSEIDON_MAX_HEIGHT + 1]; /* of a kept level, in digests */
    /* Of a kept level in the caller's memory; other than level_start where a tree is part of one.
     */
    uint64_t level_target[POSEIDON_MAX_HEIGHT + 1];
    uint64_t digest_count; /* of all kept levels */
    /* The padding node of each level, in limbs; above level 0 as poseidon_tree_compute_padding. */
    uint64_t *padding;
};

extern const struct base_struct poseidon_merkle_params_type;
/* Validates and copies params; `call` is the public function, for messages. */
pool_status poseidon_tree_init(const char *call, const pool_poseidon *set,
    const pool_merkle_params *given, uint64_t leaves, struct poseidon_tree *tree);
void poseidon_tree_free(struct poseidon_tree *tree);
/* Hashes the padding nodes up to the highest level that has one: a level whose number of nodes is a
 * multiple of the arity has none. Each costs a permutation on the host, before the first launch. */
void poseidon_tree_compute_padding(const pool_poseidon *set, struct poseidon_tree *tree);

/* The number of children and hashed leaves that building the tree reads, for progress. */
uint64_t poseidon_tree_work(const struct poseidon_tree *tree);

/* The digest of a leaf, in limbs. */
void poseidon_leaf_digest(const pool_poseidon *set, const struct poseidon_tree *tree,
    const uint64_t *leaf, uint64_t *digest);

/* ---- calls ----------------------------------------------------------------------------------- */

/* A call of pool_poseidon_merkle_build or pool_poseidon_merkle_shards. */
struct merkle_call {
    struct operation_call frame;
    const pool_poseidon *set;
    const pool_merkle_params *given;
    const pool_span *leaves;
    const pool_span *levels;
    uint64_t *digests; /* of each shard of the levels, by pool_poseidon_merkle_shards */
    pool_merkle_params params;
    struct poseidon_tree tree;
    bool has_padding;    /* the padding nodes are computed */
    uint64_t first_leaf; /* its index in messages */
    struct poseidon_chunk_plan plan;
};
enum merkle_operand { MERKLE_LEAVES, MERKLE_LEVELS };

/* merkle_build.c: pool_poseidon_merkle_build for leaves whose first one has the index `first_leaf`
 * in messages, and its forecast; `call` is the public function. */
pool_status poseidon_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *levels);
pool_status poseidon_merkle_forecast(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const pool_merkle_params *params, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes);

/* merkle_device.c: steps. */
pool_status merkle_plan(void *call, uint64_t limit);
pool_status merkle_run(void *call);

/* merkle_devices.c: the division, and what pool_poseidon_merkle_shards reports. */
pool_status merkle_divide(void *call, struct operation_division *division);
bool merkle_make_part(const void *call, const struct operation_division *division, uint32_t index,
    uint32_t number, void *part);
pool_status merkle_count_shards(void *call);

#endif
