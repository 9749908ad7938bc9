/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduces each bucket set to its window sum, in which bucket i counts i + 1 times. First each
 * thread takes a segment of 2^log_segment buckets and computes by running sums T, the weighted sum
 * of the segment, and Q, its plain sum times its length. Then a binary tree joins neighbouring
 * segments to one of twice the length:
 *
 *   T = T0 + T1 + Q1        Q = 2 (Q0 + Q1)
 *
 * until T of the whole bucket set remains. Pair i is {T, Q}, stored at 2 i and 2 i + 1.
 */
#include "base/launch.cuh"
#include "ec/xyzz_quad.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

/* Three blocks of 168 registers per thread for coordinates of up to 8 words; otherwise two, with
 * all registers that a thread can have. */
#define SEGMENT_BLOCKS (sizeof(fe) <= 32 ? 3 : 2)

/* Sum and running sum share one addition in the loop, which halves the code. */
extern "C" __global__ void __launch_bounds__(MSM_SEGMENT_THREADS, SEGMENT_BLOCKS)
    msm_reduce_segments(struct msm_reduce_segments_args args)
{
    pdl_wait();
    u64 segment = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (segment >= args.count)
        return;
    const xyzz *bucket = args.buckets + ((segment + 1) << args.log_segment);
    xyzz running = xyzz_infinity();
    xyzz sum = xyzz_infinity();
#pragma unroll 1
    for (unsigned step = 2u << args.log_segment; step > 0; step--) {
        int takes_bucket = step % 2 == 0;
        xyzz other = running;
        if (takes_bucket)
            other = *--bucket;
        xyzz result = xyzz_add(xyzz_select(takes_bucket, running, sum), other);
        running = xyzz_select(takes_bucket, result, running);
        sum = xyzz_select(takes_bucket, sum, result);
    }
    args.pairs[2 * segment] = sum;
#pragma unroll 1
    for (unsigned i = 0; i < args.log_segment; i++)
        xyzz_double_called(&running);
    args.pairs[2 * segment + 1] = running;
}

/* T or Q of one node, computed by the four lanes of a quad. */
__device__ __forceinline__ xyzz join_node(
    unsigned lane, const xyzz *left, const xyzz *right, int is_inside, int is_q)
{
    xyzz a = xyzz_infinity();
    xyzz b = xyzz_infinity();
    if (is_inside) {
        a = left[is_q];
        b = right[is_q];
    }
    xyzz sum = xyzz_quad_add(lane, a, b);
    if (is_q) {
        sum = xyzz_quad_double(lane, sum);
    } else {
        if (is_inside)
            b = right[1];
        sum = xyzz_quad_add(lane, sum, b);
    }
    return sum;
}

/* Even warps compute T, odd warps Q. */
extern "C" __global__ void __launch_bounds__(MSM_TREE_THREADS)
    msm_reduce_tree(struct msm_reduce_tree_args args)
{
    pdl_wait();
    unsigned lane = threadIdx.x % QUAD_LANES;
    unsigned warp = threadIdx.x / 32;
    unsigned node = warp / 2 * (32 / QUAD_LANES) + threadIdx.x % 32 / QUAD_LANES;
    u64 first = (u64)blockIdx.x << args.log_pairs;
#pragma unroll 1
    for (unsigned level = 0; level < args.levels; level++) {
        unsigned nodes = 1u << (args.log_pairs - level - 1);
        unsigned first_node = node / (32 / QUAD_LANES) * (32 / QUAD_LANES);
        if (first_node < nodes) {
            u64 left = (first + ((u64)2 * node << level)) << args.levels_done;
            u64 right = left + (1ull << (level + args.levels_done));
            xyzz sum = join_node(
                lane, args.pairs + 2 * left, args.pairs + 2 * right, node < nodes, warp % 2);
            if (node < nodes && lane == 0) {
                args.pairs[2 * left + warp % 2] = sum;
                if (args.window_sums != nullptr && nodes == 1 && warp % 2 == 0)
                    args.window_sums[blockIdx.x] = xyzz_reduce(sum);
            }
        }
        __syncthreads();
    }
}
