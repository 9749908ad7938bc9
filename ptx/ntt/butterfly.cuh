/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Butterflies on registers: NTTs of 2^log_radix neighbouring points, natural to bit-reversed order,
 * by decimation in frequency; that is, the last log_radix radix-2 layers of a 2^NTT_RADIX-point
 * butterfly. pass.stage_twiddles[2^s + i] is the i-th power of a root of unity of order 2^s.
 */
#ifndef PTX_NTT_BUTTERFLY_CUH
#define PTX_NTT_BUTTERFLY_CUH

__device__ __forceinline__ void compute_butterfly(
    const struct ntt_pass_args &pass, fr *x, unsigned log_radix)
{
#pragma unroll
    for (unsigned s = NTT_RADIX; s >= 1; s--) {
        if (log_radix < s)
            continue;
        unsigned half = 1u << (s - 1);
#pragma unroll
        for (unsigned i = 0; i < half; i++) {
#pragma unroll
            for (unsigned first = 0; first < POINTS; first += 2 * half) {
                fr a = x[first + i], b = x[first + i + half];
                x[first + i] = fr_add_lazy(a, b);
                x[first + i + half] =
                    i == 0 ? fr_sub_lazy(a, b)
                           : mul_twiddle(sub_before_twiddle(a, b),
                                 load_twiddle(pass, pass.stage_twiddles, 2 * half + i));
            }
        }
    }
}

#endif
