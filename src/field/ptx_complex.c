/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device text of (a + b u)(c + d u) with u^2 = -1, as one operation: three products of double
 * length (Karatsuba) and two reductions, 5 n^2 + n wide multiplications where sums of products with
 * one reduction each take 6 n^2 + n. On lazy values only: 4p <= R keeps sums of two in n words.
 */
#include "field/ptx_wide.h"

/* Operands of the statement, in elements: results 0 and 1, then a, b, c, d. */
enum { REAL, IMAGINARY, A, B, C, D };

static struct ptx_arg argument_word(const struct ptx_writer *writer, uint32_t which, uint32_t index)
{
    return ptx_word(writer, which, index);
}

static struct ptx_arg bank_word(const struct ptx_writer *writer, uint32_t bank, uint32_t index)
{
    (void)writer;
    return ptx_local((char)bank, index);
}

static void put_sum(struct ptx_writer *writer, char bank, uint32_t x, uint32_t y)
{
    uint32_t words = writer->words;
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer,
            i == 0          ? "add.cc.u32"
            : i + 1 < words ? "addc.cc.u32"
                            : "addc.u32",
            ptx_local(bank, i), ptx_word(writer, x, i), ptx_word(writer, y, i));
}

/* bank -= other, 2 n words; the borrow stays in the flag. */
static void put_difference(struct ptx_writer *writer, char bank, char other)
{
    for (uint32_t i = 0; i < 2 * writer->words; i++)
        ptx_two(writer, i == 0 ? "sub.cc.u32" : "subc.cc.u32", ptx_local(bank, i),
            ptx_local(bank, i), ptx_local(other, i));
}

static void put_products(struct ptx_writer *writer)
{
    struct ptx_wide real = {writer, argument_word, argument_word, A, C, {0, 0}};
    struct ptx_wide imaginary = {writer, argument_word, argument_word, B, D, {0, 0}};
    struct ptx_wide both = {writer, bank_word, bank_word, 'h', 'k', {0, 0}};
    ptx_wide_multiply(&real, 'w');
    ptx_wide_multiply(&imaginary, 'x');
    put_sum(writer, 'h', A, B);
    put_sum(writer, 'k', C, D);
    ptx_wide_multiply(&both, 'y');
}

/* a d + b c = (a + b)(c + d) - a c - b d, below 8 p^2: reduced below 2p or, with p > R / 8, 3p. */
static void put_imaginary(struct ptx_writer *writer)
{
    bool is_reduced = writer->room >= 8;
    put_difference(writer, 'y', 'w');
    put_difference(writer, 'y', 'x');
    ptx_wide_reduce(writer, 'y', 't', is_reduced ? IMAGINARY * writer->words : PTX_NO_TARGET);
    if (is_reduced)
        return;
    ptx_put_reduction(writer, 't', 2, false, false);
    for (uint32_t i = 0; i < writer->words; i++)
        ptx_move(writer, ptx_word(writer, IMAGINARY, i), ptx_local('t', i));
}

/* a c - b d, plus p R where that is negative: below p R, as 4 p^2 is. */
static void put_real(struct ptx_writer *writer)
{
    uint32_t words = writer->words;
    put_difference(writer, 'w', 'x');
    ptx_put(writer, "        \"subc.u32 v, 0, 0;\\n\"\n        \"setp.ne.u32 q, v, 0;\\n\"\n");
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer,
            i == 0          ? "@q add.cc.u32"
            : i + 1 < words ? "@q addc.cc.u32"
                            : "@q addc.u32",
            ptx_local('w', words + i), ptx_local('w', words + i), ptx_modulus(writer, 1, i));
    ptx_wide_reduce(writer, 'w', 't', REAL);
}

static void put_operands(struct ptx_writer *writer)
{
    static const char *const names[] = {"real->", "imaginary->", "a.", "b.", "c.", "d."};
    ptx_put(writer, "        \"}\"\n        : ");
    for (uint32_t element = REAL; element <= D; element++) {
        if (element == A)
            ptx_put(writer, "\n        : ");
        for (uint32_t i = 0; i < writer->words; i++)
            ptx_put(writer, "%s\"%s\"(%sword[%u])",
                i == 0 && (element == REAL || element == A) ? "" : ", ", element < A ? "=&r" : "r",
                names[element], i);
    }
    ptx_put(writer, ");\n}\n\n");
}

void ptx_put_complex(struct ptx_writer *writer)
{
    const char *p = writer->prefix;
    uint32_t words = writer->words;
    ptx_put(writer,
        "%s void %s_mul_complex(%s *real, %s *imaginary, %s a, %s b, %s c, %s d)\n{\n    "
        "asm(\"{\\n\"\n",
        writer->linkage, p, p, p, p, p, p, p);
    ptx_wide_declare(writer);
    for (const char *bank = "wxy"; *bank != '\0'; bank++)
        ptx_declare(writer, *bank, 2 * words);
    for (const char *bank = "hkt"; *bank != '\0'; bank++)
        ptx_declare(writer, *bank, words + 1);
    ptx_declare(writer, 'm', 1);
    ptx_declare_reduction(writer);
    put_products(writer);
    put_imaginary(writer);
    put_real(writer);
    put_operands(writer);
}
