/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executors of contexts.
 */
#include "driver/worker/server/server.h"

CUcontext execution_context(struct execution *execution)
{
    uint64_t number = execution_word(execution);
    CUcontext context;

    if (number > WORKER_CONTEXTS)
        execution->is_malformed = true;
    if (number == 0 || execution->is_malformed)
        return NULL;
    context = atomic_load(&execution->server->contexts[number - 1].object);
    if (!context && !execution->code)
        execution->code = POOL_CU_CONTEXT_IS_DESTROYED;
    return context;
}

uint64_t server_context_number(struct server *server, const void *context)
{
    for (unsigned i = 0; context && i < WORKER_CONTEXTS; i++)
        if (atomic_load(&server->contexts[i].object) == context)
            return i + 1;
    return 0;
}

/* False: the number is that of another context. Number 0 is always that of the primary one. */
static bool set_context(struct server *server, unsigned number, CUcontext object)
{
    struct server_context *context = &server->contexts[number];
    CUcontext former;
    bool is_free;

    pthread_mutex_lock(&server->lock);
    former = atomic_load(&context->object);
    is_free = !former || !number;
    if (is_free && former != object) {
        atomic_store(&context->object, object);
        atomic_fetch_add(&context->epoch, 1);
    }
    pthread_mutex_unlock(&server->lock);
    return is_free;
}

pool_cu_result server_DevicePrimaryCtxRetain(struct execution *execution)
{
    struct server *server = execution->server;
    uint64_t has_context = execution_word(execution);
    CUcontext context = NULL;
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    code = server->api->DevicePrimaryCtxRetain(has_context ? &context : NULL, server->device);
    if (!code)
        (void)set_context(server, 0, context);
    return code;
}

pool_cu_result server_DevicePrimaryCtxRelease(struct execution *execution)
{
    struct server *server = execution->server;
    unsigned flags;
    int is_active = 1;
    pool_cu_result code = server->api->DevicePrimaryCtxRelease(server->device);

    if (!code && server->api->DevicePrimaryCtxGetState(server->device, &flags, &is_active))
        is_active = 1;
    if (!code && !is_active)
        server_remove_context(server, 0);
    execution_reply(execution, (uint64_t)is_active);
    return code;
}

pool_cu_result server_CtxCreate(struct execution *execution)
{
    struct server *server = execution->server;
    uint64_t has_context = execution_word(execution), number = execution_word(execution);
    unsigned flags = (unsigned)execution_word(execution);
    CUcontext context = NULL, popped;
    pool_cu_result code;

    if (number == 0 || number >= WORKER_CONTEXTS || atomic_load(&server->contexts[number].object))
        execution->is_malformed = true;
    code = execution_check(execution);
    if (code)
        return code;
    code = server->api->CtxCreate(has_context ? &context : NULL, flags, server->device);
    if (code)
        return code;
    code = server->api->CtxPopCurrent(&popped);
    if (!set_context(server, (unsigned)number, context)) {
        server->api->CtxDestroy(context);
        execution->is_malformed = true;
    }
    return code;
}

pool_cu_result server_CtxDestroy(struct execution *execution)
{
    struct server *server = execution->server;
    uint64_t number = execution->next < execution->count ? execution->words[execution->next] : 0;
    CUcontext context = execution_context(execution);
    pool_cu_result code = execution_check(execution);

    if (code)
        return code;
    code = server->api->CtxDestroy(context);
    if (!code && context)
        server_remove_context(server, (unsigned)number - 1);
    return code;
}
