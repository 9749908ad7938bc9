/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addition and doubling in XYZZ coordinates (formulas madd-2008-s, add-2008-s and dbl-2008-s-1 of
 * the Explicit-Formulas Database), complete for every pair of points: infinity on either side,
 * equal points, opposite points, points of order two. The rare doubling inside an addition is a
 * call, so that the common path keeps its registers. Functions that are called have a single
 * return: see docs/performance.md for the cost of additions that returned early.
 *
 * Cost in operations of the coordinate field: mixed addition 8 M + 2 S with one reduction saved,
 * full addition 12 M + 2 S, doubling 6 M + 3 S (a = 0).
 */
#ifndef PTX_EC_XYZZ_CUH
#define PTX_EC_XYZZ_CUH

#include "ec/point.cuh"

/* The numerator 3 x^2 + a zz^2 of the tangent's slope. */
__device__ __forceinline__ fe xyzz_slope(fe x, fe zz)
{
#if EC_A == EC_A_MINUS_3
    fe t = fe_mul(fe_sub(x, zz), fe_add(x, zz));
    return fe_add(fe_dbl(t), t);
#elif EC_A == EC_A_GENERAL
    fe t = fe_sqr(x);
    t = fe_add(fe_dbl(t), t);
    fe a = EC_A_VALUE;
    return fe_add(t, fe_mul(a, fe_sqr(zz)));
#else
    fe t = fe_sqr(x);
    return fe_add(fe_dbl(t), t);
#endif
}

/* 2 p. Infinity and points of order two give zz = 0. */
__device__ __forceinline__ xyzz xyzz_double(xyzz p)
{
    fe u = fe_dbl(p.y);
    fe v = fe_sqr(u);
    fe w = fe_mul(u, v);
    fe s = fe_mul(p.x, v);
    fe m = xyzz_slope(p.x, p.zz);
    xyzz r;
    r.x = fe_sub(fe_sqr(m), fe_dbl(s));
    r.y = fe_mul_sub(m, fe_sub(s, r.x), w, p.y);
    r.zz = fe_mul(v, p.zz);
    r.zzz = fe_mul(w, p.zzz);
    return r;
}

__device__ __noinline__ void xyzz_double_called(xyzz *p)
{
    *p = xyzz_double(*p);
}

/* p + q from u = U2 - U1 and s = S2 - S1, where U1 = x1 and S1 = y1. */
__device__ __forceinline__ xyzz xyzz_add_chord(fe x1, fe y1, fe u, fe s, fe zz, fe zzz)
{
    xyzz r;
    fe uu = fe_sqr(u);
    fe uuu = fe_mul(uu, u);
    r.zz = fe_mul(zz, uu);
    r.zzz = fe_mul(zzz, uuu);
    fe q = fe_mul(x1, uu);
    r.x = fe_sub(fe_sub(fe_sqr(s), uuu), fe_dbl(q));
    r.y = fe_mul_sub(s, fe_sub(q, r.x), y1, uuu);
    return r;
}

/* The sum of two points with equal x: a doubling, or infinity for opposite points. */
__device__ __forceinline__ xyzz xyzz_add_equal_x(xyzz p, fe s)
{
    if (!fe_is_zero(s))
        return xyzz_infinity();
    xyzz twice = p;
    xyzz_double_called(&twice);
    return twice;
}

/* p + q */
__device__ __forceinline__ xyzz xyzz_add_affine(xyzz p, affine q)
{
    if (affine_is_infinity(q))
        return p;
    if (xyzz_is_infinity(p))
        return xyzz_from_affine(q);
    fe u = fe_sub(fe_mul(q.x, p.zz), p.x);
    fe s = fe_sub(fe_mul(q.y, p.zzz), p.y);
    if (fe_is_zero(u))
        return xyzz_add_equal_x(xyzz_from_affine(q), s);
    return xyzz_add_chord(p.x, p.y, u, s, p.zz, p.zzz);
}

/* p + q */
__device__ __forceinline__ xyzz xyzz_add(xyzz p, xyzz q)
{
    if (xyzz_is_infinity(q))
        return p;
    if (xyzz_is_infinity(p))
        return q;
    fe x1 = fe_mul(p.x, q.zz);
    fe y1 = fe_mul(p.y, q.zzz);
    fe u = fe_sub(fe_mul(q.x, p.zz), x1);
    fe s = fe_sub(fe_mul(q.y, p.zzz), y1);
    if (fe_is_zero(u))
        return xyzz_add_equal_x(p, s);
    return xyzz_add_chord(x1, y1, u, s, fe_mul(p.zz, q.zz), fe_mul(p.zzz, q.zzz));
}

#endif
