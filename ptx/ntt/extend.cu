/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first log_blowup bits of coset transforms of 2^(log_points + log_blowup) points of which all
 * but the first 2^log_points are zero.
 *
 * A butterfly over those bits has one input that is not zero, coefficient j times g^j, so that each
 * of its outputs is that input times a twiddle: output c is the input times w^(c j), stored at the
 * position of j in part c bit-reversed. The passes of pass.cu transform the remaining bits.
 *
 * A thread reads one coefficient and writes 2^log_blowup elements; neighbouring threads write
 * neighbouring elements. Values are in [0, 2p) where the field has room for that.
 */
#include "fr.cuh"

#include "base/element.cuh"

#include "ntt/extend_args.h"

typedef unsigned long long u64;

__device__ __forceinline__ fr power(const fr *high, const fr *low, unsigned low_bits, u64 exponent)
{
    fr factor = high[exponent >> low_bits];
    if (low != nullptr)
        factor = fr_mul_lazy(factor, low[exponent & ((1ull << low_bits) - 1)]);
    return factor;
}

/* The memory index of element `position` of transform `batch`, with 2^log_size elements each. */
__device__ __forceinline__ u64 index_of(
    const struct ntt_extend_args &args, u64 batch, u64 position, unsigned log_size)
{
    return args.flags & NTT_INTERLEAVED ? position * args.batch + batch
                                        : (batch << log_size) + position;
}

extern "C" __global__ void __launch_bounds__(NTT_EXTEND_THREADS)
    ntt_extend(const struct ntt_extend_args args)
{
    u64 index = (u64)(args.first_block + blockIdx.x) * NTT_EXTEND_THREADS + threadIdx.x;
    if (index >= args.count)
        return;
    bool is_interleaved = args.flags & NTT_INTERLEAVED;
    u64 j = is_interleaved ? index / args.batch : index & ((1ull << args.log_points) - 1);
    u64 batch = is_interleaved ? index - j * args.batch : index >> args.log_points;
    u64 from = args.flags & NTT_REVERSED_INPUT ? reverse_bits_long(j, args.log_points) : j;
    fr x = args.in[index_of(args, batch, from, args.log_points)];
    fr twiddle = power(args.twiddles_high, args.twiddles_low, args.low_bits, j);
    x = fr_mul_lazy(x, power(args.coset_high, args.coset_low, args.low_bits, j));
#pragma unroll 1
    for (unsigned c = 0; c < 1u << args.log_blowup; c++) {
        u64 part = reverse_bits(c, args.log_blowup);
        args.out[index_of(
            args, batch, part << args.log_points | j, args.log_points + args.log_blowup)] = x;
        x = fr_mul_lazy(x, twiddle);
    }
}
