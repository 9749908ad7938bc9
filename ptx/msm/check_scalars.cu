/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates scalars, one per thread. *first_error receives the smallest MSM_CHECK_ERRORS * index.
 */
#include "base/launch.cuh"
#include "fr.cuh"
#include "msm/args.h"

typedef unsigned long long u64;

__device__ __forceinline__ fr fr_load_words(const unsigned *words)
{
    fr x;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        x.word[w] = words[w];
    return x;
}

extern "C" __global__ void msm_check_scalars(struct msm_check_scalars_args args)
{
    pdl_wait();
    u64 i = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= args.count)
        return;
    fr x = fr_load_words(args.scalars + i * args.stride);
    int passed = fr_less(x, fr_modulus());
    if (passed && args.is_limited) {
        if (args.converts)
            x = fr_mul(x, fr_load_words(args.factor));
        passed = fr_less(x, fr_load_words(args.limit));
    }
    if (!passed)
        atomicMin(args.first_error, MSM_CHECK_ERRORS * (args.first_index + i));
}
