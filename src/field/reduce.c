/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte strings of any width modulo p, by Horner's rule over digits that are below p. Secret scalars
 * pass through here: no branches on values.
 */
#include "base/status.h"
#include "field/field.h"
#include "field/integer.h"

/* Bytes of a digit: as many as are always below the modulus, one where the field is smaller. */
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

/* Montgomery form. Digits begin at the value's low end, so the highest one may have fewer bytes. */
static void reduce_value(const pool_field *field, const uint64_t *base, uint64_t *reduced,
    const uint8_t *bytes, size_t width, bool big_endian)
{
    size_t most = digit_bytes(field);

    field_set_zero(field, reduced);
    for (size_t end = width; end > 0;) {
        size_t size = end % most ? end % most : most;
        size_t low = end - size;
        uint64_t digit[FIELD_MAX_LIMBS];

        field_integer_from_bytes(
            digit, field->limbs, bytes + (big_endian ? width - end : low), size, big_endian);
        if (field->bits <= 8)
            digit[0] %= field->modulus[0];
        field_to_montgomery(field, digit, digit);
        field_mul(field, reduced, reduced, base);
        field_add(field, reduced, reduced, digit);
        end = low;
    }
}

static pool_status check_arguments(const pool_field *field, const uint8_t *bytes, size_t width,
    pool_byte_order order, size_t count, pool_form form, const void *elements)
{
    const char *missing = !field ? "field" : !bytes ? "bytes" : "elements";

    if (!field || ((!bytes || !elements) && count))
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_field_reduce_bytes: `%s` must not be NULL", missing);
    if (!width)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_field_reduce_bytes: `width` is 0, must be 1 at least");
    if (order != POOL_LITTLE_ENDIAN && order != POOL_BIG_ENDIAN)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_reduce_bytes: unsupported value %d for `order`", (int)order);
    if (form != POOL_FORM_STANDARD && form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_reduce_bytes: unsupported value %d for `form`", (int)form);
    if (count > SIZE_MAX / width || count > SIZE_MAX / field->bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_reduce_bytes: `count` %zu times the size of a value exceeds the address "
            "space",
            count);
    return POOL_OK;
}

pool_status pool_field_reduce_bytes(const pool_field *field, const uint8_t *bytes, size_t width,
    pool_byte_order order, size_t count, pool_form form, void *elements)
{
    uint64_t base[FIELD_MAX_LIMBS], value[FIELD_MAX_LIMBS];
    pool_status status = check_arguments(field, bytes, width, order, count, form, elements);

    if (status)
        return status;
    digit_base(field, base);
    for (size_t i = 0; i < count; i++) {
        reduce_value(field, base, value, bytes + i * width, width, order == POOL_BIG_ENDIAN);
        if (form == POOL_FORM_STANDARD)
            field_from_montgomery(field, value, value);
        field_store(field, (uint8_t *)elements + i * field->bytes, value);
    }
    return POOL_OK;
}
