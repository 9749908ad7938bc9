/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index arithmetic of a pass: where the points of its sub-transforms are in global memory and in
 * the tile, and which of them a thread processes in a stage. `sub` is the index of a sub-transform,
 * `local` the index of a point within it.
 */
#ifndef PTX_NTT_INDEX_CUH
#define PTX_NTT_INDEX_CUH

typedef unsigned long long u64;

/* Elements of less than a sector. */
#define HAS_SHORT_ELEMENTS (FR_WORDS < 8)

/* A sub-transform of the launch: its transform in the batch, and its index within that. */
struct sub_transform {
    u64 batch;
    u64 sub;
};

__device__ __forceinline__ struct sub_transform sub_transform_at(
    const struct ntt_pass_args &pass, u64 index)
{
    struct sub_transform at;
    if (pass.flags & NTT_INTERLEAVED) {
        at.sub = index / pass.batch;
        at.batch = index - at.sub * pass.batch;
    } else {
        at.batch = index >> (pass.log_size - pass.log_length);
        at.sub = index & ((1ull << (pass.log_size - pass.log_length)) - 1);
    }
    return at;
}

/* Index in memory of element `position` of transform `batch`, where `interleaved` is
 * NTT_INTERLEAVED for loads and NTT_STORE_INTERLEAVED for stores. */
__device__ __forceinline__ u64 memory_index(
    const struct ntt_pass_args &pass, unsigned interleaved, u64 batch, u64 position)
{
    return pass.flags & interleaved ? position * pass.batch + batch
                                    : (batch << pass.log_size) + position;
}

/* Position of a point in its transform. */
__device__ __forceinline__ u64 position_of(const struct ntt_pass_args &pass, u64 sub, u64 local)
{
    unsigned low = pass.log_size - pass.log_done - pass.log_length;
    return (((sub >> low << pass.log_length) | local) << low) | (sub & ((1ull << low) - 1));
}

/* Position that a point is loaded from. With reversed input, `local` counts along the addresses and
 * is reversed afterwards. */
__device__ __forceinline__ u64 load_position(const struct ntt_pass_args &pass, u64 sub, u64 local)
{
    unsigned rest = pass.log_size - pass.log_length;
    if (pass.flags & (NTT_REVERSED_INPUT | NTT_NATURAL_OUTPUT))
        return (reverse_bits_long(sub, rest) << pass.log_length) | local;
    return position_of(pass, sub, local);
}

/* Position that a point is stored to: in natural order, or where it was loaded from. */
__device__ __forceinline__ u64 store_position(const struct ntt_pass_args &pass, u64 sub, u64 local)
{
    if (pass.flags & NTT_NATURAL_OUTPUT)
        return (local << (pass.log_size - pass.log_length)) | sub;
    return position_of(pass, sub, local);
}

/* The layout of a tile is (upper bits of sub, local, lower bits of sub). */
__device__ __forceinline__ unsigned tile_index(
    const struct ntt_pass_args &pass, unsigned sub, unsigned local)
{
    unsigned inner = sub & ((1u << pass.log_tile_inner) - 1);
    return (((sub >> pass.log_tile_inner << pass.log_length) | local) << pass.log_tile_inner) |
           inner;
}

/* Item `i` of the tile in the order of addresses: along a sub-transform, or, transposed, across
 * sub-transforms. */
__device__ __forceinline__ void tile_item(const struct ntt_pass_args &pass, unsigned i,
    bool is_transposed, unsigned *sub, unsigned *local)
{
    *sub = is_transposed ? i & ((1u << pass.log_tile_width) - 1) : i >> pass.log_length;
    *local = is_transposed ? i >> pass.log_tile_width : i & ((1u << pass.log_length) - 1);
}

/*
 * The butterfly that a thread computes in a stage: the sub-transform and local index of its first
 * point; the others follow at multiples of 2^log_distance. Neighbouring threads have neighbouring
 * sub-transforms (transposed) or neighbouring local indices.
 */
struct butterfly {
    unsigned log_distance; /* bits of the local index that later stages transform */
    unsigned sub;
    unsigned local;
};

__device__ __forceinline__ struct butterfly butterfly_at(
    const struct ntt_pass_args &pass, bool is_transposed, unsigned log_distance)
{
    unsigned high = pass.log_length - NTT_RADIX; /* bits of `local` that come from the thread */
    unsigned rest =
        is_transposed ? threadIdx.x >> pass.log_tile_width : threadIdx.x & ((1u << high) - 1);
    struct butterfly butterfly;
    butterfly.log_distance = log_distance;
    butterfly.sub =
        is_transposed ? threadIdx.x & ((1u << pass.log_tile_width) - 1) : threadIdx.x >> high;
    butterfly.local =
        (rest >> log_distance << (log_distance + NTT_RADIX)) | (rest & ((1u << log_distance) - 1));
    return butterfly;
}

/* That of the stage after `done` bits. */
__device__ __forceinline__ struct butterfly butterfly_of(
    const struct ntt_pass_args &pass, unsigned done)
{
    bool is_first = done == 0, is_last = pass.log_length <= done + NTT_RADIX;
    bool is_transposed = is_last    ? pass.flags & NTT_STORE_TRANSPOSED
                         : is_first ? pass.flags & NTT_LOAD_TRANSPOSED
                                    : HAS_SHORT_ELEMENTS || pass.log_tile_inner != 0;
    if (is_first && is_last)
        is_transposed = pass.flags & (pass.flags & NTT_LOAD_REGISTERS ? NTT_LOAD_TRANSPOSED
                                                                      : NTT_STORE_TRANSPOSED);
    return butterfly_at(pass, is_transposed, is_last ? 0 : pass.log_length - done - NTT_RADIX);
}

#endif
