/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-random words from numbers that follow each other. */
#ifndef BASE_MIX_H
#define BASE_MIX_H

#include <stdint.h>

/* SplitMix64's state advances by this. */
#define BASE_MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014): a bijection that mixes
 * every bit. */
static inline uint64_t base_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
