/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internal representation of a curve, and host arithmetic on its points. Depends on fields, not
 * on devices.
 *
 * All functions on points handle every argument on the curve: infinity, equal points, opposite
 * points, points of order two. They are not constant-time.
 */
#ifndef CURVE_CURVE_H
#define CURVE_CURVE_H

#include <devicepool/curve.h>

#include "zk/field/field.h"

enum {
    CURVE_MAX_LIMBS = FIELD_EXTENSION_MAX_LIMBS, /* of a coordinate, and of a cofactor */
};

enum curve_a {
    CURVE_A_ZERO = 0,
    CURVE_A_MINUS_3,
    CURVE_A_GENERAL,
};

/* Coordinates in Montgomery form, `coordinates.limbs` limbs each. */
struct curve_affine {
    uint64_t x[CURVE_MAX_LIMBS];
    uint64_t y[CURVE_MAX_LIMBS];
    bool infinity; /* if true, x and y are 0 */
};

/* x = X / Z^2, y = Y / Z^3; infinity when Z is 0. */
struct curve_jacobian {
    uint64_t x[CURVE_MAX_LIMBS];
    uint64_t y[CURVE_MAX_LIMBS];
    uint64_t z[CURVE_MAX_LIMBS];
};

/* x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; infinity when ZZ is 0. */
struct curve_xyzz {
    uint64_t x[CURVE_MAX_LIMBS];
    uint64_t y[CURVE_MAX_LIMBS];
    uint64_t zz[CURVE_MAX_LIMBS];
    uint64_t zzz[CURVE_MAX_LIMBS];
};

/*
 * Pairs (a[i], b[i]) with a[i] + b[i] lambda = 0 modulo the order r, a basis of the lattice of all
 * such pairs. a[i] is not negative, and one of b[0] and b[1] is not positive, the other not
 * negative. With W words of 32 bits in a scalar, S = 32 (W + 1) and
 *
 *   c0 = round(k |b[1]| / r), c1 = round(k |b[0]| / r)
 *   k0 = k - c0 a[0] - c1 a[1], k1 = -c0 b[0] - c1 b[1]
 *
 * the quotients are computed as round(k reciprocal[i] / 2^S).
 */
struct curve_endomorphism {
    uint64_t beta[FIELD_MAX_LIMBS];   /* Montgomery form, in the field of the coordinates */
    uint64_t lambda[FIELD_MAX_LIMBS]; /* Montgomery form, in the scalar field */
    /* Integers of FIELD_MAX_LIMBS limbs. b in two's complement. */
    uint64_t a[2][FIELD_MAX_LIMBS];
    uint64_t b[2][FIELD_MAX_LIMBS];
    uint64_t reciprocal[2][FIELD_MAX_LIMBS + 1];
    uint32_t bits; /* |k0| and |k1| are below 2^bits */
};

struct pool_curve {
    atomic_uint references; /* unused when built in */
    bool built_in;
    bool cofactor_known;
    char name[FIELD_MAX_NAME + 1];
    uint8_t fingerprint[32];
    const pool_field *scalar_field;     /* one reference held */
    struct field_extension coordinates; /* its field: one reference held */
    enum curve_a a_kind;
    uint64_t a[CURVE_MAX_LIMBS]; /* Montgomery form, as b and the generator */
    uint64_t b[CURVE_MAX_LIMBS];
    struct curve_affine generator;
    uint64_t cofactor[CURVE_MAX_LIMBS]; /* an integer */
    /* See endomorphism.h; valid once the state says so, and constant from then on. */
    atomic_int endomorphism_state;
    struct curve_endomorphism endomorphism;
};

/* affine.c */
void curve_affine_set_infinity(const pool_curve *curve, struct curve_affine *p);
bool curve_affine_is_on_curve(const pool_curve *curve, const struct curve_affine *p);
/* Computes y^2 for a given x. */
void curve_y_squared(const pool_curve *curve, uint64_t *y_squared, const uint64_t *x);
/* product = a * x, optimised for a = 0 and a = -3. */
void curve_multiply_a(const pool_curve *curve, uint64_t *product, const uint64_t *x);

/* jacobian.c */
void curve_jacobian_set_infinity(const pool_curve *curve, struct curve_jacobian *p);
bool curve_jacobian_is_infinity(const pool_curve *curve, const struct curve_jacobian *p);
/* Whether p is the point (0, 0), which means infinity in several formats. */
bool curve_jacobian_is_origin(const pool_curve *curve, const struct curve_jacobian *p);
void curve_jacobian_from_affine(
    const pool_curve *curve, struct curve_jacobian *p, const struct curve_affine *q);
void curve_jacobian_to_affine(
    const pool_curve *curve, struct curve_affine *p, const struct curve_jacobian *q);
/* Uses a single inversion. `scratch` holds 2 * count coordinates. */
void curve_jacobian_batch_to_affine(const pool_curve *curve, struct curve_affine *p,
    const struct curve_jacobian *q, size_t count, uint64_t *scratch);
void curve_jacobian_double(
    const pool_curve *curve, struct curve_jacobian *twice, const struct curve_jacobian *p);
void curve_jacobian_add(const pool_curve *curve, struct curve_jacobian *sum,
    const struct curve_jacobian *p, const struct curve_jacobian *q);
void curve_jacobian_add_affine(const pool_curve *curve, struct curve_jacobian *sum,
    const struct curve_jacobian *p, const struct curve_affine *q);
void curve_jacobian_neg(
    const pool_curve *curve, struct curve_jacobian *negative, const struct curve_jacobian *p);
bool curve_jacobian_equal(
    const pool_curve *curve, const struct curve_jacobian *p, const struct curve_jacobian *q);
bool curve_jacobian_is_on_curve(const pool_curve *curve, const struct curve_jacobian *p);

/* xyzz.c */
void curve_xyzz_from_jacobian(
    const pool_curve *curve, struct curve_xyzz *p, const struct curve_jacobian *q);
void curve_xyzz_to_jacobian(
    const pool_curve *curve, struct curve_jacobian *p, const struct curve_xyzz *q);

/* multiply.c: the scalar is any integer of `count` limbs. */
void curve_multiply(const pool_curve *curve, struct curve_jacobian *product,
    const struct curve_jacobian *p, const uint64_t *scalar, size_t count);
bool curve_is_in_subgroup(const pool_curve *curve, const struct curve_jacobian *p);

/*
 * layout.c: loads and stores one point in Jacobian coordinates. Loading returns NULL, or the reason
 * why the coordinates are invalid; it does not check the curve equation.
 */
size_t curve_point_stride(const pool_curve *curve, const pool_point_format *format);
const char *curve_load(const pool_curve *curve, struct curve_jacobian *p,
    const pool_point_format *format, const void *memory);
void curve_store(const pool_curve *curve, const pool_point_format *format, void *memory,
    const struct curve_jacobian *p);
void curve_store_affine(const pool_curve *curve, const pool_point_format *format, void *memory,
    const struct curve_affine *p);
/* Returns NULL, or the reason why the point fails one of the POOL_CHECK_… flags in `checks`. */
const char *curve_check(const pool_curve *curve, const struct curve_jacobian *p, uint32_t checks);
/* Fails for unknown layouts and forms and for strides that are too small. *given receives the
 * format, which is all zeros if `format` is NULL. `call` is the public function that messages name,
 * here and below. */
pool_status curve_read_format(const char *call, const pool_curve *curve,
    const pool_point_format *format, pool_point_format *given);
/* Fails for a NULL array unless it is empty, and for counts that do not fit in memory. */
pool_status curve_validate_array(const char *call, const pool_curve *curve,
    const pool_point_format *format, const void *points, size_t count);
/* Fails for values of `checks` that do not apply to points. */
pool_status curve_validate_checks(const char *call, uint32_t checks);

/* encoding.c: returns NULL, or the reason why an encoded point is invalid. Only compressed
 * encodings guarantee that the point is on the curve. */
const char *curve_decode(
    const pool_curve *curve, pool_encoding encoding, struct curve_affine *p, const uint8_t *bytes);

/* create.c: fills all members but the references from params, with the checks of pool_curve_create
 * if `check` is set. */
pool_status curve_derive(
    pool_curve *curve, const pool_curve_params *params, const pool_field *scalar_field, bool check);

#endif
