/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the field or pairing of the prime in a header.
 */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "zk/curve/curve.h"
#include "zk/field/integer.h"
#include "zk/formats/formats.h"

enum { PRIME_STRING_BYTES = 2 + 2 * POOL_FIELD_MAX_BYTES + 1 };

static const char *format_prime(
    char string[PRIME_STRING_BYTES], const uint64_t prime[FIELD_MAX_LIMBS])
{
    size_t at = (size_t)snprintf(string, PRIME_STRING_BYTES, "0x");
    size_t limb = FIELD_MAX_LIMBS - 1;

    while (limb && !prime[limb])
        limb--;
    at += (size_t)snprintf(
        string + at, PRIME_STRING_BYTES - at, "%llx", (unsigned long long)prime[limb]);
    while (limb-- > 0)
        at += (size_t)snprintf(
            string + at, PRIME_STRING_BYTES - at, "%016llx", (unsigned long long)prime[limb]);
    return string;
}

static bool is_prime_of(const pool_field *field, const uint64_t prime[FIELD_MAX_LIMBS])
{
    return !memcmp(field->modulus, prime, sizeof(field->modulus));
}

/* Files of iden3's tools have snarkjs' roots of unity. */
static void set_field(pool_file *file, const pool_field *field)
{
    static const char snarkjs[] = "snarkjs";

    file->info.field = field;
    file->info.convention = field_convention_generator(field, snarkjs) ? snarkjs : NULL;
}

static pool_status check_element_bytes(
    const pool_file *file, const pool_field *field, uint32_t element_bytes)
{
    if (element_bytes == field->bytes)
        return POOL_OK;
    return formats_fail_unsupported(file, "elements of %u bytes; a prime of %u bits requires %u",
        element_bytes, field->bits, field->bytes);
}

/* Creates a field for a prime that is not built in. */
static pool_status create_field(pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS])
{
    char string[PRIME_STRING_BYTES];
    const pool_field_params params = {
        .struct_size = sizeof(params), .modulus = format_prime(string, prime)};
    pool_field candidate;
    bool is_prime = false;
    pool_status status = POOL_OK;

    if (prime[0] & 1 && field_integer_bits(prime, FIELD_MAX_LIMBS) > 1) {
        memset(&candidate, 0, sizeof(candidate));
        field_derive_montgomery(&candidate, prime);
        status = field_is_prime(&candidate, &is_prime);
    }
    if (!status && !is_prime)
        return base_fail(
            POOL_ERR_BAD_DATA, "%s: its modulus %s is not an odd prime", file->path, string);
    return status ? status : pool_field_create(&params, &file->field);
}

pool_status formats_set_field(
    pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS], uint32_t element_bytes)
{
    const pool_field *field = NULL;
    pool_status status;

    for (size_t i = 0; i < pool_field_count() && !field; i++) {
        if (is_prime_of(pool_field_at(i), prime))
            field = pool_field_at(i);
    }
    if (!field) {
        status = create_field(file, prime);
        if (status)
            return status;
        field = file->field;
    }
    set_field(file, field);
    return check_element_bytes(file, field, element_bytes);
}

/* Finds the first built-in curve over that prime field or its extension and, unless NULL, with that
 * scalar field. */
static const pool_curve *find_curve(
    const uint64_t prime[FIELD_MAX_LIMBS], uint32_t degree, const pool_field *scalars)
{
    for (size_t i = 0; i < pool_curve_count(); i++) {
        const pool_curve *curve = pool_curve_at(i);

        if (curve->coordinates.degree == degree && is_prime_of(curve->coordinates.field, prime) &&
            (!scalars || curve->scalar_field == scalars))
            return curve;
    }
    return NULL;
}

pool_status formats_set_curves(
    pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS], uint32_t element_bytes)
{
    const pool_curve *g1 = find_curve(prime, 1, NULL);
    const pool_curve *g2 = g1 ? find_curve(prime, 2, g1->scalar_field) : NULL;
    char string[PRIME_STRING_BYTES];

    if (!g2)
        return formats_fail_unsupported(file, "no built-in pairing over the base field of prime %s",
            format_prime(string, prime));
    set_field(file, g1->scalar_field);
    file->info.curves[0] = g1;
    file->info.curves[1] = g2;
    return check_element_bytes(file, g1->coordinates.field, element_bytes);
}
