/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of powers. `squares` holds b^(2^0), b^(2^1), ... of a base b in the device's form.
 */
#include "fr.cuh"

typedef unsigned long long u64;

__device__ fr power_of(const fr *squares, u64 exponent)
{
    fr power = fr_one();
#pragma unroll 1
    for (unsigned bit = 0; exponent >> bit != 0; bit++)
        if (exponent >> bit & 1)
            power = fr_mul(power, squares[bit]);
    return power;
}

/*
 * out[i] = scale b^i (scale may be null), `stride` words apart. Threads are a power of two, 2^k,
 * in number, so that each one goes on by multiplying with squares[k].
 */
extern "C" __global__ void powers(unsigned *out, u64 count, u64 stride, const fr *squares,
    const fr *scale, unsigned log_threads)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    fr power = power_of(squares, i);
    if (scale != nullptr)
        power = fr_mul(power, *scale);
    fr step = squares[log_threads];
#pragma unroll 1
    for (; i < count; i += 1ull << log_threads) {
        for (unsigned w = 0; w < FR_WORDS; w++)
            out[i * stride + w] = power.word[w];
        power = fr_mul(power, step);
    }
}

/*
 * Roots of order 2^s = b^(2^(levels - s)), for all s <= levels, in out[2^s ...]: their powers in
 * order up to s = radix; above, what a step of 2^radix points with s - radix bits below is turned
 * by: the power o d at o 2^(s - radix) + d, for output o and the bits below, d.
 */
extern "C" __global__ void root_levels(
    fr *out, const fr *squares, unsigned levels, unsigned radix)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= 2u << levels)
        return;
    unsigned level = at == 0 ? 0 : 31 - __clz(at);
    u64 power = at == 0 ? 0 : at - (1u << level);
    if (level > radix)
        power = (power >> (level - radix)) * (power & ((1u << (level - radix)) - 1));
    out[at] = power_of(squares, power << (levels - level));
}
