/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prime fields: the built-in ones by name, any other from its modulus, and conversions of arrays of
 * elements on the host.
 *
 * An element in memory is an unsigned integer below the modulus, little-endian, in
 * `pool_field_element_bytes` bytes: 4 when the modulus has at most 32 bits, else 8 for each started
 * 64 bits. In POOL_FORM_MONTGOMERY that integer is x * R mod p with R = 2^(8 * element bytes); this
 * is how arkworks, gnark, blst and snarkjs keep 64-bit limbs.
 */
#ifndef DEVICEPOOL_FIELD_H
#define DEVICEPOOL_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A prime field and all constants derived from its modulus. Immutable: any number of threads may
 * use one at once. Built-in fields are never freed; created ones count references.
 */
typedef struct pool_field pool_field;

/* What the integer of an element in memory means. */
typedef enum pool_form {
    POOL_FORM_STANDARD = 0,  /* the integer itself */
    POOL_FORM_MONTGOMERY = 1 /* the integer times R, modulo p */
} pool_form;

/* Of byte strings; elements in memory are always little-endian. */
typedef enum pool_byte_order { POOL_LITTLE_ENDIAN = 0, POOL_BIG_ENDIAN = 1 } pool_byte_order;

/* Largest modulus, and the most bytes that an element can take. */
#define POOL_FIELD_MAX_BITS 768
#define POOL_FIELD_MAX_BYTES 96

/* Bytes of a fingerprint. */
#define POOL_FINGERPRINT_BYTES 32

/*
 * Built-in fields, in a fixed order. `pool_field_at` gives NULL past the end. Static. Any thread.
 */
POOL_API size_t pool_field_count(void);
POOL_API const pool_field *pool_field_at(size_t index);

/*
 * The built-in field of that name, or NULL with POOL_ERR_NOT_FOUND as the thread's last error.
 * Scalar fields of curves end in _fr, base fields in _fq: bn254_fr, bn254_fq, bls12_381_fr,
 * bls12_381_fq, bls12_377_fr, bls12_377_fq, bw6_761_fr, bw6_761_fq, pallas_fr, pallas_fq, vesta_fr,
 * vesta_fq, grumpkin_fr, grumpkin_fq, secp256k1_fr, secp256k1_fq; and goldilocks, babybear,
 * koalabear, mersenne31, stark252. Two names of one modulus give one field. Static. Any thread.
 */
POOL_API const pool_field *pool_field_by_name(const char *name);

/*
 * A field of one's own. Numbers are text: decimal, or hexadecimal after "0x".
 */
typedef struct pool_field_params {
    size_t struct_size;    /* sizeof(pool_field_params) */
    const char *modulus;   /* an odd prime of at most POOL_FIELD_MAX_BITS bits; required */
    const char *name;      /* up to 63 characters; NULL: "custom" */
    const char *generator; /* NULL: the smallest quadratic non-residue, which is all that roots of
                              unity need */
    const char *root; /* primitive 2^s-th root of unity, s the two-adicity; NULL: generator^((p - 1)
                         / 2^s) */
} pool_field_params;

#define POOL_FIELD_PARAMS_INIT                                                                     \
    {                                                                                              \
        sizeof(pool_field_params), NULL, NULL, NULL, NULL                                          \
    }

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_field_params_init(pool_field_params *params, size_t struct_size);

/*
 * Checks the modulus (Baillie-PSW and further Miller-Rabin rounds with bases drawn from the
 * modulus: no composite is known to pass the first, and the second leaves less than 2^-64 for one
 * that was not built against this very library) and derives every constant. A given generator must
 * be a quadratic non-residue, and is also refused when its order lacks one of the prime factors
 * below 2^16 of p - 1; larger factors are not known here and not checked. A given root must have
 * order 2^s exactly. Copies all texts. Takes milliseconds; blocks nothing.
 * POOL_ERR_INVALID_ARGUMENT says which of it failed, POOL_ERR_OUT_OF_HOST_MEMORY. The caller owns
 * one reference.
 */
POOL_API pool_status pool_field_create(const pool_field_params *params, pool_field **field);

/* One more reference, to be given back by pool_field_destroy. Built-in fields are not counted. NULL
 * gives NULL. */
POOL_API pool_field *pool_field_retain(const pool_field *field);

/* Gives one reference back, frees the field with the last one, and sets *field to NULL. NULL is
 * nothing. */
POOL_API void pool_field_destroy(pool_field **field);

/* Facts. Any thread. With NULL: 0 or an empty text. */
POOL_API const char *pool_field_name(const pool_field *field);
POOL_API uint32_t pool_field_bits(const pool_field *field);
POOL_API size_t pool_field_element_bytes(const pool_field *field);
POOL_API uint32_t pool_field_two_adicity(
    const pool_field *field); /* largest s with 2^s dividing p - 1 */

/* SHA-256 over modulus, generator and root: equal exactly for fields that compute the same. */
POOL_API pool_status pool_field_fingerprint(
    const pool_field *field, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/* One element's worth of bytes each. */
POOL_API pool_status pool_field_modulus(const pool_field *field, void *modulus);
POOL_API pool_status pool_field_generator(const pool_field *field, pool_form form, void *generator);

/*
 * Primitive root of unity of order 2^log2_order, with log2_order up to the two-adicity. NULL for
 * the convention gives the field's own; another name gives what that system uses where it differs.
 * All are g^((p - 1) / 2^s) with bn254_fr 5 (gnark, arkworks, snarkjs, icicle), "halo2" 7;
 *   bls12_381_fr 7 (gnark, arkworks, c-kzg, sppark), "icicle" and "snarkjs" 5;
 *   bls12_377_fr 22; bls12_377_fq 15; pallas_fq, vesta_fq 5; secp256k1_fr 7; stark252 3; koalabear
 * 3; babybear 31; goldilocks 7, "plonky2" 14293326489335486720. POOL_ERR_NOT_FOUND for a convention
 * that the field does not know, POOL_ERR_INVALID_ARGUMENT for too large an order.
 */
POOL_API pool_status pool_field_root_of_unity(const pool_field *field, const char *convention,
    uint32_t log2_order, pool_form form, void *root);

/* The element that a decimal or 0x… text names; must be below the modulus. POOL_ERR_BAD_DATA
 * otherwise. */
POOL_API pool_status pool_field_parse(
    const pool_field *field, const char *text, pool_form form, void *element);

/* Digits of a number written as text. */
typedef enum pool_radix { POOL_DECIMAL = 0, POOL_HEXADECIMAL = 1 } pool_radix;

/* Most bytes of an element as text, the final NUL included. */
#define POOL_FIELD_TEXT_BYTES 240

/*
 * The integer that an element stands for as text that pool_field_parse reads: decimal digits, or
 * "0x" and lower-case hexadecimal digits, without leading zeros. `size` bytes are at `text`; unless
 * `needed` is NULL, it receives what the text needs, its final NUL included: POOL_FIELD_TEXT_BYTES
 * at most, whatever the field. With text NULL and size 0 only that is computed.
 * POOL_ERR_INVALID_ARGUMENT when `size` is too small (`needed` is written then, `text` is not),
 * POOL_ERR_BAD_DATA when the element is not below the modulus. Time depends on the value.
 */
POOL_API pool_status pool_field_format(const pool_field *field, const void *element, pool_form form,
    pool_radix radix, char *text, size_t size, size_t *needed);

/*
 * Checks that each of `count` packed elements is below the modulus. POOL_ERR_BAD_DATA when one is
 * not, and its place in *first_bad unless that is NULL.
 */
POOL_API pool_status pool_field_check(
    const pool_field *field, const void *elements, size_t count, size_t *first_bad);

/*
 * Changes the form of `count` packed elements. In place when both pointers are equal; other
 * overlaps are not allowed. An element that is not below the modulus gives POOL_ERR_BAD_DATA and
 * nothing is written.
 */
POOL_API pool_status pool_field_to_montgomery(
    const pool_field *field, const void *standard, size_t count, void *montgomery);
POOL_API pool_status pool_field_from_montgomery(
    const pool_field *field, const void *montgomery, size_t count, void *standard);

/*
 * Byte strings of `width` bytes each (any width in which the values fit; 32 for most scalars) to
 * and from packed elements. Bytes hold standard values, elements the given form. Reading: a value
 * not below the modulus gives POOL_ERR_BAD_DATA and nothing is written. Writing:
 * POOL_ERR_INVALID_ARGUMENT when `width` is too small for the modulus. Input and output may not
 * overlap.
 */
POOL_API pool_status pool_field_from_bytes(const pool_field *field, const uint8_t *bytes,
    size_t width, pool_byte_order order, size_t count, pool_form form, void *elements);
POOL_API pool_status pool_field_to_bytes(const pool_field *field, const void *elements,
    pool_form form, size_t count, size_t width, pool_byte_order order, uint8_t *bytes);

/*
 * pool_field_from_bytes for values of any size: the element is the value modulo p. For digests that
 * are reduced to field elements and scalars that are multiplied by points of order p (as
 * ecMul of EIP-196 takes them). Time depends on the field, width and count only where the modulus
 * has more than 8 bits.
 */
POOL_API pool_status pool_field_reduce_bytes(const pool_field *field, const uint8_t *bytes,
    size_t width, pool_byte_order order, size_t count, pool_form form, void *elements);

/*
 * `count` uniform elements, element i of which depends on seed, i and field only. For tests and
 * measurements; not for secrets.
 */
POOL_API pool_status pool_random_scalars(
    const pool_field *field, uint64_t seed, pool_form form, size_t count, void *elements);

#ifdef __cplusplus
}
#endif

#endif
