/* SPDX-License-Identifier: Apache-2.0 */
/* Inversion in the coordinate field by division steps, where a kernel waits for its latency. */
#ifndef PTX_EC_INVERSE_CUH
#define PTX_EC_INVERSE_CUH

#include "ec/coordinate.cuh"

#define FF fq
#define FF_COUNT FQ_WORDS
#include "ff/divsteps.cuh"
#undef FF_COUNT
#undef FF

/* 1 / a, and 0 for 0; reduced. */
__device__ __forceinline__ fe fe_inverse_by_divsteps(fe a)
{
#if EC_DEGREE == 2
    a = fq2_reduce(a);
    return fq2_reduce(fq2_inverse_with(a, fq_inverse_by_divsteps(fq2_norm(a))));
#else
    return fq_inverse_by_divsteps(fq_reduce(a));
#endif
}

#endif
