/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging of spans in host memory: device memory for their items and the copies in both directions.
 * Strided items are packed by the calling thread first.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "poseidon/run.h"

pool_status poseidon_staging_alloc(struct poseidon_staging *staging, const struct exec_target *site,
    const pool_span *span, size_t item_bytes, uint64_t capacity)
{
    *staging = (struct poseidon_staging){.item_bytes = item_bytes};
    if (!span || span->space == POOL_MEMORY_DEVICE)
        return POOL_OK;
    if (memory_span_stride(span, item_bytes) != item_bytes) {
        staging->packed = base_calloc(capacity, item_bytes);
        if (!staging->packed)
            return base_fail_memory("a buffer for strided items");
    }
    return memory_scratch(site, capacity * item_bytes, &staging->buffer, &staging->address);
}

pool_status poseidon_staging_free(
    struct poseidon_staging *staging, const struct exec_target *site, pool_status status)
{
    base_free(staging->packed);
    staging->packed = NULL;
    return memory_scratch_free(site, &staging->buffer, status);
}

pool_span poseidon_staging_span(const struct poseidon_staging *staging, const pool_span *span)
{
    pool_span staged = *span;

    if (staging->buffer) {
        staged.data = (void *)(uintptr_t)staging->address;
        staged.stride = 0;
        staged.space = POOL_MEMORY_DEVICE;
    }
    return staged;
}

pool_status poseidon_staging_upload(
    const struct poseidon_staging *staging, const struct exec_target *site, const pool_span *span)
{
    size_t bytes = staging->item_bytes;
    const void *from = staging->packed ? staging->packed : span->data;

    if (!staging->buffer || span->count == 0)
        return POOL_OK;
    for (uint64_t i = 0; staging->packed && i < span->count; i++)
        memcpy(staging->packed + i * bytes, poseidon_span_item(span, bytes, i), bytes);
    return pool_copy_to_device(staging->buffer, 0, from, span->count * bytes, site->stream);
}

pool_status poseidon_staging_download(const struct poseidon_staging *staging,
    const struct exec_target *site, uint64_t first, const pool_span *span)
{
    size_t bytes = staging->item_bytes;
    void *to = staging->packed ? staging->packed : span->data;
    pool_status status;

    if (!staging->buffer || span->count == 0)
        return POOL_OK;
    status =
        pool_copy_to_host(to, staging->buffer, first * bytes, span->count * bytes, site->stream);
    if (status || !staging->packed)
        return status;
    status = pool_stream_synchronize(site->stream);
    for (uint64_t i = 0; !status && i < span->count; i++)
        memcpy(poseidon_span_item(span, bytes, i), staging->packed + i * bytes, bytes);
    return status;
}
