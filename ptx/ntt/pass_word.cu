/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass of an NTT over a field of one word, as pass.cu defines it, for sub-transforms of
 * 2^NTT_LENGTH points, a compile-time constant: addresses, exchanges and the order of points in the
 * tile cost a third of the instructions of pass.cu's. Of the flags it supports what batches in rows
 * need, except cosets of reversed inputs and of outputs.
 *
 * A tile has 2^LOG_TILE elements, those of 2^LOG_COLUMNS neighbouring sub-transforms. A thread
 * holds 16 points at a time and computes ROUNDS such butterflies per stage. A sub-transform has
 * a radix-16 stage for its highest bits, another one where more than 8 bits are left, and a last
 * stage of radix 2^LAST. Points are loaded from global memory to registers and stored from there;
 * in between they are at index (local, column) of the tile.
 *
 * Multiplications within a butterfly have constant factors. Those of fields below 2^31 have
 * quotients and are kernel arguments, operands of the instructions.
 */
#include "fr.cuh"

#include "fr_shoup.cuh"

#include "base/launch.cuh"

#include "base/element.cuh"

#include "ntt/args.h"

#include "ntt/word_args.h"

typedef unsigned long long u64;

__device__ __forceinline__ constexpr unsigned log2_of(unsigned x)
{
    return x == 1 ? 0 : 1 + log2_of(x / 2);
}

#define ROUNDS 2u
#define LOG_THREADS log2_of(NTT_THREADS *ROUNDS)
#define LOG_TILE (LOG_THREADS + 4)
#define LOG_COLUMNS (LOG_TILE - NTT_LENGTH)
#define COLUMNS (1u << LOG_COLUMNS)
#define LAST (NTT_LENGTH > 8 ? NTT_LENGTH - 8 : NTT_LENGTH - 4)
/* Bits of a point's index that the last stage leaves alone. */
#define LOG_UPPER (NTT_LENGTH - LAST)

/* Of a constant: the compiler computes it. */
#define REVERSED(x, bits) (__brev(x) >> (32 - (bits)))

/*
 * The word of the tile for an index: groups of four words change places, so that the threads of a
 * warp access different banks in each of its four orders: along the index; four columns and eight
 * neighbouring points; columns and the highest bits of points, reversed; four columns and eight
 * values of the upper bits. The map is linear modulo 2: word_of(a ^ b) = word_of(a) ^ word_of(b).
 */
__device__ __forceinline__ constexpr unsigned word_of(unsigned i)
{
    constexpr unsigned top = LOG_TILE - 1, upper = LOG_COLUMNS + LAST;
    unsigned key = i >> upper & 7;
    if (LOG_COLUMNS == 2)
        key ^= (i >> top & 1) | (i >> (top - 1) & 1) << 1 | (i >> (top - 2) & 1) << 2;
    else if (LOG_COLUMNS == 3)
        key ^= (i >> 5 & 1) | (i >> top & 1) << 1 | (i >> (top - 1) & 1) << 2;
    else if (LOG_COLUMNS == 4)
        key = ((key >> 2 | key << 1) & 7) ^ (i >> 5 & 1) ^ (i >> top & 1) << 2;
    else if (upper == LOG_COLUMNS + 1)
        key = ((key >> 2 | key << 1) & 7) ^ (i >> 5 & 1);
    else
        key ^= i >> LOG_COLUMNS & 7;
    return i ^ key << 2;
}

__device__ __forceinline__ fr power(
    const fr *high, const fr *low, unsigned low_bits, unsigned exponent)
{
    fr factor = high[exponent >> low_bits];
    if (low != nullptr)
        factor = fr_mul(factor, low[exponent & ((1u << low_bits) - 1)]);
    return factor;
}

/* a - b times the i-th power of a root of unity of order 2^s. */
__device__ __forceinline__ fr multiply_difference(const struct ntt_pass_args &pass,
    const struct ntt_word_args &word, fr a, fr b, unsigned s, unsigned i)
{
#if FR_SHOUP
    fr root = {{word.roots[i << (4 - s)]}};
    fr quotient = {{word.quotients[i << (4 - s)]}};
    return fr_mul_shoup(fr_sub_unreduced(a, b), root, quotient);
#else
    return fr_mul(fr_sub(a, b), pass.stage_twiddles[(1u << s) + i]);
#endif
}

template <unsigned LOG_RADIX>
__device__ __forceinline__ void butterfly(
    const struct ntt_pass_args &pass, const struct ntt_word_args &word, fr *x)
{
#pragma unroll
    for (unsigned s = LOG_RADIX; s >= 1; s--) {
        const unsigned half = 1u << (s - 1);
#pragma unroll
        for (unsigned i = 0; i < half; i++)
#pragma unroll
            for (unsigned e = i; e < 1u << LOG_RADIX; e += 2 * half) {
                fr a = x[e], b = x[e + half];
                x[e] = fr_add(a, b);
                x[e + half] = i == 0 ? fr_sub(a, b) : multiply_difference(pass, word, a, b, s, i);
            }
    }
}

/* Multiplies outputs by w^(o rest), w of the order of the bits that are left. */
__device__ __forceinline__ void multiply_by_twiddles(
    const struct ntt_pass_args &pass, fr *x, unsigned log_left, unsigned rest)
{
    const fr *table = pass.stage_twiddles + (1u << log_left) + rest;
#pragma unroll
    for (unsigned e = 1; e < 16; e++)
        x[e] = fr_mul(x[e], table[REVERSED(e, 4) << (log_left - 4)]);
}

/* Four neighbours, in one access where they are aligned for it. */
struct four {
    fr x[4];
};

__device__ __forceinline__ struct four load_four(const fr *from)
{
    struct four four;
    if (((size_t)from & 15) == 0) {
        uint4 words = *(const uint4 *)from;
        four.x[0].word[0] = words.x;
        four.x[1].word[0] = words.y;
        four.x[2].word[0] = words.z;
        four.x[3].word[0] = words.w;
    } else {
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            four.x[i] = from[i];
    }
    return four;
}

__device__ __forceinline__ void store_four(fr *to, const fr *x)
{
    if (((size_t)to & 15) == 0) {
        *(uint4 *)to = make_uint4(x[0].word[0], x[1].word[0], x[2].word[0], x[3].word[0]);
    } else {
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            to[i] = x[i];
    }
}

/* ---- first stage ----------------------------------------------------------------------------- */

/* A thread's column and the rest of its index. Where columns are rows in memory, groups of threads
 * take 8 neighbouring points of 4 of them, which are whole sectors. */
__device__ __forceinline__ void place_of(
    unsigned thread, bool is_row, unsigned *column, unsigned *rest)
{
    *column = thread & (COLUMNS - 1);
    *rest = thread >> LOG_COLUMNS;
    if (is_row && LOG_COLUMNS > 2) {
        unsigned other = thread >> 5;
        *column = (thread & 3) | (other & (COLUMNS / 4 - 1)) << 2;
        *rest = (thread >> 2 & 7) | other >> (LOG_COLUMNS - 2) << 3;
    }
}

/* The blocks that read the same coefficients of an extension are neighbours. */
__device__ __forceinline__ u64 sub_transform(const struct ntt_pass_args &pass, unsigned column)
{
    const unsigned parts = pass.log_done, low = pass.log_size - parts - NTT_LENGTH;
    u64 tile = pass.first_block + blockIdx.x;
    if (pass.flags & NTT_COSET_INPUT && low >= LOG_COLUMNS) {
        const unsigned tiles = low - LOG_COLUMNS;
        u64 part = tile & ((1u << parts) - 1), of_part = tile >> parts & ((1ull << tiles) - 1);
        tile = (tile >> (parts + tiles) << parts | part) << tiles | of_part;
    }
    return (tile << LOG_COLUMNS) + column;
}

/* The first element of a sub-transform whose points are neighbours. */
__device__ __forceinline__ u64 row_of(const struct ntt_pass_args &pass, u64 index)
{
    const unsigned rest = pass.log_size - NTT_LENGTH;
    u64 batch = index >> rest, sub = index & ((1ull << rest) - 1);
    if (pass.flags & (NTT_REVERSED_INPUT | NTT_NATURAL_OUTPUT))
        sub = reverse_bits_long(sub, rest);
    return (batch << pass.log_size) + (sub << NTT_LENGTH);
}

/* The first element of a sub-transform whose points are 2^low elements apart. */
__device__ __forceinline__ u64 column_of(u64 index, unsigned low)
{
    return (index >> low << (NTT_LENGTH + low)) + (index & ((1ull << low) - 1));
}

/*
 * Loads coefficients of a transform on a coset and multiplies coefficient j by g^j. Behind log_done
 * bits, transform `part` of the 2^log_done ones of a column has the same coefficients, on the coset
 * of g w^c: c is `part` bit-reversed.
 */
__device__ __forceinline__ void load_coefficients(
    const struct ntt_pass_args &pass, fr *x, u64 index, unsigned low, unsigned rest)
{
    const bool is_permuted = low == 0 && pass.flags & NTT_NATURAL_OUTPUT;
    const unsigned part = (unsigned)(index >> low) & ((1u << pass.log_done) - 1);
    const unsigned coset = is_permuted ? part : reverse_bits(part, pass.log_done);
    const unsigned first = rest << low | ((unsigned)index & ((1u << low) - 1));
    const unsigned distance = 1u << (NTT_LENGTH - 4 + low);
    const fr *in = pass.in + (index >> (pass.log_done + low) << (NTT_LENGTH + low)) + first;
    fr factor = power(pass.coset_high, pass.coset_low, pass.low_bits, first);
    fr ratio = power(pass.coset_high, pass.coset_low, pass.low_bits, distance);
#pragma unroll
    for (unsigned e = 0; e < 16; e++)
        x[e] = in[e * (u64)distance];
    if (coset != 0) {
        factor = fr_mul(factor,
            power(pass.twiddles_high, pass.twiddles_low_unscaled, pass.low_bits, coset * first));
        ratio = fr_mul(ratio,
            power(pass.twiddles_high, pass.twiddles_low_unscaled, pass.low_bits, coset * distance));
    }
#pragma unroll
    for (unsigned e = 0; e < 16; e++) {
        x[e] = fr_mul(x[e], factor);
        if (e < 15)
            factor = fr_mul(factor, ratio);
    }
}

/* Loads a thread's points; returns whether there are any. */
__device__ __forceinline__ bool load_first(
    const struct ntt_pass_args &pass, fr *x, unsigned thread, unsigned *place)
{
    const unsigned low = pass.log_size - pass.log_done - NTT_LENGTH;
    const bool is_reversed = pass.flags & NTT_REVERSED_INPUT;
    const bool is_row = low == 0 || is_reversed;
    unsigned column, rest;
    place_of(thread, is_row, &column, &rest);
    u64 index = sub_transform(pass, column);
    if (index >= pass.sub_transforms)
        return false;
    if (is_reversed) {
        const fr *in = pass.in + row_of(pass, index) + 16 * rest;
        rest = reverse_bits(rest, NTT_LENGTH - 4);
#pragma unroll
        for (unsigned q = 0; q < 16; q += 4) {
            struct four four = load_four(in + q);
#pragma unroll
            for (unsigned i = 0; i < 4; i++)
                x[REVERSED(q + i, 4)] = four.x[i];
        }
    } else if (pass.flags & NTT_COSET_INPUT) {
        load_coefficients(pass, x, index, low, rest);
    } else {
        const fr *in = pass.in + (is_row ? row_of(pass, index) : column_of(index, low));
        const unsigned log_distance = is_row ? 0 : low;
        in += (u64)rest << log_distance;
#pragma unroll
        for (unsigned e = 0; e < 16; e++)
            x[e] = in[e << (NTT_LENGTH - 4 + log_distance)];
    }
    *place = rest << LOG_COLUMNS | column;
    return true;
}

__device__ __forceinline__ void first_stage(const struct ntt_pass_args &pass,
    const struct ntt_word_args &word, fr *x, fr *tile, unsigned place)
{
    butterfly<4>(pass, word, x);
    multiply_by_twiddles(pass, x, NTT_LENGTH, place >> LOG_COLUMNS);
    unsigned at = word_of(place);
#pragma unroll
    for (unsigned e = 0; e < 16; e++)
        tile[at ^ word_of(e << LOG_THREADS)] = x[e];
}

/* ---- second stage ---------------------------------------------------------------------------- */

__device__ __forceinline__ void second_stage(
    const struct ntt_pass_args &pass, const struct ntt_word_args &word, fr *tile, unsigned thread)
{
    constexpr unsigned log_inner = LOG_TILE - 8;
    const unsigned inner = thread & ((1u << log_inner) - 1);
    const unsigned at = word_of(thread >> log_inner << LOG_THREADS | inner);
    fr x[16];
#pragma unroll
    for (unsigned e = 0; e < 16; e++)
        x[e] = tile[at ^ word_of(e << log_inner)];
    butterfly<4>(pass, word, x);
    multiply_by_twiddles(pass, x, NTT_LENGTH - 4, inner >> LOG_COLUMNS);
#pragma unroll
    for (unsigned e = 0; e < 16; e++)
        tile[at ^ word_of(e << log_inner)] = x[e];
}

/* ---- last stage ------------------------------------------------------------------------------ */

/* Multiplies output k of a column by w^(k column), k being `lower` and multiples of 2^LOG_UPPER. */
__device__ __forceinline__ void multiply_by_pass_twiddles(
    const struct ntt_pass_args &pass, fr *x, unsigned column, unsigned lower)
{
    const unsigned shift = pass.exponent_shift;
    fr factor =
        power(pass.twiddles_high, pass.twiddles_low, pass.low_bits, column * lower << shift);
    fr ratio = power(pass.twiddles_high, pass.twiddles_low_unscaled, pass.low_bits,
        column << (LOG_UPPER + shift));
#pragma unroll
    for (unsigned o = 0; o < 1u << LAST; o++) {
        fr *y = x + REVERSED(o, LAST);
        *y = fr_mul(*y, factor);
        if (o + 1 < 1u << LAST)
            factor = fr_mul(factor, ratio);
    }
}

__device__ __forceinline__ void scale_outputs(const struct ntt_pass_args &pass, fr *x)
{
    if (pass.scale == nullptr)
        return;
    fr scale = *pass.scale;
#pragma unroll
    for (unsigned e = 0; e < 1u << LAST; e++)
        x[e] = fr_mul(x[e], scale);
}

__device__ __forceinline__ void load_last(const fr *tile, fr *x, unsigned upper, unsigned column)
{
    unsigned at = word_of(upper << (LAST + LOG_COLUMNS) | column);
#pragma unroll
    for (unsigned e = 0; e < 1u << LAST; e++)
        x[e] = tile[at ^ word_of(e << LOG_COLUMNS)];
}

/* Neighbouring threads have neighbouring columns, then neighbouring outputs. */
__device__ __forceinline__ void last_stage(const struct ntt_pass_args &pass,
    const struct ntt_word_args &word, const fr *tile, unsigned thread)
{
    const unsigned low = pass.log_size - pass.log_done - NTT_LENGTH;
    const bool is_natural = pass.flags & NTT_NATURAL_OUTPUT;
    const unsigned rest = pass.log_size - NTT_LENGTH;
    unsigned column, first;
    place_of(thread, rest == 0, &column, &first);
    const u64 index = sub_transform(pass, column);
    if (index >= pass.sub_transforms)
        return;
    fr *out =
        pass.out + (is_natural ? (index >> rest << pass.log_size) + (index & ((1ull << rest) - 1))
                               : column_of(index, low));
#pragma unroll
    for (unsigned j = 0; j < 1u << (4 - LAST); j++) {
        const unsigned lower = j << (LOG_THREADS - LOG_COLUMNS) | first;
        const unsigned upper = reverse_bits(lower, LOG_UPPER);
        fr x[1 << LAST];
        load_last(tile, x, upper, column);
        butterfly<LAST>(pass, word, x);
        if (low != 0)
            multiply_by_pass_twiddles(pass, x, (unsigned)index & ((1u << low) - 1), lower);
        else
            scale_outputs(pass, x);
        if (is_natural) {
            fr *to = out + ((u64)lower << rest);
#pragma unroll
            for (unsigned o = 0; o < 1u << LAST; o++)
                to[(u64)o << (LOG_UPPER + rest)] = x[REVERSED(o, LAST)];
        } else {
            fr *to = out + ((u64)upper << (LAST + low));
#pragma unroll
            for (unsigned e = 0; e < 1u << LAST; e++)
                to[e << low] = x[e];
        }
    }
}

/*
 * Two threads 4 lanes apart have 2^LAST neighbouring outputs each, and store pairs of fours from
 * one of them together: stores of whole sectors take half as long.
 */
__device__ __forceinline__ void store_neighbours(
    fr *to, const fr *x, unsigned first, bool is_inside)
{
    const bool is_second = first & 1;
#pragma unroll
    for (unsigned q = 0; q < 1u << LAST; q += 8) {
        fr mine[4], other[4];
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            unsigned sent = is_second ? x[q + i].word[0] : x[q + 4 + i].word[0];
            mine[i] = is_second ? x[q + 4 + i] : x[q + i];
            other[i].word[0] = __shfl_xor_sync(0xffffffffu, sent, 4);
        }
        if (!is_inside)
            continue;
        fr *at = to + q + (is_second ? 4 : 0);
        store_four(is_second ? at - (1 << LAST) : at, is_second ? other : mine);
        store_four(is_second ? at : at + (1 << LAST), is_second ? mine : other);
    }
}

/* Outputs in the order of the tile, neighbours in memory: a thread stores 2^LAST of them. */
__device__ __forceinline__ void last_stage_of_rows(const struct ntt_pass_args &pass,
    const struct ntt_word_args &word, const fr *tile, unsigned thread)
{
    unsigned column, first;
    place_of(thread, true, &column, &first);
    const u64 index = sub_transform(pass, column);
    const bool is_inside = index < pass.sub_transforms;
    fr *out = pass.out + (index << NTT_LENGTH);
#pragma unroll
    for (unsigned j = 0; j < 1u << (4 - LAST); j++) {
        const unsigned upper = j << (LOG_THREADS - LOG_COLUMNS) | first;
        fr x[1 << LAST];
        load_last(tile, x, upper, column);
        butterfly<LAST>(pass, word, x);
        scale_outputs(pass, x);
        fr *to = out + (upper << LAST);
        if (LAST >= 3) {
            store_neighbours(to, x, first, is_inside);
        } else if (!is_inside) {
            continue;
        } else if (LAST == 2) {
            store_four(to, x);
        } else {
#pragma unroll
            for (unsigned e = 0; e < 1u << LAST; e++)
                to[e] = x[e];
        }
    }
}

extern "C" __global__ void __launch_bounds__(NTT_THREADS, NTT_BLOCKS)
    ntt_pass(const struct ntt_pass_args pass, const struct ntt_word_args word)
{
    extern __shared__ fr tile[];
    const bool is_permuted = pass.flags & NTT_NATURAL_OUTPUT;
    if (pass.flags & NTT_TRIGGERS_DEPENDENT)
        pdl_trigger();
    pdl_wait();
#pragma unroll 1
    for (unsigned round = 0; round < ROUNDS; round++) {
        fr x[16];
        unsigned place;
        if (load_first(pass, x, threadIdx.x + round * NTT_THREADS, &place))
            first_stage(pass, word, x, tile, place);
    }
    __syncthreads();
    if (NTT_LENGTH > 8) {
#pragma unroll 1
        for (unsigned round = 0; round < ROUNDS; round++)
            second_stage(pass, word, tile, threadIdx.x + round * NTT_THREADS);
        __syncthreads();
    }
    if (!is_permuted && pass.log_size == pass.log_done + NTT_LENGTH && LOG_COLUMNS >= 2) {
#pragma unroll 1
        for (unsigned round = 0; round < ROUNDS; round++)
            last_stage_of_rows(pass, word, tile, threadIdx.x + round * NTT_THREADS);
        return;
    }
#pragma unroll 1
    for (unsigned round = 0; round < ROUNDS; round++)
        last_stage(pass, word, tile, threadIdx.x + round * NTT_THREADS);
}
