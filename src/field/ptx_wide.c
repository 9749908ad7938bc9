/* SPDX-License-Identifier: Apache-2.0 */
/* Double-length products: see ptx_wide.h. */
#include "field/ptx_wide.h"

static struct ptx_arg accumulated(const struct ptx_wide *wide, uint32_t parity, uint32_t index)
{
    bool is_started = (wide->started[parity] >> index & 1) != 0;
    return is_started ? ptx_local(parity == 0 ? 'e' : 'o', index) : ptx_immediate(0);
}

/*
 * Adds x[row] * y[j] for those j >= first whose weight row + j has the given parity. The chain runs
 * over aligned pairs; its carry goes to the word above, which holds at most earlier carries.
 */
static void put_half_row(struct ptx_wide *wide, uint32_t row, uint32_t first, uint32_t parity)
{
    struct ptx_writer *writer = wide->writer;
    char bank = parity == 0 ? 'e' : 'o';
    struct ptx_arg x = wide->x(writer, wide->which_x, row);
    bool carry = false;
    uint32_t index = 0;
    for (uint32_t j = first; j < writer->words; j++) {
        if ((row + j) % 2 != parity)
            continue;
        index = row + j - parity;
        struct ptx_arg y = wide->y(writer, wide->which_y, j);
        struct ptx_arg low = accumulated(wide, parity, index);
        struct ptx_arg high = accumulated(wide, parity, index + 1);
        if (!carry && low.bank == '$' && high.bank == '$') {
            ptx_put_product(writer, bank, index, x, y);
        } else {
            ptx_put_wide(writer, ptx_local(bank, index), ptx_local(bank, index + 1), x, y, low,
                high, carry, true);
            carry = true;
        }
        wide->started[parity] |= (uint64_t)3 << index;
    }
    if (!carry || index + 2 >= 2 * writer->words)
        return;
    ptx_two(writer, "addc.u32", ptx_local(bank, index + 2), accumulated(wide, parity, index + 2),
        ptx_immediate(0));
    wide->started[parity] |= (uint64_t)1 << (index + 2);
}

static void put_rows(struct ptx_wide *wide, bool is_triangle)
{
    for (uint32_t row = 0; row < wide->writer->words; row++) {
        uint32_t first = is_triangle ? row + 1 : 0;
        put_half_row(wide, row, first, 1);
        put_half_row(wide, row, first, 0);
    }
}

/* bank = e + 2^32 o from word `from` up; the words below hold nothing of o. */
static void put_merge(struct ptx_wide *wide, char bank, uint32_t from)
{
    struct ptx_writer *writer = wide->writer;
    uint32_t count = 2 * writer->words;
    for (uint32_t i = from; i < count; i++)
        ptx_two(writer,
            i == from       ? "add.cc.u32"
            : i + 1 < count ? "addc.cc.u32"
                            : "addc.u32",
            ptx_local(bank, i), accumulated(wide, 0, i), accumulated(wide, 1, i - 1));
}

void ptx_wide_declare(struct ptx_writer *writer)
{
    ptx_declare(writer, 'e', 2 * writer->words);
    ptx_declare(writer, 'o', 2 * writer->words);
}

void ptx_wide_multiply(struct ptx_wide *wide, char bank)
{
    put_rows(wide, false);
    ptx_move(wide->writer, ptx_local(bank, 0), ptx_local('e', 0));
    put_merge(wide, bank, 1);
}

void ptx_wide_square(struct ptx_wide *wide, char bank)
{
    struct ptx_writer *writer = wide->writer;
    uint32_t words = writer->words;
    put_rows(wide, true);
    /* Word 0 is empty until the squares come. */
    put_merge(wide, bank, 1);
    for (uint32_t i = 2 * words - 1; i > 1; i--)
        ptx_put(writer, "        \"shf.l.wrap.b32 %c%u, %c%u, %c%u, 1;\\n\"\n", bank, i, bank,
            i - 1, bank, i);
    ptx_put(writer, "        \"shl.b32 %c1, %c1, 1;\\n\"\n", bank, bank);
    for (uint32_t i = 0; i < words; i++) {
        struct ptx_arg x = wide->x(writer, wide->which_x, i);
        ptx_put_wide(writer, ptx_local(bank, 2 * i), ptx_local(bank, 2 * i + 1), x, x,
            i == 0 ? ptx_immediate(0) : ptx_local(bank, 2 * i), ptx_local(bank, 2 * i + 1), i > 0,
            i + 1 < words);
    }
}

void ptx_wide_reduce(struct ptx_writer *writer, char bank, char merged, uint32_t target)
{
    uint32_t words = writer->words;
    struct ptx_rows rows = {
        .writer = writer, .even = bank, .odd = 'o', .merged = merged, .even_started = true};
    for (uint32_t i = 0; i < words; i++)
        ptx_rows_reduce(&rows);
    ptx_rows_merge(&rows, false);
    bool has_top = writer->room < 2;
    bool into_result = target != PTX_NO_TARGET;
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer,
            i == 0                     ? "add.cc.u32"
            : i + 1 < words || has_top ? "addc.cc.u32"
                                       : "addc.u32",
            into_result ? (struct ptx_arg){'%', target + i} : ptx_local(merged, i),
            ptx_local(merged, i), ptx_local(bank, words + i));
    if (has_top)
        ptx_two(writer, "addc.u32", ptx_local(merged, words), ptx_immediate(0), ptx_immediate(0));
}
