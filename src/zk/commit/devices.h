/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commitments over several devices: the tree is cut, and each device hashes the rows below its
 * nodes. A device reads its rows of columns that other devices have from the memory of
 * all of them; this is the exchange from columns to rows.
 */
#ifndef COMMIT_DEVICES_H
#define COMMIT_DEVICES_H

#include "zk/commit/commit.h"
#include "zk/operation/tree.h"

struct commit_division {
    struct tree_cut cut;            /* the first level is the one of the tallest matrices' rows */
    const struct commit_tree *tree; /* the whole one; matrices in host memory or sharded */
    const pool_exec *exec;          /* of the call */
    bool has_data;                  /* not a forecast */
    bool has_row_shards;            /* which the cut follows */
    /* [reader][owner]: the device can address the other one's memory. */
    bool is_direct[EXEC_MAX_DEVICES][EXEC_MAX_DEVICES];
};

/* The rows below some nodes of a level, as a tree whose last level these are. */
struct commit_part {
    struct commit_tree tree;
    void *memory; /* of its matrices and their sources */
};

/* ---- sources.c ------------------------------------------------------------------------------- */

/* Checks the shards of matrices; with has_data also their data. */
pool_status commit_check_shards(const struct commit_division *division);
/* Finds out which devices can address which memory, and waits for work that has been enqueued on
 * the devices' streams, because other devices read its results. */
pool_status commit_link_devices(struct commit_division *division);

/* What device `reader` computes: nodes `first` to first + nodes - 1 of `level`, whose kept levels
 * are stored at their places in the whole tree. The caller closes the part, also after a failure.
 */
pool_status commit_part_open(const struct commit_division *division, uint32_t reader,
    uint32_t level, uint64_t first, uint64_t nodes, struct commit_part *part);
/* The levels above the cut, whose nodes are `leaves`; on the first device. */
pool_status commit_top_open(
    const struct commit_division *division, const unsigned char *leaves, struct commit_part *part);
void commit_part_close(struct commit_part *part);

/* ---- devices.c ------------------------------------------------------------------------------- */

/* Checks the matrices' shards and chooses the cut, for the members but the cut. `levels` is NULL
 * where they have no place. */
pool_status commit_divide(const char *call, const pool_span *levels, const struct devices *devices,
    struct commit_division *division);
/* Once the cut is chosen: checks the levels' shards and links the devices. */
pool_status commit_connect(struct commit_division *division);

/* The first row of a device's shards of rows, in rows of the tallest matrices. */
static inline uint64_t commit_first_row(const struct commit_division *division, uint32_t device)
{
    return division->cut.first[device] << division->cut.level;
}

/* Steps of struct commit_call. */
pool_status commit_divide_call(void *call, struct operation_division *division);
bool commit_make_part(const void *call, const struct operation_division *division, uint32_t index,
    uint32_t number, void *part);
pool_status commit_open_part(void *part, const struct operation_division *division, uint32_t index);
pool_status commit_count_call(void *call);

#endif
