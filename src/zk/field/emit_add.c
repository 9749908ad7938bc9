/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates addition: add, sub, neg, dbl and reduction, in the strict form (values in [0, p)) and
 * the lazy one (values in [0, 2p)). Knows carry chains only. A conditional subtraction subtracts
 * into a second set of registers and selects by the borrow; a conditional addition is predicated.
 */
#include "zk/field/emit.h"

void field_emit_declare_reduction(struct field_emit_writer *writer)
{
    field_emit_declare(writer, 'u', writer->words + 1);
    field_emit(writer, "        \".reg .u32 v;\\n\"\n        \".reg .pred q;\\n\"\n");
}

/* q = whether the last chain borrowed. */
static void put_borrow(struct field_emit_writer *writer)
{
    field_emit(writer, "        \"subc.u32 v, 0, 0;\\n\"\n        \"setp.ne.u32 q, v, 0;\\n\"\n");
}

void field_emit_reduction(
    struct field_emit_writer *writer, char bank, uint32_t multiple, bool has_top, bool is_last)
{
    uint32_t words = writer->words;
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer, i == 0 ? "sub.cc.u32" : "subc.cc.u32", field_emit_local('u', i),
            field_emit_local(bank, i), field_emit_modulus(writer, multiple, i));
    if (has_top)
        field_emit_two(writer, "subc.cc.u32", field_emit_local('u', words),
            field_emit_local(bank, words), field_emit_immediate(0));
    put_borrow(writer);
    uint32_t count = has_top && !is_last ? words + 1 : words;
    for (uint32_t i = 0; i < count; i++) {
        struct field_emit_arg to =
            is_last ? field_emit_word(writer, 0, i) : field_emit_local(bank, i);
        field_emit(
            writer, "        \"selp.u32 %c%u, %c%u, u%u, q;\\n\"\n", to.bank, to.value, bank, i, i);
    }
}

/* Result = x + y, at most 2 multiple p, minus multiple p if it is at least that. */
static void put_add(
    struct field_emit_writer *writer, const char *name, uint32_t arity, uint32_t multiple)
{
    uint32_t words = writer->words;
    bool has_top = writer->headroom < 2 * multiple;
    field_emit_begin(writer, name, arity);
    field_emit_declare(writer, 't', words + 1);
    field_emit_declare_reduction(writer);
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer,
            i == 0                     ? "add.cc.u32"
            : i + 1 < words || has_top ? "addc.cc.u32"
                                       : "addc.u32",
            field_emit_local('t', i), field_emit_word(writer, 1, i),
            field_emit_word(writer, arity, i));
    if (has_top)
        field_emit_two(writer, "addc.u32", field_emit_local('t', words), field_emit_immediate(0),
            field_emit_immediate(0));
    field_emit_reduction(writer, 't', multiple, has_top, true);
    field_emit_end(writer, arity);
}

/* Result = x - y (arity 2) or -x (arity 1), plus multiple p if that is negative. */
static void put_sub(
    struct field_emit_writer *writer, const char *name, uint32_t arity, uint32_t multiple)
{
    uint32_t words = writer->words;
    field_emit_begin(writer, name, arity);
    field_emit_declare_reduction(writer);
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer, i == 0 ? "sub.cc.u32" : "subc.cc.u32", field_emit_word(writer, 0, i),
            arity == 2 ? field_emit_word(writer, 1, i) : field_emit_immediate(0),
            field_emit_word(writer, arity, i));
    put_borrow(writer);
    for (uint32_t i = 0; i < words; i++)
        field_emit_two(writer,
            i == 0          ? "@q add.cc.u32"
            : i + 1 < words ? "@q addc.cc.u32"
                            : "@q addc.u32",
            field_emit_word(writer, 0, i), field_emit_word(writer, 0, i),
            field_emit_modulus(writer, multiple, i));
    field_emit_end(writer, arity);
}

static void put_reduce(struct field_emit_writer *writer)
{
    field_emit_begin(writer, "reduce", 1);
    field_emit_declare(writer, 't', writer->words + 1);
    field_emit_declare_reduction(writer);
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit_move(writer, field_emit_local('t', i), field_emit_word(writer, 1, i));
    field_emit_reduction(writer, 't', 1, false, true);
    field_emit_end(writer, 1);
}

/* 1 when a < b as integers. */
void field_emit_less(struct field_emit_writer *writer)
{
    uint32_t words = writer->words;
    const char *prefix = writer->prefix;
    field_emit(writer, "%s int %s_less(%s a, %s b)\n{\n    unsigned r;\n    asm(\"{\\n\"\n",
        writer->linkage, prefix, prefix, prefix);
    field_emit(writer, "        \".reg .u32 t;\\n\"\n");
    for (uint32_t i = 0; i < words; i++)
        field_emit(writer, "        \"sub%s.cc.u32 t, %%%u, %%%u;\\n\"\n", i == 0 ? "" : "c", 1 + i,
            1 + words + i);
    field_emit(writer, "        \"subc.u32 %%0, 0, 0;\\n\"\n        \"}\"\n        : \"=&r\"(r)\n");
    for (uint32_t i = 0; i < 2 * words; i++)
        field_emit(writer, "%s\"r\"(%c.word[%u])", i == 0 ? "        : " : ", ",
            i < words ? 'a' : 'b', i % words);
    field_emit(writer, ");\n    return r != 0;\n}\n\n");
}

void field_emit_additions(struct field_emit_writer *writer)
{
    put_add(writer, "add", 2, 1);
    put_add(writer, "dbl", 1, 1);
    put_sub(writer, "sub", 2, 1);
    put_sub(writer, "neg", 1, 1);
    field_emit_less(writer);
    put_reduce(writer);
    if (!writer->lazy)
        return;
    put_add(writer, "add_lazy", 2, 2);
    put_add(writer, "dbl_lazy", 1, 2);
    put_sub(writer, "sub_lazy", 2, 2);
    put_sub(writer, "neg_lazy", 1, 2);
}
