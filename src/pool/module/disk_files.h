/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the cache directory.
 */
#ifndef MODULE_DISK_FILES_H
#define MODULE_DISK_FILES_H

#include <stdbool.h>
#include <time.h>

#include "pool/module/disk.h"

#define DISK_TEMPORARY ".tmp-"

struct disk_file {
    char name[2 * BASE_SHA256_BYTES + 1];
    uint64_t bytes;
    struct timespec used; /* when it was last written or read */
};

/*
 * Lists all entries (files named like a key). Temporary files of killed writers are deleted;
 * *unfinished (may be NULL) receives the bytes of the others. Returns 0 or -1. The caller frees
 * *files with base_free.
 */
int disk_list(int directory, struct disk_file **files, size_t *count, uint64_t *unfinished);

/*
 * Reads and checks one file: GOOD with *image. With `deletes` a BAD file is deleted, but never
 * another one that has been renamed to its name in the meantime.
 */
enum disk_result disk_read(int directory, const char *file_name, const struct module_key *key,
    bool deletes, struct disk_header *facts, struct module_image **image);

#endif
