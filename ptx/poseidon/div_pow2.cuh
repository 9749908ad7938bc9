/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x / 2^K in fields below 32 bits whose modulus is 1 modulo 2^K, for entries 2^-K of Poseidon2's
 * internal diagonal: (x + m p) / 2^K with m = -x modulo 2^K, which needs no full-width product.
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
#else
    return x;
#endif
}

#endif
