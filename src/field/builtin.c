/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in fields of params.def, all derived on the first request.
 */
#include <string.h>

#include "base/lock.h"
#include "base/params.h"
#include "base/status.h"
#include "field/field.h"
#include "field/integer.h"

struct entry {
    const char *name;
    const char *modulus;
    const char *generator;
};

#define FIELD(name, modulus, generator) {#name, modulus, generator},
#define FIELD_ALIAS(name, field)
#define FIELD_CONVENTION(field, convention, generator)
static const struct entry entries[] = {
#include "field/params.def"
};
#undef FIELD
#undef FIELD_ALIAS
#undef FIELD_CONVENTION

struct pair {
    const char *name;
    const char *field;
    const char *generator;
};

#define FIELD(name, modulus, generator)
#define FIELD_ALIAS(name, field) {#name, #field, NULL},
#define FIELD_CONVENTION(field, convention, generator)
static const struct pair aliases[] = {
#include "field/params.def"
};
#undef FIELD_ALIAS
#undef FIELD_CONVENTION

#define FIELD_ALIAS(name, field)
#define FIELD_CONVENTION(field, convention, generator) {convention, #field, generator},
static const struct pair conventions[] = {
#include "field/params.def"
};
#undef FIELD
#undef FIELD_ALIAS
#undef FIELD_CONVENTION

enum {
    ENTRY_COUNT = sizeof(entries) / sizeof(entries[0]),
    ALIAS_COUNT = sizeof(aliases) / sizeof(aliases[0]),
    CONVENTION_COUNT = sizeof(conventions) / sizeof(conventions[0]),
};

static struct base_once derived = {.lock = BASE_LOCK_INIT};
static pool_field fields[ENTRY_COUNT]; /* written until `derived` */

static pool_status derive_entry(pool_field *field, const struct entry *entry)
{
    struct field_definition definition = {.name = entry->name, .has_generator = true};
    pool_status status;

    if (field_integer_parse(definition.modulus, FIELD_MAX_LIMBS, entry->modulus) ||
        field_integer_parse(definition.generator, FIELD_MAX_LIMBS, entry->generator))
        return base_fail(POOL_ERR_INTERNAL, "the built-in field %s is misspelt", entry->name);
    status = field_derive(field, &definition);
    field->flags |= FIELD_BUILT_IN;
    return status;
}

static pool_status derive_all(void)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < ENTRY_COUNT && !status; i++)
        status = derive_entry(&fields[i], &entries[i]);
    return status;
}

size_t pool_field_count(void)
{
    return ENTRY_COUNT;
}

const pool_field *pool_field_at(size_t index)
{
    if (index >= ENTRY_COUNT || base_make_once(&derived, derive_all))
        return NULL;
    return &fields[index];
}

const pool_field *pool_field_by_name(const char *name)
{
    if (!name) {
        base_fail_null("pool_field_by_name", "name");
        return NULL;
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (!strcmp(entries[i].name, name))
            return pool_field_at(i);
    }
    for (size_t i = 0; i < ALIAS_COUNT; i++) {
        if (!strcmp(aliases[i].name, name))
            return pool_field_by_name(aliases[i].field);
    }
    base_fail(POOL_ERR_NOT_FOUND, "there is no built-in field \"%.80s\"", name);
    return NULL;
}

const char *field_convention_generator(const pool_field *field, const char *convention)
{
    if (!(field->flags & FIELD_BUILT_IN))
        return NULL;
    for (size_t i = 0; i < CONVENTION_COUNT; i++) {
        if (!strcmp(conventions[i].name, convention) && !strcmp(conventions[i].field, field->name))
            return conventions[i].generator;
    }
    return NULL;
}
