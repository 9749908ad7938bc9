/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block's part of adding up the partial sums of each bucket. It takes MSM_MERGE_THREADS slots and
 * sums the runs of slots with equal bucket numbers by a tree reduction. A run that lies entirely
 * inside the block completes its bucket; the runs at the block's two ends go to the block's two
 * slots of the next level. The last level is one block. There are few additions per level and they
 * depend on each other, so four lanes share each addition.
 */
#ifndef PTX_MSM_MERGE_SLOTS_CUH
#define PTX_MSM_MERGE_SLOTS_CUH

#include "ec/xyzz_quad.cuh"
#include "msm/partial_buckets.cuh"

/* start[i] becomes the index of the first slot of the run that slot i belongs to. */
__device__ __forceinline__ void find_runs(const unsigned *bucket, unsigned *start)
{
    unsigned i = threadIdx.x;
    unsigned first = i > 0 && bucket[i - 1] == bucket[i] ? 0 : i;
    start[i] = first;
#pragma unroll 1
    for (unsigned step = 1; step < MSM_MERGE_THREADS; step *= 2) {
        __syncthreads();
        unsigned before = i >= step ? start[i - step] : 0;
        __syncthreads();
        if (before > start[i])
            start[i] = before;
    }
    __syncthreads();
}

struct work_list {
    unsigned count;
    unsigned slot[MSM_MERGE_THREADS];
};

/* Collects the indices of the threads with work in any order, so that no lane is idle while another
 * has work. All threads of the block must call; returns the number of indices. */
__device__ __forceinline__ unsigned collect_work(struct work_list *work, int has_work)
{
    __syncthreads();
    if (threadIdx.x == 0)
        work->count = 0;
    __syncthreads();
    if (has_work)
        work->slot[atomicAdd(&work->count, 1)] = threadIdx.x;
    __syncthreads();
    return work->count;
}

/* Whether slot i takes part of its run `step` slots further on. */
__device__ __forceinline__ int has_pair(
    const unsigned *bucket, const unsigned *start, unsigned i, unsigned step)
{
    return bucket[i] != MSM_NO_BUCKET && (i - start[i]) % (2 * step) == 0 &&
           i + step < MSM_MERGE_THREADS && bucket[i + step] == bucket[i];
}

/*
 * Sums each run into its first slot, and writes the sums of complete runs to their buckets in a
 * last step, to which the bucket's value may be added. All steps are in one loop, so that the code
 * has one addition.
 */
__device__ __forceinline__ void sum_runs(const struct msm_bucket_merge_args *args, xyzz *sums,
    const unsigned *bucket, const unsigned *start, struct work_list *work, int is_complete)
{
    unsigned i = threadIdx.x;
    unsigned lane = i % QUAD_LANES;
    int stores = 0;
#pragma unroll 1
    for (unsigned step = 1; !stores; step *= 2) {
        unsigned count = 0;
        if (step < MSM_MERGE_THREADS)
            count = collect_work(work, has_pair(bucket, start, i, step));
        if (count == 0) {
            stores = 1;
            count = collect_work(work, is_complete);
        }
#pragma unroll 1
        for (unsigned first = i / 32 * (32 / QUAD_LANES); first < count;
             first += MSM_MERGE_THREADS / QUAD_LANES) {
            unsigned item = first + i % 32 / QUAD_LANES;
            unsigned slot = work->slot[item < count ? item : first];
            xyzz *target = stores ? args->buckets + bucket[slot] : sums + slot;
            xyzz sum = sums[slot];
            if (!stores || args->adds_to_buckets)
                sum = xyzz_quad_add(lane, sum, stores ? *target : sums[slot + step]);
            if (item < count && lane == 0)
                *target = sum;
        }
    }
}

/* Slots block * MSM_MERGE_THREADS and so on, one per thread. All threads of the block must call. */
__device__ __forceinline__ void merge_slots(
    const struct msm_bucket_merge_args *args, unsigned block)
{
    __shared__ unsigned bucket[MSM_MERGE_THREADS];
    __shared__ unsigned start[MSM_MERGE_THREADS];
    __shared__ struct work_list work;
    unsigned i = threadIdx.x;
    u64 first = (u64)block * MSM_MERGE_THREADS;
    xyzz *sums = args->partial.sums + first;

    bucket[i] = first + i < args->count ? args->partial.buckets[first + i] : MSM_NO_BUCKET;
    if (i < 2 && !args->is_last)
        partial_clear(args->next, 2ull * block + i);
    __syncthreads();
    find_runs(bucket, start);

    int is_run_start = bucket[i] != MSM_NO_BUCKET && start[i] == i;
    int reaches_end = bucket[MSM_MERGE_THREADS - 1] == bucket[i];
    int is_complete = is_run_start && (args->is_last || (i > 0 && !reaches_end));
    sum_runs(args, sums, bucket, start, &work, is_complete);
    if (!is_run_start || is_complete)
        return;
    partial_store(args->next, 2ull * block + (i > 0), bucket[i], sums[i]);
    if (i == 0 && reaches_end)
        partial_store(args->next, 2ull * block + 1, bucket[i], xyzz_infinity());
}

#endif
