/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors that are generated from calls.def.
 */
#include <string.h>

#include "driver/calls.h"
#include "driver/worker/server/server.h"

/* For each class: the variables that an argument needs, what is passed to the driver, and what goes
 * into the reply. */
#define TAKE(class, kind, name) CALL_PART_1(ARGUMENT_##class(kind, name))
#define PASS(class, kind, name) CALL_PART_2(ARGUMENT_##class(kind, name))
#define REPLY(class, kind, name) CALL_PART_3(ARGUMENT_##class(kind, name))

#define ARGUMENT_NONE(kind, name) (execution_default_stream(execution);), (), ()
#define ARGUMENT_IN(kind, name) (kind name = (kind)execution_word(execution);), (name), ()
#define ARGUMENT_ADDRESS ARGUMENT_IN
#define ARGUMENT_OWNED ARGUMENT_IN
#define ARGUMENT_COPY(kind, name)                                                                  \
    (kind name = {0}; (void)execution_struct(execution, &name, sizeof(name));), (name), ()
#define ARGUMENT_DEVICE(kind, name)                                                                \
    (kind name = execution->server->device; (void)execution_word(execution);), (name), ()
#define ARGUMENT_TEXT(kind, name) (kind name = execution_text(execution);), (name), ()
#define ARGUMENT_PINNED(kind, name) (kind name = execution_pinned(execution);), (name), ()
#define ARGUMENT_CONTEXT(kind, name) (kind name = execution_context(execution);), (name), ()
#define ARGUMENT_PEER ARGUMENT_CONTEXT
#define ARGUMENT_HANDLE(kind, name)                                                                \
    (CALL_TYPE_##kind name =                                                                       \
            (CALL_TYPE_##kind)(uintptr_t)execution_handle(execution, WORKER_##kind);),             \
        (name), ()
#define ARGUMENT_OUT(kind, name)                                                                   \
    (kind name##_value = {0}; kind *name = execution_word(execution) ? &name##_value : NULL;),     \
        (name), (execution_reply_bytes(execution, &name##_value, sizeof(name##_value));)
#define ARGUMENT_OPTIONAL ARGUMENT_OUT
#define ARGUMENT_CONTEXT_OF(kind, name)                                                            \
    (kind name##_value = NULL; kind *name = execution_word(execution) ? &name##_value : NULL;),    \
        (name),                                                                                    \
        (execution_reply(execution, server_context_number(execution->server, name##_value));)
#define ARGUMENT_CHARS(kind, name)                                                                 \
    (char name##_value[256] = ""; char *name = execution_word(execution) ? name##_value : NULL;    \
        int64_t name##_given = (int64_t)execution_word(execution);                                 \
        kind name##_size = (kind)(name##_given < 256 ? name##_given : 256);),                      \
        (name, name##_size),                                                                       \
        (execution_reply_bytes(execution, name##_value, sizeof(name##_value));)
#define ARGUMENT_NEW(kind, name)                                                                   \
    (CALL_TYPE_##kind name##_value = 0;                                                            \
        CALL_TYPE_##kind *name = execution_word(execution) ? &name##_value : NULL;),               \
        (name),                                                                                    \
        (code = execution_reply_new(execution, WORKER_##kind, (void *)(uintptr_t)name##_value);    \
            if (code) DESTROY_##kind(name##_value);)
#define DESTROY_STREAM api->StreamDestroy
#define DESTROY_EVENT api->EventDestroy
#define DESTROY_MEMORY_POOL api->MemPoolDestroy
#define DESTROY_ALLOCATION api->MemRelease
#define DESTROY_GRAPH api->GraphDestroy
#define DESTROY_GRAPH_EXEC api->GraphExecDestroy
#define DESTROY_GREEN api->GreenCtxDestroy
#define DESTROY_RESOURCE_DESC(desc) (void)(desc) /* the driver has no function for it */
#define ARGUMENT_HANDLE_OF(kind, name)                                                             \
    (CALL_TYPE_##kind name##_value = NULL;                                                         \
        CALL_TYPE_##kind *name = execution_word(execution) ? &name##_value : NULL;),               \
        (name),                                                                                    \
        (execution_reply(                                                                          \
            execution, server_handle_of(execution->server, WORKER_##kind, name##_value, 0));)
#define ARGUMENT_RESOURCE ARGUMENT_OUT
#define ARGUMENT_RESOURCE_MAYBE ARGUMENT_OUT
#define ARGUMENT_RESOURCE_IN(kind, name)                                                           \
    (kind name##_value;                                                                            \
        const kind *name = execution_struct(execution, &name##_value, sizeof(name##_value));),     \
        (name), ()
#define ARGUMENT_RESOURCES(kind, name)                                                             \
    (kind name##_value[WORKER_RESOURCES]; unsigned name##_count;                                   \
        kind *name = execution_resources(execution, name##_value, &name##_count);),                \
        (name, name##_count), ()
#define ARGUMENT_GROUPS(kind, name)                                                                \
    (kind name##_value[WORKER_RESOURCES] = {{0}};                                                  \
        kind *name = execution_word(execution) ? name##_value : NULL; unsigned name##_most = 0;    \
        unsigned *name##_count = execution_count(execution, &name##_most);                         \
        if (name && name##_most > WORKER_RESOURCES) execution->is_malformed = true;),              \
        (name, name##_count),                                                                      \
        (execution_reply(execution, name##_most);                                                  \
            for (unsigned i = 0; name && i < name##_most; i++)                                     \
                execution_reply_bytes(execution, &name##_value[i], sizeof(name##_value[i]));)
#define ARGUMENT_CONFIG(kind, name)                                                                \
    (struct server_config name##_value;                                                            \
        const kind *name = execution_config(execution, &name##_value);),                           \
        (name), ()
#define ARGUMENT_ARGUMENTS(kind, name)                                                             \
    (struct server_arguments name; execution_arguments(execution, &name);),                        \
        (name.given, name.given_extra), ()
#define ARGUMENT_ARGUMENTS_ONLY(kind, name)                                                        \
    (struct server_arguments name; execution_arguments(execution, &name);), (name.given), ()
#define ARGUMENT_PROPS(kind, name)                                                                 \
    (kind name##_value = {0}; uint64_t name##_is_own = execution_word(execution);                  \
        const kind *name = execution_struct(execution, &name##_value, sizeof(name##_value));       \
        if (name##_is_own) name##_value.location.id = execution->server->device;),                 \
        (name), ()
#define ARGUMENT_ACCESS(kind, name)                                                                \
    (kind name##_value[WORKER_MAX_DEVICES]; size_t name##_count;                                   \
        const kind *name = execution_access(execution, name##_value, &name##_count);),             \
        (name, name##_count), ()
#define ARGUMENT_READ(kind, name)                                                                  \
    (uint64_t name##_given = execution_word(execution);                                            \
        uint64_t name##_value[8] = {execution_word(execution)};                                    \
        void *name = name##_given ? name##_value : NULL;),                                         \
        (name), ()
#define ARGUMENT_WRITTEN(kind, name)                                                               \
    (uint64_t name##_value[8] = {0};                                                               \
        void *name = execution_word(execution) ? name##_value : NULL;),                            \
        (name), (execution_reply(execution, name##_value[0]);)

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
