/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device text of Montgomery squaring: the products a[i] a[j] with i < j once, doubled, then the
 * squares a[i]^2 on top, n (n + 1) / 2 wide multiplications instead of n^2; and of the reduction
 * alone, which leaves the Montgomery form.
 */
#include "field/ptx_rows.h"

/* Which words of the double-length accumulators hold something yet. */
struct square {
    struct ptx_writer *writer;
    uint64_t started[2]; /* [0] bank e, value e; [1] bank o, value 2^32 o */
};

static struct ptx_arg accumulated(const struct square *square, uint32_t parity, uint32_t index)
{
    bool is_started = (square->started[parity] >> index & 1) != 0;
    return is_started ? ptx_local(parity == 0 ? 'e' : 'o', index) : ptx_immediate(0);
}

/*
 * Adds a[row] * a[j] for those j > row whose weight row + j has the given parity. The chain runs
 * over aligned pairs; its carry goes to the word above, which no earlier chain can have filled up.
 */
static void put_half_row(struct square *square, uint32_t row, uint32_t parity)
{
    struct ptx_writer *writer = square->writer;
    char bank = parity == 0 ? 'e' : 'o';
    bool carry = false;
    uint32_t index = 0;
    for (uint32_t j = row + 1; j < writer->words; j++) {
        if ((row + j) % 2 != parity)
            continue;
        index = row + j - parity;
        struct ptx_arg low = accumulated(square, parity, index);
        struct ptx_arg high = accumulated(square, parity, index + 1);
        if (!carry && low.bank == '$' && high.bank == '$') {
            ptx_put_product(writer, bank, index, ptx_word(writer, 1, row), ptx_word(writer, 1, j));
        } else {
            ptx_put_wide(writer, ptx_local(bank, index), ptx_local(bank, index + 1),
                ptx_word(writer, 1, row), ptx_word(writer, 1, j), low, high, carry, true);
            carry = true;
        }
        square->started[parity] |= (uint64_t)3 << index;
    }
    if (!carry)
        return;
    ptx_two(writer, "addc.u32", ptx_local(bank, index + 2), accumulated(square, parity, index + 2),
        ptx_immediate(0));
    square->started[parity] |= (uint64_t)1 << (index + 2);
}

/* Bank w (2 words) = a^2. */
static void put_square(struct ptx_writer *writer)
{
    uint32_t words = writer->words;
    struct square square = {.writer = writer};
    for (uint32_t row = 0; row + 1 < words; row++) {
        put_half_row(&square, row, 1);
        put_half_row(&square, row, 0);
    }
    /* w = e + 2^32 o; word 0 is empty until the squares come. */
    for (uint32_t i = 1; i < 2 * words; i++)
        ptx_two(writer,
            i == 1              ? "add.cc.u32"
            : i + 1 < 2 * words ? "addc.cc.u32"
                                : "addc.u32",
            ptx_local('w', i), accumulated(&square, 0, i), accumulated(&square, 1, i - 1));
    for (uint32_t i = 2 * words - 1; i > 1; i--)
        ptx_put(writer, "        \"shf.l.wrap.b32 w%u, w%u, w%u, 1;\\n\"\n", i, i - 1, i);
    ptx_put(writer, "        \"shl.b32 w1, w1, 1;\\n\"\n");
    for (uint32_t i = 0; i < words; i++)
        ptx_put_wide(writer, ptx_local('w', 2 * i), ptx_local('w', 2 * i + 1),
            ptx_word(writer, 1, i), ptx_word(writer, 1, i),
            i == 0 ? ptx_immediate(0) : ptx_local('w', 2 * i), ptx_local('w', 2 * i + 1), i > 0,
            i + 1 < words);
}

/* The value of w's low half over R, modulo p and at most p, stays in the accumulators. No word
 * above is needed: (R - 1) + (2^32 - 1) p < 2^32 R. */
static void put_low_half(struct ptx_rows *rows)
{
    for (uint32_t i = 0; i < rows->writer->words; i++)
        ptx_rows_reduce(rows);
}

static void put_sqr(struct ptx_writer *writer, const char *name, bool is_lazy)
{
    uint32_t words = writer->words;
    struct ptx_rows rows = {.writer = writer, .even = 'w', .odd = 'o', .even_started = true};
    ptx_begin(writer, name, 1);
    ptx_declare(writer, 'w', 2 * words);
    ptx_declare(writer, 'e', 2 * words);
    ptx_declare(writer, 'o', 2 * words);
    ptx_declare(writer, 't', words + 1);
    ptx_declare(writer, 'm', 1);
    ptx_declare_reduction(writer);
    put_square(writer);
    put_low_half(&rows);
    ptx_rows_merge(&rows, false);
    bool has_top = writer->room < 2;
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer,
            i == 0                     ? "add.cc.u32"
            : i + 1 < words || has_top ? "addc.cc.u32"
                                       : "addc.u32",
            is_lazy ? ptx_word(writer, 0, i) : ptx_local('t', i), ptx_local('t', i),
            ptx_local('w', words + i));
    if (has_top)
        ptx_two(writer, "addc.u32", ptx_local('t', words), ptx_immediate(0), ptx_immediate(0));
    if (!is_lazy)
        ptx_put_reduction(writer, 't', 1, has_top, true);
    ptx_end(writer, 1);
}

/* Any value below R; the result is reduced. */
static void put_from_mont(struct ptx_writer *writer)
{
    struct ptx_rows rows = {.writer = writer, .even = 'e', .odd = 'o', .even_started = true};
    ptx_begin(writer, "from_mont", 1);
    ptx_rows_declare(writer);
    for (uint32_t i = 0; i < writer->words; i++)
        ptx_move(writer, ptx_local('e', i), ptx_word(writer, 1, i));
    put_low_half(&rows);
    ptx_rows_merge(&rows, false);
    ptx_put_reduction(writer, 't', 1, false, true);
    ptx_end(writer, 1);
}

void ptx_put_squarings(struct ptx_writer *writer)
{
    put_sqr(writer, "sqr", false);
    if (writer->lazy)
        put_sqr(writer, "sqr_lazy", true);
    put_from_mont(writer);
}
