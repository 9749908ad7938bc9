/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addition and doubling in XYZZ coordinates by a quad: four neighbouring lanes of a warp that all
 * hold both points. Independent multiplications are computed at the same time, one per lane. An
 * addition takes the time of four multiplications instead of fourteen, a doubling that of three
 * instead of nine: for dependent chains that leave most of the chip idle otherwise. The formulas
 * are those of xyzz.cuh, complete for every pair of points. All lanes of a warp must call together.
 */
#ifndef PTX_EC_XYZZ_QUAD_CUH
#define PTX_EC_XYZZ_QUAD_CUH

#include "ec/xyzz.cuh"

#define QUAD_LANES 4

__device__ __forceinline__ fe quad_select(unsigned lane, fe a, fe b, fe c, fe d)
{
    return fe_select(lane & 2, fe_select(lane & 1, d, c), fe_select(lane & 1, b, a));
}

/* The value that lane `from` of the quad holds. */
__device__ __forceinline__ fe quad_broadcast(fe mine, int from)
{
    fe r;
    const unsigned *source = (const unsigned *)&mine;
    unsigned *target = (unsigned *)&r;
#pragma unroll
    for (unsigned i = 0; i < sizeof(fe) / sizeof(unsigned); i++)
        target[i] = __shfl_sync(0xffffffffu, source[i], from, QUAD_LANES);
    return r;
}

struct quad_products {
    fe r0, r1, r2, r3;
};

/* a0 b0, a1 b1, a2 b2, a3 b3 */
__device__ __forceinline__ struct quad_products quad_mul(
    unsigned lane, fe a0, fe b0, fe a1, fe b1, fe a2, fe b2, fe a3, fe b3)
{
    fe mine = fe_mul(quad_select(lane, a0, a1, a2, a3), quad_select(lane, b0, b1, b2, b3));
    struct quad_products r = {quad_broadcast(mine, 0), quad_broadcast(mine, 1),
        quad_broadcast(mine, 2), quad_broadcast(mine, 3)};
    return r;
}

/* 2 p */
__device__ __forceinline__ xyzz xyzz_quad_double(unsigned lane, xyzz p)
{
    fe u = fe_dbl(p.y);
    struct quad_products s1 = quad_mul(lane, u, u, p.x, p.x, p.zz, p.zz, p.y, p.zzz);
    fe v = s1.r0;
    fe m = fe_add(fe_dbl(s1.r1), s1.r1);
#if EC_A == EC_A_MINUS_3
    m = fe_sub(m, fe_add(fe_dbl(s1.r2), s1.r2));
#elif EC_A == EC_A_GENERAL
    fe a = EC_A_VALUE;
    m = fe_add(m, fe_mul(a, s1.r2));
#endif
    struct quad_products s2 = quad_mul(lane, u, v, p.x, v, m, m, v, p.zz);
    fe w = s2.r0;
    xyzz r;
    r.x = fe_sub(s2.r2, fe_dbl(s2.r1));
    r.zz = s2.r3;
    struct quad_products s3 = quad_mul(lane, m, fe_sub(s2.r1, r.x), w, p.y, w, p.zzz, w, p.zzz);
    r.y = fe_sub(s3.r0, s3.r1);
    r.zzz = s3.r2;
    return r;
}

/* p + q for points that are not equal; `is_equal` says whether they are. */
__device__ __forceinline__ xyzz xyzz_quad_add_unequal(
    unsigned lane, xyzz p, xyzz q, int *is_equal)
{
    struct quad_products s1 = quad_mul(lane, p.x, q.zz, q.x, p.zz, p.y, q.zzz, q.y, p.zzz);
    fe u = fe_sub(s1.r1, s1.r0);
    fe s = fe_sub(s1.r3, s1.r2);
    struct quad_products s2 = quad_mul(lane, u, u, s, s, p.zz, q.zz, p.zzz, q.zzz);
    fe uu = s2.r0;
    struct quad_products s3 = quad_mul(lane, u, uu, s1.r0, uu, s2.r2, uu, s2.r2, uu);
    xyzz r;
    r.x = fe_sub(fe_sub(s2.r1, s3.r0), fe_dbl(s3.r1));
    r.zz = s3.r2;
    struct quad_products s4 =
        quad_mul(lane, s, fe_sub(s3.r1, r.x), s1.r2, s3.r0, s2.r3, s3.r0, s2.r3, s3.r0);
    r.y = fe_sub(s4.r0, s4.r1);
    r.zzz = s4.r2;

    int p_is_infinity = xyzz_is_infinity(p);
    int q_is_infinity = xyzz_is_infinity(q);
    *is_equal = !p_is_infinity && !q_is_infinity && fe_is_zero(u) && fe_is_zero(s);
    /* Opposite points have u = 0, so zz is 0 already. */
    r = xyzz_select(q_is_infinity, p, r);
    return xyzz_select(p_is_infinity, q, r);
}

/*
 * 2 p if `doubles`, which is the same on all lanes of the warp, else p + q: one copy of the code of
 * a doubling for both, which is what compilation takes most time for.
 */
__device__ __forceinline__ xyzz xyzz_quad_add_or_double(
    unsigned lane, xyzz p, xyzz q, int doubles)
{
    int is_equal = 1;
    xyzz r = p;
    if (!doubles)
        r = xyzz_quad_add_unequal(lane, p, q, &is_equal);
    if (__any_sync(0xffffffffu, is_equal))
        r = xyzz_select(is_equal, xyzz_quad_double(lane, p), r);
    return r;
}

/* p + q */
__device__ __forceinline__ xyzz xyzz_quad_add(unsigned lane, xyzz p, xyzz q)
{
    return xyzz_quad_add_or_double(lane, p, q, 0);
}

#endif
