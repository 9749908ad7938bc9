/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, atomics and addresses. Parameters of functions are vector registers; all other
 * variables are memory. */
#include "driver/sim/ptx/lower.h"

#include "base/math.h"

static enum sim_access_space current_space(struct ptx_lowering *lowering)
{
    if (ptx_current_has(lowering, PTX_M_GLOBAL) || ptx_current_has(lowering, PTX_M_CONST))
        return SIM_IN_GLOBAL;
    if (ptx_current_has(lowering, PTX_M_SHARED) || ptx_current_has(lowering, PTX_M_SHARED_CTA) ||
        ptx_current_has(lowering, PTX_M_SHARED_CLUSTER))
        return SIM_IN_SHARED;
    if (ptx_current_has(lowering, PTX_M_LOCAL))
        return SIM_IN_LOCAL;
    if (ptx_current_has(lowering, PTX_M_PARAM) || ptx_current_has(lowering, PTX_M_PARAM_ENTRY) ||
        ptx_current_has(lowering, PTX_M_PARAM_FUNC))
        return SIM_IN_PARAM;
    return SIM_IN_GENERIC;
}

static enum sim_access_space symbol_space(const struct ptx_symbol *symbol)
{
    switch (symbol->space) {
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

static void count_access(struct ptx_lowering *lowering, enum sim_access_space space)
{
    if (lowering->counted == SIM_CLASS_GLOBAL)
        lowering->counted = space == SIM_IN_SHARED  ? SIM_CLASS_SHARED
                            : space == SIM_IN_LOCAL ? SIM_CLASS_LOCAL
                            : space == SIM_IN_PARAM ? SIM_CLASS_INTEGER
                                                    : SIM_CLASS_GLOBAL;
}

struct ptx_address ptx_lower_address(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum sim_access_space space)
{
    struct ptx_address address = {0};
    struct ptx_operand base = *operand;
    if (operand->kind == PTX_OPERAND_ADDRESS_REGISTER) {
        enum ptx_type type = ptx_register_type(lowering, operand);
        if (ptx_type_size(type) != 4 && ptx_type_size(type) != 8)
            ptx_bad(lowering, SIM_LOAD_INVALID, "address in a register of type .%s",
                ptx_type_name(type));
        if ((int64_t)operand->value != (int32_t)(int64_t)operand->value)
            ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "address offset beyond 32 bits");
        address.vreg = lowering->flow.vregs[operand->id];
        address.flags = ptx_type_size(type) == 8 ? SIM_ACCESS_WIDE_ADDRESS : 0;
        address.offset = (uint32_t)operand->value;
    } else if (operand->kind == PTX_OPERAND_ADDRESS_SYMBOL) {
        enum sim_access_space own = symbol_space(operand->symbol);
        if (space == SIM_IN_GENERIC)
            space = own;
        if (space != own)
            ptx_bad(lowering, SIM_LOAD_INVALID, "variable of another state space");
        base.kind = PTX_OPERAND_SYMBOL;
        address.vreg = ptx_source(lowering, &base, PTX_U64);
        address.flags = SIM_ACCESS_WIDE_ADDRESS;
    } else if (operand->kind == PTX_OPERAND_ADDRESS_INTEGER) {
        address.vreg = ptx_constant(lowering, operand->value, 8);
        address.flags = SIM_ACCESS_WIDE_ADDRESS;
    } else {
        ptx_bad_operands(lowering);
    }
    count_access(lowering, space);
    address.flags |= (uint32_t)space << SIM_ACCESS_SPACE_SHIFT;
    return address;
}

/* ---- parameters of functions: 4-byte words --------------------------------------------------- */

static bool is_register_parameter(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_ADDRESS_SYMBOL && operand->symbol->space == PTX_PARAM &&
           !operand->symbol->is_entry_parameter;
}

static void check_in_bounds(struct ptx_lowering *lowering, const struct ptx_operand *operand,
    uint64_t offset, uint32_t size)
{
    if (offset > operand->symbol->size || size > operand->symbol->size - offset ||
        offset % size != 0)
        ptx_bad(lowering, SIM_LOAD_INVALID, "access outside the parameter '%.*s'",
            (int)base_min(operand->symbol->length, 80), operand->symbol->name);
}

void ptx_vreg_from_words(struct ptx_lowering *lowering, uint32_t d, uint32_t width, uint32_t from,
    enum ptx_type type, uint32_t shift)
{
    uint32_t size = ptx_type_size(type);
    if (size >= 8) {
        if (width != size)
            ptx_bad_type(lowering);
        ptx_emit(lowering, SIM_PACK, ptx_int_of_width(size), d, 0, 0, 0, size / 4);
        uint32_t words = ptx_emit_words(lowering);
        for (uint32_t i = 0; i < size / 4; i++)
            lowering->program->ops[words].words[i] = from + i * 128;
        lowering->program->ops[words].words[4] = 4;
    } else if (size == 4) {
        ptx_emit_resize(lowering, d, width, from, type);
    } else {
        uint32_t shifted = ptx_scratch(lowering), half = ptx_scratch(lowering);
        ptx_emit(lowering, SIM_SHR, PTX_U32, shifted, from, ptx_constant(lowering, shift, 4), 0, 0);
        ptx_emit(lowering, SIM_TO16, PTX_U32, half, shifted, 0, 0, 0);
        ptx_emit_resize(lowering, d, width, half, type);
    }
}

void ptx_words_from_vreg(
    struct ptx_lowering *lowering, uint32_t to, uint32_t a, enum ptx_type type, uint32_t shift)
{
    uint32_t size = ptx_type_size(type);
    if (size >= 8) {
        ptx_emit(lowering, SIM_UNPACK, ptx_int_of_width(size), a, 0, 0, 0, size / 4);
        uint32_t words = ptx_emit_words(lowering);
        for (uint32_t i = 0; i < size / 4; i++)
            lowering->program->ops[words].words[i] = to + i * 128;
        lowering->program->ops[words].words[4] = 4;
    } else if (size == 4) {
        ptx_emit(lowering, SIM_MOV, PTX_U32, to, a, 0, 0, 0);
    } else {
        uint32_t wide = ptx_scratch(lowering);
        ptx_emit(lowering, SIM_TO32, PTX_U16, wide, a, 0, 0, 0);
        ptx_emit(lowering, SIM_BFI, PTX_U32, to, wide, to, ptx_constant(lowering, shift, 4),
            ptx_constant(lowering, size * 8, 4));
    }
}

/* ---- ld and st ------------------------------------------------------------------------------- */

static uint32_t vector_count(struct ptx_lowering *lowering, const struct ptx_operand *operand)
{
    uint32_t count = ptx_current_has(lowering, PTX_M_V2)   ? 2
                     : ptx_current_has(lowering, PTX_M_V4) ? 4
                     : ptx_current_has(lowering, PTX_M_V8) ? 8
                                                           : 1;
    uint32_t given = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    if (given != count || (operand->kind == PTX_OPERAND_VECTOR && count == 1))
        ptx_bad_operands(lowering);
    return count;
}

static uint32_t register_width(
    struct ptx_lowering *lowering, const struct ptx_operand *operand, enum ptx_type type)
{
    if (operand->kind != PTX_OPERAND_REGISTER)
        return ptx_width(type);
    enum ptx_type have = ptx_register_type(lowering, operand);
    if (have == PTX_PRED || ptx_width(have) < ptx_width(type))
        ptx_bad(
            lowering, SIM_LOAD_INVALID, "register of type .%s is too narrow", ptx_type_name(have));
    return ptx_width(have);
}

static void emit_access(struct ptx_lowering *lowering, enum sim_kind kind,
    const struct ptx_address *address, enum ptx_type type, const uint32_t *vregs, uint32_t width,
    uint32_t count)
{
    bool is_signed = type == PTX_S8 || type == PTX_S16 || type == PTX_S32;
    uint32_t flags = address->flags | base_log2_ceil(ptx_type_size(type)) << SIM_ACCESS_SIZE_SHIFT |
                     (is_signed ? (uint32_t)SIM_ACCESS_SIGNED : 0u) |
                     base_log2_ceil(width) << SIM_ACCESS_LANE_SHIFT |
                     count << SIM_ACCESS_COUNT_SHIFT;
    ptx_emit(lowering, kind, PTX_NONE, vregs[0], address->vreg, flags, 0, address->offset);
    if (count == 1)
        return;
    uint32_t words = ptx_emit_words(lowering);
    for (uint32_t i = 0; i < count; i++)
        lowering->program->ops[words].words[i] = vregs[i];
}

static enum ptx_type access_type(struct ptx_lowering *lowering)
{
    enum ptx_type type = ptx_current_type(lowering, 0);
    /* Forms with a second type are not supported. */
    if (lowering->instruction->mnemonic->type_count != 1 || ptx_type_size(type) == 0)
        ptx_bad_type(lowering);
    return type;
}

/* ld.param of a kernel parameter at a constant offset: the same value in all lanes. */
static bool load_parameter(struct ptx_lowering *lowering, const struct ptx_operand *source,
    enum ptx_type type, uint32_t i, uint32_t d, uint32_t width)
{
    uint64_t offset = source->value + (uint64_t)i * ptx_type_size(type);
    if (is_register_parameter(source)) {
        check_in_bounds(lowering, source, offset, ptx_type_size(type));
        ptx_vreg_from_words(lowering, d, width, source->symbol->vreg + (uint32_t)(offset / 4) * 128,
            type, (uint32_t)(offset % 4) * 8);
        return true;
    }
    if (ptx_type_size(type) > 8)
        return false;
    check_in_bounds(lowering, source, offset, ptx_type_size(type));
    bool is_signed = type == PTX_S8 || type == PTX_S16 || type == PTX_S32;
    ptx_emit(lowering, SIM_LD_PARAM, ptx_int_of_width(width), d,
        (uint32_t)source->symbol->offset + (uint32_t)offset, ptx_type_size(type), is_signed, 0);
    return true;
}

/* Two such accesses of different threads are no data race. */
static uint32_t order_flags(const struct ptx_lowering *lowering)
{
    static const uint8_t names[] = {PTX_M_VOLATILE, PTX_M_RELAXED, PTX_M_ACQUIRE, PTX_M_RELEASE};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (ptx_current_has(lowering, names[i]))
            return SIM_ACCESS_ORDERED;
    return 0;
}

void ptx_lower_ld(struct ptx_lowering *lowering)
{
    enum ptx_type type = access_type(lowering);
    const struct ptx_operand *destination = ptx_operand(lowering, 0),
                             *source = ptx_operand(lowering, 1);
    uint32_t count = vector_count(lowering, destination), vregs[8], width = 0;
    /* A cache policy operand may follow. */
    if (lowering->instruction->count > (ptx_current_has(lowering, PTX_M_HINT) ? 3 : 2))
        ptx_bad_operands(lowering);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *operand = count == 1 ? destination : destination + 1 + i;
        uint32_t own = register_width(lowering, operand, type);
        if (operand->kind != PTX_OPERAND_REGISTER)
            vregs[i] = ptx_target(lowering, operand, type);
        else
            vregs[i] = lowering->flow.vregs[operand->id];
        if (operand->kind == PTX_OPERAND_REGISTER && width && own != width)
            ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "vector of registers of different widths");
        width = operand->kind == PTX_OPERAND_REGISTER ? own : width;
    }
    width = width ? width : ptx_width(type);
    bool is_parameter = source->kind == PTX_OPERAND_ADDRESS_SYMBOL &&
                        source->symbol->space == PTX_PARAM &&
                        current_space(lowering) == SIM_IN_PARAM;
    if (is_parameter && (is_register_parameter(source) || ptx_type_size(type) <= 8)) {
        lowering->counted = SIM_CLASS_INTEGER;
        for (uint32_t i = 0; i < count; i++)
            load_parameter(lowering, source, type, i, vregs[i], width);
        return;
    }
    struct ptx_address address = ptx_lower_address(lowering, source, current_space(lowering));
    bool is_acquire = ptx_current_has(lowering, PTX_M_ACQUIRE);
    address.flags |= order_flags(lowering);
    if ((is_acquire || ptx_current_has(lowering, PTX_M_VOLATILE) ||
            ptx_current_has(lowering, PTX_M_RELAXED)) &&
        current_space(lowering) != SIM_IN_SHARED && current_space(lowering) != SIM_IN_LOCAL)
        address.flags |= SIM_ACCESS_STRONG;
    emit_access(lowering, SIM_LD, &address, type, vregs, width, count);
    if (is_acquire)
        ptx_emit(lowering, SIM_FENCE, PTX_NONE, 0, 0, 0, 0, 0);
}

void ptx_lower_st(struct ptx_lowering *lowering)
{
    enum ptx_type type = access_type(lowering);
    const struct ptx_operand *target = ptx_operand(lowering, 0), *s = ptx_operand(lowering, 1);
    uint32_t count = vector_count(lowering, s), vregs[8];
    if (lowering->instruction->count > (ptx_current_has(lowering, PTX_M_HINT) ? 3 : 2))
        ptx_bad_operands(lowering);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *operand = count == 1 ? s : s + 1 + i;
        register_width(lowering, operand, type);
        vregs[i] = ptx_source_any_width(lowering, operand, type);
    }
    if (is_register_parameter(target)) {
        lowering->counted = SIM_CLASS_INTEGER;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t offset = target->value + (uint64_t)i * ptx_type_size(type);
            check_in_bounds(lowering, target, offset, ptx_type_size(type));
            ptx_words_from_vreg(lowering, target->symbol->vreg + (uint32_t)(offset / 4) * 128,
                vregs[i], type, (uint32_t)(offset % 4) * 8);
        }
        return;
    }
    if (current_space(lowering) == SIM_IN_PARAM || ptx_current_has(lowering, PTX_M_CONST))
        ptx_bad(lowering, SIM_LOAD_INVALID, "store to a space that is read only");
    struct ptx_address address = ptx_lower_address(lowering, target, current_space(lowering));
    address.flags |= order_flags(lowering);
    if (ptx_current_has(lowering, PTX_M_RELEASE))
        ptx_emit(lowering, SIM_FENCE, PTX_NONE, 0, 0, 0, 0, 0);
    emit_access(lowering, SIM_ST, &address, type, vregs, ptx_width(type), count);
}

/* ---- atomics --------------------------------------------------------------------------------- */

static int atomic_kind(const struct ptx_lowering *lowering)
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
        if (ptx_current_has(lowering, (enum ptx_modifier)names[i]))
            found = found == -1 ? (int)i : -2;
    return found;
}

static bool is_half(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}

static bool supports_type(int op, enum ptx_type type, bool is_vector)
{
    bool is_word = type == PTX_U32 || type == PTX_U64 || type == PTX_S32 || type == PTX_S64;
    bool is_bits = type == PTX_B32 || type == PTX_B64;
    switch (op) {
    case SIM_ATOMIC_ADD:
        return is_word || type == PTX_F32 || type == PTX_F64 || type == PTX_F16 ||
               type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
    case SIM_ATOMIC_MIN:
    case SIM_ATOMIC_MAX:
        return is_word || (is_vector && is_half(type));
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

static void emit_atom(struct ptx_lowering *lowering, const struct ptx_address *address, int op,
    enum ptx_type type, uint32_t d, uint32_t b, uint32_t c)
{
    ptx_emit(lowering, SIM_ATOM, PTX_NONE, d, address->vreg, b, c, address->offset);
    uint32_t words = ptx_emit_words(lowering);
    lowering->program->ops[words].words[0] = address->flags | base_log2_ceil(ptx_type_size(type))
                                                                  << SIM_ACCESS_SIZE_SHIFT;
    lowering->program->ops[words].words[1] = (uint32_t)op;
    lowering->program->ops[words].words[2] = (uint32_t)type;
    lowering->program->ops[words].words[3] = ptx_type_size(type); /* alignment of the address */
}

/* The vectors of PTX 8.1: one operation per element. A result may be one of the later operands, so
 * operands and results pass through scratch registers. */
static void lower_atom_vector(
    struct ptx_lowering *lowering, int op, enum ptx_type type, uint32_t first, uint32_t count)
{
    uint32_t sources[8], results[8], size = ptx_type_size(type);
    enum ptx_type bits = ptx_int_of_width(ptx_width(type));
    const struct ptx_operand *b = ptx_operand(lowering, first + 1);
    if (b->kind != PTX_OPERAND_VECTOR || b->count != count ||
        (first && (ptx_operand(lowering, 0)->kind != PTX_OPERAND_VECTOR ||
                      ptx_operand(lowering, 0)->count != count)))
        ptx_bad_operands(lowering);
    struct ptx_address address =
        ptx_lower_address(lowering, ptx_operand(lowering, first), SIM_IN_GLOBAL);
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = ptx_scratch(lowering);
        results[i] = ptx_scratch(lowering);
        ptx_emit(
            lowering, SIM_MOV, bits, sources[i], ptx_source(lowering, b + 1 + i, type), 0, 0, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        emit_atom(lowering, &address, op, type, results[i], sources[i], sources[i]);
        if (i == 0)
            lowering->program->ops[lowering->program->op_count - 1].words[3] = size * count;
        address.offset += size;
    }
    for (uint32_t i = 0; first && i < count; i++)
        ptx_emit(lowering, SIM_MOV, bits,
            ptx_target(lowering, ptx_operand(lowering, 0) + 1 + i, type), results[i], 0, 0, 0);
}

/* The number of elements of a vector form; 0: none of these. */
static uint32_t atomic_vector(struct ptx_lowering *lowering, int op, enum ptx_type type)
{
    uint32_t count = ptx_current_has(lowering, PTX_M_V2)   ? 2
                     : ptx_current_has(lowering, PTX_M_V4) ? 4
                     : ptx_current_has(lowering, PTX_M_V8) ? 8
                                                           : 0;
    bool is_float = type == PTX_F32 && op == SIM_ATOMIC_ADD;
    if (count && ((!is_half(type) && !is_float) || count * ptx_type_size(type) > 16 ||
                     !ptx_current_has(lowering, PTX_M_GLOBAL)))
        ptx_bad_type(lowering);
    return count;
}

void ptx_lower_atom(struct ptx_lowering *lowering)
{
    enum ptx_type type = access_type(lowering);
    int op = atomic_kind(lowering);
    bool is_red = lowering->instruction->mnemonic->opcode->writes == 0;
    uint32_t first = is_red ? 0 : 1, needed = first + 2 + (op == SIM_ATOMIC_CAS);
    enum sim_access_space space = current_space(lowering);
    uint32_t count = atomic_vector(lowering, op, type);
    if (!supports_type(op, type, count != 0) || space == SIM_IN_LOCAL || space == SIM_IN_PARAM ||
        is_half(type) != ptx_current_has(lowering, PTX_M_NOFTZ))
        ptx_bad_type(lowering);
    if (count || type == PTX_BF16 || type == PTX_BF16X2)
        ptx_require(lowering, 90, count ? 81 : 78);
    if (lowering->instruction->count < needed ||
        lowering->instruction->count > needed + (ptx_current_has(lowering, PTX_M_HINT) ? 1u : 0u))
        ptx_bad_operands(lowering);
    if (count) {
        lower_atom_vector(lowering, op, type, first, count);
        return;
    }
    struct ptx_address address = ptx_lower_address(lowering, ptx_operand(lowering, first), space);
    uint32_t b = ptx_source(lowering, ptx_operand(lowering, first + 1), type);
    uint32_t c =
        op == SIM_ATOMIC_CAS ? ptx_source(lowering, ptx_operand(lowering, first + 2), type) : b;
    uint32_t d = is_red ? SIM_VREG_UNUSED : ptx_target(lowering, ptx_operand(lowering, 0), type);
    emit_atom(lowering, &address, op, type, d, b, c);
}

/* ---- addresses ------------------------------------------------------------------------------- */

void ptx_lower_cvta(struct ptx_lowering *lowering)
{
    enum sim_access_space space = current_space(lowering);
    if (ptx_current_type(lowering, 0) != PTX_U64 ||
        lowering->instruction->mnemonic->type_count != 1 || space == SIM_IN_GENERIC ||
        lowering->instruction->count != 2)
        ptx_bad_type(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), PTX_U64);
    uint32_t d = ptx_target(lowering, ptx_operand(lowering, 0), PTX_U64);
    if (space == SIM_IN_GLOBAL || space == SIM_IN_PARAM)
        ptx_emit(lowering, SIM_MOV, PTX_U64, d, a, 0, 0, 0);
    else
        ptx_emit(lowering, ptx_current_has(lowering, PTX_M_TO) ? SIM_FROM_GENERIC : SIM_TO_GENERIC,
            PTX_U64, d, a, 0, 0, (uint32_t)space);
}

void ptx_lower_isspacep(struct ptx_lowering *lowering)
{
    if (current_space(lowering) == SIM_IN_GENERIC || lowering->instruction->count != 2)
        ptx_bad_type(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), PTX_U64);
    ptx_emit(lowering, SIM_IS_SPACE, PTX_U64,
        ptx_target_predicate(lowering, ptx_operand(lowering, 0)), a, 0, 0,
        (uint32_t)current_space(lowering) | (ptx_current_has(lowering, PTX_M_CONST) ? 8u : 0u));
}

/* There is no cache to prefetch into; a GPU accepts any address here. */
void ptx_lower_prefetch(struct ptx_lowering *lowering)
{
    ptx_lower_address(lowering, ptx_operand(lowering, 0), current_space(lowering));
}

void ptx_lower_cp_async(struct ptx_lowering *lowering)
{
    if (!ptx_current_has(lowering, PTX_M_ASYNC))
        ptx_bad_type(lowering);
    if (ptx_current_has(lowering, PTX_M_BULK)) {
        ptx_lower_cp_bulk(lowering);
        return;
    }
    if (ptx_current_has(lowering, PTX_M_MBARRIER)) {
        ptx_lower_cp_async_arrive(lowering);
        return;
    }
    if (ptx_current_has(lowering, PTX_M_COMMIT_GROUP) ||
        ptx_current_has(lowering, PTX_M_WAIT_GROUP) || ptx_current_has(lowering, PTX_M_WAIT_ALL)) {
        lowering->counted = SIM_CLASS_BARRIER;
        return; /* cp.async copies immediately, so there is nothing to wait for */
    }
    if ((!ptx_current_has(lowering, PTX_M_CA) && !ptx_current_has(lowering, PTX_M_CG)) ||
        lowering->instruction->count < 3 || lowering->instruction->mnemonic->type_count != 0)
        ptx_bad_type(lowering);
    const struct ptx_operand *size = ptx_operand(lowering, 2);
    if (size->kind != PTX_OPERAND_INTEGER ||
        (size->value != 4 && size->value != 8 && size->value != 16))
        ptx_bad_operands(lowering);
    struct ptx_address to = ptx_lower_address(lowering, ptx_operand(lowering, 0), SIM_IN_SHARED);
    lowering->counted = SIM_CLASS_GLOBAL;
    struct ptx_address from = ptx_lower_address(lowering, ptx_operand(lowering, 1), SIM_IN_GLOBAL);
    uint32_t taken = ptx_constant(lowering, size->value, 4);
    /* The fourth operand is the number of bytes to read, unless it is a 64-bit cache policy. */
    if (lowering->instruction->count > 3) {
        const struct ptx_operand *operand = ptx_operand(lowering, 3);
        bool is_policy = operand->kind == PTX_OPERAND_REGISTER &&
                         ptx_type_size(ptx_register_type(lowering, operand)) == 8;
        if (operand->kind == PTX_OPERAND_REGISTER &&
            ptx_register_type(lowering, operand) == PTX_PRED)
            ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "cp.async with an ignore-src predicate");
        taken = is_policy ? taken : ptx_source(lowering, operand, PTX_U32);
    }
    ptx_emit(lowering, SIM_CP_ASYNC, PTX_NONE, to.vreg, from.vreg, taken, (uint32_t)size->value,
        from.offset);
    uint32_t words = ptx_emit_words(lowering);
    lowering->program->ops[words].words[0] = to.flags;
    lowering->program->ops[words].words[1] = from.flags;
    lowering->program->ops[words].words[2] = to.offset;
}

void ptx_lower_createpolicy(struct ptx_lowering *lowering)
{
    if (ptx_current_type(lowering, 0) != PTX_B64)
        ptx_bad_type(lowering);
    ptx_emit(lowering, SIM_MOV, PTX_U64, ptx_target(lowering, ptx_operand(lowering, 0), PTX_B64),
        ptx_constant(lowering, 0, 8), 0, 0, 0);
}

/* alloca.u64 address, bytes {, alignment}; stacksave.u64 d; stackrestore.u64 a */
void ptx_lower_alloca(struct ptx_lowering *lowering)
{
    enum sim_kind kind = (enum sim_kind)lowering->instruction->mnemonic->opcode->kind;
    enum ptx_type type = access_type(lowering);
    if (type != PTX_U64)
        ptx_bad_type(lowering);
    if (kind == SIM_STACK_RESTORE) {
        ptx_emit(lowering, kind, PTX_U64, 0,
            ptx_source(lowering, ptx_operand(lowering, 0), PTX_U64), 0, 0, 0);
        return;
    }
    uint32_t d = ptx_target(lowering, ptx_operand(lowering, 0), PTX_U64), align = 16, a = 0;
    if (kind == SIM_ALLOCA) {
        a = ptx_source(lowering, ptx_operand(lowering, 1), PTX_U64);
        if (lowering->instruction->count > 2 &&
            ptx_operand(lowering, 2)->kind == PTX_OPERAND_INTEGER &&
            ptx_operand(lowering, 2)->value > 16 && ptx_operand(lowering, 2)->value <= 128)
            align = (uint32_t)ptx_operand(lowering, 2)->value;
    }
    ptx_emit(lowering, kind, PTX_U64, d, a, 0, 0, align);
}
