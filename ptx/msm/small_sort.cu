/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole sort of a small MSM in one launch: a block recodes the scalars of its MSM, takes the
 * digits of one bucket set, and sorts their entries by bucket in shared memory. Every block of an
 * MSM loads and recodes all of its scalars, which takes less time than a launch.
 *
 * A bucket set is a partition here. It has block_capacity entries and 2^log_partition + 1 offsets,
 * which count from its own first entry, so that blocks do not depend on each other.
 */
#define RECODE_THREADS MSM_SMALL_SORT_THREADS

#include "base/launch.cuh"
#include "fr.cuh"
#include "msm/recode.cuh"
#include "msm/sort.cuh"

/* A nonzero digit in shared memory: bucket of the set, sign, and rank among those of its bucket. */
#define KEY_RANK_BITS 16

/* The digit of a window. */
__device__ __forceinline__ int digit_at(
    const struct msm_sort_args &args, const unsigned *recoded, unsigned window, bool is_negated)
{
    unsigned half = 1u << (args.window_bits - 1), mask = 2 * half - 1;
    unsigned digit =
        (bits_from(recoded, window * args.window_bits) ^ (is_negated ? mask : 0)) & mask;
    if (window + 1 == args.windows)
        digit = top_digit(args, recoded, is_negated);
    return (int)(digit - half);
}

/* Counts a digit of each lane of the warp and returns its key; SORT_NONE for 0. */
__device__ __forceinline__ unsigned count_digit(unsigned *counts, int digit)
{
    bool has_item = digit != 0;
    unsigned bucket = has_item ? abs(digit) - 1 : 0, rank = 0;
    if (is_skewed(bucket, has_item))
        rank = warp_aggregated_add(counts, bucket, has_item);
    else if (has_item)
        rank = atomicAdd(counts + bucket, 1);
    return has_item ? (2 * bucket + (digit < 0)) << KEY_RANK_BITS | rank : SORT_NONE;
}

/* Counts the digits of the set's windows; key w * args.count + i is of scalar i and its window w.
 */
__device__ __forceinline__ void count_set(const struct msm_sort_args &args, unsigned msm,
    unsigned set, unsigned *recoded, unsigned *counts, unsigned *keys)
{
#pragma unroll 1
    for (unsigned first = 0; first < args.count; first += RECODE_THREADS) {
        unsigned i = first + threadIdx.x, *key = keys + i;
        bool is_negated = false;
        if (i < args.count)
            is_negated = scalar_recode(
                args, scalar_load(args, (u64)msm * args.scalar_batch_stride + i), recoded);
#pragma unroll 1
        for (unsigned window = set; window < args.windows; window += args.sets_per_msm) {
            unsigned counted = count_digit(
                counts, i < args.count ? digit_at(args, recoded, window, is_negated) : 0);
            if (i < args.count)
                *key = counted;
            key += args.count;
        }
    }
}

/* Shared memory: the words of a scalar and one more per thread, one per bucket of a set, and one
 * per entry of a set. */
extern "C" __global__ void __launch_bounds__(RECODE_THREADS)
    msm_small_sort(const struct msm_sort_args args)
{
    extern __shared__ unsigned shared[];
    pdl_wait();
    unsigned buckets = 1u << args.log_partition;
    unsigned *counts = shared + (FR_WORDS + 1) * RECODE_THREADS, *keys = counts + buckets;
    unsigned block = args.first_block + blockIdx.x;
    unsigned msm = block / args.sets_per_msm, set = block % args.sets_per_msm;

    block_clear(counts, buckets);
    count_set(args, msm, set, shared + threadIdx.x, counts, keys);
    unsigned total = block_scan(counts, buckets);

    unsigned *offsets = args.bucket_offsets + (u64)block * (buckets + 1);
    for (unsigned i = threadIdx.x; i <= buckets; i += RECODE_THREADS)
        offsets[i] = i < buckets ? counts[i] : total;
    if (threadIdx.x < MSM_SMALL_COUNTERS)
        args.cursors[block * MSM_SMALL_COUNTERS + threadIdx.x] = 0;

    unsigned *entries = args.entries + (u64)block * args.block_capacity;
    unsigned base = args.first_base + msm * args.base_batch_stride;
#pragma unroll 1
    for (unsigned window = set; window < args.windows; window += args.sets_per_msm) {
        for (unsigned i = threadIdx.x; i < args.count; i += RECODE_THREADS) {
            unsigned key = keys[i], rank = key & ((1u << KEY_RANK_BITS) - 1);
            if (key != SORT_NONE)
                entries[counts[key >> (KEY_RANK_BITS + 1)] + rank] =
                    (base + i) | (key >> KEY_RANK_BITS & 1) << 31;
        }
        keys += args.count;
        base += args.multiple_stride;
    }
}
