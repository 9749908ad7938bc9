/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk cache: one file a key. Trusts nothing that it reads.
 */
#ifndef MODULE_DISK_H
#define MODULE_DISK_H

#include <devicepool/cache.h>

#include "module/image.h"

/* What an entry's header holds beside the image. */
struct disk_facts {
    char name[64];
    uint64_t created_unix_time;
    int compute_capability;
};

/*
 * The directory as an open descriptor, made when `make` is set. -1 when the cache is off or not
 * safe to use; `reason` then says why. The caller closes it.
 */
int disk_open_directory(int make, char *path, size_t path_size, char *reason, size_t reason_size);

/*
 * What became of reading an entry. BAD: it was opened and its owner, mode, header or digest is
 * wrong, so it will never be good. UNREADABLE: nothing is known of it (no memory, no descriptor, an
 * input error), so it stays.
 */
enum disk_result { DISK_GOOD, DISK_MISSING, DISK_UNREADABLE, DISK_BAD, DISK_BAD_AND_DELETED };

/* The image of a key, or NULL: not there, bad (then deleted) or not readable. Never an error. */
struct module_image *disk_load(const struct module_key *key);

/* Keeps an image. A failure is logged as a warning and otherwise without effect. */
void disk_store(
    const struct module_key *key, const struct disk_facts *facts, const struct module_image *image);

/*
 * The bytes of an entry, to and from. disk_decode checks every bit of `bytes` (the digest covers
 * header and payload) and that the entry is for `key` unless that is NULL: GOOD with the image,
 * BAD, or UNREADABLE without memory.
 */
int disk_encode(const struct module_key *key, const struct disk_facts *facts,
    const struct module_image *image, uint8_t **bytes, size_t *size);
enum disk_result disk_decode(const uint8_t *bytes, size_t size, const struct module_key *key,
    struct disk_facts *facts, struct module_image **image);

#endif
