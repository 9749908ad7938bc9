/* SPDX-License-Identifier: Apache-2.0 */
/* Generates double-length products: see emit_wide.h. */
#include "zk/field/emit_wide.h"

static struct field_emit_arg accumulated(
    const struct field_emit_wide *wide, uint32_t parity, uint32_t index)
{
    bool is_started = (wide->started[parity] >> index & 1) != 0;
    return is_started ? field_emit_local(parity == 0 ? 'e' : 'o', index) : field_emit_immediate(0);
}

/*
 * Adds x[row] * y[j] for those j >= first whose weight row + j has the given parity. The chain runs
 * over aligned pairs; its carry goes to the word above, which holds at most earlier carries.
 */
static void put_half_row(
    struct field_emit_wide *wide, uint32_t row, uint32_t first, uint32_t parity)
{
    struct field_emit_writer *writer = wide->writer;
    char bank = parity == 0 ? 'e' : 'o';
    struct field_emit_arg x = wide->x(writer, wide->which_x, row);
    bool carry = false;
    uint32_t index = 0;
    for (uint32_t j = first; j < writer->words; j++) {
        if ((row + j) % 2 != parity)
            continue;
        index = row + j - parity;
        struct field_emit_arg y = wide->y(writer, wide->which_y, j);
        struct field_emit_arg low = accumulated(wide, parity, index);
        struct field_emit_arg high = accumulated(wide, parity, index + 1);
        if (!carry && low.bank == '$' && high.bank == '$') {
            field_emit_product(writer, bank, index, x, y);
        } else {
            field_emit_wide_product(writer, field_emit_local(bank, index),
                field_emit_local(bank, index + 1), x, y, low, high, carry, true);
            carry = true;
        }
        wide->started[parity] |= (uint64_t)3 << index;
    }
    if (!carry || index + 2 >= 2 * writer->words)
        return;
    field_emit_two(writer, "addc.u32", field_emit_local(bank, index + 2),
        accumulated(wide, parity, index + 2), field_emit_immediate(0));
    wide->started[parity] |= (uint64_t)1 << (index + 2);
}

static void put_rows(struct field_emit_wide *wide, bool is_triangle)
{
    for (uint32_t row = 0; row < wide->writer->words; row++) {
        uint32_t first = is_triangle ? row + 1 : 0;
        put_half_row(wide, row, first, 1);
        put_half_row(wide, row, first, 0);
    }
}

/* bank = e + 2^32 o from word `from` up; the words below hold nothing of o. */
static void put_merge(struct field_emit_wide *wide, char bank, uint32_t from)
{
    struct field_emit_writer *writer = wide->writer;
    uint32_t count = 2 * writer->words;
    for (uint32_t i = from; i < count; i++)
        field_emit_two(writer,
            i == from       ? "add.cc.u32"
            : i + 1 < count ? "addc.cc.u32"
                            : "addc.u32",
            field_emit_local(bank, i), accumulated(wide, 0, i), accumulated(wide, 1, i - 1));
}

void field_emit_wide_declare(struct field_emit_writer *writer)
{
    field_emit_declare(writer, 'e', 2 * writer->words);
    field_emit_declare(writer, 'o', 2 * writer->words);
}

void field_emit_wide_multiply(struct field_emit_wide *wide, char bank)
{
    put_rows(wide, false);
    field_emit_move(wide->writer, field_emit_local(bank, 0), field_emit_local('e', 0));
    put_merge(wide, bank, 1);
}

void field_emit_wide_multiply_high(struct field_emit_wide *wide, char bank)
{
    const uint32_t words = wide->writer->words;
    for (uint32_t row = 0; row < words; row++) {
        uint32_t first = row + 2 < words ? words - 2 - row : 0;
        put_half_row(wide, row, first, 1);
        put_half_row(wide, row, first, 0);
    }
    put_merge(wide, bank, words - 1);
}

void field_emit_wide_square(struct field_emit_wide *wide, char bank)
{
    struct field_emit_writer *writer = wide->writer;
    uint32_t words = writer->words;
    put_rows(wide, true);
    /* Word 0 is empty until the squares are added. */
    put_merge(wide, bank, 1);
    for (uint32_t i = 2 * words - 1; i > 1; i--)
        field_emit(writer, "        \"shf.l.wrap.b32 %c%u, %c%u, %c%u, 1;\\n\"\n", bank, i, bank,
            i - 1, bank, i);
    field_emit(writer, "        \"shl.b32 %c1, %c1, 1;\\n\"\n", bank, bank);
    for (uint32_t i = 0; i < words; i++) {
        struct field_emit_arg x = wide->x(writer, wide->which_x, i);
        field_emit_wide_product(writer, field_emit_local(bank, 2 * i),
            field_emit_local(bank, 2 * i + 1), x, x,
            i == 0 ? field_emit_immediate(0) : field_emit_local(bank, 2 * i),
            field_emit_local(bank, 2 * i + 1), i > 0, i + 1 < words);
    }
}

void field_emit_wide_reduce(
    struct field_emit_writer *writer, char bank, char merged, uint32_t target)
{
    uint32_t words = writer->words;
    struct field_emit_rows rows = {
        .writer = writer, .even = bank, .odd = 'o', .merged = merged, .even_started = true};
    for (uint32_t i = 0; i < words; i++)
        field_emit_rows_reduce(&rows);
    field_emit_rows_merge(&rows, false);
    bool has_top = writer->headroom < 2;
    bool into_result = target != PTX_NO_TARGET;
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer,
            i == 0                     ? "add.cc.u32"
            : i + 1 < words || has_top ? "addc.cc.u32"
                                       : "addc.u32",
            into_result ? (struct field_emit_arg){'%', target + i} : field_emit_local(merged, i),
            field_emit_local(merged, i), field_emit_local(bank, words + i));
    if (has_top)
        field_emit_two(writer, "addc.u32", field_emit_local(merged, words), field_emit_immediate(0),
            field_emit_immediate(0));
}
