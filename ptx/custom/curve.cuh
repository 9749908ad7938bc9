/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A curve for custom kernels: the operations of ec/, which are in the namespace CUSTOM_SPACE, with
 * the prefix CUSTOM. It has no include guard: it is included once per curve.
 */
#define CUSTOM_JOIN(prefix, name) prefix##_##name
#define CUSTOM_NAME(prefix, name) CUSTOM_JOIN(prefix, name)
#define CUSTOM_(name) CUSTOM_NAME(CUSTOM, name)

typedef CUSTOM_SPACE::fe CUSTOM_(coordinate);
typedef CUSTOM_SPACE::affine CUSTOM_(affine);
typedef CUSTOM_SPACE::xyzz CUSTOM_(xyzz);
typedef CUSTOM_SPACE::jacobian CUSTOM_(jacobian);
typedef CUSTOM_SPACE::projective CUSTOM_(projective);

__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(infinity)(void)
{
    return CUSTOM_SPACE::xyzz_infinity();
}

__device__ __forceinline__ int CUSTOM_(is_infinity)(CUSTOM_(affine) p)
{
    return CUSTOM_SPACE::affine_is_infinity(p);
}

__device__ __forceinline__ int CUSTOM_(is_infinity)(CUSTOM_(xyzz) p)
{
    return CUSTOM_SPACE::xyzz_is_infinity(p);
}

__device__ __forceinline__ CUSTOM_(affine) CUSTOM_(neg)(CUSTOM_(affine) p)
{
    return CUSTOM_SPACE::affine_neg(p);
}

__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(neg)(CUSTOM_(xyzz) p)
{
    return CUSTOM_SPACE::xyzz_neg(p);
}

/* p, or -p when negate is not 0. */
__device__ __forceinline__ CUSTOM_(affine) CUSTOM_(cneg)(CUSTOM_(affine) p, int negate)
{
    return CUSTOM_SPACE::affine_cneg(p, negate);
}

__device__ __forceinline__ CUSTOM_(xyzz)
    CUSTOM_(select)(int take_first, CUSTOM_(xyzz) p, CUSTOM_(xyzz) q)
{
    return CUSTOM_SPACE::xyzz_select(take_first, p, q);
}

/* Coordinates below p, for points that other kernels or the host read. */
__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(reduce)(CUSTOM_(xyzz) p)
{
    return CUSTOM_SPACE::xyzz_reduce(p);
}

/* Additions and doublings, complete: see ec/xyzz.cuh. */
__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(add_mixed)(CUSTOM_(xyzz) p, CUSTOM_(affine) q)
{
    return CUSTOM_SPACE::xyzz_add_affine(p, q);
}

__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(add)(CUSTOM_(xyzz) p, CUSTOM_(xyzz) q)
{
    return CUSTOM_SPACE::xyzz_add(p, q);
}

__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(double)(CUSTOM_(xyzz) p)
{
    return CUSTOM_SPACE::xyzz_double(p);
}

/* scalar * p for an integer of `words` 32-bit words, the least significant one first: one doubling
 * per bit, and a mixed addition per bit that is set. Not constant-time. */
__device__ __noinline__ CUSTOM_(xyzz)
    CUSTOM_(mul)(CUSTOM_(affine) p, const unsigned *scalar, unsigned words)
{
    CUSTOM_(xyzz) r = CUSTOM_(infinity)();
#pragma unroll 1
    for (unsigned bit = 32 * words; bit-- > 0;) {
        r = CUSTOM_(double)(r);
        if (scalar[bit / 32] >> bit % 32 & 1)
            r = CUSTOM_(add_mixed)(r, p);
    }
    return r;
}

/* Conversions; results are reduced, conversions from other coordinates accept reduced ones. */
__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(from_affine)(CUSTOM_(affine) p)
{
    return CUSTOM_SPACE::xyzz_from_affine(p);
}

__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(from_jacobian)(CUSTOM_(jacobian) p)
{
    return CUSTOM_SPACE::xyzz_from_jacobian(p);
}

__device__ __forceinline__ CUSTOM_(xyzz) CUSTOM_(from_projective)(CUSTOM_(projective) p)
{
    return CUSTOM_SPACE::xyzz_from_projective(p);
}

/* One inversion in the coordinates' field; infinity gives (0, 0). */
__device__ __forceinline__ CUSTOM_(affine) CUSTOM_(to_affine)(CUSTOM_(xyzz) p)
{
    return CUSTOM_SPACE::xyzz_to_affine(p);
}

__device__ __forceinline__ CUSTOM_(jacobian) CUSTOM_(to_jacobian)(CUSTOM_(xyzz) p)
{
    return CUSTOM_SPACE::xyzz_to_jacobian(p);
}

__device__ __forceinline__ CUSTOM_(projective) CUSTOM_(to_projective)(CUSTOM_(xyzz) p)
{
    return CUSTOM_SPACE::xyzz_to_projective(p);
}

/* `count` points that are `stride` apart, with one inversion: see ec/convert.cuh. */
__device__ __forceinline__ void CUSTOM_(batch_to_affine)(const CUSTOM_(xyzz) *points,
    CUSTOM_(affine) *results, CUSTOM_(coordinate) *scratch, size_t count, size_t stride)
{
    CUSTOM_SPACE::xyzz_batch_to_affine(points, results, scratch, count, stride);
}
