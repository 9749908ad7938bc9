/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of scratch memory. Pure.
 */
#ifndef MEMORY_SCRATCH_H
#define MEMORY_SCRATCH_H

#include <stdint.h>

#include "base/math.h"

/* Every block has a multiple of this, so that blocks that share a workspace are aligned as those
 * of the driver are, and need neither more memory nor less. */
enum { MEMORY_SCRATCH_ALIGNMENT = 256 };

/* What scratch_allocate allocates for `bytes`; no block exceeds 2^63 bytes. */
static inline uint64_t memory_scratch_bytes(uint64_t bytes)
{
    return bytes > UINT64_MAX / 2 ? bytes : base_round_up(bytes, MEMORY_SCRATCH_ALIGNMENT);
}

#endif
