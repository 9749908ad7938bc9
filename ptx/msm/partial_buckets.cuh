/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial sums of buckets whose entries are divided among several threads or blocks. Each of those
 * has two slots: one for the bucket that it shares with its predecessor and one for the bucket that
 * it shares with its successor. Slots are sorted by bucket; an unused slot never separates two
 * slots of one bucket.
 */
#ifndef PTX_MSM_PARTIAL_BUCKETS_CUH
#define PTX_MSM_PARTIAL_BUCKETS_CUH

#include "ec/xyzz.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

#define MSM_NO_BUCKET 0xffffffffu

__device__ __forceinline__ void partial_store(
    struct msm_partial_buckets partial, u64 slot, unsigned bucket, xyzz sum)
{
    partial.sums[slot] = sum;
    partial.buckets[slot] = bucket;
}

__device__ __forceinline__ void partial_clear(struct msm_partial_buckets partial, u64 slot)
{
    partial.buckets[slot] = MSM_NO_BUCKET;
}

#endif
