/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory: thin wrappers of the C library with overflow checks and a failure hook.
 */
#include "base/alloc.h"

#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static base_alloc_hook alloc_hook;
static void *alloc_hook_user;

void base_alloc_set_hook(base_alloc_hook hook, void *user)
{
    alloc_hook_user = user;
    alloc_hook = hook;
}

static int refused(void)
{
    return alloc_hook && alloc_hook(alloc_hook_user);
}

void *base_calloc(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || refused())
        return NULL;
    return calloc(bytes ? bytes : 1, 1);
}

void *base_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || refused())
        return NULL;
    return realloc(old, bytes ? bytes : 1);
}

void *base_aligned_calloc(size_t alignment, size_t size)
{
    size_t rounded;
    void *memory;

    if (__builtin_add_overflow(size ? size : 1, alignment - 1, &rounded) || refused())
        return NULL;
    rounded &= ~(alignment - 1);
    memory = aligned_alloc(alignment, rounded);
    if (memory)
        memset(memory, 0, rounded);
    return memory;
}

char *base_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = base_calloc(size, 1);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

char *base_format(const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NULL;
    text = base_calloc((size_t)length + 1, 1);
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void base_free(void *memory)
{
    free(memory);
}

void base_wipe(void *memory, size_t size)
{
    if (memory && size) {
        memset(memory, 0, size);
        __asm__ volatile("" : : "r"(memory) : "memory");
    }
}

pool_status base_fail_memory(const char *what)
{
    return base_fail(POOL_ERR_OUT_OF_HOST_MEMORY, "out of host memory for %s", what);
}
