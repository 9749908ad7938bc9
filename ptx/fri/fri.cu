/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds of FRI and evaluations of columns, over an extension fr with coordinates fr_c.
 */
#include "fr.cuh"

#include "base/element.cuh"
#include "fri/args.h"

typedef unsigned long long u64;

__device__ __forceinline__ fr_c coordinate_of(const unsigned *words)
{
    fr_c r;
#pragma unroll
    for (unsigned i = 0; i < FR_C_WORDS; i++)
        r.word[i] = words[i];
    return r;
}

__device__ __forceinline__ fr element_of(const unsigned *words)
{
    fr r;
#pragma unroll
    for (unsigned i = 0; i < FR_WORDS; i++)
        r.word[i] = words[i];
    return r;
}

/* s^-1 w^-i. The loop is unrolled, so that the arguments stay in constant memory. */
__device__ __forceinline__ fr_c inverse_point(const struct fri_points &points, u64 i)
{
    fr_c x = coordinate_of(points.shift);
#pragma unroll
    for (unsigned bit = 0; bit < FRI_POWERS; bit++)
        if (i >> bit & 1)
            x = fr_c_mul(x, coordinate_of(points.powers[bit]));
    return x;
}

/*
 * With the points x_t = x zeta^-t of a coset of the subgroup of order K, v[t] = f(x_t): the value
 * of sum_j challenge^j f_j at x^K, where f(x) = sum_j x^j f_j(x^K). Each step halves v:
 *     f_0(x^2) + c f_1(x^2) = ((f(x) + f(-x)) + c (f(x) - f(-x)) / x) / 2
 * (Ben-Sasson, Bentov, Horesh, Riabzev, "Fast Reed-Solomon Interactive Oracle Proofs of Proximity",
 * 2018), and challenge c^2 for the next one.
 */
template <unsigned LOG_ARITY> __device__ __forceinline__ void fold(const struct fri_fold_args &args)
{
    const unsigned K = 1u << LOG_ARITY;
    u64 thread = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (thread >= args.count)
        return;
    u64 result = args.first + thread;
    u64 point = args.is_reversed ? reverse_bits_long(result, args.log_count) : result;
    fr v[K];
#pragma unroll
    for (unsigned t = 0; t < K; t++) {
        unsigned reversed = __brev(t) >> (32 - LOG_ARITY);
        u64 index = args.is_reversed ? thread * K + reversed : point + ((u64)t << args.log_count);
        v[t] = strided_load(args.in, index, FR_WORDS);
    }
    fr_c x = inverse_point(args.points, point);
#pragma unroll
    for (unsigned level = 0; level < LOG_ARITY; level++) {
        fr challenge = element_of(args.challenge[level]);
#pragma unroll
        for (unsigned t = 0; t < K >> (level + 1); t++) {
            fr a = v[t], b = v[t + (K >> (level + 1))];
            fr_c factor = x;
            if (t != 0)
                factor = fr_c_mul(x, coordinate_of(args.zeta[t << level]));
            v[t] = fr_add(fr_add(a, b), fr_mul(fr_mul_c(fr_sub(a, b), factor), challenge));
        }
        x = fr_c_sqr(x);
    }
    strided_store(args.out, thread, FR_WORDS, fr_mul_c(v[0], coordinate_of(args.scale)));
}

extern "C" __global__ void fri_fold2(struct fri_fold_args args)
{
    fold<1>(args);
}

extern "C" __global__ void fri_fold4(struct fri_fold_args args)
{
    fold<2>(args);
}

extern "C" __global__ void fri_fold8(struct fri_fold_args args)
{
    fold<3>(args);
}

extern "C" __global__ void fri_denominators(struct fri_denominators_args args)
{
    u64 i = (u64)(args.first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >> args.log_count != 0)
        return;
    u64 point = args.is_reversed ? reverse_bits_long(i, args.log_count) : i;
    fr value = fr_mul_c(element_of(args.z), inverse_point(args.points, point));
    strided_store(args.out, i, FR_WORDS, fr_sub(value, fr_one()));
}

extern "C" __global__ void fri_dot(struct fri_dot_args args)
{
    __shared__ unsigned tile[FR_WORDS * 256];
    unsigned lanes = 1u << args.log_lanes, groups = (args.columns + lanes - 1) >> args.log_lanes;
    unsigned block = args.first_block + blockIdx.x;
    unsigned column = block % groups * lanes + (threadIdx.x & (lanes - 1));
    unsigned segment = block / groups;
    u64 end = (segment + 1ull) * args.segment_rows;
    fr sum = fr_zero();
    if (end > args.rows)
        end = args.rows;
    if (column < args.columns) {
        u64 row = segment * args.segment_rows + (threadIdx.x >> args.log_lanes);
#pragma unroll 1
        for (; row < end; row += 256 >> args.log_lanes) {
            fr_c value =
                coordinate_of(args.matrix + row * args.row_stride + column * args.column_stride);
            sum = fr_add(sum, fr_mul_c(strided_load(args.weights, row, FR_WORDS), value));
        }
    }
    tile_store(tile, 256, threadIdx.x, sum);
    __syncthreads();
#pragma unroll 1
    for (unsigned half = 128; half >= lanes; half /= 2) {
        if (threadIdx.x < half) {
            sum = fr_add(sum, tile_load(tile, 256, threadIdx.x + half));
            tile_store(tile, 256, threadIdx.x, sum);
        }
        __syncthreads();
    }
    if (threadIdx.x < lanes && column < args.columns)
        strided_store(args.partial, (u64)column * args.segments + segment, FR_WORDS, sum);
}
