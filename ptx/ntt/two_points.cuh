/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes with a block per sub-transform and two points per thread, for transforms that give a
 * scheduler few warps (256-bit 2^16: two). There latency decides, not the multiplier: a stage has
 * no branches and no addresses of a tile, and a thread exchanges one of its points only, by a
 * shuffle where its partner is in the same warp. Included by pass.cu after store.cuh.
 */
#ifndef PTX_NTT_TWO_POINTS_CUH
#define PTX_NTT_TWO_POINTS_CUH

#define HAS_TWO_POINT_PASSES (NTT_RADIX == 1 && FR_WORDS == 8)

#if HAS_TWO_POINT_PASSES

#define LOG_WARP 5

/* Uniform in a launch. */
__device__ __forceinline__ bool has_two_points(const struct ntt_pass_args &pass)
{
    return pass.log_tile_width == 0 && pass.log_length > LOG_WARP;
}

/* The first point of a stage is the one whose bit log_distance is 0; the thread's index is the
 * local index without that bit. */
__device__ __forceinline__ struct twiddle load_second_twiddle(
    const struct ntt_pass_args &pass, unsigned log_distance)
{
    unsigned below = threadIdx.x & ((1u << log_distance) - 1);
    return load_twiddle(pass, pass.stage_twiddles, (3u << log_distance) + below);
}

/* Two buffers take turns, so that one barrier per exchange is enough. */
__device__ __forceinline__ fr exchange_in_tile(unsigned *tile, fr sent, unsigned partner)
{
    unsigned *buffer = tile + (__ffs(partner) & 1 ? NTT_THREADS : 0);
    tile_store(buffer, PLANE, threadIdx.x, sent);
    __syncthreads();
    return tile_load(buffer, PLANE, threadIdx.x ^ partner);
}

/* From points that differ in bit log_distance of the local index to points that differ in the bit
 * below: a thread keeps one of its points, and gets the other from the thread that has it. */
__device__ __forceinline__ void exchange_points(fr *x, unsigned *tile, unsigned log_distance)
{
    const unsigned partner = 1u << (log_distance - 1);
    const bool keeps_second = threadIdx.x & partner;
    fr point;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        point.word[w] = keeps_second ? x[0].word[w] : x[1].word[w];
    if (log_distance <= LOG_WARP) {
#pragma unroll
        for (unsigned w = 0; w < FR_WORDS; w++)
            point.word[w] = __shfl_xor_sync(0xffffffffu, point.word[w], partner);
    } else {
        point = exchange_in_tile(tile, point, partner);
    }
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++) {
        x[0].word[w] = keeps_second ? point.word[w] : x[0].word[w];
        x[1].word[w] = keeps_second ? x[1].word[w] : point.word[w];
    }
}

__device__ __forceinline__ void two_point_stages(const struct ntt_pass_args &pass, unsigned *tile)
{
    fr x[2], difference;
    struct twiddle twiddle[2];
    const struct butterfly first = {pass.log_length - 1, 0, threadIdx.x};
    const struct butterfly last = {0, 0, threadIdx.x << 1};
    const bool stores_registers = pass.flags & NTT_STORE_REGISTERS;
    twiddle[1] = load_second_twiddle(pass, first.log_distance);
    if (pass.flags & NTT_LOAD_REGISTERS) {
        pdl_wait();
        load_registers(pass, x, first);
    } else {
        load_points(tile, x, tile_points_of(pass, first));
        __syncthreads(); /* before the tile is a buffer */
    }
#pragma unroll 1
    for (unsigned log_distance = first.log_distance; log_distance != 0; log_distance--) {
        difference = sub_before_twiddle(x[0], x[1]);
        x[0] = fr_add_lazy(x[0], x[1]);
        x[1] = mul_twiddle(difference, twiddle[1]);
        /* Those of the next stage, while points are exchanged. */
        if (log_distance > 1)
            twiddle[1] = load_second_twiddle(pass, log_distance - 1);
        else if (stores_registers && pass.log_size != pass.log_done + pass.log_length)
            prefetch_pass_twiddles(pass, twiddle,
                sub_transform_at(pass, pass.first_block + blockIdx.x).sub, last.local);
        exchange_points(x, tile, log_distance);
    }
    difference = fr_sub_lazy(x[0], x[1]);
    x[0] = fr_add_lazy(x[0], x[1]);
    x[1] = difference;
    if (stores_registers) {
        store_registers(pass, x, twiddle, last);
        return;
    }
    __syncthreads(); /* before the buffer is a tile again */
    store_points(tile, x, tile_points_of(pass, last));
    __syncthreads();
    store_tile(pass, tile);
}

#endif

#endif
