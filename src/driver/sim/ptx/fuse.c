/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the runs of operations of a basic block that exec/fused.h executes as one: unguarded 32-bit
 * arithmetic that cannot fault. SIM_FUSED takes the place of the first operation of a run and
 * continues after the last; its steps stand behind the function.
 */
#include "driver/sim/ptx/lower.h"

#include <string.h>

/* Fewer operations than these cost less one by one. */
enum { SHORTEST_RUN = 3 };

/* How a kind is written as a step; UINT32_MAX: it is in no run. */
static uint32_t step_code(const struct ptx_lowered *lowered)
{
    const bool is_shift_of_bits = lowered->kind == SIM_SHF_L_WRAP && lowered->type == PTX_B32;

    if (lowered->type != PTX_U32 && !is_shift_of_bits)
        return UINT32_MAX;
    switch (lowered->kind) {
    case SIM_MOV:
        return SIM_FUSED_MOV;
    case SIM_ADD:
        return SIM_FUSED_ADD;
    case SIM_ADDC:
        return SIM_FUSED_ADD + 1;
    case SIM_ADD_CC:
        return SIM_FUSED_ADD + 2;
    case SIM_ADDC_CC:
        return SIM_FUSED_ADD + 3;
    case SIM_SUB:
        return SIM_FUSED_SUB;
    case SIM_SUBC:
        return SIM_FUSED_SUB + 1;
    case SIM_SUB_CC:
        return SIM_FUSED_SUB + 2;
    case SIM_SUBC_CC:
        return SIM_FUSED_SUB + 3;
    case SIM_MUL_LO:
        return SIM_FUSED_MUL_LO;
    case SIM_MUL_HI:
        return SIM_FUSED_MUL_HI;
    case SIM_MAD_LO:
        return SIM_FUSED_MAD_LO;
    case SIM_MADC_LO:
        return SIM_FUSED_MAD_LO + 1;
    case SIM_MAD_LO_CC:
        return SIM_FUSED_MAD_LO + 2;
    case SIM_MADC_LO_CC:
        return SIM_FUSED_MAD_LO + 3;
    case SIM_MAD_HI:
        return SIM_FUSED_MAD_HI;
    case SIM_MADC_HI:
        return SIM_FUSED_MAD_HI + 1;
    case SIM_MAD_HI_CC:
        return SIM_FUSED_MAD_HI + 2;
    case SIM_MADC_HI_CC:
        return SIM_FUSED_MAD_HI + 3;
    case SIM_AND:
        return SIM_FUSED_AND;
    case SIM_OR:
        return SIM_FUSED_OR;
    case SIM_XOR:
        return SIM_FUSED_XOR;
    case SIM_SHF_L_WRAP:
        return SIM_FUSED_SHF_L_WRAP;
    case SIM_SELP:
        return SIM_FUSED_SELP;
    default:
        return UINT32_MAX;
    }
}

static bool has_four_forms(uint32_t code)
{
    return code < SIM_FUSED_MUL_PAIR;
}

static bool writes_carry(uint32_t code)
{
    return has_four_forms(code) && (code & 2);
}

static bool is_of(uint32_t code, enum sim_fused kind)
{
    return (code & ~3u) == kind;
}

/* The code of the pair of a step and the operation after it; UINT32_MAX: they are none. The second
 * half reads its operands after the first has written its result. */
static uint32_t pair_code(uint32_t first, uint32_t second, const struct sim_op *op)
{
    const struct sim_op *next = op + 1;
    bool same = (op->a == next->a && op->b == next->b) || (op->a == next->b && op->b == next->a);

    if (!same || op->d == op->a || op->d == op->b || op->d == next->d)
        return UINT32_MAX;
    if (first == SIM_FUSED_MUL_LO && second == SIM_FUSED_MUL_HI)
        return SIM_FUSED_MUL_PAIR;
    if (is_of(first, SIM_FUSED_MAD_LO) && writes_carry(first) && is_of(second, SIM_FUSED_MAD_HI) &&
        (second & 1) && op->d != next->c)
        return SIM_FUSED_MAD_PAIR + (first & 1) + (second & 2);
    return UINT32_MAX;
}

/* Writes the steps of a run of operations; returns how many they are. */
static uint32_t write_steps(const struct sim_op *ops, const struct ptx_lowered *lowered,
    uint32_t count, struct sim_op *steps, bool *has_carry)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++, n++) {
        const struct sim_op *op = &ops[i];
        uint32_t code = step_code(&lowered[i]), *words = steps[n].words;
        uint32_t second = i + 1 < count ? step_code(&lowered[i + 1]) : UINT32_MAX;
        uint32_t pair = second == UINT32_MAX ? UINT32_MAX : pair_code(code, second, op);

        *has_carry |= writes_carry(code);
        memcpy(words, (uint32_t[8]){code, op->d, op->d, op->a, op->b, op->c, op->c, 0}, 32);
        if (pair != UINT32_MAX) {
            memcpy(words, (uint32_t[8]){pair, op->d, op[1].d, op->a, op->b, op->c, op[1].c, 0}, 32);
            *has_carry |= writes_carry(second);
            i++;
        }
    }
    return n;
}

static uint32_t run_length(
    const struct sim_op *ops, const struct ptx_lowered *lowered, uint32_t count)
{
    uint32_t n = 0;
    while (n < count && ops[n].guard == SIM_VREG_TRUE && step_code(&lowered[n]) != UINT32_MAX)
        n++;
    return n;
}

void ptx_fuse(struct ptx_lowering *lowering, uint32_t first)
{
    struct sim_program *program = lowering->program;
    uint32_t end = program->op_count, length = 0;

    lowering->instruction = NULL;
    for (uint32_t at = first; at < end; at += length ? length : 1) {
        bool has_carry = false;
        length = run_length(program->ops + at, lowering->lowered + at, end - at);
        if (length < SHORTEST_RUN)
            continue;
        uint32_t steps = program->op_count, count;
        for (uint32_t i = 0; i < length; i++)
            ptx_emit_words(lowering);
        count = write_steps(
            program->ops + at, lowering->lowered + at, length, program->ops + steps, &has_carry);
        program->op_count = steps + count;
        program->ops[at] = (struct sim_op){.run = sim_handler_find(SIM_FUSED, PTX_NONE),
            .a = count,
            .b = has_carry,
            .c = steps - at,
            .guard = SIM_VREG_TRUE,
            .aux = length};
    }
}
