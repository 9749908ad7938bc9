/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of powers of a base b. `powers_of_two` holds b^(2^0), b^(2^1), ... in the form that
 * kernels compute with.
 */
#include "fr.cuh"

#include "fr_shoup.cuh"

typedef unsigned long long u64;

__device__ fr power(const fr *powers_of_two, u64 exponent)
{
    fr result = fr_one();
#pragma unroll 1
    for (unsigned bit = 0; exponent >> bit != 0; bit++)
        if (exponent >> bit & 1)
            result = fr_mul(result, powers_of_two[bit]);
    return result;
}

/*
 * out[i] = scale b^i (scale may be null), with elements `stride` words apart. The number of threads
 * is a power of two, 2^log_threads, so that each thread proceeds by multiplying with
 * powers_of_two[log_threads].
 */
extern "C" __global__ void ntt_powers(unsigned *out, u64 count, u64 stride, const fr *powers_of_two,
    const fr *scale, unsigned log_threads)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    fr value = power(powers_of_two, i);
    if (scale != nullptr)
        value = fr_mul(value, *scale);
    fr factor = powers_of_two[log_threads];
#pragma unroll 1
    for (; i < count; i += 1ull << log_threads) {
        for (unsigned w = 0; w < FR_WORDS; w++)
            out[i * stride + w] = value.word[w];
        value = fr_mul(value, factor);
    }
}

/*
 * Twiddles of the stages within a pass, for a root of unity b of order 2^log_order. For each
 * s <= log_order, with r = b^(2^(log_order - s)) of order 2^s, out[2^s ...] holds: for s <=
 * log_radix the powers of r in order; above that the twiddles of a radix-2^log_radix stage after
 * which s - log_radix bits remain, r^(o d) at index o 2^(s - log_radix) + d for output o and
 * remaining index bits d.
 */
extern "C" __global__ void ntt_stage_twiddles(
    fr *out, const fr *powers_of_two, unsigned log_order, unsigned log_radix)
{
    unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= 2u << log_order)
        return;
    unsigned s = index == 0 ? 0 : 31 - __clz(index);
    u64 exponent = index == 0 ? 0 : index - (1u << s);
    if (s > log_radix)
        exponent = (exponent >> (s - log_radix)) * (exponent & ((1u << (s - log_radix)) - 1));
    out[index] = power(powers_of_two, exponent << (log_order - s));
}

#if FR_SHOUP
/* values[i] is in[i] in standard form, quotients[i] what a product by it needs besides. */
extern "C" __global__ void ntt_quotients(const fr *in, fr *values, fr *quotients, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    fr value = in[i];
    quotients[i] = fr_shoup_quotient(value);
    values[i] = fr_from_mont(value);
}
#endif
