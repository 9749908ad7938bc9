/* SPDX-License-Identifier: Apache-2.0 */
/* Maps operands to vector registers: registers, constants, addresses, special registers, and
 * scratch registers for intermediate values. */
#include "driver/sim/ptx/lower.h"

#include "base/math.h"

#include <string.h>

enum { FRAME_LIMIT = 1 << 28 };

uint32_t ptx_width(enum ptx_type type)
{
    uint32_t size = ptx_type_size(type);
    return (uint32_t)base_max(size, 2);
}

enum ptx_type ptx_int_of_width(uint32_t width)
{
    return width == 2 ? PTX_U16 : width == 4 ? PTX_U32 : width == 8 ? PTX_U64 : PTX_B128;
}

uint32_t ptx_frame_allocate(struct ptx_lowering *lowering, uint32_t bytes)
{
    uint32_t offset = lowering->frame_next;
    if (bytes > FRAME_LIMIT - offset)
        ptx_fail(lowering->parser, SIM_LOAD_UNSUPPORTED, 0,
            "registers of the module beyond 256 MiB a warp");
    lowering->frame_next += (uint32_t)base_round_up(bytes, 64);
    return offset;
}

uint32_t ptx_scratch(struct ptx_lowering *lowering)
{
    if (lowering->scratch == SIM_SCRATCH_VREGS)
        ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "too many operands");
    return SIM_VREG_SCRATCH + lowering->scratch++ * 256;
}

static uint64_t vreg_hash(enum sim_vreg_kind kind, uint32_t id, uint64_t value, uint32_t width)
{
    uint64_t hash = value * UINT64_C(0x9e3779b97f4a7c15) + id * 8 + kind;
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + width;
    return hash ^ hash >> 32;
}

static const struct sim_vreg *table_find(const struct ptx_vreg_table *table, uint64_t hash,
    enum sim_vreg_kind kind, uint32_t id, uint64_t value, uint32_t width)
{
    if (!table->slots)
        return NULL;
    for (uint32_t slot = (uint32_t)hash & table->mask; table->slots[slot];
         slot = (slot + 1) & table->mask) {
        const struct sim_vreg *vreg = &table->vregs[table->slots[slot] - 1];
        if (vreg->kind == kind && vreg->id == id && vreg->value == value && vreg->width == width)
            return vreg;
    }
    return NULL;
}

static void table_insert(struct ptx_vreg_table *table, uint32_t index)
{
    const struct sim_vreg *vreg = &table->vregs[index];
    uint64_t hash = vreg_hash((enum sim_vreg_kind)vreg->kind, vreg->id, vreg->value, vreg->width);
    uint32_t slot = (uint32_t)hash & table->mask;
    while (table->slots[slot])
        slot = (slot + 1) & table->mask;
    table->slots[slot] = index + 1;
}

static void table_add(struct ptx_lowering *lowering, const struct sim_vreg *vreg)
{
    struct ptx_vreg_table *table = lowering->table;
    table->vregs =
        ptx_grow(lowering->parser, table->vregs, table->count, &table->capacity, sizeof(*vreg));
    table->vregs[table->count++] = *vreg;
    if (!table->slots || table->count * 2 > table->mask) {
        table->mask = table->slots ? table->mask * 2 + 1 : 63;
        table->slots = ptx_alloc(lowering->parser, (table->mask + 1) * sizeof(*table->slots));
        for (uint32_t i = 0; i < table->count; i++)
            table_insert(table, i);
    } else {
        table_insert(table, table->count - 1);
    }
}

static uint32_t constant_vreg(struct ptx_lowering *lowering, enum sim_vreg_kind kind, uint32_t id,
    uint64_t value, uint32_t width)
{
    uint64_t hash = vreg_hash(kind, id, value, width);
    const struct sim_vreg *vreg = table_find(&lowering->shared_table, hash, kind, id, value, width);
    if (!vreg && lowering->table != &lowering->shared_table)
        vreg = table_find(lowering->table, hash, kind, id, value, width);
    if (vreg)
        return vreg->offset;
    struct sim_vreg made = {
        ptx_frame_allocate(lowering, width * SIM_LANES), (uint8_t)width, (uint8_t)kind, id, value};
    table_add(lowering, &made);
    return made.offset;
}

uint32_t ptx_constant(struct ptx_lowering *lowering, uint64_t value, uint32_t width)
{
    if (width < 8)
        value &= (UINT64_C(1) << (width * 8)) - 1;
    return constant_vreg(lowering, SIM_VREG_CONSTANT, 0, value, width);
}

/* Returns the top-level operand at a position; nested and paired operands are skipped. */
const struct ptx_operand *ptx_operand(struct ptx_lowering *lowering, uint32_t position)
{
    const struct ptx_operand *operand = lowering->operands;
    if (position >= lowering->instruction->count)
        ptx_bad_operands(lowering);
    while (position > 0) {
        bool is_paired = operand->is_paired;
        operand += operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_LIST
                       ? operand->count + 1u
                       : 1u;
        position -= !is_paired;
    }
    return operand;
}

enum ptx_type ptx_register_type(
    const struct ptx_lowering *lowering, const struct ptx_operand *operand)
{
    return (enum ptx_type)lowering->function->register_types[operand->id];
}

static uint64_t float_bits(const struct ptx_operand *operand, uint32_t width)
{
    bool is_narrow = operand->kind == PTX_OPERAND_FLOAT32;
    uint64_t bits = operand->value;
    if (is_narrow && width == 8) {
        uint32_t narrow_bits = (uint32_t)operand->value;
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof(narrow));
        double wide = (double)narrow;
        memcpy(&bits, &wide, sizeof(bits));
    } else if (!is_narrow && width == 4) {
        double wide;
        memcpy(&wide, &operand->value, sizeof(wide));
        float narrow = (float)wide;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
        bits = narrow_bits;
    }
    return bits;
}

static uint32_t special_vreg(struct ptx_lowering *lowering, uint32_t special, uint32_t width)
{
    if (special < SIM_CLOCK_LO)
        return constant_vreg(lowering, SIM_VREG_SPECIAL, special, 0, width);
    uint32_t vreg = ptx_scratch(lowering);
    ptx_emit(lowering, SIM_CLOCK, ptx_int_of_width(width), vreg, 0, 0, 0, special);
    return vreg;
}

static uint32_t symbol_vreg(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, uint32_t width)
{
    const struct ptx_symbol *symbol = operand->symbol;
    if (width < 4)
        ptx_bad_operands(lowering);
    if (symbol->kind == PTX_SYMBOL_FUNCTION) {
        lowering->parser->functions[symbol->id]->is_address_taken = true;
        return ptx_constant(lowering, SIM_CODE_BASE + (symbol->id + 1) * SIM_CODE_STEP, width);
    }
    if (symbol->kind != PTX_SYMBOL_VARIABLE)
        ptx_bad_operands(lowering);
    if (symbol->space == PTX_GLOBAL || symbol->space == PTX_CONST)
        return constant_vreg(lowering, SIM_VREG_VARIABLE, symbol->id, operand->value, width);
    if (symbol->space == PTX_SHARED)
        return constant_vreg(lowering, SIM_VREG_SHARED, symbol->id, operand->value, width);
    if (symbol->space == PTX_PARAM && symbol->is_entry_parameter)
        return constant_vreg(
            lowering, SIM_VREG_PARAMETER, 0, symbol->offset + operand->value, width);
    if (symbol->space == PTX_LOCAL) {
        uint32_t vreg = ptx_scratch(lowering);
        ptx_emit(lowering, SIM_LOCAL_ADDRESS, ptx_int_of_width(width), vreg, 0, 0, 0,
            (uint32_t)(symbol->offset + operand->value));
        return vreg;
    }
    ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "address of the function parameter '%.*s'",
        (int)base_min(symbol->length, 80), symbol->name);
}

static uint32_t constant_source(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, uint32_t width)
{
    switch (operand->kind) {
    case PTX_OPERAND_INTEGER:
        return ptx_constant(lowering, operand->value, width);
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        return ptx_constant(lowering, float_bits(operand, width), width);
    case PTX_OPERAND_SPECIAL:
        return special_vreg(lowering, operand->id, width);
    case PTX_OPERAND_SYMBOL:
        return symbol_vreg(lowering, operand, width);
    default:
        ptx_bad_operands(lowering);
    }
}

uint32_t ptx_source(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum ptx_type type)
{
    if (operand->kind != PTX_OPERAND_REGISTER)
        return constant_source(lowering, operand, ptx_width(type));
    enum ptx_type have = ptx_register_type(lowering, operand);
    if (have == PTX_PRED || ptx_width(have) != ptx_width(type))
        ptx_bad(lowering, SIM_LOAD_INVALID, "register of type .%s where '%.*s' takes .%s",
            ptx_type_name(have), (int)lowering->instruction->mnemonic->length,
            lowering->instruction->mnemonic->text, ptx_type_name(type));
    return lowering->flow.vregs[operand->id];
}

uint32_t ptx_source_any_width(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum ptx_type type)
{
    if (operand->kind != PTX_OPERAND_REGISTER)
        return constant_source(lowering, operand, ptx_width(type));
    uint32_t want = ptx_width(type);
    enum ptx_type have = ptx_register_type(lowering, operand);
    if (have == PTX_PRED || ptx_width(have) <= want || ptx_width(have) > 8)
        return ptx_source(lowering, operand, type);
    uint32_t vreg = ptx_scratch(lowering);
    ptx_emit(lowering, want == 2 ? SIM_TO16 : SIM_TO32, ptx_int_of_width(ptx_width(have)), vreg,
        lowering->flow.vregs[operand->id], 0, 0, 0);
    return vreg;
}

uint32_t ptx_predicate(struct ptx_lowering *lowering, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_INTEGER)
        return (operand->value != 0) != operand->is_negated ? SIM_VREG_TRUE : SIM_VREG_FALSE;
    if (operand->kind != PTX_OPERAND_REGISTER || ptx_register_type(lowering, operand) != PTX_PRED)
        ptx_bad(lowering, SIM_LOAD_INVALID, "predicate expected");
    uint32_t word = lowering->flow.vregs[operand->id];
    if (!operand->is_negated)
        return word;
    uint32_t vreg = ptx_scratch(lowering);
    ptx_emit(lowering, SIM_NOT, PTX_PRED, vreg, word, 0, 0, 0);
    return vreg;
}

uint32_t ptx_target(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum ptx_type type)
{
    if (operand->kind == PTX_OPERAND_SINK)
        return SIM_VREG_UNUSED;
    if (operand->kind != PTX_OPERAND_REGISTER || operand->is_negated)
        ptx_bad(lowering, SIM_LOAD_INVALID, "the result of '%.*s' needs a register",
            (int)lowering->instruction->mnemonic->length, lowering->instruction->mnemonic->text);
    return ptx_source(lowering, operand, type);
}

uint32_t ptx_target_predicate(struct ptx_lowering *lowering, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_SINK)
        return SIM_VREG_UNUSED;
    if (operand->kind != PTX_OPERAND_REGISTER || operand->is_negated ||
        ptx_register_type(lowering, operand) != PTX_PRED)
        ptx_bad(lowering, SIM_LOAD_INVALID, "predicate expected");
    return lowering->flow.vregs[operand->id];
}
