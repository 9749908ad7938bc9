/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts points between affine, Jacobian, projective and XYZZ coordinates. All results are
 * reduced. Only the conversion to affine coordinates needs an inversion; for many points see
 * xyzz_batch_to_affine.
 */
#ifndef PTX_EC_CONVERT_CUH
#define PTX_EC_CONVERT_CUH

#include "ec/point.cuh"

/* (X zz, Y zzz, zz): XYZZ coordinates have no z, and z = zz is one that suits. */
__device__ __forceinline__ jacobian xyzz_to_jacobian(xyzz p)
{
    jacobian r = {fe_reduce(fe_mul(p.x, p.zz)), fe_reduce(fe_mul(p.y, p.zzz)), fe_reduce(p.zz)};
    return r;
}

__device__ __forceinline__ xyzz xyzz_from_jacobian(jacobian p)
{
    xyzz r = {p.x, p.y, fe_sqr(p.z), fe_zero()};
    r.zzz = fe_mul(r.zz, p.z);
    return r;
}

/* (X zzz : Y zz : zz zzz), and (0 : 1 : 0) for infinity. */
__device__ __forceinline__ projective xyzz_to_projective(xyzz p)
{
    int infinite = xyzz_is_infinity(p);
    projective r;
    r.x = fe_select(infinite, fe_zero(), fe_reduce(fe_mul(p.x, p.zzz)));
    r.y = fe_select(infinite, fe_one(), fe_reduce(fe_mul(p.y, p.zz)));
    r.z = fe_select(infinite, fe_zero(), fe_reduce(fe_mul(p.zz, p.zzz)));
    return r;
}

/* (X Z, Y Z^2, Z^2, Z^3) for the projective point (X : Y : Z). */
__device__ __forceinline__ xyzz xyzz_from_projective(projective p)
{
    xyzz r;
    r.zz = fe_sqr(p.z);
    r.zzz = fe_mul(r.zz, p.z);
    r.x = fe_mul(p.x, p.z);
    r.y = fe_mul(p.y, r.zz);
    return r;
}

/* Converts to affine coordinates, given 1 / zzz: 1 / zz = (zz / zzz)^2, because zz^3 = zzz^2. The
 * inverse is 0 for infinity, and so are the results. */
__device__ __forceinline__ affine xyzz_to_affine_with(xyzz p, fe inverse_zzz)
{
    fe inverse_z = fe_mul(p.zz, inverse_zzz);
    affine r = {fe_reduce(fe_mul(p.x, fe_sqr(inverse_z))), fe_reduce(fe_mul(p.y, inverse_zzz))};
    return r;
}

__device__ __forceinline__ affine xyzz_to_affine(xyzz p)
{
    return xyzz_to_affine_with(p, fe_inverse(p.zzz));
}

/*
 * Converts `count` points, points[0], points[stride], ..., to affine coordinates with one
 * inversion. `results` and `scratch` have the same stride.
 */
__device__ void xyzz_batch_to_affine(
    const xyzz *points, affine *results, fe *scratch, size_t count, size_t stride)
{
    fe product = fe_one();
#pragma unroll 1
    for (size_t i = 0; i < count; i++) {
        fe zzz = points[i * stride].zzz;
        scratch[i * stride] = product;
        if (!fe_is_zero(zzz))
            product = fe_mul(product, zzz);
    }
    product = fe_inverse(product);
#pragma unroll 1
    for (size_t i = count; i-- > 0;) {
        xyzz p = points[i * stride];
        if (fe_is_zero(p.zzz)) {
            results[i * stride] = affine_infinity();
            continue;
        }
        results[i * stride] = xyzz_to_affine_with(p, fe_mul(product, scratch[i * stride]));
        product = fe_mul(product, p.zzz);
    }
}

#endif
