/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors that are generated from calls.def.
 */
#include <string.h>

#include "driver/calls.h"
#include "driver/worker/server/server.h"

/* For each class: the variables that an argument needs, what is passed to the driver, and what goes
 * into the reply. */
#define TAKE(class, kind, name) TAKE_##class(kind, name)
#define PASS(class, kind, name) PASS_##class(name)
#define REPLY(class, kind, name) REPLY_##class(kind, name)

#define TAKE_NONE(kind, name) execution_default_stream(execution);
#define TAKE_IN(kind, name) kind name = (kind)execution_word(execution);
#define TAKE_ADDRESS TAKE_IN
#define TAKE_OWNED TAKE_IN
#define TAKE_COPY(kind, name)                                                                      \
    kind name = {0};                                                                               \
    (void)execution_struct(execution, &name, sizeof(name));
#define TAKE_DEVICE(kind, name)                                                                    \
    kind name = execution->server->device;                                                         \
    (void)execution_word(execution);
#define TAKE_OUT(kind, name)                                                                       \
    kind name##_value = {0};                                                                       \
    kind *name = execution_word(execution) ? &name##_value : NULL;
#define TAKE_OPTIONAL TAKE_OUT
#define TAKE_CONTEXT_OF TAKE_OUT
#define TAKE_CHARS(kind, name)                                                                     \
    char name##_value[256] = "";                                                                   \
    char *name = execution_word(execution) ? name##_value : NULL;                                  \
    int64_t name##_given = (int64_t)execution_word(execution);                                     \
    kind name##_size =                                                                             \
        (kind)(name##_given > (int64_t)sizeof(name##_value) ? (int64_t)sizeof(name##_value)        \
                                                            : name##_given);
#define TAKE_TEXT(kind, name) kind name = execution_text(execution);
#define TAKE_PINNED(kind, name) kind name = execution_pinned(execution);
#define TAKE_HANDLE(kind, name)                                                                    \
    CALL_TYPE_##kind name = (CALL_TYPE_##kind)(uintptr_t)execution_handle(execution, WORKER_##kind);
#define TAKE_NEW(kind, name)                                                                       \
    CALL_TYPE_##kind name##_value = 0;                                                             \
    CALL_TYPE_##kind *name = execution_word(execution) ? &name##_value : NULL;
#define TAKE_CONTEXT(kind, name) kind name = execution_context(execution);
#define TAKE_PEER TAKE_CONTEXT
#define TAKE_PROPS(kind, name)                                                                     \
    kind name##_value = {0};                                                                       \
    uint64_t name##_is_own = execution_word(execution);                                            \
    const kind *name = execution_struct(execution, &name##_value, sizeof(name##_value));           \
    if (name##_is_own)                                                                             \
        name##_value.location.id = execution->server->device;
#define TAKE_ACCESS(kind, name)                                                                    \
    kind name##_value[WORKER_MAX_DEVICES];                                                         \
    size_t name##_count;                                                                           \
    const kind *name = execution_access(execution, name##_value, &name##_count);
#define TAKE_READ(kind, name)                                                                      \
    uint64_t name##_given = execution_word(execution);                                             \
    uint64_t name##_value[8] = {execution_word(execution)};                                        \
    void *name = name##_given ? name##_value : NULL;
#define TAKE_WRITTEN(kind, name)                                                                   \
    uint64_t name##_value[8] = {0};                                                                \
    void *name = execution_word(execution) ? name##_value : NULL;

#define PASS_NONE(name)
#define PASS_IN(name) name
#define PASS_ADDRESS PASS_IN
#define PASS_OWNED PASS_IN
#define PASS_COPY PASS_IN
#define PASS_DEVICE PASS_IN
#define PASS_OUT PASS_IN
#define PASS_OPTIONAL PASS_IN
#define PASS_CONTEXT_OF PASS_IN
#define PASS_CHARS(name) name, name##_size
#define PASS_TEXT PASS_IN
#define PASS_PINNED PASS_IN
#define PASS_HANDLE PASS_IN
#define PASS_NEW PASS_IN
#define PASS_CONTEXT PASS_IN
#define PASS_PEER PASS_IN
#define PASS_PROPS PASS_IN
#define PASS_ACCESS(name) name, name##_count
#define PASS_READ PASS_IN
#define PASS_WRITTEN PASS_IN

#define REPLY_NONE(kind, name)
#define REPLY_IN REPLY_NONE
#define REPLY_ADDRESS REPLY_NONE
#define REPLY_OWNED REPLY_NONE
#define REPLY_COPY REPLY_NONE
#define REPLY_DEVICE REPLY_NONE
#define REPLY_OUT(kind, name) execution_reply_bytes(execution, &name##_value, sizeof(name##_value));
#define REPLY_OPTIONAL REPLY_OUT
#define REPLY_CONTEXT_OF(kind, name)                                                               \
    execution_reply(execution, server_context_number(execution->server, name##_value));
#define REPLY_CHARS REPLY_OUT
#define REPLY_TEXT REPLY_NONE
#define REPLY_PINNED REPLY_NONE
#define REPLY_HANDLE REPLY_NONE
#define REPLY_NEW(kind, name)                                                                      \
    code = execution_reply_new(execution, WORKER_##kind, (void *)(uintptr_t)name##_value);         \
    if (code)                                                                                      \
        api->DESTROY_##kind(name##_value);
#define DESTROY_STREAM StreamDestroy
#define DESTROY_EVENT EventDestroy
#define DESTROY_MEMORY_POOL MemPoolDestroy
#define DESTROY_ALLOCATION MemRelease
#define DESTROY_GRAPH GraphDestroy
#define DESTROY_GRAPH_EXEC GraphExecDestroy
#define REPLY_CONTEXT REPLY_NONE
#define REPLY_PEER REPLY_NONE
#define REPLY_PROPS REPLY_NONE
#define REPLY_ACCESS REPLY_NONE
#define REPLY_READ REPLY_NONE
#define REPLY_WRITTEN(kind, name) execution_reply(execution, name##_value[0]);

#define SIDES_MADE(function_name, ...)                                                             \
    pool_cu_result server_##function_name(struct execution *execution)                             \
    {                                                                                              \
        const pool_cuda_api *api = execution->server->api;                                         \
        CALL_EACH(TAKE, __VA_ARGS__)                                                               \
        pool_cu_result code = execution_check(execution);                                          \
                                                                                                   \
        if (code)                                                                                  \
            return code;                                                                           \
        if (!api->function_name)                                                                   \
            return POOL_CU_NOT_SUPPORTED;                                                          \
        code = api->function_name(CALL_LIST(PASS, __VA_ARGS__));                                   \
        if (!code) {                                                                               \
            CALL_EACH(REPLY, __VA_ARGS__)                                                          \
        }                                                                                          \
        return code;                                                                               \
    }
#define SIDES_WRAPPED SIDES_MADE
#define SIDES_WRITTEN(function_name, ...)
#define SIDES_LOCAL SIDES_WRITTEN
#define CALL_ROW(function_name, needs, mode, sides, ...) SIDES_##sides(function_name, __VA_ARGS__)
#include "driver/calls.def"
