/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation on points as a kernel over arrays: result i from points i, as affine. */
#include "ec/xyzz.cuh"
#include "ec/convert.cuh"

/* Called, not inlined: they are not what is compiled here again and again. */
__device__ __noinline__ xyzz load_point(jacobian p)
{
    return xyzz_from_jacobian(p);
}

__device__ __noinline__ affine store_point(xyzz p)
{
    return xyzz_to_affine(p);
}

#define KERNEL(name, left, right, body)                                                            \
    extern "C" __global__ void __launch_bounds__(128)                                              \
        name(const left *a, const right *b, affine *r, unsigned n)                                 \
    {                                                                                              \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        if (i < n)                                                                                 \
            r[i] = store_point(body);                                                              \
    }

KERNEL(add, jacobian, jacobian, xyzz_add(load_point(a[i]), load_point(b[i])))
KERNEL(add_affine, jacobian, affine, xyzz_add_affine(load_point(a[i]), b[i]))
KERNEL(twice, jacobian, jacobian, xyzz_double(load_point(a[i])))
KERNEL(through_jacobian, jacobian, jacobian,
    xyzz_from_jacobian(xyzz_to_jacobian(load_point(a[i]))))
KERNEL(through_projective, jacobian, jacobian,
    xyzz_from_projective(xyzz_to_projective(load_point(a[i]))))
KERNEL(through_affine, affine, affine, xyzz_from_affine(affine_cneg(affine_neg(a[i]), 1)))
KERNEL(negated, jacobian, affine, xyzz_neg(load_point(a[i])))

/* a[i] - b[0] + b[1] - ... b[i % 8]: lazy values that went through many sums. */
extern "C" __global__ void __launch_bounds__(128)
    alternating_sum(const jacobian *a, const affine *b, affine *r, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    xyzz sum = load_point(a[i]);
#pragma unroll 1
    for (unsigned k = 0; k <= i % 8; k++)
        sum = xyzz_add_affine(sum, affine_cneg(b[k], k % 2 == 0));
    r[i] = store_point(sum);
}

/* All of a by one inversion a thread. */
extern "C" __global__ void __launch_bounds__(128)
    batch(const jacobian *a, xyzz *points, fe *scratch, affine *r, unsigned n)
{
    unsigned threads = gridDim.x * blockDim.x;
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = first; i < n; i += threads)
        points[i] = load_point(a[i]);
    size_t count = first < n ? (n - first - 1) / threads + 1 : 0;
    xyzz_batch_to_affine(points + first, r + first, scratch + first, count, threads);
}
