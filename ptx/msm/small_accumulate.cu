/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole accumulation of a small MSM in one launch. Each bucket set has `parts` blocks, which
 * divide its entries into equal ranges as msm_accumulate does. A block then merges the partial sums
 * of its own threads, and the last one of a set those that its blocks share. Buckets without
 * entries are not written.
 */
#include "base/last_block.cuh"
#include "base/launch.cuh"
#include "msm/accumulate_range.cuh"
#include "msm/merge_slots.cuh"

/* The lists of a set. Its buckets count from 0. */
__device__ __forceinline__ struct msm_accumulate_args list_of(
    const struct msm_small_accumulate_args &args, unsigned set)
{
    struct msm_accumulate_args list = args.list;
    u64 first_slot = (u64)set * args.parts * args.merges * MSM_MERGE_THREADS;
    list.entries += (u64)set * args.set_entries;
    list.bucket_offsets += (u64)set * (list.bucket_count + 1);
    list.buckets += (u64)set * list.bucket_count;
    list.partial.sums += first_slot;
    list.partial.buckets += first_slot;
    return list;
}

/* A thread has two slots, and a slot has a thread when they are merged: with one merge per block,
 * half of the threads accumulate. */
extern "C" __global__ void __launch_bounds__(MSM_MERGE_THREADS)
    msm_small_accumulate(const struct msm_small_accumulate_args args)
{
    pdl_wait();
    unsigned set = (args.first_block + blockIdx.x) / args.parts;
    unsigned block = (args.first_block + blockIdx.x) % args.parts;
    struct msm_accumulate_args list = list_of(args, set);
    unsigned merges = args.merges, accumulating = merges * MSM_SMALL_THREADS;
    if (threadIdx.x < accumulating)
        accumulate_range(&list, block * accumulating + threadIdx.x);

    struct msm_bucket_merge_args merge;
    merge.partial = list.partial;
    u64 first_next = 2ull * set * args.parts * merges;
    merge.next.sums = args.next.sums + first_next;
    merge.next.buckets = args.next.buckets + first_next;
    merge.buckets = list.buckets;
    merge.count = (u64)args.parts * merges * MSM_MERGE_THREADS;
    merge.is_last = args.parts * merges == 1;
    merge.adds_to_buckets = 0;
#pragma unroll 1
    for (;;) {
#pragma unroll 1
        for (unsigned i = 0; i < merges; i++) {
            __syncthreads();
            merge_slots(&merge, block * merges + i);
        }
        if (merge.is_last ||
            !is_last_block(args.blocks_done + set * MSM_SMALL_COUNTERS, args.parts))
            return;
        merge.partial = merge.next;
        merge.count = 2 * args.parts * merges;
        merge.is_last = 1;
        merges = 1;
        block = 0;
    }
}
