/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes messages in the worker: reads arguments with every length checked, makes the context
 * current, and reports failures as calls.def says.
 */
#include "driver/worker/server/server.h"

#include <string.h>

#include "driver/driver.h"

enum mode { MODE_WAIT, MODE_POST, MODE_CLEANUP, MODE_SYNC };

static const struct {
    server_executor execute;
    enum mode mode;
} functions[WORKER_FUNCTIONS] = {
#define WORKER_CUSTOM(function, mode) [WORKER_##function] = {server_##function, MODE_##mode},
#define WORKER_CALL(function, mode, ...) [WORKER_##function] = {server_##function, MODE_##mode},
#define WORKER_WRAP WORKER_CALL
#include "driver/worker/calls.def"
    [WORKER_PinArena] = {server_PinArena, MODE_WAIT},
    [WORKER_UnpinArena] = {server_UnpinArena, MODE_WAIT},
};

/* --- arguments -------------------------------------------------------------------------------- */

uint64_t execution_word(struct execution *execution)
{
    if (execution->next < execution->count)
        return execution->words[execution->next++];
    execution->is_malformed = true;
    return 0;
}

const void *execution_bytes(struct execution *execution, uint64_t *bytes)
{
    uint64_t length = execution_word(execution);
    uint64_t rest = (uint64_t)(execution->count - execution->next) * 8;
    const void *data = execution->words + execution->next;

    *bytes = 0;
    if (length > rest) {
        execution->is_malformed = true;
        return NULL;
    }
    execution->next += (size_t)((length + 7) / 8);
    *bytes = length;
    return data;
}

/* A string has its zero in the message; an empty one is NULL. */
const char *execution_text(struct execution *execution)
{
    uint64_t bytes;
    const char *text = execution_bytes(execution, &bytes);

    if (!text || bytes == 0)
        return NULL;
    if (text[bytes - 1] != '\0')
        execution->is_malformed = true;
    return execution->is_malformed ? NULL : text;
}

static void set_stream(struct execution *execution, uint64_t handle)
{
    struct server *server = execution->server;

    if (execution->object.handle)
        execution->stream_failure = execution->object.failure;
    else if (handle <= 2 && execution->context)
        execution->stream_failure = &server->contexts[execution->context - 1].failure;
}

/* The default streams, 0 to 2, have no handle. */
void *execution_handle(struct execution *execution, enum worker_kind kind)
{
    uint64_t handle = execution_word(execution);
    bool is_default = handle == 0 || (kind == WORKER_STREAM && handle <= 2);

    execution->object = (struct server_object){0};
    if (!is_default && !server_find(execution->server, kind, handle, &execution->object) &&
        !execution->code)
        execution->code = POOL_CU_INVALID_HANDLE;
    if (kind == WORKER_STREAM)
        set_stream(execution, handle);
    if (kind == WORKER_EVENT)
        execution->event_failure = execution->object.failure;
    return is_default ? (void *)(uintptr_t)handle : execution->object.object;
}

void *execution_host(struct execution *execution, uint64_t offset, uint64_t bytes, bool *is_stage)
{
    const struct server *server = execution->server;

    *is_stage = offset == WORKER_STAGE;
    if (*is_stage ? bytes <= WORKER_STAGE_BYTES
                  : offset <= server->arena_bytes && bytes <= server->arena_bytes - offset)
        return *is_stage ? execution->thread->stage : server->arena + offset;
    execution->is_malformed = true;
    return NULL;
}

/* --- replies ---------------------------------------------------------------------------------- */

void execution_reply(struct execution *execution, uint64_t word)
{
    if (execution->reply_words < WORKER_REPLY_BYTES / 8)
        execution->reply->words[execution->reply_words++] = word;
}

void execution_reply_bytes(struct execution *execution, const void *data, size_t bytes)
{
    size_t rest = (WORKER_REPLY_BYTES / 8 - execution->reply_words) * 8;

    bytes = bytes > rest ? rest : bytes;
    memcpy(execution->reply->words + execution->reply_words, data, bytes);
    execution->reply_words += (bytes + 7) / 8;
}

pool_cu_result execution_reply_new(struct execution *execution, enum worker_kind kind, void *object)
{
    struct server_object added = {
        .kind = kind, .object = object, .context = execution->context ? execution->context - 1 : 0};

    if (!server_add(execution->server, &added))
        return POOL_CU_OUT_OF_MEMORY;
    execution_reply(execution, added.handle);
    return POOL_CU_SUCCESS;
}

/* --- failures of posted calls ----------------------------------------------------------------- */

pool_cu_result execution_check(struct execution *execution)
{
    unsigned failure = 0;

    if (execution->is_malformed)
        return POOL_CU_INVALID_VALUE;
    if (execution->code)
        return execution->code;
    /* What follows a failed call on its stream may depend on it, so it is not executed. */
    if (functions[execution->function].mode == MODE_POST && execution->stream_failure)
        failure = atomic_load(execution->stream_failure);
    return failure;
}

static void store_failure(struct execution *execution, pool_cu_result code)
{
    struct server_thread *thread = execution->thread;
    unsigned none = 0;

    if (execution->stream_failure)
        atomic_compare_exchange_strong(execution->stream_failure, &none, code);
    if (!thread->failure) {
        thread->failure = code;
        thread->failed_on = execution->stream_failure;
    }
}

/* The code of a call that waits for work: a failure that was not reported yet, unless the call has
 * one itself. */
static pool_cu_result report_failure(struct execution *execution, pool_cu_result code)
{
    struct server_thread *thread = execution->thread;
    unsigned failure = 0;

    if (code != POOL_CU_SUCCESS && code != POOL_CU_NOT_READY)
        return code;
    if (thread->failure) {
        failure = thread->failure;
        if (thread->failed_on)
            atomic_compare_exchange_strong(thread->failed_on, &failure, 0);
        failure = thread->failure;
        thread->failure = 0;
        thread->failed_on = NULL;
    } else if (execution->stream_failure) {
        failure = atomic_exchange(execution->stream_failure, 0);
    } else if (execution->event_failure) {
        failure = atomic_load(execution->event_failure);
    }
    return failure ? failure : code;
}

bool execution_has_failure(const struct execution *execution)
{
    return execution->thread->failure ||
           (execution->stream_failure && atomic_load(execution->stream_failure));
}

/* Events carry the failure of the work that they follow to the streams that wait for them. */
static void propagate_failure(struct execution *execution)
{
    unsigned failure;

    if (!execution->event_failure || !execution->stream_failure)
        return;
    if (execution->function == WORKER_EventRecord) {
        atomic_store(execution->event_failure, atomic_load(execution->stream_failure));
    } else if (execution->function == WORKER_StreamWaitEvent) {
        failure = atomic_load(execution->event_failure);
        if (failure)
            store_failure(execution, failure);
    }
}

static void publish_fault(struct execution *execution, pool_cu_result code)
{
    struct server *server = execution->server;
    struct worker_shared *shared = server->shared;

    if (!shared || driver_code_class(code) != POOL_CLASS_PROCESS)
        return;
    pthread_mutex_lock(&server->lock); /* function and code are those of one call */
    if (!atomic_load(&shared->fault)) {
        atomic_store(&shared->fault_function, execution->function);
        atomic_store(&shared->fault, code);
    }
    pthread_mutex_unlock(&server->lock);
}

/* --- execution -------------------------------------------------------------------------------- */

static pool_cu_result select_context(struct execution *execution)
{
    struct server_thread *thread = execution->thread;
    struct server *server = execution->server;
    CUcontext context = NULL;
    unsigned epoch = 0;
    pool_cu_result code;

    if (execution->context) {
        /* In this order: a change that only the second load sees makes the epoch a former one. */
        epoch = atomic_load(&server->contexts[execution->context - 1].epoch);
        context = atomic_load(&server->contexts[execution->context - 1].object);
        if (!context)
            return POOL_CU_CONTEXT_IS_DESTROYED;
    }
    if (thread->context == execution->context && thread->epoch == epoch)
        return POOL_CU_SUCCESS;
    code = server->api->CtxSetCurrent(context);
    if (!code) {
        thread->context = execution->context;
        thread->epoch = epoch;
    }
    return code;
}

/* The handle of an object that the call has destroyed becomes invalid. */
static void remove_destroyed(struct execution *execution)
{
    switch (execution->function) {
    case WORKER_ModuleUnload:
    case WORKER_StreamDestroy:
    case WORKER_EventDestroy:
    case WORKER_MemPoolDestroy:
    case WORKER_MemRelease:
    case WORKER_GraphExecDestroy:
    case WORKER_GraphDestroy:
        break;
    default:
        return;
    }
    server_remove(execution->server, execution->object.handle);
    execution->event_failure = NULL;
    execution->stream_failure = NULL;
}

bool server_execute(struct server_thread *thread, const struct worker_header *message,
    struct worker_reply *reply, bool *has_reply)
{
    struct execution execution = {.server = thread->server,
        .thread = thread,
        .function = message->function,
        .context = message->context,
        .words = (const uint64_t *)(const void *)(message + 1),
        .count = (message->bytes - sizeof(*message)) / 8,
        .reply = reply};
    pool_cu_result code;

    *has_reply = message->flags & WORKER_FLAG_WAITS;
    if (message->function >= WORKER_FUNCTIONS || !functions[message->function].execute ||
        message->context > WORKER_CONTEXTS || message->flags & ~WORKER_FLAG_WAITS)
        return false;
    code = select_context(&execution);
    if (!code)
        code = functions[message->function].execute(&execution);
    if (execution.is_malformed)
        return false;
    if (code)
        publish_fault(&execution, code);
    else
        remove_destroyed(&execution);
    propagate_failure(&execution);
    if (!*has_reply) {
        if (code)
            store_failure(&execution, code);
        return true;
    }
    if (functions[message->function].mode == MODE_SYNC)
        code = report_failure(&execution, code);
    reply->code = code;
    reply->bytes = (uint32_t)(execution.reply_words * 8);
    return true;
}
