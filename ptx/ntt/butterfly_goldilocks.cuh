/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The butterflies of butterfly.cuh over p = 2^64 - 2^32 + 1, where roots of unity of order up to 64
 * are powers of two: the root of order 2^s is 2^(NTT_SHIFT 192 / 2^s). Between the radix-2 layers a
 * value is a signed 96-bit number, so that an addition takes three instructions. With X = 2^32,
 * X^2 = X - 1 and X^3 = -1.
 *
 * Inputs are below 2^64; after the at most five layers of NTT_RADIX, magnitudes are below 2^70. A
 * difference times the part of its shift below a whole word stays below 2^95: in layer t, counted
 * from 0, the difference is below 2^(65 + t) (2^64 for t = 0), and that part of the shift is at
 * most 30 - 2 t.
 */
#ifndef PTX_NTT_BUTTERFLY_GOLDILOCKS_CUH
#define PTX_NTT_BUTTERFLY_GOLDILOCKS_CUH

struct wide {
    unsigned low;
    unsigned middle;
    int high;
};

__device__ __forceinline__ struct wide wide_add(struct wide a, struct wide b)
{
    struct wide r;
    asm("add.cc.u32 %0, %3, %6;\n\taddc.cc.u32 %1, %4, %7;\n\taddc.u32 %2, %5, %8;"
        : "=&r"(r.low), "=&r"(r.middle), "=r"(r.high)
        : "r"(a.low), "r"(a.middle), "r"(a.high), "r"(b.low), "r"(b.middle), "r"(b.high));
    return r;
}

__device__ __forceinline__ struct wide wide_sub(struct wide a, struct wide b)
{
    struct wide r;
    asm("sub.cc.u32 %0, %3, %6;\n\tsubc.cc.u32 %1, %4, %7;\n\tsubc.u32 %2, %5, %8;"
        : "=&r"(r.low), "=&r"(r.middle), "=r"(r.high)
        : "r"(a.low), "r"(a.middle), "r"(a.high), "r"(b.low), "r"(b.middle), "r"(b.high));
    return r;
}

/* y0 + y1 X + y2 X^2 = y0 + y1 X + y2 (X - 1), with y2 signed. */
__device__ __forceinline__ struct wide wide_fold(unsigned y0, unsigned y1, int y2)
{
    struct wide r;
    asm("sub.cc.u32 %0, %3, %5;\n\tsubc.cc.u32 %1, %4, %6;\n\tsubc.u32 %2, 0, %6;\n\t"
        "add.cc.u32 %1, %1, %5;\n\taddc.u32 %2, %2, %6;"
        : "=&r"(r.low), "=&r"(r.middle), "=&r"(r.high)
        : "r"(y0), "r"(y1), "r"(y2), "r"(y2 >> 31));
    return r;
}

/* The same times X: y0 X + y1 (X - 1) - y2, with y2 signed. */
__device__ __forceinline__ struct wide wide_fold_x(unsigned y0, unsigned y1, int y2)
{
    struct wide r;
    asm("sub.cc.u32 %0, 0, %4;\n\tsubc.u32 %1, %4, 0;\n\t"
        "add.cc.u32 %1, %1, %3;\n\taddc.u32 %2, 0, 0;\n\t"
        "sub.cc.u32 %0, %0, %5;\n\tsubc.cc.u32 %1, %1, %6;\n\tsubc.u32 %2, %2, %6;"
        : "=&r"(r.low), "=&r"(r.middle), "=&r"(r.high)
        : "r"(y0), "r"(y1), "r"(y2), "r"(y2 >> 31));
    return r;
}

/* The same times X^2: y0 (X - 1) - y1 - y2 X, with y2 signed. */
__device__ __forceinline__ struct wide wide_fold_x2(unsigned y0, unsigned y1, int y2)
{
    struct wide r;
    asm("sub.cc.u32 %0, 0, %3;\n\tsubc.u32 %1, %3, 0;\n\t"
        "sub.cc.u32 %0, %0, %4;\n\tsubc.cc.u32 %1, %1, %5;\n\tsubc.u32 %2, 0, %6;"
        : "=&r"(r.low), "=&r"(r.middle), "=&r"(r.high)
        : "r"(y0), "r"(y1), "r"(y2), "r"(y2 >> 31));
    return r;
}

/* a 2^power for a compile-time constant power below 96. */
__device__ __forceinline__ struct wide wide_shift(struct wide a, unsigned power)
{
    unsigned y0 = a.low << power % 32;
    unsigned y1 = __funnelshift_l(a.low, a.middle, power % 32);
    int y2 = (int)__funnelshift_l(a.middle, (unsigned)a.high, power % 32);
    if (power == 0)
        return a;
    return power < 32   ? wide_fold(y0, y1, y2)
           : power < 64 ? wide_fold_x(y0, y1, y2)
                        : wide_fold_x2(y0, y1, y2);
}

/* Reduces to 64 bits: one fold leaves a carry of -1, 0 or 1, a second one leaves none. */
__device__ __forceinline__ fr wide_to_fr(struct wide a)
{
    struct wide folded = wide_fold(a.low, a.middle, a.high);
    fr r;
    folded = wide_fold(folded.low, folded.middle, folded.high);
    r.word[0] = folded.low;
    r.word[1] = folded.middle;
    return r;
}

__device__ __forceinline__ void compute_butterfly(
    const struct ntt_pass_args &, fr *x, unsigned log_radix)
{
    struct wide v[POINTS];
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++) {
        v[e].low = x[e].word[0];
        v[e].middle = x[e].word[1];
        v[e].high = 0;
    }
#pragma unroll
    for (unsigned s = NTT_RADIX; s >= 1; s--) {
        if (log_radix < s)
            continue;
        unsigned half = 1u << (s - 1);
#pragma unroll
        for (unsigned i = 0; i < half; i++) {
            unsigned power = NTT_SHIFT * i * (192u >> s) % 192;
#pragma unroll
            for (unsigned first = 0; first < POINTS; first += 2 * half) {
                struct wide a = v[first + i], b = v[first + i + half];
                v[first + i] = wide_add(a, b);
                /* 2^96 = -1 */
                v[first + i + half] =
                    wide_shift(power < 96 ? wide_sub(a, b) : wide_sub(b, a), power % 96);
            }
        }
    }
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        x[e] = wide_to_fr(v[e]);
}

#endif
