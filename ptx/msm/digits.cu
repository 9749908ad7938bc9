/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars to signed digits, and how many there are of each partition. The block that ends last
 * makes places of the counts. A scalar s has the digits of s + lift less 2^(c - 1) each, lift
 * having that number in every window but the top one; where n = order - s is the smaller one, those
 * of n, negated: with 2^(c - 1) - 1 in the lift the digits of -s are just the complements.
 */
#include "fr.cuh"
#include "msm/sort.cuh"

#define PER_THREAD 8 /* partitions that a thread scans at once */

/* s modulo the order, for any s: subtracts the order times powers of two. */
__device__ __noinline__ fr scalar_reduce(fr s)
{
#pragma unroll 1
    for (int shift = 32 * FR_WORDS - FR_BITS; shift >= 0; shift--) {
        fr multiple = fr_modulus();
        for (int i = 0; i < shift; i++) {
#pragma unroll
            for (int w = FR_WORDS - 1; w > 0; w--)
                multiple.word[w] = __funnelshift_l(multiple.word[w - 1], multiple.word[w], 1);
            multiple.word[0] <<= 1;
        }
        if (!fr_less(s, multiple)) {
            unsigned borrow = 0;
#pragma unroll
            for (int w = 0; w < FR_WORDS; w++) {
                u64 difference = (u64)s.word[w] - multiple.word[w] - borrow;
                s.word[w] = (unsigned)difference;
                borrow = (unsigned)(difference >> 63);
            }
        }
    }
    return s;
}

__device__ __forceinline__ fr scalar_load(const struct sort &run, u64 index)
{
    const unsigned *from = run.scalars + index * run.scalar_stride;
    fr s;
    if (FR_WORDS % 4 == 0 && ((u64)run.scalars | run.scalar_stride * 4) % 16 == 0) {
        s = *(const fr *)from;
    } else {
#pragma unroll
        for (int w = 0; w < FR_WORDS; w++)
            s.word[w] = from[w];
    }
    if (run.reduces)
        s = scalar_reduce(s);
    if (run.convert == 1)
        s = fr_from_mont(s);
    if (run.convert == 2) {
        fr factor;
#pragma unroll
        for (int w = 0; w < FR_WORDS; w++)
            factor.word[w] = run.factor[w];
        s = fr_mul(s, factor);
    }
    return s;
}

/* s, lifted, one word longer; or order - s where that is smaller. */
__device__ __forceinline__ bool scalar_lift(const struct sort &run, fr s, unsigned *lifted)
{
    bool is_negated = false;
    if (run.negates) {
        fr negative = fr_neg(s);
        is_negated = fr_less(negative, s);
        s = fr_select(is_negated, negative, s);
    }
    u64 sum = 0;
#pragma unroll
    for (int w = 0; w < FR_WORDS; w++) {
        sum += (u64)s.word[w] + (is_negated ? run.lifts[1][w] : run.lifts[0][w]);
        lifted[w] = (unsigned)sum;
        sum >>= 32;
    }
    lifted[FR_WORDS] =
        (unsigned)sum + (is_negated ? run.lifts[1][FR_WORDS] : run.lifts[0][FR_WORDS]);
    return is_negated;
}

/* Takes the lowest digit off, plus 2^(c - 1); any bits give a number of 0 ... 2^c. */
__device__ __forceinline__ unsigned next_digit(
    const struct sort &run, unsigned *lifted, bool is_negated, bool is_top)
{
    unsigned c = run.window_bits, half = 1u << (c - 1), mask = 2 * half - 1;
    unsigned digit = lifted[0];
#pragma unroll
    for (int w = 0; w < FR_WORDS; w++)
        lifted[w] = __funnelshift_r(lifted[w], lifted[w + 1], c);
    lifted[FR_WORDS] >>= c;
    if (is_top) {
        digit = min(digit, run.top_most);
        return is_negated ? half - digit : half + digit;
    }
    return (is_negated ? ~digit : digit) & mask;
}

/* The digits of one scalar, each counted in its partition of `counts`. */
__device__ __forceinline__ void digits_of(const struct sort &run, unsigned *counts,
    unsigned first_bin, unsigned sum, unsigned place, u64 scalar)
{
    unsigned lifted[FR_WORDS + 1];
    bool is_negated = scalar_lift(run, scalar_load(run, scalar), lifted);
    unsigned half = 1u << (run.window_bits - 1);
    u64 row = (u64)run.batch * run.count, at = place;
    unsigned group = 0;
#pragma unroll 1
    for (unsigned window = 0; window < run.windows; window++, at += row) {
        unsigned digit = next_digit(run, lifted, is_negated, window + 1 == run.windows);
        if (run.digit_bytes == 2)
            ((unsigned short *)run.digits)[at] = (unsigned short)digit;
        else
            ((unsigned *)run.digits)[at] = digit;
        if (digit != half) {
            unsigned bucket = (digit > half ? digit - half : half - digit) - 1;
            unsigned bin = (set_start(run, sum, group) + bucket) >> run.low_bits;
            atomicAdd(counts + (bin - first_bin), 1);
        }
        group = group + 1 == run.groups ? 0 : group + 1;
    }
}

/* The partitions of one round that are crowded go to the list. */
__device__ __forceinline__ void list_crowds(
    const struct sort &run, unsigned first, const unsigned *sizes, struct crowds *crowds)
{
    unsigned mine = 0, my_pieces = 0, all, all_pieces;
    for (unsigned i = 0; i < PER_THREAD; i++)
        if (sizes[i] > run.room) {
            mine++;
            my_pieces += (sizes[i] - 1) / run.piece + 1;
        }
    if (!__syncthreads_or(mine != 0))
        return;
    unsigned at = crowds->count + block_before(mine, &all);
    unsigned piece = crowds->pieces + block_before(my_pieces, &all_pieces);
    for (unsigned i = 0; i < PER_THREAD; i++)
        if (sizes[i] > run.room) {
            run.crowd[at].partition = first + i;
            run.crowd[at].first_piece = piece;
            run.crowd[at].done = 0;
            piece += (sizes[i] - 1) / run.piece + 1;
            at++;
        }
    crowds->count += all;
    crowds->pieces += all_pieces;
}

/* Counts of partitions to places, by one block. */
__device__ __forceinline__ void make_places(const struct sort &run)
{
    struct crowds crowds = {0, 0, 0};
    unsigned place = 0;
    for (unsigned round = 0; round < run.partitions; round += PER_THREAD * blockDim.x) {
        unsigned first = round + PER_THREAD * threadIdx.x;
        unsigned sizes[PER_THREAD], sum = 0, all;
        for (unsigned i = 0; i < PER_THREAD; i++) {
            sizes[i] = first + i < run.partitions ? __ldcg(run.cursors + first + i) : 0;
            sum += sizes[i];
        }
        unsigned at = place + block_before(sum, &all);
        for (unsigned i = 0; i < PER_THREAD; i++) {
            if (first + i < run.partitions)
                run.cursors[first + i] = at;
            at += sizes[i];
        }
        place += all;
        list_crowds(run, first, sizes, &crowds);
    }
    __syncthreads();
    for (unsigned i = 0; i < crowds.count; i++) { /* order.cu counts there */
        unsigned bucket = run.crowd[i].partition << run.low_bits;
        unsigned end = min(bucket + (1u << run.low_bits), run.buckets);
        for (bucket += threadIdx.x; bucket < end; bucket += blockDim.x)
            run.offsets[bucket + 1] = 0;
    }
    if (threadIdx.x == 0) {
        run.crowds->count = crowds.count;
        run.crowds->pieces = crowds.pieces;
        run.offsets[0] = 0;
    }
}

/* Whether this block is the last one to come here. */
__device__ __forceinline__ bool is_last_block(unsigned *blocks_done)
{
    __shared__ unsigned before;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        before = atomicAdd(blocks_done, 1);
    __syncthreads();
    return before + 1 == gridDim.x;
}

/* The scalars of a tile; first_bin is the partition of counts[0]. */
__device__ __forceinline__ void digits_of_tile(
    const struct sort &run, const struct tile &tile, unsigned *counts, unsigned first_bin)
{
    for (unsigned i = threadIdx.x; i < tile.length; i += blockDim.x) {
        unsigned place = tile.first + i;
        unsigned sum = run.scalar_tiles.sums == 1 ? tile.sum : place / run.count;
        u64 scalar = (u64)sum * run.scalar_batch + (place - sum * run.count);
        digits_of(run, counts, first_bin, sum, place, scalar);
    }
}

/* Shared memory: a word for each partition that the tile's sums meet, where there is so much. */
extern "C" __global__ void __launch_bounds__(256) msm_digits(const struct sort run)
{
    extern __shared__ unsigned counts[];
    struct tile tile = tile_of(run, run.scalar_tiles, blockIdx.x);
    if (run.counts_globally) {
        digits_of_tile(run, tile, run.cursors, 0);
    } else {
        unsigned first_bin = set_start(run, tile.sum, 0) >> run.low_bits;
        unsigned last_bin = (set_start(run, tile.last_sum + 1, 0) - 1) >> run.low_bits;
        block_clear(counts, last_bin - first_bin + 1);
        digits_of_tile(run, tile, counts, first_bin);
        __syncthreads();
        for (unsigned i = threadIdx.x; i <= last_bin - first_bin; i += blockDim.x)
            if (counts[i] != 0)
                atomicAdd(run.cursors + first_bin + i, counts[i]);
    }
    if (is_last_block(&run.crowds->blocks_done))
        make_places(run);
}
