/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of twiddles, which are powers of a root of unity. Tables of consecutive powers are made by
 * vector_powers of vector/vector.cu.
 */
#include "fr.cuh"

#include "fr_shoup.cuh"
#include "vector/power.cuh"

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
