/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in XYZZ coordinates, x = X / ZZ and y = Y / ZZZ, in which the device accumulates buckets;
 * the host only converts them.
 */
#include "zk/curve/curve.h"

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

    if (field_extension_is_zero(f, q->zz)) {
        curve_jacobian_set_infinity(curve, p);
        return;
    }
    field_extension_mul(f, p->x, q->x, q->zz);
    field_extension_mul(f, p->y, q->y, q->zzz);
    field_extension_copy(f, p->z, q->zz);
}
