/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window combination on the host: Horner's rule over the window sums of each MSM of a batch.
 */
#include "zk/msm/msm.h"

/* Loads a coordinate in the device's form. */
static void load_coordinate(
    const struct field_extension *coordinates, uint64_t *x, const uint8_t *memory)
{
    const pool_field *field = coordinates->field;

    for (uint32_t at = 0; at < coordinates->limbs; at += field->limbs) {
        field_load(field, x + at, memory + at / field->limbs * field->bytes);
        if (field->flags & FIELD_DEVICE_STANDARD)
            field_to_montgomery(field, x + at, x + at);
    }
}

static void load_window_sum(
    const pool_curve *curve, struct curve_jacobian *sum, const uint8_t *memory)
{
    const struct field_extension *coordinates = &curve->coordinates;
    struct curve_xyzz p;

    load_coordinate(coordinates, p.x, memory);
    load_coordinate(coordinates, p.y, memory + coordinates->bytes);
    load_coordinate(coordinates, p.zz, memory + 2 * coordinates->bytes);
    load_coordinate(coordinates, p.zzz, memory + 3 * coordinates->bytes);
    curve_xyzz_to_jacobian(curve, sum, &p);
}

void msm_combine_on_host(const pool_curve *curve, const struct msm_plan *plan, const void *sums,
    void *results, const pool_point_format *format)
{
    uint64_t bytes = 4 * curve->coordinates.bytes;
    uint64_t stride = curve_point_stride(curve, format);

    for (uint64_t member = 0; member < plan->job.batch; member++) {
        const uint8_t *window_sums = (const uint8_t *)sums + member * plan->sets_per_msm * bytes;
        struct curve_jacobian sum, window_sum;

        curve_jacobian_set_infinity(curve, &sum);
        for (uint32_t window = plan->sets_per_msm; window-- > 0;) {
            /* The first window sum needs no doublings. */
            for (uint32_t i = 0; window + 1 < plan->sets_per_msm && i < plan->window_bits; i++)
                curve_jacobian_double(curve, &sum, &sum);
            load_window_sum(curve, &window_sum, window_sums + window * bytes);
            curve_jacobian_add(curve, &sum, &sum, &window_sum);
        }
        curve_store(curve, format, (uint8_t *)results + member * stride, &sum);
    }
}
