/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain answers: each product by doubling and adding, and buckets by windows of unsigned
 * digits. Slow and on the host; what the kernels are compared with.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "field/integer.h"
#include "msm/msm.h"

/* Scalar `index` as an integer of FIELD_MAX_LIMBS limbs. */
static pool_status load_scalar(
    const struct msm_reference *reference, const void *scalars, uint64_t index, uint64_t *limbs)
{
    const pool_field *field = reference->curve->scalar_field;
    uint64_t stride = reference->scalar_stride ? reference->scalar_stride : field->bytes;

    memset(limbs, 0, FIELD_MAX_LIMBS * sizeof(*limbs));
    field_load(field, limbs, (const uint8_t *)scalars + index * stride);
    if (reference->scalar_form == POOL_FORM_STANDARD)
        return POOL_OK;
    if (!field_is_canonical(field, limbs))
        return base_fail(POOL_ERR_BAD_DATA, "scalar %llu is not below the order of %s",
            (unsigned long long)index, reference->curve->name);
    field_from_montgomery(field, limbs, limbs);
    return POOL_OK;
}

static pool_status load_point(const struct msm_reference *reference, const void *points,
    uint64_t index, struct curve_jacobian *point)
{
    const pool_curve *curve = reference->curve;
    size_t stride = curve_point_stride(curve, &reference->points);
    const char *wrong = curve_load(
        curve, point, &reference->points, (const uint8_t *)points + (size_t)index * stride);

    if (wrong)
        return base_fail(POOL_ERR_BAD_DATA, "point %llu %s", (unsigned long long)index, wrong);
    return POOL_OK;
}

pool_status msm_reference_plain(const struct msm_reference *reference, uint64_t count,
    const void *points, const void *scalars, void *result)
{
    const pool_curve *curve = reference->curve;
    struct curve_jacobian sum, point;
    uint64_t scalar[FIELD_MAX_LIMBS];

    curve_jacobian_set_infinity(curve, &sum);
    for (uint64_t i = 0; i < count; i++) {
        pool_status status = load_scalar(reference, scalars, i, scalar);

        if (!status)
            status = load_point(reference, points, i, &point);
        if (status)
            return status;
        curve_multiply(curve, &point, &point, scalar, FIELD_MAX_LIMBS);
        curve_jacobian_add(curve, &sum, &sum, &point);
    }
    curve_store(curve, &reference->result, result, &sum);
    return POOL_OK;
}

enum { WINDOW = 8, BUCKETS = (1 << WINDOW) - 1 };

/* What a sum needs once for all its windows. */
struct loaded {
    const pool_curve *curve;
    uint64_t count;
    struct curve_xyzz *points;
    uint64_t *scalars; /* FIELD_MAX_LIMBS each */
    struct curve_xyzz *buckets;
};

static pool_status load_all(const struct msm_reference *reference, const void *points,
    const void *scalars, struct loaded *loaded)
{
    struct curve_jacobian point;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; !status && i < loaded->count; i++) {
        status = load_scalar(reference, scalars, i, loaded->scalars + i * FIELD_MAX_LIMBS);
        if (!status)
            status = load_point(reference, points, i, &point);
        if (!status)
            curve_xyzz_from_jacobian(loaded->curve, &loaded->points[i], &point);
    }
    return status;
}

/* sum over buckets b of (b + 1) bucket_b, by running sums from the top. */
static void add_window(const struct loaded *loaded, uint32_t window, struct curve_xyzz *sum)
{
    const pool_curve *curve = loaded->curve;
    struct curve_xyzz running;

    for (int b = 0; b < BUCKETS; b++)
        curve_xyzz_set_infinity(curve, &loaded->buckets[b]);
    for (uint64_t i = 0; i < loaded->count; i++) {
        uint64_t limb = loaded->scalars[i * FIELD_MAX_LIMBS + window * WINDOW / 64];
        uint64_t digit = limb >> (window * WINDOW % 64) & BUCKETS;

        if (digit)
            curve_xyzz_add(curve, &loaded->buckets[digit - 1], &loaded->buckets[digit - 1],
                &loaded->points[i]);
    }
    curve_xyzz_set_infinity(curve, &running);
    for (int b = BUCKETS; b-- > 0;) {
        curve_xyzz_add(curve, &running, &running, &loaded->buckets[b]);
        curve_xyzz_add(curve, sum, sum, &running);
    }
}

static void sum_windows(const struct loaded *loaded, struct curve_xyzz *sum)
{
    uint32_t windows = loaded->curve->scalar_field->limbs * 64 / WINDOW;

    curve_xyzz_set_infinity(loaded->curve, sum);
    for (uint32_t window = windows; window-- > 0;) {
        for (int i = 0; i < WINDOW; i++)
            curve_xyzz_double(loaded->curve, sum, sum);
        add_window(loaded, window, sum);
    }
}

pool_status msm_reference_run(const struct msm_reference *reference, uint64_t count,
    const void *points, const void *scalars, void *result)
{
    struct loaded loaded = {.curve = reference->curve, .count = count};
    struct curve_jacobian total;
    struct curve_xyzz sum;
    pool_status status = POOL_OK;

    loaded.points = base_calloc(count + 1, sizeof(*loaded.points));
    loaded.scalars = base_calloc(count + 1, FIELD_MAX_LIMBS * sizeof(*loaded.scalars));
    loaded.buckets = base_calloc(BUCKETS, sizeof(*loaded.buckets));
    if (!loaded.points || !loaded.scalars || !loaded.buckets)
        status = base_fail_memory("a plain sum");
    if (!status)
        status = load_all(reference, points, scalars, &loaded);
    if (!status) {
        sum_windows(&loaded, &sum);
        curve_xyzz_to_jacobian(reference->curve, &total, &sum);
        curve_store(reference->curve, &reference->result, result, &total);
    }
    base_free(loaded.points);
    base_free(loaded.scalars);
    base_free(loaded.buckets);
    return status;
}
