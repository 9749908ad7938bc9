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

/* Replies whether the primary context is alive, after what may have ended it. */
static void reply_primary(struct execution *execution)
{
    struct server *server = execution->server;
    unsigned flags;
    int is_active = 1;

    if (server->api->DevicePrimaryCtxGetState(server->device, &flags, &is_active))
        is_active = 1;
    if (!is_active)
        server_remove_context(server, 0);
    execution_reply(execution, (uint64_t)is_active);
}

pool_cu_result server_DevicePrimaryCtxRelease(struct execution *execution)
{
    struct server *server = execution->server;
    pool_cu_result code = server->api->DevicePrimaryCtxRelease(server->device);

    if (!code)
        reply_primary(execution);
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

/* The client has chosen a number for the context, which is used unless it has one. */
pool_cu_result server_CtxFromGreenCtx(struct execution *execution)
{
    struct server *server = execution->server;
    CUgreenCtx green = execution_handle(execution, WORKER_GREEN);
    uint64_t number = execution_word(execution), known;
    CUcontext context = NULL;
    pool_cu_result code;

    if (number == 0 || number >= WORKER_CONTEXTS)
        execution->is_malformed = true;
    code = execution_check(execution);
    if (!code)
        code = EXECUTION_CALL(execution, CtxFromGreenCtx, &context, green);
    if (code)
        return code;
    known = server_context_number(server, context);
    if (!known && !set_context(server, (unsigned)number, context))
        execution->is_malformed = true;
    execution_reply(execution, known ? known - 1 : number);
    return code;
}

/* Replies with the number + 1 of its context; 0: it has none. The primary one may end with it. */
pool_cu_result server_GreenCtxDestroy(struct execution *execution)
{
    struct server *server = execution->server;
    CUgreenCtx green = execution_handle(execution, WORKER_GREEN);
    CUcontext context = NULL;
    uint64_t number = 0;
    pool_cu_result code = execution_check(execution);

    if (!code && server->api->CtxFromGreenCtx && !server->api->CtxFromGreenCtx(&context, green))
        number = server_context_number(server, context);
    if (!code)
        code = EXECUTION_CALL(execution, GreenCtxDestroy, green);
    if (code)
        return code;
    if (number)
        server_remove_context(server, (unsigned)number - 1);
    execution_reply(execution, number);
    reply_primary(execution);
    return POOL_CU_SUCCESS;
}
