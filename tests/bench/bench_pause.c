/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long short jobs take after a pause of their thread, on a device in the process or in a worker
 * process, whose thread sleeps after pool_params.worker_spin_ns: medians and 99th percentiles.
 *
 * usage: bench_pause DEVICES [PAUSE-US [SPIN-US [RUNS [LOG-SIZE]]]]
 *   bench_pause 0 7000; bench_pause workers:0 7000; bench_pause workers:0 7000 10000
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <devicepool.h>

#include "bench_support.h"

enum { WARM_RUNS = 20 };

static struct {
    device_pool *pool;
    pool_device *device;
    pool_module *module;
    pool_kernel *empty;
    pool_ntt_domain *domain;
    pool_buffer *values;
    pool_stream *stream;
    uint32_t log_size; /* of the transforms */
} with;

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry empty()\n{\n\tret;\n}\n";

static void launch(const pool_exec *exec)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};

    (void)exec;
    MUST(pool_launch(with.empty, &shape, NULL, with.stream));
    MUST(pool_stream_synchronize(with.stream));
}

static void transform(const pool_exec *exec)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = with.domain};
    CUdeviceptr address = 0;
    pool_span span = {.count = (uint64_t)1 << with.log_size, .space = POOL_MEMORY_DEVICE};

    MUST(pool_buffer_address(with.values, &address));
    span.data = (void *)(uintptr_t)address;
    MUST(pool_ntt(&params, exec, &span, &span));
}

static void transform_under_lease(const pool_exec *unused)
{
    const pool_request request = {.struct_size = sizeof(request), .bytes = 16 << 20};
    pool_exec exec = {.struct_size = sizeof(exec)};

    (void)unused;
    MUST(pool_acquire(with.pool, &request, &exec.lease));
    transform(&exec);
    MUST(pool_release(&exec.lease));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(const char *name, void (*job)(const pool_exec *exec), long pause_us, int runs)
{
    const pool_exec exec = {
        .struct_size = sizeof(exec), .device = with.device, .stream = with.stream};
    const struct timespec pause = {
        .tv_sec = pause_us / 1000000, .tv_nsec = pause_us % 1000000 * 1000};
    double *seconds = calloc((size_t)runs, sizeof(*seconds));

    if (!seconds)
        exit(1);
    for (int i = -WARM_RUNS; i < runs; i++) {
        double start;

        if (i >= 0 && pause_us)
            nanosleep(&pause, NULL);
        start = bench_now();
        job(&exec);
        if (i >= 0)
            seconds[i] = bench_now() - start;
    }
    qsort(seconds, (size_t)runs, sizeof(*seconds), compare);
    printf("%-28s p50 %8.1f us   p99 %8.1f us\n", name, seconds[runs / 2] * 1e6,
        seconds[runs * 99 / 100] * 1e6);
    free(seconds);
}

int main(int argc, char **argv)
{
    const char *devices = argc > 1 ? argv[1] : "0";
    const long pause_us = argc > 2 ? atol(argv[2]) : 7000, spin_us = argc > 3 ? atol(argv[3]) : 0;
    const int runs = argc > 4 ? atoi(argv[4]) : 300;
    const pool_params params = {.struct_size = sizeof(params),
        .devices = devices,
        .worker_spin_ns = (uint64_t)spin_us * 1000};
    with.log_size = argc > 5 ? (uint32_t)atoi(argv[5]) : 16;
    const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_field_by_name("bn254_fr"),
        .log_size = with.log_size};

    MUST(pool_create(&with.pool, &params));
    MUST(pool_device_at(with.pool, 0, &with.device));
    MUST(pool_module_load(with.device, ptx, sizeof(ptx), &with.module));
    MUST(pool_kernel_get(with.module, "empty", &with.empty));
    MUST(pool_ntt_domain_create(&domain, &with.domain));
    MUST(pool_buffer_zeroed(with.device, (uint64_t)32 << with.log_size, &with.values));
    MUST(pool_stream_create(with.device, NULL, &with.stream));
    printf("%s, pauses of %ld us, spin of %ld us, NTT 2^%u\n", devices, pause_us, spin_us,
        with.log_size);
    measure("launch, without a pause", launch, 0, runs);
    measure("launch", launch, pause_us, runs);
    measure("NTT, without a pause", transform, 0, runs);
    measure("NTT", transform, pause_us, runs);
    measure("NTT under a lease", transform_under_lease, pause_us, runs);
    MUST(pool_stream_destroy(&with.stream));
    MUST(pool_buffer_destroy(&with.values));
    MUST(pool_ntt_domain_destroy(&with.domain));
    MUST(pool_module_destroy(&with.module));
    MUST(pool_destroy(&with.pool));
    return 0;
}
