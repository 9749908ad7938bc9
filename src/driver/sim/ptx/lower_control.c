/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, calls, barriers and warp-wide operations. */
#include "driver/sim/ptx/lower.h"

#include "base/math.h"

#include <string.h>

enum { WORD_D = 2, WORD_AUX = 7 };

static void add_block_fixup(
    struct ptx_lowering *lowering, uint32_t op, uint32_t word, uint32_t block)
{
    lowering->fixups = ptx_grow(lowering->parser, lowering->fixups, lowering->fixup_count,
        &lowering->fixup_capacity, sizeof(*lowering->fixups));
    lowering->fixups[lowering->fixup_count++] = (struct ptx_fixup){op, word};
    lowering->program->ops[op].words[word] = block;
}

static void add_fixup(struct ptx_lowering *lowering, uint32_t op, uint32_t word, uint32_t reference)
{
    uint32_t label = lowering->function->references[reference].label;
    add_block_fixup(lowering, op, word, lowering->flow.block_of_label[label]);
}

/* Sets operand d of a branch: the reconvergence point of its lanes, 0 when it is not tracked. */
static void set_reconvergence(struct ptx_lowering *lowering, uint32_t op)
{
    uint32_t join = lowering->flow.reconvergence[lowering->block];
    if (join == PTX_RECONVERGE_AT_RETURN)
        lowering->program->ops[op].d = SIM_RECONVERGE_AT_RETURN;
    else if (join)
        add_block_fixup(lowering, op, WORD_D, join - 1);
}

void ptx_lower_bra(struct ptx_lowering *lowering)
{
    const struct ptx_operand *operand = ptx_operand(lowering, 0);
    if (operand->kind != PTX_OPERAND_LABEL || lowering->instruction->count != 1)
        ptx_bad_operands(lowering);
    uint32_t op = ptx_emit(lowering, SIM_BRA, PTX_NONE, 0, 0, 0, 0, 0);
    add_fixup(lowering, op, WORD_AUX, operand->id);
    set_reconvergence(lowering, op);
}

void ptx_lower_brx(struct ptx_lowering *lowering)
{
    const struct ptx_operand *operand = ptx_operand(lowering, 1);
    if (!ptx_current_has(lowering, PTX_M_IDX) || operand->kind != PTX_OPERAND_SYMBOL ||
        operand->symbol->kind != PTX_SYMBOL_TARGETS ||
        operand->symbol->owner != lowering->function->index)
        ptx_bad_operands(lowering);
    const struct ptx_targets *targets = &lowering->function->targets[operand->symbol->id];
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 0), PTX_U32), words = 0;
    set_reconvergence(lowering, ptx_emit(lowering, SIM_BRX, PTX_NONE, 0, a, 0, 0, targets->count));
    for (uint32_t i = 0; i < targets->count; i++) {
        words = i % 8 == 0 ? ptx_emit_words(lowering) : words;
        add_fixup(lowering, words, i % 8, targets->first + i);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const struct ptx_symbol *parameter_of(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_SYMBOL && operand->symbol->kind == PTX_SYMBOL_VARIABLE &&
                   operand->symbol->space == PTX_PARAM && !operand->symbol->is_entry_parameter
               ? operand->symbol
               : NULL;
}

static uint32_t transfer_vreg(struct ptx_lowering *lowering, uint32_t word_index, uint32_t count)
{
    if ((uint64_t)(word_index + count) * 128 > lowering->transfer_bytes)
        ptx_bad(lowering, SIM_LOAD_INVALID, "arguments do not match any function");
    return SIM_VREG_TRANSFER + word_index * 128;
}

static enum ptx_type value_type(struct ptx_lowering *lowering, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_REGISTER && ptx_register_type(lowering, operand) != PTX_PRED &&
        ptx_width(ptx_register_type(lowering, operand)) <= 8)
        return ptx_type_unsigned(ptx_register_type(lowering, operand));
    if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_INTEGER)
        ptx_bad_operands(lowering);
    return PTX_U32;
}

static void pass_arguments(struct ptx_lowering *lowering, const struct ptx_operand *list)
{
    uint32_t word_index = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_operand *operand = list + 1 + i;
        const struct ptx_symbol *symbol = parameter_of(operand);
        enum ptx_type type = symbol ? PTX_NONE : value_type(lowering, operand);
        uint32_t vregs =
            symbol ? (uint32_t)((symbol->size + 3) / 4) : (ptx_type_size(type) + 3) / 4;
        uint32_t to = transfer_vreg(lowering, word_index, vregs);
        if (symbol)
            ptx_emit(lowering, SIM_COPY_VREGS, PTX_NONE, to, symbol->vreg, 0, 0, vregs);
        else
            ptx_words_from_vreg(lowering, to, ptx_source(lowering, operand, type), type, 0);
        word_index += vregs;
    }
}

static void receive_results(struct ptx_lowering *lowering, const struct ptx_operand *list)
{
    uint32_t word_index = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_operand *operand = list + 1 + i;
        const struct ptx_symbol *symbol = parameter_of(operand);
        if (operand->kind == PTX_OPERAND_SINK) {
            word_index++;
            continue;
        }
        enum ptx_type type = symbol ? PTX_NONE : value_type(lowering, operand);
        uint32_t vregs =
            symbol ? (uint32_t)((symbol->size + 3) / 4) : (ptx_type_size(type) + 3) / 4;
        uint32_t from = transfer_vreg(lowering, word_index, vregs);
        if (symbol)
            ptx_emit(lowering, SIM_COPY_VREGS, PTX_NONE, symbol->vreg, from, 0, 0, vregs);
        else
            ptx_vreg_from_words(
                lowering, ptx_target(lowering, operand, type), ptx_width(type), from, type, 0);
        word_index += vregs;
    }
}

static uint32_t parameter_words(struct ptx_symbol *const *list, uint32_t count)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < count; i++)
        words += (uint32_t)((list[i]->size + 3) / 4);
    return words;
}

static void check_arguments(struct ptx_lowering *lowering, const struct ptx_function *function,
    const struct ptx_operand *list)
{
    uint32_t words = 0;
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct ptx_symbol *symbol = parameter_of(list + 1 + i);
        words += symbol ? (uint32_t)((symbol->size + 3) / 4)
                        : (ptx_type_size(value_type(lowering, list + 1 + i)) + 3) / 4;
    }
    if (words != parameter_words(function->formals, function->formal_count))
        ptx_bad(lowering, SIM_LOAD_INVALID, "arguments do not match '%.100s'", function->name);
}

/* The device heap is the usual reason, so the message names it. */
__attribute__((noreturn)) static void fail_undefined_function(
    struct ptx_lowering *lowering, const char *name)
{
    if (strcmp(name, "malloc") == 0 || strcmp(name, "free") == 0)
        ptx_bad(
            lowering, SIM_LOAD_UNSUPPORTED, "'%s': simulated devices have no device heap", name);
    if (ptx_launches_kernels(name))
        ptx_bad(lowering, SIM_LOAD_UNSUPPORTED,
            "'%.100s': launches from kernels are valid PTX that simulated devices do not execute",
            name);
    ptx_bad(lowering, SIM_LOAD_UNRESOLVED, "function '%.150s' has no body", name);
}

static void emit_call(struct ptx_lowering *lowering, const struct ptx_operand *callee)
{
    uint32_t frame = lowering->function->local_bytes;
    frame = (uint32_t)base_round_up(frame, 16);
    if (callee->kind == PTX_OPERAND_REGISTER) {
        uint32_t a = ptx_source(lowering, callee, PTX_U64);
        ptx_emit(lowering, SIM_CALL_INDIRECT, PTX_NONE, frame, a, 0, 0, 0);
        return;
    }
    const struct ptx_function *function = lowering->parser->functions[callee->symbol->id];
    if (function->is_entry)
        ptx_bad(lowering, SIM_LOAD_UNSUPPORTED, "call of a kernel");
    if (!function->has_body && strcmp(function->name, "vprintf") == 0)
        ptx_emit(lowering, SIM_PRINT, PTX_NONE, SIM_VREG_TRANSFER, SIM_VREG_TRANSFER, 0, 0, 0);
    else if (!function->has_body && strcmp(function->name, "__assertfail") == 0)
        ptx_emit(lowering, SIM_ASSERT, PTX_NONE, 0, SIM_VREG_TRANSFER, 0, 0, 0);
    else if (!function->has_body)
        fail_undefined_function(lowering, function->name);
    else
        ptx_emit(lowering, SIM_CALL, PTX_NONE, frame, 0, 0, 0, function->index);
}

/* call {(results),} callee {, (arguments)} {, prototype}; a recursive caller's registers are saved
 * across the call. */
void ptx_lower_call(struct ptx_lowering *lowering)
{
    uint32_t next = 0;
    const struct ptx_operand *results = NULL, *arguments = NULL;
    if (lowering->instruction->count > 1 && ptx_operand(lowering, 0)->kind == PTX_OPERAND_LIST)
        results = ptx_operand(lowering, next++);
    const struct ptx_operand *callee = ptx_operand(lowering, next++);
    if (next < lowering->instruction->count &&
        ptx_operand(lowering, next)->kind == PTX_OPERAND_LIST)
        arguments = ptx_operand(lowering, next++);
    bool is_direct =
        callee->kind == PTX_OPERAND_SYMBOL && callee->symbol->kind == PTX_SYMBOL_FUNCTION;
    if (!is_direct && callee->kind != PTX_OPERAND_REGISTER)
        ptx_bad_operands(lowering);
    if (is_direct)
        check_arguments(lowering, lowering->parser->functions[callee->symbol->id], arguments);
    bool keeps = lowering->is_recursive[lowering->function->index] && !lowering->function->is_entry;
    if (keeps)
        ptx_emit(lowering, SIM_SAVE, PTX_NONE, 0, 0, 0, 0, lowering->function->index);
    if (arguments)
        pass_arguments(lowering, arguments);
    emit_call(lowering, callee);
    if (keeps)
        ptx_emit(lowering, SIM_RESTORE, PTX_NONE, 0, 0, 0, 0, lowering->function->index);
    if (results)
        receive_results(lowering, results);
}

/* Results go to the transfer area, where the caller reads them. */
void ptx_emit_return(struct ptx_lowering *lowering, const struct ptx_function *function)
{
    uint32_t word_index = 0;
    for (uint32_t i = 0; i < function->result_count; i++) {
        const struct ptx_symbol *symbol = function->results[i];
        uint32_t vregs = (uint32_t)((symbol->size + 3) / 4),
                 to = SIM_VREG_TRANSFER + word_index * 128;
        if (symbol->is_register)
            ptx_words_from_vreg(
                lowering, to, lowering->flow.vregs[symbol->id], ptx_type_unsigned(symbol->type), 0);
        else
            ptx_emit(lowering, SIM_COPY_VREGS, PTX_NONE, to, symbol->vreg, 0, 0, vregs);
        word_index += vregs;
    }
    ptx_emit(lowering, SIM_RET, PTX_NONE, 0, 0, 0, 0, 0);
}

void ptx_lower_no_result(struct ptx_lowering *lowering)
{
    enum sim_kind kind = (enum sim_kind)lowering->instruction->mnemonic->opcode->kind;
    if (lowering->instruction->count != (kind == SIM_NANOSLEEP ? 1 : 0))
        ptx_bad_operands(lowering);
    if (kind == SIM_RET && !lowering->function->is_entry)
        ptx_emit_return(lowering, lowering->function);
    else
        ptx_emit(lowering, kind == SIM_RET ? SIM_EXIT : kind, PTX_NONE, 0, 0, 0, 0, 0);
}

/*
 * Fences: the host's memory model already orders accesses between threads; a real fence is cheap.
 */
void ptx_lower_fence(struct ptx_lowering *lowering)
{
    ptx_emit(lowering, SIM_FENCE, PTX_NONE, 0, 0, 0, 0, 0);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* A block has barriers 0 to 15; other numbers are rejected, as by ptxas. */
static uint32_t barrier_id(struct ptx_lowering *lowering, const struct ptx_operand *id)
{
    if (id->kind == PTX_OPERAND_INTEGER && id->value > 15)
        ptx_bad(lowering, SIM_LOAD_INVALID,
            "barrier %llu of '%.*s' is out of range, expected 0 to 15",
            (unsigned long long)id->value, (int)lowering->instruction->mnemonic->length,
            lowering->instruction->mnemonic->text);
    return ptx_source(lowering, id, PTX_U32);
}

static void lower_bar_red(struct ptx_lowering *lowering, uint32_t aligned)
{
    bool is_popc = ptx_current_has(lowering, PTX_M_POPC);
    uint32_t count = lowering->instruction->count;
    if ((count != 3 && count != 4) ||
        ptx_current_type(lowering, 0) != (is_popc ? PTX_U32 : PTX_PRED) ||
        is_popc + ptx_current_has(lowering, PTX_M_AND) + ptx_current_has(lowering, PTX_M_OR) != 1)
        ptx_bad_operands(lowering);
    uint32_t id = barrier_id(lowering, ptx_operand(lowering, 1));
    uint32_t threads = count == 4 ? ptx_source(lowering, ptx_operand(lowering, 2), PTX_U32) : 0;
    uint32_t p = ptx_predicate(lowering, ptx_operand(lowering, count - 1));
    const struct ptx_operand *destination = ptx_operand(lowering, 0);
    uint32_t target = is_popc ? ptx_target(lowering, destination, PTX_U32)
                              : ptx_target_predicate(lowering, destination);
    ptx_emit(lowering, SIM_BAR_RED, PTX_NONE, p, id, threads, 0, aligned | (count == 4));
    ptx_emit(lowering, SIM_BAR_RESULT, is_popc ? PTX_U32 : PTX_PRED, target, id, 0, 0,
        ptx_current_has(lowering, PTX_M_AND) ? 1 : 0);
}

void ptx_lower_bar(struct ptx_lowering *lowering)
{
    const struct ptx_mnemonic *mnemonic = lowering->instruction->mnemonic;
    uint32_t aligned =
        mnemonic->opcode->name[3] == '\0' || ptx_current_has(lowering, PTX_M_ALIGNED) ? 2 : 0;
    uint32_t count = lowering->instruction->count;
    if (ptx_current_has(lowering, PTX_M_WARP)) {
        if (!ptx_current_has(lowering, PTX_M_SYNC) || count != 1)
            ptx_bad_operands(lowering);
        ptx_emit(lowering, SIM_BAR_WARP, PTX_NONE, 0,
            ptx_source(lowering, ptx_operand(lowering, 0), PTX_U32), 0, 0, 0);
        return;
    }
    if (ptx_current_has(lowering, PTX_M_RED)) {
        lower_bar_red(lowering, aligned);
        return;
    }
    bool is_arrive = ptx_current_has(lowering, PTX_M_ARRIVE);
    if (is_arrive == ptx_current_has(lowering, PTX_M_SYNC) || count < (is_arrive ? 2 : 1) ||
        count > 2)
        ptx_bad_operands(lowering);
    uint32_t id = barrier_id(lowering, ptx_operand(lowering, 0));
    uint32_t threads = count == 2 ? ptx_source(lowering, ptx_operand(lowering, 1), PTX_U32) : 0;
    ptx_emit(lowering, is_arrive ? SIM_BAR_ARRIVE : SIM_BAR, PTX_NONE, 0, id, threads, 0,
        aligned | (count == 2));
}

/* ---- warp-wide operations -------------------------------------------------------------------- */

static void require_sync(struct ptx_lowering *lowering, uint32_t operands)
{
    if (!ptx_current_has(lowering, PTX_M_SYNC))
        ptx_bad_type(lowering);
    if (lowering->instruction->count != operands)
        ptx_bad_operands(lowering);
}

void ptx_lower_shfl(struct ptx_lowering *lowering)
{
    const struct ptx_operand *destination = ptx_operand(lowering, 0);
    uint32_t mode = ptx_current_has(lowering, PTX_M_UP)     ? SIM_SHFL_UP
                    : ptx_current_has(lowering, PTX_M_DOWN) ? SIM_SHFL_DOWN
                    : ptx_current_has(lowering, PTX_M_BFLY) ? SIM_SHFL_BFLY
                                                            : SIM_SHFL_IDX;
    require_sync(lowering, 5);
    if (ptx_current_type(lowering, 0) != PTX_B32 ||
        lowering->instruction->mnemonic->modifier_count != 2)
        ptx_bad_type(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), PTX_B32);
    uint32_t b = ptx_source(lowering, ptx_operand(lowering, 2), PTX_B32);
    uint32_t c = ptx_source(lowering, ptx_operand(lowering, 3), PTX_B32);
    uint32_t mask = ptx_source(lowering, ptx_operand(lowering, 4), PTX_B32);
    uint32_t p =
        destination->is_paired ? ptx_target_predicate(lowering, destination + 1) : SIM_VREG_UNUSED;
    ptx_emit(
        lowering, SIM_SHFL, PTX_U32, ptx_target(lowering, destination, PTX_B32), a, b, c, mode);
    uint32_t words = ptx_emit_words(lowering);
    lowering->program->ops[words].words[0] = p;
    lowering->program->ops[words].words[1] = mask;
}

void ptx_lower_vote(struct ptx_lowering *lowering)
{
    bool is_ballot = ptx_current_has(lowering, PTX_M_BALLOT);
    uint32_t mode = is_ballot                              ? SIM_VOTE_BALLOT
                    : ptx_current_has(lowering, PTX_M_ALL) ? SIM_VOTE_ALL
                    : ptx_current_has(lowering, PTX_M_ANY) ? SIM_VOTE_ANY
                                                           : SIM_VOTE_UNI;
    require_sync(lowering, 3);
    if (ptx_current_type(lowering, 0) != (is_ballot ? PTX_B32 : PTX_PRED))
        ptx_bad_type(lowering);
    uint32_t p = ptx_predicate(lowering, ptx_operand(lowering, 1));
    uint32_t mask = ptx_source(lowering, ptx_operand(lowering, 2), PTX_B32);
    const struct ptx_operand *destination = ptx_operand(lowering, 0);
    ptx_emit(lowering, SIM_VOTE, PTX_NONE,
        is_ballot ? ptx_target(lowering, destination, PTX_B32)
                  : ptx_target_predicate(lowering, destination),
        p, mask, 0, mode);
}

void ptx_lower_match(struct ptx_lowering *lowering)
{
    const struct ptx_operand *destination = ptx_operand(lowering, 0);
    enum ptx_type type = ptx_current_type(lowering, 0);
    bool is_all = ptx_current_has(lowering, PTX_M_ALL);
    require_sync(lowering, 3);
    if ((type != PTX_B32 && type != PTX_B64) || is_all == ptx_current_has(lowering, PTX_M_ANY))
        ptx_bad_type(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), type);
    uint32_t mask = ptx_source(lowering, ptx_operand(lowering, 2), PTX_B32);
    uint32_t p =
        destination->is_paired ? ptx_target_predicate(lowering, destination + 1) : SIM_VREG_UNUSED;
    ptx_emit(lowering, SIM_MATCH, ptx_type_unsigned(type),
        ptx_target(lowering, destination, PTX_B32), a, mask, p, is_all);
}

void ptx_lower_redux(struct ptx_lowering *lowering)
{
    enum ptx_type type = ptx_current_type(lowering, 0);
    int op = ptx_current_has(lowering, PTX_M_ADD)   ? SIM_ATOMIC_ADD
             : ptx_current_has(lowering, PTX_M_MIN) ? SIM_ATOMIC_MIN
             : ptx_current_has(lowering, PTX_M_MAX) ? SIM_ATOMIC_MAX
             : ptx_current_has(lowering, PTX_M_AND) ? SIM_ATOMIC_AND
             : ptx_current_has(lowering, PTX_M_OR)  ? SIM_ATOMIC_OR
             : ptx_current_has(lowering, PTX_M_XOR) ? SIM_ATOMIC_XOR
                                                    : -1;
    require_sync(lowering, 3);
    if ((type != PTX_U32 && type != PTX_S32 && type != PTX_B32) || op < 0 ||
        lowering->instruction->mnemonic->modifier_count != 2)
        ptx_bad_type(lowering);
    uint32_t a = ptx_source(lowering, ptx_operand(lowering, 1), type);
    uint32_t mask = ptx_source(lowering, ptx_operand(lowering, 2), PTX_B32);
    ptx_emit(lowering, SIM_REDUX, type == PTX_S32 ? PTX_S32 : PTX_U32,
        ptx_target(lowering, ptx_operand(lowering, 0), type), a, mask, 0, (uint32_t)op);
}

void ptx_lower_elect(struct ptx_lowering *lowering)
{
    const struct ptx_operand *destination = ptx_operand(lowering, 0);
    require_sync(lowering, 2);
    if (!destination->is_paired)
        ptx_bad_operands(lowering);
    uint32_t mask = ptx_source(lowering, ptx_operand(lowering, 1), PTX_B32);
    ptx_emit(lowering, SIM_ELECT, PTX_NONE, ptx_target(lowering, destination, PTX_B32), 0, mask,
        ptx_target_predicate(lowering, destination + 1), 0);
}

void ptx_lower_activemask(struct ptx_lowering *lowering)
{
    if (lowering->instruction->count != 1)
        ptx_bad_operands(lowering);
    ptx_emit(lowering, SIM_ACTIVEMASK, PTX_NONE,
        ptx_target(lowering, ptx_operand(lowering, 0), PTX_B32), 0, 0, 0, 0);
}
