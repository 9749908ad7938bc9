/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates points, one per thread. *first_error receives the smallest
 * MSM_CHECK_ERRORS * index + error.
 */
#include "base/launch.cuh"
#include "ec/xyzz.cuh"
#include "msm/input_bases.cuh"

__device__ __forceinline__ int are_canonical(const struct msm_input_bases *input, u64 i)
{
    unsigned coordinates = input->layout == LAYOUT_XYZZ ? 4
                           : input->layout == LAYOUT_AFFINE || input->layout == LAYOUT_AFFINE_FLAG
                               ? 2
                               : 3;
    int canonical = 1;
#pragma unroll 1
    for (unsigned k = 0; k < coordinates * EC_DEGREE; k++)
        canonical &= fq_less(fq_load_words(input_point(input, i) + k * FQ_WORDS), fq_modulus());
    return canonical;
}

__device__ __forceinline__ int is_infinity(const struct msm_input_bases *input, u64 i, affine p)
{
    if (input->layout == LAYOUT_AFFINE)
        return affine_is_infinity(p);
    if (input->layout == LAYOUT_AFFINE_FLAG)
        return input_flag(input, i) != 0;
    return fe_is_zero(fe_load_words(input_point(input, i) + 2 * FE_WORDS));
}

__device__ __forceinline__ int is_xyzz(const struct msm_input_bases *input, u64 i)
{
    fe zz = input_coordinate(input, i, 2), zzz = input_coordinate(input, i, 3);
    return fe_is_zero(fe_sub(fe_mul(fe_sqr(zz), zz), fe_sqr(zzz)));
}

__device__ __forceinline__ int is_on_curve(affine p, fe b)
{
    fe right = fe_add(fe_mul(fe_sqr(p.x), p.x), b);
#if EC_A != EC_A_ZERO
    fe a = EC_A_VALUE;
    right = fe_add(right, fe_mul(a, p.x));
#endif
    return fe_is_zero(fe_sub(fe_sqr(p.y), right));
}

/* Whether order * p = infinity; p must not be infinity. */
__device__ __forceinline__ int is_in_subgroup(affine p, const struct msm_check_bases_args *args)
{
    xyzz sum = xyzz_from_affine(p);
#pragma unroll 1
    for (unsigned bit = args->order_bits - 1; bit-- > 0;) {
        xyzz_double_called(&sum);
        if (args->order[bit / 32] >> bit % 32 & 1)
            sum = xyzz_add_affine(sum, p);
    }
    return xyzz_is_infinity(sum);
}

__device__ __forceinline__ unsigned check_base(const struct msm_check_bases_args *args, u64 i)
{
    if (!are_canonical(&args->input, i))
        return MSM_CHECK_NOT_CANONICAL;
    if (args->input.layout == LAYOUT_AFFINE_FLAG && input_flag(&args->input, i) > 1)
        return MSM_CHECK_BAD_FLAG;
    if (args->input.layout == LAYOUT_XYZZ && !is_xyzz(&args->input, i))
        return MSM_CHECK_BAD_XYZZ;
    const unsigned *base = args->bases + i * args->stride;
    affine p = {fe_load_words(base), fe_load_words(base + FE_WORDS)};
    if (is_infinity(&args->input, i, p))
        return MSM_CHECK_PASSED;
    if (!is_on_curve(p, fe_load_words(args->b)))
        return MSM_CHECK_NOT_ON_CURVE;
    if (affine_is_infinity(p))
        return MSM_CHECK_ORIGIN;
    if (args->order_bits != 0 && !is_in_subgroup(p, args))
        return MSM_CHECK_NOT_IN_SUBGROUP;
    return MSM_CHECK_PASSED;
}

extern "C" __global__ void __launch_bounds__(128) msm_check_bases(struct msm_check_bases_args args)
{
    pdl_wait();
    u64 i = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= args.input.count)
        return;
    unsigned error = check_base(&args, i);
    if (error != MSM_CHECK_PASSED)
        atomicMin(args.first_error, MSM_CHECK_ERRORS * (args.first_index + i) + error);
}
