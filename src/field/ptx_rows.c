/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a Montgomery product: see ptx_rows.h. */
#include "field/ptx_rows.h"

static struct ptx_arg modulus_word(const struct ptx_writer *writer, uint32_t which, uint32_t index)
{
    (void)which;
    return ptx_modulus(writer, 1, index);
}

static bool is_immediate(struct ptx_arg arg, uint32_t value)
{
    return arg.bank == '$' && arg.value == value;
}

void ptx_put_wide(struct ptx_writer *writer, struct ptx_arg low, struct ptx_arg high,
    struct ptx_arg x, struct ptx_arg y, struct ptx_arg add_low, struct ptx_arg add_high,
    bool carry_in, bool carry_out)
{
    if (is_immediate(x, 0) || is_immediate(x, 1)) {
        struct ptx_arg product = is_immediate(x, 0) ? ptx_immediate(0) : y;
        ptx_two(writer, carry_in ? "addc.cc.u32" : "add.cc.u32", low, add_low, product);
        ptx_two(writer, carry_out ? "addc.cc.u32" : "addc.u32", high, add_high, ptx_immediate(0));
        return;
    }
    ptx_three(writer, carry_in ? "madc.lo.cc.u32" : "mad.lo.cc.u32", low, x, y, add_low);
    ptx_three(writer, carry_out ? "madc.hi.cc.u32" : "madc.hi.u32", high, x, y, add_high);
}

void ptx_put_product(
    struct ptx_writer *writer, char bank, uint32_t index, struct ptx_arg x, struct ptx_arg y)
{
    if (is_immediate(x, 0) || is_immediate(x, 1)) {
        ptx_move(writer, ptx_local(bank, index), is_immediate(x, 0) ? x : y);
        ptx_move(writer, ptx_local(bank, index + 1), ptx_immediate(0));
        return;
    }
    ptx_two(writer, "mul.lo.u32", ptx_local(bank, index), x, y);
    ptx_two(writer, "mul.hi.u32", ptx_local(bank, index + 1), x, y);
}

void ptx_rows_declare(struct ptx_writer *writer)
{
    ptx_declare(writer, 'e', writer->words);
    ptx_declare(writer, 'o', writer->words);
    ptx_declare(writer, 't', writer->words + 1);
    ptx_declare(writer, 'g', 1);
    ptx_declare(writer, 'm', 1);
    ptx_declare_reduction(writer);
}

/* The word that a pending shift leaves behind joins the lowest one; its carry enters the odd chain
 * that must come next. */
static void put_shift(struct ptx_rows *rows)
{
    struct ptx_arg lowest = ptx_local(rows->even, 0);
    if (rows->is_shifted)
        ptx_two(rows->writer, "add.cc.u32", lowest, lowest, ptx_local(rows->odd, 1));
}

static void put_odd_chain(
    struct ptx_rows *rows, ptx_word_source *source, uint32_t which, struct ptx_arg y)
{
    struct ptx_writer *writer = rows->writer;
    uint32_t words = writer->words;
    struct ptx_arg zero = ptx_immediate(0);
    struct ptx_arg top = ptx_local('g', 0);
    uint32_t offset = rows->is_shifted ? 2 : 0;
    if (!rows->odd_started) {
        for (uint32_t i = 0; i < words; i += 2)
            ptx_put_product(writer, rows->odd, i, source(writer, which, i + 1), y);
        if (rows->has_top)
            ptx_move(writer, top, zero);
        rows->odd_started = true;
        return;
    }
    for (uint32_t i = 0; i < words; i += 2) {
        bool is_inside = i + offset < words;
        ptx_put_wide(writer, ptx_local(rows->odd, i), ptx_local(rows->odd, i + 1),
            source(writer, which, i + 1), y, is_inside ? ptx_local(rows->odd, i + offset) : zero,
            is_inside       ? ptx_local(rows->odd, i + offset + 1)
            : rows->has_top ? top
                            : zero,
            rows->is_shifted || i > 0, i + 2 < words || rows->has_top);
    }
    if (rows->has_top)
        ptx_two(writer, "addc.u32", top, rows->is_shifted ? zero : top, zero);
    rows->is_shifted = false;
}

static void put_even_chain(
    struct ptx_rows *rows, ptx_word_source *source, uint32_t which, struct ptx_arg y)
{
    struct ptx_writer *writer = rows->writer;
    uint32_t words = writer->words;
    struct ptx_arg zero = ptx_immediate(0);
    if (!rows->even_started) {
        for (uint32_t i = 0; i < words; i += 2)
            ptx_put_product(writer, rows->even, i, source(writer, which, i), y);
        rows->even_started = true;
        return;
    }
    for (uint32_t i = 0; i < words; i += 2)
        ptx_put_wide(writer, ptx_local(rows->even, i), ptx_local(rows->even, i + 1),
            source(writer, which, i), y, ptx_local(rows->even, i), ptx_local(rows->even, i + 1),
            i > 0, true);
    struct ptx_arg last = ptx_local(rows->odd, words - 1);
    struct ptx_arg top = ptx_local('g', 0);
    ptx_two(writer, rows->has_top ? "addc.cc.u32" : "addc.u32", last, last, zero);
    if (rows->has_top)
        ptx_two(writer, "addc.u32", top, top, zero);
}

void ptx_rows_add(struct ptx_rows *rows, ptx_word_source *source, uint32_t which, struct ptx_arg y)
{
    put_shift(rows);
    put_odd_chain(rows, source, which, y);
    put_even_chain(rows, source, which, y);
}

void ptx_rows_reduce(struct ptx_rows *rows)
{
    struct ptx_writer *writer = rows->writer;
    struct ptx_arg m = ptx_local('m', 0);
    struct ptx_arg lowest = ptx_local(rows->even, 0);
    put_shift(rows);
    /* Neither instruction touches the carry. */
    if (writer->field->inverse32 == UINT32_MAX)
        ptx_two(writer, "sub.u32", m, ptx_immediate(0), lowest);
    else
        ptx_two(writer, "mul.lo.u32", m, lowest, ptx_immediate(writer->field->inverse32));
    put_odd_chain(rows, modulus_word, 0, m);
    put_even_chain(rows, modulus_word, 0, m);
    char even = rows->even;
    rows->even = rows->odd;
    rows->odd = even;
    rows->is_shifted = true;
}

void ptx_rows_merge(struct ptx_rows *rows, bool into_result)
{
    struct ptx_writer *writer = rows->writer;
    uint32_t words = writer->words;
    for (uint32_t i = 0; i < words; i++) {
        bool is_last = i + 1 == words;
        ptx_two(writer,
            i == 0                      ? "add.cc.u32"
            : is_last && !rows->has_top ? "addc.u32"
                                        : "addc.cc.u32",
            into_result ? ptx_word(writer, 0, i) : ptx_local(rows->merged, i),
            ptx_local(rows->even, i), is_last ? ptx_immediate(0) : ptx_local(rows->odd, i + 1));
    }
    if (rows->has_top)
        ptx_two(writer, "addc.u32", ptx_local(rows->merged, words), ptx_local('g', 0),
            ptx_immediate(0));
}
