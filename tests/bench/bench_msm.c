/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast sums are on a device: points, scalars and workspace resident, events around the stages,
 * two warm-ups, median of nine. Points have known discrete logarithms, so every row's result is
 * checked exactly: it must be the sum of products of scalars and logarithms, times the generator.
 *
 * bench_msm [--device STRING] [--json FILE] [--curve NAME] [--log N] [--max N] [--bits C] [--batch
 * B]
 *           [--factor F] [--skew KIND]
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include <devicepool.h>

#include "base/clock.h"
#include "msm/msm.h"

enum { WARM_UPS = 2, ROUNDS = 9, LOG_DISTINCT = 20, STAGES = 4 };

static struct {
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
    pool_event *mark[STAGES + 1];
    cJSON *rows;
    uint32_t window_bits;
    uint32_t factor;
    uint64_t batch;
    const char *skew;
} bench = {.factor = 1, .batch = 1, .skew = "uniform"};

static void must(pool_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, pool_status_name(status), pool_last_error()->message);
    exit(1);
}
#define MUST(call) must((call), #call)

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
    const pool_curve *curve;
    uint64_t n;
    uint64_t distinct; /* points; they repeat */
    uint8_t *scalars;  /* standard form, packed */
    uint8_t *logarithms;
    uint8_t *sums; /* of the sets */
    uint8_t *results;
    pool_buffer *points, *scalar_buffer, *workspace, *result;
    struct msm_plan plan;
    struct msm_part part;
    struct msm_run run;
    struct msm_target target;
};

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du;
}

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
static void make_scalar(const pool_field *field, uint64_t i, uint64_t *x)
{
    static uint64_t same[FIELD_MAX_LIMBS];
    const char *skew = bench.skew;
    uint64_t draw = next_random();

    memset(x, 0, FIELD_MAX_LIMBS * sizeof(*x));
    if (!strcmp(skew, "equal")) {
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
    } else if (!strcmp(skew, "geometric")) {
        random_scalar(field, x);
        uint32_t keep = (uint32_t)__builtin_ctzll(draw | (uint64_t)1 << 63) * 8;
        for (uint32_t limb = 0; limb < field->limbs; limb++) {
            uint32_t here = keep > 64 * limb ? keep - 64 * limb : 0;
            if (here < 64)
                x[limb] &= ((uint64_t)1 << here) - 1;
        }
    } else {
        random_scalar(field, x);
    }
}

static void make_scalars(struct work *work)
{
    const pool_field *field = work->curve->scalar_field;
    uint64_t count = work->n * bench.batch;

    work->scalars = must_alloc(count * field->bytes);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t x[FIELD_MAX_LIMBS];

        make_scalar(field, i, x);
        field_store(field, work->scalars + i * field->bytes, x);
    }
    MUST(pool_buffer_from_host(
        bench.device, work->scalars, count * field->bytes, &work->scalar_buffer));
}

/* Shared by the sums of a batch; with a table its levels follow. */
static void make_points(struct work *work)
{
    const pool_curve *curve = work->curve;
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    uint64_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    uint8_t *points;

    work->distinct = work->n >> LOG_DISTINCT ? (uint64_t)1 << LOG_DISTINCT : work->n;
    points = must_alloc(work->distinct * bytes);
    work->logarithms = must_alloc(work->distinct * curve->scalar_field->bytes);
    MUST(pool_random_points(curve, 7, work->distinct, points, &format, work->logarithms));
    MUST(pool_buffer_alloc(bench.device, work->n * bytes + 1, &work->points));
    for (uint64_t at = 0; at < work->n; at += work->distinct)
        MUST(pool_copy_to_device(work->points, at * bytes, points,
            (work->n - at < work->distinct ? work->n - at : work->distinct) * bytes, bench.stream));
    MUST(pool_stream_synchronize(bench.stream));
    free(points);
}

static void prepare(struct work *work)
{
    const pool_curve *curve = work->curve;
    const struct msm_chip chip = msm_chip_of(bench.device);
    const struct msm_job job = {.coordinate_words = (uint32_t)curve->coordinates.bytes / 4,
        .scalar_words = curve->scalar_field->words,
        .order_bits = curve->scalar_field->bits,
        .total = work->n,
        .count = work->n,
        .batch = bench.batch,
        .levels = bench.factor,
        .window_bits = bench.window_bits};
    CUdeviceptr address;

    MUST(msm_plan_make(&chip, &job, &work->plan));
    MUST(pool_buffer_alloc(bench.device, work->plan.bytes, &work->workspace));
    MUST(pool_buffer_alloc(bench.device, bench.batch * 16 * 4 * 24, &work->result));
    work->sums = must_alloc(work->plan.sets * 4 * curve->coordinates.bytes);
    work->results = must_alloc(bench.batch * 2 * curve->coordinates.bytes);
    work->run = (struct msm_run){
        .device = bench.device, .stream = bench.stream, .curve = curve, .plan = &work->plan};
    MUST(pool_buffer_address(work->workspace, &work->run.workspace));
    work->part = (struct msm_part){.count = work->n,
        .scalar_stride = curve->scalar_field->words,
        .scalar_batch = work->n,
        .point_stride = 2 * curve->coordinates.bytes};
    MUST(pool_buffer_address(work->scalar_buffer, &work->part.scalars));
    MUST(pool_buffer_address(work->points, &work->part.points));
    MUST(pool_buffer_address(work->result, &address));
    work->target = (struct msm_target){.results = address,
        .stride = pool_point_bytes(curve, POOL_POINT_AFFINE),
        .layout = POOL_POINT_AFFINE,
        .form = POOL_FORM_STANDARD};
}

static void run_once(struct work *work)
{
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_STANDARD, 0};

    work->run.parts = 0;
    MUST(pool_event_record(bench.mark[0], bench.stream));
    MUST(msm_sort_enqueue(&work->run, &work->part));
    MUST(pool_event_record(bench.mark[1], bench.stream));
    MUST(msm_run_clear(&work->run));
    MUST(msm_sum_enqueue(&work->run, &work->part));
    MUST(pool_event_record(bench.mark[2], bench.stream));
    MUST(msm_run_reduce(&work->run));
    MUST(pool_event_record(bench.mark[3], bench.stream));
    if (bench.batch > MSM_HOST_COMBINES)
        MUST(msm_run_combine(&work->run, &work->target));
    else
        MUST(pool_copy_to_host(work->sums, work->workspace, work->plan.sums_at,
            work->plan.sets * 4 * work->curve->coordinates.bytes, bench.stream));
    MUST(pool_event_record(bench.mark[4], bench.stream));
    MUST(pool_stream_synchronize(bench.stream));
    if (bench.batch > MSM_HOST_COMBINES)
        MUST(pool_copy_to_host(work->results, work->result, 0,
            pool_point_bytes(work->curve, POOL_POINT_AFFINE) * bench.batch, bench.stream));
    else
        msm_combine_on_host(work->curve, &work->plan, work->sums, work->results, &format);
}

static int is_right(const struct work *work)
{
    const pool_curve *curve = work->curve;
    const pool_field *field = curve->scalar_field;
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_STANDARD, 0};
    uint64_t point_bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    uint8_t generator[8 * FIELD_MAX_LIMBS * 4], expected[8 * FIELD_MAX_LIMBS * 4];
    int right = 1;

    MUST(pool_curve_generator(curve, &format, generator));
    for (uint64_t b = 0; b < bench.batch; b++) {
        uint64_t sum[FIELD_MAX_LIMBS] = {0}, x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];
        uint8_t scalar[8 * FIELD_MAX_LIMBS];
        int equal = 0;

        for (uint64_t i = 0; i < work->n; i++) {
            field_load(field, x, work->scalars + (b * work->n + i) * field->bytes);
            field_load(field, y, work->logarithms + i % work->distinct * field->bytes);
            field_mul(field, x, x, y);
            field_add(field, sum, sum, x);
        }
        field_to_montgomery(field, sum, sum); /* each product lacks one factor R */
        field_store(field, scalar, sum);
        MUST(pool_point_mul(curve, &format, generator, scalar, field->bytes, expected));
        MUST(pool_point_equal(
            curve, expected, &format, work->results + b * point_bytes, &format, &equal));
        right &= equal;
    }
    return right;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

static void report(const struct work *work, double first_ms, double total[ROUNDS],
    double stage[STAGES][ROUNDS], int right)
{
    static const char *const names[STAGES] = {"sort_ms", "sum_ms", "reduce_ms", "combine_ms"};
    cJSON *row = cJSON_CreateObject();

    cJSON_AddStringToObject(row, "curve", work->curve->name);
    cJSON_AddStringToObject(row, "skew", bench.skew);
    cJSON_AddNumberToObject(row, "n", (double)work->n);
    cJSON_AddNumberToObject(row, "batch", (double)bench.batch);
    cJSON_AddNumberToObject(row, "window_bits", work->plan.window_bits);
    cJSON_AddNumberToObject(row, "workspace_bytes", (double)work->plan.bytes);
    cJSON_AddNumberToObject(row, "first_ms", first_ms);
    cJSON_AddNumberToObject(row, "ms", median(total));
    printf("%-14s %-9s n %9llu x %2llu c %2u  %9.3f ms", work->curve->name, bench.skew,
        (unsigned long long)work->n, (unsigned long long)bench.batch, work->plan.window_bits,
        median(total));
    for (int i = 0; i < STAGES; i++) {
        cJSON_AddNumberToObject(row, names[i], median(stage[i]));
        printf("  %s %8.3f", names[i], median(stage[i]));
    }
    printf("  workspace %6.1f MiB  first %.0f ms  %s\n", (double)work->plan.bytes / 1048576,
        first_ms, right ? "right" : "WRONG");
    fflush(stdout);
    cJSON_AddBoolToObject(row, "checked", right);
    cJSON_AddItemToArray(bench.rows, row);
}

static int measure(const char *curve, uint64_t n)
{
    struct work work = {.curve = pool_curve_by_name(curve), .n = n};
    double total[ROUNDS], stage[STAGES][ROUNDS];
    int right;

    if (!work.curve)
        must(POOL_ERR_NOT_FOUND, curve);
    make_scalars(&work);
    make_points(&work);
    prepare(&work);
    uint64_t start = base_clock_ns();
    run_once(&work);
    double first_ms = (double)(base_clock_ns() - start) * 1e-6;
    right = is_right(&work);
    for (int i = -WARM_UPS; i < ROUNDS; i++) {
        start = base_clock_ns();
        run_once(&work);
        if (i < 0)
            continue;
        total[i] = (double)(base_clock_ns() - start) * 1e-6;
        for (int j = 0; j < STAGES; j++)
            MUST(pool_event_elapsed(bench.mark[j], bench.mark[j + 1], &stage[j][i]));
    }
    right &= is_right(&work);
    report(&work, first_ms, total, stage, right);
    MUST(pool_buffer_free(&work.points));
    MUST(pool_buffer_free(&work.scalar_buffer));
    MUST(pool_buffer_free(&work.workspace));
    MUST(pool_buffer_free(&work.result));
    free(work.scalars);
    free(work.logarithms);
    free(work.sums);
    free(work.results);
    return right;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"device", 1, 0, 'd'}, {"json", 1, 0, 'j'},
        {"curve", 1, 0, 'c'}, {"log", 1, 0, 'l'}, {"max", 1, 0, 'm'}, {"bits", 1, 0, 'b'},
        {"batch", 1, 0, 'n'}, {"factor", 1, 0, 'f'}, {"skew", 1, 0, 's'}, {0, 0, 0, 0}};
    const char *device = "0", *json = NULL, *curve = "bn254_g1";
    uint32_t log = 16, most = 0;
    int option, right = 1;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 'd':
            device = optarg;
            break;
        case 'j':
            json = optarg;
            break;
        case 'c':
            curve = optarg;
            break;
        case 'l':
            log = (uint32_t)atoi(optarg);
            break;
        case 'm':
            most = (uint32_t)atoi(optarg);
            break;
        case 'b':
            bench.window_bits = (uint32_t)atoi(optarg);
            break;
        case 'n':
            bench.batch = (uint64_t)atoi(optarg);
            break;
        case 'f':
            bench.factor = (uint32_t)atoi(optarg);
            break;
        case 's':
            bench.skew = optarg;
            break;
        default:
            return 2;
        }
    }
    pool_params params = {.struct_size = sizeof(params), .devices = device};
    MUST(pool_create(&bench.pool, &params));
    MUST(pool_device_at(bench.pool, 0, &bench.device));
    MUST(pool_stream_create(bench.device, NULL, &bench.stream));
    for (int i = 0; i <= STAGES; i++)
        MUST(pool_event_create(bench.device, POOL_EVENT_TIMING, &bench.mark[i]));
    bench.rows = cJSON_CreateArray();
    for (uint32_t at = log; at <= (most ? most : log); at += 2)
        right &= measure(curve, (uint64_t)1 << at);
    if (json) {
        char *text = cJSON_Print(bench.rows);
        FILE *file = fopen(json, "w");

        if (!file || fputs(text, file) < 0 || fclose(file))
            perror(json);
        free(text);
    }
    cJSON_Delete(bench.rows);
    return right ? 0 : 1;
}
