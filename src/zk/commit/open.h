/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Openings of rows, on one device or several.
 */
#ifndef COMMIT_OPEN_H
#define COMMIT_OPEN_H

#include "zk/commit/devices.h"

struct opening {
    struct operation_call frame;
    const pool_matrix_commit_params *given;
    const pool_matrix *matrices;
    uint32_t matrix_count;
    pool_matrix_commit_params params;
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

/* ---- open_gather.c --------------------------------------------------------------------------- */

/* Steps of the call. */
void commit_open_set_items(void *opening);
bool commit_open_list(const void *opening, uint32_t index, struct operation_operand *operand);
/* The rows and siblings that are in the memory of the device of `exec`, to `packed`. */
pool_status commit_gather(const struct opening *opening, const pool_exec *exec);
/* The device memory that this takes. */
uint64_t commit_gather_bytes(const struct opening *opening);

/* ---- open_rows.c ----------------------------------------------------------------------------- */

/* Step of the call. */
pool_status commit_open_rows(void *opening);
/* At least the device memory for the levels below a node of the lowest kept level. */
pool_status commit_forecast_subtree(
    const struct opening *opening, uint64_t node, const pool_exec *exec, uint64_t *bytes);

/* ---- open_devices.c -------------------------------------------------------------------------- */

pool_status commit_open_divide(void *opening, struct operation_division *division);
/* The rows in shards, to `packed`, each device those in its memory. */
pool_status commit_open_gather(const struct opening *opening);

#endif
