/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's functions that are generated from calls.def.
 */
#include "driver/worker/client/client_calls.h"
#include "driver/worker/each.h"

/* For each kind: the parameter, what goes into the message, and how the reply is returned. */
#define DECLARE(kind, type, name) DECLARE_##kind(type, name)
#define WRITE(kind, type, name) WRITE_##kind(name)
#define RETURN(kind, type, name) RETURN_##kind(type, name)

#define DECLARE_VALUE(type, name) type name
#define DECLARE_IN DECLARE_VALUE
#define DECLARE_DEVICE DECLARE_VALUE
#define DECLARE_TEXT DECLARE_VALUE
#define DECLARE_STREAM DECLARE_VALUE
#define DECLARE_EVENT DECLARE_VALUE
#define DECLARE_MODULE DECLARE_VALUE
#define DECLARE_KERNEL DECLARE_VALUE
#define DECLARE_POOL DECLARE_VALUE
#define DECLARE_ALLOCATION DECLARE_VALUE
#define DECLARE_GRAPH DECLARE_VALUE
#define DECLARE_EXEC DECLARE_VALUE
#define DECLARE_OUT(type, name) type *name
#define DECLARE_NEW_STREAM DECLARE_OUT
#define DECLARE_NEW_EVENT DECLARE_OUT
#define DECLARE_NEW_EXEC DECLARE_OUT
#define DECLARE_CHARS(type, name) char *name, type name##_size

#define WRITE_IN(name) call_word(&call, (uint64_t)name);
#define WRITE_OUT(name) call_word(&call, name != NULL);
#define WRITE_DEVICE(name) call_device(&call, name);
#define WRITE_CHARS(name)                                                                          \
    call_word(&call, name != NULL);                                                                \
    call_word(&call, (uint64_t)(int64_t)name##_size);
#define WRITE_TEXT(name) call_text(&call, name);
#define WRITE_STREAM(name) call_handle(&call, WORKER_STREAM, name);
#define WRITE_EVENT(name) call_handle(&call, WORKER_EVENT, name);
#define WRITE_MODULE(name) call_handle(&call, WORKER_MODULE, name);
#define WRITE_KERNEL(name) call_handle(&call, WORKER_KERNEL, name);
#define WRITE_POOL(name) call_handle(&call, WORKER_MEMORY_POOL, name);
#define WRITE_ALLOCATION(name) call_handle(&call, WORKER_ALLOCATION, (const void *)(uintptr_t)name);
#define WRITE_GRAPH(name) call_handle(&call, WORKER_GRAPH, name);
#define WRITE_EXEC(name) call_handle(&call, WORKER_GRAPH_EXEC, name);
#define WRITE_NEW_STREAM WRITE_OUT
#define WRITE_NEW_EVENT WRITE_OUT
#define WRITE_NEW_EXEC WRITE_OUT

#define RETURN_IN(type, name)
#define RETURN_DEVICE(type, name)
#define RETURN_TEXT(type, name)
#define RETURN_STREAM(type, name)
#define RETURN_EVENT(type, name)
#define RETURN_MODULE(type, name)
#define RETURN_KERNEL(type, name)
#define RETURN_POOL(type, name)
#define RETURN_ALLOCATION(type, name)
#define RETURN_GRAPH(type, name)
#define RETURN_EXEC(type, name)
#define RETURN_OUT(type, name) call_result_bytes(&call, name, sizeof(type));
#define RETURN_CHARS(type, name) call_result_text(&call, name, name##_size);
#define RETURN_NEW(kind, name)                                                                     \
    if (name)                                                                                      \
        *name = call_result_handle(&call, kind);
#define RETURN_NEW_STREAM(type, name) RETURN_NEW(WORKER_STREAM, name)
#define RETURN_NEW_EVENT(type, name) RETURN_NEW(WORKER_EVENT, name)
#define RETURN_NEW_EXEC(type, name) RETURN_NEW(WORKER_GRAPH_EXEC, name)

/* A buffer of 256 bytes, of which the driver has written a string. */
static void call_result_text(struct client_call *call, char *to, int size)
{
    char text[256];

    call_result_bytes(call, text, sizeof(text));
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; to && i < size; i++) {
        to[i] = text[i];
        if (!text[i])
            return;
    }
}

#define FUNCTION(name, function_name, mode, ...)                                                   \
    pool_cu_result name(WORKER_LIST(DECLARE, __VA_ARGS__))                                         \
    {                                                                                              \
        struct client_call call;                                                                   \
        pool_cu_result code = call_check();                                                        \
                                                                                                   \
        if (code)                                                                                  \
            return code;                                                                           \
        call_begin(&call, WORKER_##function_name, CLIENT_##mode);                                  \
        WORKER_EACH(WRITE, __VA_ARGS__)                                                            \
        code = call_run(&call);                                                                    \
        if (!code && CLIENT_##mode != CLIENT_POST && CLIENT_##mode != CLIENT_CLEANUP) {            \
            WORKER_EACH(RETURN, __VA_ARGS__)                                                       \
        }                                                                                          \
        return code;                                                                               \
    }

#define WORKER_CALL(function_name, mode, ...)                                                      \
    FUNCTION(client_cu_##function_name, function_name, mode, __VA_ARGS__)
#define WORKER_WRAP(function_name, mode, ...)                                                      \
    FUNCTION(remote_##function_name, function_name, mode, __VA_ARGS__)
#include "driver/worker/calls.def"
