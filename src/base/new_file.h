/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that appear complete: written under a temporary name in the same directory, then renamed.
 * The names are random, so that writers never collide, whatever their process ids are. A writer
 * holds a lock on its temporary file (flock); a file without a lock was left by a writer that was
 * killed.
 */
#ifndef BASE_NEW_FILE_H
#define BASE_NEW_FILE_H

#include <stdint.h>
#include <sys/types.h>

struct base_new_file {
    int directory;
    int file;   /* to write to */
    char *name; /* the temporary one */
};

/*
 * Creates an empty file named `prefix`, 16 random hexadecimal digits, `suffix`. 0, or -1 with
 * errno. A prefix with a path counts from `directory`, which may be AT_FDCWD and stays open until
 * the end.
 */
int base_new_file_begin(
    struct base_new_file *made, int directory, const char *prefix, const char *suffix, mode_t mode);

/* Renames the file to `name`, replacing an old one. On failure (-1 with errno) it is deleted. */
int base_new_file_finish(struct base_new_file *made, const char *name);

/* Deletes the file; errno is preserved. */
void base_new_file_discard(struct base_new_file *made);

/*
 * For a temporary file found in a directory: deletes it if its writer is gone, or if it has not
 * been written for an hour, as not every file system has locks. Returns the bytes that remain.
 */
uint64_t base_new_file_clear(int directory, const char *name);

/*
 * Clears all temporary files that base_new_file_begin names with `prefix`, which may have a path,
 * and `suffix`. Errors are ignored; errno is preserved.
 */
void base_new_file_clear_all(const char *prefix, const char *suffix);

#endif
