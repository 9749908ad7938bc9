/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basic blocks, liveness analysis and allocation of vector registers. PTX uses a new virtual
 * register for nearly every result; a vector register is reused once its PTX register is dead, so
 * that the frame of a warp fits in the L1 cache. Each lane follows its own sequential path and
 * writes only its own lane of a vector register, so the liveness of one thread is the liveness of
 * the warp.
 */
#include "driver/sim/ptx/lower.h"

#include <string.h>

/*
 * Liveness by bit sets costs (blocks x registers that live across blocks / 64) words per pass.
 * Beyond this total, which no compiler's output approaches, every register keeps its own vector
 * register.
 */
#define FLOW_WORK_LIMIT (UINT64_C(1) << 25)

enum { CLASSES = SIM_VREG_CLASSES };

struct liveness {
    struct ptx_lowering *lowering;
    const struct ptx_function *function;
    uint32_t *block_of;     /* basic block of each instruction */
    uint32_t *first, *last; /* of each register, in half steps; first > last: never used */
    uint32_t *global;       /* index among registers that live across blocks, + 1 */
    uint32_t *seen;         /* block + 1 that last wrote the whole register */
    uint32_t global_count, words;
    uint64_t *in, *kill, *out;
    uint32_t *edges, *edge_start; /* find_successors of each block */
};

static bool is_named(const struct ptx_instruction *instruction, const char *name)
{
    return strcmp(instruction->mnemonic->opcode->name, name) == 0;
}

static const struct ptx_operand *instruction_operands(
    const struct ptx_function *function, uint32_t index, uint32_t *count)
{
    uint32_t first = function->instructions[index].first;
    uint32_t end = index + 1 < function->instruction_count ? function->instructions[index + 1].first
                                                           : function->operand_count;
    *count = end - first;
    return function->operands + first;
}

/* Returns how many of the flattened operands the instruction writes. */
static uint32_t written_operands(
    const struct ptx_instruction *instruction, const struct ptx_operand *operand)
{
    uint32_t kind = instruction->mnemonic->opcode->kind;
    if (instruction->count == 0 || !instruction->mnemonic->opcode->writes)
        return 0;
    if (kind == SIM_BAR && !ptx_has(instruction->mnemonic, PTX_M_RED))
        return 0;
    if (kind == SIM_CALL && (operand->kind != PTX_OPERAND_LIST || instruction->count == 1))
        return 0;
    if (operand->kind == PTX_OPERAND_VECTOR)
        return operand->count + 1u + operand->is_paired;
    if (operand->kind == PTX_OPERAND_LIST)
        return operand->count + 1u;
    return 1u + operand->is_paired;
}

static void find_blocks(struct liveness *liveness)
{
    struct ptx_lowering *lowering = liveness->lowering;
    const struct ptx_function *function = liveness->function;
    uint8_t *leads = ptx_alloc(lowering->parser, function->instruction_count + 1u);
    leads[0] = 1;
    for (uint32_t i = 0; i < function->label_count; i++)
        leads[function->labels[i].instruction] = 1;
    for (uint32_t i = 0; i < function->instruction_count; i++)
        if (function->instructions[i].mnemonic->opcode->ends_block)
            leads[i + 1] = 1;
    lowering->flow.starts =
        ptx_alloc(lowering->parser, (function->instruction_count + 2u) * sizeof(uint32_t));
    liveness->block_of =
        ptx_alloc(lowering->parser, (function->instruction_count + 1u) * sizeof(uint32_t));
    for (uint32_t i = 0; i <= function->instruction_count; i++) {
        if (leads[i])
            lowering->flow.starts[lowering->flow.count++] = i;
        liveness->block_of[i] = lowering->flow.count - 1;
    }
    /* Labels at the end of the function refer to an empty block after the last instruction. */
    if (!leads[function->instruction_count])
        lowering->flow.starts[lowering->flow.count++] = function->instruction_count;
    liveness->block_of[function->instruction_count] = lowering->flow.count - 1;
    lowering->flow.starts[lowering->flow.count] = function->instruction_count;
    lowering->flow.block_of_label =
        ptx_alloc(lowering->parser, (function->label_count + 1u) * sizeof(uint32_t));
    for (uint32_t i = 0; i < function->label_count; i++)
        lowering->flow.block_of_label[i] = liveness->block_of[function->labels[i].instruction];
}

static const struct ptx_targets *branch_targets(
    const struct ptx_function *function, const struct ptx_operand *operand, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (operand[i].kind == PTX_OPERAND_SYMBOL && operand[i].symbol->kind == PTX_SYMBOL_TARGETS)
            return &function->targets[operand[i].symbol->id];
    return NULL;
}

static uint32_t find_successors(struct liveness *liveness, uint32_t block, uint32_t *edges)
{
    const struct ptx_function *function = liveness->function;
    const struct ptx_flow *flow = &liveness->lowering->flow;
    uint32_t end = flow->starts[block + 1], n = 0, count;
    bool falls = block + 1 < flow->count;
    if (end > flow->starts[block]) {
        const struct ptx_instruction *instruction = &function->instructions[end - 1];
        const struct ptx_operand *operand = instruction_operands(function, end - 1, &count);
        if (is_named(instruction, "bra") || is_named(instruction, "ret") ||
            is_named(instruction, "exit") || is_named(instruction, "brx"))
            falls = falls && instruction->has_guard;
        if (is_named(instruction, "bra") && count > 0 && operand->kind == PTX_OPERAND_LABEL)
            edges[n++] = flow->block_of_label[function->references[operand->id].label];
        const struct ptx_targets *targets =
            is_named(instruction, "brx") ? branch_targets(function, operand, count) : NULL;
        for (uint32_t k = 0; targets && k < targets->count; k++)
            edges[n++] = flow->block_of_label[function->references[targets->first + k].label];
    }
    if (falls)
        edges[n++] = block + 1;
    return n;
}

static void find_edges(struct liveness *liveness)
{
    const struct ptx_function *function = liveness->function;
    const struct ptx_flow *flow = &liveness->lowering->flow;
    uint64_t capacity = (uint64_t)flow->count * 2;
    for (uint32_t b = 0; b < flow->count; b++) {
        uint32_t end = flow->starts[b + 1], count;
        if (end == flow->starts[b] || !is_named(&function->instructions[end - 1], "brx"))
            continue;
        const struct ptx_operand *operand = instruction_operands(function, end - 1, &count);
        const struct ptx_targets *targets = branch_targets(function, operand, count);
        capacity += targets ? targets->count : 0;
    }
    if (capacity > FLOW_WORK_LIMIT)
        ptx_fail(liveness->lowering->parser, SIM_LOAD_UNSUPPORTED, function->line,
            "too many branch targets");
    liveness->edges = ptx_alloc(liveness->lowering->parser, capacity * sizeof(uint32_t));
    liveness->edge_start =
        ptx_alloc(liveness->lowering->parser, (flow->count + 1u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < flow->count; b++)
        liveness->edge_start[b + 1] =
            liveness->edge_start[b] +
            find_successors(liveness, b, liveness->edges + liveness->edge_start[b]);
}

static bool is_register(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_ADDRESS_REGISTER;
}

static void extend_range(struct liveness *liveness, uint32_t id, uint32_t step)
{
    if (liveness->first[id] > step)
        liveness->first[id] = step;
    if (liveness->last[id] < step)
        liveness->last[id] = step;
}

/* A use that precedes any complete write in its block reads a value from another block. */
static void note_use(struct liveness *liveness, uint32_t id, uint32_t step, uint32_t block)
{
    extend_range(liveness, id, step);
    if (liveness->seen[id] != block + 1 && liveness->global[id] == 0)
        liveness->global[id] = ++liveness->global_count;
}

static void scan_instruction(struct liveness *liveness, uint32_t index, uint32_t block)
{
    const struct ptx_instruction *instruction = &liveness->function->instructions[index];
    uint32_t count;
    const struct ptx_operand *operand = instruction_operands(liveness->function, index, &count);
    uint32_t written = written_operands(instruction, operand);
    for (uint32_t k = 0; k < count; k++)
        if (is_register(&operand[k]) &&
            (k >= written || operand[k].kind == PTX_OPERAND_ADDRESS_REGISTER))
            note_use(liveness, operand[k].id, index * 2, block);
    if (instruction->has_guard)
        note_use(liveness, instruction->guard, index * 2, block);
    for (uint32_t k = 0; k < written && k < count; k++) {
        if (operand[k].kind != PTX_OPERAND_REGISTER)
            continue;
        if (instruction->has_guard)
            note_use(liveness, operand[k].id, index * 2, block);
        if (!instruction->mnemonic->opcode->is_elementwise || written > 1)
            extend_range(liveness, operand[k].id, index * 2);
        extend_range(liveness, operand[k].id, index * 2 + 1);
        if (!instruction->has_guard)
            liveness->seen[operand[k].id] = block + 1;
    }
}

/* Results, formal parameters and formal registers are live from the start. */
static void scan_function(struct liveness *liveness)
{
    const struct ptx_function *function = liveness->function;
    for (uint32_t b = 0; b < liveness->lowering->flow.count; b++)
        for (uint32_t i = liveness->lowering->flow.starts[b];
             i < liveness->lowering->flow.starts[b + 1]; i++)
            scan_instruction(liveness, i, b);
    for (uint32_t k = 0; k < function->formal_count + function->result_count; k++) {
        const struct ptx_symbol *symbol = k < function->formal_count
                                              ? function->formals[k]
                                              : function->results[k - function->formal_count];
        if (symbol->is_register) {
            extend_range(liveness, symbol->id, 0);
            extend_range(liveness, symbol->id, function->instruction_count * 2 + 1);
        }
    }
}

static void compute_local_sets(struct liveness *liveness, uint32_t block)
{
    uint64_t *in = liveness->in + (size_t)block * liveness->words;
    uint64_t *kill = liveness->kill + (size_t)block * liveness->words;
    for (uint32_t i = liveness->lowering->flow.starts[block];
         i < liveness->lowering->flow.starts[block + 1]; i++) {
        const struct ptx_instruction *instruction = &liveness->function->instructions[i];
        uint32_t count;
        const struct ptx_operand *operand = instruction_operands(liveness->function, i, &count);
        uint32_t written = written_operands(instruction, operand);
        for (uint32_t k = 0; k <= count; k++) {
            bool is_guard = k == count;
            if (is_guard ? !instruction->has_guard : !is_register(&operand[k]))
                continue;
            uint32_t g = liveness->global[is_guard ? instruction->guard : operand[k].id];
            bool is_read = is_guard || k >= written || instruction->has_guard ||
                           operand[k].kind == PTX_OPERAND_ADDRESS_REGISTER;
            if (g && is_read && !(kill[(g - 1) / 64] >> ((g - 1) % 64) & 1))
                in[(g - 1) / 64] |= UINT64_C(1) << ((g - 1) % 64);
        }
        for (uint32_t k = 0; k < written && k < count; k++) {
            uint32_t g =
                operand[k].kind == PTX_OPERAND_REGISTER ? liveness->global[operand[k].id] : 0;
            if (g && !instruction->has_guard)
                kill[(g - 1) / 64] |= UINT64_C(1) << ((g - 1) % 64);
        }
    }
}

/* Iterates backward to a fixed point; returns false when that exceeds the work limit. */
static bool solve_liveness(struct liveness *liveness)
{
    uint32_t blocks = liveness->lowering->flow.count;
    uint64_t work = 0;
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (uint32_t b = blocks; b-- > 0;) {
            uint64_t *out = liveness->out + (size_t)b * liveness->words,
                     *in = liveness->in + (size_t)b * liveness->words;
            const uint64_t *kill = liveness->kill + (size_t)b * liveness->words;
            for (uint32_t e = liveness->edge_start[b]; e < liveness->edge_start[b + 1]; e++)
                for (uint32_t w = 0; w < liveness->words; w++)
                    out[w] |= liveness->in[(size_t)liveness->edges[e] * liveness->words + w];
            for (uint32_t w = 0; w < liveness->words; w++) {
                uint64_t next = in[w] | (out[w] & ~kill[w]);
                is_changed |= next != in[w];
                in[w] = next;
            }
            work += (uint64_t)liveness->words *
                    (liveness->edge_start[b + 1] - liveness->edge_start[b] + 1);
        }
        if (work > FLOW_WORK_LIMIT * 4)
            return false;
    }
    return true;
}

static void extend_ranges(
    struct liveness *liveness, const uint64_t *set, const uint32_t *ids, uint32_t step)
{
    for (uint32_t w = 0; w < liveness->words; w++)
        for (uint64_t bits = set[w]; bits; bits &= bits - 1)
            extend_range(liveness, ids[w * 64 + (uint32_t)__builtin_ctzll(bits)], step);
}

static bool extend_across_blocks(struct liveness *liveness)
{
    struct ptx_parser *parser = liveness->lowering->parser;
    uint32_t blocks = liveness->lowering->flow.count;
    liveness->words = (liveness->global_count + 63) / 64;
    if ((uint64_t)liveness->words * blocks > FLOW_WORK_LIMIT)
        return false;
    size_t bytes = (size_t)liveness->words * blocks * sizeof(uint64_t);
    liveness->in = ptx_alloc(parser, bytes);
    liveness->out = ptx_alloc(parser, bytes);
    liveness->kill = ptx_alloc(parser, bytes);
    for (uint32_t b = 0; b < blocks; b++)
        compute_local_sets(liveness, b);
    if (!solve_liveness(liveness))
        return false;
    uint32_t *ids = ptx_alloc(parser, ((size_t)liveness->words * 64 + 1) * sizeof(uint32_t));
    for (uint32_t r = 0; r < liveness->function->register_count; r++)
        if (liveness->global[r])
            ids[liveness->global[r] - 1] = r;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t start = liveness->lowering->flow.starts[b],
                 end = liveness->lowering->flow.starts[b + 1];
        extend_ranges(liveness, liveness->in + (size_t)b * liveness->words, ids, start * 2);
        extend_ranges(liveness, liveness->out + (size_t)b * liveness->words, ids,
            end > start ? end * 2 - 1 : start * 2);
    }
    return true;
}

static uint32_t vreg_class(enum ptx_type type)
{
    if (type == PTX_PRED)
        return 0;
    uint32_t width = ptx_width(type);
    return width == 2 ? 1 : width == 4 ? 2 : width == 8 ? 3 : 4;
}

static const uint32_t class_bytes[CLASSES] = {4, 64, 128, 256, 512};

/* Linear scan_function over the registers by first step; a register takes over the slot of one that
 * has ended. */
static void assign_slots(struct liveness *liveness, uint32_t *slots, uint32_t counts[CLASSES])
{
    const struct ptx_function *function = liveness->function;
    struct ptx_parser *parser = liveness->lowering->parser;
    uint32_t steps = function->instruction_count * 2 + 2;
    uint32_t *starting = ptx_alloc(parser, (steps + 1u) * sizeof(uint32_t)); /* register + 1 */
    uint32_t *ending = ptx_alloc(parser, (steps + 1u) * sizeof(uint32_t));
    uint32_t *next_start = ptx_alloc(parser, (function->register_count + 1u) * sizeof(uint32_t));
    uint32_t *next_end = ptx_alloc(parser, (function->register_count + 1u) * sizeof(uint32_t));
    uint32_t *next_free = ptx_alloc(parser, (function->register_count + 1u) * sizeof(uint32_t));
    uint32_t free_slots[CLASSES] = {0}; /* register + 1 whose slot is free */
    for (uint32_t r = function->register_count; r-- > 0;) {
        if (liveness->first[r] > liveness->last[r])
            continue;
        next_start[r] = starting[liveness->first[r]];
        starting[liveness->first[r]] = r + 1;
        next_end[r] = ending[liveness->last[r]];
        ending[liveness->last[r]] = r + 1;
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t r = starting[step]; r; r = next_start[r - 1]) {
            uint32_t c = vreg_class((enum ptx_type)function->register_types[r - 1]);
            if (free_slots[c]) {
                slots[r - 1] = slots[free_slots[c] - 1];
                free_slots[c] = next_free[free_slots[c] - 1];
            } else {
                slots[r - 1] = counts[c]++;
            }
        }
        for (uint32_t r = ending[step]; r; r = next_end[r - 1]) {
            uint32_t c = vreg_class((enum ptx_type)function->register_types[r - 1]);
            next_free[r - 1] = free_slots[c];
            free_slots[c] = r;
        }
    }
}

static void assign_vregs(struct liveness *liveness, bool is_solved)
{
    const struct ptx_function *function = liveness->function;
    struct ptx_flow *flow = &liveness->lowering->flow;
    uint32_t *slots =
        ptx_alloc(liveness->lowering->parser, (function->register_count + 1u) * sizeof(uint32_t));
    uint32_t counts[CLASSES] = {0}, bases[CLASSES];
    if (is_solved)
        assign_slots(liveness, slots, counts);
    else
        for (uint32_t r = 0; r < function->register_count; r++)
            slots[r] = counts[vreg_class((enum ptx_type)function->register_types[r])]++;
    for (uint32_t c = 0; c < CLASSES; c++) {
        if (counts[c] > (1u << 28) / class_bytes[c])
            ptx_fail(liveness->lowering->parser, SIM_LOAD_UNSUPPORTED, function->line,
                "too many registers");
        bases[c] = ptx_frame_allocate(liveness->lowering, counts[c] * class_bytes[c]);
        flow->area_base[c] = bases[c];
        flow->area_count[c] = counts[c];
    }
    flow->vregs =
        ptx_alloc(liveness->lowering->parser, (function->register_count + 1u) * sizeof(uint32_t));
    for (uint32_t r = 0; r < function->register_count; r++) {
        uint32_t c = vreg_class((enum ptx_type)function->register_types[r]);
        flow->vregs[r] = bases[c] + slots[r] * class_bytes[c];
    }
    flow->register_count = (counts[1] + 1) / 2 + counts[2] + 2 * counts[3] + 4 * counts[4];
}

void ptx_flow_build(struct ptx_lowering *lowering, const struct ptx_function *function)
{
    struct liveness liveness = {.lowering = lowering, .function = function};
    size_t registers = function->register_count + 1u;
    memset(&lowering->flow, 0, sizeof(lowering->flow));
    find_blocks(&liveness);
    find_edges(&liveness);
    liveness.first = ptx_alloc(lowering->parser, registers * sizeof(uint32_t));
    liveness.last = ptx_alloc(lowering->parser, registers * sizeof(uint32_t));
    liveness.global = ptx_alloc(lowering->parser, registers * sizeof(uint32_t));
    liveness.seen = ptx_alloc(lowering->parser, registers * sizeof(uint32_t));
    memset(liveness.first, 0xff, registers * sizeof(uint32_t));
    ptx_reconvergence_find(lowering, function, liveness.edges, liveness.edge_start);
    scan_function(&liveness);
    assign_vregs(&liveness, extend_across_blocks(&liveness));
}
