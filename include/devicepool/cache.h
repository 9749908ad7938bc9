/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk cache of compiled kernels: $DEVICEPOOL_CACHE_DIR, else $XDG_CACHE_HOME/devicepool, else
 * ~/.cache/devicepool. DEVICEPOOL_CACHE=off switches it off, DEVICEPOOL_CACHE_MAX ("512M") caps its
 * size (default 1G; the entries not used for longest go first). It is off for setuid programs and
 * refuses directories that somebody else owns or can write. A damaged entry is a miss and is
 * deleted.
 */
#ifndef DEVICEPOOL_CACHE_H
#define DEVICEPOOL_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POOL_CACHE_KEY_TEXT 65

/* One entry. `valid` is 0 when its digest does not match; then only key and bytes mean something.
 */
typedef struct pool_cache_entry {
    size_t struct_size;
    char key[POOL_CACHE_KEY_TEXT]; /* hexadecimal, also the file's name */
    char name[64];                 /* of the module as its maker called it */
    uint64_t bytes;                /* of the file */
    uint64_t made_unix_time;       /* seconds */
    int32_t compute_capability;    /* 90 is sm_90 */
    int32_t is_ptx;                /* 1: PTX text, 0: machine code */
    int32_t valid;
} pool_cache_entry;

/*
 * The directory that is or would be used, in `path` (at most `size` bytes with the end). When the
 * cache is off the status is POOL_ERR_UNSUPPORTED and the text says why.
 */
POOL_API pool_status pool_cache_directory(char *path, size_t size);

/* Calls `visit` for each entry, damaged ones included, until it answers other than 0. */
typedef int (*pool_cache_visitor)(void *user, const pool_cache_entry *entry);
POOL_API pool_status pool_cache_each(pool_cache_visitor visit, void *user);

/* Reads every entry and deletes the damaged; counts what it kept and deleted (either may be NULL).
 */
POOL_API pool_status pool_cache_verify(uint64_t *kept, uint64_t *deleted);

/* Deletes every entry and counts them (may be NULL). */
POOL_API pool_status pool_cache_clear(uint64_t *deleted);

#ifdef __cplusplus
}
#endif

#endif
