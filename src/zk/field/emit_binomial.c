/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the device code of an extension base[x] / (x^d - w): the operations of the base field
 * under the prefix with "_c", for coordinate, and those of the extension over them. A program for a
 * prime field that uses no lazy values, no dot products and no quotients is also one for an
 * extension.
 */
#include "zk/field/emit_binomial.h"

#include <string.h>

struct names {
    const char *coordinate;
    const char *upper;
    const char *operation;
};

/* Text in which @F stands for the prefix of the extension, @C for that of the base field, @U for
 * the former in upper case and @N for an operation. */
static void emit_text(struct field_emit_writer *writer, const struct names *names, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "@");

        field_emit(writer, "%.*s", (int)length, text);
        text += length;
        if (!*text)
            return;
        field_emit(writer, "%s",
            text[1] == 'F'   ? writer->prefix
            : text[1] == 'C' ? names->coordinate
            : text[1] == 'U' ? names->upper
                             : names->operation);
        text += 2;
    }
}

static const char sums[] =
    /* coordinates */
    "__device__ __forceinline__ @C @F_coordinate(@F a, unsigned index)\n"
    "{\n"
    "    @C r;\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < @U_C_WORDS; i++)\n"
    "        r.word[i] = a.word[index * @U_C_WORDS + i];\n"
    "    return r;\n"
    "}\n\n"
    "__device__ __forceinline__ void @F_set_coordinate(@F *a, unsigned index, @C c)\n"
    "{\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < @U_C_WORDS; i++)\n"
    "        a->word[index * @U_C_WORDS + i] = c.word[i];\n"
    "}\n\n"
    "__device__ __forceinline__ @F @F_from_c(@C c)\n"
    "{\n"
    "    @F r = @F_zero();\n"
    "    @F_set_coordinate(&r, 0, c);\n"
    "    return r;\n"
    "}\n\n"
    /* 1 where every coordinate is below that of b */
    "__device__ __forceinline__ int @F_less(@F a, @F b)\n"
    "{\n"
    "    int r = 1;\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < @U_DEGREE; i++)\n"
    "        r &= @C_less(@F_coordinate(a, i), @F_coordinate(b, i));\n"
    "    return r;\n"
    "}\n\n"
    "__device__ __forceinline__ @F @F_reduce(@F a)\n"
    "{\n"
    "    return a;\n"
    "}\n\n";

/* By coordinate, with one or two arguments. */
static const char by_coordinate_1[] =
    "__device__ __forceinline__ @F @F_@N(@F a)\n"
    "{\n"
    "    @F r;\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < @U_DEGREE; i++)\n"
    "        @F_set_coordinate(&r, i, @C_@N(@F_coordinate(a, i)));\n"
    "    return r;\n"
    "}\n\n";
static const char by_coordinate_2[] =
    "__device__ __forceinline__ @F @F_@N(@F a, @F b)\n"
    "{\n"
    "    @F r;\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < @U_DEGREE; i++)\n"
    "        @F_set_coordinate(&r, i, @C_@N(@F_coordinate(a, i), @F_coordinate(b, i)));\n"
    "    return r;\n"
    "}\n\n";

/* The coefficient of x^k is the sum over i of a_i b_(k-i) for i <= k and of w a_i b_(k-i+d). */
static const char products[] =
    "__device__ __forceinline__ @F @F_mul_c(@F a, @C c)\n"
    "{\n"
    "    @F r;\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < @U_DEGREE; i++)\n"
    "        @F_set_coordinate(&r, i, @C_mul(@F_coordinate(a, i), c));\n"
    "    return r;\n"
    "}\n\n"
    "__device__ __forceinline__ @F @F_mul(@F a, @F b)\n"
    "{\n"
    "    @F r;\n"
    "    @C wrapped[@U_DEGREE];\n"
    "#pragma unroll\n"
    "    for (unsigned i = 1; i < @U_DEGREE; i++)\n"
    "        wrapped[i] = @C_mul(@F_coordinate(b, i), @F_nonresidue());\n"
    "#pragma unroll\n"
    "    for (unsigned k = 0; k < @U_DEGREE; k++) {\n"
    "        @C sum = @C_zero();\n"
    "#pragma unroll\n"
    "        for (unsigned i = 0; i < @U_DEGREE; i += 2) {\n"
    "            @C first = i <= k ? @F_coordinate(b, k - i) : wrapped[k + @U_DEGREE - i];\n"
    "            @C second = i < k ? @F_coordinate(b, k - i - 1) : wrapped[k + @U_DEGREE - i - "
    "1];\n"
    "            @C part = @C_mul_add(\n"
    "                @F_coordinate(a, i), first, @F_coordinate(a, i + 1), second);\n"
    "            sum = i == 0 ? part : @C_add(sum, part);\n"
    "        }\n"
    "        @F_set_coordinate(&r, k, sum);\n"
    "    }\n"
    "    return r;\n"
    "}\n\n"
    "__device__ __forceinline__ @F @F_sqr(@F a)\n"
    "{\n"
    "    return @F_mul(a, a);\n"
    "}\n\n";

void field_emit_binomial(
    struct field_emit_writer *writer, const char *upper, const char *coordinate)
{
    static const char *const unary[] = {"neg", "dbl", "to_mont", "from_mont"};
    static const char *const binary[] = {"add", "sub"};
    struct names names = {.coordinate = coordinate, .upper = upper};

    emit_text(writer, &names, sums);
    for (size_t i = 0; i < sizeof(unary) / sizeof(unary[0]); i++) {
        names.operation = unary[i];
        emit_text(writer, &names, by_coordinate_1);
    }
    for (size_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++) {
        names.operation = binary[i];
        emit_text(writer, &names, by_coordinate_2);
    }
    emit_text(writer, &names, products);
    field_emit_separate_sums(writer, "");
}
