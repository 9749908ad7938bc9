/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result files. A regular file is written as a new file in its directory and renamed at the end, so
 * that nobody sees half a result and a failure leaves an older file as it was. Devices, pipes and
 * /dev/fd/N are written directly. Used by devicepool and devicepool-mpi; it prints nothing.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <limits.h>
#include <stddef.h>

struct output_file {
    const char *path;      /* as given; NULL: none was requested */
    int file;              /* -1, or open for writing */
    int is_direct;         /* no new file: it is a device, a pipe or a descriptor of this process */
    char target[PATH_MAX]; /* the regular file, all links followed */
    char temporary[PATH_MAX]; /* the new file; "" until it exists */
};

/* Remembers a file that the command reads; output_file_open refuses it. */
void output_file_add_input(const char *path);

/*
 * Checks early that the file can be written, and opens it if it is direct. No file is created.
 * Returns NULL, or the reason for the failure: "'%s' %s" with the path.
 */
const char *output_file_open(const char *path, struct output_file *output);

/* Creates the new file, whose permissions are those of an older one. No-op for a direct output.
 * Returns 0, or -1 and sets errno; so do all functions below. From here on signals that end the
 * process delete it. */
int output_file_create(struct output_file *output);

/* Deletes the new files, for a process that is about to end without output_files_close. */
void output_files_abandon(void);

int output_file_write(struct output_file *output, const void *bytes, size_t count);

/* Closes the files and makes all new ones visible, or deletes them if `keeps` is 0. After a failure
 * *failed is the output that failed, and no new file remains. */
int output_files_close(
    struct output_file *outputs, size_t count, int keeps, struct output_file **failed);

#endif
