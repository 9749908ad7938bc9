/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer arithmetic, logic, shifts and bit fields. The shape of a simple instruction has one
 * letter per operand, the result first: t is the instruction's type, w the type of twice the
 * width, u is .u32.
 */
#include "driver/sim/ptx/lower.h"

static enum ptx_type wide_type(enum ptx_type type)
{
    switch (type) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    case PTX_S32:
        return PTX_S64;
    default:
        return PTX_NONE;
    }
}

static void emit_shape(struct ptx_lowering *lowering, enum sim_kind kind, enum ptx_type type,
    const char *shape, uint32_t aux)
{
    uint32_t vregs[5] = {0}, n = 0;
    for (; shape[n]; n++) {
        enum ptx_type t = shape[n] == 't' ? type : shape[n] == 'w' ? wide_type(type) : PTX_U32;
        const struct ptx_operand *operand = ptx_operand(lowering, n);
        if (t == PTX_NONE || operand->is_paired)
            ptx_bad_type(lowering);
        vregs[n] = n == 0 ? ptx_target(lowering, operand, t) : ptx_source(lowering, operand, t);
    }
    if (n != lowering->instruction->count)
        ptx_bad_operands(lowering);
    /* The fifth operand, which only bfi has, is passed in aux. */
    ptx_emit(lowering, kind, type, vregs[0], vregs[1], vregs[2], vregs[3], n == 5 ? vregs[4] : aux);
}

static enum ptx_type one_type(struct ptx_lowering *lowering)
{
    if (lowering->instruction->mnemonic->type_count != 1)
        ptx_bad_type(lowering);
    return ptx_current_type(lowering, 0);
}

void ptx_lower_simple(struct ptx_lowering *lowering)
{
    enum ptx_type type = one_type(lowering);
    if (ptx_type_is_float(type)) {
        ptx_lower_float(lowering);
        return;
    }
    if (ptx_current_has(lowering, PTX_M_FTZ))
        ptx_bad_type(lowering);
    emit_shape(lowering, (enum sim_kind)lowering->instruction->mnemonic->opcode->kind, type,
        lowering->instruction->mnemonic->opcode->shape, 0);
}

void ptx_lower_bitwise(struct ptx_lowering *lowering)
{
    enum ptx_type type = one_type(lowering);
    enum sim_kind kind = (enum sim_kind)lowering->instruction->mnemonic->opcode->kind;
    if (type != PTX_PRED && type != PTX_B16 && type != PTX_B32 && type != PTX_B64)
        ptx_bad_type(lowering);
    if (type != PTX_PRED) {
        emit_shape(lowering, kind, ptx_type_unsigned(type),
            lowering->instruction->mnemonic->opcode->shape, 0);
        return;
    }
    bool is_unary = kind == SIM_NOT;
    if (lowering->instruction->count != (is_unary ? 2 : 3))
        ptx_bad_operands(lowering);
    uint32_t a = ptx_predicate(lowering, ptx_operand(lowering, 1));
    uint32_t b = is_unary ? 0 : ptx_predicate(lowering, ptx_operand(lowering, 2));
    ptx_emit(lowering, kind, PTX_PRED, ptx_target_predicate(lowering, ptx_operand(lowering, 0)), a,
        b, 0, 0);
}

/* The type for results whose low bits do not depend on signedness. */
static enum ptx_type low_type(enum ptx_type type)
{
    return type == PTX_S16 || type == PTX_S32 || type == PTX_S64 ? ptx_type_unsigned(type) : type;
}

/*
 * Hardware holds the borrow of a subtraction inverted: what an addition reads after a subtraction
 * wrote the flag, or a subtraction after an addition, is not what the manual's text says, by which
 * these operations compute. Code that runs on a chip never does so.
 */
static void track_flag(struct ptx_lowering *lowering, bool is_subtraction, bool reads, bool writes)
{
    if (reads && lowering->flag == (is_subtraction ? PTX_FLAG_CARRY : PTX_FLAG_BORROW))
        ptx_bad(lowering, SIM_LOAD_UNSUPPORTED,
            "'%.*s' reads a %s, which hardware holds inverted; keep chains of additions and of "
            "subtractions apart",
            (int)lowering->instruction->mnemonic->length, lowering->instruction->mnemonic->text,
            is_subtraction ? "carry as a borrow" : "borrow as a carry");
    if (writes)
        lowering->flag = is_subtraction ? PTX_FLAG_BORROW : PTX_FLAG_CARRY;
}

void ptx_lower_add(struct ptx_lowering *lowering)
{
    enum ptx_type type = one_type(lowering);
    if (ptx_type_is_float(type)) {
        ptx_lower_float(lowering);
        return;
    }
    enum sim_kind kind = (enum sim_kind)lowering->instruction->mnemonic->opcode->kind;
    track_flag(lowering, kind == SIM_SUB || kind == SIM_SUBC, kind == SIM_ADDC || kind == SIM_SUBC,
        ptx_current_has(lowering, PTX_M_CC));
    if (ptx_current_has(lowering, PTX_M_CC))
        kind = kind == SIM_ADD    ? SIM_ADD_CC
               : kind == SIM_ADDC ? SIM_ADDC_CC
               : kind == SIM_SUB  ? SIM_SUB_CC
                                  : SIM_SUBC_CC;
    else if (ptx_current_has(lowering, PTX_M_SAT))
        kind = kind == SIM_ADD ? SIM_ADD_SAT : SIM_SUB_SAT;
    if (ptx_current_has(lowering, PTX_M_FTZ) || ptx_current_has(lowering, PTX_M_RN))
        ptx_bad_type(lowering);
    emit_shape(lowering, kind, kind == SIM_ADD_SAT || kind == SIM_SUB_SAT ? type : low_type(type),
        "ttt", 0);
}

void ptx_lower_mul(struct ptx_lowering *lowering)
{
    enum ptx_type type = one_type(lowering);
    bool is_24 = lowering->instruction->mnemonic->opcode->kind == SIM_MUL24_LO;
    if (ptx_type_is_float(type)) {
        ptx_lower_float(lowering);
        return;
    }
    if (ptx_current_has(lowering, PTX_M_WIDE))
        emit_shape(lowering, SIM_MUL_WIDE, type, "wtt", 0);
    else if (ptx_current_has(lowering, PTX_M_HI))
        emit_shape(lowering, is_24 ? SIM_MUL24_HI : SIM_MUL_HI, type, "ttt", 0);
    else if (ptx_current_has(lowering, PTX_M_LO))
        emit_shape(
            lowering, is_24 ? SIM_MUL24_LO : SIM_MUL_LO, is_24 ? type : low_type(type), "ttt", 0);
    else
        ptx_bad_type(lowering);
}

void ptx_lower_mad(struct ptx_lowering *lowering)
{
    enum ptx_type type = one_type(lowering);
    enum sim_kind base = (enum sim_kind)lowering->instruction->mnemonic->opcode->kind, kind;
    bool is_cc = ptx_current_has(lowering, PTX_M_CC), is_sat = ptx_current_has(lowering, PTX_M_SAT);
    if (ptx_type_is_float(type)) {
        ptx_lower_float(lowering);
        return;
    }
    track_flag(lowering, false, base == SIM_MADC_LO, is_cc);
    if (ptx_current_has(lowering, PTX_M_WIDE)) {
        emit_shape(lowering, SIM_MAD_WIDE, type, "wttw", 0);
    } else if (ptx_current_has(lowering, PTX_M_HI)) {
        kind = base == SIM_MAD24_LO  ? (is_sat ? SIM_MAD24_HI_SAT : SIM_MAD24_HI)
               : base == SIM_MADC_LO ? (is_cc ? SIM_MADC_HI_CC : SIM_MADC_HI)
               : is_cc               ? SIM_MAD_HI_CC
               : is_sat              ? SIM_MAD_HI_SAT
                                     : SIM_MAD_HI;
        emit_shape(lowering, kind, type, "tttt", 0);
    } else if (ptx_current_has(lowering, PTX_M_LO) && !is_sat) {
        kind = base == SIM_MAD24_LO  ? SIM_MAD24_LO
               : base == SIM_MADC_LO ? (is_cc ? SIM_MADC_LO_CC : SIM_MADC_LO)
               : is_cc               ? SIM_MAD_LO_CC
                                     : SIM_MAD_LO;
        emit_shape(lowering, kind, kind == SIM_MAD24_LO ? type : low_type(type), "tttt", 0);
    } else {
        ptx_bad_type(lowering);
    }
}

void ptx_lower_minmax(struct ptx_lowering *lowering)
{
    enum ptx_type type = one_type(lowering);
    enum sim_kind kind = (enum sim_kind)lowering->instruction->mnemonic->opcode->kind;
    if (ptx_type_is_float(type)) {
        ptx_lower_float(lowering);
        return;
    }
    if (ptx_current_has(lowering, PTX_M_RELU))
        kind = kind == SIM_MIN ? SIM_MIN_RELU : SIM_MAX_RELU;
    emit_shape(lowering, kind, type, "ttt", 0);
}

void ptx_lower_bfind(struct ptx_lowering *lowering)
{
    emit_shape(lowering, ptx_current_has(lowering, PTX_M_SHIFTAMT) ? SIM_BFIND_SHIFT : SIM_BFIND,
        one_type(lowering), "ut", 0);
}

/* Exactly one of .clamp and .wrap is required. */
void ptx_lower_variant(struct ptx_lowering *lowering)
{
    uint32_t kind = lowering->instruction->mnemonic->opcode->kind;
    if (ptx_current_has(lowering, PTX_M_CLAMP) == ptx_current_has(lowering, PTX_M_WRAP))
        ptx_bad_type(lowering);
    emit_shape(lowering, (enum sim_kind)(kind + ptx_current_has(lowering, PTX_M_WRAP)),
        one_type(lowering), lowering->instruction->mnemonic->opcode->shape, 0);
}

void ptx_lower_prmt(struct ptx_lowering *lowering)
{
    enum sim_kind kind = ptx_current_has(lowering, PTX_M_F4E)    ? SIM_PRMT_F4E
                         : ptx_current_has(lowering, PTX_M_B4E)  ? SIM_PRMT_B4E
                         : ptx_current_has(lowering, PTX_M_RC8)  ? SIM_PRMT_RC8
                         : ptx_current_has(lowering, PTX_M_ECL)  ? SIM_PRMT_ECL
                         : ptx_current_has(lowering, PTX_M_ECR)  ? SIM_PRMT_ECR
                         : ptx_current_has(lowering, PTX_M_RC16) ? SIM_PRMT_RC16
                                                                 : SIM_PRMT;
    if (ptx_type_size(one_type(lowering)) != 4)
        ptx_bad_type(lowering);
    emit_shape(lowering, kind, PTX_U32, "uuuu", 0);
}

void ptx_lower_shf(struct ptx_lowering *lowering)
{
    bool is_left = ptx_current_has(lowering, PTX_M_L),
         is_wrap = ptx_current_has(lowering, PTX_M_WRAP);
    if (is_left == ptx_current_has(lowering, PTX_M_R) ||
        is_wrap == ptx_current_has(lowering, PTX_M_CLAMP) || one_type(lowering) != PTX_B32)
        ptx_bad_type(lowering);
    enum sim_kind kind = is_left ? (is_wrap ? SIM_SHF_L_WRAP : SIM_SHF_L_CLAMP)
                                 : (is_wrap ? SIM_SHF_R_WRAP : SIM_SHF_R_CLAMP);
    emit_shape(lowering, kind, PTX_U32, "uuuu", 0);
}

/* dp4a.atype.btype and dp2a.lo|hi.atype.btype: four kinds in the order uu us su ss. */
void ptx_lower_dp(struct ptx_lowering *lowering)
{
    uint32_t kind = lowering->instruction->mnemonic->opcode->kind;
    enum ptx_type a = ptx_current_type(lowering, 0), b = ptx_current_type(lowering, 1);
    bool is_dp2a = kind == SIM_DP2A_LO_UU;
    if ((a != PTX_U32 && a != PTX_S32) || (b != PTX_U32 && b != PTX_S32) ||
        (is_dp2a && ptx_current_has(lowering, PTX_M_LO) == ptx_current_has(lowering, PTX_M_HI)))
        ptx_bad_type(lowering);
    if (is_dp2a && ptx_current_has(lowering, PTX_M_HI))
        kind = SIM_DP2A_HI_UU;
    kind += (a == PTX_S32 ? 2u : 0u) + (b == PTX_S32 ? 1u : 0u);
    emit_shape(lowering, (enum sim_kind)kind, PTX_U32, "uuuu", 0);
}

/* vabsdiff4.dtype.atype.btype{.add}: only equal types, as the compiler's intrinsics use them. */
void ptx_lower_absdiff(struct ptx_lowering *lowering)
{
    enum ptx_type a = ptx_current_type(lowering, 1), b = ptx_current_type(lowering, 2);
    if (lowering->instruction->mnemonic->type_count != 3 || a != b ||
        (a != PTX_U32 && a != PTX_S32) ||
        (ptx_current_type(lowering, 0) != PTX_U32 && ptx_current_type(lowering, 0) != PTX_S32))
        ptx_bad_type(lowering);
    emit_shape(lowering, (enum sim_kind)lowering->instruction->mnemonic->opcode->kind, PTX_U32,
        "uuuu", (a == PTX_S32 ? 1u : 0u) | (ptx_current_has(lowering, PTX_M_ADD) ? 2u : 0u));
}

void ptx_lower_lop3(struct ptx_lowering *lowering)
{
    bool has_logic = ptx_current_has(lowering, PTX_M_AND) || ptx_current_has(lowering, PTX_M_OR);
    const struct ptx_operand *destination = ptx_operand(lowering, 0);
    if (one_type(lowering) != PTX_B32 || lowering->instruction->count != (has_logic ? 6 : 5) ||
        destination->is_paired != has_logic)
        ptx_bad_operands(lowering);
    const struct ptx_operand *table = ptx_operand(lowering, 4);
    if (table->kind != PTX_OPERAND_INTEGER || table->value > 255)
        ptx_bad_operands(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), PTX_U32);
    uint32_t b = ptx_source(lowering, ptx_operand(lowering, 2), PTX_U32);
    uint32_t c = ptx_source(lowering, ptx_operand(lowering, 3), PTX_U32);
    uint32_t vreg = ptx_target(lowering, destination, PTX_U32);
    if (!has_logic) {
        ptx_emit(lowering, SIM_LOP3, PTX_U32, vreg, a, b, c, (uint32_t)table->value);
        return;
    }
    /* p = (d != 0) and/or q */
    uint32_t q = ptx_predicate(lowering, ptx_operand(lowering, 5)), raw = ptx_scratch(lowering),
             result = ptx_scratch(lowering);
    ptx_emit(lowering, SIM_LOP3, PTX_U32, result, a, b, c, (uint32_t)table->value);
    ptx_emit(lowering, SIM_CMP_NE, PTX_U32, raw, result, ptx_constant(lowering, 0, 4), 0, 0);
    ptx_emit(lowering, SIM_MOV, PTX_U32, vreg, result, 0, 0, 0);
    ptx_emit(lowering, ptx_current_has(lowering, PTX_M_AND) ? SIM_AND : SIM_OR, PTX_PRED,
        ptx_target_predicate(lowering, destination + 1), raw, q, 0, 0);
}

void ptx_lower_mov(struct ptx_lowering *lowering)
{
    enum ptx_type type = one_type(lowering);
    if (lowering->instruction->count != 2)
        ptx_bad_operands(lowering);
    const struct ptx_operand *destination = ptx_operand(lowering, 0), *s = ptx_operand(lowering, 1);
    if (type == PTX_PRED) {
        uint32_t from = ptx_predicate(lowering, s);
        ptx_emit(lowering, SIM_MOV, PTX_PRED, ptx_target_predicate(lowering, destination), from, 0,
            0, 0);
        return;
    }
    enum ptx_type whole = ptx_int_of_width(ptx_width(type));
    if (destination->kind != PTX_OPERAND_VECTOR && s->kind != PTX_OPERAND_VECTOR) {
        uint32_t from = ptx_source(lowering, s, type);
        ptx_emit(lowering, SIM_MOV, whole, ptx_target(lowering, destination, type), from, 0, 0, 0);
        return;
    }
    const struct ptx_operand *vector = destination->kind == PTX_OPERAND_VECTOR ? destination : s;
    uint32_t count = vector->count, vregs[4] = {0};
    uint32_t part = count ? ptx_type_size(type) / count : 0;
    if ((count != 2 && count != 4) || part * count != ptx_type_size(type) || part < 1 ||
        (destination->kind == PTX_OPERAND_VECTOR && s->kind == PTX_OPERAND_VECTOR))
        ptx_bad_operands(lowering);
    enum ptx_type piece = part == 1 ? PTX_B8 : ptx_int_of_width(part);
    for (uint32_t i = 0; i < count; i++)
        vregs[i] = destination == vector ? ptx_target(lowering, vector + 1 + i, piece)
                                         : ptx_source(lowering, vector + 1 + i, piece);
    uint32_t one = destination == vector ? ptx_source(lowering, s, type)
                                         : ptx_target(lowering, destination, type);
    ptx_emit(lowering, destination == vector ? SIM_UNPACK : SIM_PACK, whole, one, 0, 0, 0, count);
    uint32_t words = ptx_emit_words(lowering);
    for (uint32_t i = 0; i < count; i++)
        lowering->program->ops[words].words[i] = vregs[i];
    lowering->program->ops[words].words[4] = part;
}
