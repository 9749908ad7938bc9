/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accumulators of a generated Montgomery product: rows of products are added, rows of the
 * modulus clear the lowest word. Shared by emit_mul.c and emit_sqr.c.
 *
 * The multiplier's widest instruction takes two 32-bit words and adds their 64-bit product to an
 * aligned register pair with carry in and out. A row of products x[0..n) * y is therefore stored in
 * two accumulators of n words: products of even index in `even`, of odd index in `odd`, value =
 * even + 2^32 odd, so that every product meets an aligned pair and one chain of n / 2 wide
 * instructions adds half a row. A row of the multiplicand is followed by the row of the modulus
 * that clears the lowest word; dropping that word makes `odd` the new even accumulator and shifts
 * the old even one down by a pair, which is folded into the first chain of the next row.
 *
 * Bounds. Between rows the value is below the sum of the multiplicands plus p. While that fits in n
 * words no carry leaves the accumulators; for moduli without headroom a word `top` (g0) takes it.
 */
#ifndef FIELD_EMIT_ROWS_H
#define FIELD_EMIT_ROWS_H

#include "zk/field/emit.h"

struct field_emit_rows {
    struct field_emit_writer *writer;
    char even; /* bank of the even accumulator: the two swap after each row of the modulus */
    char odd;
    char merged; /* bank of the whole value in the end */
    bool has_top;
    bool even_started; /* whether the accumulator has been written */
    bool odd_started;
    bool is_shifted; /* a division by 2^32 is pending, done by the next chain */
};

/* Returns the words of a row's multiplicand: field_emit_word, where `which` is an operand of the
 * statement, or field_emit_bank_word, where it is a bank. */
typedef struct field_emit_arg field_emit_word_source(
    const struct field_emit_writer *writer, uint32_t which, uint32_t index);

static inline struct field_emit_arg field_emit_bank_word(
    const struct field_emit_writer *writer, uint32_t bank, uint32_t index)
{
    (void)writer;
    return field_emit_local((char)bank, index);
}

/* Declares banks e, o, t, g, m and those of a reduction. */
void field_emit_rows_declare(struct field_emit_writer *writer);

/* value += source * y */
void field_emit_rows_add(struct field_emit_rows *rows, field_emit_word_source *source,
    uint32_t which, struct field_emit_arg y);

/* value = (value + m p) / 2^32 with the m that makes it exact */
void field_emit_rows_reduce(struct field_emit_rows *rows);

/* The bank `merged`, or the function's result, = value; the top word goes to merged[words]. */
void field_emit_rows_merge(struct field_emit_rows *rows, bool into_result);

/* low, high = x y + (add_low, add_high): one wide instruction once compiled. A multiplicand x that
 * is 0 or 1 costs two additions instead. */
void field_emit_wide_product(struct field_emit_writer *writer, struct field_emit_arg low,
    struct field_emit_arg high, struct field_emit_arg x, struct field_emit_arg y,
    struct field_emit_arg add_low, struct field_emit_arg add_high, bool carry_in, bool carry_out);

/* bank[index], bank[index + 1] = x y */
void field_emit_product(struct field_emit_writer *writer, char bank, uint32_t index,
    struct field_emit_arg x, struct field_emit_arg y);

#endif
