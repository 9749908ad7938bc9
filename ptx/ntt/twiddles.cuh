/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twiddle factors between the stages of a pass and between passes. pass.cu includes it after
 * index.cuh.
 */
#ifndef PTX_NTT_TWIDDLES_CUH
#define PTX_NTT_TWIDDLES_CUH

/* w^exponent, as the product of two table entries where a table of all powers would be too long. */
__device__ __forceinline__ fr two_level_power(
    const fr *high, const fr *low, unsigned low_bits, u64 exponent)
{
    fr factor = high[exponent >> low_bits];
    if (low != nullptr)
        factor = fr_mul_lazy(factor, low[exponent & ((1ull << low_bits) - 1)]);
    return factor;
}

/* The output that register e of a radix-2^NTT_RADIX butterfly holds. */
#define OUTPUT(e) (__brev(e) >> (32 - NTT_RADIX))

/* Output o of a stage that others follow is multiplied by w^(o d), where d is the part of the local
 * index that later stages transform. ntt_stage_twiddles in tables.cu orders the table so that
 * neighbouring threads read neighbouring entries. */
__device__ __forceinline__ const fr *stage_twiddles(
    const struct ntt_pass_args &pass, struct butterfly butterfly)
{
    return pass.stage_twiddles + (1u << (butterfly.log_distance + NTT_RADIX)) +
           (butterfly.local & ((1u << butterfly.log_distance) - 1));
}

/* Exponents of the twiddles w^(k c) between passes, k the output: that of a butterfly's first
 * output, and the increment from one output to the next. */
struct exponents {
    u64 first;
    u64 increment;
};

__device__ __forceinline__ struct exponents pass_exponents(
    const struct ntt_pass_args &pass, u64 sub, unsigned local)
{
    struct exponents exponents;
    sub &= (1ull << (pass.log_size - pass.log_done - pass.log_length)) - 1;
    exponents.first = sub * reverse_bits(local, pass.log_length) << pass.exponent_shift;
    exponents.increment = sub << (pass.log_length - NTT_RADIX + pass.exponent_shift);
    return exponents;
}

__device__ __forceinline__ void apply_stage_twiddles(
    const struct ntt_pass_args &pass, fr *x, struct butterfly butterfly)
{
    const fr *table = stage_twiddles(pass, butterfly);
#pragma unroll
    for (unsigned e = 1; e < POINTS; e++)
        x[e] = mul_twiddle(x[e], load_twiddle(pass, table, OUTPUT(e) << butterfly.log_distance));
}

/* The twiddles between passes of a butterfly's outputs; only those of the high table. */
__device__ __forceinline__ void prefetch_pass_twiddles(
    const struct ntt_pass_args &pass, struct twiddle *twiddle, u64 sub, unsigned local)
{
    struct exponents exponents = pass_exponents(pass, sub, local);
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++)
        twiddle[o] = load_pass_twiddle(
            pass, pass.twiddles_high, (exponents.first + exponents.increment * o) >> pass.low_bits);
}

/* For short elements it is cheaper to compute successive twiddles by multiplication than to gather
 * them from a table; for long elements it is not. */
__device__ __forceinline__ void apply_pass_twiddles(const struct ntt_pass_args &pass, fr *x,
    const struct twiddle *prefetched, u64 sub, unsigned local)
{
    struct exponents exponents = pass_exponents(pass, sub, local);
#if FR_WORDS <= 2
    fr twiddle =
        two_level_power(pass.twiddles_high, pass.twiddles_low, pass.low_bits, exponents.first);
    fr ratio = pass.twiddles_high[exponents.increment >> pass.low_bits];
    if (pass.twiddles_low_unscaled != nullptr)
        ratio = fr_mul_lazy(
            ratio, pass.twiddles_low_unscaled[exponents.increment & ((1ull << pass.low_bits) - 1)]);
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        x[OUTPUT(o)] = fr_mul_lazy(x[OUTPUT(o)], twiddle);
        twiddle = fr_mul_lazy(twiddle, ratio);
    }
#else
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        u64 exponent = exponents.first + exponents.increment * o;
        x[OUTPUT(o)] = mul_pass_twiddle(x[OUTPUT(o)],
            prefetched != nullptr
                ? prefetched[o]
                : load_pass_twiddle(pass, pass.twiddles_high, exponent >> pass.low_bits));
        if (pass.twiddles_low != nullptr)
            x[OUTPUT(o)] =
                mul_pass_twiddle(x[OUTPUT(o)], load_pass_twiddle(pass, pass.twiddles_low,
                                                   exponent & ((1ull << pass.low_bits) - 1)));
    }
#endif
}

#endif
