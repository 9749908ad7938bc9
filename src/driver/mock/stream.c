/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams, events and host functions. Work completes immediately unless a test stalls it; work
 * enqueued during a stall is incomplete until the test releases it.
 */
#include "driver/mock/mock.h"

#include <stdlib.h>
#include <time.h>

#define STREAM_NON_BLOCKING 1u
#define EVENT_FLAGS_MASK 7u
#define EVENT_DISABLE_TIMING 2u

/* ---- stalls ---------------------------------------------------------------------------------- */

bool mock_is_stalled(const pool_mock *mock, uint64_t stall_number)
{
    return mock->stalled && stall_number == mock->stall_number;
}

void mock_stall_wait(pool_mock *mock, uint64_t stall_number)
{
    while (mock_is_stalled(mock, stall_number))
        pthread_cond_wait(&mock->work_done, &mock->lock);
}

void mock_stream_work(struct mock_call *call, struct mock_stream *stream)
{
    if (stream->capture) {
        mock_capture_operation(call, stream);
        return;
    }
    if (!call->mock->stalled)
        return;
    stream->stall_number = call->mock->stall_number;
    stream->object.context->stall_number = call->mock->stall_number;
}

void pool_mock_stall(pool_mock *mock)
{
    if (!mock)
        return;
    pthread_mutex_lock(&mock->lock);
    if (!mock->stalled) {
        mock->stalled = true;
        mock->stall_number++;
    }
    pthread_mutex_unlock(&mock->lock);
}

void pool_mock_resume(pool_mock *mock)
{
    if (!mock)
        return;
    pthread_mutex_lock(&mock->lock);
    while (mock->deferred_count) { /* a function may enqueue others */
        struct mock_host_call *deferred = mock->deferred;
        size_t count = mock->deferred_count;

        mock->deferred = NULL;
        mock->deferred_count = 0;
        pthread_mutex_unlock(&mock->lock);
        mock_guest_begin();
        for (size_t i = 0; i < count; i++)
            deferred[i].function(deferred[i].user);
        mock_guest_end();
        free(deferred);
        pthread_mutex_lock(&mock->lock);
    }
    mock->stalled = false;
    pthread_cond_broadcast(&mock->work_done);
    pthread_mutex_unlock(&mock->lock);
}

/* ---- streams --------------------------------------------------------------------------------- */

pool_cu_result mock_stream_get(struct mock_call *call, CUstream handle, struct mock_stream **stream)
{
    uintptr_t value = (uintptr_t)handle;

    if (value <= 2) { /* the default stream, its legacy and its per-thread handle */
        *stream = &call->context->default_stream;
        (*stream)->object.context = call->context;
        (*stream)->object.device = call->context->object.device;
        return POOL_CU_SUCCESS;
    }
    *stream = mock_object_of_kind(call->mock, handle, MOCK_STREAM);
    return *stream ? POOL_CU_SUCCESS : POOL_CU_INVALID_HANDLE;
}

pool_cu_result mock_cu_StreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    struct mock_call call;

    if (!mock_enter(
            &call, MOCK_FN_StreamCreateWithPriority, MOCK_INSIDE, -1, "ui", flags, priority))
        return call.code;
    if (!stream || (flags & ~STREAM_NON_BLOCKING))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    struct mock_stream *made = calloc(1, sizeof(*made));
    if (!made ||
        !mock_object_add(call.mock, &made->object, MOCK_STREAM, call.device, call.context)) {
        free(made);
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    }
    made->flags = flags;
    made->priority = priority > 0    ? 0
                     : priority < -5 ? -5
                                     : priority; /* clamped, as by the real driver */
    *stream = mock_object_handle(call.mock, &made->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_StreamDestroy(CUstream handle)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_StreamDestroy, MOCK_INSIDE, -1, "h", handle)) {
        mock_release_failed(&call, handle);
        return call.code;
    }
    struct mock_stream *stream = mock_object_of_kind(call.mock, handle, MOCK_STREAM);
    if (!stream)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    mock_object_release(call.mock, &stream->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_StreamSynchronize(CUstream handle)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_StreamSynchronize, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    pool_cu_result code = mock_stream_get(&call, handle, &stream);
    if (code)
        return mock_leave(&call, code);
    if (stream->capture)
        return mock_leave(&call,
            mock_capture_violated(call.mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED));
    int device = stream->object.device;
    mock_stall_wait(call.mock, stream->stall_number);
    mock_pools_trim(call.mock, device);
    return mock_leave(&call, call.mock->sticky);
}

pool_cu_result mock_cu_StreamQuery(CUstream handle)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_StreamQuery, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    pool_cu_result code = mock_stream_get(&call, handle, &stream);
    if (code == POOL_CU_SUCCESS && stream->capture)
        code =
            mock_capture_violated(call.mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    if (code == POOL_CU_SUCCESS && mock_is_stalled(call.mock, stream->stall_number))
        code = POOL_CU_NOT_READY;
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_StreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(
            &call, MOCK_FN_StreamWaitEvent, MOCK_INSIDE, -1, "hhu", handle, event_handle, flags))
        return call.code;
    pool_cu_result code = mock_stream_get(&call, handle, &stream);
    if (code)
        return mock_leave(&call, code);
    const struct mock_event *event = mock_object_of_kind(call.mock, event_handle, MOCK_EVENT);
    if (!event)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    if (flags > 1)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (stream->capture || event->capture)
        return mock_leave(&call, mock_capture_wait(&call, stream, event));
    if (mock_is_stalled(call.mock, event->stall_number))
        mock_stream_work(&call, stream);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_StreamGetPriority(CUstream handle, int *priority)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_StreamGetPriority, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    pool_cu_result code = mock_stream_get(&call, handle, &stream);
    if (code == POOL_CU_SUCCESS && !priority)
        code = POOL_CU_INVALID_VALUE;
    if (code == POOL_CU_SUCCESS)
        *priority = stream->priority;
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_StreamGetFlags(CUstream handle, unsigned int *flags)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_StreamGetFlags, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    pool_cu_result code = mock_stream_get(&call, handle, &stream);
    if (code == POOL_CU_SUCCESS && !flags)
        code = POOL_CU_INVALID_VALUE;
    if (code == POOL_CU_SUCCESS)
        *flags = stream->flags;
    return mock_leave(&call, code);
}

pool_cu_result mock_cu_StreamGetCtx(CUstream handle, CUcontext *context)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_StreamGetCtx, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    pool_cu_result code = mock_stream_get(&call, handle, &stream);
    if (code == POOL_CU_SUCCESS && !context)
        code = POOL_CU_INVALID_VALUE;
    if (code == POOL_CU_SUCCESS)
        *context = mock_object_handle(call.mock, &stream->object.context->object);
    return mock_leave(&call, code);
}

/* ---- events ---------------------------------------------------------------------------------- */

pool_cu_result mock_cu_EventCreate(CUevent *event, unsigned int flags)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_EventCreate, MOCK_INSIDE, -1, "u", flags))
        return call.code;
    /* An interprocess event must not record times. */
    if (!event || (flags & ~EVENT_FLAGS_MASK) || ((flags & 4u) && !(flags & EVENT_DISABLE_TIMING)))
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    struct mock_event *made = calloc(1, sizeof(*made));
    if (!made ||
        !mock_object_add(call.mock, &made->object, MOCK_EVENT, call.device, call.context)) {
        free(made);
        return mock_leave(&call, POOL_CU_OUT_OF_MEMORY);
    }
    made->flags = flags;
    *event = mock_object_handle(call.mock, &made->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_EventDestroy(CUevent handle)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_EventDestroy, MOCK_INSIDE, -1, "h", handle)) {
        mock_release_failed(&call, handle);
        return call.code;
    }
    struct mock_event *event = mock_object_of_kind(call.mock, handle, MOCK_EVENT);
    if (!event)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    mock_object_release(call.mock, &event->object);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

pool_cu_result mock_cu_EventRecord(CUevent handle, CUstream stream_handle)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_EventRecord, MOCK_INSIDE, -1, "hh", handle, stream_handle))
        return call.code;
    struct mock_event *event = mock_object_of_kind(call.mock, handle, MOCK_EVENT);
    pool_cu_result code = mock_stream_get(&call, stream_handle, &stream);
    if (code || !event)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    if (event->object.context != stream->object.context)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    event->capture = stream->capture;
    if (event->capture)
        return mock_leave(&call, POOL_CU_SUCCESS);
    mock_stream_work(&call, stream);
    event->recorded = true;
    event->time_ns = now_ns();
    event->stall_number = call.mock->stalled ? call.mock->stall_number : 0;
    return mock_leave(&call, POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_EventQuery(CUevent handle)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_EventQuery, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    const struct mock_event *event = mock_object_of_kind(call.mock, handle, MOCK_EVENT);
    if (!event)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    if (event->capture)
        return mock_leave(
            &call, mock_capture_violated(call.mock, event->capture, POOL_CU_CAPTURED_EVENT));
    return mock_leave(&call,
        mock_is_stalled(call.mock, event->stall_number) ? POOL_CU_NOT_READY : POOL_CU_SUCCESS);
}

pool_cu_result mock_cu_EventSynchronize(CUevent handle)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_EventSynchronize, MOCK_INSIDE, -1, "h", handle))
        return call.code;
    const struct mock_event *event = mock_object_of_kind(call.mock, handle, MOCK_EVENT);
    if (!event)
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    if (event->capture)
        return mock_leave(
            &call, mock_capture_violated(call.mock, event->capture, POOL_CU_CAPTURED_EVENT));
    int device = event->object.device;
    mock_stall_wait(call.mock, event->stall_number);
    mock_pools_trim(call.mock, device);
    return mock_leave(&call, call.mock->sticky);
}

pool_cu_result mock_cu_EventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    struct mock_call call;

    if (!mock_enter(&call, MOCK_FN_EventElapsedTime, MOCK_INSIDE, -1, "hh", start, end))
        return call.code;
    const struct mock_event *first = mock_object_of_kind(call.mock, start, MOCK_EVENT);
    const struct mock_event *last = mock_object_of_kind(call.mock, end, MOCK_EVENT);
    if (!milliseconds)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    if (!first || !last || !first->recorded || !last->recorded ||
        first->object.context != last->object.context ||
        ((first->flags | last->flags) & EVENT_DISABLE_TIMING))
        return mock_leave(&call, POOL_CU_INVALID_HANDLE);
    if (mock_is_stalled(call.mock, first->stall_number) ||
        mock_is_stalled(call.mock, last->stall_number))
        return mock_leave(&call, POOL_CU_NOT_READY);
    *milliseconds = (float)((double)((int64_t)(last->time_ns - first->time_ns)) / 1e6);
    return mock_leave(&call, POOL_CU_SUCCESS);
}

/* ---- host functions -------------------------------------------------------------------------- */

static pool_cu_result defer_host_call(pool_mock *mock, pool_cu_host_function function, void *user)
{
    struct mock_host_call *larger =
        realloc(mock->deferred, (mock->deferred_count + 1) * sizeof(*larger));

    if (!larger)
        return POOL_CU_OUT_OF_MEMORY;
    mock->deferred = larger;
    mock->deferred[mock->deferred_count++] = (struct mock_host_call){function, user};
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_cu_LaunchHostFunc(
    CUstream stream_handle, pool_cu_host_function function, void *user)
{
    struct mock_call call;
    struct mock_stream *stream;

    if (!mock_enter(&call, MOCK_FN_LaunchHostFunc, MOCK_INSIDE, -1, "h", stream_handle))
        return call.code;
    pool_cu_result code = mock_stream_get(&call, stream_handle, &stream);
    if (code)
        return mock_leave(&call, code);
    if (!function)
        return mock_leave(&call, POOL_CU_INVALID_VALUE);
    mock_stream_work(&call, stream);
    if (call.is_captured)
        return mock_leave(&call, POOL_CU_SUCCESS);
    if (call.mock->stalled)
        return mock_leave(&call, defer_host_call(call.mock, function, user));
    code = mock_leave(&call, POOL_CU_SUCCESS);
    mock_guest_begin();
    function(user);
    mock_guest_end();
    return code;
}
