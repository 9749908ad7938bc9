/* SPDX-License-Identifier: Apache-2.0 */
/* Operands to rows of the frame: registers, constants, addresses, special registers; scratch rows
 * for the rest. */
#include "sim/ptx/lower.h"

#include <string.h>

enum { FRAME_LIMIT = 1 << 28 };

uint32_t ptx_width(enum ptx_type type)
{
    uint32_t size = ptx_type_size(type);
    return size < 2 ? 2 : size;
}

enum ptx_type ptx_int_of_width(uint32_t width)
{
    return width == 2 ? PTX_U16 : width == 4 ? PTX_U32 : width == 8 ? PTX_U64 : PTX_B128;
}

uint32_t ptx_frame_take(struct ptx_lowering *l, uint32_t bytes)
{
    uint32_t offset = l->frame_next;
    if (bytes > FRAME_LIMIT - offset)
        ptx_fail(
            l->parser, SIM_LOAD_UNSUPPORTED, 0, "registers of the module beyond 256 MiB a warp");
    l->frame_next += (bytes + 63) / 64 * 64;
    return offset;
}

uint32_t ptx_scratch(struct ptx_lowering *l)
{
    if (l->scratch == SIM_SCRATCH_ROWS)
        ptx_bad(l, SIM_LOAD_UNSUPPORTED, "too many operands");
    return SIM_ROW_SCRATCH + l->scratch++ * 256;
}

static uint64_t row_hash(enum sim_row_kind kind, uint32_t id, uint64_t value, uint32_t width)
{
    uint64_t hash = value * UINT64_C(0x9e3779b97f4a7c15) + id * 8 + kind;
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + width;
    return hash ^ hash >> 32;
}

static const struct sim_row *table_find(const struct ptx_row_table *table, uint64_t hash,
    enum sim_row_kind kind, uint32_t id, uint64_t value, uint32_t width)
{
    if (!table->slots)
        return NULL;
    for (uint32_t slot = (uint32_t)hash & table->mask; table->slots[slot];
         slot = (slot + 1) & table->mask) {
        const struct sim_row *row = &table->rows[table->slots[slot] - 1];
        if (row->kind == kind && row->id == id && row->value == value && row->width == width)
            return row;
    }
    return NULL;
}

static void table_place(struct ptx_row_table *table, uint32_t index)
{
    const struct sim_row *row = &table->rows[index];
    uint64_t hash = row_hash((enum sim_row_kind)row->kind, row->id, row->value, row->width);
    uint32_t slot = (uint32_t)hash & table->mask;
    while (table->slots[slot])
        slot = (slot + 1) & table->mask;
    table->slots[slot] = index + 1;
}

static void table_add(struct ptx_lowering *l, const struct sim_row *row)
{
    struct ptx_row_table *table = l->table;
    table->rows = ptx_grow(l->parser, table->rows, table->count, &table->room, sizeof(*row));
    table->rows[table->count++] = *row;
    if (!table->slots || table->count * 2 > table->mask) {
        table->mask = table->slots ? table->mask * 2 + 1 : 63;
        table->slots = ptx_alloc(l->parser, (table->mask + 1) * sizeof(*table->slots));
        for (uint32_t i = 0; i < table->count; i++)
            table_place(table, i);
    } else {
        table_place(table, table->count - 1);
    }
}

uint32_t ptx_fixed_row(
    struct ptx_lowering *l, enum sim_row_kind kind, uint32_t id, uint64_t value, uint32_t width)
{
    uint64_t hash = row_hash(kind, id, value, width);
    const struct sim_row *row = table_find(&l->shared_table, hash, kind, id, value, width);
    if (!row && l->table != &l->shared_table)
        row = table_find(l->table, hash, kind, id, value, width);
    if (row)
        return row->offset;
    struct sim_row made = {
        ptx_frame_take(l, width * SIM_LANES), (uint8_t)width, (uint8_t)kind, id, value};
    table_add(l, &made);
    return made.offset;
}

uint32_t ptx_constant(struct ptx_lowering *l, uint64_t value, uint32_t width)
{
    if (width < 8)
        value &= (UINT64_C(1) << (width * 8)) - 1;
    return ptx_fixed_row(l, SIM_ROW_CONSTANT, 0, value, width);
}

/* The operand at a position of the top level: nested and paired ones are passed over. */
const struct ptx_operand *ptx_operand(struct ptx_lowering *l, uint32_t position)
{
    const struct ptx_operand *o = l->operands;
    if (position >= l->instruction->count)
        ptx_bad_operands(l);
    while (position > 0) {
        bool is_paired = o->is_paired;
        o += o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_LIST ? o->count + 1u : 1u;
        position -= !is_paired;
    }
    return o;
}

enum ptx_type ptx_register_type(const struct ptx_lowering *l, const struct ptx_operand *o)
{
    return (enum ptx_type)l->function->register_types[o->id];
}

static uint64_t float_constant(const struct ptx_operand *o, uint32_t width)
{
    bool is_narrow = o->kind == PTX_OPERAND_FLOAT32;
    uint64_t bits = o->value;
    if (is_narrow && width == 8) {
        uint32_t narrow_bits = (uint32_t)o->value;
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof(narrow));
        double wide = (double)narrow;
        memcpy(&bits, &wide, sizeof(bits));
    } else if (!is_narrow && width == 4) {
        double wide;
        memcpy(&wide, &o->value, sizeof(wide));
        float narrow = (float)wide;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
        bits = narrow_bits;
    }
    return bits;
}

static uint32_t special_row(struct ptx_lowering *l, uint32_t special, uint32_t width)
{
    if (special < SIM_CLOCK_LO)
        return ptx_fixed_row(l, SIM_ROW_SPECIAL, special, 0, width);
    uint32_t row = ptx_scratch(l);
    ptx_emit(l, SIM_CLOCK, ptx_int_of_width(width), row, 0, 0, 0, special);
    return row;
}

static uint32_t symbol_row(struct ptx_lowering *l, const struct ptx_operand *o, uint32_t width)
{
    const struct ptx_symbol *s = o->symbol;
    if (width < 4)
        ptx_bad_operands(l);
    if (s->kind == PTX_SYMBOL_FUNCTION) {
        l->parser->functions[s->id]->is_address_taken = true;
        return ptx_constant(l, SIM_CODE_BASE + (s->id + 1) * SIM_CODE_STEP, width);
    }
    if (s->kind != PTX_SYMBOL_VARIABLE)
        ptx_bad_operands(l);
    if (s->space == PTX_GLOBAL || s->space == PTX_CONST)
        return ptx_fixed_row(l, SIM_ROW_VARIABLE, s->id, o->value, width);
    if (s->space == PTX_SHARED)
        return ptx_fixed_row(l, SIM_ROW_SHARED, s->id, o->value, width);
    if (s->space == PTX_PARAM && s->is_entry_parameter)
        return ptx_fixed_row(l, SIM_ROW_PARAMETER, 0, s->offset + o->value, width);
    if (s->space == PTX_LOCAL) {
        uint32_t row = ptx_scratch(l);
        ptx_emit(l, SIM_LOCAL_ADDRESS, ptx_int_of_width(width), row, 0, 0, 0,
            (uint32_t)(s->offset + o->value));
        return row;
    }
    ptx_bad(l, SIM_LOAD_UNSUPPORTED, "address of the function parameter '%.*s'",
        (int)(s->length < 80 ? s->length : 80), s->name);
}

static uint32_t other_source(struct ptx_lowering *l, const struct ptx_operand *o, uint32_t width)
{
    switch (o->kind) {
    case PTX_OPERAND_INTEGER:
        return ptx_constant(l, o->value, width);
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        return ptx_constant(l, float_constant(o, width), width);
    case PTX_OPERAND_SPECIAL:
        return special_row(l, o->id, width);
    case PTX_OPERAND_SYMBOL:
        return symbol_row(l, o, width);
    default:
        ptx_bad_operands(l);
    }
}

uint32_t ptx_source(struct ptx_lowering *l, const struct ptx_operand *o, enum ptx_type type)
{
    if (o->kind != PTX_OPERAND_REGISTER)
        return other_source(l, o, ptx_width(type));
    enum ptx_type have = ptx_register_type(l, o);
    if (have == PTX_PRED || ptx_width(have) != ptx_width(type))
        ptx_bad(l, SIM_LOAD_INVALID, "register of type .%s where '%.*s' takes .%s",
            ptx_type_name(have), (int)l->instruction->mnemonic->length,
            l->instruction->mnemonic->text, ptx_type_name(type));
    return l->flow.rows[o->id];
}

uint32_t ptx_source_loose(struct ptx_lowering *l, const struct ptx_operand *o, enum ptx_type type)
{
    if (o->kind != PTX_OPERAND_REGISTER)
        return other_source(l, o, ptx_width(type));
    uint32_t want = ptx_width(type);
    enum ptx_type have = ptx_register_type(l, o);
    if (have == PTX_PRED || ptx_width(have) <= want || ptx_width(have) > 8)
        return ptx_source(l, o, type);
    uint32_t row = ptx_scratch(l);
    ptx_emit(l, want == 2 ? SIM_TO16 : SIM_TO32, ptx_int_of_width(ptx_width(have)), row,
        l->flow.rows[o->id], 0, 0, 0);
    return row;
}

uint32_t ptx_predicate(struct ptx_lowering *l, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_INTEGER)
        return (o->value != 0) != o->is_negated ? SIM_ROW_TRUE : SIM_ROW_FALSE;
    if (o->kind != PTX_OPERAND_REGISTER || ptx_register_type(l, o) != PTX_PRED)
        ptx_bad(l, SIM_LOAD_INVALID, "predicate expected");
    uint32_t word = l->flow.rows[o->id];
    if (!o->is_negated)
        return word;
    uint32_t row = ptx_scratch(l);
    ptx_emit(l, SIM_NOT, PTX_PRED, row, word, 0, 0, 0);
    return row;
}

uint32_t ptx_target(struct ptx_lowering *l, const struct ptx_operand *o, enum ptx_type type)
{
    if (o->kind == PTX_OPERAND_SINK)
        return SIM_ROW_DEAD;
    if (o->kind != PTX_OPERAND_REGISTER || o->is_negated)
        ptx_bad(l, SIM_LOAD_INVALID, "the result of '%.*s' needs a register",
            (int)l->instruction->mnemonic->length, l->instruction->mnemonic->text);
    return ptx_source(l, o, type);
}

uint32_t ptx_target_predicate(struct ptx_lowering *l, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_SINK)
        return SIM_ROW_DEAD;
    if (o->kind != PTX_OPERAND_REGISTER || o->is_negated || ptx_register_type(l, o) != PTX_PRED)
        ptx_bad(l, SIM_LOAD_INVALID, "predicate expected");
    return l->flow.rows[o->id];
}
