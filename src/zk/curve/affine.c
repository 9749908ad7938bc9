/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in affine coordinates, and the curve equation.
 */
#include "zk/curve/curve.h"

void curve_affine_set_infinity(const pool_curve *curve, struct curve_affine *p)
{
    field_extension_set_zero(&curve->coordinates, p->x);
    field_extension_set_zero(&curve->coordinates, p->y);
    p->infinity = true;
}

void curve_multiply_a(const pool_curve *curve, uint64_t *product, const uint64_t *x)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t thrice[CURVE_MAX_LIMBS];

    switch (curve->a_kind) {
    case CURVE_A_ZERO:
        field_extension_set_zero(f, product);
        break;
    case CURVE_A_MINUS_3:
        field_extension_double(f, thrice, x);
        field_extension_add(f, thrice, thrice, x);
        field_extension_neg(f, product, thrice);
        break;
    default:
        field_extension_mul(f, product, curve->a, x);
    }
}

void curve_y_squared(const pool_curve *curve, uint64_t *y_squared, const uint64_t *x)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t cube[CURVE_MAX_LIMBS];
    uint64_t linear[CURVE_MAX_LIMBS];

    field_extension_sqr(f, cube, x);
    field_extension_mul(f, cube, cube, x);
    curve_multiply_a(curve, linear, x);
    field_extension_add(f, cube, cube, linear);
    field_extension_add(f, y_squared, cube, curve->b);
}

bool curve_affine_is_on_curve(const pool_curve *curve, const struct curve_affine *p)
{
    uint64_t left[CURVE_MAX_LIMBS];
    uint64_t right[CURVE_MAX_LIMBS];

    if (p->infinity)
        return true;
    field_extension_sqr(&curve->coordinates, left, p->y);
    curve_y_squared(curve, right, p->x);
    return field_extension_equal(&curve->coordinates, left, right);
}
