/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quadratic extension Fq[u] / (u^2 - FQ2_NONRESIDUE) over the operations fq_..., where
 * FQ2_NONRESIDUE is a small integer. The parts of all values are lazily reduced: in [0, 2p) where
 * the modulus leaves a bit unused for that, otherwise below p; fq2_reduce reduces both.
 *
 * Products are called, not inlined (FQ2_CALLED 1), where the base field has many words: a kernel of
 * G2 additions holds dozens of them.
 */
#ifndef PTX_FF_FP2_CUH
#define PTX_FF_FP2_CUH

typedef struct fq2 {
    fq c0;
    fq c1;
} fq2;

#ifndef FQ2_CALLED
#define FQ2_CALLED 1
#endif
#ifndef FQ2_KARATSUBA
#define FQ2_KARATSUBA (FQ2_NONRESIDUE == -1 && FQ_LAZY)
#endif
#if FQ2_CALLED
#define FQ2_PRODUCT __device__ __noinline__
#else
#define FQ2_PRODUCT __device__ __forceinline__
#endif

__device__ __forceinline__ fq2 fq2_zero(void)
{
    fq2 r = {fq_zero(), fq_zero()};
    return r;
}

__device__ __forceinline__ fq2 fq2_one(void)
{
    fq2 r = {fq_one(), fq_zero()};
    return r;
}

__device__ __forceinline__ fq2 fq2_add(fq2 a, fq2 b)
{
    fq2 r = {fq_add_lazy(a.c0, b.c0), fq_add_lazy(a.c1, b.c1)};
    return r;
}

__device__ __forceinline__ fq2 fq2_sub(fq2 a, fq2 b)
{
    fq2 r = {fq_sub_lazy(a.c0, b.c0), fq_sub_lazy(a.c1, b.c1)};
    return r;
}

__device__ __forceinline__ fq2 fq2_neg(fq2 a)
{
    fq2 r = {fq_neg_lazy(a.c0), fq_neg_lazy(a.c1)};
    return r;
}

__device__ __forceinline__ fq2 fq2_dbl(fq2 a)
{
    fq2 r = {fq_dbl_lazy(a.c0), fq_dbl_lazy(a.c1)};
    return r;
}

__device__ __forceinline__ fq2 fq2_reduce(fq2 a)
{
    fq2 r = {fq_reduce(a.c0), fq_reduce(a.c1)};
    return r;
}

__device__ __forceinline__ fq2 fq2_select(int take_first, fq2 a, fq2 b)
{
    fq2 r = {fq_select(take_first, a.c0, b.c0), fq_select(take_first, a.c1, b.c1)};
    return r;
}

/* Whether both parts are 0 modulo p. */
__device__ __forceinline__ int fq2_is_zero(fq2 a)
{
    return fq_is_zero_lazy(a.c0) && fq_is_zero_lazy(a.c1);
}

/* a times a small positive constant: doublings and additions, unrolled. */
__device__ __forceinline__ fq fq_times_small(fq a, unsigned factor)
{
    fq r = a;
    int bit = 31 - __clz((int)factor);
#pragma unroll
    while (bit-- > 0) {
        r = fq_dbl_lazy(r);
        if (factor >> bit & 1)
            r = fq_add_lazy(r, a);
    }
    return r;
}

/* a b + nonresidue c d, one reduction. */
__device__ __forceinline__ fq fq2_fold(fq a, fq b, fq c, fq d)
{
#if FQ2_NONRESIDUE < 0
    return fq_mul_sub_lazy(a, b, fq_times_small(c, -(FQ2_NONRESIDUE)), d);
#else
    return fq_mul_add_lazy(a, b, fq_times_small(c, FQ2_NONRESIDUE), d);
#endif
}

FQ2_PRODUCT fq2 fq2_mul(fq2 a, fq2 b)
{
    fq2 r;
#if FQ2_KARATSUBA
    fq_mul_complex(&r.c0, &r.c1, a.c0, a.c1, b.c0, b.c1);
#else
    r.c0 = fq2_fold(a.c0, b.c0, a.c1, b.c1);
    r.c1 = fq_mul_add_lazy(a.c0, b.c1, a.c1, b.c0);
#endif
    return r;
}

FQ2_PRODUCT fq2 fq2_sqr(fq2 a)
{
    fq2 r;
#if FQ2_NONRESIDUE == -1
    r.c0 = fq_mul_lazy(fq_add_lazy(a.c0, a.c1), fq_sub_lazy(a.c0, a.c1));
#else
    r.c0 = fq2_fold(a.c0, a.c0, a.c1, a.c1);
#endif
    r.c1 = fq_mul_lazy(fq_dbl_lazy(a.c0), a.c1);
    return r;
}

__device__ __forceinline__ fq2 fq2_mul_sub(fq2 a, fq2 b, fq2 c, fq2 d)
{
    return fq2_sub(fq2_mul(a, b), fq2_mul(c, d));
}

__device__ __forceinline__ fq2 fq2_to_mont(fq2 a)
{
    fq2 r = {fq_to_mont(a.c0), fq_to_mont(a.c1)};
    return r;
}

__device__ __forceinline__ fq2 fq2_from_mont(fq2 a)
{
    fq2 r = {fq_from_mont(a.c0), fq_from_mont(a.c1)};
    return r;
}

/* c0^2 - nonresidue c1^2; reduced. */
__device__ __forceinline__ fq fq2_norm(fq2 a)
{
    return fq_reduce(fq2_fold(a.c0, a.c0, fq_neg_lazy(a.c1), a.c1));
}

/* 1 / a = conjugate(a) / norm(a), where `inverse` is that of the norm. */
__device__ __forceinline__ fq2 fq2_inverse_with(fq2 a, fq inverse)
{
    fq2 r = {fq_mul_lazy(a.c0, inverse), fq_mul_lazy(fq_neg_lazy(a.c1), inverse)};
    return r;
}

/* 1 / a, and 0 for 0. */
__device__ __forceinline__ fq2 fq2_inverse(fq2 a)
{
    return fq2_inverse_with(a, fq_inverse(fq2_norm(a)));
}

#endif
