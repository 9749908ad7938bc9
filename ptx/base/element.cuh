/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves field elements between registers, shared memory and global memory. A tile of 2^k elements
 * in shared memory is stored as one plane per word, so that neighbouring threads access
 * neighbouring banks; one word of padding after every 2^PAD elements avoids bank conflicts for the
 * strides of a radix-2^PAD stage. Uses only the names that the generated field source defines with
 * prefix fr.
 */
#ifndef PTX_BASE_ELEMENT_CUH
#define PTX_BASE_ELEMENT_CUH

/* Offset of an element within its planes, padding included. */
__device__ __forceinline__ unsigned tile_offset(unsigned index, unsigned pad)
{
    return index + (index >> pad);
}

__device__ __forceinline__ fr tile_load(const unsigned *tile, unsigned plane, unsigned offset)
{
    /* One address: the distances of the words from it are compile-time constants. */
    const unsigned *from = tile + offset;
    fr x;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        x.word[w] = from[w * plane];
    return x;
}

__device__ __forceinline__ void tile_store(unsigned *tile, unsigned plane, unsigned offset, fr x)
{
    unsigned *to = tile + offset;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        to[w * plane] = x.word[w];
}

/* Reverses the lowest `bits` bits of x; 0 for bits == 0. */
__device__ __forceinline__ unsigned reverse_bits(unsigned x, unsigned bits)
{
    return (__brev(x) >> 1) >> (31 - bits);
}

__device__ __forceinline__ unsigned long long reverse_bits_long(unsigned long long x, unsigned bits)
{
    return (__brevll(x) >> 1) >> (63 - bits);
}

/* Load and store element `index` of an array whose elements are `stride` words apart and aligned to
 * 4 bytes. */
__device__ __forceinline__ fr strided_load(
    const unsigned *base, unsigned long long index, unsigned long long stride)
{
    fr x;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        x.word[w] = base[index * stride + w];
    return x;
}

__device__ __forceinline__ void strided_store(
    unsigned *base, unsigned long long index, unsigned long long stride, fr x)
{
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        base[index * stride + w] = x.word[w];
}

#endif
