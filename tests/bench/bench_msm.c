/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast sums are on a device: points resident as a handle, with and without tables, scalars
 * resident (or, where a row says so, in pinned host memory), results on the host; the clock around
 * pool_msm, two warm-ups, median of nine. The stages are measured apart, by events between them.
 * Points have known discrete logarithms, so every row's result is checked exactly: it must be the
 * sum of products of scalars and logarithms, times the generator. First use is reported apart.
 *
 * bench_msm [--device STRING] [--json FILE] [--only CURVE] [--most LOG]        the table
 * bench_msm --curve NAME --log N [--batch B] [--factor F] [--bits C] [--skew KIND] [--host]    one
 * row
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include <devicepool.h>

#include "base/clock.h"
#include "bench_support.h"
#include "msm/bases.h"
#include "msm/msm.h"
#include "support/random.h"

enum { WARM_UPS = 2, ROUNDS = 9, LOG_DISTINCT = 20, STAGES = 4, ALL = -1 };

struct row {
    const char *curve;
    uint32_t log;
    uint64_t batch;
    int factor;
    const char *skew; /* NULL: uniform */
    int from_host;
    double best_peer; /* ms, 0: none measured */
    double target;
};

/* The best figure of any other library for the row on one H200, and what is aimed at. */
static const struct row table[] = {
    {"bn254_g1", 16, 1, 1, NULL, 0, 1.59, 1.0},
    {"bn254_g1", 18, 1, 1, NULL, 0, 2.23, 1.6},
    {"bn254_g1", 20, 1, 1, NULL, 0, 4.65, 3.7},
    {"bn254_g1", 22, 1, 1, NULL, 0, 14.2, 11.8},
    {"bn254_g1", 24, 1, 1, NULL, 0, 46.3, 41},
    {"bn254_g1", 16, 16, 1, NULL, 0, 10.1, 6},
    {"bn254_g1", 16, 1, ALL, NULL, 0, 1.02, 0.7},
    {"bn254_g1", 18, 1, ALL, NULL, 0, 1.93, 1.2},
    {"bn254_g1", 20, 1, ALL, NULL, 0, 5.28, 3.0},
    {"bn254_g1", 22, 1, ALL, NULL, 0, 16.4, 10},
    {"bn254_g1", 24, 1, ALL, NULL, 0, 57.9, 36},
    {"bn254_g1", 16, 16, ALL, NULL, 0, 5.8, 4},
    {"bn254_g1", 24, 1, 1, NULL, 1, 55.0, 45},
    {"bn254_g1", 20, 1, 1, "equal", 0, 0, 0},
    {"bn254_g1", 20, 1, 1, "zeros", 0, 0, 0},
    {"bn254_g1", 20, 1, 1, "bits", 0, 0, 0},
    {"bn254_g1", 20, 1, 1, "window", 0, 0, 0},
    {"bn254_g1", 20, 1, 1, "geometric", 0, 0, 0},
    {"bn254_g2", 16, 1, 1, NULL, 0, 21.5, 3.2},
    {"bn254_g2", 18, 1, 1, NULL, 0, 25.3, 5.5},
    {"bn254_g2", 20, 1, 1, NULL, 0, 40.3, 14},
    {"bn254_g2", 16, 1, ALL, NULL, 0, 3.9, 2.2},
    {"bn254_g2", 18, 1, ALL, NULL, 0, 7.4, 4},
    {"bn254_g2", 20, 1, ALL, NULL, 0, 20.5, 11},
    {"bls12_381_g1", 16, 1, 1, NULL, 0, 6.7, 1.9},
    {"bls12_381_g1", 18, 1, 1, NULL, 0, 12.0, 3.4},
    {"bls12_381_g1", 20, 1, 1, NULL, 0, 18.5, 8.0},
    {"bls12_381_g1", 22, 1, 1, NULL, 0, 41.7, 25},
    {"bls12_381_g1", 24, 1, 1, NULL, 0, 131, 88},
    {"bls12_381_g1", 16, 1, ALL, NULL, 0, 1.77, 1.2},
    {"bls12_381_g1", 18, 1, ALL, NULL, 0, 3.46, 2.4},
    {"bls12_381_g1", 20, 1, ALL, NULL, 0, 9.07, 7.2},
    {"bls12_381_g1", 22, 1, ALL, NULL, 0, 25.5, 22},
    {"bls12_381_g1", 24, 1, ALL, NULL, 0, 91.9, 78},
};

/* Points of one curve, made once. */
struct base {
    const pool_curve *curve;
    uint64_t count; /* distinct ones */
    uint8_t *points;
    uint8_t *logarithms;
};

static struct {
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
    pool_event *mark[STAGES + 1];
    cJSON *rows;
    struct base base;
    uint32_t window_bits;
} bench;

static void *must_alloc(uint64_t bytes)
{
    void *memory = malloc(bytes + 1);

    if (!memory) {
        fprintf(stderr, "no %llu bytes of host memory\n", (unsigned long long)bytes);
        exit(1);
    }
    return memory;
}

struct work {
    const struct row *row;
    const pool_curve *curve;
    uint64_t n;
    uint8_t *scalars; /* standard form, packed, pinned */
    pool_buffer *scalar_buffer, *workspace;
    pool_pinned *pinned;
    pool_bases *points;
    uint8_t *sums; /* of the sets */
    uint8_t *results;
    double table_ms, first_ms;
    struct msm_plan plan;
    struct msm_chunk_operands part;
    struct msm_run run;
};

static void random_scalar(const pool_field *field, uint64_t *x)
{
    do {
        for (uint32_t i = 0; i < field->limbs; i++)
            x[i] = next_random();
        if (field->bits % 64)
            x[field->limbs - 1] &= ((uint64_t)1 << field->bits % 64) - 1;
    } while (!field_is_canonical(field, x));
}

/* What proofs have besides uniform scalars. */
static void make_scalar(const pool_field *field, const char *skew, uint64_t i, uint64_t *x)
{
    static uint64_t same[FIELD_MAX_LIMBS];
    uint64_t draw = next_random();

    memset(x, 0, FIELD_MAX_LIMBS * sizeof(*x));
    if (!skew) {
        random_scalar(field, x);
    } else if (!strcmp(skew, "equal")) {
        if (i == 0)
            random_scalar(field, same);
        memcpy(x, same, sizeof(same));
    } else if (!strcmp(skew, "zeros")) {
        if (draw % 100 == 0)
            random_scalar(field, x);
    } else if (!strcmp(skew, "bits")) {
        x[0] = draw >> 63;
    } else if (!strcmp(skew, "window")) {
        random_scalar(field, x);
        x[0] = (x[0] & ~(uint64_t)0xffff) | 0x1234;
    } else {
        random_scalar(field, x);
        uint32_t keep = (uint32_t)__builtin_ctzll(draw | (uint64_t)1 << 63) * 8;
        for (uint32_t limb = 0; limb < field->limbs; limb++) {
            uint32_t here = keep > 64 * limb ? keep - 64 * limb : 0;
            if (here < 64)
                x[limb] &= ((uint64_t)1 << here) - 1;
        }
    }
}

static void make_scalars(struct work *work)
{
    const pool_field *field = work->curve->scalar_field;
    uint64_t count = work->n * work->row->batch;

    MUST(pool_pinned_create(bench.device, count * field->bytes, 0, &work->pinned));
    work->scalars = pool_pinned_data(work->pinned);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t x[FIELD_MAX_LIMBS];

        make_scalar(field, work->row->skew, i, x);
        field_store(field, work->scalars + i * field->bytes, x);
    }
    MUST(pool_buffer_from_host(
        bench.device, work->scalars, count * field->bytes, &work->scalar_buffer));
}

static void make_base(const pool_curve *curve, uint64_t count)
{
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    struct base *base = &bench.base;

    if (base->curve == curve && base->count >= count)
        return;
    free(base->points);
    free(base->logarithms);
    base->curve = curve;
    base->count = count;
    base->points = must_alloc(count * pool_point_bytes(curve, POOL_POINT_AFFINE));
    base->logarithms = must_alloc(count * curve->scalar_field->bytes);
    MUST(pool_random_points(curve, 7, count, &format, base->points, base->logarithms));
}

/* 2^20 different ones, which repeat; shared by the sums of a batch. */
static void make_points(struct work *work)
{
    uint64_t bytes = pool_point_bytes(work->curve, POOL_POINT_AFFINE);
    pool_bases_params params = {.struct_size = sizeof(params),
        .curve = work->curve,
        .precompute_factor =
            work->row->factor == ALL ? POOL_PRECOMPUTE_ALL : (uint32_t)work->row->factor,
        .window_bits = bench.window_bits};
    pool_exec exec = {.struct_size = sizeof(exec), .device = bench.device};
    pool_buffer *given = NULL;
    pool_span span = {.count = work->n, .form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_DEVICE};
    CUdeviceptr address;

    make_base(work->curve, work->n >> LOG_DISTINCT ? (uint64_t)1 << LOG_DISTINCT : work->n);
    MUST(pool_buffer_alloc(bench.device, work->n * bytes, &given));
    for (uint64_t at = 0; at < work->n; at += bench.base.count) {
        uint64_t left = work->n - at;

        MUST(pool_copy_to_device(given, at * bytes, bench.base.points,
            (left < bench.base.count ? left : bench.base.count) * bytes, NULL));
    }
    MUST(pool_buffer_address(given, &address));
    span.data = (void *)(uintptr_t)address;
    uint64_t start = base_clock_ns();
    MUST(pool_bases_create(&params, &exec, &span, &work->points));
    work->table_ms = (double)(base_clock_ns() - start) * 1e-6;
    MUST(pool_buffer_destroy(&given));
}

static pool_msm_params params_of(const struct work *work)
{
    return (pool_msm_params){.struct_size = sizeof(pool_msm_params),
        .bases = work->points,
        .batch = work->row->batch,
        .shared_bases = 1,
        .window_bits = bench.window_bits};
}

static pool_exec exec_of(const struct work *work)
{
    return (pool_exec){
        .struct_size = sizeof(pool_exec), .stream = bench.stream, .workspace = work->workspace};
}

static pool_span scalars_of(const struct work *work)
{
    pool_span span = {.data = work->scalars, .count = work->n * work->row->batch};
    CUdeviceptr address;

    if (work->row->from_host)
        return span;
    MUST(pool_buffer_address(work->scalar_buffer, &address));
    span.data = (void *)(uintptr_t)address;
    span.space = POOL_MEMORY_DEVICE;
    return span;
}

static void prepare(struct work *work)
{
    const pool_curve *curve = work->curve;
    const struct chip chip = chip_of(bench.device);
    const struct pool_bases *points = work->points;
    const struct msm_job job = {.coordinate_words = (uint32_t)curve->coordinates.bytes / 4,
        .scalar_words = curve->scalar_field->words,
        .order_bits = curve->scalar_field->bits,
        .count = work->n,
        .chunk_count = work->n,
        .batch = work->row->batch,
        .precompute_factor = points->levels,
        .sets_per_msm = points->levels > 1 ? points->groups : 0,
        .window_bits = points->levels > 1 ? points->window_bits : bench.window_bits};
    pool_msm_params params = params_of(work);
    pool_exec exec = exec_of(work);
    pool_span scalars = scalars_of(work);
    uint64_t bytes;

    work->results = must_alloc(work->row->batch * 2 * curve->coordinates.bytes);
    pool_span results = {.data = work->results, .count = work->row->batch};
    MUST(pool_msm_workspace(&params, &exec, NULL, &scalars, &results, &bytes));
    MUST(msm_plan_make(&chip, &job, &work->plan));
    bytes = bytes < work->plan.bytes ? work->plan.bytes : bytes;
    MUST(pool_buffer_alloc(bench.device, bytes, &work->workspace));
    work->sums = must_alloc(work->plan.bucket_sets * 4 * curve->coordinates.bytes);
    work->run = (struct msm_run){
        .device = bench.device, .stream = bench.stream, .curve = curve, .plan = &work->plan};
    MUST(pool_buffer_address(work->workspace, &work->run.workspace));
    work->part = (struct msm_chunk_operands){.count = work->n,
        .scalar_stride = curve->scalar_field->words,
        .scalar_batch_stride = work->n,
        .bases = points->address,
        .base_stride = 2 * curve->coordinates.bytes,
        .multiple_stride = points->count};
    MUST(pool_buffer_address(work->scalar_buffer, &work->part.scalars));
}

static void run_once(struct work *work)
{
    pool_msm_params params = params_of(work);
    pool_exec exec = exec_of(work);
    pool_span scalars = scalars_of(work);
    pool_span results = {.data = work->results, .count = work->row->batch};

    MUST(pool_msm(&params, &exec, NULL, &scalars, &results));
}

/* The same stage by stage, but for the last one: a copy of the sets' sums stands for it. */
static void run_stages(struct work *work)
{
    work->run.chunks = 0;
    MUST(pool_event_record(bench.mark[0], bench.stream));
    MUST(msm_run_sort(&work->run, &work->part));
    MUST(pool_event_record(bench.mark[1], bench.stream));
    MUST(msm_run_clear(&work->run));
    MUST(pool_event_record(bench.mark[2], bench.stream));
    MUST(msm_run_accumulate(&work->run, &work->part));
    MUST(pool_event_record(bench.mark[3], bench.stream));
    MUST(msm_run_reduce(&work->run));
    MUST(pool_event_record(bench.mark[4], bench.stream));
    MUST(pool_stream_synchronize(bench.stream));
}

static int is_right(const struct work *work)
{
    const pool_curve *curve = work->curve;
    const pool_field *field = curve->scalar_field;
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_STANDARD, 0};
    uint8_t generator[8 * FIELD_MAX_LIMBS * 4], expected[8 * FIELD_MAX_LIMBS * 4];
    int right = 1;

    MUST(pool_curve_generator(curve, &format, generator));
    for (uint64_t b = 0; b < work->row->batch; b++) {
        uint64_t sum[FIELD_MAX_LIMBS] = {0}, x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];
        uint8_t scalar[8 * FIELD_MAX_LIMBS];
        int equal = 0;

        for (uint64_t i = 0; i < work->n; i++) {
            field_load(field, x, work->scalars + (b * work->n + i) * field->bytes);
            field_load(field, y, bench.base.logarithms + i % bench.base.count * field->bytes);
            field_mul(field, x, x, y);
            field_add(field, sum, sum, x);
        }
        field_to_montgomery(field, sum, sum); /* each product lacks one factor R */
        field_store(field, scalar, sum);
        MUST(pool_point_mul(curve, &format, generator, scalar, field->bytes, expected));
        MUST(pool_point_equal(curve, &format, expected, &format,
            work->results + b * pool_point_bytes(curve, POOL_POINT_AFFINE), &equal));
        right &= equal;
    }
    return right;
}

static void report(
    const struct work *work, double total[ROUNDS], double stage[STAGES][ROUNDS], int right)
{
    static const char *const names[STAGES] = {"sort_ms", "clear_ms", "sum_ms", "reduce_ms"};
    const struct row *row = work->row;
    double ms = median(total, ROUNDS);
    cJSON *made = cJSON_CreateObject();

    cJSON_AddStringToObject(made, "curve", row->curve);
    cJSON_AddNumberToObject(made, "log_size", row->log);
    cJSON_AddNumberToObject(made, "batch", (double)row->batch);
    cJSON_AddNumberToObject(made, "levels", work->points->levels);
    cJSON_AddStringToObject(made, "scalars", row->skew ? row->skew : "uniform");
    cJSON_AddStringToObject(made, "from", row->from_host ? "pinned host memory" : "device");
    cJSON_AddNumberToObject(made, "window_bits", work->plan.window_bits);
    cJSON_AddNumberToObject(made, "workspace_bytes", (double)pool_buffer_bytes(work->workspace));
    cJSON_AddNumberToObject(made, "points_bytes", (double)pool_bases_bytes(work->points));
    cJSON_AddNumberToObject(made, "points_ms", work->table_ms);
    cJSON_AddNumberToObject(made, "first_ms", work->first_ms);
    cJSON_AddNumberToObject(made, "ms", ms);
    cJSON_AddNumberToObject(made, "best_peer_ms", row->best_peer);
    cJSON_AddNumberToObject(made, "target_ms", row->target);
    printf("%-12s 2^%u x %-2llu %2u levels %-9s %s c %2u %9.3f ms", row->curve, row->log,
        (unsigned long long)row->batch, work->points->levels, row->skew ? row->skew : "uniform",
        row->from_host ? "host" : "    ", work->plan.window_bits, ms);
    if (row->best_peer > 0)
        printf(" (peer %.2f, target %.2f)", row->best_peer, row->target);
    for (int i = 0; i < STAGES; i++) {
        cJSON_AddNumberToObject(made, names[i], median(stage[i], ROUNDS));
        printf(" %s %.3f", names[i], median(stage[i], ROUNDS));
    }
    printf(" %.0f MiB table %.0f first %.0f %s\n",
        (double)pool_buffer_bytes(work->workspace) / 1048576, work->table_ms, work->first_ms,
        right ? "right" : "WRONG");
    fflush(stdout);
    cJSON_AddBoolToObject(made, "checked", right);
    cJSON_AddItemToArray(bench.rows, made);
}

static void release(struct work *work)
{
    MUST(pool_bases_destroy(&work->points));
    MUST(pool_buffer_destroy(&work->scalar_buffer));
    MUST(pool_buffer_destroy(&work->workspace));
    MUST(pool_pinned_destroy(&work->pinned));
    free(work->sums);
    free(work->results);
}

static int measure(const struct row *row)
{
    struct work work = {
        .row = row, .curve = pool_curve_by_name(row->curve), .n = (uint64_t)1 << row->log};
    double total[ROUNDS], stage[STAGES][ROUNDS];

    if (!work.curve)
        must(POOL_ERR_NOT_FOUND, row->curve);
    make_scalars(&work);
    make_points(&work);
    prepare(&work);
    uint64_t start = base_clock_ns();
    run_once(&work);
    work.first_ms = (double)(base_clock_ns() - start) * 1e-6;
    for (int i = -WARM_UPS; i < ROUNDS; i++) {
        start = base_clock_ns();
        run_once(&work);
        if (i >= 0)
            total[i] = (double)(base_clock_ns() - start) * 1e-6;
    }
    for (int i = 0; i < ROUNDS; i++) {
        run_stages(&work);
        for (int j = 0; j < STAGES; j++)
            MUST(pool_event_elapsed(bench.mark[j], bench.mark[j + 1], &stage[j][i]));
    }
    int right = is_right(&work);
    report(&work, total, stage, right);
    release(&work);
    return right;
}

static void write_json(const char *path)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    cJSON *root = cJSON_CreateObject();
    FILE *file = path ? fopen(path, "w") : NULL;

    MUST(pool_device_get_info(bench.device, &info));
    cJSON_AddStringToObject(root, "device", info.name);
    cJSON_AddStringToObject(root, "version", pool_version_text());
    cJSON_AddItemToObject(root, "rows", bench.rows);
    char *text = cJSON_Print(root);

    if (path && (!file || fputs(text, file) < 0 || fclose(file)))
        perror(path);
    free(text);
    cJSON_Delete(root);
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"device", 1, 0, 'd'}, {"json", 1, 0, 'j'},
        {"curve", 1, 0, 'c'}, {"log", 1, 0, 'l'}, {"bits", 1, 0, 'b'}, {"batch", 1, 0, 'n'},
        {"factor", 1, 0, 'f'}, {"skew", 1, 0, 's'}, {"host", 0, 0, 'h'}, {"only", 1, 0, 'o'},
        {"most", 1, 0, 'm'}, {0, 0, 0, 0}};
    struct row row = {.curve = "bn254_g1", .batch = 1, .factor = 1};
    const char *device = "0", *json = NULL, *only = NULL;
    uint32_t most = UINT32_MAX;
    int option, right = 1;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        if (option == 'd')
            device = optarg;
        else if (option == 'j')
            json = optarg;
        else if (option == 'c')
            row.curve = optarg;
        else if (option == 'l')
            row.log = (uint32_t)atoi(optarg);
        else if (option == 'b')
            bench.window_bits = (uint32_t)atoi(optarg);
        else if (option == 'n')
            row.batch = (uint64_t)atoi(optarg);
        else if (option == 'f')
            row.factor = atoi(optarg);
        else if (option == 's')
            row.skew = optarg;
        else if (option == 'h')
            row.from_host = 1;
        else if (option == 'o')
            only = optarg;
        else if (option == 'm')
            most = (uint32_t)atoi(optarg);
        else
            return 2;
    }
    pool_params params = {.struct_size = sizeof(params), .devices = device};
    MUST(pool_create(&bench.pool, &params));
    MUST(pool_device_at(bench.pool, 0, &bench.device));
    MUST(pool_stream_create(bench.device, NULL, &bench.stream));
    for (int i = 0; i <= STAGES; i++)
        MUST(pool_event_create(bench.device, POOL_EVENT_TIMING, &bench.mark[i]));
    bench.rows = cJSON_CreateArray();
    if (row.log)
        right = measure(&row);
    for (size_t i = 0; !row.log && i < sizeof(table) / sizeof(*table); i++)
        if (table[i].log <= most && (!only || !strcmp(only, table[i].curve)))
            right &= measure(&table[i]);
    write_json(json);
    return right ? 0 : 1;
}
