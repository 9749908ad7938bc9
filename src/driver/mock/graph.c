/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured streams and graphs. What is captured is checked and counted, and not carried out; nor is
 * a graph when it is launched, which is work on its stream.
 */
#include "driver/mock/mock.h"

#include <stdlib.h>

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
    if (stream == &call->context->default_stream)
        return mock_capture_violated(call->mock, event->capture, POOL_CU_STREAM_CAPTURE_IMPLICIT);
    if (stream->capture && stream->capture != event->capture)
        return mock_capture_violated(call->mock, event->capture, POOL_CU_STREAM_CAPTURE_MERGE);
    stream->capture = event->capture;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_cu_StreamBeginCapture(CUstream handle, pool_cu_enum mode)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_StreamBeginCapture, MOCK_INSIDE, -1, "hu", handle, mode))
        return call.code;
    struct mock_stream *stream = mock_object_of_kind(call.mock, handle, MOCK_STREAM);
    if ((uintptr_t)handle <= 2)
        return mock_leave(&call, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    if (!stream)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    if (mode >= CAPTURE_MODES)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (stream->capture)
        return mock_leave(
            &call, mock_capture_violated(call.mock, stream->capture, POOL_CU_ILLEGAL_STATE));
    stream->capture = ++call.mock->last_capture;
    stream->is_origin = true;
    stream->is_capture_broken = false;
    stream->operations = 0;
    return mock_leave(&call, POOL_CU_SUCCESS);
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
    struct mock_graph *made = calloc(1, sizeof(*made));

    if (!made ||
        !mock_object_add(call->mock, &made->object, kind, context->object.device, context)) {
        free(made);
        return NULL;
    }
    made->operations = operations;
    return made;
}

pool_cu_result mock_cu_StreamEndCapture(CUstream handle, CUgraph *graph)
{
    struct mock_call call;
    struct mock_graph *made = NULL;
    pool_cu_result code = POOL_CU_SUCCESS;

    if (!mock_enter(&call, MOCK_FN_StreamEndCapture, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    struct mock_stream *stream = mock_object_of_kind(call.mock, handle, MOCK_STREAM);
    if (!stream || !stream->capture)
        return mock_leave(&call, stream ? POOL_CU_ILLEGAL_STATE : POOL_CU_INVALID_HANDLE);
    if (!stream->is_origin)
        return mock_leave(&call,
            mock_capture_violated(call.mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNMATCHED));
    if (!graph)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *graph = NULL;
    if (stream->is_capture_broken)
        code = POOL_CU_STREAM_CAPTURE_INVALIDATED;
    else if (!(made = add_graph(&call, MOCK_GRAPH, stream->object.context, stream->operations)))
        code = POOL_CU_OUT_OF_MEMORY;
    end_capture(call.mock, stream->capture);
    if (made)
        *graph = mock_object_handle(call.mock, &made->object);
    return mock_leave(&call, code);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

pool_cu_result mock_cu_GraphInstantiateWithFlags(
    CUgraphExec *exec, CUgraph handle, unsigned long long flags)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_GraphInstantiateWithFlags, MOCK_INSIDE, -1, "hz", handle, (size_t)flags))
        return call.code;
    const struct mock_graph *graph = mock_object_of_kind(call.mock, handle, MOCK_GRAPH);
    if (!exec || !graph || flags)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    struct mock_graph *made =
        add_graph(&call, MOCK_GRAPH_EXEC, graph->object.context, graph->operations);
    if (!made)
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    *exec = mock_object_handle(call.mock, &made->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_GraphExecUpdate(
    CUgraphExec handle, CUgraph graph_handle, pool_cu_graph_update *result)
{
    enum { TOPOLOGY_CHANGED = 2 };
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_GraphExecUpdate, MOCK_INSIDE, -1, "hh", handle, graph_handle))
        return call.code;
    const struct mock_graph *exec = mock_object_of_kind(call.mock, handle, MOCK_GRAPH_EXEC);
    const struct mock_graph *graph = mock_object_of_kind(call.mock, graph_handle, MOCK_GRAPH);
    if (!exec || !graph || !result)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    *result = (pool_cu_graph_update){
        .result = exec->operations == graph->operations ? 0 : TOPOLOGY_CHANGED};
    return mock_leave(&call, result->result ? POOL_CU_GRAPH_EXEC_UPDATE_FAILURE : POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_GraphLaunch(CUgraphExec handle, CUstream stream_handle)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_GraphLaunch, MOCK_INSIDE, -1, "hh", handle, stream_handle))
        return call.code;
    const struct mock_graph *exec = mock_object_of_kind(call.mock, handle, MOCK_GRAPH_EXEC);
    pool_cu_result code = mock_stream_get(&call, stream_handle, &stream);
    if (!code && !exec)
        code = POOL_CU_INVALID_VALUE;
    if (!code && exec->object.context != stream->object.context)
        code = POOL_CU_INVALID_HANDLE;
    if (!code)
        mock_stream_work(&call, stream);
    return mock_leave(&call, code);
}

static pool_cu_result destroy(enum mock_fn fn, enum mock_kind kind, const void *handle)
{
    struct mock_call call;

    if (!mock_enter(&call, fn, MOCK_INSIDE, -1, "h", handle)) {
        mock_release_failed(&call, handle);
        return call.code;
    }
    struct mock_object *graph = mock_object_of_kind(call.mock, handle, kind);
    if (!graph)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    mock_object_release(call.mock, graph);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_GraphExecDestroy(CUgraphExec handle)
{
    return destroy(MOCK_FN_GraphExecDestroy, MOCK_GRAPH_EXEC, handle);
}

pool_cu_result mock_cu_GraphDestroy(CUgraph handle)
{
    return destroy(MOCK_FN_GraphDestroy, MOCK_GRAPH, handle);
}
