/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in curves of params.def, all derived on the first request.
 */
#include <string.h>

#include "base/lock.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/curve/curve.h"

struct entry {
    const char *name;
    const char *field;
    const char *scalar_field;
    int32_t nonresidue;
    const char *a[2];
    const char *b[2];
    const char *generator_x[2];
    const char *generator_y[2];
    const char *cofactor;
};

#define COORDINATE(...)                                                                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define CURVE(name, field, scalar_field, nonresidue, a, b, x, y, cofactor)                         \
    {#name, #field, #scalar_field, nonresidue, a, b, x, y, cofactor},
static const struct entry entries[] = {
#include "zk/curve/params.def"
};
#undef COORDINATE
#undef CURVE

enum { ENTRY_COUNT = sizeof(entries) / sizeof(entries[0]) };

static struct base_once derived = {.lock = BASE_LOCK_INIT};
static pool_curve curves[ENTRY_COUNT]; /* written until `derived` */

static pool_status derive_entry(pool_curve *curve, const struct entry *entry)
{
    const pool_field *scalar_field = pool_field_by_name(entry->scalar_field);
    pool_curve_params params = {.struct_size = sizeof(params)};
    pool_status status;

    params.field = pool_field_by_name(entry->field);
    if (!params.field || !scalar_field)
        return pool_last_error()->status;
    params.name = entry->name;
    params.nonresidue = entry->nonresidue;
    memcpy(params.a, entry->a, sizeof(params.a));
    memcpy(params.b, entry->b, sizeof(params.b));
    memcpy(params.generator_x, entry->generator_x, sizeof(params.generator_x));
    memcpy(params.generator_y, entry->generator_y, sizeof(params.generator_y));
    params.cofactor = entry->cofactor;
    status = curve_derive(curve, &params, scalar_field, false);
    curve->built_in = true;
    return status;
}

static pool_status derive_all(void)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < ENTRY_COUNT && !status; i++)
        status = derive_entry(&curves[i], &entries[i]);
    return status;
}

size_t pool_curve_count(void)
{
    return ENTRY_COUNT;
}

const pool_curve *pool_curve_at(size_t index)
{
    if (index >= ENTRY_COUNT || base_make_once(&derived, derive_all))
        return NULL;
    return &curves[index];
}

const pool_curve *pool_curve_by_name(const char *name)
{
    if (!name) {
        base_fail_null("pool_curve_by_name", "name");
        return NULL;
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (!strcmp(entries[i].name, name))
            return pool_curve_at(i);
    }
    base_fail(POOL_ERR_NOT_FOUND, "there is no built-in curve \"%.80s\"", name);
    return NULL;
}
