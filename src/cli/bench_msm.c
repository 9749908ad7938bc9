/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures MSMs of random scalars over points of known discrete logarithm, so that each expected
 * result is one multiple of the generator. Scalars and bases are in device memory. The host
 * computes part of the result, so its clock measures the time.
 */
#include <stdlib.h>

#include "bench.h"
#include "check.h"

struct summing {
    const pool_curve *curve;
    const pool_field *field;
    pool_msm_params params;
    pool_exec exec;
    uint8_t *scalars;
    uint8_t *points; /* in Montgomery form */
    uint8_t *logs;   /* discrete logarithms of the points */
    size_t scalar_bytes;
    size_t point_bytes;
    pool_buffer *scalar_buffer;
    uint8_t *results;
    pool_buffer *workspace;
    pool_span scalar_span;
    pool_span result_span;
};

static int has_curve(const char *subject)
{
    return pool_curve_by_name(subject) != NULL;
}

static pool_status load_bases(struct bench_work *work, struct summing *summing)
{
    pool_bases_params params = {.struct_size = sizeof(params),
        .curve = summing->curve,
        .precompute_factor = (uint32_t)work->request->precompute};
    pool_exec exec = {.struct_size = sizeof(exec), .device = work->device};
    pool_span span = {.data = summing->points, .count = work->size, .form = POOL_FORM_MONTGOMERY};

    return pool_bases_create(&params, &exec, &span, &summing->params.bases);
}

static pool_status create_buffers(struct bench_work *work, struct summing *summing)
{
    uint64_t count = work->size * work->request->batch;
    uint64_t scratch = 0;
    pool_status status = pool_buffer_from_host(
        work->device, summing->scalars, count * summing->scalar_bytes, &summing->scalar_buffer);

    if (!status)
        status = bench_span(summing->scalar_buffer, count, &summing->scalar_span);
    summing->result_span = (pool_span){.data = summing->results, .count = work->request->batch};
    if (!status)
        status = pool_msm_workspace(&summing->params, &summing->exec, NULL, &summing->scalar_span,
            &summing->result_span, &scratch);
    if (!status && scratch)
        status = pool_buffer_alloc(work->device, scratch, &summing->workspace);
    summing->exec.workspace = summing->workspace;
    return status;
}

static pool_status open_summing(struct bench_work *work)
{
    struct summing *summing = cli_alloc(1, sizeof(*summing));
    uint64_t count = work->size * work->request->batch;
    pool_point_format format = {.form = POOL_FORM_MONTGOMERY};
    pool_status status;

    work->state = summing;
    work->units = (double)count;
    summing->curve = pool_curve_by_name(work->subject);
    summing->field = pool_curve_scalar_field(summing->curve);
    summing->scalar_bytes = pool_field_element_bytes(summing->field);
    summing->point_bytes = pool_point_bytes(summing->curve, POOL_POINT_AFFINE);
    summing->scalars = cli_alloc(count, summing->scalar_bytes);
    summing->points = cli_alloc(work->size, summing->point_bytes);
    summing->results = cli_alloc(work->request->batch, summing->point_bytes);
    summing->logs = cli_alloc(work->size, summing->scalar_bytes);
    summing->params = (pool_msm_params){.struct_size = sizeof(summing->params),
        .curve = summing->curve,
        .batch = work->request->batch,
        .shared_bases = 1};
    summing->exec = (pool_exec){
        .struct_size = sizeof(summing->exec), .device = work->device, .stream = work->stream};
    status = pool_random_scalars(summing->field, 2, count, POOL_FORM_STANDARD, summing->scalars);
    if (!status)
        status = pool_random_points(
            summing->curve, 1, work->size, &format, summing->points, summing->logs);
    return status;
}

static pool_status load_summing(struct bench_work *work)
{
    struct summing *summing = work->state;
    pool_status status = load_bases(work, summing);

    return status ? status : create_buffers(work, summing);
}

static pool_status prepare_summing(struct bench_work *work)
{
    struct summing *summing = work->state;

    return pool_msm_warm_up(summing->curve, work->device);
}

static pool_status run_summing(struct bench_work *work)
{
    struct summing *summing = work->state;

    return pool_msm(
        &summing->params, &summing->exec, NULL, &summing->scalar_span, &summing->result_span);
}

/* Computes the inner product of scalars and logarithms by OpenSSL, and that multiple of the
 * generator on the host. */
static pool_status compare_one(
    struct bench_work *work, uint64_t index, const uint8_t *point, int *is_correct)
{
    struct summing *summing = work->state;
    uint8_t expected[4 * POOL_FIELD_MAX_BYTES];
    uint8_t log[POOL_FIELD_MAX_BYTES];
    int is_equal = 0;
    pool_status status = pool_curve_generator(summing->curve, NULL, expected);

    cli_inner_product(summing->field, summing->scalars + index * work->size * summing->scalar_bytes,
        summing->logs, work->size, log);
    if (!status)
        status =
            pool_point_mul(summing->curve, NULL, expected, log, summing->scalar_bytes, expected);
    if (!status)
        status = pool_point_equal(summing->curve, NULL, expected, NULL, point, &is_equal);
    *is_correct &= is_equal;
    return status;
}

static pool_status check_summing(struct bench_work *work, int *is_correct)
{
    struct summing *summing = work->state;
    uint64_t batch = work->request->batch;
    pool_status status = POOL_OK;

    *is_correct = 1;
    for (uint64_t i = 0; i < batch && !status; i++)
        status = compare_one(work, i, summing->results + i * summing->point_bytes, is_correct);
    return status;
}

static void close_summing(struct bench_work *work)
{
    struct summing *summing = work->state;

    if (!summing)
        return;
    pool_buffer_destroy(&summing->scalar_buffer);
    pool_buffer_destroy(&summing->workspace);
    pool_bases_destroy(&summing->params.bases);
    free(summing->scalars);
    free(summing->points);
    free(summing->logs);
    free(summing->results);
    free(summing);
}

const struct bench_operation bench_msm = {
    .name = "msm",
    .takes = "batch precompute",
    .unit = "points",
    .option = "curve",
    .default_subjects = "bn254_g1",
    .default_sizes = "2^8,2^10,2^12",
    .is_host = 1,
    .has_subject = has_curve,
    .open = open_summing,
    .prepare = prepare_summing,
    .load = load_summing,
    .run = run_summing,
    .check = check_summing,
    .close = close_summing,
};
