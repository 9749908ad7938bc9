/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of MSMs on a device, each timed by events, beside the time of the whole call by the
 * host's clock: resident bases, with and without precomputed multiples, scalars in device memory.
 * Every result is checked exactly, see src/tools/bench/msm.c. `devicepool bench --suite msm`
 * measures the rows of docs/performance.md.
 *
 * bench_msm [--device STRING] [--json FILE] [--curve NAME] [--log N,...] [--batch B] [--factor F]
 *           [--bits C,...] [--affine PASSES] [--skew KIND] [--tune NAME=VALUE]
 */
#include <getopt.h>
#include <string.h>

#include "bench_support.h"
#include "zk/curve/endomorphism.h"
#include "zk/msm/bases.h"
#include "zk/msm/msm.h"

enum { STAGES = 5, ALL = -1 };

struct row {
    const char *curve;
    uint32_t log;
    uint64_t batch;
    int factor;          /* ALL: every multiple of the bases */
    const char *scalars; /* NULL: uniform */
};

static struct {
    device_pool *pool;
    pool_device *device;
    pool_event *events[STAGES + 1];
    cJSON *rows;
    uint32_t window_bits;
    uint32_t affine_passes;
} bench;

/* Milliseconds of the stages, measured while the inputs of a row exist. */
struct stages {
    const struct row *row;
    double median[STAGES];
    uint32_t precompute_factor;
    uint32_t window_bits;
    uint32_t affine_passes;
    uint64_t workspace_bytes;
    uint64_t bases_bytes;
    double bases_ms;
};

/* Where split terms are. */
struct halves {
    pool_buffer *scalars, *bases;
    CUdeviceptr scalar_address, base_address;
};

static void allocate_halves(const struct msm_job *job, struct halves *halves)
{
    MUST(pool_buffer_alloc(bench.device, 2 * job->count * 4 * job->scalar_words, &halves->scalars));
    MUST(pool_buffer_address(halves->scalars, &halves->scalar_address));
    MUST(pool_buffer_alloc(
        bench.device, 2 * job->count * 8 * job->coordinate_words, &halves->bases));
    MUST(pool_buffer_address(halves->bases, &halves->base_address));
}

/* All stages but the last one, which a copy of the window sums replaces. */
static void run_stages(
    struct msm_run *run, struct msm_chunk_operands operands, const struct halves *halves)
{
    run->chunks = 0;
    MUST(pool_event_record(bench.events[0], run->stream));
    if (halves->scalars)
        MUST(msm_split_terms(run, &operands, halves->scalar_address, halves->base_address));
    MUST(pool_event_record(bench.events[1], run->stream));
    MUST(msm_run_sort(run, &operands));
    MUST(pool_event_record(bench.events[2], run->stream));
    MUST(msm_run_clear(run));
    MUST(pool_event_record(bench.events[3], run->stream));
    MUST(msm_run_accumulate(run, &operands));
    MUST(pool_event_record(bench.events[4], run->stream));
    MUST(msm_run_reduce(run));
    MUST(pool_event_record(bench.events[5], run->stream));
    MUST(pool_stream_synchronize(run->stream));
}

static pool_status time_stages(struct bench_run *measured)
{
    const struct bench_msm_state *msm = measured->state;
    const struct pool_bases *bases = msm->params.bases;
    const struct chip chip = chip_of(bench.device);
    struct stages *stages = measured->user;
    struct msm_job job = {.coordinate_words = (uint32_t)msm->curve->coordinates.bytes / 4,
        .scalar_words = msm->field->words,
        .order_bits = msm->field->bits,
        .count = measured->spec.size,
        .chunk_count = measured->spec.size,
        .batch = measured->spec.batch,
        .precompute_factor = bases->factor,
        .sets_per_msm = bases->factor > 1 ? bases->bucket_sets : 0,
        .window_bits = bases->factor > 1 ? bases->window_bits : bench.window_bits,
        .affine_passes = bench.affine_passes};
    struct msm_plan plan;
    struct msm_run run = {
        .device = bench.device, .stream = measured->stream, .curve = msm->curve, .plan = &plan};
    struct msm_chunk_operands operands = {.count = measured->spec.size,
        .scalar_stride = msm->field->words,
        .scalar_batch_stride = measured->spec.size,
        .bases = bases->address,
        .base_stride = 2 * msm->curve->coordinates.bytes,
        .multiple_stride = bases->count};
    double times[STAGES][ROUNDS];
    pool_buffer *workspace = NULL;
    struct halves halves = {0};

    if (msm_plan_splits(&chip, &job, MSM_SPLITS_BY_NUMBER)) {
        job.half_bits = curve_endomorphism_of(msm->curve)->bits;
        run.extras = MSM_SPLITS_TERMS;
        allocate_halves(&job, &halves);
    }
    MUST(msm_plan_make(&chip, &job, &plan));
    MUST(pool_buffer_alloc(bench.device, plan.bytes, &workspace));
    MUST(pool_buffer_address(workspace, &run.workspace));
    MUST(pool_buffer_address(msm->placed.buffer, &operands.scalars));
    for (int i = 0; i < ROUNDS; i++) {
        run_stages(&run, operands, &halves);
        for (int j = 0; j < STAGES; j++)
            MUST(pool_event_elapsed(bench.events[j], bench.events[j + 1], &times[j][i]));
    }
    for (int j = 0; j < STAGES; j++)
        stages->median[j] = bench_median(times[j], ROUNDS);
    stages->precompute_factor = bases->factor;
    stages->window_bits = plan.window_bits;
    stages->affine_passes = plan.affine.passes;
    stages->workspace_bytes = pool_buffer_bytes(measured->workspace);
    stages->bases_bytes = pool_bases_bytes(bases);
    stages->bases_ms = msm->bases_seconds * 1e3;
    MUST(pool_buffer_destroy(&halves.scalars));
    MUST(pool_buffer_destroy(&halves.bases));
    return pool_buffer_destroy(&workspace);
}

static void report(const struct bench_run *run, const struct stages *stages)
{
    static const char *const names[STAGES] = {
        "split_ms", "sort_ms", "clear_ms", "sum_ms", "reduce_ms"};
    const struct row *row = stages->row;
    double ms = run->timing.median * 1e3, rest = ms;
    cJSON *json = cJSON_CreateObject();

    cJSON_AddItemToArray(bench.rows, json);
    cJSON_AddStringToObject(json, "curve", row->curve);
    cJSON_AddNumberToObject(json, "log_size", row->log);
    cJSON_AddNumberToObject(json, "batch", (double)row->batch);
    cJSON_AddNumberToObject(json, "levels", stages->precompute_factor);
    cJSON_AddStringToObject(json, "scalars", row->scalars ? row->scalars : "uniform");
    cJSON_AddNumberToObject(json, "window_bits", stages->window_bits);
    cJSON_AddNumberToObject(json, "affine_passes", stages->affine_passes);
    cJSON_AddNumberToObject(json, "workspace_bytes", (double)stages->workspace_bytes);
    cJSON_AddNumberToObject(json, "points_bytes", (double)stages->bases_bytes);
    cJSON_AddNumberToObject(json, "points_ms", stages->bases_ms);
    cJSON_AddNumberToObject(json, "first_ms", run->first_use * 1e3);
    cJSON_AddNumberToObject(json, "ms", ms);
    cJSON_AddBoolToObject(json, "checked", run->is_correct);
    printf("%-12s 2^%u x %-2llu factor %2u %-9s c %2u %9.3f ms", row->curve, row->log,
        (unsigned long long)row->batch, stages->precompute_factor,
        row->scalars ? row->scalars : "uniform", stages->window_bits, ms);
    for (int i = 0; i < STAGES; i++) {
        cJSON_AddNumberToObject(json, names[i], stages->median[i]);
        printf(" %s %.3f", names[i], stages->median[i]);
        rest -= stages->median[i];
    }
    printf(" rest %.3f", rest);
    printf(" %.0f MiB bases %.0f ms first use %.0f ms\n", (double)stages->workspace_bytes / 1048576,
        stages->bases_ms, run->first_use * 1e3);
    fflush(stdout);
}

static void measure_row(const struct row *row)
{
    struct stages stages = {.row = row};
    struct bench_run run = {.operation = &bench_msm,
        .spec = {.subject = row->curve,
            .size = UINT64_C(1) << row->log,
            .batch = row->batch,
            .precompute_factor = row->factor == ALL ? POOL_PRECOMPUTE_ALL : (uint32_t)row->factor,
            .window_bits = bench.window_bits,
            .affine_passes = bench.affine_passes,
            .scalars = row->scalars},
        .pool = bench.pool,
        .device = bench.device,
        .examine = time_stages,
        .user = &stages};

    if (!bench_msm.has_subject(row->curve))
        must(POOL_ERR_NOT_FOUND, row->curve);
    measure_operation(&run);
    report(&run, &stages);
}

/* The pool with the numbers of the device's chip, but those of `changes`: NAME=VALUE,... */
static void open_tuned(const char *devices, char *changes)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices};

    bench.device = open_device(devices, &bench.pool);
    if (!changes)
        return;
    MUST(pool_tuning_create(bench.device, (pool_tuning **)(uintptr_t)&params.tuning));
    MUST(pool_destroy(&bench.pool));
    for (char *change = strtok(changes, ","); change; change = strtok(NULL, ",")) {
        char *value = strchr(change, '=');

        if (!value)
            must(POOL_ERR_INVALID_ARGUMENT, change);
        *value++ = 0;
        MUST(pool_tuning_set(
            (pool_tuning *)(uintptr_t)params.tuning, change, (uint32_t)strtoul(value, NULL, 10)));
    }
    MUST(pool_create(&bench.pool, &params));
    MUST(pool_device_at(bench.pool, 0, &bench.device));
}

/* The next number of a list; false behind the last one. */
static bool next_number(const char **list, uint32_t *number)
{
    char *end;

    if (!**list)
        return false;
    *number = (uint32_t)strtoul(*list, &end, 10);
    *list = *end ? end + 1 : end;
    return true;
}

static void measure_rows(struct row row, const char *logs, const char *bits)
{
    while (next_number(&logs, &row.log))
        for (const char *left = bits; next_number(&left, &bench.window_bits);)
            measure_row(&row);
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"device", 1, 0, 'd'}, {"json", 1, 0, 'j'},
        {"curve", 1, 0, 'c'}, {"log", 1, 0, 'l'}, {"bits", 1, 0, 'b'}, {"batch", 1, 0, 'n'},
        {"affine", 1, 0, 'a'}, {"factor", 1, 0, 'f'}, {"skew", 1, 0, 's'}, {"tune", 1, 0, 't'},
        {0, 0, 0, 0}};
    struct row row = {.curve = "bn254_g1", .log = 20, .batch = 1, .factor = 1};
    const char *device = "0", *json = NULL, *logs = "20", *bits = "0";
    char *changes = NULL;
    int option;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        if (option == 'd')
            device = optarg;
        else if (option == 'j')
            json = optarg;
        else if (option == 'c')
            row.curve = optarg;
        else if (option == 'l')
            logs = optarg;
        else if (option == 'b')
            bits = optarg;
        else if (option == 'a')
            bench.affine_passes = atoi(optarg) ? (uint32_t)atoi(optarg) : POOL_AFFINE_NONE;
        else if (option == 'n')
            row.batch = (uint64_t)atoi(optarg);
        else if (option == 'f')
            row.factor = atoi(optarg);
        else if (option == 's')
            row.scalars = optarg;
        else if (option == 't')
            changes = optarg;
        else
            return 2;
    }
    open_tuned(device, changes);
    for (int i = 0; i <= STAGES; i++)
        MUST(pool_event_create(bench.device, POOL_EVENT_TIMING, &bench.events[i]));
    bench.rows = cJSON_CreateArray();
    measure_rows(row, logs, bits);
    write_report(json, bench.device, bench.rows);
    for (int i = 0; i <= STAGES; i++)
        MUST(pool_event_destroy(&bench.events[i]));
    MUST(pool_destroy(&bench.pool));
    return 0;
}
