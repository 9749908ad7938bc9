/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines the window sums of each MSM of a batch by Horner's rule, with window_bits doublings
 * between two window sums, and stores the results in the requested layout and form. Four lanes
 * share the additions and doublings of an MSM.
 */
#include "base/launch.cuh"
#include "ec/convert.cuh"
#include "ec/xyzz_quad.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

__device__ __forceinline__ void store_coordinate(
    const struct msm_window_combine_args *args, unsigned *out, unsigned index, fe x)
{
    fe value = x;
    if (args->converts) {
        fq factor;
#pragma unroll
        for (unsigned i = 0; i < FQ_WORDS; i++)
            factor.word[i] = args->factor[i];
        value = fe_scale(value, factor);
    }
    value = fe_reduce(value);
    const unsigned *words = (const unsigned *)&value;
    unsigned count = sizeof(fe) / sizeof(unsigned);
#pragma unroll
    for (unsigned i = 0; i < count; i++)
        out[index * count + i] = words[i];
}

/* 0 and 1 are converted like all other values. */
__device__ __forceinline__ void store_affine(
    const struct msm_window_combine_args *args, unsigned *out, xyzz sum)
{
    affine p = affine_infinity();
    if (!xyzz_is_infinity(sum))
        p = xyzz_to_affine(sum);
    store_coordinate(args, out, 0, p.x);
    store_coordinate(args, out, 1, p.y);
    if (args->layout == LAYOUT_AFFINE_FLAG) {
        unsigned flag = 2 * sizeof(fe) / sizeof(unsigned);
        unsigned end = (2 * sizeof(fe) + 8) / 8 * 2;
        out[flag] = xyzz_is_infinity(sum);
        if (flag + 1 < end)
            out[flag + 1] = 0;
    }
}

__device__ __forceinline__ void store_result(
    const struct msm_window_combine_args *args, unsigned *out, xyzz sum)
{
    int is_infinity = xyzz_is_infinity(sum);
    if (args->layout == LAYOUT_JACOBIAN) {
        jacobian p = xyzz_to_jacobian(sum);
        store_coordinate(args, out, 0, fe_select(is_infinity, fe_one(), p.x));
        store_coordinate(args, out, 1, fe_select(is_infinity, fe_one(), p.y));
        store_coordinate(args, out, 2, p.z);
    } else if (args->layout == LAYOUT_PROJECTIVE) {
        projective p = xyzz_to_projective(sum);
        store_coordinate(args, out, 0, p.x);
        store_coordinate(args, out, 1, p.y);
        store_coordinate(args, out, 2, p.z);
    } else if (args->layout == LAYOUT_XYZZ) {
        store_coordinate(args, out, 0, fe_select(is_infinity, fe_one(), sum.x));
        store_coordinate(args, out, 1, fe_select(is_infinity, fe_one(), sum.y));
        store_coordinate(args, out, 2, sum.zz);
        store_coordinate(args, out, 3, fe_select(is_infinity, fe_zero(), sum.zzz));
    } else {
        store_affine(args, out, sum);
    }
}

extern "C" __global__ void __launch_bounds__(MSM_COMBINE_THREADS)
    msm_window_combine(struct msm_window_combine_args args)
{
    pdl_wait();
    unsigned lane = threadIdx.x % QUAD_LANES;
    u64 msm = (u64)(args.first_block + blockIdx.x) * (MSM_COMBINE_THREADS / QUAD_LANES) +
              threadIdx.x / QUAD_LANES;
    int is_inside = msm < args.batch;
    const xyzz *window_sums = args.window_sums + msm * args.sets_per_msm;
    xyzz sum = xyzz_infinity();
#pragma unroll 1
    for (unsigned set = args.sets_per_msm; set-- > 0;) {
        xyzz window_sum = xyzz_infinity();
        if (is_inside)
            window_sum = window_sums[set];
        if (set + 1 == args.sets_per_msm) {
            sum = window_sum;
        } else {
#pragma unroll 1
            for (unsigned i = 0; i < args.doublings; i++)
                sum = xyzz_quad_double(lane, sum);
            sum = xyzz_quad_add(lane, sum, window_sum);
        }
    }
    if (is_inside && lane == 0)
        store_result(&args, args.results + msm * args.result_stride, sum);
}
