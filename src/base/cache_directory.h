/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of the library's files: compiled kernels and tuning parameters.
 */
#ifndef BASE_CACHE_DIRECTORY_H
#define BASE_CACHE_DIRECTORY_H

#include <stddef.h>

/*
 * An open descriptor of the directory, which is created if `may_create` is set. -1 with the reason
 * when the cache is disabled or not safe to use; `path` is "" then if there is none. The caller
 * closes it.
 */
int base_cache_directory_open(
    int may_create, char *path, size_t path_size, char *reason, size_t reason_size);

/*
 * An open descriptor of a directory that is only read; -1 with errno and the reason when it is
 * missing or not safe to use: root or this user has to own it, and nobody else may be able to write
 * in it or replace it. The caller closes it.
 */
int base_cache_level_open(const char *path, char *reason, size_t reason_size);

#endif
