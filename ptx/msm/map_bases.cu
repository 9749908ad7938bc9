/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the bases of MSMs, and behind those of each MSM their images under the curve's
 * endomorphism, (beta x, y). Infinity, (0, 0), is its own image.
 */
#include "base/launch.cuh"
#include "ec/point.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

__device__ __forceinline__ fq load_beta(const struct msm_map_bases_args &args)
{
    fq beta;
#pragma unroll
    for (unsigned i = 0; i < FQ_WORDS; i++)
        beta.word[i] = args.beta[i];
    return beta;
}

extern "C" __global__ void __launch_bounds__(MSM_SPLIT_THREADS)
    msm_map_bases(const struct msm_map_bases_args args)
{
    pdl_wait();
    u64 index = (u64)(args.first_block + blockIdx.x) * MSM_SPLIT_THREADS + threadIdx.x;
    if (index >= (u64)args.count * args.batch)
        return;
    u64 msm = index / args.count, i = index - msm * args.count;
    u64 from = args.first_base + msm * args.base_batch_stride + i;
    affine p = *(const affine *)(args.bases + from * args.base_stride);
    affine *to = args.mapped + 2 * msm * args.count + i;
    *to = p;
    p.x = fe_reduce(fe_scale(p.x, load_beta(args)));
    to[args.count] = p;
}
