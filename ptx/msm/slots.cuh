/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial sums of buckets that several threads, or blocks, have a share of: two slots for each of
 * them, one for the bucket that it shares with what came before, one for the bucket that it shares
 * with what follows. Equal bucket numbers stand next to each other, in ascending order; an unused
 * slot never stands between two of them.
 */
#ifndef MSM_SLOTS_CUH
#define MSM_SLOTS_CUH

#include "ec/xyzz.cuh"

typedef unsigned long long u64;

#define MSM_NO_BUCKET 0xffffffffu

struct slots {
    xyzz *sums;
    unsigned *buckets;
};

__device__ __forceinline__ void slot_put(struct slots slots, u64 slot, unsigned bucket, xyzz sum)
{
    slots.sums[slot] = sum;
    slots.buckets[slot] = bucket;
}

__device__ __forceinline__ void slot_clear(struct slots slots, u64 slot)
{
    slots.buckets[slot] = MSM_NO_BUCKET;
}

#endif
