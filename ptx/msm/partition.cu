/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digits to the partition of their bucket. A block takes a tile of one window's digits, puts it in
 * order in shared memory and writes a run for each partition that it meets.
 */
#include "msm/sort.cuh"

/* A digit's bucket, counted from the tile's first partition, and its sign; SORT_NONE for 0. */
__device__ __forceinline__ unsigned digit_key(
    const struct sort &run, unsigned sum, unsigned group, unsigned origin, u64 at)
{
    unsigned half = 1u << (run.window_bits - 1);
    unsigned digit = run.digit_bytes == 2 ? ((const unsigned short *)run.digits)[at]
                                          : ((const unsigned *)run.digits)[at];
    unsigned start = set_start(run, sum, group) - origin;
    if (digit == half)
        return SORT_NONE;
    return digit > half ? start + (digit - half - 1) : (start + (half - digit - 1)) | SORT_NEGATIVE;
}

/* Shared memory: two words for each of run.bins partitions, two for each digit of a tile. */
extern "C" __global__ void __launch_bounds__(512, 2) msm_partition(const struct sort run)
{
    extern __shared__ unsigned counts[];
    unsigned *moves = counts + run.bins, *loose = moves + run.bins;
    unsigned *keys = loose + SORT_ITEMS * blockDim.x;
    unsigned window = blockIdx.x / run.digit_tiles.tiles;
    unsigned group = window % run.groups;
    struct tile tile = tile_of(run, run.digit_tiles, blockIdx.x % run.digit_tiles.tiles);
    unsigned first_bin = set_start(run, tile.sum, group) >> run.low_bits;
    unsigned last_bin =
        (set_start(run, tile.last_sum, group) + (1u << (run.window_bits - 1)) - 1) >> run.low_bits;
    unsigned origin = first_bin << run.low_bits;
    u64 row = (u64)window * run.batch * run.count;
    bool is_one_sum = run.digit_tiles.sums == 1;
    unsigned key[SORT_ITEMS], rank[SORT_ITEMS];

    block_clear(counts, last_bin - first_bin + 1);
#pragma unroll
    for (unsigned k = 0; k < SORT_ITEMS; k++) {
        unsigned i = threadIdx.x + k * blockDim.x, place = tile.first + i;
        key[k] = SORT_NONE;
        if (i < tile.length)
            key[k] = digit_key(
                run, is_one_sum ? tile.sum : place / run.count, group, origin, row + place);
    }
#pragma unroll
    for (unsigned k = 0; k < SORT_ITEMS; k++)
        rank[k] =
            ranked_add(counts, (key[k] & ~SORT_NEGATIVE) >> run.low_bits, key[k] != SORT_NONE);
    unsigned total = reserve(counts, moves, last_bin - first_bin + 1, run.cursors + first_bin);
    unsigned level_point = run.first_point + window / run.groups * run.point_level;
#pragma unroll
    for (unsigned k = 0; k < SORT_ITEMS; k++) {
        if (key[k] == SORT_NONE)
            continue;
        unsigned place = tile.first + threadIdx.x + k * blockDim.x;
        unsigned sum = is_one_sum ? tile.sum : place / run.count;
        unsigned bucket = key[k] & ~SORT_NEGATIVE;
        unsigned to = counts[bucket >> run.low_bits] + rank[k];
        loose[to] = (level_point + sum * run.point_batch + (place - sum * run.count)) |
                    (key[k] & SORT_NEGATIVE);
        keys[to] = bucket;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < total; i += blockDim.x) {
        unsigned to = moves[keys[i] >> run.low_bits] + i;
        run.loose[to] = loose[i];
        run.lows[to] = (unsigned short)(keys[i] & ((1u << run.low_bits) - 1));
    }
}
