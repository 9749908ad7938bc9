/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points into buckets. The entries are sorted by bucket; every thread takes an equal run of them,
 * whatever buckets they belong to, so that skewed scalars cost what uniform ones cost. A bucket
 * that lies wholly in a run is the thread's own; the first and last one may be shared with its
 * neighbours and go to slots.
 *
 * The cost is one mixed sum an entry; the point after next is asked for while the present one is
 * added.
 */
#include "base/launch.cuh"
#include "msm/slots.cuh"

struct accumulate {
    const unsigned *entries; /* number of a point; top bit: subtracted */
    const unsigned *offsets; /* where a bucket's entries begin; one more at the end */
    xyzz *buckets;
    struct slots slots;
    const unsigned char *points;
    u64 point_stride;
    unsigned bucket_count;
    unsigned threads;
    unsigned continues; /* 1: buckets hold sums of earlier parts */
};

__device__ __forceinline__ affine load_point(const struct accumulate *job, unsigned entry)
{
    u64 number = entry & 0x7fffffffu;
    affine p = *(const affine *)(job->points + number * job->point_stride);
    return affine_cneg(p, entry >> 31);
}

/* The bucket that entry `position` belongs to: offsets[low] <= position < offsets[high]. */
__device__ __forceinline__ unsigned find_bucket(
    const struct accumulate *job, unsigned position, unsigned low, unsigned high)
{
#pragma unroll 1
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (job->offsets[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The bucket of entry `position`, which is the first one after bucket `last`: mostly the next one,
 * but skewed scalars leave long rows of empty ones between. */
__device__ __forceinline__ unsigned next_bucket(
    const struct accumulate *job, unsigned position, unsigned last)
{
    unsigned low = last + 1;
    unsigned step = 1;
#pragma unroll 1
    while (low + step < job->bucket_count && job->offsets[low + step] <= position) {
        low += step;
        step *= 2;
    }
    unsigned high = low + step < job->bucket_count ? low + step : job->bucket_count;
    return find_bucket(job, position, low, high);
}

/* Where a bucket begins that this thread has the whole of, or else a share. */
__device__ __forceinline__ xyzz first_sum(
    const struct accumulate *job, unsigned bucket, int is_whole)
{
    return job->continues && is_whole ? job->buckets[bucket] : xyzz_infinity();
}

extern "C" __global__ void __launch_bounds__(MSM_THREADS, MSM_BLOCKS)
    msm_accumulate(struct accumulate job)
{
    pdl_wait();
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= job.threads)
        return;
    unsigned total = job.offsets[job.bucket_count];
    unsigned share = total / job.threads + (total % job.threads != 0);
    u64 begin = (u64)thread * share;
    slot_clear(job.slots, 2ull * thread);
    slot_clear(job.slots, 2ull * thread + 1);
    if (begin >= total)
        return;
    unsigned end = begin + share < total ? (unsigned)begin + share : total;

    unsigned bucket = find_bucket(&job, (unsigned)begin, 0, job.bucket_count);
    unsigned bucket_end = job.offsets[bucket + 1];
    int is_shared_before = job.offsets[bucket] < begin;
    xyzz sum = first_sum(&job, bucket, !is_shared_before && bucket_end <= end);
    unsigned ahead = begin + 1 < end ? job.entries[begin + 1] : 0;
    affine next = load_point(&job, job.entries[begin]);
#pragma unroll 1
    for (unsigned i = (unsigned)begin; i < end; i++) {
        affine point = next;
        if (i + 1 < end)
            next = load_point(&job, ahead);
        if (i + 2 < end)
            ahead = job.entries[i + 2];
        if (i == bucket_end) {
            if (is_shared_before)
                slot_put(job.slots, 2ull * thread, bucket, sum);
            else
                job.buckets[bucket] = sum;
            is_shared_before = 0;
            bucket = next_bucket(&job, i, bucket);
            bucket_end = job.offsets[bucket + 1];
            sum = first_sum(&job, bucket, bucket_end <= end);
        }
        sum = xyzz_add_affine(sum, point);
    }
    if (bucket_end > end) {
        /* Neighbours follow; a thread with one bucket alone leaves no gap between its slots. */
        slot_put(job.slots, 2ull * thread + 1, bucket, sum);
        if (is_shared_before)
            slot_put(job.slots, 2ull * thread, bucket, xyzz_infinity());
    } else if (is_shared_before) {
        slot_put(job.slots, 2ull * thread, bucket, sum);
    } else {
        job.buckets[bucket] = sum;
    }
}
