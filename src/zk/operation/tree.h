/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees over several devices. A tree is cut at a level, of which each device has consecutive nodes:
 * it builds the subtrees below them, and the first device builds the levels above. Levels are in
 * host memory, or in shards: a device's has the kept levels of its subtrees, level by level, and
 * behind them on the first device those above the cut.
 */
#ifndef OPERATION_TREE_H
#define OPERATION_TREE_H

#include "zk/operation/devices.h"

struct tree_cut {
    const char *call;        /* the public function */
    const char *shards_call; /* the one that reports what shards have */
    const struct devices *devices;
    const pool_span *levels; /* NULL: they have no place */
    uint64_t digest_bytes;
    uint64_t digest_count;                /* of the kept levels */
    uint32_t level;                       /* of the cut */
    bool is_kept;                         /* it is among the kept levels */
    uint64_t first[EXEC_MAX_DEVICES + 1]; /* nodes of the cut, of each device */
    uint64_t kept[EXEC_MAX_DEVICES];      /* digests of the kept levels of its subtrees */
};

/* Nodes of the cut. */
static inline uint64_t tree_cut_nodes(const struct tree_cut *cut, uint32_t index)
{
    return cut->first[index + 1] - cut->first[index];
}
/* Where they begin in the device's shard, if they are kept. */
static inline uint64_t tree_cut_start(const struct tree_cut *cut, uint32_t index)
{
    return cut->kept[index] - tree_cut_nodes(cut, index);
}
static inline bool tree_cut_is_sharded(const struct tree_cut *cut)
{
    return cut->levels && cut->levels->space == POOL_MEMORY_SHARDED;
}

/* The digests that sharded levels have on each device. */
void tree_cut_count(const struct tree_cut *cut, uint64_t *digests);
/* Fails unless shards of the levels have these. `hint` ends the message about another number. */
pool_status tree_cut_check_shards(const struct tree_cut *cut, const char *hint);

/* Where the kept levels of a device's subtrees are stored; not for a cut that is not kept. */
pool_span tree_cut_part_levels(const struct tree_cut *cut, uint32_t index);
/* Where the levels above the cut are, of which `count` digests are kept. */
pool_span tree_cut_top_levels(const struct tree_cut *cut, uint64_t count);

#endif
