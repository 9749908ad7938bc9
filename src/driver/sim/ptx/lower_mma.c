/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix operations of whole warps: mma, ldmatrix, stmatrix. */
#include "driver/sim/ptx/lower.h"

struct mma_form {
    uint8_t shape; /* enum ptx_modifier */
    uint8_t rows, depth;
    uint8_t a;      /* enum ptx_type of A; .f32 stands for .tf32 */
    uint8_t b;      /* of B; PTX_NONE: as A */
    uint8_t target; /* the first that has it */
    uint8_t version;
};

static const struct mma_form forms[] = {
    {PTX_M_M16N8K8, 16, 8, PTX_F16, PTX_NONE, 75, 65},
    {PTX_M_M16N8K16, 16, 16, PTX_F16, PTX_NONE, 80, 70},
    {PTX_M_M16N8K8, 16, 8, PTX_BF16, PTX_NONE, 80, 70},
    {PTX_M_M16N8K16, 16, 16, PTX_BF16, PTX_NONE, 80, 70},
    {PTX_M_M16N8K4, 16, 4, PTX_F32, PTX_NONE, 80, 70},
    {PTX_M_M16N8K8, 16, 8, PTX_F32, PTX_NONE, 80, 70},
    {PTX_M_M8N8K4, 8, 4, PTX_F64, PTX_NONE, 80, 70},
    {PTX_M_M16N8K4, 16, 4, PTX_F64, PTX_NONE, 90, 78},
    {PTX_M_M16N8K8, 16, 8, PTX_F64, PTX_NONE, 90, 78},
    {PTX_M_M16N8K16, 16, 16, PTX_F64, PTX_NONE, 90, 78},
    {PTX_M_M8N8K16, 8, 16, PTX_S8, PTX_U8, 75, 65},
    {PTX_M_M16N8K16, 16, 16, PTX_S8, PTX_U8, 80, 70},
    {PTX_M_M16N8K32, 16, 32, PTX_S8, PTX_U8, 80, 70},
};

struct mma_types {
    enum ptx_type d, a, b, c;
};

static bool is_byte(enum ptx_type type)
{
    return type == PTX_S8 || type == PTX_U8;
}

static struct mma_types read_types(struct ptx_lowering *lowering)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    bool is_tf32 = ptx_current_has(lowering, PTX_M_TF32);
    if (mnemonic->type_count != (is_tf32 ? 2 : 4))
        ptx_bad_type(lowering);
    if (is_tf32)
        return (struct mma_types){
            ptx_current_type(lowering, 0), PTX_F32, PTX_F32, ptx_current_type(lowering, 1)};
    return (struct mma_types){ptx_current_type(lowering, 0), ptx_current_type(lowering, 1),
        ptx_current_type(lowering, 2), ptx_current_type(lowering, 3)};
}

static const struct mma_form *find_form(struct ptx_lowering *lowering, struct mma_types types)
{
    bool is_tf32 = ptx_current_has(lowering, PTX_M_TF32);
    for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const struct mma_form *form = &forms[i];
        bool suits = is_byte((enum ptx_type)form->a) ? is_byte(types.a) && is_byte(types.b)
                                                     : types.a == form->a && types.b == types.a;
        /* .f32 is no type of A. */
        if (suits && ptx_current_has(lowering, (enum ptx_modifier)form->shape) &&
            (form->a == PTX_F32) == is_tf32)
            return form;
    }
    ptx_bad_type(lowering);
}

static bool has_accumulator(struct mma_types types)
{
    enum ptx_type want = is_byte(types.a)                           ? PTX_S32
                         : types.a == PTX_F64                       ? PTX_F64
                         : types.c == PTX_F16 && types.a == PTX_F16 ? PTX_F16
                                                                    : PTX_F32;
    return types.c == want && types.d == want;
}

static enum ptx_type register_type(enum ptx_type type)
{
    return type == PTX_F64 ? PTX_F64 : PTX_B32;
}

/* The vector registers of a fragment, which stands in braces. */
static void read_fragment(struct ptx_lowering *lowering, uint32_t position, enum ptx_type type,
    uint32_t count, uint32_t *vregs)
{
    const struct ptx_operand *operand = ptx_operand(lowering, position);
    if (operand->kind != PTX_OPERAND_VECTOR || operand->count != count)
        ptx_bad_operands(lowering);
    operand++;
    for (uint32_t i = 0; i < count; i++)
        vregs[i] = position == 0 ? ptx_target(lowering, operand + i, register_type(type))
                                 : ptx_source(lowering, operand + i, register_type(type));
}

static void emit_converge(struct ptx_lowering *lowering)
{
    ptx_emit(lowering, SIM_CONVERGE, PTX_NONE, 0, ptx_constant(lowering, UINT32_MAX, 4), 0, 0, 0);
}

void ptx_lower_mma(struct ptx_lowering *lowering)
{
    uint32_t vregs[8 * SIM_MMA_WORDS] = {0};
    struct mma_types types = read_types(lowering);
    const struct mma_form *form = find_form(lowering, types);
    bool saturates = ptx_current_has(lowering, PTX_M_SATFINITE);
    /* sync, aligned, the shape, row and col, besides tf32 twice and satfinite */
    uint32_t modifiers = 5u + (ptx_current_has(lowering, PTX_M_TF32) ? 2u : 0u) + saturates;
    if (!ptx_current_has(lowering, PTX_M_SYNC) || !ptx_current_has(lowering, PTX_M_ALIGNED) ||
        !ptx_current_has(lowering, PTX_M_ROW) || !ptx_current_has(lowering, PTX_M_COL) ||
        lowering->instruction->mnemonic->modifier_count != modifiers || !has_accumulator(types) ||
        (saturates && !is_byte(types.a)))
        ptx_bad_type(lowering);
    if (lowering->instruction->count != 4)
        ptx_bad_operands(lowering);
    ptx_require(lowering, form->target, form->version);
    uint32_t size = ptx_type_size(types.a), packed = size < 4 ? 4 / size : 1;
    uint32_t halves = form->rows / 8u, columns = form->depth / (4 * packed);
    uint32_t sums = halves * (types.c == PTX_F16 ? 1 : 2);
    read_fragment(lowering, 0, types.d, sums, vregs);
    read_fragment(lowering, 1, types.a, halves * columns, vregs + SIM_MMA_A);
    read_fragment(lowering, 2, types.b, columns, vregs + SIM_MMA_B);
    read_fragment(lowering, 3, types.c, sums, vregs + SIM_MMA_C);
    emit_converge(lowering);
    uint32_t aux = (uint32_t)form->rows << SIM_MMA_ROWS_SHIFT |
                   (uint32_t)form->depth << SIM_MMA_DEPTH_SHIFT |
                   (saturates ? (uint32_t)SIM_MMA_SATURATES : 0u);
    const enum ptx_type order[] = {types.a, types.b, types.c, types.d};
    for (unsigned i = 0; i < 4; i++)
        aux |= (uint32_t)order[i] << (SIM_MMA_FIRST_SHIFT + i * SIM_MMA_TYPE_BITS);
    ptx_emit(lowering, SIM_MMA, PTX_NONE, 0, 0, 0, 0, aux);
    for (uint32_t i = 0; i < SIM_MMA_WORDS * 8; i++) {
        if (i % 8 == 0)
            ptx_emit_words(lowering);
        lowering->program->ops[lowering->program->op_count - 1].words[i % 8] = vregs[i];
    }
}

/* ---- ldmatrix and stmatrix ------------------------------------------------------------------- */

/* The number of matrices. */
static uint32_t check_matrices(struct ptx_lowering *lowering)
{
    uint32_t count = ptx_current_has(lowering, PTX_M_X1)   ? 1
                     : ptx_current_has(lowering, PTX_M_X2) ? 2
                     : ptx_current_has(lowering, PTX_M_X4) ? 4
                                                           : 0;
    if (!ptx_current_has(lowering, PTX_M_SYNC) || !ptx_current_has(lowering, PTX_M_ALIGNED) ||
        !ptx_current_has(lowering, PTX_M_M8N8) || count == 0 ||
        lowering->instruction->mnemonic->type_count != 1 ||
        ptx_current_type(lowering, 0) != PTX_B16)
        ptx_bad_type(lowering);
    if (lowering->instruction->count != 2)
        ptx_bad_operands(lowering);
    return count;
}

static void emit_matrices(struct ptx_lowering *lowering, enum sim_kind kind,
    const struct ptx_operand *operand, const uint32_t *vregs, uint32_t count)
{
    bool is_shared =
        ptx_current_has(lowering, PTX_M_SHARED) || ptx_current_has(lowering, PTX_M_SHARED_CTA);
    emit_converge(lowering);
    struct ptx_address address =
        ptx_lower_address(lowering, operand, is_shared ? SIM_IN_SHARED : SIM_IN_GENERIC);
    ptx_emit(lowering, kind, PTX_NONE, 0, address.vreg, address.flags, address.offset,
        count | (ptx_current_has(lowering, PTX_M_TRANS) ? 8u : 0u));
    uint32_t words = ptx_emit_words(lowering);
    for (uint32_t i = 0; i < count; i++)
        lowering->program->ops[words].words[i] = vregs[i];
}

void ptx_lower_ldmatrix(struct ptx_lowering *lowering)
{
    uint32_t count = check_matrices(lowering), vregs[4];
    ptx_require(lowering, 75, 65);
    read_fragment(lowering, 0, PTX_B32, count, vregs);
    emit_matrices(lowering, SIM_LDMATRIX, ptx_operand(lowering, 1), vregs, count);
}

void ptx_lower_stmatrix(struct ptx_lowering *lowering)
{
    uint32_t count = check_matrices(lowering), vregs[4];
    ptx_require(lowering, 90, 78);
    read_fragment(lowering, 1, PTX_B32, count, vregs);
    emit_matrices(lowering, SIM_STMATRIX, ptx_operand(lowering, 0), vregs, count);
}
