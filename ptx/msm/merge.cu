/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of equal bucket numbers to one sum: each block sums the runs among its slots by halves. A run
 * that lies wholly in the block is a bucket; the runs at its two ends go to the block's own two
 * slots of the next level. The last level is one block.
 */
#include "msm/slots.cuh"

#define BLOCK 256

struct merge {
    struct slots slots;
    struct slots next;
    xyzz *buckets;
    u64 count;
    unsigned is_last;
    unsigned continues; /* 1: buckets hold sums of earlier parts */
};

/* In `start`, for every thread, the first place of the run that it is in. */
__device__ __forceinline__ void find_runs(const unsigned *bucket, unsigned *start)
{
    unsigned i = threadIdx.x;
    unsigned first = i > 0 && bucket[i - 1] == bucket[i] ? 0 : i;
    start[i] = first;
#pragma unroll 1
    for (unsigned step = 1; step < BLOCK; step *= 2) {
        __syncthreads();
        unsigned before = i >= step ? start[i - step] : 0;
        __syncthreads();
        if (before > start[i])
            start[i] = before;
    }
    __syncthreads();
}

/* Sums each run into its first place. Threads take what there is to add in any order, so that no lane is
 * idle while another has work. */
__device__ __forceinline__ void sum_runs(
    xyzz *sums, const unsigned *bucket, const unsigned *start, unsigned *work, unsigned *work_count)
{
    unsigned i = threadIdx.x;
#pragma unroll 1
    for (unsigned step = 1; step < BLOCK; step *= 2) {
        int adds = bucket[i] != MSM_NO_BUCKET && (i - start[i]) % (2 * step) == 0 &&
                   i + step < BLOCK && bucket[i + step] == bucket[i];
        if (i == 0)
            *work_count = 0;
        __syncthreads();
        if (adds)
            work[atomicAdd(work_count, 1)] = i;
        __syncthreads();
        unsigned count = *work_count;
        if (count == 0)
            break;
        if (i < count)
            sums[work[i]] = xyzz_add(sums[work[i]], sums[work[i] + step]);
        __syncthreads();
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(BLOCK) msm_merge(struct merge job)
{
    __shared__ unsigned bucket[BLOCK];
    __shared__ unsigned start[BLOCK];
    __shared__ unsigned work[BLOCK];
    __shared__ unsigned work_count;
    unsigned i = threadIdx.x;
    u64 first = (u64)blockIdx.x * BLOCK;
    xyzz *sums = job.slots.sums + first;

    bucket[i] = first + i < job.count ? job.slots.buckets[first + i] : MSM_NO_BUCKET;
    if (i < 2 && !job.is_last)
        slot_clear(job.next, 2ull * blockIdx.x + i);
    __syncthreads();
    find_runs(bucket, start);
    sum_runs(sums, bucket, start, work, &work_count);

    if (bucket[i] == MSM_NO_BUCKET || start[i] != i)
        return;
    int reaches_end = bucket[BLOCK - 1] == bucket[i];
    if (job.is_last || (i > 0 && !reaches_end)) {
        xyzz sum = sums[i];
        if (job.continues)
            sum = xyzz_add(sum, job.buckets[bucket[i]]);
        job.buckets[bucket[i]] = sum;
        return;
    }
    slot_put(job.next, 2ull * blockIdx.x + (i > 0), bucket[i], sums[i]);
    if (i == 0 && reaches_end)
        slot_put(job.next, 2ull * blockIdx.x + 1, bucket[i], xyzz_infinity());
}
