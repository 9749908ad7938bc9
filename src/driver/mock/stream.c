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
    stream->scope->stall_number = call->mock->stall_number;
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

struct mock_stream *mock_default_stream(struct mock_call *call)
{
    struct mock_stream *stream = &call->scope->default_stream;

    stream->scope = call->scope;
    stream->object.context = call->context;
    stream->object.device = call->context->object.device;
    return stream;
}

pool_cu_result mock_stream_create(struct mock_call *call, struct mock_context *scope,
    unsigned flags, int priority, CUstream *stream)
{
    struct mock_stream *made;

    if (flags & ~STREAM_NON_BLOCKING)
        return POOL_CU_INVALID_VALUE;
    made = mock_object_new(
        call->mock, sizeof(*made), MOCK_STREAM, scope->object.device, mock_root(scope));
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->scope = scope;
    made->flags = flags;
    made->priority = priority > 0    ? 0
                     : priority < -5 ? -5
                                     : priority; /* clamped, as by the real driver */
    *stream = mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_StreamCreateWithPriority(
    struct mock_call *call, CUstream *stream, unsigned int flags, int priority)
{
    return mock_stream_create(call, call->scope, flags, priority, stream);
}

pool_cu_result mock_do_StreamDestroy(struct mock_call *call, struct mock_stream *stream)
{
    if ((uintptr_t)call->stream <= 2)
        return POOL_CU_INVALID_HANDLE;
    mock_object_release(call->mock, &stream->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_StreamSynchronize(struct mock_call *call, struct mock_stream *stream)
{
    int device = stream->object.device;

    if (stream->capture)
        return mock_capture_violated(
            call->mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    mock_stall_wait(call->mock, stream->stall_number);
    mock_pools_trim(call->mock, device);
    return call->mock->sticky;
}

pool_cu_result mock_do_StreamQuery(struct mock_call *call, struct mock_stream *stream)
{
    if (stream->capture)
        return mock_capture_violated(
            call->mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    return mock_is_stalled(call->mock, stream->stall_number) ? POOL_CU_NOT_READY : POOL_CU_SUCCESS;
}

pool_cu_result mock_do_StreamWaitEvent(struct mock_call *call, struct mock_stream *stream,
    struct mock_event *event, unsigned int flags)
{
    if (flags > 1)
        return POOL_CU_INVALID_VALUE;
    if (stream->capture || event->capture)
        return mock_capture_wait(call, stream, event);
    if (mock_is_stalled(call->mock, event->stall_number))
        mock_stream_work(call, stream);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_StreamGetPriority(
    struct mock_call *call, struct mock_stream *stream, int *priority)
{
    (void)call;
    *priority = stream->priority;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_StreamGetFlags(
    struct mock_call *call, struct mock_stream *stream, unsigned int *flags)
{
    (void)call;
    *flags = stream->flags;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_StreamGetCtx(
    struct mock_call *call, struct mock_stream *stream, CUcontext *context)
{
    *context = mock_object_handle(call->mock, &stream->scope->object);
    return POOL_CU_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------- */

pool_cu_result mock_do_EventCreate(struct mock_call *call, CUevent *event, unsigned int flags)
{
    /* An interprocess event must not record times. */
    if ((flags & ~EVENT_FLAGS_MASK) || ((flags & 4u) && !(flags & EVENT_DISABLE_TIMING)))
        return POOL_CU_INVALID_VALUE;
    struct mock_event *made =
        mock_object_new(call->mock, sizeof(*made), MOCK_EVENT, call->device, call->context);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->flags = flags;
    *event = mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_EventDestroy(struct mock_call *call, struct mock_event *event)
{
    mock_object_release(call->mock, &event->object);
    return POOL_CU_SUCCESS;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void mock_event_record(struct mock_event *event, uint64_t stall_number)
{
    event->capture = 0;
    event->recorded = true;
    event->time_ns = now_ns();
    event->stall_number = stall_number;
}

pool_cu_result mock_do_EventRecord(
    struct mock_call *call, struct mock_event *event, struct mock_stream *stream)
{
    if (event->object.context != stream->object.context)
        return POOL_CU_INVALID_HANDLE;
    event->capture = stream->capture;
    if (event->capture)
        return POOL_CU_SUCCESS;
    mock_stream_work(call, stream);
    mock_event_record(event, call->mock->stalled ? call->mock->stall_number : 0);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_EventQuery(struct mock_call *call, struct mock_event *event)
{
    if (event->capture)
        return mock_capture_violated(call->mock, event->capture, POOL_CU_CAPTURED_EVENT);
    return mock_is_stalled(call->mock, event->stall_number) ? POOL_CU_NOT_READY : POOL_CU_SUCCESS;
}

pool_cu_result mock_do_EventSynchronize(struct mock_call *call, struct mock_event *event)
{
    if (event->capture)
        return mock_capture_violated(call->mock, event->capture, POOL_CU_CAPTURED_EVENT);
    int device = event->object.device;
    mock_stall_wait(call->mock, event->stall_number);
    mock_pools_trim(call->mock, device);
    return call->mock->sticky;
}

pool_cu_result mock_do_EventElapsedTime(
    struct mock_call *call, float *milliseconds, struct mock_event *start, struct mock_event *end)
{
    if (!start->recorded || !end->recorded || start->object.context != end->object.context ||
        ((start->flags | end->flags) & EVENT_DISABLE_TIMING))
        return POOL_CU_INVALID_HANDLE;
    if (mock_is_stalled(call->mock, start->stall_number) ||
        mock_is_stalled(call->mock, end->stall_number))
        return POOL_CU_NOT_READY;
    *milliseconds = (float)((double)((int64_t)(end->time_ns - start->time_ns)) / 1e6);
    return POOL_CU_SUCCESS;
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

pool_cu_result mock_do_LaunchHostFunc(
    struct mock_call *call, struct mock_stream *stream, pool_cu_host_function function, void *user)
{
    if (!function)
        return POOL_CU_INVALID_VALUE;
    mock_stream_work(call, stream);
    if (call->is_captured)
        return POOL_CU_SUCCESS;
    if (call->mock->stalled)
        return defer_host_call(call->mock, function, user);
    pthread_mutex_unlock(&call->mock->lock);
    mock_guest_begin();
    function(user);
    mock_guest_end();
    pthread_mutex_lock(&call->mock->lock);
    return POOL_CU_SUCCESS;
}
