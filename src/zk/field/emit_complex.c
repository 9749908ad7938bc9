/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates (a + b u)(c + d u) with u^2 = -1 as one operation: three products of double
 * length (Karatsuba) and two reductions, 5 n^2 + n wide multiplications instead of the 6 n^2 + n of
 * sums of products with one reduction each. On lazy values only: 4p <= R keeps sums of two in n
 * words.
 */
#include "zk/field/emit_wide.h"

/* Operands of the statement, in elements: results 0 and 1, then a, b, c, d. */
enum { REAL, IMAGINARY, A, B, C, D };

static void put_sum(struct field_emit_writer *writer, char bank, uint32_t x, uint32_t y)
{
    uint32_t words = writer->words;
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer,
            i == 0          ? "add.cc.u32"
            : i + 1 < words ? "addc.cc.u32"
                            : "addc.u32",
            field_emit_local(bank, i), field_emit_word(writer, x, i),
            field_emit_word(writer, y, i));
}

/* bank -= other, 2 n words; the borrow stays in the carry flag. */
static void put_difference(struct field_emit_writer *writer, char bank, char other)
{
    for (uint32_t i = 0; i < 2 * writer->words; i++)
        field_emit_two(writer, i == 0 ? "sub.cc.u32" : "subc.cc.u32", field_emit_local(bank, i),
            field_emit_local(bank, i), field_emit_local(other, i));
}

static void put_products(struct field_emit_writer *writer)
{
    struct field_emit_wide real = {writer, field_emit_word, field_emit_word, A, C, {0, 0}};
    struct field_emit_wide imaginary = {writer, field_emit_word, field_emit_word, B, D, {0, 0}};
    struct field_emit_wide both = {
        writer, field_emit_bank_word, field_emit_bank_word, 'h', 'k', {0, 0}};
    field_emit_wide_multiply(&real, 'w');
    field_emit_wide_multiply(&imaginary, 'x');
    put_sum(writer, 'h', A, B);
    put_sum(writer, 'k', C, D);
    field_emit_wide_multiply(&both, 'y');
}

/* a d + b c = (a + b)(c + d) - a c - b d, below 8 p^2: reduced below 2p or, with p > R / 8, 3p. */
static void put_imaginary(struct field_emit_writer *writer)
{
    bool is_reduced = writer->headroom >= 8;
    put_difference(writer, 'y', 'w');
    put_difference(writer, 'y', 'x');
    field_emit_wide_reduce(
        writer, 'y', 't', is_reduced ? IMAGINARY * writer->words : PTX_NO_TARGET);
    if (is_reduced)
        return;
    field_emit_reduction(writer, 't', 2, false, false);
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit_move(writer, field_emit_word(writer, IMAGINARY, i), field_emit_local('t', i));
}

/* a c - b d, plus p R if that is negative: below p R, as 4 p^2 is. */
static void put_real(struct field_emit_writer *writer)
{
    uint32_t words = writer->words;
    put_difference(writer, 'w', 'x');
    field_emit(writer, "        \"subc.u32 v, 0, 0;\\n\"\n        \"setp.ne.u32 q, v, 0;\\n\"\n");
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer,
            i == 0          ? "@q add.cc.u32"
            : i + 1 < words ? "@q addc.cc.u32"
                            : "@q addc.u32",
            field_emit_local('w', words + i), field_emit_local('w', words + i),
            field_emit_modulus(writer, 1, i));
    field_emit_wide_reduce(writer, 'w', 't', REAL);
}

static void put_operands(struct field_emit_writer *writer)
{
    static const char *const names[] = {"real->", "imaginary->", "a.", "b.", "c.", "d."};
    field_emit(writer, "        \"}\"\n        : ");
    for (uint32_t element = REAL; element <= D; element++) {
        if (element == A)
            field_emit(writer, "\n        : ");
        for (uint32_t i = 0; i < writer->words; i++)
            field_emit(writer, "%s%s(%sword[%u])",
                i == 0 && (element == REAL || element == A) ? "" : ", ",
                element < A ? "\"=&r\"" : "\"r\"", names[element], i);
    }
    field_emit(writer, ");\n}\n\n");
}

void field_emit_complex(struct field_emit_writer *writer)
{
    const char *p = writer->prefix;
    uint32_t words = writer->words;
    field_emit(writer,
        "%s void %s_mul_complex(%s *real, %s *imaginary, %s a, %s b, %s c, %s d)\n{\n    "
        "asm(\"{\\n\"\n",
        writer->linkage, p, p, p, p, p, p, p);
    field_emit_wide_declare(writer);
    for (const char *bank = "wxy"; *bank != '\0'; bank++)
        field_emit_declare(writer, *bank, 2 * words);
    for (const char *bank = "hkt"; *bank != '\0'; bank++)
        field_emit_declare(writer, *bank, words + 1);
    field_emit_declare(writer, 'm', 1);
    field_emit_declare_reduction(writer);
    put_products(writer);
    put_imaginary(writer);
    put_real(writer);
    put_operands(writer);
}
