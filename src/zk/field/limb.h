/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic on single 64-bit limbs without branches, written so that compilers do not create any.
 */
#ifndef FIELD_LIMB_H
#define FIELD_LIMB_H

#include "zk/field/field.h"
#include "zk/field/integer.h"

#if defined(__x86_64__)
#include <immintrin.h>

/*
 * sum = x + y + carry, difference = x - y - borrow; return the carry or borrow. Compilers do not
 * reduce the portable C below to the one instruction of this processor.
 */
static inline uint64_t field_limb_add(uint64_t *sum, uint64_t x, uint64_t y, uint64_t carry)
{
    unsigned long long limb;
    uint64_t out = _addcarry_u64((unsigned char)carry, x, y, &limb);

    *sum = limb;
    return out;
}

static inline uint64_t field_limb_sub(uint64_t *difference, uint64_t x, uint64_t y, uint64_t borrow)
{
    unsigned long long limb;
    uint64_t out = _subborrow_u64((unsigned char)borrow, x, y, &limb);

    *difference = limb;
    return out;
}

#else

static inline uint64_t field_limb_add(uint64_t *sum, uint64_t x, uint64_t y, uint64_t carry)
{
    field_wide wide = (field_wide)x + y + carry;

    *sum = (uint64_t)wide;
    return (uint64_t)(wide >> 64);
}

static inline uint64_t field_limb_sub(uint64_t *difference, uint64_t x, uint64_t y, uint64_t borrow)
{
    field_wide wide = (field_wide)x - y - borrow;

    *difference = (uint64_t)wide;
    return (uint64_t)(wide >> 64) & 1;
}

#endif

/*
 * All ones if the bit is 1, 0 if it is 0: every selection by a value takes its mask from here. The
 * empty statement hides that the mask has only these two values: without it clang 19 and newer at
 * -O3 branch on the bit instead of using the mask (in field_halve and field_reduce_once).
 */
static inline uint64_t field_limb_mask(uint64_t bit)
{
    uint64_t mask = 0 - bit;

    __asm__("" : "+r"(mask));
    return mask;
}

/*
 * Selects the first if the mask is all ones, the second if it is 0. The empty statement hides where
 * the limb came from: without it gcc 12 chooses two limbs at a time in vector registers, whose
 * loads wait for the limbs stored just before, and field_add takes 25 ns instead of 6.
 */
static inline uint64_t field_limb_choose(uint64_t mask, uint64_t if_ones, uint64_t if_zero)
{
    uint64_t chosen = (if_ones & mask) | (if_zero & ~mask);

    __asm__("" : "+r"(chosen));
    return chosen;
}

/* result = high:x - p if that is not negative, else x. */
static inline __attribute__((always_inline)) void field_reduce_once(
    uint64_t *result, uint64_t high, const uint64_t *x, const uint64_t *p, size_t n)
{
    uint64_t reduced[FIELD_MAX_LIMBS];
    uint64_t borrow = 0;
    uint64_t keep;

    for (size_t i = 0; i < n; i++)
        borrow = field_limb_sub(&reduced[i], x[i], p[i], borrow);
    keep = field_limb_mask(borrow & (high ^ 1)); /* all ones when x < p */
    for (size_t i = 0; i < n; i++)
        result[i] = field_limb_choose(keep, x[i], reduced[i]);
}

#endif
