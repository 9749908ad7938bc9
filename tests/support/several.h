/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of jobs over several devices: a pool of as many as there are, the first k of them in a
 * pool_exec, and memory that is sharded over them.
 */
#ifndef TESTS_SUPPORT_SEVERAL_H
#define TESTS_SUPPORT_SEVERAL_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "support/assert.h"
#include "support/random.h"

enum { SEVERAL_MAX = 8 };

static const char *several_text = "sim:8"; /* the device string; a main may set another */
static device_pool *several_pool;
static pool_device *several[SEVERAL_MAX];
static uint32_t several_count;

static inline int several_open(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = several_text};

    (void)state;
    if (pool_create(&several_pool, &params))
        return 1;
    several_count = (uint32_t)pool_device_count(several_pool);
    if (several_count > SEVERAL_MAX)
        several_count = SEVERAL_MAX;
    for (uint32_t i = 0; i < several_count; i++)
        if (pool_device_at(several_pool, i, &several[i]))
            return 1;
    return 0;
}

static inline int several_close(void **state)
{
    (void)state;
    return pool_destroy(&several_pool);
}

/* Whether there are two usable devices; for main, which returns 77 otherwise. */
static inline bool several_exist(void)
{
    bool exist = several_open(NULL) == 0 && several_count >= 2;

    if (!exist)
        printf("skipped: two devices are needed\n");
    if (several_pool)
        pool_destroy(&several_pool);
    return exist;
}

/* A progress function that checks its reports: on the calling thread, growing, at most the total.
 */
struct several_observer {
    pthread_t thread;
    uint64_t done, total;
    pool_cancel *cancel; /* requested at the first report; NULL: never */
};

static inline void several_observe(void *user, uint64_t done, uint64_t total)
{
    struct several_observer *observer = user;

    assert_true(pthread_equal(pthread_self(), observer->thread));
    assert_true(done > observer->done && done <= total);
    observer->done = done;
    observer->total = total;
    pool_cancel_request(observer->cancel);
}

static inline pool_exec several_exec(uint32_t count)
{
    return (pool_exec){.struct_size = sizeof(pool_exec), .devices = several, .device_count = count};
}

/* The numbers of devices that tests run with: 1, 2, 3, 4, 8. */
static inline uint32_t several_next(uint32_t count)
{
    uint32_t next = count < 4 ? count + 1 : 2 * count;

    return next <= several_count ? next : UINT32_MAX;
}
#define several_each(count) (uint32_t count = 1; count != UINT32_MAX; count = several_next(count))

/* Memory on the first `count` devices. */
struct several_shards {
    uint32_t count;
    uint64_t item_bytes;
    pool_buffer *buffer[SEVERAL_MAX];
    pool_span shard[SEVERAL_MAX];
    pool_span span;
};

/* first[0] to first[count]: a random division of `units` units of `unit` items, or equal parts. */
static inline void several_divide(
    uint32_t count, uint64_t units, uint64_t unit, bool is_random, uint64_t *first)
{
    for (uint32_t i = 0; i <= count; i++)
        first[i] = units * i / count;
    for (uint32_t i = 1; i < count && is_random; i++)
        first[i] = first[i - 1] + next_random() % (units - first[i - 1] + 1);
    for (uint32_t i = 0; i <= count; i++)
        first[i] *= unit;
}

static inline struct several_shards *several_allocate(
    uint32_t count, uint64_t item_bytes, pool_form form, const uint64_t *first)
{
    struct several_shards *shards = calloc(1, sizeof(*shards));

    assert_non_null(shards);
    shards->count = count;
    shards->item_bytes = item_bytes;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t items = first[i + 1] - first[i];

        assert_ok(pool_buffer_alloc(several[i], items * item_bytes + 16, &shards->buffer[i]));
        assert_ok(pool_buffer_span(shards->buffer[i], 0, items, form, &shards->shard[i]));
    }
    shards->span = (pool_span){
        .data = shards->shard, .count = first[count], .form = form, .space = POOL_MEMORY_SHARDED};
    return shards;
}

static inline void several_free(struct several_shards *shards)
{
    for (uint32_t i = 0; i < shards->count; i++)
        assert_ok(pool_buffer_destroy(&shards->buffer[i]));
    free(shards);
}

/* Shard i has consecutive items, or, with `is_cyclic`, items i, i + count, i + 2 count … */
static inline void several_upload(
    const struct several_shards *shards, const uint8_t *items, bool is_cyclic)
{
    const uint64_t bytes = shards->item_bytes;
    uint64_t at = 0;

    for (uint32_t i = 0; i < shards->count; i++) {
        uint64_t count = shards->shard[i].count;
        uint8_t *part = malloc(count * bytes + 1);

        assert_non_null(part);
        for (uint64_t k = 0; k < count; k++)
            memcpy(part + k * bytes, items + (is_cyclic ? i + k * shards->count : at + k) * bytes,
                bytes);
        assert_ok(pool_copy_to_device(shards->buffer[i], 0, part, count * bytes, NULL));
        free(part);
        at += count;
    }
}

static inline void several_download(
    const struct several_shards *shards, uint8_t *items, bool is_cyclic)
{
    const uint64_t bytes = shards->item_bytes;
    uint64_t at = 0;

    for (uint32_t i = 0; i < shards->count; i++) {
        uint64_t count = shards->shard[i].count;
        uint8_t *part = malloc(count * bytes + 1);

        assert_non_null(part);
        assert_ok(pool_copy_to_host(part, shards->buffer[i], 0, count * bytes, NULL));
        for (uint64_t k = 0; k < count; k++)
            memcpy(items + (is_cyclic ? i + k * shards->count : at + k) * bytes, part + k * bytes,
                bytes);
        free(part);
        at += count;
    }
}

/* ---- columns ----------------------------------------------------------------------------------
 */

/* Columns that are distributed over devices, in the layout POOL_NTT_ROWS or POOL_NTT_COLUMNS. */
struct several_columns {
    uint64_t count;
    uint64_t items; /* of a column */
    uint64_t item_bytes;
    bool is_interleaved;
};

/* They in host memory, or in shards with whole columns. */
struct several_operand {
    uint8_t *data;
    struct several_shards *shards; /* NULL: host memory */
    pool_span span;
};

/* A shard has its own columns interleaved; `packs` reads them from `all`, otherwise writes them.
 * Columns first[i] to first[i + 1] are those of shard i. */
static inline void several_copy_columns(const struct several_columns *columns, uint8_t *all,
    uint8_t *shards, const uint64_t *first, uint32_t count, bool packs)
{
    const uint64_t bytes = columns->item_bytes;

    for (uint32_t d = 0; d < count; d++) {
        uint64_t width = first[d + 1] - first[d];

        for (uint64_t i = 0; i < columns->items; i++)
            for (uint64_t t = 0; t < width; t++) {
                uint8_t *one = all + (i * columns->count + first[d] + t) * bytes;
                uint8_t *other = shards + (first[d] * columns->items + i * width + t) * bytes;

                memcpy(packs ? other : one, packs ? one : other, bytes);
            }
    }
}

/* `data`: the columns, NULL: zeros. */
static inline struct several_operand several_operand_of(const struct several_columns *columns,
    const uint8_t *data, bool is_sharded, uint32_t count, const uint64_t *first)
{
    const uint64_t all = columns->count * columns->items;
    struct several_operand operand = {.data = calloc(all, columns->item_bytes)};
    uint64_t items[SEVERAL_MAX + 1];

    assert_non_null(operand.data);
    if (data)
        memcpy(operand.data, data, all * columns->item_bytes);
    operand.span = (pool_span){.data = operand.data, .count = all};
    if (!is_sharded)
        return operand;
    for (uint32_t i = 0; i <= count; i++)
        items[i] = first[i] * columns->items;
    operand.shards = several_allocate(count, columns->item_bytes, POOL_FORM_STANDARD, items);
    operand.span = operand.shards->span;
    if (data && columns->is_interleaved)
        several_copy_columns(columns, (uint8_t *)(uintptr_t)data, operand.data, first, count, true);
    several_upload(operand.shards, operand.data, false);
    return operand;
}

/* The columns as they are now, in one piece; the caller frees them. */
static inline uint8_t *several_read_operand(
    const struct several_columns *columns, struct several_operand *operand, const uint64_t *first)
{
    const uint64_t bytes = columns->count * columns->items * columns->item_bytes;
    uint8_t *got = malloc(bytes);

    assert_non_null(got);
    if (operand->shards)
        several_download(operand->shards, operand->data, false);
    memcpy(got, operand->data, bytes);
    if (operand->shards && columns->is_interleaved)
        several_copy_columns(columns, got, operand->data, first, operand->shards->count, false);
    return got;
}

static inline void several_free_operand(struct several_operand *operand)
{
    if (operand->shards)
        several_free(operand->shards);
    free(operand->data);
}

/* ---- leases -----------------------------------------------------------------------------------
 */

/* A lease of all devices, for calls on the first `count` that need `bytes` of memory. */
static inline pool_lease *several_lease(uint32_t count, const uint64_t *bytes)
{
    pool_request request = {.struct_size = sizeof(request), .bytes = 1, .devices = several_count};
    pool_lease *lease = NULL;

    for (uint32_t i = 0; i < count; i++)
        request.bytes = bytes[i] > request.bytes ? bytes[i] : request.bytes;
    assert_ok(pool_acquire(several_pool, &request, &lease));
    return lease;
}

/* Releases it; each of the first `count` devices has used just that much memory at a time. */
static inline void several_release(pool_lease **lease, uint32_t count, const uint64_t *bytes)
{
    for (uint32_t i = 0; i < several_count; i++) {
        pool_lease_usage usage = {.struct_size = sizeof(usage)};
        pool_device *device;

        assert_ok(pool_lease_device(*lease, i, &device));
        assert_ok(pool_lease_get_usage(*lease, i, &usage));
        for (uint32_t k = 0; k < count; k++)
            if (several[k] == device)
                assert_int_equal(usage.peak_bytes, bytes[k]);
    }
    assert_ok(pool_release(lease));
}

/* ---- workspaces ------------------------------------------------------------------------------ */

/* Workspaces of forecast sizes, each followed by bytes that nothing may write. */
enum { SEVERAL_GUARD = 512 };
struct several_workspaces {
    uint32_t count;
    pool_buffer *whole[SEVERAL_MAX];
    pool_buffer *part[SEVERAL_MAX]; /* NULL: the device needs none */
    uint64_t used[SEVERAL_MAX];     /* of the device */
};

static inline pool_memory_info several_memory(uint32_t index)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(several[index], &info));
    return info;
}

/* `less` bytes less on device `index`. */
static inline void several_give(struct several_workspaces *workspaces, uint32_t count,
    const uint64_t *bytes, uint32_t index, uint64_t less, pool_exec *exec)
{
    *workspaces = (struct several_workspaces){.count = count};
    for (uint32_t i = 0; i < count; i++) {
        if (bytes[i]) {
            assert_ok(
                pool_buffer_alloc(several[i], bytes[i] + SEVERAL_GUARD, &workspaces->whole[i]));
            assert_ok(pool_buffer_fill32(
                workspaces->whole[i], 0, (bytes[i] + SEVERAL_GUARD) / 4, 0xa5a5a5a5, NULL));
            assert_ok(pool_buffer_slice(
                workspaces->whole[i], 0, bytes[i] - (i == index ? less : 0), &workspaces->part[i]));
        }
        workspaces->used[i] = several_memory(i).used_bytes;
        assert_ok(pool_memory_reset_high_water(several[i]));
    }
    exec->workspaces = workspaces->part;
    exec->workspace_count = count;
}

/* After a call, which has allocated nothing and written nothing behind the workspaces. */
static inline void several_take(
    struct several_workspaces *workspaces, const uint64_t *bytes, pool_exec *exec)
{
    for (uint32_t i = 0; i < workspaces->count; i++) {
        uint32_t guard[SEVERAL_GUARD / 4];

        assert_int_equal(several_memory(i).used_high_water_bytes, workspaces->used[i]);
        assert_int_equal(several_memory(i).used_bytes, workspaces->used[i]);
        if (workspaces->whole[i])
            assert_ok(
                pool_copy_to_host(guard, workspaces->whole[i], bytes[i], SEVERAL_GUARD, NULL));
        for (uint32_t k = 0; workspaces->whole[i] && k < SEVERAL_GUARD / 4; k++)
            assert_int_equal(guard[k], 0xa5a5a5a5);
        assert_ok(pool_buffer_destroy(&workspaces->part[i]));
        assert_ok(pool_buffer_destroy(&workspaces->whole[i]));
    }
    exec->workspaces = NULL;
    exec->workspace_count = 0;
}

/* `call`, an expression with `exec`, is refused where one of the workspaces has a byte less than
 * its forecast, and succeeds with the forecast's bytes. It must have succeeded before. */
#define SEVERAL_CHECK_WORKSPACES(count, bytes, exec, call)                                         \
    do {                                                                                           \
        struct several_workspaces given;                                                           \
        const uint32_t index = (uint32_t)(next_random() % (count));                                \
        if ((bytes)[index]) {                                                                      \
            several_give(&given, count, bytes, index, 1, exec);                                    \
            assert_status(call, POOL_ERR_INVALID_ARGUMENT);                                        \
            assert_says("`workspaces[");                                                           \
            several_take(&given, bytes, exec);                                                     \
        }                                                                                          \
        several_give(&given, count, bytes, 0, 0, exec);                                            \
        assert_ok(call);                                                                           \
        several_take(&given, bytes, exec);                                                         \
    } while (0)

#endif
