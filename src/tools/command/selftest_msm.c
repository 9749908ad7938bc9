/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-test of MSMs: on every built-in curve one MSM whose result was computed by Python's
 * integers, and one with the special cases of point addition: infinity, equal and opposite points.
 * So few terms have kernels of their own; those of more terms compute both once more.
 */
#include <stdlib.h>
#include <string.h>

#include "selftest.h"

static size_t count_curves(device_pool *pool)
{
    (void)pool;
    return selftest_msm_count;
}

static const char *curve_name(size_t index)
{
    return selftest_msms[index].curve;
}

/* Computes the multiples 1 … SELFTEST_MSM of the generator. */
static pool_status compute_multiples(const pool_curve *curve, uint8_t *points)
{
    size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    pool_status status = pool_curve_generator(curve, NULL, points);

    for (size_t i = 1; i < SELFTEST_MSM && !status; i++)
        status = pool_point_add(curve, NULL, points, points + (i - 1) * bytes, points + i * bytes);
    return status;
}

/* All points are equal except the last, which is infinity; all scalars are 1 except the second,
 * which is -1. The result is SELFTEST_MSM - 3 times the point. */
static pool_status run_special(const pool_curve *curve, const pool_msm_params *params,
    const pool_exec *exec, uint8_t *points, uint8_t *scalars, int *is_correct)
{
    const pool_field *field = pool_curve_scalar_field(curve);
    size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    size_t scalar_bytes = pool_field_element_bytes(field);
    uint8_t result[4 * POOL_FIELD_MAX_BYTES];
    uint8_t expected[4 * POOL_FIELD_MAX_BYTES];
    uint8_t factor = SELFTEST_MSM - 3;
    pool_span point_span = {.data = points, .count = SELFTEST_MSM};
    pool_span scalar_span = {.data = scalars, .count = SELFTEST_MSM};
    pool_span result_span = {.data = result, .count = 1};
    pool_status status = pool_point_mul(curve, NULL, points, &factor, 1, expected);

    memset(scalars, 0, SELFTEST_MSM * scalar_bytes);
    for (size_t i = 1; i < SELFTEST_MSM; i++)
        memcpy(points + i * bytes, points, bytes);
    for (size_t i = 0; i < SELFTEST_MSM; i++)
        scalars[i * scalar_bytes] = 1;
    memset(points + (SELFTEST_MSM - 1) * bytes, 0, bytes);
    pool_field_modulus(field, scalars + scalar_bytes);
    scalars[scalar_bytes]--; /* the order is odd */
    if (!status)
        status = pool_msm(params, exec, &point_span, &scalar_span, &result_span);
    if (!status)
        *is_correct &= memcmp(result, expected, bytes) == 0;
    return status;
}

static pool_status run_known(const pool_curve *curve, const pool_msm_params *params,
    const pool_exec *exec, uint8_t *points, uint8_t *scalars, const char *expected, int *is_correct)
{
    uint8_t result[4 * POOL_FIELD_MAX_BYTES];
    char digits[8 * POOL_FIELD_MAX_BYTES + 1];
    pool_span point_span = {.data = points, .count = SELFTEST_MSM};
    pool_span scalar_span = {.data = scalars, .count = SELFTEST_MSM};
    pool_span result_span = {.data = result, .count = 1};
    pool_status status = compute_multiples(curve, points);

    selftest_multiples(pool_curve_scalar_field(curve), SELFTEST_K, SELFTEST_MSM, scalars);
    if (!status)
        status = pool_msm(params, exec, &point_span, &scalar_span, &result_span);
    if (status)
        return status;
    cli_hex(result, pool_point_bytes(curve, POOL_POINT_AFFINE), digits);
    *is_correct &= strcmp(digits, expected) == 0;
    return POOL_OK;
}

static pool_status run_curve(device_pool *pool, pool_device *device, size_t index, int *is_correct)
{
    const pool_curve *curve = pool_curve_by_name(selftest_msms[index].curve);
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *points = bench_alloc(SELFTEST_MSM, pool_point_bytes(curve, POOL_POINT_AFFINE));
    uint8_t *scalars =
        bench_alloc(SELFTEST_MSM, pool_field_element_bytes(pool_curve_scalar_field(curve)));
    pool_status status = POOL_OK;

    (void)pool;
    *is_correct = 1;
    /* Affine passes are only in the plans of more terms. */
    for (params.affine_passes = 0; params.affine_passes < 2 && !status; params.affine_passes++) {
        status = run_known(
            curve, &params, &exec, points, scalars, selftest_msms[index].point, is_correct);
        if (!status)
            status = run_special(curve, &params, &exec, points, scalars, is_correct);
    }
    free(points);
    free(scalars);
    return status;
}

const struct selftest_area selftest_msm = {"msm", count_curves, curve_name, run_curve};
