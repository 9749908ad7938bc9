/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points of callers to what the sums read: packed affine points in the device's form, reduced, with
 * (0, 0) for infinity; and their multiples for tables.
 */
#include "base/launch.cuh"
#include "ec/convert.cuh"
#include "ec/xyzz.cuh"
#include "msm/source.cuh"

struct import {
    struct source from;
    affine *to;
};

__device__ __forceinline__ affine import_affine(const struct source *from, u64 i)
{
    affine p = affine_infinity();
    if (from->layout == LAYOUT_AFFINE || source_flag(from, i) == 0) {
        p.x = source_get(from, i, 0);
        p.y = source_get(from, i, 1);
    }
    return p;
}

__device__ __forceinline__ affine import_with(const struct source *from, u64 i, fe inverse)
{
    fe by_x = inverse, by_y = inverse;
    if (from->layout == LAYOUT_JACOBIAN) {
        by_x = fe_sqr(inverse);
        by_y = fe_mul(by_x, inverse);
    } else if (from->layout == LAYOUT_XYZZ) {
        by_x = fe_sqr(fe_mul(source_get(from, i, 2), inverse));
    }
    affine p = {fe_reduce(fe_mul(source_get(from, i, 0), by_x)),
        fe_reduce(fe_mul(source_get(from, i, 1), by_y))};
    return p;
}

/*
 * A thread brings the points thread, thread + threads, ... by one inversion; to[i].x holds the
 * product of the denominators before i's in between.
 */
extern "C" __global__ void __launch_bounds__(128) import_points(struct import a)
{
    pdl_wait();
    u64 threads = (u64)gridDim.x * blockDim.x;
    u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= a.from.count)
        return;
    if (a.from.layout == LAYOUT_AFFINE || a.from.layout == LAYOUT_AFFINE_FLAG) {
#pragma unroll 1
        for (u64 i = first; i < a.from.count; i += threads)
            a.to[i] = import_affine(&a.from, i);
        return;
    }
    fe product = fe_one();
    u64 i = first;
#pragma unroll 1
    for (; i < a.from.count; i += threads) {
        fe denominator = source_denominator(&a.from, i);
        a.to[i].x = product;
        if (!fe_is_zero(denominator))
            product = fe_mul(product, denominator);
    }
    product = fe_inverse(product);
#pragma unroll 1
    do {
        i -= threads;
        fe denominator = source_denominator(&a.from, i);
        if (fe_is_zero(denominator)) {
            a.to[i] = affine_infinity();
        } else {
            a.to[i] = import_with(&a.from, i, fe_mul(product, a.to[i].x));
            product = fe_mul(product, denominator);
        }
    } while (i != first);
}

struct multiples {
    const affine *from;
    xyzz *to;
    u64 count;
    unsigned doublings;
};

/* to[i] = 2^doublings from[i] */
extern "C" __global__ void __launch_bounds__(128) multiply_points(struct multiples a)
{
    pdl_wait();
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.count)
        return;
    xyzz p = xyzz_from_affine(a.from[i]);
#pragma unroll 1
    for (unsigned k = 0; k < a.doublings; k++)
        xyzz_double_called(&p);
    a.to[i] = xyzz_reduce(p);
}

struct copy {
    const unsigned *from;
    unsigned *to;
    u64 from_stride;
    u64 to_stride;
    u64 count;
    unsigned words;
};

/* `count` items of `words` words, a thread a word. */
extern "C" __global__ void copy_items(struct copy a)
{
    pdl_wait();
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 item = i / a.words;
    if (item < a.count)
        a.to[item * a.to_stride + i % a.words] = a.from[item * a.from_stride + i % a.words];
}
