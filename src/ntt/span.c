/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands: spans checked, brought to the device and back, and memory that lives in the order of a
 * stream.
 */
#include "ntt/ntt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "memory/memory.h"

pool_status ntt_place_init(struct ntt_place *place, pool_device *wanted, const pool_field *field,
    const pool_stream *stream)
{
    CUstream handle;
    pool_stream *own = (pool_stream *)(uintptr_t)stream;
    pool_status status = device_or_bound(wanted, &place->device);

    place->field = field;
    if (!status)
        status = stream_handle_on(stream, place->device, &handle);
    if (!status && !own)
        status = pool_stream_default(place->device, &own);
    place->stream = own;
    return status;
}

static uint64_t stride_of(const pool_field *field, const pool_span *span)
{
    return span->stride ? span->stride : field->bytes;
}

/* Bytes from the first item's start to the last one's end; the check has seen that they fit. */
static uint64_t extent_of(const pool_field *field, const pool_span *span)
{
    return span->count ? (span->count - 1) * stride_of(field, span) + field->bytes : 0;
}

/* A wrong pointer would be a fault of the kernel, and that the end of the process. */
static pool_status check_on_device(
    const struct ntt_place *place, const pool_span *span, const char *what)
{
    enum memory_place found = MEMORY_PAGEABLE;
    struct device_scope scope;
    pool_status status = device_enter(place->device, &scope);

    if (status)
        return status;
    status = device_leave(
        &scope, memory_place_of(scope.driver, span->data, extent_of(place->field, span), &found));
    if (!status && found != MEMORY_ON_DEVICE && found != MEMORY_MANAGED)
        status = base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s at %p is no device memory", what, span->data);
    return status;
}

pool_status ntt_span_check(const struct ntt_place *place, const pool_span *span, const char *what)
{
    const pool_field *field = place->field;
    uint64_t bytes;

    if (!span)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the span of the %s is NULL", what);
    if (span->form != POOL_FORM_STANDARD && span->form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s has no form %d", what, (int)span->form);
    if (span->place != POOL_PLACE_HOST && span->place != POOL_PLACE_DEVICE)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s has no place %d", what, (int)span->place);
    if (stride_of(field, span) < field->bytes || span->stride % 4)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the %s has a stride of %llu bytes: elements of %s have %u, and strides are multiples "
            "of 4",
            what, (unsigned long long)span->stride, field->name, field->bytes);
    if (__builtin_mul_overflow(stride_of(field, span), span->count, &bytes) || bytes > INT64_MAX ||
        (uintptr_t)span->data + bytes < bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s has too many elements: %llu", what,
            (unsigned long long)span->count);
    if (span->count == 0)
        return POOL_OK;
    if (!span->data)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s is at NULL", what);
    if (span->place == POOL_PLACE_HOST)
        return POOL_OK;
    if ((uintptr_t)span->data % 4)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s on the device is not aligned to 4 bytes", what);
    return check_on_device(place, span, what);
}

bool ntt_span_is_same(const pool_field *field, const pool_span *a, const pool_span *b)
{
    return a->data == b->data && a->count == b->count &&
           stride_of(field, a) == stride_of(field, b) && a->place == b->place;
}

bool ntt_span_is_packed(const pool_field *field, const pool_span *span)
{
    uint32_t alignment = field->words % 4 == 0 ? 16 : field->words % 2 == 0 ? 8 : 4;

    return stride_of(field, span) == field->bytes &&
           (span->place == POOL_PLACE_HOST || (uintptr_t)span->data % alignment == 0);
}

pool_status ntt_span_check_overlap(
    const pool_field *field, const pool_span *in, const pool_span *out, int same_is_allowed)
{
    uintptr_t in_start = (uintptr_t)in->data, out_start = (uintptr_t)out->data;

    if (in->place != out->place || !in->count || !out->count)
        return POOL_OK;
    if (same_is_allowed && ntt_span_is_same(field, in, out))
        return POOL_OK;
    if (in_start < out_start + extent_of(field, out) && out_start < in_start + extent_of(field, in))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "input and output overlap in memory%s",
            same_is_allowed ? " and are not the same elements" : "");
    return POOL_OK;
}

pool_status ntt_temporary(
    const struct ntt_place *place, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bytes, .stream = place->stream};
    pool_status status = pool_buffer_create(place->device, &params, buffer);

    return status ? status : pool_buffer_address(*buffer, address);
}

pool_status ntt_temporary_free(
    const struct ntt_place *place, pool_buffer **buffer, pool_status status)
{
    struct base_error_copy first;
    pool_status end;

    if (!*buffer)
        return status;
    base_error_save(&first);
    end = pool_buffer_free_on(buffer, place->stream);
    /* Nobody else has the handle: what cannot be given back now the memory room keeps. */
    if (*buffer)
        memory_discard(*buffer);
    *buffer = NULL;
    if (status)
        base_error_restore(&first);
    return status ? status : end;
}

pool_status ntt_operand_in(
    const struct ntt_place *place, const pool_span *span, struct ntt_operand *operand)
{
    uint64_t bytes = extent_of(place->field, span);
    pool_status status;

    *operand = (struct ntt_operand){.address = (CUdeviceptr)(uintptr_t)span->data,
        .stride = stride_of(place->field, span),
        .count = span->count};
    if (span->place == POOL_PLACE_DEVICE)
        return POOL_OK;
    status = ntt_temporary(place, bytes, &operand->owned, &operand->address);
    if (!status && bytes)
        status = pool_copy_to_device(operand->owned, 0, span->data, bytes, place->stream);
    return status;
}

pool_status ntt_operand_out(
    const struct ntt_place *place, const pool_span *span, struct ntt_operand *operand)
{
    *operand = (struct ntt_operand){.address = (CUdeviceptr)(uintptr_t)span->data,
        .stride = stride_of(place->field, span),
        .count = span->count};
    if (span->place == POOL_PLACE_DEVICE)
        return POOL_OK;
    operand->stride = place->field->bytes;
    return ntt_temporary(
        place, span->count * place->field->bytes, &operand->owned, &operand->address);
}

/* What lies between the elements of a strided span is the caller's: the host scatters. */
static pool_status scatter(
    const struct ntt_place *place, const struct ntt_operand *operand, const pool_span *span)
{
    uint32_t bytes = place->field->bytes;
    uint8_t *packed = base_calloc(span->count, bytes);
    pool_status status;

    if (!packed)
        return base_fail_memory("a result on its way to strided memory");
    status =
        pool_copy_to_host(packed, operand->owned, 0, (uint64_t)bytes * span->count, place->stream);
    if (!status)
        status = pool_stream_synchronize(place->stream);
    for (uint64_t i = 0; !status && i < span->count; i++)
        memcpy((uint8_t *)span->data + i * span->stride, packed + i * bytes, bytes);
    base_free(packed);
    return status;
}

pool_status ntt_operand_deliver(
    const struct ntt_place *place, const struct ntt_operand *operand, const pool_span *span)
{
    if (span->place == POOL_PLACE_DEVICE || span->count == 0)
        return POOL_OK;
    if (stride_of(place->field, span) != place->field->bytes)
        return scatter(place, operand, span);
    return pool_copy_to_host(
        span->data, operand->owned, 0, span->count * place->field->bytes, place->stream);
}

pool_status ntt_operand_free(
    const struct ntt_place *place, struct ntt_operand *operand, pool_status status)
{
    return ntt_temporary_free(place, &operand->owned, status);
}

pool_status ntt_done(const struct ntt_place *place, int is_async, pool_status status)
{
    return status || is_async ? status : pool_stream_synchronize(place->stream);
}
