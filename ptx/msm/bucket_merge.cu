/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up the partial sums of each bucket, in levels: merge_slots.cuh.
 */
#include "base/launch.cuh"
#include "msm/merge_slots.cuh"

extern "C" __global__ void __launch_bounds__(MSM_MERGE_THREADS)
    msm_bucket_merge(struct msm_bucket_merge_args args)
{
    pdl_wait();
    merge_slots(&args, blockIdx.x);
}
