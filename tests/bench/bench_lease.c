/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures pool_acquire and pool_release, in nanoseconds per pair:
 *   one thread: slots only, bytes, all devices at once, with a stream
 *   64 threads with a slot for each, so that nobody waits; the targets are 300 ns and 3 µs
 *   64 threads for 4 slots of each device, so that most wait for the release of others
 * Runs on real devices or, with --mock or without a driver, on the mock.
 *
 * usage: bench_lease [--devices STRING] [--mock] [--json FILE]
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "bench_support.h"

#define RUNS 9 /* of which the median is reported */
#define CALLS 100000
#define THREADS 64
#define THREAD_CALLS 5000
#define WAITING_CALLS 500

static cJSON *rows;

static void add_row(const char *name, double nanoseconds, double target)
{
    cJSON *row = cJSON_CreateObject();

    printf("%-44s %10.1f ns", name, nanoseconds);
    if (target > 0)
        printf("   target %6.0f ns: %s", target, nanoseconds <= target ? "met" : "MISSED");
    printf("\n");
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddNumberToObject(row, "nanoseconds", nanoseconds);
    if (target > 0)
        cJSON_AddNumberToObject(row, "target", target);
    cJSON_AddItemToArray(rows, row);
}

/* --- one thread ----------------------------------------------------------------------------------
 */

struct pairs {
    device_pool *pool;
    pool_request request;
    bool with_stream;
    long calls;
};

static pool_status call_pairs(void *user)
{
    const struct pairs *pairs = user;
    pool_lease *lease = NULL;
    pool_stream *stream;
    pool_status status = POOL_OK;

    for (long i = 0; i < pairs->calls && !status; i++) {
        status = pool_acquire(pairs->pool, &pairs->request, &lease);
        if (!status && pairs->with_stream)
            status = pool_lease_stream(lease, 0, &stream);
        if (!status)
            status = pool_release(&lease);
    }
    return status;
}

static double time_pairs(struct pairs pairs)
{
    pairs.request.struct_size = sizeof(pairs.request);
    pairs.calls = CALLS;
    return time_on_host(call_pairs, &pairs) * 1e9 / CALLS;
}

static void measure_one_thread(device_pool *pool)
{
    uint32_t devices = (uint32_t)pool_usable_count(pool);

    add_row("one thread, one slot", time_pairs((struct pairs){.pool = pool}), 300);
    add_row("one thread, one slot and 1 GiB",
        time_pairs((struct pairs){.pool = pool, .request.bytes = 1 << 30}), 300);
    add_row("one thread, one slot, with the stream",
        time_pairs((struct pairs){.pool = pool, .with_stream = true}), 0);
    if (devices > 1)
        add_row("one thread, one slot of each device",
            time_pairs((struct pairs){.pool = pool, .request.devices = devices}), 0);
}

/* --- many threads --------------------------------------------------------------------------------
 */

struct team {
    struct pairs pairs;
    pthread_barrier_t start;
};

static void *run_member(void *user)
{
    struct team *team = user;

    pthread_barrier_wait(&team->start);
    MUST(call_pairs(&team->pairs));
    return NULL;
}

/* Nanoseconds per pair of all threads together. */
static double time_team(device_pool *pool, long calls)
{
    struct team team = {.pairs = {.pool = pool, .calls = calls}};
    pthread_t threads[THREADS];
    double times[RUNS];

    team.pairs.request = (pool_request){
        .struct_size = sizeof(pool_request), .bytes = 1 << 20, .timeout_ns = POOL_WAIT_FOREVER};
    for (int run = 0; run < RUNS; run++) {
        double start;

        pthread_barrier_init(&team.start, NULL, THREADS + 1);
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, run_member, &team))
                exit(1);
        start = bench_now();
        pthread_barrier_wait(&team.start);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        times[run] = (bench_now() - start) * 1e9 / (double)(calls * THREADS);
        pthread_barrier_destroy(&team.start);
    }
    return bench_median(times, RUNS);
}

/* --- the program ---------------------------------------------------------------------------------
 */

static pool_device *open_pool(
    const char *devices, pool_mock *mock, uint32_t slots, device_pool **pool)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices, .slots = slots};
    pool_device *device = NULL;

    if (mock)
        params.driver = pool_mock_table(mock);
    MUST(pool_create(pool, &params));
    MUST(pool_device_at(*pool, 0, &device));
    return device;
}

static bool has_driver(const char *devices)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices, .lazy = 1};
    device_pool *pool = NULL;

    return !pool_create(&pool, &params) && !pool_destroy(&pool);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"devices", required_argument, NULL, 'd'},
        {"mock", no_argument, NULL, 'm'}, {"json", required_argument, NULL, 'j'},
        {NULL, 0, NULL, 0}};
    pool_mock_params mock_params = {.struct_size = sizeof(mock_params), .devices = 8, .no_log = 1};
    const char *devices = NULL, *path = NULL;
    device_pool *pool = NULL, *narrow = NULL;
    pool_mock *mock = NULL;
    pool_device *device;
    bool on_mock = false;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == '?')
            return 2;
        devices = option == 'd' ? optarg : devices;
        path = option == 'j' ? optarg : path;
        on_mock |= option == 'm';
    }
    if (on_mock || (!devices && !has_driver(devices)))
        MUST(pool_mock_create(&mock, &mock_params));
    rows = cJSON_CreateArray();
    device = open_pool(devices, mock, THREADS, &pool);
    measure_one_thread(pool);
    add_row("64 threads, 1 MiB, a slot for each", time_team(pool, THREAD_CALLS), 3000);
    (void)open_pool(devices, mock, 4, &narrow);
    add_row("64 threads, 1 MiB, 4 slots of each device", time_team(narrow, WAITING_CALLS), 0);
    write_report(path, device, rows);
    MUST(pool_destroy(&narrow));
    MUST(pool_destroy(&pool));
    pool_mock_destroy(&mock);
    return 0;
}
