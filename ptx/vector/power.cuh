/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A power of a base b from its squares: `powers_of_two` holds b^(2^0), b^(2^1), ... in the form that
 * kernels compute with. "fr.cuh" is included before.
 */
#ifndef PTX_VECTOR_POWER_CUH
#define PTX_VECTOR_POWER_CUH

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

#endif
