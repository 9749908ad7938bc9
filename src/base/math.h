/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of sizes and counts.
 */
#ifndef BASE_MATH_H
#define BASE_MATH_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t base_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t base_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a / b, rounded up. */
static inline uint64_t base_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* The smallest multiple of `step` that is not below `value`; the caller must ensure that it is
 * below 2^64. */
static inline uint64_t base_round_up(uint64_t value, uint64_t step)
{
    return base_ceil_div(value, step) * step;
}

static inline bool base_is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* Numbers of `bytes` bytes in files, the least significant byte first. */
static inline void base_put_number(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t base_get_number(const uint8_t *from, int bytes)
{
    uint64_t value = 0;

    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | from[i];
    return value;
}

/* The smallest n with 2^n >= value; 0 for 0. */
static inline uint32_t base_log2_ceil(uint64_t value)
{
    return value > 1 ? 64 - (uint32_t)__builtin_clzll(value - 1) : 0;
}

#endif
