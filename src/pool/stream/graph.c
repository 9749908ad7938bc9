/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instantiated graphs: creation from a capture, launch, update, destruction.
 */
#include <devicepool/graph.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/device/release.h"
#include "pool/stream/capture.h"

#define GRAPH_MAGIC 0x67726170U

struct pool_graph {
    atomic_uint magic;
    pool_device *device;
    struct stream_registry *registry;
    unsigned renewals; /* of the device when it was created */
    CUgraphExec exec;
    pthread_mutex_t lock; /* held in driver calls with `exec`, which the driver does not lock */
};

static pool_status check_live(const char *call, const pool_graph *graph)
{
    if (!graph)
        return base_fail_null(call, "graph");
    if (atomic_load_explicit(&graph->magic, memory_order_relaxed) != GRAPH_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the graph has been destroyed, or the pointer never was a graph", call);
    return POOL_OK;
}

/* The same, and whether the process that has the driver's graph has ended. */
static pool_status check_graph(const char *call, const pool_graph *graph)
{
    pool_status status = check_live(call, graph);

    return status ? status : device_check_object(graph->device, graph->renewals, "the graph");
}

/* Ends the capture without a graph, on a device that can only be released from. */
static void abandon_capture(const char *call, pool_stream *stream)
{
    struct device_scope scope;
    CUgraph captured = NULL;
    struct base_error_copy first;
    pool_status status;

    base_error_save(&first);
    switch (device_enter_to_destroy(stream->device, &scope, &status)) {
    case DEVICE_RELEASE_ENTERED:
        status = stream_end_capture(call, scope.driver, stream, &captured);
        if (captured)
            (void)DRIVER_CLEANUP(scope.driver, GraphDestroy(captured));
        (void)device_leave(&scope, status);
        break;
    case DEVICE_RELEASE_HOST_ONLY:
        (void)stream_end_capture(call, NULL, stream, NULL);
        break;
    default: /* the caller may try again */
        break;
    }
    base_error_restore(&first);
}

static pool_status enter_captured(const char *call, pool_stream *stream, struct device_scope *scope)
{
    pool_status status = stream_check_live(call, stream);

    if (!status)
        status = device_check(stream->device, DEVICE_USE_HOST);
    if (status)
        return status;
    status = stream_check(call, stream);
    if (!status)
        status = device_enter(stream->device, scope);
    if (status)
        abandon_capture(call, stream);
    return status;
}

static pool_status instantiate(
    struct driver *driver, const pool_stream *stream, CUgraph captured, pool_graph **graph)
{
    pool_graph *created = base_calloc(1, sizeof(*created));
    /* Otherwise each launch would run with the priority of the stream that it is launched on. */
    const unsigned flags = driver->api.LaunchKernelEx ? DRIVER_GRAPH_USE_NODE_PRIORITY : 0;
    pool_status status;

    if (!created)
        return base_fail_memory("a graph");
    status = DRIVER_CALL(driver, GraphInstantiateWithFlags(&created->exec, captured, flags));
    if (status) {
        base_free(created);
        return status;
    }
    created->device = stream->device;
    created->registry = stream->registry;
    created->renewals = stream_graph_added(stream->registry);
    pthread_mutex_init(&created->lock, NULL);
    atomic_init(&created->magic, GRAPH_MAGIC);
    device_dependent_added(stream->device, DEVICE_DEPENDENT_GRAPH);
    *graph = created;
    return POOL_OK;
}

static void free_object(pool_graph *graph)
{
    stream_graph_removed(graph->registry, graph->renewals);
    device_dependent_removed(graph->device, DEVICE_DEPENDENT_GRAPH);
    atomic_store_explicit(&graph->magic, STREAM_DEAD, memory_order_relaxed);
    device_lock_destroy(graph->device, &graph->lock);
    base_free(graph);
}

/* Destroys a graph that no caller has seen; where that fails now, the pool destroys it later. */
static void discard_graph(pool_graph *created)
{
    struct base_error_copy first;
    pool_graph *left = created;

    base_error_save(&first);
    (void)pool_graph_destroy(&left);
    base_error_restore(&first);
    if (left) {
        device_defer_orphan(left->device, DEVICE_DEFERRED_GRAPH, left->exec);
        free_object(left);
    }
}

static pool_status end_inside(struct driver *driver, pool_stream *stream, pool_graph **graph)
{
    CUgraph captured = NULL;
    /* What was captured must not be evicted between the end and the new graph's own count. */
    unsigned renewals = stream_graph_added(stream->registry);
    pool_status status = stream_end_capture("pool_stream_end_capture", driver, stream, &captured);

    if (!status) {
        if (graph)
            status = instantiate(driver, stream, captured, graph);
        (void)DRIVER_CLEANUP(driver, GraphDestroy(captured));
    }
    stream_graph_removed(stream->registry, renewals);
    return status;
}

pool_status pool_stream_end_capture(pool_stream *stream, pool_graph **graph)
{
    struct device_scope scope;
    pool_graph *created = NULL;
    pool_status status = enter_captured(__func__, stream, &scope);

    if (status)
        return status;
    status = device_leave(&scope, end_inside(scope.driver, stream, graph ? &created : NULL));
    if (status && created)
        discard_graph(created);
    if (!status && graph)
        *graph = created;
    return status;
}

pool_status pool_graph_launch(pool_graph *graph, pool_stream *stream)
{
    struct driver_queue *queue;
    struct driver_ticket ticket;
    struct device_scope scope;
    CUstream handle = NULL;
    pool_cu_result code;
    pool_status status = check_graph(__func__, graph);

    if (!status)
        status = stream_handle_on(stream, graph->device, &handle);
    if (!status)
        status = device_enter(graph->device, &scope);
    if (status)
        return status;
    queue = stream_queue_on(stream, graph->device);
    driver_work_launch(device_work(graph->device), queue, "a graph", &ticket);
    pthread_mutex_lock(&graph->lock);
    code = scope.driver->api.GraphLaunch(graph->exec, handle);
    pthread_mutex_unlock(&graph->lock);
    if (code)
        driver_work_failed(&ticket);
    driver_work_returned(queue);
    return device_leave(&scope, driver_check(scope.driver, code, "cuGraphLaunch"));
}

static pool_status update_inside(struct driver *driver, pool_graph *graph, pool_stream *stream)
{
    pool_cu_graph_update result = {0};
    CUgraph captured = NULL;
    pool_cu_result code;
    pool_status status = stream_end_capture("pool_graph_update", driver, stream, &captured);

    if (status)
        return status;
    pthread_mutex_lock(&graph->lock);
    code = driver->api.GraphExecUpdate(graph->exec, captured, &result);
    pthread_mutex_unlock(&graph->lock);
    if (code == POOL_CU_GRAPH_EXEC_UPDATE_FAILURE)
        status = base_fail_driver(POOL_ERR_INVALID_ARGUMENT, (int)code, driver_code_name(code),
            "cuGraphExecUpdate",
            "the captured work differs from the graph's in number, kind, order or priority; the "
            "graph is as before: create another one with pool_stream_end_capture");
    else
        status = driver_check(driver, code, "cuGraphExecUpdate");
    (void)DRIVER_CLEANUP(driver, GraphDestroy(captured));
    return status;
}

pool_status pool_graph_update(pool_graph *graph, pool_stream *stream)
{
    struct device_scope scope;
    pool_status status = check_graph(__func__, graph);

    if (!status)
        status = stream_check(__func__, stream);
    if (!status && stream->device != graph->device)
        status = base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_graph_update: the stream belongs to device %d%s%s, the graph to device %d%s",
            pool_device_ordinal(stream->device), device_part_name(stream->device).text,
            stream_other_pool(stream->device, graph->device), pool_device_ordinal(graph->device),
            device_part_name(graph->device).text);
    if (!status && !device_driver(graph->device)->api.GraphExecUpdate)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "pool_graph_update: this driver lacks cuGraphExecUpdate_v2, which CUDA 12 has");
    if (!status)
        status = enter_captured(__func__, stream, &scope);
    return status ? status : device_leave(&scope, update_inside(scope.driver, graph, stream));
}

pool_status pool_graph_destroy(pool_graph **graph)
{
    struct device_scope scope;
    pool_graph *object;
    enum device_release release;
    pool_status status;

    if (!graph || !*graph)
        return POOL_OK;
    object = *graph;
    status = check_live(__func__, object);
    if (status)
        return status;
    release = device_enter_to_destroy_object(object->device, object->renewals, &scope, &status);
    if (release == DEVICE_RELEASE_RETAIN)
        return status;
    if (release == DEVICE_RELEASE_ENTERED)
        status = device_leave(&scope, DRIVER_CLEANUP(scope.driver, GraphExecDestroy(object->exec)));
    free_object(object);
    *graph = NULL;
    return status;
}

pool_device *pool_graph_device(const pool_graph *graph)
{
    return graph && !check_live(__func__, graph) ? graph->device : NULL;
}
