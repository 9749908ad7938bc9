/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk cache: one file per key. Everything that is read is validated.
 */
#ifndef MODULE_DISK_H
#define MODULE_DISK_H

#include <stdbool.h>

#include <devicepool/module.h>

#include "pool/module/image.h"

/* The properties of an image in an entry's header. */
struct disk_header {
    char name[64];
    uint64_t created_unix_time;
    int compute_capability;
    struct module_maker maker;
};

/*
 * The result of reading an entry. BAD: it was opened and its owner, mode, header or digest is
 * wrong, which is permanent. UNREADABLE: it could not be read (no memory, no descriptor, an input
 * error), so it is not deleted.
 */
enum disk_result { DISK_GOOD, DISK_MISSING, DISK_UNREADABLE, DISK_BAD, DISK_BAD_AND_DELETED };

/* The image of a key, or NULL if it is missing, bad (and deleted) or unreadable. Sets no error. */
struct module_image *disk_load(const struct module_key *key);

/* Stores an image; the log says why not. */
void disk_store(const struct module_key *key, const struct disk_header *header,
    const struct module_image *image);

/* The cache, open for many entries: room for all of them is made once, before the first. */
struct disk_writer {
    int directory;
    char path[4096];
};
typedef bool (*disk_is_written)(const void *user, const struct module_key *key);

/* False with the reason: the cache is off or unsafe. */
bool disk_writer_open(struct disk_writer *writer, char *why, size_t size);
/* Evicts entries in LRU order until `bytes` fit, but none of those that `is_written` names. */
void disk_writer_make_room(
    struct disk_writer *writer, uint64_t bytes, disk_is_written is_written, const void *user);
/* False with the reason: the entry is not stored. */
bool disk_writer_add(const struct disk_writer *writer, const struct module_key *key,
    const struct disk_header *header, const struct module_image *image, char *why, size_t size);
void disk_writer_close(struct disk_writer *writer);

/* The size that the cache may have. */
uint64_t disk_limit(void);

/* Deletes the image of a key, if there is one. */
void disk_forget(const struct module_key *key);

/*
 * Encode and decode the bytes of an entry. disk_decode checks every bit of `bytes` (the digest
 * covers header and payload) and that the entry is for `key`, unless that is NULL: GOOD with the
 * image, BAD, or UNREADABLE when out of memory.
 */
#define DISK_MAX_ENTRY (UINT64_C(256) << 20) /* the maximum size of an entry */
int disk_encode(const struct module_key *key, const struct disk_header *header,
    const struct module_image *image, uint8_t **bytes, size_t *size);
enum disk_result disk_decode(const uint8_t *bytes, size_t size, const struct module_key *key,
    struct disk_header *header, struct module_image **image);

#endif
