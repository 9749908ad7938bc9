/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves the elements of a matrix that is distributed over devices to their places in another
 * distribution, by stores to the memory of the other devices, and multiplies them by twiddles.
 *
 * Everything that is moved has 2^L elements, and all distributions are permutations of the bits of
 * an element's index, those of the device included. The element in row r and column c of the matrix
 * has the logical index r 2^log_columns + c; it is multiplied by w^(r c) and by the power r or c of
 * the coset's generator.
 *
 * A block moves a tile, whose threads load in the order of the source's addresses and store in the
 * order of the destination's, so that both coalesce; the tile is in shared memory in between.
 */
#include "fr.cuh"

#include "base/element.cuh"

#include "ntt/exchange_args.h"

typedef unsigned long long u64;

#define THREADS (1u << NTT_EXCHANGE_LOG_TILE)
#define PAD 4
#define PLANE (THREADS + (THREADS >> PAD))

/* The bits of `index`, each at the position that its entry of the list says. */
__device__ __forceinline__ unsigned list_entry(const unsigned *list, unsigned i)
{
    return list[i / 4] >> 8 * (i % 4) & 0xff;
}

__device__ u64 move_block_bits(u64 index, const unsigned *list, unsigned bits)
{
    u64 result = 0;
#pragma unroll 1
    for (unsigned i = 0; i < bits; i++)
        result |= (index >> i & 1) << list_entry(list, i);
    return result;
}

__device__ __forceinline__ u64 move_thread_bits(unsigned index, const unsigned char *list)
{
    u64 result = 0;
#pragma unroll
    for (unsigned i = 0; i < NTT_EXCHANGE_LOG_TILE; i++)
        result |= (u64)(index >> i & 1) << list[i];
    return result;
}

/* base^exponent from tables of two levels. */
__device__ __forceinline__ fr multiply_by_power(
    fr x, const fr *high, const fr *low, unsigned low_bits, u64 exponent)
{
    x = fr_mul(x, high[exponent >> low_bits]);
    if (low != nullptr)
        x = fr_mul(x, low[exponent & ((1ull << low_bits) - 1)]);
    return x;
}

__device__ __forceinline__ fr scale(const struct ntt_exchange_args &args, fr x, u64 logical)
{
    u64 row = logical >> args.log_columns, column = logical & ((1ull << args.log_columns) - 1);
    if (args.twiddles_high != nullptr)
        x = multiply_by_power(
            x, args.twiddles_high, args.twiddles_low, args.low_bits, row * column);
    if (args.coset_high != nullptr)
        x = multiply_by_power(x, args.coset_high, args.coset_low, args.low_bits,
            args.flags & NTT_EXCHANGE_COSET_OF_ROWS ? row : column);
    return x;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    ntt_exchange(const struct ntt_exchange_args args)
{
    __shared__ unsigned lists[3 * NTT_EXCHANGE_BITS / 4];
    __shared__ unsigned tile[FR_WORDS * PLANE];
    __shared__ u64 block[3];
#pragma unroll
    for (unsigned i = 0; i < 3 * NTT_EXCHANGE_BITS / 4; i++)
        if (threadIdx.x == (i & (blockDim.x - 1)))
            lists[i] = args.block[i / (NTT_EXCHANGE_BITS / 4)][i % (NTT_EXCHANGE_BITS / 4)];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 3; i += blockDim.x)
        block[i] =
            move_block_bits(blockIdx.x, lists + i * (NTT_EXCHANGE_BITS / 4), args.log_blocks);
    __syncthreads();
    fr x = args.in[block[0] | move_thread_bits(threadIdx.x, args.read)];
    x = scale(args, x,
        args.first_logical | block[1] | move_thread_bits(threadIdx.x, args.read_logical));
    tile_store(tile, PLANE, tile_offset(threadIdx.x, PAD), x);
    __syncthreads();
    unsigned slot = (unsigned)move_thread_bits(threadIdx.x, args.slot);
    u64 to = args.first_to | block[2] | move_thread_bits(threadIdx.x, args.write_to);
    fr *out = args.out[0];
#pragma unroll
    for (unsigned i = 1; i < NTT_EXCHANGE_DEVICES; i++)
        if (to >> args.log_local == i)
            out = args.out[i];
    out[to & ((1ull << args.log_local) - 1)] = tile_load(tile, PLANE, tile_offset(slot, PAD));
}
