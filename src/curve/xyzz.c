/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in XYZZ coordinates, x = X / ZZ and y = Y / ZZZ, in which the device accumulates buckets.
 * Formulas from the Explicit-Formulas Database, short Weierstrass, XYZZ: dbl-2008-s-1, add-2008-s,
 * madd-2008-s.
 */
#include "curve/curve.h"

void curve_xyzz_set_infinity(const pool_curve *curve, struct curve_xyzz *p)
{
    field_extension_set_one(&curve->coordinates, p->x);
    field_extension_set_one(&curve->coordinates, p->y);
    field_extension_set_zero(&curve->coordinates, p->zz);
    field_extension_set_zero(&curve->coordinates, p->zzz);
}

bool curve_xyzz_is_infinity(const pool_curve *curve, const struct curve_xyzz *p)
{
    return field_extension_is_zero(&curve->coordinates, p->zz);
}

void curve_xyzz_from_affine(
    const pool_curve *curve, struct curve_xyzz *p, const struct curve_affine *q)
{
    if (q->infinity) {
        curve_xyzz_set_infinity(curve, p);
        return;
    }
    field_extension_copy(&curve->coordinates, p->x, q->x);
    field_extension_copy(&curve->coordinates, p->y, q->y);
    field_extension_set_one(&curve->coordinates, p->zz);
    field_extension_set_one(&curve->coordinates, p->zzz);
}

void curve_xyzz_from_jacobian(
    const pool_curve *curve, struct curve_xyzz *p, const struct curve_jacobian *q)
{
    const struct field_extension *f = &curve->coordinates;

    field_extension_copy(f, p->x, q->x);
    field_extension_copy(f, p->y, q->y);
    field_extension_sqr(f, p->zz, q->z);
    field_extension_mul(f, p->zzz, p->zz, q->z);
}

/* Choose Z = ZZ: x Z^2 = X ZZ, and y Z^3 = y ZZZ^2 = Y ZZZ. */
void curve_xyzz_to_jacobian(
    const pool_curve *curve, struct curve_jacobian *p, const struct curve_xyzz *q)
{
    const struct field_extension *f = &curve->coordinates;

    if (curve_xyzz_is_infinity(curve, q)) {
        curve_jacobian_set_infinity(curve, p);
        return;
    }
    field_extension_mul(f, p->x, q->x, q->zz);
    field_extension_mul(f, p->y, q->y, q->zzz);
    field_extension_copy(f, p->z, q->zz);
}

/*
 * With U = 2 Y, V = U^2, W = U V, S = X V, M = 3 X^2 + a ZZ^2: X' = M^2 - 2 S,
 * Y' = M (S - X') - W Y, ZZ' = V ZZ, ZZZ' = W ZZZ. ZZ' is 0 when Y or ZZ is.
 */
void curve_xyzz_double(
    const pool_curve *curve, struct curve_xyzz *twice, const struct curve_xyzz *p)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t v[CURVE_MAX_LIMBS];
    uint64_t w[CURVE_MAX_LIMBS];
    uint64_t s[CURVE_MAX_LIMBS];
    uint64_t m[CURVE_MAX_LIMBS];
    uint64_t t[CURVE_MAX_LIMBS];

    field_extension_double(f, w, p->y);
    field_extension_sqr(f, v, w);
    field_extension_mul(f, w, w, v);
    field_extension_mul(f, s, p->x, v);
    field_extension_sqr(f, t, p->x);
    field_extension_double(f, m, t);
    field_extension_add(f, m, m, t);
    if (curve->a_kind != CURVE_A_ZERO) {
        field_extension_sqr(f, t, p->zz);
        curve_multiply_a(curve, t, t);
        field_extension_add(f, m, m, t);
    }
    field_extension_sqr(f, t, m);
    field_extension_sub(f, t, t, s);
    field_extension_sub(f, twice->x, t, s);
    field_extension_sub(f, s, s, twice->x);
    field_extension_mul(f, s, s, m);
    field_extension_mul(f, t, w, p->y);
    field_extension_sub(f, twice->y, s, t);
    field_extension_mul(f, twice->zz, v, p->zz);
    field_extension_mul(f, twice->zzz, w, p->zzz);
}

/*
 * The common part of both additions: u and s are p's coordinates scaled to the common denominator,
 * h and r the differences to q's, zz and zzz the products of both. With v = u h^2: X' = r^2 - h^3 -
 * 2 v, Y' = r (v - X') - s h^3, ZZ' = zz h^2, ZZZ' = zzz h^3.
 */
static void finish_addition(const pool_curve *curve, struct curve_xyzz *sum, const uint64_t *u,
    const uint64_t *s, const uint64_t *h, const uint64_t *r, const uint64_t *zz,
    const uint64_t *zzz)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t hh[CURVE_MAX_LIMBS];
    uint64_t hhh[CURVE_MAX_LIMBS];
    uint64_t v[CURVE_MAX_LIMBS];
    uint64_t t[CURVE_MAX_LIMBS];

    field_extension_sqr(f, hh, h);
    field_extension_mul(f, hhh, hh, h);
    field_extension_mul(f, v, u, hh);
    field_extension_sqr(f, t, r);
    field_extension_sub(f, t, t, hhh);
    field_extension_sub(f, t, t, v);
    field_extension_sub(f, sum->x, t, v);
    field_extension_sub(f, v, v, sum->x);
    field_extension_mul(f, v, v, r);
    field_extension_mul(f, t, s, hhh);
    field_extension_sub(f, sum->y, v, t);
    field_extension_mul(f, sum->zz, zz, hh);
    field_extension_mul(f, sum->zzz, zzz, hhh);
}

/* Equal x: the points are equal or opposite. */
static void add_same_x(
    const pool_curve *curve, struct curve_xyzz *sum, const struct curve_xyzz *p, const uint64_t *r)
{
    if (field_extension_is_zero(&curve->coordinates, r))
        curve_xyzz_double(curve, sum, p);
    else
        curve_xyzz_set_infinity(curve, sum);
}

void curve_xyzz_add(const pool_curve *curve, struct curve_xyzz *sum, const struct curve_xyzz *p,
    const struct curve_xyzz *q)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t u[CURVE_MAX_LIMBS];
    uint64_t s[CURVE_MAX_LIMBS];
    uint64_t h[CURVE_MAX_LIMBS];
    uint64_t r[CURVE_MAX_LIMBS];
    uint64_t zz[CURVE_MAX_LIMBS];
    uint64_t zzz[CURVE_MAX_LIMBS];

    if (curve_xyzz_is_infinity(curve, p)) {
        *sum = *q;
        return;
    }
    if (curve_xyzz_is_infinity(curve, q)) {
        *sum = *p;
        return;
    }
    field_extension_mul(f, u, p->x, q->zz);
    field_extension_mul(f, h, q->x, p->zz);
    field_extension_sub(f, h, h, u);
    field_extension_mul(f, s, p->y, q->zzz);
    field_extension_mul(f, r, q->y, p->zzz);
    field_extension_sub(f, r, r, s);
    if (field_extension_is_zero(f, h)) {
        add_same_x(curve, sum, p, r);
        return;
    }
    field_extension_mul(f, zz, p->zz, q->zz);
    field_extension_mul(f, zzz, p->zzz, q->zzz);
    finish_addition(curve, sum, u, s, h, r, zz, zzz);
}

void curve_xyzz_add_affine(const pool_curve *curve, struct curve_xyzz *sum,
    const struct curve_xyzz *p, const struct curve_affine *q)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t h[CURVE_MAX_LIMBS];
    uint64_t r[CURVE_MAX_LIMBS];
    struct curve_xyzz copy;

    if (q->infinity) {
        *sum = *p;
        return;
    }
    if (curve_xyzz_is_infinity(curve, p)) {
        curve_xyzz_from_affine(curve, sum, q);
        return;
    }
    field_extension_mul(f, h, q->x, p->zz);
    field_extension_sub(f, h, h, p->x);
    field_extension_mul(f, r, q->y, p->zzz);
    field_extension_sub(f, r, r, p->y);
    if (field_extension_is_zero(f, h)) {
        add_same_x(curve, sum, p, r);
        return;
    }
    copy = *p;
    finish_addition(curve, sum, copy.x, copy.y, h, r, copy.zz, copy.zzz);
}
