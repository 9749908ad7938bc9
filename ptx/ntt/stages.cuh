/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of a pass, between which points change threads through the tile; pass.cu and split.cu
 * differ in what follows. Included after tile.cuh.
 */
#ifndef PTX_NTT_STAGES_CUH
#define PTX_NTT_STAGES_CUH

/* Where point e of a butterfly is in the tile: at tile_offset(index + e distance), that is, because
 * the bits of `index` that e replaces are 0, at tile_offset(index) + tile_offset(e distance). */
struct tile_points {
    unsigned index;
    unsigned distance;
};

__device__ __forceinline__ struct tile_points tile_points_of(
    const struct ntt_pass_args &pass, struct butterfly butterfly)
{
    struct tile_points points;
    points.index = tile_index(pass, butterfly.sub, butterfly.local);
    points.distance = 1u << (butterfly.log_distance + pass.log_tile_inner);
    return points;
}

__device__ __forceinline__ unsigned tile_point(struct tile_points points, unsigned e)
{
    if (HAS_SHORT_ELEMENTS)
        return tile_offset(points.index + e * points.distance, NTT_RADIX);
    return tile_offset(points.index, NTT_RADIX) + tile_offset(e * points.distance, NTT_RADIX);
}

__device__ __forceinline__ void load_points(const unsigned *tile, fr *x, struct tile_points points)
{
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        x[e] = tile_load(tile, PLANE, tile_point(points, e));
}

__device__ __forceinline__ void store_points(unsigned *tile, const fr *x, struct tile_points points)
{
#pragma unroll
    for (unsigned e = 0; e < POINTS; e++)
        tile_store(tile, PLANE, tile_point(points, e), x[e]);
}

/*
 * Computes all stages. The outputs of the last one stay in x where the pass stores them from
 * registers and not `always_to_tile`, else they are in the tile. Returns the last butterfly.
 */
#if HAS_SHORT_ELEMENTS
/* One copy of the butterfly serves all stages: its code is long. */
__device__ __forceinline__ struct butterfly compute_stages(
    const struct ntt_pass_args &pass, unsigned *tile, fr *x, bool always_to_tile = false)
{
    struct butterfly butterfly = butterfly_of(pass, 0);
#pragma unroll 1
    for (unsigned done = 0; done < pass.log_length; done += NTT_RADIX) {
        const bool is_last = butterfly.log_distance == 0;
        const struct tile_points points = tile_points_of(pass, butterfly);
        if (done == 0 && pass.flags & NTT_LOAD_REGISTERS) {
            pdl_wait();
            load_registers(pass, x, butterfly);
        } else {
            load_points(tile, x, points);
        }
        compute_butterfly(pass, x, min(NTT_RADIX, pass.log_length - done));
        if (!is_last)
            apply_stage_twiddles(pass, x, butterfly);
        if (is_last && !always_to_tile && pass.flags & NTT_STORE_REGISTERS)
            return butterfly;
        store_points(tile, x, points);
        butterfly = butterfly_of(pass, done + NTT_RADIX);
        __syncthreads();
    }
    return butterfly;
}
#else
/* No branches in the loop: every instruction besides the wide multiplications takes a quarter of
 * the time of one. The block waits for an exchange only where points change warps. */
__device__ __forceinline__ struct butterfly compute_stages(
    const struct ntt_pass_args &pass, unsigned *tile, fr *x, bool always_to_tile = false)
{
    const unsigned rest = pass.log_length % NTT_RADIX;
    struct butterfly butterfly = butterfly_of(pass, 0);
    if (pass.flags & NTT_LOAD_REGISTERS) {
        pdl_wait();
        load_registers(pass, x, butterfly);
    } else {
        load_points(tile, x, tile_points_of(pass, butterfly));
    }
#pragma unroll 1
    for (unsigned done = NTT_RADIX; butterfly.log_distance != 0; done += NTT_RADIX) {
        compute_butterfly(pass, x, NTT_RADIX, true);
        apply_stage_twiddles(pass, x, butterfly);
        store_points(tile, x, tile_points_of(pass, butterfly));
        if (butterfly.log_distance <= pass.flags >> NTT_IN_WARP_SHIFT)
            __syncwarp();
        else
            __syncthreads();
        butterfly = butterfly_of(pass, done);
        load_points(tile, x, tile_points_of(pass, butterfly));
    }
    compute_butterfly(pass, x, rest != 0 ? rest : NTT_RADIX);
    if (always_to_tile || !(pass.flags & NTT_STORE_REGISTERS)) {
        store_points(tile, x, tile_points_of(pass, butterfly));
        __syncthreads();
    }
    return butterfly;
}
#endif

#endif
