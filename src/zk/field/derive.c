/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derives all constants of a field from its modulus and, if given, its generator or root of unity.
 */
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

/* Newton's iteration doubles the number of correct bits; x * x = 1 mod 8 for odd x gives the first
 * three. */
static uint64_t negative_inverse(uint64_t odd)
{
    uint64_t inverse = odd;

    for (int bits = 3; bits < 64; bits *= 2)
        inverse *= 2 - odd * inverse;
    return 0 - inverse;
}

void field_derive_montgomery(pool_field *field, const uint64_t *modulus)
{
    memcpy(field->modulus, modulus, sizeof(field->modulus));
    field->bits = field_integer_bits(modulus, FIELD_MAX_LIMBS);
    field->limbs = (field->bits + 63) / 64;
    field->words = field->bits <= 32 ? 1 : 2 * field->limbs;
    field->bytes = 4 * field->words;
    field->spare_bits = 32 * field->words - field->bits;
    field->inverse64 = negative_inverse(modulus[0]);
    field->inverse32 = (uint32_t)field->inverse64;
    field->product = field_product_x86(field);
    if (!field->product)
        field->product = field_product_plain(field);
    /* R is 1 doubled once for each bit of R, and R^2 is R doubled as often again. */
    memset(field->one, 0, sizeof(field->one));
    field->one[0] = 1;
    for (uint32_t i = 0; i < 32 * field->words; i++)
        field_double(field, field->one, field->one);
    memcpy(field->r2, field->one, sizeof(field->r2));
    for (uint32_t i = 0; i < 32 * field->words; i++)
        field_double(field, field->r2, field->r2);
}

static enum field_kind kind_of(const pool_field *field)
{
    if (field->limbs == 1 && field->modulus[0] == 0xffffffff00000001u)
        return FIELD_KIND_GOLDILOCKS;
    if (field->limbs == 1 && field->modulus[0] == 0x7fffffffu)
        return FIELD_KIND_MERSENNE_31;
    return field->bits <= 31 ? FIELD_KIND_MONTGOMERY_31 : FIELD_KIND_MONTGOMERY;
}

static uint32_t flags_of(const pool_field *field)
{
    uint32_t flags = 0;

    if (field->spare_bits >= 1)
        flags |= FIELD_SPARE_BIT;
    if (field->spare_bits >= 2)
        flags |= FIELD_TWO_SPARE_BITS;
    if (field->kind == FIELD_KIND_GOLDILOCKS || field->kind == FIELD_KIND_MERSENNE_31)
        flags |= FIELD_DEVICE_STANDARD;
    return flags;
}

static void derive_generators(pool_field *field, const struct field_definition *definition)
{
    if (definition->has_generator) {
        field_to_montgomery(field, field->generator, definition->generator);
        field->flags |= FIELD_FULL_GENERATOR;
    } else {
        int64_t candidate = 2;

        while (field_jacobi_small(field, candidate) != -1)
            candidate++;
        field_set_integer(field, field->generator, candidate);
    }
    if (definition->has_root)
        field_to_montgomery(field, field->root, definition->root);
    else
        field_pow(field, field->root, field->generator, field->odd_part, field->limbs);
    field_inverse(field, field->inverse_root, field->root);
}

/* Hashes everything on which results or device code can depend, in standard form. */
static pool_status derive_fingerprint(pool_field *field)
{
    struct {
        char label[24];
        uint64_t bits;
        uint64_t modulus[FIELD_MAX_LIMBS];
        uint64_t generator[FIELD_MAX_LIMBS];
        uint64_t root[FIELD_MAX_LIMBS];
    } input;

    memset(&input, 0, sizeof(input));
    snprintf(input.label, sizeof(input.label), "devicepool field 1");
    input.bits = field->bits;
    memcpy(input.modulus, field->modulus, sizeof(input.modulus));
    field_from_montgomery(field, input.generator, field->generator);
    field_from_montgomery(field, input.root, field->root);
    return base_sha256_of(&input, sizeof(input), field->fingerprint);
}

pool_status field_derive(pool_field *field, const struct field_definition *definition)
{
    memset(field, 0, sizeof(*field));
    atomic_init(&field->references, 1);
    field->degree = 1;
    snprintf(field->name, sizeof(field->name), "%s", definition->name);
    field_derive_montgomery(field, definition->modulus);
    field->kind = kind_of(field);
    field->flags = flags_of(field);
    memcpy(field->odd_part, field->modulus, sizeof(field->odd_part));
    field->odd_part[0] -= 1;
    field->two_adicity = field_integer_trailing_zeros(field->odd_part, field->limbs);
    field_integer_shift_right(field->odd_part, field->two_adicity, field->limbs);
    derive_generators(field, definition);
    return derive_fingerprint(field);
}
