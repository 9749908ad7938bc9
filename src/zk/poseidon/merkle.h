/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merkle trees: their shape (merkle.c), the host's and the device's way to build one
 * (merkle_build.c, merkle_device.c) and openings (merkle_open.c).
 */
#ifndef POSEIDON_MERKLE_H
#define POSEIDON_MERKLE_H

#include "zk/operation/exec.h"
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

/* pool_poseidon_merkle_build for leaves whose first one has the index `first_leaf` in messages. */
pool_status poseidon_merkle_build(const pool_poseidon *set, const pool_exec *given,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *levels);

/* What pool_poseidon_merkle_build_workspace reports; `call` is the public function. */
pool_status poseidon_merkle_forecast(const char *call, const pool_poseidon *set,
    const pool_exec *given, const pool_merkle_params *params, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes);

/* merkle_device.c: for validated spans. */
pool_status poseidon_device_merkle_forecast(const pool_poseidon *set,
    const struct poseidon_tree *tree, const pool_span *leaves, const pool_span *levels,
    struct progress *progress, uint64_t *bytes);
pool_status poseidon_device_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_tree *tree, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *levels, struct progress *progress);

/* merkle_devices.c: for exec->device_count; bytes[i] is what device i allocates, digests[i] what
 * its shard of the levels has. */
pool_status poseidon_devices_merkle_build(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    uint64_t first_leaf, const pool_span *levels);
pool_status poseidon_devices_merkle_forecast(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    const pool_span *levels, uint64_t *bytes);
pool_status poseidon_devices_merkle_shards(const char *call, const pool_poseidon *set,
    const pool_exec *exec, const struct poseidon_tree *tree, const pool_span *leaves,
    uint64_t *digests);

#endif
