/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of extension fields, folds and evaluations: the answers of
 * tests/kat/extension_fields.py.
 */
#ifndef TESTS_SUPPORT_STARK_H
#define TESTS_SUPPORT_STARK_H

#include "zk/field/field.h"
#include "support/vectors.h"

struct stark_case {
    const cJSON *json;
    const pool_field *field, *base;
    size_t bytes; /* of an element */
};

/* Case i; false past the last. The file stays in memory. */
static inline bool stark_case(struct stark_case *one, int i)
{
    static cJSON *file;

    if (!file)
        file = read_vectors("generated/extension_fields.json");
    one->json = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(file, "cases"), i);
    if (!one->json)
        return false;
    one->field = pool_field_by_name(json_text(one->json, "field"));
    one->base = pool_field_base(one->field);
    one->bytes = pool_field_element_bytes(one->field);
    return true;
}

/* Packed elements of a field's base, in decimal with spaces between them. */
static inline size_t stark_store(const struct stark_case *one, const char *text, unsigned char *to)
{
    size_t count = 0;
    char *end;

    for (; *text; text = *end ? end + 1 : end, count++) {
        const uint64_t number = strtoull(text, &end, 10);

        memcpy(to + count * one->base->bytes, &number, one->base->bytes);
    }
    return count;
}

/* A text, or an array of them, as packed elements in standard form; the caller frees. */
static inline unsigned char *stark_numbers(const struct stark_case *one, const cJSON *value)
{
    unsigned char *packed = calloc(1 << 12, one->bytes), *to = packed;
    const cJSON *item;

    if (cJSON_IsString(value)) {
        stark_store(one, value->valuestring, to);
        return packed;
    }
    cJSON_ArrayForEach(item, value)
    {
        const cJSON *inner;

        if (cJSON_IsString(item))
            to += one->base->bytes * stark_store(one, item->valuestring, to);
        else
            cJSON_ArrayForEach(inner, item) to +=
                one->base->bytes * stark_store(one, inner->valuestring, to);
    }
    return packed;
}

static inline unsigned char *stark_elements(
    const struct stark_case *one, const cJSON *object, const char *name)
{
    return stark_numbers(one, cJSON_GetObjectItemCaseSensitive(object, name));
}

#endif
