/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First half of the bucket reduction, which reduces each bucket set to its window sum, in which
 * bucket i counts i + 1 times. Each thread takes a segment of 2^log_segment buckets and computes by
 * running sums T, the weighted sum of the segment, and Q, its plain sum times its length. Pair i is
 * {T, Q}, stored at 2 i and 2 i + 1; reduce_tree.cu joins the pairs.
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
