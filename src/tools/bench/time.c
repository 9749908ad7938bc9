/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock, statistics of runs, and reports as JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

double bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Measures one run: seconds per call between the events, if any, and until the calls returned. */
static pool_status time_run(const struct bench_timer *timer, pool_status (*call)(void *argument),
    void *argument, pool_event *const events[2], double *seconds, double *host_seconds)
{
    uint64_t calls = timer->calls ? timer->calls : 1;
    double milliseconds = 0;
    double begin;
    pool_status status = timer->stream ? pool_event_record(events[0], timer->stream) : POOL_OK;

    begin = bench_now();
    for (uint64_t i = 0; i < calls && !status; i++)
        status = call(argument);
    *seconds = *host_seconds = (bench_now() - begin) / (double)calls;
    if (status || !timer->stream)
        return status;
    status = pool_event_record(events[1], timer->stream);
    if (!status)
        status = pool_event_synchronize(events[1]);
    if (!status)
        status = pool_event_elapsed(events[0], events[1], &milliseconds);
    *seconds = milliseconds * 1e-3 / (double)calls;
    return status;
}

pool_status bench_time(const struct bench_timer *timer, pool_status (*call)(void *argument),
    void *argument, struct bench_timing *timing)
{
    uint64_t runs = timer->warm_ups + timer->repeat;
    double *seconds = bench_alloc(2 * timer->repeat, sizeof(*seconds));
    double *host_seconds = seconds + timer->repeat;
    pool_event *events[2] = {NULL, NULL};
    pool_status status = POOL_OK;

    for (int i = 0; i < 2 && !status && timer->stream; i++)
        status = pool_event_create(timer->device, POOL_EVENT_TIMING, &events[i]);
    for (uint64_t i = 0; i < runs && !status; i++) {
        uint64_t slot = i < timer->warm_ups ? 0 : i - timer->warm_ups;

        if (timer->on_run)
            timer->on_run(timer->user, i, runs);
        status = time_run(timer, call, argument, events, &seconds[slot], &host_seconds[slot]);
    }
    timing->median = bench_median(seconds, timer->repeat);
    timing->min = seconds[0];
    timing->max = seconds[timer->repeat - 1];
    timing->host_median = bench_median(host_seconds, timer->repeat);
    pool_event_destroy(&events[0]);
    pool_event_destroy(&events[1]);
    free(seconds);
    return status;
}

cJSON *bench_report(pool_device *device, cJSON *rows)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    cJSON *report = cJSON_CreateObject();

    if (!pool_device_get_info(device, &info))
        cJSON_AddStringToObject(report, "device", info.name);
    cJSON_AddStringToObject(report, "version", pool_version_text());
    cJSON_AddItemToObject(report, "rows", rows);
    return report;
}

void *bench_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

    if (!memory) {
        fprintf(stderr, "out of memory (%zu times %zu bytes)\n", count, bytes);
        exit(1);
    }
    return memory;
}

void bench_fill_pattern(uint8_t *bytes, uint64_t count)
{
    uint64_t state = 0x9e3779b97f4a7c15u;

    for (uint64_t i = 0; i < count; i += sizeof(state)) {
        uint64_t word;

        state = state * 6364136223846793005u + 1442695040888963407u;
        word = state ^ state >> 32;
        memcpy(bytes + i, &word, count - i < sizeof(word) ? count - i : sizeof(word));
    }
}
