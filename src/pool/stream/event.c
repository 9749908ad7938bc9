/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: positions in streams that streams and the host can wait for, and the time between two.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/stream/capture.h"

struct pool_event {
    atomic_uint magic;
    uint32_t flags;
    atomic_int recorded;
    pool_device *device;
    unsigned renewals; /* of the device when it was created */
    struct stream_registry *registry;
    CUevent handle;
    /* The position in the queue of the stream that the event was recorded on; `begun` and `done`
     * count recordings, so that a reader notices one that is in progress. */
    atomic_uint begun, done;
    _Atomic(struct driver_queue *) queue;
    atomic_uint_least64_t position;
    atomic_uint_least64_t capture; /* number of the capture of the last record; 0: none */
};

/* A queue position and the number of the recording that it belongs to. */
struct event_mark {
    struct driver_mark mark;
    unsigned recording;
};

static struct event_mark read_mark(const pool_event *event)
{
    struct event_mark read = {.recording = atomic_load(&event->done)};

    read.mark.queue = atomic_load(&event->queue);
    read.mark.position = atomic_load(&event->position);
    if (atomic_load(&event->begun) != read.recording)
        read.mark.queue = NULL; /* a recording is in progress */
    return read;
}

/* The event has completed, and so has its queue up to the mark, unless the event was recorded again
 * in the meantime. */
static void note_completion(const pool_event *event, const struct event_mark *before)
{
    if (before->mark.queue && atomic_load(&event->begun) == before->recording)
        driver_work_reached(before->mark);
}

static pool_status check_live(const char *call, const pool_event *event)
{
    if (!event)
        return base_fail_null(call, "event");
    if (atomic_load_explicit(&event->magic, memory_order_relaxed) != STREAM_EVENT_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the event has been destroyed, or the pointer never was an event");
    return POOL_OK;
}

/* The same, and whether the process that has the driver's event has ended. */
static pool_status check_event(const char *call, const pool_event *event)
{
    pool_status status = check_live(call, event);

    return status ? status : device_check_object(event->device, event->renewals, "the event");
}

/* With `opened` not the event is created, but one of another process opened. */
static pool_status create_inside(
    struct device_scope *scope, uint32_t flags, const pool_shared_event *opened, pool_event **event)
{
    pool_cu_ipc_handle handle;
    unsigned driver_flags = flags & POOL_EVENT_TIMING ? 0 : DRIVER_EVENT_DISABLE_TIMING;
    pool_event *created = base_calloc(1, sizeof(*created));
    pool_status status;

    if (!created)
        return base_fail_memory("an event");
    status = stream_registry_of(scope->device, &created->registry);
    if (status) {
        base_free(created);
        return status;
    }
    if (flags & POOL_EVENT_SLEEP)
        driver_flags |= DRIVER_EVENT_BLOCKING_SYNC;
    if (flags & POOL_EVENT_SHAREABLE)
        driver_flags |= DRIVER_EVENT_INTERPROCESS;
    if (opened) {
        memcpy(handle.bytes, opened->handle, sizeof(handle.bytes));
        status = DRIVER_CALL(scope->driver, IpcOpenEventHandle(&created->handle, handle));
    } else {
        status = DRIVER_CALL(scope->driver, EventCreate(&created->handle, driver_flags));
    }
    if (status) {
        base_free(created);
        return status;
    }
    created->device = scope->device;
    created->renewals = device_renewals(scope->device);
    created->flags = flags;
    atomic_init(&created->recorded, 0);
    atomic_init(&created->magic, STREAM_EVENT_MAGIC);
    device_dependent_added(scope->device, DEVICE_DEPENDENT_STREAM);
    *event = created;
    return POOL_OK;
}

static void free_object(pool_event *event)
{
    device_dependent_removed(event->device, DEVICE_DEPENDENT_STREAM);
    atomic_store_explicit(&event->magic, STREAM_DEAD, memory_order_relaxed);
    base_free(event);
}

static void discard_event(pool_event *created)
{
    struct stream_registry *registry = created->registry;
    CUevent handle = created->handle;
    struct base_error_copy first;
    pool_event *left = created;

    base_error_save(&first);
    pool_event_destroy(&left);
    base_error_restore(&first);
    if (left) {
        device_defer_orphan(registry->default_stream.device, DEVICE_DEFERRED_EVENT, handle);
        free_object(left);
    }
}

void stream_free_event(struct driver *driver, pool_event *event, int driver_alive)
{
    if (event && driver_alive)
        (void)DRIVER_CLEANUP(driver, EventDestroy(event->handle));
    base_free(event);
}

pool_status pool_event_create(pool_device *device, uint32_t flags, pool_event **event)
{
    struct device_scope scope;
    pool_event *created = NULL;
    pool_status status;

    if (!event)
        return base_fail_null("pool_event_create", "event");
    status = base_flags_check("pool_event_create", "flags", flags,
        POOL_EVENT_TIMING | POOL_EVENT_SLEEP | POOL_EVENT_SHAREABLE);
    if (!status && flags & POOL_EVENT_SHAREABLE && flags & POOL_EVENT_TIMING)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_event_create: events with POOL_EVENT_SHAREABLE record no times");
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, create_inside(&scope, flags, NULL, &created));
    if (status && created)
        discard_event(created);
    if (!status)
        *event = created;
    return status;
}

static pool_status check_shared(const struct driver *driver)
{
    if (!driver->api.IpcGetEventHandle || !driver->api.IpcOpenEventHandle)
        return base_fail(
            POOL_ERR_UNSUPPORTED, "this driver has no handles of events (cuIpcGetEventHandle)");
    return POOL_OK;
}

pool_status pool_event_share(pool_event *event, pool_shared_event *shared)
{
    pool_cu_ipc_handle handle;
    struct device_scope scope;
    pool_status status = check_event(__func__, event);

    if (!status && !shared)
        status = base_fail_null(__func__, "shared");
    if (!status && !(event->flags & POOL_EVENT_SHAREABLE))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_event_share: the event was created without POOL_EVENT_SHAREABLE");
    if (!status)
        status = check_shared(device_driver(event->device));
    if (!status)
        status = device_enter(event->device, &scope);
    if (status)
        return status;
    status =
        device_leave(&scope, DRIVER_CALL(scope.driver, IpcGetEventHandle(&handle, event->handle)));
    if (!status)
        memcpy(shared->handle, handle.bytes, sizeof(shared->handle));
    return status;
}

pool_status pool_event_open(
    pool_device *device, const pool_shared_event *shared, pool_event **event)
{
    struct device_scope scope;
    pool_event *created = NULL;
    pool_status status;

    status =
        base_check_pointers(__func__, {"device", device}, {"shared", shared}, {"event", event});
    if (!status)
        status = check_shared(device_driver(device));
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, create_inside(&scope, POOL_EVENT_SHAREABLE, shared, &created));
    if (status && created)
        discard_event(created);
    if (!status)
        *event = created;
    return status;
}

pool_status pool_event_destroy(pool_event **event)
{
    struct device_scope scope;
    pool_event *target;
    enum device_release release;
    pool_status status;

    if (!event || !*event)
        return POOL_OK;
    target = *event;
    status = check_live(__func__, target);
    if (status)
        return status;
    release = device_enter_to_destroy_object(target->device, target->renewals, &scope, &status);
    if (release == DEVICE_RELEASE_RETAIN)
        return status;
    if (release == DEVICE_RELEASE_ENTERED)
        status = device_leave(&scope, DRIVER_CALL(scope.driver, EventDestroy(target->handle)));
    free_object(target);
    *event = NULL;
    return status;
}

pool_device *pool_event_device(const pool_event *event)
{
    return event && !check_live(__func__, event) ? event->device : NULL;
}

pool_status pool_event_handle(const pool_event *event, CUevent *handle)
{
    pool_status status = check_event(__func__, event);

    if (!status && !handle)
        status = base_fail_null("pool_event_handle", "handle");
    if (!status)
        status = device_check_raw(pool_event_device(event), __func__);
    if (!status)
        *handle = event->handle;
    return status;
}

/*
 * After a record of a shareable event, or a wait for one: a worker process may still have the call
 * in its queue, but another process that is notified next must find it done. The driver answers
 * this query at once, also while the stream is captured.
 */
static pool_status await_posted_call(
    struct driver *driver, const pool_event *event, CUstream stream)
{
    unsigned flags;

    if (!(event->flags & POOL_EVENT_SHAREABLE) || !driver->api.StreamGetFlags)
        return POOL_OK;
    return DRIVER_CALL(driver, StreamGetFlags(stream, &flags));
}

pool_status pool_event_record(pool_event *event, pool_stream *stream)
{
    pool_device *device = NULL;
    struct device_scope scope;
    struct driver_mark mark;
    CUstream handle;
    pool_status status = check_event(__func__, event);

    if (!status)
        device = event->device;
    if (!status)
        status = stream_handle_of_work_on_gpu(stream, &device, &handle);
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    atomic_fetch_add(&event->begun, 1);
    mark = driver_work_mark(stream_queue_on(stream, device));
    status = DRIVER_CALL(scope.driver, EventRecord(event->handle, handle));
    if (!status)
        status = await_posted_call(scope.driver, event, handle);
    atomic_store(&event->queue, mark.queue);
    atomic_store(&event->position, status ? 0 : mark.position);
    if (!status)
        atomic_store(&event->capture, stream_capture_of(stream));
    atomic_fetch_add(&event->done, 1);
    if (!status)
        atomic_store(&event->recorded, 1);
    return device_leave(&scope, status);
}

/* Such a record is a position in a graph, which is never reached. */
static pool_status check_uncaptured(const char *call, const pool_event *event)
{
    return atomic_load(&event->capture)
               ? base_fail(POOL_ERR_UNSUPPORTED,
                     "%s: the event was last recorded while its stream was captured into a graph; "
                     "record it again outside of the capture",
                     call)
               : POOL_OK;
}

static pool_status query_driver(struct driver *driver, const void *object)
{
    return driver_check_query(
        driver, driver->api.EventQuery(((const pool_event *)object)->handle), "cuEventQuery");
}

static pool_status query_inside(struct driver *driver, const pool_event *event, uint64_t unused)
{
    (void)unused;
    return query_driver(driver, event);
}

static pool_status synchronize_inside(
    struct driver *driver, const pool_event *event, uint64_t unused)
{
    (void)unused;
    return DRIVER_CALL(driver, EventSynchronize(event->handle));
}

static pool_status wait_inside(struct driver *driver, const pool_event *event, uint64_t timeout_ns)
{
    (void)driver;
    return stream_poll(event->device, query_driver, event, "an event", timeout_ns);
}

/* Calls `wait` with the context of the event's device current, and notes what has completed. */
static pool_status wait_for_event(const char *call, const pool_event *event,
    pool_status (*wait)(struct driver *driver, const pool_event *event, uint64_t timeout_ns),
    uint64_t timeout_ns)
{
    struct device_scope scope;
    struct event_mark mark;
    pool_status status = check_event(call, event);

    if (!status)
        status = check_uncaptured(call, event);
    if (!status)
        status = device_enter(event->device, &scope);
    if (status)
        return status;
    mark = read_mark(event);
    status = wait(scope.driver, event, timeout_ns);
    if (!status && !(event->flags & POOL_EVENT_SHAREABLE)) /* else perhaps of another process */
        note_completion(event, &mark);
    return device_leave(&scope, status);
}

pool_status pool_event_query(pool_event *event)
{
    pool_status status = wait_for_event(__func__, event, query_inside, 0);

    return status == POOL_ERR_NOT_READY
               ? base_fail_quietly(status, "pool_event_query: the event has not been reached")
               : status;
}

pool_status pool_event_synchronize(pool_event *event)
{
    return wait_for_event(__func__, event, synchronize_inside, 0);
}

pool_status pool_event_wait(pool_event *event, uint64_t timeout_ns)
{
    return wait_for_event(__func__, event, wait_inside, timeout_ns);
}

static pool_status check_timed(const pool_event *event, const char *which)
{
    pool_status status = event ? check_event("pool_event_elapsed", event)
                               : base_fail_null("pool_event_elapsed", which);

    if (status)
        return status;
    if (!(event->flags & POOL_EVENT_TIMING))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_event_elapsed: the %s event was created without POOL_EVENT_TIMING", which);
    if (!atomic_load(&event->recorded))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_event_elapsed: the %s event was never recorded", which);
    return check_uncaptured("pool_event_elapsed", event);
}

pool_status pool_event_elapsed(pool_event *start, pool_event *end, double *milliseconds)
{
    struct device_scope scope;
    float value = 0;
    pool_status status;

    if (!milliseconds)
        return base_fail_null("pool_event_elapsed", "milliseconds");
    status = check_timed(start, "start");
    if (!status)
        status = check_timed(end, "end");
    if (!status && !device_is_same_gpu(start->device, end->device))
        status = base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_event_elapsed: the events belong to devices %d%s and %d%s%s",
            pool_device_ordinal(start->device), device_part_name(start->device).text,
            pool_device_ordinal(end->device), device_part_name(end->device).text,
            stream_other_pool(start->device, end->device));
    if (!status)
        status = device_enter(start->device, &scope);
    if (status)
        return status;
    status = driver_check_query(scope.driver,
        scope.driver->api.EventElapsedTime(&value, start->handle, end->handle),
        "cuEventElapsedTime");
    status = device_leave(&scope, status);
    if (status == POOL_ERR_NOT_READY)
        return base_fail_quietly(
            status, "pool_event_elapsed: one of the events has not been reached");
    if (!status)
        *milliseconds = (double)value;
    return status;
}

pool_status pool_stream_wait_event(pool_stream *stream, pool_event *event)
{
    struct device_scope scope;
    uint64_t capture;
    pool_status status = stream_check(__func__, stream);

    if (!status)
        status = check_event(__func__, event);
    if (!status && device_driver(stream->device) != device_driver(event->device))
        status = base_fail(POOL_ERR_WRONG_DEVICE, "the event belongs to another driver");
    if (!status && event->device != stream->device)
        status = device_check_context(event->device);
    if (!status)
        status = device_enter(stream->device, &scope);
    if (status)
        return status;
    capture = atomic_load(&event->capture);
    if (capture || stream_capture_of(stream))
        status = stream_wait_captured(scope.driver, stream, event->handle, event->device, capture);
    else
        status = DRIVER_CALL(scope.driver, StreamWaitEvent(stream->handle, event->handle, 0));
    if (!status)
        status = await_posted_call(scope.driver, event, stream->handle);
    return device_leave(&scope, status);
}
