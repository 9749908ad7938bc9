/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars to signed digits, and how many there are of each partition. The block that ends last
 * makes places of the counts. A scalar s has the digits of s + lift less 2^(c - 1) each, lift
 * having that number in every window but the top one; where n = order - s is the smaller one, those
 * of n, negated: with 2^(c - 1) - 1 in the lift the digits of -s are just the complements.
 */
#include "base/launch.cuh"
#include "fr.cuh"
#include "msm/sort.cuh"

#define THREADS 256
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

/* s, lifted, into the thread's column of shared memory, a word longer; or order - s where that is
 * smaller. */
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
        lifted[w * THREADS] = (unsigned)sum;
        sum >>= 32;
    }
    lifted[FR_WORDS * THREADS] =
        (unsigned)sum + (is_negated ? run.lifts[1][FR_WORDS] : run.lifts[0][FR_WORDS]);
    return is_negated;
}

/* 32 bits from bit `at` on. */
__device__ __forceinline__ unsigned bits_from(const unsigned *lifted, unsigned at)
{
    const unsigned *word = lifted + at / 32 * THREADS;
    return __funnelshift_r(word[0], word[THREADS], at);
}

/* Keeps a digit, plus 2^(c - 1), and counts it; `start` is the set's first bucket, seen from
 * counts[0]. */
template <typename stored>
__device__ __forceinline__ void put_digit(const struct sort &run, unsigned digit, unsigned half,
    unsigned start, stored *to, unsigned *counts)
{
    int value = (int)(digit - half);
    *to = (stored)digit;
    if (value != 0)
        atomicAdd(counts + ((start + abs(value) - 1) >> run.low_bits), 1);
}

/* The digits of one scalar; whatever bits it has, they are 0 ... 2^c. */
template <typename stored>
__device__ __forceinline__ void digits_of(const struct sort &run, const unsigned *lifted,
    bool is_negated, unsigned first_start, stored *to, unsigned *counts)
{
    unsigned c = run.window_bits, half = 1u << (c - 1), mask = 2 * half - 1;
    unsigned flip = is_negated ? mask : 0, top = run.windows - 1;
    unsigned row = run.batch * run.count, group = 0, start = first_start;
#pragma unroll 4
    for (unsigned window = 0; window < top; window++) {
        unsigned digit = (bits_from(lifted, window * c) ^ flip) & mask;
        put_digit(run, digit, half, start, to + (u64)window * row, counts);
        start += half;
        if (++group == run.groups) {
            group = 0;
            start = first_start;
        }
    }
    unsigned digit = min(bits_from(lifted, top * c), run.top_most);
    digit = is_negated ? half - digit : half + digit;
    put_digit(run, digit, half, start, to + (u64)top * row, counts);
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
template <typename stored>
__device__ __forceinline__ void digits_of_tile(const struct sort &run, const struct tile &tile,
    unsigned *lifted, unsigned *counts, unsigned first_bin)
{
    for (unsigned i = threadIdx.x; i < tile.length; i += THREADS) {
        unsigned place = tile.first + i;
        unsigned sum = run.scalar_tiles.sums == 1 ? tile.sum : place / run.count;
        u64 scalar = (u64)sum * run.scalar_batch + (place - sum * run.count);
        bool is_negated = scalar_lift(run, scalar_load(run, scalar), lifted);
        digits_of(run, lifted, is_negated, set_start(run, sum, 0) - (first_bin << run.low_bits),
            (stored *)run.digits + place, counts);
    }
}

template <typename stored> __device__ __forceinline__ void digits_of_block(const struct sort &run)
{
    extern __shared__ unsigned shared[];
    unsigned *lifted = shared + threadIdx.x, *counts = shared + (FR_WORDS + 1) * THREADS;
    struct tile tile = tile_of(run, run.scalar_tiles, blockIdx.x);
    if (sizeof(stored) == 4 && run.counts_globally) { /* windows are wide then */
        digits_of_tile<stored>(run, tile, lifted, run.cursors, 0);
    } else {
        unsigned first_bin = set_start(run, tile.sum, 0) >> run.low_bits;
        unsigned last_bin = (set_start(run, tile.last_sum + 1, 0) - 1) >> run.low_bits;
        block_clear(counts, last_bin - first_bin + 1);
        digits_of_tile<stored>(run, tile, lifted, counts, first_bin);
        __syncthreads();
        for (unsigned i = threadIdx.x; i <= last_bin - first_bin; i += THREADS)
            if (counts[i] != 0)
                atomicAdd(run.cursors + first_bin + i, counts[i]);
    }
    if (is_last_block(&run.crowds->blocks_done))
        make_places(run);
}

/*
 * Digits of two bytes, and of four. Shared memory: a scalar and a word more for each thread, and a
 * word for each partition that the tile's sums meet, where there is so much.
 */
extern "C" __global__ void __launch_bounds__(THREADS) msm_digits_2(const struct sort run)
{
    pdl_wait();
    digits_of_block<unsigned short>(run);
}

extern "C" __global__ void __launch_bounds__(THREADS) msm_digits_4(const struct sort run)
{
    pdl_wait();
    digits_of_block<unsigned>(run);
}
