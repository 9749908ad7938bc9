/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements as text, decimal or hexadecimal. Time depends on the value: for public data.
 */
#include <string.h>

#include "base/status.h"
#include "field/field.h"
#include "field/integer.h"

/* Digits are written from the last one back, so that they end where the buffer does. The first. */
static char *write_digits(const pool_field *field, uint64_t *value, pool_radix radix, char *end)
{
    *--end = 0;
    do
        *--end = "0123456789abcdef"[field_integer_div_small(
            value, radix == POOL_HEXADECIMAL ? 16 : 10, field->limbs)];
    while (!field_integer_is_zero(value, field->limbs));
    if (radix == POOL_HEXADECIMAL) {
        *--end = 'x';
        *--end = '0';
    }
    return end;
}

static pool_status check_arguments(const pool_field *field, const void *element, pool_form form,
    pool_radix radix, const char *text, size_t size)
{
    if (!field || !element)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_field_format: `%s` must not be NULL",
            field ? "element" : "field");
    if (!text && size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: `text` must not be NULL where `size` is %zu", size);
    if (form != POOL_FORM_STANDARD && form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: unsupported value %d for `form`", (int)form);
    if (radix != POOL_DECIMAL && radix != POOL_HEXADECIMAL)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: unsupported value %d for `radix`", (int)radix);
    return pool_field_check(field, element, 1, NULL);
}

pool_status pool_field_format(const pool_field *field, const void *element, pool_form form,
    pool_radix radix, char *text, size_t size, size_t *needed)
{
    uint64_t value[FIELD_MAX_LIMBS];
    char digits[POOL_FIELD_TEXT_BYTES];
    char *first;
    size_t bytes;
    pool_status status = check_arguments(field, element, form, radix, text, size);

    if (status)
        return status;
    field_load(field, value, element);
    if (form == POOL_FORM_MONTGOMERY)
        field_from_montgomery(field, value, value);
    first = write_digits(field, value, radix, digits + sizeof(digits));
    bytes = (size_t)(digits + sizeof(digits) - first);
    if (needed)
        *needed = bytes;
    if (!text)
        return POOL_OK;
    if (size < bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: `size` is %zu, the text needs %zu bytes", size, bytes);
    memcpy(text, first, bytes);
    return POOL_OK;
}
