/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction of byte strings of any length modulo p, by Horner's rule over digits that are below p.
 * The values may be secret scalars, so nothing branches on them.
 */
#include "base/status.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

/* The largest digit size whose values are all below the modulus; 1 for moduli of up to 8 bits. */
static size_t digit_bytes(const pool_field *field)
{
    size_t bytes = (field->bits - 1) / 8;

    return bytes ? bytes : 1;
}

/* 2^(8 * digit_bytes) in Montgomery form. */
static void digit_base(const pool_field *field, uint64_t *base)
{
    field_set_one(field, base);
    for (size_t i = 0; i < 8 * digit_bytes(field); i++)
        field_double(field, base, base);
}

/* Reduces one value to Montgomery form. The most significant digit may have fewer bytes. */
static void reduce_value(const pool_field *field, const uint64_t *base, uint64_t *reduced,
    const uint8_t *value, size_t value_bytes, bool big_endian)
{
    size_t most = digit_bytes(field);

    field_set_zero(field, reduced);
    for (size_t end = value_bytes; end > 0;) {
        size_t size = end % most ? end % most : most;
        size_t low = end - size;
        uint64_t digit[FIELD_MAX_LIMBS];

        field_integer_from_bytes(
            digit, field->limbs, value + (big_endian ? value_bytes - end : low), size, big_endian);
        if (field->bits <= 8)
            digit[0] %= field->modulus[0];
        field_to_montgomery(field, digit, digit);
        field_mul(field, reduced, reduced, base);
        field_add(field, reduced, reduced, digit);
        end = low;
    }
}

static pool_status check_arguments(const pool_field *field, size_t value_bytes,
    pool_byte_order byte_order, const uint8_t *values, size_t count, pool_form form,
    const void *elements)
{
    const char *missing = !field ? "field" : !values ? "values" : "elements";

    if (!field || ((!values || !elements) && count))
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_field_reduce_bytes: `%s` must not be NULL", missing);
    if (field_check_prime("pool_field_reduce_bytes", field))
        return POOL_ERR_UNSUPPORTED;
    if (!value_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_reduce_bytes: `value_bytes` is 0, must be 1 at least");
    if (byte_order != POOL_LITTLE_ENDIAN && byte_order != POOL_BIG_ENDIAN)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_reduce_bytes: unsupported value %d for `byte_order`", (int)byte_order);
    if (form != POOL_FORM_STANDARD && form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_reduce_bytes: unsupported value %d for `form`", (int)form);
    if (count > SIZE_MAX / value_bytes || count > SIZE_MAX / field->bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_reduce_bytes: `count` %zu times the size of a value exceeds the address "
            "space",
            count);
    return POOL_OK;
}

pool_status pool_field_reduce_bytes(const pool_field *field, size_t value_bytes,
    pool_byte_order byte_order, const uint8_t *values, size_t count, pool_form form, void *elements)
{
    uint64_t base[FIELD_MAX_LIMBS], value[FIELD_MAX_LIMBS];
    pool_status status =
        check_arguments(field, value_bytes, byte_order, values, count, form, elements);

    if (status)
        return status;
    digit_base(field, base);
    for (size_t i = 0; i < count; i++) {
        reduce_value(field, base, value, values + i * value_bytes, value_bytes,
            byte_order == POOL_BIG_ENDIAN);
        if (form == POOL_FORM_STANDARD)
            field_from_montgomery(field, value, value);
        field_store(field, (uint8_t *)elements + i * field->bytes, value);
    }
    return POOL_OK;
}
