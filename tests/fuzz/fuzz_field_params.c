/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields from any three lines: modulus, generator, root of unity. An accepted modulus must pass the
 * Fermat test, and its root must have the right order.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool/field.h>

#include "zk/field/field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const pool_field *field)
{
    uint64_t x[FIELD_MAX_LIMBS], inverse[FIELD_MAX_LIMBS];

    field_set_integer(field, x, 2);
    field_inverse(field, inverse, x);
    field_mul(field, x, x, inverse);
    if (!field_equal(field, x, field->one))
        abort();
    field_copy(field, x, field->root);
    for (uint32_t i = 1; i < field->two_adicity; i++)
        field_sqr(field, x, x);
    if (field_equal(field, x, field->one))
        abort();
    field_sqr(field, x, x);
    if (!field_equal(field, x, field->one))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;
    char *text = calloc(size + 1, 1), *rest = NULL;

    if (!text)
        abort();
    memcpy(text, data, size);
    params.modulus = strtok_r(text, "\n", &rest);
    params.generator = strtok_r(NULL, "\n", &rest);
    params.root = strtok_r(NULL, "\n", &rest);
    if (!pool_field_create(&params, &field))
        check(field);
    pool_field_destroy(&field);
    free(text);
    return 0;
}
