/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsigned integers of a fixed number of limbs; see integer.h.
 */
#include "zk/field/integer.h"

#include <string.h>

#include "zk/field/field.h"
#include "zk/field/limb.h"

uint64_t field_integer_sub(uint64_t *difference, const uint64_t *x, const uint64_t *y, size_t count)
{
    uint64_t borrow = 0;

    for (size_t i = 0; i < count; i++)
        borrow = field_limb_sub(&difference[i], x[i], y[i], borrow);
    return borrow;
}

uint64_t field_integer_sub_small(uint64_t *x, uint64_t small, size_t count)
{
    uint64_t borrow = field_limb_sub(&x[0], x[0], small, 0);

    for (size_t i = 1; i < count; i++)
        borrow = field_limb_sub(&x[i], x[i], 0, borrow);
    return borrow;
}

uint64_t field_integer_add_small(uint64_t *x, uint64_t small, size_t count)
{
    uint64_t carry = field_limb_add(&x[0], x[0], small, 0);

    for (size_t i = 1; i < count; i++)
        carry = field_limb_add(&x[i], x[i], 0, carry);
    return carry;
}

void field_integer_mul(
    uint64_t *product, const uint64_t *x, size_t x_count, const uint64_t *y, size_t y_count)
{
    memset(product, 0, (x_count + y_count) * sizeof(*product));
    for (size_t i = 0; i < x_count; i++) {
        uint64_t carry = 0;

        for (size_t j = 0; j < y_count; j++) {
            field_wide wide = (field_wide)x[i] * y[j] + product[i + j] + carry;

            product[i + j] = (uint64_t)wide;
            carry = (uint64_t)(wide >> 64);
        }
        product[i + y_count] = carry;
    }
}

uint64_t field_integer_mul_small(uint64_t *x, uint64_t factor, uint64_t summand, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        field_wide wide = (field_wide)x[i] * factor + summand;

        x[i] = (uint64_t)wide;
        summand = (uint64_t)(wide >> 64);
    }
    return summand;
}

void field_integer_shift_right(uint64_t *x, uint32_t bits, size_t count)
{
    size_t whole = bits / 64;
    uint32_t part = bits % 64;

    for (size_t i = 0; i < count; i++) {
        uint64_t low = i + whole < count ? x[i + whole] : 0;
        uint64_t high = i + whole + 1 < count ? x[i + whole + 1] : 0;

        x[i] = part ? low >> part | high << (64 - part) : low;
    }
}

int field_integer_compare(const uint64_t *x, const uint64_t *y, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

bool field_integer_less(const uint64_t *x, const uint64_t *y, size_t count)
{
    uint64_t borrow = 0;
    uint64_t ignored;

    for (size_t i = 0; i < count; i++)
        borrow = field_limb_sub(&ignored, x[i], y[i], borrow);
    return borrow != 0;
}

bool field_integer_is_zero(const uint64_t *x, size_t count)
{
    uint64_t any = 0;

    for (size_t i = 0; i < count; i++)
        any |= x[i];
    return any == 0;
}

uint32_t field_integer_bits(const uint64_t *x, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        if (x[i])
            return (uint32_t)(64 * i) + 64 - (uint32_t)__builtin_clzll(x[i]);
    }
    return 0;
}

uint32_t field_integer_trailing_zeros(const uint64_t *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (x[i])
            return (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(x[i]);
    }
    return (uint32_t)(64 * count);
}

bool field_integer_bit(const uint64_t *x, uint32_t index)
{
    return x[index / 64] >> (index % 64) & 1;
}

uint64_t field_integer_mod_small(const uint64_t *x, uint64_t divisor, size_t count)
{
    uint64_t remainder = 0;

    for (size_t i = count; i-- > 0;)
        remainder = (uint64_t)(((field_wide)remainder << 64 | x[i]) % divisor);
    return remainder;
}

uint64_t field_integer_div_small(uint64_t *x, uint64_t divisor, size_t count)
{
    uint64_t remainder = 0;

    for (size_t i = count; i-- > 0;) {
        field_wide wide = (field_wide)remainder << 64 | x[i];

        x[i] = (uint64_t)(wide / divisor);
        remainder = (uint64_t)(wide % divisor);
    }
    return remainder;
}

bool field_integer_is_square(const uint64_t *x, size_t count)
{
    uint64_t root[FIELD_MAX_LIMBS + 1] = {0};
    uint64_t square[2 * FIELD_MAX_LIMBS + 2];
    uint64_t padded[2 * FIELD_MAX_LIMBS + 2] = {0};
    size_t root_count = count / 2 + 1;
    int order = 0;

    memcpy(padded, x, count * sizeof(*x));
    /* From the top, keep each bit with which the square is not above x. */
    for (uint32_t bit = field_integer_bits(x, count) / 2 + 1; bit-- > 0;) {
        uint64_t mask = (uint64_t)1 << (bit % 64);

        root[bit / 64] |= mask;
        field_integer_mul(square, root, root_count, root, root_count);
        order = field_integer_compare(square, padded, 2 * root_count);
        if (order == 0)
            return true;
        if (order > 0)
            root[bit / 64] &= ~mask;
    }
    return field_integer_is_zero(x, count);
}

static int digit_value(char digit, unsigned base)
{
    int value = -1;

    if (digit >= '0' && digit <= '9')
        value = digit - '0';
    else if (digit >= 'a' && digit <= 'f')
        value = digit - 'a' + 10;
    else if (digit >= 'A' && digit <= 'F')
        value = digit - 'A' + 10;
    return value < (int)base ? value : -1;
}

const char *field_integer_parse(uint64_t *limbs, size_t count, const char *string)
{
    uint64_t value[2 * FIELD_MAX_LIMBS] = {0};
    unsigned base = 10;

    if (string[0] == '0' && (string[1] == 'x' || string[1] == 'X')) {
        base = 16;
        string += 2;
    }
    if (!*string)
        return "has no digits";
    for (; *string; string++) {
        int digit = digit_value(*string, base);

        if (digit < 0)
            return "has a character that is no digit";
        if (field_integer_mul_small(value, base, (uint64_t)digit, count))
            return "is too large";
    }
    memcpy(limbs, value, count * sizeof(*limbs));
    return NULL;
}

bool field_integer_from_bytes(
    uint64_t *limbs, size_t count, const uint8_t *bytes, size_t width, bool big_endian)
{
    uint8_t beyond = 0;

    memset(limbs, 0, count * sizeof(*limbs));
    for (size_t i = 0; i < width; i++) {
        uint8_t byte = bytes[big_endian ? width - 1 - i : i];

        if (i / 8 < count)
            limbs[i / 8] |= (uint64_t)byte << (8 * (i % 8));
        else
            beyond |= byte;
    }
    return beyond == 0;
}

void field_integer_to_bytes(
    uint8_t *bytes, size_t width, bool big_endian, const uint64_t *limbs, size_t count)
{
    for (size_t i = 0; i < width; i++) {
        uint64_t limb = i / 8 < count ? limbs[i / 8] : 0;

        bytes[big_endian ? width - 1 - i : i] = (uint8_t)(limb >> (8 * (i % 8)));
    }
}
