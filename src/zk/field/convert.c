/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions on single elements and on arrays of elements. They check every argument and
 * every element before they write anything.
 */
#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

static pool_status check_form(const char *call, pool_form form)
{
    return base_check_ranges(call, {"form", form, 0, POOL_FORM_MONTGOMERY});
}

/* Fails for a NULL array unless it is empty, and for counts that do not fit in memory. */
static pool_status check_array(
    const char *call, const char *name, const void *array, size_t count, size_t bytes)
{
    if (!array && count)
        return base_fail_null(call, name);
    return base_check_array(call, name, count, bytes, bytes);
}

/* Stores an element, given in Montgomery form, in the requested form. */
static void store_in_form(
    const pool_field *field, void *packed, pool_form form, const uint64_t *montgomery)
{
    uint64_t limbs[FIELD_MAX_LIMBS];

    if (form == POOL_FORM_STANDARD)
        field_from_montgomery(field, limbs, montgomery);
    else
        field_copy(field, limbs, montgomery);
    field_store(field, packed, limbs);
}

pool_status pool_field_modulus(const pool_field *field, void *modulus)
{
    pool_status status =
        base_check_pointers("pool_field_modulus", {"field", field}, {"modulus", modulus});

    if (!status)
        status = field_check_prime("pool_field_modulus", field);
    if (status)
        return status;
    field_store(field, modulus, field->modulus);
    return POOL_OK;
}

pool_status pool_field_generator(const pool_field *field, pool_form form, void *generator)
{
    pool_status status =
        base_check_pointers("pool_field_generator", {"field", field}, {"generator", generator});

    if (!status)
        status = field_check_prime("pool_field_generator", field);
    if (!status)
        status = check_form("pool_field_generator", form);
    if (status)
        return status;
    store_in_form(field, generator, form, field->generator);
    return POOL_OK;
}

pool_status pool_field_root_of_unity(const pool_field *field, const char *convention,
    uint32_t log2_order, pool_form form, void *root)
{
    static const char call[] = "pool_field_root_of_unity";
    uint64_t power[FIELD_MAX_LIMBS];
    pool_status status = base_check_pointers(call, {"field", field}, {"root", root});

    if (!status)
        status = field_check_prime(call, field);
    if (!status)
        status = check_form(call, form);
    if (!status)
        status = base_check_ranges(call, {"log2_order", log2_order, 0, field->two_adicity});
    if (status)
        return status;
    if (convention) {
        const char *number = field_convention_generator(field, convention);
        uint64_t generator[FIELD_MAX_LIMBS];

        if (!number || field_integer_parse(generator, FIELD_MAX_LIMBS, number))
            return base_fail(POOL_ERR_NOT_FOUND,
                "the field %s has no convention \"%.80s\" for roots of unity", field->name,
                convention);
        field_to_montgomery(field, generator, generator);
        field_pow(field, power, generator, field->odd_part, field->limbs);
        for (uint32_t i = log2_order; i < field->two_adicity; i++)
            field_sqr(field, power, power);
    } else {
        field_root_of_unity(field, power, log2_order);
    }
    store_in_form(field, root, form, power);
    return POOL_OK;
}

pool_status pool_field_parse(
    const pool_field *field, const char *string, pool_form form, void *element)
{
    uint64_t limbs[FIELD_MAX_LIMBS];
    const char *wrong;
    pool_status status = base_check_pointers(
        "pool_field_parse", {"field", field}, {"string", string}, {"element", element});

    if (!status)
        status = field_check_prime("pool_field_parse", field);
    if (!status)
        status = check_form("pool_field_parse", form);
    if (status)
        return status;
    wrong = field_integer_parse(limbs, field->limbs, string);
    if (!wrong && !field_is_canonical(field, limbs))
        wrong = "is not below the modulus";
    if (wrong)
        return base_fail(POOL_ERR_BAD_DATA, "the element \"%.200s\" %s", string, wrong);
    if (form == POOL_FORM_MONTGOMERY)
        field_to_montgomery(field, limbs, limbs);
    field_store(field, element, limbs);
    return POOL_OK;
}

/* Almost every element is below the modulus by its highest limb alone. */
static bool has_smaller_top(const pool_field *field, const uint8_t *element)
{
    uint64_t top;

    if (field->base || field->bytes != 8 * field->limbs)
        return false;
    memcpy(&top, element + field->bytes - sizeof(top), sizeof(top));
    return top < field->modulus[field->limbs - 1];
}

pool_status pool_field_check(
    const pool_field *field, const void *elements, size_t count, size_t *first_bad)
{
    uint64_t limbs[FIELD_MAX_LIMBS];
    pool_status status =
        field ? check_array("pool_field_check", "elements", elements, count, field->bytes)
              : base_fail_null("pool_field_check", "field");

    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *element = (const uint8_t *)elements + i * field->bytes;

        if (has_smaller_top(field, element))
            continue;
        field_load(field, limbs, element);
        if (field_is_canonical(field, limbs))
            continue;
        if (first_bad)
            *first_bad = i;
        return base_fail(
            POOL_ERR_BAD_DATA, "element %zu is not below the modulus of %s", i, field->name);
    }
    return POOL_OK;
}

static pool_status convert_elements(const char *call, const pool_field *field, const void *from,
    size_t count, void *to,
    void (*convert)(const pool_field *field, uint64_t *result, const uint64_t *x))
{
    uint64_t limbs[FIELD_MAX_LIMBS];
    pool_status status = field ? check_array(call, "input elements", from, count, field->bytes)
                               : base_fail_null(call, "field");

    if (!status)
        status = check_array(call, "output elements", to, count, field->bytes);
    if (!status)
        status = pool_field_check(field, from, count, NULL);
    for (size_t i = 0; i < count && !status; i++) {
        field_load(field, limbs, (const uint8_t *)from + i * field->bytes);
        convert(field, limbs, limbs);
        field_store(field, (uint8_t *)to + i * field->bytes, limbs);
    }
    return status;
}

pool_status pool_field_to_montgomery(
    const pool_field *field, const void *standard, size_t count, void *montgomery)
{
    return convert_elements(
        "pool_field_to_montgomery", field, standard, count, montgomery, field_to_montgomery);
}

pool_status pool_field_from_montgomery(
    const pool_field *field, const void *montgomery, size_t count, void *standard)
{
    return convert_elements(
        "pool_field_from_montgomery", field, montgomery, count, standard, field_from_montgomery);
}

static pool_status check_bytes_arguments(const char *call, const pool_field *field,
    size_t value_bytes, pool_byte_order byte_order, const void *values, size_t count,
    pool_form form, const void *elements)
{
    pool_status status = base_check_ranges(call, {"byte_order", byte_order, 0, POOL_BIG_ENDIAN},
        {"form", form, 0, POOL_FORM_MONTGOMERY});

    if (!status && !field)
        status = base_fail_null(call, "field");
    if (!status)
        status = field_check_prime(call, field);
    if (!status)
        status = check_array(call, "values", values, count, value_bytes);
    return status ? status : check_array(call, "elements", elements, count, field->bytes);
}

pool_status pool_field_from_bytes(const pool_field *field, size_t value_bytes,
    pool_byte_order byte_order, const uint8_t *values, size_t count, pool_form form, void *elements)
{
    bool is_big_endian = byte_order == POOL_BIG_ENDIAN;
    uint64_t limbs[FIELD_MAX_LIMBS];
    pool_status status = check_bytes_arguments(
        "pool_field_from_bytes", field, value_bytes, byte_order, values, count, form, elements);

    if (status)
        return status;
    if (!value_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_from_bytes: unsupported value 0 for `value_bytes`; it must be at least 1");
    for (size_t i = 0; i < count; i++) {
        if (!field_integer_from_bytes(
                limbs, field->limbs, values + i * value_bytes, value_bytes, is_big_endian) ||
            !field_is_canonical(field, limbs))
            return base_fail(
                POOL_ERR_BAD_DATA, "value %zu is not below the modulus of %s", i, field->name);
    }
    for (size_t i = 0; i < count; i++) {
        field_integer_from_bytes(
            limbs, field->limbs, values + i * value_bytes, value_bytes, is_big_endian);
        if (form == POOL_FORM_MONTGOMERY)
            field_to_montgomery(field, limbs, limbs);
        field_store(field, (uint8_t *)elements + i * field->bytes, limbs);
    }
    return POOL_OK;
}

pool_status pool_field_to_bytes(const pool_field *field, pool_form form, const void *elements,
    size_t count, size_t value_bytes, pool_byte_order byte_order, uint8_t *values)
{
    uint64_t limbs[FIELD_MAX_LIMBS];
    pool_status status = check_bytes_arguments(
        "pool_field_to_bytes", field, value_bytes, byte_order, values, count, form, elements);

    if (status)
        return status;
    if (value_bytes < (field->bits + 7) / 8)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_to_bytes: unsupported value %zu for `value_bytes`; %s needs at least %u",
            value_bytes, field->name, (field->bits + 7) / 8);
    status = pool_field_check(field, elements, count, NULL);
    for (size_t i = 0; i < count && !status; i++) {
        field_load(field, limbs, (const uint8_t *)elements + i * field->bytes);
        if (form == POOL_FORM_MONTGOMERY)
            field_from_montgomery(field, limbs, limbs);
        field_integer_to_bytes(values + i * value_bytes, value_bytes, byte_order == POOL_BIG_ENDIAN,
            limbs, field->limbs);
    }
    return status;
}
