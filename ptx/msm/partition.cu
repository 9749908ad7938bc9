/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digits to the partition of their bucket. A block takes a tile of one window's digits, puts it in
 * order in shared memory and writes a run for each partition that it meets.
 *
 * A key is twice a digit's bucket, counted from the tile's first partition, plus its sign;
 * SORT_NONE for the digit 0. All loads come before the first use: only many at once hide their
 * latency.
 */
#include "base/launch.cuh"
#include "msm/sort.cuh"

template <typename stored>
__device__ __forceinline__ void load_digits(
    const stored *from, unsigned length, unsigned none, unsigned *digit)
{
#pragma unroll
    for (unsigned k = 0; k < SORT_ITEMS; k++) {
        unsigned i = threadIdx.x + k * blockDim.x;
        digit[k] = i < length ? from[i] : none;
    }
}

/* The sum that the tile's item i belongs to. */
template <bool is_one_sum>
__device__ __forceinline__ unsigned sum_of(
    const struct sort &run, const struct tile &tile, unsigned i)
{
    return is_one_sum ? tile.sum : (tile.first + i) / run.count;
}

template <bool is_one_sum>
__device__ __forceinline__ void load_keys(const struct sort &run, const struct tile &tile,
    unsigned window, unsigned origin, unsigned *key)
{
    unsigned half = 1u << (run.window_bits - 1), group = window % run.groups;
    u64 first = (u64)window * (run.batch * run.count) + tile.first;
    if (run.digit_bytes == 2)
        load_digits((const unsigned short *)run.digits + first, tile.length, half, key);
    else
        load_digits((const unsigned *)run.digits + first, tile.length, half, key);
#pragma unroll
    for (unsigned k = 0; k < SORT_ITEMS; k++) {
        unsigned sum = sum_of<is_one_sum>(run, tile, threadIdx.x + k * blockDim.x);
        unsigned before = set_start(run, sum, group) - origin - 1;
        int value = (int)(key[k] - half);
        key[k] = value == 0 ? SORT_NONE : 2 * (before + abs(value)) + ((unsigned)value >> 31);
    }
}

__device__ __forceinline__ void rank_keys(
    unsigned *counts, unsigned shift, const unsigned *key, unsigned *rank)
{
    if (is_skewed(key[0] >> shift, key[0] != SORT_NONE)) {
#pragma unroll
        for (unsigned k = 0; k < SORT_ITEMS; k++)
            rank[k] = ranked_add(counts, key[k] >> shift, key[k] != SORT_NONE);
    } else {
#pragma unroll
        for (unsigned k = 0; k < SORT_ITEMS; k++)
            rank[k] = key[k] != SORT_NONE ? atomicAdd(counts + (key[k] >> shift), 1) : 0;
    }
}

/* Shared memory: two words for each digit of a tile, two for each of run.bins partitions. */
template <bool is_one_sum> __device__ __forceinline__ void partition_tile(const struct sort &run)
{
    extern __shared__ uint2 staged[]; /* an entry, and its key's bucket */
    unsigned *counts = (unsigned *)(staged + SORT_ITEMS * blockDim.x), *moves = counts + run.bins;
    unsigned window = blockIdx.x / run.digit_tiles.tiles;
    unsigned group = window % run.groups, shift = run.low_bits + 1;
    struct tile tile = tile_of(run, run.digit_tiles, blockIdx.x % run.digit_tiles.tiles);
    unsigned first_bin = set_start(run, tile.sum, group) >> run.low_bits;
    unsigned last_bin =
        (set_start(run, tile.last_sum, group) + (1u << (run.window_bits - 1)) - 1) >> run.low_bits;
    unsigned key[SORT_ITEMS], rank[SORT_ITEMS];

    load_keys<is_one_sum>(run, tile, window, first_bin << run.low_bits, key);
    block_clear(counts, last_bin - first_bin + 1);
    rank_keys(counts, shift, key, rank);
    unsigned total = reserve(counts, moves, last_bin - first_bin + 1, run.cursors + first_bin);
    unsigned point = run.first_point + window / run.groups * run.point_level + tile.first;
#pragma unroll
    for (unsigned k = 0; k < SORT_ITEMS; k++) {
        unsigned i = threadIdx.x + k * blockDim.x;
        unsigned sum = sum_of<is_one_sum>(run, tile, i);
        if (key[k] != SORT_NONE)
            staged[counts[key[k] >> shift] + rank[k]] = make_uint2(
                (point + i + sum * (run.point_batch - run.count)) | key[k] << 31, key[k] >> 1);
    }
    __syncthreads();
    unsigned mask = (1u << run.low_bits) - 1;
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < total; i += blockDim.x) {
        uint2 item = staged[i];
        unsigned to = moves[item.y >> run.low_bits] + i;
        run.loose[to] = item.x;
        run.lows[to] = (unsigned short)(item.y & mask);
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) msm_partition(const struct sort run)
{
    pdl_wait();
    partition_tile<true>(run);
}

/* Tiles of several sums. */
extern "C" __global__ void __launch_bounds__(1024, 1) msm_partition_sums(const struct sort run)
{
    pdl_wait();
    partition_tile<false>(run);
}
