/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading packs. All numbers are little endian.
 *
 *   0  magic "DPOOLP01"        8 entries (u32)             12 compute capability (u32)
 *  16  bytes of the file (u64)
 *  24  NVRTC's version (u64)  32 its digest (32 bytes)
 *  64  digest of the library's build (32 bytes)
 *  96  version of the library (32 bytes, zero padded)
 * 128  SHA-256 over the bytes before it and the index
 * 160  index, a row per entry in ascending order of the keys: key (32 bytes), packed bytes (u64),
 *      bytes (u64), base (u64): 1 + the index of an entry without a base, or 0
 *
 * Then the entries in this order without gaps, each a frame of zstd whose dictionary is its base.
 */
#include "pool/module/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include <devicepool/version.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/math.h"
#include "base/status.h"
#include "pool/module/sources.h"

enum { COUNT_AT = 8, CHIP_AT = 12, BYTES_AT = 16, MAKER_AT = 24, MAKER_DIGEST_AT = 32 };
enum { BUILD_AT = 64, VERSION_AT = 96, DIGEST_AT = 128 };
static const char magic[8] = {'D', 'P', 'O', 'O', 'L', 'P', '0', '1'};

struct pack_name pack_name_of(int compute_capability)
{
    struct pack_name name;

    snprintf(name.text, sizeof(name.text), PACK_NAME, compute_capability);
    return name;
}

pool_status pack_build_digest(uint8_t digest[BASE_SHA256_BYTES])
{
    struct base_sha256 *sha = base_sha256_begin();

    if (!sha)
        return base_fail_memory("the digest of the device sources");
    base_sha256_add(sha, pool_version_text(), strlen(pool_version_text()) + 1);
    for (size_t i = 0; i < module_sources_count; i++) {
        base_sha256_add(sha, module_sources[i].name, strlen(module_sources[i].name) + 1);
        base_sha256_add(sha, module_sources[i].text, strlen(module_sources[i].text) + 1);
    }
    return base_sha256_end(sha, digest);
}

/* ---- decoding -------------------------------------------------------------------------------- */

uint64_t pack_index_bytes(const uint8_t header[PACK_HEADER_BYTES], uint64_t bytes)
{
    const uint64_t count = base_get_number(header + COUNT_AT, 4);
    const uint64_t size = PACK_HEADER_BYTES + count * PACK_ROW_BYTES;

    if (memcmp(header, magic, sizeof(magic)) != 0 || count > PACK_MAX_ENTRIES || size > bytes ||
        base_get_number(header + BYTES_AT, 8) != bytes ||
        base_get_number(header + CHIP_AT, 4) > 999 ||
        base_get_number(header + MAKER_AT, 8) > INT_MAX || header[VERSION_AT + 31])
        return 0;
    return size;
}

/* Whether the digest of header and index is right: UNREADABLE when out of memory. */
static enum disk_result check_digest(const uint8_t *head, size_t size)
{
    uint8_t digest[BASE_SHA256_BYTES];
    struct base_sha256 *sha = base_sha256_begin();

    if (!sha)
        return DISK_UNREADABLE;
    base_sha256_add(sha, head, DIGEST_AT);
    base_sha256_add(sha, head + PACK_HEADER_BYTES, size - PACK_HEADER_BYTES);
    if (base_sha256_end(sha, digest))
        return DISK_UNREADABLE;
    return memcmp(digest, head + DIGEST_AT, sizeof(digest)) == 0 ? DISK_GOOD : DISK_BAD;
}

/* A base has no base itself, so that no entry needs more than two frames. */
static bool are_bases_right(const struct pack *pack)
{
    for (size_t i = 0; i < pack->count; i++) {
        const uint64_t base = pack->entries[i].base;

        if (base && (base > pack->count || pack->entries[base - 1].base))
            return false;
    }
    return true;
}

/* The entries fill the rest of the file exactly, and their keys ascend. */
static bool decode_rows(const uint8_t *row, uint64_t offset, struct pack *pack)
{
    for (size_t i = 0; i < pack->count; i++, row += PACK_ROW_BYTES) {
        struct pack_entry *entry = &pack->entries[i];

        memcpy(entry->key.bytes, row, sizeof(entry->key.bytes));
        entry->packed = base_get_number(row + 32, 8);
        entry->size = base_get_number(row + 40, 8);
        entry->base = base_get_number(row + 48, 8);
        entry->offset = offset;
        if (!entry->packed || entry->packed > pack->bytes - offset ||
            entry->size > DISK_MAX_ENTRY ||
            entry->packed > ZSTD_compressBound((size_t)entry->size) ||
            (i && memcmp(entry[-1].key.bytes, entry->key.bytes, sizeof(entry->key.bytes)) >= 0))
            return false;
        offset += entry->packed;
    }
    return offset == pack->bytes && are_bases_right(pack);
}

enum disk_result pack_decode(const uint8_t *head, size_t size, uint64_t bytes, struct pack *pack)
{
    enum disk_result result;

    if (size < PACK_HEADER_BYTES || !pack_index_bytes(head, bytes) ||
        pack_index_bytes(head, bytes) != size)
        return DISK_BAD;
    result = check_digest(head, size);
    if (result != DISK_GOOD)
        return result;
    *pack = (struct pack){.file = -1,
        .compute_capability = (int)base_get_number(head + CHIP_AT, 4),
        .maker.version = (int)base_get_number(head + MAKER_AT, 8),
        .bytes = bytes,
        .count = (size_t)base_get_number(head + COUNT_AT, 4)};
    memcpy(pack->maker.digest, head + MAKER_DIGEST_AT, sizeof(pack->maker.digest));
    memcpy(pack->build, head + BUILD_AT, sizeof(pack->build));
    memcpy(pack->version, head + VERSION_AT, sizeof(pack->version));
    pack->entries = base_calloc(pack->count ? pack->count : 1, sizeof(*pack->entries));
    if (!pack->entries)
        return DISK_UNREADABLE;
    if (decode_rows(head + PACK_HEADER_BYTES, size, pack))
        return DISK_GOOD;
    pack_close(pack);
    return DISK_BAD;
}

enum disk_result pack_inflate(const uint8_t *packed, const struct pack_entry *entry,
    const uint8_t *base, size_t base_size, uint8_t **bytes)
{
    ZSTD_DCtx *context;
    uint8_t *made;
    size_t size;

    /* Before memory is allocated for as many as the index claims. */
    if (ZSTD_getFrameContentSize(packed, (size_t)entry->packed) != entry->size)
        return DISK_BAD;
    made = base_calloc((size_t)entry->size + 1, 1);
    context = made ? ZSTD_createDCtx() : NULL;
    if (!context) {
        base_free(made);
        return DISK_UNREADABLE;
    }
    size = ZSTD_decompress_usingDict(context, made, (size_t)entry->size, packed,
        (size_t)entry->packed, base, base ? base_size : 0);
    ZSTD_freeDCtx(context);
    if (size == entry->size) {
        *bytes = made;
        return DISK_GOOD;
    }
    base_free(made);
    return DISK_BAD;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Root installs packs; this user's own are as good. */
static bool is_safe(const struct stat *about, char *reason, size_t size)
{
    if (!S_ISREG(about->st_mode))
        snprintf(reason, size, "it is not a regular file");
    else if (about->st_uid != geteuid() && about->st_uid != 0)
        snprintf(reason, size, "it is owned by user %u", (unsigned)about->st_uid);
    else if (about->st_mode & (S_IWGRP | S_IWOTH))
        snprintf(reason, size, "other users can write it (mode %03o)",
            (unsigned)(about->st_mode & 0777));
    else
        return true;
    return false;
}

static enum disk_result read_head(int file, uint64_t bytes, struct pack *pack)
{
    uint8_t header[PACK_HEADER_BYTES], *head;
    enum disk_result result = DISK_UNREADABLE;
    size_t size;

    if (bytes < sizeof(header))
        return DISK_BAD;
    if (base_read_at(file, header, sizeof(header), 0))
        return DISK_UNREADABLE;
    size = (size_t)pack_index_bytes(header, bytes);
    if (!size)
        return DISK_BAD;
    head = base_calloc(size, 1);
    if (head && !base_read_at(file, head, size, 0))
        result = pack_decode(head, size, bytes, pack);
    base_free(head);
    return result;
}

/*
 * The file is read and not mapped: a process that may write it could make it shorter, and an access
 * to the pages behind its new end would end the process.
 */
enum disk_result pack_open(
    int directory, const char *name, struct pack *pack, char *reason, size_t size)
{
    int file = base_openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    enum disk_result result = DISK_UNREADABLE;
    struct stat about;

    if (file < 0) {
        snprintf(reason, size, "%s", errno == ELOOP ? "it is a symbolic link" : strerror(errno));
        return errno == ENOENT ? DISK_MISSING : DISK_UNREADABLE;
    }
    if (base_fstat(file, &about)) {
        snprintf(reason, size, "%s", strerror(errno));
    } else if (!is_safe(&about, reason, size)) {
        result = DISK_BAD;
    } else {
        result = read_head(file, (uint64_t)about.st_size, pack);
        if (result != DISK_GOOD)
            snprintf(reason, size, "%s",
                result == DISK_BAD ? "it is damaged, or not a pack of this version of the format"
                                   : "it cannot be read");
    }
    if (result == DISK_GOOD)
        pack->file = file;
    else
        base_close(file);
    return result;
}

void pack_close(struct pack *pack)
{
    base_close(pack->file);
    base_free(pack->entries);
    pack->entries = NULL;
    pack->file = -1;
}

const struct pack_entry *pack_find(const struct pack *pack, const struct module_key *key)
{
    size_t first = 0, end = pack->count;

    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        const int order = memcmp(pack->entries[middle].key.bytes, key->bytes, sizeof(key->bytes));

        if (order == 0)
            return &pack->entries[middle];
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

static enum disk_result read_entry(const struct pack *pack, const struct pack_entry *entry,
    const uint8_t *base, size_t base_size, uint8_t **bytes)
{
    enum disk_result result = DISK_UNREADABLE;
    uint8_t *packed = base_calloc((size_t)entry->packed, 1);

    if (packed && !base_read_at(pack->file, packed, (size_t)entry->packed, entry->offset))
        result = pack_inflate(packed, entry, base, base_size, bytes);
    base_free(packed);
    return result;
}

enum disk_result pack_load(const struct pack *pack, const struct pack_entry *entry,
    struct disk_header *header, struct module_image **image)
{
    const struct pack_entry *base = entry->base ? &pack->entries[entry->base - 1] : NULL;
    enum disk_result result = DISK_GOOD;
    uint8_t *base_bytes = NULL, *bytes = NULL;

    if (base)
        result = read_entry(pack, base, NULL, 0, &base_bytes);
    if (result == DISK_GOOD)
        result = read_entry(pack, entry, base_bytes, base ? (size_t)base->size : 0, &bytes);
    if (result == DISK_GOOD)
        result = disk_decode(bytes, (size_t)entry->size, &entry->key, header, image);
    base_free(base_bytes);
    base_free(bytes);
    return result;
}
