/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms on a device with other numbers of the plan (points and threads per block, tables,
 * quotients), alone and one behind the other, and transforms from and to host memory. Every result
 * is checked, see src/tools/bench/ntt.c. `devicepool bench --suite ntt` measures the rows of
 * docs/performance.md.
 *
 * bench_ntt [--device STRING] [--only FIELD] [--most LOG]
 */
#include <getopt.h>
#include <string.h>

#include "bench_support.h"
#include "zk/ntt/ntt.h"

enum { CALLS_IN_A_ROW = 16 };

static struct {
    device_pool *pool;
    pool_device *device;
    const char *only;
    uint32_t most; /* elements in all transforms of a row, as a power of two */
} bench = {.most = 63};

struct row {
    const char *field;
    uint32_t log_size;
    uint64_t batch;
    pool_ntt_order order;
};

static int is_selected(const char *field, uint32_t log_size, uint64_t batch)
{
    return (!bench.only || strcmp(bench.only, field) == 0) &&
           batch << log_size <= UINT64_C(1) << bench.most;
}

static pool_status call_ntt(void *argument)
{
    return bench_ntt.call(argument);
}

/* Several calls between the events: their preparation on the host overlaps earlier transforms. */
static pool_status time_in_a_row(struct bench_run *run)
{
    const struct bench_timer timer = {.device = run->device,
        .stream = run->stream,
        .warm_ups = WARM_UPS,
        .repeat = ROUNDS,
        .calls = CALLS_IN_A_ROW};

    return bench_time(&timer, call_ntt, run, run->user);
}

static const struct ntt_tuning *swept_tuning; /* NULL: the plan chooses */

static pool_status create_tuned(struct bench_run *run)
{
    pool_status status = bench_ntt.create(run);

    if (!status)
        ((struct bench_ntt_state *)run->state)->params.domain->tuning = swept_tuning;
    return status;
}

/* Measures a row alone and in a row. */
static void measure_row(const struct row *row, struct bench_run *run, struct bench_timing *in_a_row)
{
    static struct bench_operation operation;

    operation = bench_ntt;
    operation.create = create_tuned;
    *run = (struct bench_run){.operation = &operation,
        .spec = {.subject = row->field,
            .size = UINT64_C(1) << row->log_size,
            .batch = row->batch,
            .order = row->order},
        .pool = bench.pool,
        .device = bench.device,
        .examine = time_in_a_row,
        .user = in_a_row};
    measure_operation(run);
}

/* A transform in place in host memory. */
struct host_transform {
    pool_ntt_params params;
    pool_exec exec;
    pool_span span;
};

static pool_status transform_on_host(void *argument)
{
    const struct host_transform *transform = argument;

    return pool_ntt(&transform->params, &transform->exec, &transform->span, &transform->span);
}

/* Transforms from pageable and from pinned host memory and back. */
static void report_host_memory(const char *name, uint32_t log_size, uint64_t batch)
{
    const pool_ntt_domain_params domain = {
        .struct_size = sizeof(domain), .field = pool_field_by_name(name), .log_size = log_size};
    struct host_transform transform = {
        .params = {.struct_size = sizeof(transform.params), .batch = batch},
        .exec = {.struct_size = sizeof(transform.exec), .device = bench.device},
        .span.count = batch << log_size};
    uint64_t bytes = transform.span.count * pool_field_element_bytes(domain.field);
    uint8_t *pageable;
    pool_pinned *pinned = NULL;
    double seconds[2];

    if (!is_selected(name, log_size, batch))
        return;
    pageable = bench_alloc(1, bytes);
    MUST(pool_ntt_domain_create(&domain, &transform.params.domain));
    MUST(pool_pinned_create(bench.device, bytes, 0, &pinned));
    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        transform.span.data = is_pinned ? pool_pinned_data(pinned) : pageable;
        MUST(pool_random_scalars(
            domain.field, 1, transform.span.count, POOL_FORM_STANDARD, transform.span.data));
        seconds[is_pinned] = time_on_host(transform_on_host, &transform);
    }
    printf("%-13s %5llu x 2^%-2u host to host: pageable %.2f ms, pinned %.2f ms\n", name,
        (unsigned long long)batch, log_size, seconds[0] * 1e3, seconds[1] * 1e3);
    fflush(stdout);
    free(pageable);
    MUST(pool_pinned_destroy(&pinned));
    MUST(pool_ntt_domain_destroy(&transform.params.domain));
}

static void sweep_row(const struct row *row, const struct ntt_tuning *tuning)
{
    struct bench_run run;
    struct bench_timing in_a_row;

    if (!is_selected(row->field, row->log_size, row->batch))
        return;
    swept_tuning = tuning;
    measure_row(row, &run, &in_a_row);
    printf("sweep %-13s %5llu x 2^%-2u %s radix %u threads 2^%u columns 2^%u tables 2^%u or 2^%u "
           "blocks %u quotients %u: %9.4f ms, %d in a row %.4f ms each\n",
        row->field, (unsigned long long)row->batch, row->log_size,
        row->order == POOL_NTT_NN ? "NN" : "NR", tuning->log_radix, tuning->log_threads,
        tuning->min_tile_width, tuning->high_bits, tuning->single_bits, tuning->blocks,
        (unsigned)tuning->quotients, run.timing.median * 1e3, CALLS_IN_A_ROW,
        in_a_row.median * 1e3);
    fflush(stdout);
    swept_tuning = NULL;
}

static void sweep(void)
{
    /* radix, threads, columns, tables, whole tables, blocks, products with quotients */
    static const struct ntt_tuning wide[] = {{2, 7, 1, 16, 20, 5, 0, NTT_ALL_QUOTIENTS, 0},
        {2, 7, 1, 16, 20, 6, 0, NTT_ALL_QUOTIENTS, 0}, {2, 7, 1, 16, 20, 6, 0, NTT_NO_QUOTIENTS, 0},
        {2, 7, 1, 16, 16, 5, 0, NTT_ALL_QUOTIENTS, 0},
        {1, 8, 0, 16, 20, 2, 0, NTT_ALL_QUOTIENTS, 0}, {1, 8, 0, 16, 20, 2, 0, NTT_NO_QUOTIENTS, 0},
        {1, 7, 0, 16, 20, 4, 0, NTT_ALL_QUOTIENTS, 0},
        {1, 9, 0, 16, 20, 1, 0, NTT_ALL_QUOTIENTS, 0},
        {1, 7, 1, 16, 20, 4, 0, NTT_ALL_QUOTIENTS, 0},
        {1, 8, 1, 16, 20, 2, 0, NTT_ALL_QUOTIENTS, 0},
        {2, 6, 0, 16, 20, 8, 0, NTT_ALL_QUOTIENTS, 0},
        {3, 7, 1, 16, 20, 3, 0, NTT_ALL_QUOTIENTS, 0}};
    static const struct ntt_tuning two[] = {{4, 7, 2, 17, 17, 5, 0, NTT_NO_QUOTIENTS, 0},
        {4, 6, 2, 17, 17, 10, 0, NTT_NO_QUOTIENTS, 0}, {4, 8, 2, 17, 17, 2, 0, NTT_NO_QUOTIENTS, 0},
        {5, 7, 2, 17, 17, 3, 0, NTT_NO_QUOTIENTS, 0}, {3, 8, 2, 17, 17, 4, 0, NTT_NO_QUOTIENTS, 0},
        {5, 9, 3, 17, 17, 1, 0, NTT_NO_QUOTIENTS, 0}, {4, 10, 3, 17, 17, 1, 0, NTT_NO_QUOTIENTS, 0},
        {4, 9, 2, 17, 17, 1, 0, NTT_NO_QUOTIENTS, 0}};
    static const struct ntt_tuning one[] = {{5, 8, 3, 18, 18, 3, 0, NTT_NO_QUOTIENTS, 0},
        {5, 7, 3, 18, 18, 6, 0, NTT_NO_QUOTIENTS, 0}, {4, 8, 3, 18, 18, 4, 0, NTT_NO_QUOTIENTS, 0},
        {4, 9, 3, 18, 18, 2, 0, NTT_NO_QUOTIENTS, 0}};
    static const struct row wide_rows[] = {{"bn254_fr", 14, 1, POOL_NTT_NN},
        {"bn254_fr", 16, 1, POOL_NTT_NN}, {"bn254_fr", 18, 1, POOL_NTT_NN},
        {"bn254_fr", 20, 1, POOL_NTT_NN}, {"bn254_fr", 24, 1, POOL_NTT_NN},
        {"bn254_fr", 16, 64, POOL_NTT_NN}};
    static const struct row two_rows[] = {{"goldilocks", 20, 1, POOL_NTT_NN},
        {"goldilocks", 22, 1, POOL_NTT_NN}, {"goldilocks", 24, 1, POOL_NTT_NN}};
    static const struct row one_rows[] = {{"babybear", 20, 1, POOL_NTT_NN},
        {"babybear", 22, 1, POOL_NTT_NN}, {"babybear", 24, 1, POOL_NTT_NN}};

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

int main(int argc, char **argv)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
        {"only", required_argument, NULL, 'o'}, {"most", required_argument, NULL, 'm'},
        {NULL, 0, NULL, 0}};
    const char *devices = "0";

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (c == 'd')
            devices = optarg;
        else if (c == 'o')
            bench.only = optarg;
        else if (c == 'm')
            bench.most = (uint32_t)atoi(optarg);
        else
            return 2;
    bench.device = open_device(devices, &bench.pool);
    report_host_memory("bn254_fr", 20, 16);
    report_host_memory("goldilocks", 22, 16);
    sweep();
    MUST(pool_destroy(&bench.pool));
    return 0;
}
