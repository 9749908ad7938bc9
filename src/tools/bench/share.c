/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short jobs that arrive at random times beside a long one in a loop, all under leases.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "share.h"

/* A thread sleeps until this long before an arrival, as the end of a sleep is late by some 60 us,
 * and watches the clock for the rest. */
#define SPIN_SECONDS 1e-4
/* From the start of the threads to the first possible arrival. */
#define LEAD_SECONDS 0.02
enum { MIN_CALLS = 3 };

/* ---- one job --------------------------------------------------------------------------------- */

/* Under a lease; `end` is the time at which the result was in host memory. */
static pool_status run_leased(
    struct share_task *task, int32_t priority, uint64_t bytes, double *end, uint64_t *peak)
{
    struct bench_run *run = &task->run;
    const struct bench_result *result = &task->result;
    const uint64_t count =
        task->window < result->bytes - task->offset ? task->window : result->bytes - task->offset;
    pool_exec *exec = &run->exec;
    const pool_request request = {.struct_size = sizeof(request),
        .bytes = bytes,
        .device = run->device,
        .priority = priority,
        .timeout_ns = POOL_WAIT_FOREVER,
        .label = run->operation->name};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_lease *lease = NULL;
    pool_stream *stream = NULL;
    pool_status status = pool_acquire(run->pool, &request, &lease);

    if (!status)
        status = pool_lease_stream(lease, 0, &stream);
    exec->lease = lease;
    exec->stream = stream;
    if (!status)
        status = run->operation->call(run);
    if (!status && result->buffer)
        status = pool_copy_to_host(pool_pinned_data(task->pinned), result->buffer,
            result->offset + task->offset, count, stream);
    if (!status)
        status = pool_stream_synchronize(stream);
    *end = bench_now();
    if (!status && peak) {
        status = pool_lease_get_usage(lease, 0, &usage);
        *peak = usage.peak_bytes;
    }
    if (status)
        snprintf(run->failure, sizeof(run->failure), "%s", pool_last_error()->message);
    exec->lease = NULL;
    exec->stream = run->stream;
    pool_release(&lease);
    return status;
}

/* Whether what the last call left in host memory is right. The next call's window follows. */
static bool is_expected(struct share_task *task)
{
    const struct bench_result *result = &task->result;
    const uint64_t first = result->buffer ? task->offset : 0;
    const uint64_t rest = result->bytes - first;
    const uint64_t count = result->buffer && task->window < rest ? task->window : rest;
    const void *found = result->buffer ? pool_pinned_data(task->pinned) : result->data;

    task->offset = result->buffer && count < rest ? first + count : 0;
    return memcmp(found, task->expected + first, count) == 0;
}

/* A result of which only a window was read after each call: all of the last one. */
static pool_status compare_all(struct share_task *task, bool *is_equal)
{
    uint8_t *bytes = NULL;
    uint64_t count;
    pool_status status = POOL_OK;

    *is_equal = true;
    if (!task->result.buffer || task->window == task->result.bytes)
        return POOL_OK;
    status = bench_read(&task->run, &bytes, &count);
    *is_equal = status || memcmp(bytes, task->expected, count) == 0;
    free(bytes);
    return status;
}

static pool_status compute_expected(struct share_task *task)
{
    struct bench_run *run = &task->run;
    uint64_t count;
    pool_status status = bench_call(run);

    if (!status)
        status = pool_stream_synchronize(run->stream);
    if (!status)
        status = run->operation->check(run, &run->is_correct);
    if (!status)
        status = bench_read(run, &task->expected, &count);
    if (status)
        return status;
    run->operation->result(run, &task->result);
    if (!task->window || task->window > task->result.bytes)
        task->window = task->result.bytes;
    return task->result.buffer ? pool_pinned_create(run->device, task->window, 0, &task->pinned)
                               : POOL_OK;
}

pool_status share_open(struct share_task *task)
{
    struct bench_run *run = &task->run;
    pool_memory_info memory = {.struct_size = sizeof(memory)};
    double end;
    pool_status status = bench_begin(run);

    if (!status)
        status = compute_expected(task);
    if (!status)
        status = pool_memory_get_info(run->device, &memory);
    if (!status) {
        run->exec.workspace = NULL;
        status = run_leased(task, 0, memory.available_bytes / 2, &end, &task->lease_bytes);
    }
    if (run->lease_bytes)
        task->lease_bytes = run->lease_bytes;
    if (!status)
        run->is_correct = run->is_correct && is_expected(task);
    else if (!*run->failure)
        snprintf(run->failure, sizeof(run->failure), "%s", pool_last_error()->message);
    return task->status = status;
}

void share_close(struct share_task *task)
{
    pool_pinned_destroy(&task->pinned);
    free(task->expected);
    if (task->run.operation)
        bench_end(&task->run, task->status);
    *task = (struct share_task){0};
}

/* ---- a measurement --------------------------------------------------------------------------- */

struct threads {
    struct share_cell *cell;
    double begin;
    double *arrivals; /* seconds from there */
    double *latencies;
    atomic_size_t next_thread;
    atomic_uint_fast64_t next_arrival, done, wrong;
    atomic_int status;
};

/* The gaps of a Poisson process are exponentially distributed; splitmix64 is the source. */
static void schedule(const struct share_cell *cell, double *arrivals)
{
    uint64_t state = cell->seed;
    double time = LEAD_SECONDS;

    for (uint64_t i = 0; i < cell->arrivals; i++) {
        uint64_t word = state += UINT64_C(0x9e3779b97f4a7c15);

        word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
        word ^= word >> 31;
        time -= log1p(-(double)(word >> 11) * 0x1p-53) / cell->rate;
        arrivals[i] = time;
    }
}

static void wait_until(double time)
{
    const double wake = time - SPIN_SECONDS;
    const struct timespec at = {
        .tv_sec = (time_t)wake, .tv_nsec = (long)((wake - floor(wake)) * 1e9)};

    while (bench_now() < wake)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    while (bench_now() < time)
        continue;
}

static void serve(struct threads *threads, struct share_task *task)
{
    const struct share_cell *cell = threads->cell;
    uint64_t i;

    while (!atomic_load(&threads->status) &&
           (i = atomic_fetch_add(&threads->next_arrival, 1)) < cell->arrivals) {
        const double arrival = threads->begin + threads->arrivals[i];
        double end;

        wait_until(arrival);
        task->status = run_leased(task, cell->priority, task->lease_bytes, &end, NULL);
        threads->latencies[i] = 1e3 * (end - arrival);
        if (task->status)
            atomic_store(&threads->status, task->status);
        else
            atomic_fetch_add(&threads->wrong, !is_expected(task));
        atomic_fetch_add(&threads->done, 1);
        bench_report_progress();
    }
}

static bool is_over(struct threads *threads)
{
    const struct share_cell *cell = threads->cell;

    if (atomic_load(&threads->status))
        return true;
    if (cell->clients)
        return atomic_load(&threads->done) >= cell->arrivals;
    return cell->neighbour_calls >= MIN_CALLS && bench_now() >= threads->begin + cell->seconds;
}

static void repeat(struct threads *threads)
{
    struct share_cell *cell = threads->cell;
    struct share_task *task = cell->neighbour;
    double end = threads->begin;
    bool is_equal = true;

    while (!is_over(threads) && !task->status) {
        task->status = run_leased(task, 0, task->lease_bytes, &end, NULL);
        cell->neighbour_calls++;
        cell->neighbour_wrong += !task->status && !is_expected(task);
        bench_report_progress();
    }
    if (cell->neighbour_calls)
        cell->neighbour_ms = 1e3 * (end - threads->begin) / (double)cell->neighbour_calls;
    if (!task->status)
        task->status = compare_all(task, &is_equal);
    cell->neighbour_wrong += !is_equal;
    if (task->status)
        atomic_store(&threads->status, task->status);
}

static void *run_thread(void *argument)
{
    struct threads *threads = argument;
    const struct share_cell *cell = threads->cell;
    const size_t index = atomic_fetch_add(&threads->next_thread, 1);

    if (index < cell->client_count)
        serve(threads, &cell->clients[index]);
    else
        repeat(threads);
    return NULL;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The least of the sorted values that so many thousandths of them do not exceed. */
static double quantile(const double *sorted, uint64_t count, uint64_t thousandths)
{
    return sorted[(count * thousandths + 999) / 1000 - 1];
}

pool_status share_measure(struct share_cell *cell)
{
    const uint64_t count = cell->clients ? cell->arrivals : 0;
    struct threads threads = {.cell = cell,
        .arrivals = bench_alloc(cell->arrivals, sizeof(double)),
        .latencies = bench_alloc(cell->arrivals, sizeof(double))};

    schedule(cell, threads.arrivals);
    cell->client_count = cell->clients ? cell->client_count : 0;
    cell->neighbour_calls = cell->neighbour_wrong = 0;
    threads.begin = bench_now();
    bench_run_threads(cell->client_count + (cell->neighbour != NULL), 0, run_thread, &threads);
    if (count && !atomic_load(&threads.status)) {
        qsort(threads.latencies, count, sizeof(double), compare_doubles);
        cell->p50 = quantile(threads.latencies, count, 500);
        cell->p99 = quantile(threads.latencies, count, 990);
        cell->p999 = quantile(threads.latencies, count, 999);
        cell->max = threads.latencies[count - 1];
    }
    cell->wrong = atomic_load(&threads.wrong);
    free(threads.arrivals);
    free(threads.latencies);
    return (pool_status)atomic_load(&threads.status);
}
