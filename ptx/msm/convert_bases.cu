/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts points of callers to bases as the accumulation reads them: packed affine points in the
 * form that kernels compute with, canonical, (0, 0) for infinity.
 */
#include "base/launch.cuh"
#include "ec/convert.cuh"
#include "msm/input_bases.cuh"

__device__ __forceinline__ affine convert_affine(const struct msm_input_bases *input, u64 i)
{
    affine p = affine_infinity();
    if (input->layout == LAYOUT_AFFINE || input_flag(input, i) == 0) {
        p.x = input_coordinate(input, i, 0);
        p.y = input_coordinate(input, i, 1);
    }
    return p;
}

/* Converts point i, given the inverse of its denominator. */
__device__ __forceinline__ affine convert_with_inverse(
    const struct msm_input_bases *input, u64 i, fe inverse)
{
    fe x_factor = inverse, y_factor = inverse;
    if (input->layout == LAYOUT_JACOBIAN) {
        x_factor = fe_sqr(inverse);
        y_factor = fe_mul(x_factor, inverse);
    } else if (input->layout == LAYOUT_XYZZ) {
        x_factor = fe_sqr(fe_mul(input_coordinate(input, i, 2), inverse));
    }
    affine p = {fe_reduce(fe_mul(input_coordinate(input, i, 0), x_factor)),
        fe_reduce(fe_mul(input_coordinate(input, i, 1), y_factor))};
    return p;
}

/*
 * Each thread converts the points thread, thread + threads, ... with one inversion (Montgomery's
 * trick). Until a point is converted, bases[i].x holds the product of the denominators before it.
 */
extern "C" __global__ void __launch_bounds__(128)
    msm_convert_bases(struct msm_convert_bases_args args)
{
    pdl_wait();
    u64 threads = (u64)args.blocks * blockDim.x;
    u64 first = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (first >= args.input.count)
        return;
    if (args.input.layout == LAYOUT_AFFINE || args.input.layout == LAYOUT_AFFINE_FLAG) {
#pragma unroll 1
        for (u64 i = first; i < args.input.count; i += threads)
            args.bases[i] = convert_affine(&args.input, i);
        return;
    }
    fe product = fe_one();
    u64 i = first;
#pragma unroll 1
    for (; i < args.input.count; i += threads) {
        fe denominator = input_denominator(&args.input, i);
        args.bases[i].x = product;
        if (!fe_is_zero(denominator))
            product = fe_mul(product, denominator);
    }
    product = fe_inverse(product);
#pragma unroll 1
    do {
        i -= threads;
        fe denominator = input_denominator(&args.input, i);
        if (fe_is_zero(denominator)) {
            args.bases[i] = affine_infinity();
        } else {
            args.bases[i] = convert_with_inverse(&args.input, i, fe_mul(product, args.bases[i].x));
            product = fe_mul(product, denominator);
        }
    } while (i != first);
}
