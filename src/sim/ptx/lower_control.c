/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, calls, barriers, and what the lanes of a warp do together. */
#include "sim/ptx/lower.h"

#include <string.h>

enum { WORD_D = 2, WORD_AUX = 7 };

static void add_block_fixup(struct ptx_lowering *l, uint32_t op, uint32_t word, uint32_t block)
{
    l->fixups = ptx_grow(l->parser, l->fixups, l->fixup_count, &l->fixup_room, sizeof(*l->fixups));
    l->fixups[l->fixup_count++] = (struct ptx_fixup){op, word};
    l->program->ops[op].words[word] = block;
}

static void add_fixup(struct ptx_lowering *l, uint32_t op, uint32_t word, uint32_t reference)
{
    uint32_t label = l->function->references[reference].label;
    add_block_fixup(l, op, word, l->flow.block_of_label[label]);
}

/* d of a branch: where its lanes meet again, 0 when that is not followed. */
static void add_join(struct ptx_lowering *l, uint32_t op)
{
    uint32_t join = l->flow.joins[l->block];
    if (join == PTX_JOIN_RETURN)
        l->program->ops[op].d = SIM_JOIN_RETURN;
    else if (join)
        add_block_fixup(l, op, WORD_D, join - 1);
}

void ptx_lower_bra(struct ptx_lowering *l)
{
    const struct ptx_operand *o = ptx_operand(l, 0);
    if (o->kind != PTX_OPERAND_LABEL || l->instruction->count != 1)
        ptx_bad_operands(l);
    uint32_t op = ptx_emit(l, SIM_BRA, PTX_NONE, 0, 0, 0, 0, 0);
    add_fixup(l, op, WORD_AUX, o->id);
    add_join(l, op);
}

void ptx_lower_brx(struct ptx_lowering *l)
{
    const struct ptx_operand *o = ptx_operand(l, 1);
    if (!ptx_l_has(l, PTX_M_IDX) || o->kind != PTX_OPERAND_SYMBOL ||
        o->symbol->kind != PTX_SYMBOL_TARGETS || o->symbol->owner != l->function->index)
        ptx_bad_operands(l);
    const struct ptx_targets *t = &l->function->targets[o->symbol->id];
    uint32_t a = ptx_source(l, ptx_operand(l, 0), PTX_U32), words = 0;
    add_join(l, ptx_emit(l, SIM_BRX, PTX_NONE, 0, a, 0, 0, t->count));
    for (uint32_t i = 0; i < t->count; i++) {
        words = i % 8 == 0 ? ptx_emit_words(l) : words;
        add_fixup(l, words, i % 8, t->first + i);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const struct ptx_symbol *parameter_of(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_SYMBOL && o->symbol->kind == PTX_SYMBOL_VARIABLE &&
                   o->symbol->space == PTX_PARAM && !o->symbol->is_entry_parameter
               ? o->symbol
               : NULL;
}

static uint32_t transfer_row(struct ptx_lowering *l, uint32_t granule, uint32_t count)
{
    if ((uint64_t)(granule + count) * 128 > l->transfer_bytes)
        ptx_bad(l, SIM_LOAD_INVALID, "arguments do not match any function");
    return SIM_ROW_TRANSFER + granule * 128;
}

static enum ptx_type value_type(struct ptx_lowering *l, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REGISTER && ptx_register_type(l, o) != PTX_PRED &&
        ptx_width(ptx_register_type(l, o)) <= 8)
        return ptx_type_unsigned(ptx_register_type(l, o));
    if (o->kind != PTX_OPERAND_REGISTER && o->kind != PTX_OPERAND_INTEGER)
        ptx_bad_operands(l);
    return PTX_U32;
}

static void pass_arguments(struct ptx_lowering *l, const struct ptx_operand *list)
{
    uint32_t granule = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_operand *o = list + 1 + i;
        const struct ptx_symbol *s = parameter_of(o);
        enum ptx_type type = s ? PTX_NONE : value_type(l, o);
        uint32_t rows = s ? (uint32_t)((s->size + 3) / 4) : (ptx_type_size(type) + 3) / 4;
        uint32_t to = transfer_row(l, granule, rows);
        if (s)
            ptx_emit(l, SIM_COPY_ROWS, PTX_NONE, to, s->row, 0, 0, rows);
        else
            ptx_granules_from_row(l, to, ptx_source(l, o, type), type, 0);
        granule += rows;
    }
}

static void take_results(struct ptx_lowering *l, const struct ptx_operand *list)
{
    uint32_t granule = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_operand *o = list + 1 + i;
        const struct ptx_symbol *s = parameter_of(o);
        if (o->kind == PTX_OPERAND_SINK) {
            granule++;
            continue;
        }
        enum ptx_type type = s ? PTX_NONE : value_type(l, o);
        uint32_t rows = s ? (uint32_t)((s->size + 3) / 4) : (ptx_type_size(type) + 3) / 4;
        uint32_t from = transfer_row(l, granule, rows);
        if (s)
            ptx_emit(l, SIM_COPY_ROWS, PTX_NONE, s->row, from, 0, 0, rows);
        else
            ptx_row_from_granules(l, ptx_target(l, o, type), ptx_width(type), from, type, 0);
        granule += rows;
    }
}

static uint32_t granules_of(struct ptx_symbol *const *list, uint32_t count)
{
    uint32_t granules = 0;
    for (uint32_t i = 0; i < count; i++)
        granules += (uint32_t)((list[i]->size + 3) / 4);
    return granules;
}

static void check_arguments(
    struct ptx_lowering *l, const struct ptx_function *f, const struct ptx_operand *list)
{
    uint32_t granules = 0;
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct ptx_symbol *s = parameter_of(list + 1 + i);
        granules += s ? (uint32_t)((s->size + 3) / 4)
                      : (ptx_type_size(value_type(l, list + 1 + i)) + 3) / 4;
    }
    if (granules != granules_of(f->formals, f->formal_count))
        ptx_bad(l, SIM_LOAD_INVALID, "arguments do not match '%.100s'", f->name);
}

/* The device's own heap is the one usual reason, so it is named. */
__attribute__((noreturn)) static void refuse_extern(struct ptx_lowering *l, const char *name)
{
    if (strcmp(name, "malloc") == 0 || strcmp(name, "free") == 0)
        ptx_bad(l, SIM_LOAD_UNSUPPORTED, "'%s': simulated devices have no device heap", name);
    ptx_bad(l, SIM_LOAD_UNRESOLVED, "function '%.150s' has no body", name);
}

static void emit_call(struct ptx_lowering *l, const struct ptx_operand *callee)
{
    uint32_t frame = l->function->local_bytes;
    frame = (frame + 15) / 16 * 16;
    if (callee->kind == PTX_OPERAND_REGISTER) {
        uint32_t a = ptx_source(l, callee, PTX_U64);
        ptx_emit(l, SIM_CALL_INDIRECT, PTX_NONE, frame, a, 0, 0, 0);
        return;
    }
    const struct ptx_function *f = l->parser->functions[callee->symbol->id];
    if (f->is_entry)
        ptx_bad(l, SIM_LOAD_UNSUPPORTED, "call of a kernel");
    if (!f->has_body && strcmp(f->name, "vprintf") == 0)
        ptx_emit(l, SIM_PRINT, PTX_NONE, SIM_ROW_TRANSFER, SIM_ROW_TRANSFER, 0, 0, 0);
    else if (!f->has_body && strcmp(f->name, "__assertfail") == 0)
        ptx_emit(l, SIM_ASSERT, PTX_NONE, 0, SIM_ROW_TRANSFER, 0, 0, 0);
    else if (!f->has_body)
        refuse_extern(l, f->name);
    else
        ptx_emit(l, SIM_CALL, PTX_NONE, frame, 0, 0, 0, f->index);
}

/* call {(results),} callee {, (arguments)} {, prototype}; a recursive caller's registers are kept
 * meanwhile. */
void ptx_lower_call(struct ptx_lowering *l)
{
    uint32_t next = 0;
    const struct ptx_operand *results = NULL, *arguments = NULL;
    if (l->instruction->count > 1 && ptx_operand(l, 0)->kind == PTX_OPERAND_LIST)
        results = ptx_operand(l, next++);
    const struct ptx_operand *callee = ptx_operand(l, next++);
    if (next < l->instruction->count && ptx_operand(l, next)->kind == PTX_OPERAND_LIST)
        arguments = ptx_operand(l, next++);
    bool is_direct =
        callee->kind == PTX_OPERAND_SYMBOL && callee->symbol->kind == PTX_SYMBOL_FUNCTION;
    if (!is_direct && callee->kind != PTX_OPERAND_REGISTER)
        ptx_bad_operands(l);
    if (is_direct)
        check_arguments(l, l->parser->functions[callee->symbol->id], arguments);
    bool keeps = l->is_recursive[l->function->index] && !l->function->is_entry;
    if (keeps)
        ptx_emit(l, SIM_SAVE, PTX_NONE, 0, 0, 0, 0, l->function->index);
    if (arguments)
        pass_arguments(l, arguments);
    emit_call(l, callee);
    if (keeps)
        ptx_emit(l, SIM_RESTORE, PTX_NONE, 0, 0, 0, 0, l->function->index);
    if (results)
        take_results(l, results);
}

/* Results go to the transfer rows, where the caller finds them. */
void ptx_emit_return(struct ptx_lowering *l, const struct ptx_function *f)
{
    uint32_t granule = 0;
    for (uint32_t i = 0; i < f->result_count; i++) {
        const struct ptx_symbol *s = f->results[i];
        uint32_t rows = (uint32_t)((s->size + 3) / 4), to = SIM_ROW_TRANSFER + granule * 128;
        if (s->is_register)
            ptx_granules_from_row(l, to, l->flow.rows[s->id], ptx_type_unsigned(s->type), 0);
        else
            ptx_emit(l, SIM_COPY_ROWS, PTX_NONE, to, s->row, 0, 0, rows);
        granule += rows;
    }
    ptx_emit(l, SIM_RET, PTX_NONE, 0, 0, 0, 0, 0);
}

void ptx_lower_plain(struct ptx_lowering *l)
{
    enum sim_kind kind = (enum sim_kind)l->instruction->mnemonic->opcode->kind;
    if (l->instruction->count != (kind == SIM_NANOSLEEP ? 1 : 0))
        ptx_bad_operands(l);
    if (kind == SIM_RET && !l->function->is_entry)
        ptx_emit_return(l, l->function);
    else
        ptx_emit(l, kind == SIM_RET ? SIM_EXIT : kind, PTX_NONE, 0, 0, 0, 0, 0);
}

/* Fences: other threads of the host see memory in order anyway, a real fence is cheap. */
void ptx_lower_nothing(struct ptx_lowering *l)
{
    ptx_emit(l, SIM_FENCE, PTX_NONE, 0, 0, 0, 0, 0);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* Blocks have the barriers 0 to 15; a number out of these is refused as ptxas does. */
static uint32_t barrier_id(struct ptx_lowering *l, const struct ptx_operand *id)
{
    if (id->kind == PTX_OPERAND_INTEGER && id->value > 15)
        ptx_bad(l, SIM_LOAD_INVALID, "barrier %llu of '%.*s' is out of range, expected 0 to 15",
            (unsigned long long)id->value, (int)l->instruction->mnemonic->length,
            l->instruction->mnemonic->text);
    return ptx_source(l, id, PTX_U32);
}

static void lower_bar_red(struct ptx_lowering *l, uint32_t aligned)
{
    bool is_popc = ptx_l_has(l, PTX_M_POPC);
    uint32_t count = l->instruction->count;
    if ((count != 3 && count != 4) || ptx_l_type(l, 0) != (is_popc ? PTX_U32 : PTX_PRED) ||
        is_popc + ptx_l_has(l, PTX_M_AND) + ptx_l_has(l, PTX_M_OR) != 1)
        ptx_bad_operands(l);
    uint32_t id = barrier_id(l, ptx_operand(l, 1));
    uint32_t threads = count == 4 ? ptx_source(l, ptx_operand(l, 2), PTX_U32) : 0;
    uint32_t p = ptx_predicate(l, ptx_operand(l, count - 1));
    const struct ptx_operand *d = ptx_operand(l, 0);
    uint32_t target = is_popc ? ptx_target(l, d, PTX_U32) : ptx_target_predicate(l, d);
    ptx_emit(l, SIM_BAR_RED, PTX_NONE, p, id, threads, 0, aligned | (count == 4));
    ptx_emit(l, SIM_BAR_RESULT, is_popc ? PTX_U32 : PTX_PRED, target, id, 0, 0,
        ptx_l_has(l, PTX_M_AND) ? 1 : 0);
}

void ptx_lower_bar(struct ptx_lowering *l)
{
    const struct ptx_mnemonic *m = l->instruction->mnemonic;
    uint32_t aligned = m->opcode->name[3] == '\0' || ptx_l_has(l, PTX_M_ALIGNED) ? 2 : 0;
    uint32_t count = l->instruction->count;
    if (ptx_l_has(l, PTX_M_WARP)) {
        if (!ptx_l_has(l, PTX_M_SYNC) || count != 1)
            ptx_bad_operands(l);
        ptx_emit(l, SIM_BAR_WARP, PTX_NONE, 0, ptx_source(l, ptx_operand(l, 0), PTX_U32), 0, 0, 0);
        return;
    }
    if (ptx_l_has(l, PTX_M_RED)) {
        lower_bar_red(l, aligned);
        return;
    }
    bool is_arrive = ptx_l_has(l, PTX_M_ARRIVE);
    if (is_arrive == ptx_l_has(l, PTX_M_SYNC) || count < (is_arrive ? 2 : 1) || count > 2)
        ptx_bad_operands(l);
    uint32_t id = barrier_id(l, ptx_operand(l, 0));
    uint32_t threads = count == 2 ? ptx_source(l, ptx_operand(l, 1), PTX_U32) : 0;
    ptx_emit(l, is_arrive ? SIM_BAR_ARRIVE : SIM_BAR, PTX_NONE, 0, id, threads, 0,
        aligned | (count == 2));
}

/* ---- lanes together -------------------------------------------------------------------------- */

static void need_sync(struct ptx_lowering *l, uint32_t operands)
{
    if (!ptx_l_has(l, PTX_M_SYNC))
        ptx_bad_type(l);
    if (l->instruction->count != operands)
        ptx_bad_operands(l);
}

void ptx_lower_shfl(struct ptx_lowering *l)
{
    const struct ptx_operand *d = ptx_operand(l, 0);
    uint32_t mode = ptx_l_has(l, PTX_M_UP)     ? SIM_SHFL_UP
                    : ptx_l_has(l, PTX_M_DOWN) ? SIM_SHFL_DOWN
                    : ptx_l_has(l, PTX_M_BFLY) ? SIM_SHFL_BFLY
                                               : SIM_SHFL_IDX;
    need_sync(l, 5);
    if (ptx_l_type(l, 0) != PTX_B32 || l->instruction->mnemonic->modifier_count != 2)
        ptx_bad_type(l);
    uint32_t a = ptx_source(l, ptx_operand(l, 1), PTX_B32);
    uint32_t b = ptx_source(l, ptx_operand(l, 2), PTX_B32);
    uint32_t c = ptx_source(l, ptx_operand(l, 3), PTX_B32);
    uint32_t mask = ptx_source(l, ptx_operand(l, 4), PTX_B32);
    uint32_t p = d->is_paired ? ptx_target_predicate(l, d + 1) : SIM_ROW_DEAD;
    ptx_emit(l, SIM_SHFL, PTX_U32, ptx_target(l, d, PTX_B32), a, b, c, mode);
    uint32_t words = ptx_emit_words(l);
    l->program->ops[words].words[0] = p;
    l->program->ops[words].words[1] = mask;
}

void ptx_lower_vote(struct ptx_lowering *l)
{
    bool is_ballot = ptx_l_has(l, PTX_M_BALLOT);
    uint32_t mode = is_ballot                 ? SIM_VOTE_BALLOT
                    : ptx_l_has(l, PTX_M_ALL) ? SIM_VOTE_ALL
                    : ptx_l_has(l, PTX_M_ANY) ? SIM_VOTE_ANY
                                              : SIM_VOTE_UNI;
    need_sync(l, 3);
    if (ptx_l_type(l, 0) != (is_ballot ? PTX_B32 : PTX_PRED))
        ptx_bad_type(l);
    uint32_t p = ptx_predicate(l, ptx_operand(l, 1));
    uint32_t mask = ptx_source(l, ptx_operand(l, 2), PTX_B32);
    const struct ptx_operand *d = ptx_operand(l, 0);
    ptx_emit(l, SIM_VOTE, PTX_NONE,
        is_ballot ? ptx_target(l, d, PTX_B32) : ptx_target_predicate(l, d), p, mask, 0, mode);
}

void ptx_lower_match(struct ptx_lowering *l)
{
    const struct ptx_operand *d = ptx_operand(l, 0);
    enum ptx_type type = ptx_l_type(l, 0);
    bool is_all = ptx_l_has(l, PTX_M_ALL);
    need_sync(l, 3);
    if ((type != PTX_B32 && type != PTX_B64) || is_all == ptx_l_has(l, PTX_M_ANY))
        ptx_bad_type(l);
    uint32_t a = ptx_source(l, ptx_operand(l, 1), type);
    uint32_t mask = ptx_source(l, ptx_operand(l, 2), PTX_B32);
    uint32_t p = d->is_paired ? ptx_target_predicate(l, d + 1) : SIM_ROW_DEAD;
    ptx_emit(l, SIM_MATCH, ptx_type_unsigned(type), ptx_target(l, d, PTX_B32), a, mask, p, is_all);
}

void ptx_lower_redux(struct ptx_lowering *l)
{
    enum ptx_type type = ptx_l_type(l, 0);
    int op = ptx_l_has(l, PTX_M_ADD)   ? SIM_ATOMIC_ADD
             : ptx_l_has(l, PTX_M_MIN) ? SIM_ATOMIC_MIN
             : ptx_l_has(l, PTX_M_MAX) ? SIM_ATOMIC_MAX
             : ptx_l_has(l, PTX_M_AND) ? SIM_ATOMIC_AND
             : ptx_l_has(l, PTX_M_OR)  ? SIM_ATOMIC_OR
             : ptx_l_has(l, PTX_M_XOR) ? SIM_ATOMIC_XOR
                                       : -1;
    need_sync(l, 3);
    if ((type != PTX_U32 && type != PTX_S32 && type != PTX_B32) || op < 0 ||
        l->instruction->mnemonic->modifier_count != 2)
        ptx_bad_type(l);
    uint32_t a = ptx_source(l, ptx_operand(l, 1), type);
    uint32_t mask = ptx_source(l, ptx_operand(l, 2), PTX_B32);
    ptx_emit(l, SIM_REDUX, type == PTX_S32 ? PTX_S32 : PTX_U32,
        ptx_target(l, ptx_operand(l, 0), type), a, mask, 0, (uint32_t)op);
}

void ptx_lower_elect(struct ptx_lowering *l)
{
    const struct ptx_operand *d = ptx_operand(l, 0);
    need_sync(l, 2);
    if (!d->is_paired)
        ptx_bad_operands(l);
    uint32_t mask = ptx_source(l, ptx_operand(l, 1), PTX_B32);
    ptx_emit(l, SIM_ELECT, PTX_NONE, ptx_target(l, d, PTX_B32), 0, mask,
        ptx_target_predicate(l, d + 1), 0);
}

void ptx_lower_activemask(struct ptx_lowering *l)
{
    if (l->instruction->count != 1)
        ptx_bad_operands(l);
    ptx_emit(l, SIM_ACTIVEMASK, PTX_NONE, ptx_target(l, ptx_operand(l, 0), PTX_B32), 0, 0, 0, 0);
}
