/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Second half of the bucket reduction: levels of the tree of segments, reduce_levels.cuh.
 */
#include "base/launch.cuh"
#include "msm/reduce_levels.cuh"

extern "C" __global__ void __launch_bounds__(MSM_TREE_THREADS)
    msm_reduce_tree(struct msm_reduce_tree_args args)
{
    pdl_wait();
    reduce_levels(&args, args.first_block + blockIdx.x);
}
