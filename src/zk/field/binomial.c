/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extensions F[x] / (x^d - w) of the fields that STARK provers use, where d elements of F have 128
 * bits. Coordinates are multiplied as polynomials, and x^d is replaced by w.
 */
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "base/status.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

uint64_t field_binomial_coordinate(const pool_field *field, const uint64_t *x, uint32_t index)
{
    return field->base->words == 1 ? field_word(x, index) : x[index];
}

void field_binomial_set_coordinate(
    const pool_field *field, uint64_t *x, uint32_t index, uint64_t value)
{
    const uint32_t shift = 32 * (index % 2);

    if (field->base->words == 1)
        x[index / 2] = (x[index / 2] & ~(UINT64_C(0xffffffff) << shift)) | value << shift;
    else
        x[index] = value;
}

void field_binomial_add(
    const pool_field *field, uint64_t *sum, const uint64_t *x, const uint64_t *y)
{
    for (uint32_t i = 0; i < field->degree; i++) {
        uint64_t a = field_binomial_coordinate(field, x, i);
        uint64_t b = field_binomial_coordinate(field, y, i);

        field_add(field->base, &a, &a, &b);
        field_binomial_set_coordinate(field, sum, i, a);
    }
}

void field_binomial_sub(
    const pool_field *field, uint64_t *difference, const uint64_t *x, const uint64_t *y)
{
    for (uint32_t i = 0; i < field->degree; i++) {
        uint64_t a = field_binomial_coordinate(field, x, i);
        uint64_t b = field_binomial_coordinate(field, y, i);

        field_sub(field->base, &a, &a, &b);
        field_binomial_set_coordinate(field, difference, i, a);
    }
}

bool field_binomial_is_canonical(const pool_field *field, const uint64_t *x)
{
    bool is_canonical = true;

    for (uint32_t i = 0; i < field->degree; i++) {
        uint64_t coordinate = field_binomial_coordinate(field, x, i);

        is_canonical = field_is_canonical(field->base, &coordinate) && is_canonical;
    }
    return is_canonical;
}

/* A field_product. Coordinates are in Montgomery form, or one factor's are in standard form. */
static void multiply(
    const pool_field *field, uint64_t *product, const uint64_t *x, const uint64_t *y)
{
    const uint32_t degree = field->degree;
    uint64_t sums[2 * FIELD_BINOMIAL_MAX_DEGREE] = {0};
    uint64_t nonresidue;

    field_set_integer(field->base, &nonresidue, field->nonresidue);
    for (uint32_t i = 0; i < degree; i++)
        for (uint32_t j = 0; j < degree; j++) {
            uint64_t a = field_binomial_coordinate(field, x, i);
            uint64_t b = field_binomial_coordinate(field, y, j);

            field_mul(field->base, &a, &a, &b);
            field_add(field->base, &sums[i + j], &sums[i + j], &a);
        }
    for (uint32_t i = 0; i < degree; i++) {
        field_mul(field->base, &sums[i + degree], &sums[i + degree], &nonresidue);
        field_add(field->base, &sums[i], &sums[i], &sums[i + degree]);
        field_binomial_set_coordinate(field, product, i, sums[i]);
    }
}

/* Hashes everything on which results or device code can depend. */
static pool_status derive_fingerprint(pool_field *field)
{
    struct {
        char label[32];
        uint8_t base[POOL_FINGERPRINT_BYTES];
        uint64_t degree;
        uint64_t nonresidue;
    } input;

    memset(&input, 0, sizeof(input));
    snprintf(input.label, sizeof(input.label), "devicepool extension field 1");
    memcpy(input.base, field->base->fingerprint, sizeof(input.base));
    input.degree = field->degree;
    input.nonresidue = field->nonresidue;
    return base_sha256_of(&input, sizeof(input), field->fingerprint);
}

/* The number of elements, p^degree; it has at most 128 bits. */
static void derive_order(pool_field *field)
{
    unsigned __int128 order = 1;

    for (uint32_t i = 0; i < field->degree; i++)
        order *= field->base->modulus[0];
    field->modulus[0] = (uint64_t)order;
    field->modulus[1] = (uint64_t)(order >> 64);
    field->bits = field_integer_bits(field->modulus, FIELD_MAX_LIMBS);
}

pool_status field_binomial_derive(pool_field *field, const char *name, const pool_field *base,
    uint32_t degree, uint32_t nonresidue)
{
    memset(field, 0, sizeof(*field));
    atomic_init(&field->references, 1);
    snprintf(field->name, sizeof(field->name), "%s", name);
    if (base->limbs != 1 || degree * base->bytes != FIELD_BINOMIAL_LIMBS * sizeof(uint64_t))
        return base_fail(POOL_ERR_INTERNAL, "unsupported degree %u of an extension of %s",
            (unsigned)degree, base->name);
    field->base = base;
    field->degree = degree;
    field->nonresidue = nonresidue;
    field->product = multiply;
    field->kind = base->kind;
    field->flags = base->flags & FIELD_DEVICE_STANDARD;
    field->limbs = FIELD_BINOMIAL_LIMBS;
    field->words = degree * base->words;
    field->bytes = degree * base->bytes;
    field->one[0] = base->one[0];
    field->r2[0] = base->r2[0];
    derive_order(field);
    return derive_fingerprint(field);
}

pool_status field_check_prime(const char *call, const pool_field *field)
{
    return field && field->base
               ? base_fail(POOL_ERR_UNSUPPORTED,
                     "%s: %s is an extension field, a prime field is needed", call, field->name)
               : POOL_OK;
}

uint32_t pool_field_degree(const pool_field *field)
{
    return field ? field->degree : 0;
}

const pool_field *pool_field_base(const pool_field *field)
{
    return field && field->base ? field->base : field;
}
