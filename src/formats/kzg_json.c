/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trusted_setup_4096.json of the consensus specifications: an object with the arrays g1_lagrange,
 * g1_monomial and g2_monomial of texts; any of them may be missing, others are passed over.
 */
#include <inttypes.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/status.h"
#include "formats/formats.h"

static const char *const keys[FORMATS_GROUPS] = {"g1_lagrange", "g1_monomial", "g2_monomial"};

static pool_status wrong(const pool_file *file, const char *key, const char *what)
{
    return base_fail(POOL_ERR_BAD_DATA, "%s: %s %s", file->path, key, what);
}

/* The only array of that name, or NULL in *array when there is none. */
static pool_status find_array(
    const pool_file *file, const cJSON *setup, const char *key, const cJSON **array)
{
    const cJSON *item;

    *array = NULL;
    cJSON_ArrayForEach(item, setup)
    {
        if (strcmp(item->string, key))
            continue;
        if (*array)
            return wrong(file, key, "comes a second time");
        if (!cJSON_IsArray(item) || !item->child)
            return wrong(file, key, "is no array with points in it");
        *array = item;
    }
    return POOL_OK;
}

static pool_status read_points(const pool_file *file, const struct formats_setup *setup,
    enum formats_group group, const cJSON *array)
{
    const cJSON *item;
    uint64_t index = 0;

    cJSON_ArrayForEach(item, array)
    {
        const char *text = cJSON_GetStringValue(item);
        const char *what = "is no text";

        if (text)
            what = formats_setup_decode(setup, group, index, text, strlen(text));
        if (what)
            return base_fail(
                POOL_ERR_BAD_DATA, "%s: %s[%" PRIu64 "] %s", file->path, keys[group], index, what);
        index++;
    }
    return POOL_OK;
}

static pool_status read_setup(pool_file *file, const cJSON *json)
{
    const cJSON *arrays[FORMATS_GROUPS] = {NULL};
    struct formats_setup setup = {0};
    pool_status status = POOL_OK;

    for (size_t group = 0; group < FORMATS_GROUPS && !status; group++) {
        status = find_array(file, json, keys[group], &arrays[group]);
        if (arrays[group])
            setup.count[group] = (uint64_t)cJSON_GetArraySize(arrays[group]);
    }
    if (!status && !arrays[0] && !arrays[1] && !arrays[2])
        status = wrong(file, "g1_lagrange, g1_monomial and g2_monomial",
            "are all missing: it is no KZG setup");
    if (!status)
        status = formats_setup_alloc(file, &setup);
    for (size_t group = 0; group < FORMATS_GROUPS && !status; group++)
        status = read_points(file, &setup, (enum formats_group)group, arrays[group]);
    return status;
}

pool_status formats_read_kzg_json(pool_file *file, const char *text)
{
    const char *end = text;
    cJSON *json = cJSON_ParseWithLengthOpts(text, (size_t)file->size + 1, &end, 1);
    pool_status status;

    if (!json)
        return formats_wrong(file, (uint64_t)(end - text), "the text is no JSON from here on");
    status = read_setup(file, json);
    cJSON_Delete(json);
    return status;
}
