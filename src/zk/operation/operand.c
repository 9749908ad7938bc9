/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of operations, and scratch memory: see operand.h. */
#include "zk/operation/operand.h"

#include "base/params.h"
#include "base/status.h"
#include "driver/attributes.h"
#include "pool/memory/memory.h"
#include "pool/stream/capture.h"
#include "zk/operation/workspace.h"

pool_status exec_target_init(struct exec_target *target, const pool_exec *exec)
{
    CUstream handle;
    pool_stream *own = exec->stream;
    pool_status status = device_or_bound(exec->device, &target->device);

    if (!status)
        status = stream_handle_of_work(exec->stream, target->device, &handle);
    if (!status && stream_capture_of(exec->stream) && (!exec->is_async || exec->checks))
        status = stream_refuse_captured(NULL, exec->stream,
            exec->checks ? "checks of inputs (`checks`)" : "a wait for results: set `is_async`");
    if (!status && !own)
        status = pool_stream_default(target->device, &own);
    target->stream = own;
    target->lease = exec->lease;
    target->workspace = NULL;
    target->slice_ns = status ? 0 : exec_share_of(exec, target->device).slice_ns;
    target->slices = NULL;
    return status;
}

pool_status exec_target_end(const struct exec_target *target, int is_async, pool_status status)
{
    struct base_error_copy first;
    pool_status waited;

    if (is_async && !status)
        return POOL_OK;
    base_error_save(&first);
    waited = pool_stream_synchronize(target->stream);
    if (status)
        base_error_restore(&first);
    return status ? status : waited;
}

/* Checks one address; *end is the end of its allocation, where the driver reports it. */
static pool_status check_address(const struct exec_target *target, struct driver *driver,
    uintptr_t byte, const char *what, uintptr_t *end)
{
    pool_cu_enum attributes[] = {DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE,
        DRIVER_POINTER_ATTRIBUTE_IS_MANAGED, DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        DRIVER_POINTER_ATTRIBUTE_RANGE_START_ADDR, DRIVER_POINTER_ATTRIBUTE_RANGE_SIZE};
    unsigned type = 0, managed = 0;
    int ordinal = -1;
    CUdeviceptr start = 0;
    size_t size = 0;
    void *values[] = {&type, &managed, &ordinal, &start, &size};
    pool_status status =
        DRIVER_CALL_FOR(driver, PointerGetAttributes(5, attributes, values, (CUdeviceptr)byte),
            "0x%llx", (unsigned long long)byte);

    if (status)
        return status;
    if (type != DRIVER_MEMORYTYPE_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s at 0x%llx is not device memory", what,
            (unsigned long long)byte);
    if (!managed && ordinal != pool_device_ordinal(target->device))
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "the %s at 0x%llx is memory of device %d, not of %d", what, (unsigned long long)byte,
            ordinal, pool_device_ordinal(target->device));
    *end = (uintptr_t)(start + size);
    return POOL_OK;
}

/* With an invalid pointer a kernel would fault, which ends the process's use of every GPU. */
static pool_status check_device_range(
    const struct exec_target *target, const pool_span *span, uint64_t item_bytes, const char *what)
{
    uintptr_t first = (uintptr_t)span->data;
    uintptr_t last = first + span_extent(span, item_bytes) - 1;
    uintptr_t end = 0;
    struct device_scope scope;
    pool_status status = device_enter(target->device, &scope);

    if (status)
        return status;
    status = check_address(target, scope.driver, first, what, &end);
    if (!status && last >= end) /* the range may continue in the next mapping */
        status = check_address(target, scope.driver, last, what, &end);
    return device_leave(&scope, status);
}

pool_status span_check_shape(const pool_span *span, const struct span_item *item, const char *what)
{
    uint64_t stride = span_stride(span, item->bytes), bytes;

    if (span->form != POOL_FORM_STANDARD && span->form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "unsupported value %d for `form` of the %s",
            (int)span->form, what);
    if (span->space != POOL_MEMORY_HOST && span->space != POOL_MEMORY_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "unsupported value %d for `space` of the %s",
            (int)span->space, what);
    if (stride < item->bytes ||
        (stride % 4 && !(item->any_host_stride && span->space == POOL_MEMORY_HOST)))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the %s has a stride of %llu bytes: %s of %s have %llu, and strides are multiples of 4",
            what, (unsigned long long)span->stride, item->kind, item->name,
            (unsigned long long)item->bytes);
    if (__builtin_mul_overflow(stride, span->count, &bytes) || bytes > INT64_MAX ||
        (uintptr_t)span->data + bytes < bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s has too many %s: %llu", what,
            item->kind, (unsigned long long)span->count);
    return POOL_OK;
}

pool_status span_check(const struct exec_target *target, const pool_span *span,
    const struct span_item *item, const char *what)
{
    pool_status status;

    if (!span)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the span of the %s must not be NULL", what);
    status = span_check_shape(span, item, what);
    if (status || span->count == 0)
        return status;
    if (!span->data)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the data of the %s must not be NULL", what);
    if (span->space == POOL_MEMORY_HOST)
        return POOL_OK;
    if ((uintptr_t)span->data % 4)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s on the device is not aligned to 4 bytes", what);
    return check_device_range(target, span, item->bytes, what);
}

pool_span span_slice(const pool_span *span, uint64_t item_bytes, uint64_t first, uint64_t count)
{
    pool_span slice = *span;

    slice.data = count && span->data ? span_item_at(span, item_bytes, first) : NULL;
    slice.count = count;
    return slice;
}

bool spans_overlap(const pool_span *a, uint64_t a_bytes, const pool_span *b, uint64_t b_bytes)
{
    uintptr_t a_start = (uintptr_t)a->data, b_start = (uintptr_t)b->data;

    return a->space == b->space && a->space != POOL_MEMORY_SHARDED && a->data && b->data &&
           a->count && b->count && a_start < b_start + span_extent(b, b_bytes) &&
           b_start < a_start + span_extent(a, a_bytes);
}

pool_status workspace_check_overlap(const char *call, const pool_buffer *workspace,
    const pool_span *span, uint64_t item_bytes, const char *what)
{
    uint64_t bytes = pool_buffer_bytes(workspace);
    pool_span whole = {.count = 1, .space = POOL_MEMORY_DEVICE};
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(workspace, &address);

    whole.data = (void *)(uintptr_t)address;
    if (status || !spans_overlap(&whole, bytes, span, item_bytes))
        return status;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: `workspace`, %llu bytes at 0x%llx, overlaps the %s at 0x%llx", call,
        (unsigned long long)bytes, (unsigned long long)address, what,
        (unsigned long long)(uintptr_t)span->data);
}

typedef pool_status create_buffer(
    pool_device *device, const pool_buffer_params *params, pool_buffer **buffer);

static pool_status create_scratch(create_buffer *create, const struct exec_target *target,
    uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = memory_scratch_bytes(bytes),
        .stream = target->stream,
        .lease = target->lease};
    pool_status status = create(target->device, &params, buffer);

    return status ? status : pool_buffer_address(*buffer, address);
}

pool_status scratch_allocate(
    const struct exec_target *target, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    if (target->workspace)
        return workspace_allocate(target->workspace, memory_scratch_bytes(bytes), buffer, address);
    if (target->stream && stream_capture_of(target->stream))
        return stream_refuse_captured(
            NULL, target->stream, "allocations of an operation: give it a `workspace`");
    return create_scratch(pool_buffer_create, target, bytes, buffer, address);
}

pool_status scratch_spare(
    const struct exec_target *target, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    return create_scratch(memory_buffer_create_spare, target, bytes, buffer, address);
}

pool_status scratch_free(const struct exec_target *target, pool_buffer **buffer, pool_status status)
{
    struct base_error_copy first;
    pool_status end;

    if (!*buffer)
        return status;
    if (status)
        base_error_save(&first);
    if (target->workspace)
        workspace_free(target->workspace, *buffer);
    end = pool_buffer_destroy_on(buffer, target->stream);
    /* No caller has the handle: if it cannot be freed now, the memory layer frees it later. */
    if (*buffer)
        memory_discard(*buffer);
    *buffer = NULL;
    if (status)
        base_error_restore(&first);
    return status ? status : end;
}

/* ---- spans of elements ------------------------------------------------------------------------
 */

pool_status elements_check(
    const struct exec_target *target, const pool_span *span, const char *what)
{
    const struct span_item item = {
        .bytes = target->field->bytes, .kind = "elements", .name = target->field->name};

    return span_check(target, span, &item, what);
}

/* Their forms may differ. */
static bool are_same(const pool_field *field, const pool_span *a, const pool_span *b)
{
    return a->data == b->data && a->count == b->count &&
           span_stride(a, field->bytes) == span_stride(b, field->bytes) && a->space == b->space;
}

bool elements_are_packed(const pool_field *field, const pool_span *span)
{
    uint32_t alignment = field->words % 4 == 0 ? 16 : field->words % 2 == 0 ? 8 : 4;

    return span_stride(span, field->bytes) == field->bytes &&
           (span->space == POOL_MEMORY_HOST || (uintptr_t)span->data % alignment == 0);
}

pool_status elements_check_overlap(
    const pool_field *field, const pool_span *in, const pool_span *out, int same_is_allowed)
{
    if (same_is_allowed && in->count && are_same(field, in, out))
        return POOL_OK;
    if (spans_overlap(in, field->bytes, out, field->bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "input and output overlap in memory%s",
            same_is_allowed ? " and are not the same elements" : "");
    return POOL_OK;
}

/* ---- public ------------------------------------------------------------------------------------
 */

pool_status pool_buffer_span(
    const pool_buffer *buffer, uint64_t offset, uint64_t count, pool_form form, pool_span *span)
{
    CUdeviceptr address = 0;
    pool_status status = base_check_pointers(__func__, {"buffer", buffer}, {"span", span});

    if (!status)
        status = base_check_ranges(__func__, {"form", form, 0, POOL_FORM_MONTGOMERY});
    if (!status)
        status = pool_buffer_address(buffer, &address);
    if (!status && offset > pool_buffer_bytes(buffer))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `offset`: the buffer has %llu bytes", __func__,
            (unsigned long long)offset, (unsigned long long)pool_buffer_bytes(buffer));
    if (status)
        return status;
    *span = (pool_span){.data = (void *)(uintptr_t)(address + offset),
        .count = count,
        .form = form,
        .space = POOL_MEMORY_DEVICE};
    return POOL_OK;
}
