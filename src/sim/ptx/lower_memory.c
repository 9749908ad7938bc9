/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, atomics and addresses. Parameters of functions are rows, all else is memory. */
#include "sim/ptx/lower.h"

static uint32_t log2_of(uint32_t value)
{
    uint32_t bits = 0;
    while (value > 1u << bits)
        bits++;
    return bits;
}

static enum sim_access_space space_of(struct ptx_lowering *l)
{
    if (ptx_l_has(l, PTX_M_GLOBAL) || ptx_l_has(l, PTX_M_CONST))
        return SIM_IN_GLOBAL;
    if (ptx_l_has(l, PTX_M_SHARED) || ptx_l_has(l, PTX_M_SHARED_CTA) ||
        ptx_l_has(l, PTX_M_SHARED_CLUSTER))
        return SIM_IN_SHARED;
    if (ptx_l_has(l, PTX_M_LOCAL))
        return SIM_IN_LOCAL;
    if (ptx_l_has(l, PTX_M_PARAM) || ptx_l_has(l, PTX_M_PARAM_ENTRY) ||
        ptx_l_has(l, PTX_M_PARAM_FUNC))
        return SIM_IN_PARAM;
    return SIM_IN_GENERIC;
}

static enum sim_access_space space_of_symbol(const struct ptx_symbol *s)
{
    switch (s->space) {
    case PTX_SHARED:
        return SIM_IN_SHARED;
    case PTX_LOCAL:
        return SIM_IN_LOCAL;
    case PTX_PARAM:
        return SIM_IN_PARAM;
    default:
        return SIM_IN_GLOBAL;
    }
}

struct address {
    uint32_t row;
    uint32_t flags; /* space and width */
    uint32_t offset;
};

static void count_space(struct ptx_lowering *l, enum sim_access_space space)
{
    if (l->counted == SIM_CLASS_GLOBAL)
        l->counted = space == SIM_IN_SHARED  ? SIM_CLASS_SHARED
                     : space == SIM_IN_LOCAL ? SIM_CLASS_LOCAL
                     : space == SIM_IN_PARAM ? SIM_CLASS_INTEGER
                                             : SIM_CLASS_GLOBAL;
}

static struct address take_address(
    struct ptx_lowering *l, const struct ptx_operand *o, enum sim_access_space space)
{
    struct address address = {0};
    struct ptx_operand base = *o;
    if (o->kind == PTX_OPERAND_ADDRESS_REGISTER) {
        enum ptx_type type = ptx_register_type(l, o);
        if (ptx_type_size(type) != 4 && ptx_type_size(type) != 8)
            ptx_bad(l, SIM_LOAD_INVALID, "address in a register of type .%s", ptx_type_name(type));
        if ((int64_t)o->value != (int32_t)(int64_t)o->value)
            ptx_bad(l, SIM_LOAD_UNSUPPORTED, "address offset beyond 32 bits");
        address.row = l->flow.rows[o->id];
        address.flags = ptx_type_size(type) == 8 ? SIM_ACCESS_WIDE_ADDRESS : 0;
        address.offset = (uint32_t)o->value;
    } else if (o->kind == PTX_OPERAND_ADDRESS_SYMBOL) {
        enum sim_access_space own = space_of_symbol(o->symbol);
        if (space == SIM_IN_GENERIC)
            space = own;
        if (space != own)
            ptx_bad(l, SIM_LOAD_INVALID, "variable of another state space");
        base.kind = PTX_OPERAND_SYMBOL;
        address.row = ptx_source(l, &base, PTX_U64);
        address.flags = SIM_ACCESS_WIDE_ADDRESS;
    } else if (o->kind == PTX_OPERAND_ADDRESS_INTEGER) {
        address.row = ptx_constant(l, o->value, 8);
        address.flags = SIM_ACCESS_WIDE_ADDRESS;
    } else {
        ptx_bad_operands(l);
    }
    count_space(l, space);
    address.flags |= (uint32_t)space << SIM_ACCESS_SPACE_SHIFT;
    return address;
}

/* ---- parameters of functions: 4-byte rows ---------------------------------------------------- */

static bool is_row_parameter(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_ADDRESS_SYMBOL && o->symbol->space == PTX_PARAM &&
           !o->symbol->is_entry_parameter;
}

static void check_inside(
    struct ptx_lowering *l, const struct ptx_operand *o, uint64_t offset, uint32_t size)
{
    if (offset > o->symbol->size || size > o->symbol->size - offset || offset % size != 0)
        ptx_bad(l, SIM_LOAD_INVALID, "access outside the parameter '%.*s'",
            (int)(o->symbol->length < 80 ? o->symbol->length : 80), o->symbol->name);
}

void ptx_row_from_granules(struct ptx_lowering *l, uint32_t d, uint32_t width, uint32_t from,
    enum ptx_type type, uint32_t shift)
{
    uint32_t size = ptx_type_size(type);
    if (size >= 8) {
        if (width != size)
            ptx_bad_type(l);
        ptx_emit(l, SIM_PACK, ptx_int_of_width(size), d, 0, 0, 0, size / 4);
        uint32_t words = ptx_emit_words(l);
        for (uint32_t i = 0; i < size / 4; i++)
            l->program->ops[words].words[i] = from + i * 128;
        l->program->ops[words].words[4] = 4;
    } else if (size == 4) {
        ptx_emit_resize(l, d, width, from, type);
    } else {
        uint32_t shifted = ptx_scratch(l), half = ptx_scratch(l);
        ptx_emit(l, SIM_SHR, PTX_U32, shifted, from, ptx_constant(l, shift, 4), 0, 0);
        ptx_emit(l, SIM_TO16, PTX_U32, half, shifted, 0, 0, 0);
        ptx_emit_resize(l, d, width, half, type);
    }
}

void ptx_granules_from_row(
    struct ptx_lowering *l, uint32_t to, uint32_t a, enum ptx_type type, uint32_t shift)
{
    uint32_t size = ptx_type_size(type);
    if (size >= 8) {
        ptx_emit(l, SIM_UNPACK, ptx_int_of_width(size), a, 0, 0, 0, size / 4);
        uint32_t words = ptx_emit_words(l);
        for (uint32_t i = 0; i < size / 4; i++)
            l->program->ops[words].words[i] = to + i * 128;
        l->program->ops[words].words[4] = 4;
    } else if (size == 4) {
        ptx_emit(l, SIM_MOV, PTX_U32, to, a, 0, 0, 0);
    } else {
        uint32_t wide = ptx_scratch(l);
        ptx_emit(l, SIM_TO32, PTX_U16, wide, a, 0, 0, 0);
        ptx_emit(l, SIM_BFI, PTX_U32, to, wide, to, ptx_constant(l, shift, 4),
            ptx_constant(l, size * 8, 4));
    }
}

/* ---- ld and st ------------------------------------------------------------------------------- */

static uint32_t vector_count(struct ptx_lowering *l, const struct ptx_operand *o)
{
    uint32_t count = ptx_l_has(l, PTX_M_V2)   ? 2
                     : ptx_l_has(l, PTX_M_V4) ? 4
                     : ptx_l_has(l, PTX_M_V8) ? 8
                                              : 1;
    uint32_t given = o->kind == PTX_OPERAND_VECTOR ? o->count : 1;
    if (given != count || (o->kind == PTX_OPERAND_VECTOR && count == 1))
        ptx_bad_operands(l);
    return count;
}

static uint32_t register_width(
    struct ptx_lowering *l, const struct ptx_operand *o, enum ptx_type type)
{
    if (o->kind != PTX_OPERAND_REGISTER)
        return ptx_width(type);
    enum ptx_type have = ptx_register_type(l, o);
    if (have == PTX_PRED || ptx_width(have) < ptx_width(type))
        ptx_bad(l, SIM_LOAD_INVALID, "register of type .%s is too narrow", ptx_type_name(have));
    return ptx_width(have);
}

static void emit_access(struct ptx_lowering *l, enum sim_kind kind, const struct address *address,
    enum ptx_type type, const uint32_t *rows, uint32_t width, uint32_t count)
{
    bool is_signed = type == PTX_S8 || type == PTX_S16 || type == PTX_S32;
    uint32_t flags = address->flags | log2_of(ptx_type_size(type)) << SIM_ACCESS_SIZE_SHIFT |
                     (is_signed ? (uint32_t)SIM_ACCESS_SIGNED : 0u) |
                     log2_of(width) << SIM_ACCESS_ROW_SHIFT | count << SIM_ACCESS_COUNT_SHIFT;
    ptx_emit(l, kind, PTX_NONE, rows[0], address->row, flags, 0, address->offset);
    if (count == 1)
        return;
    uint32_t words = ptx_emit_words(l);
    for (uint32_t i = 0; i < count; i++)
        l->program->ops[words].words[i] = rows[i];
}

static enum ptx_type access_type(struct ptx_lowering *l)
{
    enum ptx_type type = ptx_l_type(l, 0);
    /* A second type belongs to a form that is not here. */
    if (l->instruction->mnemonic->type_count != 1 || ptx_type_size(type) == 0)
        ptx_bad_type(l);
    return type;
}

/* ld.param of a kernel at a constant offset: one value for all lanes. */
static bool load_parameter(struct ptx_lowering *l, const struct ptx_operand *source,
    enum ptx_type type, uint32_t i, uint32_t d, uint32_t width)
{
    uint64_t offset = source->value + (uint64_t)i * ptx_type_size(type);
    if (is_row_parameter(source)) {
        check_inside(l, source, offset, ptx_type_size(type));
        ptx_row_from_granules(l, d, width, source->symbol->row + (uint32_t)(offset / 4) * 128, type,
            (uint32_t)(offset % 4) * 8);
        return true;
    }
    if (ptx_type_size(type) > 8)
        return false;
    check_inside(l, source, offset, ptx_type_size(type));
    bool is_signed = type == PTX_S8 || type == PTX_S16 || type == PTX_S32;
    ptx_emit(l, SIM_LD_PARAM, ptx_int_of_width(width), d,
        (uint32_t)source->symbol->offset + (uint32_t)offset, ptx_type_size(type), is_signed, 0);
    return true;
}

void ptx_lower_ld(struct ptx_lowering *l)
{
    enum ptx_type type = access_type(l);
    const struct ptx_operand *d = ptx_operand(l, 0), *source = ptx_operand(l, 1);
    uint32_t count = vector_count(l, d), rows[8], width = 0;
    /* A cache policy may follow. */
    if (l->instruction->count > (ptx_l_has(l, PTX_M_HINT) ? 3 : 2))
        ptx_bad_operands(l);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *o = count == 1 ? d : d + 1 + i;
        uint32_t own = register_width(l, o, type);
        if (o->kind != PTX_OPERAND_REGISTER)
            rows[i] = ptx_target(l, o, type);
        else
            rows[i] = l->flow.rows[o->id];
        if (o->kind == PTX_OPERAND_REGISTER && width && own != width)
            ptx_bad(l, SIM_LOAD_UNSUPPORTED, "vector of registers of different widths");
        width = o->kind == PTX_OPERAND_REGISTER ? own : width;
    }
    width = width ? width : ptx_width(type);
    bool is_parameter = source->kind == PTX_OPERAND_ADDRESS_SYMBOL &&
                        source->symbol->space == PTX_PARAM && space_of(l) == SIM_IN_PARAM;
    if (is_parameter && (is_row_parameter(source) || ptx_type_size(type) <= 8)) {
        l->counted = SIM_CLASS_INTEGER;
        for (uint32_t i = 0; i < count; i++)
            load_parameter(l, source, type, i, rows[i], width);
        return;
    }
    struct address address = take_address(l, source, space_of(l));
    bool is_acquire = ptx_l_has(l, PTX_M_ACQUIRE);
    if ((is_acquire || ptx_l_has(l, PTX_M_VOLATILE) || ptx_l_has(l, PTX_M_RELAXED)) &&
        space_of(l) != SIM_IN_SHARED && space_of(l) != SIM_IN_LOCAL)
        address.flags |= SIM_ACCESS_STRONG;
    emit_access(l, SIM_LD, &address, type, rows, width, count);
    if (is_acquire)
        ptx_emit(l, SIM_FENCE, PTX_NONE, 0, 0, 0, 0, 0);
}

void ptx_lower_st(struct ptx_lowering *l)
{
    enum ptx_type type = access_type(l);
    const struct ptx_operand *target = ptx_operand(l, 0), *s = ptx_operand(l, 1);
    uint32_t count = vector_count(l, s), rows[8];
    if (l->instruction->count > (ptx_l_has(l, PTX_M_HINT) ? 3 : 2))
        ptx_bad_operands(l);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *o = count == 1 ? s : s + 1 + i;
        register_width(l, o, type);
        rows[i] = ptx_source_loose(l, o, type);
    }
    if (is_row_parameter(target)) {
        l->counted = SIM_CLASS_INTEGER;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t offset = target->value + (uint64_t)i * ptx_type_size(type);
            check_inside(l, target, offset, ptx_type_size(type));
            ptx_granules_from_row(l, target->symbol->row + (uint32_t)(offset / 4) * 128, rows[i],
                type, (uint32_t)(offset % 4) * 8);
        }
        return;
    }
    if (space_of(l) == SIM_IN_PARAM || ptx_l_has(l, PTX_M_CONST))
        ptx_bad(l, SIM_LOAD_INVALID, "store to a space that is read only");
    struct address address = take_address(l, target, space_of(l));
    if (ptx_l_has(l, PTX_M_RELEASE))
        ptx_emit(l, SIM_FENCE, PTX_NONE, 0, 0, 0, 0, 0);
    emit_access(l, SIM_ST, &address, type, rows, ptx_width(type), count);
}

/* ---- atomics --------------------------------------------------------------------------------- */

static int atomic_of(const struct ptx_lowering *l)
{
    static const uint8_t names[] = {[SIM_ATOMIC_ADD] = PTX_M_ADD,
        [SIM_ATOMIC_INC] = PTX_M_INC,
        [SIM_ATOMIC_DEC] = PTX_M_DEC,
        [SIM_ATOMIC_MIN] = PTX_M_MIN,
        [SIM_ATOMIC_MAX] = PTX_M_MAX,
        [SIM_ATOMIC_AND] = PTX_M_AND,
        [SIM_ATOMIC_OR] = PTX_M_OR,
        [SIM_ATOMIC_XOR] = PTX_M_XOR,
        [SIM_ATOMIC_EXCH] = PTX_M_EXCH,
        [SIM_ATOMIC_CAS] = PTX_M_CAS};
    int found = -1;
    for (unsigned i = 0; i < sizeof(names); i++)
        if (ptx_l_has(l, (enum ptx_modifier)names[i]))
            found = found == -1 ? (int)i : -2;
    return found;
}

static bool suits_atomic(int op, enum ptx_type type)
{
    bool is_word = type == PTX_U32 || type == PTX_U64 || type == PTX_S32 || type == PTX_S64;
    bool is_bits = type == PTX_B32 || type == PTX_B64;
    switch (op) {
    case SIM_ATOMIC_ADD:
        return is_word || type == PTX_F32 || type == PTX_F64 || type == PTX_F16 ||
               type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
    case SIM_ATOMIC_MIN:
    case SIM_ATOMIC_MAX:
        return is_word;
    case SIM_ATOMIC_INC:
    case SIM_ATOMIC_DEC:
        return type == PTX_U32;
    case SIM_ATOMIC_AND:
    case SIM_ATOMIC_OR:
    case SIM_ATOMIC_XOR:
        return is_bits || is_word;
    case SIM_ATOMIC_EXCH:
        return is_bits || is_word || type == PTX_B128 || type == PTX_F32 || type == PTX_F64;
    case SIM_ATOMIC_CAS:
        return is_bits || is_word || type == PTX_B16 || type == PTX_U16 || type == PTX_B128;
    default:
        return false;
    }
}

void ptx_lower_atom(struct ptx_lowering *l)
{
    enum ptx_type type = access_type(l);
    int op = atomic_of(l);
    bool is_red = l->instruction->mnemonic->opcode->writes == 0;
    uint32_t first = is_red ? 0 : 1, needed = first + 2 + (op == SIM_ATOMIC_CAS);
    enum sim_access_space space = space_of(l);
    if (!suits_atomic(op, type) || ptx_l_has(l, PTX_M_V2) || ptx_l_has(l, PTX_M_V4) ||
        ptx_l_has(l, PTX_M_V8) || space == SIM_IN_LOCAL || space == SIM_IN_PARAM)
        ptx_bad_type(l);
    if (l->instruction->count < needed ||
        l->instruction->count > needed + (ptx_l_has(l, PTX_M_HINT) ? 1u : 0u))
        ptx_bad_operands(l);
    struct address address = take_address(l, ptx_operand(l, first), space);
    uint32_t b = ptx_source(l, ptx_operand(l, first + 1), type);
    uint32_t c = op == SIM_ATOMIC_CAS ? ptx_source(l, ptx_operand(l, first + 2), type) : b;
    uint32_t d = is_red ? SIM_ROW_DEAD : ptx_target(l, ptx_operand(l, 0), type);
    ptx_emit(l, SIM_ATOM, PTX_NONE, d, address.row, b, c, address.offset);
    uint32_t words = ptx_emit_words(l);
    l->program->ops[words].words[0] = address.flags | log2_of(ptx_type_size(type))
                                                          << SIM_ACCESS_SIZE_SHIFT;
    l->program->ops[words].words[1] = (uint32_t)op;
    l->program->ops[words].words[2] = (uint32_t)type;
}

/* ---- addresses ------------------------------------------------------------------------------- */

void ptx_lower_cvta(struct ptx_lowering *l)
{
    enum sim_access_space space = space_of(l);
    if (ptx_l_type(l, 0) != PTX_U64 || l->instruction->mnemonic->type_count != 1 ||
        space == SIM_IN_GENERIC || l->instruction->count != 2)
        ptx_bad_type(l);
    uint32_t a = ptx_source(l, ptx_operand(l, 1), PTX_U64);
    uint32_t d = ptx_target(l, ptx_operand(l, 0), PTX_U64);
    if (space == SIM_IN_GLOBAL || space == SIM_IN_PARAM)
        ptx_emit(l, SIM_MOV, PTX_U64, d, a, 0, 0, 0);
    else
        ptx_emit(l, ptx_l_has(l, PTX_M_TO) ? SIM_FROM_GENERIC : SIM_TO_GENERIC, PTX_U64, d, a, 0, 0,
            (uint32_t)space);
}

void ptx_lower_isspacep(struct ptx_lowering *l)
{
    if (space_of(l) == SIM_IN_GENERIC || l->instruction->count != 2)
        ptx_bad_type(l);
    uint32_t a = ptx_source(l, ptx_operand(l, 1), PTX_U64);
    ptx_emit(l, SIM_IS_SPACE, PTX_U64, ptx_target_predicate(l, ptx_operand(l, 0)), a, 0, 0,
        (uint32_t)space_of(l) | (ptx_l_has(l, PTX_M_CONST) ? 8u : 0u));
}

/* Nothing is cached, so nothing is fetched ahead; a GPU takes any address here. */
void ptx_lower_prefetch(struct ptx_lowering *l)
{
    take_address(l, ptx_operand(l, 0), space_of(l));
}

void ptx_lower_cp_async(struct ptx_lowering *l)
{
    if (!ptx_l_has(l, PTX_M_ASYNC))
        ptx_bad_type(l);
    if (ptx_l_has(l, PTX_M_COMMIT_GROUP) || ptx_l_has(l, PTX_M_WAIT_GROUP) ||
        ptx_l_has(l, PTX_M_WAIT_ALL)) {
        l->counted = SIM_CLASS_BARRIER;
        return; /* the copy was done at once */
    }
    if ((!ptx_l_has(l, PTX_M_CA) && !ptx_l_has(l, PTX_M_CG)) || l->instruction->count < 3 ||
        l->instruction->mnemonic->type_count != 0)
        ptx_bad_type(l);
    const struct ptx_operand *size = ptx_operand(l, 2);
    if (size->kind != PTX_OPERAND_INTEGER ||
        (size->value != 4 && size->value != 8 && size->value != 16))
        ptx_bad_operands(l);
    struct address to = take_address(l, ptx_operand(l, 0), SIM_IN_SHARED);
    l->counted = SIM_CLASS_GLOBAL;
    struct address from = take_address(l, ptx_operand(l, 1), SIM_IN_GLOBAL);
    uint32_t taken = ptx_constant(l, size->value, 4);
    /* A fourth operand is the number of bytes to read, unless it is a 64-bit cache policy. */
    if (l->instruction->count > 3) {
        const struct ptx_operand *o = ptx_operand(l, 3);
        bool is_policy =
            o->kind == PTX_OPERAND_REGISTER && ptx_type_size(ptx_register_type(l, o)) == 8;
        if (o->kind == PTX_OPERAND_REGISTER && ptx_register_type(l, o) == PTX_PRED)
            ptx_bad(l, SIM_LOAD_UNSUPPORTED, "cp.async with an ignore-src predicate");
        taken = is_policy ? taken : ptx_source(l, o, PTX_U32);
    }
    ptx_emit(
        l, SIM_CP_ASYNC, PTX_NONE, to.row, from.row, taken, (uint32_t)size->value, from.offset);
    uint32_t words = ptx_emit_words(l);
    l->program->ops[words].words[0] = to.flags;
    l->program->ops[words].words[1] = from.flags;
    l->program->ops[words].words[2] = to.offset;
}

void ptx_lower_createpolicy(struct ptx_lowering *l)
{
    if (ptx_l_type(l, 0) != PTX_B64)
        ptx_bad_type(l);
    ptx_emit(l, SIM_MOV, PTX_U64, ptx_target(l, ptx_operand(l, 0), PTX_B64), ptx_constant(l, 0, 8),
        0, 0, 0);
}

/* alloca.u64 address, bytes {, alignment}; stacksave.u64 d; stackrestore.u64 a */
void ptx_lower_alloca(struct ptx_lowering *l)
{
    enum sim_kind kind = (enum sim_kind)l->instruction->mnemonic->opcode->kind;
    enum ptx_type type = access_type(l);
    if (type != PTX_U64)
        ptx_bad_type(l);
    if (kind == SIM_STACK_RESTORE) {
        ptx_emit(l, kind, PTX_U64, 0, ptx_source(l, ptx_operand(l, 0), PTX_U64), 0, 0, 0);
        return;
    }
    uint32_t d = ptx_target(l, ptx_operand(l, 0), PTX_U64), align = 16, a = 0;
    if (kind == SIM_ALLOCA) {
        a = ptx_source(l, ptx_operand(l, 1), PTX_U64);
        if (l->instruction->count > 2 && ptx_operand(l, 2)->kind == PTX_OPERAND_INTEGER &&
            ptx_operand(l, 2)->value > 16 && ptx_operand(l, 2)->value <= 128)
            align = (uint32_t)ptx_operand(l, 2)->value;
    }
    ptx_emit(l, kind, PTX_U64, d, a, 0, 0, align);
}
