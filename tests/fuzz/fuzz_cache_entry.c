/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a cache entry, none of which disk_decode trusts: an accepted entry must be encoded to
 * exactly the same bytes. An entry is also tried with the correct digest, which the fuzzer cannot
 * guess, and then with the payload size that matches its size.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "pool/module/disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* See src/pool/module/disk_entry.c. */
enum { PAYLOAD_AT = 24, HEADER_BYTES = 168 };

static void check(const uint8_t *bytes, size_t size)
{
    struct disk_header facts = {.name = ""};
    struct module_image *image = NULL;
    struct module_key key;
    uint8_t *again = NULL;
    size_t again_size = 0;

    if (disk_decode(bytes, size, NULL, &facts, &image) != DISK_GOOD)
        return;
    memcpy(key.bytes, bytes + 32, sizeof(key.bytes));
    if (disk_encode(&key, &facts, image, &again, &again_size) || again_size != size)
        abort();
    /* Bytes after the end of the name are not preserved. */
    if (memcmp(again, bytes, 64) != 0 || memcmp(again + 128, bytes + 128, size - 128 - 32) != 0)
        abort();
    base_free(again);
    module_image_release(image);
}

static void check_with_digest(uint8_t *bytes, size_t size)
{
    if (!base_sha256_of(bytes, size - BASE_SHA256_BYTES, bytes + size - BASE_SHA256_BYTES))
        check(bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended;

    check(data, size);
    if (size < BASE_SHA256_BYTES)
        return 0;
    mended = malloc(size);
    if (!mended)
        return 0;
    memcpy(mended, data, size);
    check_with_digest(mended, size);
    if (size >= HEADER_BYTES + BASE_SHA256_BYTES) {
        for (int i = 0; i < 8; i++)
            mended[PAYLOAD_AT + i] =
                (uint8_t)((uint64_t)(size - HEADER_BYTES - BASE_SHA256_BYTES) >> 8 * i);
        check_with_digest(mended, size);
    }
    free(mended);
    return 0;
}
