/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's part of the accumulation of bases into buckets. The entries are sorted by bucket, and
 * every thread takes an equal range of them, whatever buckets they belong to, so that skewed
 * scalars cost no more than uniform ones. A bucket whose entries all lie in one range is written by
 * that thread; the first and the last bucket of a range may be shared with neighbours and go to
 * partial sums.
 *
 * The cost is one mixed addition per entry. Bases are prefetched one entry ahead, and entries two.
 */
#ifndef PTX_MSM_ACCUMULATE_RANGE_CUH
#define PTX_MSM_ACCUMULATE_RANGE_CUH

#include "msm/partial_buckets.cuh"

__device__ __forceinline__ affine load_base(const struct msm_accumulate_args *args, unsigned entry)
{
    u64 index = entry & ~MSM_ENTRY_NEGATIVE;
    affine p = *(const affine *)(args->bases + index * args->base_stride);
    return affine_cneg(p, entry >> 31);
}

/* The bucket that entry `position` belongs to: bucket_offsets[low] <= position <
 * bucket_offsets[high]. */
__device__ __forceinline__ unsigned find_bucket(
    const struct msm_accumulate_args *args, unsigned position, unsigned low, unsigned high)
{
#pragma unroll 1
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (args->bucket_offsets[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The bucket of entry `position`, which is the first entry after bucket `last`: usually the next
 * bucket, but skewed scalars leave long ranges of empty buckets. */
__device__ __forceinline__ unsigned next_bucket(
    const struct msm_accumulate_args *args, unsigned position, unsigned last)
{
    unsigned low = last + 1;
    unsigned step = 1;
#pragma unroll 1
    while (low + step < args->bucket_count && args->bucket_offsets[low + step] <= position) {
        low += step;
        step *= 2;
    }
    unsigned high = low + step < args->bucket_count ? low + step : args->bucket_count;
    return find_bucket(args, position, low, high);
}

/* The initial value of a bucket: a thread with all of its entries adds to the sum of earlier
 * chunks. */
__device__ __forceinline__ xyzz initial_sum(
    const struct msm_accumulate_args *args, unsigned bucket, int is_complete)
{
    return args->adds_to_buckets && is_complete ? args->buckets[bucket] : xyzz_infinity();
}

/*
 * One launch takes a slice of every thread's range, so that it ends after a bounded time; a longer
 * range takes several launches. Between two of them the running sum and its bucket are in the slot
 * that the thread would share with its successor.
 */
__device__ __forceinline__ void accumulate_range(
    const struct msm_accumulate_args *args, unsigned thread)
{
    unsigned total = args->bucket_offsets[args->bucket_count];
    unsigned per_thread = total / args->threads + (total % args->threads != 0);
    u64 begin = (u64)thread * per_thread;
    int is_first = args->slice_first == 0;
    if (is_first) {
        partial_clear(args->partial, 2ull * thread);
        partial_clear(args->partial, 2ull * thread + 1);
    }
    if (begin >= total || begin + args->slice_first >= total || args->slice_first >= per_thread)
        return;
    unsigned end = begin + per_thread < total ? (unsigned)begin + per_thread : total;
    unsigned i = (unsigned)begin + args->slice_first;
    unsigned slice_end = args->slice_entries < end - i ? i + args->slice_entries : end;

    unsigned bucket = is_first ? find_bucket(args, i, 0, args->bucket_count)
                               : args->partial.buckets[2ull * thread + 1];
    unsigned bucket_end = args->bucket_offsets[bucket + 1];
    int is_shared = args->bucket_offsets[bucket] < begin;
    xyzz sum = is_first ? initial_sum(args, bucket, !is_shared && bucket_end <= end)
                        : args->partial.sums[2ull * thread + 1];
    unsigned next_entry = i + 1 < slice_end ? args->entries[i + 1] : 0;
    affine next = load_base(args, args->entries[i]);
#pragma unroll 1
    for (; i < slice_end; i++) {
        affine base = next;
        if (i + 1 < slice_end)
            next = load_base(args, next_entry);
        if (i + 2 < slice_end)
            next_entry = args->entries[i + 2];
        if (i == bucket_end) {
            if (is_shared)
                partial_store(args->partial, 2ull * thread, bucket, sum);
            else
                args->buckets[bucket] = sum;
            is_shared = 0;
            bucket = next_bucket(args, i, bucket);
            bucket_end = args->bucket_offsets[bucket + 1];
            sum = initial_sum(args, bucket, bucket_end <= end);
        }
        sum = xyzz_add_affine(sum, base);
    }
    if (slice_end < end) {
        partial_store(args->partial, 2ull * thread + 1, bucket, sum);
        return;
    }
    if (bucket_end > end) {
        /* The next thread has more of this bucket. A thread whose entries all belong to one bucket
         * fills both slots, so that no unused slot separates its neighbours' slots. */
        partial_store(args->partial, 2ull * thread + 1, bucket, sum);
        if (is_shared)
            partial_store(args->partial, 2ull * thread, bucket, xyzz_infinity());
        return;
    }
    partial_clear(args->partial, 2ull * thread + 1);
    if (is_shared)
        partial_store(args->partial, 2ull * thread, bucket, sum);
    else
        args->buckets[bucket] = sum;
}

#endif
