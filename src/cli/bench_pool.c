/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures calls of the pool on one host thread; the size is the number of calls per run.
 * Afterwards checks fairness, the bound device and free memory.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct calling {
    pool_status (*call)(struct bench_work *work);
    pool_status (*check)(struct bench_work *work, int *is_correct);
    uint64_t *selections; /* per device */
    uint64_t devices;
    uint64_t used_bytes; /* before */
    pool_event *event;
};

static pool_status select_devices(
    struct bench_work *work, pool_status (*function)(device_pool *, pool_device **))
{
    struct calling *calling = work->state;

    for (uint64_t i = 0; i < work->size; i++) {
        pool_device *device;
        pool_status status = function(work->pool, &device);

        if (status)
            return status;
        calling->selections[pool_device_index(device)]++;
    }
    return POOL_OK;
}

static pool_status call_next(struct bench_work *work)
{
    return select_devices(work, pool_next_device);
}

static pool_status call_best(struct bench_work *work)
{
    return select_devices(work, pool_best_device);
}

static pool_status call_bind(struct bench_work *work)
{
    for (uint64_t i = 0; i < work->size; i++) {
        pool_status status = pool_bind(work->device);

        if (!status)
            status = pool_unbind(work->device);
        if (status)
            return status;
    }
    return POOL_OK;
}

static pool_status call_alloc(struct bench_work *work)
{
    for (uint64_t i = 0; i < work->size; i++) {
        pool_buffer *buffer = NULL;
        pool_status status = pool_buffer_alloc(work->device, 1 << 20, &buffer);

        if (!status)
            status = pool_buffer_destroy(&buffer);
        if (status)
            return status;
    }
    return POOL_OK;
}

static pool_status call_event(struct bench_work *work)
{
    struct calling *calling = work->state;

    for (uint64_t i = 0; i < work->size; i++) {
        pool_status status = pool_event_record(calling->event, work->stream);

        if (!status)
            status = pool_event_synchronize(calling->event);
        if (status)
            return status;
    }
    return POOL_OK;
}

/* Round robin: the numbers of selections differ by at most one. */
static pool_status check_even(struct bench_work *work, int *is_correct)
{
    struct calling *calling = work->state;
    uint64_t max = 0;
    uint64_t min = UINT64_MAX;

    for (uint64_t i = 0; i < calling->devices; i++) {
        max = calling->selections[i] > max ? calling->selections[i] : max;
        min = calling->selections[i] < min ? calling->selections[i] : min;
    }
    *is_correct = max - min <= 1 || calling->devices != pool_usable_count(work->pool);
    return POOL_OK;
}

/* Every call has selected a device. */
static pool_status check_selected(struct bench_work *work, int *is_correct)
{
    struct calling *calling = work->state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < calling->devices; i++)
        sum += calling->selections[i];
    *is_correct = sum % work->size == 0 && sum > 0;
    return POOL_OK;
}

/* No device is bound any more, and binding sets the bound device. */
static pool_status check_bound(struct bench_work *work, int *is_correct)
{
    pool_device *before = NULL;
    pool_device *bound = NULL;
    pool_status is_bound = pool_bound_device(work->pool, &before);
    pool_status status = pool_bind(work->device);

    if (status)
        return status;
    status = pool_bound_device(work->pool, &bound);
    *is_correct = is_bound == POOL_ERR_NOT_BOUND && bound == work->device;
    pool_unbind(work->device);
    return status;
}

static pool_status check_freed(struct bench_work *work, int *is_correct)
{
    struct calling *calling = work->state;
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_memory_get_info(work->device, &info);

    *is_correct = info.used_bytes == calling->used_bytes;
    return status;
}

static pool_status check_idle(struct bench_work *work, int *is_correct)
{
    *is_correct = pool_stream_query(work->stream) == POOL_OK;
    return POOL_OK;
}

static const struct {
    const char *name;
    pool_status (*call)(struct bench_work *work);
    pool_status (*check)(struct bench_work *work, int *is_correct);
} calls[] = {
    {"next", call_next, check_even},
    {"best", call_best, check_selected},
    {"bind", call_bind, check_bound},
    {"alloc", call_alloc, check_freed},
    {"event", call_event, check_idle},
};

static int find_call(const char *name)
{
    for (int i = 0; i < (int)(CLI_COUNT_OF(calls)); i++)
        if (strcmp(calls[i].name, name) == 0)
            return i;
    return -1;
}

static int has_call(const char *subject)
{
    return find_call(subject) >= 0;
}

static pool_status open_calling(struct bench_work *work)
{
    struct calling *calling = cli_alloc(1, sizeof(*calling));
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status;

    work->state = calling;
    work->units = (double)work->size;
    calling->devices = pool_device_count(work->pool);
    calling->selections = cli_alloc(calling->devices, sizeof(*calling->selections));
    calling->call = calls[find_call(work->subject)].call;
    calling->check = calls[find_call(work->subject)].check;
    status = pool_event_create(work->device, 0, &calling->event);
    if (!status)
        status = pool_memory_get_info(work->device, &info);
    calling->used_bytes = info.used_bytes;
    return status;
}

static pool_status run_calling(struct bench_work *work)
{
    struct calling *calling = work->state;

    return calling->call(work);
}

static pool_status check_calling(struct bench_work *work, int *is_correct)
{
    struct calling *calling = work->state;

    return calling->check(work, is_correct);
}

static void close_calling(struct bench_work *work)
{
    struct calling *calling = work->state;

    if (!calling)
        return;
    pool_event_destroy(&calling->event);
    free(calling->selections);
    free(calling);
}

const struct bench_operation bench_pool = {
    .name = "pool",
    .takes = "",
    .unit = "calls",
    .option = "what",
    .default_subjects = "next,best,bind,alloc,event",
    .default_sizes = "2^12",
    .is_host = 1,
    .has_subject = has_call,
    .open = open_calling,
    .run = run_calling,
    .check = check_calling,
    .close = close_calling,
};
