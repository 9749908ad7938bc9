/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signed digits of a scalar s are the windows of s + offset, minus 2^(c - 1) each, where the
 * recoding offset has 2^(c - 1) in every window but the top one. No digit then depends on a carry
 * from the window below. Where n = order - s is smaller than s, the digits of n are computed and
 * negated: with 2^(c - 1) - 1 in each window of the offset, the digits of -n are the bitwise
 * complements. Included after fr.cuh by kernels of RECODE_THREADS threads per block.
 */
#ifndef PTX_MSM_RECODE_CUH
#define PTX_MSM_RECODE_CUH

#include "msm/scalars.cuh"

/* Stores s plus its recoding offset, or order - s where that is smaller, to the thread's column of
 * shared memory, one word longer than s. Returns whether s was negated. */
__device__ __forceinline__ bool scalar_recode(
    const struct msm_sort_args &args, fr s, unsigned *recoded)
{
    bool is_negated = false;
    if (args.negates_large) {
        fr negative = fr_neg(s);
        is_negated = fr_less(negative, s);
        s = fr_select(is_negated, negative, s);
    }
    u64 sum = 0;
#pragma unroll
    for (int w = 0; w < FR_WORDS; w++) {
        sum += (u64)s.word[w] +
               (is_negated ? args.recoding_offsets[1][w] : args.recoding_offsets[0][w]);
        recoded[w * RECODE_THREADS] = (unsigned)sum;
        sum >>= 32;
    }
    recoded[FR_WORDS * RECODE_THREADS] =
        (unsigned)sum +
        (is_negated ? args.recoding_offsets[1][FR_WORDS] : args.recoding_offsets[0][FR_WORDS]);
    return is_negated;
}

/* Returns the 32 bits from bit `bit` on. */
__device__ __forceinline__ unsigned bits_from(const unsigned *recoded, unsigned bit)
{
    const unsigned *word = recoded + bit / 32 * RECODE_THREADS;
    return __funnelshift_r(word[0], word[RECODE_THREADS], bit);
}

/* The digit of the top window, plus 2^(c - 1). */
__device__ __forceinline__ unsigned top_digit(
    const struct msm_sort_args &args, const unsigned *recoded, bool is_negated)
{
    unsigned half = 1u << (args.window_bits - 1);
    unsigned digit =
        min(bits_from(recoded, (args.windows - 1) * args.window_bits), args.max_top_digit);
    return is_negated ? half - digit : half + digit;
}

#endif
