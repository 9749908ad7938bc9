/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a candidate on a device beside the standard numbers: two pools have the same device, and
 * their calls alternate, so that a change of the chip's clock meets both.
 */
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Short calls are timed several at a time. */
enum { WARM_UPS = 2, SHORT_SIZE = 1 << 18, SHORT_CALLS = 8 };

pool_status tune_assign(pool_tuning *numbers, const struct tune_candidate *candidate)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < candidate->count && !status; i++)
        status = pool_tuning_set(numbers, candidate->set[i].name, candidate->set[i].value);
    return status;
}

/* A pool with these numbers, and a case that is ready to be called on it. */
static pool_status open_case(struct tune_device *device, const struct tune_case *kind,
    const pool_tuning *numbers, device_pool **pool, struct bench_run *run, struct tune_exec *exec)
{
    pool_params params = device->params;
    pool_status status;

    params.tuning = numbers;
    *run = (struct bench_run){.operation = kind->operation, .spec = kind->spec};
    status = pool_create(pool, &params);
    if (!status)
        status = pool_device_at(*pool, device->index, &run->device);
    if (status)
        return status;
    run->pool = *pool;
    /* Only MSMs take scalars from the host by themselves; of others a job over one device does. */
    if (kind->spec.from_host && kind->operation != &bench_msm) {
        exec->device = run->device;
        exec->exec = (pool_exec){
            .struct_size = sizeof(exec->exec), .devices = &exec->device, .device_count = 1};
        run->together = &exec->exec;
    }
    status = bench_begin(run);
    for (int i = 0; i < WARM_UPS && !status; i++)
        status = bench_call(run);
    return status ? status : pool_stream_synchronize(run->stream);
}

static void close_case(struct bench_run *run, device_pool **pool, pool_status status)
{
    if (run->operation && run->pool)
        bench_end(run, status);
    run->operation = NULL;
    pool_destroy(pool);
}

void tune_device_close(struct tune_device *device)
{
    if (device->case_group)
        close_case(&device->run, &device->pool, POOL_OK);
    device->case_group = NULL;
}

static enum tune_result fail(struct tune_device *device, pool_status status, const char *message)
{
    /* A chip need not have the memory of the largest cases, nor a host a compiler for kernels that
     * are not prebuilt. */
    if (status == POOL_ERR_OUT_OF_DEVICE_MEMORY || status == POOL_ERR_NO_COMPILER)
        return TUNE_SKIPPED;
    device->status = status;
    snprintf(device->failure, sizeof(device->failure), "%s", message);
    return TUNE_FAILED;
}

/* The standard case stays open while candidates are compared with it. */
static enum tune_result open_standard(
    struct tune_device *device, const struct tune_group *group, size_t index)
{
    pool_status status;

    if (device->case_group == group && device->case_index == index)
        return TUNE_MEASURED;
    tune_device_close(device);
    status = open_case(
        device, &group->cases[index], device->numbers, &device->pool, &device->run, &device->exec);
    if (status) {
        enum tune_result result = fail(device, status, pool_last_error()->message);

        close_case(&device->run, &device->pool, status);
        return result;
    }
    device->case_group = group;
    device->case_index = index;
    return TUNE_MEASURED;
}

static pool_status time_once(struct bench_run *run, double *seconds)
{
    const struct bench_timer timer = {.device = run->device,
        .stream = run->operation->is_blocking || run->together ? NULL : run->stream,
        .repeat = 1,
        .calls = run->spec.size <= SHORT_SIZE ? SHORT_CALLS : 1};
    struct bench_timing timing;
    pool_status status = bench_time(&timer, bench_call, run, &timing);

    *seconds = status ? 0 : timing.median;
    return status;
}

static bool is_time_over(struct tune_device *device)
{
    const double now = device->now ? device->now(device->now_user) : bench_now();

    device->is_over = device->is_over || now >= device->end;
    return device->is_over;
}

/* Which of the two comes first alternates too. */
static pool_status time_both(
    struct tune_device *device, struct bench_run *candidate, struct tune_samples *samples)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < device->repeat && !status; i++) {
        struct bench_run *runs[2] = {&device->run, candidate};
        double *seconds[2] = {&samples->standard[i], &samples->candidate[i]};
        const size_t first = i % 2;

        status = time_once(runs[first], seconds[first]);
        if (!status)
            status = time_once(runs[!first], seconds[!first]);
    }
    samples->count = (size_t)device->repeat;
    return status;
}

/* Both results are compared with an independent answer, and with each other where that is weaker
 * than a comparison of every byte. */
static pool_status compare_results(
    struct bench_run *standard, struct bench_run *candidate, bool *is_equal)
{
    uint8_t *bytes[2] = {NULL, NULL};
    uint64_t counts[2] = {0, 0};
    bool is_right[2] = {false, false};
    pool_status status = standard->operation->check(standard, &is_right[0]);

    if (!status)
        status = candidate->operation->check(candidate, &is_right[1]);
    *is_equal = is_right[0] && is_right[1];
    if (!status)
        status = bench_read(standard, &bytes[0], &counts[0]);
    if (!status)
        status = bench_read(candidate, &bytes[1], &counts[1]);
    if (!status && bytes[0])
        *is_equal = *is_equal && counts[0] == counts[1] &&
                    memcmp(bytes[0], bytes[1], (size_t)counts[0]) == 0;
    free(bytes[0]);
    free(bytes[1]);
    return status;
}

enum tune_result tune_measure_on_device(void *user, const struct tune_group *group,
    size_t candidate, size_t index_of_case, struct tune_samples *samples)
{
    struct tune_device *device = user;
    struct bench_run run = {0};
    struct tune_exec exec;
    pool_tuning *numbers = NULL;
    device_pool *pool = NULL;
    enum tune_result result;
    pool_status status;

    if (is_time_over(device))
        return TUNE_STOPPED;
    if (device->on_stage)
        device->on_stage(device->user, group, candidate, index_of_case);
    result = open_standard(device, group, index_of_case);
    if (result != TUNE_MEASURED)
        return result;
    /* The pool of the standard case has the standard numbers. */
    status = pool_tuning_create(device->run.device, &numbers);
    if (!status)
        status = tune_assign(numbers, &group->candidates[candidate]);
    if (!status)
        status = open_case(device, &group->cases[index_of_case], numbers, &pool, &run, &exec);
    if (!status)
        status = time_both(device, &run, samples);
    if (!status)
        status = compare_results(&device->run, &run, &samples->is_equal);
    if (status)
        result = fail(device, status, pool_last_error()->message);
    close_case(&run, &pool, status);
    pool_tuning_destroy(&numbers);
    return result;
}
