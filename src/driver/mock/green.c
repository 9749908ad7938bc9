/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of a device's multiprocessors: resources, their descriptors, and green contexts. What
 * they mean for kernels is not modelled: a launch record has its stream.
 */
#include "driver/mock/mock.h"

#define DEFAULT_STREAM 1u /* CU_GREEN_CTX_DEFAULT_STREAM, which must be given */
#define STREAM_NON_BLOCKING 1u

/* ---- resources ------------------------------------------------------------------------------- */

static struct partition whole_device(const struct mock_call *call, int device)
{
    const int *has = call->mock->devices[device].attributes;

    return partition_of_device(device, has[POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR],
        (unsigned)has[POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT]);
}

static pool_cu_result write_resource(
    const struct partition *partition, pool_cu_dev_resource *resource, pool_cu_enum type)
{
    if (type != PARTITION_TYPE)
        return POOL_CU_INVALID_RESOURCE_TYPE;
    partition_write(partition, resource);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_DeviceGetDevResource(
    struct mock_call *call, CUdevice device, pool_cu_dev_resource *resource, pool_cu_enum type)
{
    const struct partition all = whole_device(call, device);

    return write_resource(&all, resource, type);
}

pool_cu_result mock_do_CtxGetDevResource(struct mock_call *call, struct mock_context *context,
    pool_cu_dev_resource *resource, pool_cu_enum type)
{
    if (!context)
        return POOL_CU_INVALID_CONTEXT;
    if (!context->active)
        return POOL_CU_CONTEXT_IS_DESTROYED;
    if (context->green)
        return write_resource(&context->green->partition, resource, type);
    return mock_do_DeviceGetDevResource(call, context->object.device, resource, type);
}

pool_cu_result mock_do_GreenCtxGetDevResource(struct mock_call *call, struct mock_green *green,
    pool_cu_dev_resource *resource, pool_cu_enum type)
{
    (void)call;
    return write_resource(&green->partition, resource, type);
}

pool_cu_result mock_do_DevSmResourceSplitByCount(struct mock_call *call,
    pool_cu_dev_resource *groups, unsigned int *count, const pool_cu_dev_resource *input,
    pool_cu_dev_resource *remaining, unsigned int flags, unsigned int min_count)
{
    return partition_split(
        groups, count, input, remaining, flags, min_count, ++call->mock->last_split);
}

pool_cu_result mock_do_DevResourceGenerateDesc(struct mock_call *call, CUdevResourceDesc *desc,
    pool_cu_dev_resource *resources, unsigned int count)
{
    struct mock_resource_desc *made;
    struct partition joined;
    pool_cu_result code = partition_join(resources, count, &joined);

    if (code)
        return code;
    made = mock_object_new(call->mock, sizeof(*made), MOCK_RESOURCE_DESC, joined.device, NULL);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->partition = joined;
    *desc = mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static struct mock_green *create_green(
    pool_mock *mock, struct mock_context *primary, const struct partition *partition)
{
    const int device = primary->object.device;
    struct mock_green *green = mock_object_new(mock, sizeof(*green), MOCK_GREEN, device, primary);
    struct mock_context *scope =
        green ? mock_object_new(mock, sizeof(*scope), MOCK_CONTEXT, device, primary) : NULL;

    if (!scope) {
        if (green)
            mock_object_release(mock, &green->object);
        return NULL;
    }
    green->scope = scope;
    green->partition = *partition;
    scope->green = green;
    mock_context_begin(mock, scope);
    primary->greens++;
    return green;
}

pool_cu_result mock_do_GreenCtxCreate(struct mock_call *call, CUgreenCtx *handle,
    struct mock_resource_desc *desc, CUdevice device, unsigned int flags)
{
    struct mock_context *primary = call->mock->devices[device].primary;
    struct mock_green *green;

    if (flags != DEFAULT_STREAM || desc->partition.device != device)
        return POOL_CU_INVALID_VALUE;
    if (!mock_primary_retain(call, device))
        return POOL_CU_OUT_OF_MEMORY;
    green = create_green(call->mock, primary, &desc->partition);
    primary->references--;
    mock_primary_release(call->mock, device);
    if (!green)
        return POOL_CU_OUT_OF_MEMORY;
    *handle = mock_object_handle(call->mock, &green->object);
    return POOL_CU_SUCCESS;
}

static struct mock_stream *stream_of(
    const pool_mock *mock, size_t index, const struct mock_green *green)
{
    struct mock_stream *stream = (struct mock_stream *)mock->objects[index];

    return stream && stream->object.kind == MOCK_STREAM && stream->scope == green->scope ? stream
                                                                                         : NULL;
}

void mock_green_end(pool_mock *mock, struct mock_green *green)
{
    struct mock_context *scope = green->scope;

    for (size_t i = 0; i < mock->object_count; i++) {
        struct mock_stream *stream = stream_of(mock, i, green);

        if (!stream)
            continue;
        mock_orphan(mock, &stream->object);
        mock_object_release(mock, &stream->object);
    }
    scope->active = false;
    scope->green = NULL;
    scope->object.context->greens--;
    mock_object_release(mock, &green->object);
}

pool_cu_result mock_do_GreenCtxDestroy(struct mock_call *call, struct mock_green *green)
{
    const int device = green->object.device;

    mock_green_end(call->mock, green);
    mock_primary_release(call->mock, device);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_CtxFromGreenCtx(
    struct mock_call *call, CUcontext *context, struct mock_green *green)
{
    *context = mock_object_handle(call->mock, &green->scope->object);
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_GreenCtxStreamCreate(struct mock_call *call, CUstream *stream,
    struct mock_green *green, unsigned int flags, int priority)
{
    if (flags != STREAM_NON_BLOCKING)
        return POOL_CU_INVALID_VALUE;
    return mock_stream_create(call, green->scope, flags, priority, stream);
}

pool_cu_result mock_do_StreamGetGreenCtx(
    struct mock_call *call, struct mock_stream *stream, CUgreenCtx *green)
{
    const struct mock_green *of = stream->scope->green;

    *green = of ? mock_object_handle(call->mock, &of->object) : NULL;
    return POOL_CU_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------- */

static pool_cu_result check_captures(pool_mock *mock, const struct mock_green *green)
{
    for (size_t i = 0; i < mock->object_count; i++) {
        const struct mock_stream *stream = stream_of(mock, i, green);

        if (stream && stream->capture)
            return mock_capture_violated(mock, stream->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    }
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_GreenCtxRecordEvent(
    struct mock_call *call, struct mock_green *green, struct mock_event *event)
{
    const uint64_t stall_number = green->scope->stall_number;

    if (event->object.context != green->object.context)
        return POOL_CU_INVALID_HANDLE;
    pool_cu_result code = check_captures(call->mock, green);
    if (!code)
        mock_event_record(event, mock_is_stalled(call->mock, stall_number) ? stall_number : 0);
    return code;
}

pool_cu_result mock_do_GreenCtxWaitEvent(
    struct mock_call *call, struct mock_green *green, struct mock_event *event)
{
    pool_cu_result code = check_captures(call->mock, green);

    if (event->capture)
        code =
            mock_capture_violated(call->mock, event->capture, POOL_CU_STREAM_CAPTURE_UNSUPPORTED);
    if (code || !mock_is_stalled(call->mock, event->stall_number))
        return code;
    for (size_t i = 0; i < call->mock->object_count; i++) {
        struct mock_stream *stream = stream_of(call->mock, i, green);

        if (stream)
            mock_stream_work(call, stream);
    }
    return POOL_CU_SUCCESS;
}
