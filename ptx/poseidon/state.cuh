/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on state elements: the S-box, and the division of work between the threads that share
 * a state.
 */
#ifndef PTX_POSEIDON_STATE_CUH
#define PTX_POSEIDON_STATE_CUH

#include "poseidon/item.cuh"

/* The factors of the S-box: where products of signed words need no correction, those, and lazy
 * elements elsewhere. */
#if FR_SIGNED
typedef int factor;

__device__ __forceinline__ factor factor_from(fr x)
{
    return (int)x.word[0];
}

__device__ __forceinline__ factor factor_mul(factor a, factor b)
{
    return fr_mul_signed(a, b);
}

__device__ __forceinline__ factor factor_sqr(factor a)
{
    return fr_mul_signed(a, a);
}

__device__ __forceinline__ fr factor_to(factor a)
{
    return fr_from_signed(a);
}
#else
typedef fr factor;

__device__ __forceinline__ factor factor_from(fr x)
{
    return x;
}

__device__ __forceinline__ factor factor_mul(factor a, factor b)
{
#if POSEIDON_IS_GOLDILOCKS
    return wide_mul(a, b);
#else
    return fr_mul_lazy(a, b);
#endif
}

__device__ __forceinline__ factor factor_sqr(factor a)
{
#if POSEIDON_IS_GOLDILOCKS
    return wide_mul(a, a);
#else
    return fr_sqr_lazy(a);
#endif
}

__device__ __forceinline__ fr factor_to(factor a)
{
    return a;
}
#endif

/* The S-box x^alpha. */
__device__ __forceinline__ fr sbox(fr element)
{
    factor x = factor_from(element);
#if POSEIDON_ALPHA == 3
    return factor_to(factor_mul(factor_sqr(x), x));
#elif POSEIDON_ALPHA == 5
    return factor_to(factor_mul(factor_sqr(factor_sqr(x)), x));
#elif POSEIDON_ALPHA == 7
    factor square = factor_sqr(x);
    return factor_to(factor_mul(factor_sqr(square), factor_mul(square, x)));
#else
    factor power = x;
#pragma unroll 1
    for (int bit = POSEIDON_ALPHA_BITS - 2; bit >= 0; bit--) {
        power = factor_sqr(power);
        if ((POSEIDON_ALPHA >> bit) & 1)
            power = factor_mul(power, x);
    }
    return factor_to(power);
#endif
}

/*
 * Each of the threads that share a state holds all of its elements. Of two elements that can be
 * computed independently, i and i + 1, each thread computes one, and the two exchange the results
 * by a shuffle. Where `count` is odd, both compute the last one.
 */
__device__ __forceinline__ int index_of_thread(int i, int count)
{
    return min(i + (int)thread_of_state(), count - 1);
}

__device__ __forceinline__ fr element_of_thread(const fr *elements, int i, int count)
{
    if (POSEIDON_THREADS_PER_STATE == 1)
        return elements[i];
    return fr_select(thread_of_state(), elements[min(i + 1, count - 1)], elements[i]);
}

/* Stores the results of all threads that share the state. */
__device__ __forceinline__ void exchange_elements(fr *elements, int i, int count, fr mine)
{
#if POSEIDON_THREADS_PER_STATE == 1
    elements[i] = mine;
#else
    fr other;
#pragma unroll
    for (int k = 0; k < FR_WORDS; k++)
        other.word[k] = __shfl_xor_sync(0xffffffff, mine.word[k], 1);
    elements[min(i + 1, count - 1)] = fr_select(thread_of_state(), mine, other);
    if (i + 1 < count)
        elements[i] = fr_select(thread_of_state(), other, mine);
#endif
}

#endif
