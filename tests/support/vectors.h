/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests with vectors: files below tests/vectors, JSON, hexadecimal text.
 */
#ifndef TESTS_SUPPORT_VECTORS_H
#define TESTS_SUPPORT_VECTORS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* The whole file with a zero behind it; ends the program when it is not there. */
static inline char *read_vector_file(const char *name)
{
    char path[1024];
    FILE *file;
    long size;
    char *text;

    snprintf(path, sizeof(path), "%s/%s", TEST_VECTORS, name);
    file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) {
        perror(path);
        abort();
    }
    rewind(file);
    text = calloc((size_t)size + 1, 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
        abort();
    fclose(file);
    return text;
}

static inline cJSON *read_vectors(const char *name)
{
    char *text = read_vector_file(name);
    cJSON *json = cJSON_Parse(text);

    free(text);
    if (!json)
        abort();
    return json;
}

static inline const char *json_text(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

    if (!text) {
        fprintf(stderr, "no text \"%s\"\n", key);
        abort();
    }
    return text;
}

/* Bytes of hexadecimal digits without 0x; the caller frees. An odd last digit counts as half a byte
 * lost. */
static inline uint8_t *hex_bytes(const char *hex, size_t *size)
{
    uint8_t *bytes = calloc(strlen(hex) / 2 + 1, 1);

    if (!bytes)
        abort();
    *size = strlen(hex) / 2;
    for (size_t i = 0; i < *size; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};

        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return bytes;
}

#endif
