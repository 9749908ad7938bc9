/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the entries of each partition by bucket and computes where each bucket ends. Partition p
 * writes bucket_offsets[b + 1] only for its own buckets b. For an oversized partition these words
 * hold the counts first, then the indices of each bucket's next entry, which are the buckets' ends
 * once all entries are written.
 */
#include "base/launch.cuh"
#include "msm/sort.cuh"

__device__ __forceinline__ unsigned partition_start(
    const struct msm_sort_args &args, unsigned partition)
{
    return partition == 0 ? 0 : args.cursors[partition - 1];
}

/* A range of entries that are sorted by partition only: a partition, or a slice of an oversized
 * one. */
struct slice {
    struct msm_oversized *oversized;
    unsigned first;
    unsigned length;
    unsigned start;  /* of the partition */
    unsigned slices; /* of the partition */
    unsigned first_bucket;
    unsigned buckets; /* of the partition; the last one may have fewer than 2^log_partition */
};

__device__ __forceinline__ struct slice whole_partition(
    const struct msm_sort_args &args, unsigned partition)
{
    struct slice slice;
    slice.oversized = nullptr;
    slice.first = slice.start = partition_start(args, partition);
    slice.length = args.cursors[partition] - slice.start;
    slice.slices = 1;
    slice.first_bucket = partition << args.log_partition;
    slice.buckets = min(1u << args.log_partition, args.buckets - slice.first_bucket);
    return slice;
}

/* Slice `number` of all oversized partitions together. */
__device__ __forceinline__ struct slice slice_at(const struct msm_sort_args &args, unsigned number)
{
    unsigned low = 0, high = args.state->oversized;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (args.oversized[middle].first_slice <= number)
            low = middle;
        else
            high = middle;
    }
    struct slice slice = whole_partition(args, args.oversized[low].partition);
    unsigned before = (number - args.oversized[low].first_slice) * args.slice_entries;
    slice.oversized = args.oversized + low;
    slice.slices = (slice.length - 1) / args.slice_entries + 1;
    slice.first += before;
    slice.length = min(slice.length - before, args.slice_entries);
    return slice;
}

/* Loads the buckets of a thread's items first + k * blockDim.x; SORT_NONE past the end. */
__device__ __forceinline__ void load_buckets(
    const struct msm_sort_args &args, const struct slice &slice, unsigned first, unsigned *bucket)
{
    const unsigned short *buckets = args.partitioned_buckets + slice.first;
#pragma unroll
    for (unsigned k = 0; k < SORT_LOADS; k++) {
        unsigned i = first + threadIdx.x + k * blockDim.x;
        bucket[k] = i < slice.length ? buckets[i] : SORT_NONE;
    }
}

/* Adds to counts, which block_clear has cleared. */
__device__ __forceinline__ void count_buckets(
    const struct msm_sort_args &args, const struct slice &slice, unsigned *counts)
{
    for (unsigned first = 0; first < slice.length; first += SORT_LOADS * blockDim.x) {
        unsigned bucket[SORT_LOADS];
        load_buckets(args, slice, first, bucket);
#pragma unroll
        for (unsigned k = 0; k < SORT_LOADS; k++)
            if (bucket[k] != SORT_NONE)
                atomicAdd(counts + bucket[k], 1);
    }
}

/* Replaces the counts in bucket_offsets[b + 1] by indices. Runs in the block that added to them
 * last. */
__device__ __forceinline__ void indices_from_counts(
    const struct msm_sort_args &args, const struct slice &slice, unsigned *counts)
{
    unsigned *ends = args.bucket_offsets + slice.first_bucket + 1;
    for (unsigned i = threadIdx.x; i < slice.buckets; i += blockDim.x)
        counts[i] = __ldcg(ends + i);
    block_scan(counts, slice.buckets);
    for (unsigned i = threadIdx.x; i < slice.buckets; i += blockDim.x)
        ends[i] = slice.start + counts[i];
}

__device__ __forceinline__ void count_slice(
    const struct msm_sort_args &args, unsigned number, unsigned *counts)
{
    __shared__ unsigned before;
    struct slice slice = slice_at(args, number);
    unsigned *ends = args.bucket_offsets + slice.first_bucket + 1;
    block_clear(counts, slice.buckets);
    count_buckets(args, slice, counts);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < slice.buckets; i += blockDim.x)
        if (counts[i] != 0)
            atomicAdd(ends + i, counts[i]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        before = atomicAdd(&slice.oversized->slices_counted, 1);
    __syncthreads();
    if (before + 1 == slice.slices)
        indices_from_counts(args, slice, counts);
    __syncthreads();
}

/* Writes SORT_LOADS items per thread to their indices in shared memory. */
__device__ __forceinline__ void order_items(const struct msm_sort_args &args,
    const struct slice &slice, unsigned first, unsigned *counts, unsigned *ordered)
{
    unsigned bucket[SORT_LOADS], entry[SORT_LOADS];
    load_buckets(args, slice, first, bucket);
#pragma unroll
    for (unsigned k = 0; k < SORT_LOADS; k++)
        if (bucket[k] != SORT_NONE)
            entry[k] = args.partitioned_entries[slice.first + first + threadIdx.x + k * blockDim.x];
    bool uses_aggregation = is_skewed(bucket[0], bucket[0] != SORT_NONE);
#pragma unroll
    for (unsigned k = 0; k < SORT_LOADS; k++) {
        bool has_item = bucket[k] != SORT_NONE;
        unsigned index = 0;
        if (uses_aggregation)
            index = warp_aggregated_add(counts, bucket[k], has_item);
        else if (has_item)
            index = atomicAdd(counts + bucket[k], 1);
        if (has_item)
            ordered[index] = entry[k];
    }
}

__device__ __forceinline__ void sort_partition(
    const struct msm_sort_args &args, const struct slice &slice, unsigned *counts)
{
    unsigned *ordered = counts + (1u << args.log_partition);
    block_clear(counts, slice.buckets);
    count_buckets(args, slice, counts);
    unsigned total = block_scan(counts, slice.buckets);
    unsigned *ends = args.bucket_offsets + slice.first_bucket + 1;
    for (unsigned i = threadIdx.x; i < slice.buckets; i += blockDim.x)
        ends[i] = slice.start + (i + 1 < slice.buckets ? counts[i + 1] : total);
    __syncthreads();
    for (unsigned first = 0; first < slice.length; first += SORT_LOADS * blockDim.x)
        order_items(args, slice, first, counts, ordered);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < slice.length; i += blockDim.x)
        args.entries[slice.first + i] = ordered[i];
}

/*
 * The first `counting_blocks` blocks count the buckets of oversized partitions. Each of the others
 * sorts one partition, beginning with the last: the top window has small digits and so the fullest
 * partitions. Shared memory: 2^log_partition + block_capacity words.
 */
extern "C" __global__ void __launch_bounds__(1024, 1)
    msm_sort_buckets(const struct msm_sort_args args)
{
    extern __shared__ unsigned counts[];
    pdl_wait();
    unsigned block = args.first_block + blockIdx.x;
    if (block < args.counting_blocks) {
        unsigned slices = args.state->slices;
        for (unsigned number = block; number < slices; number += args.counting_blocks)
            count_slice(args, number, counts);
        return;
    }
    unsigned partition = args.partitions - 1 - (block - args.counting_blocks);
    struct slice slice = whole_partition(args, partition);
    if (slice.length <= args.block_capacity)
        sort_partition(args, slice, counts);
}

/* Sorts the slices of oversized partitions by bucket. Shared memory: 2^(log_partition + 1) words
 * and two words per entry of a slice. */
extern "C" __global__ void __launch_bounds__(256)
    msm_sort_oversized(const struct msm_sort_args args)
{
    extern __shared__ unsigned counts[];
    pdl_wait();
    unsigned *shifts = counts + (1u << args.log_partition),
             *ordered = shifts + (1u << args.log_partition);
    unsigned *keys = ordered + args.slice_entries, slices = args.state->slices;
    for (unsigned number = args.first_block + blockIdx.x; number < slices;
         number += args.counting_blocks) {
        struct slice slice = slice_at(args, number);
        unsigned bucket[MSM_SORT_ITEMS], rank[MSM_SORT_ITEMS];
        block_clear(counts, slice.buckets);
#pragma unroll
        for (unsigned k = 0; k < MSM_SORT_ITEMS; k++) {
            unsigned i = threadIdx.x + k * blockDim.x;
            bucket[k] = i < slice.length ? args.partitioned_buckets[slice.first + i] : SORT_NONE;
        }
#pragma unroll
        for (unsigned k = 0; k < MSM_SORT_ITEMS; k++)
            rank[k] = warp_aggregated_add(counts, bucket[k], bucket[k] != SORT_NONE);
        unsigned total = reserve_ranges(
            counts, shifts, slice.buckets, args.bucket_offsets + slice.first_bucket + 1);
#pragma unroll
        for (unsigned k = 0; k < MSM_SORT_ITEMS; k++) {
            if (bucket[k] == SORT_NONE)
                continue;
            unsigned index = counts[bucket[k]] + rank[k];
            ordered[index] = args.partitioned_entries[slice.first + threadIdx.x + k * blockDim.x];
            keys[index] = bucket[k];
        }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < total; i += blockDim.x)
            args.entries[shifts[keys[i]] + i] = ordered[i];
        __syncthreads();
    }
}
