/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up the partial sums of each bucket. A block takes MSM_MERGE_THREADS slots and sums the runs
 * of slots with equal bucket numbers by a tree reduction. A run that lies entirely inside the block
 * completes its bucket; the runs at the block's two ends go to the block's two slots of the next
 * level. The last level is one block. There are few additions per level and they depend on each
 * other, so four lanes share each addition.
 */
#include "base/launch.cuh"
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

/* Sums each run into its first slot. */
__device__ __forceinline__ void sum_runs(
    xyzz *sums, const unsigned *bucket, const unsigned *start, struct work_list *work)
{
    unsigned i = threadIdx.x;
    unsigned lane = i % QUAD_LANES;
#pragma unroll 1
    for (unsigned step = 1; step < MSM_MERGE_THREADS; step *= 2) {
        int has_work = bucket[i] != MSM_NO_BUCKET && (i - start[i]) % (2 * step) == 0 &&
                       i + step < MSM_MERGE_THREADS && bucket[i + step] == bucket[i];
        unsigned count = collect_work(work, has_work);
        if (count == 0)
            break;
#pragma unroll 1
        for (unsigned first = i / 32 * (32 / QUAD_LANES); first < count;
             first += MSM_MERGE_THREADS / QUAD_LANES) {
            unsigned item = first + i % 32 / QUAD_LANES;
            xyzz *left = sums + work->slot[item < count ? item : first];
            xyzz sum = xyzz_quad_add(lane, left[0], left[step]);
            if (item < count && lane == 0)
                *left = sum;
        }
    }
}

/* Writes the sums of complete runs to their buckets. */
__device__ __forceinline__ void store_buckets(const struct msm_bucket_merge_args *args,
    const xyzz *sums, const unsigned *bucket, struct work_list *work, unsigned count)
{
    unsigned i = threadIdx.x;
    unsigned lane = i % QUAD_LANES;
#pragma unroll 1
    for (unsigned first = i / 32 * (32 / QUAD_LANES); first < count;
         first += MSM_MERGE_THREADS / QUAD_LANES) {
        unsigned item = first + i % 32 / QUAD_LANES;
        unsigned slot = work->slot[item < count ? item : first];
        xyzz sum = sums[slot];
        if (args->adds_to_buckets)
            sum = xyzz_quad_add(lane, sum, args->buckets[bucket[slot]]);
        if (item < count && lane == 0)
            args->buckets[bucket[slot]] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(MSM_MERGE_THREADS)
    msm_bucket_merge(struct msm_bucket_merge_args args)
{
    __shared__ unsigned bucket[MSM_MERGE_THREADS];
    __shared__ unsigned start[MSM_MERGE_THREADS];
    __shared__ struct work_list work;
    pdl_wait();
    unsigned i = threadIdx.x;
    u64 first = (u64)blockIdx.x * MSM_MERGE_THREADS;
    xyzz *sums = args.partial.sums + first;

    bucket[i] = first + i < args.count ? args.partial.buckets[first + i] : MSM_NO_BUCKET;
    if (i < 2 && !args.is_last)
        partial_clear(args.next, 2ull * blockIdx.x + i);
    __syncthreads();
    find_runs(bucket, start);
    sum_runs(sums, bucket, start, &work);

    int is_run_start = bucket[i] != MSM_NO_BUCKET && start[i] == i;
    int reaches_end = bucket[MSM_MERGE_THREADS - 1] == bucket[i];
    int is_complete = is_run_start && (args.is_last || (i > 0 && !reaches_end));
    store_buckets(&args, sums, bucket, &work, collect_work(&work, is_complete));
    if (!is_run_start || is_complete)
        return;
    partial_store(args.next, 2ull * blockIdx.x + (i > 0), bucket[i], sums[i]);
    if (i == 0 && reaches_end)
        partial_store(args.next, 2ull * blockIdx.x + 1, bucket[i], xyzz_infinity());
}
