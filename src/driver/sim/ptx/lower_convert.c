/* SPDX-License-Identifier: Apache-2.0 */
/* cvt between all types, and floating-point instructions with their rounding modes. */
#include "driver/sim/ptx/lower.h"

static enum ptx_type untyped(enum ptx_type type)
{
    bool is_signed_integer =
        type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
    return is_signed_integer ? type : ptx_type_unsigned(type);
}

static enum sim_kind kind_to_width(uint32_t width)
{
    return width == 2 ? SIM_TO16 : width == 4 ? SIM_TO32 : SIM_TO64;
}

/* Converts a value of the type from a vector register of its width to another width. */
void ptx_emit_resize(
    struct ptx_lowering *lowering, uint32_t d, uint32_t width, uint32_t a, enum ptx_type type)
{
    type = untyped(type);
    if (type != PTX_U8 && type != PTX_S8 && ptx_width(type) == width)
        ptx_emit(lowering, SIM_MOV, ptx_int_of_width(width), d, a, 0, 0, 0);
    else if (width > 8 || ptx_width(type) > 8)
        ptx_bad_type(lowering);
    else
        ptx_emit(lowering, kind_to_width(width), type, d, a, 0, 0, 0);
}

static void convert_integers(struct ptx_lowering *lowering, enum ptx_type to, enum ptx_type from,
    uint32_t d, uint32_t width, uint32_t a)
{
    if (ptx_current_has(lowering, PTX_M_SAT)) {
        static const enum sim_kind clamps[] = {SIM_CLAMP8, SIM_CLAMP16, SIM_CLAMP32, SIM_CLAMP64};
        uint32_t size = ptx_type_size(to), wide = ptx_scratch(lowering),
                 clamped = ptx_scratch(lowering);
        ptx_emit_resize(lowering, wide, 8, a, from);
        ptx_emit(lowering,
            clamps[size == 1   ? 0
                   : size == 2 ? 1
                   : size == 4 ? 2
                               : 3],
            ptx_type_is_signed(to) ? PTX_S64 : PTX_U64, clamped, wide, 0, 0,
            ptx_type_is_signed(from));
        ptx_emit_resize(lowering, d, width, clamped, PTX_U64);
        return;
    }
    bool is_narrower = ptx_type_size(to) <= ptx_type_size(from);
    uint32_t middle = ptx_scratch(lowering);
    if (is_narrower)
        from = from == PTX_U8 || from == PTX_S8 ? from : ptx_type_unsigned(from);
    ptx_emit_resize(lowering, middle, ptx_width(to), a, from);
    ptx_emit_resize(lowering, d, width, middle, to);
}

static uint32_t rounding(const struct ptx_lowering *lowering)
{
    if (ptx_current_has(lowering, PTX_M_RZ) || ptx_current_has(lowering, PTX_M_RZI))
        return SIM_RZ;
    if (ptx_current_has(lowering, PTX_M_RM) || ptx_current_has(lowering, PTX_M_RMI))
        return SIM_RM;
    return ptx_current_has(lowering, PTX_M_RP) || ptx_current_has(lowering, PTX_M_RPI) ? SIM_RP
                                                                                       : SIM_RN;
}

static uint32_t float_flags(const struct ptx_lowering *lowering)
{
    uint32_t flags = rounding(lowering);
    flags |= ptx_current_has(lowering, PTX_M_FTZ) ? SIM_FLOAT_FTZ : 0u;
    flags |= ptx_current_has(lowering, PTX_M_SAT) ? SIM_FLOAT_SAT : 0u;
    flags |= ptx_current_has(lowering, PTX_M_RELU) ? SIM_FLOAT_RELU : 0u;
    flags |= ptx_current_has(lowering, PTX_M_NAN_PROPAGATE) ? SIM_FLOAT_NAN : 0u;
    bool is_integral = ptx_current_has(lowering, PTX_M_RNI) ||
                       ptx_current_has(lowering, PTX_M_RZI) ||
                       ptx_current_has(lowering, PTX_M_RMI) || ptx_current_has(lowering, PTX_M_RPI);
    return flags | (is_integral ? SIM_FLOAT_INTEGRAL : 0u);
}

static void convert_pack(struct ptx_lowering *lowering)
{
    enum ptx_type to = ptx_current_type(lowering, 0), from = ptx_current_type(lowering, 1);
    bool is_narrow = to == PTX_U8 || to == PTX_S8;
    if (from != PTX_S32 || !ptx_current_has(lowering, PTX_M_SAT) || ptx_type_is_float(to) ||
        ptx_type_size(to) > 2 || lowering->instruction->count != (is_narrow ? 4 : 3))
        ptx_bad_type(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), PTX_S32);
    uint32_t b = ptx_source(lowering, ptx_operand(lowering, 2), PTX_S32);
    uint32_t c = is_narrow ? ptx_source(lowering, ptx_operand(lowering, 3), PTX_B32)
                           : ptx_constant(lowering, 0, 4);
    ptx_emit(lowering, SIM_CVT_PACK, PTX_U32,
        ptx_target(lowering, ptx_operand(lowering, 0), PTX_B32), a, b, c, (uint32_t)to);
}

/* Converts two f32 values to one packed pair; the first operand becomes the upper half. */
static void convert_pair(struct ptx_lowering *lowering, enum ptx_type to)
{
    if (lowering->instruction->count != 3)
        ptx_bad_operands(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), PTX_F32);
    uint32_t b = ptx_source(lowering, ptx_operand(lowering, 2), PTX_F32);
    ptx_emit(lowering, SIM_CVT_FLOAT, to, ptx_target(lowering, ptx_operand(lowering, 0), to), a, b,
        0,
        float_flags(lowering) | (uint32_t)to << SIM_FLOAT_FIRST_SHIFT |
            (uint32_t)PTX_F32 << SIM_FLOAT_SECOND_SHIFT);
}

void ptx_lower_cvt(struct ptx_lowering *lowering)
{
    enum ptx_type to = ptx_current_type(lowering, 0), from = ptx_current_type(lowering, 1);
    if (ptx_current_has(lowering, PTX_M_PACK)) {
        convert_pack(lowering);
        return;
    }
    if (lowering->instruction->mnemonic->type_count != 2 || ptx_current_has(lowering, PTX_M_RNA) ||
        ptx_current_has(lowering, PTX_M_SATFINITE) || ptx_current_has(lowering, PTX_M_RELU))
        ptx_bad_type(lowering);
    if ((to == PTX_F16X2 || to == PTX_BF16X2) && from == PTX_F32) {
        convert_pair(lowering, to);
        return;
    }
    if (ptx_type_size(to) == 0 || ptx_type_size(from) == 0 || ptx_type_size(to) > 8 ||
        ptx_type_size(from) > 8 || to == PTX_U16X2 || from == PTX_U16X2 || to == PTX_S16X2 ||
        from == PTX_S16X2 || to == PTX_F16X2 || from == PTX_F16X2 || to == PTX_BF16X2 ||
        from == PTX_BF16X2 || lowering->instruction->count != 2)
        ptx_bad_type(lowering);
    const struct ptx_operand *operand = ptx_operand(lowering, 0);
    uint32_t width = ptx_width(to);
    if (operand->kind == PTX_OPERAND_REGISTER && ptx_register_type(lowering, operand) != PTX_PRED)
        width = ptx_width(ptx_register_type(lowering, operand));
    if (width < ptx_width(to) || width > 8)
        ptx_bad_operands(lowering);
    uint32_t a = ptx_source_any_width(lowering, ptx_operand(lowering, 1), from);
    uint32_t d = operand->kind == PTX_OPERAND_REGISTER ? lowering->flow.vregs[operand->id]
                                                       : ptx_target(lowering, operand, to);
    if (operand->kind == PTX_OPERAND_REGISTER && ptx_register_type(lowering, operand) == PTX_PRED)
        ptx_bad_operands(lowering);
    if (!ptx_type_is_float(to) && !ptx_type_is_float(from)) {
        convert_integers(lowering, to, from, d, width, a);
        return;
    }
    lowering->counted = SIM_CLASS_FLOAT;
    if (from == PTX_U8 || from == PTX_S8) {
        uint32_t wide = ptx_scratch(lowering);
        ptx_emit_resize(lowering, wide, 4, a, from);
        a = wide;
        from = from == PTX_U8 ? PTX_U32 : PTX_S32;
    }
    uint32_t middle = width == ptx_width(to) ? d : ptx_scratch(lowering);
    ptx_emit(lowering, SIM_CVT_FLOAT, PTX_NONE, middle, a, 0, 0,
        float_flags(lowering) | (uint32_t)to << SIM_FLOAT_FIRST_SHIFT |
            (uint32_t)from << SIM_FLOAT_SECOND_SHIFT);
    if (middle != d)
        ptx_emit_resize(lowering, d, width, middle, to);
}

/* Selects the floating-point kind of opcodes whose integer and float forms share a name. */
static enum sim_kind float_kind(const struct ptx_lowering *lowering)
{
    enum sim_kind kind = (enum sim_kind)lowering->instruction->mnemonic->opcode->kind;
    return kind == SIM_MUL_LO ? SIM_MUL : kind == SIM_MAD_LO ? SIM_FMA : kind;
}

void ptx_lower_float(struct ptx_lowering *lowering)
{
    enum ptx_type type = ptx_current_type(lowering, 0);
    const char *shape = lowering->instruction->mnemonic->opcode->shape;
    uint32_t vregs[4] = {0}, n = 0;
    if (lowering->instruction->mnemonic->type_count != 1)
        ptx_bad_type(lowering);
    if (!ptx_type_is_float(type)) {
        /* div is the only opcode here that integers have too. */
        if (lowering->instruction->mnemonic->modifier_count != 0)
            ptx_bad_type(lowering);
    } else {
        lowering->counted = SIM_CLASS_FLOAT;
        if (ptx_current_has(lowering, PTX_M_LO) || ptx_current_has(lowering, PTX_M_HI) ||
            ptx_current_has(lowering, PTX_M_CC) || ptx_current_has(lowering, PTX_M_WIDE))
            ptx_bad_type(lowering);
    }
    for (; shape[n]; n++)
        vregs[n] = n == 0 ? ptx_target(lowering, ptx_operand(lowering, 0), type)
                          : ptx_source(lowering, ptx_operand(lowering, n), type);
    if (n != lowering->instruction->count)
        ptx_bad_operands(lowering);
    ptx_emit(lowering, float_kind(lowering), type, vregs[0], vregs[1], vregs[2], vregs[3],
        float_flags(lowering));
}

void ptx_lower_testp(struct ptx_lowering *lowering)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    enum ptx_type type = ptx_current_type(lowering, 0);
    if ((type != PTX_F32 && type != PTX_F64) || mnemonic->modifier_count != 1 ||
        lowering->instruction->count != 2)
        ptx_bad_operands(lowering);
    uint32_t what = mnemonic->modifiers[0] == PTX_M_FINITE       ? SIM_TESTP_FINITE
                    : mnemonic->modifiers[0] == PTX_M_INFINITE   ? SIM_TESTP_INFINITE
                    : mnemonic->modifiers[0] == PTX_M_NUMBER     ? SIM_TESTP_NUMBER
                    : mnemonic->modifiers[0] == PTX_M_NOTANUMBER ? SIM_TESTP_NAN
                    : mnemonic->modifiers[0] == PTX_M_NORMAL     ? SIM_TESTP_NORMAL
                                                                 : SIM_TESTP_SUBNORMAL;
    ptx_emit(lowering, SIM_TESTP, type, ptx_target_predicate(lowering, ptx_operand(lowering, 0)),
        ptx_source(lowering, ptx_operand(lowering, 1), type), 0, 0, what);
}
