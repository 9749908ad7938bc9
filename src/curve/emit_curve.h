/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device text "curve.cuh" of a curve y^2 = x^3 + a x + b: what ptx/ec/ is written over. The
 * base field's operations as fq_... (field/emit_field.h) and
 *
 *   EC_DEGREE          1: coordinates in Fq; 2: in Fq[u] / (u^2 - FQ2_NONRESIDUE)
 *   FQ2_NONRESIDUE     a small integer, degree 2 only
 *   EC_A               EC_A_ZERO, EC_A_MINUS_3 or EC_A_GENERAL; then EC_A_VALUE initialises a
 *
 * The constant b is in none of the formulas. Any numbers make a text: tests use
 * curves that no struct pool_curve has.
 */
#ifndef DEVICEPOOL_CURVE_PTX_H
#define DEVICEPOOL_CURVE_PTX_H

#include "curve/curve.h"

struct curve_emit_params {
    const pool_field *field;
    int32_t nonresidue; /* 0: degree 1 */
    /* a in Montgomery form, one or two elements of field->limbs limbs; NULL: 0. The text tells 0
     * and -3 from the rest by itself. */
    const uint64_t *a;
};

/* New text in *text, to be freed with base_free. */
pool_status curve_emit_generate(const struct curve_emit_params *params, char **text);
/* The text of a curve of its own numbers. */
pool_status curve_emit_of(const pool_curve *curve, char **text);

#endif
