/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of the simulated driver. While a stream is captured, its operations become nodes instead
 * of being enqueued; a launch enqueues copies of them, one after another in the order in which they
 * were captured, which is an order that the dependencies allow.
 */
#include <string.h>

#include "base/alloc.h"
#include "driver/sim/table/state.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

static void free_nodes(struct sim_graph_nodes *nodes)
{
    for (size_t at = 0; at < nodes->count; at++)
        sim_work_free(nodes->items[at].work);
    base_free(nodes->items);
    *nodes = (struct sim_graph_nodes){NULL, 0};
}

/* The number of the new node, from 1, or 0 without memory. The work is consumed on success. */
static size_t add_node(
    struct sim_graph_nodes *nodes, struct sim_work *work, size_t previous, size_t also_previous)
{
    struct sim_graph_node *grown = base_realloc(nodes->items, nodes->count + 1, sizeof(*grown));

    if (!grown)
        return 0;
    nodes->items = grown;
    grown[nodes->count] =
        (struct sim_graph_node){.work = work, .previous = {previous, also_previous}};
    return ++nodes->count;
}

static struct sim_work *copy_work(const struct sim_work *work)
{
    struct sim_work *copy = sim_work_create(work->kind);

    if (!copy)
        return NULL;
    copy->u = work->u;
    if (work->kind != SIM_WORK_LAUNCH)
        return copy;
    const size_t bytes = work->u.launch.function->kernel->parameter_bytes;
    copy->u.launch.parameters = base_calloc(1, bytes ? bytes : 1);
    if (!copy->u.launch.parameters) {
        base_free(copy);
        return NULL;
    }
    memcpy(copy->u.launch.parameters, work->u.launch.parameters, bytes);
    return copy;
}

static bool copy_nodes(const struct sim_graph_nodes *from, struct sim_graph_nodes *to)
{
    *to = (struct sim_graph_nodes){NULL, 0};
    for (size_t at = 0; at < from->count; at++) {
        const struct sim_graph_node *node = &from->items[at];
        struct sim_work *work = copy_work(node->work);

        if (!work || !add_node(to, work, node->previous[0], node->previous[1])) {
            sim_work_free(work);
            free_nodes(to);
            return false;
        }
    }
    return true;
}

/* Whether every operation precedes the end of the stream that the capture began on. */
static bool is_joined(const struct sim_graph_nodes *nodes, size_t last)
{
    unsigned char *reached = base_calloc(nodes->count + 1, 1);
    bool is_reached = true;

    if (!reached)
        return false;
    reached[last] = 1;
    for (size_t number = nodes->count; number > 0; number--) {
        const struct sim_graph_node *node = &nodes->items[number - 1];

        if (reached[number])
            reached[node->previous[0]] = reached[node->previous[1]] = 1;
        else if (node->work->kind != SIM_WORK_NO_OP)
            is_reached = false;
    }
    base_free(reached);
    return is_reached;
}

/* ---- capture --------------------------------------------------------------------------------- */

struct sim_capture *sim_capture_of(uint64_t number)
{
    struct sim_capture *capture = sim_state.captures;

    while (capture && capture->number != number)
        capture = capture->next;
    return capture;
}

pool_cu_result sim_capture_violated(struct sim_capture *capture, pool_cu_result code)
{
    capture->is_invalid = true;
    return code;
}

pool_cu_result sim_capture_add(struct sim_stream *stream, struct sim_work *work, size_t after)
{
    struct sim_capture *capture = stream->capture;
    size_t number = 0;

    if (capture->is_invalid) {
        sim_work_free(work);
        return POOL_CU_STREAM_CAPTURE_INVALIDATED;
    }
    number = add_node(&capture->nodes, work, stream->captured, after);
    if (!number) {
        sim_work_free(work);
        return sim_capture_violated(capture, POOL_CU_OUT_OF_MEMORY);
    }
    stream->captured = number;
    return POOL_CU_SUCCESS;
}

/* The streams of the capture are ordinary ones again. */
static void end_capture(struct sim_capture *capture)
{
    struct sim_capture **link = &sim_state.captures;

    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (struct sim_context *context = sim_state.devices[capture->origin->context->device].contexts;
         context; context = context->next)
        for (struct sim_stream *at = context->streams; at; at = at->next)
            if (at->capture == capture)
                at->capture = NULL;
    free_nodes(&capture->nodes);
    base_free(capture);
}

void sim_capture_stream_ends(struct sim_stream *stream)
{
    if (!stream->capture)
        return;
    stream->capture->is_invalid = true;
    if (stream->capture->origin == stream)
        end_capture(stream->capture);
    stream->capture = NULL;
}

pool_cu_result sim_cu_StreamBeginCapture(CUstream handle, pool_cu_enum mode)
{
    struct sim_capture *capture;
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamBeginCapture, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    if (mode > DRIVER_STREAM_CAPTURE_MODE_RELAXED)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (stream == stream->context->null_stream)
        return sim_leave(POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    if (stream->capture)
        return sim_leave(sim_capture_violated(stream->capture, POOL_CU_ILLEGAL_STATE));
    capture = base_calloc(1, sizeof(*capture));
    if (!capture)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    capture->number = ++sim_state.last_capture;
    capture->origin = stream;
    capture->next = sim_state.captures;
    sim_state.captures = capture;
    stream->capture = capture;
    stream->captured = 0;
    return sim_leave(POOL_CU_SUCCESS);
}

static struct sim_graph *create_graph(struct sim_context *context, enum sim_handle_kind kind)
{
    struct sim_graph *graph = base_calloc(1, sizeof(*graph));

    if (!graph)
        return NULL;
    graph->handle = sim_handle_create(kind, graph);
    if (!graph->handle) {
        base_free(graph);
        return NULL;
    }
    graph->context = context;
    graph->next = context->graphs;
    context->graphs = graph;
    return graph;
}

void sim_graph_free(struct sim_graph *graph)
{
    struct sim_graph **link = &graph->context->graphs;

    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    sim_handle_release(graph->handle);
    free_nodes(&graph->nodes);
    base_free(graph);
}

pool_cu_result sim_cu_StreamEndCapture(CUstream handle, CUgraph *out)
{
    struct sim_graph *graph = NULL;
    struct sim_capture *capture;
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamEndCapture, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    capture = stream->capture;
    if (!capture)
        return sim_leave(POOL_CU_ILLEGAL_STATE);
    if (capture->origin != stream)
        return sim_leave(sim_capture_violated(capture, POOL_CU_STREAM_CAPTURE_UNMATCHED));
    if (!out)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *out = NULL;
    if (capture->is_invalid)
        code = POOL_CU_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(&capture->nodes, stream->captured))
        code = POOL_CU_STREAM_CAPTURE_UNJOINED;
    else if (!(graph = create_graph(stream->context->root, SIM_HANDLE_GRAPH)))
        code = POOL_CU_OUT_OF_MEMORY;
    if (!code) {
        graph->nodes = capture->nodes;
        capture->nodes = (struct sim_graph_nodes){NULL, 0};
        *out = graph->handle;
    }
    end_capture(capture);
    return sim_leave(code);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* As in a GPU's driver, a graph must not outlive the modules of its kernels; here it is detected.
 */
void sim_graphs_forget_module(const struct sim_module *module)
{
    for (struct sim_graph *graph = module->context->graphs; graph; graph = graph->next)
        for (size_t at = 0; at < graph->nodes.count; at++)
            if (graph->nodes.items[at].work->kind == SIM_WORK_LAUNCH &&
                graph->nodes.items[at].work->u.launch.module == module) {
                free_nodes(&graph->nodes);
                graph->is_stale = true;
            }
    for (struct sim_capture *capture = sim_state.captures; capture; capture = capture->next)
        for (size_t at = 0; at < capture->nodes.count; at++)
            if (capture->nodes.items[at].work->kind == SIM_WORK_LAUNCH &&
                capture->nodes.items[at].work->u.launch.module == module)
                capture->is_invalid = true;
}

static pool_cu_result enter_graph(struct sim_call *call, enum sim_driver_function function,
    enum sim_need need, enum sim_handle_kind kind, void *handle, struct sim_graph **graph)
{
    pool_cu_result code = sim_enter(call, function, need, -1);

    if (code)
        return code;
    *graph = sim_handle_get(kind, handle);
    return *graph ? POOL_CU_SUCCESS : sim_leave(POOL_CU_INVALID_VALUE);
}

pool_cu_result sim_cu_GraphInstantiateWithFlags(
    CUgraphExec *exec, CUgraph handle, unsigned long long flags)
{
    struct sim_graph *graph, *made;
    struct sim_call call;
    pool_cu_result code = enter_graph(&call, SIM_CU_GraphInstantiateWithFlags, SIM_NEED_CONTEXT,
        SIM_HANDLE_GRAPH, handle, &graph);

    if (code)
        return code;
    if (!exec || (flags & ~(unsigned long long)DRIVER_GRAPH_USE_NODE_PRIORITY) || graph->is_stale)
        return sim_leave(POOL_CU_INVALID_VALUE);
    made = create_graph(graph->context, SIM_HANDLE_GRAPH_EXEC);
    if (!made)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    made->keeps_priorities = flags != 0;
    if (!copy_nodes(&graph->nodes, &made->nodes)) {
        sim_graph_free(made);
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    }
    *exec = made->handle;
    return sim_leave(POOL_CU_SUCCESS);
}

/* What differs between two graphs, as CUgraphExecUpdateResult; 0: only parameters. */
static pool_cu_enum difference_of(
    const struct sim_graph_nodes *one, const struct sim_graph_nodes *other)
{
    enum { TOPOLOGY = 2, NODE_TYPE = 3 };

    if (one->count != other->count)
        return TOPOLOGY;
    for (size_t at = 0; at < one->count; at++) {
        const struct sim_graph_node *left = &one->items[at], *right = &other->items[at];

        if (left->work->kind != right->work->kind)
            return NODE_TYPE;
        if (left->previous[0] != right->previous[0] || left->previous[1] != right->previous[1])
            return TOPOLOGY;
    }
    return 0;
}

pool_cu_result sim_cu_GraphExecUpdate(
    CUgraphExec handle, CUgraph graph_handle, pool_cu_graph_update *result)
{
    struct sim_graph *exec, *graph;
    struct sim_graph_nodes copy;
    struct sim_call call;
    pool_cu_enum difference;
    pool_cu_result code = enter_graph(
        &call, SIM_CU_GraphExecUpdate, SIM_NEED_CONTEXT, SIM_HANDLE_GRAPH_EXEC, handle, &exec);

    if (code)
        return code;
    graph = sim_handle_get(SIM_HANDLE_GRAPH, graph_handle);
    if (!graph || !result || graph->is_stale || graph->context != exec->context)
        return sim_leave(POOL_CU_INVALID_VALUE);
    difference = difference_of(&exec->nodes, &graph->nodes);
    *result = (pool_cu_graph_update){.result = difference};
    if (difference)
        return sim_leave(POOL_CU_GRAPH_EXEC_UPDATE_FAILURE);
    if (!copy_nodes(&graph->nodes, &copy))
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    free_nodes(&exec->nodes);
    exec->nodes = copy;
    return sim_leave(POOL_CU_SUCCESS);
}

/* The first operation is an empty one, to which a fault rule may apply. */
static pool_cu_result enqueue_nodes(
    const struct sim_call *call, struct sim_stream *stream, const struct sim_graph *exec)
{
    struct sim_work *first = sim_work_create(SIM_WORK_NO_OP);
    struct sim_graph_nodes copy;
    pool_cu_result code;

    if (!first || !copy_nodes(&exec->nodes, &copy)) {
        sim_work_free(first);
        return POOL_CU_OUT_OF_MEMORY;
    }
    code = sim_enqueue(call, stream, first);
    for (size_t at = 0; at < copy.count; at++) {
        struct sim_work *work = copy.items[at].work;

        copy.items[at].work = NULL;
        if (work->kind == SIM_WORK_LAUNCH && !exec->keeps_priorities)
            work->u.launch.priority = stream->priority;
        if (!code && work->kind != SIM_WORK_NO_OP)
            code = sim_stream_enqueue(stream, work);
        else
            sim_work_free(work);
    }
    free_nodes(&copy);
    return code;
}

pool_cu_result sim_cu_GraphLaunch(CUgraphExec handle, CUstream stream_handle)
{
    struct sim_graph *exec;
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code = enter_graph(
        &call, SIM_CU_GraphLaunch, SIM_NEED_CONTEXT, SIM_HANDLE_GRAPH_EXEC, handle, &exec);

    if (code)
        return code;
    code = sim_stream_of(
        call.context == exec->context ? call.scope : exec->context, stream_handle, &stream);
    if (!code && exec->is_stale)
        code = POOL_CU_INVALID_HANDLE;
    return sim_leave(code ? code : enqueue_nodes(&call, stream, exec));
}

static pool_cu_result destroy_graph(
    enum sim_driver_function function, enum sim_handle_kind kind, void *handle)
{
    struct sim_graph *graph;
    struct sim_call call;
    pool_cu_result code = enter_graph(&call, function, SIM_NEED_CONTEXT_ONLY, kind, handle, &graph);

    if (code)
        return code;
    sim_graph_free(graph);
    return sim_leave(sim_state.poison);
}

pool_cu_result sim_cu_GraphExecDestroy(CUgraphExec handle)
{
    return destroy_graph(SIM_CU_GraphExecDestroy, SIM_HANDLE_GRAPH_EXEC, handle);
}

pool_cu_result sim_cu_GraphDestroy(CUgraph handle)
{
    return destroy_graph(SIM_CU_GraphDestroy, SIM_HANDLE_GRAPH, handle);
}
