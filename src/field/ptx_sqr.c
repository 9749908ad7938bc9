/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device text of Montgomery squaring: the products a[i] a[j] with i < j once, doubled, then the
 * squares a[i]^2 on top, n (n + 1) / 2 wide multiplications instead of n^2; and of the reduction
 * alone, which leaves the Montgomery form.
 */
#include "field/ptx_wide.h"

static struct ptx_arg argument_word(const struct ptx_writer *writer, uint32_t which, uint32_t index)
{
    return ptx_word(writer, which, index);
}

static void put_sqr(struct ptx_writer *writer, const char *name, bool is_lazy)
{
    uint32_t words = writer->words;
    struct ptx_wide wide = {.writer = writer, .x = argument_word, .which_x = 1};
    wide.y = wide.x;
    wide.which_y = wide.which_x;
    ptx_begin(writer, name, 1);
    ptx_wide_declare(writer);
    ptx_declare(writer, 'w', 2 * words);
    ptx_declare(writer, 't', words + 1);
    ptx_declare(writer, 'm', 1);
    ptx_declare_reduction(writer);
    ptx_wide_square(&wide, 'w');
    ptx_wide_reduce(writer, 'w', 't', is_lazy ? 0 : PTX_NO_TARGET);
    if (!is_lazy)
        ptx_put_reduction(writer, 't', 1, writer->room < 2, true);
    ptx_end(writer, 1);
}

/* Any value below R; the result is reduced. */
static void put_from_mont(struct ptx_writer *writer)
{
    struct ptx_rows rows = {
        .writer = writer, .even = 'e', .odd = 'o', .merged = 't', .even_started = true};
    ptx_begin(writer, "from_mont", 1);
    ptx_rows_declare(writer);
    for (uint32_t i = 0; i < writer->words; i++)
        ptx_move(writer, ptx_local('e', i), ptx_word(writer, 1, i));
    for (uint32_t i = 0; i < writer->words; i++)
        ptx_rows_reduce(&rows);
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
