/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures MSMs over bases of known discrete logarithm, so that each expected result is one
 * multiple of the generator. The host computes part of the result, so its clock measures the time.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MAX_BASES = 1 << 20 };

static bool has_curve(const char *subject)
{
    return pool_curve_by_name(subject) != NULL;
}

/* Turns a uniformly distributed scalar into one of the kind; `first` is the first scalar. */
static void skew_scalar(const char *kind, const uint8_t *first, uint8_t *scalar, size_t bytes)
{
    uint32_t random;

    memcpy(&random, scalar + bytes / 2, sizeof(random));
    if (strcmp(kind, "equal") == 0) {
        memmove(scalar, first, bytes);
    } else if (strcmp(kind, "zeros") == 0) {
        if (random % 100)
            memset(scalar, 0, bytes);
    } else if (strcmp(kind, "bits") == 0) {
        memset(scalar + 1, 0, bytes - 1);
        scalar[0] &= 1;
    } else if (strcmp(kind, "window") == 0) {
        scalar[0] = 0x34;
        scalar[1] = 0x12;
    } else if (strcmp(kind, "geometric") == 0) {
        size_t length = (size_t)__builtin_ctz(random | 1u << 31);

        if (length < bytes)
            memset(scalar + length, 0, bytes - length);
    }
}

static pool_status create_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = bench_alloc(1, sizeof(*msm));
    const pool_point_format format = {.form = POOL_FORM_MONTGOMERY};
    uint64_t count = run->spec.size * run->spec.batch;
    pool_status status = POOL_OK;

    run->state = msm;
    run->units = (double)count;
    msm->curve = pool_curve_by_name(run->spec.subject);
    msm->field = pool_curve_scalar_field(msm->curve);
    msm->scalar_bytes = pool_field_element_bytes(msm->field);
    msm->point_bytes = pool_point_bytes(msm->curve, POOL_POINT_AFFINE);
    msm->base_count = run->spec.size < MAX_BASES ? run->spec.size : MAX_BASES;
    msm->bases = bench_alloc(msm->base_count, msm->point_bytes);
    msm->logarithms = bench_alloc(msm->base_count, msm->scalar_bytes);
    msm->results = bench_alloc(run->spec.batch, msm->point_bytes);
    if (run->spec.from_host)
        status = pool_pinned_create(run->device, count * msm->scalar_bytes, 0, &msm->pinned);
    if (status)
        return status;
    msm->scalars =
        msm->pinned ? pool_pinned_data(msm->pinned) : bench_alloc(count, msm->scalar_bytes);
    status = bench_random_scalars(msm->field, 2, count, POOL_FORM_STANDARD, msm->scalars);
    for (uint64_t i = 0; i < count && !status && run->spec.scalars; i++)
        skew_scalar(run->spec.scalars, msm->scalars, msm->scalars + i * msm->scalar_bytes,
            msm->scalar_bytes);
    if (!status)
        status = bench_random_points(
            msm->curve, 1, msm->base_count, &format, msm->bases, msm->logarithms);
    return status;
}

static pool_status warm_up_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;

    return pool_msm_warm_up(
        msm->curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

/* Creates the handle of `size` of the bases, which repeat, from base `first` on, from a temporary
 * copy in the memory of exec's device. */
static pool_status create_bases(struct bench_run *run, struct bench_msm_state *msm,
    const pool_exec *exec, uint64_t first, uint64_t size, pool_bases **bases)
{
    pool_bases_params params = {.struct_size = sizeof(params),
        .curve = msm->curve,
        .precompute_factor = run->spec.precompute_factor,
        .window_bits = run->spec.precompute_factor == 1 ? 0 : run->spec.window_bits};
    double begin;
    pool_buffer *buffer = NULL;
    pool_span span = {0};
    pool_status status = pool_buffer_alloc(exec->device, size * msm->point_bytes, &buffer);

    for (uint64_t i = 0, count; i < size && !status; i += count) {
        uint64_t at = (first + i) % msm->base_count;

        count = size - i < msm->base_count - at ? size - i : msm->base_count - at;
        status = pool_copy_to_device(buffer, i * msm->point_bytes,
            msm->bases + at * msm->point_bytes, count * msm->point_bytes, NULL);
    }
    if (!status)
        status = pool_buffer_span(buffer, 0, size, POOL_FORM_MONTGOMERY, &span);
    begin = bench_now();
    if (!status)
        status = pool_bases_create(&params, exec, &span, bases);
    msm->bases_seconds = bench_now() - begin;
    pool_buffer_destroy(&buffer);
    return status;
}

/* Equal shards of the bases on the devices, scalars in pinned memory or in equal shards. */
static pool_status place_msm(struct bench_run *run, struct bench_msm_state *msm)
{
    const uint64_t count = run->spec.size * run->spec.batch;
    const uint32_t devices = run->together->device_count;
    pool_status status = POOL_OK;

    msm->device_bases = bench_alloc(devices, sizeof(*msm->device_bases));
    for (uint32_t i = 0; i < devices && !status; i++) {
        const pool_exec exec = {.struct_size = sizeof(exec), .device = run->together->devices[i]};
        uint64_t first = run->spec.size * i / devices;

        status = create_bases(run, msm, &exec, first, run->spec.size * (i + 1) / devices - first,
            &msm->device_bases[i]);
    }
    msm->exec = *run->together;
    msm->params = (pool_msm_params){.struct_size = sizeof(msm->params),
        .curve = msm->curve,
        .batch = run->spec.batch,
        .shared_bases = 1,
        .device_bases = msm->device_bases,
        .affine_passes = run->spec.affine_passes};
    msm->result_span = (pool_span){.data = msm->results, .count = run->spec.batch};
    if (!status && run->is_sharded)
        return bench_shard(run, msm->scalars, msm->scalar_bytes, 1, count, POOL_FORM_STANDARD,
            false, &msm->shards, &msm->scalar_span);
    return status ? status
                  : bench_pin(run, msm->scalars, count * msm->scalar_bytes, count,
                        POOL_FORM_STANDARD, &msm->pinned_copy, &msm->scalar_span);
}

static pool_status upload_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;
    uint64_t count = run->spec.size * run->spec.batch;
    uint64_t workspace_bytes = 0;
    pool_status status;

    if (run->together)
        return place_msm(run, msm);
    msm->exec = (pool_exec){.struct_size = sizeof(msm->exec), .device = run->device};
    status = create_bases(run, msm, &msm->exec, 0, run->spec.size, &msm->params.bases);
    msm->exec.stream = run->stream;
    msm->params.struct_size = sizeof(msm->params);
    msm->params.curve = msm->curve;
    msm->params.batch = run->spec.batch;
    msm->params.shared_bases = 1;
    msm->params.window_bits = run->spec.window_bits;
    msm->params.affine_passes = run->spec.affine_passes;
    msm->result_span = (pool_span){.data = msm->results, .count = run->spec.batch};
    if (!status)
        status = pool_buffer_from_host(
            run->device, msm->scalars, count * msm->scalar_bytes, &msm->scalar_buffer);
    if (!status)
        status =
            pool_buffer_span(msm->scalar_buffer, 0, count, POOL_FORM_STANDARD, &msm->scalar_span);
    if (run->spec.from_host || run->spec.from_pageable)
        msm->scalar_span = (pool_span){.data = msm->scalars, .count = count};
    if (!status)
        status = pool_msm_workspace(
            &msm->params, &msm->exec, NULL, &msm->scalar_span, &msm->result_span, &workspace_bytes);
    if (!status && workspace_bytes)
        status = pool_buffer_alloc(run->device, workspace_bytes, &msm->workspace);
    msm->exec.workspace = msm->workspace;
    return status;
}

static pool_status call_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;

    return pool_msm(&msm->params, &msm->exec, NULL, &msm->scalar_span, &msm->result_span);
}

/* Each result is the inner product of scalars and logarithms times the generator. */
static pool_status check_msm(struct bench_run *run, bool *is_correct)
{
    struct bench_msm_state *msm = run->state;
    uint8_t expected[4 * POOL_FIELD_MAX_BYTES];
    uint8_t product[POOL_FIELD_MAX_BYTES];
    pool_status status = POOL_OK;

    *is_correct = true;
    for (uint64_t i = 0; i < run->spec.batch && !status; i++) {
        int is_equal = 0;

        bench_inner_product(msm->field, msm->scalars + i * run->spec.size * msm->scalar_bytes,
            msm->logarithms, run->spec.size, msm->base_count, product);
        status = pool_curve_generator(msm->curve, NULL, expected);
        if (!status)
            status =
                pool_point_mul(msm->curve, NULL, expected, product, msm->scalar_bytes, expected);
        if (!status)
            status = pool_point_equal(
                msm->curve, NULL, expected, NULL, msm->results + i * msm->point_bytes, &is_equal);
        *is_correct = *is_correct && is_equal;
    }
    return status;
}

static pool_exec *exec_of_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;

    return &msm->exec;
}

static void locate_msm(const struct bench_run *run, struct bench_result *result)
{
    const struct bench_msm_state *msm = run->state;

    *result =
        (struct bench_result){.data = msm->results, .bytes = run->spec.batch * msm->point_bytes};
}

static void destroy_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;

    if (!msm)
        return;
    for (uint32_t i = 0; msm->device_bases && i < run->together->device_count; i++)
        pool_bases_destroy(&msm->device_bases[i]);
    free(msm->device_bases);
    pool_pinned_destroy(&msm->pinned_copy);
    bench_shards_destroy(&msm->shards);
    pool_bases_destroy(&msm->params.bases);
    pool_buffer_destroy(&msm->scalar_buffer);
    pool_buffer_destroy(&msm->workspace);
    if (!run->spec.from_host)
        free(msm->scalars);
    pool_pinned_destroy(&msm->pinned);
    free(msm->bases);
    free(msm->logarithms);
    free(msm->results);
    free(msm);
}

const struct bench_operation bench_msm = {
    .name = "msm",
    .options = "batch precompute affine together sharded",
    .unit = "points",
    .option = "curve",
    .default_subjects = "bn254_g1",
    .default_sizes = "2^8,2^10,2^12",
    .is_blocking = true,
    .has_subject = has_curve,
    .create = create_msm,
    .warm_up = warm_up_msm,
    .upload = upload_msm,
    .call = call_msm,
    .check = check_msm,
    .exec = exec_of_msm,
    .result = locate_msm,
    .destroy = destroy_msm,
};
