/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 2^stages-point transforms of neighbouring registers, natural to reversed: the last `stages` of
 * the stages of a 2^NTT_RADIX-point one. roots[2^s + i] is the i-th power of a root of order 2^s.
 */
__device__ __forceinline__ void transform(fr *x, const fr *roots, unsigned stages)
{
#pragma unroll
    for (unsigned s = NTT_RADIX; s >= 1; s--) {
        if (stages < s)
            continue;
        unsigned half = 1u << (s - 1);
#pragma unroll
        for (unsigned i = 0; i < half; i++) {
#pragma unroll
            for (unsigned first = 0; first < POINTS; first += 2 * half) {
                fr a = x[first + i], b = x[first + i + half];
                x[first + i] = fr_add_lazy(a, b);
                a = fr_sub_lazy(a, b);
                x[first + i + half] = i == 0 ? a : fr_mul_lazy(a, roots[2 * half + i]);
            }
        }
    }
}
