/* SPDX-License-Identifier: Apache-2.0 */
/* Field elements for kernel tests: see harness.h. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

void element_random(const pool_field *field, uint64_t seed, uint64_t index, uint64_t *limbs)
{
    memset(limbs, 0, field->limbs * sizeof(*limbs));
    field_random(field, seed, index, limbs);
}

void element_pack(const pool_field *field, void *packed, const uint64_t *montgomery)
{
    field_store_for_device(field, packed, montgomery);
}

void element_unpack(const pool_field *field, uint64_t *montgomery, const void *packed)
{
    field_load(field, montgomery, packed);
    if ((field->flags & FIELD_DEVICE_STANDARD) != 0)
        field_to_montgomery(field, montgomery, montgomery);
}

uint64_t *elements_random(const pool_field *field, uint64_t seed, size_t count)
{
    uint64_t *elements = harness_memory(count, field->limbs * sizeof(*elements));

    for (size_t i = 0; i < count; i++) {
        uint64_t *element = elements + i * field->limbs;

        if (i < 3)
            field_set_integer(field, element, i == 2 ? -1 : (int64_t)i);
        else
            element_random(field, seed, i, element);
    }
    return elements;
}

uint8_t *elements_pack(
    const pool_field *field, const uint64_t *elements, size_t count, size_t stride)
{
    uint8_t *packed = harness_memory(count, stride);

    for (size_t i = 0; i < count; i++)
        element_pack(field, packed + i * stride, elements + i * field->limbs);
    return packed;
}

void element_reduce(const pool_field *field, uint64_t *limbs)
{
    uint64_t borrow = 0;

    if (field_is_canonical(field, limbs))
        return;
    for (uint32_t i = 0; i < field->limbs; i++) {
        __uint128_t difference = (__uint128_t)limbs[i] - field->modulus[i] - borrow;

        limbs[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

void stage_compare_elements(struct stage *stage, const char *what, const pool_field *field,
    CUdeviceptr got, size_t stride, const uint64_t *expected, size_t count, bool is_lazy)
{
    uint8_t *results = harness_memory(count, stride);
    uint8_t *packed = elements_pack(field, expected, count, stride);

    stage_download(stage, results, got, count * stride);
    for (size_t i = 0; i < count; i++) {
        uint64_t limbs[FIELD_MAX_LIMBS] = {0};

        for (size_t k = field->bytes; k < stride; k++) {
            if (results[i * stride + k] != STAGE_POISON)
                stage_fail(stage, "bytes behind %s %zu were written", what, i);
            results[i * stride + k] = 0;
        }
        if (is_lazy) {
            field_load(field, limbs, results + i * stride);
            element_reduce(field, limbs);
            field_store(field, results + i * stride, limbs);
        }
    }
    stage_compare_host(stage, what, results, packed, count, stride);
    free(results);
    free(packed);
}
