/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast transforms are on a device: data and workspace resident, events around the call, two
 * warm-ups, median of nine. Every row is checked before it is measured: random outputs are compared
 * with the polynomial evaluated at the root's power, which uses none of the transform's kernels.
 * First use (compile, load, tables) is reported apart.
 *
 * bench_ntt [--json FILE] [--device STRING] [--only FIELD] [--quick] [--sweep]
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include <devicepool.h>

#include "base/clock.h"
#include "bench_support.h"
#include "ntt/ntt.h"

enum { WARM_UPS = 2, ROUNDS = 9, CHECKS = 3 };

static struct {
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
    pool_event *start, *end;
    cJSON *rows;
    const char *only;
    int is_quick;
} bench;

struct row {
    const char *field;
    uint32_t log_size;
    uint64_t batch;
    pool_ntt_order order;
    double best_peer; /* ms, 0: none measured */
    double target;
};

/* The best figure of any other library for the row on one H200, and what is aimed at. */
static const struct row rows[] = {
    {"bn254_fr", 16, 1, POOL_NTT_NN, 0.025, 0.020},
    {"bn254_fr", 20, 1, POOL_NTT_NN, 0.268, 0.22},
    {"bn254_fr", 20, 1, POOL_NTT_NR, 0.236, 0},
    {"bn254_fr", 22, 1, POOL_NTT_NN, 1.095, 0.92},
    {"bn254_fr", 22, 1, POOL_NTT_NR, 0.988, 0},
    {"bn254_fr", 24, 1, POOL_NTT_NN, 4.66, 3.9},
    {"bn254_fr", 24, 1, POOL_NTT_NR, 4.19, 0},
    {"bn254_fr", 16, 64, POOL_NTT_NN, 1.38, 0.9},
    {"bls12_381_fr", 16, 1, POOL_NTT_NN, 0.025, 0.020},
    {"bls12_381_fr", 20, 1, POOL_NTT_NN, 0.268, 0.22},
    {"bls12_381_fr", 22, 1, POOL_NTT_NN, 1.095, 0.92},
    {"bls12_381_fr", 24, 1, POOL_NTT_NN, 4.66, 3.9},
    {"goldilocks", 20, 1, POOL_NTT_NN, 0.041, 0.033},
    {"goldilocks", 22, 1, POOL_NTT_NN, 0.151, 0.12},
    {"goldilocks", 24, 1, POOL_NTT_NN, 0.613, 0.46},
    {"goldilocks", 26, 1, POOL_NTT_NN, 3.15, 2.1},
    {"goldilocks", 24, 16, POOL_NTT_NN, 16 * 0.566, 16 * 0.42},
    {"goldilocks", 24, 16, POOL_NTT_NR, 16 * 0.496, 0},
    {"babybear", 20, 1, POOL_NTT_NN, 0.028, 0.024},
    {"babybear", 22, 1, POOL_NTT_NN, 0.074, 0.06},
    {"babybear", 24, 1, POOL_NTT_NN, 0.264, 0.2},
    {"babybear", 26, 1, POOL_NTT_NN, 1.14, 0.85},
    {"babybear", 12, 4096, POOL_NTT_NN, 0, 0},
    {"bn254_fr", 10, 1024, POOL_NTT_NN, 0, 0},
};

/* What one row works on. */
struct work {
    const struct row *row;
    const pool_field *field;
    pool_ntt_params params;
    pool_exec exec;
    pool_buffer *in_buffer, *out_buffer;
    pool_span in, out;
    double first_use_ms;
};

static pool_span span_of(pool_buffer *buffer, uint64_t count)
{
    CUdeviceptr address;

    MUST(pool_buffer_address(buffer, &address));
    return (pool_span){
        .data = (void *)(uintptr_t)address, .count = count, .space = POOL_MEMORY_DEVICE};
}

/* Random elements made on the device from a few random ones: powers of a random base, so that no
 * host memory of that size is needed; one random element a transform. */
static void fill(struct work *work)
{
    pool_exec vector = {.struct_size = sizeof(vector), .device = bench.device};
    uint64_t n = (uint64_t)1 << work->row->log_size;
    uint8_t base[POOL_FIELD_MAX_BYTES];

    for (uint64_t t = 0; t < work->row->batch; t++) {
        pool_span part = work->in;

        part.data = (uint8_t *)part.data + t * n * work->field->bytes;
        part.count = n;
        MUST(pool_random_scalars(work->field, 1 + t, 1, POOL_FORM_STANDARD, base));
        MUST(pool_vector_powers(work->field, &vector, base, &part));
    }
}

static void open_work(struct work *work, const struct row *row)
{
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain), .log_size = row->log_size};
    uint64_t count = row->batch << row->log_size, bytes;

    memset(work, 0, sizeof(*work));
    work->row = row;
    work->field = domain.field = pool_field_by_name(row->field);
    work->params = (pool_ntt_params){
        .struct_size = sizeof(work->params), .batch = row->batch, .order = row->order};
    work->exec = (pool_exec){.struct_size = sizeof(work->exec),
        .device = bench.device,
        .stream = bench.stream,
        .is_async = 1};
    MUST(pool_ntt_domain_create(&domain, &work->params.domain));
    bytes = count * work->field->bytes;
    MUST(pool_buffer_alloc(bench.device, bytes, &work->in_buffer));
    MUST(pool_buffer_alloc(bench.device, bytes, &work->out_buffer));
    work->in = span_of(work->in_buffer, count);
    work->out = span_of(work->out_buffer, count);
    fill(work);
    MUST(pool_ntt_workspace(&work->params, &work->exec, &work->in, &work->out, &bytes));
    if (bytes)
        MUST(pool_buffer_alloc(bench.device, bytes, &work->exec.workspace));
    uint64_t start = base_clock_ns();
    MUST(pool_ntt_warm_up(work->params.domain, bench.device));
    work->first_use_ms = (double)(base_clock_ns() - start) / 1e6;
}

static void close_work(struct work *work)
{
    MUST(pool_ntt_domain_destroy(&work->params.domain));
    MUST(pool_buffer_destroy(&work->in_buffer));
    MUST(pool_buffer_destroy(&work->out_buffer));
    MUST(pool_buffer_destroy(&work->exec.workspace));
}

static uint64_t reverse(uint64_t x, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (x >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* Output `k` of transform `t` against the polynomial at w^k. */
static void check_one(const struct work *work, uint64_t t, uint64_t k)
{
    const pool_field *field = work->field;
    uint32_t log_size = work->row->log_size;
    pool_exec vector = {.struct_size = sizeof(vector), .device = bench.device};
    uint8_t root[POOL_FIELD_MAX_BYTES], value[POOL_FIELD_MAX_BYTES], got[POOL_FIELD_MAX_BYTES];
    uint64_t limbs[FIELD_MAX_LIMBS] = {0};
    uint64_t place = work->row->order == POOL_NTT_NR ? reverse(k, log_size) : k;
    pool_span part = work->in;

    part.data = (uint8_t *)part.data + (t << log_size) * field->bytes;
    part.count = (uint64_t)1 << log_size;
    MUST(pool_ntt_domain_root(work->params.domain, POOL_FORM_MONTGOMERY, root));
    field_load(field, limbs, root);
    field_pow(field, limbs, limbs, &k, 1);
    field_from_montgomery(field, limbs, limbs);
    field_store(field, root, limbs);
    MUST(pool_vector_evaluate(field, &vector, &part, root, value));
    MUST(pool_copy_to_host(
        got, work->out_buffer, ((t << log_size) + place) * field->bytes, field->bytes, NULL));
    if (memcmp(got, value, field->bytes) != 0) {
        fprintf(stderr, "%s 2^%u: output %llu of transform %llu is wrong\n", work->row->field,
            log_size, (unsigned long long)k, (unsigned long long)t);
        exit(1);
    }
}

static void check(const struct work *work)
{
    uint64_t n = (uint64_t)1 << work->row->log_size;
    uint64_t seed = 88172645463325252u;

    MUST(pool_ntt(&work->params, &work->exec, &work->in, &work->out));
    MUST(pool_stream_synchronize(bench.stream));
    for (int i = 0; i < CHECKS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        check_one(work, (seed >> 33) % work->row->batch, (seed >> 7) & (n - 1));
    }
}

/* Milliseconds of one call. */
struct times {
    double device; /* between events around it */
    double host;   /* until it has returned */
};

/* `calls` calls between the events: with several, what the host does before the first launch does
 * not show. */
static struct times measure(struct work *work, int calls)
{
    double device[ROUNDS], host[ROUNDS];

    for (int i = -WARM_UPS; i < ROUNDS; i++) {
        double ms = 0;

        MUST(pool_event_record(bench.start, bench.stream));
        uint64_t start = base_clock_ns();
        for (int call = 0; call < calls; call++)
            MUST(pool_ntt(&work->params, &work->exec, &work->in, &work->out));
        uint64_t end = base_clock_ns();
        MUST(pool_event_record(bench.end, bench.stream));
        MUST(pool_event_synchronize(bench.end));
        MUST(pool_event_elapsed(bench.start, bench.end, &ms));
        if (i >= 0) {
            device[i] = ms / calls;
            host[i] = (double)(end - start) / 1e6 / calls;
        }
    }
    return (struct times){median(device, ROUNDS), median(host, ROUNDS)};
}

/*
 * The least time that the multiplications take on an H200: n/2 log n of them a transform, at 63 (8
 * words), 814 (Goldilocks) or 2,705 (one word) thousand million a second.
 */
static double floor_of(const struct row *row, const pool_field *field)
{
    double rate = field->words == 8 ? 63e6 : field->words == 2 ? 814e6 : 2705e6;
    double n = (double)((uint64_t)1 << row->log_size);

    return (double)row->batch * n / 2 * row->log_size / rate;
}

static void report(const struct work *work, const struct times *one, double busy_ms)
{
    const struct row *row = work->row;
    double ms = one->device;
    double least = floor_of(row, work->field);
    cJSON *json = cJSON_CreateObject();

    printf("%-13s %5llu x 2^%-2u %s %9.4f ms  %4.0f%% of the multipliers' limit", row->field,
        (unsigned long long)row->batch, row->log_size, row->order == POOL_NTT_NN ? "NN" : "NR", ms,
        100 * least / ms);
    if (row->best_peer > 0)
        printf("  peer %8.3f (x%.2f)", row->best_peer, ms / row->best_peer);
    if (row->target > 0)
        printf("  target %8.3f (x%.2f)", row->target, ms / row->target);
    printf("  of 16 in a row %.4f ms  host %.4f ms", busy_ms, one->host);
    printf("  first use %.0f ms\n", work->first_use_ms);
    fflush(stdout);
    cJSON_AddStringToObject(json, "field", row->field);
    cJSON_AddNumberToObject(json, "log_size", row->log_size);
    cJSON_AddNumberToObject(json, "batch", (double)row->batch);
    cJSON_AddStringToObject(json, "order", row->order == POOL_NTT_NN ? "NN" : "NR");
    cJSON_AddNumberToObject(json, "ms", ms);
    cJSON_AddNumberToObject(json, "ms_of_16_in_a_row", busy_ms);
    cJSON_AddNumberToObject(json, "host_ms", one->host);
    cJSON_AddNumberToObject(json, "floor_ms", least);
    cJSON_AddNumberToObject(json, "best_peer_ms", row->best_peer);
    cJSON_AddNumberToObject(json, "target_ms", row->target);
    cJSON_AddNumberToObject(json, "first_use_ms", work->first_use_ms);
    cJSON_AddItemToArray(bench.rows, json);
}

static void run_row(const struct row *row)
{
    struct work work;

    if ((bench.only && strcmp(bench.only, row->field) != 0) ||
        (bench.is_quick && row->log_size + (row->batch > 1 ? 10 : 0) > 12))
        return;
    open_work(&work, row);
    check(&work);
    struct times one = measure(&work, 1);
    report(&work, &one, measure(&work, 16).device);
    close_work(&work);
}

/* From pageable and from pinned host memory and back. */
static void run_host(const char *name, uint32_t log_size, uint64_t batch)
{
    const struct row row = {name, log_size, batch, POOL_NTT_NN, 0, 0};
    uint64_t count = batch << log_size;
    struct work work;
    pool_pinned *pinned = NULL;
    double ms[2];

    if (bench.only && strcmp(bench.only, name) != 0)
        return;
    open_work(&work, &row);
    uint64_t bytes = count * work.field->bytes;
    uint8_t *pageable = malloc(bytes);
    MUST(pageable ? POOL_OK : POOL_ERR_OUT_OF_HOST_MEMORY);
    MUST(pool_copy_to_host(pageable, work.in_buffer, 0, bytes, NULL));
    MUST(pool_pinned_create(bench.device, bytes, 0, &pinned));
    memcpy(pool_pinned_data(pinned), pageable, bytes);
    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        double times[3];

        work.in =
            (pool_span){.data = is_pinned ? pool_pinned_data(pinned) : pageable, .count = count};
        work.exec.is_async = 0;
        MUST(pool_buffer_destroy(&work.exec.workspace));
        for (int i = 0; i < 3; i++) {
            uint64_t start = base_clock_ns();

            work.out = work.in;
            MUST(pool_ntt(&work.params, &work.exec, &work.in, &work.out));
            times[i] = (double)(base_clock_ns() - start) / 1e6;
        }
        ms[is_pinned] = median(times, 3);
    }
    printf("%-13s %5llu x 2^%-2u host to host: pageable %.2f ms, pinned %.2f ms\n", name,
        (unsigned long long)batch, log_size, ms[0], ms[1]);
    fflush(stdout);
    free(pageable);
    MUST(pool_pinned_destroy(&pinned));
    close_work(&work);
}

static void sweep_row(const struct row *row, const struct ntt_tuning *tuning)
{
    struct work work;

    if (bench.only && strcmp(bench.only, row->field) != 0)
        return;
    ntt_tuning_set(tuning);
    open_work(&work, row);
    check(&work);
    printf("sweep %-13s %5llu x 2^%-2u %s radix %u threads 2^%u columns 2^%u tables 2^%u or 2^%u "
           "blocks %u: "
           "%9.4f ms, of 16 in a row %.4f ms\n",
        row->field, (unsigned long long)row->batch, row->log_size,
        row->order == POOL_NTT_NN ? "NN" : "NR", tuning->log_radix, tuning->log_threads,
        tuning->min_tile_width, tuning->high_bits, tuning->single_bits, tuning->blocks,
        measure(&work, 1).device, measure(&work, 16).device);
    fflush(stdout);
    close_work(&work);
    ntt_tuning_set(&(struct ntt_tuning){0});
}

static void sweep(void)
{
    /* radix, threads, columns, tables, whole tables, blocks */
    static const struct ntt_tuning wide[] = {{2, 7, 1, 16, 20, 6}, {2, 7, 1, 16, 16, 6},
        {2, 8, 1, 16, 20, 3}, {1, 8, 1, 16, 20, 2}, {1, 8, 0, 16, 20, 2}, {3, 7, 1, 16, 20, 4}};
    static const struct ntt_tuning two[] = {{4, 7, 2, 17, 17, 5}, {4, 6, 2, 17, 17, 10},
        {4, 8, 2, 17, 17, 2}, {5, 7, 2, 17, 17, 3}, {3, 8, 2, 17, 17, 4}};
    static const struct ntt_tuning one[] = {
        {5, 8, 3, 18, 18, 3}, {5, 7, 3, 18, 18, 6}, {4, 8, 3, 18, 18, 4}, {4, 9, 3, 18, 18, 2}};
    static const struct row wide_rows[] = {{"bn254_fr", 14, 1, POOL_NTT_NN, 0, 0},
        {"bn254_fr", 16, 1, POOL_NTT_NN, 0, 0}, {"bn254_fr", 18, 1, POOL_NTT_NN, 0, 0},
        {"bn254_fr", 20, 1, POOL_NTT_NN, 0, 0}, {"bn254_fr", 24, 1, POOL_NTT_NN, 0, 0},
        {"bn254_fr", 16, 64, POOL_NTT_NN, 0, 0}};
    static const struct row two_rows[] = {{"goldilocks", 20, 1, POOL_NTT_NN, 0, 0},
        {"goldilocks", 22, 1, POOL_NTT_NN, 0, 0}, {"goldilocks", 24, 1, POOL_NTT_NN, 0, 0}};
    static const struct row one_rows[] = {{"babybear", 20, 1, POOL_NTT_NN, 0, 0},
        {"babybear", 22, 1, POOL_NTT_NN, 0, 0}, {"babybear", 24, 1, POOL_NTT_NN, 0, 0}};

    for (size_t t = 0; t < sizeof(wide) / sizeof(wide[0]); t++)
        for (size_t i = 0; i < sizeof(wide_rows) / sizeof(wide_rows[0]); i++)
            sweep_row(&wide_rows[i], &wide[t]);
    for (size_t t = 0; t < sizeof(two) / sizeof(two[0]); t++)
        for (size_t i = 0; i < sizeof(two_rows) / sizeof(two_rows[0]); i++)
            sweep_row(&two_rows[i], &two[t]);
    for (size_t t = 0; t < sizeof(one) / sizeof(one[0]); t++)
        for (size_t i = 0; i < sizeof(one_rows) / sizeof(one_rows[0]); i++)
            sweep_row(&one_rows[i], &one[t]);
}

static void write_json(const char *path)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    cJSON *root = cJSON_CreateObject();

    MUST(pool_device_get_info(bench.device, &info));
    cJSON_AddStringToObject(root, "device", info.name);
    cJSON_AddStringToObject(root, "version", pool_version_text());
    cJSON_AddItemToObject(root, "rows", bench.rows);
    char *text = cJSON_Print(root);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%s\n", text);
        fclose(file);
    }
    free(text);
    cJSON_Delete(root);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"json", required_argument, NULL, 'j'},
        {"device", required_argument, NULL, 'd'}, {"only", required_argument, NULL, 'o'},
        {"quick", no_argument, NULL, 'q'}, {"sweep", no_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
    pool_params params = {.struct_size = sizeof(params), .devices = "0"};
    const char *json = NULL;
    int is_sweep = 0;

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (c == 'j')
            json = optarg;
        else if (c == 'd')
            params.devices = optarg;
        else if (c == 'o')
            bench.only = optarg;
        else if (c == 'q')
            bench.is_quick = 1;
        else if (c == 's')
            is_sweep = 1;
        else
            return 2;
    MUST(pool_create(&bench.pool, &params));
    MUST(pool_device_at(bench.pool, 0, &bench.device));
    MUST(pool_bind(bench.device));
    MUST(pool_stream_create(bench.device, NULL, &bench.stream));
    MUST(pool_event_create(bench.device, POOL_EVENT_TIMING, &bench.start));
    MUST(pool_event_create(bench.device, POOL_EVENT_TIMING, &bench.end));
    bench.rows = cJSON_CreateArray();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run_row(&rows[i]);
    if (!bench.is_quick) {
        run_host("bn254_fr", 20, 16);
        run_host("goldilocks", 22, 16);
    }
    if (is_sweep)
        sweep();
    write_json(json);
    MUST(pool_event_destroy(&bench.start));
    MUST(pool_event_destroy(&bench.end));
    MUST(pool_stream_destroy(&bench.stream));
    MUST(pool_unbind(bench.device));
    MUST(pool_destroy(&bench.pool));
    return 0;
}
