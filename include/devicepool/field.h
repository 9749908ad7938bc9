/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prime fields: the built-in ones by name, any other from its modulus, three extensions of them,
 * and conversions of arrays of elements on the host.
 *
 * An element in memory is an unsigned integer below the modulus, little-endian, in
 * `pool_field_element_bytes` bytes: 4 when the modulus has at most 32 bits, else 8 for each started
 * 64 bits. In POOL_FORM_MONTGOMERY that integer is x * R mod p with R = 2^(8 * element bytes); this
 * is how arkworks, gnark, blst and snarkjs store elements in 64-bit limbs.
 *
 * An element of an extension base[x] / (x^d - w) is the array of its d coordinates, x^0's first,
 * each an element of the base field in the same form. "Below the modulus" then means all
 * coordinates. Extensions are fields for the functions of vector.h and fri.h, for kernels
 * (module.h), and here for pool_random_scalars, pool_field_check and the conversions between forms;
 * everything else that needs a prime field fails with POOL_ERR_UNSUPPORTED.
 */
#ifndef DEVICEPOOL_FIELD_H
#define DEVICEPOOL_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/span.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A prime field and all constants derived from its modulus, or an extension. Immutable: any number
 * of threads may use one at once. Built-in fields are never freed; created ones count references.
 */
typedef struct pool_field pool_field;

/* Byte order of serialised values; elements in memory are always little-endian. */
typedef enum pool_byte_order { POOL_LITTLE_ENDIAN = 0, POOL_BIG_ENDIAN = 1 } pool_byte_order;

/* Largest supported modulus, and the size of its elements. */
#define POOL_FIELD_MAX_BITS 768
#define POOL_FIELD_MAX_BYTES 96

/* Size of the fingerprint of a field or curve. */
#define POOL_FINGERPRINT_BYTES 32

/*
 * Enumerate the built-in prime fields, in a fixed order. `pool_field_at` returns NULL past the end.
 * The fields are static. Any thread.
 */
POOL_API size_t pool_field_count(void);
POOL_API const pool_field *pool_field_at(size_t index);

/*
 * Returns the built-in field of that name, or NULL with POOL_ERR_NOT_FOUND as the thread's last
 * error.
 * Scalar fields of curves end in _fr, base fields in _fq: bn254_fr, bn254_fq, bls12_381_fr,
 * bls12_381_fq, bls12_377_fr, bls12_377_fq, bw6_761_fr, bw6_761_fq, pallas_fr, pallas_fq, vesta_fr,
 * vesta_fq, grumpkin_fr, grumpkin_fq, secp256k1_fr, secp256k1_fq; and goldilocks, babybear,
 * koalabear, mersenne31, stark252. Two names of one modulus return one field. Extensions are
 * goldilocks_x2, x^2 - 7 (plonky2), babybear_x4, x^4 - 11, and koalabear_x4, x^4 - 3 (Plonky3). The
 * fields are static. Any thread.
 */
POOL_API const pool_field *pool_field_by_name(const char *name);

/*
 * A custom field. Numbers are strings: decimal, or hexadecimal after "0x".
 */
typedef struct pool_field_params {
    size_t struct_size;    /* sizeof(pool_field_params) */
    const char *modulus;   /* an odd prime of at most POOL_FIELD_MAX_BITS bits; required */
    const char *name;      /* up to 63 characters; NULL: "custom" */
    const char *generator; /* NULL: the smallest quadratic non-residue, which suffices for the roots
                              of unity */
    const char *root; /* primitive 2^s-th root of unity, s the two-adicity; NULL: generator^((p - 1)
                         / 2^s) */
} pool_field_params;

/* Initialises params to defaults; struct_size is the caller's sizeof, see version.h. C callers may
 * use a designated initialiser. NULL is a no-op. */
POOL_API void pool_field_params_init(pool_field_params *params, size_t struct_size);

/*
 * Checks that the modulus is prime and derives every constant. The test is Baillie-PSW, which no
 * known composite passes, followed by Miller-Rabin rounds whose bases are derived from the modulus,
 * which a composite that was not constructed against this library passes with a probability below
 * 2^-64. A given generator must be a quadratic non-residue, and its order must be divisible by all
 * prime factors of p - 1 below 2^16; larger factors are not checked. A given root must have order
 * 2^s exactly. Copies all strings. Takes milliseconds and does not block. Fails with
 * POOL_ERR_INVALID_ARGUMENT, whose message names the member at fault, or
 * POOL_ERR_OUT_OF_HOST_MEMORY. The caller owns one reference.
 */
POOL_API pool_status pool_field_create(const pool_field_params *params, pool_field **field);

/* Adds a reference, which pool_field_destroy releases. Built-in fields are not counted. Returns
 * NULL for NULL. */
POOL_API pool_field *pool_field_retain(const pool_field *field);

/* Releases a reference, frees the field with the last one, and sets *field to NULL. NULL or a
 * pointer to NULL is a no-op. */
POOL_API void pool_field_destroy(pool_field **field);

/* Properties. Return 0 or an empty string for NULL. Any thread. */
POOL_API const char *pool_field_name(const pool_field *field);
POOL_API uint32_t pool_field_bits(const pool_field *field);
POOL_API size_t pool_field_element_bytes(const pool_field *field);
POOL_API uint32_t pool_field_two_adicity(
    const pool_field *field); /* largest s with 2^s dividing p - 1 */

/* The coordinates of an element: 1 for a prime field. pool_field_bits has the bits of the number of
 * elements. */
POOL_API uint32_t pool_field_degree(const pool_field *field);
/* The field of the coordinates; `field` itself if it is a prime field, NULL for NULL. */
POOL_API const pool_field *pool_field_base(const pool_field *field);

/* SHA-256 over modulus, generator and root, or over the base field's, d and w: equal if and only if
 * the fields compute the same. */
POOL_API pool_status pool_field_fingerprint(
    const pool_field *field, uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);

/* Write each one element; the modulus is written as an integer. */
POOL_API pool_status pool_field_modulus(const pool_field *field, void *modulus);
POOL_API pool_status pool_field_generator(const pool_field *field, pool_form form, void *generator);

/*
 * Writes the primitive root of unity of order 2^log2_order, with log2_order up to the two-adicity.
 * A `convention` of NULL selects the field's root; a name selects the root of another system where
 * that differs. All are powers of g^((p - 1) / 2^s) with g
 *   bn254_fr 5 (gnark, arkworks, snarkjs, icicle), "halo2" 7;
 *   bls12_381_fr 7 (gnark, arkworks, c-kzg, sppark), "icicle" and "snarkjs" 5;
 *   bls12_377_fr 22; bls12_377_fq 15; pallas_fq, vesta_fq 5; secp256k1_fr 7; stark252 3;
 *   koalabear 3; babybear 31; goldilocks 7, "plonky2" 14293326489335486720.
 * POOL_ERR_NOT_FOUND for an unknown convention, POOL_ERR_INVALID_ARGUMENT when log2_order exceeds
 * the two-adicity.
 */
POOL_API pool_status pool_field_root_of_unity(const pool_field *field, const char *convention,
    uint32_t log2_order, pool_form form, void *root);

/* Parses a decimal or "0x" hexadecimal number below the modulus. POOL_ERR_BAD_DATA for any other
 * string. */
POOL_API pool_status pool_field_parse(
    const pool_field *field, const char *string, pool_form form, void *element);

/* The base of a formatted number. */
typedef enum pool_radix { POOL_DECIMAL = 0, POOL_HEXADECIMAL = 1 } pool_radix;

/* Enough for every formatted element, including the terminating NUL. */
#define POOL_FIELD_STRING_BYTES 240

/*
 * Formats an element as a string that pool_field_parse accepts: decimal digits, or "0x" and
 * lower-case hexadecimal digits, without leading zeros. `string` has room for `bytes` bytes. Unless
 * `needed` is NULL, it receives the size of the formatted string, including its terminating NUL,
 * which is at most POOL_FIELD_STRING_BYTES for every field. With `string` NULL and `bytes` 0 only
 * that is computed. POOL_ERR_INVALID_ARGUMENT when `bytes` is too small (`needed` is written,
 * `string` is not), POOL_ERR_BAD_DATA when the element is not below the modulus. Time depends on
 * the value.
 */
POOL_API pool_status pool_field_format(const pool_field *field, pool_form form, const void *element,
    pool_radix radix, char *string, size_t bytes, size_t *needed);

/*
 * Checks that each of `count` packed elements is below the modulus. POOL_ERR_BAD_DATA when one is
 * not; *first_bad receives its index unless first_bad is NULL.
 */
POOL_API pool_status pool_field_check(
    const pool_field *field, const void *elements, size_t count, size_t *first_bad);

/*
 * Convert `count` packed elements between standard and Montgomery form, in place when both pointers
 * are equal; other overlaps are not allowed. POOL_ERR_BAD_DATA when an element is not below the
 * modulus; nothing is written then.
 */
POOL_API pool_status pool_field_to_montgomery(
    const pool_field *field, const void *standard, size_t count, void *montgomery);
POOL_API pool_status pool_field_from_montgomery(
    const pool_field *field, const void *montgomery, size_t count, void *standard);

/*
 * Convert serialised values of `value_bytes` bytes each (any size in which the values fit; 32 for
 * most scalar fields) to packed elements and back. The values are in standard form, the elements in
 * the given form. Input and output must not overlap. pool_field_from_bytes fails with
 * POOL_ERR_BAD_DATA for a value that is not below the modulus and writes nothing then;
 * pool_field_to_bytes with POOL_ERR_INVALID_ARGUMENT when the modulus does not fit in
 * `value_bytes`.
 */
POOL_API pool_status pool_field_from_bytes(const pool_field *field, size_t value_bytes,
    pool_byte_order byte_order, const uint8_t *values, size_t count, pool_form form,
    void *elements);
POOL_API pool_status pool_field_to_bytes(const pool_field *field, pool_form form,
    const void *elements, size_t count, size_t value_bytes, pool_byte_order byte_order,
    uint8_t *values);

/*
 * Like pool_field_from_bytes, but reduces each value modulo p, whatever its size: for digests that
 * are reduced to field elements, and for scalars that are multiplied by points of order p (as ecMul
 * of EIP-196 does). For a modulus of more than 8 bits, time depends on the field, `value_bytes` and
 * `count` only.
 */
POOL_API pool_status pool_field_reduce_bytes(const pool_field *field, size_t value_bytes,
    pool_byte_order byte_order, const uint8_t *values, size_t count, pool_form form,
    void *elements);

/*
 * Generates `count` uniform elements; element i depends on the seed, i and the field only. For
 * tests and measurements; not for secrets.
 */
POOL_API pool_status pool_random_scalars(
    const pool_field *field, uint64_t seed, size_t count, pool_form form, void *elements);

#ifdef __cplusplus
}
#endif

#endif
