/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates inner products with one reduction, for rows of matrices: prefix_dot<n>(sum, x, c) =
 * sum + x[0] c[0] + ... + x[n-1] c[n-1]. `sum` and x may be lazy, c is reduced (constants); the
 * result is lazy. There is one function per requested length; long ones are split.
 */
#include "zk/field/emit_rows.h"

#include "base/math.h"

/* Words of x per reduction: as many as fit in registers next to its accumulators. */
enum { PART_WORDS = 96, PART_PRODUCTS = 24 };

static uint32_t part_of(const struct field_emit_writer *writer)
{
    uint32_t products = PART_WORDS / writer->words;
    return (uint32_t)base_min(products, PART_PRODUCTS);
}

static void put_head(struct field_emit_writer *writer, uint32_t products)
{
    const char *p = writer->prefix;

    field_emit(writer,
        "template <> %s %s %s_dot<%u>(%s sum, const %s *x, const %s *c)\n{\n    %s r;\n",
        writer->linkage, p, p, products, p, p, p, p);
}

/* Emits the words of variable `name`, or of x[index] or c[index], as operands. */
static void put_operands(
    struct field_emit_writer *writer, const char *operand, const char *name, bool is_behind)
{
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit(writer, "%s%s(%s.word[%u])", i || is_behind ? ", " : "", operand, name, i);
}

static void put_element(struct field_emit_writer *writer, char array, uint32_t index)
{
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit(writer, ", \"r\"(%c[%u].word[%u])", array, index, i);
}

/*
 * Several words: a loop with two rows per iteration. Unrolled, the rows of a long inner product
 * exceed the instruction cache: BN254's permutation of width nine is a seventh faster with the
 * loop.
 *
 * The operands of an iteration are both accumulators and their top word, two words of each c, and
 * x.
 */
static uint32_t accumulator_words(const struct field_emit_writer *writer)
{
    return 2 * writer->words + 1;
}

static struct field_emit_arg accumulator_word(
    const struct field_emit_writer *writer, uint32_t index)
{
    return index < writer->words       ? field_emit_local('e', index)
           : index < 2 * writer->words ? field_emit_local('o', index - writer->words)
                                       : field_emit_local('g', 0);
}

static void put_accumulators(struct field_emit_writer *writer, const char *operand, bool is_behind)
{
    put_operands(writer, operand, "even", is_behind);
    put_operands(writer, operand, "odd", true);
    field_emit(writer, ", %s(top)", operand);
}

/* `which` is the first operand of the row's x. */
static struct field_emit_arg row_word(
    const struct field_emit_writer *writer, uint32_t which, uint32_t index)
{
    (void)writer;
    return field_emit_local('%', which + index);
}

static void put_turn(
    struct field_emit_writer *writer, struct field_emit_rows *rows, uint32_t products)
{
    uint32_t first_c = accumulator_words(writer);
    uint32_t first_x = first_c + 2 * products;

    field_emit_rows_declare(writer);
    for (uint32_t i = 0; i < first_c; i++)
        field_emit_move(writer, accumulator_word(writer, i), field_emit_local('%', i));
    for (uint32_t row = 0; row < 2; row++) {
        for (uint32_t k = 0; k < products; k++)
            field_emit_rows_add(rows, row_word, first_x + k * writer->words,
                field_emit_local('%', first_c + 2 * k + row));
        field_emit_rows_reduce(rows);
    }
    for (uint32_t i = 0; i < first_c; i++)
        field_emit_move(writer, field_emit_local('%', i), accumulator_word(writer, i));
}

static void put_loop(
    struct field_emit_writer *writer, struct field_emit_rows *rows, uint32_t products)
{
    const char *p = writer->prefix;

    field_emit(writer,
        "    %s even = %s_zero();\n    %s odd = %s_zero();\n    unsigned top = 0;\n"
        "#pragma unroll 1\n    for (int i = 0; i < %u; i += 2)\n        asm(\"{\\n\"\n",
        p, p, p, p, writer->words);
    put_turn(writer, rows, products);
    field_emit(writer, "        \"}\"\n        : ");
    put_accumulators(writer, "\"+r\"", false);
    field_emit(writer, "\n        : ");
    for (uint32_t k = 0; k < products; k++)
        field_emit(writer, "%s\"r\"(c[%u].word[i]), \"r\"(c[%u].word[i + 1])", k ? ", " : "", k, k);
    for (uint32_t k = 0; k < products; k++)
        put_element(writer, 'x', k);
    field_emit(writer, ");\n");
}

/*
 * Subtracts multiples of p until the merged value, below `bound` p, is below `multiple` p.
 * Conditionally subtracting s p leaves less than the larger of s p and the difference.
 */
static void put_reductions(struct field_emit_writer *writer, uint32_t bound, uint32_t multiple)
{
    while (bound > multiple) {
        uint32_t step = multiple;
        while (2 * step <= writer->headroom && 2 * step < bound)
            step *= 2;
        bound = bound - step > step ? bound - step : step;
        field_emit_reduction(writer, 't', step, true, bound <= multiple);
    }
}

/*
 * With x below m p (m = 2 lazy, 1 strict) and c below p, k products leave less than
 * p (1 + k m p / R), and p / R is at most 1 / headroom; the sum adds m p.
 */
static void put_end(
    struct field_emit_writer *writer, struct field_emit_rows *rows, uint32_t products)
{
    uint32_t multiple = writer->lazy ? 2 : 1;
    uint32_t bound = 1 + multiple + (products * multiple + writer->headroom - 1) / writer->headroom;
    uint32_t words = writer->words;

    field_emit(writer, "    asm(\"{\\n\"\n");
    field_emit_rows_declare(writer);
    for (uint32_t i = 0; i < accumulator_words(writer); i++)
        field_emit_move(writer, accumulator_word(writer, i), field_emit_local('%', 2 * words + i));
    field_emit_rows_merge(rows, false);
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer, i == 0 ? "add.cc.u32" : "addc.cc.u32", field_emit_local('t', i),
            field_emit_local('t', i), field_emit_word(writer, 1, i));
    field_emit_two(writer, "addc.u32", field_emit_local('t', words), field_emit_local('t', words),
        field_emit_immediate(0));
    put_reductions(writer, bound, multiple);
    field_emit(writer, "        \"}\"\n        : ");
    put_operands(writer, "\"=&r\"", "r", false);
    field_emit(writer, "\n        : ");
    put_operands(writer, "\"r\"", "sum", false);
    put_accumulators(writer, "\"r\"", true);
    field_emit(writer, ");\n    return r;\n}\n\n");
}

static void put_rows_dot(struct field_emit_writer *writer, uint32_t products)
{
    struct field_emit_rows rows = {.writer = writer,
        .even = 'e',
        .odd = 'o',
        .merged = 't',
        .has_top = true,
        .even_started = true,
        .odd_started = true,
        .is_shifted = true};

    put_head(writer, products);
    put_loop(writer, &rows, products);
    put_end(writer, &rows, products);
}

/* Words of the factors of the k-th product of a Goldilocks inner product. */
static void put_goldilocks_product(struct field_emit_writer *writer, uint32_t k)
{
    uint32_t a = 4 + 4 * k;
    uint32_t b = a + 2;
    const struct {
        const char *opcode;
        const char *to;
        uint32_t x;
        uint32_t y;
    } steps[] = {{"mad.lo.cc.u32", "e0", a, b}, {"madc.hi.cc.u32", "e1", a, b},
        {"madc.lo.cc.u32", "e2", a + 1, b + 1}, {"madc.hi.cc.u32", "e3", a + 1, b + 1},
        {"addc.u32", "e4", 0, 0}, {"mad.lo.cc.u32", "o0", a, b + 1},
        {"madc.hi.cc.u32", "o1", a, b + 1}, {"addc.u32", "o2", 0, 0},
        {"mad.lo.cc.u32", "o0", a + 1, b}, {"madc.hi.cc.u32", "o1", a + 1, b},
        {"addc.u32", "o2", 0, 0}};

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i].x == 0)
            field_emit(writer, "        \"%s %s, %s, 0;\\n\"\n", steps[i].opcode, steps[i].to,
                steps[i].to);
        else
            field_emit(writer, "        \"%s %s, %%%u, %%%u, %s;\\n\"\n", steps[i].opcode,
                steps[i].to, steps[i].x, steps[i].y, steps[i].to);
    }
}

/* x4 … x0 = the sum; with 2^64 = e = 2^32 - 1 and 2^96 = -1 it is x1 : x0 + e x2 - (x4 : x3), a
 * carry or borrow of 2^64 corrected by e in m. */
static void put_goldilocks_dot(struct field_emit_writer *writer, uint32_t products)
{
    static const char *const finish[] = {"add.cc.u32 e1, e1, o0", "addc.cc.u32 e2, e2, o1",
        "addc.cc.u32 e3, e3, o2", "addc.u32 e4, e4, 0", "sub.cc.u32 s0, e0, e3",
        "subc.cc.u32 s1, e1, e4", "subc.u32 m, 0, 0", "sub.cc.u32 s0, s0, m", "subc.u32 s1, s1, 0",
        "mad.lo.cc.u32 s0, e2, 0xffffffff, s0", "madc.hi.cc.u32 s1, e2, 0xffffffff, s1",
        "addc.u32 m, 0, 0", "sub.u32 m, 0, m", "add.cc.u32 %0, s0, m", "addc.u32 %1, s1, 0"};

    put_head(writer, products);
    field_emit(writer, "    asm(\"{\\n\"\n        \".reg .u32 e<5>, o<3>, s<2>, m;\\n\"\n");
    field_emit(writer, "        \"mov.u32 e0, %%2;\\n\"\n        \"mov.u32 e1, %%3;\\n\"\n");
    for (int i = 2; i < 8; i++)
        field_emit(
            writer, "        \"mov.u32 %c%d, 0;\\n\"\n", i < 5 ? 'e' : 'o', i < 5 ? i : i - 5);
    for (uint32_t k = 0; k < products; k++)
        put_goldilocks_product(writer, k);
    for (size_t i = 0; i < sizeof(finish) / sizeof(finish[0]); i++)
        field_emit(writer, "        \"%s;\\n\"\n", finish[i]);
    field_emit(writer, "        \"}\"\n        : ");
    put_operands(writer, "\"=&r\"", "r", false);
    field_emit(writer, "\n        : ");
    put_operands(writer, "\"r\"", "sum", false);
    for (uint32_t k = 0; k < 2 * products; k++)
        put_element(writer, k % 2 ? 'c' : 'x', k / 2);
    field_emit(writer, ");\n    return r;\n}\n\n");
}

/* Begins the function for lengths without a specialised one. */
static void put_any(struct field_emit_writer *writer)
{
    const char *p = writer->prefix;

    field_emit(writer,
        "template <int n> __device__ __forceinline__ %s %s_dot(%s sum, const %s *x, const %s *c)",
        p, p, p, p, p);
}

/* Fields of one word: by the existing operations, for any length. */
static void put_word_dots(struct field_emit_writer *writer)
{
    const char *p = writer->prefix;

    put_any(writer);
    field_emit(writer,
        "\n{\n    if (n %% 2)\n        sum = %s_add_lazy(sum, %s_mul_lazy(x[0], c[0]));\n"
        "#pragma unroll\n    for (int i = n %% 2; i < n; i += 2)\n"
        "        sum = %s_add_lazy(sum, %s_mul_add_lazy(x[i], c[i], x[i + 1], c[i + 1]));\n"
        "    return sum;\n}\n\n",
        p, p, p, p);
}

static void put_parts(struct field_emit_writer *writer, uint32_t part)
{
    const char *p = writer->prefix;

    put_any(writer);
    field_emit(writer,
        "\n{\n    return %s_dot<%u>(%s_dot<n - %u>(sum, x + %u, c + %u), x, c);\n}\n\n", p, part, p,
        part, part, part);
}

void field_emit_dots(struct field_emit_writer *writer, const uint32_t *lengths, size_t count)
{
    uint32_t part = part_of(writer);
    bool is_wanted[PART_PRODUCTS + 1] = {false};

    if (writer->words == 1) {
        put_word_dots(writer);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        is_wanted[part] |= lengths[i] >= part;
        is_wanted[lengths[i] % part] = true;
    }
    put_any(writer);
    field_emit(writer, ";\n\n");
    for (uint32_t products = 1; products <= part; products++) {
        if (!is_wanted[products])
            continue;
        if (writer->field->kind == FIELD_KIND_GOLDILOCKS)
            put_goldilocks_dot(writer, products);
        else
            put_rows_dot(writer, products);
    }
    put_parts(writer, part);
}
