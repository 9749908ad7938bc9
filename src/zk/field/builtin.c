/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in fields of params.def, all derived on the first request.
 */
#include <string.h>

#include "base/lock.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/field/field.h"
#include "zk/field/integer.h"

struct entry {
    const char *name;
    const char *modulus;
    const char *generator;
};

#define FIELD(name, modulus, generator) {#name, modulus, generator},
#define FIELD_ALIAS(name, field)
#define FIELD_EXTENSION(name, base, degree, nonresidue)
#define FIELD_CONVENTION(field, convention, generator)
static const struct entry entries[] = {
#include "zk/field/params.def"
};
#undef FIELD
#undef FIELD_ALIAS
#undef FIELD_EXTENSION
#undef FIELD_CONVENTION

struct pair {
    const char *name;
    const char *field;
    const char *generator;
};

#define FIELD(name, modulus, generator)
#define FIELD_ALIAS(name, field) {#name, #field, NULL},
#define FIELD_EXTENSION(name, base, degree, nonresidue)
#define FIELD_CONVENTION(field, convention, generator)
static const struct pair aliases[] = {
#include "zk/field/params.def"
};
#undef FIELD_ALIAS
#undef FIELD_CONVENTION

#define FIELD_ALIAS(name, field)
#define FIELD_CONVENTION(field, convention, generator) {convention, #field, generator},
static const struct pair conventions[] = {
#include "zk/field/params.def"
};
#undef FIELD_ALIAS
#undef FIELD_EXTENSION
#undef FIELD_CONVENTION

struct extension {
    const char *name;
    const char *base;
    uint32_t degree;
    uint32_t nonresidue;
};

#define FIELD_ALIAS(name, field)
#define FIELD_EXTENSION(name, base, degree, nonresidue) {#name, #base, degree, nonresidue},
#define FIELD_CONVENTION(field, convention, generator)
static const struct extension extensions[] = {
#include "zk/field/params.def"
};
#undef FIELD
#undef FIELD_ALIAS
#undef FIELD_EXTENSION
#undef FIELD_CONVENTION

enum {
    ENTRY_COUNT = sizeof(entries) / sizeof(entries[0]),
    ALIAS_COUNT = sizeof(aliases) / sizeof(aliases[0]),
    EXTENSION_COUNT = sizeof(extensions) / sizeof(extensions[0]),
    CONVENTION_COUNT = sizeof(conventions) / sizeof(conventions[0]),
};

static struct base_once derived = {.lock = BASE_LOCK_INIT};
static struct base_once extended = {.lock = BASE_LOCK_INIT};
static pool_field fields[ENTRY_COUNT];               /* written until `derived` */
static pool_field extension_fields[EXTENSION_COUNT]; /* written until `extended` */

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

static pool_status derive_extensions(void)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < EXTENSION_COUNT && !status; i++) {
        const struct extension *entry = &extensions[i];
        const pool_field *base = pool_field_by_name(entry->base);

        status = base ? field_binomial_derive(&extension_fields[i], entry->name, base,
                            entry->degree, entry->nonresidue)
                      : base_fail(POOL_ERR_INTERNAL, "the field %s has no base", entry->name);
        extension_fields[i].flags |= FIELD_BUILT_IN;
    }
    return status;
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
    for (size_t i = 0; i < EXTENSION_COUNT; i++) {
        if (!strcmp(extensions[i].name, name))
            return base_make_once(&extended, derive_extensions) ? NULL : &extension_fields[i];
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
