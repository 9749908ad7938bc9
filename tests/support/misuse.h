/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of the driver called with one argument that it must refuse, from the rows of
 * calls.def: what of a pointer NULL, of an ordinal too high, of a handle `with->handle`.
 */
#ifndef TESTS_SUPPORT_MISUSE_H
#define TESTS_SUPPORT_MISUSE_H

#include <stdbool.h>
#include <stdint.h>

#include <devicepool/driver.h>

#include "driver/calls.h"

/* What the other arguments are. */
struct misuse {
    CUstream STREAM;
    CUevent EVENT;
    CUmodule MODULE;
    CUfunction KERNEL;
    CUmemoryPool MEMORY_POOL;
    CUmemGenericAllocationHandle ALLOCATION;
    CUgraph GRAPH;
    CUgraphExec GRAPH_EXEC;
    CUgreenCtx GREEN;
    CUdevResourceDesc RESOURCE_DESC;
    CUcontext context;
    uint64_t handle;      /* instead of a handle; a stream's only if it is not 0 */
    bool is_with_context; /* also instead of a context's */
};

struct misused {
    const char *argument; /* NULL: it cannot be misused, or there is none of that number */
    const char *kind;     /* "STREAM" and so on, "CONTEXT", "DEVICE", or "" for a pointer */
    bool is_beyond;       /* there is none of that number */
    pool_cu_result code;
};

#define MISUSE_IS(condition, what, of_kind)                                                        \
    (at++ == number && (condition) ? (found.argument = what, found.kind = of_kind, true) : false)
#define MISUSE(class, kind, name) MISUSE_##class(kind, name)
#define MISUSE_NONE(kind, name)
#define MISUSE_IN(kind, name)                                                                      \
    kind name = (kind)0;                                                                           \
    at++;
#define MISUSE_ADDRESS MISUSE_IN
#define MISUSE_OWNED MISUSE_IN
#define MISUSE_HOST MISUSE_IN
#define MISUSE_PINNED MISUSE_IN
#define MISUSE_OTHER MISUSE_IN
#define MISUSE_COPY(kind, name)                                                                    \
    kind name = {{0}};                                                                             \
    at++;
#define MISUSE_ARGUMENTS(kind, name)                                                               \
    void **name = NULL, **extra = NULL;                                                            \
    at++;
#define MISUSE_ARGUMENTS_ONLY(kind, name)                                                          \
    void **name = NULL;                                                                            \
    at++;
#define MISUSE_DEVICE(kind, name) kind name = MISUSE_IS(true, #name, "DEVICE") ? 9999 : 0;
#define MISUSE_TEXT(kind, name) kind name = MISUSE_IS(true, #name, "") ? NULL : "text";
#define MISUSE_HANDLE(kind, name)                                                                  \
    CALL_TYPE_##kind name = with->kind;                                                            \
    if (MISUSE_IS(with->handle || (uintptr_t)name != (uintptr_t)with->STREAM, #name, #kind))       \
        name = (CALL_TYPE_##kind)(uintptr_t)with->handle;
#define MISUSE_CONTEXT(kind, name)                                                                 \
    kind name = MISUSE_IS(with->is_with_context, #name, "CONTEXT") ? (kind)(uintptr_t)with->handle \
                                                                   : with->context;
#define MISUSE_PEER MISUSE_CONTEXT
#define MISUSE_NEW(kind, name)                                                                     \
    CALL_TYPE_##kind *name = MISUSE_IS(true, #name, "") ? NULL : (void *)room;
#define MISUSE_OUT(kind, name) kind *name = MISUSE_IS(true, #name, "") ? NULL : (void *)room;
#define MISUSE_CONTEXT_OF MISUSE_OUT
#define MISUSE_HANDLE_OF MISUSE_NEW
#define MISUSE_RESOURCE MISUSE_OUT
#define MISUSE_RESOURCE_MAYBE MISUSE_OPTIONAL
#define MISUSE_RESOURCE_IN MISUSE_STRUCT
#define MISUSE_RESOURCES(kind, name)                                                               \
    kind *name = MISUSE_IS(true, #name, "") ? NULL : (void *)room;                                 \
    unsigned name##_count = 1;
#define MISUSE_GROUPS(kind, name)                                                                  \
    kind *name = NULL;                                                                             \
    unsigned name##_value = 1;                                                                     \
    unsigned *name##_count = MISUSE_IS(true, #name, "") ? NULL : &name##_value;
#define MISUSE_OPTIONAL(kind, name)                                                                \
    kind *name = (void *)room;                                                                     \
    at++;
#define MISUSE_READ(kind, name) void *name = MISUSE_IS(true, #name, "") ? NULL : (void *)room;
#define MISUSE_WRITTEN MISUSE_READ
#define MISUSE_CHARS(kind, name)                                                                   \
    char *name = MISUSE_IS(true, #name, "") ? NULL : (char *)room;                                 \
    kind name##_size = 64;
#define MISUSE_STRUCT(kind, name)                                                                  \
    const kind *name = MISUSE_IS(true, #name, "") ? NULL : (const void *)room;
#define MISUSE_CONFIG MISUSE_STRUCT
#define MISUSE_PROPS(kind, name)                                                                   \
    const kind name##_value = {.location = {1, 0}};                                                \
    const kind *name = MISUSE_IS(true, #name, "") ? NULL : &name##_value;
#define MISUSE_ACCESS(kind, name)                                                                  \
    const kind name##_value = {.location = {1, 0}, .flags = 3};                                    \
    const kind *name = MISUSE_IS(true, #name, "") ? NULL : &name##_value;                          \
    size_t name##_count = 1;

#define MISUSE_PASS(class, kind, name) MISUSE_PASS_##class(name)
#define MISUSE_PASS_NONE(name)
#define MISUSE_PASS_IN(name) name
#define MISUSE_PASS_ADDRESS MISUSE_PASS_IN
#define MISUSE_PASS_OWNED MISUSE_PASS_IN
#define MISUSE_PASS_HOST MISUSE_PASS_IN
#define MISUSE_PASS_PINNED MISUSE_PASS_IN
#define MISUSE_PASS_OTHER MISUSE_PASS_IN
#define MISUSE_PASS_COPY MISUSE_PASS_IN
#define MISUSE_PASS_ARGUMENTS(name) name, extra
#define MISUSE_PASS_ARGUMENTS_ONLY MISUSE_PASS_IN
#define MISUSE_PASS_DEVICE MISUSE_PASS_IN
#define MISUSE_PASS_TEXT MISUSE_PASS_IN
#define MISUSE_PASS_HANDLE MISUSE_PASS_IN
#define MISUSE_PASS_CONTEXT MISUSE_PASS_IN
#define MISUSE_PASS_PEER MISUSE_PASS_IN
#define MISUSE_PASS_NEW MISUSE_PASS_IN
#define MISUSE_PASS_OUT MISUSE_PASS_IN
#define MISUSE_PASS_CONTEXT_OF MISUSE_PASS_IN
#define MISUSE_PASS_OPTIONAL MISUSE_PASS_IN
#define MISUSE_PASS_HANDLE_OF MISUSE_PASS_IN
#define MISUSE_PASS_RESOURCE MISUSE_PASS_IN
#define MISUSE_PASS_RESOURCE_MAYBE MISUSE_PASS_IN
#define MISUSE_PASS_RESOURCE_IN MISUSE_PASS_IN
#define MISUSE_PASS_RESOURCES(name) name, name##_count
#define MISUSE_PASS_GROUPS(name) name, name##_count
#define MISUSE_PASS_READ MISUSE_PASS_IN
#define MISUSE_PASS_WRITTEN MISUSE_PASS_IN
#define MISUSE_PASS_CHARS(name) name, name##_size
#define MISUSE_PASS_STRUCT MISUSE_PASS_IN
#define MISUSE_PASS_CONFIG MISUSE_PASS_IN
#define MISUSE_PASS_PROPS MISUSE_PASS_IN
#define MISUSE_PASS_ACCESS(name) name, name##_count

/* Calls the function with its argument of this number, from 0, misused. */
#define CALL_ROW(function, needs, mode, sides, ...)                                                \
    static inline struct misused misuse_##function(                                                \
        const pool_cuda_api *api, const struct misuse *with, int number)                           \
    {                                                                                              \
        uint64_t room[64] = {0};                                                                   \
        struct misused found = {0};                                                                \
        int at = 0;                                                                                \
                                                                                                   \
        CALL_EACH(MISUSE, __VA_ARGS__)                                                             \
        (void)with;                                                                                \
        (void)room;                                                                                \
        found.is_beyond = number >= at;                                                            \
        if (found.argument)                                                                        \
            found.code = api->function(CALL_LIST(MISUSE_PASS, __VA_ARGS__));                       \
        return found;                                                                              \
    }
#include "driver/calls.def"

static const struct {
    const char *name;
    struct misused (*call)(const pool_cuda_api *api, const struct misuse *with, int number);
} misuses[] = {
#define MISUSE_ENTRY(field, symbol, suffix, version, need, parameters) {symbol, misuse_##field},
    POOL_CUDA_FUNCTIONS(MISUSE_ENTRY)
#undef MISUSE_ENTRY
};

#endif
