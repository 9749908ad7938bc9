/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is allocated in small blocks and freed as a whole. A parsed program lives in one
 * arena, the data that only the parser needs in another. An arena must not be used by two threads
 * concurrently.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct base_arena_chunk;

struct base_arena {
    struct base_arena_chunk *chunks;
    unsigned char *next;
    size_t left;
};

/* Zeroed memory at a multiple of 16, or NULL when host memory has run out. */
void *base_arena_alloc(struct base_arena *arena, size_t size);
void base_arena_free(struct base_arena *arena);

#endif
