/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of 32-bit lanes in the host's registers, for the handlers that the compiler does not
 * vectorise well: the 64-bit product of two lanes, and carries. Included by lanes.h, once per
 * instruction set.
 */
#if SIM_LANES_BYTES == 64 || SIM_LANES_BYTES == 32
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* Vectors of a frame: aligned, and accessed as other types elsewhere. */
typedef uint32_t vec __attribute__((vector_size(SIM_LANES_BYTES), may_alias));
typedef int32_t vec_signed __attribute__((vector_size(SIM_LANES_BYTES), may_alias));

typedef uint64_t vec_wide __attribute__((vector_size(SIM_LANES_BYTES), may_alias));
typedef int64_t vec_wide_signed __attribute__((vector_size(SIM_LANES_BYTES), may_alias));

enum { VECTORS = SIM_LANES * 4 / SIM_LANES_BYTES }; /* per vector register of 32-bit lanes */

#define EACH_VECTOR _Pragma("GCC unroll 8") for (unsigned i = 0; i < VECTORS; i++)
#define VECTOR_INLINE static inline __attribute__((always_inline)) UNCHECKED

/* a * b in each lane: its low and its high 32 bits. */
VECTOR_INLINE void multiply_wide(vec a, vec b, vec *low, vec *high)
{
#if SIM_LANES_BYTES == 64
    __m512i even = _mm512_mul_epu32((__m512i)a, (__m512i)b);
    __m512i odd =
        _mm512_mul_epu32(_mm512_srli_epi64((__m512i)a, 32), _mm512_srli_epi64((__m512i)b, 32));
    *low = (vec)_mm512_mask_shuffle_epi32(even, 0xaaaa, odd, (_MM_PERM_ENUM)0xa0);
    *high = (vec)_mm512_mask_shuffle_epi32(odd, 0x5555, even, (_MM_PERM_ENUM)0xf5);
#elif SIM_LANES_BYTES == 32
    __m256i even = _mm256_mul_epu32((__m256i)a, (__m256i)b);
    __m256i odd =
        _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a, 32), _mm256_srli_epi64((__m256i)b, 32));
    *low = (vec)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
    *high = (vec)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
#elif defined(__SSE2__)
    __m128i even = _mm_mul_epu32((__m128i)a, (__m128i)b);
    __m128i odd = _mm_mul_epu32(_mm_srli_epi64((__m128i)a, 32), _mm_srli_epi64((__m128i)b, 32));
    __m128i even_halves = _mm_shuffle_epi32(even, 0xd8), odd_halves = _mm_shuffle_epi32(odd, 0xd8);
    *low = (vec)_mm_unpacklo_epi32(even_halves, odd_halves);
    *high = (vec)_mm_unpackhi_epi32(even_halves, odd_halves);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    uint32x4_t first =
        vreinterpretq_u32_u64(vmull_u32(vget_low_u32((uint32x4_t)a), vget_low_u32((uint32x4_t)b)));
    uint32x4_t second = vreinterpretq_u32_u64(vmull_high_u32((uint32x4_t)a, (uint32x4_t)b));
    *low = (vec)vuzp1q_u32(first, second);
    *high = (vec)vuzp2q_u32(first, second);
#else
    for (unsigned k = 0; k < SIM_LANES_BYTES / 4; k++) {
        uint64_t product = (uint64_t)a[k] * b[k];
        (*low)[k] = (uint32_t)product;
        (*high)[k] = (uint32_t)(product >> 32);
    }
#endif
}

/* The carry of x + y + carry, whose low 32 bits are the total: all ones or 0 in each lane. */
VECTOR_INLINE vec carry_of(vec x, vec y, vec total)
{
#if SIM_LANES_BYTES == 64
    return (
        vec)((vec_signed)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)y, (__m512i)total, 0xd4) >>
             31);
#else
    return (vec)((vec_signed)((x & y) | ((x | y) & ~total)) >> 31);
#endif
}

/* The same for the borrow of x - y - borrow. */
VECTOR_INLINE vec borrow_of(vec x, vec y, vec rest)
{
#if SIM_LANES_BYTES == 64
    return (
        vec)((vec_signed)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)y, (__m512i)rest, 0x8e) >>
             31);
#else
    return (vec)((vec_signed)((~x & y) | (~(x ^ y) & rest)) >> 31);
#endif
}

/* All ones in each of the lanes of a mask, from the lanes of vector i. */
VECTOR_INLINE vec spread_mask(uint32_t lanes, unsigned i)
{
    vec bits;
    for (unsigned k = 0; k < SIM_LANES_BYTES / 4; k++)
        bits[k] = 1u << (i * (SIM_LANES_BYTES / 4) + k);
    return (vec)((bits & lanes) != 0);
}

/* A vector of 0 or all ones in each lane as bits. */
#define FULL_BITS (SIM_LANES_BYTES == 64 ? 0xffffu : (1u << (SIM_LANES_BYTES / 4)) - 1)

VECTOR_INLINE uint32_t bits_of(vec flags)
{
#if SIM_LANES_BYTES == 64
    return _mm512_movepi32_mask((__m512i)flags);
#elif SIM_LANES_BYTES == 32
    return (uint32_t)_mm256_movemask_ps((__m256)flags);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)flags);
#else
    uint32_t bits = 0;
    for (unsigned k = 0; k < SIM_LANES_BYTES / 4; k++)
        bits |= (flags[k] & 1) << k;
    return bits;
#endif
}

/* The same for lanes of 64 bits. */
VECTOR_INLINE uint32_t bits_of_wide(vec_wide flags)
{
#if SIM_LANES_BYTES == 64
    return _mm512_movepi64_mask((__m512i)flags);
#elif SIM_LANES_BYTES == 32
    return (uint32_t)_mm256_movemask_pd((__m256d)flags);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_pd((__m128d)flags);
#else
    uint32_t bits = 0;
    for (unsigned k = 0; k < SIM_LANES_BYTES / 8; k++)
        bits |= (uint32_t)(flags[k] & 1) << k;
    return bits;
#endif
}
