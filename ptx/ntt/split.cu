/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of one transform over several devices, see plan_split.c: transforms of one pass that
 * multiply row r of column c by w^(r c) and by the power r or c of the coset's generator, and store
 * it in the memory of the device that computes row r.
 *
 * A destination has for each column a run of the rows that it gets. Neighbouring threads store
 * neighbouring vectors of such a run, because writes to another device's memory are not merged: a
 * thread per element would use half of the link.
 */
#include "fr.cuh"

#include "fr_shoup.cuh"

#include "base/launch.cuh"

#include "base/element.cuh"

#include "ntt/args.h"

#include "ntt/split_args.h"

#include "ntt/index.cuh"

#include "ntt/tile.cuh"

#include "ntt/stages.cuh"

/* What a thread stores at once. */
#define VECTOR_WORDS (FR_WORDS % 4 == 0 ? 4 : FR_WORDS % 2 == 0 ? 2 : 1)
#define VECTORS (FR_WORDS / VECTOR_WORDS)

struct __align__(4 * VECTOR_WORDS) vector
{
    unsigned word[VECTOR_WORDS];
};

/* All stages, in the tile. */
__device__ __forceinline__ void transform_tile(const struct ntt_pass_args &pass, unsigned *tile)
{
    fr x[POINTS];
    if (pass.log_length < NTT_RADIX)
        short_sub_transforms(pass, tile);
    else
        compute_stages(pass, tile, x, true);
}

/* The column in natural order, counted on this device. */
__device__ __forceinline__ u64 column_of(const struct ntt_split_args &split, u64 index)
{
    u64 transform = split.first_transform + index;
    return split.flags & NTT_SPLIT_REVERSED_COLUMNS
               ? reverse_bits_long(transform, split.log_transforms)
               : transform;
}

__device__ __forceinline__ fr multiply_by_power(
    fr x, const fr *high, const fr *low, unsigned low_bits, u64 exponent)
{
    x = fr_mul_lazy(x, high[exponent >> low_bits]);
    if (low != nullptr)
        x = fr_mul_lazy(x, low[exponent & ((1ull << low_bits) - 1)]);
    return x;
}

/* Multiplies the result in `row` of column `index` of the launch. */
__device__ __forceinline__ fr scale_result(const struct ntt_pass_args &pass,
    const struct ntt_split_args &split, fr x, u64 index, unsigned row)
{
    u64 column = column_of(split, index) << split.column_shift | split.first_column;
    x = multiply_by_power(x, split.twiddles_high, split.twiddles_low, split.low_bits, row * column);
    if (split.coset_high != nullptr)
        x = multiply_by_power(x, split.coset_high, split.coset_low, split.low_bits,
            split.flags & NTT_SPLIT_COSET_OF_ROWS ? row : column);
    if (pass.scale != nullptr)
        x = fr_mul_lazy(x, *pass.scale);
    return x;
}

/* A loop, because the code of all points of a thread would be long. */
__device__ __forceinline__ void scale_tile(
    const struct ntt_pass_args &pass, const struct ntt_split_args &split, unsigned *tile)
{
    u64 first = (u64)(pass.first_block + blockIdx.x) << pass.log_tile_width;
    unsigned size = 1u << (pass.log_length + pass.log_tile_width);
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
        unsigned outer = i >> pass.log_tile_inner;
        unsigned local = outer & ((1u << pass.log_length) - 1);
        unsigned sub = outer >> pass.log_length << pass.log_tile_inner |
                       (i & ((1u << pass.log_tile_inner) - 1));
        fr x = tile_load(tile, PLANE, tile_offset(i, NTT_RADIX));
        if (first + sub < pass.sub_transforms)
            x = scale_result(pass, split, x, first + sub, reverse_bits(local, pass.log_length));
        tile_store(tile, PLANE, tile_offset(i, NTT_RADIX), x);
    }
    __syncthreads();
}

/* Each destination's run of a column in turn. */
__device__ __forceinline__ void store_columns(const struct ntt_pass_args &pass,
    const struct ntt_split_args &split, const unsigned *tile, fr *const *out)
{
    u64 first = (u64)(pass.first_block + blockIdx.x) << pass.log_tile_width;
    unsigned size = VECTORS << (pass.log_length + pass.log_tile_width);
    unsigned log_run = pass.log_length - split.log_devices;
#pragma unroll 2
    for (unsigned v = threadIdx.x; v < size; v += blockDim.x) {
        unsigned item = v / VECTORS, part = v % VECTORS;
        unsigned sub = item >> pass.log_length, place = item & ((1u << pass.log_length) - 1);
        unsigned device = place >> log_run, in_run = place & ((1u << log_run) - 1);
        unsigned row =
            split.flags & NTT_SPLIT_CYCLIC_ROWS ? in_run << split.log_devices | device : place;
        unsigned local =
            split.flags & NTT_SPLIT_NATURAL_ROWS ? reverse_bits(row, pass.log_length) : row;
        if (first + sub >= pass.sub_transforms)
            continue;
        const unsigned *from = tile + part * VECTOR_WORDS * PLANE +
                               tile_offset(tile_index(pass, sub, local), NTT_RADIX);
        u64 column = column_of(split, first + sub) << split.place_shift | split.first_place;
        struct vector vector;
#pragma unroll
        for (unsigned w = 0; w < VECTOR_WORDS; w++)
            vector.word[w] = from[w * PLANE];
        reinterpret_cast<struct vector *>(out[device] + (column << log_run | in_run))[part] =
            vector;
    }
}

extern "C" __global__ void __launch_bounds__(NTT_THREADS, NTT_BLOCKS)
    ntt_split_columns(const struct ntt_pass_args pass, const struct ntt_split_args split)
{
    extern __shared__ unsigned tile[];
    __shared__ fr *out[NTT_SPLIT_DEVICES];
#pragma unroll
    for (unsigned i = 0; i < NTT_SPLIT_DEVICES; i++)
        if (threadIdx.x == (i & (blockDim.x - 1)))
            out[i] = split.out[i];
    if (!(pass.flags & NTT_LOAD_REGISTERS))
        load_tile(pass, tile);
    else
        __syncthreads();
    transform_tile(pass, tile);
    scale_tile(pass, split, tile);
    store_columns(pass, split, tile, out);
}
