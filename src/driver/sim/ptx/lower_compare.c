/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison and selection: setp, set, selp, slct. */
#include "driver/sim/ptx/lower.h"

static const struct {
    uint8_t modifier;
    uint16_t kind;
    bool is_unsigned; /* lo ls hi hs: valid on unsigned types only */
} comparisons[] = {
    {PTX_M_EQ, SIM_CMP_EQ, false},
    {PTX_M_NE, SIM_CMP_NE, false},
    {PTX_M_LT, SIM_CMP_LT, false},
    {PTX_M_LE, SIM_CMP_LE, false},
    {PTX_M_GT, SIM_CMP_GT, false},
    {PTX_M_GE, SIM_CMP_GE, false},
    {PTX_M_LO, SIM_CMP_LT, true},
    {PTX_M_LS, SIM_CMP_LE, true},
    {PTX_M_HI, SIM_CMP_GT, true},
    {PTX_M_HS, SIM_CMP_GE, true},
    {PTX_M_EQU, SIM_CMP_EQU, false},
    {PTX_M_NEU, SIM_CMP_NEU, false},
    {PTX_M_LTU, SIM_CMP_LTU, false},
    {PTX_M_LEU, SIM_CMP_LEU, false},
    {PTX_M_GTU, SIM_CMP_GTU, false},
    {PTX_M_GEU, SIM_CMP_GEU, false},
    {PTX_M_NUM, SIM_CMP_NUM, false},
    {PTX_M_NAN, SIM_CMP_NAN, false},
};

/* The comparison is the first modifier; .b types compare as unsigned. */
static void emit_comparison_of(
    struct ptx_lowering *lowering, enum ptx_type type, uint32_t d, uint32_t left, uint32_t right)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    for (unsigned i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
        if (mnemonic->modifier_count == 0 || mnemonic->modifiers[0] != comparisons[i].modifier)
            continue;
        enum ptx_type as = type;
        bool is_bits = type == PTX_B16 || type == PTX_B32 || type == PTX_B64;
        if (is_bits || comparisons[i].is_unsigned)
            as = ptx_type_unsigned(type);
        if ((ptx_type_is_float(type) && comparisons[i].is_unsigned) ||
            (type == PTX_BF16 && ptx_current_has(lowering, PTX_M_FTZ)))
            ptx_bad_type(lowering);
        ptx_emit(lowering, (enum sim_kind)comparisons[i].kind, as, d, left, right, 0,
            ptx_current_has(lowering, PTX_M_FTZ) ? SIM_FLOAT_FTZ : 0);
        return;
    }
    ptx_bad_type(lowering);
}

static void emit_comparison(struct ptx_lowering *lowering, enum ptx_type type, uint32_t d,
    const struct ptx_operand *a, const struct ptx_operand *b)
{
    uint32_t left = ptx_source(lowering, a, type), right = ptx_source(lowering, b, type);
    emit_comparison_of(lowering, type, d, left, right);
}

/* p = compare BOOL c, q = !compare BOOL c */
static void emit_combined(struct ptx_lowering *lowering, uint32_t raw, uint32_t p, uint32_t q)
{
    enum sim_boolean how = SIM_BOOL_FIRST;
    uint32_t c = SIM_VREG_TRUE;
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    if (mnemonic->modifier_count > 1 && mnemonic->modifiers[1] != PTX_M_FTZ) {
        how = mnemonic->modifiers[1] == PTX_M_AND   ? SIM_BOOL_AND
              : mnemonic->modifiers[1] == PTX_M_OR  ? SIM_BOOL_OR
              : mnemonic->modifiers[1] == PTX_M_XOR ? SIM_BOOL_XOR
                                                    : SIM_BOOL_FIRST;
        if (how == SIM_BOOL_FIRST || lowering->instruction->count != 4)
            ptx_bad_operands(lowering);
        c = ptx_predicate(lowering, ptx_operand(lowering, 3));
    } else if (lowering->instruction->count != 3) {
        ptx_bad_operands(lowering);
    }
    ptx_emit(lowering, SIM_COMBINE, PTX_PRED, p, raw, c, q, (uint32_t)how);
}

static enum ptx_type half_of_pair(enum ptx_type type)
{
    return type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : PTX_NONE;
}

/* Compares the lower and the upper halves; p[] receives the two results, each combined with c. */
static void emit_pair(struct ptx_lowering *lowering, enum ptx_type type, const uint32_t *p)
{
    uint32_t halves[2][2], sixteen = ptx_constant(lowering, 16, 4);
    if (type == PTX_BF16X2)
        ptx_require(lowering, 90, 78);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t pair = ptx_source(lowering, ptx_operand(lowering, 1 + i), type);
        uint32_t high = ptx_scratch(lowering);
        halves[i][0] = ptx_scratch(lowering);
        halves[i][1] = ptx_scratch(lowering);
        ptx_emit(lowering, SIM_TO16, PTX_U32, halves[i][0], pair, 0, 0, 0);
        ptx_emit(lowering, SIM_SHR, PTX_U32, high, pair, sixteen, 0, 0);
        ptx_emit(lowering, SIM_TO16, PTX_U32, halves[i][1], high, 0, 0, 0);
    }
    /* A result may be the register of c. */
    uint32_t raw[2] = {ptx_scratch(lowering), ptx_scratch(lowering)};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t combined = ptx_scratch(lowering);
        emit_comparison_of(lowering, half_of_pair(type), raw[i], halves[0][i], halves[1][i]);
        emit_combined(lowering, raw[i], combined, SIM_VREG_UNUSED);
        raw[i] = combined;
    }
    for (uint32_t i = 0; i < 2; i++)
        ptx_emit(lowering, SIM_COMBINE, PTX_PRED, p[i], raw[i], SIM_VREG_TRUE, SIM_VREG_UNUSED,
            SIM_BOOL_FIRST);
}

void ptx_lower_setp(struct ptx_lowering *lowering)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    const struct ptx_operand *destination = ptx_operand(lowering, 0);
    if (mnemonic->type_count != 1)
        ptx_bad_type(lowering);
    uint32_t p = ptx_target_predicate(lowering, destination);
    if (half_of_pair(ptx_current_type(lowering, 0)) != PTX_NONE) {
        emit_pair(lowering, ptx_current_type(lowering, 0),
            (uint32_t[2]){p, destination->is_paired
                                 ? ptx_target_predicate(lowering, destination + 1)
                                 : SIM_VREG_UNUSED});
        return;
    }
    bool is_simple = !destination->is_paired && lowering->instruction->count == 3 &&
                     (mnemonic->modifier_count == 1 || mnemonic->modifiers[1] == PTX_M_FTZ);
    uint32_t raw = is_simple ? p : ptx_scratch(lowering);
    emit_comparison(lowering, ptx_current_type(lowering, 0), raw, ptx_operand(lowering, 1),
        ptx_operand(lowering, 2));
    if (!is_simple)
        emit_combined(lowering, raw, p,
            destination->is_paired ? ptx_target_predicate(lowering, destination + 1)
                                   : SIM_VREG_UNUSED);
}

/* 1.0 or, with an integer type, all bits in the half that compares true. */
static void set_pair(struct ptx_lowering *lowering, enum ptx_type to, enum ptx_type from)
{
    uint32_t p[2] = {ptx_scratch(lowering), ptx_scratch(lowering)};
    uint32_t low = ptx_scratch(lowering), high = ptx_scratch(lowering);
    uint32_t yes = to == PTX_F16X2 ? 0x3c00 : to == PTX_BF16X2 ? 0x3f80 : 0xffff;
    uint32_t zero = ptx_constant(lowering, 0, 4);
    emit_pair(lowering, from, p);
    ptx_emit(lowering, SIM_SELP, PTX_U32, low, ptx_constant(lowering, yes, 4), zero, p[0], 0);
    ptx_emit(
        lowering, SIM_SELP, PTX_U32, high, ptx_constant(lowering, yes << 16, 4), zero, p[1], 0);
    ptx_emit(lowering, SIM_OR, PTX_U32, ptx_target(lowering, ptx_operand(lowering, 0), to), low,
        high, 0, 0);
}

void ptx_lower_set(struct ptx_lowering *lowering)
{
    enum ptx_type to = ptx_current_type(lowering, 0), from = ptx_current_type(lowering, 1);
    if (lowering->instruction->mnemonic->type_count == 2 && half_of_pair(from) != PTX_NONE) {
        if (to != from && to != PTX_U32 && to != PTX_S32)
            ptx_bad_type(lowering);
        set_pair(lowering, to, from);
        return;
    }
    if (to == PTX_F32 && (from == PTX_F16 || from == PTX_BF16))
        ptx_bad_type(lowering);
    uint64_t yes = to == PTX_U32 || to == PTX_S32   ? 0xffffffff
                   : to == PTX_U16 || to == PTX_S16 ? 0xffff
                   : to == PTX_F32                  ? 0x3f800000
                   : to == PTX_F16                  ? 0x3c00
                   : to == PTX_BF16                 ? 0x3f80
                                                    : 0;
    if (lowering->instruction->mnemonic->type_count != 2 || yes == 0)
        ptx_bad_type(lowering);
    enum ptx_type bits = ptx_int_of_width(ptx_width(to));
    uint32_t raw = ptx_scratch(lowering), p = ptx_scratch(lowering);
    emit_comparison(lowering, from, raw, ptx_operand(lowering, 1), ptx_operand(lowering, 2));
    emit_combined(lowering, raw, p, SIM_VREG_UNUSED);
    ptx_emit(lowering, SIM_SELP, bits, ptx_target(lowering, ptx_operand(lowering, 0), to),
        ptx_constant(lowering, yes, ptx_width(to)), ptx_constant(lowering, 0, ptx_width(to)), p, 0);
}

void ptx_lower_selp(struct ptx_lowering *lowering)
{
    enum ptx_type type = ptx_current_type(lowering, 0);
    if (lowering->instruction->mnemonic->type_count != 1 || lowering->instruction->count != 4)
        ptx_bad_operands(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), type);
    uint32_t b = ptx_source(lowering, ptx_operand(lowering, 2), type);
    uint32_t p = ptx_predicate(lowering, ptx_operand(lowering, 3));
    ptx_emit(lowering, SIM_SELP, ptx_int_of_width(ptx_width(type)),
        ptx_target(lowering, ptx_operand(lowering, 0), type), a, b, p, 0);
}

void ptx_lower_slct(struct ptx_lowering *lowering)
{
    enum ptx_type type = ptx_current_type(lowering, 0), by = ptx_current_type(lowering, 1);
    if ((by != PTX_S32 && by != PTX_F32) || lowering->instruction->count != 4)
        ptx_bad_operands(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), type);
    uint32_t b = ptx_source(lowering, ptx_operand(lowering, 2), type);
    uint32_t c = ptx_source(lowering, ptx_operand(lowering, 3), by);
    ptx_emit(lowering, by == PTX_F32 ? SIM_SLCT_F32 : SIM_SLCT, ptx_int_of_width(ptx_width(type)),
        ptx_target(lowering, ptx_operand(lowering, 0), type), a, b, c,
        ptx_current_has(lowering, PTX_M_FTZ) ? SIM_FLOAT_FTZ : 0);
}
