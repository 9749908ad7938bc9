/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors that are generated from calls.def.
 */
#include <string.h>

#include "driver/worker/each.h"
#include "driver/worker/server/server.h"

/* For each kind: the variables that an argument needs, what is passed to the driver, and what goes
 * into the reply. */
#define READ(kind, type, name) READ_##kind(type, name)
#define PASS(kind, type, name) PASS_##kind(name)
#define REPLY(kind, type, name) REPLY_##kind(name)

#define READ_IN(type, name) type name = (type)execution_word(execution);
#define READ_DEVICE(type, name)                                                                    \
    type name = execution->server->device;                                                         \
    (void)execution_word(execution);
#define READ_OUT(type, name)                                                                       \
    type name##_value = {0};                                                                       \
    type *name = execution_word(execution) ? &name##_value : NULL;
#define READ_CHARS(type, name)                                                                     \
    char name##_value[256] = "";                                                                   \
    char *name = execution_word(execution) ? name##_value : NULL;                                  \
    int64_t name##_given = (int64_t)execution_word(execution);                                     \
    type name##_size =                                                                             \
        (type)(name##_given > (int64_t)sizeof(name##_value) ? (int64_t)sizeof(name##_value)        \
                                                            : name##_given);
#define READ_TEXT(type, name) type name = execution_text(execution);
#define READ_HANDLE(kind, type, name) type name = execution_handle(execution, kind);
#define READ_STREAM(type, name) READ_HANDLE(WORKER_STREAM, type, name)
#define READ_EVENT(type, name) READ_HANDLE(WORKER_EVENT, type, name)
#define READ_MODULE(type, name) READ_HANDLE(WORKER_MODULE, type, name)
#define READ_KERNEL(type, name) READ_HANDLE(WORKER_KERNEL, type, name)
#define READ_POOL(type, name) READ_HANDLE(WORKER_MEMORY_POOL, type, name)
#define READ_ALLOCATION(type, name)                                                                \
    type name = (uintptr_t)execution_handle(execution, WORKER_ALLOCATION);
#define READ_GRAPH(type, name) READ_HANDLE(WORKER_GRAPH, type, name)
#define READ_EXEC(type, name) READ_HANDLE(WORKER_GRAPH_EXEC, type, name)
#define READ_NEW_STREAM READ_OUT
#define READ_NEW_EVENT READ_OUT
#define READ_NEW_EXEC READ_OUT

#define PASS_IN(name) name
#define PASS_DEVICE(name) name
#define PASS_OUT(name) name
#define PASS_CHARS(name) name, name##_size
#define PASS_TEXT(name) name
#define PASS_STREAM(name) name
#define PASS_EVENT(name) name
#define PASS_MODULE(name) name
#define PASS_KERNEL(name) name
#define PASS_POOL(name) name
#define PASS_ALLOCATION(name) name
#define PASS_GRAPH(name) name
#define PASS_EXEC(name) name
#define PASS_NEW_STREAM(name) name
#define PASS_NEW_EVENT(name) name
#define PASS_NEW_EXEC(name) name

#define REPLY_NOTHING(name)
#define REPLY_IN REPLY_NOTHING
#define REPLY_DEVICE REPLY_NOTHING
#define REPLY_TEXT REPLY_NOTHING
#define REPLY_STREAM REPLY_NOTHING
#define REPLY_EVENT REPLY_NOTHING
#define REPLY_MODULE REPLY_NOTHING
#define REPLY_KERNEL REPLY_NOTHING
#define REPLY_POOL REPLY_NOTHING
#define REPLY_ALLOCATION REPLY_NOTHING
#define REPLY_GRAPH REPLY_NOTHING
#define REPLY_EXEC REPLY_NOTHING
#define REPLY_OUT(name) execution_reply_bytes(execution, &name##_value, sizeof(name##_value));
#define REPLY_CHARS(name) execution_reply_bytes(execution, name##_value, sizeof(name##_value));
#define REPLY_NEW(kind, name, destroy)                                                             \
    code = execution_reply_new(execution, kind, *name);                                            \
    if (code)                                                                                      \
        api->destroy(*name);
#define REPLY_NEW_STREAM(name) REPLY_NEW(WORKER_STREAM, name, StreamDestroy)
#define REPLY_NEW_EVENT(name) REPLY_NEW(WORKER_EVENT, name, EventDestroy)
#define REPLY_NEW_EXEC(name) REPLY_NEW(WORKER_GRAPH_EXEC, name, GraphExecDestroy)

#define WORKER_CALL(function_name, mode, ...)                                                      \
    pool_cu_result server_##function_name(struct execution *execution)                             \
    {                                                                                              \
        const pool_cuda_api *api = execution->server->api;                                         \
        WORKER_EACH(READ, __VA_ARGS__)                                                             \
        pool_cu_result code = execution_check(execution);                                          \
                                                                                                   \
        if (code)                                                                                  \
            return code;                                                                           \
        if (!api->function_name)                                                                   \
            return POOL_CU_NOT_SUPPORTED;                                                          \
        code = api->function_name(WORKER_LIST(PASS, __VA_ARGS__));                                 \
        if (!code) {                                                                               \
            WORKER_EACH(REPLY, __VA_ARGS__)                                                        \
        }                                                                                          \
        return code;                                                                               \
    }
#define WORKER_WRAP WORKER_CALL
#include "driver/worker/calls.def"
