/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a Montgomery product: see emit_rows.h. */
#include "zk/field/emit_rows.h"

static struct field_emit_arg modulus_word(
    const struct field_emit_writer *writer, uint32_t which, uint32_t index)
{
    (void)which;
    return field_emit_modulus(writer, 1, index);
}

static bool is_immediate(struct field_emit_arg arg, uint32_t value)
{
    return arg.bank == '$' && arg.value == value;
}

void field_emit_wide_product(struct field_emit_writer *writer, struct field_emit_arg low,
    struct field_emit_arg high, struct field_emit_arg x, struct field_emit_arg y,
    struct field_emit_arg add_low, struct field_emit_arg add_high, bool carry_in, bool carry_out)
{
    if (is_immediate(x, 0) || is_immediate(x, 1)) {
        struct field_emit_arg product = is_immediate(x, 0) ? field_emit_immediate(0) : y;
        field_emit_two(writer, carry_in ? "addc.cc.u32" : "add.cc.u32", low, add_low, product);
        field_emit_two(writer, carry_out ? "addc.cc.u32" : "addc.u32", high, add_high,
            field_emit_immediate(0));
        return;
    }
    field_emit_three(writer, carry_in ? "madc.lo.cc.u32" : "mad.lo.cc.u32", low, x, y, add_low);
    field_emit_three(writer, carry_out ? "madc.hi.cc.u32" : "madc.hi.u32", high, x, y, add_high);
}

void field_emit_product(struct field_emit_writer *writer, char bank, uint32_t index,
    struct field_emit_arg x, struct field_emit_arg y)
{
    if (is_immediate(x, 0) || is_immediate(x, 1)) {
        field_emit_move(writer, field_emit_local(bank, index), is_immediate(x, 0) ? x : y);
        field_emit_move(writer, field_emit_local(bank, index + 1), field_emit_immediate(0));
        return;
    }
    field_emit_two(writer, "mul.lo.u32", field_emit_local(bank, index), x, y);
    field_emit_two(writer, "mul.hi.u32", field_emit_local(bank, index + 1), x, y);
}

void field_emit_rows_declare(struct field_emit_writer *writer)
{
    field_emit_declare(writer, 'e', writer->words);
    field_emit_declare(writer, 'o', writer->words);
    field_emit_declare(writer, 't', writer->words + 1);
    field_emit_declare(writer, 'g', 1);
    field_emit_declare(writer, 'm', 1);
    field_emit_declare_reduction(writer);
}

/* Adds the word that a pending shift leaves to the lowest one; the carry enters the odd chain,
 * which must come next. */
static void put_shift(struct field_emit_rows *rows)
{
    struct field_emit_arg lowest = field_emit_local(rows->even, 0);
    if (rows->is_shifted)
        field_emit_two(rows->writer, "add.cc.u32", lowest, lowest, field_emit_local(rows->odd, 1));
}

static void put_odd_chain(struct field_emit_rows *rows, field_emit_word_source *source,
    uint32_t which, struct field_emit_arg y)
{
    struct field_emit_writer *writer = rows->writer;
    uint32_t words = writer->words;
    struct field_emit_arg zero = field_emit_immediate(0);
    struct field_emit_arg top = field_emit_local('g', 0);
    uint32_t offset = rows->is_shifted ? 2 : 0;
    if (!rows->odd_started) {
        for (uint32_t i = 0; i < words; i += 2)
            field_emit_product(writer, rows->odd, i, source(writer, which, i + 1), y);
        if (rows->has_top)
            field_emit_move(writer, top, zero);
        rows->odd_started = true;
        return;
    }
    for (uint32_t i = 0; i < words; i += 2) {
        bool is_inside = i + offset < words;
        field_emit_wide_product(writer, field_emit_local(rows->odd, i),
            field_emit_local(rows->odd, i + 1), source(writer, which, i + 1), y,
            is_inside ? field_emit_local(rows->odd, i + offset) : zero,
            is_inside       ? field_emit_local(rows->odd, i + offset + 1)
            : rows->has_top ? top
                            : zero,
            rows->is_shifted || i > 0, i + 2 < words || rows->has_top);
    }
    if (rows->has_top)
        field_emit_two(writer, "addc.u32", top, rows->is_shifted ? zero : top, zero);
    rows->is_shifted = false;
}

static void put_even_chain(struct field_emit_rows *rows, field_emit_word_source *source,
    uint32_t which, struct field_emit_arg y)
{
    struct field_emit_writer *writer = rows->writer;
    uint32_t words = writer->words;
    struct field_emit_arg zero = field_emit_immediate(0);
    if (!rows->even_started) {
        for (uint32_t i = 0; i < words; i += 2)
            field_emit_product(writer, rows->even, i, source(writer, which, i), y);
        rows->even_started = true;
        return;
    }
    for (uint32_t i = 0; i < words; i += 2)
        field_emit_wide_product(writer, field_emit_local(rows->even, i),
            field_emit_local(rows->even, i + 1), source(writer, which, i), y,
            field_emit_local(rows->even, i), field_emit_local(rows->even, i + 1), i > 0, true);
    struct field_emit_arg last = field_emit_local(rows->odd, words - 1);
    struct field_emit_arg top = field_emit_local('g', 0);
    field_emit_two(writer, rows->has_top ? "addc.cc.u32" : "addc.u32", last, last, zero);
    if (rows->has_top)
        field_emit_two(writer, "addc.u32", top, top, zero);
}

void field_emit_rows_add(struct field_emit_rows *rows, field_emit_word_source *source,
    uint32_t which, struct field_emit_arg y)
{
    put_shift(rows);
    put_odd_chain(rows, source, which, y);
    put_even_chain(rows, source, which, y);
}

void field_emit_rows_reduce(struct field_emit_rows *rows)
{
    struct field_emit_writer *writer = rows->writer;
    struct field_emit_arg m = field_emit_local('m', 0);
    struct field_emit_arg lowest = field_emit_local(rows->even, 0);
    put_shift(rows);
    /* Neither instruction changes the carry flag. */
    if (writer->field->inverse32 == UINT32_MAX)
        field_emit_two(writer, "sub.u32", m, field_emit_immediate(0), lowest);
    else
        field_emit_two(
            writer, "mul.lo.u32", m, lowest, field_emit_immediate(writer->field->inverse32));
    put_odd_chain(rows, modulus_word, 0, m);
    put_even_chain(rows, modulus_word, 0, m);
    char even = rows->even;
    rows->even = rows->odd;
    rows->odd = even;
    rows->is_shifted = true;
}

void field_emit_rows_merge(struct field_emit_rows *rows, bool into_result)
{
    struct field_emit_writer *writer = rows->writer;
    uint32_t words = writer->words;
    for (uint32_t i = 0; i < words; i++) {
        bool is_last = i + 1 == words;
        field_emit_two(writer,
            i == 0                      ? "add.cc.u32"
            : is_last && !rows->has_top ? "addc.u32"
                                        : "addc.cc.u32",
            into_result ? field_emit_word(writer, 0, i) : field_emit_local(rows->merged, i),
            field_emit_local(rows->even, i),
            is_last ? field_emit_immediate(0) : field_emit_local(rows->odd, i + 1));
    }
    if (rows->has_top)
        field_emit_two(writer, "addc.u32", field_emit_local(rows->merged, words),
            field_emit_local('g', 0), field_emit_immediate(0));
}
