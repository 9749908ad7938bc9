/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates Montgomery multiplication, and sums of two products with one reduction. emit_rows.h
 * explains the algorithm and its bounds.
 */
#include "zk/field/emit_rows.h"

/* bank c = multiple p - (third argument), which is not negative. */
static void put_negated(struct field_emit_writer *writer, uint32_t multiple)
{
    uint32_t words = writer->words;
    field_emit_declare(writer, 'c', words);
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer,
            i == 0          ? "sub.cc.u32"
            : i + 1 < words ? "subc.cc.u32"
                            : "subc.u32",
            field_emit_local('c', i), field_emit_modulus(writer, multiple, i),
            field_emit_word(writer, 3, i));
}

/*
 * The number of conditional subtractions. Strict: below p + k p^2 / R. Lazy: below p + 4 k p^2 / R,
 * which 4p < R (k = 1) or 8p < R (k = 2) keeps below 2p, and below 3p otherwise.
 */
static uint32_t reductions(const struct field_emit_writer *writer, uint32_t products, bool is_lazy)
{
    if (is_lazy)
        return products == 2 && writer->headroom < 8 ? 1 : 0;
    return products == 2 && writer->headroom < 2 ? 2 : 1;
}

/* a b (arity 2), a b + c d or a b - c d (arity 4), times 1 / R. */
static void put_product_sum(struct field_emit_writer *writer, const char *name, uint32_t arity,
    bool is_negative, bool is_lazy)
{
    uint32_t words = writer->words;
    uint32_t multiple = is_lazy ? 2 : 1;
    uint32_t products = arity / 2;
    struct field_emit_rows rows = {.writer = writer, .even = 'e', .odd = 'o', .merged = 't'};
    rows.has_top = writer->headroom < products * multiple + 1;

    field_emit_begin(writer, name, arity);
    field_emit_rows_declare(writer);
    if (is_negative)
        put_negated(writer, multiple);
    for (uint32_t i = 0; i < words; i++) {
        field_emit_rows_add(&rows, field_emit_word, 1, field_emit_word(writer, 2, i));
        if (products == 2)
            field_emit_rows_add(&rows, is_negative ? field_emit_bank_word : field_emit_word,
                is_negative ? (uint32_t)'c' : 3, field_emit_word(writer, 4, i));
        field_emit_rows_reduce(&rows);
    }
    uint32_t count = reductions(writer, products, is_lazy);
    field_emit_rows_merge(&rows, count == 0);
    for (uint32_t i = 0; i < count; i++)
        field_emit_reduction(writer, 't', multiple, rows.has_top, i + 1 == count);
    field_emit_end(writer, arity);
}

void field_emit_multiplications(struct field_emit_writer *writer)
{
    put_product_sum(writer, "mul", 2, false, false);
    put_product_sum(writer, "mul_add", 4, false, false);
    put_product_sum(writer, "mul_sub", 4, true, false);
    if (!writer->lazy)
        return;
    put_product_sum(writer, "mul_lazy", 2, false, true);
    put_product_sum(writer, "mul_add_lazy", 4, false, true);
    put_product_sum(writer, "mul_sub_lazy", 4, true, true);
}
