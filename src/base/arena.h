/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is given out piece by piece and freed at once. A parsed program lives in one arena,
 * what only the parser needs in another. Not for use by two threads at once.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include <stddef.h>

struct sim_arena_chunk;

struct sim_arena {
    struct sim_arena_chunk *chunks;
    unsigned char *next;
    size_t left;
};

/* Zeroed memory at a multiple of 16, or NULL when the host has none. */
void *sim_arena_alloc(struct sim_arena *arena, size_t size);
void sim_arena_free(struct sim_arena *arena);

#endif
