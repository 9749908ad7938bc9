/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures transforms of points in device memory, one or a batch of rows, with a workspace, or,
 * together, distributed batches, in shards or pinned memory. The discrete logarithms of the
 * points are known, so that a random linear combination of the results, an MSM, is one multiple of
 * the generator; the logarithms are transformed by pool_ntt, whose results are checked at a random
 * point.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct ecntt_state {
    const pool_curve *curve;
    const pool_field *field;
    pool_ecntt_params params;
    uint64_t count;
    size_t point_bytes;
    size_t scalar_bytes;
    uint8_t *points; /* packed affine points in Montgomery form */
    uint8_t *logarithms;
    struct bench_array in;
    struct bench_array out;
};

static uint64_t max_points(const char *subject)
{
    const uint32_t most =
        pool_field_two_adicity(pool_curve_scalar_field(pool_curve_by_name(subject)));

    return UINT64_C(1) << (most < POOL_ECNTT_MAX_LOG_SIZE ? most : POOL_ECNTT_MAX_LOG_SIZE);
}

static pool_status create_ecntt(struct bench_run *run)
{
    const struct bench_case *spec = &run->spec;
    const pool_point_format format = {.form = POOL_FORM_MONTGOMERY};
    struct ecntt_state *ecntt = bench_keep(run, 1, sizeof(*ecntt));
    pool_status status;

    run->state = ecntt;
    ecntt->count = spec->size * (spec->batch ? spec->batch : 1);
    run->units = (double)ecntt->count;
    ecntt->curve = pool_curve_by_name(spec->subject);
    ecntt->field = pool_curve_scalar_field(ecntt->curve);
    ecntt->point_bytes = pool_point_bytes(ecntt->curve, POOL_POINT_AFFINE);
    ecntt->scalar_bytes = pool_field_element_bytes(ecntt->field);
    ecntt->points = bench_keep(run, ecntt->count, ecntt->point_bytes);
    ecntt->logarithms = bench_keep(run, ecntt->count, ecntt->scalar_bytes);
    ecntt->params = (pool_ecntt_params){.struct_size = sizeof(ecntt->params),
        .curve = ecntt->curve,
        .direction = spec->direction,
        .coset = spec->is_coset,
        .order = spec->order,
        .batch = spec->batch};
    status = bench_create_domain(ecntt->field, spec->size, &ecntt->params.domain);
    return status ? status
                  : pool_random_points(
                        ecntt->curve, 1, ecntt->count, &format, ecntt->points, ecntt->logarithms);
}

static pool_status warm_up_ecntt(struct bench_run *run)
{
    struct ecntt_state *ecntt = run->state;

    return pool_ecntt_warm_up(
        ecntt->curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

static pool_status upload_ecntt(struct bench_run *run)
{
    struct ecntt_state *ecntt = run->state;
    struct bench_items items = {.from = ecntt->points,
        .item_bytes = ecntt->point_bytes,
        .count = ecntt->count,
        .form = POOL_FORM_MONTGOMERY,
        .unit = run->spec.size};
    uint64_t workspace = 0;
    pool_status status = bench_place(run, &items, &ecntt->in);

    items.from = NULL;
    if (!status)
        status = bench_place(run, &items, &ecntt->out);
    if (status || run->together)
        return status;
    status = pool_ecntt_workspace(
        &ecntt->params, &run->exec, &ecntt->in.span, &ecntt->out.span, &workspace);
    return status ? status : bench_allocate_workspace(run, workspace);
}

static pool_status call_ecntt(struct bench_run *run)
{
    struct ecntt_state *ecntt = run->state;

    return pool_ecntt(&ecntt->params, &run->exec, &ecntt->in.span, &ecntt->out.span);
}

/* The transform of the logarithms. */
static pool_status transform_logarithms(
    const struct ecntt_state *ecntt, pool_device *device, uint8_t *transformed, bool *is_correct)
{
    const pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = ecntt->params.domain,
        .direction = ecntt->params.direction,
        .coset = ecntt->params.coset,
        .order = ecntt->params.order,
        .batch = ecntt->params.batch};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span in = {.data = ecntt->logarithms, .count = ecntt->count};
    const pool_span out = {.data = transformed, .count = ecntt->count};
    pool_status status = pool_ntt(&params, &exec, &in, &out);

    if (!status)
        *is_correct = bench_check_ntt(&params, ecntt->logarithms, transformed);
    return status;
}

/* The MSM of the results and the given factors. */
static pool_status combine_results(
    struct bench_run *run, uint8_t *results, uint8_t *factors, uint8_t *combination)
{
    const struct ecntt_state *ecntt = run->state;
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = ecntt->curve};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = run->device};
    const pool_span points = {.data = results, .count = ecntt->count, .form = POOL_FORM_MONTGOMERY};
    const pool_span scalars = {.data = factors, .count = ecntt->count};
    const pool_span result = {.data = combination, .count = 1};
    pool_status status = run->together ? bench_gather(&ecntt->out, results) : POOL_OK;

    return status ? status
                  : pool_msm(&params, &exec, run->together ? &points : &ecntt->out.span, &scalars,
                        &result);
}

static pool_status check_ecntt(struct bench_run *run, bool *is_correct)
{
    struct ecntt_state *ecntt = run->state;
    uint8_t *transformed = bench_alloc(ecntt->count, ecntt->scalar_bytes);
    uint8_t *factors = bench_alloc(ecntt->count, ecntt->scalar_bytes);
    uint8_t *results = bench_alloc(run->together ? ecntt->count : 1, ecntt->point_bytes);
    uint8_t combination[4 * POOL_FIELD_MAX_BYTES], expected[4 * POOL_FIELD_MAX_BYTES];
    uint8_t generator[4 * POOL_FIELD_MAX_BYTES], sum[POOL_FIELD_MAX_BYTES];
    pool_status status = transform_logarithms(ecntt, run->device, transformed, is_correct);

    if (!status)
        status = pool_random_scalars(ecntt->field, 3, ecntt->count, POOL_FORM_STANDARD, factors);
    if (!status)
        status = combine_results(run, results, factors, combination);
    if (!status)
        status = pool_curve_generator(ecntt->curve, NULL, generator);
    if (!status) {
        bench_inner_product(ecntt->field, transformed, factors, ecntt->count, ecntt->count, sum);
        status = pool_point_mul(ecntt->curve, NULL, generator, sum, ecntt->scalar_bytes, expected);
    }
    if (!status)
        *is_correct = *is_correct && memcmp(combination, expected, ecntt->point_bytes) == 0;
    free(transformed);
    free(factors);
    free(results);
    return status;
}

static void destroy_ecntt(struct bench_run *run)
{
    struct ecntt_state *ecntt = run->state;

    pool_ntt_domain_destroy(&ecntt->params.domain);
}

const struct bench_operation bench_ecntt = {
    .name = "ecntt",
    .options = "batch order inverse coset together sharded",
    .unit = "points",
    .option = "curve",
    .arrays = 2,
    .default_subjects = "bn254_g1,bls12_381_g1",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = true,
    .has_subject = bench_has_curve,
    .max_size = max_points,
    .create = create_ecntt,
    .warm_up = warm_up_ecntt,
    .upload = upload_ecntt,
    .call = call_ecntt,
    .check = check_ecntt,
    .destroy = destroy_ecntt,
};
