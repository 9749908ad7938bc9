/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether points and scalars are what they have to be. A thread looks at one of them; *first
 * becomes the least of 8 * place + what is wrong.
 */
#include "base/launch.cuh"
#include "ec/xyzz.cuh"
#include "msm/source.cuh"

#include "fr.cuh"

enum { NOT_BELOW_MODULUS, WRONG_FLAG, NOT_XYZZ, NOT_ON_CURVE, NOT_IN_SUBGROUP, IS_ORIGIN, FINE };

struct check_points {
    struct source from;
    const unsigned *points; /* the same, imported; `stride` words apart */
    u64 stride;
    u64 place; /* of point 0 */
    u64 *first;
    unsigned b[2 * MAX_WORDS]; /* of the curve, in the device's form */
    unsigned order[MAX_WORDS];
    unsigned order_bits; /* 0: the subgroup is not looked at */
};

__device__ __forceinline__ int are_canonical(const struct source *from, u64 i)
{
    unsigned coordinates = from->layout == LAYOUT_XYZZ ? 4
                           : from->layout == LAYOUT_AFFINE || from->layout == LAYOUT_AFFINE_FLAG
                               ? 2
                               : 3;
    int canonical = 1;
#pragma unroll 1
    for (unsigned k = 0; k < coordinates * EC_DEGREE; k++)
        canonical &= fq_less(words_get(source_at(from, i) + k * FQ_WORDS), fq_modulus());
    return canonical;
}

__device__ __forceinline__ int is_infinity(const struct source *from, u64 i, affine p)
{
    if (from->layout == LAYOUT_AFFINE)
        return affine_is_infinity(p);
    if (from->layout == LAYOUT_AFFINE_FLAG)
        return source_flag(from, i) != 0;
    return fe_is_zero(words_get_fe(source_at(from, i) + 2 * FE_WORDS));
}

__device__ __forceinline__ int is_xyzz(const struct source *from, u64 i)
{
    fe zz = source_get(from, i, 2), zzz = source_get(from, i, 3);
    return fe_is_zero(fe_sub(fe_mul(fe_sqr(zz), zz), fe_sqr(zzz)));
}

__device__ __forceinline__ int is_on_curve(affine p, fe b)
{
    fe right = fe_add(fe_mul(fe_sqr(p.x), p.x), b);
#if EC_A != EC_A_ZERO
    fe a = EC_A_VALUE;
    right = fe_add(right, fe_mul(a, p.x));
#endif
    return fe_is_zero(fe_sub(fe_sqr(p.y), right));
}

/* order * p = infinity, for p that is not infinity. */
__device__ __forceinline__ int is_in_subgroup(affine p, const struct check_points *a)
{
    xyzz sum = xyzz_from_affine(p);
#pragma unroll 1
    for (unsigned bit = a->order_bits - 1; bit-- > 0;) {
        xyzz_double_called(&sum);
        if (a->order[bit / 32] >> bit % 32 & 1)
            sum = xyzz_add_affine(sum, p);
    }
    return xyzz_is_infinity(sum);
}

__device__ __forceinline__ unsigned what_is_wrong(const struct check_points *a, u64 i)
{
    if (!are_canonical(&a->from, i))
        return NOT_BELOW_MODULUS;
    if (a->from.layout == LAYOUT_AFFINE_FLAG && source_flag(&a->from, i) > 1)
        return WRONG_FLAG;
    if (a->from.layout == LAYOUT_XYZZ && !is_xyzz(&a->from, i))
        return NOT_XYZZ;
    const unsigned *at = a->points + i * a->stride;
    affine p = {words_get_fe(at), words_get_fe(at + FE_WORDS)};
    if (is_infinity(&a->from, i, p))
        return FINE;
    if (!is_on_curve(p, words_get_fe(a->b)))
        return NOT_ON_CURVE;
    if (affine_is_infinity(p))
        return IS_ORIGIN;
    if (a->order_bits != 0 && !is_in_subgroup(p, a))
        return NOT_IN_SUBGROUP;
    return FINE;
}

extern "C" __global__ void __launch_bounds__(128) check_points(struct check_points a)
{
    pdl_wait();
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.from.count)
        return;
    unsigned wrong = what_is_wrong(&a, i);
    if (wrong != FINE)
        atomicMin(a.first, 8 * (a.place + i) + wrong);
}

struct check_scalars {
    const unsigned *scalars;
    u64 stride; /* words */
    u64 count;
    u64 place;
    u64 *first;
    unsigned converts;
    unsigned is_limited;        /* standard values have to be below limit */
    unsigned factor[MAX_WORDS]; /* to standard form */
    unsigned limit[MAX_WORDS];
};

__device__ __forceinline__ fr scalar_get(const unsigned *at)
{
    fr x;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        x.word[w] = at[w];
    return x;
}

extern "C" __global__ void check_scalars(struct check_scalars a)
{
    pdl_wait();
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.count)
        return;
    fr x = scalar_get(a.scalars + i * a.stride);
    int fine = fr_less(x, fr_modulus());
    if (fine && a.is_limited) {
        if (a.converts)
            x = fr_mul(x, scalar_get(a.factor));
        fine = fr_less(x, scalar_get(a.limit));
    }
    if (!fine)
        atomicMin(a.first, 8 * (a.place + i));
}
