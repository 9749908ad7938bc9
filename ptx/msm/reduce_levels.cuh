/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block's part of the second half of the bucket reduction: a binary tree joins neighbouring
 * segments of reduce_segments.cu to one of twice the length,
 *
 *   T = T0 + T1 + Q1        Q = 2 (Q0 + Q1)
 *
 * until T of the whole bucket set, its window sum, remains.
 */
#ifndef PTX_MSM_REDUCE_LEVELS_CUH
#define PTX_MSM_REDUCE_LEVELS_CUH

#include "ec/xyzz_quad.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

/*
 * T or Q of one node, computed by the four lanes of a quad. The steps of both are in one loop, so
 * that the code has one addition and one doubling; compiling it is what the first MSM waits for.
 */
__device__ __forceinline__ xyzz join_node(
    unsigned lane, const xyzz *left, const xyzz *right, int is_inside, int is_q)
{
    xyzz a = xyzz_infinity();
    xyzz b = xyzz_infinity();
    if (is_inside) {
        a = left[is_q];
        b = right[is_q];
    }
#pragma unroll 1
    for (int step = 0; step < 2; step++) {
        a = xyzz_quad_add_or_double(lane, a, b, step && is_q);
        if (is_inside && !is_q)
            b = right[1];
    }
    return a;
}

/* Even warps compute T, odd warps Q. */
__device__ __forceinline__ void reduce_levels(
    const struct msm_reduce_tree_args *args, unsigned block)
{
    unsigned lane = threadIdx.x % QUAD_LANES;
    unsigned warp = threadIdx.x / 32;
    unsigned node = warp / 2 * (32 / QUAD_LANES) + threadIdx.x % 32 / QUAD_LANES;
    u64 first = (u64)block << args->log_pairs;
#pragma unroll 1
    for (unsigned level = 0; level < args->levels; level++) {
        unsigned nodes = 1u << (args->log_pairs - level - 1);
        unsigned first_node = node / (32 / QUAD_LANES) * (32 / QUAD_LANES);
        if (first_node < nodes) {
            u64 left = (first + ((u64)2 * node << level)) << args->levels_done;
            u64 right = left + (1ull << (level + args->levels_done));
            xyzz sum = join_node(
                lane, args->pairs + 2 * left, args->pairs + 2 * right, node < nodes, warp % 2);
            if (node < nodes && lane == 0) {
                args->pairs[2 * left + warp % 2] = sum;
                if (args->window_sums != nullptr && nodes == 1 && warp % 2 == 0)
                    args->window_sums[block] = xyzz_reduce(sum);
            }
        }
        __syncthreads();
    }
}

#endif
