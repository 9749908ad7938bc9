/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points as the byte strings that other systems exchange: zcash's compressed and uncompressed form,
 * and the inputs of Ethereum's precompiles. Every byte is checked.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "curve/curve.h"
#include "field/integer.h"

enum {
    FLAG_COMPRESSED = 0x80,
    FLAG_INFINITY = 0x40,
    FLAG_LARGER = 0x20,
    FLAGS = FLAG_COMPRESSED | FLAG_INFINITY | FLAG_LARGER,
    EIP196_WIDTH = 32,
    EIP2537_WIDTH = 64,
    MAX_POINT = 4 * POOL_FIELD_MAX_BYTES,
};

static const char *const not_below = "has a coordinate that is not below the modulus";

/* Bytes of one element of the prime field; 0 when the field has no such encoding. */
static size_t element_width(const pool_curve *curve, pool_encoding encoding)
{
    uint32_t bits = curve->coordinates.field->bits;
    size_t least = (bits + 7) / 8;

    switch (encoding) {
    case POOL_ENCODING_ZCASH_COMPRESSED:
    case POOL_ENCODING_ZCASH_UNCOMPRESSED:
        return 8 * least - bits >= 3 ? least : 0;
    case POOL_ENCODING_EIP196:
        return least <= EIP196_WIDTH ? EIP196_WIDTH : 0;
    case POOL_ENCODING_EIP2537:
        return least <= EIP2537_WIDTH ? EIP2537_WIDTH : 0;
    }
    return 0;
}

size_t pool_encoding_bytes(const pool_curve *curve, pool_encoding encoding)
{
    size_t coordinates = encoding == POOL_ENCODING_ZCASH_COMPRESSED ? 1 : 2;

    if (!curve)
        return 0;
    return coordinates * curve->coordinates.degree * element_width(curve, encoding);
}

/* Place of part `index` (c0 or c1) within a coordinate's bytes. */
static size_t part_offset(
    const pool_curve *curve, pool_encoding encoding, uint32_t index, size_t width)
{
    uint32_t degree = curve->coordinates.degree;

    return (encoding == POOL_ENCODING_EIP2537 ? index : degree - 1 - index) * width;
}

static void write_coordinate(
    const pool_curve *curve, pool_encoding encoding, const uint64_t *x, uint8_t *bytes)
{
    const struct field_extension *f = &curve->coordinates;
    size_t width = element_width(curve, encoding);
    uint64_t standard[FIELD_MAX_LIMBS];

    for (uint32_t i = 0; i < f->degree; i++) {
        field_from_montgomery(f->field, standard, x + i * f->field->limbs);
        field_integer_to_bytes(
            bytes + part_offset(curve, encoding, i, width), width, true, standard, f->field->limbs);
    }
}

static bool read_coordinate(
    const pool_curve *curve, pool_encoding encoding, uint64_t *x, const uint8_t *bytes)
{
    const struct field_extension *f = &curve->coordinates;
    size_t width = element_width(curve, encoding);

    for (uint32_t i = 0; i < f->degree; i++) {
        uint64_t *part = x + i * f->field->limbs;

        if (!field_integer_from_bytes(part, f->field->limbs,
                bytes + part_offset(curve, encoding, i, width), width, true) ||
            !field_is_canonical(f->field, part))
            return false;
        field_to_montgomery(f->field, part, part);
    }
    return true;
}

static void encode_point(
    const pool_curve *curve, pool_encoding encoding, const struct curve_affine *p, uint8_t *bytes)
{
    size_t size = pool_encoding_bytes(curve, encoding);
    bool compressed = encoding == POOL_ENCODING_ZCASH_COMPRESSED;
    bool flagged = compressed || encoding == POOL_ENCODING_ZCASH_UNCOMPRESSED;
    uint8_t flags = compressed ? FLAG_COMPRESSED : 0;

    memset(bytes, 0, size);
    if (p->infinity) {
        flags |= FLAG_INFINITY;
    } else {
        write_coordinate(curve, encoding, p->x, bytes);
        if (!compressed)
            write_coordinate(curve, encoding, p->y, bytes + size / 2);
        else if (field_extension_is_larger_half(&curve->coordinates, p->y))
            flags |= FLAG_LARGER;
    }
    if (flagged)
        bytes[0] |= flags;
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    uint8_t any = 0;

    for (size_t i = 0; i < size; i++)
        any |= bytes[i];
    return any == 0;
}

static const char *recover_y(const pool_curve *curve, struct curve_affine *p, bool larger)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t square[CURVE_MAX_LIMBS];

    curve_y_squared(curve, square, p->x);
    if (!field_extension_sqrt(f, p->y, square))
        return "has an x that is on no point of the curve";
    if (field_extension_is_larger_half(f, p->y) != larger)
        field_extension_neg(f, p->y, p->y);
    if (field_extension_is_larger_half(f, p->y) != larger)
        return "has y = 0 and says that it is the larger one";
    return NULL;
}

static const char *decode_zcash(
    const pool_curve *curve, pool_encoding encoding, struct curve_affine *p, const uint8_t *given)
{
    size_t size = pool_encoding_bytes(curve, encoding);
    bool compressed = encoding == POOL_ENCODING_ZCASH_COMPRESSED;
    uint8_t flags = given[0] & FLAGS;
    uint8_t bytes[MAX_POINT];

    memcpy(bytes, given, size);
    bytes[0] &= (uint8_t)~FLAGS;
    if (!!(flags & FLAG_COMPRESSED) != compressed)
        return compressed ? "lacks the compression flag" : "has the compression flag";
    if (flags & FLAG_INFINITY) {
        if (flags & FLAG_LARGER || !all_zero(bytes, size))
            return "is infinity with bits set that must be zero";
        curve_affine_set_infinity(curve, p);
        return NULL;
    }
    p->infinity = false;
    if (!read_coordinate(curve, encoding, p->x, bytes))
        return not_below;
    if (compressed)
        return recover_y(curve, p, flags & FLAG_LARGER);
    if (flags & FLAG_LARGER)
        return "is uncompressed and has the flag of the larger y";
    return read_coordinate(curve, encoding, p->y, bytes + size / 2) ? NULL : not_below;
}

const char *curve_decode(
    const pool_curve *curve, pool_encoding encoding, struct curve_affine *p, const uint8_t *bytes)
{
    size_t size = pool_encoding_bytes(curve, encoding);

    if (encoding == POOL_ENCODING_ZCASH_COMPRESSED || encoding == POOL_ENCODING_ZCASH_UNCOMPRESSED)
        return decode_zcash(curve, encoding, p, bytes);
    if (all_zero(bytes, size)) {
        curve_affine_set_infinity(curve, p);
        return NULL;
    }
    p->infinity = false;
    if (!read_coordinate(curve, encoding, p->x, bytes) ||
        !read_coordinate(curve, encoding, p->y, bytes + size / 2))
        return not_below;
    return NULL;
}

static pool_status check_arguments(const pool_curve *curve, pool_encoding encoding, const void *one,
    const void *other, size_t count, const pool_point_format *format, pool_point_format *given)
{
    if (!curve || ((!one || !other) && count))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "encoding of points: an argument is NULL");
    if ((int)encoding < 0 || encoding > POOL_ENCODING_EIP2537)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%d is no pool_encoding", (int)encoding);
    if (!pool_encoding_bytes(curve, encoding))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "points of %s, whose field has %u bits, do not have encoding %d", curve->name,
            curve->coordinates.field->bits, (int)encoding);
    return curve_read_format(curve, format, given);
}

/* Ethereum's encodings keep all zeros for infinity. */
static pool_status check_no_origin(const pool_curve *curve, pool_encoding encoding,
    const void *points, const pool_point_format *format, size_t count)
{
    if (encoding != POOL_ENCODING_EIP196 && encoding != POOL_ENCODING_EIP2537)
        return POOL_OK;
    for (size_t i = 0; i < count; i++) {
        struct curve_jacobian p;

        curve_load(
            curve, &p, format, (const uint8_t *)points + i * curve_point_stride(curve, format));
        if (curve_jacobian_is_origin(curve, &p))
            return base_fail(POOL_ERR_BAD_DATA,
                "point %zu of %s is (0, 0), which the encoding keeps for infinity", i, curve->name);
    }
    return POOL_OK;
}

pool_status pool_points_encode(const pool_curve *curve, pool_encoding encoding, const void *points,
    const pool_point_format *format, size_t count, uint8_t *bytes)
{
    pool_point_format given;
    pool_status status = check_arguments(curve, encoding, points, bytes, count, format, &given);

    if (!status)
        status = pool_points_check(curve, points, &given, count, POOL_CHECK_CANONICAL, NULL);
    if (!status)
        status = check_no_origin(curve, encoding, points, &given, count);
    for (size_t i = 0; i < count && !status; i++) {
        struct curve_jacobian p;
        struct curve_affine affine;

        curve_load(
            curve, &p, &given, (const uint8_t *)points + i * curve_point_stride(curve, &given));
        curve_jacobian_to_affine(curve, &affine, &p);
        encode_point(curve, encoding, &affine, bytes + i * pool_encoding_bytes(curve, encoding));
    }
    return status;
}

/* Into packed affine points in Montgomery form, kept apart until all of them are known to be good.
 */
static pool_status decode_all(const pool_curve *curve, pool_encoding encoding, const uint8_t *bytes,
    size_t count, uint32_t checks, uint8_t *decoded, const pool_point_format *format)
{
    size_t size = pool_encoding_bytes(curve, encoding);

    for (size_t i = 0; i < count; i++) {
        struct curve_affine p;
        struct curve_jacobian checked;
        const char *wrong = curve_decode(curve, encoding, &p, bytes + i * size);

        if (!wrong) {
            curve_jacobian_from_affine(curve, &checked, &p);
            wrong = curve_check(curve, &checked, checks);
        }
        if (wrong)
            return base_fail(
                POOL_ERR_BAD_DATA, "encoded point %zu of %s %s", i, curve->name, wrong);
        curve_store_affine(curve, decoded + i * curve_point_stride(curve, format), format, &p);
    }
    return POOL_OK;
}

pool_status pool_points_decode(const pool_curve *curve, pool_encoding encoding,
    const uint8_t *bytes, size_t count, uint32_t checks, void *points,
    const pool_point_format *format)
{
    /* with a flag, so that (0, 0) on a curve with b = 0 stays what it is */
    const pool_point_format own = {POOL_POINT_AFFINE_FLAG, POOL_FORM_MONTGOMERY, 0};
    pool_point_format given;
    pool_status status = check_arguments(curve, encoding, bytes, points, count, format, &given);
    uint8_t *decoded;

    if (status)
        return status;
    if (checks != POOL_CHECK_CANONICAL && checks != POOL_CHECK_ON_CURVE &&
        checks != POOL_CHECK_SUBGROUP)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%u are no POOL_CHECK_…", checks);
    decoded = base_calloc(count, curve_point_stride(curve, &own));
    if (!decoded)
        return base_fail_memory("decoded points");
    status = decode_all(curve, encoding, bytes, count, checks, decoded, &own);
    if (!status)
        status =
            pool_points_convert(curve, decoded, &own, count, POOL_CHECK_CANONICAL, points, &given);
    base_free(decoded);
    return status;
}
