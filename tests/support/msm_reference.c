/* SPDX-License-Identifier: Apache-2.0 */
/* MSMs on the host: see msm_reference.h. */
#include "support/msm_reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "zk/curve/curve.h"
#include "zk/field/field.h"

enum { MAX_WINDOW_BITS = 8, MAX_BUCKETS = (1 << MAX_WINDOW_BITS) - 1 };

/* The sums over the buckets cost as much as 2^9 points per window of 8 bits, more than most tests
 * have. */
static uint32_t choose_window_bits(uint64_t count)
{
    return count < 16 ? 2 : count < 512 ? 4 : MAX_WINDOW_BITS;
}

/* Packed, affine, in standard form. */
static const pool_point_format format;

/* Scalar `index` as an integer of FIELD_MAX_LIMBS limbs. */
static void load_scalar(
    const pool_curve *curve, const void *scalars, uint64_t index, uint64_t *limbs)
{
    const pool_field *field = curve->scalar_field;

    memset(limbs, 0, FIELD_MAX_LIMBS * sizeof(*limbs));
    field_load(field, limbs, (const uint8_t *)scalars + index * field->bytes);
}

static pool_status load_point(
    const pool_curve *curve, const void *points, uint64_t index, struct curve_jacobian *point)
{
    size_t stride = curve_point_stride(curve, &format);
    const char *fault =
        curve_load(curve, point, &format, (const uint8_t *)points + (size_t)index * stride);

    if (fault)
        return base_fail(POOL_ERR_BAD_DATA, "point %llu %s", (unsigned long long)index, fault);
    return POOL_OK;
}

pool_status msm_reference_double_and_add(
    const pool_curve *curve, uint64_t count, const void *points, const void *scalars, void *result)
{
    struct curve_jacobian sum, point;
    uint64_t scalar[FIELD_MAX_LIMBS];

    curve_jacobian_set_infinity(curve, &sum);
    for (uint64_t i = 0; i < count; i++) {
        pool_status status = load_point(curve, points, i, &point);

        if (status)
            return status;
        load_scalar(curve, scalars, i, scalar);
        curve_multiply(curve, &point, &point, scalar, FIELD_MAX_LIMBS);
        curve_jacobian_add(curve, &sum, &sum, &point);
    }
    curve_store(curve, &format, result, &sum);
    return POOL_OK;
}

/* The operands as all windows use them. */
struct operands {
    const pool_curve *curve;
    uint64_t count;
    uint32_t window_bits; /* a power of two: no window lies in two limbs */
    struct curve_jacobian *points;
    uint64_t *scalars; /* FIELD_MAX_LIMBS each */
};

/* Adds the sum over all buckets b of (b + 1) bucket_b, by running sums from the last bucket. */
static void add_window(const struct operands *operands, uint32_t window, struct curve_jacobian *sum)
{
    const pool_curve *curve = operands->curve;
    struct curve_jacobian buckets[MAX_BUCKETS], running;
    uint32_t bits = operands->window_bits, bucket_count = (1u << bits) - 1;

    for (uint32_t b = 0; b < bucket_count; b++)
        curve_jacobian_set_infinity(curve, &buckets[b]);
    for (uint64_t i = 0; i < operands->count; i++) {
        uint64_t limb = operands->scalars[i * FIELD_MAX_LIMBS + window * bits / 64];
        uint64_t digit = limb >> (window * bits % 64) & bucket_count;

        if (digit)
            curve_jacobian_add(
                curve, &buckets[digit - 1], &buckets[digit - 1], &operands->points[i]);
    }
    curve_jacobian_set_infinity(curve, &running);
    for (uint32_t b = bucket_count; b-- > 0;) {
        curve_jacobian_add(curve, &running, &running, &buckets[b]);
        curve_jacobian_add(curve, sum, sum, &running);
    }
}

/* Horner's rule over the windows. */
static void sum_windows(const struct operands *operands, struct curve_jacobian *sum)
{
    uint32_t windows = operands->curve->scalar_field->limbs * 64 / operands->window_bits;

    curve_jacobian_set_infinity(operands->curve, sum);
    for (uint32_t window = windows; window-- > 0;) {
        for (uint32_t i = 0; i < operands->window_bits; i++)
            curve_jacobian_double(operands->curve, sum, sum);
        add_window(operands, window, sum);
    }
}

pool_status msm_reference_buckets(
    const pool_curve *curve, uint64_t count, const void *points, const void *scalars, void *result)
{
    struct operands operands = {.curve = curve,
        .count = count,
        .window_bits = choose_window_bits(count),
        .points = calloc(count + 1, sizeof(*operands.points)),
        .scalars = calloc(count + 1, FIELD_MAX_LIMBS * sizeof(*operands.scalars))};
    struct curve_jacobian sum;
    pool_status status = POOL_OK;

    if (!operands.points || !operands.scalars)
        status = base_fail_memory("a reference MSM");
    for (uint64_t i = 0; !status && i < count; i++) {
        load_scalar(curve, scalars, i, operands.scalars + i * FIELD_MAX_LIMBS);
        status = load_point(curve, points, i, &operands.points[i]);
    }
    if (!status) {
        sum_windows(&operands, &sum);
        curve_store(curve, &format, result, &sum);
    }
    free(operands.points);
    free(operands.scalars);
    return status;
}
