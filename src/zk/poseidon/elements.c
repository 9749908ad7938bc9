/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of packed elements in either form to and from limbs in Montgomery form.
 */
#include "base/status.h"
#include "zk/poseidon/poseidon.h"

void poseidon_load_unchecked(
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
    size_t count, pool_form form, const char *name)
{
    poseidon_load_unchecked(field, limbs, packed, count, POOL_FORM_MONTGOMERY);
    for (size_t i = 0; i < count; i++) {
        uint64_t *element = limbs + i * field->limbs;
        if (!field_is_canonical(field, element))
            return base_fail(POOL_ERR_BAD_DATA, "element %zu of %s is not below the modulus of %s",
                i, name, field->name);
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
