/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a device's streams, and a stream that waits for all of them, so that a buffer can be
 * freed without blocking the host.
 */
#include "base/alloc.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/stream/capture.h"

/* Of a part, whose kernels that have no stream run there; the driver orders it with no other. */
static pool_status create_default_stream(pool_device *device, pool_stream *stream)
{
    struct driver *driver = device_driver(device);

    if (!device_properties(device)->partitions)
        return POOL_OK;
    return DRIVER_CALL(driver,
        StreamCreateWithPriority(&stream->handle, DRIVER_STREAM_NON_BLOCKING, stream->priority));
}

static pool_status create_registry(pool_device *device, void **object)
{
    struct driver *driver = device_driver(device);
    struct stream_registry *registry = base_calloc(1, sizeof(*registry));
    pool_status status;

    if (!registry)
        return base_fail_memory("the streams of a device");
    status = device_priority_of_level(device, 0, &registry->default_stream.priority);
    if (status)
        goto free_registry;
    if (pthread_mutex_init(&registry->lock, NULL)) {
        status = base_fail_memory("a lock");
        goto free_registry;
    }
    registry->default_stream.device = device;
    registry->default_stream.is_default = 1;
    registry->default_stream.registry = registry;
    registry->default_stream.queue = &device_work(device)->default_queue;
    atomic_init(&registry->default_stream.magic, STREAM_MAGIC);
    DRIVER_TRY(driver, status, destroy_lock,
        StreamCreateWithPriority(&registry->reclaim, DRIVER_STREAM_NON_BLOCKING, 0));
    DRIVER_TRY(
        driver, status, destroy_stream, EventCreate(&registry->join, DRIVER_EVENT_DISABLE_TIMING));
    status = create_default_stream(device, &registry->default_stream);
    if (status)
        goto destroy_event;
    *object = registry;
    return POOL_OK;
destroy_event:
    DRIVER_CLEANUP_QUIETLY(driver, EventDestroy(registry->join));
destroy_stream:
    DRIVER_CLEANUP_QUIETLY(driver, StreamDestroy(registry->reclaim));
destroy_lock:
    pthread_mutex_destroy(&registry->lock);
free_registry:
    base_free(registry);
    return status;
}

static void destroy_registry(pool_device *device, void *object, int driver_alive)
{
    struct driver *driver = device_driver(device);
    struct stream_registry *registry = object;

    stream_sets_destroy(driver, registry, driver_alive);
    if (driver_alive) {
        (void)DRIVER_CLEANUP(driver, EventDestroy(registry->join));
        (void)DRIVER_CLEANUP(driver, StreamDestroy(registry->reclaim));
        if (registry->default_stream.handle)
            (void)DRIVER_CLEANUP(driver, StreamDestroy(registry->default_stream.handle));
    }
    driver_work_end(device_work(device));
    atomic_store(&registry->default_stream.magic, STREAM_DEAD);
    device_lock_destroy(device, &registry->lock);
    base_free(registry);
}

/* The streams of callers are theirs to destroy; nothing is enqueued there any more. */
static void forget_streams_locked(struct stream_registry *registry)
{
    pool_stream *next;

    for (pool_stream *at = registry->default_stream.next; at; at = next) {
        next = at->next;
        driver_queue_redirect(device_work(at->device), at->queue, NULL);
        at->next = at->previous = NULL;
    }
    registry->default_stream.next = NULL;
}

static pool_status renew_registry(pool_device *device, void **object)
{
    struct driver *driver = device_driver(device);
    struct stream_registry *registry = *object;
    pool_status status;

    pthread_mutex_lock(&registry->lock);
    stream_sets_forget_locked(registry);
    stream_captures_forget_locked(registry);
    forget_streams_locked(registry);
    status = DRIVER_CALL(
        driver, StreamCreateWithPriority(&registry->reclaim, DRIVER_STREAM_NON_BLOCKING, 0));
    if (!status)
        status = DRIVER_CALL(driver, EventCreate(&registry->join, DRIVER_EVENT_DISABLE_TIMING));
    if (!status)
        status = create_default_stream(device, &registry->default_stream);
    pthread_mutex_unlock(&registry->lock);
    return status;
}

static const struct device_resource_type registry_type = {.name = "streams",
    .create = create_registry,
    .destroy = destroy_registry,
    .renew = renew_registry};

struct stream_registry *stream_registry_find(pool_device *device)
{
    return device_resource_find(device, &registry_type);
}

pool_status stream_registry_of(pool_device *device, struct stream_registry **registry)
{
    void *object;
    pool_status status = device_resource_get(device, &registry_type, &object);

    if (!status)
        *registry = object;
    return status;
}

unsigned stream_graph_added(struct stream_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    atomic_fetch_add(&registry->graphs, 1);
    pthread_mutex_unlock(&registry->lock);
    return device_renewals(registry->default_stream.device);
}

void stream_graph_removed(struct stream_registry *registry, unsigned renewals)
{
    if (!device_usable(registry->default_stream.device, DEVICE_USE_HOST))
        return;
    pthread_mutex_lock(&registry->lock);
    if (device_renewals(registry->default_stream.device) == renewals)
        atomic_fetch_sub(&registry->graphs, 1);
    pthread_mutex_unlock(&registry->lock);
}

bool stream_has_graphs(pool_device *device)
{
    for (pool_device *part = NULL; (part = device_next_part(device, part));) {
        const struct stream_registry *registry = stream_registry_find(part);

        if (registry && atomic_load(&registry->graphs))
            return true;
    }
    return false;
}

/* Later work on `reclaim` waits for the streams of one device, which has been entered. */
static pool_status join_streams(
    struct driver *driver, struct stream_registry *registry, CUstream reclaim)
{
    pool_status status = POOL_OK;

    pthread_mutex_lock(&registry->lock);
    for (pool_stream *stream = &registry->default_stream; stream && !status;
         stream = stream->next) {
        struct driver_mark mark = driver_work_mark(stream->queue);
        pool_cu_result code;

        if (stream_capture_of(stream)) /* its earlier work precedes on the reclaim stream */
            continue;
        code = driver->api.StreamQuery(stream->handle);

        /* An idle stream needs no wait, and a query is cheaper than recording an event. The owner
         * of an adopted stream may have destroyed it; it then has no unfinished work. */
        if (!stream->owned &&
            (code == POOL_CU_INVALID_HANDLE || code == POOL_CU_CONTEXT_IS_DESTROYED))
            continue;
        status = driver_check_query(driver, code, "cuStreamQuery");
        if (!status)
            driver_work_reached(mark);
        if (status != POOL_ERR_NOT_READY)
            continue;
        status = DRIVER_CALL(driver, EventRecord(registry->join, stream->handle));
        if (!status)
            status = DRIVER_CALL(driver, StreamWaitEvent(reclaim, registry->join, 0));
    }
    /* Behind what a destroyed stream has left, see stream_order_reclaim_locked. */
    if (!status && registry->reclaim != reclaim) {
        status = DRIVER_CALL(driver, EventRecord(registry->join, registry->reclaim));
        if (!status)
            status = DRIVER_CALL(driver, StreamWaitEvent(reclaim, registry->join, 0));
    }
    pthread_mutex_unlock(&registry->lock);
    return status;
}

/* The event of a part is recorded in its context. */
static pool_status join_part(pool_device *part, struct stream_registry *registry, CUstream reclaim)
{
    struct device_scope scope;
    pool_status status = device_enter_to_release(part, &scope);

    return status ? status : device_leave(&scope, join_streams(scope.driver, registry, reclaim));
}

pool_status stream_join_all(struct driver *driver, struct stream_registry *registry)
{
    pool_device *device = registry->default_stream.device;
    pool_status status = POOL_OK;

    if (!device_properties(device)->partitions)
        return join_streams(driver, registry, registry->reclaim);
    for (pool_device *part = NULL; !status && (part = device_next_part(device, part));) {
        struct stream_registry *of_part = stream_registry_find(part);

        if (of_part)
            status = join_part(part, of_part, registry->reclaim);
    }
    return status;
}
