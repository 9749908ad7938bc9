/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a pack, none of which is trusted: whatever the index says, entries are within the file,
 * and an accepted one is an entry of the cache. The bytes are also tried with the digest and the
 * size that the fuzzer cannot guess.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "pool/module/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* See src/pool/module/pack.c. */
enum { BYTES_AT = 16, DIGEST_AT = 128 };

/* Each entry is decompressed from exactly its bytes, so that an access beyond them is seen. */
static uint8_t *inflate(
    const struct pack *pack, const struct pack_entry *entry, const uint8_t *data, size_t size)
{
    const struct pack_entry *base = entry->base ? &pack->entries[entry->base - 1] : NULL;
    uint8_t *base_bytes = NULL, *bytes = NULL, *packed;

    if (entry->offset > size || entry->packed > size - entry->offset || (base && base->base))
        abort();
    if (base)
        base_bytes = inflate(pack, base, data, size);
    packed = malloc((size_t)entry->packed);
    if (packed)
        memcpy(packed, data + entry->offset, (size_t)entry->packed);
    if (packed && (!base || base_bytes))
        (void)pack_inflate(packed, entry, base_bytes, base ? (size_t)base->size : 0, &bytes);
    free(packed);
    base_free(base_bytes);
    return bytes;
}

static void check_entries(const struct pack *pack, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < pack->count; i++) {
        const struct pack_entry *entry = &pack->entries[i];
        uint8_t *bytes = inflate(pack, entry, data, size);
        struct module_image *image = NULL;

        if (pack_find(pack, &entry->key) != entry)
            abort();
        if (bytes &&
            disk_decode(bytes, (size_t)entry->size, &entry->key, NULL, &image) == DISK_GOOD &&
            !image)
            abort();
        module_image_release(image);
        base_free(bytes);
    }
}

static void check(const uint8_t *data, size_t size)
{
    uint8_t *head;
    uint64_t bytes;
    struct pack pack;

    bytes = pack_index_bytes(data, size);
    if (bytes > size)
        abort();
    if (!bytes)
        return;
    head = malloc((size_t)bytes);
    if (!head)
        return;
    memcpy(head, data, (size_t)bytes);
    if (pack_decode(head, (size_t)bytes, size, &pack) == DISK_GOOD) {
        check_entries(&pack, data, size);
        pack_close(&pack);
    }
    free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct base_sha256 *digest;
    uint8_t *mended;
    uint64_t bytes;

    if (size < PACK_HEADER_BYTES)
        return 0;
    check(data, size);
    mended = malloc(size);
    if (!mended)
        return 0;
    memcpy(mended, data, size);
    for (int i = 0; i < 8; i++)
        mended[BYTES_AT + i] = (uint8_t)((uint64_t)size >> 8 * i);
    bytes = pack_index_bytes(mended, size);
    digest = bytes ? base_sha256_begin() : NULL;
    if (digest) {
        base_sha256_add(digest, mended, DIGEST_AT);
        base_sha256_add(digest, mended + PACK_HEADER_BYTES, (size_t)(bytes - PACK_HEADER_BYTES));
        if (!base_sha256_end(digest, mended + DIGEST_AT))
            check(mended, size);
    }
    free(mended);
    return 0;
}
