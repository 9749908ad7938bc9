/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits scalars by the curve's endomorphism: k = k0 + k1 lambda modulo the order, with halves of
 * half the bits, by rounding in a lattice (Gallant, Lambert and Vanstone, CRYPTO 2001);
 * curve/endomorphism.c is the same on the host. A negative half is written as order - |half|, which
 * the recoding of digits.cu negates again.
 */
#include "base/launch.cuh"
#include "fr.cuh"
#include "msm/scalars.cuh"

/* k times reciprocal, divided by 2^(32 (FR_WORDS + 1)) and rounded. */
__device__ __forceinline__ fr rounded_product(fr k, const unsigned *reciprocal)
{
    unsigned product[2 * FR_WORDS + 1];
#pragma unroll
    for (int i = 0; i < 2 * FR_WORDS + 1; i++)
        product[i] = 0;
    product[FR_WORDS] = 0x80000000u;
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++) {
        u64 carry = 0;
#pragma unroll
        for (int j = 0; j <= FR_WORDS; j++) {
            carry += (u64)k.word[i] * reciprocal[j] + product[i + j];
            product[i + j] = (unsigned)carry;
            carry >>= 32;
        }
        if (i + FR_WORDS + 1 < 2 * FR_WORDS + 1)
            product[i + FR_WORDS + 1] += (unsigned)carry;
    }
    fr quotient;
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        quotient.word[i] = product[FR_WORDS + 1 + i];
    return quotient;
}

/* x - q b modulo 2^(32 FR_WORDS) */
__device__ __forceinline__ fr subtract_product(fr x, fr q, const unsigned *b)
{
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++) {
        u64 carry = 0;
        unsigned borrow = 0;
#pragma unroll
        for (int j = 0; i + j < FR_WORDS; j++) {
            carry += (u64)q.word[i] * b[j];
            u64 difference = (u64)x.word[i + j] - (unsigned)carry - borrow;
            x.word[i + j] = (unsigned)difference;
            borrow = (unsigned)(difference >> 63);
            carry >>= 32;
        }
    }
    return x;
}

/* A number in two's complement modulo the order. */
__device__ __forceinline__ fr residue(fr x)
{
    const fr order = fr_modulus();
    const unsigned mask = 0 - (x.word[FR_WORDS - 1] >> 31);
    u64 sum = 0;
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++) {
        sum += (u64)x.word[i] + (order.word[i] & mask);
        x.word[i] = (unsigned)sum;
        sum >>= 32;
    }
    return x;
}

__device__ __forceinline__ void store_half(unsigned *halves, u64 index, fr half)
{
#pragma unroll
    for (int i = 0; i < FR_WORDS; i++)
        halves[index * FR_WORDS + i] = half.word[i];
}

extern "C" __global__ void __launch_bounds__(MSM_SPLIT_THREADS)
    msm_split_scalars(const struct msm_split_scalars_args args)
{
    pdl_wait();
    u64 index = (u64)(args.first_block + blockIdx.x) * MSM_SPLIT_THREADS + threadIdx.x;
    if (index >= (u64)args.count * args.batch)
        return;
    u64 msm = index / args.count, i = index - msm * args.count;
    const fr scalar = scalar_load(args, msm * args.scalar_batch_stride + i);
    fr first = scalar, second;
#pragma unroll
    for (int k = 0; k < FR_WORDS; k++)
        second.word[k] = 0;
        /* A loop, because the compiler takes long for products of words. */
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        const fr quotient = rounded_product(scalar, args.lattice.reciprocal[k]);
        first = subtract_product(first, quotient, args.lattice.a[k]);
        second = subtract_product(second, quotient, args.lattice.b[k]);
    }
    store_half(args.halves, 2 * msm * args.count + i, residue(first));
    store_half(args.halves, (2 * msm + 1) * args.count + i, residue(second));
}
