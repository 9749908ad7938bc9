/* SPDX-License-Identifier: Apache-2.0 */
/* A list of chunks, of which the newest is filled from its start. */
#include "base/arena.h"

#include "base/alloc.h"
#include "base/math.h"

#include <stdint.h>

enum {
    ARENA_ALIGNMENT = 16,
    /* One chunk suffices for a small module; a large one needs few. */
    ARENA_CHUNK_BYTES = 64 * 1024
};

struct base_arena_chunk {
    struct base_arena_chunk *older;
    size_t size;
};

void *base_arena_alloc(struct base_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size = (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (size > arena->left) {
        size_t bytes = base_max(size, ARENA_CHUNK_BYTES);
        struct base_arena_chunk *chunk = base_calloc(1, sizeof(*chunk) + bytes);
        if (!chunk)
            return NULL;
        chunk->older = arena->chunks;
        chunk->size = bytes;
        arena->chunks = chunk;
        arena->next = (unsigned char *)(chunk + 1);
        arena->left = bytes;
    }
    void *memory = arena->next;
    arena->next += size;
    arena->left -= size;
    return memory;
}

void base_arena_free(struct base_arena *arena)
{
    struct base_arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct base_arena_chunk *older = chunk->older;
        base_free(chunk);
        chunk = older;
    }
    arena->chunks = NULL;
    arena->next = NULL;
    arena->left = 0;
}
