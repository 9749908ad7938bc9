/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-test of sums: on every built-in curve the sum that Python's integers gave, and one in which
 * everything comes that kernels stumble over: infinity, equal and opposite points, zeros.
 */
#include <stdlib.h>
#include <string.h>

#include "selftest.h"

static size_t count_curves(device_pool *pool)
{
    (void)pool;
    return selftest_sum_count;
}

static const char *curve_name(device_pool *pool, size_t index)
{
    (void)pool;
    return selftest_sums[index].curve;
}

/* The multiples 1 … SELFTEST_SUM of the generator. */
static pool_status make_multiples(const pool_curve *curve, uint8_t *points)
{
    size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    pool_status status = pool_curve_generator(curve, NULL, points);

    for (size_t i = 1; i < SELFTEST_SUM && !status; i++)
        status = pool_point_add(curve, NULL, points, points + (i - 1) * bytes, points + i * bytes);
    return status;
}

/* All points are the same but the last, which is infinity; all scalars are 1 but the second, which
 * is -1: the sum is the point so often as there are others, less two. */
static pool_status run_equal(const pool_curve *curve, const pool_msm_params *params,
    uint8_t *points, uint8_t *scalars, int *is_right)
{
    const pool_field *field = pool_curve_scalar_field(curve);
    size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    size_t scalar_bytes = pool_field_element_bytes(field);
    uint8_t result[4 * POOL_FIELD_MAX_BYTES];
    uint8_t expected[4 * POOL_FIELD_MAX_BYTES];
    uint8_t factor = SELFTEST_SUM - 3;
    pool_span point_span = {.data = points, .count = SELFTEST_SUM};
    pool_span scalar_span = {.data = scalars, .count = SELFTEST_SUM};
    pool_span result_span = {.data = result, .count = 1};
    pool_status status = pool_point_mul(curve, NULL, points, &factor, 1, expected);

    memset(scalars, 0, SELFTEST_SUM * scalar_bytes);
    for (size_t i = 1; i < SELFTEST_SUM; i++)
        memcpy(points + i * bytes, points, bytes);
    for (size_t i = 0; i < SELFTEST_SUM; i++)
        scalars[i * scalar_bytes] = 1;
    memset(points + (SELFTEST_SUM - 1) * bytes, 0, bytes);
    pool_field_modulus(field, scalars + scalar_bytes);
    scalars[scalar_bytes]--; /* the order is odd */
    if (!status)
        status = pool_msm(params, &point_span, &scalar_span, &result_span);
    if (!status)
        *is_right &= memcmp(result, expected, bytes) == 0;
    return status;
}

static pool_status run_known(const pool_curve *curve, const pool_msm_params *params,
    uint8_t *points, uint8_t *scalars, const char *expected, int *is_right)
{
    uint8_t result[4 * POOL_FIELD_MAX_BYTES];
    char digits[8 * POOL_FIELD_MAX_BYTES + 1];
    pool_span point_span = {.data = points, .count = SELFTEST_SUM};
    pool_span scalar_span = {.data = scalars, .count = SELFTEST_SUM};
    pool_span result_span = {.data = result, .count = 1};
    pool_status status = make_multiples(curve, points);

    selftest_multiples(pool_curve_scalar_field(curve), SELFTEST_K, SELFTEST_SUM, scalars);
    if (!status)
        status = pool_msm(params, &point_span, &scalar_span, &result_span);
    if (status)
        return status;
    cli_hex(result, pool_point_bytes(curve, POOL_POINT_AFFINE), digits);
    *is_right &= strcmp(digits, expected) == 0;
    return POOL_OK;
}

static pool_status run_curve(device_pool *pool, pool_device *device, size_t index, int *is_right)
{
    const pool_curve *curve = pool_curve_by_name(selftest_sums[index].curve);
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve, .device = device};
    uint8_t *points = cli_alloc(SELFTEST_SUM, pool_point_bytes(curve, POOL_POINT_AFFINE));
    uint8_t *scalars =
        cli_alloc(SELFTEST_SUM, pool_field_element_bytes(pool_curve_scalar_field(curve)));
    pool_status status;

    (void)pool;
    *is_right = 1;
    status = run_known(curve, &params, points, scalars, selftest_sums[index].point, is_right);
    if (!status)
        status = run_equal(curve, &params, points, scalars, is_right);
    free(points);
    free(scalars);
    return status;
}

const struct selftest_area selftest_msm = {"msm", count_curves, curve_name, run_curve};
