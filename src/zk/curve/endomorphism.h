/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The endomorphism of curves y^2 = x^3 + b: (x, y) to (beta x, y) with beta^3 = 1, which multiplies
 * the points of the generator's subgroup by lambda, lambda^3 = 1. A scalar k is then k0 + k1 lambda
 * with halves of half the bits (Gallant, Lambert and Vanstone, "Faster point multiplication on
 * elliptic curves with efficient endomorphisms", CRYPTO 2001).
 */
#ifndef CURVE_ENDOMORPHISM_H
#define CURVE_ENDOMORPHISM_H

#include "zk/curve/curve.h"

/* Returns false where the curve has none or the halves would not be shorter. Takes about as long as
 * two scalar multiplications on the host. */
bool curve_endomorphism_find(const pool_curve *curve, struct curve_endomorphism *endomorphism);

/* The same, computed at a curve's first request; NULL where it has none. Any thread. The result
 * lives as long as the curve. */
const struct curve_endomorphism *curve_endomorphism_of(const pool_curve *curve);

/* The halves of a scalar in standard form, as absolute values with signs. */
struct curve_halves {
    uint64_t value[2][FIELD_MAX_LIMBS];
    bool is_negative[2];
};
void curve_endomorphism_split(const pool_curve *curve,
    const struct curve_endomorphism *endomorphism, const uint64_t *scalar,
    struct curve_halves *halves);

#endif
