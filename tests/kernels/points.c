/* SPDX-License-Identifier: Apache-2.0 */
/* Points for kernel tests: see harness.h. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static const pool_point_format affine_montgomery = {
    .layout = POOL_POINT_AFFINE, .form = POOL_FORM_MONTGOMERY};

struct points points_random(const pool_curve *curve, uint64_t seed, uint64_t count)
{
    struct points points = {.count = count, .bytes = pool_point_bytes(curve, POOL_POINT_AFFINE)};

    points.packed = harness_memory(count, points.bytes);
    points.jacobian = harness_memory(count, sizeof(*points.jacobian));
    MUST(pool_random_points(curve, seed, count, &affine_montgomery, points.packed, NULL));
    for (uint64_t i = 0; i < count; i++)
        point_unpack(
            curve, POOL_POINT_AFFINE, points.packed + i * points.bytes, &points.jacobian[i]);
    return points;
}

void points_free(struct points *points)
{
    free(points->packed);
    free(points->jacobian);
    memset(points, 0, sizeof(*points));
}

/* Coordinate `index`, reduced. */
static void unpack_coordinate(
    const pool_curve *curve, const uint8_t *packed, uint32_t index, uint64_t *coordinate)
{
    const struct field_extension *extension = &curve->coordinates;
    const pool_field *field = extension->field;

    memset(coordinate, 0, CURVE_MAX_LIMBS * sizeof(*coordinate));
    packed += (size_t)index * extension->bytes;
    for (uint32_t i = 0; i < extension->degree; i++) {
        uint64_t *limbs = coordinate + i * field->limbs;

        memcpy(limbs, packed + i * field->bytes, field->bytes);
        element_reduce(field, limbs);
    }
}

void point_unpack(const pool_curve *curve, pool_point_layout layout, const void *packed,
    struct curve_jacobian *point)
{
    struct curve_xyzz xyzz;

    unpack_coordinate(curve, packed, 0, xyzz.x);
    unpack_coordinate(curve, packed, 1, xyzz.y);
    if (layout == POOL_POINT_XYZZ) {
        unpack_coordinate(curve, packed, 2, xyzz.zz);
        unpack_coordinate(curve, packed, 3, xyzz.zzz);
    } else if (field_extension_is_zero(&curve->coordinates, xyzz.x) &&
               field_extension_is_zero(&curve->coordinates, xyzz.y)) {
        field_extension_set_zero(&curve->coordinates, xyzz.zz);
    } else {
        field_extension_set_one(&curve->coordinates, xyzz.zz);
        field_extension_set_one(&curve->coordinates, xyzz.zzz);
    }
    curve_xyzz_to_jacobian(curve, point, &xyzz);
}

void stage_compare_points(struct stage *stage, const char *what, const pool_curve *curve,
    pool_point_layout layout, CUdeviceptr got, const struct curve_jacobian *expected, size_t count)
{
    size_t bytes = pool_point_bytes(curve, layout);
    uint8_t *packed = harness_memory(count, bytes);

    stage_download(stage, packed, got, count * bytes);
    for (size_t i = 0; i < count && !stage->is_wrong; i++) {
        struct curve_jacobian point;

        point_unpack(curve, layout, packed + i * bytes, &point);
        if (!curve_jacobian_equal(curve, &point, &expected[i]))
            stage_fail(stage, "%s %zu of %zu (%s; expected %s)", what, i, count,
                curve_jacobian_is_infinity(curve, &point) ? "infinity" : "a point",
                curve_jacobian_is_infinity(curve, &expected[i]) ? "infinity" : "another point");
    }
    free(packed);
}
