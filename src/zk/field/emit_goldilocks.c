/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the field of p = 2^64 - 2^32 + 1 (Goldilocks), in standard form. With e = 2^32 -
 * 1: 2^64 = e and 2^96 = -1 modulo p, so a product reduces with one more wide multiplication, by e.
 *
 * Strict operations have arguments and results below p; lazy ones have any 64-bit values, which are
 * below 2p.
 */
#include "zk/field/emit.h"

static void put_lines(struct field_emit_writer *writer, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        field_emit(writer, "        \"%s;\\n\"\n", lines[i]);
}

#define PUT(writer, ...)                                                                           \
    put_lines(writer, (const char *const[]){__VA_ARGS__},                                          \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* x3 : x2 : x1 : x0 = a b. */
static void put_product(struct field_emit_writer *writer, bool is_square)
{
    field_emit(
        writer, "        \".reg .u32 x<4>, y<3>, s<2>, m;\\n\"\n        \".reg .pred q;\\n\"\n");
    if (is_square)
        PUT(writer, "mul.lo.u32 x0, %2, %2", "mul.hi.u32 x1, %2, %2", "mul.lo.u32 x2, %3, %3",
            "mul.hi.u32 x3, %3, %3", "mul.lo.u32 y0, %2, %3", "mul.hi.u32 y1, %2, %3",
            "add.cc.u32 y0, y0, y0", "addc.cc.u32 y1, y1, y1", "addc.u32 y2, 0, 0");
    else
        PUT(writer, "mul.lo.u32 x0, %2, %4", "mul.hi.u32 x1, %2, %4", "mul.lo.u32 x2, %3, %5",
            "mul.hi.u32 x3, %3, %5", "mul.lo.u32 y0, %2, %5", "mul.hi.u32 y1, %2, %5",
            "mad.lo.cc.u32 y0, %3, %4, y0", "madc.hi.cc.u32 y1, %3, %4, y1", "addc.u32 y2, 0, 0");
    PUT(writer, "add.cc.u32 x1, x1, y0", "addc.cc.u32 x2, x2, y1", "addc.u32 x3, x3, y2");
}

/*
 * s = x1 : x0 + e x2 - x3 modulo p, any 64-bit value. The addition may carry and the subtraction
 * borrow; m, the difference of both, is -1, 0 or 1, and its value m 2^64 = m e can be added without
 * a further carry: a sum that has carried is at most 2^64 - 2^33, a difference that has borrowed at
 * least 2^64 - 2^32.
 */
static void put_reduce_product(struct field_emit_writer *writer)
{
    PUT(writer, "mad.lo.cc.u32 s0, x2, 0xffffffff, x0", "madc.hi.cc.u32 s1, x2, 0xffffffff, x1",
        "addc.u32 m, 0, 0", "sub.cc.u32 s0, s0, x3", "subc.cc.u32 s1, s1, 0", "subc.u32 m, m, 0",
        "max.s32 x3, m, 0", "sub.cc.u32 s0, s0, m", "subc.u32 s1, s1, 0", "add.u32 s1, s1, x3");
}

static void put_result(struct field_emit_writer *writer, bool is_lazy)
{
    if (is_lazy) {
        PUT(writer, "mov.u32 %0, s0", "mov.u32 %1, s1");
        return;
    }
    /* s + e carries exactly when s is at least p. */
    PUT(writer, "add.cc.u32 y0, s0, 0xffffffff", "addc.cc.u32 y1, s1, 0", "addc.u32 m, 0, 0",
        "setp.ne.u32 q, m, 0", "selp.u32 %0, y0, s0, q", "selp.u32 %1, y1, s1, q");
}

static void put_mul(
    struct field_emit_writer *writer, const char *name, uint32_t arity, bool is_lazy)
{
    field_emit_begin(writer, name, arity);
    put_product(writer, arity == 1);
    put_reduce_product(writer);
    put_result(writer, is_lazy);
    field_emit_end(writer, arity);
}

/* a + b: adds 2^64 - p = e if the sum carries or is at least p. */
static void put_add(struct field_emit_writer *writer, const char *name, uint32_t arity)
{
    field_emit_begin(writer, name, arity);
    field_emit(writer, "        \".reg .u32 s<2>, y<2>, m;\\n\"\n        \".reg .pred q;\\n\"\n");
    if (arity == 2)
        PUT(writer, "add.cc.u32 s0, %2, %4", "addc.cc.u32 s1, %3, %5");
    else
        PUT(writer, "add.cc.u32 s0, %2, %2", "addc.cc.u32 s1, %3, %3");
    PUT(writer, "addc.u32 m, 0, 0", "add.cc.u32 y0, s0, 0xffffffff", "addc.cc.u32 y1, s1, 0",
        "addc.u32 m, m, 0", "setp.ne.u32 q, m, 0", "selp.u32 %0, y0, s0, q",
        "selp.u32 %1, y1, s1, q");
    field_emit_end(writer, arity);
}

static void put_sub(struct field_emit_writer *writer, const char *name, uint32_t arity)
{
    field_emit_begin(writer, name, arity);
    field_emit(writer, "        \".reg .u32 s<2>, m;\\n\"\n");
    if (arity == 2)
        PUT(writer, "sub.cc.u32 s0, %2, %4", "subc.cc.u32 s1, %3, %5");
    else
        PUT(writer, "sub.cc.u32 s0, 0, %2", "subc.cc.u32 s1, 0, %3");
    PUT(writer, "subc.u32 m, 0, 0", "sub.cc.u32 %0, s0, m", "subc.u32 %1, s1, 0");
    field_emit_end(writer, arity);
}

/* On arbitrary 64-bit values the correction can carry again, so it is applied twice. */
static void put_sum_lazy(
    struct field_emit_writer *writer, const char *name, uint32_t arity, bool is_difference)
{
    static const char *const first_sum[] = {"add.cc.u32 s0, %2, %4", "addc.cc.u32 s1, %3, %5"};
    static const char *const first_double[] = {"add.cc.u32 s0, %2, %2", "addc.cc.u32 s1, %3, %3"};
    static const char *const first_difference[] = {
        "sub.cc.u32 s0, %2, %4", "subc.cc.u32 s1, %3, %5"};
    static const char *const first_negative[] = {"sub.cc.u32 s0, 0, %2", "subc.cc.u32 s1, 0, %3"};
    field_emit_begin(writer, name, arity);
    field_emit(writer, "        \".reg .u32 s<2>, m;\\n\"\n");
    if (is_difference)
        put_lines(writer, arity == 2 ? first_difference : first_negative, 2);
    else
        put_lines(writer, arity == 2 ? first_sum : first_double, 2);
    if (is_difference)
        PUT(writer, "subc.u32 m, 0, 0", "sub.cc.u32 s0, s0, m", "subc.cc.u32 s1, s1, 0",
            "subc.u32 m, 0, 0", "sub.cc.u32 %0, s0, m", "subc.u32 %1, s1, 0");
    else
        PUT(writer, "addc.u32 m, 0, 0", "sub.u32 m, 0, m", "add.cc.u32 s0, s0, m",
            "addc.cc.u32 s1, s1, 0", "addc.u32 m, 0, 0", "sub.u32 m, 0, m", "add.cc.u32 %0, s0, m",
            "addc.u32 %1, s1, 0");
    field_emit_end(writer, arity);
}

static void put_reduce(struct field_emit_writer *writer, const char *name)
{
    field_emit_begin(writer, name, 1);
    field_emit(writer, "        \".reg .u32 s<2>, y<2>, m;\\n\"\n        \".reg .pred q;\\n\"\n");
    PUT(writer, "mov.u32 s0, %2", "mov.u32 s1, %3");
    put_result(writer, false);
    field_emit_end(writer, 1);
}

void field_emit_goldilocks(struct field_emit_writer *writer)
{
    put_add(writer, "add", 2);
    put_add(writer, "dbl", 1);
    put_sub(writer, "sub", 2);
    put_sub(writer, "neg", 1);
    field_emit_less(writer);
    put_reduce(writer, "reduce");
    put_reduce(writer, "to_mont");
    put_reduce(writer, "from_mont");
    put_mul(writer, "mul", 2, false);
    put_mul(writer, "sqr", 1, false);
    put_sum_lazy(writer, "add_lazy", 2, false);
    put_sum_lazy(writer, "dbl_lazy", 1, false);
    put_sum_lazy(writer, "sub_lazy", 2, true);
    put_sum_lazy(writer, "neg_lazy", 1, true);
    put_mul(writer, "mul_lazy", 2, true);
    put_mul(writer, "sqr_lazy", 1, true);
    field_emit_separate_sums(writer, "");
    field_emit_separate_sums(writer, "_lazy");
}
