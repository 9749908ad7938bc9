/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsigned integers of a fixed number of little-endian 64-bit limbs. Values are public parameters
 * and encodings, except for the functions documented as free of branches on values, which are also
 * used on secret scalars.
 */
#ifndef FIELD_INTEGER_H
#define FIELD_INTEGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 field_wide;

/* x - y; returns the borrow. The difference may be in the memory of x or y. No branches on values.
 */
uint64_t field_integer_sub(
    uint64_t *difference, const uint64_t *x, const uint64_t *y, size_t count);
/* x -= small, x += small; return the borrow or carry. */
uint64_t field_integer_sub_small(uint64_t *x, uint64_t small, size_t count);
uint64_t field_integer_add_small(uint64_t *x, uint64_t small, size_t count);
/* product has x_count + y_count limbs and must not overlap the factors. */
void field_integer_mul(
    uint64_t *product, const uint64_t *x, size_t x_count, const uint64_t *y, size_t y_count);
/* x = x * factor + summand; returns the carry limb. */
uint64_t field_integer_mul_small(uint64_t *x, uint64_t factor, uint64_t summand, size_t count);
void field_integer_shift_right(uint64_t *x, uint32_t bits, size_t count);

/* -1, 0 or 1. */
int field_integer_compare(const uint64_t *x, const uint64_t *y, size_t count);
/* Whether x < y; no branches on values. */
bool field_integer_less(const uint64_t *x, const uint64_t *y, size_t count);
bool field_integer_is_zero(const uint64_t *x, size_t count);
/* 0 for 0. */
uint32_t field_integer_bits(const uint64_t *x, size_t count);
uint32_t field_integer_trailing_zeros(const uint64_t *x, size_t count);
bool field_integer_bit(const uint64_t *x, uint32_t index);
uint64_t field_integer_mod_small(const uint64_t *x, uint64_t divisor, size_t count);
/* x = x / divisor; returns the remainder. */
uint64_t field_integer_div_small(uint64_t *x, uint64_t divisor, size_t count);
bool field_integer_is_square(const uint64_t *x, size_t count);

/*
 * Parses decimal or, after 0x, hexadecimal digits. Returns NULL on success, or the reason of the
 * failure and leaves `limbs` unchanged.
 */
const char *field_integer_parse(uint64_t *limbs, size_t count, const char *string);

/* Converts bytes to limbs; returns false if the value does not fit. No branches on values. */
bool field_integer_from_bytes(
    uint64_t *limbs, size_t count, const uint8_t *bytes, size_t width, bool big_endian);
/* Stores the low `width` bytes. */
void field_integer_to_bytes(
    uint8_t *bytes, size_t width, bool big_endian, const uint64_t *limbs, size_t count);

#endif
