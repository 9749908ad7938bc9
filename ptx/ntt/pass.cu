/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trip of a transform through memory: 2^b-point transforms over `b` bits of the index, in place
 * but for the first trip's gather and the last one's scatter.
 *
 * The transform of 2^L points is done by decimation in frequency, some bits a trip from the top
 * down: a trip that comes after `before` bits takes the points that differ in the next b bits of
 * their position (a column), transforms them, and multiplies output k of column c by w^(k c), c
 * being the bits below. Output k stands at the position that is k reversed, so all trips together
 * turn natural order into bit-reversed order. A first trip that loads from reversed positions takes
 * bit-reversed input, a last trip that stores to reversed positions gives natural output; both see
 * to it that neighbouring threads use neighbouring addresses.
 *
 * A block transforms a tile of 2^t columns. Each thread holds 2^NTT_RADIX points in registers for
 * NTT_RADIX stages; between them points change hands through shared memory. NTT_RADIX,
 * NTT_THREADS and NTT_BLOCKS (at once on a multiprocessor, which bounds the registers) come from the
 * plan: more points a thread mean fewer exchanges and more registers. NTT_SHIFT is not 0 where the
 * roots of a thread's own transforms are powers of two.
 *
 * Values are in [0, 2p) where the field has room, and are reduced by the last trip.
 */
#include "fr.cuh"

#include "ntt/element.cuh"

#include "ntt/pass.cuh"

#define POINTS (1u << NTT_RADIX)

#if NTT_SHIFT
#include "ntt/shifts.cuh"
#else
#include "ntt/transform.cuh"
#endif

typedef unsigned long long u64;

/* w_s^(power), s = 2^(bits of the table): a product of two table entries where the table of all
 * powers would be too long. */
__device__ __forceinline__ fr two_level(const fr *high, const fr *low, unsigned low_bits, u64 power)
{
    fr factor = high[power >> low_bits];
    if (low != nullptr)
        factor = fr_mul_lazy(factor, low[power & ((1ull << low_bits) - 1)]);
    return factor;
}

/* Where column `column` of the whole launch is: its transform in the batch, and its number there.
 */
struct place {
    u64 batch;
    u64 column;
};

__device__ __forceinline__ struct place place_of(const struct ntt_pass &pass, u64 column)
{
    struct place place;
    if (pass.flags & NTT_COLUMNS) {
        place.column = column / pass.batch;
        place.batch = column - place.column * pass.batch;
    } else {
        place.batch = column >> (pass.log_size - pass.bits);
        place.column = column & ((1ull << (pass.log_size - pass.bits)) - 1);
    }
    return place;
}

__device__ __forceinline__ u64 address_of(const struct ntt_pass &pass, u64 batch, u64 position)
{
    return pass.flags & NTT_COLUMNS ? position * pass.batch + batch
                                    : (batch << pass.log_size) + position;
}

/* Position in memory of point `digit` of a column when nothing is moved. */
__device__ __forceinline__ u64 position_of(const struct ntt_pass &pass, u64 column, u64 digit)
{
    unsigned low = pass.log_size - pass.before - pass.bits;
    return (((column >> low << pass.bits) | digit) << low) | (column & ((1ull << low) - 1));
}

/* The same when loading; `digit` counts along the addresses, which the gather reverses. */
__device__ __forceinline__ u64 load_position(const struct ntt_pass &pass, u64 column, u64 digit)
{
    unsigned rest = pass.log_size - pass.bits;
    if (pass.flags & (NTT_GATHER | NTT_SCATTER))
        return (reverse_long(column, rest) << pass.bits) | digit;
    return position_of(pass, column, digit);
}

/* Output `digit` of a column that is stored to its natural place, else as it was loaded. */
__device__ __forceinline__ u64 store_position(const struct ntt_pass &pass, u64 column, u64 digit)
{
    if (pass.flags & NTT_SCATTER)
        return (digit << (pass.log_size - pass.bits)) | column;
    return position_of(pass, column, digit);
}

/* Coefficient j is multiplied by g^j on the way in. */
__device__ __forceinline__ fr prepare(const struct ntt_pass &pass, fr x, u64 column, unsigned digit)
{
    if (pass.flags & NTT_COSET_IN) {
        u64 power = ((u64)digit << (pass.log_size - pass.bits)) | column;
        x = fr_mul_lazy(x, pass.coset_high[power >> pass.low_bits]);
        if (pass.coset_low != nullptr)
            x = fr_mul_lazy(x, pass.coset_low[power & ((1ull << pass.low_bits) - 1)]);
    }
    return x;
}

/* What a column's output at local position `digit` is multiplied by on the way out. */
__device__ __forceinline__ fr finish(const struct ntt_pass &pass, fr x, u64 column, unsigned digit)
{
    unsigned low = pass.log_size - pass.before - pass.bits;
    unsigned output = reverse_bits(digit, pass.bits);
    if (low != 0) {
        u64 power = (column & ((1ull << low) - 1)) * output << pass.power_shift;
        x = fr_mul_lazy(x, pass.high[power >> pass.low_bits]);
        if (pass.low != nullptr)
            x = fr_mul_lazy(x, pass.low[power & ((1ull << pass.low_bits) - 1)]);
        return x;
    }
    if (pass.flags & NTT_COSET_OUT) {
        unsigned rest = pass.log_size - pass.bits;
        u64 first = pass.flags & NTT_SCATTER ? column : reverse_long(column, rest);
        x = fr_mul_lazy(x, two_level(pass.coset_high, pass.coset_low, pass.low_bits,
                               ((u64)output << rest) | first));
    }
    if (pass.scale != nullptr)
        x = fr_mul_lazy(x, *pass.scale);
    return fr_reduce(x);
}

/* A tile's index is (upper columns, digit, lower columns): column and digit apart and together. */
__device__ __forceinline__ unsigned tile_index(
    const struct ntt_pass &pass, unsigned column, unsigned digit)
{
    unsigned lower = column & ((1u << pass.lower_columns) - 1);
    return (((column >> pass.lower_columns << pass.bits) | digit) << pass.lower_columns) | lower;
}

__device__ __forceinline__ unsigned tile_digit(const struct ntt_pass &pass, unsigned index)
{
    return (index >> pass.lower_columns) & ((1u << pass.bits) - 1);
}

__device__ __forceinline__ unsigned tile_column(const struct ntt_pass &pass, unsigned index)
{
    return (index >> (pass.lower_columns + pass.bits) << pass.lower_columns) |
           (index & ((1u << pass.lower_columns) - 1));
}

/* Item `i` of the tile in the order of addresses: down the column first or across columns first. */
__device__ __forceinline__ void in_order(const struct ntt_pass &pass, unsigned i, bool across,
    unsigned *column, unsigned *digit)
{
    *column = across ? i & ((1u << pass.log_columns) - 1) : i >> pass.bits;
    *digit = across ? i >> pass.log_columns : i & ((1u << pass.bits) - 1);
}

__device__ __forceinline__ void load_tile(const struct ntt_pass &pass, unsigned *tile, unsigned plane)
{
    u64 first = (u64)blockIdx.x << pass.log_columns;
    unsigned size = 1u << (pass.bits + pass.log_columns);
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
        unsigned column, digit;
        in_order(pass, i, pass.flags & NTT_LOAD_ACROSS, &column, &digit);
        fr x = fr_zero();
        unsigned local = pass.flags & NTT_GATHER ? reverse_bits(digit, pass.bits) : digit;
        if (first + column < pass.columns) {
            struct place at = place_of(pass, first + column);
            x = pass.in[address_of(pass, at.batch, load_position(pass, at.column, digit))];
            x = prepare(pass, x, at.column, local);
        }
        tile_put(tile, plane, tile_place(tile_index(pass, column, local), NTT_RADIX), x);
    }
    __syncthreads();
}

__device__ __forceinline__ void store_tile(
    const struct ntt_pass &pass, const unsigned *tile, unsigned plane)
{
    u64 first = (u64)blockIdx.x << pass.log_columns;
    unsigned size = 1u << (pass.bits + pass.log_columns);
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
        unsigned column, digit;
        in_order(pass, i, pass.flags & NTT_STORE_ACROSS, &column, &digit);
        if (first + column >= pass.columns)
            continue;
        unsigned local = pass.flags & NTT_SCATTER ? reverse_bits(digit, pass.bits) : digit;
        struct place at = place_of(pass, first + column);
        fr x = tile_get(tile, plane, tile_place(tile_index(pass, column, local), NTT_RADIX));
        x = finish(pass, x, at.column, local);
        pass.out[address_of(pass, at.batch, store_position(pass, at.column, digit))] = x;
    }
}

/*
 * Where a thread's points are in a step: column and digit of the first one; the others follow at
 * multiples of 2^below. Neighbouring threads have neighbouring columns (across) or digits.
 */
struct share {
    unsigned column;
    unsigned digit;
};

__device__ __forceinline__ struct share share_of(
    const struct ntt_pass &pass, unsigned below, bool across)
{
    unsigned high = pass.bits - NTT_RADIX; /* bits of the digit that are the thread's number */
    unsigned rest = across ? threadIdx.x >> pass.log_columns : threadIdx.x & ((1u << high) - 1);
    struct share share;
    share.column =
        across ? threadIdx.x & ((1u << pass.log_columns) - 1) : threadIdx.x >> high;
    share.digit = (rest >> below << (below + NTT_RADIX)) | (rest & ((1u << below) - 1));
    return share;
}

/* The points of the first step straight from memory. */
__device__ __forceinline__ void load_points(const struct ntt_pass &pass, fr *x, struct share share)
{
    u64 column = ((u64)blockIdx.x << pass.log_columns) + share.column;
    struct place at = place_of(pass, column);
    const fr *in =
        pass.in + address_of(pass, at.batch, load_position(pass, at.column, share.digit));
    bool is_run = pass.flags & NTT_SCATTER;
    unsigned low = is_run ? 0 : pass.log_size - pass.before - pass.bits;
    u64 step = 1ull << (pass.bits - NTT_RADIX + low);
    if (pass.flags & NTT_COLUMNS)
        step *= pass.batch;
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        x[e] = column < pass.columns ? in[e * step] : fr_zero();
}

/* The number of the output that a step leaves in register e, of `NTT_RADIX` bits. */
#define OUTPUT(e) (__brev(e) >> (32 - NTT_RADIX))

/* Output o of a step with more bits below, `digit_low`, is turned by w^(o digit_low): see
 * root_levels of tables.cu for the order of the table, in which neighbours are neighbours. */
__device__ __forceinline__ void turn(fr *x, const fr *roots, unsigned below, unsigned digit_low)
{
    const fr *table = roots + (1u << (below + NTT_RADIX)) + digit_low;
#pragma unroll
    for (unsigned e = 1; e < POINTS; e++)
        x[e] = fr_mul_lazy(x[e], table[OUTPUT(e) << below]);
}

/*
 * The factors w^(k c) between trips, k the output's number. A short element's factors are cheaper
 * to multiply up than to fetch from all over a table; a long one's are not.
 */
__device__ __forceinline__ void turn_outputs(
    const struct ntt_pass &pass, fr *x, u64 column, unsigned digit)
{
    unsigned low = pass.log_size - pass.before - pass.bits;
    column &= (1ull << low) - 1;
    u64 power = column * reverse_bits(digit, pass.bits) << pass.power_shift;
    u64 step = column << (pass.bits - NTT_RADIX + pass.power_shift);
#if FR_WORDS <= 2
    fr factor = two_level(pass.high, pass.low, pass.low_bits, power);
    fr ratio = pass.high[step >> pass.low_bits];
    if (pass.plain_low != nullptr)
        ratio = fr_mul_lazy(ratio, pass.plain_low[step & ((1ull << pass.low_bits) - 1)]);
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        x[OUTPUT(o)] = fr_mul_lazy(x[OUTPUT(o)], factor);
        factor = fr_mul_lazy(factor, ratio);
    }
#else
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        u64 at = power + step * o;
        x[OUTPUT(o)] = fr_mul_lazy(x[OUTPUT(o)], pass.high[at >> pass.low_bits]);
        if (pass.low != nullptr)
            x[OUTPUT(o)] =
                fr_mul_lazy(x[OUTPUT(o)], pass.low[at & ((1ull << pass.low_bits) - 1)]);
    }
#endif
}

/* The outputs of the last step straight to memory. */
__device__ __forceinline__ void store_points(const struct ntt_pass &pass, fr *x, struct share share)
{
    u64 column = ((u64)blockIdx.x << pass.log_columns) + share.column;
    unsigned low = pass.log_size - pass.before - pass.bits;
    bool is_moved = pass.flags & NTT_SCATTER;
    if (column >= pass.columns)
        return;
    struct place at = place_of(pass, column);
    u64 step = 1ull << (is_moved ? pass.log_size - NTT_RADIX : low);
    u64 digit = is_moved ? reverse_bits(share.digit, pass.bits) : share.digit;
    fr *out = pass.out + address_of(pass, at.batch, store_position(pass, at.column, digit));
    if (pass.flags & NTT_COLUMNS)
        step *= pass.batch;
    if (low != 0) {
        turn_outputs(pass, x, at.column, share.digit);
#pragma unroll
        for (unsigned e = 0; e < POINTS; e++)
            out[e * step] = x[e];
        return;
    }
#pragma unroll
    for (unsigned o = 0; o < POINTS; o++) {
        unsigned e = is_moved ? o : OUTPUT(o);
        if (pass.scale != nullptr)
            x[OUTPUT(o)] = fr_mul_lazy(x[OUTPUT(o)], *pass.scale);
        out[e * step] = fr_reduce(x[OUTPUT(o)]);
    }
}

/* Points of columns of less than 2^NTT_RADIX points: a thread has several columns'. */
__device__ void short_columns(const struct ntt_pass &pass, unsigned *tile, unsigned plane)
{
    fr x[POINTS];
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        x[e] = tile_get(tile, plane, tile_place(threadIdx.x * POINTS + e, NTT_RADIX));
    transform(x, pass.roots, pass.bits);
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        tile_put(tile, plane, tile_place(threadIdx.x * POINTS + e, NTT_RADIX), x[e]);
    __syncthreads();
}

__device__ __forceinline__ void long_columns(
    const struct ntt_pass &pass, unsigned *tile, unsigned plane)
{
    fr x[POINTS];
#pragma unroll 1
    for (unsigned done = 0; done < pass.bits; done += NTT_RADIX) {
        unsigned below = pass.bits > done + NTT_RADIX ? pass.bits - done - NTT_RADIX : 0;
        bool is_first = done == 0, is_last = below == 0;
        bool across = is_last ? pass.flags & NTT_STORE_ACROSS
                              : !is_first || pass.flags & NTT_LOAD_ACROSS;
        if (is_first && is_last)
            across = pass.flags & (pass.flags & NTT_LOAD_DIRECT ? NTT_LOAD_ACROSS
                                                                : NTT_STORE_ACROSS);
        struct share share = share_of(pass, below, across);
        unsigned step = 1u << (below + pass.lower_columns);
        unsigned base = tile_index(pass, share.column, share.digit);
        if (is_first && pass.flags & NTT_LOAD_DIRECT) {
            load_points(pass, x, share);
        } else {
#pragma unroll
            for (unsigned e = 0; e < POINTS; e++)
                x[e] = tile_get(tile, plane, tile_place(base + e * step, NTT_RADIX));
        }
        transform(x, pass.roots, min(NTT_RADIX, pass.bits - done));
        if (!is_last)
            turn(x, pass.roots, below, share.digit & ((1u << below) - 1));
        if (is_last && pass.flags & NTT_STORE_DIRECT) {
            store_points(pass, x, share);
            return;
        }
#pragma unroll
        for (unsigned e = 0; e < POINTS; e++)
            tile_put(tile, plane, tile_place(base + e * step, NTT_RADIX), x[e]);
        __syncthreads();
    }
    store_tile(pass, tile, plane);
}

extern "C" __global__ void __launch_bounds__(NTT_THREADS, NTT_BLOCKS)
    ntt_pass(const struct ntt_pass pass)
{
    extern __shared__ unsigned tile[];
    unsigned plane = tile_place(1u << (pass.bits + pass.log_columns), NTT_RADIX);

    if (!(pass.flags & NTT_LOAD_DIRECT))
        load_tile(pass, tile, plane);
    if (pass.bits >= NTT_RADIX) {
        long_columns(pass, tile, plane);
        return;
    }
    if (pass.bits != 0)
        short_columns(pass, tile, plane);
    store_tile(pass, tile, plane);
}
