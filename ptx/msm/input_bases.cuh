/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads points as a caller supplied them. Coordinates are converted to the form that kernels
 * compute with, where `converts` is set, by a multiplication with `factor`.
 */
#ifndef PTX_MSM_INPUT_BASES_CUH
#define PTX_MSM_INPUT_BASES_CUH

#include "ec/point.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

#define FE_WORDS (EC_DEGREE * FQ_WORDS)

__device__ __forceinline__ fq fq_load_words(const unsigned *words)
{
    fq x;
#pragma unroll
    for (unsigned w = 0; w < FQ_WORDS; w++)
        x.word[w] = words[w];
    return x;
}

__device__ __forceinline__ fe fe_load_words(const unsigned *words)
{
#if EC_DEGREE == 2
    fe x = {fq_load_words(words), fq_load_words(words + FQ_WORDS)};
    return x;
#else
    return fq_load_words(words);
#endif
}

__device__ __forceinline__ const unsigned *input_point(const struct msm_input_bases *input, u64 i)
{
    return input->data + i * input->stride;
}

/* Coordinate number `coordinate` of point i, in the form that kernels compute with. */
__device__ __forceinline__ fe input_coordinate(
    const struct msm_input_bases *input, u64 i, unsigned coordinate)
{
    fe x = fe_load_words(input_point(input, i) + coordinate * FE_WORDS);
    if (input->converts) {
        fq factor = fq_load_words(input->factor);
#if EC_DEGREE == 2
        x.c0 = fq_mul(x.c0, factor);
        x.c1 = fq_mul(x.c1, factor);
#else
        x = fq_mul(x, factor);
#endif
    }
    return x;
}

/* The infinity flag of layout AFFINE_FLAG. */
__device__ __forceinline__ unsigned input_flag(const struct msm_input_bases *input, u64 i)
{
    return input_point(input, i)[2 * FE_WORDS] & 0xffu;
}

/* Z of Jacobian and projective points, ZZZ of XYZZ points; 0 for infinity. */
__device__ __forceinline__ fe input_denominator(const struct msm_input_bases *input, u64 i)
{
    return input_coordinate(input, i, input->layout == LAYOUT_XYZZ ? 3 : 2);
}

#endif
