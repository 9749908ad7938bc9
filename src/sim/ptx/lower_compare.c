/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison and selection: setp, set, selp, slct. */
#include "sim/ptx/lower.h"

static const struct {
    uint8_t modifier;
    uint16_t kind;
    bool is_unsigned; /* lo ls hi hs: on unsigned types only */
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
static void emit_comparison(struct ptx_lowering *l, enum ptx_type type, uint32_t d,
    const struct ptx_operand *a, const struct ptx_operand *b)
{
    const struct ptx_mnemonic *m = l->instruction->mnemonic;
    for (unsigned i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
        if (m->modifier_count == 0 || m->modifiers[0] != comparisons[i].modifier)
            continue;
        enum ptx_type as = type;
        bool is_bits = type == PTX_B16 || type == PTX_B32 || type == PTX_B64;
        if (is_bits || comparisons[i].is_unsigned)
            as = ptx_type_unsigned(type);
        if (ptx_type_is_float(type) && comparisons[i].is_unsigned)
            ptx_bad_type(l);
        uint32_t left = ptx_source(l, a, type), right = ptx_source(l, b, type);
        ptx_emit(l, (enum sim_kind)comparisons[i].kind, as, d, left, right, 0,
            ptx_l_has(l, PTX_M_FTZ) ? SIM_FLOAT_FTZ : 0);
        return;
    }
    ptx_bad_type(l);
}

/* p = compare BOOL c, q = !compare BOOL c */
static void emit_combined(struct ptx_lowering *l, uint32_t raw, uint32_t p, uint32_t q)
{
    enum sim_boolean how = SIM_BOOL_FIRST;
    uint32_t c = SIM_ROW_TRUE;
    const struct ptx_mnemonic *m = l->instruction->mnemonic;
    if (m->modifier_count > 1 && m->modifiers[1] != PTX_M_FTZ) {
        how = m->modifiers[1] == PTX_M_AND   ? SIM_BOOL_AND
              : m->modifiers[1] == PTX_M_OR  ? SIM_BOOL_OR
              : m->modifiers[1] == PTX_M_XOR ? SIM_BOOL_XOR
                                             : SIM_BOOL_FIRST;
        if (how == SIM_BOOL_FIRST || l->instruction->count != 4)
            ptx_bad_operands(l);
        c = ptx_predicate(l, ptx_operand(l, 3));
    } else if (l->instruction->count != 3) {
        ptx_bad_operands(l);
    }
    ptx_emit(l, SIM_COMBINE, PTX_PRED, p, raw, c, q, (uint32_t)how);
}

void ptx_lower_setp(struct ptx_lowering *l)
{
    const struct ptx_mnemonic *m = l->instruction->mnemonic;
    const struct ptx_operand *d = ptx_operand(l, 0);
    if (m->type_count != 1)
        ptx_bad_type(l);
    uint32_t p = ptx_target_predicate(l, d);
    bool is_simple = !d->is_paired && l->instruction->count == 3 &&
                     (m->modifier_count == 1 || m->modifiers[1] == PTX_M_FTZ);
    uint32_t raw = is_simple ? p : ptx_scratch(l);
    emit_comparison(l, ptx_l_type(l, 0), raw, ptx_operand(l, 1), ptx_operand(l, 2));
    if (!is_simple)
        emit_combined(l, raw, p, d->is_paired ? ptx_target_predicate(l, d + 1) : SIM_ROW_DEAD);
}

void ptx_lower_set(struct ptx_lowering *l)
{
    enum ptx_type to = ptx_l_type(l, 0), from = ptx_l_type(l, 1);
    uint64_t yes = to == PTX_U32 || to == PTX_S32   ? 0xffffffff
                   : to == PTX_U16 || to == PTX_S16 ? 0xffff
                   : to == PTX_F32                  ? 0x3f800000
                   : to == PTX_F16                  ? 0x3c00
                   : to == PTX_BF16                 ? 0x3f80
                                                    : 0;
    if (l->instruction->mnemonic->type_count != 2 || yes == 0)
        ptx_bad_type(l);
    enum ptx_type bits = ptx_int_of_width(ptx_width(to));
    uint32_t raw = ptx_scratch(l), p = ptx_scratch(l);
    emit_comparison(l, from, raw, ptx_operand(l, 1), ptx_operand(l, 2));
    emit_combined(l, raw, p, SIM_ROW_DEAD);
    ptx_emit(l, SIM_SELP, bits, ptx_target(l, ptx_operand(l, 0), to),
        ptx_constant(l, yes, ptx_width(to)), ptx_constant(l, 0, ptx_width(to)), p, 0);
}

void ptx_lower_selp(struct ptx_lowering *l)
{
    enum ptx_type type = ptx_l_type(l, 0);
    if (l->instruction->mnemonic->type_count != 1 || l->instruction->count != 4)
        ptx_bad_operands(l);
    uint32_t a = ptx_source(l, ptx_operand(l, 1), type);
    uint32_t b = ptx_source(l, ptx_operand(l, 2), type);
    uint32_t p = ptx_predicate(l, ptx_operand(l, 3));
    ptx_emit(l, SIM_SELP, ptx_int_of_width(ptx_width(type)), ptx_target(l, ptx_operand(l, 0), type),
        a, b, p, 0);
}

void ptx_lower_slct(struct ptx_lowering *l)
{
    enum ptx_type type = ptx_l_type(l, 0), by = ptx_l_type(l, 1);
    if ((by != PTX_S32 && by != PTX_F32) || l->instruction->count != 4)
        ptx_bad_operands(l);
    uint32_t a = ptx_source(l, ptx_operand(l, 1), type);
    uint32_t b = ptx_source(l, ptx_operand(l, 2), type);
    uint32_t c = ptx_source(l, ptx_operand(l, 3), by);
    ptx_emit(l, by == PTX_F32 ? SIM_SLCT_F32 : SIM_SLCT, ptx_int_of_width(ptx_width(type)),
        ptx_target(l, ptx_operand(l, 0), type), a, b, c,
        ptx_l_has(l, PTX_M_FTZ) ? SIM_FLOAT_FTZ : 0);
}
