/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributes digits to the partitions of their buckets. A block takes a tile of one window's
 * digits, sorts it in shared memory and writes a contiguous run to each partition that it meets.
 *
 * A key is twice the digit's bucket, relative to the tile's first partition, plus the digit's sign;
 * SORT_NONE for the digit 0. All loads precede the first use: only many loads in flight hide their
 * latency.
 */
#include "base/launch.cuh"
#include "msm/sort.cuh"

template <typename stored>
__device__ __forceinline__ void load_digits(
    const stored *digits, unsigned length, unsigned zero, unsigned *digit)
{
#pragma unroll
    for (unsigned k = 0; k < MSM_SORT_ITEMS; k++) {
        unsigned i = threadIdx.x + k * blockDim.x;
        digit[k] = i < length ? digits[i] : zero;
    }
}

/* The MSM that item i of the tile belongs to. */
template <bool is_one_msm>
__device__ __forceinline__ unsigned msm_of(
    const struct msm_sort_args &args, const struct tile &tile, unsigned i)
{
    return is_one_msm ? tile.msm : (tile.first + i) / args.count;
}

template <bool is_one_msm>
__device__ __forceinline__ void load_keys(const struct msm_sort_args &args, const struct tile &tile,
    unsigned window, unsigned origin, unsigned *key)
{
    unsigned half = 1u << (args.window_bits - 1), set = window % args.sets_per_msm;
    u64 first = (u64)window * (args.batch * args.count) + tile.first;
    if (args.digit_bytes == 2)
        load_digits((const unsigned short *)args.digits + first, tile.length, half, key);
    else
        load_digits((const unsigned *)args.digits + first, tile.length, half, key);
#pragma unroll
    for (unsigned k = 0; k < MSM_SORT_ITEMS; k++) {
        unsigned msm = msm_of<is_one_msm>(args, tile, threadIdx.x + k * blockDim.x);
        unsigned before = set_start(args, msm, set) - origin - 1;
        int value = (int)(key[k] - half);
        key[k] = value == 0 ? SORT_NONE : 2 * (before + abs(value)) + ((unsigned)value >> 31);
    }
}

__device__ __forceinline__ void count_keys(
    unsigned *counts, unsigned shift, const unsigned *key, unsigned *rank)
{
    if (is_skewed(key[0] >> shift, key[0] != SORT_NONE)) {
#pragma unroll
        for (unsigned k = 0; k < MSM_SORT_ITEMS; k++)
            rank[k] = warp_aggregated_add(counts, key[k] >> shift, key[k] != SORT_NONE);
    } else {
#pragma unroll
        for (unsigned k = 0; k < MSM_SORT_ITEMS; k++)
            rank[k] = key[k] != SORT_NONE ? atomicAdd(counts + (key[k] >> shift), 1) : 0;
    }
}

/* Shared memory: two words per digit of a tile and two per partition of args.digit_bins. */
template <bool is_one_msm>
__device__ __forceinline__ void sort_tile(const struct msm_sort_args &args)
{
    extern __shared__ uint2 staged[]; /* an entry and its key's bucket */
    unsigned *counts = (unsigned *)(staged + MSM_SORT_ITEMS * blockDim.x),
             *shifts = counts + args.digit_bins;
    unsigned block = args.first_block + blockIdx.x, window = block / args.digit_tiles.tiles;
    unsigned set = window % args.sets_per_msm, shift = args.log_partition + 1;
    struct tile tile = tile_at(args, args.digit_tiles, block % args.digit_tiles.tiles);
    unsigned first_bin = set_start(args, tile.msm, set) >> args.log_partition;
    unsigned last_bin =
        (set_start(args, tile.last_msm, set) + (1u << (args.window_bits - 1)) - 1) >>
        args.log_partition;
    unsigned key[MSM_SORT_ITEMS], rank[MSM_SORT_ITEMS];

    load_keys<is_one_msm>(args, tile, window, first_bin << args.log_partition, key);
    block_clear(counts, last_bin - first_bin + 1);
    count_keys(counts, shift, key, rank);
    unsigned total =
        reserve_ranges(counts, shifts, last_bin - first_bin + 1, args.cursors + first_bin);
    unsigned base =
        args.first_base + window / args.sets_per_msm * args.multiple_stride + tile.first;
#pragma unroll
    for (unsigned k = 0; k < MSM_SORT_ITEMS; k++) {
        unsigned i = threadIdx.x + k * blockDim.x;
        unsigned msm = msm_of<is_one_msm>(args, tile, i);
        if (key[k] != SORT_NONE)
            staged[counts[key[k] >> shift] + rank[k]] =
                make_uint2((base + i + msm * (args.base_batch_stride - args.count)) | key[k] << 31,
                    key[k] >> 1);
    }
    __syncthreads();
    unsigned mask = (1u << args.log_partition) - 1;
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < total; i += blockDim.x) {
        uint2 item = staged[i];
        unsigned index = shifts[item.y >> args.log_partition] + i;
        args.partitioned_entries[index] = item.x;
        args.partitioned_buckets[index] = (unsigned short)(item.y & mask);
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    msm_sort_partition(const struct msm_sort_args args)
{
    pdl_wait();
    sort_tile<true>(args);
}

/* For tiles of several MSMs. */
extern "C" __global__ void __launch_bounds__(1024, 1)
    msm_sort_partition_batch(const struct msm_sort_args args)
{
    pdl_wait();
    sort_tile<false>(args);
}
