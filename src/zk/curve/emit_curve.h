/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the header "curve.cuh" of a curve y^2 = x^3 + a x + b, on which ptx/ec/ is built. It
 * has the operations of the base field as fq_... (field/emit_field.h) and
 *
 *   EC_DEGREE          1: coordinates in Fq; 2: in Fq[u] / (u^2 - FQ2_NONRESIDUE)
 *   FQ2_NONRESIDUE     a small integer, degree 2 only
 *   EC_A               EC_A_ZERO, EC_A_MINUS_3 or EC_A_GENERAL; then EC_A_VALUE initialises a
 *
 * No formula uses the constant b. Any numbers are accepted: tests generate curves for which there
 * is no struct pool_curve.
 */
#ifndef CURVE_EMIT_CURVE_H
#define CURVE_EMIT_CURVE_H

#include "zk/curve/curve.h"

struct curve_emit_params {
    const pool_field *field;
    int32_t nonresidue; /* 0: degree 1 */
    /* a in Montgomery form, one or two elements of field->limbs limbs; NULL: 0. The cases 0 and -3
     * are detected. */
    const uint64_t *a;
    const char *type; /* of elements of the field, see field_emit_generate_typed; NULL: defined */
};

/* The caller frees *source by base_free. */
pool_status curve_emit_generate(const struct curve_emit_params *params, char **source);
/* The same for a struct pool_curve, without and with the type of elements. */
pool_status curve_emit_of(const pool_curve *curve, char **source);
pool_status curve_emit_typed(const pool_curve *curve, const char *type, char **source);

#endif
