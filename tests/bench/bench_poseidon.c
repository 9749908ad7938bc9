/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon on a device: hashes a second of the sets that others publish, in device memory and in
 * the device's own form, small and large batches; Merkle trees from device memory, from pinned host
 * memory with somebody watching, and with all rows back there.
 *
 *   bench_poseidon [--device TEXT] [--json FILE] [--sets PREFIX] [--repeat N] [--most LOG2]
 *
 * Two warm-ups, then the median of N (9) runs between events. Before its time counts a row is
 * checked: 48 results against the host; of a tree, 16 openings up to the root by the host. First
 * use (compiling, or the cache, and loading) is reported apart.
 */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <devicepool.h>

#include "bench_support.h"

enum { WARM_UPS = 2, MAX_REPEAT = 99, CHECKED = 48, OPENED = 16 };

static device_pool *pool;
static pool_device *device;
static FILE *json;
static int rows_written;
static int repeat = 9;
static unsigned most = 24;

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call) {                                                                                \
            fprintf(                                                                               \
                stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, pool_last_error()->message); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Peers' best and the targets in 10^6 hashes a second at 2^20 states, from PERF.md. */
struct row {
    const char *set;
    double peer;
    double target;
};
static const struct row rows[] = {
    {"circom-bn254-t3", 102, 125},
    {"neptune-bls12_381-arity2", 112, 125},
    {"circom-bn254-t5", 62.6, 75},
    {"neptune-bls12_381-arity4", 62.6, 75},
    {"circom-bn254-t9", 37.4, 43},
    {"neptune-bls12_381-arity8", 37.4, 43},
    {"circom-bn254-t12", 25.8, 30},
    {"neptune-bls12_381-arity11", 25.8, 30},
    {"poseidon2-horizen-bn254-t3", 226, 280},
    {"plonky2-goldilocks-t12", 667, 800},
    {"poseidon2-horizen-goldilocks-t12", 1148, 1400},
    {"poseidon2-plonky3-goldilocks-t12", 1148, 1400},
    {"poseidon2-horizen-babybear-t24", 1470, 1700},
    {"poseidon2-plonky3-babybear-t24", 1470, 1700},
    {"poseidon2-plonky3-koalabear-t16", 3102, 3500},
    {"orchard-pallas-t3", 0, 0},
    {"starknet-stark252-t3", 0, 0},
    {"circom-bn254-t17", 0, 0},
};
struct tree_row {
    const char *set;
    uint32_t arity;
    double peer; /* 10^6 leaves a second at 2^24 leaves */
    double target;
};
static const struct tree_row trees[] = {
    {"circom-bn254-t3", 2, 101, 125},
    {"circom-bn254-t9", 8, 209, 260},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct timing {
    double median;
    double least;
    double first; /* the first call, wall clock */
};

typedef void operation(void *user);

/* `user`'s operation enqueues on `stream`, or returns when it is done. */
static struct timing measure(operation *run, void *user, pool_stream *stream)
{
    struct timing timing = {0};
    double times[MAX_REPEAT];
    pool_event *start;
    pool_event *end;

    OK(pool_event_create(device, POOL_EVENT_TIMING, &start));
    OK(pool_event_create(device, POOL_EVENT_TIMING, &end));
    timing.first = seconds();
    run(user);
    OK(pool_stream_synchronize(stream));
    timing.first = seconds() - timing.first;
    for (int i = -WARM_UPS; i < repeat; i++) {
        double milliseconds;
        OK(pool_event_record(start, stream));
        run(user);
        OK(pool_event_record(end, stream));
        OK(pool_event_synchronize(end));
        OK(pool_event_elapsed(start, end, &milliseconds));
        if (i >= 0)
            times[i] = milliseconds / 1e3;
    }
    timing.median = median(times, (size_t)repeat);
    timing.least = times[0];
    OK(pool_event_destroy(&start));
    OK(pool_event_destroy(&end));
    return timing;
}

static void put(const char *what, const char *set, uint64_t count, const struct timing *timing,
    double peer, double target)
{
    double rate = (double)count / timing->median / 1e6;

    printf("%-12s %-34s %10llu %10.4f %10.1f %8.1f %8.1f %7s %8.2f\n", what, set,
        (unsigned long long)count, timing->median * 1e3, rate, peer, target,
        target == 0      ? "-"
        : rate >= target ? "yes"
        : rate >= peer   ? "peer"
                         : "no",
        timing->first);
    fflush(stdout);
    if (!json)
        return;
    fprintf(json,
        "%s\n  {\"what\": \"%s\", \"set\": \"%s\", \"count\": %llu, \"median_s\": %.9g, "
        "\"least_s\": %.9g, \"first_s\": %.6g, \"million_per_s\": %.6g, \"peer\": %g, "
        "\"target\": %g}",
        rows_written++ ? "," : "", what, set, (unsigned long long)count, timing->median,
        timing->least, timing->first, rate, peer, target);
}

/* The form that the device computes in, so that no conversion is timed. */
static pool_form own_form(const pool_field *field)
{
    const char *name = pool_field_name(field);
    return !strcmp(name, "goldilocks") || !strcmp(name, "mersenne31") ? POOL_FORM_STANDARD
                                                                      : POOL_FORM_MONTGOMERY;
}

struct permuting {
    pool_poseidon *set;
    pool_exec run;
    pool_span in;
    pool_span out;
};

static void permute(void *user)
{
    struct permuting *job = user;
    OK(pool_poseidon_permute(job->set, &job->run, &job->in, &job->out));
}

static void check_permute(const struct permuting *job, const unsigned char *states,
    const pool_buffer *results, size_t bytes)
{
    static const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};
    unsigned char *want = malloc(bytes);
    unsigned char *got = malloc(bytes);

    for (uint64_t i = 0; i < CHECKED; i++) {
        uint64_t index = i < 16 ? i : i < 32 ? job->in.count - 1 - (i - 16) : i * 2654435761U;
        index %= job->in.count;
        pool_span in = {
            .data = (void *)(uintptr_t)(states + index * bytes), .count = 1, .form = job->in.form};
        pool_span out = {.data = want, .count = 1, .form = job->out.form};
        OK(pool_poseidon_permute(job->set, &on_host, &in, &out));
        OK(pool_copy_to_host(got, results, index * bytes, bytes, NULL));
        if (memcmp(got, want, bytes)) {
            fprintf(stderr, "%s: state %llu is wrong\n", pool_poseidon_name(job->set),
                (unsigned long long)index);
            exit(1);
        }
    }
    free(want);
    free(got);
}

static void bench_set(const struct row *row, pool_stream *stream)
{
    static const unsigned logs[] = {20, 14, 10};
    struct permuting job = {
        .run = {.struct_size = sizeof(job.run), .device = device, .stream = stream, .is_async = 1}};
    const pool_field *field;
    CUdeviceptr from;
    CUdeviceptr to;
    pool_buffer *states_there;
    pool_buffer *results;

    OK(pool_poseidon_by_name(row->set, &job.set));
    field = pool_poseidon_field(job.set);
    size_t bytes = pool_poseidon_width(job.set) * pool_field_element_bytes(field);
    uint64_t count = UINT64_C(1) << (most < logs[0] ? most : logs[0]);
    pool_form form = own_form(field);
    unsigned char *states = malloc(count * bytes);
    OK(pool_random_scalars(field, 1, count * pool_poseidon_width(job.set), form, states));
    OK(pool_buffer_from_host(device, states, count * bytes, &states_there));
    OK(pool_buffer_zeroed(device, count * bytes, &results));
    OK(pool_buffer_address(states_there, &from));
    OK(pool_buffer_address(results, &to));
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        unsigned log2_count = i == 0 && logs[i] > most ? most : logs[i];
        if (log2_count > most)
            continue;
        count = UINT64_C(1) << log2_count;
        job.in = (pool_span){.data = (void *)(uintptr_t)from,
            .count = count,
            .form = form,
            .space = POOL_MEMORY_DEVICE};
        job.out = (pool_span){.data = (void *)(uintptr_t)to,
            .count = count,
            .form = form,
            .space = POOL_MEMORY_DEVICE};
        OK(pool_buffer_fill8(results, 0, count * bytes, 0xa5, NULL));
        struct timing timing = measure(permute, &job, stream);
        check_permute(&job, states, results, bytes);
        put("permutation", row->set, count, &timing, i ? 0 : row->peer, i ? 0 : row->target);
    }
    OK(pool_buffer_destroy(&states_there));
    OK(pool_buffer_destroy(&results));
    free(states);
    pool_poseidon_destroy(&job.set);
}

struct building {
    pool_poseidon *set;
    pool_exec run;
    pool_merkle_params params;
    pool_span leaves;
    pool_span rows;
};

/* How often a watcher was reported something since the last time that all was done. */
static uint64_t told;
static uint64_t told_until_done;

static void listen(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    told++;
    if (done < total)
        return;
    told_until_done = told;
    told = 0;
}

static void build(void *user)
{
    struct building *job = user;
    OK(pool_poseidon_merkle_build(job->set, &job->run, &job->params, &job->leaves, &job->rows));
}

static void check_tree(const struct building *job, const unsigned char *leaves, uint32_t height,
    uint64_t digests, size_t bytes)
{
    pool_merkle_params params = job->params;
    unsigned char *path = calloc(height, (params.arity - 1) * bytes);
    unsigned char root[POOL_FIELD_MAX_BYTES];
    pool_span way = {
        .data = path, .count = (uint64_t)height * (params.arity - 1), .form = job->rows.form};
    pool_exec run = {.struct_size = sizeof(run), .device = device};
    pool_buffer *rows;

    params.height = height;
    OK(pool_buffer_adopt(device, (CUdeviceptr)(uintptr_t)job->rows.data, digests * bytes, &rows));
    OK(pool_copy_to_host(root, rows, (digests - 1) * bytes, bytes, NULL));
    for (uint64_t i = 0; i < OPENED; i++) {
        uint64_t index = (i == 0      ? 0
                             : i == 1 ? job->leaves.count - 1
                                      : i * 2654435761U) %
                         job->leaves.count;
        int32_t is_member = 0;
        OK(pool_poseidon_merkle_open(
            job->set, &run, &job->params, job->leaves.count, NULL, &job->rows, index, &way));
        OK(pool_poseidon_merkle_verify(job->set, &params, job->rows.form, root,
            leaves + index * bytes, index, path, &is_member));
        if (!is_member) {
            fprintf(stderr, "%s: leaf %llu does not lead to the root\n",
                pool_poseidon_name(job->set), (unsigned long long)index);
            exit(1);
        }
    }
    OK(pool_buffer_destroy(&rows));
    free(path);
}

static void check_home(const pool_buffer *there, const unsigned char *here, size_t bytes)
{
    unsigned char *want = malloc(bytes);

    OK(pool_copy_to_host(want, there, 0, bytes, NULL));
    if (memcmp(want, here, bytes)) {
        fprintf(stderr, "rows that came home differ from those on the device\n");
        exit(1);
    }
    free(want);
}

static void bench_tree(const struct tree_row *row, pool_stream *stream)
{
    uint64_t count = UINT64_C(1) << most;
    struct building job = {
        .run = {.struct_size = sizeof(job.run), .device = device, .stream = stream, .is_async = 1},
        .params = {.struct_size = sizeof(job.params), .arity = row->arity}};
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    CUdeviceptr from;
    CUdeviceptr to;
    pool_pinned *pinned;
    pool_buffer *leaves_there;
    pool_buffer *results;
    pool_pinned *home;
    char what[16];

    OK(pool_poseidon_by_name(row->set, &job.set));
    size_t bytes = pool_field_element_bytes(pool_poseidon_field(job.set));
    OK(pool_merkle_get_shape(job.set, &job.params, count, &shape));
    OK(pool_pinned_create(device, count * bytes, 0, &pinned));
    unsigned char *leaves = pool_pinned_data(pinned);
    OK(pool_random_scalars(pool_poseidon_field(job.set), 2, count, POOL_FORM_MONTGOMERY, leaves));
    OK(pool_buffer_from_host(device, leaves, count * bytes, &leaves_there));
    OK(pool_buffer_zeroed(device, shape.digest_count * bytes, &results));
    OK(pool_buffer_address(leaves_there, &from));
    OK(pool_buffer_address(results, &to));
    job.leaves = (pool_span){.data = (void *)(uintptr_t)from,
        .count = count,
        .form = POOL_FORM_MONTGOMERY,
        .space = POOL_MEMORY_DEVICE};
    job.rows = (pool_span){.data = (void *)(uintptr_t)to,
        .count = shape.digest_count,
        .form = POOL_FORM_MONTGOMERY,
        .space = POOL_MEMORY_DEVICE};
    struct timing timing = measure(build, &job, stream);
    check_tree(&job, leaves, shape.height, shape.digest_count, bytes);
    snprintf(what, sizeof(what), "tree %u", row->arity);
    put(what, row->set, count, &timing, most == 24 ? row->peer : 0, most == 24 ? row->target : 0);
    /* leaves from pinned host memory, all rows kept on the device */
    job.leaves.data = leaves;
    job.leaves.space = POOL_MEMORY_HOST;
    job.run.is_async = 0;
    job.run.progress = listen;
    OK(pool_buffer_fill8(results, 0, shape.digest_count * bytes, 0, NULL));
    timing = measure(build, &job, stream);
    check_tree(&job, leaves, shape.height, shape.digest_count, bytes);
    snprintf(what, sizeof(what), "tree %u host", row->arity);
    put(what, row->set, count, &timing, 0, 0);
    if (told_until_done < 2) {
        fprintf(stderr, "%s: nobody was reported how far it was\n", row->set);
        exit(1);
    }
    /* the rows in pinned host memory as well; compared with those on the device */
    OK(pool_pinned_create(device, shape.digest_count * bytes, 0, &home));
    job.rows.data = pool_pinned_data(home);
    job.rows.space = POOL_MEMORY_HOST;
    timing = measure(build, &job, stream);
    check_home(results, job.rows.data, shape.digest_count * bytes);
    snprintf(what, sizeof(what), "tree %u home", row->arity);
    put(what, row->set, count, &timing, 0, 0);
    OK(pool_pinned_destroy(&home));
    OK(pool_buffer_destroy(&leaves_there));
    OK(pool_buffer_destroy(&results));
    OK(pool_pinned_destroy(&pinned));
    pool_poseidon_destroy(&job.set);
}

static int begins(const char *text, const char *prefix)
{
    return !prefix || strncmp(text, prefix, strlen(prefix)) == 0;
}

static void bench(const char *only)
{
    pool_stream *stream;
    pool_device_info info = {.struct_size = sizeof(info)};

    OK(pool_device_get_info(device, &info));
    OK(pool_stream_create(device, NULL, &stream));
    printf("%s\n%-12s %-34s %10s %10s %10s %8s %8s %7s %8s\n", info.name, "what", "set", "count",
        "ms", "10^6/s", "peer", "target", "reached", "first s");
    if (json)
        fprintf(json, "{\"device\": \"%s\", \"repeat\": %d, \"rows\": [", info.name, repeat);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (begins(rows[i].set, only))
            bench_set(&rows[i], stream);
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
        if (begins(trees[i].set, only))
            bench_tree(&trees[i], stream);
    if (json)
        fprintf(json, "\n]}\n");
    OK(pool_stream_destroy(&stream));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'}, {"sets", required_argument, NULL, 's'},
        {"repeat", required_argument, NULL, 'r'}, {"most", required_argument, NULL, 'm'},
        {NULL, 0, NULL, 0}};
    pool_params params = {.struct_size = sizeof(params)};
    const char *only = NULL;
    const char *file = NULL;

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd')
            params.devices = optarg;
        else if (c == 'j')
            file = optarg;
        else if (c == 's')
            only = optarg;
        else if (c == 'r')
            repeat = atoi(optarg);
        else if (c == 'm')
            most = (unsigned)atoi(optarg);
        else
            return 2;
    }
    if (repeat < 1 || repeat > MAX_REPEAT || most < 1 || most > 30)
        return 2;
    if (pool_create(&pool, &params)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    OK(pool_device_at(pool, 0, &device));
    if (file && !(json = fopen(file, "w"))) {
        perror(file);
        return 1;
    }
    bench(only);
    if (json)
        fclose(json);
    OK(pool_destroy(&pool));
    return 0;
}
