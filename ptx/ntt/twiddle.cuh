/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twiddles and products by them. Those within a pass, whose tables the blocks of a launch share,
 * have precomputed quotients where NTT_QUOTIENTS is not 0, those between passes where it is 2;
 * others are in Montgomery form.
 */
#ifndef PTX_NTT_TWIDDLE_CUH
#define PTX_NTT_TWIDDLE_CUH

struct twiddle {
    fr value;
#if NTT_QUOTIENTS
    fr quotient;
#endif
};

/* Within a pass. */
__device__ __forceinline__ struct twiddle load_twiddle(
    const struct ntt_pass_args &pass, const fr *table, u64 index)
{
    struct twiddle twiddle;
    twiddle.value = table[index];
#if NTT_QUOTIENTS
    twiddle.quotient = table[index + pass.quotients];
#endif
    return twiddle;
}

__device__ __forceinline__ fr mul_twiddle(fr x, struct twiddle twiddle)
{
#if NTT_QUOTIENTS
    return fr_mul_shoup(x, twiddle.value, twiddle.quotient);
#else
    return fr_mul_lazy(x, twiddle.value);
#endif
}

/* a + b and a - b as first arguments of mul_twiddle. */
__device__ __forceinline__ fr add_before_twiddle(fr a, fr b)
{
#if NTT_QUOTIENTS
    return fr_add_unreduced(a, b);
#else
    return fr_add_lazy(a, b);
#endif
}

__device__ __forceinline__ fr sub_before_twiddle(fr a, fr b)
{
#if NTT_QUOTIENTS
    return fr_sub_unreduced(a, b);
#else
    return fr_sub_lazy(a, b);
#endif
}

/* Between passes. */
__device__ __forceinline__ struct twiddle load_pass_twiddle(
    const struct ntt_pass_args &pass, const fr *table, u64 index)
{
#if NTT_QUOTIENTS == 2
    return load_twiddle(pass, table, index);
#else
    struct twiddle twiddle;
    twiddle.value = table[index];
    return twiddle;
#endif
}

__device__ __forceinline__ fr mul_pass_twiddle(fr x, struct twiddle twiddle)
{
#if NTT_QUOTIENTS == 2
    return mul_twiddle(x, twiddle);
#else
    return fr_mul_lazy(x, twiddle.value);
#endif
}

#endif
