/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reproducible elements for tests and measurements: element i depends on the seed, i and the field
 * only.
 */
#include "base/mix.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/field/field.h"

/* Rejection sampling over integers of the modulus's bit length: fewer than two draws on average. */
void field_random(const pool_field *field, uint64_t seed, uint64_t index, uint64_t *standard)
{
    if (field->base) {
        for (uint32_t i = 0; i < field->degree; i++) {
            uint64_t coordinate;

            field_random(field->base, seed, index * field->degree + i, &coordinate);
            field_binomial_set_coordinate(field, standard, i, coordinate);
        }
        return;
    }
    const uint64_t step = BASE_MIX_STEP;
    uint64_t state = base_mix(base_mix(seed + step) ^ (index + 1) * step);
    uint64_t top_mask = ~(uint64_t)0 >> (64 * field->limbs - field->bits);

    do {
        for (uint32_t i = 0; i < field->limbs; i++) {
            state += step;
            standard[i] = base_mix(state);
        }
        standard[field->limbs - 1] &= top_mask;
    } while (!field_is_canonical(field, standard));
}

pool_status pool_random_scalars(
    const pool_field *field, uint64_t seed, size_t count, pool_form form, void *elements)
{
    uint64_t limbs[FIELD_MAX_LIMBS];
    static const char call[] = "pool_random_scalars";
    pool_status status = base_check_ranges(call, {"form", form, 0, POOL_FORM_MONTGOMERY});

    if (!status && (!field || (!elements && count)))
        status = base_fail_null(call, field ? "elements" : "field");
    if (!status)
        status = base_check_array(call, "elements", count, field->bytes, field->bytes);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        field_random(field, seed, i, limbs);
        if (form == POOL_FORM_MONTGOMERY)
            field_to_montgomery(field, limbs, limbs);
        field_store(field, (uint8_t *)elements + i * field->bytes, limbs);
    }
    return POOL_OK;
}
