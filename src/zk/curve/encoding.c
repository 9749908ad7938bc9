/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes and decodes points in the formats of other systems: the compressed and uncompressed forms
 * of zcash, gnark and arkworks, and the inputs of Ethereum's precompiles. Decoding checks every
 * byte.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/curve/curve.h"
#include "zk/field/integer.h"

enum {
    EIP196_WIDTH = 32,
    EIP2537_WIDTH = 64,
    MAX_POINT = 4 * POOL_FIELD_MAX_BYTES + 8,
};

/* The position and meaning of an encoding's flags. */
enum flags {
    FLAGS_NONE,     /* infinity is all zeros */
    FLAGS_ZCASH,    /* first byte: 0x80 compressed, 0x40 infinity, 0x20 the larger y */
    FLAGS_GNARK,    /* first byte: 0x80 the smaller y, 0xc0 the larger y, 0x40 infinity */
    FLAGS_ARKWORKS, /* last byte: 0x40 infinity, 0x80 the larger y */
};

/* The sizes of an encoding for one curve. */
struct shape {
    size_t width;   /* bytes of an element of the prime field; 0: not defined for the curve */
    size_t flagged; /* bytes of the last element, which may have an extra byte for the flags */
    enum flags flags;
    bool is_compressed;
    bool is_big_endian;
    bool c0_is_first;
};

static const char *const not_below = "has a coordinate that is not below the modulus";

static struct shape shape_of(const pool_curve *curve, pool_encoding encoding)
{
    uint32_t bits = curve->coordinates.field->bits;
    size_t least = (bits + 7) / 8;
    size_t spare = 8 * least - bits;
    struct shape shape = {.width = least, .is_big_endian = true};

    switch (encoding) {
    case POOL_ENCODING_ZCASH_COMPRESSED:
    case POOL_ENCODING_ZCASH_UNCOMPRESSED:
        shape.width = spare >= 3 ? least : 0;
        shape.flags = FLAGS_ZCASH;
        shape.is_compressed = encoding == POOL_ENCODING_ZCASH_COMPRESSED;
        break;
    case POOL_ENCODING_EIP196:
        shape.width = least <= EIP196_WIDTH ? EIP196_WIDTH : 0;
        break;
    case POOL_ENCODING_EIP2537:
        shape.width = least <= EIP2537_WIDTH ? EIP2537_WIDTH : 0;
        shape.c0_is_first = true;
        break;
    case POOL_ENCODING_GNARK_COMPRESSED:
        shape.width = spare >= 2 ? least : 0;
        shape.flags = spare >= 3 ? FLAGS_ZCASH : FLAGS_GNARK;
        shape.is_compressed = true;
        break;
    case POOL_ENCODING_ARKWORKS_COMPRESSED:
    case POOL_ENCODING_ARKWORKS_UNCOMPRESSED:
        shape.flags = FLAGS_ARKWORKS;
        shape.is_compressed = encoding == POOL_ENCODING_ARKWORKS_COMPRESSED;
        shape.is_big_endian = false;
        shape.c0_is_first = true;
        break;
    default:
        shape.width = 0;
    }
    shape.flagged = shape.flags == FLAGS_ARKWORKS ? (bits + 2 + 7) / 8 : shape.width;
    return shape;
}

/* Returns the size of a coordinate, which differs for the last one. */
static size_t coordinate_bytes(const pool_curve *curve, const struct shape *shape, bool is_last)
{
    return (curve->coordinates.degree - 1) * shape->width +
           (is_last ? shape->flagged : shape->width);
}

static size_t point_bytes(const pool_curve *curve, const struct shape *shape)
{
    if (!shape->width)
        return 0;
    return coordinate_bytes(curve, shape, true) +
           (shape->is_compressed ? 0 : coordinate_bytes(curve, shape, false));
}

size_t pool_encoding_bytes(const pool_curve *curve, pool_encoding encoding)
{
    struct shape shape;

    if (!curve)
        return 0;
    shape = shape_of(curve, encoding);
    return point_bytes(curve, &shape);
}

/* Returns the offset of c0 or c1 in an encoded coordinate. */
static size_t part_offset(const pool_curve *curve, const struct shape *shape, uint32_t index)
{
    return (shape->c0_is_first ? index : curve->coordinates.degree - 1 - index) * shape->width;
}

static void write_coordinate(
    const pool_curve *curve, const struct shape *shape, const uint64_t *x, uint8_t *bytes)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t standard[FIELD_MAX_LIMBS];

    for (uint32_t i = 0; i < f->degree; i++) {
        field_from_montgomery(f->field, standard, x + i * f->field->limbs);
        field_integer_to_bytes(bytes + part_offset(curve, shape, i), shape->width,
            shape->is_big_endian, standard, f->field->limbs);
    }
}

static bool read_coordinate(
    const pool_curve *curve, const struct shape *shape, uint64_t *x, const uint8_t *bytes)
{
    const struct field_extension *f = &curve->coordinates;

    for (uint32_t i = 0; i < f->degree; i++) {
        uint64_t *part = x + i * f->field->limbs;

        if (!field_integer_from_bytes(part, f->field->limbs, bytes + part_offset(curve, shape, i),
                shape->width, shape->is_big_endian) ||
            !field_is_canonical(f->field, part))
            return false;
        field_to_montgomery(f->field, part, part);
    }
    return true;
}

/* The decoded flags. */
struct properties {
    bool is_infinity;
    bool is_larger;
};

/* Returns the byte with the flags. */
static size_t flag_offset(const pool_curve *curve, const struct shape *shape)
{
    return shape->flags == FLAGS_ARKWORKS ? point_bytes(curve, shape) - 1 : 0;
}

static uint8_t flag_mask(const struct shape *shape)
{
    static const uint8_t masks[] = {
        [FLAGS_NONE] = 0, [FLAGS_ZCASH] = 0xe0, [FLAGS_GNARK] = 0xc0, [FLAGS_ARKWORKS] = 0xc0};

    return masks[shape->flags];
}

static uint8_t flags_of(const struct shape *shape, struct properties properties)
{
    switch (shape->flags) {
    case FLAGS_NONE:
        break;
    case FLAGS_ZCASH:
        return (uint8_t)((shape->is_compressed ? 0x80 : 0) | (properties.is_infinity ? 0x40 : 0) |
                         (properties.is_larger && shape->is_compressed ? 0x20 : 0));
    case FLAGS_GNARK:
        return properties.is_infinity ? 0x40 : properties.is_larger ? 0xc0 : 0x80;
    case FLAGS_ARKWORKS:
        return properties.is_infinity ? 0x40 : properties.is_larger ? 0x80 : 0;
    }
    return 0;
}

static const char *read_flags(
    const struct shape *shape, uint8_t flags, struct properties *properties)
{
    if (shape->flags == FLAGS_ZCASH && !!(flags & 0x80) != shape->is_compressed)
        return shape->is_compressed ? "lacks the compression flag" : "has the compression flag";
    if (shape->flags == FLAGS_GNARK && flags == 0)
        return "lacks the compression flag";
    if (shape->flags == FLAGS_GNARK)
        *properties = (struct properties){.is_infinity = flags == 0x40, .is_larger = flags == 0xc0};
    else
        *properties = (struct properties){.is_infinity = flags & 0x40,
            .is_larger = flags & (shape->flags == FLAGS_ARKWORKS ? 0x80 : 0x20)};
    if (properties->is_infinity && properties->is_larger)
        return "is infinity with bits set that must be zero";
    if (shape->flags == FLAGS_ZCASH && properties->is_larger && !shape->is_compressed)
        return "is uncompressed and has the flag of the larger y";
    return NULL;
}

static void encode_point(const pool_curve *curve, const struct shape *shape,
    const struct curve_affine *p, uint8_t *bytes)
{
    struct properties properties = {.is_infinity = p->infinity};

    memset(bytes, 0, point_bytes(curve, shape));
    if (!p->infinity) {
        properties.is_larger = field_extension_is_larger_half(&curve->coordinates, p->y);
        write_coordinate(curve, shape, p->x, bytes);
        if (!shape->is_compressed)
            write_coordinate(curve, shape, p->y, bytes + coordinate_bytes(curve, shape, false));
    }
    bytes[flag_offset(curve, shape)] |= flags_of(shape, properties);
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
        return "has y = 0 and the flag of the larger y";
    return NULL;
}

/* An extra byte for flags must be zero apart from them. */
static const char *read_point(const pool_curve *curve, const struct shape *shape,
    struct properties properties, struct curve_affine *p, const uint8_t *bytes)
{
    p->infinity = false;
    if (shape->flagged > shape->width && bytes[flag_offset(curve, shape)])
        return "has bits set besides its flags that must be zero";
    if (!read_coordinate(curve, shape, p->x, bytes))
        return not_below;
    if (shape->is_compressed)
        return recover_y(curve, p, properties.is_larger);
    if (!read_coordinate(curve, shape, p->y, bytes + coordinate_bytes(curve, shape, false)))
        return not_below;
    if (shape->flags == FLAGS_ARKWORKS &&
        field_extension_is_larger_half(&curve->coordinates, p->y) != properties.is_larger)
        return "has the flag of the other y";
    return NULL;
}

static const char *decode_point(const pool_curve *curve, const struct shape *shape,
    struct curve_affine *p, const uint8_t *given)
{
    size_t size = point_bytes(curve, shape);
    struct properties properties = {0};
    uint8_t bytes[MAX_POINT];
    uint8_t *flagged = bytes + flag_offset(curve, shape);

    memcpy(bytes, given, size);
    if (shape->flags != FLAGS_NONE) {
        const char *wrong = read_flags(shape, *flagged & flag_mask(shape), &properties);

        if (wrong)
            return wrong;
        *flagged &= (uint8_t)~flag_mask(shape);
    } else {
        properties.is_infinity = all_zero(bytes, size);
    }
    if (!properties.is_infinity)
        return read_point(curve, shape, properties, p, bytes);
    if (!all_zero(bytes, size))
        return "is infinity with bits set that must be zero";
    curve_affine_set_infinity(curve, p);
    return NULL;
}

const char *curve_decode(
    const pool_curve *curve, pool_encoding encoding, struct curve_affine *p, const uint8_t *bytes)
{
    struct shape shape = shape_of(curve, encoding);

    return decode_point(curve, &shape, p, bytes);
}

/* Resolves a stride of 0 and a format of NULL. */
static pool_status check_arguments(const char *call, const pool_curve *curve,
    pool_encoding encoding, size_t *stride, const void *encoded, size_t count,
    const pool_point_format *format, const void *points, pool_point_format *given)
{
    size_t size = pool_encoding_bytes(curve, encoding);
    pool_status status =
        base_check_ranges(call, {"encoding", encoding, 0, POOL_ENCODING_ARKWORKS_UNCOMPRESSED});

    if (!status && (!curve || (!encoded && count)))
        status = base_fail_null(call, curve ? "encoded" : "curve");
    if (status)
        return status;
    if (!size)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: encoding %d is not defined for %s, whose modulus has %u bits", call, (int)encoding,
            curve->name, curve->coordinates.field->bits);
    if (*stride && *stride < size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %zu for `stride`: an encoded point of %s has %zu bytes", call,
            *stride, curve->name, size);
    *stride = *stride ? *stride : size;
    status = curve_read_format(call, curve, format, given);
    if (!status)
        status = base_check_array(call, "encoded points", count, *stride, size);
    return status ? status : curve_validate_array(call, curve, given, points, count);
}

/* In encodings without flags all zeros mean infinity, so (0, 0) cannot be encoded. */
static pool_status check_no_origin(const pool_curve *curve, const struct shape *shape,
    const pool_point_format *format, const void *points, size_t count)
{
    if (shape->flags != FLAGS_NONE)
        return POOL_OK;
    for (size_t i = 0; i < count; i++) {
        struct curve_jacobian p;

        curve_load(
            curve, &p, format, (const uint8_t *)points + i * curve_point_stride(curve, format));
        if (curve_jacobian_is_origin(curve, &p))
            return base_fail(POOL_ERR_BAD_DATA,
                "point %zu of %s is (0, 0), which means infinity in this encoding", i, curve->name);
    }
    return POOL_OK;
}

pool_status pool_points_encode(const pool_curve *curve, const pool_point_format *format,
    const void *points, size_t count, pool_encoding encoding, size_t stride, uint8_t *encoded)
{
    pool_point_format given;
    struct shape shape;
    pool_status status = check_arguments(
        "pool_points_encode", curve, encoding, &stride, encoded, count, format, points, &given);

    if (status)
        return status;
    shape = shape_of(curve, encoding);
    status = pool_points_check(curve, &given, points, count, POOL_CHECK_CANONICAL, NULL);
    if (!status)
        status = check_no_origin(curve, &shape, &given, points, count);
    for (size_t i = 0; i < count && !status; i++) {
        struct curve_jacobian p;
        struct curve_affine affine;

        curve_load(
            curve, &p, &given, (const uint8_t *)points + i * curve_point_stride(curve, &given));
        curve_jacobian_to_affine(curve, &affine, &p);
        encode_point(curve, &shape, &affine, encoded + i * stride);
    }
    return status;
}

/* Decodes into a separate array, so that nothing is written to the caller's unless all are valid.
 */
static pool_status decode_all(const pool_curve *curve, const struct shape *shape, size_t stride,
    const uint8_t *encoded, size_t count, uint32_t checks, const pool_point_format *format,
    uint8_t *decoded)
{
    for (size_t i = 0; i < count; i++) {
        struct curve_affine p;
        struct curve_jacobian checked;
        const char *wrong = decode_point(curve, shape, &p, encoded + i * stride);

        if (!wrong) {
            curve_jacobian_from_affine(curve, &checked, &p);
            wrong = curve_check(curve, &checked, checks);
        }
        if (wrong)
            return base_fail(
                POOL_ERR_BAD_DATA, "encoded point %zu of %s %s", i, curve->name, wrong);
        curve_store_affine(curve, format, decoded + i * curve_point_stride(curve, format), &p);
    }
    return POOL_OK;
}

pool_status pool_points_decode(const pool_curve *curve, pool_encoding encoding, size_t stride,
    const uint8_t *encoded, size_t count, uint32_t checks, const pool_point_format *format,
    void *points)
{
    /* With an infinity flag, so that the point (0, 0) on a curve with b = 0 is preserved. */
    const pool_point_format flagged = {POOL_POINT_AFFINE_FLAG, POOL_FORM_MONTGOMERY, 0};
    pool_point_format given;
    pool_status status = check_arguments(
        "pool_points_decode", curve, encoding, &stride, encoded, count, format, points, &given);
    struct shape shape;
    uint8_t *decoded;

    if (!status)
        status = curve_validate_checks("pool_points_decode", checks);
    if (status)
        return status;
    decoded = base_calloc(count, curve_point_stride(curve, &flagged));
    if (!decoded)
        return base_fail_memory("decoded points");
    shape = shape_of(curve, encoding);
    status = decode_all(curve, &shape, stride, encoded, count, checks, &flagged, decoded);
    if (!status)
        status = pool_points_convert(
            curve, &flagged, decoded, count, POOL_CHECK_CANONICAL, &given, points);
    base_free(decoded);
    return status;
}
