/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x / 2^K in Goldilocks and in fields below 32 bits whose modulus is 1 modulo 2^K, for entries
 * 2^-K of Poseidon2's internal diagonal: (x + m p) / 2^K with m = -x modulo 2^K, which needs no
 * full-width product.
 */
#ifndef PTX_POSEIDON_DIV_POW2_CUH
#define PTX_POSEIDON_DIV_POW2_CUH

template <int K> __device__ __forceinline__ fr fr_div_pow2(fr x)
{
#if FR_WORDS == 1
    /* x + m does not overflow: x and m are below 2^31. */
    unsigned m = (0u - x.word[0]) & ((1u << K) - 1u);
    fr r = {{((x.word[0] + m) >> K) + m * ((fr_modulus().word[0] - 1u) >> K)}};
    return r;
#elif FR_WORDS == 2
    /* Goldilocks, for every 64-bit x: m p = m + m (2^64 - 2^32). The result is below 2^64. */
    unsigned long long v = (unsigned long long)x.word[1] << 32 | x.word[0];
    unsigned long long m = (0ull - v) & ((1ull << K) - 1ull);
    unsigned long long low = v + m;
    unsigned long long carry = low < v;
    unsigned long long r = (low >> K | carry << (64 - K)) + (((m << 32) - m) << (32 - K));
    fr result = {{(unsigned)r, (unsigned)(r >> 32)}};
    return result;
#else
    return x;
#endif
}

#endif
