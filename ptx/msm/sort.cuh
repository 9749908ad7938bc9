/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels that sort digits by buckets share. Knows no field and no curve.
 *
 * A partition is 2^low_bits neighbouring buckets, of one set or of several. Digits are counted by
 * partition (digits.cu), brought to their partitions (partition.cu), and ordered inside them
 * (order.cu): in shared memory where a partition fits, else, when it is crowded, by many blocks in
 * pieces. `cursors` has a word a partition: its count, then the place of its first entry, which
 * moves on as entries come, so that in the end it is the first place of the next one.
 */
#ifndef MSM_SORT_CUH
#define MSM_SORT_CUH

typedef unsigned long long u64;

#define SORT_ITEMS 16 /* that a thread of partition and spread holds in registers */
#define SORT_BATCH 8  /* and one of order */
#define SORT_WORDS 25 /* of the longest scalar, and one */
#define SORT_NONE 0xffffffffu
#define SORT_NEGATIVE 0x80000000u

/* A partition that one block cannot order, and its pieces of `piece` entries. */
struct crowd {
    unsigned partition;
    unsigned first_piece;
    unsigned done; /* pieces that are counted */
};

struct crowds {
    unsigned blocks_done; /* of digits */
    unsigned count;
    unsigned pieces;
};

/* How scalars, in the order sum by sum, are shared out to blocks: whole sums, or equal parts of
 * one.
 */
struct tiling {
    unsigned tiles;
    unsigned per_sum; /* tiles; 1 where a tile has whole sums */
    unsigned sums;    /* of a tile */
    unsigned scalars; /* of a tile, at most */
};

/* As src/msm/sort.c has it. */
struct sort {
    const unsigned *scalars;
    u64 scalar_stride; /* words */
    u64 scalar_batch;  /* scalars from one sum's to the next one's */
    void *digits;      /* by window, sum, scalar; digit + 2^(window_bits - 1) */
    unsigned *cursors;
    struct crowds *crowds;
    struct crowd *crowd;
    unsigned *loose; /* entries, by partition only */
    unsigned short *lows;
    unsigned *entries;
    unsigned *offsets;
    struct tiling scalar_tiles;
    struct tiling digit_tiles;
    unsigned count; /* scalars a sum */
    unsigned batch;
    unsigned windows;
    unsigned groups;
    unsigned window_bits;
    unsigned digit_bytes; /* 2 or 4 */
    unsigned low_bits;
    unsigned partitions;
    unsigned buckets;
    unsigned room; /* entries of a partition that is not crowded */
    unsigned piece;
    unsigned helpers;         /* blocks of order that count crowds */
    unsigned bins;            /* most partitions that a tile of digits meets */
    unsigned counts_globally; /* 1: digits has too many partitions for shared memory */
    unsigned first_point;
    unsigned point_batch;
    unsigned point_level;
    unsigned top_most; /* the largest top digit */
    unsigned convert;  /* 1: from_mont, 2: times factor */
    unsigned reduces;
    unsigned negates;
    unsigned factor[SORT_WORDS];
    unsigned lifts[2][SORT_WORDS]; /* what makes all digits positive, for s and for order - s */
};

/* One tile: scalars first ... first + length of the sums sum ... last_sum. */
struct tile {
    unsigned sum;
    unsigned last_sum;
    unsigned first;
    unsigned length;
};

__device__ __forceinline__ struct tile tile_of(
    const struct sort &run, const struct tiling &tiling, unsigned number)
{
    struct tile tile;
    tile.sum = number / tiling.per_sum * tiling.sums;
    tile.last_sum = min(tile.sum + tiling.sums, run.batch) - 1;
    tile.first = tile.sum * run.count + number % tiling.per_sum * tiling.scalars;
    tile.length = min((tile.last_sum + 1) * run.count - tile.first, tiling.scalars);
    return tile;
}

/* The first bucket of window group `group` of a sum. */
__device__ __forceinline__ unsigned set_start(const struct sort &run, unsigned sum, unsigned group)
{
    return (sum * run.groups + group) << (run.window_bits - 1);
}

/* The sum over the threads before this one, and over all. */
__device__ __forceinline__ unsigned block_before(unsigned value, unsigned *total)
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

/* counts[i] becomes the sum of those before it; gives the sum of all. Barriers at both ends. */
__device__ __forceinline__ unsigned block_scan(unsigned *counts, unsigned bins)
{
    unsigned each = (bins + blockDim.x - 1) / blockDim.x;
    unsigned first = min(threadIdx.x * each, bins), last = min(first + each, bins);
    unsigned sum = 0, total;
    __syncthreads();
    for (unsigned i = first; i < last; i++)
        sum += counts[i];
    unsigned before = block_before(sum, &total);
    for (unsigned i = first; i < last; i++) {
        unsigned count = counts[i];
        counts[i] = before;
        before += count;
    }
    __syncthreads();
    return total;
}

/* Whether many of a warp's items go to one bin, going by these of its lanes. */
__device__ __forceinline__ bool is_skewed(unsigned bin, bool has_item)
{
    unsigned items = __ballot_sync(0xffffffffu, has_item);
    unsigned first = __shfl_sync(0xffffffffu, bin, __ffs(items | SORT_NEGATIVE) - 1);
    return __popc(__ballot_sync(0xffffffffu, has_item && bin == first)) > 8;
}

/*
 * One more in counts[bin], for all lanes of a warp that have an item; gives how many were there
 * before. For skewed items: those of the first lane's bin are counted at once, so that they do not
 * queue for one address.
 */
__device__ __forceinline__ unsigned ranked_add(unsigned *counts, unsigned bin, bool has_item)
{
    unsigned items = __ballot_sync(0xffffffffu, has_item);
    unsigned lane = threadIdx.x % 32;
    unsigned leader = __ffs(items | SORT_NEGATIVE) - 1;
    unsigned first_bin = __shfl_sync(0xffffffffu, bin, leader); /* all lanes come here */
    bool is_same = has_item && bin == first_bin;
    unsigned same = __ballot_sync(0xffffffffu, is_same);
    unsigned rank = 0;
    if (has_item && (!is_same || lane == leader))
        rank = atomicAdd(counts + bin, is_same ? __popc(same) : 1);
    unsigned first = __shfl_sync(0xffffffffu, rank, leader);
    return is_same ? first + __popc(same & ((1u << lane) - 1)) : rank;
}

/*
 * With counts of a block's items by bin: takes that many places from each bin's cursor. counts[i]
 * becomes the first item of the bin in the block's own order, moves[i] what brings that order to
 * the cursor's places. Gives the number of items.
 */
__device__ __forceinline__ unsigned reserve(
    unsigned *counts, unsigned *moves, unsigned bins, unsigned *cursors)
{
    unsigned total = block_scan(counts, bins);
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) {
        unsigned count = (i + 1 < bins ? counts[i + 1] : total) - counts[i];
        moves[i] = count == 0 ? 0 : atomicAdd(cursors + i, count) - counts[i];
    }
    return total;
}

#endif
