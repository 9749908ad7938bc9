/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of lowering: operations are appended function by function, basic block by basic block.
 */
#include "sim/ptx/lower.h"

#include <string.h>

enum { BLOCK_CUT = 250 };

void ptx_bad_type(struct ptx_lowering *l)
{
    ptx_bad(l, SIM_LOAD_UNSUPPORTED, "'%.*s' is not supported",
        (int)l->instruction->mnemonic->length, l->instruction->mnemonic->text);
}

void ptx_bad_operands(struct ptx_lowering *l)
{
    ptx_bad(l, SIM_LOAD_INVALID, "operands do not suit '%.*s'",
        (int)l->instruction->mnemonic->length, l->instruction->mnemonic->text);
}

static uint32_t append(struct ptx_lowering *l)
{
    struct sim_program *p = l->program;
    p->ops = ptx_grow(l->parser, p->ops, p->op_count, &l->op_room, sizeof(*p->ops));
    p->lines = ptx_grow(l->parser, p->lines, p->op_count, &l->line_room, sizeof(*p->lines));
    p->lines[p->op_count] = l->instruction ? l->instruction->line : 0;
    return p->op_count++;
}

uint32_t ptx_emit(struct ptx_lowering *l, enum sim_kind kind, enum ptx_type type, uint32_t d,
    uint32_t a, uint32_t b, uint32_t c, uint32_t aux)
{
    sim_handler run = sim_handler_find(kind, type);
    if (!run)
        ptx_bad_type(l);
    uint32_t index = append(l);
    struct sim_op *op = &l->program->ops[index];
    op->run = run;
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->guard = l->guard;
    op->aux = aux;
    return index;
}

uint32_t ptx_emit_words(struct ptx_lowering *l)
{
    uint32_t index = append(l);
    memset(&l->program->ops[index], 0, sizeof(struct sim_op));
    return index;
}

static void new_basic_block(struct ptx_lowering *l)
{
    struct sim_program *p = l->program;
    p->blocks = ptx_grow(l->parser, p->blocks, p->block_count, &l->block_room, sizeof(*p->blocks));
    memset(&p->blocks[p->block_count], 0, sizeof(*p->blocks));
    uint32_t guard = l->guard;
    l->guard = SIM_ROW_TRUE;
    p->blocks[p->block_count].op = ptx_emit(l, SIM_BLOCK, PTX_NONE, 0, 0, 0, 0, p->block_count);
    l->guard = guard;
    p->block_count++;
}

/* A block in mid-instruction: where a call returns to. */
void ptx_emit_block(struct ptx_lowering *l)
{
    new_basic_block(l);
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

static void check_modifiers(struct ptx_lowering *l)
{
    const struct ptx_mnemonic *m = l->instruction->mnemonic;
    for (uint32_t i = 0; i < m->modifier_count; i++)
        if (!is_allowed(m->opcode->modifiers, (enum ptx_modifier)m->modifiers[i]))
            ptx_bad(l, SIM_LOAD_UNSUPPORTED, "'.%s' is not supported in '%.*s'",
                ptx_modifier_name((enum ptx_modifier)m->modifiers[i]), (int)m->length, m->text);
}

static void lower_instruction(struct ptx_lowering *l, const struct ptx_instruction *i)
{
    const struct ptx_opcode *opcode = i->mnemonic->opcode;
    l->instruction = i;
    l->operands = l->function->operands + i->first;
    l->scratch = 0;
    l->guard = SIM_ROW_TRUE;
    if (i->has_guard)
        l->guard = l->flow.rows[i->guard] | (i->is_guard_negated ? 1u : 0u);
    l->counted = (enum sim_class)opcode->counted;
    check_modifiers(l);
    struct sim_program *p = l->program;
    uint32_t block = p->block_count - 1;
    opcode->lower(l);
    p->blocks[block].instructions++;
    p->blocks[block].by_class[l->counted]++;
}

/* Formals arrive in the transfer rows. */
static void enter_function(struct ptx_lowering *l, const struct ptx_function *f)
{
    uint32_t granule = 0;
    for (uint32_t i = 0; i < f->formal_count; i++) {
        const struct ptx_symbol *s = f->formals[i];
        uint32_t count = (uint32_t)((s->size + 3) / 4), from = SIM_ROW_TRANSFER + granule * 128;
        if (s->is_register)
            ptx_row_from_granules(
                l, l->flow.rows[s->id], ptx_width(s->type), from, ptx_type_unsigned(s->type), 0);
        else
            ptx_emit(l, SIM_COPY_ROWS, PTX_NONE, s->row, from, 0, 0, count);
        granule += count;
    }
}

static uint32_t give_parameter_rows(
    struct ptx_lowering *l, struct ptx_symbol **list, uint32_t count)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i]->is_register)
            continue;
        uint32_t rows = (uint32_t)((list[i]->size + 3) / 4);
        list[i]->row = ptx_frame_take(l, rows * 128);
        total += rows;
    }
    return total;
}

static void resolve_fixups(struct ptx_lowering *l)
{
    for (uint32_t i = 0; i < l->fixup_count; i++) {
        uint32_t *word = &l->program->ops[l->fixups[i].op].words[l->fixups[i].word];
        *word = l->block_ops[*word];
    }
    l->fixup_count = 0;
}

static void lower_blocks(struct ptx_lowering *l, const struct ptx_function *f)
{
    uint32_t instructions = 0;
    for (uint32_t b = 0; b < l->flow.count; b++) {
        l->instruction =
            l->flow.starts[b] < f->instruction_count ? &f->instructions[l->flow.starts[b]] : NULL;
        l->block = b;
        l->block_ops[b] = l->program->op_count;
        new_basic_block(l);
        l->program->ops[l->block_ops[b]].d = l->flow.is_join[b];
        instructions = 0;
        for (uint32_t i = l->flow.starts[b]; i < l->flow.starts[b + 1]; i++) {
            if (++instructions > BLOCK_CUT) {
                l->instruction = &f->instructions[i];
                l->guard = SIM_ROW_TRUE;
                new_basic_block(l);
                instructions = 1;
            }
            lower_instruction(l, &f->instructions[i]);
        }
    }
}

void ptx_lower_function(struct ptx_lowering *l, const struct ptx_function *f)
{
    l->function = f;
    l->guard = SIM_ROW_TRUE;
    l->scratch = 0;
    l->instruction = NULL;
    ptx_flow_build(l, f);
    struct sim_function_code *code = &l->program->functions[f->index];
    code->parameter_base = l->frame_next;
    if (!f->is_entry) {
        code->parameter_count = give_parameter_rows(l, f->formals, f->formal_count);
        code->parameter_count += give_parameter_rows(l, f->results, f->result_count);
    }
    code->parameter_count += give_parameter_rows(l, f->call_parameters, f->call_parameter_count);
    memcpy(code->area_base, l->flow.area_base, sizeof(code->area_base));
    memcpy(code->area_count, l->flow.area_count, sizeof(code->area_count));
    code->saved_bytes = code->parameter_count * 4;
    static const uint32_t class_bytes[SIM_ROW_CLASSES] = {1, 2, 4, 8, 16};
    for (int c = 0; c < SIM_ROW_CLASSES; c++)
        code->saved_bytes += code->area_count[c] * class_bytes[c];
    code->entry = l->program->op_count;
    code->has_code = true;
    l->block_ops = ptx_alloc(l->parser, (l->flow.count + 1u) * sizeof(uint32_t));
    if (!f->is_entry)
        enter_function(l, f);
    lower_blocks(l, f);
    /* Running off the end returns. */
    l->instruction = NULL;
    l->guard = SIM_ROW_TRUE;
    if (f->is_entry)
        ptx_emit(l, SIM_EXIT, PTX_NONE, 0, 0, 0, 0, 0);
    else
        ptx_emit_return(l, f);
    resolve_fixups(l);
}
