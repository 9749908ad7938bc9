/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basic blocks, liveness, and rows for registers. PTX names a fresh register for nearly every
 * result; rows are reused once a register is dead, so that the frame of a warp stays in the
 * first-level cache. A lane runs its own sequential path and writes only its own lane of a row, so
 * liveness of one thread is liveness of a warp.
 */
#include "sim/ptx/lower.h"

#include <string.h>

/* Liveness by bit sets costs blocks × registers that cross blocks / 64 words a pass. Beyond this
   many words in all, which no compiler's output comes near, every register keeps a row of its own.
 */
#define FLOW_WORK_LIMIT (UINT64_C(1) << 25)

enum { CLASSES = SIM_ROW_CLASSES };

struct liveness {
    struct ptx_lowering *l;
    const struct ptx_function *f;
    uint32_t *block_of;     /* block by instruction */
    uint32_t *first, *last; /* of each register, in half steps; first > last: never seen */
    uint32_t *global;       /* number among registers that live across blocks, + 1 */
    uint32_t *seen;         /* block + 1 in which a register was last written whole */
    uint32_t global_count, words;
    uint64_t *in, *kill, *out;
    uint32_t *edges, *edge_start; /* successors of each block */
};

static bool is_named(const struct ptx_instruction *i, const char *name)
{
    return strcmp(i->mnemonic->opcode->name, name) == 0;
}

static const struct ptx_operand *operands_of(
    const struct ptx_function *f, uint32_t index, uint32_t *count)
{
    uint32_t first = f->instructions[index].first;
    uint32_t end =
        index + 1 < f->instruction_count ? f->instructions[index + 1].first : f->operand_count;
    *count = end - first;
    return f->operands + first;
}

/* How many operands, counted flat, the instruction writes. */
static uint32_t written_operands(const struct ptx_instruction *i, const struct ptx_operand *o)
{
    uint32_t kind = i->mnemonic->opcode->kind;
    if (i->count == 0 || !i->mnemonic->opcode->writes)
        return 0;
    if (kind == SIM_BAR && !ptx_has(i->mnemonic, PTX_M_RED))
        return 0;
    if (kind == SIM_CALL && (o->kind != PTX_OPERAND_LIST || i->count == 1))
        return 0;
    if (o->kind == PTX_OPERAND_VECTOR)
        return o->count + 1u + o->is_paired;
    if (o->kind == PTX_OPERAND_LIST)
        return o->count + 1u;
    return 1u + o->is_paired;
}

static void find_blocks(struct liveness *v)
{
    struct ptx_lowering *l = v->l;
    const struct ptx_function *f = v->f;
    uint8_t *leads = ptx_alloc(l->parser, f->instruction_count + 1u);
    leads[0] = 1;
    for (uint32_t i = 0; i < f->label_count; i++)
        leads[f->labels[i].instruction] = 1;
    for (uint32_t i = 0; i < f->instruction_count; i++)
        if (f->instructions[i].mnemonic->opcode->ends_block)
            leads[i + 1] = 1;
    l->flow.starts = ptx_alloc(l->parser, (f->instruction_count + 2u) * sizeof(uint32_t));
    v->block_of = ptx_alloc(l->parser, (f->instruction_count + 1u) * sizeof(uint32_t));
    for (uint32_t i = 0; i <= f->instruction_count; i++) {
        if (leads[i])
            l->flow.starts[l->flow.count++] = i;
        v->block_of[i] = l->flow.count - 1;
    }
    /* A block past the last instruction is where labels at the end lead. */
    if (!leads[f->instruction_count])
        l->flow.starts[l->flow.count++] = f->instruction_count;
    v->block_of[f->instruction_count] = l->flow.count - 1;
    l->flow.starts[l->flow.count] = f->instruction_count;
    l->flow.block_of_label = ptx_alloc(l->parser, (f->label_count + 1u) * sizeof(uint32_t));
    for (uint32_t i = 0; i < f->label_count; i++)
        l->flow.block_of_label[i] = v->block_of[f->labels[i].instruction];
}

static const struct ptx_targets *targets_of(
    const struct ptx_function *f, const struct ptx_operand *o, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (o[i].kind == PTX_OPERAND_SYMBOL && o[i].symbol->kind == PTX_SYMBOL_TARGETS)
            return &f->targets[o[i].symbol->id];
    return NULL;
}

static uint32_t successors(struct liveness *v, uint32_t block, uint32_t *edges)
{
    const struct ptx_function *f = v->f;
    const struct ptx_flow *flow = &v->l->flow;
    uint32_t end = flow->starts[block + 1], n = 0, count;
    bool falls = block + 1 < flow->count;
    if (end > flow->starts[block]) {
        const struct ptx_instruction *i = &f->instructions[end - 1];
        const struct ptx_operand *o = operands_of(f, end - 1, &count);
        if (is_named(i, "bra") || is_named(i, "ret") || is_named(i, "exit") || is_named(i, "brx"))
            falls = falls && i->has_guard;
        if (is_named(i, "bra") && count > 0 && o->kind == PTX_OPERAND_LABEL)
            edges[n++] = flow->block_of_label[f->references[o->id].label];
        const struct ptx_targets *t = is_named(i, "brx") ? targets_of(f, o, count) : NULL;
        for (uint32_t k = 0; t && k < t->count; k++)
            edges[n++] = flow->block_of_label[f->references[t->first + k].label];
    }
    if (falls)
        edges[n++] = block + 1;
    return n;
}

static void find_edges(struct liveness *v)
{
    const struct ptx_function *f = v->f;
    const struct ptx_flow *flow = &v->l->flow;
    uint64_t room = (uint64_t)flow->count * 2;
    for (uint32_t b = 0; b < flow->count; b++) {
        uint32_t end = flow->starts[b + 1], count;
        if (end == flow->starts[b] || !is_named(&f->instructions[end - 1], "brx"))
            continue;
        const struct ptx_operand *o = operands_of(f, end - 1, &count);
        const struct ptx_targets *t = targets_of(f, o, count);
        room += t ? t->count : 0;
    }
    if (room > FLOW_WORK_LIMIT)
        ptx_fail(v->l->parser, SIM_LOAD_UNSUPPORTED, f->line, "too many branch targets");
    v->edges = ptx_alloc(v->l->parser, room * sizeof(uint32_t));
    v->edge_start = ptx_alloc(v->l->parser, (flow->count + 1u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < flow->count; b++)
        v->edge_start[b + 1] = v->edge_start[b] + successors(v, b, v->edges + v->edge_start[b]);
}

static bool is_register(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_REGISTER || o->kind == PTX_OPERAND_ADDRESS_REGISTER;
}

static void touch(struct liveness *v, uint32_t id, uint32_t step)
{
    if (v->first[id] > step)
        v->first[id] = step;
    if (v->last[id] < step)
        v->last[id] = step;
}

/* A use before any whole write in its block: the register comes from another block. */
static void use(struct liveness *v, uint32_t id, uint32_t step, uint32_t block)
{
    touch(v, id, step);
    if (v->seen[id] != block + 1 && v->global[id] == 0)
        v->global[id] = ++v->global_count;
}

static void scan_instruction(struct liveness *v, uint32_t index, uint32_t block)
{
    const struct ptx_instruction *i = &v->f->instructions[index];
    uint32_t count;
    const struct ptx_operand *o = operands_of(v->f, index, &count);
    uint32_t written = written_operands(i, o);
    for (uint32_t k = 0; k < count; k++)
        if (is_register(&o[k]) && (k >= written || o[k].kind == PTX_OPERAND_ADDRESS_REGISTER))
            use(v, o[k].id, index * 2, block);
    if (i->has_guard)
        use(v, i->guard, index * 2, block);
    for (uint32_t k = 0; k < written && k < count; k++) {
        if (o[k].kind != PTX_OPERAND_REGISTER)
            continue;
        if (i->has_guard)
            use(v, o[k].id, index * 2, block);
        if (!i->mnemonic->opcode->is_elementwise || written > 1)
            touch(v, o[k].id, index * 2);
        touch(v, o[k].id, index * 2 + 1);
        if (!i->has_guard)
            v->seen[o[k].id] = block + 1;
    }
}

/* Results of formals and registers that formals are: live from the start. */
static void scan(struct liveness *v)
{
    const struct ptx_function *f = v->f;
    for (uint32_t b = 0; b < v->l->flow.count; b++)
        for (uint32_t i = v->l->flow.starts[b]; i < v->l->flow.starts[b + 1]; i++)
            scan_instruction(v, i, b);
    for (uint32_t k = 0; k < f->formal_count + f->result_count; k++) {
        const struct ptx_symbol *s =
            k < f->formal_count ? f->formals[k] : f->results[k - f->formal_count];
        if (s->is_register) {
            touch(v, s->id, 0);
            touch(v, s->id, f->instruction_count * 2 + 1);
        }
    }
}

static void local_sets(struct liveness *v, uint32_t block)
{
    uint64_t *in = v->in + (size_t)block * v->words;
    uint64_t *kill = v->kill + (size_t)block * v->words;
    for (uint32_t i = v->l->flow.starts[block]; i < v->l->flow.starts[block + 1]; i++) {
        const struct ptx_instruction *instruction = &v->f->instructions[i];
        uint32_t count;
        const struct ptx_operand *o = operands_of(v->f, i, &count);
        uint32_t written = written_operands(instruction, o);
        for (uint32_t k = 0; k <= count; k++) {
            bool is_guard = k == count;
            if (is_guard ? !instruction->has_guard : !is_register(&o[k]))
                continue;
            uint32_t g = v->global[is_guard ? instruction->guard : o[k].id];
            bool is_read = is_guard || k >= written || instruction->has_guard ||
                           o[k].kind == PTX_OPERAND_ADDRESS_REGISTER;
            if (g && is_read && !(kill[(g - 1) / 64] >> ((g - 1) % 64) & 1))
                in[(g - 1) / 64] |= UINT64_C(1) << ((g - 1) % 64);
        }
        for (uint32_t k = 0; k < written && k < count; k++) {
            uint32_t g = o[k].kind == PTX_OPERAND_REGISTER ? v->global[o[k].id] : 0;
            if (g && !instruction->has_guard)
                kill[(g - 1) / 64] |= UINT64_C(1) << ((g - 1) % 64);
        }
    }
}

/* Backward until nothing changes; false when that takes more work than it is worth. */
static bool solve(struct liveness *v)
{
    uint32_t blocks = v->l->flow.count;
    uint64_t work = 0;
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (uint32_t b = blocks; b-- > 0;) {
            uint64_t *out = v->out + (size_t)b * v->words, *in = v->in + (size_t)b * v->words;
            const uint64_t *kill = v->kill + (size_t)b * v->words;
            for (uint32_t e = v->edge_start[b]; e < v->edge_start[b + 1]; e++)
                for (uint32_t w = 0; w < v->words; w++)
                    out[w] |= v->in[(size_t)v->edges[e] * v->words + w];
            for (uint32_t w = 0; w < v->words; w++) {
                uint64_t next = in[w] | (out[w] & ~kill[w]);
                is_changed |= next != in[w];
                in[w] = next;
            }
            work += (uint64_t)v->words * (v->edge_start[b + 1] - v->edge_start[b] + 1);
        }
        if (work > FLOW_WORK_LIMIT * 4)
            return false;
    }
    return true;
}

static void stretch(struct liveness *v, const uint64_t *set, const uint32_t *ids, uint32_t step)
{
    for (uint32_t w = 0; w < v->words; w++)
        for (uint64_t bits = set[w]; bits; bits &= bits - 1)
            touch(v, ids[w * 64 + (uint32_t)__builtin_ctzll(bits)], step);
}

static bool spread(struct liveness *v)
{
    struct ptx_parser *p = v->l->parser;
    uint32_t blocks = v->l->flow.count;
    v->words = (v->global_count + 63) / 64;
    if ((uint64_t)v->words * blocks > FLOW_WORK_LIMIT)
        return false;
    size_t bytes = (size_t)v->words * blocks * sizeof(uint64_t);
    v->in = ptx_alloc(p, bytes);
    v->out = ptx_alloc(p, bytes);
    v->kill = ptx_alloc(p, bytes);
    for (uint32_t b = 0; b < blocks; b++)
        local_sets(v, b);
    if (!solve(v))
        return false;
    uint32_t *ids = ptx_alloc(p, ((size_t)v->words * 64 + 1) * sizeof(uint32_t));
    for (uint32_t r = 0; r < v->f->register_count; r++)
        if (v->global[r])
            ids[v->global[r] - 1] = r;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t start = v->l->flow.starts[b], end = v->l->flow.starts[b + 1];
        stretch(v, v->in + (size_t)b * v->words, ids, start * 2);
        stretch(v, v->out + (size_t)b * v->words, ids, end > start ? end * 2 - 1 : start * 2);
    }
    return true;
}

static uint32_t class_of(enum ptx_type type)
{
    if (type == PTX_PRED)
        return 0;
    uint32_t width = ptx_width(type);
    return width == 2 ? 1 : width == 4 ? 2 : width == 8 ? 3 : 4;
}

static const uint32_t class_bytes[CLASSES] = {4, 64, 128, 256, 512};

/* Linear scan: registers by first step; the slot of one that ended is the next one's. */
static void give_slots(struct liveness *v, uint32_t *slots, uint32_t counts[CLASSES])
{
    const struct ptx_function *f = v->f;
    struct ptx_parser *p = v->l->parser;
    uint32_t steps = f->instruction_count * 2 + 2;
    uint32_t *starting = ptx_alloc(p, (steps + 1u) * sizeof(uint32_t)); /* register + 1 */
    uint32_t *ending = ptx_alloc(p, (steps + 1u) * sizeof(uint32_t));
    uint32_t *next_start = ptx_alloc(p, (f->register_count + 1u) * sizeof(uint32_t));
    uint32_t *next_end = ptx_alloc(p, (f->register_count + 1u) * sizeof(uint32_t));
    uint32_t *next_free = ptx_alloc(p, (f->register_count + 1u) * sizeof(uint32_t));
    uint32_t free_slots[CLASSES] = {0}; /* register + 1 whose slot is free */
    for (uint32_t r = f->register_count; r-- > 0;) {
        if (v->first[r] > v->last[r])
            continue;
        next_start[r] = starting[v->first[r]];
        starting[v->first[r]] = r + 1;
        next_end[r] = ending[v->last[r]];
        ending[v->last[r]] = r + 1;
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t r = starting[step]; r; r = next_start[r - 1]) {
            uint32_t c = class_of((enum ptx_type)f->register_types[r - 1]);
            if (free_slots[c]) {
                slots[r - 1] = slots[free_slots[c] - 1];
                free_slots[c] = next_free[free_slots[c] - 1];
            } else {
                slots[r - 1] = counts[c]++;
            }
        }
        for (uint32_t r = ending[step]; r; r = next_end[r - 1]) {
            uint32_t c = class_of((enum ptx_type)f->register_types[r - 1]);
            next_free[r - 1] = free_slots[c];
            free_slots[c] = r;
        }
    }
}

static void place_rows(struct liveness *v, bool is_solved)
{
    const struct ptx_function *f = v->f;
    struct ptx_flow *flow = &v->l->flow;
    uint32_t *slots = ptx_alloc(v->l->parser, (f->register_count + 1u) * sizeof(uint32_t));
    uint32_t counts[CLASSES] = {0}, bases[CLASSES];
    if (is_solved)
        give_slots(v, slots, counts);
    else
        for (uint32_t r = 0; r < f->register_count; r++)
            slots[r] = counts[class_of((enum ptx_type)f->register_types[r])]++;
    for (uint32_t c = 0; c < CLASSES; c++) {
        if (counts[c] > (1u << 28) / class_bytes[c])
            ptx_fail(v->l->parser, SIM_LOAD_UNSUPPORTED, f->line, "too many registers");
        bases[c] = ptx_frame_take(v->l, counts[c] * class_bytes[c]);
        flow->area_base[c] = bases[c];
        flow->area_count[c] = counts[c];
    }
    flow->rows = ptx_alloc(v->l->parser, (f->register_count + 1u) * sizeof(uint32_t));
    for (uint32_t r = 0; r < f->register_count; r++) {
        uint32_t c = class_of((enum ptx_type)f->register_types[r]);
        flow->rows[r] = bases[c] + slots[r] * class_bytes[c];
    }
    flow->register_count = (counts[1] + 1) / 2 + counts[2] + 2 * counts[3] + 4 * counts[4];
}

void ptx_flow_build(struct ptx_lowering *l, const struct ptx_function *f)
{
    struct liveness v = {.l = l, .f = f};
    size_t registers = f->register_count + 1u;
    memset(&l->flow, 0, sizeof(l->flow));
    find_blocks(&v);
    find_edges(&v);
    v.first = ptx_alloc(l->parser, registers * sizeof(uint32_t));
    v.last = ptx_alloc(l->parser, registers * sizeof(uint32_t));
    v.global = ptx_alloc(l->parser, registers * sizeof(uint32_t));
    v.seen = ptx_alloc(l->parser, registers * sizeof(uint32_t));
    memset(v.first, 0xff, registers * sizeof(uint32_t));
    ptx_joins_find(l, f, v.edges, v.edge_start);
    scan(&v);
    place_rows(&v, spread(&v));
}
