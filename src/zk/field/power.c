/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exponentiation and its applications: inverses, quadratic character, square roots, roots of unity.
 */
#include <string.h>

#include "zk/field/field.h"
#include "zk/field/integer.h"

enum {
    WINDOW_BITS =
        4, /* 14 multiplications for the table, then a quarter of a multiplication per bit */
    WINDOW_SIZE = 1 << WINDOW_BITS,
};

void field_pow(const pool_field *field, uint64_t *power, const uint64_t *base,
    const uint64_t *exponent, size_t exponent_limbs)
{
    uint64_t table[WINDOW_SIZE][FIELD_MAX_LIMBS];
    uint64_t result[FIELD_MAX_LIMBS];
    uint32_t windows =
        (field_integer_bits(exponent, exponent_limbs) + WINDOW_BITS - 1) / WINDOW_BITS;

    field_set_one(field, table[0]);
    field_copy(field, table[1], base);
    for (int i = 2; i < WINDOW_SIZE; i++)
        field_mul(field, table[i], table[i - 1], base);
    field_set_one(field, result);
    for (uint32_t window = windows; window-- > 0;) {
        uint32_t bit = window * WINDOW_BITS;

        for (int i = 0; i < WINDOW_BITS; i++)
            field_sqr(field, result, result);
        field_mul(
            field, result, result, table[exponent[bit / 64] >> (bit % 64) & (WINDOW_SIZE - 1)]);
    }
    field_copy(field, power, result);
}

void field_inverse(const pool_field *field, uint64_t *inverse, const uint64_t *x)
{
    uint64_t exponent[FIELD_MAX_LIMBS];

    memcpy(exponent, field->modulus, sizeof(exponent));
    field_integer_sub_small(exponent, 2, field->limbs);
    field_pow(field, inverse, x, exponent, field->limbs);
}

void field_batch_inverse(const pool_field *field, uint64_t *values, size_t count, uint64_t *scratch)
{
    size_t limbs = field->limbs;
    uint64_t product[FIELD_MAX_LIMBS];
    uint64_t factor[FIELD_MAX_LIMBS];

    /* scratch[i] is the product of all values before i, with zeros replaced by ones by mask. */
    field_set_one(field, product);
    for (size_t i = 0; i < count; i++) {
        field_copy(field, scratch + i * limbs, product);
        field_select(field, factor, field_is_zero(field, values + i * limbs), field->one,
            values + i * limbs);
        field_mul(field, product, product, factor);
    }
    field_inverse(field, product, product);
    for (size_t i = count; i-- > 0;) {
        uint64_t *value = values + i * limbs;
        uint64_t zero = field_is_zero(field, value);
        uint64_t inverse[FIELD_MAX_LIMBS];

        field_mul(field, inverse, product, scratch + i * limbs);
        field_select(field, factor, zero, field->one, value);
        field_mul(field, product, product, factor);
        field_select(field, value, zero, value, inverse);
    }
}

int field_legendre(const pool_field *field, const uint64_t *x)
{
    uint64_t exponent[FIELD_MAX_LIMBS];
    uint64_t character[FIELD_MAX_LIMBS];

    memcpy(exponent, field->modulus, sizeof(exponent));
    field_integer_shift_right(exponent, 1, field->limbs);
    field_pow(field, character, x, exponent, field->limbs);
    if (field_is_zero(field, character))
        return 0;
    return field_equal(field, character, field->one) ? 1 : -1;
}

/*
 * Tonelli-Shanks: with w = x^((t - 1) / 2), the invariant is root^2 = x * rest, where the order of
 * rest is a power of two that decreases each round. Stops if there is no square root.
 */
static bool tonelli_shanks(const pool_field *field, uint64_t *root, const uint64_t *x)
{
    uint64_t exponent[FIELD_MAX_LIMBS];
    uint64_t candidate[FIELD_MAX_LIMBS];
    uint64_t rest[FIELD_MAX_LIMBS];
    uint64_t step[FIELD_MAX_LIMBS];
    uint64_t probe[FIELD_MAX_LIMBS];
    uint32_t order = field->two_adicity;

    memcpy(exponent, field->odd_part, sizeof(exponent));
    field_integer_shift_right(exponent, 1, field->limbs);
    field_pow(field, rest, x, exponent, field->limbs);
    field_mul(field, candidate, rest, x);
    field_mul(field, rest, rest, candidate);
    field_copy(field, step, field->root);
    while (!field_equal(field, rest, field->one)) {
        uint32_t rest_order = 0;

        field_copy(field, probe, rest);
        while (rest_order < order && !field_equal(field, probe, field->one)) {
            field_sqr(field, probe, probe);
            rest_order++;
        }
        if (rest_order >= order)
            return false;
        for (uint32_t i = rest_order + 1; i < order; i++)
            field_sqr(field, step, step);
        field_mul(field, candidate, candidate, step);
        field_sqr(field, step, step);
        field_mul(field, rest, rest, step);
        order = rest_order;
    }
    field_copy(field, root, candidate);
    return true;
}

bool field_sqrt(const pool_field *field, uint64_t *root, const uint64_t *x)
{
    uint64_t exponent[FIELD_MAX_LIMBS];
    uint64_t candidate[FIELD_MAX_LIMBS];
    uint64_t square[FIELD_MAX_LIMBS];

    if (field_is_zero(field, x)) {
        field_set_zero(field, root);
        return true;
    }
    if (field->two_adicity > 1)
        return tonelli_shanks(field, root, x);
    /* p = 3 mod 4: x^((p + 1) / 4), and (p + 1) / 4 is (p - 3) / 4 + 1. */
    memcpy(exponent, field->modulus, sizeof(exponent));
    field_integer_shift_right(exponent, 2, field->limbs);
    field_integer_add_small(exponent, 1, field->limbs);
    field_pow(field, candidate, x, exponent, field->limbs);
    field_sqr(field, square, candidate);
    if (!field_equal(field, square, x))
        return false;
    field_copy(field, root, candidate);
    return true;
}

bool field_is_larger_half(const pool_field *field, const uint64_t *x)
{
    uint64_t standard[FIELD_MAX_LIMBS];
    uint64_t negative[FIELD_MAX_LIMBS];

    field_from_montgomery(field, standard, x);
    field_neg(field, negative, standard);
    return field_integer_less(negative, standard, field->limbs) && !field_is_zero(field, x);
}

void field_root_of_unity(const pool_field *field, uint64_t *root, uint32_t log2_order)
{
    field_copy(field, root, field->root);
    for (uint32_t i = log2_order; i < field->two_adicity; i++)
        field_sqr(field, root, root);
}
