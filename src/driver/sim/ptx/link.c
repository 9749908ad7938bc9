/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the finished program from lowered functions: call graph, kernels, shared memory layout,
 * module variables. */
#include "driver/sim/ptx/lower.h"

#include "base/alloc.h"
#include "base/math.h"

#include <string.h>

struct call_graph {
    uint32_t
        count; /* number of functions, plus one node for "any function whose address is taken" */
    uint32_t *start; /* index of each node's first edge */
    uint32_t *callees;
    uint32_t **shared; /* shared variables used by each function */
    uint32_t *shared_count;
};

static void *copy_to_program(
    struct ptx_lowering *lowering, const void *items, size_t count, size_t size)
{
    void *copy = base_arena_alloc(&lowering->program->arena, (count + 1) * size);
    if (!copy)
        ptx_fail(lowering->parser, SIM_LOAD_NO_MEMORY, 0, "no host memory to parse PTX");
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

static bool is_call(const struct ptx_instruction *instruction)
{
    return strcmp(instruction->mnemonic->opcode->name, "call") == 0;
}

/* Collects the edges of one function from its call instructions. With edges NULL it only counts
 * them. */
static uint32_t find_callees(
    const struct ptx_parser *parser, const struct ptx_function *function, uint32_t *edges)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < function->instruction_count; k++) {
        const struct ptx_instruction *instruction = &function->instructions[k];
        if (!is_call(instruction) || instruction->count == 0)
            continue;
        const struct ptx_operand *operand = function->operands + instruction->first;
        if (operand->kind == PTX_OPERAND_LIST && instruction->count > 1)
            operand += operand->count + 1u;
        bool is_direct =
            operand->kind == PTX_OPERAND_SYMBOL && operand->symbol->kind == PTX_SYMBOL_FUNCTION;
        if (edges)
            edges[n] = is_direct ? operand->symbol->id : parser->function_count;
        n++;
    }
    return n;
}

static void find_taken_addresses(struct ptx_parser *parser)
{
    for (uint32_t f = 0; f < parser->function_count; f++) {
        const struct ptx_function *function = parser->functions[f];
        for (uint32_t k = 0; k < function->instruction_count; k++) {
            const struct ptx_instruction *instruction = &function->instructions[k];
            uint32_t end = k + 1 < function->instruction_count ? function->instructions[k + 1].first
                                                               : function->operand_count;
            for (uint32_t o = instruction->first; !is_call(instruction) && o < end; o++) {
                const struct ptx_operand *operand = &function->operands[o];
                if (operand->symbol && operand->symbol->kind == PTX_SYMBOL_FUNCTION)
                    parser->functions[operand->symbol->id]->is_address_taken = true;
            }
        }
    }
}

static void build_graph(struct ptx_lowering *lowering, struct call_graph *graph)
{
    struct ptx_parser *parser = lowering->parser;
    find_taken_addresses(parser);
    graph->count = parser->function_count + 1;
    graph->start = ptx_alloc(parser, (graph->count + 1u) * sizeof(uint32_t));
    for (uint32_t f = 0; f < parser->function_count; f++)
        graph->start[f + 1] = graph->start[f] + find_callees(parser, parser->functions[f], NULL);
    uint32_t edges = graph->start[parser->function_count];
    graph->callees =
        ptx_alloc(parser, ((size_t)edges + parser->function_count + 1) * sizeof(uint32_t));
    for (uint32_t f = 0; f < parser->function_count; f++)
        find_callees(parser, parser->functions[f], graph->callees + graph->start[f]);
    for (uint32_t f = 0; f < parser->function_count; f++)
        if (parser->functions[f]->is_address_taken)
            graph->callees[edges++] = f;
    graph->start[graph->count] = edges;
}

/* Removes functions that cannot reach a cycle, callees first; their stack size is exact. */
static uint32_t *compute_stack_sizes(struct ptx_lowering *lowering, const struct call_graph *graph)
{
    struct ptx_parser *parser = lowering->parser;
    uint32_t *depth = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    uint32_t *missing = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    uint32_t *caller_start = ptx_alloc(parser, (graph->count + 1u) * sizeof(uint32_t));
    uint32_t *callers = ptx_alloc(parser, (graph->start[graph->count] + 1u) * sizeof(uint32_t));
    uint32_t *queue = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    uint32_t head = 0, tail = 0;
    for (uint32_t e = 0; e < graph->start[graph->count]; e++)
        caller_start[graph->callees[e] + 1]++;
    for (uint32_t n = 0; n < graph->count; n++)
        caller_start[n + 1] += caller_start[n];
    uint32_t *fill = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    for (uint32_t n = 0; n < graph->count; n++) {
        missing[n] = graph->start[n + 1] - graph->start[n];
        depth[n] = n < parser->function_count ? parser->functions[n]->local_bytes : 0;
        lowering->is_recursive[n] = true;
        if (missing[n] == 0)
            queue[tail++] = n;
        for (uint32_t e = graph->start[n]; e < graph->start[n + 1]; e++) {
            uint32_t callee = graph->callees[e];
            callers[caller_start[callee] + fill[callee]++] = n;
        }
    }
    uint32_t *below = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    while (head < tail) {
        uint32_t n = queue[head++];
        lowering->is_recursive[n] = false;
        depth[n] += below[n];
        for (uint32_t e = caller_start[n]; e < caller_start[n + 1]; e++) {
            uint32_t caller = callers[e];
            below[caller] = below[caller] > depth[n] ? below[caller] : depth[n];
            if (--missing[caller] == 0)
                queue[tail++] = caller;
        }
    }
    for (uint32_t n = 0; n < graph->count; n++)
        if (lowering->is_recursive[n])
            depth[n] += below[n];
    return depth;
}

/* Shared variables per function, each listed once. */
static void collect_shared(struct ptx_lowering *lowering, struct call_graph *graph)
{
    struct ptx_parser *parser = lowering->parser;
    uint32_t *stamp = ptx_alloc(parser, (parser->shared_count + 1u) * sizeof(uint32_t));
    graph->shared = ptx_alloc(parser, graph->count * sizeof(*graph->shared));
    graph->shared_count = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    for (uint32_t f = 0; f < parser->function_count; f++) {
        const struct ptx_function *function = parser->functions[f];
        uint32_t capacity = 0;
        for (uint32_t o = 0; o < function->operand_count; o++) {
            const struct ptx_symbol *symbol = function->operands[o].symbol;
            if (!symbol || symbol->kind != PTX_SYMBOL_VARIABLE || symbol->space != PTX_SHARED ||
                stamp[symbol->id] == f + 1)
                continue;
            stamp[symbol->id] = f + 1;
            graph->shared[f] = ptx_grow(
                parser, graph->shared[f], graph->shared_count[f], &capacity, sizeof(uint32_t));
            graph->shared[f][graph->shared_count[f]++] = symbol->id;
        }
    }
}

static void lay_out_shared(struct ptx_lowering *lowering, const struct call_graph *graph,
    uint32_t kernel, const uint32_t *reached, uint32_t count)
{
    struct ptx_parser *parser = lowering->parser;
    struct sim_kernel_code *code = &lowering->program->kernel_codes[kernel];
    uint32_t *offsets =
        copy_to_program(lowering, NULL, 0, (parser->shared_count + 1u) * sizeof(uint32_t));
    memset(offsets, 0xff, (parser->shared_count + 1u) * sizeof(uint32_t));
    uint64_t next = 0;
    uint32_t open_align = 1;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t f = reached[r];
        for (uint32_t k = 0; k < graph->shared_count[f]; k++) {
            const struct ptx_symbol *symbol = parser->shared[graph->shared[f][k]];
            if (symbol->is_extern && symbol->align > open_align)
                open_align = symbol->align;
            if (symbol->is_extern || offsets[symbol->id] != UINT32_MAX)
                continue;
            next = base_round_up(next, symbol->align);
            offsets[symbol->id] = (uint32_t)next;
            next += symbol->size;
            if (next > (1u << 24))
                ptx_fail(parser, SIM_LOAD_INVALID, symbol->line, "shared variables beyond 16 MiB");
        }
    }
    uint64_t open = base_round_up(next, open_align);
    bool has_open = false;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = 0; k < graph->shared_count[reached[r]]; k++) {
            const struct ptx_symbol *symbol = parser->shared[graph->shared[reached[r]][k]];
            if (symbol->is_extern) {
                offsets[symbol->id] = (uint32_t)open;
                has_open = true;
            }
        }
    code->shared_offsets = offsets;
    lowering->program->kernels[kernel].shared_bytes = (uint32_t)(has_open ? open : next);
}

static bool is_builtin(const char *name)
{
    return strcmp(name, "vprintf") == 0 || strcmp(name, "__assertfail") == 0;
}

static void check_resolved(struct ptx_lowering *lowering, uint32_t f)
{
    const struct ptx_function *function = lowering->parser->functions[f];
    if (!function->has_body && !is_builtin(function->name))
        ptx_fail(lowering->parser, SIM_LOAD_UNRESOLVED, function->line,
            "function '%.200s' is called but has no body", function->name);
}

/* Collects everything that a kernel can find_reachable, each once; the total work is bounded by
 * kernels x edges. */
static uint32_t find_reachable(struct ptx_lowering *lowering, const struct call_graph *graph,
    uint32_t from, uint32_t *stamp, uint32_t *list)
{
    uint32_t count = 0, done = 0;
    list[count++] = from;
    stamp[from] = from + 1;
    while (done < count) {
        uint32_t n = list[done++];
        if (n < lowering->parser->function_count)
            check_resolved(lowering, n);
        for (uint32_t e = graph->start[n]; e < graph->start[n + 1]; e++) {
            uint32_t callee = graph->callees[e];
            if (stamp[callee] != from + 1) {
                stamp[callee] = from + 1;
                list[count++] = callee;
            }
        }
    }
    return count;
}

static void describe_kernel(
    struct ptx_lowering *lowering, const struct ptx_function *function, uint32_t k)
{
    struct sim_kernel *kernel = &lowering->program->kernels[k];
    struct sim_parameter *parameters =
        copy_to_program(lowering, NULL, 0, (function->formal_count + 1u) * sizeof(*parameters));
    for (uint32_t i = 0; i < function->formal_count; i++) {
        parameters[i].offset = (uint32_t)function->formals[i]->offset;
        parameters[i].size = (uint32_t)function->formals[i]->size;
        parameters[i].align = function->formals[i]->align;
    }
    kernel->name = function->name;
    kernel->index = k;
    kernel->parameter_count = function->formal_count;
    kernel->parameters = parameters;
    kernel->parameter_bytes = function->parameter_bytes;
    kernel->max_threads = function->max_threads;
    kernel->bound_threads = function->bound_threads;
    kernel->min_blocks = function->min_blocks;
    memcpy(kernel->required_block, function->required, sizeof(function->required));
    kernel->register_count =
        lowering->flow.register_count + 8 > 255 ? 255 : lowering->flow.register_count + 8;
}

static void lower_kernels(
    struct ptx_lowering *lowering, const struct call_graph *graph, const uint32_t *depth)
{
    struct ptx_parser *parser = lowering->parser;
    struct sim_program *program = lowering->program;
    uint32_t *stamp = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    uint32_t *list = ptx_alloc(parser, graph->count * sizeof(uint32_t));
    uint32_t base = lowering->frame_next, k = 0;
    for (uint32_t f = 0; f < parser->function_count; f++) {
        const struct ptx_function *function = parser->functions[f];
        if (!function->is_entry || !function->has_body)
            continue;
        struct ptx_vreg_table table = {0};
        lowering->table = &table;
        lowering->frame_next = base;
        ptx_lower_function(lowering, function);
        describe_kernel(lowering, function, k);
        struct sim_kernel_code *code = &program->kernel_codes[k];
        code->entry = program->functions[f].entry;
        code->frame_bytes = lowering->frame_next;
        code->vregs = copy_to_program(lowering, table.vregs, table.count, sizeof(struct sim_vreg));
        code->vreg_count = table.count;
        code->local_bytes = depth[f];
        program->kernels[k].local_bytes = depth[f];
        program->kernels[k].is_recursive = lowering->is_recursive[f];
        uint32_t reached = find_reachable(lowering, graph, f, stamp, list);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < reached; i++)
            if (list[i] < parser->function_count)
                list[kept++] = list[i];
        lay_out_shared(lowering, graph, k, list, kept);
        k++;
    }
}

static void copy_variables(struct ptx_lowering *lowering)
{
    struct ptx_parser *parser = lowering->parser;
    struct sim_program *program = lowering->program;
    uint32_t initials = 0;
    program->variable_count = parser->variable_count;
    program->variables = copy_to_program(
        lowering, NULL, 0, (parser->variable_count + 1u) * sizeof(*program->variables));
    for (uint32_t i = 0; i < parser->variable_count; i++) {
        const struct ptx_symbol *symbol = parser->variables[i];
        if (symbol->is_extern)
            ptx_fail(parser, SIM_LOAD_UNRESOLVED, symbol->line,
                "variable '%.*s' is defined nowhere", (int)base_min(symbol->length, 100),
                symbol->name);
        program->variables[i] =
            (struct sim_variable){ptx_copy_string(parser, symbol->name, symbol->length),
                symbol->size, symbol->align, i, symbol->space == PTX_CONST};
        for (const struct ptx_initial *initial = symbol->initial; initial; initial = initial->next)
            initials++;
    }
    program->initials =
        copy_to_program(lowering, NULL, 0, (initials + 1u) * sizeof(*program->initials));
    for (uint32_t i = 0; i < parser->variable_count; i++)
        for (const struct ptx_initial *initial = parser->variables[i]->initial; initial;
             initial = initial->next) {
            if (initial->symbol == NULL && initial->value == 0)
                continue;
            uint8_t kind =
                initial->symbol ? (initial->symbol->kind == PTX_SYMBOL_FUNCTION ? 2 : 1) : 0;
            program->initials[program->initial_count++] =
                (struct sim_initial){i, initial->size, initial->offset, initial->value,
                    initial->symbol ? initial->symbol->id : 0, kind, (uint8_t)initial->shift};
        }
}

/* Reserves words for passing parameters: as many as the largest signature or call needs. */
static void size_transfer_area(struct ptx_lowering *lowering)
{
    uint64_t largest = 64;
    for (uint32_t f = 0; f < lowering->parser->function_count; f++) {
        const struct ptx_function *function = lowering->parser->functions[f];
        uint64_t in = 0, out = 0, call = 0;
        for (uint32_t i = 0; i < function->formal_count; i++)
            in += (function->formals[i]->size + 3) / 4;
        for (uint32_t i = 0; i < function->result_count; i++)
            out += (function->results[i]->size + 3) / 4;
        in = function->is_entry ? 0 : in;
        for (uint32_t i = 0; i < function->call_parameter_count; i++) {
            uint64_t vregs = (function->call_parameters[i]->size + 3) / 4;
            call = base_max(vregs, call);
        }
        largest = base_max(in, largest);
        largest = base_max(out, largest);
        largest = base_max(call, largest);
    }
    if (largest > 4096)
        ptx_fail(lowering->parser, SIM_LOAD_UNSUPPORTED, 0, "function parameters beyond 16 KiB");
    lowering->transfer_bytes = (uint32_t)largest * 128;
    ptx_frame_allocate(lowering, lowering->transfer_bytes);
}

void ptx_lower_module(struct ptx_parser *parser)
{
    struct ptx_lowering *lowering = ptx_alloc(parser, sizeof(*lowering));
    struct sim_program *program = parser->program;
    struct call_graph graph = {0};
    lowering->parser = parser;
    lowering->program = program;
    lowering->table = &lowering->shared_table;
    lowering->frame_next = SIM_VREG_TRANSFER;
    lowering->calls_sync = ptx_calls_sync(parser);
    size_transfer_area(lowering);
    build_graph(lowering, &graph);
    lowering->is_recursive = ptx_alloc(parser, graph.count * sizeof(bool));
    const uint32_t *depth = compute_stack_sizes(lowering, &graph);
    collect_shared(lowering, &graph);
    copy_variables(lowering);
    program->function_count = parser->function_count;
    program->functions = copy_to_program(
        lowering, NULL, 0, (parser->function_count + 1u) * sizeof(*program->functions));
    for (uint32_t f = 0; f < parser->function_count; f++) {
        program->functions[f].name = parser->functions[f]->name;
        program->functions[f].local_bytes = parser->functions[f]->local_bytes;
        program->kernel_count += parser->functions[f]->is_entry && parser->functions[f]->has_body;
    }
    program->kernels = copy_to_program(
        lowering, NULL, 0, (program->kernel_count + 1u) * sizeof(*program->kernels));
    program->kernel_codes = copy_to_program(
        lowering, NULL, 0, (program->kernel_count + 1u) * sizeof(*program->kernel_codes));
    for (uint32_t f = 0; f < parser->function_count; f++)
        if (parser->functions[f]->has_body && !parser->functions[f]->is_entry)
            ptx_lower_function(lowering, parser->functions[f]);
    program->vregs = copy_to_program(lowering, lowering->shared_table.vregs,
        lowering->shared_table.count, sizeof(struct sim_vreg));
    program->vreg_count = lowering->shared_table.count;
    lower_kernels(lowering, &graph, depth);
    for (uint32_t f = 0; f < parser->function_count; f++)
        if (program->functions[f].saved_bytes > program->saved_stride)
            program->saved_stride = program->functions[f].saved_bytes;
    for (uint32_t i = 0; i < program->block_count; i++)
        program->ops[program->blocks[i].op].a = program->blocks[i].instructions;
    program->ops =
        copy_to_program(lowering, program->ops, program->op_count, sizeof(*program->ops));
    program->lines =
        copy_to_program(lowering, program->lines, program->op_count, sizeof(*program->lines));
    program->locations = copy_to_program(
        lowering, parser->locations, parser->location_count, sizeof(*program->locations));
    program->location_count = parser->location_count;
    program->files =
        copy_to_program(lowering, parser->files, parser->file_count, sizeof(*program->files));
    program->file_count = parser->file_count;
    program->blocks =
        copy_to_program(lowering, program->blocks, program->block_count, sizeof(*program->blocks));
}
