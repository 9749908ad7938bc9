/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions on arrays of points and on single points: checks, format conversion,
 * addition and scalar multiplication.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/curve/curve.h"
#include "zk/field/integer.h"

/* Points that share one inversion: enough that it costs less than the rest of the conversion, few
 * enough for the stack. */
enum { CHUNK = 32 };

static pool_status fail_point(const pool_curve *curve, size_t index, const char *wrong)
{
    return base_fail(POOL_ERR_BAD_DATA, "point %zu of %s %s", index, curve->name, wrong);
}

static const void *point_at(
    const pool_curve *curve, const pool_point_format *format, const void *points, size_t index)
{
    return (const uint8_t *)points + index * curve_point_stride(curve, format);
}

/* The point (0, 0), on a curve with b = 0 or unchecked, has no POOL_POINT_AFFINE representation. */
static const char *check_representable(
    const pool_curve *curve, const pool_point_format *target, const struct curve_jacobian *p)
{
    if (!target || target->layout != POOL_POINT_AFFINE || !curve_jacobian_is_origin(curve, p))
        return NULL;
    return "is (0, 0), which means infinity in POOL_POINT_AFFINE";
}

/* `target` is the format that the points will be converted to, or NULL. */
static pool_status check_points(const char *call, const pool_curve *curve,
    const pool_point_format *format, const void *points, size_t count, uint32_t checks,
    const pool_point_format *target, size_t *first_bad)
{
    pool_status status = curve_validate_array(call, curve, format, points, count);

    if (!status)
        status = curve_validate_checks(call, checks);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        struct curve_jacobian p;
        const char *wrong = curve_load(curve, &p, format, point_at(curve, format, points, i));

        if (!wrong)
            wrong = curve_check(curve, &p, checks);
        if (!wrong)
            wrong = check_representable(curve, target, &p);
        if (wrong && first_bad)
            *first_bad = i;
        if (wrong)
            return fail_point(curve, i, wrong);
    }
    return POOL_OK;
}

pool_status pool_points_check(const pool_curve *curve, const pool_point_format *format,
    const void *points, size_t count, uint32_t checks, size_t *first_bad)
{
    pool_point_format given;
    pool_status status;

    if (!curve)
        return base_fail_null("pool_points_check", "curve");
    status = curve_read_format("pool_points_check", curve, format, &given);
    if (status)
        return status;
    return check_points("pool_points_check", curve, &given, points, count, checks, NULL, first_bad);
}

static void convert_chunk(const pool_curve *curve, const pool_point_format *from_format,
    const void *from, size_t count, const pool_point_format *to_format, void *to)
{
    struct curve_jacobian loaded[CHUNK];
    struct curve_affine affine[CHUNK];
    uint64_t scratch[2 * CHUNK * CURVE_MAX_LIMBS];
    size_t stride = curve_point_stride(curve, to_format);
    bool to_affine =
        to_format->layout == POOL_POINT_AFFINE || to_format->layout == POOL_POINT_AFFINE_FLAG;

    for (size_t i = 0; i < count; i++)
        curve_load(curve, &loaded[i], from_format, point_at(curve, from_format, from, i));
    if (to_affine)
        curve_jacobian_batch_to_affine(curve, affine, loaded, count, scratch);
    for (size_t i = 0; i < count; i++) {
        void *memory = (uint8_t *)to + i * stride;

        if (to_affine)
            curve_store_affine(curve, to_format, memory, &affine[i]);
        else
            curve_store(curve, to_format, memory, &loaded[i]);
    }
}

pool_status pool_points_convert(const pool_curve *curve, const pool_point_format *from_format,
    const void *from, size_t count, uint32_t checks, const pool_point_format *to_format, void *to)
{
    pool_point_format source;
    pool_point_format target;
    pool_status status;

    if (!curve)
        return base_fail_null("pool_points_convert", "curve");
    status = curve_read_format("pool_points_convert", curve, from_format, &source);
    if (!status)
        status = curve_read_format("pool_points_convert", curve, to_format, &target);
    if (!status)
        status = curve_validate_array("pool_points_convert", curve, &target, to, count);
    if (!status)
        status =
            check_points("pool_points_convert", curve, &source, from, count, checks, &target, NULL);
    for (size_t i = 0; i < count && !status; i += CHUNK) {
        size_t chunk = count - i < CHUNK ? count - i : CHUNK;

        convert_chunk(curve, &source, point_at(curve, &source, from, i), chunk, &target,
            (uint8_t *)to + i * curve_point_stride(curve, &target));
    }
    return status;
}

/* Loads a point and checks that it is on the curve. */
static pool_status load_checked(const pool_curve *curve, struct curve_jacobian *p,
    const pool_point_format *format, const void *memory)
{
    const char *wrong = curve_load(curve, p, format, memory);

    if (!wrong)
        wrong = curve_check(curve, p, POOL_CHECK_ON_CURVE);
    return wrong ? fail_point(curve, 0, wrong) : POOL_OK;
}

static pool_status store_result(const pool_curve *curve, const pool_point_format *format,
    void *memory, const struct curve_jacobian *p)
{
    const char *wrong = check_representable(curve, format, p);

    if (wrong)
        return base_fail(POOL_ERR_UNSUPPORTED, "the result on %s %s", curve->name, wrong);
    curve_store(curve, format, memory, p);
    return POOL_OK;
}

pool_status pool_point_add(const pool_curve *curve, const pool_point_format *format, const void *p,
    const void *q, void *sum)
{
    pool_point_format given;
    struct curve_jacobian left;
    struct curve_jacobian right;
    pool_status status;

    status =
        base_check_pointers("pool_point_add", {"curve", curve}, {"p", p}, {"q", q}, {"sum", sum});
    if (status)
        return status;
    status = curve_read_format("pool_point_add", curve, format, &given);
    if (!status)
        status = load_checked(curve, &left, &given, p);
    if (!status)
        status = load_checked(curve, &right, &given, q);
    if (status)
        return status;
    curve_jacobian_add(curve, &left, &left, &right);
    return store_result(curve, &given, sum, &left);
}

pool_status pool_point_mul(const pool_curve *curve, const pool_point_format *format, const void *p,
    const uint8_t *scalar, size_t scalar_bytes, void *product)
{
    pool_point_format given;
    struct curve_jacobian base;
    struct curve_jacobian result;
    pool_status status;

    status = base_check_pointers("pool_point_mul", {"curve", curve}, {"p", p},
        {"scalar", scalar_bytes ? scalar : p}, {"product", product});
    if (!status)
        status = base_check_array("pool_point_mul", "bytes of 8 bits", scalar_bytes, 8, 8);
    if (status)
        return status;
    status = curve_read_format("pool_point_mul", curve, format, &given);
    if (!status)
        status = load_checked(curve, &base, &given, p);
    if (status)
        return status;
    curve_jacobian_set_infinity(curve, &result);
    for (size_t bit = 8 * scalar_bytes; bit-- > 0;) {
        curve_jacobian_double(curve, &result, &result);
        if (scalar[bit / 8] >> (bit % 8) & 1)
            curve_jacobian_add(curve, &result, &result, &base);
    }
    return store_result(curve, &given, product, &result);
}

pool_status pool_point_equal(const pool_curve *curve, const pool_point_format *p_format,
    const void *p, const pool_point_format *q_format, const void *q, int32_t *is_equal)
{
    pool_point_format p_given;
    pool_point_format q_given;
    struct curve_jacobian left;
    struct curve_jacobian right;
    pool_status status;

    status = base_check_pointers(
        "pool_point_equal", {"curve", curve}, {"p", p}, {"q", q}, {"is_equal", is_equal});
    if (status)
        return status;
    status = curve_read_format("pool_point_equal", curve, p_format, &p_given);
    if (!status)
        status = curve_read_format("pool_point_equal", curve, q_format, &q_given);
    if (!status)
        status = load_checked(curve, &left, &p_given, p);
    if (!status)
        status = load_checked(curve, &right, &q_given, q);
    if (status)
        return status;
    *is_equal = curve_jacobian_equal(curve, &left, &right);
    return POOL_OK;
}

pool_status pool_curve_generator(
    const pool_curve *curve, const pool_point_format *format, void *point)
{
    pool_point_format given;
    struct curve_jacobian generator;
    pool_status status;

    status = base_check_pointers("pool_curve_generator", {"curve", curve}, {"point", point});
    if (status)
        return status;
    status = curve_read_format("pool_curve_generator", curve, format, &given);
    if (status)
        return status;
    curve_jacobian_from_affine(curve, &generator, &curve->generator);
    curve_store(curve, &given, point, &generator);
    return POOL_OK;
}
