/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements as callers keep them, to and from the limbs that the host computes on.
 */
#include "base/status.h"
#include "poseidon/poseidon.h"

pool_status poseidon_span_check(const pool_span *span, size_t item_bytes, const char *what)
{
    uint64_t stride;
    uint64_t bytes;

    if (!span)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the span of the %s must not be NULL", what);
    if (span->count && !span->data)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the data of the %s must not be NULL", what);
    if (span->form != POOL_FORM_STANDARD && span->form != POOL_FORM_MONTGOMERY)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s have no form %d", what, (int)span->form);
    if (span->place != POOL_MEMORY_HOST && span->place != POOL_MEMORY_DEVICE)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the %s have no place %d", what, (int)span->place);
    stride = span->stride ? span->stride : item_bytes;
    if (stride < item_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the %s have %zu bytes each; their stride of %llu is smaller", what, item_bytes,
            (unsigned long long)stride);
    if (__builtin_mul_overflow(stride, span->count, &bytes) || bytes > UINT64_MAX / 2)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu %s of %llu bytes do not fit in memory",
            (unsigned long long)span->count, what, (unsigned long long)stride);
    return POOL_OK;
}

void poseidon_load_trusted(
    const pool_field *field, uint64_t *limbs, const void *packed, size_t count, pool_form form)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t *element = limbs + i * field->limbs;
        field_load(field, element, (const unsigned char *)packed + i * field->bytes);
        if (form == POOL_FORM_STANDARD)
            field_to_montgomery(field, element, element);
    }
}

pool_status poseidon_load(const pool_field *field, uint64_t *limbs, const void *packed,
    size_t count, pool_form form, const char *what)
{
    poseidon_load_trusted(field, limbs, packed, count, POOL_FORM_MONTGOMERY);
    for (size_t i = 0; i < count; i++) {
        uint64_t *element = limbs + i * field->limbs;
        if (!field_is_canonical(field, element))
            return base_fail(
                POOL_ERR_BAD_DATA, "%s %zu is not below the modulus of %s", what, i, field->name);
        if (form == POOL_FORM_STANDARD)
            field_to_montgomery(field, element, element);
    }
    return POOL_OK;
}

void poseidon_store(
    const pool_field *field, void *packed, const uint64_t *limbs, size_t count, pool_form form)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t element[FIELD_MAX_LIMBS];
        field_copy(field, element, limbs + i * field->limbs);
        if (form == POOL_FORM_STANDARD)
            field_from_montgomery(field, element, element);
        field_store(field, (unsigned char *)packed + i * field->bytes, element);
    }
}
