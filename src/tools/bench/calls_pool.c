/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the pool: selection, binding, leases, allocation, events, launches. Afterwards fairness,
 * the bound device, free memory and the number of leases are checked.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

/* ---- selection ------------------------------------------------------------------------------ */

/* The loops have no indirect call, so that only the function is measured. */
static pool_status call_next(struct bench_run *run)
{
    const uint64_t calls = ((const struct calls_state *)run->state)->calls;
    pool_device *device = NULL;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < calls && !status; i++)
        status = pool_next_device(run->pool, &device);
    return status;
}

static pool_status call_best(struct bench_run *run)
{
    const uint64_t calls = ((const struct calls_state *)run->state)->calls;
    pool_device *device = NULL;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < calls && !status; i++)
        status = pool_best_device(run->pool, &device);
    return status;
}

/* Round robin: the numbers of selections differ by at most one. */
static pool_status check_even(struct bench_run *run, bool *is_correct)
{
    const uint64_t devices = pool_device_count(run->pool), rounds = 100;
    uint64_t *selections = bench_alloc(devices, sizeof(*selections));
    uint64_t max = 0, min = UINT64_MAX;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < rounds * devices && !status; i++) {
        pool_device *device;

        status = pool_next_device(run->pool, &device);
        if (!status)
            selections[pool_device_index(device)]++;
    }
    for (uint64_t i = 0; i < devices; i++) {
        max = selections[i] > max ? selections[i] : max;
        min = selections[i] < min ? selections[i] : min;
    }
    *is_correct = max - min <= 1 || devices != pool_usable_count(run->pool);
    free(selections);
    return status;
}

/* The selected device can be used. */
static pool_status check_best(struct bench_run *run, bool *is_correct)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device = NULL;
    pool_status status = pool_best_device(run->pool, &device);

    if (!status)
        status = pool_device_get_info(device, &info);
    *is_correct = info.state == POOL_DEVICE_READY;
    return status;
}

/* ---- binding -------------------------------------------------------------------------------- */

static pool_status call_bind(struct bench_run *run)
{
    const uint64_t calls = ((const struct calls_state *)run->state)->calls;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < calls && !status; i++) {
        status = pool_bind(run->device);
        if (!status)
            status = pool_unbind(run->device);
    }
    return status;
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

/* ---- leases ---------------------------------------------------------------------------------- */

static pool_status request_slot(struct bench_run *run)
{
    struct calls_state *state = run->state;

    state->request =
        (pool_request){.struct_size = sizeof(state->request), .timeout_ns = POOL_WAIT_FOREVER};
    return POOL_OK;
}

static pool_status request_bytes(struct bench_run *run)
{
    struct calls_state *state = run->state;

    request_slot(run);
    state->request.bytes = UINT64_C(1) << 30;
    return POOL_OK;
}

/* A quarter of a device's slots at a time, so that most of the threads wait. */
static pool_status request_quarter(struct bench_run *run)
{
    struct calls_state *state = run->state;

    request_slot(run);
    state->request.bytes = UINT64_C(1) << 20;
    state->request.slots = BENCH_SLOTS / 4;
    return POOL_OK;
}

static pool_status call_lease(struct bench_run *run)
{
    const struct calls_state *state = run->state;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < state->calls && !status; i++) {
        pool_lease *lease = NULL;

        status = pool_acquire(run->pool, &state->request, &lease);
        if (!status)
            status = pool_release(&lease);
    }
    return status;
}

static pool_status call_lease_stream(struct bench_run *run)
{
    const struct calls_state *state = run->state;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < state->calls && !status; i++) {
        pool_lease *lease = NULL;
        pool_stream *stream = NULL;

        status = pool_acquire(run->pool, &state->request, &lease);
        if (!status)
            status = pool_lease_stream(lease, 0, &stream);
        if (!status)
            status = pool_release(&lease);
    }
    return status;
}

/* Every call was granted a lease, and none is held. */
static pool_status check_leases(struct bench_run *run, bool *is_correct)
{
    const struct calls_state *state = run->state;
    pool_lease_counts counts = {.struct_size = sizeof(counts)};
    pool_status status = pool_get_lease_counts(run->pool, &counts);

    *is_correct = counts.leases == 0 && counts.waiting == 0 &&
                  counts.granted - state->granted == state->runs * state->calls * state->threads;
    return status;
}

/* ---- memory and events ------------------------------------------------------------------------
 */

static pool_status call_alloc(struct bench_run *run)
{
    const struct calls_state *state = run->state;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < state->calls && !status; i++) {
        pool_buffer *buffer = NULL;

        status = pool_buffer_alloc(run->device, 1 << 20, &buffer);
        if (!status)
            status = pool_buffer_destroy(&buffer);
    }
    return status;
}

static pool_status check_freed(struct bench_run *run, bool *is_correct)
{
    const struct calls_state *state = run->state;
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_memory_get_info(run->device, &info);

    *is_correct = info.used_bytes == state->used_bytes;
    return status;
}

static pool_status create_event(struct bench_run *run)
{
    struct calls_state *state = run->state;

    return pool_event_create(run->device, 0, &state->event);
}

static pool_status call_event(struct bench_run *run)
{
    const struct calls_state *state = run->state;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < state->calls && !status; i++) {
        status = pool_event_record(state->event, run->stream);
        if (!status)
            status = pool_event_synchronize(state->event);
    }
    return status;
}

/* After launches: the stream is idle, and its device still works. */
static pool_status check_idle(struct bench_run *run, bool *is_correct)
{
    pool_status status = pool_stream_synchronize(run->stream);

    *is_correct = !status && pool_stream_query(run->stream) == POOL_OK;
    return status;
}

const struct calls_function calls_of_pool[] = {
    {"next", 0, NULL, call_next, check_even, NULL},
    {"next-16", 16, NULL, call_next, check_even, NULL},
    {"best", 0, NULL, call_best, check_best, NULL},
    {"bind", 0, NULL, call_bind, check_bound, NULL},
    {"lease", 0, request_slot, call_lease, check_leases, NULL},
    {"lease-1g", 0, request_bytes, call_lease, check_leases, NULL},
    {"lease-stream", 0, request_slot, call_lease_stream, check_leases, NULL},
    {"lease-64", 64, request_slot, call_lease, check_leases, NULL},
    {"lease-64-wait", 64, request_quarter, call_lease, check_leases, NULL},
    {"alloc", 0, NULL, call_alloc, check_freed, NULL},
    {"event", 0, create_event, call_event, check_idle, NULL},
    {0},
};
