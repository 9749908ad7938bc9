/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies items between strides. It needs no field and no curve, so that all of them share it.
 */
#include "base/launch.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

/* Copies `count` items of `words` words; one thread per word. */
extern "C" __global__ void msm_copy_strided(struct msm_copy_strided_args args)
{
    pdl_wait();
    u64 i = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    u64 item = i / args.words;
    if (item < args.count)
        args.out[item * args.out_stride + i % args.words] =
            args.in[item * args.in_stride + i % args.words];
}
