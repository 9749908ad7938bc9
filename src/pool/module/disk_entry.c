/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a cache entry: a header of fixed size, the image, and a SHA-256 over both. All
 * numbers are little endian.
 *
 *   0  magic "DPOOLK02"         8 form (u32: 1 PTX, 2 machine code)    12 compute capability (u32)
 *  16  Unix time (u64)         24 payload bytes (u64)                  32 key (32 bytes)
 *  64  name (64 bytes, zero padded)   128 digest of NVRTC (32 bytes)  160 its version (u64)
 * 168  payload   end-32 digest
 */
#include "pool/module/disk.h"

#include <string.h>

#include "base/alloc.h"
#include "base/math.h"

#define HEADER_BYTES 168u
#define DIGEST_BYTES BASE_SHA256_BYTES

static const char magic[8] = {'D', 'P', 'O', 'O', 'L', 'K', '0', '2'};

int disk_encode(const struct module_key *key, const struct disk_header *header,
    const struct module_image *image, uint8_t **bytes, size_t *size)
{
    size_t body = HEADER_BYTES + image->size;
    uint8_t *made = base_calloc(body + DIGEST_BYTES, 1);

    if (!made)
        return -1;
    memcpy(made, magic, sizeof(magic));
    base_put_number(made + 8, image->form, 4);
    base_put_number(made + 12, (uint64_t)header->compute_capability, 4);
    base_put_number(made + 16, header->created_unix_time, 8);
    base_put_number(made + 24, image->size, 8);
    memcpy(made + 32, key->bytes, sizeof(key->bytes));
    memcpy(made + 64, header->name, strnlen(header->name, 63));
    memcpy(made + 128, header->maker.digest, sizeof(header->maker.digest));
    base_put_number(made + 160, (uint64_t)header->maker.version, 8);
    memcpy(made + HEADER_BYTES, image->bytes, image->size);
    if (base_sha256_of(made, body, made + body)) {
        base_free(made);
        return -1;
    }
    *bytes = made;
    *size = body + DIGEST_BYTES;
    return 0;
}

static int header_is_right(const uint8_t *bytes, size_t size, const struct module_key *key)
{
    uint64_t form;

    if (size < HEADER_BYTES + DIGEST_BYTES || memcmp(bytes, magic, sizeof(magic)) != 0)
        return 0;
    form = base_get_number(bytes + 8, 4);
    if (form != MODULE_PTX && form != MODULE_CUBIN)
        return 0;
    if (base_get_number(bytes + 24, 8) != size - HEADER_BYTES - DIGEST_BYTES || bytes[127] ||
        base_get_number(bytes + 160, 8) > INT32_MAX)
        return 0;
    return !key || memcmp(bytes + 32, key->bytes, sizeof(key->bytes)) == 0;
}

enum disk_result disk_decode(const uint8_t *bytes, size_t size, const struct module_key *key,
    struct disk_header *header, struct module_image **image)
{
    uint8_t digest[DIGEST_BYTES];
    struct module_image *made;
    size_t payload;

    if (!header_is_right(bytes, size, key))
        return DISK_BAD;
    if (base_sha256_of(bytes, size - DIGEST_BYTES, digest))
        return DISK_UNREADABLE;
    if (memcmp(digest, bytes + size - DIGEST_BYTES, DIGEST_BYTES) != 0)
        return DISK_BAD;
    payload = size - HEADER_BYTES - DIGEST_BYTES;
    made = module_image_new((enum module_form)base_get_number(bytes + 8, 4), payload);
    if (!made)
        return DISK_UNREADABLE;
    memcpy(made->bytes, bytes + HEADER_BYTES, payload);
    if (header) {
        memcpy(header->name, bytes + 64, sizeof(header->name));
        header->compute_capability = (int)base_get_number(bytes + 12, 4);
        header->created_unix_time = base_get_number(bytes + 16, 8);
        memcpy(header->maker.digest, bytes + 128, sizeof(header->maker.digest));
        header->maker.version = (int)base_get_number(bytes + 160, 8);
    }
    *image = made;
    return DISK_GOOD;
}
