/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Butterflies on registers: NTTs of 2^log_radix neighbouring points, natural to bit-reversed order,
 * by decimation in frequency; that is, the last log_radix radix-2 layers of a 2^NTT_RADIX-point
 * butterfly. `is_multiplied`: all outputs but the first one are arguments of mul_twiddle next.
 * pass.stage_twiddles[2^s + i] is the i-th power of a root of unity of order 2^s.
 */
#ifndef PTX_NTT_BUTTERFLY_CUH
#define PTX_NTT_BUTTERFLY_CUH

__device__ __forceinline__ void compute_butterfly(
    const struct ntt_pass_args &pass, fr *x, unsigned log_radix, bool is_multiplied = false)
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
                const bool is_before = is_multiplied && s == 1;
                fr a = x[first + i], b = x[first + i + half];
                x[first + i] =
                    is_before && first != 0 ? add_before_twiddle(a, b) : fr_add_lazy(a, b);
                if (i != 0)
                    x[first + i + half] = mul_twiddle(sub_before_twiddle(a, b),
                        load_twiddle(pass, pass.stage_twiddles, 2 * half + i));
                else
                    x[first + i + half] = is_before ? sub_before_twiddle(a, b) : fr_sub_lazy(a, b);
            }
        }
    }
}

#endif
