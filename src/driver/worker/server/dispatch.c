/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes messages in the worker: reads arguments with every length checked, makes the context
 * current, and reports failures as calls.def says.
 */
#include "driver/worker/server/server.h"

#include <string.h>

#include "driver/driver.h"

enum mode { MODE_WAIT, MODE_POST, MODE_CLEANUP, MODE_SYNC, MODE_END, MODE_END_LATER };

static const struct {
    server_executor execute;
    enum mode mode;
} functions[WORKER_FUNCTIONS] = {
#define SIDES_MADE(function, mode) [WORKER_##function] = {server_##function, MODE_##mode},
#define SIDES_WRAPPED SIDES_MADE
#define SIDES_WRITTEN SIDES_MADE
#define SIDES_LOCAL(function, mode)
#define CALL_ROW(function, needs, mode, sides, ...) SIDES_##sides(function, mode)
#include "driver/calls.def"
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
        execution->code =
            kind == WORKER_GREEN ? POOL_CU_CONTEXT_IS_DESTROYED : POOL_CU_INVALID_HANDLE;
    if (kind == WORKER_KERNEL)
        execution->layout = execution->object.layout;
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

void *execution_pinned(struct execution *execution)
{
    uint64_t offset = execution_word(execution);
    bool is_stage;
    void *memory = execution_host(execution, offset, 0, &is_stage);

    if (is_stage)
        execution->is_malformed = true;
    return memory;
}

void *execution_struct(struct execution *execution, void *to, size_t size)
{
    uint64_t bytes;
    const void *given = execution_bytes(execution, &bytes);

    if (!given || !bytes)
        return NULL;
    if (bytes == size)
        memcpy(to, given, size);
    else
        execution->is_malformed = true;
    return to;
}

const pool_cu_mem_access *execution_access(
    struct execution *execution, pool_cu_mem_access *access, size_t *count)
{
    bool is_given = execution_word(execution) != 0;

    *count = (size_t)execution_word(execution);
    if (*count > WORKER_MAX_DEVICES)
        execution->is_malformed = true;
    for (size_t i = 0; is_given && i < *count && !execution->is_malformed; i++) {
        bool is_own = execution_word(execution) != 0;

        if (!execution_struct(execution, &access[i], sizeof(access[i])))
            execution->is_malformed = true;
        if (is_own)
            access[i].location.id = execution->server->device;
    }
    return is_given ? access : NULL;
}

pool_cu_dev_resource *execution_resources(
    struct execution *execution, pool_cu_dev_resource *resources, unsigned *count)
{
    bool is_given = execution_word(execution) != 0;

    *count = (unsigned)execution_word(execution);
    if (*count > WORKER_RESOURCES)
        execution->is_malformed = true;
    for (unsigned i = 0; is_given && i < *count && !execution->is_malformed; i++)
        if (!execution_struct(execution, &resources[i], sizeof(resources[i])))
            execution->is_malformed = true;
    return is_given ? resources : NULL;
}

unsigned *execution_count(struct execution *execution, unsigned *count)
{
    bool is_given = execution_word(execution) != 0;

    *count = (unsigned)execution_word(execution);
    return is_given ? count : NULL;
}

void execution_default_stream(struct execution *execution)
{
    if (execution->context)
        execution->stream_failure = &execution->server->contexts[execution->context - 1].failure;
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
 * one itself. For the end of a capture the failure is what the client has to learn. */
static pool_cu_result report_failure(struct execution *execution, pool_cu_result code)
{
    struct server_thread *thread = execution->thread;
    unsigned failure = 0;

    if (code != POOL_CU_SUCCESS && code != POOL_CU_NOT_READY &&
        execution->function != WORKER_StreamEndCapture)
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

/* Whether a SYNC call will report the failure of a posted one. */
static bool has_failure(const struct execution *execution)
{
    return execution->thread->failure ||
           (execution->stream_failure && atomic_load(execution->stream_failure));
}

pool_cu_result execution_reply_new(struct execution *execution, enum worker_kind kind, void *object)
{
    struct server_object added = {
        .kind = kind, .object = object, .context = execution->context ? execution->context - 1 : 0};

    /* What a capture has made lacks the operation that failed. */
    if (functions[execution->function].mode == MODE_SYNC && has_failure(execution))
        return POOL_CU_STREAM_CAPTURE_INVALIDATED;
    if (!server_add(execution->server, &added))
        return POOL_CU_OUT_OF_MEMORY;
    execution_reply(execution, added.handle);
    return POOL_CU_SUCCESS;
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
    if (functions[execution->function].mode != MODE_END || !execution->object.handle)
        return;
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
