/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture of streams into graphs. The driver must not be queried about a stream that is
 * captured, so its earlier work is handed to the reclaim stream, which everybody queries and waits
 * for instead. Captures are known by numbers, which are never reused.
 */
#include "pool/stream/capture.h"

#include <devicepool/graph.h>

#include "base/alloc.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"

static struct stream_capture *find_locked(const struct stream_registry *registry, uint64_t number)
{
    struct stream_capture *capture = registry->captures;

    while (capture && capture->number != number)
        capture = capture->next;
    return capture;
}

pool_status stream_refuse_captured(const char *call, const pool_stream *stream, const char *what)
{
    struct stream_registry *registry = stream->registry;
    struct stream_capture *capture;
    pool_status status = device_check(stream->device, DEVICE_USE_HOST);

    if (status)
        return status;
    pthread_mutex_lock(&registry->lock);
    capture = find_locked(registry, stream_capture_of(stream));
    if (capture)
        capture->is_incomplete = true;
    pthread_mutex_unlock(&registry->lock);
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s%sthe stream is being captured into a graph, which cannot contain %s; end the capture "
        "first, or call this before it begins",
        call ? call : "", call ? ": " : "", what);
}

pool_status stream_check_uncaptured(const char *call, const pool_stream *stream, const char *what)
{
    pool_status status = stream_check(call, stream);

    return !status && stream_capture_of(stream) ? stream_refuse_captured(call, stream, what)
                                                : status;
}

static bool has_captures(pool_device *device)
{
    struct stream_registry *registry = stream_registry_find(device);
    bool has_captures = false;

    if (!registry)
        return false;
    pthread_mutex_lock(&registry->lock);
    has_captures = registry->captures != NULL;
    pthread_mutex_unlock(&registry->lock);
    return has_captures;
}

pool_status stream_check_no_captures(pool_device *device)
{
    bool is_captured = false;

    for (pool_device *part = NULL; !is_captured && (part = device_next_part(device, part));)
        is_captured = has_captures(part);
    return is_captured ? base_fail(POOL_ERR_BUSY,
                             "a stream of device %d is being captured into a graph; the device as "
                             "a whole cannot be waited for before pool_stream_end_capture",
                             pool_device_ordinal(device))
                       : POOL_OK;
}

/* ---- the streams of a capture ---------------------------------------------------------------- */

static pool_status check_stream(struct driver *driver, const pool_stream *stream)
{
    unsigned flags = 0;
    pool_status status;

    if (stream->is_default || (uintptr_t)stream->handle <= 2)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "a default stream cannot be captured; create a stream");
    if (stream->is_leased)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the stream of a lease belongs to the pool and cannot be captured; create a stream");
    status = DRIVER_CALL(driver, StreamGetFlags(stream->handle, &flags));
    if (!status && !(flags & DRIVER_STREAM_NON_BLOCKING))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "a stream with POOL_STREAM_BLOCKING cannot be captured: it is ordered with the default "
            "stream");
    return status;
}

static pool_status add_stream_locked(struct driver *driver, pool_stream *stream, uint64_t number)
{
    pool_status status = check_stream(driver, stream);

    if (!status)
        status = stream_order_reclaim_locked(driver, stream);
    if (status)
        return status;
    driver_queue_redirect(device_work(stream->device), stream->queue, stream->registry->reclaim);
    atomic_store(&stream->capture, number);
    return POOL_OK;
}

static void remove_stream_locked(pool_stream *stream)
{
    driver_queue_redirect(device_work(stream->device), stream->queue, stream->handle);
    atomic_store(&stream->capture, 0);
}

static void remove_streams_locked(struct stream_registry *registry, uint64_t number)
{
    for (pool_stream *at = &registry->default_stream; at; at = at->next)
        if (stream_capture_of(at) == number)
            remove_stream_locked(at);
}

static void end_locked(struct stream_registry *registry, struct stream_capture *capture)
{
    struct stream_capture **link = &registry->captures;

    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    atomic_fetch_sub(&registry->graphs, 1);
    remove_streams_locked(registry, capture->number);
    device_dependent_removed(registry->default_stream.device, DEVICE_DEPENDENT_GRAPH);
    device_capture_ended(registry->default_stream.device);
    base_free(capture);
}

void stream_captures_forget_locked(struct stream_registry *registry)
{
    while (registry->captures)
        end_locked(registry, registry->captures);
    atomic_store(&registry->graphs, 0);
}

/* Dependencies of captured work on other work, in both directions, are what a graph cannot have. */
static pool_status wait_locked(
    struct driver *driver, pool_stream *stream, CUevent event, uint64_t of_event, const char **what)
{
    bool is_added = !stream_capture_of(stream);
    pool_status status = POOL_OK;

    *what = NULL;
    if (!of_event || !find_locked(stream->registry, of_event))
        *what = "a wait for an event that was not recorded in the same capture";
    else if (stream_capture_of(stream) && stream_capture_of(stream) != of_event)
        *what = "a wait for an event of another capture";
    else if (!stream_capture_of(stream))
        status = add_stream_locked(driver, stream, of_event);
    if (status || *what)
        return status;
    status = DRIVER_CALL(driver, StreamWaitEvent(stream->handle, event, 0));
    if (status && is_added)
        remove_stream_locked(stream);
    return status;
}

pool_status stream_wait_captured(struct driver *driver, pool_stream *stream, CUevent event,
    const pool_device *of_device, uint64_t of_event)
{
    struct stream_registry *registry = stream->registry;
    const char *what = NULL;
    pool_status status = POOL_OK;

    if (of_device != stream->device) {
        what = "work on another device";
    } else {
        pthread_mutex_lock(&registry->lock);
        status = wait_locked(driver, stream, event, of_event, &what);
        pthread_mutex_unlock(&registry->lock);
    }
    if (!what)
        return status;
    return stream_capture_of(stream)
               ? stream_refuse_captured(NULL, stream, what)
               : base_fail(POOL_ERR_UNSUPPORTED,
                     "the event was recorded while its stream was captured into a graph; only "
                     "streams of the same device can wait for it, and only during that capture");
}

/* ---- begin and end --------------------------------------------------------------------------- */

static pool_status begin_locked(
    struct driver *driver, pool_stream *stream, struct stream_capture *capture)
{
    struct stream_registry *registry = stream->registry;
    pool_status status;

    if (stream_capture_of(stream))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_stream_begin_capture: the stream is being captured already");
    *capture = (struct stream_capture){
        .number = registry->last_capture + 1, .origin = stream, .next = registry->captures};
    status = add_stream_locked(driver, stream, capture->number);
    if (status)
        return status;
    registry->last_capture++;
    status =
        DRIVER_CALL(driver, StreamBeginCapture(stream->handle, DRIVER_STREAM_CAPTURE_MODE_RELAXED));
    if (status) {
        remove_streams_locked(registry, capture->number);
        return status;
    }
    device_dependent_added(stream->device, DEVICE_DEPENDENT_GRAPH);
    registry->captures = capture;
    atomic_fetch_add(&registry->graphs, 1);
    return POOL_OK;
}

static pool_status begin_inside(struct driver *driver, pool_stream *stream)
{
    const pool_cuda_api *api = &driver->api;
    struct stream_capture *capture;
    pool_status status;

    if (!api->StreamBeginCapture || !api->StreamEndCapture || !api->GraphInstantiateWithFlags ||
        !api->GraphLaunch || !api->GraphExecDestroy || !api->GraphDestroy)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_stream_begin_capture: this driver lacks cuStreamBeginCapture or a function for "
            "graphs");
    capture = base_calloc(1, sizeof(*capture));
    if (!capture)
        return base_fail_memory("a capture");
    device_capture_begins(stream->device);
    pthread_mutex_lock(&stream->registry->lock);
    status = begin_locked(driver, stream, capture);
    pthread_mutex_unlock(&stream->registry->lock);
    if (status) {
        device_capture_ended(stream->device);
        base_free(capture);
    }
    return status;
}

pool_status pool_stream_begin_capture(pool_stream *stream)
{
    struct device_scope scope;
    bool is_begun;
    pool_status status = stream_check(__func__, stream);

    if (!status)
        status = device_enter(stream->device, &scope);
    if (status)
        return status;
    status = begin_inside(scope.driver, stream);
    is_begun = !status;
    status = device_leave(&scope, status);
    if (status && is_begun) {
        struct base_error_copy first;

        base_error_save(&first);
        (void)pool_stream_end_capture(stream, NULL);
        base_error_restore(&first);
    }
    return status;
}

/* After other failures the capture may still be there. */
static bool has_ended(const struct driver *driver, pool_cu_result code)
{
    switch (code) {
    case POOL_CU_SUCCESS:
    case POOL_CU_ILLEGAL_STATE: /* the driver knows no capture of the stream */
    case POOL_CU_STREAM_CAPTURE_INVALIDATED:
    case POOL_CU_STREAM_CAPTURE_UNJOINED:
    case POOL_CU_INVALID_HANDLE:
    case POOL_CU_CONTEXT_IS_DESTROYED:
    case DRIVER_CODE_LOST:
        return true;
    default:
        return driver_is_poisoned(driver);
    }
}

static pool_status end_in_driver(
    struct driver *driver, CUstream stream, CUgraph *graph, bool *is_over)
{
    pool_cu_result code = driver->api.StreamEndCapture(stream, graph);

    *is_over = has_ended(driver, code);
    if (!*is_over && driver_code_class(code) != POOL_CLASS_PROCESS) {
        /* The driver has failed, or has reported the failure of work that was enqueued before and
         * may have ended the capture all the same: the second call ends it, or finds none. */
        CUgraph late = NULL;
        pool_cu_result again = driver->api.StreamEndCapture(stream, &late);

        *is_over = has_ended(driver, again);
        if (!again)
            DRIVER_CLEANUP_QUIETLY(driver, GraphDestroy(late));
    }
    if (code == POOL_CU_STREAM_CAPTURE_UNJOINED)
        return base_fail_driver(POOL_ERR_INVALID_ARGUMENT, (int)code, driver_code_name(code),
            "cuStreamEndCapture",
            "another stream of the capture has work that this stream does not wait for: call "
            "pool_stream_join before pool_stream_end_capture");
    return driver_check(driver, code, "cuStreamEndCapture");
}

pool_status stream_end_capture(
    const char *call, struct driver *driver, pool_stream *stream, CUgraph *graph)
{
    struct stream_registry *registry = stream->registry;
    struct stream_capture *capture;
    bool is_incomplete = false, is_over = true;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&registry->lock);
    capture = find_locked(registry, stream_capture_of(stream));
    if (!capture || capture->origin != stream) {
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %s", call,
            capture ? "the capture began on another stream, on which it must end"
                    : "the stream is not being captured");
    } else {
        is_incomplete = capture->is_incomplete;
        if (driver)
            status = end_in_driver(driver, stream->handle, graph, &is_over);
        if (is_over)
            end_locked(registry, capture);
    }
    pthread_mutex_unlock(&registry->lock);
    if (status || !is_incomplete || !driver)
        return status;
    (void)DRIVER_CLEANUP(driver, GraphDestroy(*graph));
    *graph = NULL;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: a call during the capture was refused, so the graph would lack a part", call);
}
