/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures functions of the pool on one host thread; the size is the number of calls per run.
 * Afterwards checks fairness, the bound device and free memory.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* A function of the pool; `call` calls it as often as the size says. */
struct function {
    const char *name;
    pool_status (*call)(struct bench_run *run);
    pool_status (*check)(struct bench_run *run, bool *is_correct);
};

struct calls_state {
    const struct function *function;
    uint64_t *selections; /* per device */
    uint64_t devices;
    uint64_t used_bytes; /* before */
    pool_event *event;
};

static pool_status select_devices(
    struct bench_run *run, pool_status (*function)(device_pool *, pool_device **))
{
    struct calls_state *state = run->state;

    for (uint64_t i = 0; i < run->spec.size; i++) {
        pool_device *device;
        pool_status status = function(run->pool, &device);

        if (status)
            return status;
        state->selections[pool_device_index(device)]++;
    }
    return POOL_OK;
}

static pool_status call_next(struct bench_run *run)
{
    return select_devices(run, pool_next_device);
}

static pool_status call_best(struct bench_run *run)
{
    return select_devices(run, pool_best_device);
}

static pool_status call_bind(struct bench_run *run)
{
    for (uint64_t i = 0; i < run->spec.size; i++) {
        pool_status status = pool_bind(run->device);

        if (!status)
            status = pool_unbind(run->device);
        if (status)
            return status;
    }
    return POOL_OK;
}

static pool_status call_alloc(struct bench_run *run)
{
    for (uint64_t i = 0; i < run->spec.size; i++) {
        pool_buffer *buffer = NULL;
        pool_status status = pool_buffer_alloc(run->device, 1 << 20, &buffer);

        if (!status)
            status = pool_buffer_destroy(&buffer);
        if (status)
            return status;
    }
    return POOL_OK;
}

static pool_status call_event(struct bench_run *run)
{
    struct calls_state *state = run->state;

    for (uint64_t i = 0; i < run->spec.size; i++) {
        pool_status status = pool_event_record(state->event, run->stream);

        if (!status)
            status = pool_event_synchronize(state->event);
        if (status)
            return status;
    }
    return POOL_OK;
}

/* Round robin: the numbers of selections differ by at most one. */
static pool_status check_even(struct bench_run *run, bool *is_correct)
{
    struct calls_state *state = run->state;
    uint64_t max = 0;
    uint64_t min = UINT64_MAX;

    for (uint64_t i = 0; i < state->devices; i++) {
        max = state->selections[i] > max ? state->selections[i] : max;
        min = state->selections[i] < min ? state->selections[i] : min;
    }
    *is_correct = max - min <= 1 || state->devices != pool_usable_count(run->pool);
    return POOL_OK;
}

/* Every call has selected a device. */
static pool_status check_selected(struct bench_run *run, bool *is_correct)
{
    struct calls_state *state = run->state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < state->devices; i++)
        sum += state->selections[i];
    *is_correct = sum % run->spec.size == 0 && sum > 0;
    return POOL_OK;
}

/* No device is bound any more, and binding sets the bound device. */
static pool_status check_bound(struct bench_run *run, bool *is_correct)
{
    pool_device *before = NULL;
    pool_device *bound = NULL;
    pool_status is_bound = pool_bound_device(run->pool, &before);
    pool_status status = pool_bind(run->device);

    if (status)
        return status;
    status = pool_bound_device(run->pool, &bound);
    *is_correct = is_bound == POOL_ERR_NOT_BOUND && bound == run->device;
    pool_unbind(run->device);
    return status;
}

static pool_status check_freed(struct bench_run *run, bool *is_correct)
{
    struct calls_state *state = run->state;
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_memory_get_info(run->device, &info);

    *is_correct = info.used_bytes == state->used_bytes;
    return status;
}

static pool_status check_idle(struct bench_run *run, bool *is_correct)
{
    *is_correct = pool_stream_query(run->stream) == POOL_OK;
    return POOL_OK;
}

static const struct function functions[] = {
    {"next", call_next, check_even},
    {"best", call_best, check_selected},
    {"bind", call_bind, check_bound},
    {"alloc", call_alloc, check_freed},
    {"event", call_event, check_idle},
};

static const struct function *find_function(const char *name)
{
    for (size_t i = 0; i < BENCH_COUNT_OF(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

static bool has_function(const char *subject)
{
    return find_function(subject) != NULL;
}

static pool_status create_calls(struct bench_run *run)
{
    struct calls_state *state = bench_alloc(1, sizeof(*state));
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status;

    run->state = state;
    run->units = (double)run->spec.size;
    state->function = find_function(run->spec.subject);
    state->devices = pool_device_count(run->pool);
    state->selections = bench_alloc(state->devices, sizeof(*state->selections));
    status = pool_event_create(run->device, 0, &state->event);
    if (!status)
        status = pool_memory_get_info(run->device, &info);
    state->used_bytes = info.used_bytes;
    return status;
}

static pool_status call_function(struct bench_run *run)
{
    const struct calls_state *state = run->state;

    return state->function->call(run);
}

static pool_status check_calls(struct bench_run *run, bool *is_correct)
{
    const struct calls_state *state = run->state;

    return state->function->check(run, is_correct);
}

static void destroy_calls(struct bench_run *run)
{
    struct calls_state *state = run->state;

    if (!state)
        return;
    pool_event_destroy(&state->event);
    free(state->selections);
    free(state);
}

const struct bench_operation bench_pool = {
    .name = "pool",
    .options = "",
    .unit = "calls",
    .option = "what",
    .default_subjects = "next,best,bind,alloc,event",
    .default_sizes = "2^12",
    .is_blocking = true,
    .has_subject = has_function,
    .create = create_calls,
    .call = call_function,
    .check = check_calls,
    .destroy = destroy_calls,
};
