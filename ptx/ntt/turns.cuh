/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What outputs are multiplied by: the roots within a step, the powers between steps and trips. Part
 * of pass.cu.
 */
/* Where few warps are to hide what a step waits for, its factors are fetched in the step before. */
#define AHEAD (NTT_RADIX == 1 && FR_WORDS == 8)

/* w_s^(power), s = 2^(bits of the table): a product of two table entries where the table of all
 * powers would be too long. */
__device__ __forceinline__ fr two_level(const fr *high, const fr *low, unsigned low_bits, u64 power)
{
    fr factor = high[power >> low_bits];
    if (low != nullptr)
        factor = fr_mul_lazy(factor, low[power & ((1ull << low_bits) - 1)]);
    return factor;
}

/* The number of the output that a step leaves in register e, of `NTT_RADIX` bits. */
#define OUTPUT(e) (__brev(e) >> (32 - NTT_RADIX))

/* Output o of a step with more bits below is turned by w^(o d), d the bits below: see root_levels
 * of tables.cu for the order of the table, in which neighbours are neighbours. */
__device__ __forceinline__ const fr *turns_of(const struct ntt_pass &pass, struct share share)
{
    return pass.roots + (1u << (share.below + NTT_RADIX)) +
           (share.digit & ((1u << share.below) - 1));
}

/* The factors w^(k c) between trips, k the output's number: powers of the first output's factor and
 * from one to the next. */
struct turns {
    u64 first;
    u64 step;
};

__device__ __forceinline__ struct turns turns_between(
    const struct ntt_pass &pass, u64 column, unsigned digit)
{
    struct turns turns;
    column &= (1ull << (pass.log_size - pass.before - pass.bits)) - 1;
    turns.first = column * reverse_bits(digit, pass.bits) << pass.power_shift;
    turns.step = column << (pass.bits - NTT_RADIX + pass.power_shift);
    return turns;
}

/* A step's factors by output, as far as one table has them. */
__device__ __forceinline__ void fetch(const struct ntt_pass &pass, fr *factor, struct share share)
{
    if (share.below != 0) {
        const fr *table = turns_of(pass, share);
#pragma unroll
        for (unsigned o = 1; o < POINTS; o++)
            factor[o] = table[o << share.below];
    } else if (pass.log_size != pass.before + pass.bits) {
        u64 column = ((u64)blockIdx.x << pass.log_columns) + share.column;
        struct turns turns = turns_between(pass, place_of(pass, column).column, share.digit);
#pragma unroll
        for (unsigned o = 0; o < POINTS; o++)
            factor[o] = pass.high[(turns.first + turns.step * o) >> pass.low_bits];
    }
}

__device__ __forceinline__ void turn(
    const struct ntt_pass &pass, fr *x, const fr *factor, struct share share)
{
    const fr *table = turns_of(pass, share);
#pragma unroll
    for (unsigned e = 1; e < POINTS; e++)
        x[e] = fr_mul_lazy(x[e], AHEAD ? factor[OUTPUT(e)] : table[OUTPUT(e) << share.below]);
}

/* A short element's factors are cheaper to multiply up than to fetch from all over a table; a long
 * one's are not. */
__device__ __forceinline__ void turn_outputs(
    const struct ntt_pass &pass, fr *x, const fr *fetched, u64 column, unsigned digit)
{
    struct turns turns = turns_between(pass, column, digit);
#if FR_WORDS <= 2
    fr factor = two_level(pass.high, pass.low, pass.low_bits, turns.first);
    fr ratio = pass.high[turns.step >> pass.low_bits];
    if (pass.plain_low != nullptr)
        ratio = fr_mul_lazy(ratio, pass.plain_low[turns.step & ((1ull << pass.low_bits) - 1)]);
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        x[OUTPUT(o)] = fr_mul_lazy(x[OUTPUT(o)], factor);
        factor = fr_mul_lazy(factor, ratio);
    }
#else
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        u64 at = turns.first + turns.step * o;
        x[OUTPUT(o)] =
            fr_mul_lazy(x[OUTPUT(o)], AHEAD ? fetched[o] : pass.high[at >> pass.low_bits]);
        if (pass.low != nullptr)
            x[OUTPUT(o)] =
                fr_mul_lazy(x[OUTPUT(o)], pass.low[at & ((1ull << pass.low_bits) - 1)]);
    }
#endif
}
