/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The endomorphism of curves y^2 = x^3 + b: (x, y) to (beta x, y) with beta^3 = 1, which multiplies
 * the points of the generator's subgroup by lambda, lambda^3 = 1. A scalar k is then k0 + k1 lambda
 * with halves of half the bits (Gallant, Lambert and Vanstone, "Faster point multiplication on
 * elliptic curves with efficient endomorphisms", CRYPTO 2001).
 */
#ifndef CURVE_ENDOMORPHISM_H
#define CURVE_ENDOMORPHISM_H

#include "curve/curve.h"

/*
 * Pairs (a[i], b[i]) with a[i] + b[i] lambda = 0 modulo the order r, a basis of the lattice of all
 * such pairs. a[i] is not negative, and one of b[0] and b[1] is not positive, the other not
 * negative. With W words of 32 bits in a scalar, S = 32 (W + 1) and
 *
 *   c0 = round(k |b[1]| / r), c1 = round(k |b[0]| / r)
 *   k0 = k - c0 a[0] - c1 a[1], k1 = -c0 b[0] - c1 b[1]
 *
 * the quotients are computed as round(k reciprocal[i] / 2^S).
 */
struct curve_endomorphism {
    uint64_t beta[FIELD_MAX_LIMBS];   /* Montgomery form, in the field of the coordinates */
    uint64_t lambda[FIELD_MAX_LIMBS]; /* Montgomery form, in the scalar field */
    /* Integers of FIELD_MAX_LIMBS limbs. b in two's complement. */
    uint64_t a[2][FIELD_MAX_LIMBS];
    uint64_t b[2][FIELD_MAX_LIMBS];
    uint64_t reciprocal[2][FIELD_MAX_LIMBS + 1];
    uint32_t bits; /* |k0| and |k1| are below 2^bits */
};

/* Returns false where the curve has none or the halves would not be shorter. Takes about as long as
 * two scalar multiplications on the host. */
bool curve_endomorphism_find(const pool_curve *curve, struct curve_endomorphism *endomorphism);

/* The halves of a scalar in standard form, as absolute values with signs. */
struct curve_halves {
    uint64_t value[2][FIELD_MAX_LIMBS];
    bool is_negative[2];
};
void curve_endomorphism_split(const pool_curve *curve,
    const struct curve_endomorphism *endomorphism, const uint64_t *scalar,
    struct curve_halves *halves);

#endif
