/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a worker process as its callers know it: losses with their cause, when a replacement
 * may start, and the listeners of changes. The supervisor (supervise.c) makes the changes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/work.h"
#include "driver/worker/client/client.h"

#define SECOND_NS UINT64_C(1000000000)
/* After this time in service an earlier loss counts no more. */
#define RELIABLE_NS (60 * SECOND_NS)
#define LONGEST_PAUSE_NS (10 * SECOND_NS)

struct client_listener {
    worker_listener call;
    void *user;
    struct client_listener *next;
};

/* --- changes of state ------------------------------------------------------------------------- */

void client_announce(struct client *owner)
{
    pthread_mutex_lock(&owner->lock);
    pthread_cond_broadcast(&owner->changed);
    pthread_mutex_unlock(&owner->lock);
}

void client_wake(struct client *owner)
{
    const uint64_t one = 1;

    while (write(owner->wake, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void client_wake_callers(struct client_worker *worker)
{
    unsigned count = atomic_load(&worker->ring_count);

    for (unsigned i = 0; worker->shared && i < count; i++)
        ring_wake_client(&worker->shared->rings[i]);
}

void client_delay_restart(struct client_worker *worker, uint64_t now, uint64_t shortest)
{
    uint64_t pause = client->pause_ns;

    worker->useless_in_a_row++;
    for (unsigned i = 2; i < worker->useless_in_a_row && pause < LONGEST_PAUSE_NS; i++)
        pause *= 2;
    pause = worker->useless_in_a_row > 1 ? base_min(pause, LONGEST_PAUSE_NS) : 0;
    worker->restart_ns = now + base_max(pause, shortest);
}

void client_set_lost(struct client_worker *worker, pool_cu_result code, const char *cause)
{
    uint64_t now = base_clock_ns();

    if (now - worker->ready_ns > RELIABLE_NS)
        worker->losses_in_a_row = worker->useless_in_a_row = 0;
    worker->losses++;
    worker->losses_in_a_row++;
    client_delay_restart(worker, now, 0);
    base_text_copy(worker->cause, sizeof(worker->cause), cause);
    /* Before a caller learns of the loss; the successor has nothing of it. */
    if (client_worker_runs(worker))
        driver_work_append(&client->table, worker->ordinal, worker->cause, sizeof(worker->cause));
    atomic_store(&worker->lost_code, code);
    worker->is_notified_lost = false;
    atomic_store(&worker->state, WORKER_STATE_LOST);
}

static const char *function_name(unsigned function)
{
    static const char *const names[] = {
#define NAME(field, symbol, suffix, version, need, parameters) symbol,
        POOL_CUDA_FUNCTIONS(NAME)
#undef NAME
    };

    return function < sizeof(names) / sizeof(names[0]) ? names[function] : "a call";
}

void client_lose(
    struct client_worker *worker, unsigned generation, pool_cu_result code, const char *cause)
{
    char text[256];
    bool is_first;

    if (!cause) {
        snprintf(text, sizeof(text), "%s failed: %s (%u): %s",
            function_name(atomic_load(&worker->shared->fault_function)), driver_code_name(code),
            code, driver_code_hint(code));
        cause = text;
    }
    /* Later calls fail with the code of the fault, if it is one of the process. */
    if (driver_code_class(code) != POOL_CLASS_PROCESS)
        code = DRIVER_CODE_LOST;
    pthread_mutex_lock(&worker->lock);
    is_first = atomic_load(&worker->state) == WORKER_STATE_RUNNING &&
               (atomic_load(&worker->generation) & 0xffff) == (generation & 0xffff);
    if (is_first)
        client_set_lost(worker, code, cause);
    pthread_mutex_unlock(&worker->lock);
    if (!is_first)
        return;
    client_wake_callers(worker);
    client_wake(client);
}

void worker_end(int ordinal, const char *cause)
{
    if (client && ordinal >= 0 && (unsigned)ordinal < client->count)
        client_lose(&client->workers[ordinal], atomic_load(&client->workers[ordinal].generation),
            DRIVER_CODE_LOST, cause);
}

void worker_skip_pause(int ordinal)
{
    struct client_worker *worker = &client->workers[ordinal];

    pthread_mutex_lock(&worker->lock);
    worker->useless_in_a_row = 0;
    worker->restart_ns = 0;
    pthread_mutex_unlock(&worker->lock);
}

void worker_restart(int ordinal)
{
    struct client_worker *worker = &client->workers[ordinal];

    pthread_mutex_lock(&worker->lock);
    worker->losses_in_a_row = worker->useless_in_a_row = 0;
    worker->restart_ns = 0;
    if (atomic_load(&worker->state) == WORKER_STATE_FAILED && atomic_load(&worker->generation)) {
        atomic_store(&worker->is_wanted, true);
        worker->is_notified_lost = true;
        atomic_store(&worker->state, WORKER_STATE_LOST);
    }
    pthread_mutex_unlock(&worker->lock);
    client_wake(client);
}

void client_want(struct client_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    /* A first start that failed may be repeated. */
    if (atomic_load(&worker->state) == WORKER_STATE_FAILED && !atomic_load(&worker->generation))
        atomic_store(&worker->state, WORKER_STATE_ABSENT);
    atomic_store(&worker->is_wanted, true);
    pthread_mutex_unlock(&worker->lock);
    client_wake(client);
}

pool_status client_wait_ready(struct client_worker *worker)
{
    unsigned state;
    char cause[sizeof(worker->cause)];

    client_want(worker);
    pthread_mutex_lock(&client->lock);
    for (;;) {
        state = atomic_load(&worker->state);
        if (state == WORKER_STATE_RUNNING || state == WORKER_STATE_FAILED || client->is_closing)
            break;
        pthread_cond_wait(&client->changed, &client->lock);
    }
    pthread_mutex_unlock(&client->lock);
    if (state == WORKER_STATE_RUNNING)
        return POOL_OK;
    pthread_mutex_lock(&worker->lock);
    memcpy(cause, worker->cause, sizeof(cause));
    pthread_mutex_unlock(&worker->lock);
    return base_fail(POOL_ERR_DEVICE_UNUSABLE,
        "the worker process of device %d cannot be started: %s", worker->ordinal, cause);
}

bool worker_get_status(int ordinal, struct worker_status *status)
{
    struct client_worker *worker;

    if (!client || ordinal < 0 || (unsigned)ordinal >= client->count)
        return false;
    worker = &client->workers[ordinal];
    pthread_mutex_lock(&worker->lock);
    *status = (struct worker_status){.state = (enum worker_state)atomic_load(&worker->state),
        .pid = worker->pid,
        .generation = atomic_load(&worker->generation),
        .losses = worker->losses,
        .ready_unix_time = worker->ready_unix_time,
        .window_bytes = atomic_load(&worker->window_bytes),
        .pinned_bytes = atomic_load(&worker->pinned_bytes)};
    memcpy(status->cause, worker->cause, sizeof(status->cause));
    pthread_mutex_unlock(&worker->lock);
    return true;
}

void worker_explain_loss(int ordinal, char *text, size_t size)
{
    struct worker_status status;

    if (worker_get_status(ordinal >= 0 ? ordinal : client_last_lost(), &status))
        snprintf(text, size, "%s", status.cause);
}

/* --- listeners -------------------------------------------------------------------------------- */

pool_status worker_listen(worker_listener listener, void *user)
{
    struct client_listener *added = base_calloc(1, sizeof(*added));

    if (!added)
        return base_fail_memory("a listener of worker processes");
    added->call = listener;
    added->user = user;
    pthread_mutex_lock(&client->lock);
    added->next = client->listeners;
    client->listeners = added;
    pthread_mutex_unlock(&client->lock);
    return POOL_OK;
}

void worker_unlisten(worker_listener listener, void *user)
{
    struct client_listener **link = NULL, *removed;

    pthread_mutex_lock(&client->lock);
    for (;;) {
        link = &client->listeners;
        while (*link && ((*link)->call != listener || (*link)->user != user))
            link = &(*link)->next;
        removed = *link;
        if (!removed || removed != client->calling ||
            pthread_equal(client->supervisor, pthread_self()))
            break;
        pthread_cond_wait(&client->changed, &client->lock);
    }
    if (removed)
        *link = removed->next;
    pthread_mutex_unlock(&client->lock);
    base_free(removed);
}

void client_notify(struct client *owner, const struct client_worker *worker)
{
    enum worker_state state = (enum worker_state)atomic_load(&worker->state);
    struct client_listener *listener;

    pthread_mutex_lock(&owner->lock);
    for (listener = owner->listeners; listener;) {
        worker_listener call = listener->call;
        void *user = listener->user;
        struct client_listener *found;

        owner->calling = listener;
        pthread_mutex_unlock(&owner->lock);
        call(user, worker->ordinal, state);
        pthread_mutex_lock(&owner->lock);
        owner->calling = NULL;
        pthread_cond_broadcast(&owner->changed);
        /* It may have removed itself, but no one else was removed meanwhile that is its successor.
         */
        for (found = owner->listeners; found && found != listener;)
            found = found->next;
        listener = found ? found->next : NULL;
    }
    pthread_mutex_unlock(&owner->lock);
}

void client_forget_listeners(struct client *closing)
{
    while (closing->listeners) {
        struct client_listener *listener = closing->listeners;

        closing->listeners = listener->next;
        base_free(listener);
    }
}
