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
 * one radix-2^NTT_RADIX stage; between stages the points are exchanged through shared memory. The
 * block waits for an exchange only where points change warps.
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

#include "ntt/stages.cuh"

#include "ntt/store.cuh"

#include "ntt/two_points.cuh"

__device__ __forceinline__ void long_sub_transforms(
    const struct ntt_pass_args &pass, unsigned *tile)
{
    struct butterfly butterfly;
    fr x[POINTS];
#if HAS_TWO_POINT_PASSES
    if (has_two_points(pass)) {
        two_point_stages(pass, tile);
        return;
    }
#endif
    butterfly = compute_stages(pass, tile, x);
    if (pass.flags & NTT_STORE_REGISTERS)
        store_registers(pass, x, nullptr, butterfly);
    else
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
