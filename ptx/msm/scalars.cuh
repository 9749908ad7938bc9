/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads scalars as a caller supplied them; included after fr.cuh. `arguments` has the members
 * scalars, scalar_stride, conversion, factor and reduces of msm_sort_args.
 */
#ifndef PTX_MSM_SCALARS_CUH
#define PTX_MSM_SCALARS_CUH

#include "msm/args.h"

typedef unsigned long long u64;

/* Returns s modulo the order, for any s: subtracts the order times powers of two. */
__device__ __noinline__ fr scalar_reduce(fr s)
{
#pragma unroll 1
    for (int shift = 32 * FR_WORDS - FR_BITS; shift >= 0; shift--) {
        fr multiple = fr_modulus();
        for (int i = 0; i < shift; i++) {
#pragma unroll
            for (int w = FR_WORDS - 1; w > 0; w--)
                multiple.word[w] = __funnelshift_l(multiple.word[w - 1], multiple.word[w], 1);
            multiple.word[0] <<= 1;
        }
        if (!fr_less(s, multiple)) {
            unsigned borrow = 0;
#pragma unroll
            for (int w = 0; w < FR_WORDS; w++) {
                u64 difference = (u64)s.word[w] - multiple.word[w] - borrow;
                s.word[w] = (unsigned)difference;
                borrow = (unsigned)(difference >> 63);
            }
        }
    }
    return s;
}

/* Scalar `index` in standard form. */
template <typename arguments>
__device__ __forceinline__ fr scalar_load(const arguments &args, u64 index)
{
    const unsigned *from = args.scalars + index * args.scalar_stride;
    fr s;
    if (FR_WORDS % 4 == 0 && ((u64)args.scalars | args.scalar_stride * 4) % 16 == 0) {
        s = *(const fr *)from;
    } else {
#pragma unroll
        for (int w = 0; w < FR_WORDS; w++)
            s.word[w] = from[w];
    }
    if (args.reduces)
        s = scalar_reduce(s);
    if (args.conversion == MSM_SCALAR_FROM_MONTGOMERY)
        s = fr_from_mont(s);
    if (args.conversion == MSM_SCALAR_TIMES_FACTOR) {
        fr factor;
#pragma unroll
        for (int w = 0; w < FR_WORDS; w++)
            factor.word[w] = args.factor[w];
        s = fr_mul(s, factor);
    }
    return s;
}

#endif
