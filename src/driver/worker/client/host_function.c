/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions of streams: the worker's streams call them by a token, and a thread of this
 * process runs them. The worker never learns their addresses.
 */
#include "base/alloc.h"
#include "base/thread.h"
#include "driver/worker/client/client.h"
#include "driver/worker/futex.h"

/* A function that a stream has not reached yet. */
struct host_function {
    uint64_t token;
    unsigned worker;
    unsigned generation;
    pool_cu_host_function function;
    void *user;
    struct host_function *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct host_function *list; /* guarded by list_lock */
static uint64_t last_token;        /* the same */

/* The token of the function; 0: out of memory. */
static uint64_t add(const struct client_call *call, pool_cu_host_function function, void *user)
{
    struct host_function *made = base_calloc(1, sizeof(*made));
    uint64_t token;

    if (!made)
        return 0;
    made->worker = (unsigned)call->worker->ordinal;
    made->generation = call->generation;
    made->function = function;
    made->user = user;
    pthread_mutex_lock(&list_lock);
    made->token = token = ++last_token;
    made->next = list;
    list = made;
    pthread_mutex_unlock(&list_lock);
    return token;
}

/* Removes the function of the token if the worker may call it. */
static struct host_function *remove_token(uint64_t token, unsigned worker)
{
    struct host_function **link = &list, *found;

    pthread_mutex_lock(&list_lock);
    while (*link && ((*link)->token != token || (*link)->worker != worker))
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&list_lock);
    return found;
}

void client_host_forget(struct client_worker *worker)
{
    struct host_function **link = &list, *removed;

    pthread_mutex_lock(&list_lock);
    while (*link) {
        removed = *link;
        if (removed->worker != (unsigned)worker->ordinal) {
            link = &removed->next;
            continue;
        }
        *link = removed->next;
        base_free(removed);
    }
    pthread_mutex_unlock(&list_lock);
}

/* --- the thread that runs them ---------------------------------------------------------------- */

static void run_call(struct client_worker *worker, struct worker_host_call *shared)
{
    struct host_function *found = remove_token(shared->token, (unsigned)worker->ordinal);

    if (found) {
        client_thread()->is_in_host_function = true;
        found->function(found->user);
        client_thread()->is_in_host_function = false;
        base_free(found);
    }
    atomic_store(&shared->state, WORKER_HOST_DONE);
    worker_futex_wake(&shared->state);
}

static void *run_host_functions(void *user)
{
    struct client_worker *worker = user;
    struct worker_shared *shared = worker->shared;

    if (!client_thread())
        return NULL; /* out of memory; the streams wait until their worker is ended */
    while (!atomic_load(&worker->stops_host_thread)) {
        unsigned requests = atomic_load(&shared->host_requests);

        for (unsigned i = 0; i < WORKER_HOST_CALLS; i++)
            if (atomic_load(&shared->host_calls[i].state) == WORKER_HOST_REQUESTED)
                run_call(worker, &shared->host_calls[i]);
        worker_futex_wait(&shared->host_requests, requests, WORKER_SLEEP_NS);
    }
    return NULL;
}

static bool start_thread(struct client_worker *worker)
{
    bool is_started;

    pthread_mutex_lock(&worker->lock);
    if (!worker->has_host_thread && client_worker_runs(worker)) {
        atomic_store(&worker->stops_host_thread, false);
        worker->has_host_thread =
            base_thread_start(&worker->host_thread, run_host_functions, worker);
    }
    is_started = worker->has_host_thread || !client_worker_runs(worker); /* the call says lost */
    pthread_mutex_unlock(&worker->lock);
    return is_started;
}

void client_host_stop(struct client_worker *worker)
{
    pthread_t thread;
    bool has_thread;

    pthread_mutex_lock(&worker->lock);
    has_thread = worker->has_host_thread;
    thread = worker->host_thread;
    atomic_store(&worker->stops_host_thread, true);
    pthread_mutex_unlock(&worker->lock);
    if (!has_thread)
        return;
    atomic_fetch_add(&worker->shared->host_requests, 1);
    worker_futex_wake(&worker->shared->host_requests);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&worker->lock);
    worker->has_host_thread = false;
    pthread_mutex_unlock(&worker->lock);
}

pool_cu_result client_cu_LaunchHostFunc(CUstream stream, pool_cu_host_function function, void *user)
{
    struct client_call call;
    struct client_worker *worker;
    uint64_t token = 0;
    pool_cu_result code = client_current_worker(&worker);

    if (code)
        return code;
    call_begin(&call, WORKER_LaunchHostFunc, CLIENT_CLEANUP);
    call_handle(&call, WORKER_STREAM, stream);
    call_worker(&call, worker, client_handle_read(client_current()).generation);
    if (!call.code && function) {
        token = add(&call, function, user);
        if (!token || !start_thread(call.worker)) {
            base_free(remove_token(token, (unsigned)call.worker->ordinal));
            return POOL_CU_OUT_OF_MEMORY;
        }
    }
    call_word(&call, token);
    if (!token) /* the driver refuses it */
        call.mode = CLIENT_WAIT;
    code = call_run(&call);
    if (code)
        base_free(remove_token(token, (unsigned)worker->ordinal));
    return code;
}
