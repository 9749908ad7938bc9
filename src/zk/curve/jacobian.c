/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in Jacobian coordinates, x = X / Z^2 and y = Y / Z^3. Formulas from the Explicit-Formulas
 * Database (D. Bernstein, T. Lange), short Weierstrass, Jacobian: dbl-2007-bl, add-2007-bl,
 * madd-2007-bl without their common scalings.
 */
#include "zk/curve/curve.h"

void curve_jacobian_set_infinity(const pool_curve *curve, struct curve_jacobian *p)
{
    field_extension_set_one(&curve->coordinates, p->x);
    field_extension_set_one(&curve->coordinates, p->y);
    field_extension_set_zero(&curve->coordinates, p->z);
}

bool curve_jacobian_is_infinity(const pool_curve *curve, const struct curve_jacobian *p)
{
    return field_extension_is_zero(&curve->coordinates, p->z);
}

bool curve_jacobian_is_origin(const pool_curve *curve, const struct curve_jacobian *p)
{
    return !curve_jacobian_is_infinity(curve, p) &&
           field_extension_is_zero(&curve->coordinates, p->x) &&
           field_extension_is_zero(&curve->coordinates, p->y);
}

void curve_jacobian_from_affine(
    const pool_curve *curve, struct curve_jacobian *p, const struct curve_affine *q)
{
    if (q->infinity) {
        curve_jacobian_set_infinity(curve, p);
        return;
    }
    field_extension_copy(&curve->coordinates, p->x, q->x);
    field_extension_copy(&curve->coordinates, p->y, q->y);
    field_extension_set_one(&curve->coordinates, p->z);
}

/* Computes the affine point from 1 / Z (0 for infinity). */
static void scale_to_affine(const pool_curve *curve, struct curve_affine *p,
    const struct curve_jacobian *q, const uint64_t *z_inverse)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t power[CURVE_MAX_LIMBS];

    if (field_extension_is_zero(f, z_inverse)) {
        curve_affine_set_infinity(curve, p);
        return;
    }
    field_extension_sqr(f, power, z_inverse);
    field_extension_mul(f, p->x, q->x, power);
    field_extension_mul(f, power, power, z_inverse);
    field_extension_mul(f, p->y, q->y, power);
    p->infinity = false;
}

void curve_jacobian_to_affine(
    const pool_curve *curve, struct curve_affine *p, const struct curve_jacobian *q)
{
    uint64_t inverse[CURVE_MAX_LIMBS];

    field_extension_inverse(&curve->coordinates, inverse, q->z);
    scale_to_affine(curve, p, q, inverse);
}

void curve_jacobian_batch_to_affine(const pool_curve *curve, struct curve_affine *p,
    const struct curve_jacobian *q, size_t count, uint64_t *scratch)
{
    const struct field_extension *f = &curve->coordinates;

    for (size_t i = 0; i < count; i++)
        field_extension_copy(f, scratch + i * f->limbs, q[i].z);
    field_extension_batch_inverse(f, scratch, count, scratch + count * f->limbs);
    for (size_t i = 0; i < count; i++)
        scale_to_affine(curve, &p[i], &q[i], scratch + i * f->limbs);
}

/*
 * With M = 3 X^2 + a Z^4 and S = 4 X Y^2: X' = M^2 - 2 S, Y' = M (S - X') - 8 Y^4, Z' = 2 Y Z.
 * Z' is 0 when Y or Z is.
 */
void curve_jacobian_double(
    const pool_curve *curve, struct curve_jacobian *twice, const struct curve_jacobian *p)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t m[CURVE_MAX_LIMBS];
    uint64_t s[CURVE_MAX_LIMBS];
    uint64_t yy[CURVE_MAX_LIMBS];
    uint64_t t[CURVE_MAX_LIMBS];

    field_extension_sqr(f, t, p->x);
    field_extension_double(f, m, t);
    field_extension_add(f, m, m, t);
    if (curve->a_kind != CURVE_A_ZERO) {
        field_extension_sqr(f, t, p->z);
        field_extension_sqr(f, t, t);
        curve_multiply_a(curve, t, t);
        field_extension_add(f, m, m, t);
    }
    field_extension_sqr(f, yy, p->y);
    field_extension_double(f, yy, yy);
    field_extension_mul(f, s, p->x, yy);
    field_extension_double(f, s, s);
    field_extension_mul(f, t, p->y, p->z);
    field_extension_double(f, twice->z, t);
    field_extension_sqr(f, t, m);
    field_extension_sub(f, t, t, s);
    field_extension_sub(f, twice->x, t, s);
    field_extension_sub(f, s, s, twice->x);
    field_extension_mul(f, s, s, m);
    field_extension_sqr(f, yy, yy);
    field_extension_double(f, yy, yy);
    field_extension_sub(f, twice->y, s, yy);
}

/*
 * The common part of both additions: u and s are p's coordinates scaled to the common denominator,
 * h and r the differences to q's, z the product of both Z. With v = u h^2: X' = r^2 - h^3 - 2 v, Y'
 * = r (v - X') - s h^3, Z' = h z.
 */
static void finish_addition(const pool_curve *curve, struct curve_jacobian *sum, const uint64_t *u,
    const uint64_t *s, const uint64_t *h, const uint64_t *r, const uint64_t *z)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t hhh[CURVE_MAX_LIMBS];
    uint64_t v[CURVE_MAX_LIMBS];
    uint64_t t[CURVE_MAX_LIMBS];

    field_extension_mul(f, sum->z, h, z);
    field_extension_sqr(f, t, h);
    field_extension_mul(f, hhh, t, h);
    field_extension_mul(f, v, u, t);
    field_extension_sqr(f, t, r);
    field_extension_sub(f, t, t, hhh);
    field_extension_sub(f, t, t, v);
    field_extension_sub(f, sum->x, t, v);
    field_extension_sub(f, v, v, sum->x);
    field_extension_mul(f, v, v, r);
    field_extension_mul(f, hhh, hhh, s);
    field_extension_sub(f, sum->y, v, hhh);
}

void curve_jacobian_add(const pool_curve *curve, struct curve_jacobian *sum,
    const struct curve_jacobian *p, const struct curve_jacobian *q)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t pz[CURVE_MAX_LIMBS];
    uint64_t qz[CURVE_MAX_LIMBS];
    uint64_t u[CURVE_MAX_LIMBS];
    uint64_t s[CURVE_MAX_LIMBS];
    uint64_t h[CURVE_MAX_LIMBS];
    uint64_t r[CURVE_MAX_LIMBS];

    if (curve_jacobian_is_infinity(curve, p)) {
        *sum = *q;
        return;
    }
    if (curve_jacobian_is_infinity(curve, q)) {
        *sum = *p;
        return;
    }
    field_extension_sqr(f, pz, p->z);
    field_extension_sqr(f, qz, q->z);
    field_extension_mul(f, u, p->x, qz);
    field_extension_mul(f, h, q->x, pz);
    field_extension_sub(f, h, h, u);
    field_extension_mul(f, qz, qz, q->z);
    field_extension_mul(f, pz, pz, p->z);
    field_extension_mul(f, s, p->y, qz);
    field_extension_mul(f, r, q->y, pz);
    field_extension_sub(f, r, r, s);
    if (field_extension_is_zero(f, h)) {
        if (field_extension_is_zero(f, r))
            curve_jacobian_double(curve, sum, p);
        else
            curve_jacobian_set_infinity(curve, sum);
        return;
    }
    field_extension_mul(f, pz, p->z, q->z);
    finish_addition(curve, sum, u, s, h, r, pz);
}

void curve_jacobian_add_affine(const pool_curve *curve, struct curve_jacobian *sum,
    const struct curve_jacobian *p, const struct curve_affine *q)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t zz[CURVE_MAX_LIMBS];
    uint64_t h[CURVE_MAX_LIMBS];
    uint64_t r[CURVE_MAX_LIMBS];
    struct curve_jacobian copy;

    if (q->infinity) {
        *sum = *p;
        return;
    }
    if (curve_jacobian_is_infinity(curve, p)) {
        curve_jacobian_from_affine(curve, sum, q);
        return;
    }
    field_extension_sqr(f, zz, p->z);
    field_extension_mul(f, h, q->x, zz);
    field_extension_sub(f, h, h, p->x);
    field_extension_mul(f, zz, zz, p->z);
    field_extension_mul(f, r, q->y, zz);
    field_extension_sub(f, r, r, p->y);
    if (field_extension_is_zero(f, h)) {
        if (field_extension_is_zero(f, r))
            curve_jacobian_double(curve, sum, p);
        else
            curve_jacobian_set_infinity(curve, sum);
        return;
    }
    copy = *p;
    finish_addition(curve, sum, copy.x, copy.y, h, r, copy.z);
}

void curve_jacobian_neg(
    const pool_curve *curve, struct curve_jacobian *negative, const struct curve_jacobian *p)
{
    field_extension_copy(&curve->coordinates, negative->x, p->x);
    field_extension_neg(&curve->coordinates, negative->y, p->y);
    field_extension_copy(&curve->coordinates, negative->z, p->z);
}

bool curve_jacobian_equal(
    const pool_curve *curve, const struct curve_jacobian *p, const struct curve_jacobian *q)
{
    struct curve_jacobian difference;

    curve_jacobian_neg(curve, &difference, q);
    curve_jacobian_add(curve, &difference, p, &difference);
    return curve_jacobian_is_infinity(curve, &difference);
}

/* Y^2 = X^3 + a X Z^4 + b Z^6. */
bool curve_jacobian_is_on_curve(const pool_curve *curve, const struct curve_jacobian *p)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t left[CURVE_MAX_LIMBS];
    uint64_t right[CURVE_MAX_LIMBS];
    uint64_t zz[CURVE_MAX_LIMBS];
    uint64_t power[CURVE_MAX_LIMBS];
    uint64_t term[CURVE_MAX_LIMBS];

    if (curve_jacobian_is_infinity(curve, p))
        return true;
    field_extension_sqr(f, zz, p->z);
    field_extension_sqr(f, power, zz);
    curve_multiply_a(curve, term, power);
    field_extension_sqr(f, right, p->x);
    field_extension_add(f, right, right, term);
    field_extension_mul(f, right, right, p->x);
    field_extension_mul(f, power, power, zz);
    field_extension_mul(f, term, power, curve->b);
    field_extension_add(f, right, right, term);
    field_extension_sqr(f, left, p->y);
    return field_extension_equal(f, left, right);
}
