/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multiples of precomputed bases.
 */
#include "base/launch.cuh"
#include "ec/xyzz.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

/* doubled[i] = 2^doublings bases[i] */
extern "C" __global__ void __launch_bounds__(128)
    msm_double_bases(struct msm_double_bases_args args)
{
    pdl_wait();
    u64 i = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= args.count)
        return;
    xyzz p = xyzz_from_affine(args.bases[i]);
#pragma unroll 1
    for (unsigned k = 0; k < args.doublings; k++)
        xyzz_double_called(&p);
    args.doubled[i] = xyzz_reduce(p);
}
