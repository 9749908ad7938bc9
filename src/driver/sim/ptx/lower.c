/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lowering driver: it appends operations function by function and basic block by basic block.
 */
#include "driver/sim/ptx/lower.h"

#include <string.h>

enum { BLOCK_CUT = 250 };

void ptx_bad_type(struct ptx_lowering *lowering)
{
    ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "'%.*s' is not supported",
        (int)lowering->instruction->mnemonic->length, lowering->instruction->mnemonic->text);
}

void ptx_bad_operands(struct ptx_lowering *lowering)
{
    ptx_bad(lowering, SIM_LOAD_INVALID, "operands do not suit '%.*s'",
        (int)lowering->instruction->mnemonic->length, lowering->instruction->mnemonic->text);
}

void ptx_require(struct ptx_lowering *lowering, uint32_t target, uint32_t version)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;

    if (lowering->parser->target < target)
        ptx_bad(lowering, SIM_LOAD_INVALID, "'%.*s' requires .target sm_%u or higher",
            (int)mnemonic->length, mnemonic->text, target);
    if (lowering->parser->version < version)
        ptx_bad(lowering, SIM_LOAD_INVALID, "'%.*s' requires PTX ISA .version %u.%u or later",
            (int)mnemonic->length, mnemonic->text, version / 10, version % 10);
}

static uint32_t append_operation(struct ptx_lowering *lowering)
{
    struct sim_program *program = lowering->program;
    program->ops = ptx_grow(lowering->parser, program->ops, program->op_count,
        &lowering->op_capacity, sizeof(*program->ops));
    program->lines = ptx_grow(lowering->parser, program->lines, program->op_count,
        &lowering->line_capacity, sizeof(*program->lines));
    program->lines[program->op_count] = lowering->instruction ? lowering->instruction->line : 0;
    lowering->lowered = ptx_grow(lowering->parser, lowering->lowered, program->op_count,
        &lowering->lowered_capacity, sizeof(*lowering->lowered));
    lowering->lowered[program->op_count] = (struct ptx_lowered){SIM_KIND_COUNT, PTX_NONE};
    return program->op_count++;
}

uint32_t ptx_emit(struct ptx_lowering *lowering, enum sim_kind kind, enum ptx_type type, uint32_t d,
    uint32_t a, uint32_t b, uint32_t c, uint32_t aux)
{
    sim_handler run = sim_handler_find(kind, type);
    if (!run)
        ptx_bad_type(lowering);
    uint32_t index = append_operation(lowering);
    struct sim_op *op = &lowering->program->ops[index];
    lowering->lowered[index] = (struct ptx_lowered){(uint16_t)kind, (uint16_t)type};
    op->run = run;
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->guard = lowering->guard;
    op->aux = aux;
    return index;
}

uint32_t ptx_emit_words(struct ptx_lowering *lowering)
{
    uint32_t index = append_operation(lowering);
    memset(&lowering->program->ops[index], 0, sizeof(struct sim_op));
    return index;
}

static void new_basic_block(struct ptx_lowering *lowering)
{
    struct sim_program *program = lowering->program;
    program->blocks = ptx_grow(lowering->parser, program->blocks, program->block_count,
        &lowering->block_capacity, sizeof(*program->blocks));
    memset(&program->blocks[program->block_count], 0, sizeof(*program->blocks));
    uint32_t guard = lowering->guard;
    lowering->guard = SIM_VREG_TRUE;
    program->blocks[program->block_count].op =
        ptx_emit(lowering, SIM_BLOCK, PTX_NONE, 0, 0, 0, 0, program->block_count);
    lowering->guard = guard;
    program->block_count++;
}

static bool is_allowed(const char *allowed, enum ptx_modifier modifier)
{
    const char *name = ptx_modifier_name(modifier);
    size_t length = strlen(name);
    while (*allowed) {
        size_t n = strcspn(allowed, " ");
        if (n == length && memcmp(allowed, name, n) == 0)
            return true;
        allowed += n + (allowed[n] == ' ');
    }
    return false;
}

static void check_modifiers(struct ptx_lowering *lowering)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    for (uint32_t i = 0; i < mnemonic->modifier_count; i++)
        if (!is_allowed(mnemonic->opcode->modifiers, (enum ptx_modifier)mnemonic->modifiers[i]))
            ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "'.%s' is not supported in '%.*s'",
                ptx_modifier_name((enum ptx_modifier)mnemonic->modifiers[i]), (int)mnemonic->length,
                mnemonic->text);
}

/* The first target with the instruction, as the PTX manual has it. */
static uint32_t first_target(const struct ptx_opcode *opcode)
{
    switch (opcode->kind) {
    case SIM_CP_ASYNC:
    case SIM_REDUX:
        return 80;
    case SIM_ELECT:
        return 90;
    default:
        return strcmp(opcode->name, "griddepcontrol") == 0 ? 90 : 0;
    }
}

static void lower_instruction(
    struct ptx_lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_opcode *opcode = instruction->mnemonic->opcode;
    lowering->instruction = instruction;
    lowering->operands = lowering->function->operands + instruction->first;
    lowering->scratch = 0;
    lowering->guard = SIM_VREG_TRUE;
    if (instruction->has_guard)
        lowering->guard =
            lowering->flow.vregs[instruction->guard] | (instruction->is_guard_negated ? 1u : 0u);
    lowering->counted = (enum sim_class)opcode->counted;
    check_modifiers(lowering);
    ptx_require(lowering, first_target(opcode), 0);
    struct sim_program *program = lowering->program;
    uint32_t block = program->block_count - 1;
    opcode->lower(lowering);
    program->blocks[block].instructions++;
    program->blocks[block].by_class[lowering->counted]++;
}

/* Formal parameters arrive in the transfer area. */
static void emit_prologue(struct ptx_lowering *lowering, const struct ptx_function *function)
{
    uint32_t word_index = 0;
    for (uint32_t i = 0; i < function->formal_count; i++) {
        const struct ptx_symbol *symbol = function->formals[i];
        uint32_t count = (uint32_t)((symbol->size + 3) / 4),
                 from = SIM_VREG_TRANSFER + word_index * 128;
        if (symbol->is_register)
            ptx_vreg_from_words(lowering, lowering->flow.vregs[symbol->id], ptx_width(symbol->type),
                from, ptx_type_unsigned(symbol->type), 0);
        else
            ptx_emit(lowering, SIM_COPY_VREGS, PTX_NONE, symbol->vreg, from, 0, 0, count);
        word_index += count;
    }
}

static uint32_t allocate_parameters(
    struct ptx_lowering *lowering, struct ptx_symbol **list, uint32_t count)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i]->is_register)
            continue;
        uint32_t vregs = (uint32_t)((list[i]->size + 3) / 4);
        list[i]->vreg = ptx_frame_allocate(lowering, vregs * 128);
        total += vregs;
    }
    return total;
}

static void resolve_fixups(struct ptx_lowering *lowering)
{
    for (uint32_t i = 0; i < lowering->fixup_count; i++) {
        uint32_t *word =
            &lowering->program->ops[lowering->fixups[i].op].words[lowering->fixups[i].word];
        *word = lowering->block_ops[*word];
    }
    lowering->fixup_count = 0;
}

static void lower_blocks(struct ptx_lowering *lowering, const struct ptx_function *function)
{
    uint32_t instructions = 0;
    for (uint32_t b = 0; b < lowering->flow.count; b++) {
        lowering->instruction = lowering->flow.starts[b] < function->instruction_count
                                    ? &function->instructions[lowering->flow.starts[b]]
                                    : NULL;
        lowering->block = b;
        lowering->flag = PTX_FLAG_UNKNOWN;
        lowering->block_ops[b] = lowering->program->op_count;
        new_basic_block(lowering);
        lowering->program->ops[lowering->block_ops[b]].d = lowering->flow.is_reconvergence[b];
        instructions = 0;
        for (uint32_t i = lowering->flow.starts[b]; i < lowering->flow.starts[b + 1]; i++) {
            if (++instructions > BLOCK_CUT) {
                lowering->instruction = &function->instructions[i];
                lowering->guard = SIM_VREG_TRUE;
                new_basic_block(lowering);
                instructions = 1;
            }
            lower_instruction(lowering, &function->instructions[i]);
        }
    }
}

void ptx_lower_function(struct ptx_lowering *lowering, const struct ptx_function *function)
{
    lowering->function = function;
    lowering->guard = SIM_VREG_TRUE;
    lowering->scratch = 0;
    lowering->instruction = NULL;
    ptx_flow_build(lowering, function);
    struct sim_function_code *code = &lowering->program->functions[function->index];
    code->parameter_base = lowering->frame_next;
    if (!function->is_entry) {
        code->parameter_count =
            allocate_parameters(lowering, function->formals, function->formal_count);
        code->parameter_count +=
            allocate_parameters(lowering, function->results, function->result_count);
    }
    code->parameter_count +=
        allocate_parameters(lowering, function->call_parameters, function->call_parameter_count);
    memcpy(code->area_base, lowering->flow.area_base, sizeof(code->area_base));
    memcpy(code->area_count, lowering->flow.area_count, sizeof(code->area_count));
    code->saved_bytes = code->parameter_count * 4;
    static const uint32_t class_bytes[SIM_VREG_CLASSES] = {1, 2, 4, 8, 16};
    for (int c = 0; c < SIM_VREG_CLASSES; c++)
        code->saved_bytes += code->area_count[c] * class_bytes[c];
    code->entry = lowering->program->op_count;
    code->has_code = true;
    lowering->block_ops =
        ptx_alloc(lowering->parser, (lowering->flow.count + 1u) * sizeof(uint32_t));
    if (!function->is_entry)
        emit_prologue(lowering, function);
    lower_blocks(lowering, function);
    /* Control that reaches the end of the body returns. */
    lowering->instruction = NULL;
    lowering->guard = SIM_VREG_TRUE;
    if (function->is_entry)
        ptx_emit(lowering, SIM_EXIT, PTX_NONE, 0, 0, 0, 0, 0);
    else
        ptx_emit_return(lowering, function);
    resolve_fixups(lowering);
    ptx_fuse(lowering, code->entry);
}
