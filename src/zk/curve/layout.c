/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores points in the memory layouts of provers, and validates formats and checks.
 */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "zk/curve/curve.h"

enum { FLAG_ALIGNMENT = 8 }; /* as in arkworks' struct of 64-bit limbs and one bool */

size_t pool_point_bytes(const pool_curve *curve, pool_point_layout layout)
{
    size_t coordinate = curve ? curve->coordinates.bytes : 0;

    if (!curve)
        return 0;
    switch (layout) {
    case POOL_POINT_AFFINE:
        return 2 * coordinate;
    case POOL_POINT_AFFINE_FLAG:
        return (2 * coordinate + FLAG_ALIGNMENT) / FLAG_ALIGNMENT * FLAG_ALIGNMENT;
    case POOL_POINT_JACOBIAN:
    case POOL_POINT_PROJECTIVE:
        return 3 * coordinate;
    case POOL_POINT_XYZZ:
        return 4 * coordinate;
    }
    return 0;
}

size_t curve_point_stride(const pool_curve *curve, const pool_point_format *format)
{
    return format->stride ? (size_t)format->stride : pool_point_bytes(curve, format->layout);
}

pool_status curve_read_format(const char *call, const pool_curve *curve,
    const pool_point_format *format, pool_point_format *given)
{
    const pool_point_format standard = {POOL_POINT_AFFINE, POOL_FORM_STANDARD, 0};
    size_t packed;
    pool_status status;

    *given = format ? *format : standard;
    status = base_check_ranges(call, {"format->layout", given->layout, 0, POOL_POINT_XYZZ},
        {"format->form", given->form, 0, POOL_FORM_MONTGOMERY});
    if (status)
        return status;
    packed = pool_point_bytes(curve, given->layout);
    if (given->stride && given->stride < packed)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `format->stride`; points of %s have %zu bytes", call,
            (unsigned long long)given->stride, curve->name, packed);
    return POOL_OK;
}

pool_status curve_validate_checks(const char *call, uint32_t checks)
{
    uint32_t known = POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP;
    uint32_t subgroup_alone = POOL_CHECK_SUBGROUP ^ POOL_CHECK_ON_CURVE;

    if ((checks & ~known) || ((checks & subgroup_alone) && !(checks & POOL_CHECK_ON_CURVE)))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `checks`; the supported flags are "
            "POOL_CHECK_CANONICAL, "
            "POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP",
            call, checks);
    return POOL_OK;
}

pool_status curve_validate_array(const char *call, const pool_curve *curve,
    const pool_point_format *format, const void *points, size_t count)
{
    if (!points && count)
        return base_fail_null(call, "points");
    return base_check_array(call, "points", count, curve_point_stride(curve, format),
        pool_point_bytes(curve, format->layout));
}

/* Loads coordinate `index` of a point. */
static bool load_coordinate(const pool_curve *curve, uint64_t *x, const pool_point_format *format,
    const void *memory, size_t index)
{
    const struct field_extension *f = &curve->coordinates;

    return field_extension_load(f, x, (const uint8_t *)memory + index * f->bytes, format->form);
}

static const char *load_affine(const pool_curve *curve, struct curve_jacobian *p,
    const pool_point_format *format, const void *memory)
{
    const struct field_extension *f = &curve->coordinates;
    bool infinity;

    if (format->layout == POOL_POINT_AFFINE_FLAG) {
        uint8_t flag = ((const uint8_t *)memory)[2 * f->bytes];

        if (flag > 1)
            return "has an infinity flag that is neither 0 nor 1";
        infinity = flag == 1;
    } else {
        infinity = field_extension_is_zero(f, p->x) && field_extension_is_zero(f, p->y);
    }
    if (infinity)
        curve_jacobian_set_infinity(curve, p);
    else
        field_extension_set_one(f, p->z);
    return NULL;
}

/* The projective point (X : Y : Z) is (X Z, Y Z^2, Z) in Jacobian coordinates. */
static void from_projective(const pool_curve *curve, struct curve_jacobian *p)
{
    const struct field_extension *f = &curve->coordinates;

    field_extension_mul(f, p->x, p->x, p->z);
    field_extension_mul(f, p->y, p->y, p->z);
    field_extension_mul(f, p->y, p->y, p->z);
}

static const char *load_xyzz(const pool_curve *curve, struct curve_jacobian *p,
    const pool_point_format *format, const void *memory)
{
    const struct field_extension *f = &curve->coordinates;
    struct curve_xyzz q;
    uint64_t cube[CURVE_MAX_LIMBS];
    uint64_t square[CURVE_MAX_LIMBS];

    if (!load_coordinate(curve, q.zz, format, memory, 2) ||
        !load_coordinate(curve, q.zzz, format, memory, 3))
        return "has a coordinate that is not below the modulus";
    field_extension_sqr(f, cube, q.zz);
    field_extension_mul(f, cube, cube, q.zz);
    field_extension_sqr(f, square, q.zzz);
    if (!field_extension_equal(f, cube, square))
        return "has ZZ^3 and ZZZ^2 that differ";
    field_extension_copy(f, q.x, p->x);
    field_extension_copy(f, q.y, p->y);
    curve_xyzz_to_jacobian(curve, p, &q);
    return NULL;
}

const char *curve_load(const pool_curve *curve, struct curve_jacobian *p,
    const pool_point_format *format, const void *memory)
{
    if (!load_coordinate(curve, p->x, format, memory, 0) ||
        !load_coordinate(curve, p->y, format, memory, 1))
        return "has a coordinate that is not below the modulus";
    if (format->layout == POOL_POINT_AFFINE || format->layout == POOL_POINT_AFFINE_FLAG)
        return load_affine(curve, p, format, memory);
    if (format->layout == POOL_POINT_XYZZ)
        return load_xyzz(curve, p, format, memory);
    if (!load_coordinate(curve, p->z, format, memory, 2))
        return "has a coordinate that is not below the modulus";
    if (format->layout == POOL_POINT_PROJECTIVE)
        from_projective(curve, p);
    if (curve_jacobian_is_infinity(curve, p))
        curve_jacobian_set_infinity(curve, p);
    return NULL;
}

static void store_coordinate(const pool_curve *curve, void *memory, const pool_point_format *format,
    size_t index, const uint64_t *x)
{
    const struct field_extension *f = &curve->coordinates;

    field_extension_store(f, (uint8_t *)memory + index * f->bytes, format->form, x);
}

void curve_store_affine(const pool_curve *curve, const pool_point_format *format, void *memory,
    const struct curve_affine *p)
{
    size_t flag_at = 2 * curve->coordinates.bytes;

    store_coordinate(curve, memory, format, 0, p->x);
    store_coordinate(curve, memory, format, 1, p->y);
    if (format->layout == POOL_POINT_AFFINE_FLAG) {
        memset((uint8_t *)memory + flag_at, 0, pool_point_bytes(curve, format->layout) - flag_at);
        ((uint8_t *)memory)[flag_at] = p->infinity;
    }
}

void curve_store(const pool_curve *curve, const pool_point_format *format, void *memory,
    const struct curve_jacobian *p)
{
    const struct field_extension *f = &curve->coordinates;
    struct curve_affine affine;
    struct curve_xyzz q;

    if (format->layout == POOL_POINT_AFFINE || format->layout == POOL_POINT_AFFINE_FLAG) {
        curve_jacobian_to_affine(curve, &affine, p);
        curve_store_affine(curve, format, memory, &affine);
        return;
    }
    curve_xyzz_from_jacobian(curve, &q, p);
    if (format->layout == POOL_POINT_PROJECTIVE) {
        /* X / Z^2 = X Z / Z^3 */
        field_extension_mul(f, q.x, p->x, p->z);
        field_extension_copy(f, q.zz, q.zzz);
    } else if (format->layout == POOL_POINT_JACOBIAN) {
        field_extension_copy(f, q.zz, p->z);
    }
    store_coordinate(curve, memory, format, 0, q.x);
    store_coordinate(curve, memory, format, 1, q.y);
    store_coordinate(curve, memory, format, 2, q.zz);
    if (format->layout == POOL_POINT_XYZZ)
        store_coordinate(curve, memory, format, 3, q.zzz);
}

const char *curve_check(const pool_curve *curve, const struct curve_jacobian *p, uint32_t checks)
{
    if ((checks & POOL_CHECK_ON_CURVE) == POOL_CHECK_ON_CURVE &&
        !curve_jacobian_is_on_curve(curve, p))
        return "is not on the curve";
    if ((checks & POOL_CHECK_SUBGROUP) == POOL_CHECK_SUBGROUP && !curve_is_in_subgroup(curve, p))
        return "is not in the subgroup";
    return NULL;
}
