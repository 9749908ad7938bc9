/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accumulates bases into buckets, in equal ranges of sorted entries: accumulate_range.cuh.
 */
#include "base/launch.cuh"
#include "msm/accumulate_range.cuh"

extern "C" __global__ void __launch_bounds__(MSM_ACCUMULATE_THREADS, MSM_ACCUMULATE_BLOCKS)
    msm_accumulate(struct msm_accumulate_args args)
{
    pdl_wait();
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < args.threads)
        accumulate_range(&args, thread);
}
