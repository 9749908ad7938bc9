/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file of tuned numbers: an accepted one has valid numbers, which are encoded to the
 * same bytes. A file is also tried with the correct length and digest, which the fuzzer cannot
 * guess.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "pool/tuning/tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t size)
{
    struct tuning_reason reason;
    struct tuning_key key;
    struct tuning tuning;
    char *again = NULL;
    size_t again_size = 0;

    if (tuning_decode(text, size, &key, &tuning, &reason))
        return;
    if (!tuning_is_valid(&tuning) || tuning_encode(&key, &tuning, &again, &again_size))
        abort();
    /* A file may name a default; then the text that is written is shorter. */
    if (again_size > size || (again_size == size && memcmp(again, text, size) != 0))
        abort();
    base_free(again);
}

/* The lines before the digest with their length, behind the first line, and their digest. */
static void check_mended(const uint8_t *data, size_t size)
{
    static const char length[] = "bytes ", digest_line[] = "sha256 ";
    const size_t end = 7 + 2 * BASE_SHA256_BYTES + 1;
    char *text = malloc(size + end + 1);
    uint8_t digest[BASE_SHA256_BYTES];
    char *at;

    if (!text)
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    at = strstr(text, length);
    if (at && strlen(at) > sizeof(length) + 8) {
        char number[24];

        snprintf(number, sizeof(number), "%08zu", size + end);
        memcpy(at + sizeof(length) - 1, number, 8);
    }
    if (!base_sha256_of(text, size, digest)) {
        memcpy(text + size, digest_line, sizeof(digest_line));
        for (int i = 0; i < BASE_SHA256_BYTES; i++)
            snprintf(text + size + 7 + 2 * i, 3, "%02x", digest[i]);
        text[size + end - 1] = '\n';
        check(text, size + end);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check((const char *)data, size);
    check_mended(data, size);
    return 0;
}
