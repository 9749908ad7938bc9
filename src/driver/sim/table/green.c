/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of a device's multiprocessors: resources, their descriptors, and green contexts. A
 * kernel's %smid is one of the multiprocessors of the context of its stream, whatever is current.
 */
#include "base/alloc.h"
#include "driver/sim/table/state.h"

#define DEFAULT_STREAM 1u /* CU_GREEN_CTX_DEFAULT_STREAM, which must be given */

struct sim_resource_desc {
    struct sim_resource_desc *next;
    struct partition partition;
};

/* ---- resources ------------------------------------------------------------------------------- */

static pool_cu_result write_resource(
    const struct partition *partition, pool_cu_dev_resource *resource, pool_cu_enum type)
{
    if (!resource)
        return POOL_CU_INVALID_VALUE;
    if (type != PARTITION_TYPE)
        return POOL_CU_INVALID_RESOURCE_TYPE;
    if (partition_size(partition) > PARTITION_MULTIPROCESSORS)
        return POOL_CU_NOT_SUPPORTED;
    partition_write(partition, resource);
    return POOL_CU_SUCCESS;
}

static struct partition whole_device(int device)
{
    const struct sim_device_config *config = sim_config_of(device);

    return partition_of_device(device, (int)config->capability / 10, config->multiprocessors);
}

pool_cu_result sim_cu_DeviceGetDevResource(
    CUdevice device, pool_cu_dev_resource *resource, pool_cu_enum type)
{
    struct partition all;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DeviceGetDevResource, SIM_NEED_INIT, device);

    if (code)
        return code;
    if (!sim_is_device(device))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    all = whole_device(device);
    return sim_leave(write_resource(&all, resource, type));
}

/* An MPS server limits the contexts of its clients to a percentage of the multiprocessors. */
static struct partition whole_context(int device)
{
    const uint64_t percentage = sim_state.config.mps_percentage;
    const struct sim_device_config *config = sim_config_of(device);
    const uint64_t count = config->multiprocessors * percentage / 100;

    return percentage ? partition_of_device(
                            device, (int)config->capability / 10, count ? (unsigned)count : 1)
                      : whole_device(device);
}

static pool_cu_result write_context_resource(
    const struct sim_context *context, pool_cu_dev_resource *resource, pool_cu_enum type)
{
    const struct partition partition =
        context->root == context ? whole_context(context->device) : context->partition;

    return write_resource(&partition, resource, type);
}

pool_cu_result sim_cu_CtxGetDevResource(
    CUcontext context, pool_cu_dev_resource *resource, pool_cu_enum type)
{
    struct sim_context *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetDevResource, SIM_NEED_INIT, -1);

    if (code)
        return code;
    code = sim_context_of(context, &found);
    return sim_leave(code ? code : write_context_resource(found, resource, type));
}

pool_cu_result sim_cu_DevSmResourceSplitByCount(pool_cu_dev_resource *groups, unsigned int *count,
    const pool_cu_dev_resource *input, pool_cu_dev_resource *remaining, unsigned int flags,
    unsigned int min_count)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DevSmResourceSplitByCount, SIM_NEED_INIT, -1);

    if (code)
        return code;
    if (!count || !input)
        return sim_leave(POOL_CU_INVALID_VALUE);
    return sim_leave(
        partition_split(groups, count, input, remaining, flags, min_count, ++sim_state.last_split));
}

pool_cu_result sim_cu_DevResourceGenerateDesc(
    CUdevResourceDesc *handle, pool_cu_dev_resource *resources, unsigned int count)
{
    struct sim_resource_desc *made;
    struct partition partition;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_DevResourceGenerateDesc, SIM_NEED_INIT, -1);

    if (code)
        return code;
    if (!handle || !resources)
        return sim_leave(POOL_CU_INVALID_VALUE);
    code = partition_join(resources, count, &partition);
    if (code)
        return sim_leave(code);
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    made->partition = partition;
    *handle = sim_handle_create(SIM_HANDLE_RESOURCE_DESC, made);
    if (!*handle) {
        base_free(made);
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    }
    made->next = sim_state.descs;
    sim_state.descs = made;
    return sim_leave(POOL_CU_SUCCESS);
}

/* ---- contexts -------------------------------------------------------------------------------- */

pool_cu_result sim_cu_GreenCtxCreate(
    CUgreenCtx *green, CUdevResourceDesc handle, CUdevice device, unsigned int flags)
{
    const struct sim_resource_desc *desc;
    struct sim_context *primary, *made;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_GreenCtxCreate, SIM_NEED_HEALTHY, device);

    if (code)
        return code;
    desc = sim_handle_get(SIM_HANDLE_RESOURCE_DESC, handle);
    if (!green || !desc)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (!sim_is_device(device))
        return sim_leave(POOL_CU_INVALID_DEVICE);
    if (flags != DEFAULT_STREAM || desc->partition.device != device)
        return sim_leave(POOL_CU_INVALID_VALUE);
    code = sim_primary_retain(device, &primary);
    if (code)
        return sim_leave(code);
    code = sim_context_create_green(primary, &desc->partition, &made);
    primary->retained--;
    sim_primary_release(primary);
    if (!code)
        *green = made->green;
    return sim_leave(code);
}

/* Begins a call about a green context, which need not be current. */
static pool_cu_result enter_green(struct sim_call *call, enum sim_driver_function function,
    enum sim_need need, CUgreenCtx handle, struct sim_context **green)
{
    pool_cu_result code = sim_enter(call, function, need, -1);

    if (code)
        return code;
    *green = sim_handle_get(SIM_HANDLE_GREEN, handle);
    if (*green)
        return POOL_CU_SUCCESS;
    return sim_leave(sim_handle_was_valid(SIM_HANDLE_GREEN, handle) ? POOL_CU_CONTEXT_IS_DESTROYED
                                                                    : POOL_CU_INVALID_CONTEXT);
}

pool_cu_result sim_cu_GreenCtxDestroy(CUgreenCtx handle)
{
    struct sim_context *green, *primary;
    struct sim_call call;
    pool_cu_result code = enter_green(&call, SIM_CU_GreenCtxDestroy, SIM_NEED_INIT, handle, &green);

    if (code)
        return code;
    primary = green->root;
    sim_context_end(green, false);
    sim_primary_release(primary);
    return sim_leave(sim_state.poison);
}

pool_cu_result sim_cu_CtxFromGreenCtx(CUcontext *context, CUgreenCtx handle)
{
    struct sim_context *green;
    struct sim_call call;
    pool_cu_result code = enter_green(&call, SIM_CU_CtxFromGreenCtx, SIM_NEED_INIT, handle, &green);

    if (code)
        return code;
    if (!context)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *context = green->handle;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_GreenCtxGetDevResource(
    CUgreenCtx handle, pool_cu_dev_resource *resource, pool_cu_enum type)
{
    struct sim_context *green;
    struct sim_call call;
    pool_cu_result code =
        enter_green(&call, SIM_CU_GreenCtxGetDevResource, SIM_NEED_INIT, handle, &green);

    return code ? code : sim_leave(write_context_resource(green, resource, type));
}

pool_cu_result sim_cu_GreenCtxStreamCreate(
    CUstream *stream, CUgreenCtx handle, unsigned int flags, int priority)
{
    struct sim_context *green;
    struct sim_call call;
    pool_cu_result code =
        enter_green(&call, SIM_CU_GreenCtxStreamCreate, SIM_NEED_HEALTHY, handle, &green);

    if (code)
        return code;
    if (flags != DRIVER_STREAM_NON_BLOCKING)
        return sim_leave(POOL_CU_INVALID_VALUE);
    return sim_leave(sim_stream_create_handle(green, flags, priority, stream));
}

pool_cu_result sim_cu_StreamGetGreenCtx(CUstream handle, CUgreenCtx *green)
{
    struct sim_stream *stream;
    struct sim_call call;
    pool_cu_result code =
        sim_stream_enter(&call, SIM_CU_StreamGetGreenCtx, SIM_NEED_CONTEXT, handle, &stream);

    if (code)
        return code;
    if (!green)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *green = stream->context->green;
    return sim_leave(POOL_CU_SUCCESS);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Begins a call about a green context and an event. */
static pool_cu_result enter_both(struct sim_call *call, enum sim_driver_function function,
    CUgreenCtx handle, CUevent event_handle, struct sim_context **green, struct sim_event **event)
{
    pool_cu_result code = enter_green(call, function, SIM_NEED_HEALTHY, handle, green);

    if (code)
        return code;
    *event = sim_handle_get(SIM_HANDLE_EVENT, event_handle);
    if (!*event)
        return sim_leave(POOL_CU_INVALID_HANDLE);
    for (const struct sim_stream *at = (*green)->streams; at; at = at->next)
        if (at->capture)
            code = sim_capture_violated(at->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    return code ? sim_leave(code) : POOL_CU_SUCCESS;
}

/* A stream of the context without handle; *stream NULL: it is created. */
static pool_cu_result internal_stream(struct sim_context *green, struct sim_stream **stream)
{
    return *stream ? POOL_CU_SUCCESS
                   : sim_stream_create(green, DRIVER_STREAM_NON_BLOCKING, 0, stream);
}

static bool is_internal(const struct sim_stream *stream)
{
    return stream == stream->context->event_stream || stream == stream->context->gate_stream ||
           stream->is_destroyed;
}

/* A marker, with a reference, that is reached when the stream has done what is in it now. */
static pool_cu_result mark(struct sim_stream *stream, struct sim_marker **marker)
{
    struct sim_marker *made = base_calloc(1, sizeof(*made));
    struct sim_work *work = sim_work_create(SIM_WORK_RECORD);
    pool_cu_result code;

    if (!made || !work) {
        base_free(made);
        base_free(work);
        return POOL_CU_OUT_OF_MEMORY;
    }
    made->references = 2; /* of the caller and of the operation */
    work->u.marker = made;
    code = sim_stream_enqueue(stream, work);
    if (code)
        sim_marker_release(made);
    else
        *marker = made;
    return code;
}

/* Has `to` wait for what is in `from` now. */
static pool_cu_result follow(struct sim_stream *to, struct sim_stream *from)
{
    struct sim_marker *marker;
    pool_cu_result code = mark(from, &marker);

    if (code)
        return code;
    code = sim_stream_await(to, marker);
    sim_marker_release(marker);
    return code;
}

pool_cu_result sim_cu_GreenCtxRecordEvent(CUgreenCtx handle, CUevent event_handle)
{
    struct sim_context *green;
    struct sim_event *event;
    struct sim_call call;
    pool_cu_result code =
        enter_both(&call, SIM_CU_GreenCtxRecordEvent, handle, event_handle, &green, &event);

    if (code)
        return code;
    if (event->context != green->root)
        return sim_leave(POOL_CU_INVALID_HANDLE);
    code = internal_stream(green, &green->event_stream);
    for (struct sim_stream *at = green->streams; at && !code; at = at->next)
        if (!is_internal(at) && at->head)
            code = follow(green->event_stream, at);
    return sim_leave(code ? code : sim_event_record(&call, event, green->event_stream));
}

/* As the call's fault rule demands. */
static pool_cu_result enqueue_wait(
    const struct sim_call *call, struct sim_stream *stream, struct sim_marker *marker)
{
    struct sim_work *work = sim_work_create(SIM_WORK_WAIT);

    if (!work)
        return POOL_CU_OUT_OF_MEMORY;
    work->u.marker = marker;
    marker->references++;
    return sim_enqueue(call, stream, work);
}

pool_cu_result sim_cu_GreenCtxWaitEvent(CUgreenCtx handle, CUevent event_handle)
{
    struct sim_context *green;
    struct sim_event *event;
    struct sim_marker *gate;
    struct sim_call call;
    pool_cu_result code =
        enter_both(&call, SIM_CU_GreenCtxWaitEvent, handle, event_handle, &green, &event);

    if (code)
        return code;
    if (event->capture) {
        struct sim_capture *capture = sim_capture_of(event->capture);

        return sim_leave(capture ? sim_capture_violated(capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED)
                                 : POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    }
    code = sim_event_refresh(event, true);
    if (code || !event->marker || event->marker->is_done)
        return sim_leave(code);
    code = internal_stream(green, &green->gate_stream);
    for (struct sim_stream *at = green->streams; at && !code; at = at->next)
        if (!is_internal(at))
            code = sim_stream_await(at, event->marker);
    /* Streams that are created later wait as well, for this event and for earlier ones. */
    if (!code)
        code = enqueue_wait(&call, green->gate_stream, event->marker);
    if (!code)
        code = mark(green->gate_stream, &gate);
    if (code)
        return sim_leave(code);
    sim_marker_release(green->gate);
    green->gate = gate;
    return sim_leave(POOL_CU_SUCCESS);
}

void sim_greens_free(void)
{
    while (sim_state.descs) {
        struct sim_resource_desc *desc = sim_state.descs;

        sim_state.descs = desc->next;
        base_free(desc);
    }
    for (int at = 0; at < SIM_MAX_DEVICES; at++)
        while (sim_state.devices[at].ended) {
            struct sim_context *ended = sim_state.devices[at].ended;

            sim_state.devices[at].ended = ended->next;
            base_free(ended->multiprocessors);
            base_free(ended);
        }
}
