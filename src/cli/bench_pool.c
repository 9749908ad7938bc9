/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured calls of the pool itself, on one host thread: as many in a row as the size says. What
 * they leave behind is looked at afterwards: turns evenly given, the device bound, memory free.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct calling {
    pool_status (*call)(struct bench_work *work);
    pool_status (*check)(struct bench_work *work, int *is_right);
    uint64_t *turns; /* a device: how often it was chosen */
    uint64_t devices;
    uint64_t used_bytes; /* before */
    pool_event *event;
};

static pool_status choose(
    struct bench_work *work, pool_status (*function)(device_pool *, pool_device **))
{
    struct calling *calling = work->state;

    for (uint64_t i = 0; i < work->size; i++) {
        pool_device *device;
        pool_status status = function(work->pool, &device);

        if (status)
            return status;
        calling->turns[pool_device_index(device)]++;
    }
    return POOL_OK;
}

static pool_status call_next(struct bench_work *work)
{
    return choose(work, pool_next_device);
}

static pool_status call_best(struct bench_work *work)
{
    return choose(work, pool_best_device);
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

/* Round robin: no device has had more than one turn more than another. */
static pool_status check_even(struct bench_work *work, int *is_right)
{
    struct calling *calling = work->state;
    uint64_t most = 0;
    uint64_t least = UINT64_MAX;

    for (uint64_t i = 0; i < calling->devices; i++) {
        most = calling->turns[i] > most ? calling->turns[i] : most;
        least = calling->turns[i] < least ? calling->turns[i] : least;
    }
    *is_right = most - least <= 1 || calling->devices != pool_usable_count(work->pool);
    return POOL_OK;
}

/* Every call has chosen some device. */
static pool_status check_chosen(struct bench_work *work, int *is_right)
{
    struct calling *calling = work->state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < calling->devices; i++)
        sum += calling->turns[i];
    *is_right = sum % work->size == 0 && sum > 0;
    return POOL_OK;
}

/* Nothing is bound any more, and a binding is what it says. */
static pool_status check_bound(struct bench_work *work, int *is_right)
{
    pool_device *before = NULL;
    pool_device *bound = NULL;
    pool_status is_bound = pool_bound_device(work->pool, &before);
    pool_status status = pool_bind(work->device);

    if (status)
        return status;
    status = pool_bound_device(work->pool, &bound);
    *is_right = is_bound == POOL_ERR_NOT_BOUND && bound == work->device;
    pool_unbind(work->device);
    return status;
}

static pool_status check_freed(struct bench_work *work, int *is_right)
{
    struct calling *calling = work->state;
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_memory_get_info(work->device, &info);

    *is_right = info.used_bytes == calling->used_bytes;
    return status;
}

static pool_status check_idle(struct bench_work *work, int *is_right)
{
    *is_right = pool_stream_query(work->stream) == POOL_OK;
    return POOL_OK;
}

static const struct {
    const char *name;
    pool_status (*call)(struct bench_work *work);
    pool_status (*check)(struct bench_work *work, int *is_right);
} calls[] = {
    {"next", call_next, check_even},
    {"best", call_best, check_chosen},
    {"bind", call_bind, check_bound},
    {"alloc", call_alloc, check_freed},
    {"event", call_event, check_idle},
};

static int find_call(const char *name)
{
    for (int i = 0; i < (int)(sizeof(calls) / sizeof(calls[0])); i++)
        if (strcmp(calls[i].name, name) == 0)
            return i;
    return -1;
}

static int knows_call(const char *subject)
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
    calling->turns = cli_alloc(calling->devices, sizeof(*calling->turns));
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

static pool_status check_calling(struct bench_work *work, int *is_right)
{
    struct calling *calling = work->state;

    return calling->check(work, is_right);
}

static void close_calling(struct bench_work *work)
{
    struct calling *calling = work->state;

    if (!calling)
        return;
    pool_event_destroy(&calling->event);
    free(calling->turns);
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
    .knows = knows_call,
    .open = open_calling,
    .run = run_calling,
    .check = check_calling,
    .close = close_calling,
};
