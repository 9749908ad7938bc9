/* SPDX-License-Identifier: Apache-2.0 */
/* From lowered functions to the finished program: call graph, kernels, shared layout, variables. */
#include "sim/ptx/lower.h"

#include "base/alloc.h"

#include <string.h>

struct call_graph {
    uint32_t count;  /* functions, and one more node: "any function whose address is taken" */
    uint32_t *start; /* of each node's edges */
    uint32_t *callees;
    uint32_t **shared; /* shared variables that each function names */
    uint32_t *shared_count;
};

static void *keep(struct ptx_lowering *l, const void *items, size_t count, size_t size)
{
    void *copy = sim_arena_alloc(&l->program->arena, (count + 1) * size);
    if (!copy)
        ptx_fail(l->parser, SIM_LOAD_NO_MEMORY, 0, "no host memory to parse PTX");
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

static bool is_call(const struct ptx_instruction *i)
{
    return strcmp(i->mnemonic->opcode->name, "call") == 0;
}

/* Edges of one function: what its call instructions name. Counts when edges is NULL. */
static uint32_t callees_of(
    const struct ptx_parser *p, const struct ptx_function *f, uint32_t *edges)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->instruction_count; k++) {
        const struct ptx_instruction *i = &f->instructions[k];
        if (!is_call(i) || i->count == 0)
            continue;
        const struct ptx_operand *o = f->operands + i->first;
        if (o->kind == PTX_OPERAND_LIST && i->count > 1)
            o += o->count + 1u;
        bool is_direct = o->kind == PTX_OPERAND_SYMBOL && o->symbol->kind == PTX_SYMBOL_FUNCTION;
        if (edges)
            edges[n] = is_direct ? o->symbol->id : p->function_count;
        n++;
    }
    return n;
}

static void find_addresses(struct ptx_parser *p)
{
    for (uint32_t f = 0; f < p->function_count; f++) {
        const struct ptx_function *function = p->functions[f];
        for (uint32_t k = 0; k < function->instruction_count; k++) {
            const struct ptx_instruction *i = &function->instructions[k];
            uint32_t end = k + 1 < function->instruction_count ? function->instructions[k + 1].first
                                                               : function->operand_count;
            for (uint32_t o = i->first; !is_call(i) && o < end; o++) {
                const struct ptx_operand *operand = &function->operands[o];
                if (operand->symbol && operand->symbol->kind == PTX_SYMBOL_FUNCTION)
                    p->functions[operand->symbol->id]->is_address_taken = true;
            }
        }
    }
}

static void build_graph(struct ptx_lowering *l, struct call_graph *g)
{
    struct ptx_parser *p = l->parser;
    find_addresses(p);
    g->count = p->function_count + 1;
    g->start = ptx_alloc(p, (g->count + 1u) * sizeof(uint32_t));
    for (uint32_t f = 0; f < p->function_count; f++)
        g->start[f + 1] = g->start[f] + callees_of(p, p->functions[f], NULL);
    uint32_t edges = g->start[p->function_count];
    g->callees = ptx_alloc(p, ((size_t)edges + p->function_count + 1) * sizeof(uint32_t));
    for (uint32_t f = 0; f < p->function_count; f++)
        callees_of(p, p->functions[f], g->callees + g->start[f]);
    for (uint32_t f = 0; f < p->function_count; f++)
        if (p->functions[f]->is_address_taken)
            g->callees[edges++] = f;
    g->start[g->count] = edges;
}

/* Functions from which no cycle can be reached leave, callees first; their stack is known exactly.
 */
static uint32_t *measure_stacks(struct ptx_lowering *l, const struct call_graph *g)
{
    struct ptx_parser *p = l->parser;
    uint32_t *depth = ptx_alloc(p, g->count * sizeof(uint32_t));
    uint32_t *missing = ptx_alloc(p, g->count * sizeof(uint32_t));
    uint32_t *caller_start = ptx_alloc(p, (g->count + 1u) * sizeof(uint32_t));
    uint32_t *callers = ptx_alloc(p, (g->start[g->count] + 1u) * sizeof(uint32_t));
    uint32_t *queue = ptx_alloc(p, g->count * sizeof(uint32_t));
    uint32_t head = 0, tail = 0;
    for (uint32_t e = 0; e < g->start[g->count]; e++)
        caller_start[g->callees[e] + 1]++;
    for (uint32_t n = 0; n < g->count; n++)
        caller_start[n + 1] += caller_start[n];
    uint32_t *fill = ptx_alloc(p, g->count * sizeof(uint32_t));
    for (uint32_t n = 0; n < g->count; n++) {
        missing[n] = g->start[n + 1] - g->start[n];
        depth[n] = n < p->function_count ? p->functions[n]->local_bytes : 0;
        l->is_recursive[n] = true;
        if (missing[n] == 0)
            queue[tail++] = n;
        for (uint32_t e = g->start[n]; e < g->start[n + 1]; e++) {
            uint32_t callee = g->callees[e];
            callers[caller_start[callee] + fill[callee]++] = n;
        }
    }
    uint32_t *below = ptx_alloc(p, g->count * sizeof(uint32_t));
    while (head < tail) {
        uint32_t n = queue[head++];
        l->is_recursive[n] = false;
        depth[n] += below[n];
        for (uint32_t e = caller_start[n]; e < caller_start[n + 1]; e++) {
            uint32_t caller = callers[e];
            below[caller] = below[caller] > depth[n] ? below[caller] : depth[n];
            if (--missing[caller] == 0)
                queue[tail++] = caller;
        }
    }
    for (uint32_t n = 0; n < g->count; n++)
        if (l->is_recursive[n])
            depth[n] += below[n];
    return depth;
}

/* Shared variables by function, each once. */
static void collect_shared(struct ptx_lowering *l, struct call_graph *g)
{
    struct ptx_parser *p = l->parser;
    uint32_t *stamp = ptx_alloc(p, (p->shared_count + 1u) * sizeof(uint32_t));
    g->shared = ptx_alloc(p, g->count * sizeof(*g->shared));
    g->shared_count = ptx_alloc(p, g->count * sizeof(uint32_t));
    for (uint32_t f = 0; f < p->function_count; f++) {
        const struct ptx_function *function = p->functions[f];
        uint32_t room = 0;
        for (uint32_t o = 0; o < function->operand_count; o++) {
            const struct ptx_symbol *s = function->operands[o].symbol;
            if (!s || s->kind != PTX_SYMBOL_VARIABLE || s->space != PTX_SHARED ||
                stamp[s->id] == f + 1)
                continue;
            stamp[s->id] = f + 1;
            g->shared[f] = ptx_grow(p, g->shared[f], g->shared_count[f], &room, sizeof(uint32_t));
            g->shared[f][g->shared_count[f]++] = s->id;
        }
    }
}

static void lay_out_shared(struct ptx_lowering *l, const struct call_graph *g, uint32_t kernel,
    const uint32_t *reached, uint32_t count)
{
    struct ptx_parser *p = l->parser;
    struct sim_kernel_code *code = &l->program->kernel_codes[kernel];
    uint32_t *offsets = keep(l, NULL, 0, (p->shared_count + 1u) * sizeof(uint32_t));
    memset(offsets, 0xff, (p->shared_count + 1u) * sizeof(uint32_t));
    uint64_t next = 0;
    uint32_t open_align = 1;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t f = reached[r];
        for (uint32_t k = 0; k < g->shared_count[f]; k++) {
            const struct ptx_symbol *s = p->shared[g->shared[f][k]];
            if (s->is_extern && s->align > open_align)
                open_align = s->align;
            if (s->is_extern || offsets[s->id] != UINT32_MAX)
                continue;
            next = (next + s->align - 1) / s->align * s->align;
            offsets[s->id] = (uint32_t)next;
            next += s->size;
            if (next > (1u << 24))
                ptx_fail(p, SIM_LOAD_INVALID, s->line, "shared variables beyond 16 MiB");
        }
    }
    uint64_t open = (next + open_align - 1) / open_align * open_align;
    bool has_open = false;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = 0; k < g->shared_count[reached[r]]; k++) {
            const struct ptx_symbol *s = p->shared[g->shared[reached[r]][k]];
            if (s->is_extern) {
                offsets[s->id] = (uint32_t)open;
                has_open = true;
            }
        }
    code->shared_offsets = offsets;
    l->program->kernels[kernel].shared_bytes = (uint32_t)(has_open ? open : next);
}

static bool is_builtin(const char *name)
{
    return strcmp(name, "vprintf") == 0 || strcmp(name, "__assertfail") == 0;
}

static void check_resolved(struct ptx_lowering *l, uint32_t f)
{
    const struct ptx_function *function = l->parser->functions[f];
    if (!function->has_body && !is_builtin(function->name))
        ptx_fail(l->parser, SIM_LOAD_UNRESOLVED, function->line,
            "function '%.200s' is called but has no body", function->name);
}

/* All that a kernel can reach, each once; the work of all kernels together is bounded by kernels ×
 * edges. */
static uint32_t reach(struct ptx_lowering *l, const struct call_graph *g, uint32_t from,
    uint32_t *stamp, uint32_t *list)
{
    uint32_t count = 0, done = 0;
    list[count++] = from;
    stamp[from] = from + 1;
    while (done < count) {
        uint32_t n = list[done++];
        if (n < l->parser->function_count)
            check_resolved(l, n);
        for (uint32_t e = g->start[n]; e < g->start[n + 1]; e++) {
            uint32_t callee = g->callees[e];
            if (stamp[callee] != from + 1) {
                stamp[callee] = from + 1;
                list[count++] = callee;
            }
        }
    }
    return count;
}

static void describe_kernel(struct ptx_lowering *l, const struct ptx_function *f, uint32_t k)
{
    struct sim_kernel *kernel = &l->program->kernels[k];
    struct sim_parameter *parameters =
        keep(l, NULL, 0, (f->formal_count + 1u) * sizeof(*parameters));
    for (uint32_t i = 0; i < f->formal_count; i++) {
        parameters[i].offset = (uint32_t)f->formals[i]->offset;
        parameters[i].size = (uint32_t)f->formals[i]->size;
        parameters[i].align = f->formals[i]->align;
    }
    kernel->name = f->name;
    kernel->index = k;
    kernel->parameter_count = f->formal_count;
    kernel->parameters = parameters;
    kernel->parameter_bytes = f->parameter_bytes;
    kernel->max_threads = f->max_threads;
    kernel->bound_threads = f->bound_threads;
    kernel->min_blocks = f->min_blocks;
    memcpy(kernel->required_block, f->required, sizeof(f->required));
    kernel->register_count = l->flow.register_count + 8 > 255 ? 255 : l->flow.register_count + 8;
}

static void lower_kernels(struct ptx_lowering *l, const struct call_graph *g, const uint32_t *depth)
{
    struct ptx_parser *p = l->parser;
    struct sim_program *program = l->program;
    uint32_t *stamp = ptx_alloc(p, g->count * sizeof(uint32_t));
    uint32_t *list = ptx_alloc(p, g->count * sizeof(uint32_t));
    uint32_t base = l->frame_next, k = 0;
    for (uint32_t f = 0; f < p->function_count; f++) {
        const struct ptx_function *function = p->functions[f];
        if (!function->is_entry || !function->has_body)
            continue;
        struct ptx_row_table table = {0};
        l->table = &table;
        l->frame_next = base;
        ptx_lower_function(l, function);
        describe_kernel(l, function, k);
        struct sim_kernel_code *code = &program->kernel_codes[k];
        code->entry = program->functions[f].entry;
        code->frame_bytes = l->frame_next;
        code->rows = keep(l, table.rows, table.count, sizeof(struct sim_row));
        code->row_count = table.count;
        code->local_bytes = depth[f];
        program->kernels[k].local_bytes = depth[f];
        program->kernels[k].is_recursive = l->is_recursive[f];
        uint32_t reached = reach(l, g, f, stamp, list);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < reached; i++)
            if (list[i] < p->function_count)
                list[kept++] = list[i];
        lay_out_shared(l, g, k, list, kept);
        k++;
    }
}

static void keep_variables(struct ptx_lowering *l)
{
    struct ptx_parser *p = l->parser;
    struct sim_program *program = l->program;
    uint32_t initials = 0;
    program->variable_count = p->variable_count;
    program->variables = keep(l, NULL, 0, (p->variable_count + 1u) * sizeof(*program->variables));
    for (uint32_t i = 0; i < p->variable_count; i++) {
        const struct ptx_symbol *s = p->variables[i];
        if (s->is_extern)
            ptx_fail(p, SIM_LOAD_UNRESOLVED, s->line, "variable '%.*s' is defined nowhere",
                (int)(s->length < 100 ? s->length : 100), s->name);
        program->variables[i] = (struct sim_variable){
            ptx_text(p, s->name, s->length), s->size, s->align, i, s->space == PTX_CONST};
        for (const struct ptx_initial *v = s->initial; v; v = v->next)
            initials++;
    }
    program->initials = keep(l, NULL, 0, (initials + 1u) * sizeof(*program->initials));
    for (uint32_t i = 0; i < p->variable_count; i++)
        for (const struct ptx_initial *v = p->variables[i]->initial; v; v = v->next) {
            if (v->symbol == NULL && v->value == 0)
                continue;
            uint8_t kind = v->symbol ? (v->symbol->kind == PTX_SYMBOL_FUNCTION ? 2 : 1) : 0;
            program->initials[program->initial_count++] = (struct sim_initial){i, v->size,
                v->offset, v->value, v->symbol ? v->symbol->id : 0, kind, (uint8_t)v->shift};
        }
}

/* Rows through which parameters pass: as many as the largest signature or call has. */
static void size_transfer(struct ptx_lowering *l)
{
    uint64_t largest = 64;
    for (uint32_t f = 0; f < l->parser->function_count; f++) {
        const struct ptx_function *function = l->parser->functions[f];
        uint64_t in = 0, out = 0, call = 0;
        for (uint32_t i = 0; i < function->formal_count; i++)
            in += (function->formals[i]->size + 3) / 4;
        for (uint32_t i = 0; i < function->result_count; i++)
            out += (function->results[i]->size + 3) / 4;
        in = function->is_entry ? 0 : in;
        for (uint32_t i = 0; i < function->call_parameter_count; i++) {
            uint64_t rows = (function->call_parameters[i]->size + 3) / 4;
            call = rows > call ? rows : call;
        }
        largest = in > largest ? in : largest;
        largest = out > largest ? out : largest;
        largest = call > largest ? call : largest;
    }
    if (largest > 4096)
        ptx_fail(l->parser, SIM_LOAD_UNSUPPORTED, 0, "function parameters beyond 16 KiB");
    l->transfer_bytes = (uint32_t)largest * 128;
    ptx_frame_take(l, l->transfer_bytes);
}

void ptx_lower_module(struct ptx_parser *parser)
{
    struct ptx_lowering *l = ptx_alloc(parser, sizeof(*l));
    struct sim_program *program = parser->program;
    struct call_graph graph = {0};
    l->parser = parser;
    l->program = program;
    l->table = &l->shared_table;
    l->frame_next = SIM_ROW_TRANSFER;
    l->calls_sync = ptx_calls_sync(parser);
    size_transfer(l);
    build_graph(l, &graph);
    l->is_recursive = ptx_alloc(parser, graph.count * sizeof(bool));
    const uint32_t *depth = measure_stacks(l, &graph);
    collect_shared(l, &graph);
    keep_variables(l);
    program->function_count = parser->function_count;
    program->functions =
        keep(l, NULL, 0, (parser->function_count + 1u) * sizeof(*program->functions));
    for (uint32_t f = 0; f < parser->function_count; f++) {
        program->functions[f].name = parser->functions[f]->name;
        program->functions[f].local_bytes = parser->functions[f]->local_bytes;
        program->kernel_count += parser->functions[f]->is_entry && parser->functions[f]->has_body;
    }
    program->kernels = keep(l, NULL, 0, (program->kernel_count + 1u) * sizeof(*program->kernels));
    program->kernel_codes =
        keep(l, NULL, 0, (program->kernel_count + 1u) * sizeof(*program->kernel_codes));
    for (uint32_t f = 0; f < parser->function_count; f++)
        if (parser->functions[f]->has_body && !parser->functions[f]->is_entry)
            ptx_lower_function(l, parser->functions[f]);
    program->rows = keep(l, l->shared_table.rows, l->shared_table.count, sizeof(struct sim_row));
    program->row_count = l->shared_table.count;
    lower_kernels(l, &graph, depth);
    for (uint32_t f = 0; f < parser->function_count; f++)
        if (program->functions[f].saved_bytes > program->saved_stride)
            program->saved_stride = program->functions[f].saved_bytes;
    for (uint32_t i = 0; i < program->block_count; i++)
        program->ops[program->blocks[i].op].a = program->blocks[i].instructions;
    program->ops = keep(l, program->ops, program->op_count, sizeof(*program->ops));
    program->lines = keep(l, program->lines, program->op_count, sizeof(*program->lines));
    program->blocks = keep(l, program->blocks, program->block_count, sizeof(*program->blocks));
}
