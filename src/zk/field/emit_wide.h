/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates products of double length, for operations that need a product before its reduction
 * (squares, products in Fp2): rows are added in accumulators of 2 n words, separately for even and
 * odd weights as in emit_rows.h, and the reduction is a separate step.
 */
#ifndef FIELD_EMIT_WIDE_H
#define FIELD_EMIT_WIDE_H

#include "zk/field/emit_rows.h"

struct field_emit_wide {
    struct field_emit_writer *writer;
    field_emit_word_source *x; /* the factors; a square reads x only */
    field_emit_word_source *y;
    uint32_t which_x;
    uint32_t which_y;
    uint64_t started[2]; /* by parity of the weight: the words of banks e and o that were written */
};

/* Declares banks e and o, which are scratch registers of a product. */
void field_emit_wide_declare(struct field_emit_writer *writer);

/* bank (2 n words) = x y, or x^2 by half the products */
void field_emit_wide_multiply(struct field_emit_wide *wide, char bank);
void field_emit_wide_square(struct field_emit_wide *wide, char bank);

/* The upper n words of bank = the high half of x y without the products x[i] y[j], i + j < n - 2,
 * which are less than (n - 1) R / 2^32 together. */
void field_emit_wide_multiply_high(struct field_emit_wide *wide, char bank);

enum { PTX_NO_TARGET = UINT32_MAX };

/*
 * The 2 n words of `bank`, a value below p R, divided by R modulo p: below p plus the value's high
 * half. Into the statement's operands from `target` on, or into bank `merged` (a top word included
 * where 2p > R); `merged` is used in either case, as are banks o and m, and `bank` is destroyed. No
 * word above is needed on the way: (R - 1) + (2^32 - 1) p < 2^32 R.
 */
void field_emit_wide_reduce(
    struct field_emit_writer *writer, char bank, char merged, uint32_t target);

#endif
