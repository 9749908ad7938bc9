/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures functions of the pool; the size is the number of calls per run, of all threads. Beside
 * them stand functions of the driver and of the processor that do the same without the pool.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { MAX_THREADS = 64 };

static const struct calls_function *find_function(const char *name)
{
    static const struct calls_function *const tables[] = {calls_of_pool, calls_of_driver};

    for (size_t t = 0; t < BENCH_COUNT_OF(tables); t++)
        for (const struct calls_function *function = tables[t]; function->name; function++)
            if (strcmp(function->name, name) == 0)
                return function;
    return NULL;
}

static bool has_function(const char *subject)
{
    return find_function(subject) != NULL;
}

static pool_status create_calls(struct bench_run *run)
{
    struct calls_state *state = bench_keep(run, 1, sizeof(*state));
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_lease_counts leases = {.struct_size = sizeof(leases)};
    pool_status status;

    run->state = state;
    state->function = find_function(run->spec.subject);
    state->threads = state->function->threads ? state->function->threads : 1;
    state->calls = run->spec.size / state->threads;
    state->calls = state->calls ? state->calls : 1;
    run->units = (double)(state->calls * state->threads);
    status = pool_memory_get_info(run->device, &info);
    if (!status)
        status = pool_get_lease_counts(run->pool, &leases);
    state->used_bytes = info.used_bytes;
    state->granted = leases.granted;
    return status || !state->function->create ? status : state->function->create(run);
}

static void *call_on_thread(void *argument)
{
    struct bench_run *run = argument;
    struct calls_state *state = run->state;

    if (state->function->call(run))
        atomic_fetch_add(&state->failures, 1);
    return NULL;
}

/* The threads take some 20 us each to start, of runs of a tenth of a second and more. */
static pool_status call_on_threads(struct bench_run *run)
{
    struct calls_state *state = run->state;
    pthread_t threads[MAX_THREADS];
    uint64_t started = 0;

    while (
        started < state->threads && !pthread_create(&threads[started], NULL, call_on_thread, run))
        started++;
    for (uint64_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (started == state->threads && !atomic_load(&state->failures))
        return POOL_OK;
    snprintf(run->failure, sizeof(run->failure), "%s on a thread",
        started < state->threads ? "no thread could be started" : "a call failed");
    return POOL_ERR_OUT_OF_HOST_MEMORY;
}

static pool_status call_function(struct bench_run *run)
{
    struct calls_state *state = run->state;

    state->runs++;
    return state->threads > 1 ? call_on_threads(run) : state->function->call(run);
}

/* Launches of the run before do not fill the queue. */
static pool_status prepare_calls(struct bench_run *run)
{
    return pool_stream_synchronize(run->stream);
}

static pool_status check_calls(struct bench_run *run, bool *is_correct)
{
    const struct calls_state *state = run->state;

    return state->function->check(run, is_correct);
}

static void destroy_calls(struct bench_run *run)
{
    struct calls_state *state = run->state;

    if (state->function->destroy)
        state->function->destroy(run);
    pool_event_destroy(&state->event);
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
    .prepare = prepare_calls,
    .call = call_function,
    .check = check_calls,
    .destroy = destroy_calls,
};
