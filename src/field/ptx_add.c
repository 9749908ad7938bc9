/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device text of sums: add, sub, neg, dbl and reduction, in the strict form (values in [0, p)) and
 * the lazy one (values in [0, 2p)). Knows carry chains only. A conditional subtraction subtracts
 * into a second set of registers and selects by the borrow; a conditional addition is predicated.
 */
#include "field/ptx_emit.h"

void ptx_declare_reduction(struct ptx_writer *writer)
{
    ptx_declare(writer, 'u', writer->words + 1);
    ptx_put(writer, "        \".reg .u32 v;\\n\"\n        \".reg .pred q;\\n\"\n");
}

/* q = the flag of the last chain says borrow. */
static void put_borrow(struct ptx_writer *writer)
{
    ptx_put(writer, "        \"subc.u32 v, 0, 0;\\n\"\n        \"setp.ne.u32 q, v, 0;\\n\"\n");
}

void ptx_put_reduction(
    struct ptx_writer *writer, char bank, uint32_t multiple, bool has_top, bool is_last)
{
    uint32_t words = writer->words;
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer, i == 0 ? "sub.cc.u32" : "subc.cc.u32", ptx_local('u', i),
            ptx_local(bank, i), ptx_modulus(writer, multiple, i));
    if (has_top)
        ptx_two(
            writer, "subc.cc.u32", ptx_local('u', words), ptx_local(bank, words), ptx_immediate(0));
    put_borrow(writer);
    uint32_t count = has_top && !is_last ? words + 1 : words;
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_arg to = is_last ? ptx_word(writer, 0, i) : ptx_local(bank, i);
        ptx_put(
            writer, "        \"selp.u32 %c%u, %c%u, u%u, q;\\n\"\n", to.bank, to.value, bank, i, i);
    }
}

/* Result = x + y, at most 2 multiple p, less multiple p where it reaches that. */
static void put_add(struct ptx_writer *writer, const char *name, uint32_t arity, uint32_t multiple)
{
    uint32_t words = writer->words;
    bool has_top = writer->room < 2 * multiple;
    ptx_begin(writer, name, arity);
    ptx_declare(writer, 't', words + 1);
    ptx_declare_reduction(writer);
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer,
            i == 0                     ? "add.cc.u32"
            : i + 1 < words || has_top ? "addc.cc.u32"
                                       : "addc.u32",
            ptx_local('t', i), ptx_word(writer, 1, i), ptx_word(writer, arity, i));
    if (has_top)
        ptx_two(writer, "addc.u32", ptx_local('t', words), ptx_immediate(0), ptx_immediate(0));
    ptx_put_reduction(writer, 't', multiple, has_top, true);
    ptx_end(writer, arity);
}

/* Result = x - y (arity 2) or -x (arity 1), plus multiple p where that is negative. */
static void put_sub(struct ptx_writer *writer, const char *name, uint32_t arity, uint32_t multiple)
{
    uint32_t words = writer->words;
    ptx_begin(writer, name, arity);
    ptx_declare_reduction(writer);
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer, i == 0 ? "sub.cc.u32" : "subc.cc.u32", ptx_word(writer, 0, i),
            arity == 2 ? ptx_word(writer, 1, i) : ptx_immediate(0), ptx_word(writer, arity, i));
    put_borrow(writer);
    for (uint32_t i = 0; i < words; i++)
        ptx_two(writer,
            i == 0          ? "@q add.cc.u32"
            : i + 1 < words ? "@q addc.cc.u32"
                            : "@q addc.u32",
            ptx_word(writer, 0, i), ptx_word(writer, 0, i), ptx_modulus(writer, multiple, i));
    ptx_end(writer, arity);
}

static void put_reduce(struct ptx_writer *writer)
{
    ptx_begin(writer, "reduce", 1);
    ptx_declare(writer, 't', writer->words + 1);
    ptx_declare_reduction(writer);
    for (uint32_t i = 0; i < writer->words; i++)
        ptx_move(writer, ptx_local('t', i), ptx_word(writer, 1, i));
    ptx_put_reduction(writer, 't', 1, false, true);
    ptx_end(writer, 1);
}

/* 1 when a < b as integers. */
void ptx_put_less(struct ptx_writer *writer)
{
    uint32_t words = writer->words;
    const char *prefix = writer->prefix;
    ptx_put(writer, "%s int %s_less(%s a, %s b)\n{\n    unsigned r;\n    asm(\"{\\n\"\n",
        writer->linkage, prefix, prefix, prefix);
    ptx_put(writer, "        \".reg .u32 t;\\n\"\n");
    for (uint32_t i = 0; i < words; i++)
        ptx_put(writer, "        \"sub%s.cc.u32 t, %%%u, %%%u;\\n\"\n", i == 0 ? "" : "c", 1 + i,
            1 + words + i);
    ptx_put(writer, "        \"subc.u32 %%0, 0, 0;\\n\"\n        \"}\"\n        : \"=&r\"(r)\n");
    for (uint32_t i = 0; i < 2 * words; i++)
        ptx_put(writer, "%s\"r\"(%c.word[%u])", i == 0 ? "        : " : ", ", i < words ? 'a' : 'b',
            i % words);
    ptx_put(writer, ");\n    return r != 0;\n}\n\n");
}

void ptx_put_additions(struct ptx_writer *writer)
{
    put_add(writer, "add", 2, 1);
    put_add(writer, "dbl", 1, 1);
    put_sub(writer, "sub", 2, 1);
    put_sub(writer, "neg", 1, 1);
    ptx_put_less(writer);
    put_reduce(writer);
    if (!writer->lazy)
        return;
    put_add(writer, "add_lazy", 2, 2);
    put_add(writer, "dbl_lazy", 1, 2);
    put_sub(writer, "sub_lazy", 2, 2);
    put_sub(writer, "neg_lazy", 1, 2);
}
