/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of field elements, one thread an element. Elements lie `stride` words apart, aligned to
 * words only, so that any span can be given.
 */
#include "fr.cuh"
#define FF fr
#include "ff/generic.cuh"
#undef FF

#include "ntt/element.cuh"

typedef unsigned long long u64;

struct vector {
    unsigned *data;
    u64 stride;
};

enum { ADD, SUB, MUL, COPY };

__device__ __forceinline__ fr scaled(fr x, const fr *factor)
{
    return factor == nullptr ? x : fr_mul(x, *factor);
}

/* out[i] = scale_out (scale_a a[i] op scale_b b[i]); factors may be null; COPY takes a only. */
extern "C" __global__ void combine(unsigned op, struct vector a, struct vector b,
    struct vector out, const fr *scale_a, const fr *scale_b, const fr *scale_out, u64 count)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    fr x = scaled(word_get(a.data, i, a.stride), scale_a);
    if (op != COPY) {
        fr y = scaled(word_get(b.data, i, b.stride), scale_b);
        x = op == ADD ? fr_add(x, y) : op == SUB ? fr_sub(x, y) : fr_mul(x, y);
    }
    word_put(out.data, i, out.stride, scaled(x, scale_out));
}

/*
 * out[i] = factor / a[i], and 0 for 0: each thread inverts the product of its elements, which are
 * as many apart as there are threads. `scratch` is packed.
 */
extern "C" __global__ void invert(
    struct vector a, struct vector out, fr *scratch, const fr *factor, u64 count)
{
    u64 threads = (u64)gridDim.x * blockDim.x;
    u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= count)
        return;
    fr product = fr_one();
    u64 i = first;
#pragma unroll 1
    for (; i < count; i += threads) {
        fr x = word_get(a.data, i, a.stride);
        scratch[i] = product;
        if (!fr_is_zero(x))
            product = fr_mul(product, x);
    }
    product = fr_inverse(product);
#pragma unroll 1
    for (;;) {
        i -= threads;
        fr x = word_get(a.data, i, a.stride);
        fr inverse = fr_zero();
        if (!fr_is_zero(x)) {
            inverse = scaled(fr_mul(product, scratch[i]), factor);
            product = fr_mul(product, x);
        }
        word_put(out.data, i, out.stride, inverse);
        if (i == first)
            break;
    }
}

/* One thread a pair i <= reverse(i), so that it works in place too. */
extern "C" __global__ void bit_reverse(struct vector a, struct vector out, unsigned log_count)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log_count != 0)
        return;
    u64 j = reverse_long(i, log_count);
    if (j < i)
        return;
    fr x = word_get(a.data, i, a.stride);
    fr y = word_get(a.data, j, a.stride);
    word_put(out.data, i, out.stride, y);
    word_put(out.data, j, out.stride, x);
}

#define TILE 16

/* out[c rows + r] = a[r columns + c], blocks of TILE x TILE threads; a and out must not overlap. */
extern "C" __global__ void transpose(struct vector a, struct vector out, u64 rows, u64 columns)
{
    __shared__ unsigned tile[FR_WORDS][TILE][TILE + 1];
    u64 across = (columns + TILE - 1) / TILE;
    u64 top = blockIdx.x / across * TILE;
    u64 left = blockIdx.x % across * TILE;
    unsigned x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    if (top + y < rows && left + x < columns) {
        fr value = word_get(a.data, (top + y) * columns + left + x, a.stride);
        for (unsigned w = 0; w < FR_WORDS; w++)
            tile[w][y][x] = value.word[w];
    }
    __syncthreads();
    if (top + x < rows && left + y < columns) {
        fr value;
        for (unsigned w = 0; w < FR_WORDS; w++)
            value.word[w] = tile[w][x][y];
        word_put(out.data, (left + y) * rows + top + x, out.stride, value);
    }
}

/*
 * partial[thread] = z^thread (a[t] + a[t + T] z^T + ...), t the thread, T = 2^log_threads threads:
 * the sum over threads is the polynomial at z. `squares` are those of z.
 */
extern "C" __global__ void evaluate(
    struct vector a, u64 count, const fr *squares, fr *partial, unsigned log_threads)
{
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 threads = 1ull << log_threads;
    if (thread >= threads)
        return;
    fr step = squares[log_threads];
    fr sum = fr_zero();
    if (thread < count) {
        u64 i = thread + (((count - 1 - thread) >> log_threads) << log_threads);
#pragma unroll 1
        for (;;) {
            sum = fr_add(fr_mul(sum, step), word_get(a.data, i, a.stride));
            if (i == thread)
                break;
            i -= threads;
        }
    }
#pragma unroll 1
    for (unsigned bit = 0; bit < log_threads; bit++)
        if (thread >> bit & 1)
            sum = fr_mul(sum, squares[bit]);
    partial[thread] = sum;
}

/* out[b] = sum of the 256 (or fewer) elements of block b. */
extern "C" __global__ void sum_blocks(const fr *a, u64 count, fr *out)
{
    __shared__ unsigned tile[FR_WORDS * 256];
    u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
    fr sum = i < count ? a[i] : fr_zero();
    tile_put(tile, 256, threadIdx.x, sum);
    __syncthreads();
#pragma unroll 1
    for (unsigned half = 128; half != 0; half /= 2) {
        if (threadIdx.x < half) {
            sum = fr_add(sum, tile_get(tile, 256, threadIdx.x + half));
            tile_put(tile, 256, threadIdx.x, sum);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

/* *first = the least index of an element that is not below the modulus, if one is below *first. */
extern "C" __global__ void check(struct vector a, u64 count, u64 *first)
{
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && !fr_less(word_get(a.data, i, a.stride), fr_modulus()))
        atomicMin(first, i);
}
