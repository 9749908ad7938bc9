/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where lanes that part at a branch meet again: the nearest basic block that every way from the
 * branch to the end of the function passes (its immediate post-dominator). A GPU's compiler makes
 * the lanes wait for each other there, so a lane that is there has skipped what lies between. Only
 * branches are followed between which and their join lanes may wait for each other.
 */
#include "sim/ptx/lower.h"

/* Blocks looked at, for one function. Beyond this, which no compiler's output comes near, branches
 * are not followed. */
#define JOIN_WORK_LIMIT (UINT64_C(1) << 24)

enum { NO_BLOCK = UINT32_MAX };

struct joins {
    struct ptx_lowering *l;
    const struct ptx_function *f;
    const uint32_t *edges, *edge_start; /* successors of each block */
    uint32_t end;                /* number of blocks, and the node that is the function's end */
    uint32_t *into, *into_start; /* predecessors of each node */
    uint32_t *order, *number;    /* nodes by number, as a walk from the end backward leaves them */
    uint32_t numbered;
    uint32_t *after; /* immediate post-dominator of each node */
    uint8_t *syncs;  /* lanes may wait for each other in the block */
    uint64_t work;
};

static bool is_warp_sync(const struct ptx_instruction *i)
{
    switch (i->mnemonic->opcode->kind) {
    case SIM_SHFL:
    case SIM_VOTE:
    case SIM_MATCH:
    case SIM_REDUX:
    case SIM_ELECT:
        return true;
    case SIM_BAR:
        return ptx_has(i->mnemonic, PTX_M_WARP);
    default:
        return false;
    }
}

/* Whether lanes may wait for each other in a function that can be called. */
bool ptx_calls_sync(const struct ptx_parser *parser)
{
    for (uint32_t f = 0; f < parser->function_count; f++) {
        const struct ptx_function *function = parser->functions[f];
        for (uint32_t k = 0; !function->is_entry && k < function->instruction_count; k++)
            if (is_warp_sync(&function->instructions[k]))
                return true;
    }
    return false;
}

static const struct ptx_instruction *last_of(const struct joins *j, uint32_t block)
{
    const uint32_t *starts = j->l->flow.starts;
    return starts[block + 1] > starts[block] ? &j->f->instructions[starts[block + 1] - 1] : NULL;
}

static bool leaves(const struct ptx_instruction *i)
{
    return i && (i->mnemonic->opcode->kind == SIM_RET || i->mnemonic->opcode->kind == SIM_EXIT);
}

static bool has_syncs(struct joins *j)
{
    const struct ptx_flow *flow = &j->l->flow;
    bool any = false;
    j->syncs = ptx_alloc(j->l->parser, flow->count + 1u);
    for (uint32_t b = 0; b < flow->count; b++)
        for (uint32_t k = flow->starts[b]; k < flow->starts[b + 1]; k++) {
            const struct ptx_instruction *i = &j->f->instructions[k];
            bool calls = j->l->calls_sync && i->mnemonic->opcode->kind == SIM_CALL;
            j->syncs[b] |= is_warp_sync(i) || calls;
            any |= j->syncs[b];
        }
    return any;
}

/* Successors of a block, the function's end among them: the k-th, or NO_BLOCK. */
static uint32_t successor(const struct joins *j, uint32_t block, uint32_t k)
{
    uint32_t count = j->edge_start[block + 1] - j->edge_start[block];
    if (k < count)
        return j->edges[j->edge_start[block] + k];
    return k == count && (count == 0 || leaves(last_of(j, block))) ? j->end : NO_BLOCK;
}

static void find_predecessors(struct joins *j)
{
    uint32_t *fill = ptx_alloc(j->l->parser, (j->end + 2u) * sizeof(uint32_t));
    j->into_start = ptx_alloc(j->l->parser, (j->end + 2u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < j->end; b++)
        for (uint32_t k = 0, s; (s = successor(j, b, k)) != NO_BLOCK; k++)
            j->into_start[s + 1]++;
    for (uint32_t b = 0; b <= j->end; b++)
        j->into_start[b + 1] += j->into_start[b];
    j->into = ptx_alloc(j->l->parser, (j->into_start[j->end + 1] + 1u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < j->end; b++)
        for (uint32_t k = 0, s; (s = successor(j, b, k)) != NO_BLOCK; k++)
            j->into[j->into_start[s] + fill[s]++] = b;
}

/* Depth first from the end; a node is numbered when all before it are. */
static void number_nodes(struct joins *j)
{
    struct ptx_parser *p = j->l->parser;
    uint32_t *stack = ptx_alloc(p, (j->end + 1u) * sizeof(uint32_t)), depth = 0;
    uint32_t *next = ptx_alloc(p, (j->end + 1u) * sizeof(uint32_t));
    j->order = ptx_alloc(p, (j->end + 1u) * sizeof(uint32_t));
    j->number = ptx_alloc(p, (j->end + 1u) * sizeof(uint32_t));
    for (uint32_t n = 0; n <= j->end; n++) {
        next[n] = j->into_start[n];
        j->number[n] = NO_BLOCK;
    }
    stack[depth++] = j->end;
    j->number[j->end] = 0; /* seen */
    while (depth > 0) {
        uint32_t n = stack[depth - 1];
        if (next[n] == j->into_start[n + 1]) {
            j->number[n] = j->numbered;
            j->order[j->numbered++] = n;
            depth--;
            continue;
        }
        uint32_t before = j->into[next[n]++];
        if (j->number[before] == NO_BLOCK) {
            j->number[before] = 0;
            stack[depth++] = before;
        }
    }
}

static uint32_t common(const struct joins *j, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (j->number[a] < j->number[b])
            a = j->after[a];
        else
            b = j->after[b];
    }
    return a;
}

/* Post-dominators by iteration to a fixed point; false when that takes more work than it is worth.
 */
static bool find_post_dominators(struct joins *j)
{
    bool is_changed = true;
    j->after = ptx_alloc(j->l->parser, (j->end + 1u) * sizeof(uint32_t));
    for (uint32_t n = 0; n < j->end; n++)
        j->after[n] = NO_BLOCK;
    j->after[j->end] = j->end;
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = j->numbered - 1; i-- > 0;) {
            uint32_t n = j->order[i], found = NO_BLOCK;
            for (uint32_t k = 0, s; (s = successor(j, n, k)) != NO_BLOCK; k++)
                if (j->after[s] != NO_BLOCK)
                    found = found == NO_BLOCK ? s : common(j, found, s);
            is_changed |= j->after[n] != found;
            j->after[n] = found;
        }
        j->work += j->numbered;
        if (j->work > JOIN_WORK_LIMIT)
            return false;
    }
    return true;
}

/* Whether lanes may wait for each other between a branch and its join. */
static bool syncs_between(
    struct joins *j, uint32_t branch, uint32_t join, uint32_t *seen, uint32_t *list)
{
    uint32_t count = 0, done = 0;
    seen[join] = branch + 1;
    for (uint32_t b = branch;; b = list[done++]) {
        if (b != branch && j->syncs[b])
            return true;
        for (uint32_t k = 0, s; (s = successor(j, b, k)) != NO_BLOCK; k++) {
            if (s == branch && j->syncs[branch])
                return true;
            if (s == j->end || s == branch || seen[s] == branch + 1)
                continue;
            seen[s] = branch + 1;
            list[count++] = s;
        }
        if (done == count || ++j->work > JOIN_WORK_LIMIT)
            return j->work > JOIN_WORK_LIMIT;
    }
}

/* Lanes of a kernel that only end where they meet need not meet. */
static bool ends_at_once(const struct joins *j, uint32_t block)
{
    uint32_t start = j->l->flow.starts[block];
    if (!j->f->is_entry)
        return false;
    return start == j->f->instruction_count ||
           (leaves(&j->f->instructions[start]) && !j->f->instructions[start].has_guard);
}

void ptx_joins_find(struct ptx_lowering *l, const struct ptx_function *f, const uint32_t *edges,
    const uint32_t *edge_start)
{
    struct joins j = {
        .l = l, .f = f, .edges = edges, .edge_start = edge_start, .end = l->flow.count};
    l->flow.joins = ptx_alloc(l->parser, (j.end + 1u) * sizeof(uint32_t));
    l->flow.is_join = ptx_alloc(l->parser, j.end + 1u);
    if (!has_syncs(&j))
        return;
    find_predecessors(&j);
    number_nodes(&j);
    if (!find_post_dominators(&j))
        return;
    uint32_t *seen = ptx_alloc(l->parser, (j.end + 1u) * sizeof(uint32_t));
    uint32_t *list = ptx_alloc(l->parser, (j.end + 1u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < j.end; b++) {
        uint32_t join = j.after[b];
        if (successor(&j, b, 0) == NO_BLOCK || successor(&j, b, 1) == NO_BLOCK ||
            join == NO_BLOCK || (join == j.end ? f->is_entry : ends_at_once(&j, join)) ||
            !syncs_between(&j, b, join, seen, list))
            continue;
        l->flow.joins[b] = join == j.end ? PTX_JOIN_RETURN : join + 1;
        l->flow.is_join[join] = 1;
    }
}
