/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points as callers keep them: any layout of curve.h, either form, `stride` words apart and aligned
 * to words only. A coordinate is brought into the device's form by a product with `factor` where
 * `converts` is not 0.
 */
#ifndef MSM_SOURCE_CUH
#define MSM_SOURCE_CUH

#include "ec/point.cuh"

typedef unsigned long long u64;

enum { LAYOUT_AFFINE, LAYOUT_AFFINE_FLAG, LAYOUT_JACOBIAN, LAYOUT_PROJECTIVE, LAYOUT_XYZZ };

#define FE_WORDS (EC_DEGREE * FQ_WORDS)
#define MAX_WORDS 24 /* of a field element, here and on the host */

struct source {
    const unsigned *data;
    u64 stride;
    u64 count;
    unsigned layout;
    unsigned converts;
    unsigned factor[MAX_WORDS];
};

__device__ __forceinline__ fq words_get(const unsigned *at)
{
    fq x;
#pragma unroll
    for (unsigned w = 0; w < FQ_WORDS; w++)
        x.word[w] = at[w];
    return x;
}

__device__ __forceinline__ fe words_get_fe(const unsigned *at)
{
#if EC_DEGREE == 2
    fe x = {words_get(at), words_get(at + FQ_WORDS)};
    return x;
#else
    return words_get(at);
#endif
}

__device__ __forceinline__ const unsigned *source_at(const struct source *s, u64 index)
{
    return s->data + index * s->stride;
}

/* Coordinate `place` of a point, in the device's form. */
__device__ __forceinline__ fe source_get(const struct source *s, u64 index, unsigned place)
{
    fe x = words_get_fe(source_at(s, index) + place * FE_WORDS);
    if (s->converts) {
        fq factor = words_get(s->factor);
#if EC_DEGREE == 2
        x.c0 = fq_mul(x.c0, factor);
        x.c1 = fq_mul(x.c1, factor);
#else
        x = fq_mul(x, factor);
#endif
    }
    return x;
}

__device__ __forceinline__ unsigned source_flag(const struct source *s, u64 index)
{
    return source_at(s, index)[2 * FE_WORDS] & 0xffu;
}

/* z of Jacobian and projective points, zzz of XYZZ: 0 for infinity. */
__device__ __forceinline__ fe source_denominator(const struct source *s, u64 index)
{
    return source_get(s, index, s->layout == LAYOUT_XYZZ ? 3 : 2);
}

#endif
