/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Params of a module with the headers of its arithmetic: see header.h.
 */
#include "zk/custom/header.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/curve/curve.h"
#include "zk/field/field.h"
#include "pool/module/module.h"
#include "zk/poseidon/poseidon.h"

enum { PREFIX_MAX = 16, FINGERPRINT_TEXT = 2 * POOL_FINGERPRINT_BYTES + 1 };

static bool is_valid_prefix(const char *prefix)
{
    size_t length = strlen(prefix);

    return length >= 1 && length <= PREFIX_MAX && prefix[0] >= 'a' && prefix[0] <= 'z' &&
           strspn(prefix, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

/* Whether the prefix of an entry is the one under which another, of an extension, has the
 * operations of its base field. */
static bool is_coordinate_prefix(
    const pool_module_arithmetic *entry, const pool_module_arithmetic *other)
{
    size_t length = other->prefix ? strlen(other->prefix) : 0;

    return other->field && other->field->base && length &&
           strncmp(entry->prefix, other->prefix, length) == 0 &&
           strcmp(entry->prefix + length, "_c") == 0;
}

static pool_status check_entry(const char *call, const pool_module_params *params, size_t index)
{
    const pool_module_arithmetic *entry = &params->arithmetic[index];
    int given = (entry->field != NULL) + (entry->curve != NULL) + (entry->poseidon != NULL);

    if (!entry->prefix)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the prefix of `arithmetic[%zu]` must not be NULL", call, index);
    if (!is_valid_prefix(entry->prefix))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported prefix \"%.40s\" of `arithmetic[%zu]`: it must be 1 to %d lower-case "
            "letters, digits and underscores, and begin with a letter",
            call, entry->prefix, index, PREFIX_MAX);
    if (given != 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `arithmetic[%zu]` (\"%s\") has %d of `field`, `curve` and `poseidon`; exactly one "
            "must be set",
            call, index, entry->prefix, given);
    for (size_t i = 0; i < params->arithmetic_count; i++)
        if (i != index && is_coordinate_prefix(entry, &params->arithmetic[i]))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: the extension of `arithmetic[%zu]` needs the prefix \"%s\" of "
                "`arithmetic[%zu]` for its coordinates",
                call, i, entry->prefix, index);
    for (size_t i = 0; i < index; i++)
        if (strcmp(params->arithmetic[i].prefix, entry->prefix) == 0)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: `arithmetic[%zu]` and `arithmetic[%zu]` have the same prefix \"%s\"", call, i,
                index, entry->prefix);
    return POOL_OK;
}

/* The names of generated headers must not be those of the caller's. */
static pool_status check_names(const char *call, const pool_module_params *params)
{
    for (size_t i = 0; i < params->header_count; i++)
        for (size_t k = 0; k < params->arithmetic_count; k++) {
            const char *name = params->headers[i].name, *prefix = params->arithmetic[k].prefix;
            size_t length = strlen(prefix);

            if (strncmp(name, prefix, length) == 0 && strcmp(name + length, ".cuh") == 0)
                return base_fail(POOL_ERR_INVALID_ARGUMENT,
                    "%s: `headers[%zu]` has the name \"%s\", which is that of the header of "
                    "`arithmetic[%zu]`",
                    call, i, name, k);
        }
    return POOL_OK;
}

/* What determines the header of an entry besides its name: the object, the field of its elements,
 * whose fingerprint is in the name of their type, and the generator. */
static char *describe_entry(const pool_module_arithmetic *entry)
{
    const char *kind = entry->field ? "field" : entry->curve ? "curve" : "Poseidon set";
    const pool_field *field = entry->field   ? entry->field
                              : entry->curve ? entry->curve->coordinates.field
                                             : entry->poseidon->field;
    const uint8_t *object = entry->field   ? entry->field->fingerprint
                            : entry->curve ? entry->curve->fingerprint
                                           : entry->poseidon->fingerprint;
    char object_text[FINGERPRINT_TEXT], field_text[FINGERPRINT_TEXT];

    for (size_t i = 0; i < POOL_FINGERPRINT_BYTES; i++) {
        snprintf(object_text + 2 * i, 3, "%02x", object[i]);
        snprintf(field_text + 2 * i, 3, "%02x", field->fingerprint[i]);
    }
    return base_format("/* %s %s, elements %s, sources %s */\n", kind, object_text, field_text,
        arithmetic_sources_digest);
}

static pool_status generate_header(const void *user, size_t index, char **text)
{
    const pool_module_arithmetic *entries = user;

    return arithmetic_generate(&entries[index], text);
}

/* Appends the headers of the entries to the caller's. */
static pool_status add_headers(struct arithmetic_expansion *expansion)
{
    pool_module_params *params = &expansion->params;

    for (size_t i = 0; i < params->arithmetic_count; i++) {
        char *name = base_format("%s.cuh", params->arithmetic[i].prefix);
        char *text = describe_entry(&params->arithmetic[i]);

        expansion->headers[params->header_count++] = (pool_module_header){name, text};
        if (!name || !text)
            return base_fail_memory("a header of the library's arithmetic");
    }
    return POOL_OK;
}

pool_status arithmetic_expand(
    const char *call, const pool_module_params *given, struct arithmetic_expansion *expansion)
{
    pool_module_params *params = &expansion->params;
    pool_status status = module_params_copy(call, given, params);

    expansion->headers = NULL;
    if (status)
        return status;
    expansion->generator =
        (struct module_generator){params->header_count, generate_header, params->arithmetic};
    status = base_check_array(call, "arithmetic", params->arithmetic_count,
        sizeof(*params->arithmetic), sizeof(*params->arithmetic));
    if (!status && params->arithmetic_count && !params->arithmetic)
        status = base_fail_null(call, "params->arithmetic");
    for (size_t i = 0; !status && i < params->arithmetic_count; i++)
        status = check_entry(call, params, i);
    if (!status)
        status = check_names(call, params);
    if (status || !params->arithmetic_count)
        return status;
    expansion->headers =
        base_calloc(params->header_count + params->arithmetic_count, sizeof(*expansion->headers));
    if (!expansion->headers)
        return base_fail_memory("the headers of a module");
    if (params->header_count)
        memcpy(expansion->headers, params->headers,
            params->header_count * sizeof(*expansion->headers));
    params->headers = expansion->headers;
    status = add_headers(expansion);
    if (status)
        arithmetic_release(expansion);
    params->arithmetic_count = 0;
    return status;
}

void arithmetic_release(struct arithmetic_expansion *expansion)
{
    if (!expansion->headers)
        return;
    for (size_t i = expansion->generator.first; i < expansion->params.header_count; i++) {
        base_free((void *)(uintptr_t)expansion->headers[i].name);
        base_free((void *)(uintptr_t)expansion->headers[i].text);
    }
    base_free(expansion->headers);
    expansion->headers = NULL;
}
