/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory of the whole library. Every allocation is made here, so that a test can make the n-th
 * one fail.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for `count` items, or NULL when memory has run out or the product overflows. */
void *base_calloc(size_t count, size_t size);

/* Like realloc for `count` items; `old` is unchanged if this returns NULL. */
void *base_realloc(void *old, size_t count, size_t size);

/* Zeroed memory at a multiple of `alignment` (a power of two >= sizeof(void *)). */
void *base_aligned_calloc(size_t alignment, size_t size);

char *base_strdup(const char *text);

/* A string formatted as by printf, or NULL. */
char *base_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Frees memory of any of the functions above; NULL is a no-op. */
void base_free(void *memory);

/* Overwrites `size` bytes in a way that the compiler may not drop. */
void base_wipe(void *memory, size_t size);

/*
 * Test hook: called before every allocation, which fails if it returns non-zero. NULL removes it.
 * Set it only while no other thread allocates.
 */
typedef int (*base_alloc_hook)(void *user);
void base_alloc_set_hook(base_alloc_hook hook, void *user);

#endif
