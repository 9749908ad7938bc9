/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on vectors of field elements, one thread per element. Elements are `stride` words
 * apart and aligned to 4 bytes, so that every span is accepted.
 */
#include "fr.cuh"
#define FF fr
#include "ff/generic.cuh"
#undef FF

#include "base/element.cuh"
#include "vector/args.h"
#include "vector/power.cuh"

__device__ __forceinline__ fr scaled(fr x, const fr *factor)
{
    return factor == nullptr ? x : fr_mul(x, *factor);
}

/* out[i] = scale_out (scale_a a[i] op scale_b b[i]); factors may be null; VECTOR_COPY ignores b. */
extern "C" __global__ void vector_apply(unsigned op, struct vector_arg a, struct vector_arg b,
    struct vector_arg out, const fr *scale_a, const fr *scale_b, const fr *scale_out, u64 count,
    unsigned first_block)
{
    u64 i = (u64)(first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    fr x = scaled(strided_load(a.data, i, a.stride), scale_a);
    if (op != VECTOR_COPY) {
        fr y = scaled(strided_load(b.data, i, b.stride), scale_b);
        x = op == VECTOR_ADD ? fr_add(x, y) : op == VECTOR_SUB ? fr_sub(x, y) : fr_mul(x, y);
    }
    strided_store(out.data, i, out.stride, scaled(x, scale_out));
}

/*
 * out[i] = factor / a[i], and 0 where a[i] is 0, by Montgomery's simultaneous inversion: each
 * thread inverts the product of its elements, which are as far apart as all `blocks` have threads.
 * `scratch` is packed and holds the prefix products.
 */
extern "C" __global__ void vector_invert(struct vector_arg a, struct vector_arg out, fr *scratch,
    const fr *factor, u64 count, unsigned blocks, unsigned first_block)
{
    u64 threads = (u64)blocks * blockDim.x;
    u64 first = (u64)(first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (first >= count)
        return;
    fr product = fr_one();
    u64 i = first;
#pragma unroll 1
    for (; i < count; i += threads) {
        fr x = strided_load(a.data, i, a.stride);
        scratch[i] = product;
        if (!fr_is_zero(x))
            product = fr_mul(product, x);
    }
    product = fr_inverse(product);
#pragma unroll 1
    for (;;) {
        i -= threads;
        fr x = strided_load(a.data, i, a.stride);
        fr inverse = fr_zero();
        if (!fr_is_zero(x)) {
            inverse = scaled(fr_mul(product, scratch[i]), factor);
            product = fr_mul(product, x);
        }
        strided_store(out.data, i, out.stride, inverse);
        if (i == first)
            break;
    }
}

/* out[reverse(i)] = a[i]. One thread per pair i <= reverse(i), so that in-place operation works. */
extern "C" __global__ void vector_bit_reverse(
    struct vector_arg a, struct vector_arg out, unsigned log_count, unsigned first_block)
{
    u64 i = (u64)(first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >> log_count != 0)
        return;
    u64 j = reverse_bits_long(i, log_count);
    if (j < i)
        return;
    fr x = strided_load(a.data, i, a.stride);
    fr y = strided_load(a.data, j, a.stride);
    strided_store(out.data, i, out.stride, y);
    strided_store(out.data, j, out.stride, x);
}

#define TILE 16

/* out[c rows + r] = a[r columns + c], with blocks of TILE x TILE threads. a and out must not
 * overlap. */
extern "C" __global__ void vector_transpose(
    struct vector_arg a, struct vector_arg out, u64 rows, u64 columns, unsigned first_block)
{
    __shared__ unsigned tile[FR_WORDS][TILE][TILE + 1];
    u64 tiles_per_row = (columns + TILE - 1) / TILE;
    u64 top = (first_block + blockIdx.x) / tiles_per_row * TILE;
    u64 left = (first_block + blockIdx.x) % tiles_per_row * TILE;
    unsigned x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    if (top + y < rows && left + x < columns) {
        fr value = strided_load(a.data, (top + y) * columns + left + x, a.stride);
        for (unsigned w = 0; w < FR_WORDS; w++)
            tile[w][y][x] = value.word[w];
    }
    __syncthreads();
    if (top + x < rows && left + y < columns) {
        fr value;
        for (unsigned w = 0; w < FR_WORDS; w++)
            value.word[w] = tile[w][x][y];
        strided_store(out.data, (left + y) * rows + top + x, out.stride, value);
    }
}

/*
 * The value at z of the polynomial with coefficients a, in parts: with T = 2^log_threads threads,
 * partial[t] = z^t (a[t] + a[t + T] z^T + a[t + 2 T] z^(2 T) + ...), whose sum over t is the value.
 * powers_of_two holds z^(2^0), z^(2^1), ...
 *
 * A launch takes the coefficients from `first`, a multiple of T, to `end`, and those at the end of
 * the polynomial are taken first: until `first` is 0, partial[t] has the sum without z^t.
 */
extern "C" __global__ void vector_evaluate(struct vector_arg a, u64 count, const fr *powers_of_two,
    fr *partial, unsigned log_threads, u64 first, u64 end)
{
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 threads = 1ull << log_threads;
    if (thread >= threads)
        return;
    fr factor = powers_of_two[log_threads];
    fr sum = end < count ? partial[thread] : fr_zero();
    u64 last = first + thread;
    if (last < end) {
        u64 i = last + (((end - 1 - last) >> log_threads) << log_threads);
#pragma unroll 1
        for (;;) {
            sum = fr_add(fr_mul(sum, factor), strided_load(a.data, i, a.stride));
            if (i == last)
                break;
            i -= threads;
        }
    }
    unsigned bits = first == 0 ? log_threads : 0;
#pragma unroll 1
    for (unsigned bit = 0; bit < bits; bit++)
        if (thread >> bit & 1)
            sum = fr_mul(sum, powers_of_two[bit]);
    partial[thread] = sum;
}

/*
 * out[i] = scale b^i (scale may be null), with elements `stride` words apart. The number of threads
 * is a power of two, 2^log_threads, so that each thread proceeds by multiplying with
 * powers_of_two[log_threads]. A launch computes those from `first` to `count`.
 */
extern "C" __global__ void vector_powers(unsigned *out, u64 count, u64 stride,
    const fr *powers_of_two, const fr *scale, unsigned log_threads, u64 first)
{
    u64 i = first + (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    fr value = power(powers_of_two, i);
    if (scale != nullptr)
        value = fr_mul(value, *scale);
    fr factor = powers_of_two[log_threads];
#pragma unroll 1
    for (; i < count; i += 1ull << log_threads) {
        for (unsigned w = 0; w < FR_WORDS; w++)
            out[i * stride + w] = value.word[w];
        value = fr_mul(value, factor);
    }
}

/* out[b] = the sum of the elements of block b, at most 256. */
extern "C" __global__ void vector_sum_blocks(const fr *a, u64 count, fr *out)
{
    __shared__ unsigned tile[FR_WORDS * 256];
    u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
    fr sum = i < count ? a[i] : fr_zero();
    tile_store(tile, 256, threadIdx.x, sum);
    __syncthreads();
#pragma unroll 1
    for (unsigned half = 128; half != 0; half /= 2) {
        if (threadIdx.x < half) {
            sum = fr_add(sum, tile_load(tile, 256, threadIdx.x + half));
            tile_store(tile, 256, threadIdx.x, sum);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

/* Lowers *first to the least index of an element that is not below the modulus. */
extern "C" __global__ void vector_check(
    struct vector_arg a, u64 count, u64 *first, unsigned first_block)
{
    u64 i = (u64)(first_block + blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count && !fr_less(strided_load(a.data, i, a.stride), fr_modulus()))
        atomicMin(first, i);
}
