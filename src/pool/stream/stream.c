/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: creation, adoption, queries, waits, destruction.
 */
#include "pool/stream/stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/stream/capture.h"

static const struct base_struct stream_params_type = BASE_STRUCT(pool_stream_params);

void pool_stream_params_init(pool_stream_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

pool_status stream_check_live(const char *call, const pool_stream *stream)
{
    if (!stream)
        return base_fail_null(call, "stream");
    if (atomic_load_explicit(&stream->magic, memory_order_relaxed) != STREAM_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the stream has been destroyed, or the pointer never was a stream");
    return POOL_OK;
}

pool_status stream_check(const char *call, const pool_stream *stream)
{
    pool_status status = stream_check_live(call, stream);

    return status || stream->is_default
               ? status
               : device_check_object(stream->device, stream->renewals, "the stream");
}

pool_status stream_handle_on(const pool_stream *stream, pool_device *device, CUstream *handle)
{
    pool_status status = stream_handle_of_work(stream, device, handle);

    return !status && stream_capture_of(stream)
               ? stream_refuse_captured(
                     NULL, stream, "allocations, frees, launches of graphs or work of the host")
               : status;
}

static pool_status default_handle(pool_device *device, CUstream *handle)
{
    pool_stream *own = NULL;
    pool_status status =
        device_properties(device)->partitions ? pool_stream_default(device, &own) : POOL_OK;

    *handle = own ? own->handle : NULL;
    return status;
}

CUstream stream_handle_or_default(const pool_stream *stream, pool_device *device)
{
    const struct stream_registry *registry;

    if (stream)
        return stream->handle;
    registry = device_properties(device)->partitions ? stream_registry_find(device) : NULL;
    return registry ? registry->default_stream.handle : NULL;
}

pool_status stream_handle_of_work(const pool_stream *stream, pool_device *device, CUstream *handle)
{
    pool_status status;

    if (!stream)
        return default_handle(device, handle);
    status = stream_check(__func__, stream);
    if (status)
        return status;
    if (stream->device != device)
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "the stream belongs to device %d%s%s, the work is for device %d%s",
            pool_device_ordinal(stream->device), device_part_name(stream->device).text,
            stream_other_pool(stream->device, device), pool_device_ordinal(device),
            device_part_name(device).text);
    *handle = stream->handle;
    return POOL_OK;
}

static pool_device *device_for(const pool_stream *stream, pool_device *device)
{
    return stream && !stream_check_live(__func__, stream) &&
                   device_is_same_gpu(stream->device, device)
               ? stream->device
               : device;
}

pool_status stream_handle_on_gpu(const pool_stream *stream, pool_device **device, CUstream *handle)
{
    *device = device_for(stream, *device);
    return stream_handle_on(stream, *device, handle);
}

pool_status stream_handle_of_work_on_gpu(
    const pool_stream *stream, pool_device **device, CUstream *handle)
{
    *device = device_for(stream, *device);
    return stream_handle_of_work(stream, *device, handle);
}

struct driver_queue *stream_queue_on(const pool_stream *stream, pool_device *device)
{
    return stream ? stream->queue : &device_work(device)->default_queue;
}

int stream_priority_on(const pool_stream *stream, pool_device *device)
{
    const struct stream_registry *registry = stream ? NULL : stream_registry_find(device);

    return stream ? stream->priority : registry ? registry->default_stream.priority : 0;
}

pool_status stream_synchronize(struct driver *driver, CUstream stream, struct driver_queue *queue)
{
    struct driver_mark mark = driver_work_mark(queue);
    pool_status status = DRIVER_CALL(driver, StreamSynchronize(stream));

    if (!status)
        driver_work_reached(mark);
    return status;
}

/* Creates the object for a handle and adds it to the device's list. */
static pool_status wrap_handle(
    struct device_scope *scope, CUstream handle, int owned, int priority, pool_stream **stream)
{
    struct stream_registry *registry;
    pool_stream *created;
    pool_status status = stream_registry_of(scope->device, &registry);

    if (status)
        return status;
    created = base_calloc(1, sizeof(*created));
    if (!created)
        return base_fail_memory("a stream");
    created->device = scope->device;
    created->handle = handle;
    created->owned = owned;
    created->priority = priority;
    created->renewals = device_renewals(scope->device);
    created->registry = registry;
    created->queue = driver_queue_acquire(device_work(scope->device), handle);
    if (!created->queue) {
        base_free(created);
        return base_fail_memory("a stream");
    }
    atomic_init(&created->magic, STREAM_MAGIC);
    pthread_mutex_lock(&registry->lock);
    created->previous = &registry->default_stream;
    created->next = registry->default_stream.next;
    if (created->next)
        created->next->previous = created;
    registry->default_stream.next = created;
    pthread_mutex_unlock(&registry->lock);
    device_dependent_added(scope->device, DEVICE_DEPENDENT_STREAM);
    *stream = created;
    return POOL_OK;
}

pool_status pool_stream_get_priority_range(
    pool_device *device, int32_t *least, int32_t *most_urgent)
{
    struct device_scope scope;
    pool_status status;
    int low = 0, high = 0;

    status = base_check_pointers(
        "pool_stream_get_priority_range", {"least", least}, {"most_urgent", most_urgent});
    if (!status)
        status = device_enter(device, &scope);
    if (status)
        return status;
    status = DRIVER_CALL(scope.driver, CtxGetStreamPriorityRange(&low, &high));
    status = device_leave(&scope, status);
    if (!status) {
        *least = low;
        *most_urgent = high;
    }
    return status;
}

static pool_status create_inside(
    struct device_scope *scope, uint32_t wanted, int priority, pool_stream **stream)
{
    unsigned flags = wanted & POOL_STREAM_BLOCKING ? 0 : DRIVER_STREAM_NON_BLOCKING;
    CUstream handle;
    pool_status status = POOL_OK;

    /* The driver makes every stream of a green context a non-blocking one, and says nothing. */
    if (!flags && device_properties(scope->device)->partitions)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_stream_create: device %d is a part of a GPU, whose streams the driver does not "
            "order with the default stream: leave out POOL_STREAM_BLOCKING and use "
            "pool_stream_wait_event",
            pool_device_ordinal(scope->device));
    status = device_clamp_priority(scope->device, &priority);
    if (status)
        return status;
    status = DRIVER_CALL_FOR(
        scope->driver, StreamCreateWithPriority(&handle, flags, priority), "priority %d", priority);
    if (status)
        return status;
    status = wrap_handle(scope, handle, 1, priority, stream);
    if (status)
        DRIVER_CLEANUP_QUIETLY(scope->driver, StreamDestroy(handle));
    return status;
}

pool_status stream_create(pool_device *device, uint32_t flags, int priority, pool_stream **stream)
{
    struct device_scope scope;
    pool_stream *created = NULL;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = device_leave(&scope, create_inside(&scope, flags, priority, &created));
    if (status && created)
        stream_discard(created);
    if (!status)
        *stream = created;
    return status;
}

pool_status pool_stream_create(
    pool_device *device, const pool_stream_params *params, pool_stream **stream)
{
    pool_stream_params wanted = {.struct_size = sizeof(wanted)};
    struct device_scope scope;
    int priority;
    pool_status status;

    if (!stream)
        return base_fail_null("pool_stream_create", "stream");
    if (params) {
        status =
            base_struct_read(&stream_params_type, "pool_stream_create", "params", params, &wanted);
        if (status)
            return status;
    }
    status = base_flags_check("pool_stream_create", "flags", wanted.flags, POOL_STREAM_BLOCKING);
    if (status)
        return status;
    priority = wanted.priority;
    if (!priority) {
        status = device_enter(device, &scope);
        if (status)
            return status;
        status = device_leave(&scope, device_priority_of_level(device, 0, &priority));
    }
    return status ? status : stream_create(device, wanted.flags, priority, stream);
}

static pool_status adopt_inside(struct device_scope *scope, CUstream handle, pool_stream **stream)
{
    CUcontext context = NULL;
    pool_cu_result code = scope->driver->api.StreamGetCtx(handle, &context);
    int priority;
    pool_status status;

    if (code == POOL_CU_INVALID_VALUE || code == POOL_CU_INVALID_HANDLE ||
        code == POOL_CU_CONTEXT_IS_DESTROYED)
        return base_fail_driver(POOL_ERR_INVALID_ARGUMENT, (int)code, driver_code_name(code),
            "cuStreamGetCtx", "%p is not a stream", (void *)handle);
    if (code)
        return DRIVER_CHECK_FOR(scope->driver, code, "cuStreamGetCtx", "%p", (void *)handle);
    if (context != scope->context)
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "stream %p does not belong to the context of device %d", (void *)handle,
            pool_device_ordinal(scope->device));
    /* Default streams have no priority of their own, see pool_launch; 1 and 2 stand for two. */
    status = (uintptr_t)handle <= 2
                 ? device_priority_of_level(scope->device, 0, &priority)
                 : DRIVER_CALL(scope->driver, StreamGetPriority(handle, &priority));
    return status ? status : wrap_handle(scope, handle, 0, priority, stream);
}

pool_status pool_stream_adopt(pool_device *device, CUstream handle, pool_stream **stream)
{
    struct device_scope scope;
    pool_stream *created = NULL;
    pool_status status;

    if (!stream)
        return base_fail_null("pool_stream_adopt", "stream");
    status = device_enter(device, &scope);
    if (status)
        return status;
    if (handle)
        status = device_check_raw(device, __func__);
    if (!status)
        status = adopt_inside(&scope, handle, &created);
    status = device_leave(&scope, status);
    if (status && created)
        stream_discard(created);
    if (!status)
        *stream = created;
    return status;
}

pool_status pool_stream_default(pool_device *device, pool_stream **stream)
{
    struct stream_registry *registry;
    struct device_scope scope;
    pool_status status;

    if (!stream)
        return base_fail_null("pool_stream_default", "stream");
    status = device_enter(device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, stream_registry_of(device, &registry));
    if (!status)
        *stream = &registry->default_stream;
    return status;
}

pool_status stream_order_reclaim_locked(struct driver *driver, pool_stream *stream)
{
    struct stream_registry *registry = stream->registry;
    struct driver_mark mark = driver_work_mark(stream->queue);
    pool_cu_result code = driver->api.StreamQuery(stream->handle);
    pool_status status;

    /* A capture whose end failed: what preceded it is waited for on the reclaim stream already. */
    if (code == POOL_CU_STREAM_CAPTURE_UNSUPPORTED)
        return POOL_OK;
    status = driver_check_query(driver, code, "cuStreamQuery");
    if (!status)
        driver_work_reached(mark);
    if (status != POOL_ERR_NOT_READY)
        return status;
    status = DRIVER_CALL(driver, EventRecord(registry->join, stream->handle));
    return status ? status
                  : DRIVER_CALL(driver, StreamWaitEvent(registry->reclaim, registry->join, 0));
}

/*
 * Transfers the stream's unfinished work to the reclaim stream, so that later frees and queries
 * still wait for it. Called with registry->lock held.
 */
static pool_status transfer_work(struct driver *driver, pool_stream *stream)
{
    struct stream_registry *registry = stream->registry;
    struct driver_work *work = device_work(stream->device);
    pool_status status = stream_order_reclaim_locked(driver, stream);
    bool is_done = false;

    if (status) { /* the dependency could not be enqueued, so the host waits */
        struct base_error_copy first;

        base_error_save(&first);
        is_done = !DRIVER_CLEANUP(driver, StreamSynchronize(stream->handle));
        base_error_restore(&first);
    }
    driver_queue_release(work, stream->queue, registry->reclaim, is_done);
    return status;
}

static void unlink_stream(pool_stream *stream)
{
    if (!stream->previous)
        return;
    stream->previous->next = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
}

void stream_forget_locked(pool_stream *stream)
{
    driver_queue_release(device_work(stream->device), stream->queue, NULL, 1);
    unlink_stream(stream);
    atomic_store_explicit(&stream->magic, STREAM_DEAD, memory_order_relaxed);
    base_free(stream);
}

void stream_forget(pool_stream *stream)
{
    struct stream_registry *registry = stream->registry;

    pthread_mutex_lock(&registry->lock);
    stream_forget_locked(stream);
    pthread_mutex_unlock(&registry->lock);
}

static void free_object(pool_stream *stream)
{
    device_dependent_removed(stream->device, DEVICE_DEPENDENT_STREAM);
    atomic_store_explicit(&stream->magic, STREAM_DEAD, memory_order_relaxed);
    base_free(stream);
}

/* The object stays in its device's list, because a thread that does not return may hold the lock of
 * that list. */
static void abandon_object(pool_stream *stream)
{
    device_dependent_removed(stream->device, DEVICE_DEPENDENT_STREAM);
    atomic_store_explicit(&stream->magic, STREAM_DEAD, memory_order_relaxed);
}

pool_status pool_stream_destroy(pool_stream **stream)
{
    struct device_scope scope;
    pool_stream *object;
    pool_status status, destroy_status = POOL_OK;
    enum device_release release;

    if (!stream || !*stream)
        return POOL_OK;
    object = *stream;
    status = stream_check_live(__func__, object);
    if (status)
        return status;
    if (object->is_default)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_stream_destroy: a default stream belongs to its device and is not destroyed");
    if (object->is_leased)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_stream_destroy: the stream of a lease belongs to the pool and is not destroyed");
    if (stream_capture_of(object) && device_usable(object->device, DEVICE_USE_HOST))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_stream_destroy: the stream is being captured into a graph; end the capture with "
            "pool_stream_end_capture first");
    release = device_enter_to_destroy_object(object->device, object->renewals, &scope, &status);
    if (release == DEVICE_RELEASE_RETAIN)
        return status;
    if (release == DEVICE_RELEASE_HOST_ONLY && device_is_abandoned(object->device)) {
        abandon_object(object);
        *stream = NULL;
        return POOL_OK;
    }
    if (device_usable(object->device, DEVICE_USE_HOST)) {
        pthread_mutex_lock(&object->registry->lock);
        if (release == DEVICE_RELEASE_ENTERED)
            status = transfer_work(scope.driver, object);
        else
            driver_queue_release(
                device_work(object->device), object->queue, object->registry->reclaim, 0);
        unlink_stream(object);
        pthread_mutex_unlock(&object->registry->lock);
    }
    if (release == DEVICE_RELEASE_ENTERED && object->owned)
        destroy_status = DRIVER_CLEANUP(scope.driver, StreamDestroy(object->handle));
    if (!status)
        status = destroy_status;
    if (release == DEVICE_RELEASE_ENTERED)
        status = device_leave(&scope, status);
    free_object(object);
    *stream = NULL;
    return status;
}

void stream_discard(pool_stream *created)
{
    struct base_error_copy first;
    pool_stream *left = created;

    base_error_save(&first);
    pool_stream_destroy(&left);
    base_error_restore(&first);
    if (!left)
        return;
    pthread_mutex_lock(&created->registry->lock);
    unlink_stream(created);
    pthread_mutex_unlock(&created->registry->lock);
    driver_queue_release(device_work(created->device), created->queue, created->handle, 0);
    if (created->owned)
        device_defer_orphan(
            created->registry->default_stream.device, DEVICE_DEFERRED_STREAM, created->handle);
    free_object(created);
}

pool_device *pool_stream_device(const pool_stream *stream)
{
    return stream && !stream_check_live(__func__, stream) ? stream->device : NULL;
}

pool_status pool_stream_handle(const pool_stream *stream, CUstream *handle)
{
    pool_status status = stream_check(__func__, stream);

    if (!status && !handle)
        status = base_fail_null("pool_stream_handle", "handle");
    if (!status)
        status = device_check_raw(stream->device, __func__);
    if (!status)
        *handle = stream->handle;
    return status;
}

/* Calls `call` with the context of the stream's device current; `value` is its result or input. */
typedef pool_status (*stream_function)(
    struct driver *driver, const pool_stream *stream, void *value);

static pool_status with_stream(
    const char *name, const pool_stream *stream, stream_function call, void *value)
{
    struct device_scope scope;
    pool_status status = stream_check(name, stream);

    if (!status)
        status = device_enter(stream->device, &scope);
    if (status)
        return status;
    return device_leave(&scope, call(scope.driver, stream, value));
}

static pool_status read_priority(struct driver *driver, const pool_stream *stream, void *value)
{
    return DRIVER_CALL(driver, StreamGetPriority(stream->handle, (int *)value));
}

pool_status pool_stream_get_priority(const pool_stream *stream, int32_t *priority)
{
    int value = 0;
    pool_status status;

    if (!priority)
        return base_fail_null("pool_stream_get_priority", "priority");
    status = with_stream(__func__, stream, read_priority, &value);
    if (!status)
        *priority = value;
    return status;
}

static pool_status read_flags(struct driver *driver, const pool_stream *stream, void *value)
{
    return DRIVER_CALL(driver, StreamGetFlags(stream->handle, (unsigned *)value));
}

pool_status pool_stream_get_flags(const pool_stream *stream, uint32_t *flags)
{
    unsigned value = 0;
    pool_status status;

    if (!flags)
        return base_fail_null("pool_stream_get_flags", "flags");
    status = with_stream(__func__, stream, read_flags, &value);
    if (!status)
        *flags = value & DRIVER_STREAM_NON_BLOCKING ? 0 : POOL_STREAM_BLOCKING;
    return status;
}

static pool_status query_driver(struct driver *driver, const void *object)
{
    return driver_check_query(
        driver, driver->api.StreamQuery(((const pool_stream *)object)->handle), "cuStreamQuery");
}

static pool_status query_inside(struct driver *driver, const pool_stream *stream, void *value)
{
    struct driver_mark mark = driver_work_mark(stream->queue);
    pool_status status = query_driver(driver, stream);

    (void)value;
    if (!status)
        driver_work_reached(mark);
    return status;
}

pool_status pool_stream_query(pool_stream *stream)
{
    pool_status status = stream_check_uncaptured(__func__, stream, "a query of its progress");

    if (!status)
        status = with_stream(__func__, stream, query_inside, NULL);
    return status == POOL_ERR_NOT_READY
               ? base_fail_quietly(status, "pool_stream_query: the stream has unfinished work")
               : status;
}

static pool_status synchronize_inside(struct driver *driver, const pool_stream *stream, void *value)
{
    (void)value;
    return stream_synchronize(driver, stream->handle, stream->queue);
}

pool_status pool_stream_synchronize(pool_stream *stream)
{
    pool_status status = stream_check_uncaptured(__func__, stream, "a wait of the host");

    return status ? status : with_stream(__func__, stream, synchronize_inside, NULL);
}

static pool_status wait_inside(struct driver *driver, const pool_stream *stream, void *value)
{
    const uint64_t *timeout_ns = value;
    (void)driver;
    struct driver_mark mark = driver_work_mark(stream->queue);
    pool_status status =
        stream_poll(stream->device, query_driver, stream, "the work of a stream", *timeout_ns);

    if (!status)
        driver_work_reached(mark);
    return status;
}

pool_status pool_stream_wait(pool_stream *stream, uint64_t timeout_ns)
{
    pool_status status = stream_check_uncaptured(__func__, stream, "a wait of the host");

    return status ? status : with_stream(__func__, stream, wait_inside, &timeout_ns);
}

struct host_call {
    pool_host_task function;
    void *user;
};

static pool_status enqueue_host_call(struct driver *driver, const pool_stream *stream, void *value)
{
    const struct host_call *call = value;

    return DRIVER_CALL(driver, LaunchHostFunc(stream->handle, call->function, call->user));
}

pool_status pool_stream_call(pool_stream *stream, pool_host_task function, void *user)
{
    struct host_call call = {function, user};
    pool_status status;

    if (!function)
        return base_fail_null("pool_stream_call", "function");
    status = stream_check_uncaptured(__func__, stream, "a function of the host");
    return status ? status : with_stream(__func__, stream, enqueue_host_call, &call);
}
