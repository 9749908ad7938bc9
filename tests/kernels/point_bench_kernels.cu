/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throughput of sums of points: each thread adds affine points, which the whole chip shares and
 * which stay in the first cache, onto its own running sum.
 */
#include "ec/xyzz.cuh"

extern "C" __global__ void __launch_bounds__(128)
    chain_add_affine(const affine *points, xyzz *sums, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    xyzz sum = xyzz_from_affine(points[i % 64]);
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++)
        sum = xyzz_add_affine(sum, points[(i + round + 1) % 64]);
    sums[i] = sum;
}

extern "C" __global__ void __launch_bounds__(128)
    chain_add(const affine *points, xyzz *sums, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    xyzz sum = xyzz_from_affine(points[i % 64]);
    xyzz step = xyzz_double(xyzz_from_affine(points[(i + 1) % 64]));
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++)
        sum = xyzz_add(sum, step);
    sums[i] = sum;
}

extern "C" __global__ void __launch_bounds__(128)
    chain_double(const affine *points, xyzz *sums, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    xyzz sum = xyzz_from_affine(points[i % 64]);
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++)
        sum = xyzz_double(sum);
    sums[i] = sum;
}
