/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between the public forms and the form in which kernels compute.
 */
#include "zk/field/field.h"

int field_device_degree(const pool_field *field)
{
    return field->flags & FIELD_DEVICE_STANDARD ? 0 : 1;
}

void field_power_of_r(const pool_field *field, uint64_t *power, int exponent)
{
    uint64_t factor[FIELD_MAX_LIMBS];

    /* R in Montgomery form is R^2. */
    field_copy(field, factor, field->r2);
    if (exponent < 0)
        field_inverse(field, factor, factor);
    field_set_one(field, power);
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        field_mul(field, power, power, factor);
}

void field_store_for_device(const pool_field *field, void *packed, const uint64_t *limbs)
{
    uint64_t value[FIELD_MAX_LIMBS];

    field_copy(field, value, limbs);
    if (field->flags & FIELD_DEVICE_STANDARD)
        field_from_montgomery(field, value, value);
    field_store(field, packed, value);
}
