/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elliptic curves in short Weierstrass form: the built-in ones by name, any other from its
 * coefficients; arrays of points in the layouts and encodings that provers use; points for tests.
 *
 * A curve here is one group: y^2 = x^3 + a x + b over a prime field or its quadratic extension,
 * with a generator of prime order. G1 and G2 of a pairing are two curves. A coordinate in memory is
 * one element (see field.h) or, over the extension F[u] / (u^2 - nonresidue), two: c0 and then c1
 * of c0 + c1 u.
 */
#ifndef DEVICEPOOL_CURVE_H
#define DEVICEPOOL_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/field.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A curve with its fields, generator and cofactor. Immutable: any number of threads may use one at
 * once. Built-in curves are never freed; created ones count references.
 */
typedef struct pool_curve pool_curve;

/* Built-in curves, in a fixed order. `pool_curve_at` gives NULL past the end. Static. Any thread.
 */
POOL_API size_t pool_curve_count(void);
POOL_API const pool_curve *pool_curve_at(size_t index);

/*
 * The built-in curve of that name, or NULL with POOL_ERR_NOT_FOUND as the thread's last error:
 * bn254_g1, bn254_g2, bls12_381_g1, bls12_381_g2, bls12_377_g1, bls12_377_g2, bw6_761_g1,
 * bw6_761_g2, pallas, vesta, grumpkin, secp256k1. Static. Any thread.
 */
POOL_API const pool_curve *pool_curve_by_name(const char *name);

/*
 * A curve of one's own. Numbers are text: decimal, or hexadecimal after "0x". A coordinate is {c0,
 * c1}; c1 is used over an extension only, and NULL there means 0.
 */
typedef struct pool_curve_params {
    size_t struct_size;         /* sizeof(pool_curve_params) */
    const pool_field *field;    /* of the coordinates; p > 3; required */
    const char *a[2];           /* NULL: 0 */
    const char *b[2];           /* NULL: 0 */
    const char *generator_x[2]; /* required */
    const char *generator_y[2]; /* required */
    const char *order;          /* of the generator: an odd prime; required without scalar_field */
    const char *cofactor;       /* NULL: computed where the order determines it, else unknown */
    int32_t nonresidue;         /* 0: coordinates in `field`; else in F[u] / (u^2 - nonresidue) */
    uint32_t reserved;          /* 0 */
    /* Of modulus `order`, for one who chooses its root of unity. NULL: made from `order`. */
    const pool_field *scalar_field;
    const char *name; /* up to 63 characters; NULL: "custom" */
} pool_curve_params;

#define POOL_CURVE_PARAMS_INIT                                                                     \
    {                                                                                              \
        sizeof(pool_curve_params), NULL, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL},   \
            NULL, NULL, 0, 0, NULL, NULL                                                           \
    }

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_curve_params_init(pool_curve_params *params, size_t struct_size);

/*
 * Checks that the discriminant is not zero, that the generator lies on the curve and is not the
 * point at infinity, that the order is prime and sends the generator to infinity, and that order *
 * cofactor is within Hasse's bounds of the number of points. Copies all texts and keeps references
 * to the fields. Takes milliseconds; blocks nothing. POOL_ERR_INVALID_ARGUMENT says which of it
 * failed, POOL_ERR_OUT_OF_HOST_MEMORY. The caller owns one reference.
 */
POOL_API pool_status pool_curve_create(const pool_curve_params *params, pool_curve **curve);

/* One more reference, to be given back by pool_curve_destroy. Built-in curves are not counted. NULL
 * gives NULL. */
POOL_API pool_curve *pool_curve_retain(const pool_curve *curve);

/* Gives one reference back, frees the curve with the last one, and sets *curve to NULL. NULL is
 * nothing. */
POOL_API void pool_curve_destroy(pool_curve **curve);

/* Facts. Fields are borrowed from the curve. Any thread. With NULL: NULL, 0 or an empty text. */
POOL_API const char *pool_curve_name(const pool_curve *curve);
POOL_API const pool_field *pool_curve_base_field(const pool_curve *curve);
POOL_API const pool_field *pool_curve_scalar_field(
    const pool_curve *curve);                                 /* its modulus is the order */
POOL_API uint32_t pool_curve_degree(const pool_curve *curve); /* 1, or 2 over an extension */
POOL_API size_t pool_curve_coordinate_bytes(const pool_curve *curve);

/* SHA-256 over fields, coefficients and generator: equal exactly for curves that compute the same.
 */
POOL_API pool_status pool_curve_fingerprint(
    const pool_curve *curve, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/*
 * The cofactor as `bytes` little-endian bytes. POOL_ERR_NOT_FOUND when it is unknown,
 * POOL_ERR_INVALID_ARGUMENT when it does not fit.
 */
POOL_API pool_status pool_curve_cofactor(const pool_curve *curve, size_t bytes, uint8_t *cofactor);

/* How a point's coordinates lie in memory. */
typedef enum pool_point_layout {
    POOL_POINT_AFFINE = 0, /* x, y; infinity is all zeros (gnark, snarkjs, zkey, ICICLE, EIPs) */
    POOL_POINT_AFFINE_FLAG = 1, /* x, y, one byte that is 1 for infinity, padding to 8 (arkworks) */
    POOL_POINT_JACOBIAN =
        2, /* X, Y, Z with x = X/Z^2, y = Y/Z^3; infinity is Z = 0 (gnark, arkworks) */
    POOL_POINT_PROJECTIVE = 3, /* X, Y, Z with x = X/Z, y = Y/Z; infinity is Z = 0 (ICICLE) */
    POOL_POINT_XYZZ =
        4 /* X, Y, ZZ, ZZZ with x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; infinity is ZZ = 0 */
} pool_point_layout;

/*
 * Layout, form of the coordinates and bytes from one point to the next. All zeros: packed affine
 * points in standard form. The library writes infinity as (0, 0), as (0, 0, 1), as (1, 1, 0), as
 * (0, 1, 0) and as (1, 1, 0, 0). In POOL_POINT_AFFINE, (0, 0) always means infinity: the point
 * (0, 0) of order two, which curves with b = 0 have, cannot be written in that layout and is
 * refused.
 */
typedef struct pool_point_format {
    pool_point_layout layout;
    pool_form form;
    uint64_t stride; /* 0: packed, pool_point_bytes apart */
} pool_point_format;

/* Packed size of a point; 0 for an unknown layout or a NULL curve. */
POOL_API size_t pool_point_bytes(const pool_curve *curve, pool_point_layout layout);

/* What points are checked for beyond coordinates below the modulus. */
#define POOL_CHECK_CANONICAL 0u
#define POOL_CHECK_ON_CURVE 1u
#define POOL_CHECK_SUBGROUP 3u /* order * P = infinity; includes POOL_CHECK_ON_CURVE */

/*
 * Checks `count` points. POOL_ERR_BAD_DATA for the first that fails, with its place in *first_bad
 * unless that is NULL. A format of NULL means all zeros, here and below.
 */
POOL_API pool_status pool_points_check(const pool_curve *curve, const void *points,
    const pool_point_format *format, size_t count, uint32_t checks, size_t *first_bad);

/*
 * Points of one format to points of another, checked on the way. Results may be written over the
 * arguments only when layout and stride are the same. POOL_ERR_BAD_DATA names the first bad point;
 * nothing is written then.
 */
POOL_API pool_status pool_points_convert(const pool_curve *curve, const void *from,
    const pool_point_format *from_format, size_t count, uint32_t checks, void *to,
    const pool_point_format *to_format);

/* Byte strings that other systems exchange. */
typedef enum pool_encoding {
    /*
     * zcash's BLS12-381 form (also c-kzg, consensus-specs, IETF BLS): x big-endian, over an
     * extension c1 before c0; the top three bits of the first byte say compressed, infinity, y is
     * the larger of y and -y. Any curve whose modulus leaves three bits.
     */
    POOL_ENCODING_ZCASH_COMPRESSED = 0,
    POOL_ENCODING_ZCASH_UNCOMPRESSED = 1, /* x, y with the same flags; the third must be 0 */
    POOL_ENCODING_EIP196 =
        2, /* x, y big-endian, 32 bytes an element, c1 before c0 (EIP-197); infinity zeros */
    POOL_ENCODING_EIP2537 =
        3, /* x, y big-endian, 64 bytes an element, c0 before c1; infinity zeros */
    /*
     * gnark-crypto: zcash's form where the modulus leaves three bits; where it leaves two, as
     * BN254's does, the top two bits of the first byte are 10 and 11 for the smaller and the larger
     * of y and -y, 01 for infinity. Its uncompressed forms are POOL_ENCODING_ZCASH_UNCOMPRESSED
     * and, for BN254, POOL_ENCODING_EIP196.
     */
    POOL_ENCODING_GNARK_COMPRESSED = 4,
    /*
     * arkworks' CanonicalSerialize: x little-endian, over an extension c0 before c1; in the last
     * byte, which stands alone where the modulus leaves less than two bits, bit 7 says y is the
     * larger of y and -y, bit 6 infinity. Any curve; ark-bls12-381 since 0.4 writes zcash's form.
     */
    POOL_ENCODING_ARKWORKS_COMPRESSED = 5,
    POOL_ENCODING_ARKWORKS_UNCOMPRESSED = 6 /* x, y with the same flags */
} pool_encoding;

/* Bytes of an encoded point; 0 when the curve does not have that encoding. */
POOL_API size_t pool_encoding_bytes(const pool_curve *curve, pool_encoding encoding);

/*
 * Encodes or decodes `count` points, encoded ones `stride` bytes apart: 0 is packed, and what lies
 * between them is neither read nor written. Every deviation is refused with POOL_ERR_BAD_DATA, the
 * place of the first bad point in the text, and nothing written: coordinates not below the modulus,
 * wrong flags, an infinity that is not all zeros, padding that is not zero, an x without a y; and
 * what `checks` asks for. POOL_ERR_UNSUPPORTED when the curve does not have that encoding,
 * POOL_ERR_INVALID_ARGUMENT for a stride smaller than an encoded point.
 */
POOL_API pool_status pool_points_encode(const pool_curve *curve, pool_encoding encoding,
    const void *points, const pool_point_format *format, size_t count, uint8_t *bytes,
    size_t stride);
POOL_API pool_status pool_points_decode(const pool_curve *curve, pool_encoding encoding,
    const uint8_t *bytes, size_t stride, size_t count, uint32_t checks, void *points,
    const pool_point_format *format);

/*
 * Sums, multiples and comparison on the host, one point at a time: for checking results, not for
 * speed, and not for secrets (time depends on values). The scalar is `scalar_bytes` little-endian
 * bytes in standard form and need not be below the order. Points must lie on the curve, which is
 * checked. The result may be written over an argument.
 */
POOL_API pool_status pool_point_add(const pool_curve *curve, const pool_point_format *format,
    const void *p, const void *q, void *sum);
POOL_API pool_status pool_point_mul(const pool_curve *curve, const pool_point_format *format,
    const void *p, const uint8_t *scalar, size_t scalar_bytes, void *product);
POOL_API pool_status pool_point_equal(const pool_curve *curve, const void *p,
    const pool_point_format *p_format, const void *q, const pool_point_format *q_format,
    int *equal);

/* The generator in the given format. */
POOL_API pool_status pool_curve_generator(
    const pool_curve *curve, const pool_point_format *format, void *point);

/*
 * `count` points of the generator's group, point i of which depends on seed, i and curve only.
 * Unless `scalars` is NULL it receives `count` packed elements of the scalar field in standard
 * form, such that point i is scalar i times the generator. Points are sums of two from small random
 * tables: fast to make, and as good as independent ones for tests and measurements; not for
 * secrets.
 */
POOL_API pool_status pool_random_points(const pool_curve *curve, uint64_t seed, size_t count,
    void *points, const pool_point_format *format, void *scalars);

#ifdef __cplusplus
}
#endif

#endif
