/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms of points: butterflies in XYZZ coordinates, one per thread, with a multiplication by
 * the signed digits that factors.cu has computed. The additions of ec/xyzz.cuh are complete, so
 * that infinity, equal and opposite points need no care here.
 *
 * A thread reads and writes two points per some 2000 multiplications in the coordinate field, so
 * that access to memory costs next to nothing and points are stored one after the other.
 */
#include "ec/convert.cuh"
#include "ec/xyzz.cuh"

#include "ecntt/args.h"
#include "msm/input_bases.cuh"

/* ---- load ------------------------------------------------------------------------------------ */

__device__ __forceinline__ xyzz load_point(const struct msm_input_bases *input, u64 i)
{
    affine p = {input_coordinate(input, i, 0), input_coordinate(input, i, 1)};
    xyzz r;
    if (input->layout == LAYOUT_AFFINE || input->layout == LAYOUT_AFFINE_FLAG) {
        if (input->layout == LAYOUT_AFFINE_FLAG && input_flag(input, i) != 0)
            p = affine_infinity();
        return xyzz_from_affine(p);
    }
    fe z = input_coordinate(input, i, 2);
    if (input->layout == LAYOUT_JACOBIAN) {
        jacobian q = {p.x, p.y, z};
        r = xyzz_from_jacobian(q);
    } else if (input->layout == LAYOUT_PROJECTIVE) {
        projective q = {p.x, p.y, z};
        r = xyzz_from_projective(q);
    } else {
        r.x = p.x;
        r.y = p.y;
        r.zz = z;
        r.zzz = input_coordinate(input, i, 3);
    }
    return xyzz_is_infinity(r) ? xyzz_infinity() : r;
}

/* Reverses the lowest `bits` bits of x; 0 for bits == 0. */
__device__ __forceinline__ u64 reverse_index(u64 x, unsigned bits)
{
    return (__brevll(x) >> 1) >> (63 - bits);
}

/* The caller's index of point `position` of a transform. */
__device__ __forceinline__ u64 index_of(
    const struct ecntt_layout &layout, u64 transform, u64 position)
{
    u64 i = layout.is_reversed ? reverse_index(position, layout.log_size) : position;
    return layout.is_interleaved ? i * layout.transforms + transform
                                 : (transform << layout.log_size) + i;
}

extern "C" __global__ void __launch_bounds__(ECNTT_THREADS)
    ecntt_load(const struct ecntt_load_args args)
{
    u64 index = (u64)(args.first_block + blockIdx.x) * ECNTT_THREADS + threadIdx.x;
    u64 transform = index >> args.layout.log_size;
    if (transform >= args.layout.transforms)
        return;
    u64 position = index - (transform << args.layout.log_size);
    args.points[index] = load_point(&args.input, index_of(args.layout, transform, position));
}

/* ---- stages ---------------------------------------------------------------------------------- */

struct pair {
    xyzz sum;
    xyzz p;
};

/* sum += p */
__device__ __noinline__ void add_called(struct pair *pair)
{
    pair->sum = xyzz_add(pair->sum, pair->p);
}

__device__ __forceinline__ xyzz sum_of(xyzz p, xyzz q)
{
    struct pair pair = {p, q};
    add_called(&pair);
    return pair.sum;
}

/* sum + digit p, where table[i] = (i + 1) p; of the endomorphism's image where `half` is 1. */
__device__ __forceinline__ xyzz add_multiple(
    xyzz sum, const xyzz *table, int digit, unsigned half, const unsigned *beta)
{
    if (digit == 0)
        return sum;
    xyzz p = table[(digit < 0 ? -digit : digit) - 1];
    p.y = fe_select(digit < 0, fe_neg(p.y), p.y);
    if (half != 0)
        p.x = fe_scale(p.x, fq_load_words(beta));
    return xyzz_add(sum, p);
}

/* p times a factor. Blocks of 32 butterflies and more give all threads of a warp the same digits.
 */
__device__ __forceinline__ xyzz multiply(xyzz p, const struct ecntt_digits &digits, u64 factor)
{
    xyzz table[ECNTT_MULTIPLES];
    struct pair multiple = {p, p};
    table[0] = p;
#pragma unroll 1
    for (unsigned i = 1; i < ECNTT_MULTIPLES; i++) {
        add_called(&multiple);
        table[i] = multiple.sum;
    }
    xyzz sum = xyzz_infinity();
#pragma unroll 1
    for (unsigned window = digits.windows; window-- > 0;) {
        if (window + 1 != digits.windows) {
#pragma unroll 1
            for (unsigned i = 0; i < ECNTT_WINDOW_BITS; i++)
                sum = xyzz_double(sum);
        }
#pragma unroll 1
        for (unsigned half = 0; half < digits.halves; half++) {
            u64 at = ((u64)half * digits.windows + window) * digits.count + factor;
            sum = add_multiple(sum, table, digits.digits[at], half, digits.beta);
        }
    }
    return sum;
}

/* Point a of butterfly `index` of all transforms; *block and *offset say where it is in its
 * transform. */
__device__ __forceinline__ xyzz *butterfly(
    const struct ecntt_stage_args &args, u64 index, u64 *block, u64 *offset)
{
    *block = *offset = 0;
    if (args.step == ECNTT_SCALE)
        return args.points + (index << args.log_size);
    unsigned log_butterflies = args.log_size - 1;
    u64 transform = index >> log_butterflies;
    u64 inner = index - (transform << log_butterflies);
    *block = inner >> args.log_half;
    *offset = inner - (*block << args.log_half);
    return args.points + (transform << args.log_size) + (*block << (args.log_half + 1)) + *offset;
}

extern "C" __global__ void __launch_bounds__(ECNTT_THREADS)
    ecntt_stage(const struct ecntt_stage_args args)
{
    u64 index = (u64)(args.first_block + blockIdx.x) * ECNTT_THREADS + threadIdx.x;
    u64 block, offset;
    if (index >= args.count)
        return;
    xyzz *a = butterfly(args, index, &block, &offset);
    xyzz *b = args.step == ECNTT_SCALE ? a : a + (1ull << args.log_half);
    xyzz p = *b;
    if (args.step == ECNTT_INVERSE) {
        xyzz first = *a;
        *a = sum_of(first, p);
        p = sum_of(first, xyzz_neg(p));
    }
    /* The factor 1/n of an inverse transform is a factor of the first butterfly of every block. */
    int is_scaled = args.step != ECNTT_FORWARD && offset == 0;
    if (is_scaled || block != 0 || !args.skips_block_0)
        p = multiply(p, args.digits, (is_scaled ? args.scaled : args.first) + block);
    if (args.step == ECNTT_FORWARD) {
        xyzz first = *a;
        *a = sum_of(first, p);
        p = sum_of(first, xyzz_neg(p));
    }
    *b = p;
}

/* ---- store ----------------------------------------------------------------------------------- */

__device__ __forceinline__ void store_coordinate(
    const struct ecntt_store_args &args, unsigned *out, unsigned index, fe x)
{
    if (args.converts)
        x = fe_scale(x, fq_load_words(args.factor));
    x = fe_reduce(x);
    const unsigned *words = (const unsigned *)&x;
#pragma unroll
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[index * FE_WORDS + i] = words[i];
}

/* All layouts get affine coordinates: Z, ZZ and ZZZ are 1, or 0 for infinity. */
__device__ __forceinline__ void store_point(
    const struct ecntt_store_args &args, unsigned *out, affine p, int is_infinity)
{
    fe z = fe_select(is_infinity, fe_zero(), fe_one());
    int has_one =
        is_infinity && (args.point_layout == LAYOUT_JACOBIAN || args.point_layout == LAYOUT_XYZZ);
    p.x = fe_select(has_one, fe_one(), p.x);
    p.y = fe_select(
        has_one || (is_infinity && args.point_layout == LAYOUT_PROJECTIVE), fe_one(), p.y);
    store_coordinate(args, out, 0, p.x);
    store_coordinate(args, out, 1, p.y);
    if (args.point_layout == LAYOUT_AFFINE_FLAG) {
        out[2 * FE_WORDS] = is_infinity;
        out[2 * FE_WORDS + 1] = 0;
    } else if (args.point_layout != LAYOUT_AFFINE) {
        store_coordinate(args, out, 2, z);
        if (args.point_layout == LAYOUT_XYZZ)
            store_coordinate(args, out, 3, z);
    }
}

__device__ __forceinline__ const xyzz *result_of(const struct ecntt_store_args &args, u64 index)
{
    u64 transform = index >> args.layout.log_size;
    u64 position = index - (transform << args.layout.log_size);
    if (args.layout.is_reversed)
        position = reverse_index(position, args.layout.log_size);
    return args.points + (transform << args.layout.log_size) + position;
}

/* Each thread converts the points thread, thread + threads, ..., at most ECNTT_SHARE of them, with
 * one inversion (Montgomery's trick). */
extern "C" __global__ void __launch_bounds__(ECNTT_THREADS)
    ecntt_store(const struct ecntt_store_args args)
{
    u64 threads = (u64)args.blocks * ECNTT_THREADS;
    u64 first = (u64)(args.first_block + blockIdx.x) * ECNTT_THREADS + threadIdx.x;
    fe products[ECNTT_SHARE];
    fe product = fe_one();
    unsigned count = 0;
    if (first >= args.count)
        return;
#pragma unroll 1
    for (u64 i = first; i < args.count && count < ECNTT_SHARE; i += threads) {
        fe zzz = result_of(args, i)->zzz;
        products[count++] = product;
        if (!fe_is_zero(zzz))
            product = fe_mul(product, zzz);
    }
    product = fe_inverse(product);
#pragma unroll 1
    while (count-- > 0) {
        u64 i = first + count * threads;
        u64 transform = i >> args.layout.log_size;
        u64 position = i - (transform << args.layout.log_size);
        u64 index = args.layout.is_interleaved ? position * args.layout.transforms + transform : i;
        unsigned *out = args.out + index * args.stride;
        xyzz p = *result_of(args, i);
        if (fe_is_zero(p.zzz)) {
            store_point(args, out, affine_infinity(), 1);
            continue;
        }
        store_point(args, out, xyzz_to_affine_with(p, fe_mul(product, products[count])), 0);
        product = fe_mul(product, p.zzz);
    }
}
