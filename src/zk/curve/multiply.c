/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar multiplication by double-and-add from the top bit, the reference for faster algorithms.
 * Not constant-time.
 */
#include "zk/curve/curve.h"

#include "zk/field/integer.h"

void curve_multiply(const pool_curve *curve, struct curve_jacobian *product,
    const struct curve_jacobian *p, const uint64_t *scalar, size_t count)
{
    struct curve_jacobian result;
    const struct curve_jacobian base = *p;

    curve_jacobian_set_infinity(curve, &result);
    for (uint32_t bit = field_integer_bits(scalar, count); bit-- > 0;) {
        curve_jacobian_double(curve, &result, &result);
        if (field_integer_bit(scalar, bit))
            curve_jacobian_add(curve, &result, &result, &base);
    }
    *product = result;
}

bool curve_is_in_subgroup(const pool_curve *curve, const struct curve_jacobian *p)
{
    struct curve_jacobian product;

    curve_multiply(curve, &product, p, curve->scalar_field->modulus, curve->scalar_field->limbs);
    return curve_jacobian_is_infinity(curve, &product);
}
