/* SPDX-License-Identifier: Apache-2.0 */
/* A call of pool_poseidon_merkle_open. */
#ifndef POSEIDON_MERKLE_OPEN_H
#define POSEIDON_MERKLE_OPEN_H

#include "zk/poseidon/merkle_devices.h"

struct merkle_opening {
    struct operation_call frame;
    const pool_poseidon *set;
    const pool_merkle_params *given;
    const pool_span *leaves; /* NULL: none are needed */
    const pool_span *levels;
    const pool_span *path;
    uint64_t leaf_count;
    uint64_t index;
    pool_merkle_params params;
    struct poseidon_tree tree;
    const struct devices *devices;     /* NULL: one, or the host */
    struct poseidon_division division; /* over several devices */
    pool_span host_leaves;             /* what it follows where no sharded leaves are given */
    size_t digest_limbs;
    size_t digest_bytes;
    uint64_t *limbs; /* of the path */
    uint64_t count;  /* of digests in `limbs` so far */
};

static inline bool merkle_span_is_sharded(const pool_span *span)
{
    return span && span->space == POOL_MEMORY_SHARDED;
}

/* ---- merkle_path.c --------------------------------------------------------------------------- */

/* What the subtree needs on each device; zeros where there is none. */
pool_status merkle_forecast_path(const struct merkle_opening *opening, uint64_t *bytes);
/* The step `run`, on devices and on the host. */
pool_status merkle_compute_path(void *opening);

#endif
