/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merkle trees over several devices, which are cut at a level. No device holds more of the tree
 * than its own subtrees, or the top.
 */
#ifndef POSEIDON_MERKLE_DEVICES_H
#define POSEIDON_MERKLE_DEVICES_H

#include "zk/operation/tree.h"
#include "zk/poseidon/merkle.h"

struct poseidon_division {
    struct tree_cut cut; /* at level 0 the first device builds the whole tree */
    const pool_poseidon *set;
    const struct poseidon_tree *tree;
    const pool_span *leaves;
    uint64_t first_leaf[EXEC_MAX_DEVICES + 1];
    /* The nodes of the cut: in the levels or other host memory, or, where the levels are sharded,
     * in memory of the first device. */
    pool_span cut_nodes;
};

/* ---- merkle_division.c ----------------------------------------------------------------------- */

/* Chooses the cut of a tree whose levels are NULL where they have no place, and checks the shards
 * of the levels, but for their data. `hint` ends the message about another number of digests. */
pool_status poseidon_divide(const char *call, const pool_poseidon *set,
    const struct poseidon_tree *tree, const pool_span *leaves, const pool_span *levels,
    const struct devices *devices, const char *hint, struct poseidon_division *division);

/* The subtrees of a device as a tree that ends at the cut; its memory is that of the whole one. */
struct poseidon_tree poseidon_division_part(
    const struct poseidon_division *division, uint32_t index);
/* The tree above the cut, whose leaves are the nodes there. */
struct poseidon_tree poseidon_division_top(const struct poseidon_division *division);
/* The device that has the node of a kept level, and the node's index in that device's shard. */
uint32_t poseidon_division_find(
    const struct poseidon_division *division, uint32_t level, uint64_t node, uint64_t *digest);

#endif
