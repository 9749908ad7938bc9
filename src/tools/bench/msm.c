/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures MSMs over bases of known discrete logarithm, so that each expected result is one
 * multiple of the generator. The host computes part of the result, so its clock measures the time.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MAX_BASES = 1 << 20 };

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
    struct bench_msm_state *msm = bench_keep(run, 1, sizeof(*msm));
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
    msm->bases = bench_keep(run, msm->base_count, msm->point_bytes);
    msm->logarithms = bench_keep(run, msm->base_count, msm->scalar_bytes);
    msm->results = bench_keep(run, run->spec.batch, msm->point_bytes);
    if (run->spec.from_host)
        status = bench_place(run,
            &(struct bench_items){
                .item_bytes = msm->scalar_bytes, .count = count, .is_pinned = true},
            &msm->pinned);
    if (status)
        return status;
    msm->scalars =
        run->spec.from_host ? msm->pinned.span.data : bench_keep(run, count, msm->scalar_bytes);
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

/* Equal shards of the bases on the devices. */
static pool_status create_device_bases(struct bench_run *run, struct bench_msm_state *msm)
{
    const uint32_t devices = run->together->device_count;
    pool_status status = POOL_OK;

    msm->device_bases = bench_keep(run, devices, sizeof(*msm->device_bases));
    for (uint32_t i = 0; i < devices && !status; i++) {
        const pool_exec exec = {.struct_size = sizeof(exec), .device = run->together->devices[i]};
        uint64_t first = run->spec.size * i / devices;

        status = create_bases(run, msm, &exec, first, run->spec.size * (i + 1) / devices - first,
            &msm->device_bases[i]);
    }
    msm->params.device_bases = msm->device_bases;
    return status;
}

static pool_status upload_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;
    const struct bench_items scalars = {.from = msm->scalars,
        .item_bytes = msm->scalar_bytes,
        .count = run->spec.size * run->spec.batch};
    uint64_t workspace_bytes = 0;
    pool_status status;

    msm->params = (pool_msm_params){.struct_size = sizeof(msm->params),
        .curve = msm->curve,
        .batch = run->spec.batch,
        .shared_bases = 1,
        .window_bits = run->together ? 0 : run->spec.window_bits,
        .affine_passes = run->spec.affine_passes};
    msm->result_span = (pool_span){.data = msm->results, .count = run->spec.batch};
    status = run->together
                 ? create_device_bases(run, msm)
                 : create_bases(run, msm, &run->exec, 0, run->spec.size, &msm->params.bases);
    if (!status)
        status = bench_place(run, &scalars, &msm->placed);
    msm->scalar_span = msm->placed.span;
    if (status || run->together)
        return status;
    run->exec.stream = run->stream;
    if (run->spec.from_host || run->spec.from_pageable)
        msm->scalar_span = (pool_span){.data = msm->scalars, .count = scalars.count};
    status = pool_msm_workspace(
        &msm->params, &run->exec, NULL, &msm->scalar_span, &msm->result_span, &workspace_bytes);
    return status ? status : bench_allocate_workspace(run, workspace_bytes);
}

static pool_status call_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;

    return pool_msm(&msm->params, &run->exec, NULL, &msm->scalar_span, &msm->result_span);
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

static void locate_msm(const struct bench_run *run, struct bench_result *result)
{
    const struct bench_msm_state *msm = run->state;

    *result =
        (struct bench_result){.data = msm->results, .bytes = run->spec.batch * msm->point_bytes};
}

static void destroy_msm(struct bench_run *run)
{
    struct bench_msm_state *msm = run->state;

    for (uint32_t i = 0; msm->device_bases && i < run->together->device_count; i++)
        pool_bases_destroy(&msm->device_bases[i]);
    pool_bases_destroy(&msm->params.bases);
}

const struct bench_operation bench_msm = {
    .name = "msm",
    .options = "batch precompute affine together sharded",
    .unit = "points",
    .option = "curve",
    .arrays = 1,
    .default_subjects = "bn254_g1",
    .default_sizes = "2^8,2^10,2^12",
    .is_blocking = true,
    .has_subject = bench_has_curve,
    .create = create_msm,
    .warm_up = warm_up_msm,
    .upload = upload_msm,
    .call = call_msm,
    .check = check_msm,
    .result = locate_msm,
    .destroy = destroy_msm,
};
