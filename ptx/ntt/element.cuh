/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements between registers, shared memory and global memory. Shared memory holds a tile of 2^k
 * elements as one plane a word, so that neighbouring threads hit neighbouring banks; a gap of one
 * word after every 2^PAD elements keeps the strides of a radix-2^PAD step from meeting in a bank.
 * Knows the names of the generated field text under the prefix fr only.
 */
__device__ __forceinline__ unsigned tile_place(unsigned index, unsigned pad)
{
    return index + (index >> pad);
}

__device__ __forceinline__ fr tile_get(const unsigned *tile, unsigned plane, unsigned place)
{
    const unsigned *from = tile + place; /* one address: the words are at known distances from it */
    fr x;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        x.word[w] = from[w * plane];
    return x;
}

__device__ __forceinline__ void tile_put(unsigned *tile, unsigned plane, unsigned place, fr x)
{
    unsigned *to = tile + place;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        to[w * plane] = x.word[w];
}

/* The lowest `bits` bits of `x` in reverse; 0 bits give 0. */
__device__ __forceinline__ unsigned reverse_bits(unsigned x, unsigned bits)
{
    return (__brev(x) >> 1) >> (31 - bits);
}

__device__ __forceinline__ unsigned long long reverse_long(unsigned long long x, unsigned bits)
{
    return (__brevll(x) >> 1) >> (63 - bits);
}

/* Element `index` of memory in which elements are `stride` words apart and aligned to words only.
 */
__device__ __forceinline__ fr word_get(
    const unsigned *base, unsigned long long index, unsigned long long stride)
{
    fr x;
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        x.word[w] = base[index * stride + w];
    return x;
}

__device__ __forceinline__ void word_put(
    unsigned *base, unsigned long long index, unsigned long long stride, fr x)
{
#pragma unroll
    for (unsigned w = 0; w < FR_WORDS; w++)
        base[index * stride + w] = x.word[w];
}
