/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of a partition to their buckets, and where each bucket ends. Partition p writes
 * offsets[b + 1] of its buckets b only: for a crowded one these words are first the counts, then
 * the places where each bucket's next entry goes, and in the end, by themselves, the ends.
 */
#include "base/launch.cuh"
#include "msm/sort.cuh"

__device__ __forceinline__ unsigned partition_start(const struct sort &run, unsigned partition)
{
    return partition == 0 ? 0 : run.cursors[partition - 1];
}

/* Entries that are still in partitions, and their buckets. */
struct piece {
    struct crowd *crowd;
    unsigned first;
    unsigned length;
    unsigned start; /* of the partition */
    unsigned pieces;
    unsigned first_bucket;
    unsigned buckets; /* fewer than 2^low_bits at the end of all */
};

__device__ __forceinline__ struct piece partition_of(const struct sort &run, unsigned partition)
{
    struct piece part;
    part.crowd = nullptr;
    part.first = part.start = partition_start(run, partition);
    part.length = run.cursors[partition] - part.start;
    part.pieces = 1;
    part.first_bucket = partition << run.low_bits;
    part.buckets = min(1u << run.low_bits, run.buckets - part.first_bucket);
    return part;
}

/* Piece `number` of all crowds. */
__device__ __forceinline__ struct piece piece_of(const struct sort &run, unsigned number)
{
    unsigned low = 0, high = run.crowds->count;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (run.crowd[middle].first_piece <= number)
            low = middle;
        else
            high = middle;
    }
    struct piece part = partition_of(run, run.crowd[low].partition);
    unsigned before = (number - run.crowd[low].first_piece) * run.piece;
    part.crowd = run.crowd + low;
    part.pieces = (part.length - 1) / run.piece + 1;
    part.first += before;
    part.length = min(part.length - before, run.piece);
    return part;
}

/* The lows of a thread's items first + k * blockDim.x; SORT_NONE behind the end. */
__device__ __forceinline__ void load_lows(
    const struct sort &run, const struct piece &part, unsigned first, unsigned *low)
{
    const unsigned short *lows = run.lows + part.first;
#pragma unroll
    for (unsigned k = 0; k < SORT_BATCH; k++) {
        unsigned i = first + threadIdx.x + k * blockDim.x;
        low[k] = i < part.length ? lows[i] : SORT_NONE;
    }
}

/* After block_clear. */
__device__ __forceinline__ void count_lows(
    const struct sort &run, const struct piece &part, unsigned *counts)
{
    for (unsigned first = 0; first < part.length; first += SORT_BATCH * blockDim.x) {
        unsigned low[SORT_BATCH];
        load_lows(run, part, first, low);
#pragma unroll
        for (unsigned k = 0; k < SORT_BATCH; k++)
            if (low[k] != SORT_NONE)
                atomicAdd(counts + low[k], 1);
    }
}

/* Counts in offsets[b + 1] to places, by the block that was last to add to them. */
__device__ __forceinline__ void make_places(
    const struct sort &run, const struct piece &part, unsigned *counts)
{
    unsigned *ends = run.offsets + part.first_bucket + 1;
    for (unsigned i = threadIdx.x; i < part.buckets; i += blockDim.x)
        counts[i] = __ldcg(ends + i);
    block_scan(counts, part.buckets);
    for (unsigned i = threadIdx.x; i < part.buckets; i += blockDim.x)
        ends[i] = part.start + counts[i];
}

__device__ __forceinline__ void count_piece(
    const struct sort &run, unsigned number, unsigned *counts)
{
    __shared__ unsigned before;
    struct piece part = piece_of(run, number);
    unsigned *ends = run.offsets + part.first_bucket + 1;
    block_clear(counts, part.buckets);
    count_lows(run, part, counts);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < part.buckets; i += blockDim.x)
        if (counts[i] != 0)
            atomicAdd(ends + i, counts[i]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        before = atomicAdd(&part.crowd->done, 1);
    __syncthreads();
    if (before + 1 == part.pieces)
        make_places(run, part, counts);
    __syncthreads();
}

/* A batch of items to their places in shared memory. */
__device__ __forceinline__ void place_batch(const struct sort &run, const struct piece &part,
    unsigned first, unsigned *counts, unsigned *ordered)
{
    unsigned low[SORT_BATCH], entry[SORT_BATCH];
    load_lows(run, part, first, low);
#pragma unroll
    for (unsigned k = 0; k < SORT_BATCH; k++)
        if (low[k] != SORT_NONE)
            entry[k] = run.loose[part.first + first + threadIdx.x + k * blockDim.x];
    bool is_slow = is_skewed(low[0], low[0] != SORT_NONE);
#pragma unroll
    for (unsigned k = 0; k < SORT_BATCH; k++) {
        bool has_item = low[k] != SORT_NONE;
        unsigned to = 0;
        if (is_slow)
            to = ranked_add(counts, low[k], has_item);
        else if (has_item)
            to = atomicAdd(counts + low[k], 1);
        if (has_item)
            ordered[to] = entry[k];
    }
}

__device__ __forceinline__ void order_partition(
    const struct sort &run, const struct piece &part, unsigned *counts)
{
    unsigned *ordered = counts + (1u << run.low_bits);
    block_clear(counts, part.buckets);
    count_lows(run, part, counts);
    unsigned total = block_scan(counts, part.buckets);
    unsigned *ends = run.offsets + part.first_bucket + 1;
    for (unsigned i = threadIdx.x; i < part.buckets; i += blockDim.x)
        ends[i] = part.start + (i + 1 < part.buckets ? counts[i + 1] : total);
    __syncthreads();
    for (unsigned first = 0; first < part.length; first += SORT_BATCH * blockDim.x)
        place_batch(run, part, first, counts, ordered);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < part.length; i += blockDim.x)
        run.entries[part.first + i] = ordered[i];
}

/*
 * The first `helpers` blocks count crowds, the others take a partition each, from the last one: the
 * top window, whose digits are small, has the fullest. Shared memory: 2^low_bits words, and
 * `room`.
 */
extern "C" __global__ void __launch_bounds__(1024, 1) msm_order(const struct sort run)
{
    extern __shared__ unsigned counts[];
    pdl_wait();
    if (blockIdx.x < run.helpers) {
        unsigned pieces = run.crowds->pieces;
        for (unsigned number = blockIdx.x; number < pieces; number += run.helpers)
            count_piece(run, number, counts);
        return;
    }
    unsigned partition = run.partitions - 1 - (blockIdx.x - run.helpers);
    struct piece part = partition_of(run, partition);
    if (part.length <= run.room)
        order_partition(run, part, counts);
}

/* Pieces of crowds to their buckets. Shared memory: 2^(low_bits + 1) words, and two an entry. */
extern "C" __global__ void __launch_bounds__(256) msm_spread(const struct sort run)
{
    extern __shared__ unsigned counts[];
    pdl_wait();
    unsigned *moves = counts + (1u << run.low_bits), *ordered = moves + (1u << run.low_bits);
    unsigned *keys = ordered + run.piece, pieces = run.crowds->pieces;
    for (unsigned number = blockIdx.x; number < pieces; number += gridDim.x) {
        struct piece part = piece_of(run, number);
        unsigned low[SORT_ITEMS], rank[SORT_ITEMS];
        block_clear(counts, part.buckets);
#pragma unroll
        for (unsigned k = 0; k < SORT_ITEMS; k++) {
            unsigned i = threadIdx.x + k * blockDim.x;
            low[k] = i < part.length ? run.lows[part.first + i] : SORT_NONE;
        }
#pragma unroll
        for (unsigned k = 0; k < SORT_ITEMS; k++)
            rank[k] = ranked_add(counts, low[k], low[k] != SORT_NONE);
        unsigned total = reserve(counts, moves, part.buckets, run.offsets + part.first_bucket + 1);
#pragma unroll
        for (unsigned k = 0; k < SORT_ITEMS; k++) {
            if (low[k] == SORT_NONE)
                continue;
            unsigned to = counts[low[k]] + rank[k];
            ordered[to] = run.loose[part.first + threadIdx.x + k * blockDim.x];
            keys[to] = low[k];
        }
        __syncthreads();
        for (unsigned i = threadIdx.x; i < total; i += blockDim.x)
            run.entries[moves[keys[i]] + i] = ordered[i];
        __syncthreads();
    }
}
