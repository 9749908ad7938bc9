/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elliptic curves in short Weierstrass form: built-in curves by name, others from their
 * coefficients; host arrays of points in the layouts and encodings that provers use; random points
 * for tests.
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
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A curve with its fields, generator and cofactor. Immutable: any number of threads may use one at
 * once. Built-in curves are never freed; created ones count references.
 */
typedef struct pool_curve pool_curve;

/*
 * Enumerate the built-in curves, in a fixed order. `pool_curve_at` returns NULL past the end. The
 * curves are static. Any thread.
 */
POOL_API size_t pool_curve_count(void);
POOL_API const pool_curve *pool_curve_at(size_t index);

/*
 * Returns the built-in curve of that name, or NULL with POOL_ERR_NOT_FOUND as the thread's last
 * error: bn254_g1, bn254_g2, bls12_381_g1, bls12_381_g2, bls12_377_g1, bls12_377_g2, bw6_761_g1,
 * bw6_761_g2, pallas, vesta, grumpkin, secp256k1. The curves are static. Any thread.
 */
POOL_API const pool_curve *pool_curve_by_name(const char *name);

/*
 * A custom curve. Numbers are strings: decimal, or hexadecimal after "0x". A coordinate is {c0,
 * c1}; c1 is used over an extension only, and NULL means 0 there.
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
    /* Of modulus `order`, to choose its root of unity. NULL: created from `order`. */
    const pool_field *scalar_field;
    const char *name; /* up to 63 characters; NULL: "custom" */
} pool_curve_params;

/* Initialises params to defaults; struct_size is the caller's sizeof, see version.h. C callers may
 * use a designated initialiser. NULL is a no-op. */
POOL_API void pool_curve_params_init(pool_curve_params *params, size_t struct_size);

/*
 * Checks that the discriminant is not zero, that the generator is on the curve and is not the point
 * at infinity, that the order is prime and annihilates the generator, and that order * cofactor is
 * within Hasse's bounds. Copies all strings and holds references to the fields. Takes milliseconds
 * and does not block. Fails with POOL_ERR_INVALID_ARGUMENT, whose message names the condition
 * violated, or POOL_ERR_OUT_OF_HOST_MEMORY. The caller owns one reference.
 */
POOL_API pool_status pool_curve_create(const pool_curve_params *params, pool_curve **curve);

/* Adds a reference, which pool_curve_destroy releases. Built-in curves are not counted. Returns
 * NULL for NULL. */
POOL_API pool_curve *pool_curve_retain(const pool_curve *curve);

/* Releases a reference, frees the curve with the last one, and sets *curve to NULL. NULL or a
 * pointer to NULL is a no-op. */
POOL_API void pool_curve_destroy(pool_curve **curve);

/* Properties. Fields are borrowed from the curve. Return NULL, 0 or an empty string for NULL. Any
 * thread. */
POOL_API const char *pool_curve_name(const pool_curve *curve);
POOL_API const pool_field *pool_curve_base_field(const pool_curve *curve);
POOL_API const pool_field *pool_curve_scalar_field(
    const pool_curve *curve);                                 /* its modulus is the order */
POOL_API uint32_t pool_curve_degree(const pool_curve *curve); /* 1, or 2 over an extension */
POOL_API size_t pool_curve_coordinate_bytes(const pool_curve *curve);

/* SHA-256 over fields, coefficients and generator: equal if and only if the curves compute the
 * same. */
POOL_API pool_status pool_curve_fingerprint(
    const pool_curve *curve, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/*
 * Writes the cofactor as `bytes` little-endian bytes. POOL_ERR_NOT_FOUND when it is unknown,
 * POOL_ERR_INVALID_ARGUMENT when it does not fit.
 */
POOL_API pool_status pool_curve_cofactor(const pool_curve *curve, size_t bytes, uint8_t *cofactor);

/* Coordinate system of points in memory, and the order of their coordinates. */
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
 * Layout, form of the coordinates, and stride in bytes. All zeros, and a NULL format: packed affine
 * points in standard form. The library writes infinity as (0, 0), (0, 0, 1), (1, 1, 0), (0, 1, 0)
 * and (1, 1, 0, 0) in the five layouts. In POOL_POINT_AFFINE, (0, 0) always means infinity: the
 * point (0, 0) of order two, which curves with b = 0 have, is not representable in that layout and
 * is refused.
 */
typedef struct pool_point_format {
    pool_point_layout layout;
    pool_form form;
    uint64_t stride; /* 0: packed, pool_point_bytes apart */
} pool_point_format;

/* Returns the packed size of a point, or 0 for an unknown layout or a NULL curve. */
POOL_API size_t pool_point_bytes(const pool_curve *curve, pool_point_layout layout);

/*
 * Checks `count` points: `checks` is POOL_CHECK_ON_CURVE, POOL_CHECK_SUBGROUP, or, as the functions
 * here always check that coordinates are below the modulus, POOL_CHECK_CANONICAL or
 * POOL_CHECK_NONE. POOL_ERR_BAD_DATA for the first bad point; *first_bad receives its index unless
 * first_bad is NULL.
 */
POOL_API pool_status pool_points_check(const pool_curve *curve, const pool_point_format *format,
    const void *points, size_t count, uint32_t checks, size_t *first_bad);

/*
 * Converts points from one format to another and checks them. Input and output may be the same
 * memory only if layout and stride are the same. POOL_ERR_BAD_DATA names the first bad point;
 * nothing is written then.
 */
POOL_API pool_status pool_points_convert(const pool_curve *curve,
    const pool_point_format *from_format, const void *from, size_t count, uint32_t checks,
    const pool_point_format *to_format, void *to);

/* Serialised points as other systems exchange them. */
typedef enum pool_encoding {
    /*
     * zcash's BLS12-381 form (also c-kzg, consensus-specs, IETF BLS): x big-endian, over an
     * extension c1 before c0; the top three bits of the first byte are flags: compressed, infinity,
     * y is the larger of y and -y. Any curve whose modulus leaves three bits unused.
     */
    POOL_ENCODING_ZCASH_COMPRESSED = 0,
    POOL_ENCODING_ZCASH_UNCOMPRESSED = 1, /* x, y with the same flags; the third must be 0 */
    POOL_ENCODING_EIP196 =
        2, /* x, y big-endian, 32 bytes per element, c1 before c0 (EIP-197); infinity is zeros */
    POOL_ENCODING_EIP2537 =
        3, /* x, y big-endian, 64 bytes per element, c0 before c1; infinity is zeros */
    /*
     * gnark-crypto: zcash's form if the modulus leaves three bits unused; if it leaves two, as that
     * of BN254 does, the top two bits of the first byte are 10 and 11 for the smaller and the
     * larger of y and -y, and 01 for infinity. Its uncompressed forms are
     * POOL_ENCODING_ZCASH_UNCOMPRESSED and, for BN254, POOL_ENCODING_EIP196.
     */
    POOL_ENCODING_GNARK_COMPRESSED = 4,
    /*
     * arkworks' CanonicalSerialize: x little-endian, over an extension c0 before c1. In the last
     * byte, which is an extra one if the modulus leaves fewer than two bits unused, bit 7 means
     * that y is the larger of y and -y, bit 6 means infinity. Any curve; ark-bls12-381 has written
     * zcash's form since 0.4.
     */
    POOL_ENCODING_ARKWORKS_COMPRESSED = 5,
    POOL_ENCODING_ARKWORKS_UNCOMPRESSED = 6 /* x, y with the same flags */
} pool_encoding;

/* Returns the size of an encoded point, or 0 when the encoding is not defined for the curve. */
POOL_API size_t pool_encoding_bytes(const pool_curve *curve, pool_encoding encoding);

/*
 * Encode and decode `count` points. Encoded points are `stride` bytes apart; 0 means packed, and
 * the gaps between them are neither read nor written. Decoding is strict: it refuses coordinates
 * that are not below the modulus, wrong flags, an infinity that is not all zeros, padding that is
 * not zero, an x without a y, and what `checks` rejects. POOL_ERR_BAD_DATA then, with the index of
 * the first bad point in the message, and nothing is written. POOL_ERR_UNSUPPORTED when the
 * encoding is not defined for the curve, POOL_ERR_INVALID_ARGUMENT for a stride smaller than an
 * encoded point.
 */
POOL_API pool_status pool_points_encode(const pool_curve *curve, const pool_point_format *format,
    const void *points, size_t count, pool_encoding encoding, size_t stride, uint8_t *encoded);
POOL_API pool_status pool_points_decode(const pool_curve *curve, pool_encoding encoding,
    size_t stride, const uint8_t *encoded, size_t count, uint32_t checks,
    const pool_point_format *format, void *points);

/*
 * Point addition, scalar multiplication and comparison on the host, one point at a time: for
 * checking results, not for speed, and not for secrets (time depends on values). The scalar is
 * `scalar_bytes` little-endian bytes in standard form and need not be below the order. Points are
 * checked to be on the curve. The result may be written over an argument.
 */
POOL_API pool_status pool_point_add(const pool_curve *curve, const pool_point_format *format,
    const void *p, const void *q, void *sum);
POOL_API pool_status pool_point_mul(const pool_curve *curve, const pool_point_format *format,
    const void *p, const uint8_t *scalar, size_t scalar_bytes, void *product);
POOL_API pool_status pool_point_equal(const pool_curve *curve, const pool_point_format *p_format,
    const void *p, const pool_point_format *q_format, const void *q, int32_t *is_equal);

/* Writes the generator in the given format. */
POOL_API pool_status pool_curve_generator(
    const pool_curve *curve, const pool_point_format *format, void *point);

/*
 * Generates `count` points of the generator's subgroup; point i depends on the seed, i and the
 * curve only. Unless `scalars` is NULL it receives `count` packed elements of the scalar field in
 * standard form such that point i is scalar i times the generator. Points are sums of two entries
 * of small random tables: cheap to generate, and equivalent to independent points for tests and
 * measurements; not for secrets.
 */
POOL_API pool_status pool_random_points(const pool_curve *curve, uint64_t seed, size_t count,
    const pool_point_format *format, void *points, void *scalars);

#ifdef __cplusplus
}
#endif

#endif
