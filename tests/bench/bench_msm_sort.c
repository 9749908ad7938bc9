/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed of the MSM's sort on a device, stage by stage: scalars and workspace in device memory,
 * events around the stages, two warm-ups, median of nine. The result of every row is checked: all
 * offsets and entries have to be valid, and the digits of the first scalars to add up to them.
 *
 * bench_msm_sort [device [first row [last row]]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench_support.h"
#include "zk/msm/sort.h"
#include "support/msm_sort.h"

enum { SAMPLED = 1 << 14 };

static struct {
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
    pool_event *events[MSM_SORT_STAGES + 1];
} bench;

struct row {
    const char *curve;
    uint32_t log_count;
    uint32_t batch;
    uint32_t window_bits;
    uint32_t levels;
    enum sort_kind kind;
    double target; /* ms */
};

static const struct row rows[] = {
    {"bn254_g1", 16, 1, 13, 1, SORT_UNIFORM, 0.06},
    {"bn254_g1", 18, 1, 15, 1, SORT_UNIFORM, 0},
    {"bn254_g1", 20, 1, 16, 1, SORT_UNIFORM, 0.20},
    {"bn254_g1", 22, 1, 17, 1, SORT_UNIFORM, 0},
    {"bn254_g1", 24, 1, 20, 1, SORT_UNIFORM, 2.5},
    {"bls12_381_g1", 20, 1, 16, 1, SORT_UNIFORM, 0},
    {"bn254_g1", 16, 16, 13, 1, SORT_UNIFORM, 0},
    {"bn254_g1", 10, 1024, 8, 1, SORT_UNIFORM, 0},
    {"bn254_g1", 20, 1, 20, 13, SORT_UNIFORM, 0},
    {"bn254_g1", 22, 1, 17, 1, SORT_EQUAL, 0},
    {"bn254_g1", 22, 1, 17, 1, SORT_SPARSE, 0},
    {"bn254_g1", 22, 1, 17, 1, SORT_BITS, 0},
    {"bn254_g1", 22, 1, 17, 1, SORT_POWERS, 0},
    {"bn254_g1", 22, 1, 17, 1, SORT_WINDOW, 0},
    {"bn254_g1", 22, 1, 17, 15, SORT_EQUAL, 0},
    {"bn254_g1", 24, 1, 22, 1, SORT_UNIFORM, 0},
};

/* Creates uniform scalars quickly, and those of the other kinds like the tests; the latter repeat.
 */
static uint32_t *create_scalars(const struct sort_case *one)
{
    const pool_field *field = one->curve->scalar_field;
    uint64_t all = one->batch * one->count, state = 1, few = all < 4096 ? all : 4096;
    uint32_t *words = malloc(all * field->bytes);
    uint64_t *limbs = (uint64_t *)(void *)words;
    mpz_t s;

    if (!words)
        exit(1);
    mpz_init(s);
    for (uint64_t i = 0; i < all; i++) {
        if (one->kind == SORT_UNIFORM) {
            for (uint32_t j = 0; j < field->limbs; j++)
                limbs[i * field->limbs + j] = sort_next(&state);
            limbs[i * field->limbs + field->limbs - 1] %= field->modulus[field->limbs - 1];
        } else if (i < few) {
            sort_scalar(one, &state, s);
            sort_put(one, s, words + i * field->words);
        } else {
            memcpy(words + i * field->words, words + i % few * field->words, field->bytes);
        }
    }
    mpz_clear(s);
    return words;
}

static void check_sort(const struct sort_case *one, const struct msm_plan *plan,
    const pool_buffer *workspace, const uint32_t *words)
{
    uint64_t sampled = one->count < SAMPLED ? one->count : SAMPLED;
    uint32_t *offsets = malloc((plan->buckets + 1) * 4), *entries = malloc(plan->entries * 4);
    int32_t *digits = malloc(one->batch * sampled * plan->windows * 4);
    int is_right;

    if (!offsets || !entries || !digits)
        exit(1);
    MUST(pool_copy_to_host(
        offsets, workspace, plan->bucket_offsets_at, (plan->buckets + 1) * 4, NULL));
    MUST(pool_copy_to_host(entries, workspace, plan->entries_at, plan->entries * 4, NULL));
    is_right = sort_check_offsets(plan, offsets, plan->entries) &&
               sort_read(one, plan, offsets, entries, sampled, digits);
    for (uint64_t i = 0; is_right && i < one->batch * sampled; i++)
        is_right = sort_add_up(one, plan, digits + i * plan->windows,
            words + (i / sampled * one->count + i % sampled) * one->curve->scalar_field->words);
    if (!is_right) {
        fprintf(stderr, "WRONG\n");
        exit(1);
    }
    free(offsets);
    free(entries);
    free(digits);
}

static void report_row(const struct row *row, const struct msm_plan *plan,
    double times[MSM_SORT_STAGES + 1][ROUNDS], double busy)
{
    printf("%-13s %5u x 2^%-2u c %2u factor %2u kind %d partition 2^%-2u capacity %5u digit bytes %u:", row->curve,
        row->batch, row->log_count, row->window_bits, row->levels, row->kind,
        plan->sort.log_partition, plan->sort.block_capacity, plan->sort.digit_bytes);
    for (int i = 0; i <= MSM_SORT_STAGES; i++)
        printf(" %s%8.4f", i == MSM_SORT_STAGES ? "all " : "", bench_median(times[i], ROUNDS));
    printf(", 8 in a row %8.4f ms each", busy);
    if (row->target > 0)
        printf("  target %.3f", row->target);
    printf("\n");
    fflush(stdout);
}

static double elapsed_ms(int from, int to)
{
    double ms = 0;

    MUST(pool_event_elapsed(bench.events[from], bench.events[to], &ms));
    return ms;
}

/* Measures the stages, then the whole sort without events in between, then several in a row. */
static double measure_stages(const struct msm_run *run, const struct msm_chunk_operands *operands,
    double times[MSM_SORT_STAGES + 1][ROUNDS])
{
    struct msm_sort_args sort;

    for (int i = -WARM_UPS; i < ROUNDS; i++) {
        msm_sort_args_init(run, operands, &sort);
        MUST(pool_event_record(bench.events[0], bench.stream));
        for (int stage = 0; stage < MSM_SORT_STAGES; stage++) {
            MUST(msm_sort_enqueue(run, &sort, (enum msm_sort_stage)stage));
            MUST(pool_event_record(bench.events[stage + 1], bench.stream));
        }
        MUST(pool_event_synchronize(bench.events[MSM_SORT_STAGES]));
        for (int stage = 0; stage < MSM_SORT_STAGES && i >= 0; stage++)
            times[stage][i] = elapsed_ms(stage, stage + 1);
    }
    for (int i = -WARM_UPS; i <= ROUNDS; i++) {
        MUST(pool_event_record(bench.events[0], bench.stream));
        for (int call = 0; call < (i == ROUNDS ? 8 : 1); call++)
            MUST(msm_run_sort(run, operands));
        MUST(pool_event_record(bench.events[1], bench.stream));
        MUST(pool_event_synchronize(bench.events[1]));
        if (i >= 0 && i < ROUNDS)
            times[MSM_SORT_STAGES][i] = elapsed_ms(0, 1);
    }
    return elapsed_ms(0, 1) / 8;
}

static void measure_row(const struct row *row)
{
    struct sort_case one = {.curve = pool_curve_by_name(row->curve),
        .kind = row->kind,
        .count = (uint64_t)1 << row->log_count,
        .batch = row->batch,
        .window_bits = row->window_bits,
        .levels = row->levels,
        .seed = 1};
    struct chip chip = chip_of(bench.device);
    struct msm_plan plan;
    struct msm_run run = {
        .device = bench.device, .stream = bench.stream, .curve = one.curve, .plan = &plan};
    struct msm_chunk_operands operands = {.count = one.count,
        .scalar_stride = one.curve->scalar_field->words,
        .scalar_batch_stride = one.count};
    uint32_t *words = create_scalars(&one);
    pool_buffer *scalars, *workspace;
    double times[MSM_SORT_STAGES + 1][ROUNDS];

    sort_plan(&one, &chip, &plan);
    sort_points(&one, &operands);
    MUST(pool_buffer_from_host(
        bench.device, words, one.batch * one.count * one.curve->scalar_field->bytes, &scalars));
    MUST(pool_buffer_alloc(bench.device, plan.bytes, &workspace));
    MUST(pool_buffer_address(workspace, &run.workspace));
    MUST(pool_buffer_address(scalars, &operands.scalars));
    double busy = measure_stages(&run, &operands, times);
    check_sort(&one, &plan, workspace, words);
    report_row(row, &plan, times, busy);
    MUST(pool_buffer_destroy(&scalars));
    MUST(pool_buffer_destroy(&workspace));
    free(words);
}

int main(int argc, char **argv)
{
    size_t count = sizeof(rows) / sizeof(rows[0]);
    size_t first = argc > 2 ? (size_t)atoi(argv[2]) : 0;
    size_t last = argc > 3 ? (size_t)atoi(argv[3]) : count - 1;

    bench.device = open_device(argc > 1 ? argv[1] : NULL, &bench.pool);
    MUST(pool_stream_create(bench.device, NULL, &bench.stream));
    for (int i = 0; i <= MSM_SORT_STAGES; i++)
        MUST(pool_event_create(bench.device, POOL_EVENT_TIMING, &bench.events[i]));
    printf("stages: clear digits partition buckets oversized\n");
    for (size_t i = first; i <= last && i < count; i++)
        measure_row(&rows[i]);
    for (int i = 0; i <= MSM_SORT_STAGES; i++)
        MUST(pool_event_destroy(&bench.events[i]));
    MUST(pool_stream_destroy(&bench.stream));
    MUST(pool_destroy(&bench.pool));
    return 0;
}
