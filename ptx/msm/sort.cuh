/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the kernels that sort entries by bucket. Depends on no field and no curve.
 *
 * A partition is 2^log_partition neighbouring buckets, of one bucket set or of several. The digits
 * of each partition are counted (digits.cu), distributed to their partitions (sort_partition.cu),
 * and sorted by bucket within them (sort_buckets.cu): in the shared memory of one block where a
 * partition fits, otherwise, when it is oversized, by many blocks in slices. `cursors` has a word
 * per partition. It holds the partition's count first, then the index of its first entry; it
 * advances as entries are written, so that in the end it is the index of the next partition's first
 * entry.
 */
#ifndef PTX_MSM_SORT_CUH
#define PTX_MSM_SORT_CUH

#include "msm/args.h"

typedef unsigned long long u64;

#define SORT_LOADS 8 /* items that a thread of msm_sort_buckets loads at once */
#define SORT_NONE 0xffffffffu

/* One tile: scalars first ... first + length - 1 of the batch, of MSMs msm ... last_msm. */
struct tile {
    unsigned msm;
    unsigned last_msm;
    unsigned first;
    unsigned length;
};

__device__ __forceinline__ struct tile tile_at(
    const struct msm_sort_args &args, const struct msm_tiling &tiling, unsigned index)
{
    struct tile tile;
    tile.msm = index / tiling.tiles_per_msm * tiling.msms_per_tile;
    tile.last_msm = min(tile.msm + tiling.msms_per_tile, args.batch) - 1;
    tile.first = tile.msm * args.count + index % tiling.tiles_per_msm * tiling.scalars_per_tile;
    tile.length = min((tile.last_msm + 1) * args.count - tile.first, tiling.scalars_per_tile);
    return tile;
}

/* The first bucket of bucket set `set` of an MSM. */
__device__ __forceinline__ unsigned set_start(
    const struct msm_sort_args &args, unsigned msm, unsigned set)
{
    return (msm * args.sets_per_msm + set) << (args.window_bits - 1);
}

/* Exclusive prefix sum of `value` over the block's threads, and the total. */
__device__ __forceinline__ unsigned block_prefix_sum(unsigned value, unsigned *total)
{
    __shared__ unsigned warps[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = value;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step)
            sum += other;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    unsigned warp_sum = lane < blockDim.x / 32 ? warps[lane] : 0;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, warp_sum, step);
        if (lane >= step)
            warp_sum += other;
    }
    *total = __shfl_sync(0xffffffffu, warp_sum, 31);
    unsigned before = __shfl_sync(0xffffffffu, warp_sum, warp == 0 ? 0 : warp - 1);
    __syncthreads();
    return (warp == 0 ? 0 : before) + sum - value;
}

__device__ __forceinline__ void block_clear(unsigned *counts, unsigned bins)
{
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
}

/* Replaces counts by their exclusive prefix sums and returns the total. Synchronises the block at
 * its beginning and end. */
__device__ __forceinline__ unsigned block_scan(unsigned *counts, unsigned bins)
{
    unsigned per_thread = (bins + blockDim.x - 1) / blockDim.x;
    unsigned first = min(threadIdx.x * per_thread, bins), end = min(first + per_thread, bins);
    unsigned sum = 0, total;
    __syncthreads();
    for (unsigned i = first; i < end; i++)
        sum += counts[i];
    unsigned before = block_prefix_sum(sum, &total);
    for (unsigned i = first; i < end; i++) {
        unsigned count = counts[i];
        counts[i] = before;
        before += count;
    }
    __syncthreads();
    return total;
}

/* Whether many items of a warp belong to the same bin, judged by one item per lane. */
__device__ __forceinline__ bool is_skewed(unsigned bin, bool has_item)
{
    unsigned items = __ballot_sync(0xffffffffu, has_item);
    unsigned first = __shfl_sync(0xffffffffu, bin, __ffs(items | 0x80000000u) - 1);
    return __popc(__ballot_sync(0xffffffffu, has_item && bin == first)) > 8;
}

/*
 * Increments counts[bin] for every lane of the warp that has an item and returns the value before
 * the increment. For skewed items: those in the bin of the first lane share one atomic operation,
 * so that they do not serialise on one address.
 */
__device__ __forceinline__ unsigned warp_aggregated_add(
    unsigned *counts, unsigned bin, bool has_item)
{
    unsigned items = __ballot_sync(0xffffffffu, has_item);
    unsigned lane = threadIdx.x % 32;
    unsigned leader = __ffs(items | 0x80000000u) - 1;
    unsigned first_bin = __shfl_sync(0xffffffffu, bin, leader); /* reached by all lanes */
    bool is_same = has_item && bin == first_bin;
    unsigned same = __ballot_sync(0xffffffffu, is_same);
    unsigned rank = 0;
    if (has_item && (!is_same || lane == leader))
        rank = atomicAdd(counts + bin, is_same ? __popc(same) : 1);
    unsigned first = __shfl_sync(0xffffffffu, rank, leader);
    return is_same ? first + __popc(same & ((1u << lane) - 1)) : rank;
}

/*
 * Takes the block's counts of items per bin and advances each bin's cursor by its count. Afterwards
 * counts[i] is the index of the bin's first item in the block's own order, and shifts[i] is what
 * has to be added to an index in that order to obtain the index that the cursor reserved. Returns
 * the number of items.
 */
__device__ __forceinline__ unsigned reserve_ranges(
    unsigned *counts, unsigned *shifts, unsigned bins, unsigned *cursors)
{
    unsigned total = block_scan(counts, bins);
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) {
        unsigned count = (i + 1 < bins ? counts[i + 1] : total) - counts[i];
        shifts[i] = count == 0 ? 0 : atomicAdd(cursors + i, count) - counts[i];
    }
    return total;
}

#endif
