/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's functions that are generated from calls.def.
 */
#include "driver/worker/client/client_calls.h"

/* For each class: what goes into the message, and how the reply is returned. */
#define WRITE(class, kind, name) CALL_PART_1(ARGUMENT_##class(kind, name))
#define RETURN(class, kind, name) CALL_PART_2(ARGUMENT_##class(kind, name))

#define ARGUMENT_NONE(kind, name) (), ()
#define ARGUMENT_IN(kind, name) (call_word(&call, (uint64_t)name);), ()
#define ARGUMENT_ADDRESS ARGUMENT_IN
#define ARGUMENT_OWNED(kind, name) (call_owned(&call, name);), ()
#define ARGUMENT_COPY(kind, name) (call_bytes(&call, &name, sizeof(name));), ()
#define ARGUMENT_DEVICE(kind, name) (call_device(&call, name);), ()
#define ARGUMENT_TEXT(kind, name) (call_text(&call, name);), ()
#define ARGUMENT_PINNED(kind, name) (call_pinned(&call, name);), ()
#define ARGUMENT_CONTEXT(kind, name) (call_context(&call, name);), ()
#define ARGUMENT_PEER(kind, name) (call_peer(&call, name);), ()
#define ARGUMENT_HANDLE(kind, name)                                                                \
    (call_handle(&call, WORKER_##kind, (const void *)(uintptr_t)name);), ()
#define ARGUMENT_OUT(kind, name)                                                                   \
    (call_word(&call, name != NULL);), (call_result_bytes(&call, name, sizeof(kind));)
#define ARGUMENT_OPTIONAL ARGUMENT_OUT
#define ARGUMENT_CONTEXT_OF(kind, name)                                                            \
    (call_word(&call, name != NULL);), (call_result_context(&call, name);)
#define ARGUMENT_CHARS(kind, name)                                                                 \
    (call_word(&call, name != NULL); call_word(&call, (uint64_t)(int64_t)name##_size);),           \
        (call_result_text(&call, name, name##_size);)
#define ARGUMENT_NEW(kind, name)                                                                   \
    (call_word(&call, name != NULL);),                                                             \
        (if (name) *name = (CALL_TYPE_##kind)(uintptr_t)call_result_handle(&call, WORKER_##kind);)
#define ARGUMENT_HANDLE_OF(kind, name)                                                             \
    (call_word(&call, name != NULL);), (call_result_handle_of(&call, WORKER_##kind, (void **)name);)
#define ARGUMENT_RESOURCE(kind, name)                                                              \
    (call_word(&call, name != NULL);), (call_result_resource(&call, name);)
#define ARGUMENT_RESOURCE_MAYBE ARGUMENT_RESOURCE
#define ARGUMENT_RESOURCE_IN(kind, name) (call_resource(&call, name);), ()
#define ARGUMENT_RESOURCES(kind, name) (call_resources(&call, name, name##_count);), ()
#define ARGUMENT_GROUPS(kind, name)                                                                \
    (call_groups(&call, name, name##_count);), (call_result_groups(&call, name, name##_count);)
#define ARGUMENT_CONFIG(kind, name) (call_config(&call, name);), ()
#define ARGUMENT_ARGUMENTS(kind, name) (call_arguments(&call, name, extra);), ()
#define ARGUMENT_ARGUMENTS_ONLY(kind, name) (call_arguments(&call, name, NULL);), ()
#define ARGUMENT_PROPS(kind, name)                                                                 \
    (call_props(&call, name, sizeof(kind), name ? &name->location : NULL);), ()
#define ARGUMENT_ACCESS(kind, name) (call_access(&call, name, name##_count);), ()
#define ARGUMENT_READ(kind, name)                                                                  \
    (call_word(&call, name != NULL); call_word(&call, call_load(name, kind));), ()
#define ARGUMENT_WRITTEN(kind, name)                                                               \
    (call_word(&call, name != NULL);), (call_store(name, kind, call_result(&call));)

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
    pool_cu_result name(CALL_LIST(CALL_DECLARE, __VA_ARGS__))                                      \
    {                                                                                              \
        struct client_call call;                                                                   \
        pool_cu_result code = call_check();                                                        \
                                                                                                   \
        if (code)                                                                                  \
            return code;                                                                           \
        call_begin(&call, WORKER_##function_name, CLIENT_##mode);                                  \
        CALL_EACH(WRITE, __VA_ARGS__)                                                              \
        code = call_run(&call);                                                                    \
        if (!code && client_mode_waits(CLIENT_##mode)) {                                           \
            CALL_EACH(RETURN, __VA_ARGS__)                                                         \
        }                                                                                          \
        return code;                                                                               \
    }

#define SIDES_MADE(function_name, mode, ...)                                                       \
    FUNCTION(client_cu_##function_name, function_name, mode, __VA_ARGS__)
#define SIDES_WRAPPED(function_name, mode, ...)                                                    \
    FUNCTION(remote_##function_name, function_name, mode, __VA_ARGS__)
#define SIDES_WRITTEN(function_name, mode, ...)
#define SIDES_LOCAL SIDES_WRITTEN
#define CALL_ROW(function_name, needs, mode, sides, ...)                                           \
    SIDES_##sides(function_name, mode, __VA_ARGS__)
#include "driver/calls.def"
