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
 * NTT_RADIX stages; between them points change hands through shared memory. NTT_RADIX, NTT_THREADS
 * and NTT_BLOCKS (at once on a multiprocessor, which bounds the registers) come from the plan: more
 * points a thread mean fewer exchanges and more registers. NTT_SHIFT is not 0 where the roots of a
 * thread's own transforms are powers of two.
 *
 * Values are in [0, 2p) where the field has room, and are reduced by the last trip.
 *
 * Trips after the first start early: before they wait they touch nothing but the tables.
 */
#include "fr.cuh"

#include "early.cuh"

#include "ntt/element.cuh"

#include "ntt/pass.cuh"

#include "ntt/place.cuh"

#define POINTS (1u << NTT_RADIX)

/* Words of shared memory for one word of every element of a tile, however small the trip's is: the
 * words of an element are then at distances that the compiler knows. */
#define PLANE (NTT_THREADS * (POINTS + 1))

#if NTT_SHIFT
#include "ntt/shifts.cuh"
#else
#include "ntt/transform.cuh"
#endif

#include "ntt/turns.cuh"

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

__device__ __forceinline__ void load_tile(const struct ntt_pass &pass, unsigned *tile)
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
        tile_put(tile, PLANE, tile_place(tile_index(pass, column, local), NTT_RADIX), x);
    }
    __syncthreads();
}

__device__ __forceinline__ void store_tile(
    const struct ntt_pass &pass, const unsigned *tile)
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
        fr x = tile_get(tile, PLANE, tile_place(tile_index(pass, column, local), NTT_RADIX));
        x = finish(pass, x, at.column, local);
        pass.out[address_of(pass, at.batch, store_position(pass, at.column, digit))] = x;
    }
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

/* The outputs of the last step straight to memory. */
__device__ __forceinline__ void store_points(
    const struct ntt_pass &pass, fr *x, const fr *factor, struct share share)
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
        turn_outputs(pass, x, factor, at.column, share.digit);
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
__device__ void short_columns(const struct ntt_pass &pass, unsigned *tile)
{
    fr x[POINTS];
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        x[e] = tile_get(tile, PLANE, tile_place(threadIdx.x * POINTS + e, NTT_RADIX));
    transform(x, pass.roots, pass.bits);
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        tile_put(tile, PLANE, tile_place(threadIdx.x * POINTS + e, NTT_RADIX), x[e]);
    __syncthreads();
}

__device__ __forceinline__ void long_columns(const struct ntt_pass &pass, unsigned *tile)
{
    fr x[POINTS], factor[POINTS];
    struct share share = share_of(pass, 0);
    if (AHEAD)
        fetch(pass, factor, share);
#pragma unroll 1
    for (unsigned done = 0; done < pass.bits; done += NTT_RADIX) {
        bool is_last = share.below == 0;
        unsigned step = 1u << (share.below + pass.lower_columns);
        unsigned base = tile_index(pass, share.column, share.digit);
        if (done == 0 && pass.flags & NTT_LOAD_DIRECT) {
            wait_for_earlier_work();
            load_points(pass, x, share);
        } else {
#pragma unroll
            for (unsigned e = 0; e < POINTS; e++)
                x[e] = tile_get(tile, PLANE, tile_place(base + e * step, NTT_RADIX));
        }
        transform(x, pass.roots, min(NTT_RADIX, pass.bits - done));
        if (!is_last)
            turn(pass, x, factor, share);
        if (is_last && pass.flags & NTT_STORE_DIRECT) {
            store_points(pass, x, factor, share);
            return;
        }
#pragma unroll
        for (unsigned e = 0; e < POINTS; e++)
            tile_put(tile, PLANE, tile_place(base + e * step, NTT_RADIX), x[e]);
        share = share_of(pass, done + NTT_RADIX);
        if (AHEAD && !is_last)
            fetch(pass, factor, share);
        __syncthreads();
    }
    store_tile(pass, tile);
}

extern "C" __global__ void __launch_bounds__(NTT_THREADS, NTT_BLOCKS)
    ntt_pass(const struct ntt_pass pass)
{
    extern __shared__ unsigned tile[];
    if (pass.flags & NTT_HANDS_ON)
        let_next_kernel_start();
    if (!(pass.flags & NTT_LOAD_DIRECT)) {
        wait_for_earlier_work();
        load_tile(pass, tile);
    }
    if (pass.bits >= NTT_RADIX) {
        long_columns(pass, tile);
        return;
    }
    if (pass.bits != 0)
        short_columns(pass, tile);
    store_tile(pass, tile);
}
