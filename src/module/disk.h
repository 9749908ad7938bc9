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
    uint64_t made_unix_time;
    int compute_capability;
};

/*
 * The folder as an open descriptor, made when `make` is set. -1 when the cache is off or not safe
 * to use; `reason` then says why. The caller closes it.
 */
int disk_open_folder(int make, char *path, size_t path_size, char *reason, size_t reason_size);

/* The image of a key, or NULL: not there, damaged (then deleted) or not readable. Never an error.
 */
struct module_image *disk_load(const struct module_key *key);

/* Keeps an image. A failure is logged as a warning and otherwise without effect. */
void disk_store(
    const struct module_key *key, const struct disk_facts *facts, const struct module_image *image);

/*
 * The bytes of an entry, to and from. disk_decode checks every bit of `bytes` (the digest covers
 * header and payload) and that the entry is for `key` unless that is NULL; NULL when anything is
 * off.
 */
int disk_encode(const struct module_key *key, const struct disk_facts *facts,
    const struct module_image *image, uint8_t **bytes, size_t *size);
struct module_image *disk_decode(
    const uint8_t *bytes, size_t size, const struct module_key *key, struct disk_facts *facts);

#endif
