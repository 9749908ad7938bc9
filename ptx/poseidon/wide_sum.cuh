/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of state elements with a delayed reduction. In Goldilocks an addition with its reduction
 * takes eight instructions, an addition of three words three; so the linear layers that consist of
 * additions compute with three words and reduce once. In other fields a wide sum is a field element
 * and every addition reduces.
 */
#ifndef PTX_POSEIDON_WIDE_SUM_CUH
#define PTX_POSEIDON_WIDE_SUM_CUH

#if POSEIDON_IS_GOLDILOCKS

/* A number below 2^96; the linear layers stay below 2^76. */
struct wide_sum {
    unsigned word[3];
};

__device__ __forceinline__ wide_sum wide_from(fr x)
{
    wide_sum r = {{x.word[0], x.word[1], 0}};
    return r;
}

__device__ __forceinline__ wide_sum wide_add(wide_sum a, wide_sum b)
{
    wide_sum r;
    asm("add.cc.u32 %0, %3, %6;\n\t"
        "addc.cc.u32 %1, %4, %7;\n\t"
        "addc.u32 %2, %5, %8;"
        : "=&r"(r.word[0]), "=&r"(r.word[1]), "=r"(r.word[2])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(b.word[0]), "r"(b.word[1]),
        "r"(b.word[2]));
    return r;
}

/* 2^64 is e = 2^32 - 1 modulo p. A carry out of 64 bits adds e again, which cannot carry once more
 * because the top word is small. The result is any 64-bit value. */
__device__ __forceinline__ fr wide_reduce(wide_sum x)
{
    fr r;
    asm("{\n\t"
        ".reg .u32 s<2>, m;\n\t"
        "mad.lo.cc.u32 s0, %4, 0xffffffff, %2;\n\t"
        "madc.hi.cc.u32 s1, %4, 0xffffffff, %3;\n\t"
        "addc.u32 m, 0, 0;\n\t"
        "sub.u32 m, 0, m;\n\t"
        "add.cc.u32 %0, s0, m;\n\t"
        "addc.u32 %1, s1, 0;\n\t"
        "}"
        : "=&r"(r.word[0]), "=r"(r.word[1])
        : "r"(x.word[0]), "r"(x.word[1]), "r"(x.word[2]));
    return r;
}

/*
 * The end of both products below: adds the second middle product %3 %4 to the first one, y, and
 * both to x, and reduces x. x3 is subtracted first, so that borrow and carry go into m by one
 * instruction. A borrow is never used as a carry: the hardware has the flag of a borrow inverted.
 */
#define WIDE_END_OF_PRODUCT                                                                        \
    "mad.lo.cc.u32 y0, %3, %4, y0;\n\t"                                                            \
    "madc.hi.cc.u32 y1, %3, %4, y1;\n\t"                                                           \
    "addc.u32 x3, x3, 0;\n\t"                                                                      \
    "add.cc.u32 x1, x1, y0;\n\t"                                                                   \
    "addc.cc.u32 x2, x2, y1;\n\t"                                                                  \
    "addc.u32 x3, x3, 0;\n\t"                                                                      \
    "sub.cc.u32 x0, x0, x3;\n\t"                                                                   \
    "subc.cc.u32 x1, x1, 0;\n\t"                                                                   \
    "subc.u32 m, 0, 0;\n\t"                                                                        \
    "mad.lo.cc.u32 s0, x2, 0xffffffff, x0;\n\t"                                                    \
    "madc.hi.cc.u32 s1, x2, 0xffffffff, x1;\n\t"                                                   \
    "addc.u32 m, m, 0;\n\t"                                                                        \
    "max.s32 x3, m, 0;\n\t"                                                                        \
    "sub.cc.u32 %0, s0, m;\n\t"                                                                    \
    "subc.u32 s1, s1, 0;\n\t"                                                                      \
    "add.u32 %1, s1, x3;\n\t"

/* a + x d for d below p, with one reduction for the sum and the product; that of
 * src/field/emit_goldilocks.c. */
__device__ __forceinline__ fr wide_mul_add(wide_sum a, fr x, fr d)
{
    fr r;
    asm("{\n\t"
        ".reg .u32 x<4>, y<2>, s<2>, m;\n\t"
        ".reg .u64 v;\n\t"
        "mad.lo.cc.u32 x0, %2, %4, %6;\n\t"
        "madc.hi.cc.u32 x1, %2, %4, %7;\n\t"
        "madc.lo.cc.u32 x2, %3, %5, %8;\n\t"
        "madc.hi.u32 x3, %3, %5, 0;\n\t"
        "mul.wide.u32 v, %2, %5;\n\t"
        "mov.b64 {y0, y1}, v;\n\t" WIDE_END_OF_PRODUCT "}"
        : "=&r"(r.word[0]), "=r"(r.word[1])
        : "r"(x.word[0]), "r"(x.word[1]), "r"(d.word[0]), "r"(d.word[1]), "r"(a.word[0]),
        "r"(a.word[1]), "r"(a.word[2]));
    return r;
}

/*
 * a b for the S-box. Against fr_mul_lazy (src/field/emit_goldilocks.c) the wide products are in
 * 64-bit registers, because ptxas computes mul.lo and mul.hi of the same factors by two
 * multiplications where it can merge one of them with an addition.
 */
__device__ __forceinline__ fr wide_mul(fr a, fr b)
{
    fr r;
    asm("{\n\t"
        ".reg .u32 x<4>, y<2>, s<2>, m;\n\t"
        ".reg .u64 v<3>;\n\t"
        "mul.wide.u32 v0, %2, %4;\n\t"
        "mul.wide.u32 v1, %3, %5;\n\t"
        "mul.wide.u32 v2, %2, %5;\n\t"
        "mov.b64 {x0, x1}, v0;\n\t"
        "mov.b64 {x2, x3}, v1;\n\t"
        "mov.b64 {y0, y1}, v2;\n\t" WIDE_END_OF_PRODUCT "}"
        : "=&r"(r.word[0]), "=r"(r.word[1])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(b.word[0]), "r"(b.word[1]));
    return r;
}

#else

typedef fr wide_sum;

__device__ __forceinline__ wide_sum wide_from(fr x)
{
    return x;
}

__device__ __forceinline__ wide_sum wide_add(wide_sum a, wide_sum b)
{
    return fr_add_lazy(a, b);
}

__device__ __forceinline__ fr wide_reduce(wide_sum x)
{
    return x;
}

__device__ __forceinline__ wide_sum wide_sub(wide_sum a, wide_sum b)
{
    return fr_sub_lazy(a, b);
}

__device__ __forceinline__ fr wide_mul_add(wide_sum a, fr x, fr d)
{
    return fr_add_lazy(a, fr_mul_lazy(x, d));
}

#endif

__device__ __forceinline__ wide_sum wide_add_element(wide_sum a, fr b)
{
    return wide_add(a, wide_from(b));
}

__device__ __forceinline__ wide_sum wide_double(wide_sum a)
{
    return wide_add(a, a);
}

#endif
