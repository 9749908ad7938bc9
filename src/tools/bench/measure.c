/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurement of one operation: first use, runs, check of the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static void begin_stage(struct bench_run *run, const char *stage)
{
    if (run->on_stage)
        run->on_stage(run, stage);
}

static void begin_timed_run(void *user, uint64_t index, uint64_t runs)
{
    struct bench_run *run = user;
    char stage[64];

    if (run->operation->prepare && !run->prepared)
        run->prepared = run->operation->prepare(run);
    snprintf(stage, sizeof(stage), "run %llu of %llu", (unsigned long long)index + 1,
        (unsigned long long)runs);
    begin_stage(run, stage);
}

pool_status bench_call(void *argument)
{
    struct bench_run *run = argument;

    return run->prepared ? run->prepared : run->operation->call(run);
}

/* The first use on every device. */
static pool_status warm_up_all(struct bench_run *run)
{
    pool_device *first = run->device;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < (run->together ? run->together->device_count : 1) && !status; i++) {
        if (run->together)
            run->device = run->together->devices[i];
        status = run->operation->warm_up(run);
    }
    run->device = first;
    return status;
}

static pool_status time_first_use(struct bench_run *run)
{
    double begin = bench_now();
    pool_status status;

    begin_stage(run, "first use");
    status = warm_up_all(run);
    run->first_use = bench_now() - begin;
    return status;
}

void *bench_keep(struct bench_run *run, size_t count, size_t bytes)
{
    uint32_t i = 0;

    while (run->memory[i])
        i++;
    return run->memory[i] = bench_alloc(count, bytes);
}

pool_status bench_allocate_workspace(struct bench_run *run, uint64_t bytes)
{
    pool_status status = bytes ? pool_buffer_alloc(run->device, bytes, &run->workspace) : POOL_OK;

    run->exec.workspace = run->workspace;
    return status;
}

static void free_memory(struct bench_run *run)
{
    for (uint32_t i = 0; i < BENCH_ARRAYS && run->arrays[i]; i++)
        bench_array_free(run->arrays[i]);
    pool_buffer_destroy(&run->workspace);
    for (uint32_t i = 0; i < BENCH_ARRAYS; i++)
        free(run->memory[i]);
    memset(run->arrays, 0, sizeof(run->arrays));
    memset(run->memory, 0, sizeof(run->memory));
}

pool_status bench_read(struct bench_run *run, uint8_t **bytes, uint64_t *count)
{
    struct bench_result result = {0};

    *bytes = NULL;
    *count = 0;
    if (!run->operation->result)
        return POOL_OK;
    run->operation->result(run, &result);
    *bytes = bench_alloc(1, result.bytes);
    *count = result.bytes;
    if (result.buffer)
        return pool_copy_to_host(*bytes, result.buffer, result.offset, result.bytes, NULL);
    memcpy(*bytes, result.data, result.bytes);
    return POOL_OK;
}

pool_status bench_create(struct bench_run *run)
{
    const struct bench_operation *operation = run->operation;
    pool_status status;

    run->spec.batch = run->spec.batch ? run->spec.batch : 1;
    begin_stage(run, "creating inputs");
    status = pool_stream_create(run->device, NULL, &run->stream);
    if (run->together)
        run->exec = *run->together;
    else
        run->exec = (pool_exec){.struct_size = sizeof(run->exec),
            .device = run->device,
            .stream = operation->is_blocking ? NULL : run->stream,
            .is_async = !operation->is_blocking};
    return status ? status : operation->create(run);
}

pool_status bench_begin(struct bench_run *run)
{
    const struct bench_operation *operation = run->operation;
    pool_status status = bench_create(run);

    if (!status && operation->warm_up)
        status = time_first_use(run);
    begin_stage(run, "copying inputs");
    if (!status && operation->upload)
        status = operation->upload(run);
    return status;
}

void bench_end(struct bench_run *run, pool_status status)
{
    if (status && !*run->failure) {
        run->driver_code = pool_last_error()->driver_code;
        snprintf(run->failure, sizeof(run->failure), "%s", pool_last_error()->message);
    }
    if (run->state && run->operation->destroy)
        run->operation->destroy(run);
    run->state = NULL;
    free_memory(run);
    pool_stream_destroy(&run->stream);
}

pool_status bench_measure(struct bench_run *run)
{
    const struct bench_operation *operation = run->operation;
    struct bench_timer timer = {.device = run->device,
        .warm_ups = run->warm_ups,
        .repeat = run->repeat,
        .on_run = begin_timed_run,
        .user = run};
    pool_status status = bench_begin(run);

    if (run->launches || !(operation->is_blocking || run->together || run->spec.waits))
        timer.stream = run->stream;
    if (!status && run->launches)
        status = bench_time_launches(&timer, run->pool, bench_call, run, run->launches);
    else if (!status)
        status = bench_time(&timer, bench_call, run, &run->timing);
    begin_stage(run, "checking");
    if (!status)
        status = operation->check(run, &run->is_correct);
    if (!status && run->examine)
        status = run->examine(run);
    bench_end(run, status);
    return status;
}
