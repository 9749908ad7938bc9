/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom fields: parsing and validation of their parameters; reference counting; properties.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

enum {
    FACTOR_LIMIT = 1 << 16
}; /* the order of a given generator is checked for prime factors of p - 1 below this */

static const struct base_struct field_params_type = BASE_STRUCT(pool_field_params);

void pool_field_params_init(pool_field_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status read_number(uint64_t *limbs, const char *string, const char *what)
{
    const char *wrong = field_integer_parse(limbs, FIELD_MAX_LIMBS, string);

    if (wrong)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s \"%.200s\" %s", what, string, wrong);
    return POOL_OK;
}

static pool_status read_definition(
    struct field_definition *definition, const pool_field_params *params, const char *what)
{
    pool_status status;

    definition->name = params->name ? params->name : "custom";
    if (strlen(definition->name) > FIELD_MAX_NAME)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the field's name has %zu characters, %d are allowed", strlen(definition->name),
            FIELD_MAX_NAME);
    if (!params->modulus)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s is missing", what);
    status = read_number(definition->modulus, params->modulus, what);
    if (!status && params->generator) {
        definition->has_generator = true;
        status = read_number(definition->generator, params->generator, "generator");
    }
    if (!status && params->root) {
        definition->has_root = true;
        status = read_number(definition->root, params->root, "root of unity");
    }
    return status;
}

static pool_status check_modulus(const struct field_definition *definition, const char *what)
{
    pool_field candidate;
    pool_status status;
    bool prime;

    if (field_integer_bits(definition->modulus, FIELD_MAX_LIMBS) < 2)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s is below 3", what);
    if (!(definition->modulus[0] & 1))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s is even", what);
    memset(&candidate, 0, sizeof(candidate));
    field_derive_montgomery(&candidate, definition->modulus);
    status = field_is_prime(&candidate, &prime);
    if (status)
        return status;
    if (!prime)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the %s is not prime", what);
    if ((definition->has_generator && !field_is_canonical(&candidate, definition->generator)) ||
        (definition->has_root && !field_is_canonical(&candidate, definition->root)))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "generator and root must be below the modulus");
    return POOL_OK;
}

/* Whether generator^((p - 1) / factor) is 1. */
static bool misses_factor(const pool_field *field, uint64_t factor)
{
    uint64_t exponent[FIELD_MAX_LIMBS];
    uint64_t power[FIELD_MAX_LIMBS];

    memcpy(exponent, field->modulus, sizeof(exponent));
    exponent[0] -= 1;
    field_integer_div_small(exponent, factor, field->limbs);
    field_pow(field, power, field->generator, exponent, field->limbs);
    return field_equal(field, power, field->one);
}

static pool_status check_generator(const pool_field *field)
{
    uint64_t rest[FIELD_MAX_LIMBS];

    if (field_legendre(field, field->generator) != -1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the generator is no quadratic non-residue");
    memcpy(rest, field->odd_part, sizeof(rest));
    for (uint64_t factor = 3; factor < FACTOR_LIMIT; factor += 2) {
        if (field_integer_mod_small(rest, factor, field->limbs))
            continue;
        while (!field_integer_mod_small(rest, factor, field->limbs))
            field_integer_div_small(rest, factor, field->limbs);
        if (misses_factor(field, factor))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "the generator's order lacks the factor %llu of p - 1", (unsigned long long)factor);
    }
    return POOL_OK;
}

/* The order is 2^s if root^(2^(s - 1)) = -1. */
static pool_status check_root(const pool_field *field)
{
    uint64_t power[FIELD_MAX_LIMBS];
    uint64_t minus_one[FIELD_MAX_LIMBS];

    field_copy(field, power, field->root);
    for (uint32_t i = 1; i < field->two_adicity; i++)
        field_sqr(field, power, power);
    field_neg(field, minus_one, field->one);
    if (!field_equal(field, power, minus_one))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the root of unity does not have order 2^%u",
            field->two_adicity);
    return POOL_OK;
}

pool_status field_create(const pool_field_params *params, const char *what, pool_field **field)
{
    struct field_definition definition = {0};
    pool_field *made;
    pool_status status = read_definition(&definition, params, what);

    if (!status)
        status = check_modulus(&definition, what);
    if (status)
        return status;
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return base_fail_memory("a field");
    status = field_derive(made, &definition);
    if (!status && definition.has_generator)
        status = check_generator(made);
    if (!status && definition.has_root)
        status = check_root(made);
    if (status) {
        base_free(made);
        return status;
    }
    *field = made;
    return POOL_OK;
}

pool_status pool_field_create(const pool_field_params *params, pool_field **field)
{
    pool_field_params given;
    pool_status status =
        base_struct_read(&field_params_type, "pool_field_create", "params", params, &given);

    if (!status)
        status = base_check_pointers(
            "pool_field_create", {"params->modulus", given.modulus}, {"field", field});
    return status ? status : field_create(&given, "modulus", field);
}

pool_field *pool_field_retain(const pool_field *field)
{
    /* Only the reference count of a shared field changes. */
    pool_field *counted = (pool_field *)(uintptr_t)field;

    if (counted && !(counted->flags & FIELD_BUILT_IN))
        atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pool_field_destroy(pool_field **field)
{
    pool_field *given = field ? *field : NULL;

    if (!given)
        return;
    *field = NULL;
    if (given->flags & FIELD_BUILT_IN)
        return;
    if (atomic_fetch_sub_explicit(&given->references, 1, memory_order_acq_rel) == 1)
        base_free(given);
}

const char *pool_field_name(const pool_field *field)
{
    return field ? field->name : "";
}

uint32_t pool_field_bits(const pool_field *field)
{
    return field ? field->bits : 0;
}

size_t pool_field_element_bytes(const pool_field *field)
{
    return field ? field->bytes : 0;
}

uint32_t pool_field_two_adicity(const pool_field *field)
{
    return field ? field->two_adicity : 0;
}

pool_status pool_field_fingerprint(
    const pool_field *field, uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    if (!field || !fingerprint)
        return base_fail_null("pool_field_fingerprint", field ? "fingerprint" : "field");
    memcpy(fingerprint, field->fingerprint, POOL_FINGERPRINT_BYTES);
    return POOL_OK;
}
