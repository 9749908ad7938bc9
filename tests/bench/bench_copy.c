/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed of copies and allocations: pinned, pageable through staging with 1, 2 and 4 threads,
 * pageable by the driver alone, device to device, peer; allocation and freeing by the library and
 * by the driver; with --sweep, short copies in chunks of several lengths. Every copied byte is
 * checked. Wall time of whole calls, two warm-ups, median of
 * nine. A table on stdout, the same as JSON with --json.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_support.h"
#include "pool/memory/memory.h"

#define MIB ((uint64_t)1 << 20)

static struct {
    pool_device *device;
    pool_device *peer; /* NULL: there is only one device */
    const pool_cuda_api *api;
    pool_buffer *buffer, *other, *peer_buffer;
    pool_pinned *pinned;
    unsigned char *data, *back; /* in pageable memory, with physical pages */
    uint64_t bytes;             /* of the current measurement */
    cJSON *rows;
    struct memory_staging_shape shape;
} bench;

static void must_driver(pool_cu_result code, const char *what)
{
    if (!code)
        return;
    fprintf(stderr, "%s: %s\n", what, driver_code_name(code));
    exit(1);
}
#define MUST_DRIVER(call) must_driver((call), #call)

/* Median milliseconds of a call. */
static double measure_ms(pool_status (*call)(void *unused))
{
    return time_on_host(call, NULL) * 1e3;
}

static void report_copy(const char *name, unsigned threads, double ms)
{
    double rate = (double)bench.bytes / ms / 1e6;
    cJSON *row = cJSON_CreateObject();

    printf("%-34s %7.0f MiB %2u threads %10.3f ms %8.2f GB/s\n", name,
        (double)bench.bytes / (double)MIB, threads, ms, rate);
    fflush(stdout);
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddNumberToObject(row, "bytes", (double)bench.bytes);
    cJSON_AddNumberToObject(row, "threads", threads);
    cJSON_AddNumberToObject(row, "ms", ms);
    cJSON_AddNumberToObject(row, "gb_per_s", rate);
    cJSON_AddItemToArray(bench.rows, row);
}

static void fail_wrong_bytes(const char *name)
{
    fprintf(
        stderr, "%s of %llu bytes: the bytes are wrong\n", name, (unsigned long long)bench.bytes);
    exit(1);
}

/* Compares a buffer with the data; the driver's own function copies it to the host. */
static void check_device(const char *name, pool_device *device, pool_buffer *buffer)
{
    CUdeviceptr address;

    MUST(pool_buffer_address(buffer, &address));
    MUST(pool_bind(device));
    memset(bench.back, 0, bench.bytes);
    MUST_DRIVER(bench.api->MemcpyDtoH(bench.back, address, bench.bytes));
    MUST(pool_unbind(device));
    if (memcmp(bench.back, bench.data, bench.bytes))
        fail_wrong_bytes(name);
}

/* ---- the calls ------------------------------------------------------------------------------ */

static pool_status upload_pinned(void *unused)
{
    (void)unused;
    return pool_copy_to_device(bench.buffer, 0, pool_pinned_data(bench.pinned), bench.bytes, NULL);
}

static pool_status download_pinned(void *unused)
{
    (void)unused;
    return pool_copy_to_host(pool_pinned_data(bench.pinned), bench.buffer, 0, bench.bytes, NULL);
}

static pool_status upload_pageable(void *unused)
{
    (void)unused;
    return pool_copy_to_device(bench.buffer, 0, bench.data, bench.bytes, NULL);
}

static pool_status download_pageable(void *unused)
{
    (void)unused;
    return pool_copy_to_host(bench.back, bench.buffer, 0, bench.bytes, NULL);
}

static pool_status upload_by_driver(void *unused)
{
    CUdeviceptr address;

    (void)unused;
    MUST(pool_buffer_address(bench.buffer, &address));
    MUST_DRIVER(bench.api->MemcpyHtoD(address, bench.data, bench.bytes));
    return POOL_OK;
}

static pool_status download_by_driver(void *unused)
{
    CUdeviceptr address;

    (void)unused;
    MUST(pool_buffer_address(bench.buffer, &address));
    MUST_DRIVER(bench.api->MemcpyDtoH(bench.back, address, bench.bytes));
    return POOL_OK;
}

static pool_status copy_on_device(void *unused)
{
    (void)unused;
    return pool_copy_device(bench.other, 0, bench.buffer, 0, bench.bytes, NULL);
}

static pool_status copy_to_peer(void *unused)
{
    (void)unused;
    return pool_copy_device(bench.peer_buffer, 0, bench.buffer, 0, bench.bytes, NULL);
}

static pool_status copy_from_peer(void *unused)
{
    (void)unused;
    return pool_copy_device(bench.buffer, 0, bench.peer_buffer, 0, bench.bytes, NULL);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Measures a copy to a buffer, and compares the buffer with the data. */
static void bench_upload(const char *name, unsigned threads, pool_status (*call)(void *unused),
    pool_device *device, pool_buffer *target)
{
    double ms;

    MUST(pool_buffer_fill8(target, 0, bench.bytes, 0x11, NULL));
    ms = measure_ms(call);
    check_device(name, device, target);
    report_copy(name, threads, ms);
}

/* Measures a copy to host memory, and compares that with the data. */
static void bench_download(
    const char *name, unsigned threads, pool_status (*call)(void *unused), void *target)
{
    double ms;

    memset(target, 0, bench.bytes);
    ms = measure_ms(call);
    if (memcmp(target, bench.data, bench.bytes))
        fail_wrong_bytes(name);
    report_copy(name, threads, ms);
}

static void bench_pinned_copies(void)
{
    void *pinned = pool_pinned_data(bench.pinned);

    memcpy(pinned, bench.data, bench.bytes);
    bench_upload("host to device, pinned", 0, upload_pinned, bench.device, bench.buffer);
    bench_download("device to host, pinned", 0, download_pinned, pinned);
}

static void bench_staged_copies(uint32_t threads)
{
    struct memory_staging_shape shape = bench.shape;

    shape.helpers = threads - 1;
    MUST(memory_staging_reshape(bench.device, &shape));
    bench_upload("host to device, staged", threads, upload_pageable, bench.device, bench.buffer);
    bench_download("device to host, staged", threads, download_pageable, bench.back);
}

static void bench_driver_copies(void)
{
    MUST(pool_bind(bench.device));
    bench_upload("host to device, driver alone", 1, upload_by_driver, bench.device, bench.buffer);
    bench_download("device to host, driver alone", 1, download_by_driver, bench.back);
    MUST(pool_unbind(bench.device));
}

static void bench_device_copies(void)
{
    bench_upload("device to device", 0, copy_on_device, bench.device, bench.other);
    if (!bench.peer)
        return;
    bench_upload("to the peer", 0, copy_to_peer, bench.peer, bench.peer_buffer);
    bench_upload("from the peer", 0, copy_from_peer, bench.device, bench.buffer);
}

static void bench_size(uint64_t bytes)
{
    bench.bytes = bytes;
    bench_pinned_copies();
    for (uint32_t threads = 1; threads <= 4; threads *= 2)
        bench_staged_copies(threads);
    bench_driver_copies();
    bench_device_copies();
}

/* ---- allocation ----------------------------------------------------------------------------- */

#define PAIRS 1000

static pool_stream *allocation_stream;

static pool_status allocate_on_any_stream(void *unused)
{
    for (int i = 0; i < PAIRS; i++) {
        pool_buffer *buffer = NULL;

        (void)unused;
        MUST(pool_buffer_alloc(bench.device, bench.bytes, &buffer));
        MUST(pool_buffer_destroy(&buffer));
    }
    return POOL_OK;
}

static pool_status allocate_on_one_stream(void *unused)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bench.bytes, .stream = allocation_stream};

    (void)unused;
    for (int i = 0; i < PAIRS; i++) {
        pool_buffer *buffer = NULL;

        MUST(pool_buffer_create(bench.device, &params, &buffer));
        MUST(pool_buffer_destroy_on(&buffer, allocation_stream));
    }
    MUST(pool_stream_synchronize(allocation_stream));
    return POOL_OK;
}

static pool_status allocate_by_driver(void *unused)
{
    for (int i = 0; i < PAIRS / 10; i++) {
        CUdeviceptr address;

        (void)unused;
        MUST_DRIVER(bench.api->MemAlloc(&address, bench.bytes));
        MUST_DRIVER(bench.api->MemFree(address));
    }
    return POOL_OK;
}

static void report_pair(const char *name, double us)
{
    cJSON *row = cJSON_CreateObject();

    printf("%-34s %7.3f MiB %26.3f us per pair\n", name, (double)bench.bytes / (double)MIB, us);
    fflush(stdout);
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddNumberToObject(row, "bytes", (double)bench.bytes);
    cJSON_AddNumberToObject(row, "us_a_pair", us);
    cJSON_AddItemToArray(bench.rows, row);
}

static void bench_allocation(void)
{
    static const uint64_t sizes[] = {4096, MIB, 256 * MIB};

    MUST(pool_stream_create(bench.device, NULL, &allocation_stream));
    MUST(pool_bind(bench.device));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        bench.bytes = sizes[i];
        report_pair("alloc + free, any stream", measure_ms(allocate_on_any_stream) * 1e3 / PAIRS);
        report_pair("alloc + free, one stream", measure_ms(allocate_on_one_stream) * 1e3 / PAIRS);
        report_pair("cuMemAlloc + cuMemFree", measure_ms(allocate_by_driver) * 1e3 / (PAIRS / 10));
    }
    MUST(pool_unbind(bench.device));
    MUST(pool_stream_destroy(&allocation_stream));
}

/* ---- sweep: 256 KiB to 16 MiB -----------------------------------------------------------------
 */

enum { SWEEP_ROUNDS = 41, SWEEP_SIZES = 7, SWEEP_WAYS = 5 };

struct variant {
    uint32_t helpers, min_kib; /* of a chunk */
};

static uint64_t sweep_offset; /* of the host memory */
static uint64_t sweep_span;   /* 0: always the same memory */

static pool_status sweep_call(int way, uint64_t bytes, CUdeviceptr address)
{
    if (sweep_span)
        sweep_offset = (sweep_offset + bytes) % sweep_span;
    if (way == 0)
        return pool_copy_to_device(bench.buffer, 0, bench.data + sweep_offset, bytes, NULL);
    if (way == 1)
        return pool_copy_to_host(bench.back + sweep_offset, bench.buffer, 0, bytes, NULL);
    if (way == 2)
        MUST_DRIVER(bench.api->MemcpyHtoD(address, bench.data + sweep_offset, bytes));
    else
        MUST_DRIVER(bench.api->MemcpyDtoH(bench.back + sweep_offset, address, bytes));
    return POOL_OK;
}

static double sweep_time(int way, uint64_t bytes)
{
    double times[SWEEP_ROUNDS];
    CUdeviceptr address;

    MUST(pool_buffer_address(bench.buffer, &address));
    if (way & 1)
        MUST_DRIVER(bench.api->MemcpyHtoD(address, bench.data, bytes));
    else
        MUST(pool_buffer_fill8(bench.buffer, 0, bytes, 0x11, NULL));
    memset(bench.back, 0, bench.bytes);
    for (int i = -3; i < SWEEP_ROUNDS; i++) {
        double start = bench_now();

        MUST(sweep_call(way, bytes, address));
        times[i < 0 ? 0 : i] = bench_now() - start;
    }
    if (!(way & 1)) {
        MUST_DRIVER(bench.api->MemcpyDtoH(bench.back, address, bytes));
        if (memcmp(bench.back, bench.data + sweep_offset, bytes))
            fail_wrong_bytes("sweep");
    } else if (memcmp(bench.back + sweep_offset, bench.data, bytes)) {
        fail_wrong_bytes("sweep");
    }
    return bench_median(times, SWEEP_ROUNDS);
}

static void sweep_row(const char *name, int driver)
{
    printf("%-34s", name);
    for (int way = 0; way < 2; way++)
        for (uint64_t bytes = 256 << 10; bytes <= 16 * MIB; bytes *= 2)
            printf(" %5.1f", (double)bytes / sweep_time(way + 2 * driver, bytes) * 1e-9);
    printf("\n");
    fflush(stdout);
}

static void sweep_all(void)
{
    static const struct variant variants[] = {
        {3, 1024}, {3, 512}, {3, 256}, {3, 128}, {3, 64}, {0, 256}, {1, 256}, {5, 256}};

    for (int is_cold = 0; is_cold < 2; is_cold++) {
        sweep_span = is_cold ? 256 * MIB : 0;
        sweep_offset = 0;
        bench.bytes = is_cold ? 272 * MIB : 16 * MIB;
        printf(
            "GB/s; host memory %s: 256 512 KiB, 1 2 4 8 16 MiB to the device, then to the host\n",
            is_cold ? "another each time" : "the same");
        for (int half = 0; half < 2; half++) {
            sweep_row("driver", 1);
            for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]) && half == 0; i++) {
                const struct variant *v = &variants[i];
                const struct memory_staging_shape shape = {.helpers = v->helpers,
                    .slots = 16,
                    .chunk_bytes = 1 << 20,
                    .min_chunk_bytes = v->min_kib << 10};
                char name[64];

                snprintf(name, sizeof(name), "%u threads, chunks from %u KiB on", v->helpers + 1,
                    v->min_kib);
                MUST(memory_staging_reshape(bench.device, &shape));
                sweep_row(name, 0);
            }
        }
    }
}

/* ---- main ----------------------------------------------------------------------------------- */

static void create_buffers(device_pool *pool, uint64_t most)
{
    uint64_t word = 88172645463325252u;

    MUST(pool_device_at(pool, 0, &bench.device));
    if (pool_device_count(pool) > 1)
        MUST(pool_device_at(pool, 1, &bench.peer));
    bench.api = &device_driver(bench.device)->api;
    bench.data = malloc(most);
    bench.back = malloc(most);
    bench.rows = cJSON_CreateArray();
    if (!bench.data || !bench.back || !bench.rows) {
        fprintf(stderr, "no host memory\n");
        exit(1);
    }
    for (uint64_t i = 0; i + 8 <= most; i += 8) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        memcpy(bench.data + i, &word, 8);
    }
    memset(bench.back, 0, most);
    MUST(pool_buffer_alloc(bench.device, most, &bench.buffer));
    MUST(pool_buffer_alloc(bench.device, most, &bench.other));
    if (bench.peer)
        MUST(pool_buffer_alloc(bench.peer, most, &bench.peer_buffer));
    MUST(pool_pinned_create(bench.device, most, 0, &bench.pinned));
}

static void write_json(const char *path, const char *commit)
{
    cJSON *report = bench_report(bench.device, bench.rows);

    cJSON_AddNumberToObject(report, "driver", device_driver(bench.device)->version);
    cJSON_AddStringToObject(report, "commit", commit);
    cJSON_AddNumberToObject(report, "piece_bytes", bench.shape.chunk_bytes);
    cJSON_AddNumberToObject(report, "slots", bench.shape.slots);
    if (!write_value(path, report))
        exit(1);
}

static void destroy_buffers(device_pool *pool)
{
    MUST(pool_pinned_destroy(&bench.pinned));
    MUST(pool_buffer_destroy(&bench.buffer));
    MUST(pool_buffer_destroy(&bench.other));
    MUST(pool_buffer_destroy(&bench.peer_buffer));
    MUST(pool_destroy(&pool));
    free(bench.data);
    free(bench.back);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"device", 1, NULL, 'd'}, {"max-mib", 1, NULL, 'm'},
        {"json", 1, NULL, 'j'}, {"commit", 1, NULL, 'c'}, {"piece-kib", 1, NULL, 'p'},
        {"slots", 1, NULL, 's'}, {"sweep", 0, NULL, 'w'}, {NULL, 0, NULL, 0}};
    pool_params params = {.struct_size = sizeof(params), .devices = "all"};
    const char *json = NULL, *commit = "";
    uint64_t most = 1024;
    bool sweeps = false;
    device_pool *pool = NULL;
    int option;

    bench.shape = (struct memory_staging_shape){
        .slots = 16, .chunk_bytes = 1 << 20, .min_chunk_bytes = 256 << 10};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'd':
            params.devices = optarg;
            break;
        case 'm':
            most = strtoull(optarg, NULL, 10);
            break;
        case 'j':
            json = optarg;
            break;
        case 'c':
            commit = optarg;
            break;
        case 'p':
            bench.shape.chunk_bytes = (uint32_t)strtoul(optarg, NULL, 10) << 10;
            break;
        case 's':
            bench.shape.slots = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'w':
            sweeps = true;
            break;
        default:
            fprintf(stderr,
                "use: %s [--device TEXT] [--max-mib N] [--json FILE] [--commit TEXT] "
                "[--piece-kib N] [--slots N]\n",
                argv[0]);
            return 2;
        }
    }
    if (pool_create(&pool, &params)) {
        printf("no device: %s\n", pool_last_error()->message);
        return 77;
    }
    most = most ? most : 1;
    create_buffers(pool, most * MIB);
    MUST(pool_bind(bench.device));
    if (sweeps)
        sweep_all();
    MUST(pool_unbind(bench.device));
    if (!sweeps)
        bench_allocation();
    for (uint64_t size = 1; size <= most && !sweeps; size *= 4)
        bench_size(size * MIB);
    if (json)
        write_json(json, commit);
    else
        cJSON_Delete(bench.rows);
    destroy_buffers(pool);
    return 0;
}
