/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack: entries of the disk cache for one chip, made by one NVRTC, in one file that is only read.
 * Each entry has the bytes of its file in the cache (disk_entry.c), compressed by itself or with
 * another entry as the dictionary; an index by key says where it is. Nothing in the file is
 * trusted.
 */
#ifndef MODULE_PACK_H
#define MODULE_PACK_H

#include "pool/module/disk.h"

enum { PACK_HEADER_BYTES = 160, PACK_ROW_BYTES = 56, PACK_MAX_ENTRIES = 1 << 16 };

/* A row of the index. */
struct pack_entry {
    struct module_key key;
    uint64_t offset; /* in the file */
    uint64_t packed; /* bytes there */
    uint64_t size;   /* of the entry */
    uint64_t base;   /* 1 + the index of the entry that is its dictionary; 0: none */
};

struct pack {
    int file; /* -1: not of pack_open */
    int compute_capability;
    struct module_maker maker;
    uint8_t build[BASE_SHA256_BYTES]; /* of the library that wrote it: pack_build_digest */
    char version[32];                 /* of that library */
    uint64_t bytes;
    size_t count;
    struct pack_entry *entries; /* in ascending order of their keys */
};

/* "sm_90.pack" */
#define PACK_NAME "sm_%d.pack"
struct pack_name {
    char text[32];
};
struct pack_name pack_name_of(int compute_capability);

/* The digest of the version and the device sources of this library. */
pool_status pack_build_digest(uint8_t digest[BASE_SHA256_BYTES]);

/*
 * Decodes the header and the index, the first `size` bytes of a file of `bytes` bytes. The caller
 * closes the pack after GOOD. UNREADABLE: out of memory. pack_index_bytes: how many bytes header
 * and index take by the header alone; 0: it is no header of a pack.
 */
uint64_t pack_index_bytes(const uint8_t header[PACK_HEADER_BYTES], uint64_t bytes);
enum disk_result pack_decode(const uint8_t *head, size_t size, uint64_t bytes, struct pack *pack);

/* Decompresses an entry from its packed bytes and from the bytes of its base (NULL: none). The
 * caller frees *bytes, which are entry->size. */
enum disk_result pack_inflate(const uint8_t *packed, const struct pack_entry *entry,
    const uint8_t *base, size_t base_size, uint8_t **bytes);

/*
 * Opens a file for reading, if it belongs to root or to this user and no other user can write it.
 * On any result but GOOD and MISSING `reason` says what is wrong.
 */
enum disk_result pack_open(
    int directory, const char *name, struct pack *pack, char *reason, size_t size);
void pack_close(struct pack *pack);

const struct pack_entry *pack_find(const struct pack *pack, const struct module_key *key);
enum disk_result pack_load(const struct pack *pack, const struct pack_entry *entry,
    struct disk_header *header, struct module_image **image);

/* ---- writing --------------------------------------------------------------------------------- */

/* An entry, and what it is compressed to. */
struct pack_row {
    struct pack_entry entry;
    struct module_key base; /* if entry.base is set */
    uint8_t *bytes;         /* of the entry; NULL once it is in the builder */
    uint8_t *packed;
};

/* Zero but for the first two members at first; one thread at a time. */
struct pack_builder {
    int compute_capability;
    struct module_maker maker;
    struct pack_row *rows;
    size_t count, capacity;
};

/* Encodes and then compresses an entry, with `base`, an encoded row without a base, unless NULL.
 * Any thread. The caller frees the row with pack_row_free unless it is added. */
pool_status pack_encode(const struct module_key *key, const struct disk_header *header,
    const struct module_image *image, struct pack_row *row);
pool_status pack_compress(struct pack_row *row, const struct pack_row *base);
void pack_row_free(struct pack_row *row);

/* Takes a compressed row over, also on failure. The base is, or will be, added as well. */
pool_status pack_add(struct pack_builder *builder, struct pack_row *row);

/* Writes the file, replacing an old one; *bytes: its size. POOL_ERR_IO. */
pool_status pack_write(struct pack_builder *builder, const char *path, uint64_t *bytes);
void pack_builder_free(struct pack_builder *builder);

#endif
