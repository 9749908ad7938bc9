/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weighted sum of a set's buckets, bucket i counting i + 1 times. First a thread takes a
 * segment of 2^log_segment buckets by a running sum: T, its weighted sum, and Q, its plain sum
 * times its length. Then neighbouring segments fold to one of twice the length:
 *
 *   T = T0 + T1 + Q1        Q = 2 (Q0 + Q1)
 *
 * until T of the whole set remains. A pair is {T, Q}, at 2 i and 2 i + 1.
 */
#include "base/launch.cuh"
#include "ec/lanes.cuh"

typedef unsigned long long u64;

#define SEGMENT_BLOCK 128
/* Three blocks of 168 registers a thread for coordinates of up to 8 words, else what there is. */
#define SEGMENT_BLOCKS (sizeof(fe) <= 32 ? 3 : 2)
#define FOLD_BLOCK 256

struct segments {
    const xyzz *buckets;
    xyzz *pairs;
    u64 count; /* of segments, all sets */
    unsigned log_segment;
};

/* Sum and running sum share one addition, so that its code is there once. */
extern "C" __global__ void __launch_bounds__(SEGMENT_BLOCK, SEGMENT_BLOCKS)
    msm_segments(struct segments job)
{
    pdl_wait();
    u64 segment = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (segment >= job.count)
        return;
    const xyzz *bucket = job.buckets + ((segment + 1) << job.log_segment);
    xyzz run = xyzz_infinity();
    xyzz sum = xyzz_infinity();
#pragma unroll 1
    for (unsigned step = 2u << job.log_segment; step > 0; step--) {
        int takes_bucket = step % 2 == 0;
        xyzz other = run;
        if (takes_bucket)
            other = *--bucket;
        xyzz result = xyzz_add(xyzz_select(takes_bucket, run, sum), other);
        run = xyzz_select(takes_bucket, result, run);
        sum = xyzz_select(takes_bucket, sum, result);
    }
    job.pairs[2 * segment] = sum;
#pragma unroll 1
    for (unsigned i = 0; i < job.log_segment; i++)
        xyzz_double_called(&run);
    job.pairs[2 * segment + 1] = run;
}

struct fold {
    xyzz *pairs;
    unsigned done;      /* levels folded by earlier launches: pairs that count are 2^done apart */
    unsigned levels;    /* to fold now */
    unsigned log_pairs; /* of a block */
    xyzz *sums;      /* the last launch: T of each set goes here, reduced; else null */
};

/* One node's T or Q, by the four lanes that share it; even warps take T, odd ones Q. */
__device__ __forceinline__ xyzz fold_node(
    unsigned lane, const xyzz *left, const xyzz *right, int is_inside, int takes_q)
{
    xyzz a = xyzz_infinity();
    xyzz b = xyzz_infinity();
    if (is_inside) {
        a = left[takes_q];
        b = right[takes_q];
    }
    xyzz sum = lanes_add(lane, a, b);
    if (takes_q) {
        sum = lanes_double(lane, sum);
    } else {
        if (is_inside)
            b = right[1];
        sum = lanes_add(lane, sum, b);
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(FOLD_BLOCK) msm_fold(struct fold job)
{
    pdl_wait();
    unsigned lane = threadIdx.x % EC_LANES;
    unsigned warp = threadIdx.x / 32;
    unsigned node = warp / 2 * (32 / EC_LANES) + threadIdx.x % 32 / EC_LANES;
    u64 first = (u64)blockIdx.x << job.log_pairs;
#pragma unroll 1
    for (unsigned level = 0; level < job.levels; level++) {
        unsigned nodes = 1u << (job.log_pairs - level - 1);
        unsigned first_node = node / (32 / EC_LANES) * (32 / EC_LANES);
        if (first_node < nodes) {
            u64 left = (first + ((u64)2 * node << level)) << job.done;
            u64 right = left + (1ull << (level + job.done));
            xyzz sum = fold_node(
                lane, job.pairs + 2 * left, job.pairs + 2 * right, node < nodes, warp % 2);
            if (node < nodes && lane == 0) {
                job.pairs[2 * left + warp % 2] = sum;
                if (job.sums != nullptr && nodes == 1 && warp % 2 == 0)
                    job.sums[blockIdx.x] = xyzz_reduce(sum);
            }
        }
        __syncthreads();
    }
}
