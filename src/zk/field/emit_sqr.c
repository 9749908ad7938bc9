/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates Montgomery squaring: the products a[i] a[j] with i < j once, doubled, plus the squares
 * a[i]^2, n (n + 1) / 2 wide multiplications instead of n^2; and of the reduction
 * alone, which leaves the Montgomery form.
 */
#include "zk/field/emit_wide.h"

static void put_sqr(struct field_emit_writer *writer, const char *name, bool is_lazy)
{
    uint32_t words = writer->words;
    struct field_emit_wide wide = {.writer = writer, .x = field_emit_word, .which_x = 1};
    wide.y = wide.x;
    wide.which_y = wide.which_x;
    field_emit_begin(writer, name, 1);
    field_emit_wide_declare(writer);
    field_emit_declare(writer, 'w', 2 * words);
    field_emit_declare(writer, 't', words + 1);
    field_emit_declare(writer, 'm', 1);
    field_emit_declare_reduction(writer);
    field_emit_wide_square(&wide, 'w');
    field_emit_wide_reduce(writer, 'w', 't', is_lazy ? 0 : PTX_NO_TARGET);
    if (!is_lazy)
        field_emit_reduction(writer, 't', 1, writer->headroom < 2, true);
    field_emit_end(writer, 1);
}

/* Any value below R; the result is reduced. */
static void put_from_mont(struct field_emit_writer *writer)
{
    struct field_emit_rows rows = {
        .writer = writer, .even = 'e', .odd = 'o', .merged = 't', .even_started = true};
    field_emit_begin(writer, "from_mont", 1);
    field_emit_rows_declare(writer);
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit_move(writer, field_emit_local('e', i), field_emit_word(writer, 1, i));
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit_rows_reduce(&rows);
    field_emit_rows_merge(&rows, false);
    field_emit_reduction(writer, 't', 1, false, true);
    field_emit_end(writer, 1);
}

void field_emit_squarings(struct field_emit_writer *writer)
{
    put_sqr(writer, "sqr", false);
    if (writer->lazy)
        put_sqr(writer, "sqr_lazy", true);
    put_from_mont(writer);
}
