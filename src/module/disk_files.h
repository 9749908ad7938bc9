/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the cache folder.
 */
#ifndef MODULE_DISK_FILES_H
#define MODULE_DISK_FILES_H

#include <time.h>

#include "module/disk.h"

#define DISK_TEMPORARY ".tmp-"

struct disk_file {
    char name[2 * BASE_SHA256_BYTES + 1];
    uint64_t bytes;
    struct timespec used; /* when it was last written or read */
};

/*
 * All entries (files named like a key). Temporary files that their writer left behind are deleted
 * on the way. 0, or -1; the caller frees *files.
 */
int disk_list(int folder, struct disk_file **files, size_t *count);

/* Reads and checks one file; NULL when it is not a good entry. */
struct module_image *disk_read(
    int folder, const char *file_name, const struct module_key *key, struct disk_facts *facts);

#endif
