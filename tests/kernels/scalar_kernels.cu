/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and scalar multiples of points as others' vectors have them: affine, in standard form, one
 * thread a case. Each comes by mixed sums and by full ones.
 */
#include "ec/convert.cuh"
#include "ec/xyzz.cuh"

/* Called, not inlined: they are the same in all kernels. */
__device__ __noinline__ affine load_point(affine p)
{
    affine r = {fe_to_mont(p.x), fe_to_mont(p.y)};
    return r;
}

__device__ __noinline__ affine store_point(xyzz p)
{
    affine r = xyzz_to_affine(p);
    r.x = fe_from_mont(r.x);
    r.y = fe_from_mont(r.y);
    return r;
}

extern "C" __global__ void __launch_bounds__(64)
    add_affine(const affine *a, const affine *b, affine *r, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = store_point(xyzz_add_affine(xyzz_from_affine(load_point(a[i])), load_point(b[i])));
}

extern "C" __global__ void __launch_bounds__(64)
    add(const affine *a, const affine *b, affine *r, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = store_point(
            xyzz_add(xyzz_from_affine(load_point(a[i])), xyzz_from_affine(load_point(b[i]))));
}

/* From the highest bit of the scalar: double, then add the point itself. `words` words a scalar. */
extern "C" __global__ void __launch_bounds__(64)
    multiply_affine(const affine *a, const unsigned *scalars, affine *r, unsigned n, unsigned words)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned *scalar = scalars + i * words;
        affine p = load_point(a[i]);
        xyzz sum = xyzz_infinity();
#pragma unroll 1
        for (unsigned bit = 32 * words; bit-- > 0;) {
            sum = xyzz_double(sum);
            if (scalar[bit / 32] >> bit % 32 & 1)
                sum = xyzz_add_affine(sum, p);
        }
        r[i] = store_point(sum);
    }
}

/* From the lowest bit: add the doubled point, then double it again. */
extern "C" __global__ void __launch_bounds__(64)
    multiply(const affine *a, const unsigned *scalars, affine *r, unsigned n, unsigned words)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned *scalar = scalars + i * words;
        xyzz power = xyzz_from_affine(load_point(a[i]));
        xyzz sum = xyzz_infinity();
#pragma unroll 1
        for (unsigned bit = 0; bit < 32 * words; bit++) {
            if (scalar[bit / 32] >> bit % 32 & 1)
                sum = xyzz_add(sum, power);
            power = xyzz_double(power);
        }
        r[i] = store_point(sum);
    }
}
