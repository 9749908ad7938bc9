/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the cache directory.
 */
#ifndef MODULE_DISK_FILES_H
#define MODULE_DISK_FILES_H

#include <stdbool.h>
#include <time.h>

#include "module/disk.h"

#define DISK_TEMPORARY ".tmp-"

struct disk_file {
    char name[2 * BASE_SHA256_BYTES + 1];
    uint64_t bytes;
    struct timespec used; /* when it was last written or read */
};

/*
 * All entries (files named like a key). Temporary files whose writer was killed are deleted on the
 * way; *unfinished (may be NULL) gets the bytes of the others. 0, or -1; the caller frees *files.
 */
int disk_list(int directory, struct disk_file **files, size_t *count, uint64_t *unfinished);

/*
 * Reads and checks one file: GOOD with *image. With `deletes` a BAD one is deleted: the file that
 * was read, and never one that took its name since.
 */
enum disk_result disk_read(int directory, const char *file_name, const struct module_key *key,
    bool deletes, struct disk_facts *facts, struct module_image **image);

#endif
