/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which field or pairing a header's prime means.
 */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "curve/curve.h"
#include "field/integer.h"
#include "formats/formats.h"

enum { PRIME_TEXT = 2 + 2 * POOL_FIELD_MAX_BYTES + 1 };

static const char *write_prime(char text[PRIME_TEXT], const uint64_t prime[FIELD_MAX_LIMBS])
{
    size_t at = (size_t)snprintf(text, PRIME_TEXT, "0x");
    size_t limb = FIELD_MAX_LIMBS - 1;

    while (limb && !prime[limb])
        limb--;
    at += (size_t)snprintf(text + at, PRIME_TEXT - at, "%llx", (unsigned long long)prime[limb]);
    while (limb-- > 0)
        at += (size_t)snprintf(
            text + at, PRIME_TEXT - at, "%016llx", (unsigned long long)prime[limb]);
    return text;
}

static bool is_prime_of(const pool_field *field, const uint64_t prime[FIELD_MAX_LIMBS])
{
    return !memcmp(field->modulus, prime, sizeof(field->modulus));
}

static pool_status check_width(
    const pool_file *file, const pool_field *field, uint32_t element_bytes)
{
    if (element_bytes == field->bytes)
        return POOL_OK;
    return formats_unsupported(file, "elements of %u bytes for a prime of %u bits, which need %u",
        element_bytes, field->bits, field->bytes);
}

/* The library has no name for this prime. */
static pool_status make_field(pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS])
{
    char text[PRIME_TEXT];
    const pool_field_params params = {
        .struct_size = sizeof(params), .modulus = write_prime(text, prime)};
    pool_field candidate;
    bool is_prime = false;
    pool_status status = POOL_OK;

    if (prime[0] & 1 && field_integer_bits(prime, FIELD_MAX_LIMBS) > 1) {
        memset(&candidate, 0, sizeof(candidate));
        field_derive_montgomery(&candidate, prime);
        status = field_is_prime(&candidate, &is_prime);
    }
    if (!status && !is_prime)
        return base_fail(POOL_ERR_BAD_DATA, "%s: its modulus %s is no odd prime", file->path, text);
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
        status = make_field(file, prime);
        if (status)
            return status;
        field = file->field;
    }
    file->info.field = field;
    return check_width(file, field, element_bytes);
}

/* The first built-in curve over that prime, or over its extension, with the given scalar field
 * unless that is NULL. */
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
    char text[PRIME_TEXT];

    if (!g2)
        return formats_unsupported(file,
            "the base field's prime is %s; no pairing over it is known", write_prime(text, prime));
    file->info.field = g1->scalar_field;
    file->info.curves[0] = g1;
    file->info.curves[1] = g2;
    return check_width(file, g1->coordinates.field, element_bytes);
}
