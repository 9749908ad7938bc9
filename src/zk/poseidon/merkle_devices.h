/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merkle trees over several devices. The tree is cut at a level: each device builds consecutive
 * subtrees up to the nodes of that level, and the first device builds the top from them. No device
 * holds more of the tree than its own subtrees, or the top.
 */
#ifndef POSEIDON_MERKLE_DEVICES_H
#define POSEIDON_MERKLE_DEVICES_H

#include "zk/operation/devices.h"
#include "zk/poseidon/merkle.h"

struct poseidon_division {
    const char *call; /* the public function */
    const pool_poseidon *set;
    const pool_exec *exec;
    const struct poseidon_tree *tree;
    const pool_span *leaves;
    const pool_span *levels; /* NULL: they have no place */
    const struct devices *devices;
    uint32_t cut; /* the level; 0: the first device builds the whole tree */
    uint64_t first_leaf[EXEC_MAX_DEVICES + 1];
    /* The nodes of the cut: in `levels` or other host memory, or, where the levels are sharded, in
     * memory of the first device. */
    pool_span cut_nodes;
};

/* ---- merkle_division.c ----------------------------------------------------------------------- */

/* Chooses the cut, for the other members but the cut nodes, and checks the shards of the levels,
 * but for their data. `hint` ends the message about another number of digests. */
pool_status poseidon_divide(const char *hint, struct poseidon_division *division);

size_t poseidon_division_digest_bytes(const struct poseidon_division *division);
/* Whether the level of the cut is among the kept ones. */
bool poseidon_division_keeps_cut(const struct poseidon_division *division);
bool poseidon_division_is_sharded(const struct poseidon_division *division);
/* The leaves below a node of the cut. */
uint64_t poseidon_division_subtree_leaves(const struct poseidon_division *division);

/* The subtrees of a device as a tree that ends at the cut; its memory is that of the whole one. */
struct poseidon_tree poseidon_division_part(
    const struct poseidon_division *division, uint32_t index);
pool_span poseidon_division_leaves(const struct poseidon_division *division, uint32_t index);
/* The tree above the cut, whose leaves are the nodes there. */
struct poseidon_tree poseidon_division_top(const struct poseidon_division *division);
/* Where its kept levels are stored. */
pool_span poseidon_division_top_levels(
    const struct poseidon_division *division, const struct poseidon_tree *top);

/* The digests that sharded levels have on each device. */
void poseidon_division_count(const struct poseidon_division *division, uint64_t *digests);
/* The device that has the node of a kept level, and the node's index in that device's shard. */
uint32_t poseidon_division_find(
    const struct poseidon_division *division, uint32_t level, uint64_t node, uint64_t *digest);

#endif
