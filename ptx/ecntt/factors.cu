/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The factors of a transform of points as signed digits of ECNTT_WINDOW_BITS bits, one factor per
 * thread. Where the curve has an endomorphism with eigenvalue lambda, a factor k becomes
 * k0 + k1 lambda with halves of half the bits, by rounding in a lattice (Gallant, Lambert and
 * Vanstone, CRYPTO 2001); curve/endomorphism.c is the same on the host.
 */
#include "fr.cuh"

#include "base/element.cuh"

#include "ecntt/args.h"

typedef unsigned long long u64;

struct integer {
    unsigned word[FR_WORDS];
};

__device__ __forceinline__ fr load_words(const unsigned *words)
{
    fr x;
#pragma unroll
    for (unsigned i = 0; i < FR_WORDS; i++)
        x.word[i] = words[i];
    return x;
}

/* base^exponent for exponents below 2^bits. */
__device__ __noinline__ fr power(fr base, u64 exponent, unsigned bits)
{
    fr result = fr_one();
#pragma unroll 1
    while (bits-- > 0) {
        result = fr_mul(result, result);
        if (exponent >> bits & 1)
            result = fr_mul(result, base);
    }
    return result;
}

__device__ __forceinline__ fr factor_of(const struct ecntt_factors_args &args, u64 index)
{
    unsigned bits = args.log_size == 0 ? 0 : args.log_size - 1;
    fr root = load_words(args.root);
    if (!args.has_coset)
        return power(root, reverse_bits_long(index, bits), bits);
    if (index == 0)
        return fr_one();
    unsigned stage = 63 - __clzll(index);
    fr base = power(root, reverse_bits_long(index - (1ull << stage), stage), stage);
    base = fr_mul(base, load_words(args.coset));
#pragma unroll 1
    for (; stage < bits; stage++)
        base = fr_mul(base, base);
    return base;
}

/* k times reciprocal, divided by 2^(32 (FR_WORDS + 1)) and rounded. */
__device__ __noinline__ void rounded_product(
    struct integer *quotient, const struct integer *k, const unsigned *reciprocal)
{
    unsigned product[2 * FR_WORDS + 1];
#pragma unroll 1
    for (unsigned i = 0; i < 2 * FR_WORDS + 1; i++)
        product[i] = 0;
    product[FR_WORDS] = 0x80000000u;
#pragma unroll 1
    for (unsigned i = 0; i < FR_WORDS; i++) {
        u64 carry = 0;
#pragma unroll 1
        for (unsigned j = 0; j <= FR_WORDS; j++) {
            carry += (u64)k->word[i] * reciprocal[j] + product[i + j];
            product[i + j] = (unsigned)carry;
            carry >>= 32;
        }
#pragma unroll 1
        for (unsigned j = i + FR_WORDS + 1; j < 2 * FR_WORDS + 1; j++) {
            carry += product[j];
            product[j] = (unsigned)carry;
            carry >>= 32;
        }
    }
#pragma unroll 1
    for (unsigned i = 0; i < FR_WORDS; i++)
        quotient->word[i] = product[FR_WORDS + 1 + i];
}

/* x -= a b modulo 2^(32 FR_WORDS) */
__device__ __noinline__ void subtract_product(
    struct integer *x, const struct integer *a, const unsigned *b)
{
#pragma unroll 1
    for (unsigned i = 0; i < FR_WORDS; i++) {
        u64 carry = 0;
        unsigned borrow = 0;
#pragma unroll 1
        for (unsigned j = 0; i + j < FR_WORDS; j++) {
            carry += (u64)a->word[i] * b[j];
            u64 difference = (u64)x->word[i + j] - (unsigned)carry - borrow;
            x->word[i + j] = (unsigned)difference;
            borrow = (unsigned)(difference >> 63);
            carry >>= 32;
        }
    }
}

/* Replaces a number in two's complement by its absolute value; returns whether it was negative. */
__device__ __forceinline__ int absolute(struct integer *x)
{
    int is_negative = x->word[FR_WORDS - 1] >> 31;
    u64 carry = 1;
    if (!is_negative)
        return 0;
#pragma unroll 1
    for (unsigned i = 0; i < FR_WORDS; i++) {
        carry += ~x->word[i];
        x->word[i] = (unsigned)carry;
        carry >>= 32;
    }
    return 1;
}

/* Digits in [-7, 8] with their signs changed where the number is negative. The top window is below
 * 8, so that no carry remains. */
__device__ __noinline__ void store_digits(const struct ecntt_factors_args *args, u64 index,
    unsigned half, const struct integer *x, int is_negative)
{
    const int radix = 1 << ECNTT_WINDOW_BITS;
    int carry = 0;
#pragma unroll 1
    for (unsigned i = 0; i < args->windows; i++) {
        unsigned bit = i * ECNTT_WINDOW_BITS;
        int digit = carry;
        if (bit / 32 < FR_WORDS)
            digit += (int)(x->word[bit / 32] >> bit % 32 & (radix - 1));
        carry = digit > ECNTT_MULTIPLES;
        if (carry)
            digit -= radix;
        args->digits[((u64)half * args->windows + i) * args->count + index] =
            (signed char)(is_negative ? -digit : digit);
    }
}

extern "C" __global__ void __launch_bounds__(ECNTT_THREADS)
    ecntt_factors(const struct ecntt_factors_args args)
{
    u64 index = (u64)(args.first_block + blockIdx.x) * ECNTT_THREADS + threadIdx.x;
    if (index >= args.count)
        return;
    fr factor = factor_of(args, index < args.table ? index : index - args.table);
    if (index >= args.table)
        factor = fr_mul(factor, load_words(args.scale));
    factor = fr_from_mont(factor);
    struct integer first, second, quotient[2];
#pragma unroll 1
    for (unsigned i = 0; i < FR_WORDS; i++) {
        first.word[i] = factor.word[i];
        second.word[i] = 0;
    }
    if (args.halves == 1) {
        store_digits(&args, index, 0, &first, 0);
        return;
    }
#pragma unroll 1
    for (unsigned i = 0; i < 2; i++)
        rounded_product(&quotient[i], &first, args.lattice.reciprocal[i]);
#pragma unroll 1
    for (unsigned i = 0; i < 2; i++) {
        subtract_product(&first, &quotient[i], args.lattice.a[i]);
        subtract_product(&second, &quotient[i], args.lattice.b[i]);
    }
    int is_negative = absolute(&first);
    store_digits(&args, index, 0, &first, is_negative);
    is_negative = absolute(&second);
    store_digits(&args, index, 1, &second, is_negative);
}
