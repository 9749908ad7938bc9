/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a cache entry, as disk_decode trusts none of them: whatever is accepted must be encoded
 * to the very same bytes again. An entry whose digest the fuzzer cannot guess is tried with the
 * right one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "module/disk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *bytes, size_t size)
{
    struct disk_facts facts = {.name = ""};
    struct module_image *image = NULL;
    struct module_key key;
    uint8_t *again = NULL;
    size_t again_size = 0;

    if (disk_decode(bytes, size, NULL, &facts, &image) != DISK_GOOD)
        return;
    memcpy(key.bytes, bytes + 32, sizeof(key.bytes));
    if (disk_encode(&key, &facts, image, &again, &again_size) || again_size != size)
        abort();
    /* Of the name, what lies behind its end is not kept. */
    if (memcmp(again, bytes, 64) != 0 || memcmp(again + 128, bytes + 128, size - 160) != 0)
        abort();
    base_free(again);
    module_image_release(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *signed_bytes;

    check(data, size);
    if (size < BASE_SHA256_BYTES)
        return 0;
    signed_bytes = malloc(size);
    if (!signed_bytes)
        return 0;
    memcpy(signed_bytes, data, size);
    if (!base_sha256_of(data, size - BASE_SHA256_BYTES, signed_bytes + size - BASE_SHA256_BYTES))
        check(signed_bytes, size);
    free(signed_bytes);
    return 0;
}
