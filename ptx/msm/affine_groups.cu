/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the entries of each bucket into groups of 2^log_group, so that the pairs of no pass cross
 * a bucket: the groups of buckets are counted, their number before each bucket follows from a
 * prefix sum, and the entries of a piece of all groups are written with padding. A piece is a range
 * of groups, whatever buckets they belong to, so that its memory has a bound for every distribution
 * of the scalars. Depends on no field and no curve.
 */
#include "base/launch.cuh"
#include "msm/affine_args.h"
#include "msm/sort.cuh"

#define BLOCK_BUCKETS (MSM_AFFINE_GROUP_THREADS * MSM_AFFINE_GROUP_BUCKETS)

__device__ __forceinline__ unsigned groups_of(
    const struct msm_affine_groups_args &args, unsigned bucket)
{
    unsigned entries = args.bucket_offsets[bucket + 1] - args.bucket_offsets[bucket];
    return (entries >> args.log_group) + ((entries & ((1u << args.log_group) - 1)) != 0);
}

/* The thread's buckets are `first` up to `end`. */
__device__ __forceinline__ void thread_buckets(
    const struct msm_affine_groups_args &args, unsigned *first, unsigned *end)
{
    u64 begin = (u64)(args.first_block + blockIdx.x) * BLOCK_BUCKETS +
                threadIdx.x * MSM_AFFINE_GROUP_BUCKETS;
    *first = (unsigned)min(begin, (u64)args.bucket_count);
    *end = (unsigned)min(begin + MSM_AFFINE_GROUP_BUCKETS, (u64)args.bucket_count);
}

__device__ __forceinline__ unsigned count_groups(const struct msm_affine_groups_args &args)
{
    unsigned first, end, count = 0;
    thread_buckets(args, &first, &end);
    for (unsigned bucket = first; bucket < end; bucket++)
        count += groups_of(args, bucket);
    return count;
}

extern "C" __global__ void __launch_bounds__(MSM_AFFINE_GROUP_THREADS)
    msm_affine_count_groups(const struct msm_affine_groups_args args)
{
    pdl_wait();
    unsigned total;
    block_prefix_sum(count_groups(args), &total);
    if (threadIdx.x == 0)
        args.block_sums[args.first_block + blockIdx.x] = total;
}

/* One block. */
extern "C" __global__ void __launch_bounds__(MSM_AFFINE_SCAN_THREADS)
    msm_affine_scan_groups(const struct msm_affine_groups_args args)
{
    pdl_wait();
    unsigned before = 0;
    for (unsigned first = 0; first < args.blocks; first += blockDim.x) {
        unsigned i = first + threadIdx.x, total;
        unsigned sum = block_prefix_sum(i < args.blocks ? args.block_sums[i] : 0, &total);
        if (i < args.blocks)
            args.block_sums[i] = before + sum;
        before += total;
    }
}

extern "C" __global__ void __launch_bounds__(MSM_AFFINE_GROUP_THREADS)
    msm_affine_group_offsets(const struct msm_affine_groups_args args)
{
    pdl_wait();
    unsigned first, end, total;
    unsigned before = block_prefix_sum(count_groups(args), &total) +
                      args.block_sums[args.first_block + blockIdx.x];
    thread_buckets(args, &first, &end);
    for (unsigned bucket = first; bucket < end; bucket++) {
        args.group_offsets[bucket] = before;
        before += groups_of(args, bucket);
        if (bucket + 1 == args.bucket_count)
            args.group_offsets[bucket + 1] = before;
    }
}

/* The bucket of a group, between buckets `low` and `high`. */
__device__ __forceinline__ unsigned bucket_of_group(
    const struct msm_affine_piece_args &args, unsigned group, unsigned low, unsigned high)
{
#pragma unroll 1
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (args.group_offsets[middle] <= group)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* One thread per group of the piece. A block's groups belong to neighbouring buckets, which two of
 * its threads look up. */
extern "C" __global__ void __launch_bounds__(MSM_AFFINE_GROUP_THREADS)
    msm_affine_pad(const struct msm_affine_piece_args args)
{
    __shared__ unsigned ends[2];
    pdl_wait();
    unsigned total = args.group_offsets[args.bucket_count];
    unsigned groups = total > args.first_group ? min(total - args.first_group, args.groups) : 0;
    unsigned block_first = (args.first_block + blockIdx.x) * MSM_AFFINE_GROUP_THREADS;
    if (block_first >= groups)
        return;
    unsigned block_last = min(block_first + MSM_AFFINE_GROUP_THREADS, groups) - 1;
    if (threadIdx.x % 32 == 0 && threadIdx.x / 32 < 2)
        ends[threadIdx.x / 32] = bucket_of_group(args,
            args.first_group + (threadIdx.x ? block_last : block_first), 0, args.bucket_count);
    __syncthreads();
    unsigned number = block_first + threadIdx.x;
    if (number >= groups)
        return;
    unsigned group = args.first_group + number;
    unsigned bucket = bucket_of_group(args, group, ends[0], ends[1] + 1);
    unsigned entry =
        args.bucket_offsets[bucket] + ((group - args.group_offsets[bucket]) << args.log_group);
    unsigned end = args.bucket_offsets[bucket + 1];
    for (unsigned k = 0; k < 1u << args.log_group; k++)
        args.padded[((u64)number << args.log_group) + k] =
            k < end - entry ? args.entries[entry + k] : MSM_ENTRY_NO_BASE;
    args.list[number] = number;
}

/* One thread per bucket, and one for the end. */
extern "C" __global__ void __launch_bounds__(MSM_AFFINE_GROUP_THREADS)
    msm_affine_piece_offsets(const struct msm_affine_piece_args args)
{
    pdl_wait();
    u64 bucket = (u64)(args.first_block + blockIdx.x) * MSM_AFFINE_GROUP_THREADS + threadIdx.x;
    if (bucket > args.bucket_count)
        return;
    unsigned offset = args.group_offsets[bucket];
    args.piece_offsets[bucket] =
        offset > args.first_group ? min(offset - args.first_group, args.groups) : 0;
}
