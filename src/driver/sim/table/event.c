/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the simulated driver. Each recording is a separate marker: waiting for one is not
 * affected when the event is recorded again or destroyed. Those of interprocess events are in
 * ipc_event.c.
 */
#include "base/alloc.h"
#include "driver/sim/table/state.h"

void sim_marker_release(struct sim_marker *marker)
{
    if (!marker || --marker->references)
        return;
    if (marker->shared) {
        sim_shared_event_end(marker);
        sim_shared_event_release(marker->shared);
    }
    base_free(marker);
}

void sim_event_free(struct sim_event *event)
{
    struct sim_event **link = &event->context->events;

    while (*link != event)
        link = &(*link)->next;
    *link = event->next;
    sim_handle_release(event->handle);
    sim_marker_release(event->marker);
    sim_shared_event_release(event->shared);
    base_free(event);
}

pool_cu_result sim_event_create(
    struct sim_context *context, unsigned flags, struct sim_shared_event *shared, CUevent *handle)
{
    struct sim_event *made = base_calloc(1, sizeof(*made));

    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->handle = sim_handle_create(SIM_HANDLE_EVENT, made);
    if (!made->handle) {
        base_free(made);
        return POOL_CU_OUT_OF_MEMORY;
    }
    made->context = context;
    made->flags = flags;
    made->shared = shared;
    made->next = context->events;
    context->events = made;
    *handle = made->handle;
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_cu_EventCreate(CUevent *event, unsigned int flags)
{
    struct sim_shared_event *shared = NULL;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_EventCreate, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    /* An interprocess event cannot record times. */
    if (!event || flags > 7 || (flags & 6) == DRIVER_EVENT_INTERPROCESS)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (flags & DRIVER_EVENT_INTERPROCESS) {
        shared = sim_shared_event_create();
        if (!shared)
            return sim_leave(POOL_CU_OUT_OF_MEMORY);
    }
    code = sim_event_create(call.context, flags, shared, event);
    if (code)
        sim_shared_event_release(shared);
    return sim_leave(code);
}

static pool_cu_result enter_event(struct sim_call *call, enum sim_driver_function function,
    enum sim_need need, CUevent handle, struct sim_event **event)
{
    pool_cu_result code = sim_enter(call, function, need, -1);

    if (code)
        return code;
    *event = sim_handle_get(SIM_HANDLE_EVENT, handle);
    return *event ? POOL_CU_SUCCESS : sim_leave(POOL_CU_INVALID_HANDLE);
}

pool_cu_result sim_cu_EventDestroy(CUevent handle)
{
    struct sim_event *event;
    struct sim_call call;
    pool_cu_result code =
        enter_event(&call, SIM_CU_EventDestroy, SIM_NEED_CONTEXT_ONLY, handle, &event);

    if (code)
        return code;
    sim_event_free(event);
    return sim_leave(sim_state.poison);
}

pool_cu_result sim_event_record(
    const struct sim_call *call, struct sim_event *event, struct sim_stream *stream)
{
    struct sim_marker *marker;
    struct sim_work *work;
    pool_cu_result code;

    event->capture = stream->capture ? stream->capture->number : 0;
    event->captured = stream->captured;
    if (stream->capture)
        return POOL_CU_SUCCESS;
    marker = base_calloc(1, sizeof(*marker));
    work = sim_work_create(SIM_WORK_RECORD);
    if (!marker || !work || (event->shared && !sim_shared_event_begin(event->shared, marker))) {
        base_free(marker);
        base_free(work);
        return POOL_CU_OUT_OF_MEMORY;
    }
    marker->references = 2; /* one for the event, one for the operation */
    work->u.marker = marker;
    code = sim_enqueue(call, stream, work);
    if (code) {
        sim_marker_release(marker);
        return code;
    }
    sim_marker_release(event->marker);
    event->marker = marker;
    if (marker->shared)
        sim_shared_event_publish(marker);
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_cu_EventRecord(CUevent handle, CUstream stream_handle)
{
    struct sim_stream *stream;
    struct sim_event *event;
    struct sim_call call;
    pool_cu_result code = enter_event(&call, SIM_CU_EventRecord, SIM_NEED_CONTEXT, handle, &event);

    if (code)
        return code;
    code = sim_stream_of(
        event->context == call.context ? call.scope : event->context, stream_handle, &stream);
    if (!code && !stream_handle && event->context != call.context)
        code = POOL_CU_INVALID_HANDLE;
    return sim_leave(code ? code : sim_event_record(&call, event, stream));
}

pool_cu_result sim_event_refresh(struct sim_event *event, bool is_awaited)
{
    return event->shared ? sim_shared_event_refresh(event, is_awaited) : POOL_CU_SUCCESS;
}

/* The last record of the event is a point in a graph, which is never reached. */
static pool_cu_result fail_captured(const struct sim_event *event)
{
    struct sim_capture *capture = sim_capture_of(event->capture);

    return capture ? sim_capture_violated(capture, POOL_CU_CAPTURED_EVENT) : POOL_CU_CAPTURED_EVENT;
}

pool_cu_result sim_cu_EventQuery(CUevent handle)
{
    struct sim_event *event;
    struct sim_call call;
    pool_cu_result code = enter_event(&call, SIM_CU_EventQuery, SIM_NEED_CONTEXT, handle, &event);

    if (code)
        return code;
    if (event->capture)
        return sim_leave(fail_captured(event));
    code = sim_event_refresh(event, false);
    if (!code && event->marker && !event->marker->is_done)
        code = POOL_CU_NOT_READY;
    return sim_leave(code);
}

pool_cu_result sim_cu_EventSynchronize(CUevent handle)
{
    struct sim_event *event;
    struct sim_marker *marker;
    struct sim_call call;
    bool is_open = true;
    pool_cu_result code =
        enter_event(&call, SIM_CU_EventSynchronize, SIM_NEED_CONTEXT, handle, &event);

    if (code)
        return code;
    if (event->capture)
        return sim_leave(fail_captured(event));
    code = sim_event_refresh(event, true);
    marker = event->marker;
    if (code || !marker)
        return sim_leave(code);
    const int device = event->context->device;
    marker->references++;
    while (is_open && !marker->is_done)
        is_open = sim_wait();
    sim_marker_release(marker);
    if (!is_open)
        return sim_leave(POOL_CU_DEINITIALIZED);
    sim_memory_pools_trim(device);
    return sim_leave(sim_state.poison);
}

pool_cu_result sim_cu_EventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    struct sim_event *first, *second;
    struct sim_call call;
    pool_cu_result code =
        enter_event(&call, SIM_CU_EventElapsedTime, SIM_NEED_CONTEXT, start, &first);

    if (code)
        return code;
    if (!milliseconds)
        return sim_leave(POOL_CU_INVALID_HANDLE); /* as a GPU's driver */
    second = sim_handle_get(SIM_HANDLE_EVENT, end);
    if (!second || first->context != second->context || !first->marker || !second->marker ||
        (first->flags | second->flags) & DRIVER_EVENT_DISABLE_TIMING)
        return sim_leave(POOL_CU_INVALID_HANDLE);
    if (first->capture || second->capture)
        return sim_leave(fail_captured(first->capture ? first : second));
    if (!first->marker->is_done || !second->marker->is_done)
        return sim_leave(POOL_CU_NOT_READY);
    *milliseconds =
        (float)((double)((int64_t)(second->marker->time_ns - first->marker->time_ns)) * 1e-6);
    return sim_leave(POOL_CU_SUCCESS);
}

/* A captured event adds the stream to its capture; a captured stream waits for no others. */
static pool_cu_result wait_captured(struct sim_stream *stream, const struct sim_event *event)
{
    struct sim_capture *capture = sim_capture_of(event->capture);
    struct sim_work *work;

    if (!event->capture)
        return event->marker
                   ? sim_capture_violated(stream->capture, POOL_CU_STREAM_CAPTURE_ISOLATION)
                   : POOL_CU_SUCCESS;
    if (!capture)
        return POOL_CU_CAPTURED_EVENT;
    if (stream == stream->context->null_stream)
        return sim_capture_violated(capture, POOL_CU_STREAM_CAPTURE_IMPLICIT);
    if (stream->context->root != event->context) /* one context per graph */
        return sim_capture_violated(capture, POOL_CU_NOT_SUPPORTED);
    if (stream->capture && stream->capture != capture)
        return sim_capture_violated(capture, POOL_CU_STREAM_CAPTURE_MERGE);
    if (!stream->capture) {
        stream->capture = capture;
        stream->captured = event->captured;
        return POOL_CU_SUCCESS;
    }
    work = sim_work_create(SIM_WORK_NO_OP);
    return work ? sim_capture_add(stream, work, event->captured) : POOL_CU_OUT_OF_MEMORY;
}

pool_cu_result sim_cu_StreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags)
{
    struct sim_stream *stream;
    struct sim_event *event;
    struct sim_call call;
    struct sim_work *work;
    pool_cu_result code =
        enter_event(&call, SIM_CU_StreamWaitEvent, SIM_NEED_CONTEXT, event_handle, &event);

    if (code)
        return code;
    /* The stream may belong to another context or device than the event. */
    stream = sim_handle_get(SIM_HANDLE_STREAM, handle);
    code = stream ? POOL_CU_SUCCESS : sim_stream_of(call.scope, handle, &stream);
    if (code)
        return sim_leave(code);
    if (flags)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (event->capture || stream->capture)
        return sim_leave(wait_captured(stream, event));
    code = sim_event_refresh(event, true);
    if (code || !event->marker || event->marker->is_done)
        return sim_leave(code);
    work = sim_work_create(SIM_WORK_WAIT);
    if (!work)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    work->u.marker = event->marker;
    event->marker->references++;
    return sim_leave(sim_enqueue(&call, stream, work));
}
