/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernels a call launches, and how long each launch takes: events around every launch, which
 * the library records and whose sums its metrics have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const cJSON *samples_of(const cJSON *metrics, const char *name)
{
    const cJSON *family;

    cJSON_ArrayForEach(family, metrics)
    {
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(family, "name");

        if (cJSON_IsString(text) && strcmp(text->valuestring, name) == 0)
            return cJSON_GetObjectItemCaseSensitive(family, "samples");
    }
    return NULL;
}

static double value_of(const cJSON *sample)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(sample, "value");

    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

/* The kernel of a sample, added to the list where it is new. NULL: the list is full. */
static struct bench_kernel_launches *kernel_of(struct bench_launches *launches, const cJSON *sample)
{
    const cJSON *label = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(sample, "labels"), "kernel");
    const char *name = cJSON_IsString(label) ? label->valuestring : "";

    for (size_t i = 0; i < launches->kernel_count; i++)
        if (strcmp(launches->kernels[i].name, name) == 0)
            return &launches->kernels[i];
    if (launches->kernel_count == BENCH_MAX_KERNELS)
        return NULL;
    snprintf(launches->kernels[launches->kernel_count].name,
        sizeof(launches->kernels[launches->kernel_count].name), "%s", name);
    return &launches->kernels[launches->kernel_count++];
}

/* All launches so far, on all devices of the pool, and the longest since timing began. */
static pool_status read_launches(device_pool *pool, struct bench_launches *launches)
{
    char *text = NULL;
    pool_status status = pool_metrics(pool, POOL_METRICS_JSON, &text);
    cJSON *report = status ? NULL : cJSON_Parse(text);
    const cJSON *metrics = cJSON_GetObjectItemCaseSensitive(report, "metrics");
    const cJSON *sample;
    struct bench_kernel_launches *kernel;

    memset(launches, 0, sizeof(*launches));
    cJSON_ArrayForEach(sample, samples_of(metrics, "devicepool_launches_total"))
    {
        launches->count += (uint64_t)value_of(sample);
    }
    cJSON_ArrayForEach(sample, samples_of(metrics, "devicepool_timed_launches_total"))
    {
        if ((kernel = kernel_of(launches, sample)))
            kernel->count += (uint64_t)value_of(sample);
    }
    cJSON_ArrayForEach(sample, samples_of(metrics, "devicepool_longest_launch_seconds"))
    {
        if ((kernel = kernel_of(launches, sample)) && value_of(sample) > kernel->longest)
            kernel->longest = value_of(sample);
    }
    cJSON_Delete(report);
    pool_text_free(&text);
    return status;
}

/* Leaves what was launched between two readings. */
static void subtract(struct bench_launches *after, const struct bench_launches *before)
{
    size_t kept = 0;

    after->count -= before->count;
    after->untimed = after->count;
    for (size_t i = 0; i < after->kernel_count; i++) {
        struct bench_kernel_launches kernel = after->kernels[i];

        for (size_t j = 0; j < before->kernel_count; j++)
            if (strcmp(before->kernels[j].name, kernel.name) == 0)
                kernel.count -= before->kernels[j].count;
        after->untimed -= kernel.count;
        if (kernel.count)
            after->kernels[kept++] = kernel;
    }
    after->kernel_count = kept;
}

static int by_duration(const void *left, const void *right)
{
    const struct bench_kernel_launches *a = left, *b = right;

    return (a->longest < b->longest) - (a->longest > b->longest);
}

/* The last run's launches, with the medians of all runs' longest ones. */
static void summarize(const struct bench_launches *runs, uint64_t count, struct bench_launches *sum)
{
    double *longest = bench_alloc(count, sizeof(*longest));

    *sum = runs[count - 1];
    for (size_t i = 0; i < sum->kernel_count; i++) {
        size_t found = 0;

        for (uint64_t run = 0; run < count; run++)
            for (size_t j = 0; j < runs[run].kernel_count; j++)
                if (strcmp(runs[run].kernels[j].name, sum->kernels[i].name) == 0)
                    longest[found++] = runs[run].kernels[j].longest;
        sum->kernels[i].longest = bench_median(longest, found);
    }
    free(longest);
    qsort(sum->kernels, sum->kernel_count, sizeof(sum->kernels[0]), by_duration);
}

static pool_status time_launches(const struct bench_timer *timer, device_pool *pool,
    pool_status (*call)(void *argument), void *argument, struct bench_launches *launches)
{
    struct bench_launches before;
    pool_status status = pool_set_phase_timing(pool, 2);

    if (!status)
        status = read_launches(pool, &before);
    if (!status)
        status = call(argument);
    if (!status)
        status = pool_stream_synchronize(timer->stream);
    if (!status)
        status = read_launches(pool, launches);
    if (!status)
        subtract(launches, &before);
    return status;
}

pool_status bench_time_launches(const struct bench_timer *timer, device_pool *pool,
    pool_status (*call)(void *argument), void *argument, struct bench_launches *launches)
{
    const uint64_t total = timer->warm_ups + timer->repeat;
    struct bench_launches *runs = bench_alloc(timer->repeat, sizeof(*runs));
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < total && !status; i++) {
        const uint64_t slot = i < timer->warm_ups ? 0 : i - timer->warm_ups;

        if (timer->on_run)
            timer->on_run(timer->user, i, total);
        status = time_launches(timer, pool, call, argument, &runs[slot]);
    }
    if (!status)
        summarize(runs, timer->repeat, launches);
    (void)pool_set_phase_timing(pool, 0);
    free(runs);
    return status;
}
