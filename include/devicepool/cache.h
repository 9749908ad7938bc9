/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk cache of compiled kernels: $DEVICEPOOL_CACHE_DIR, else $XDG_CACHE_HOME/devicepool, else
 * ~/.cache/devicepool. DEVICEPOOL_CACHE=off disables it, DEVICEPOOL_CACHE_MAX ("512M") limits its
 * size (default 1G; the least recently used entries are evicted first). It is disabled in setuid
 * programs and for directories that another user owns or can write. A damaged entry is a cache miss
 * and is deleted. All functions may be called by any thread.
 */
#ifndef DEVICEPOOL_CACHE_H
#define DEVICEPOOL_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POOL_CACHE_KEY_TEXT 65 /* of the key of an entry, with the NUL */

/* One entry. `valid` is 0 if its digest does not match; only `key` and `bytes` are set then. */
typedef struct pool_cache_entry {
    size_t struct_size;
    char key[POOL_CACHE_KEY_TEXT]; /* hexadecimal; also the file's name */
    char name[64];                 /* of the module, pool_module_params.name */
    uint64_t bytes;                /* of the file */
    uint64_t created_unix_time;    /* seconds */
    int32_t compute_capability;    /* 90 is sm_90; 0: for any chip */
    int32_t is_ptx;                /* 1: PTX, 0: machine code */
    int32_t valid;
} pool_cache_entry;

/*
 * Writes the directory that is or would be used to `path`, which has `size` bytes. If the cache is
 * disabled the status is POOL_ERR_UNSUPPORTED and the message says why.
 */
POOL_API pool_status pool_cache_directory(char *path, size_t size);

/* Calls `visit` for each entry, including damaged ones, until it returns non-zero. */
typedef int (*pool_cache_visitor)(void *user, const pool_cache_entry *entry);
POOL_API pool_status pool_cache_each(pool_cache_visitor visit, void *user);

/* Reads every entry and deletes the damaged ones. *kept and *deleted receive the number of intact
 * and of deleted entries; either pointer may be NULL. */
POOL_API pool_status pool_cache_verify(uint64_t *kept, uint64_t *deleted);

/* Deletes every entry; *deleted, unless NULL, receives their number. */
POOL_API pool_status pool_cache_clear(uint64_t *deleted);

#ifdef __cplusplus
}
#endif

#endif
