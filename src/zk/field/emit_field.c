/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the device code of a field: type and constants, comparison and selection, addition,
 * multiplication. See emit_field.h for the definitions.
 */
#include "zk/field/emit_field.h"

#include "base/alloc.h"
#include "base/status.h"
#include "zk/field/emit.h"
#include "zk/field/emit_binomial.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_HEADROOM = 15 };

/*
 * From this many words on products are called instead of inlined: a call costs less than a tenth of
 * the product, and a kernel with ten inlined copies takes minutes to compile (24 words: 3,600
 * instructions each).
 */
enum { CALLED_FROM_WORDS = 16 };

enum { PIECE = 256 };     /* characters that one field_emit writes */
enum { PREFIX_MAX = 18 }; /* a caller's 16 characters, and those of a coordinate */

/* The largest k with k p < 2^(32 words). */
static uint32_t compute_headroom(const pool_field *field)
{
    uint32_t headroom = 0;
    while (headroom < MAX_HEADROOM) {
        uint64_t carry = 0;
        for (uint32_t i = 0; i < field->words; i++)
            carry = (carry + (uint64_t)field_word(field->modulus, i) * (headroom + 1)) >> 32;
        if (carry != 0)
            break;
        headroom++;
    }
    return headroom;
}

static void put_constant(struct field_emit_writer *writer, const char *name, const uint64_t *limbs)
{
    const char *prefix = writer->prefix;
    field_emit(writer, "%s %s %s_%s(void)\n{\n    %s r = {{", writer->linkage, prefix, prefix, name,
        prefix);
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit(writer, "%s0x%08xu", i == 0 ? "" : ", ", field_word(limbs, i));
    field_emit(writer, "}};\n    return r;\n}\n\n");
}

/* Elements are aligned so that one is accessed in as few transactions as possible. */
static uint32_t element_alignment(const pool_field *field)
{
    return field->words % 4 == 0 ? 16 : field->words % 2 == 0 ? 8 : 4;
}

static void to_upper_case(char upper[FIELD_MAX_NAME + 1], const char *prefix)
{
    for (size_t i = 0; prefix[i] != '\0' && i < FIELD_MAX_NAME; i++)
        upper[i] = (char)toupper((unsigned char)prefix[i]);
}

static void put_type(struct field_emit_writer *writer)
{
    const pool_field *field = writer->field;
    const char *prefix = writer->prefix;
    char upper[FIELD_MAX_NAME + 1] = {0};

    to_upper_case(upper, prefix);
    field_emit(writer, "/* %s: operations %s %u bits, generated. */\n", prefix,
        field->base ? "in an extension of" : "modulo a prime of", field->bits);
    field_emit(writer, "#define %s_WORDS %u\n#define %s_BITS %u\n#define %s_LAZY %d\n", upper,
        field->words, upper, field->bits, upper, writer->lazy);
    field_emit(writer, "#define %s_TWO_ADICITY %u\n#define %s_SIGNED %d\n", upper,
        field->two_adicity, upper,
        field->words == 1 && field->bits < 32 && field->kind != FIELD_KIND_MERSENNE_31);
    if (writer->type != NULL) {
        field_emit(writer, "typedef %s %s;\n\n", writer->type, prefix);
        return;
    }
    field_emit(writer, "typedef struct __align__(%u) %s {\n    unsigned word[%u];\n} %s;\n\n",
        element_alignment(field), prefix, field->words, prefix);
}

/* p - 2, the exponent of an inversion, as an array that a loop can index. */
static void put_exponent(struct field_emit_writer *writer)
{
    uint64_t borrow = 2;
    field_emit(writer, "__device__ __constant__ const unsigned %s_minus_two[%u] = {",
        writer->prefix, writer->words);
    for (uint32_t i = 0; i < writer->words; i++) {
        uint64_t difference = (uint64_t)field_word(writer->field->modulus, i) - borrow;
        field_emit(writer, "%s0x%08xu", i == 0 ? "" : ", ", (uint32_t)difference);
        borrow = difference >> 63;
    }
    field_emit(writer, "};\n\n");
}

static void put_constants(struct field_emit_writer *writer)
{
    static const uint64_t zero[FIELD_MAX_LIMBS];
    static const uint64_t one[FIELD_MAX_LIMBS] = {1};
    bool is_standard = (writer->field->flags & FIELD_DEVICE_STANDARD) != 0;
    uint64_t moduli[FIELD_MAX_LIMBS] = {0}; /* of the coordinates of an extension's elements */

    for (uint32_t i = 0; writer->field->base && i < writer->field->degree; i++)
        field_binomial_set_coordinate(writer->field, moduli, i, writer->field->base->modulus[0]);
    put_constant(writer, "zero", zero);
    put_constant(writer, "one", is_standard ? one : writer->field->one);
    put_constant(writer, "r2", is_standard ? one : writer->field->r2);
    put_constant(writer, "modulus", writer->field->base ? moduli : writer->field->modulus);
}

static void put_tests(struct field_emit_writer *writer)
{
    const char *linkage = writer->linkage;
    const char *prefix = writer->prefix;
    field_emit(
        writer, "%s int %s_is_zero(%s a)\n{\n    return (a.word[0]", linkage, prefix, prefix);
    for (uint32_t i = 1; i < writer->words; i++)
        field_emit(writer, " | a.word[%u]", i);
    field_emit(writer,
        ") == 0;\n}\n\n%s int %s_eq(%s a, %s b)\n{\n    return ((a.word[0] ^ b.word[0])", linkage,
        prefix, prefix, prefix);
    for (uint32_t i = 1; i < writer->words; i++)
        field_emit(writer, " | (a.word[%u] ^ b.word[%u])", i, i);
    field_emit(writer, ") == 0;\n}\n\n%s %s %s_select(int take_first, %s a, %s b)\n{\n    %s r;\n",
        linkage, prefix, prefix, prefix, prefix, prefix);
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit(writer, "    r.word[%u] = take_first ? a.word[%u] : b.word[%u];\n", i, i, i);
    field_emit(writer, "    return r;\n}\n\n");
}

void field_emit_separate_sums(struct field_emit_writer *writer, const char *suffix)
{
    static const char *const names[] = {"add", "sub"};
    const char *p = writer->prefix;
    for (size_t i = 0; i < 2; i++)
        field_emit(writer,
            "%s %s %s_mul_%s%s(%s a, %s b, %s c, %s d)\n{\n"
            "    return %s_%s%s(%s_mul%s(a, b), %s_mul%s(c, d));\n}\n\n",
            writer->linkage, p, p, names[i], suffix, p, p, p, p, p, names[i], suffix, p, suffix, p,
            suffix);
}

/* Names that are common to all fields. */
static void put_common(struct field_emit_writer *writer)
{
    const char *linkage = writer->linkage;
    const char *p = writer->prefix;
    field_emit(writer,
        "%s %s %s_cneg(%s a, int negate)\n{\n    return %s_select(negate, %s_neg(a), a);\n}\n\n",
        linkage, p, p, p, p, p);
    if (writer->lazy) {
        field_emit(writer,
            "%s int %s_is_zero_lazy(%s a)\n{\n    return %s_is_zero(a) || %s_eq(a, "
            "%s_modulus());\n}\n\n",
            linkage, p, p, p, p, p);
        return;
    }
    static const char *const one_argument[] = {"neg", "dbl", "sqr"};
    static const char *const two_arguments[] = {"add", "sub", "mul"};
    static const char *const four_arguments[] = {"mul_add", "mul_sub"};
    field_emit(writer, "%s int %s_is_zero_lazy(%s a)\n{\n    return %s_is_zero(a);\n}\n\n", linkage,
        p, p, p);
    for (size_t i = 0; i < 3; i++)
        field_emit(writer, "%s %s %s_%s_lazy(%s a)\n{\n    return %s_%s(a);\n}\n\n", linkage, p, p,
            one_argument[i], p, p, one_argument[i]);
    for (size_t i = 0; i < 3; i++)
        field_emit(writer, "%s %s %s_%s_lazy(%s a, %s b)\n{\n    return %s_%s(a, b);\n}\n\n",
            linkage, p, p, two_arguments[i], p, p, p, two_arguments[i]);
    for (size_t i = 0; i < 2; i++)
        field_emit(writer,
            "%s %s %s_%s_lazy(%s a, %s b, %s c, %s d)\n{\n    return %s_%s(a, b, c, d);\n}\n\n",
            linkage, p, p, four_arguments[i], p, p, p, p, p, four_arguments[i]);
}

static const char inlined[] = "__device__ __forceinline__";
static const char called[] = "__device__ __noinline__";

static void put_field(struct field_emit_writer *writer);
static struct field_emit_writer writer_of(const pool_field *field, const char *prefix);

/* The operations of an extension's base field. */
static void put_base(struct field_emit_writer *writer)
{
    char prefix[PREFIX_MAX + 3];
    struct field_emit_writer base;

    snprintf(prefix, sizeof(prefix), "%s_c", writer->prefix);
    base = writer_of(writer->field->base, prefix);
    put_field(&base);
    writer->failed = writer->failed || base.failed;
    for (size_t at = 0; at < base.length && !writer->failed; at += PIECE)
        field_emit(writer, "%.*s", PIECE, base.data + at);
    base_free(base.data);
}

/* The operations of an extension; those of the base field are emitted before. */
static void put_extension(struct field_emit_writer *writer)
{
    const pool_field *field = writer->field;
    const char *prefix = writer->prefix;
    char upper[FIELD_MAX_NAME + 1] = {0}, coordinate[PREFIX_MAX + 3];
    uint64_t value;

    snprintf(coordinate, sizeof(coordinate), "%s_c", prefix);
    to_upper_case(upper, prefix);
    put_type(writer);
    field_emit(writer, "#define %s_DEGREE %u\n\n", upper, field->degree);
    put_constants(writer);
    put_exponent(writer);
    put_tests(writer);
    field_set_integer(field->base, &value, field->nonresidue);
    if (field->flags & FIELD_DEVICE_STANDARD)
        value = field->nonresidue;
    field_emit(writer, "%s %s %s_nonresidue(void)\n{\n    %s r = {{0x%08xu", inlined, coordinate,
        prefix, coordinate, (uint32_t)value);
    if (field->base->words > 1)
        field_emit(writer, ", 0x%08xu", (uint32_t)(value >> 32));
    field_emit(writer, "}};\n    return r;\n}\n\n");
    field_emit_binomial(writer, upper, coordinate);
    put_common(writer);
}

static void put_field(struct field_emit_writer *writer)
{
    writer->linkage = inlined;
    if (writer->field->base) {
        if (!writer->type)
            put_base(writer);
        put_extension(writer);
        return;
    }
    put_type(writer);
    put_constants(writer);
    put_exponent(writer);
    put_tests(writer);
    if (writer->field->kind == FIELD_KIND_GOLDILOCKS) {
        field_emit_goldilocks(writer);
    } else if (writer->words == 1) {
        field_emit_one_word(writer);
    } else {
        field_emit_additions(writer);
        if (writer->words >= CALLED_FROM_WORDS)
            writer->linkage = called;
        field_emit_multiplications(writer);
        field_emit_squarings(writer);
        if (writer->lazy)
            field_emit_complex(writer);
        writer->linkage = inlined;
        field_emit(writer, "%s %s %s_to_mont(%s a)\n{\n    return %s_mul(a, %s_r2());\n}\n\n",
            writer->linkage, writer->prefix, writer->prefix, writer->prefix, writer->prefix,
            writer->prefix);
    }
    put_common(writer);
}

static struct field_emit_writer writer_of(const pool_field *field, const char *prefix)
{
    struct field_emit_writer writer = {.field = field, .prefix = prefix, .words = field->words};

    writer.headroom = compute_headroom(field);
    writer.lazy = !field->base && (field->kind == FIELD_KIND_GOLDILOCKS ||
                                      (field->words > 1 && writer.headroom >= 4));
    return writer;
}

static pool_status writer_end(struct field_emit_writer *writer, char **source)
{
    if (writer->failed) {
        base_free(writer->data);
        return base_fail_memory("the device code of a field");
    }
    *source = writer->data;
    return POOL_OK;
}

pool_status field_emit_generate_typed(
    const pool_field *field, const char *prefix, const char *type, char **source)
{
    if (field == NULL || prefix == NULL || source == NULL || strlen(prefix) > PREFIX_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "field_emit: field, prefix and source must not be NULL, and "
            "the prefix at most 18 characters");
    struct field_emit_writer writer = writer_of(field, prefix);
    writer.type = type;
    put_field(&writer);
    return writer_end(&writer, source);
}

pool_status field_emit_generate(const pool_field *field, const char *prefix, char **source)
{
    return field_emit_generate_typed(field, prefix, NULL, source);
}

pool_status field_emit_generate_type(const pool_field *field, const char *type, char **source)
{
    struct field_emit_writer writer = writer_of(field, type);

    field_emit(&writer, "struct __align__(%u) %s {\n    unsigned word[%u];\n};\n",
        element_alignment(field), type, field->words);
    return writer_end(&writer, source);
}

pool_status field_emit_generate_dots(const pool_field *field, const char *prefix,
    const uint32_t *lengths, size_t count, char **source)
{
    if (field == NULL || prefix == NULL || source == NULL || strlen(prefix) > PREFIX_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "field_emit: field, prefix and source must not be NULL, and "
            "the prefix at most 18 characters");
    struct field_emit_writer writer = writer_of(field, prefix);
    writer.linkage = writer.words >= CALLED_FROM_WORDS ? called : inlined;
    field_emit_dots(&writer, lengths, count);
    return writer_end(&writer, source);
}

bool field_emit_has_quotients(const pool_field *field)
{
    const struct field_emit_writer writer = writer_of(field, "fr");

    return field_emit_has_shoup(&writer);
}

pool_status field_emit_generate_shoup(const pool_field *field, const char *prefix, char **source)
{
    if (field == NULL || prefix == NULL || source == NULL || strlen(prefix) > PREFIX_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "field_emit: field, prefix and source must not be NULL, and "
            "the prefix at most 18 characters");
    struct field_emit_writer writer = writer_of(field, prefix);
    writer.linkage = writer.words >= CALLED_FROM_WORDS ? called : inlined;
    char upper[FIELD_MAX_NAME + 1] = {0};

    to_upper_case(upper, prefix);
    field_emit(&writer, "/* %s: products with precomputed quotients, generated. */\n", prefix);
    field_emit(&writer, "#define %s_SHOUP %d\n\n", upper, field_emit_has_shoup(&writer));
    if (field_emit_has_shoup(&writer))
        field_emit_shoup(&writer);
    return writer_end(&writer, source);
}
