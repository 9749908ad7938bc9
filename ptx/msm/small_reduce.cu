/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole bucket reduction of a small MSM in one launch, by the tree of reduce_levels.cuh: its
 * segments are single buckets. Each block joins the buckets that it has quads for, and the last
 * one of a bucket set the pairs that its blocks leave.
 */
#include "base/last_block.cuh"
#include "base/launch.cuh"
#include "msm/reduce_levels.cuh"

/* Buckets without entries are infinity, whatever their memory holds. */
__device__ __forceinline__ void make_pairs(
    const struct msm_small_reduce_args &args, unsigned set, u64 first)
{
    for (unsigned i = threadIdx.x; i < 1u << args.tree.log_pairs; i += MSM_TREE_THREADS) {
        u64 bucket = first + i;
        const unsigned *offset = args.bucket_offsets + bucket + set; /* a set has one more */
        xyzz point = offset[0] < offset[1] ? args.buckets[bucket] : xyzz_infinity();
        args.tree.pairs[2 * bucket] = point;
        args.tree.pairs[2 * bucket + 1] = point;
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(MSM_TREE_THREADS)
    msm_small_reduce(const struct msm_small_reduce_args args)
{
    pdl_wait();
    unsigned log_blocks = args.log_buckets - args.tree.log_pairs;
    unsigned block = args.first_block + blockIdx.x, set = block >> log_blocks;
    struct msm_reduce_tree_args tree = args.tree;
    make_pairs(args, set, (u64)block << tree.log_pairs);
#pragma unroll 1
    for (;;) {
        bool is_last = tree.levels_done + tree.levels == args.log_buckets;
        tree.window_sums = is_last ? args.tree.window_sums : nullptr;
        reduce_levels(&tree, block);
        if (is_last ||
            !is_last_block(args.blocks_done + set * MSM_SMALL_COUNTERS + 1, 1u << log_blocks))
            return;
        tree.levels_done = args.tree.levels;
        tree.levels = tree.log_pairs = log_blocks;
        block = set;
    }
}
