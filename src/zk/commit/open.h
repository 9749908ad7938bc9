/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Openings of rows, on one device or several.
 */
#ifndef COMMIT_OPEN_H
#define COMMIT_OPEN_H

#include "zk/commit/devices.h"

struct opening {
    const char *call; /* the public function */
    pool_exec exec;
    struct commit_tree tree;
    const pool_span *levels;
    const uint64_t *indices; /* NULL: unknown, of a forecast */
    uint64_t count;
    const pool_span *rows;
    const pool_span *paths;
    uint64_t row_bytes;    /* per index */
    uint64_t path_bytes;   /* per index */
    unsigned char *packed; /* the results: all rows, then all paths, in their forms */
    const struct commit_division *division; /* over several devices; NULL: one */
};

/* ---- open.c ---------------------------------------------------------------------------------- */

/* The rows and siblings that are in the memory of opening->exec's device, to `packed`. */
pool_status commit_gather(const struct opening *opening);
/* The device memory that this takes. */
uint64_t commit_gather_bytes(const struct opening *opening);

/* ---- open_devices.c -------------------------------------------------------------------------- */

/* Reads the devices of the call and checks matrices and shards. */
pool_status commit_open_divide(struct opening *opening, struct commit_division *division);
/* The rows in shards, to `packed`, each device those in its memory. */
pool_status commit_open_gather(const struct opening *opening);
/* The levels below two nodes, whose parent is `node` of the lowest kept level, to `levels`. */
pool_status commit_open_subtree(
    const struct opening *opening, uint64_t node, const pool_span *levels);
/* Refuses workspaces that have less than that. */
pool_status commit_open_check_workspaces(const struct opening *opening);
/* bytes[i] is what device i allocates. */
pool_status commit_open_forecast(const struct opening *opening, uint64_t *bytes);

#endif
