/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device text of sums of three and four products with one reduction: prefix_dot3, prefix_dot4 (a,
 * b, c, d, …) = a b + c d + …, for rows of matrices. The first factor of each product may be lazy,
 * the second one is reduced (a constant); the result is lazy.
 */
#include "field/ptx_rows.h"

#include <stdio.h>

enum { LEAST_PRODUCTS = 3, MOST_PRODUCTS = 4 };

static struct ptx_arg argument_word(const struct ptx_writer *writer, uint32_t which, uint32_t index)
{
    return ptx_word(writer, which, index);
}

/*
 * With first factors below m p (m = 2 lazy, 1 strict) and second ones below p the sum is below
 * p (1 + k m p / R), and p / R below 1 / room: subtracting m p this often leaves it below m p.
 */
static uint32_t reductions(const struct ptx_writer *writer, uint32_t products, uint32_t multiple)
{
    uint32_t bound = writer->room + products * multiple;
    uint32_t unit = writer->room * multiple;
    return (bound + unit - 1) / unit - 1;
}

static void put_rows_dot(struct ptx_writer *writer, const char *name, uint32_t products)
{
    uint32_t multiple = writer->lazy ? 2 : 1;
    struct ptx_rows rows = {.writer = writer, .even = 'e', .odd = 'o', .merged = 't'};
    uint32_t count = reductions(writer, products, multiple);

    rows.has_top = writer->room < products * multiple + 1;
    ptx_begin(writer, name, 2 * products);
    ptx_rows_declare(writer);
    for (uint32_t i = 0; i < writer->words; i++) {
        for (uint32_t k = 0; k < products; k++)
            ptx_rows_add(&rows, argument_word, 2 * k + 1, ptx_word(writer, 2 * k + 2, i));
        ptx_rows_reduce(&rows);
    }
    ptx_rows_merge(&rows, count == 0);
    for (uint32_t i = 0; i < count; i++)
        ptx_put_reduction(writer, 't', multiple, rows.has_top, i + 1 == count);
    ptx_end(writer, 2 * products);
}

/* Words of the k-th product's factors of a Goldilocks dot. */
static void put_goldilocks_product(struct ptx_writer *writer, uint32_t k)
{
    uint32_t a = 2 + 4 * k;
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
            ptx_put(writer, "        \"%s %s, %s, 0;\\n\"\n", steps[i].opcode, steps[i].to,
                steps[i].to);
        else
            ptx_put(writer, "        \"%s %s, %%%u, %%%u, %s;\\n\"\n", steps[i].opcode, steps[i].to,
                steps[i].x, steps[i].y, steps[i].to);
    }
}

/* x4 … x0 = the sum; with 2^64 = e = 2^32 - 1 and 2^96 = -1 it is x1 : x0 + e x2 - (x4 : x3), a
 * carry or borrow of 2^64 made good by e in m. */
static void put_goldilocks_dot(struct ptx_writer *writer, const char *name, uint32_t products)
{
    static const char *const finish[] = {"add.cc.u32 e1, e1, o0", "addc.cc.u32 e2, e2, o1",
        "addc.cc.u32 e3, e3, o2", "addc.u32 e4, e4, 0", "sub.cc.u32 s0, e0, e3",
        "subc.cc.u32 s1, e1, e4", "subc.u32 m, 0, 0", "sub.cc.u32 s0, s0, m", "subc.u32 s1, s1, 0",
        "mad.lo.cc.u32 s0, e2, 0xffffffff, s0", "madc.hi.cc.u32 s1, e2, 0xffffffff, s1",
        "addc.u32 m, 0, 0", "sub.u32 m, 0, m", "add.cc.u32 %0, s0, m", "addc.u32 %1, s1, 0"};

    ptx_begin(writer, name, 2 * products);
    ptx_put(writer, "        \".reg .u32 e<5>, o<3>, s<2>, m;\\n\"\n");
    for (int i = 0; i < 8; i++)
        ptx_put(writer, "        \"mov.u32 %c%d, 0;\\n\"\n", i < 5 ? 'e' : 'o', i < 5 ? i : i - 5);
    for (uint32_t k = 0; k < products; k++)
        put_goldilocks_product(writer, k);
    for (size_t i = 0; i < sizeof(finish) / sizeof(finish[0]); i++)
        ptx_put(writer, "        \"%s;\\n\"\n", finish[i]);
    ptx_end(writer, 2 * products);
}

/* Fields of one word: by the operations that there are. */
static void put_word_dot(struct ptx_writer *writer, const char *name, uint32_t products)
{
    const char *p = writer->prefix;

    ptx_put(writer, "%s %s %s_%s(", writer->linkage, p, p, name);
    for (uint32_t i = 0; i < 2 * products; i++)
        ptx_put(writer, "%s%s %c", i ? ", " : "", p, 'a' + (int)i);
    if (products == 3)
        ptx_put(writer,
            ")\n{\n    return %s_add_lazy(%s_mul_add_lazy(a, b, c, d), %s_mul_lazy(e, f));\n}\n\n",
            p, p, p);
    else
        ptx_put(writer,
            ")\n{\n    return %s_add_lazy(%s_mul_add_lazy(a, b, c, d), "
            "%s_mul_add_lazy(e, f, g, h));\n}\n\n",
            p, p, p);
}

void ptx_put_dots(struct ptx_writer *writer)
{
    for (uint32_t products = LEAST_PRODUCTS; products <= MOST_PRODUCTS; products++) {
        char name[16];
        snprintf(name, sizeof(name), "dot%u", products);
        if (writer->field->kind == FIELD_KIND_GOLDILOCKS)
            put_goldilocks_dot(writer, name, products);
        else if (writer->words == 1)
            put_word_dot(writer, name, products);
        else
            put_rows_dot(writer, name, products);
    }
}
