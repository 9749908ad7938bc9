/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items of a measurement in shards on several devices.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The items of shard `index` to or from packed memory. */
static void copy_cyclic(
    const struct bench_shards *shards, uint32_t index, uint8_t *packed, uint8_t *items, bool packs)
{
    const uint64_t bytes = shards->item_bytes;

    for (uint64_t i = 0; i < shards->shards[index].count; i++) {
        uint8_t *item = items + (index + i * shards->count) * bytes, *part = packed + i * bytes;

        memcpy(packs ? part : item, packs ? item : part, bytes);
    }
}

static pool_status upload_shard(
    struct bench_shards *shards, uint32_t index, uint8_t *items, uint64_t first)
{
    const uint64_t bytes = shards->shards[index].count * shards->item_bytes;
    uint8_t *packed = shards->is_cyclic ? bench_alloc(1, bytes) : NULL;
    pool_status status;

    if (packed)
        copy_cyclic(shards, index, packed, items, true);
    status = pool_copy_to_device(shards->buffers[index], 0,
        packed ? packed : items + first * shards->item_bytes, bytes, NULL);
    free(packed);
    return status;
}

static pool_status download_shard(
    struct bench_shards *shards, uint32_t index, uint8_t *items, uint64_t first)
{
    const uint64_t bytes = shards->shards[index].count * shards->item_bytes;
    uint8_t *packed = shards->is_cyclic ? bench_alloc(1, bytes) : NULL;
    pool_status status = pool_copy_to_host(packed ? packed : items + first * shards->item_bytes,
        shards->buffers[index], 0, bytes, NULL);

    if (packed && !status)
        copy_cyclic(shards, index, packed, items, false);
    free(packed);
    return status;
}

/* Zeros; digests and other results. */
static pool_status allocate_shard(struct bench_run *run, struct bench_shards *shards,
    uint32_t index, uint64_t items, pool_form form)
{
    pool_status status = pool_buffer_zeroed(
        run->together->devices[index], items * shards->item_bytes, &shards->buffers[index]);

    return status
               ? status
               : pool_buffer_span(shards->buffers[index], 0, items, form, &shards->shards[index]);
}

pool_status bench_allocate_shards(struct bench_run *run, uint64_t item_bytes, const uint64_t *items,
    pool_form form, struct bench_shards **made, pool_span *span)
{
    struct bench_shards *shards = *made = bench_alloc(1, sizeof(*shards));
    pool_status status = POOL_OK;

    shards->item_bytes = item_bytes;
    shards->count = run->together->device_count;
    *span = (pool_span){.data = shards->shards, .form = form, .space = POOL_MEMORY_SHARDED};
    for (uint32_t i = 0; i < shards->count && !status; i++) {
        status = allocate_shard(run, shards, i, items[i], form);
        span->count += items[i];
    }
    return status;
}

pool_status bench_shard(struct bench_run *run, const void *from, uint64_t item_bytes, uint64_t unit,
    uint64_t count, pool_form form, bool is_cyclic, struct bench_shards **made, pool_span *span)
{
    struct bench_shards *shards = *made = bench_alloc(1, sizeof(*shards));
    const uint64_t units = count / unit;
    pool_status status = POOL_OK;

    shards->item_bytes = item_bytes;
    shards->is_cyclic = is_cyclic;
    shards->count = run->together->device_count;
    for (uint32_t i = 0; i < shards->count && !status; i++) {
        uint64_t first = units * i / shards->count * unit;
        uint64_t items = units * (i + 1) / shards->count * unit - first;

        status = allocate_shard(run, shards, i, items, form);
        if (!status && from)
            status = upload_shard(shards, i, (uint8_t *)(uintptr_t)from, first);
    }
    *span = (pool_span){
        .data = shards->shards, .count = count, .form = form, .space = POOL_MEMORY_SHARDED};
    return status;
}

pool_status bench_copy_root(const struct bench_shards *levels, void *root)
{
    return pool_copy_to_host(root, levels->buffers[0],
        (levels->shards[0].count - 1) * levels->item_bytes, levels->item_bytes, NULL);
}

pool_status bench_gather(struct bench_shards *shards, void *to)
{
    pool_status status = POOL_OK;
    uint64_t first = 0;

    for (uint32_t i = 0; i < shards->count && !status; i++) {
        status = download_shard(shards, i, to, first);
        first += shards->shards[i].count;
    }
    return status;
}

void bench_shards_destroy(struct bench_shards **shards)
{
    for (uint32_t i = 0; *shards && i < (*shards)->count; i++)
        pool_buffer_destroy(&(*shards)->buffers[i]);
    free(*shards);
    *shards = NULL;
}
