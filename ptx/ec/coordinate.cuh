/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinate field of a curve's points under the names fe_...: fq where EC_DEGREE is 1, fq2
 * where it is 2. The generated "curve.cuh" defines fq_..., EC_DEGREE, EC_A and, for degree 2,
 * FQ2_NONRESIDUE. Values are lazily reduced, in [0, 2p), where the modulus leaves a bit unused for
 * that; values that other kernels or the host read are fully reduced (fe_reduce) before they are
 * stored.
 */
#ifndef PTX_EC_COORDINATE_CUH
#define PTX_EC_COORDINATE_CUH

#include "curve.cuh"

#define FF fq
#include "ff/generic.cuh"
#undef FF
#if EC_DEGREE == 2
#include "ff/fp2.cuh"
#endif

#if EC_DEGREE == 2
typedef fq2 fe;
#define FE_(name) fq2_##name
#define FE_LAZY_(name) fq2_##name
#else
typedef fq fe;
#define FE_(name) fq_##name
#define FE_LAZY_(name) fq_##name##_lazy
#endif

#define fe_zero FE_(zero)
#define fe_one FE_(one)
#define fe_reduce FE_(reduce)
#define fe_select FE_(select)
#define fe_to_mont FE_(to_mont)
#define fe_from_mont FE_(from_mont)
#define fe_is_zero FE_LAZY_(is_zero)
#define fe_add FE_LAZY_(add)
#define fe_sub FE_LAZY_(sub)
#define fe_neg FE_LAZY_(neg)
#define fe_dbl FE_LAZY_(dbl)
#define fe_mul FE_LAZY_(mul)
#define fe_sqr FE_LAZY_(sqr)
#define fe_mul_sub FE_LAZY_(mul_sub)

/* a times an element of the prime field. */
__device__ __forceinline__ fe fe_scale(fe a, fq factor)
{
#if EC_DEGREE == 2
    fe r = {fq_mul_lazy(a.c0, factor), fq_mul_lazy(a.c1, factor)};
    return r;
#else
    return fq_mul_lazy(a, factor);
#endif
}

/* 1 / a, and 0 for 0; reduced. */
__device__ __forceinline__ fe fe_inverse(fe a)
{
    return fe_reduce(FE_(inverse)(fe_reduce(a)));
}

#endif
