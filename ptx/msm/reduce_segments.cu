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

/*
 * Sum and running sum are in shared memory, so that a thread's registers hold the operands of one
 * addition only: 128 for coordinates of up to 8 words and 168 of up to 12 without spills, and twice
 * the threads per multiprocessor that three points in registers allow. Small blocks leave the
 * shortest last wave.
 */
#define SEGMENT_WORDS (EC_DEGREE * FQ_WORDS)
#define SEGMENT_BLOCKS (SEGMENT_WORDS <= 8 ? 8 : SEGMENT_WORDS <= 12 ? 6 : 4)
#define POINT_WORDS (4 * SEGMENT_WORDS)

struct shared_points {
    unsigned word[POINT_WORDS][MSM_SEGMENT_THREADS];
};

__device__ __forceinline__ void store_point(struct shared_points *points, xyzz p)
{
    const unsigned *words = (const unsigned *)&p;
#pragma unroll
    for (unsigned i = 0; i < POINT_WORDS; i++)
        points->word[i][threadIdx.x] = words[i];
}

__device__ __forceinline__ xyzz load_point(const struct shared_points *points)
{
    xyzz p;
    unsigned *words = (unsigned *)&p;
#pragma unroll
    for (unsigned i = 0; i < POINT_WORDS; i++)
        words[i] = points->word[i][threadIdx.x];
    return p;
}

/*
 * Sum and running sum share one addition in the loop, which halves the code. Between launches that
 * take slices of the segments' buckets they are where the pair is in the end.
 */
extern "C" __global__ void __launch_bounds__(MSM_SEGMENT_THREADS, SEGMENT_BLOCKS)
    msm_reduce_segments(struct msm_reduce_segments_args args)
{
    __shared__ struct shared_points running, sum;
    pdl_wait();
    u64 segment = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (segment >= args.count)
        return;
    const xyzz *bucket = args.buckets + ((segment + 1) << args.log_segment) - 1 - args.slice_first;
    xyzz point = args.slice_first == 0 ? *bucket : args.pairs[2 * segment];
    store_point(&sum, point);
    if (args.slice_first != 0)
        point = args.pairs[2 * segment + 1];
    store_point(&running, point);
#pragma unroll 1
    for (unsigned step = 2 * args.slice_buckets; step > 0; step--) {
        int takes_bucket = step % 2 == 0;
        xyzz other;
        if (takes_bucket)
            other = *--bucket;
        else
            other = load_point(&sum);
        point = xyzz_add(point, other);
        if (takes_bucket) {
            store_point(&running, point);
        } else {
            store_point(&sum, point);
            point = load_point(&running);
        }
    }
    args.pairs[2 * segment] = load_point(&sum);
#pragma unroll 1
    for (unsigned i = 0; i < args.doublings; i++)
        xyzz_double_called(&point);
    args.pairs[2 * segment + 1] = point;
}
