/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reconvergence points of branches: the nearest basic block through which every path from the
 * branch to the end of the function passes, i.e. the branch's immediate post-dominator. A GPU's
 * compiler makes the lanes of a warp wait for each other there, so a lane that has arrived has
 * skipped the code between. Only branches with warp-synchronising operations before their
 * reconvergence point are tracked.
 */
#include "driver/sim/ptx/lower.h"

/* Blocks visited per function. Beyond this limit, which no compiler's output approaches, branches
 * are not tracked. */
#define JOIN_WORK_LIMIT (UINT64_C(1) << 24)

enum { NO_BLOCK = UINT32_MAX };

struct flow_graph {
    struct ptx_lowering *lowering;
    const struct ptx_function *function;
    const uint32_t *edges, *edge_start; /* successors of each block */
    uint32_t end;                       /* number of blocks; also the node of the function's end */
    uint32_t *into, *into_start;        /* predecessors of each node */
    uint32_t *order, *number; /* nodes by number, in reverse postorder of the reversed graph */
    uint32_t numbered;
    uint32_t *after; /* immediate post-dominator of each node */
    uint8_t *syncs;  /* the block contains a warp-synchronising operation */
    uint64_t work;
};

static bool is_warp_sync(const struct ptx_instruction *instruction)
{
    switch (instruction->mnemonic->opcode->kind) {
    case SIM_SHFL:
    case SIM_VOTE:
    case SIM_MATCH:
    case SIM_REDUX:
    case SIM_ELECT:
    case SIM_MMA:
    case SIM_LDMATRIX:
    case SIM_STMATRIX:
        return true;
    case SIM_BAR:
        return ptx_has(instruction->mnemonic, PTX_M_WARP);
    default:
        return false;
    }
}

/* Whether any function that can be called contains a warp-synchronising operation. */
bool ptx_calls_sync(const struct ptx_parser *parser)
{
    for (uint32_t f = 0; f < parser->function_count; f++) {
        const struct ptx_function *function = parser->functions[f];
        for (uint32_t index = 0; !function->is_entry && index < function->instruction_count;
             index++)
            if (is_warp_sync(&function->instructions[index]))
                return true;
    }
    return false;
}

static const struct ptx_instruction *last_instruction(
    const struct flow_graph *graph, uint32_t block)
{
    const uint32_t *starts = graph->lowering->flow.starts;
    return starts[block + 1] > starts[block] ? &graph->function->instructions[starts[block + 1] - 1]
                                             : NULL;
}

static bool ends_thread_or_call(const struct ptx_instruction *instruction)
{
    return instruction && (instruction->mnemonic->opcode->kind == SIM_RET ||
                              instruction->mnemonic->opcode->kind == SIM_EXIT);
}

static bool find_syncs(struct flow_graph *graph)
{
    const struct ptx_flow *flow = &graph->lowering->flow;
    bool any = false;
    graph->syncs = ptx_alloc(graph->lowering->parser, flow->count + 1u);
    for (uint32_t b = 0; b < flow->count; b++)
        for (uint32_t index = flow->starts[b]; index < flow->starts[b + 1]; index++) {
            const struct ptx_instruction *instruction = &graph->function->instructions[index];
            bool calls =
                graph->lowering->calls_sync && instruction->mnemonic->opcode->kind == SIM_CALL;
            graph->syncs[b] |= is_warp_sync(instruction) || calls;
            any |= graph->syncs[b];
        }
    return any;
}

/* Successor index of a block, where the function's end counts as one; NO_BLOCK when there is none.
 */
static uint32_t successor_of(const struct flow_graph *graph, uint32_t block, uint32_t index)
{
    uint32_t count = graph->edge_start[block + 1] - graph->edge_start[block];
    if (index < count)
        return graph->edges[graph->edge_start[block] + index];
    return index == count && (count == 0 || ends_thread_or_call(last_instruction(graph, block)))
               ? graph->end
               : NO_BLOCK;
}

static void find_predecessors(struct flow_graph *graph)
{
    uint32_t *fill = ptx_alloc(graph->lowering->parser, (graph->end + 2u) * sizeof(uint32_t));
    graph->into_start = ptx_alloc(graph->lowering->parser, (graph->end + 2u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < graph->end; b++)
        for (uint32_t index = 0, s; (s = successor_of(graph, b, index)) != NO_BLOCK; index++)
            graph->into_start[s + 1]++;
    for (uint32_t b = 0; b <= graph->end; b++)
        graph->into_start[b + 1] += graph->into_start[b];
    graph->into = ptx_alloc(
        graph->lowering->parser, (graph->into_start[graph->end + 1] + 1u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < graph->end; b++)
        for (uint32_t index = 0, s; (s = successor_of(graph, b, index)) != NO_BLOCK; index++)
            graph->into[graph->into_start[s] + fill[s]++] = b;
}

/* Depth-first search from the end; a node is numbered after all its descendants. */
static void number_nodes(struct flow_graph *graph)
{
    struct ptx_parser *parser = graph->lowering->parser;
    uint32_t *stack = ptx_alloc(parser, (graph->end + 1u) * sizeof(uint32_t)), depth = 0;
    uint32_t *next = ptx_alloc(parser, (graph->end + 1u) * sizeof(uint32_t));
    graph->order = ptx_alloc(parser, (graph->end + 1u) * sizeof(uint32_t));
    graph->number = ptx_alloc(parser, (graph->end + 1u) * sizeof(uint32_t));
    for (uint32_t n = 0; n <= graph->end; n++) {
        next[n] = graph->into_start[n];
        graph->number[n] = NO_BLOCK;
    }
    stack[depth++] = graph->end;
    graph->number[graph->end] = 0; /* mark as seen */
    while (depth > 0) {
        uint32_t n = stack[depth - 1];
        if (next[n] == graph->into_start[n + 1]) {
            graph->number[n] = graph->numbered;
            graph->order[graph->numbered++] = n;
            depth--;
            continue;
        }
        uint32_t before = graph->into[next[n]++];
        if (graph->number[before] == NO_BLOCK) {
            graph->number[before] = 0;
            stack[depth++] = before;
        }
    }
}

static uint32_t common_post_dominator(const struct flow_graph *graph, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (graph->number[a] < graph->number[b])
            a = graph->after[a];
        else
            b = graph->after[b];
    }
    return a;
}

/* Computes post-dominators by iteration to a fixed point; returns false when that exceeds the work
 * limit. */
static bool find_post_dominators(struct flow_graph *graph)
{
    bool is_changed = true;
    graph->after = ptx_alloc(graph->lowering->parser, (graph->end + 1u) * sizeof(uint32_t));
    for (uint32_t n = 0; n < graph->end; n++)
        graph->after[n] = NO_BLOCK;
    graph->after[graph->end] = graph->end;
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = graph->numbered - 1; i-- > 0;) {
            uint32_t n = graph->order[i], found = NO_BLOCK;
            for (uint32_t index = 0, s; (s = successor_of(graph, n, index)) != NO_BLOCK; index++)
                if (graph->after[s] != NO_BLOCK)
                    found = found == NO_BLOCK ? s : common_post_dominator(graph, found, s);
            is_changed |= graph->after[n] != found;
            graph->after[n] = found;
        }
        graph->work += graph->numbered;
        if (graph->work > JOIN_WORK_LIMIT)
            return false;
    }
    return true;
}

/* Whether a warp-synchronising operation lies between a branch and its reconvergence point. */
static bool syncs_between(
    struct flow_graph *graph, uint32_t branch, uint32_t join, uint32_t *seen, uint32_t *list)
{
    uint32_t count = 0, done = 0;
    seen[join] = branch + 1;
    for (uint32_t b = branch;; b = list[done++]) {
        if (b != branch && graph->syncs[b])
            return true;
        for (uint32_t index = 0, s; (s = successor_of(graph, b, index)) != NO_BLOCK; index++) {
            if (s == branch && graph->syncs[branch])
                return true;
            if (s == graph->end || s == branch || seen[s] == branch + 1)
                continue;
            seen[s] = branch + 1;
            list[count++] = s;
        }
        if (done == count || ++graph->work > JOIN_WORK_LIMIT)
            return graph->work > JOIN_WORK_LIMIT;
    }
}

/* Lanes of a kernel that only exit at the reconvergence point need not reconverge. */
static bool only_exits(const struct flow_graph *graph, uint32_t block)
{
    uint32_t start = graph->lowering->flow.starts[block];
    if (!graph->function->is_entry)
        return false;
    return start == graph->function->instruction_count ||
           (ends_thread_or_call(&graph->function->instructions[start]) &&
               !graph->function->instructions[start].has_guard);
}

void ptx_reconvergence_find(struct ptx_lowering *lowering, const struct ptx_function *function,
    const uint32_t *edges, const uint32_t *edge_start)
{
    struct flow_graph graph = {.lowering = lowering,
        .function = function,
        .edges = edges,
        .edge_start = edge_start,
        .end = lowering->flow.count};
    lowering->flow.reconvergence = ptx_alloc(lowering->parser, (graph.end + 1u) * sizeof(uint32_t));
    lowering->flow.is_reconvergence = ptx_alloc(lowering->parser, graph.end + 1u);
    if (!find_syncs(&graph))
        return;
    find_predecessors(&graph);
    number_nodes(&graph);
    if (!find_post_dominators(&graph))
        return;
    uint32_t *seen = ptx_alloc(lowering->parser, (graph.end + 1u) * sizeof(uint32_t));
    uint32_t *list = ptx_alloc(lowering->parser, (graph.end + 1u) * sizeof(uint32_t));
    for (uint32_t b = 0; b < graph.end; b++) {
        uint32_t join = graph.after[b];
        if (successor_of(&graph, b, 0) == NO_BLOCK || successor_of(&graph, b, 1) == NO_BLOCK ||
            join == NO_BLOCK ||
            (join == graph.end ? function->is_entry : only_exits(&graph, join)) ||
            !syncs_between(&graph, b, join, seen, list))
            continue;
        lowering->flow.reconvergence[b] = join == graph.end ? PTX_RECONVERGE_AT_RETURN : join + 1;
        lowering->flow.is_reconvergence[join] = 1;
    }
}
