/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the programs that measure: calls that end the program when they fail (with 77 when this
 * host lacks what they need), the device, and measurements of operations by src/tools/bench.
 */
#ifndef TESTS_BENCH_BENCH_SUPPORT_H
#define TESTS_BENCH_BENCH_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include <devicepool.h>

#include "tools/bench/bench.h"

#define MUST(call) must((call), #call)

enum { WARM_UPS = 2, ROUNDS = 9 };

static inline void must(pool_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, pool_status_name(status), pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* Opens a pool and returns its first device. */
static inline pool_device *open_device(const char *devices, device_pool **pool)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    pool_device *device = NULL;

    MUST(pool_create(pool, &params));
    MUST(pool_device_at(*pool, 0, &device));
    return device;
}

/* Median seconds of a call by the host's clock. */
static inline double time_on_host(pool_status (*call)(void *argument), void *argument)
{
    const struct bench_timer timer = {.warm_ups = WARM_UPS, .repeat = ROUNDS};
    struct bench_timing timing;

    MUST(bench_time(&timer, call, argument, &timing));
    return timing.median;
}

/* Measures an operation. A failure or a wrong result ends the program. */
static inline void measure_operation(struct bench_run *run)
{
    pool_status status;

    run->warm_ups = WARM_UPS;
    run->repeat = run->repeat ? run->repeat : ROUNDS;
    status = bench_measure(run);
    if (!status && run->is_correct)
        return;
    fprintf(stderr, "%s %s of %llu: %s\n", run->operation->name, run->spec.subject,
        (unsigned long long)run->spec.size, status ? run->failure : "wrong result");
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* Writes a value to a file and deletes it; false: an error was printed. */
static inline bool write_value(const char *path, cJSON *value)
{
    char *json = cJSON_Print(value);
    FILE *file = fopen(path, "we");
    bool is_written = file && json && fprintf(file, "%s\n", json) > 0;

    if (file && fclose(file))
        is_written = false;
    if (!is_written)
        perror(path);
    cJSON_free(json);
    cJSON_Delete(value);
    return is_written;
}

/* Writes the report of the rows to a file, if there is one, and deletes the rows. */
static inline void write_report(const char *path, pool_device *device, cJSON *rows)
{
    cJSON *report = bench_report(device, rows);

    if (!path)
        cJSON_Delete(report);
    else if (!write_value(path, report))
        exit(1);
}

#endif
