/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats elements as decimal or hexadecimal strings. Time depends on the value: for public data.
 */
#include <string.h>

#include "base/status.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

/* Writes the digits backwards from the end of the buffer and returns the first character. */
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

static pool_status check_arguments(const pool_field *field, pool_form form, const void *element,
    pool_radix radix, const char *string, size_t bytes)
{
    if (!field || !element)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_field_format: `%s` must not be NULL",
            field ? "element" : "field");
    if (field_check_prime("pool_field_format", field))
        return POOL_ERR_UNSUPPORTED;
    if (!string && bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: `string` must not be NULL when `bytes` is %zu", bytes);
    if (form != POOL_FORM_STANDARD && form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: unsupported value %d for `form`", (int)form);
    if (radix != POOL_DECIMAL && radix != POOL_HEXADECIMAL)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: unsupported value %d for `radix`", (int)radix);
    return pool_field_check(field, element, 1, NULL);
}

pool_status pool_field_format(const pool_field *field, pool_form form, const void *element,
    pool_radix radix, char *string, size_t bytes, size_t *needed)
{
    uint64_t value[FIELD_MAX_LIMBS];
    char digits[POOL_FIELD_STRING_BYTES];
    pool_status status = check_arguments(field, form, element, radix, string, bytes);

    if (status)
        return status;
    field_load(field, value, element);
    if (form == POOL_FORM_MONTGOMERY)
        field_from_montgomery(field, value, value);
    const char *first = write_digits(field, value, radix, digits + sizeof(digits));
    size_t formatted_bytes = (size_t)(digits + sizeof(digits) - first);

    if (needed)
        *needed = formatted_bytes;
    if (!string)
        return POOL_OK;
    if (bytes < formatted_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_field_format: `bytes` is %zu, the string needs %zu", bytes, formatted_bytes);
    memcpy(string, first, formatted_bytes);
    return POOL_OK;
}
