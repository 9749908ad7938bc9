/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass of an NTT through memory: sub-transforms of 2^b points over b bits of the index, in
 * place except for the gather of the first pass and the scatter of the last pass.
 *
 * An NTT of 2^L points is computed by decimation in frequency, several bits per pass from the top
 * down. A pass that follows `log_done` transformed bits takes the points that differ in the next b
 * bits of their position (a sub-transform), transforms them, and multiplies output k of
 * sub-transform c by the twiddle factor w^(k c), c being the remaining low bits. Output k is stored
 * at the position that is k bit-reversed, so that all passes together turn natural order into
 * bit-reversed order. A first pass that loads from reversed positions accepts bit-reversed input, a
 * last pass that stores to reversed positions produces natural output; both keep the accesses of
 * neighbouring threads at neighbouring addresses.
 *
 * A block computes a tile of sub-transforms. Each thread holds 2^NTT_RADIX points in registers for
 * one radix-2^NTT_RADIX stage; between stages the points are exchanged through shared memory.
 * NTT_RADIX, NTT_THREADS and NTT_BLOCKS (resident per multiprocessor, which bounds the registers)
 * come from the plan: more points per thread mean fewer exchanges and more registers. NTT_SHIFT is
 * not 0 where the roots of unity of a butterfly are powers of two.
 *
 * Values are in [0, 2p) where the field has room for that, and are reduced by the last pass.
 *
 * All passes but the first are dependent launches: before pdl_wait they read nothing but tables.
 */
#include "fr.cuh"

#include "fr_shoup.cuh"

#include "base/launch.cuh"

#include "base/element.cuh"

#include "ntt/args.h"

#include "ntt/index.cuh"

#include "ntt/tile.cuh"

/* Multiplies the output at index `local` of a sub-transform by its twiddle or scale factor. */
__device__ __forceinline__ fr scale_output(
    const struct ntt_pass_args &pass, fr x, u64 sub, unsigned local)
{
    unsigned low = pass.log_size - pass.log_done - pass.log_length;
    unsigned output = reverse_bits(local, pass.log_length);
    if (low != 0) {
        u64 exponent = (sub & ((1ull << low) - 1)) * output << pass.exponent_shift;
        x = mul_pass_twiddle(
            x, load_pass_twiddle(pass, pass.twiddles_high, exponent >> pass.low_bits));
        if (pass.twiddles_low != nullptr)
            x = mul_pass_twiddle(x, load_pass_twiddle(pass, pass.twiddles_low,
                                        exponent & ((1ull << pass.low_bits) - 1)));
        return x;
    }
    if (pass.flags & NTT_COSET_OUTPUT) {
        unsigned rest = pass.log_size - pass.log_length;
        u64 first = pass.flags & NTT_NATURAL_OUTPUT ? sub : reverse_bits_long(sub, rest);
        x = fr_mul_lazy(x, two_level_power(pass.coset_high, pass.coset_low, pass.low_bits,
                               ((u64)output << rest) | first));
    }
    if (pass.scale != nullptr)
        x = fr_mul_lazy(x, *pass.scale);
    return fr_reduce(x);
}

__device__ __forceinline__ void store_tile(const struct ntt_pass_args &pass, const unsigned *tile)
{
    u64 first = (u64)blockIdx.x << pass.log_tile_width;
    unsigned size = 1u << (pass.log_length + pass.log_tile_width);
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
        unsigned sub, item;
        tile_item(pass, i, pass.flags & NTT_STORE_TRANSPOSED, &sub, &item);
        if (first + sub >= pass.sub_transforms)
            continue;
        unsigned local =
            pass.flags & NTT_NATURAL_OUTPUT ? reverse_bits(item, pass.log_length) : item;
        struct sub_transform at = sub_transform_at(pass, first + sub);
        fr x = tile_load(tile, PLANE, tile_offset(tile_index(pass, sub, local), NTT_RADIX));
        x = scale_output(pass, x, at.sub, local);
        pass.out[memory_index(
            pass, NTT_STORE_INTERLEAVED, at.batch, store_position(pass, at.sub, item))] = x;
    }
}

#if HAS_PAIRS
/*
 * Two threads have POINTS outputs each that are neighbours in memory. They store pairs of elements
 * from one of them together, so that every store has whole sectors.
 */
__device__ __forceinline__ void store_neighbours(
    const struct ntt_pass_args &pass, const fr *x, u64 index, unsigned local)
{
    const unsigned partner = 1u << pass.log_tile_width;
    const bool is_second = threadIdx.x & partner;
    fr *out = pass.out + (index << pass.log_length) + (local & ~POINTS) + (is_second ? 2 : 0);
#pragma unroll
    for (unsigned q = 0; q < POINTS; q += 4) {
        fr first[2], second[2];
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            fr sent = is_second ? x[q + i] : x[q + 2 + i];
            fr kept = is_second ? x[q + 2 + i] : x[q + i];
            if (pass.scale != nullptr) {
                sent = fr_mul_lazy(sent, *pass.scale);
                kept = fr_mul_lazy(kept, *pass.scale);
            }
            sent = fr_reduce(sent);
            kept = fr_reduce(kept);
#pragma unroll
            for (unsigned w = 0; w < FR_WORDS; w++) {
                sent.word[w] = __shfl_xor_sync(0xffffffffu, sent.word[w], partner);
                first[i].word[w] = is_second ? sent.word[w] : kept.word[w];
                second[i].word[w] = is_second ? kept.word[w] : sent.word[w];
            }
        }
        if (index >= pass.sub_transforms)
            continue;
        store_two(out + q, first);
        store_two(out + POINTS + q, second);
    }
}
#endif

/* Stores the outputs of the last stage from registers to memory. */
__device__ __forceinline__ void store_registers(const struct ntt_pass_args &pass, fr *x,
    const struct twiddle *twiddle, struct butterfly butterfly)
{
    u64 index = ((u64)blockIdx.x << pass.log_tile_width) + butterfly.sub;
    unsigned low = pass.log_size - pass.log_done - pass.log_length;
    bool is_permuted = pass.flags & NTT_NATURAL_OUTPUT;
#if HAS_PAIRS
    if (pass.flags & NTT_STORE_NEIGHBOURS) {
        store_neighbours(pass, x, index, butterfly.local);
        return;
    }
#endif
    if (index >= pass.sub_transforms)
        return;
    struct sub_transform at = sub_transform_at(pass, index);
    u64 distance = 1ull << (is_permuted ? pass.log_size - NTT_RADIX : low);
    u64 local = is_permuted ? reverse_bits(butterfly.local, pass.log_length) : butterfly.local;
    fr *out = pass.out + memory_index(pass, NTT_STORE_INTERLEAVED, at.batch,
                             store_position(pass, at.sub, local));
    if (pass.flags & NTT_STORE_INTERLEAVED)
        distance *= pass.batch;
    if (low != 0) {
        apply_pass_twiddles(pass, x, twiddle, at.sub, butterfly.local);
#pragma unroll
        for (unsigned e = 0; e < POINTS; e++)
            out[e * distance] = x[e];
        return;
    }
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        unsigned e = is_permuted ? o : OUTPUT(o);
        if (pass.scale != nullptr)
            x[OUTPUT(o)] = fr_mul_lazy(x[OUTPUT(o)], *pass.scale);
        out[e * distance] = fr_reduce(x[OUTPUT(o)]);
    }
}

__device__ __forceinline__ void long_sub_transforms(
    const struct ntt_pass_args &pass, unsigned *tile)
{
    fr x[POINTS];
    struct twiddle twiddle[POINTS];
    struct butterfly butterfly = butterfly_of(pass, 0);
    if (PREFETCHES_TWIDDLES)
        prefetch_twiddles(pass, twiddle, butterfly);
#pragma unroll 1
    for (unsigned done = 0; done < pass.log_length; done += NTT_RADIX) {
        bool is_last = butterfly.log_distance == 0;
        unsigned distance = 1u << (butterfly.log_distance + pass.log_tile_inner);
        unsigned base = tile_index(pass, butterfly.sub, butterfly.local);
        if (done == 0 && pass.flags & NTT_LOAD_REGISTERS) {
            pdl_wait();
            load_registers(pass, x, butterfly);
        } else {
#pragma unroll
            for (unsigned e = 0; e < POINTS; e++)
                x[e] = tile_load(tile, PLANE, tile_offset(base + e * distance, NTT_RADIX));
        }
        compute_butterfly(pass, x, min(NTT_RADIX, pass.log_length - done));
        if (!is_last)
            apply_stage_twiddles(pass, x, twiddle, butterfly);
        if (is_last && pass.flags & NTT_STORE_REGISTERS) {
            store_registers(pass, x, twiddle, butterfly);
            return;
        }
#pragma unroll
        for (unsigned e = 0; e < POINTS; e++)
            tile_store(tile, PLANE, tile_offset(base + e * distance, NTT_RADIX), x[e]);
        butterfly = butterfly_of(pass, done + NTT_RADIX);
        if (PREFETCHES_TWIDDLES && !is_last)
            prefetch_twiddles(pass, twiddle, butterfly);
        __syncthreads();
    }
    store_tile(pass, tile);
}

extern "C" __global__ void __launch_bounds__(NTT_THREADS, NTT_BLOCKS)
    ntt_pass(const struct ntt_pass_args pass)
{
    extern __shared__ unsigned tile[];
    if (pass.flags & NTT_TRIGGERS_DEPENDENT)
        pdl_trigger();
    if (!(pass.flags & NTT_LOAD_REGISTERS)) {
        pdl_wait();
        load_tile(pass, tile);
    }
    if (pass.log_length >= NTT_RADIX) {
        long_sub_transforms(pass, tile);
        return;
    }
    if (pass.log_length != 0)
        short_sub_transforms(pass, tile);
    store_tile(pass, tile);
}
