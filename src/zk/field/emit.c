/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembles device code: see emit.h. Knows the syntax of asm statements, not arithmetic.
 */
#include "zk/field/emit.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>

static bool reserve(struct field_emit_writer *writer, size_t more)
{
    size_t needed = writer->length + more + 1;
    if (needed <= writer->capacity)
        return true;
    size_t capacity = writer->capacity == 0 ? 65536 : writer->capacity;
    while (capacity < needed)
        capacity *= 2;
    char *data = base_realloc(writer->data, capacity, 1);
    if (data == NULL) {
        writer->failed = true;
        return false;
    }
    writer->data = data;
    writer->capacity = capacity;
    return true;
}

void field_emit(struct field_emit_writer *writer, const char *format, ...)
{
    if (writer->failed)
        return;
    char piece[512];
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (written < 0 || (size_t)written >= sizeof piece) {
        writer->failed = true;
        return;
    }
    if (!reserve(writer, (size_t)written))
        return;
    for (size_t i = 0; i <= (size_t)written; i++)
        writer->data[writer->length + i] = piece[i];
    writer->length += (size_t)written;
}

struct field_emit_arg field_emit_modulus(
    const struct field_emit_writer *writer, uint32_t multiple, uint32_t index)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < index; i++)
        carry = (carry + (uint64_t)field_word(writer->field->modulus, i) * multiple) >> 32;
    return field_emit_immediate(
        (uint32_t)(carry + (uint64_t)field_word(writer->field->modulus, index) * multiple));
}

static void put_arg(struct field_emit_writer *writer, struct field_emit_arg arg)
{
    if (arg.bank == '$')
        field_emit(writer, arg.value < 10 ? "%u" : "0x%08x", arg.value);
    else
        field_emit(writer, "%c%u", arg.bank, arg.value);
}

static void put_line(struct field_emit_writer *writer, const char *opcode,
    const struct field_emit_arg *args, uint32_t count)
{
    field_emit(writer, "        \"%s ", opcode);
    for (uint32_t i = 0; i < count; i++) {
        field_emit(writer, i == 0 ? "" : ", ");
        put_arg(writer, args[i]);
    }
    field_emit(writer, ";\\n\"\n");
}

void field_emit_move(
    struct field_emit_writer *writer, struct field_emit_arg to, struct field_emit_arg from)
{
    struct field_emit_arg args[2] = {to, from};
    put_line(writer, "mov.u32", args, 2);
}

void field_emit_two(struct field_emit_writer *writer, const char *opcode, struct field_emit_arg to,
    struct field_emit_arg x, struct field_emit_arg y)
{
    struct field_emit_arg args[3] = {to, x, y};
    put_line(writer, opcode, args, 3);
}

void field_emit_three(struct field_emit_writer *writer, const char *opcode,
    struct field_emit_arg to, struct field_emit_arg x, struct field_emit_arg y,
    struct field_emit_arg z)
{
    struct field_emit_arg args[4] = {to, x, y, z};
    put_line(writer, opcode, args, 4);
}

void field_emit_declare(struct field_emit_writer *writer, char bank, uint32_t count)
{
    field_emit(writer, "        \".reg .u32 %c<%u>;\\n\"\n", bank, count);
}

void field_emit_begin(struct field_emit_writer *writer, const char *name, uint32_t arity)
{
    field_emit(writer, "%s %s %s_%s(", writer->linkage, writer->prefix, writer->prefix, name);
    for (uint32_t i = 0; i < arity; i++)
        field_emit(writer, "%s%s %c", i == 0 ? "" : ", ", writer->prefix, 'a' + (int)i);
    field_emit(writer, ")\n{\n    %s r;\n    asm(\"{\\n\"\n", writer->prefix);
}

/*
 * Results are early-clobber operands: a statement writes words of its result before it has read all
 * arguments.
 */
void field_emit_end(struct field_emit_writer *writer, uint32_t arity)
{
    field_emit(writer, "        \"}\"\n        : ");
    for (uint32_t i = 0; i < writer->words; i++)
        field_emit(writer, "%s\"=&r\"(r.word[%u])", i == 0 ? "" : ", ", i);
    field_emit(writer, "\n        : ");
    for (uint32_t argument = 0; argument < arity; argument++)
        for (uint32_t i = 0; i < writer->words; i++)
            field_emit(writer, "%s\"r\"(%c.word[%u])", argument + i == 0 ? "" : ", ",
                'a' + (int)argument, i);
    field_emit(writer, ");\n    return r;\n}\n\n");
}
