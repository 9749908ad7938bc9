/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands of the operations: see span.h.
 */
#include "memory/span.h"

#include "base/status.h"
#include "driver/attributes.h"
#include "memory/memory.h"

pool_status memory_site_init(
    struct memory_site *site, pool_device *wanted, const pool_stream *stream)
{
    CUstream handle;
    pool_stream *own = (pool_stream *)(uintptr_t)stream;
    pool_status status = device_or_bound(wanted, &site->device);

    if (!status)
        status = stream_handle_on(stream, site->device, &handle);
    if (!status && !own)
        status = pool_stream_default(site->device, &own);
    site->stream = own;
    return status;
}

pool_status memory_site_end(const struct memory_site *site, int is_async, pool_status status)
{
    struct base_error_copy first;
    pool_status waited;

    if (is_async && !status)
        return POOL_OK;
    base_error_save(&first);
    waited = pool_stream_synchronize(site->stream);
    if (status)
        base_error_restore(&first);
    return status ? status : waited;
}

/* *end: of the allocation that the byte is in, where the driver tells. */
static pool_status check_byte(const struct memory_site *site, struct driver *driver, uintptr_t byte,
    const char *what, uintptr_t *end)
{
    pool_cu_enum questions[] = {DRIVER_POINTER_ATTRIBUTE_MEMORY_TYPE,
        DRIVER_POINTER_ATTRIBUTE_IS_MANAGED, DRIVER_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        DRIVER_POINTER_ATTRIBUTE_RANGE_START_ADDR, DRIVER_POINTER_ATTRIBUTE_RANGE_SIZE};
    unsigned type = 0, managed = 0;
    int ordinal = -1;
    CUdeviceptr start = 0;
    size_t size = 0;
    void *answers[] = {&type, &managed, &ordinal, &start, &size};
    pool_status status =
        DRIVER_CALL_FOR(driver, PointerGetAttributes(5, questions, answers, (CUdeviceptr)byte),
            "0x%llx", (unsigned long long)byte);

    if (status)
        return status;
    if (type != DRIVER_MEMORYTYPE_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s at 0x%llx is no device memory", what,
            (unsigned long long)byte);
    if (!managed && ordinal != pool_device_ordinal(site->device))
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "the %s at 0x%llx is memory of device %d, not of %d", what, (unsigned long long)byte,
            ordinal, pool_device_ordinal(site->device));
    *end = (uintptr_t)(start + size);
    return POOL_OK;
}

/* A wrong pointer would be a fault of the kernel, and that the end of the process. */
static pool_status check_on_device(
    const struct memory_site *site, const pool_span *span, uint64_t item_bytes, const char *what)
{
    uintptr_t first = (uintptr_t)span->data;
    uintptr_t last = first + memory_span_extent(span, item_bytes) - 1;
    uintptr_t end = 0;
    struct device_scope scope;
    pool_status status = device_enter(site->device, &scope);

    if (status)
        return status;
    status = check_byte(site, scope.driver, first, what, &end);
    if (!status && last >= end) /* a range of mapped memory may go on in the next mapping */
        status = check_byte(site, scope.driver, last, what, &end);
    return device_leave(&scope, status);
}

pool_status memory_span_check_shape(
    const pool_span *span, const struct memory_item *item, const char *what)
{
    uint64_t stride = memory_span_stride(span, item->bytes), bytes;

    if (span->form != POOL_FORM_STANDARD && span->form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s has no form %d", what, (int)span->form);
    if (span->place != POOL_MEMORY_HOST && span->place != POOL_MEMORY_DEVICE)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s has no place %d", what, (int)span->place);
    if (stride < item->bytes || stride % 4)
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

pool_status memory_span_check(const struct memory_site *site, const pool_span *span,
    const struct memory_item *item, const char *what)
{
    pool_status status;

    if (!span)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the span of the %s must not be NULL", what);
    status = memory_span_check_shape(span, item, what);
    if (status || span->count == 0)
        return status;
    if (!span->data)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the data of the %s must not be NULL", what);
    if (span->place == POOL_MEMORY_HOST)
        return POOL_OK;
    if ((uintptr_t)span->data % 4)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s on the device is not aligned to 4 bytes", what);
    return check_on_device(site, span, item->bytes, what);
}

bool memory_spans_overlap(
    const pool_span *a, uint64_t a_bytes, const pool_span *b, uint64_t b_bytes)
{
    uintptr_t a_start = (uintptr_t)a->data, b_start = (uintptr_t)b->data;

    return a->place == b->place && a->data && b->data && a->count && b->count &&
           a_start < b_start + memory_span_extent(b, b_bytes) &&
           b_start < a_start + memory_span_extent(a, a_bytes);
}

pool_status memory_temporary(
    const struct memory_site *site, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bytes, .stream = site->stream};
    pool_status status = pool_buffer_create(site->device, &params, buffer);

    return status ? status : pool_buffer_address(*buffer, address);
}

pool_status memory_temporary_free(
    const struct memory_site *site, pool_buffer **buffer, pool_status status)
{
    struct base_error_copy first;
    pool_status end;

    if (!*buffer)
        return status;
    base_error_save(&first);
    end = pool_buffer_destroy_on(buffer, site->stream);
    /* Nobody else has the handle: what cannot be given back now the memory room keeps. */
    if (*buffer)
        memory_discard(*buffer);
    *buffer = NULL;
    if (status)
        base_error_restore(&first);
    return status ? status : end;
}
