/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates fields of one 32-bit word: BabyBear, KoalaBear and any other prime below 2^32 in
 * Montgomery form with R = 2^32, and Mersenne31 in standard form. Products fit the machine's 64-bit
 * integers, so this is plain C; the compiler turns it into one or two wide multiplications.
 */
#include "zk/field/emit.h"

#include <stdio.h>

/* Begins prefix_name(a, ...) on words a, b, c, d, with p defined. */
static void put_head(struct field_emit_writer *writer, const char *name, uint32_t arity)
{
    const char *prefix = writer->prefix;
    field_emit(writer, "%s %s %s_%s(", writer->linkage, prefix, prefix, name);
    for (uint32_t i = 0; i < arity; i++)
        field_emit(writer, "%s%s %c_", i == 0 ? "" : ", ", prefix, 'a' + (int)i);
    field_emit(
        writer, ")\n{\n    const unsigned p = %uu;\n", field_word(writer->field->modulus, 0));
    for (uint32_t i = 0; i < arity; i++)
        field_emit(writer, "    unsigned %c = %c_.word[0];\n", 'a' + (int)i, 'a' + (int)i);
}

static void put_tail(struct field_emit_writer *writer, const char *value)
{
    field_emit(writer, "    (void)p;\n    %s result = {{%s}};\n    return result;\n}\n\n",
        writer->prefix, value);
}

/* `body` computes the word r. */
static void put_sum(
    struct field_emit_writer *writer, const char *name, uint32_t arity, const char *body)
{
    put_head(writer, name, arity);
    field_emit(writer, "    unsigned r;\n    %s\n", body);
    put_tail(writer, "r");
}

/* The result is the 64-bit integer `value`, reduced by prefix_reduction. */
static void put_product(struct field_emit_writer *writer, const char *name, uint32_t arity,
    const char *reduction, const char *value)
{
    put_head(writer, name, arity);
    field_emit(writer, "    unsigned r = %s_%s(%s);\n", writer->prefix, reduction, value);
    put_tail(writer, "r");
}

/* Below 2^31 a sum of two reduced values fits into a word, and the reduced one of x and x +- p is
 * the smaller one as an unsigned integer. */
static void put_sums_31(struct field_emit_writer *writer)
{
    put_sum(writer, "add", 2, "r = a + b; r = min(r, r - p);");
    put_sum(writer, "dbl", 1, "r = a + a; r = min(r, r - p);");
    put_sum(writer, "sub", 2, "r = a - b; r = min(r, r + p);");
    put_sum(writer, "neg", 1, "r = 0u - a; r = min(r, r + p);");
    put_sum(writer, "reduce", 1, "r = min(a, a - p);");
}

static void put_sums_32(struct field_emit_writer *writer)
{
    put_sum(writer, "add", 2, "r = a + b; r = r < a || r >= p ? r - p : r;");
    put_sum(writer, "dbl", 1, "r = a + a; r = r < a || r >= p ? r - p : r;");
    put_sum(writer, "sub", 2, "r = a < b ? a - b + p : a - b;");
    put_sum(writer, "neg", 1, "r = a == 0 ? 0 : p - a;");
    put_sum(writer, "reduce", 1, "r = a >= p ? a - p : a;");
}

static void put_reduction_head(struct field_emit_writer *writer, const char *name)
{
    field_emit(writer, "%s unsigned %s_%s(unsigned long long x)\n{\n    const unsigned p = %uu;\n",
        writer->linkage, writer->prefix, name, field_word(writer->field->modulus, 0));
}

/*
 * x / R for x < p 2^32: with m = x / p modulo 2^32, x - m p is a multiple of 2^32 and the high
 * words' difference lies in (-p, p).
 */
static void put_montgomery_reduction(struct field_emit_writer *writer)
{
    put_reduction_head(writer, "reduce_wide");
    field_emit(writer,
        "    unsigned high = (unsigned)(x >> 32);\n"
        "    unsigned low = __umulhi((unsigned)x * %uu, p);\n    unsigned r = high - low;\n"
        "    return %s;\n}\n\n",
        0u - writer->field->inverse32,
        writer->field->bits < 32 ? "min(r, r + p)" : "high < low ? r + p : r");
}

/*
 * a b / R for signed words with |a b| below 2^31 p: with m = -x / p modulo 2^32 as a signed word,
 * x + m p is a multiple of 2^32 and its high word lies in (-p, p), so chains of products need no
 * correction. The carry chain is one wide multiplication and addition; as an expression of 64 bits
 * the compiler splits it.
 */
static void put_signed_product(struct field_emit_writer *writer)
{
    const char *prefix = writer->prefix;

    field_emit(writer,
        "%s int %s_mul_signed(int a, int b)\n{\n    int r;\n"
        "    asm(\"{.reg .s64 x; .reg .u32 l, h, m, z;\\n\"\n"
        "        \"mul.wide.s32 x, %%1, %%2;\\n\"\n        \"mov.b64 {l, h}, x;\\n\"\n"
        "        \"mul.lo.u32 m, l, %%3;\\n\"\n        \"mad.lo.cc.s32 z, m, %%4, l;\\n\"\n"
        "        \"madc.hi.s32 %%0, m, %%4, h;}\"\n        : \"=r\"(r)\n"
        "        : \"r\"(a), \"r\"(b), \"n\"(%uu), \"n\"(%uu));\n    return r;\n}\n\n",
        writer->linkage, prefix, writer->field->inverse32, field_word(writer->field->modulus, 0));
    /* (-p, p) to [0, p) */
    field_emit(writer,
        "%s %s %s_from_signed(int a)\n{\n    unsigned r = (unsigned)a;\n"
        "    %s result = {{min(r, r + %uu)}};\n    return result;\n}\n\n",
        writer->linkage, prefix, prefix, prefix, field_word(writer->field->modulus, 0));
}

/*
 * 2^31 = 1 modulo p, so the part above bit 31 is added below. Once leaves less than 2p of a product
 * of reduced values; twice leaves at most p + 3 of any x below 2^63.
 */
static void put_mersenne_reductions(struct field_emit_writer *writer)
{
    put_reduction_head(writer, "reduce_product");
    field_emit(writer, "    unsigned r = ((unsigned)x & p) + (unsigned)(x >> 31);\n"
                       "    return min(r, r - p);\n}\n\n");
    put_reduction_head(writer, "reduce_wide");
    field_emit(writer, "    unsigned long long y = ((unsigned)x & p) + (x >> 31);\n"
                       "    unsigned r = ((unsigned)y & p) + (unsigned)(y >> 31);\n"
                       "    return min(r, r - p);\n}\n\n");
}

void field_emit_one_word(struct field_emit_writer *writer)
{
    const pool_field *field = writer->field;
    char factor[64];
    if (field->bits < 32)
        put_sums_31(writer);
    else
        put_sums_32(writer);
    field_emit(writer, "%s int %s_less(%s a, %s b)\n{\n    return a.word[0] < b.word[0];\n}\n\n",
        writer->linkage, writer->prefix, writer->prefix, writer->prefix);

    bool is_mersenne = field->kind == FIELD_KIND_MERSENNE_31;
    if (is_mersenne)
        put_mersenne_reductions(writer);
    else
        put_montgomery_reduction(writer);
    if (!is_mersenne && field->bits < 32)
        put_signed_product(writer);
    const char *product = is_mersenne ? "reduce_product" : "reduce_wide";
    put_product(writer, "mul", 2, product, "(unsigned long long)a * b");
    put_product(writer, "sqr", 1, product, "(unsigned long long)a * a");
    snprintf(factor, sizeof factor, "(unsigned long long)a * %uu",
        is_mersenne ? 1 : field_word(field->r2, 0));
    put_product(writer, "to_mont", 1, product, factor);
    put_product(writer, "from_mont", 1, product, "a");
    if (field->bits < 32) {
        put_product(writer, "mul_add", 4, "reduce_wide",
            "(unsigned long long)a * b + (unsigned long long)c * d");
        put_product(writer, "mul_sub", 4, "reduce_wide",
            "(unsigned long long)a * b + (unsigned long long)(p - c) * d");
    } else {
        field_emit_separate_sums(writer, "");
    }
}
