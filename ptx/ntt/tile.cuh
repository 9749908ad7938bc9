/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tile of a block and how a pass loads it; pass.cu and split.cu differ in what they store.
 * Included after fr.cuh, base/element.cuh and ntt/index.cuh.
 */
#ifndef PTX_NTT_TILE_CUH
#define PTX_NTT_TILE_CUH

#define POINTS (1u << NTT_RADIX)

/* Whether a thread has pairs of elements that are one access of 16 bytes. */
#define HAS_PAIRS (FR_WORDS == 2 && NTT_RADIX >= 2)

#include "ntt/twiddle.cuh"

/* Words of shared memory per plane, which holds one word of each element of a tile. The same for
 * tiles of every size, so that the distances of an element's words are compile-time constants. */
#define PLANE (NTT_THREADS * (POINTS + 1))

#if NTT_SHIFT
#include "ntt/butterfly_goldilocks.cuh"
#else
#include "ntt/butterfly.cuh"
#endif

#include "ntt/twiddles.cuh"

/* First pass: multiplies coefficient j by g^j. */
__device__ __forceinline__ fr scale_input(
    const struct ntt_pass_args &pass, fr x, u64 sub, unsigned local)
{
    if (pass.flags & NTT_COSET_INPUT) {
        u64 exponent = ((u64)local << (pass.log_size - pass.log_length)) | sub;
        x = fr_mul_lazy(x, pass.coset_high[exponent >> pass.low_bits]);
        if (pass.coset_low != nullptr)
            x = fr_mul_lazy(x, pass.coset_low[exponent & ((1ull << pass.low_bits) - 1)]);
    }
    return x;
}

__device__ __forceinline__ void load_tile(const struct ntt_pass_args &pass, unsigned *tile)
{
    u64 first = (u64)(pass.first_block + blockIdx.x) << pass.log_tile_width;
    unsigned size = 1u << (pass.log_length + pass.log_tile_width);
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
        unsigned sub, item;
        tile_item(pass, i, pass.flags & NTT_LOAD_TRANSPOSED, &sub, &item);
        fr x = fr_zero();
        unsigned local =
            pass.flags & NTT_REVERSED_INPUT ? reverse_bits(item, pass.log_length) : item;
        if (first + sub < pass.sub_transforms) {
            struct sub_transform at = sub_transform_at(pass, first + sub);
            x = pass.in[memory_index(
                pass, NTT_INTERLEAVED, at.batch, load_position(pass, at.sub, item))];
            x = scale_input(pass, x, at.sub, local);
        }
        tile_store(tile, PLANE, tile_offset(tile_index(pass, sub, local), NTT_RADIX), x);
    }
    __syncthreads();
}

#if HAS_PAIRS
/* Neighbours in memory, in one access where they are aligned for it. */
__device__ __forceinline__ void load_two(fr *x, fr *y, const fr *from)
{
    if (((size_t)from & 15) == 0) {
        uint4 words = *(const uint4 *)from;
        x->word[0] = words.x;
        x->word[1] = words.y;
        y->word[0] = words.z;
        y->word[1] = words.w;
    } else {
        *x = from[0];
        *y = from[1];
    }
}

__device__ __forceinline__ void store_two(fr *to, const fr *x)
{
    if (((size_t)to & 15) == 0) {
        *(uint4 *)to = make_uint4(x[0].word[0], x[0].word[1], x[1].word[0], x[1].word[1]);
    } else {
        to[0] = x[0];
        to[1] = x[1];
    }
}

/* The points of a thread's butterfly, which are neighbours in bit-reversed order. */
__device__ __forceinline__ void load_reversed(fr *x, const fr *from)
{
#pragma unroll
    for (unsigned i = 0; i < POINTS; i += 2)
        load_two(&x[OUTPUT(i)], &x[OUTPUT(i + 1)], from + i);
}
#endif

/* Loads the points of the first stage from memory to registers. */
__device__ __forceinline__ void load_registers(
    const struct ntt_pass_args &pass, fr *x, struct butterfly butterfly)
{
    u64 index = ((u64)(pass.first_block + blockIdx.x) << pass.log_tile_width) + butterfly.sub;
    struct sub_transform at = sub_transform_at(pass, index);
#if HAS_PAIRS
    if (pass.flags & NTT_REVERSED_INPUT) {
        const fr *row = pass.in + memory_index(pass, 0, at.batch, load_position(pass, at.sub, 0)) +
                        reverse_bits(butterfly.local, pass.log_length);
        if (index < pass.sub_transforms)
            load_reversed(x, row);
        return;
    }
#endif
    const fr *in = pass.in + memory_index(pass, NTT_INTERLEAVED, at.batch,
                                 load_position(pass, at.sub, butterfly.local));
    bool is_contiguous = pass.flags & NTT_NATURAL_OUTPUT;
    unsigned low = is_contiguous ? 0 : pass.log_size - pass.log_done - pass.log_length;
    u64 distance = 1ull << (pass.log_length - NTT_RADIX + low);
    if (pass.flags & NTT_INTERLEAVED)
        distance *= pass.batch;
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        x[e] = index < pass.sub_transforms ? in[e * distance] : fr_zero();
}

/* Sub-transforms of fewer than 2^NTT_RADIX points: a thread computes several of them. */
__device__ void short_sub_transforms(const struct ntt_pass_args &pass, unsigned *tile)
{
    fr x[POINTS];
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        x[e] = tile_load(tile, PLANE, tile_offset(threadIdx.x * POINTS + e, NTT_RADIX));
    compute_butterfly(pass, x, pass.log_length);
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        tile_store(tile, PLANE, tile_offset(threadIdx.x * POINTS + e, NTT_RADIX), x[e]);
    __syncthreads();
}

#endif
