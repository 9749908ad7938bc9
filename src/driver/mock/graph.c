/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured streams and graphs. What is captured is checked and counted, and not carried out; nor is
 * a graph when it is launched, which is work on its stream.
 */
#include "driver/mock/mock.h"

#define CAPTURE_MODES 3u

/* ---- capture --------------------------------------------------------------------------------- */

static struct mock_stream *stream_at(const pool_mock *mock, size_t index)
{
    struct mock_object *object = mock->objects[index];

    return object && object->kind == MOCK_STREAM ? (struct mock_stream *)object : NULL;
}

/* The stream that the capture began on, or NULL: it has ended. */
static struct mock_stream *origin_of(const pool_mock *mock, uint64_t capture)
{
    for (size_t i = 0; capture && i < mock->object_count; i++) {
        struct mock_stream *stream = stream_at(mock, i);

        if (stream && stream->capture == capture && stream->is_origin)
            return stream;
    }
    return NULL;
}

pool_cu_result mock_capture_violated(pool_mock *mock, uint64_t capture, pool_cu_result code)
{
    struct mock_stream *origin = origin_of(mock, capture);

    if (origin)
        origin->is_capture_broken = true;
    return code;
}

pool_cu_result mock_context_uncaptured(struct mock_call *call)
{
    for (size_t i = 0; i < call->mock->object_count; i++) {
        const struct mock_stream *stream = stream_at(call->mock, i);

        if (stream && stream->capture && stream->object.context == call->context)
            return mock_capture_violated(
                call->mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    }
    return POOL_CU_SUCCESS;
}

void mock_capture_operation(struct mock_call *call, const struct mock_stream *stream)
{
    struct mock_stream *origin = origin_of(call->mock, stream->capture);

    call->is_captured = true;
    if (origin)
        origin->operations++;
}

pool_cu_result mock_capture_wait(
    struct mock_call *call, struct mock_stream *stream, const struct mock_event *event)
{
    if (!event->capture)
        return mock_capture_violated(call->mock, stream->capture, POOL_CU_STREAM_CAPTURE_ISOLATION);
    if (!origin_of(call->mock, event->capture))
        return POOL_CU_CAPTURED_EVENT;
    if (stream == &stream->scope->default_stream)
        return mock_capture_violated(call->mock, event->capture, POOL_CU_STREAM_CAPTURE_IMPLICIT);
    if (stream->capture && stream->capture != event->capture)
        return mock_capture_violated(call->mock, event->capture, POOL_CU_STREAM_CAPTURE_MERGE);
    stream->capture = event->capture;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_StreamBeginCapture(
    struct mock_call *call, struct mock_stream *stream, pool_cu_enum mode)
{
    if ((uintptr_t)call->stream <= 2)
        return POOL_CU_STREAM_CAPTURE_UNSUPPORTED;
    if (mode >= CAPTURE_MODES)
        return POOL_CU_INVALID_VALUE;
    if (stream->capture)
        return mock_capture_violated(call->mock, stream->capture, POOL_CU_ILLEGAL_STATE);
    stream->capture = ++call->mock->last_capture;
    stream->is_origin = true;
    stream->is_capture_broken = false;
    stream->operations = 0;
    return POOL_CU_SUCCESS;
}

static void end_capture(pool_mock *mock, uint64_t capture)
{
    for (size_t i = 0; i < mock->object_count; i++) {
        struct mock_stream *stream = stream_at(mock, i);

        if (stream && stream->capture == capture) {
            stream->capture = 0;
            stream->is_origin = false;
        }
    }
}

/* The new graph; NULL: out of memory. */
static struct mock_graph *add_graph(
    struct mock_call *call, enum mock_kind kind, struct mock_context *context, uint64_t operations)
{
    struct mock_graph *made =
        mock_object_new(call->mock, sizeof(*made), kind, context->object.device, context);

    if (made)
        made->operations = operations;
    return made;
}

pool_cu_result mock_do_StreamEndCapture(
    struct mock_call *call, struct mock_stream *stream, CUgraph *graph)
{
    struct mock_graph *made = NULL;
    pool_cu_result code = POOL_CU_SUCCESS;

    if ((uintptr_t)call->stream <= 2)
        return POOL_CU_INVALID_HANDLE;
    if (!stream->capture)
        return POOL_CU_ILLEGAL_STATE;
    if (!stream->is_origin)
        return mock_capture_violated(call->mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNMATCHED);
    *graph = NULL;
    if (stream->is_capture_broken)
        code = POOL_CU_STREAM_CAPTURE_INVALIDATED;
    else if (!(made = add_graph(call, MOCK_GRAPH, stream->object.context, stream->operations)))
        code = POOL_CU_OUT_OF_MEMORY;
    end_capture(call->mock, stream->capture);
    if (made)
        *graph = mock_object_handle(call->mock, &made->object);
    return code;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

pool_cu_result mock_do_GraphInstantiateWithFlags(
    struct mock_call *call, CUgraphExec *exec, struct mock_graph *graph, unsigned long long flags)
{
    enum { USE_NODE_PRIORITY = 8 };

    if (flags & ~(unsigned long long)USE_NODE_PRIORITY)
        return POOL_CU_INVALID_VALUE;
    struct mock_graph *made =
        add_graph(call, MOCK_GRAPH_EXEC, graph->object.context, graph->operations);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    *exec = mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_GraphExecUpdate(struct mock_call *call, struct mock_graph *exec,
    struct mock_graph *graph, pool_cu_graph_update *result)
{
    enum { TOPOLOGY_CHANGED = 2 };

    (void)call;
    *result = (pool_cu_graph_update){
        .result = exec->operations == graph->operations ? 0 : TOPOLOGY_CHANGED};
    return result->result ? POOL_CU_GRAPH_EXEC_UPDATE_FAILURE : POOL_CU_SUCCESS;
}

pool_cu_result mock_do_GraphLaunch(
    struct mock_call *call, struct mock_graph *exec, struct mock_stream *stream)
{
    if (exec->object.context != stream->object.context)
        return POOL_CU_INVALID_HANDLE;
    mock_stream_work(call, stream);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_GraphExecDestroy(struct mock_call *call, struct mock_graph *exec)
{
    mock_object_release(call->mock, &exec->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_GraphDestroy(struct mock_call *call, struct mock_graph *graph)
{
    mock_object_release(call->mock, &graph->object);
    return POOL_CU_SUCCESS;
}
