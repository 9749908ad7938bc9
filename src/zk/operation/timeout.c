/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that return at their deadline: see timeout.h.
 */
#include "zk/operation/timeout.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <devicepool/commit.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/thread.h"
#include "pool/device/device.h"
#include "zk/operation/operation.h"

/* For the operation to end by itself once it is cancelled at the deadline: a chunk takes less. */
#define GRACE_NS UINT64_C(200000000)
/* Between two looks at a cancel object that too many threads wait for. */
#define POLL_NS 10000000u
/* Longer ones are no struct of this library; the call refuses them. */
#define LONGEST_PARAMS 4096u

static const struct base_struct exec_type = BASE_STRUCT(pool_exec);
static const struct base_struct error_type = BASE_STRUCT(pool_error_slot);

/* One of the threads that work for a call. */
struct worker_thread {
    pthread_t thread;
    device_entered_slot *entered; /* the device in whose call it is */
};

/* Shared by the caller and the call's thread; the last of them frees it. */
struct timed {
    struct base_arena memory;
    struct operation_call *call; /* in `memory` */
    void (*discard)(void *handle);
    void **result;    /* in `memory`; NULL: the call returns no handle */
    void **to_result; /* the caller's */
    pool_exec exec;   /* of the thread */
    pool_cancel *cancel;
    const char *label;
    pool_device *device;   /* keeps the pool while the thread is left behind; NULL: not known */
    struct base_wake wake; /* of the caller */
    pthread_mutex_t lock;
    /* guarded by lock */
    struct worker_thread threads[EXEC_MAX_DEVICES + 1];
    unsigned thread_count;
    uint64_t done, total; /* of the progress; 0: none yet */
    bool is_done, is_left;
    pool_status status;
    struct base_error_copy error;
};

static _Thread_local struct timed *current;

bool exec_has_timeout(const pool_exec *given)
{
    return base_struct_is_valid(&exec_type, given) &&
           given->struct_size >= offsetof(pool_exec, timeout_ns) + sizeof(given->timeout_ns) &&
           given->timeout_ns;
}

/* ---- copies of arguments ----------------------------------------------------------------------
 */

static void *copy_bytes(struct timed *timed, const void *bytes, size_t size)
{
    void *copy = base_arena_alloc(&timed->memory, size);

    if (copy)
        memcpy(copy, bytes, size);
    return copy;
}

/* With its shards, of which the call has exec->device_count. */
static void *copy_span(struct timed *timed, const pool_span *given)
{
    pool_span *copy = copy_bytes(timed, given, sizeof(*given));
    uint32_t shards = timed->exec.device_count;

    if (copy && copy->space == POOL_MEMORY_SHARDED && copy->data && shards &&
        shards <= EXEC_MAX_DEVICES)
        copy->data = copy_bytes(timed, copy->data, shards * sizeof(pool_span));
    return copy;
}

static void *copy_result(struct timed *timed, void **result, void (*discard)(void *handle))
{
    timed->to_result = result;
    timed->discard = discard;
    return timed->result = base_arena_alloc(&timed->memory, sizeof(void *));
}

/* NULL where there is no memory. What the call will refuse is passed as it is. */
static void *copy_pointer(struct timed *timed, const struct operation_argument *argument,
    const struct operation_call *call, void *given)
{
    uint32_t count;
    size_t size;

    switch (argument->kind) {
    case OPERATION_PARAMS:
        memcpy(&size, given, sizeof(size));
        return size < sizeof(size) || size > LONGEST_PARAMS ? given
                                                            : copy_bytes(timed, given, size);
    case OPERATION_MATRIX:
        return copy_bytes(timed, given, sizeof(pool_matrix));
    case OPERATION_SPAN:
        return copy_span(timed, given);
    case OPERATION_ARRAY:
        memcpy(&count, (const char *)call + argument->copy_at, sizeof(count));
        if (!count || count > argument->most)
            return given;
        if (argument->bytes)
            return copy_bytes(timed, given, (size_t)count * argument->bytes);
        memcpy(&size, given, sizeof(size));
        return size < sizeof(size) || size > LONGEST_PARAMS
                   ? given
                   : copy_bytes(timed, given, count * size);
    case OPERATION_STRING:
        return copy_bytes(timed, given, strlen(given) + 1);
    case OPERATION_RESULT:
        return copy_result(timed, given, argument->discard);
    default:
        return given;
    }
}

/* Whether there was memory for copies of the call and its arguments. */
static bool copy_call(struct timed *timed, const struct operation_call *call)
{
    const struct operation_argument *argument = call->operation->arguments;
    char *copy = copy_bytes(timed, call, call->operation->call_bytes);
    bool is_copied = copy != NULL;

    timed->call = (struct operation_call *)(void *)copy;
    if (is_copied)
        timed->call->given = &timed->exec;
    for (; is_copied && argument->name; argument++) {
        void *given;

        memcpy(&given, copy + argument->at, sizeof(given));
        if (!given)
            continue;
        given = copy_pointer(timed, argument, call, given);
        memcpy(copy + argument->at, &given, sizeof(given));
        is_copied = given != NULL;
    }
    return is_copied;
}

static bool copy_lists(struct timed *timed)
{
    pool_exec *exec = &timed->exec;
    uint32_t count = exec->device_count;

    if (!count || count > EXEC_MAX_DEVICES)
        return true;
    if (exec->devices) {
        exec->devices = copy_bytes(timed, exec->devices, count * sizeof(*exec->devices));
        if (!exec->devices)
            return false;
    }
    if (!exec->workspaces || exec->workspace_count != count)
        return true;
    exec->workspaces = copy_bytes(timed, exec->workspaces, count * sizeof(*exec->workspaces));
    return exec->workspaces != NULL;
}

/* ---- the thread -------------------------------------------------------------------------------
 */

struct timed *timed_current(void)
{
    return current;
}

void timed_join(struct timed *timed)
{
    if (!timed || current == timed)
        return;
    pthread_mutex_lock(&timed->lock);
    if (timed->thread_count < sizeof(timed->threads) / sizeof(timed->threads[0]))
        timed->threads[timed->thread_count++] =
            (struct worker_thread){pthread_self(), device_entered_of_thread()};
    pthread_mutex_unlock(&timed->lock);
    current = timed;
}

void timed_part(struct timed *timed)
{
    if (!timed)
        return;
    pthread_mutex_lock(&timed->lock);
    for (unsigned i = timed->thread_count; i-- > 0;)
        if (pthread_equal(timed->threads[i].thread, pthread_self()))
            timed->threads[i] = timed->threads[--timed->thread_count];
    pthread_mutex_unlock(&timed->lock);
    current = NULL;
}

static void note_progress(void *user, uint64_t done, uint64_t total)
{
    struct timed *timed = user;

    pthread_mutex_lock(&timed->lock);
    timed->done = done;
    timed->total = total;
    pthread_mutex_unlock(&timed->lock);
    base_wake_post(&timed->wake);
}

static void free_timed(struct timed *timed)
{
    pool_cancel_destroy(&timed->cancel);
    pthread_mutex_destroy(&timed->lock);
    base_arena_free(&timed->memory);
    base_free(timed);
}

static void *run_timed(void *argument)
{
    struct timed *timed = argument;
    pool_device *device = timed->device;
    bool is_left;

    timed_join(timed);
    (void)base_log_enter_label(timed->label);
    timed->status = operation_run(timed->call);
    base_error_save(&timed->error);
    timed_part(timed);
    pthread_mutex_lock(&timed->lock);
    timed->is_done = true;
    is_left = timed->is_left;
    device = timed->device;
    pthread_mutex_unlock(&timed->lock);
    if (!is_left) { /* the caller joins this thread */
        base_wake_post(&timed->wake);
        return NULL;
    }
    if (!timed->status && timed->result)
        timed->discard(*timed->result);
    free_timed(timed);
    if (device)
        device_dependent_removed(device, DEVICE_DEPENDENT_CALL);
    return NULL;
}

/* ---- the caller -------------------------------------------------------------------------------
 */

/* That a handle of the call has. */
static pool_device *device_of(const struct operation_call *call)
{
    return call->operation->device ? call->operation->device(call) : NULL;
}

static pool_status create_timed(const struct operation_call *call, const pool_exec *exec,
    pool_device *device, struct timed **created)
{
    struct timed *timed = base_calloc(1, sizeof(*timed));
    pool_status status = timed ? POOL_OK : base_fail_memory("a call with a timeout");
    bool is_copied;

    if (status)
        return status;
    pthread_mutex_init(&timed->lock, NULL);
    timed->exec = *exec;
    timed->exec.timeout_ns = 0;
    timed->exec.error = NULL;
    timed->device = device;
    if (!exec->device && !exec->lease && !exec->device_count && !exec->on_host && !device_of(call))
        timed->exec.device = device; /* the one that the calling thread has bound */
    /* A caller's cancel object makes the operation wait after each chunk. */
    status = exec->cancel ? pool_cancel_create(&timed->cancel)
                          : base_cancel_create_child(NULL, &timed->cancel);
    /* A request that precedes the call ends it, however short it is. */
    if (!status && pool_cancel_requested(exec->cancel))
        pool_cancel_request(timed->cancel);
    timed->exec.cancel = timed->cancel;
    timed->exec.progress = exec->progress ? note_progress : NULL;
    timed->exec.user = timed;
    is_copied = copy_lists(timed);
    if (base_log_label())
        timed->label = copy_bytes(timed, base_log_label(), strlen(base_log_label()) + 1);
    is_copied = is_copied && copy_call(timed, call);
    if (!status && !is_copied)
        status = base_fail_memory("the arguments of a call with a timeout");
    if (status) {
        free_timed(timed);
        return status;
    }
    *created = timed;
    return POOL_OK;
}

/* Calls the caller's callback with what is new; whether the call has ended. */
static bool look(struct timed *timed, const pool_exec *exec, uint64_t *reported)
{
    uint64_t done, total;
    bool is_done;

    pthread_mutex_lock(&timed->lock);
    done = timed->done;
    total = timed->total;
    is_done = timed->is_done;
    pthread_mutex_unlock(&timed->lock);
    if (exec->progress && done > *reported) {
        *reported = done;
        exec->progress(exec->user, done, total);
    }
    return is_done;
}

/* Whether the call has ended by the deadline, or soon after it had been cancelled then, which sets
 * *is_late. */
static bool wait_for(struct timed *timed, const pool_exec *exec, uint64_t end, bool *is_late)
{
    bool is_subscribed = exec->cancel && base_cancel_subscribe(exec->cancel, &timed->wake);
    uint64_t reported = 0, now;
    bool is_done;

    *is_late = false;
    while (!(is_done = look(timed, exec, &reported))) {
        if (pool_cancel_requested(exec->cancel))
            pool_cancel_request(timed->cancel);
        now = base_clock_ns();
        if (now >= end && *is_late)
            break;
        if (now >= end) {
            *is_late = true;
            pool_cancel_request(timed->cancel);
            end = now + GRACE_NS;
        }
        (void)base_wake_wait(
            &timed->wake, exec->cancel && !is_subscribed ? base_min(end, now + POLL_NS) : end);
    }
    if (exec->cancel)
        base_cancel_unsubscribe(exec->cancel, &timed->wake);
    return is_done;
}

/* The devices in whose calls the call's threads are. false: the call has ended meanwhile. */
static bool leave(struct timed *timed, pool_device **hung, unsigned *count)
{
    bool is_done;

    *count = 0;
    pthread_mutex_lock(&timed->lock);
    is_done = timed->is_done;
    for (unsigned i = 0; !is_done && i < timed->thread_count; i++) {
        pool_device *device = device_entered_by(timed->threads[i].entered);
        bool is_known = !device;

        for (unsigned k = 0; k < *count; k++)
            is_known |= hung[k] == device;
        if (!is_known)
            hung[(*count)++] = device;
    }
    if (!is_done) {
        if (!timed->device && *count)
            timed->device = hung[0];
        if (timed->device)
            device_dependent_added(timed->device, DEVICE_DEPENDENT_CALL);
        timed->is_left = true;
    }
    pthread_mutex_unlock(&timed->lock);
    return !is_done;
}

static pool_status fail_left(
    const char *name, double seconds, pool_device *const *hung, unsigned count)
{
    char where[512] = "", reason[128];
    size_t used = 0;

    snprintf(reason, sizeof(reason), "%s has not returned for %.3f s", name, seconds);
    for (unsigned i = 0; i < count; i++) {
        device_suspect(hung[i], reason);
        if (used < sizeof(where))
            used += (size_t)snprintf(where + used, sizeof(where) - used, "%s device %d (%s)",
                i ? "," : " in a call of", pool_device_ordinal(hung[i]), pool_device_uuid(hung[i]));
    }
    return base_fail(POOL_ERR_TIMEOUT,
        "%s: not complete after %.3f s; a thread of the library is still%s%s; what the call was "
        "given must stay valid until pool_device_wait_drained has succeeded",
        name, seconds, count ? where : " computing on the host",
        count ? ", which is not chosen any more" : "");
}

/* The thread has ended or ends at once. */
static pool_status finish(struct timed *timed, pthread_t thread, const struct operation_call *call,
    const pool_exec *exec, bool is_late)
{
    pool_status status;

    pthread_join(thread, NULL);
    status = timed->status;
    if (!status && timed->result)
        *timed->to_result = *timed->result;
    if (status == POOL_ERR_CANCELLED && is_late && !pool_cancel_requested(exec->cancel))
        status = base_fail(POOL_ERR_TIMEOUT, "%s: not complete after %.3f s: %s", call->name,
            (double)exec->timeout_ns / 1e9, timed->error.message);
    else if (status)
        base_error_restore(&timed->error);
    free_timed(timed);
    return status;
}

/* A device of the call, whichever it is; NULL: there is none, or the call finds it elsewhere. */
static pool_device *find_device(const struct operation_call *call, const pool_exec *exec)
{
    pool_device *device = exec->device ? exec->device : device_of(call);

    if (!device && exec->device_count && exec->device_count <= EXEC_MAX_DEVICES && exec->devices)
        device = exec->devices[0];
    if (!device && exec->lease)
        (void)pool_lease_device(exec->lease, 0, &device);
    if (!device && !exec->on_host)
        (void)device_or_bound(NULL, &device);
    return device;
}

static pool_status run_in_time(const struct operation_call *call)
{
    pool_device *hung[EXEC_MAX_DEVICES + 1];
    struct timed *timed;
    unsigned hung_count;
    uint64_t now;
    bool is_late;
    pthread_t thread;
    pool_exec exec;
    pool_status status = base_struct_read(&exec_type, call->name, "exec", call->given, &exec);

    if (!status && exec.error) /* the thread has none */
        status = base_struct_check(&error_type, call->name, "exec->error", exec.error);
    if (!status)
        status = create_timed(call, &exec, find_device(call, &exec), &timed);
    if (status)
        return status;
    now = base_clock_ns();
    if (!base_thread_start(&thread, run_timed, timed)) {
        free_timed(timed);
        return base_fail_memory("a thread for a call with a timeout");
    }
    if (wait_for(timed, &exec,
            exec.timeout_ns < UINT64_MAX - now ? now + exec.timeout_ns : UINT64_MAX, &is_late) ||
        !leave(timed, hung, &hung_count))
        return finish(timed, thread, call, &exec, is_late);
    pthread_detach(thread);
    return fail_left(call->name, (double)exec.timeout_ns / 1e9, hung, hung_count);
}

pool_status timed_run(const struct operation_call *call)
{
    const pool_exec *given = call->given;
    pool_status status = run_in_time(call);

    if (given->struct_size >= offsetof(pool_exec, error) + sizeof(given->error))
        base_error_fill(given->error);
    return status;
}
