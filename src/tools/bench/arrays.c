/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items of a measurement in device memory, pinned memory or shards on several devices.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* ---- shards ---------------------------------------------------------------------------------- */

/* The items of shard `index` to or from packed memory. */
static void copy_cyclic(
    const struct bench_array *array, uint32_t index, uint8_t *packed, uint8_t *items, bool packs)
{
    const uint64_t bytes = array->item_bytes;

    for (uint64_t i = 0; i < array->shards[index].count; i++) {
        uint8_t *item = items + (index + i * array->shard_count) * bytes,
                *part = packed + i * bytes;

        memcpy(packs ? part : item, packs ? item : part, bytes);
    }
}

/* Shard `index`, whose first item is `first` unless it is cyclic, from or to items in host memory.
 */
static pool_status copy_shard(
    const struct bench_array *array, uint32_t index, uint8_t *items, uint64_t first, bool uploads)
{
    const uint64_t bytes = array->shards[index].count * array->item_bytes;
    uint8_t *packed = array->is_cyclic ? bench_alloc(1, bytes) : NULL;
    uint8_t *host = packed ? packed : items + first * array->item_bytes;
    pool_status status;

    if (packed && uploads)
        copy_cyclic(array, index, packed, items, true);
    status = uploads ? pool_copy_to_device(array->buffers[index], 0, host, bytes, NULL)
                     : pool_copy_to_host(host, array->buffers[index], 0, bytes, NULL);
    if (packed && !uploads && !status)
        copy_cyclic(array, index, packed, items, false);
    free(packed);
    return status;
}

static uint64_t count_shard(
    const struct bench_items *items, const struct bench_array *array, uint32_t index)
{
    const uint64_t unit = items->unit ? items->unit : 1, units = items->count / unit;

    return items->each
               ? items->each[index]
               : (units * (index + 1) / array->shard_count - units * index / array->shard_count) *
                     unit;
}

static pool_status place_shards(
    struct bench_run *run, const struct bench_items *items, struct bench_array *array)
{
    const uint32_t count = run->together->device_count;
    uint64_t first = 0;
    pool_status status = POOL_OK;

    array->shards = bench_alloc(count, sizeof(*array->shards));
    array->buffers = bench_alloc(count, sizeof(pool_buffer *));
    array->shard_count = count;
    array->is_cyclic = items->is_cyclic;
    for (uint32_t i = 0; i < count && !status; i++) {
        const uint64_t local = count_shard(items, array, i);

        status = pool_buffer_zeroed(
            run->together->devices[i], local * items->item_bytes, &array->buffers[i]);
        if (!status)
            status = pool_buffer_span(array->buffers[i], 0, local, items->form, &array->shards[i]);
        if (!status && items->from)
            status = copy_shard(array, i, (uint8_t *)(uintptr_t)items->from, first, true);
        first += local;
    }
    array->span = (pool_span){
        .data = array->shards, .count = first, .form = items->form, .space = POOL_MEMORY_SHARDED};
    return status;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static pool_status pin(
    struct bench_run *run, const struct bench_items *items, struct bench_array *array)
{
    const uint64_t bytes = items->count * items->item_bytes;
    pool_status status = pool_pinned_create(run->device, bytes, 0, &array->pinned);

    if (status)
        return status;
    array->span = (pool_span){
        .data = pool_pinned_data(array->pinned), .count = items->count, .form = items->form};
    if (items->from)
        memcpy(array->span.data, items->from, bytes);
    else
        memset(array->span.data, 0, bytes);
    return POOL_OK;
}

pool_status bench_place(
    struct bench_run *run, const struct bench_items *items, struct bench_array *array)
{
    const uint64_t bytes = items->count * items->item_bytes;
    uint32_t i = 0;
    pool_status status;

    while (run->arrays[i])
        i++;
    run->arrays[i] = array;
    array->item_bytes = items->item_bytes;
    if (run->together && run->is_sharded && !items->is_pinned)
        return place_shards(run, items, array);
    if (run->together || items->is_pinned)
        return pin(run, items, array);
    status = items->from ? pool_buffer_from_host(run->device, items->from, bytes, &array->buffer)
                         : pool_buffer_alloc(run->device, bytes, &array->buffer);
    return status ? status
                  : pool_buffer_span(array->buffer, 0, items->count, items->form, &array->span);
}

pool_status bench_gather(const struct bench_array *array, void *to)
{
    const uint64_t bytes = array->span.count * array->item_bytes;
    uint64_t first = 0;
    pool_status status = POOL_OK;

    if (array->buffer)
        return pool_copy_to_host(to, array->buffer, 0, bytes, NULL);
    if (array->pinned)
        memcpy(to, array->span.data, bytes);
    for (uint32_t i = 0; i < array->shard_count && !status; i++) {
        status = copy_shard(array, i, to, first, false);
        first += array->shards[i].count;
    }
    return status;
}

pool_status bench_copy_root(const struct bench_array *levels, void *root)
{
    const pool_span *span = levels->shards ? &levels->shards[0] : &levels->span;
    const uint64_t bytes = levels->item_bytes, at = (span->count - 1) * bytes;

    if (!levels->pinned)
        return pool_copy_to_host(
            root, levels->shards ? levels->buffers[0] : levels->buffer, at, bytes, NULL);
    memcpy(root, (const uint8_t *)span->data + at, bytes);
    return POOL_OK;
}

void bench_array_free(struct bench_array *array)
{
    pool_buffer_destroy(&array->buffer);
    pool_pinned_destroy(&array->pinned);
    for (uint32_t i = 0; i < array->shard_count; i++)
        pool_buffer_destroy(&array->buffers[i]);
    free(array->buffers);
    free(array->shards);
    *array = (struct bench_array){.buffer = NULL};
}
