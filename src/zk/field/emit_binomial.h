/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of an extension over those of its base field, for emit_field.c: fr_coordinate,
 * fr_set_coordinate, fr_from_c, fr_less, fr_reduce, fr_neg, fr_dbl, fr_to_mont, fr_from_mont,
 * fr_add, fr_sub, fr_mul_c, fr_mul, fr_sqr, fr_mul_add, fr_mul_sub. Type, constants, tests and
 * fr_nonresidue, which is a coordinate, precede them.
 */
#ifndef FIELD_EMIT_BINOMIAL_H
#define FIELD_EMIT_BINOMIAL_H

#include "zk/field/emit.h"

/* `upper` is the prefix in upper case, `coordinate` the prefix of the base field's operations. */
void field_emit_binomial(
    struct field_emit_writer *writer, const char *upper, const char *coordinate);

#endif
