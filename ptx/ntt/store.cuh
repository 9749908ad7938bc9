/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a pass stores its outputs: from the tile, or from the registers of the last stage. Included
 * by pass.cu after tile.cuh.
 */
#ifndef PTX_NTT_STORE_CUH
#define PTX_NTT_STORE_CUH

/* The last thing that happens to the outputs of a last pass. */
__device__ __forceinline__ fr scale_and_reduce(const struct ntt_pass_args &pass, fr x)
{
    if (pass.scale != nullptr)
        x = fr_mul_lazy(x, *pass.scale);
    return fr_reduce(x);
}

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
    return scale_and_reduce(pass, x);
}

__device__ __forceinline__ void store_tile(const struct ntt_pass_args &pass, const unsigned *tile)
{
    u64 first = (u64)(pass.first_block + blockIdx.x) << pass.log_tile_width;
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
            sent = scale_and_reduce(pass, sent);
            kept = scale_and_reduce(pass, kept);
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

#if FR_WORDS == 8
/*
 * A store of 16 bytes of each thread would leave half of every sector to another store. Pairs of
 * threads exchange halves instead, and store the first one's element, then the second one's. `to`
 * is where the thread's own element goes, `other` where its partner's goes.
 */
__device__ __forceinline__ void store_sectors(fr *to, fr *other, fr x)
{
    const bool is_second = threadIdx.x & 1;
    unsigned first[4], second[4];
#pragma unroll
    for (unsigned w = 0; w < 4; w++) {
        unsigned sent = is_second ? x.word[w] : x.word[w + 4];
        sent = __shfl_xor_sync(0xffffffffu, sent, 1);
        first[w] = is_second ? sent : x.word[w];
        second[w] = is_second ? x.word[w + 4] : sent;
    }
    ((uint4 *)(is_second ? other : to))[is_second] =
        make_uint4(first[0], first[1], first[2], first[3]);
    ((uint4 *)(is_second ? to : other))[is_second] =
        make_uint4(second[0], second[1], second[2], second[3]);
}
#endif

/* Stores the outputs of the last stage from registers to memory. */
__device__ __forceinline__ void store_registers(const struct ntt_pass_args &pass, fr *x,
    const struct twiddle *twiddle, struct butterfly butterfly)
{
    u64 index = ((u64)(pass.first_block + blockIdx.x) << pass.log_tile_width) + butterfly.sub;
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
#if FR_WORDS == 8
    if (pass.flags & NTT_STORE_SECTORS) {
        fr *other = (fr *)__shfl_xor_sync(0xffffffffu, (u64)out, 1);
        if (low != 0)
            apply_pass_twiddles(pass, x, twiddle, at.sub, butterfly.local);
#pragma unroll
        for (unsigned o = 0; o < POINTS; o++) {
            u64 to = (is_permuted ? o : OUTPUT(o)) * distance;
            fr output = low != 0 ? x[OUTPUT(o)] : scale_and_reduce(pass, x[OUTPUT(o)]);
            store_sectors(out + to, other + to, output);
        }
        return;
    }
#endif
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
        out[e * distance] = scale_and_reduce(pass, x[OUTPUT(o)]);
    }
}

#endif
