/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recodes scalars to signed digits and counts the digits of each partition. The block that finishes
 * last turns the counts into indices.
 */
#define RECODE_THREADS MSM_DIGITS_THREADS

#include "base/last_block.cuh"
#include "base/launch.cuh"
#include "fr.cuh"
#include "msm/recode.cuh"
#include "msm/sort.cuh"

#define THREADS RECODE_THREADS
#define SCAN_ITEMS 8 /* partitions that a thread scans at once */

/* Stores a digit, given as digit + 2^(c - 1), and counts it. `start` is the first bucket of its
 * set, relative to the first bucket of partition counts[0]. */
template <typename stored>
__device__ __forceinline__ void store_digit(const struct msm_sort_args &args, unsigned digit,
    unsigned half, unsigned start, stored *out, unsigned *counts)
{
    int value = (int)(digit - half);
    *out = (stored)digit;
    if (value != 0)
        atomicAdd(counts + ((start + abs(value) - 1) >> args.log_partition), 1);
}

/* Stores the digits of one scalar; for any bits of the scalar, digit + 2^(c - 1) is 0 ... 2^c. */
template <typename stored>
__device__ __forceinline__ void store_digits(const struct msm_sort_args &args,
    const unsigned *recoded, bool is_negated, unsigned first_start, stored *out, unsigned *counts)
{
    unsigned c = args.window_bits, half = 1u << (c - 1), mask = 2 * half - 1;
    unsigned flip = is_negated ? mask : 0, top = args.windows - 1;
    unsigned scalars = args.batch * args.count, set = 0, start = first_start;
#pragma unroll 4
    for (unsigned window = 0; window < top; window++) {
        unsigned digit = (bits_from(recoded, window * c) ^ flip) & mask;
        store_digit(args, digit, half, start, out + (u64)window * scalars, counts);
        start += half;
        if (++set == args.sets_per_msm) {
            set = 0;
            start = first_start;
        }
    }
    store_digit(
        args, top_digit(args, recoded, is_negated), half, start, out + (u64)top * scalars, counts);
}

/* Appends the oversized partitions among the SCAN_ITEMS that each thread has scanned to the list.
 */
__device__ __forceinline__ void list_oversized(const struct msm_sort_args &args, unsigned first,
    const unsigned *sizes, struct msm_sort_state *state)
{
    unsigned oversized = 0, slices = 0, all_oversized, all_slices;
    for (unsigned i = 0; i < SCAN_ITEMS; i++)
        if (sizes[i] > args.block_capacity) {
            oversized++;
            slices += (sizes[i] - 1) / args.slice_entries + 1;
        }
    if (!__syncthreads_or(oversized != 0))
        return;
    unsigned index = state->oversized + block_prefix_sum(oversized, &all_oversized);
    unsigned slice = state->slices + block_prefix_sum(slices, &all_slices);
    for (unsigned i = 0; i < SCAN_ITEMS; i++)
        if (sizes[i] > args.block_capacity) {
            args.oversized[index].partition = first + i;
            args.oversized[index].first_slice = slice;
            args.oversized[index].slices_counted = 0;
            slice += (sizes[i] - 1) / args.slice_entries + 1;
            index++;
        }
    state->oversized += all_oversized;
    state->slices += all_slices;
}

/* Replaces the counts of partitions by the indices of their first entries. Runs in one block. */
__device__ __forceinline__ void indices_from_counts(const struct msm_sort_args &args)
{
    struct msm_sort_state state = {0, 0, 0};
    unsigned done = 0;
    for (unsigned round = 0; round < args.partitions; round += SCAN_ITEMS * blockDim.x) {
        unsigned first = round + SCAN_ITEMS * threadIdx.x;
        unsigned sizes[SCAN_ITEMS], sum = 0, all;
        for (unsigned i = 0; i < SCAN_ITEMS; i++) {
            sizes[i] = first + i < args.partitions ? __ldcg(args.cursors + first + i) : 0;
            sum += sizes[i];
        }
        unsigned index = done + block_prefix_sum(sum, &all);
        for (unsigned i = 0; i < SCAN_ITEMS; i++) {
            if (first + i < args.partitions)
                args.cursors[first + i] = index;
            index += sizes[i];
        }
        done += all;
        list_oversized(args, first, sizes, &state);
    }
    __syncthreads();
    for (unsigned i = 0; i < state.oversized; i++) { /* msm_sort_buckets counts there */
        unsigned bucket = args.oversized[i].partition << args.log_partition;
        unsigned end = min(bucket + (1u << args.log_partition), args.buckets);
        for (bucket += threadIdx.x; bucket < end; bucket += blockDim.x)
            args.bucket_offsets[bucket + 1] = 0;
    }
    if (threadIdx.x == 0) {
        args.state->oversized = state.oversized;
        args.state->slices = state.slices;
        args.bucket_offsets[0] = 0;
    }
}

/* Recodes the scalars of a tile; first_bin is the partition that counts[0] belongs to. */
template <typename stored>
__device__ __forceinline__ void recode_tile(const struct msm_sort_args &args,
    const struct tile &tile, unsigned *recoded, unsigned *counts, unsigned first_bin)
{
    for (unsigned i = threadIdx.x; i < tile.length; i += THREADS) {
        unsigned index = tile.first + i;
        unsigned msm = args.scalar_tiles.msms_per_tile == 1 ? tile.msm : index / args.count;
        u64 scalar = (u64)msm * args.scalar_batch_stride + (index - msm * args.count);
        bool is_negated = scalar_recode(args, scalar_load(args, scalar), recoded);
        store_digits(args, recoded, is_negated,
            set_start(args, msm, 0) - (first_bin << args.log_partition),
            (stored *)args.digits + index, counts);
    }
}

template <typename stored>
__device__ __forceinline__ void recode_block_tile(const struct msm_sort_args &args)
{
    extern __shared__ unsigned shared[];
    unsigned *recoded = shared + threadIdx.x, *counts = shared + (FR_WORDS + 1) * THREADS;
    struct tile tile = tile_at(args, args.scalar_tiles, args.first_block + blockIdx.x);
    if (sizeof(stored) == 4 && args.uses_global_counts) { /* only with wide windows */
        recode_tile<stored>(args, tile, recoded, args.cursors, 0);
    } else {
        unsigned first_bin = set_start(args, tile.msm, 0) >> args.log_partition;
        unsigned last_bin = (set_start(args, tile.last_msm + 1, 0) - 1) >> args.log_partition;
        block_clear(counts, last_bin - first_bin + 1);
        recode_tile<stored>(args, tile, recoded, counts, first_bin);
        __syncthreads();
        for (unsigned i = threadIdx.x; i <= last_bin - first_bin; i += THREADS)
            if (counts[i] != 0)
                atomicAdd(args.cursors + first_bin + i, counts[i]);
    }
    if (is_last_block(&args.state->digit_blocks_done, args.scalar_tiles.tiles))
        indices_from_counts(args);
}

/*
 * Digits of 16 bits and of 32 bits. Shared memory: the words of a scalar and one more per thread,
 * and, unless counts are global, one word per partition that the MSMs of a tile can meet.
 */
extern "C" __global__ void __launch_bounds__(THREADS) msm_digits_16(const struct msm_sort_args args)
{
    pdl_wait();
    recode_block_tile<unsigned short>(args);
}

extern "C" __global__ void __launch_bounds__(THREADS) msm_digits_32(const struct msm_sort_args args)
{
    pdl_wait();
    recode_block_tile<unsigned>(args);
}
