/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands of elements: spans checked, brought to the device and back.
 */
#include "ntt/ntt.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "memory/span.h"

static struct memory_site site_of(const struct ntt_place *place)
{
    return (struct memory_site){place->device, place->stream};
}

pool_status ntt_place_init(struct ntt_place *place, pool_device *wanted, const pool_field *field,
    const pool_stream *stream)
{
    struct memory_site site = {0};
    pool_status status = memory_site_init(&site, wanted, stream);

    *place = (struct ntt_place){.device = site.device, .field = field, .stream = site.stream};
    return status;
}

static uint64_t stride_of(const pool_field *field, const pool_span *span)
{
    return memory_span_stride(span, field->bytes);
}

pool_status ntt_span_check(const struct ntt_place *place, const pool_span *span, const char *what)
{
    const struct memory_site site = site_of(place);
    const struct memory_item item = {place->field->bytes, "elements", place->field->name};

    return memory_span_check(&site, span, &item, what);
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
           (span->place == POOL_MEMORY_HOST || (uintptr_t)span->data % alignment == 0);
}

pool_status ntt_span_check_overlap(
    const pool_field *field, const pool_span *in, const pool_span *out, int same_is_allowed)
{
    if (same_is_allowed && in->count && ntt_span_is_same(field, in, out))
        return POOL_OK;
    if (memory_spans_overlap(in, field->bytes, out, field->bytes))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "input and output overlap in memory%s",
            same_is_allowed ? " and are not the same elements" : "");
    return POOL_OK;
}

pool_status ntt_temporary(
    const struct ntt_place *place, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    const struct memory_site site = site_of(place);

    return memory_temporary(&site, bytes, buffer, address);
}

pool_status ntt_temporary_free(
    const struct ntt_place *place, pool_buffer **buffer, pool_status status)
{
    const struct memory_site site = site_of(place);

    return memory_temporary_free(&site, buffer, status);
}

pool_status ntt_operand_in(
    const struct ntt_place *place, const pool_span *span, struct ntt_operand *operand)
{
    uint64_t bytes = memory_span_extent(span, place->field->bytes);
    pool_status status;

    *operand = (struct ntt_operand){.address = (CUdeviceptr)(uintptr_t)span->data,
        .stride = stride_of(place->field, span),
        .count = span->count};
    if (span->place == POOL_MEMORY_DEVICE)
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
    if (span->place == POOL_MEMORY_DEVICE)
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
    if (span->place == POOL_MEMORY_DEVICE || span->count == 0)
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
    const struct memory_site site = site_of(place);

    return memory_site_end(&site, is_async, status);
}
