/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points of y^2 = x^3 + a x + b in several coordinate systems. The generated "curve.cuh" defines
 * EC_A as EC_A_ZERO, EC_A_MINUS_3, or EC_A_GENERAL with EC_A_VALUE. Coordinates are in the form
 * that kernels compute with; (0, 0) in affine coordinates is infinity.
 */
#ifndef PTX_EC_POINT_CUH
#define PTX_EC_POINT_CUH

#include "ec/coordinate.cuh"

#define EC_A_ZERO 0
#define EC_A_MINUS_3 1
#define EC_A_GENERAL 2

/* Coordinates are reduced in memory. */
typedef struct affine {
    fe x;
    fe y;
} affine;

/* x = X / ZZ, y = Y / ZZZ with ZZ^3 = ZZZ^2; infinity has ZZ = 0. */
typedef struct xyzz {
    fe x;
    fe y;
    fe zz;
    fe zzz;
} xyzz;

/* x = X / Z^2, y = Y / Z^3; infinity has Z = 0. */
typedef struct jacobian {
    fe x;
    fe y;
    fe z;
} jacobian;

/* x = X / Z, y = Y / Z; infinity is (0, 1, 0). */
typedef struct projective {
    fe x;
    fe y;
    fe z;
} projective;

__device__ __forceinline__ int affine_is_infinity(affine p)
{
    return fe_is_zero(p.x) && fe_is_zero(p.y);
}

__device__ __forceinline__ affine affine_infinity(void)
{
    affine p = {fe_zero(), fe_zero()};
    return p;
}

__device__ __forceinline__ affine affine_neg(affine p)
{
    p.y = fe_neg(p.y);
    return p;
}

/* p, or -p when negate is not 0. */
__device__ __forceinline__ affine affine_cneg(affine p, int negate)
{
    p.y = fe_select(negate, fe_neg(p.y), p.y);
    return p;
}

__device__ __forceinline__ int xyzz_is_infinity(xyzz p)
{
    return fe_is_zero(p.zz);
}

__device__ __forceinline__ xyzz xyzz_infinity(void)
{
    xyzz p = {fe_zero(), fe_zero(), fe_zero(), fe_zero()};
    return p;
}

__device__ __forceinline__ xyzz xyzz_neg(xyzz p)
{
    p.y = fe_neg(p.y);
    return p;
}

__device__ __forceinline__ xyzz xyzz_from_affine(affine p)
{
    fe one = fe_select(affine_is_infinity(p), fe_zero(), fe_one());
    xyzz r = {p.x, p.y, one, one};
    return r;
}

__device__ __forceinline__ xyzz xyzz_select(int take_first, xyzz a, xyzz b)
{
    xyzz r = {fe_select(take_first, a.x, b.x), fe_select(take_first, a.y, b.y),
        fe_select(take_first, a.zz, b.zz), fe_select(take_first, a.zzz, b.zzz)};
    return r;
}

/* Reduces the coordinates of a point that other kernels or the host read. */
__device__ __forceinline__ xyzz xyzz_reduce(xyzz p)
{
    xyzz r = {fe_reduce(p.x), fe_reduce(p.y), fe_reduce(p.zz), fe_reduce(p.zzz)};
    return r;
}

#endif
