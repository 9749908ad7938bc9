/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing packs: see pack.c for the format.
 */
#include "pool/module/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <devicepool/version.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/math.h"
#include "base/new_file.h"
#include "base/status.h"

/* Of zstd: files are made once, and it is decompressed as fast as at any other level. */
#define LEVEL 19

pool_status pack_encode(const struct module_key *key, const struct disk_header *header,
    const struct module_image *image, struct pack_row *row)
{
    size_t size = 0;

    *row = (struct pack_row){.entry.key = *key};
    if (disk_encode(key, header, image, &row->bytes, &size))
        return base_fail_memory("an entry of a pack");
    row->entry.size = size;
    return POOL_OK;
}

pool_status pack_compress(struct pack_row *row, const struct pack_row *base)
{
    const size_t size = (size_t)row->entry.size, room = ZSTD_compressBound(size);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t packed = 0;

    row->packed = base_calloc(room, 1);
    if (context && row->packed)
        packed = ZSTD_compress_usingDict(context, row->packed, room, row->bytes, size,
            base ? base->bytes : NULL, base ? (size_t)base->entry.size : 0, LEVEL);
    ZSTD_freeCCtx(context);
    if (!packed || ZSTD_isError(packed))
        return base_fail_memory("compressing an entry of a pack");
    row->entry.packed = packed;
    row->entry.base = base != NULL;
    if (base)
        row->base = base->entry.key;
    return POOL_OK;
}

void pack_row_free(struct pack_row *row)
{
    base_free(row->bytes);
    base_free(row->packed);
    row->bytes = row->packed = NULL;
}

pool_status pack_add(struct pack_builder *builder, struct pack_row *row)
{
    if (builder->count == builder->capacity) {
        const size_t capacity = builder->capacity ? 2 * builder->capacity : 64;
        struct pack_row *larger = base_realloc(builder->rows, capacity, sizeof(*larger));

        if (!larger) {
            pack_row_free(row);
            return base_fail_memory("the index of a pack");
        }
        builder->rows = larger;
        builder->capacity = capacity;
    }
    base_free(row->bytes);
    row->bytes = NULL;
    builder->rows[builder->count++] = *row;
    return POOL_OK;
}

static int compare_keys(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct module_key));
}

/* Sorts by key, which is the first member of a row, and numbers the bases. */
static pool_status sort_rows(const char *path, struct pack_builder *builder)
{
    if (builder->count > PACK_MAX_ENTRIES)
        return base_fail(POOL_ERR_UNSUPPORTED, "%s would have %zu entries; the maximum is %d", path,
            builder->count, (int)PACK_MAX_ENTRIES);
    if (builder->count)
        qsort(builder->rows, builder->count, sizeof(*builder->rows), compare_keys);
    for (size_t i = 0; i < builder->count; i++) {
        const struct pack_row *base = NULL;

        if (i && compare_keys(&builder->rows[i - 1], &builder->rows[i]) == 0)
            return base_fail(POOL_ERR_INTERNAL, "%s would have an entry twice", path);
        if (!builder->rows[i].entry.base)
            continue;
        base = bsearch(&builder->rows[i].base, builder->rows, builder->count,
            sizeof(*builder->rows), compare_keys);
        if (!base)
            return base_fail(POOL_ERR_INTERNAL, "%s lacks an entry that another one needs", path);
        builder->rows[i].entry.base = 1 + (uint64_t)(base - builder->rows);
    }
    return POOL_OK;
}

/* Header and index in one block, which the caller frees. */
static pool_status encode_head(
    const struct pack_builder *builder, uint8_t **head, size_t *size, uint64_t *bytes)
{
    uint8_t *made, *row;
    struct base_sha256 *sha;
    pool_status status;

    *size = PACK_HEADER_BYTES + builder->count * PACK_ROW_BYTES;
    *bytes = *size;
    made = base_calloc(*size, 1);
    if (!made)
        return base_fail_memory("the index of a pack");
    row = made + PACK_HEADER_BYTES;
    for (size_t i = 0; i < builder->count; i++, row += PACK_ROW_BYTES) {
        const struct pack_entry *entry = &builder->rows[i].entry;

        memcpy(row, entry->key.bytes, sizeof(entry->key.bytes));
        base_put_number(row + 32, entry->packed, 8);
        base_put_number(row + 40, entry->size, 8);
        base_put_number(row + 48, entry->base, 8);
        *bytes += entry->packed;
    }
    memcpy(made, "DPOOLP01", 8);
    base_put_number(made + 8, builder->count, 4);
    base_put_number(made + 12, (uint64_t)builder->compute_capability, 4);
    base_put_number(made + 16, *bytes, 8);
    base_put_number(made + 24, (uint64_t)builder->maker.version, 8);
    memcpy(made + 32, builder->maker.digest, sizeof(builder->maker.digest));
    status = pack_build_digest(made + 64);
    memcpy(made + 96, pool_version_text(), strnlen(pool_version_text(), 31));
    sha = status ? NULL : base_sha256_begin();
    if (sha) {
        base_sha256_add(sha, made, 128);
        base_sha256_add(sha, made + PACK_HEADER_BYTES, *size - PACK_HEADER_BYTES);
        status = base_sha256_end(sha, made + 128);
    } else if (!status) {
        status = base_fail_memory("the digest of a pack");
    }
    *head = made;
    return status;
}

static bool write_all(
    int file, const struct pack_builder *builder, const uint8_t *head, size_t size)
{
    bool is_written = !base_write_all(file, head, size);

    for (size_t i = 0; i < builder->count && is_written; i++)
        is_written = !base_write_all(file, builder->rows[i].packed, builder->rows[i].entry.packed);
    return is_written;
}

pool_status pack_write(struct pack_builder *builder, const char *path, uint64_t *bytes)
{
    struct base_new_file made;
    uint8_t *head = NULL;
    pool_status status;
    size_t size;

    status = sort_rows(path, builder);
    if (!status)
        status = encode_head(builder, &head, &size, bytes);
    if (!status && base_new_file_begin(&made, AT_FDCWD, path, ".tmp", 0644)) {
        status = base_fail(POOL_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
    } else if (!status) {
        if (!write_all(made.file, builder, head, size)) {
            status = base_fail(POOL_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
            base_new_file_discard(&made);
        } else if (base_new_file_finish(&made, path)) {
            status = base_fail(POOL_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
        }
    }
    base_free(head);
    return status;
}

void pack_builder_free(struct pack_builder *builder)
{
    for (size_t i = 0; i < builder->count; i++)
        pack_row_free(&builder->rows[i]);
    base_free(builder->rows);
    *builder = (struct pack_builder){0};
}
