/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images and their keys.
 */
#include "pool/module/image.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/* Incremented when the result of compiling a request changes, which invalidates existing entries.
 */
#define KEY_FORMAT 4u

struct module_image *module_image_new(enum module_form form, size_t size)
{
    struct module_image *image;
    size_t bytes;

    if (__builtin_add_overflow(sizeof(*image) + 1, size, &bytes))
        return NULL;
    image = base_calloc(bytes, 1);
    if (!image)
        return NULL;
    atomic_init(&image->references, 1);
    image->form = form;
    image->size = size;
    return image;
}

struct module_image *module_image_retain(struct module_image *image)
{
    atomic_fetch_add_explicit(&image->references, 1, memory_order_relaxed);
    return image;
}

void module_image_release(struct module_image *image)
{
    if (image && atomic_fetch_sub_explicit(&image->references, 1, memory_order_acq_rel) == 1)
        base_free(image);
}

static void add_number(struct base_sha256 *digest, uint64_t value)
{
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    base_sha256_add(digest, bytes, sizeof(bytes));
}

/* Each string is hashed with its length, so that different lists never hash the same bytes. */
static void add_string(struct base_sha256 *digest, const char *text)
{
    add_number(digest, strlen(text));
    base_sha256_add(digest, text, strlen(text));
}

pool_status module_text_key_of(const struct module_request *request, struct module_key *key)
{
    const pool_module_params *params = request->params;
    struct base_sha256 *digest = base_sha256_begin();

    if (!digest)
        return base_fail_memory("the key of a module");
    add_string(digest, request->name);
    add_string(digest, params->source);
    add_number(digest, params->header_count);
    for (size_t i = 0; i < params->header_count; i++) {
        if (request->generator && i >= request->generator->first)
            add_number(digest, UINT64_MAX); /* no length: a given header cannot hash the same */
        add_string(digest, params->headers[i].name);
        add_string(digest, params->headers[i].text);
    }
    add_number(digest, params->define_count);
    for (size_t i = 0; i < params->define_count; i++)
        add_string(digest, params->defines[i]);
    if (params->name_count) /* without names the digest is that of prebuilt PTX */
        add_number(digest, params->name_count);
    for (size_t i = 0; i < params->name_count; i++)
        add_string(digest, params->names[i]);
    /* In their order: of repeated options the last one counts. */
    add_number(digest, params->option_count);
    for (size_t i = 0; i < params->option_count; i++)
        add_string(digest, params->options[i]);
    return base_sha256_end(digest, key->bytes);
}

pool_status module_key_of(const struct module_request *request, const struct module_maker *maker,
    const struct module_key *files, struct module_key *key)
{
    struct module_key strings;
    struct base_sha256 *digest;
    pool_status status = module_text_key_of(request, &strings);

    if (status)
        return status;
    digest = base_sha256_begin();
    if (!digest)
        return base_fail_memory("the key of a module");
    add_number(digest, KEY_FORMAT);
    add_string(digest, pool_version_text());
    base_sha256_add(digest, maker->digest, sizeof(maker->digest));
    add_number(digest, (uint64_t)request->compute_capability);
    add_number(digest, (uint64_t)request->ptx_only);
    base_sha256_add(digest, strings.bytes, sizeof(strings.bytes));
    base_sha256_add(digest, files->bytes, sizeof(files->bytes));
    return base_sha256_end(digest, key->bytes);
}

void module_key_text(const struct module_key *key, char text[2 * BASE_SHA256_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < BASE_SHA256_BYTES; i++) {
        text[2 * i] = digits[key->bytes[i] >> 4];
        text[2 * i + 1] = digits[key->bytes[i] & 15];
    }
    text[2 * BASE_SHA256_BYTES] = '\0';
}

void module_key_parse(const char *text, struct module_key *key)
{
    for (size_t i = 0; i < BASE_SHA256_BYTES; i++) {
        unsigned value = 0;

        sscanf(text + 2 * i, "%2x", &value);
        key->bytes[i] = (uint8_t)value;
    }
}
