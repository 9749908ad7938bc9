/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of equal bucket numbers to one sum: each block sums the runs among its slots by halves. A
 * run that lies wholly in the block is a bucket; the runs at its two ends go to the block's own two
 * slots of the next level. The last level is one block. Few sums have to wait for each other here,
 * so four lanes share each.
 */
#include "base/launch.cuh"
#include "ec/lanes.cuh"
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

struct work {
    unsigned count;
    unsigned place[BLOCK];
};

/* Threads hand in places in any order, so that no lane is idle while another has work; all of the
 * block call together, and get the number of places. */
__device__ __forceinline__ unsigned collect(struct work *work, int is_wanted)
{
    __syncthreads();
    if (threadIdx.x == 0)
        work->count = 0;
    __syncthreads();
    if (is_wanted)
        work->place[atomicAdd(&work->count, 1)] = threadIdx.x;
    __syncthreads();
    return work->count;
}

/* Sums each run into its first place. */
__device__ __forceinline__ void sum_runs(
    xyzz *sums, const unsigned *bucket, const unsigned *start, struct work *work)
{
    unsigned i = threadIdx.x;
    unsigned lane = i % EC_LANES;
#pragma unroll 1
    for (unsigned step = 1; step < BLOCK; step *= 2) {
        int adds = bucket[i] != MSM_NO_BUCKET && (i - start[i]) % (2 * step) == 0 &&
                   i + step < BLOCK && bucket[i + step] == bucket[i];
        unsigned count = collect(work, adds);
        if (count == 0)
            break;
#pragma unroll 1
        for (unsigned first = i / 32 * (32 / EC_LANES); first < count; first += BLOCK / EC_LANES) {
            unsigned item = first + i % 32 / EC_LANES;
            xyzz *place = sums + work->place[item < count ? item : first];
            xyzz sum = lanes_add(lane, place[0], place[step]);
            if (item < count && lane == 0)
                *place = sum;
        }
    }
}

/* Whole runs, at `place` in `sums`, to their buckets. */
__device__ __forceinline__ void deliver(
    const struct merge *job, const xyzz *sums, const unsigned *bucket, struct work *work,
    unsigned count)
{
    unsigned i = threadIdx.x;
    unsigned lane = i % EC_LANES;
#pragma unroll 1
    for (unsigned first = i / 32 * (32 / EC_LANES); first < count; first += BLOCK / EC_LANES) {
        unsigned item = first + i % 32 / EC_LANES;
        unsigned place = work->place[item < count ? item : first];
        xyzz sum = sums[place];
        if (job->continues)
            sum = lanes_add(lane, sum, job->buckets[bucket[place]]);
        if (item < count && lane == 0)
            job->buckets[bucket[place]] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) msm_merge(struct merge job)
{
    __shared__ unsigned bucket[BLOCK];
    __shared__ unsigned start[BLOCK];
    __shared__ struct work work;
    pdl_wait();
    unsigned i = threadIdx.x;
    u64 first = (u64)blockIdx.x * BLOCK;
    xyzz *sums = job.slots.sums + first;

    bucket[i] = first + i < job.count ? job.slots.buckets[first + i] : MSM_NO_BUCKET;
    if (i < 2 && !job.is_last)
        slot_clear(job.next, 2ull * blockIdx.x + i);
    __syncthreads();
    find_runs(bucket, start);
    sum_runs(sums, bucket, start, &work);

    int is_run = bucket[i] != MSM_NO_BUCKET && start[i] == i;
    int reaches_end = bucket[BLOCK - 1] == bucket[i];
    int is_whole = is_run && (job.is_last || (i > 0 && !reaches_end));
    deliver(&job, sums, bucket, &work, collect(&work, is_whole));
    if (!is_run || is_whole)
        return;
    slot_put(job.next, 2ull * blockIdx.x + (i > 0), bucket[i], sums[i]);
    if (i == 0 && reaches_end)
        slot_put(job.next, 2ull * blockIdx.x + 1, bucket[i], xyzz_infinity());
}
