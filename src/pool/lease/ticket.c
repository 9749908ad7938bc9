/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets: requests without a thread that waits for them. The thread that grants marks the ticket
 * and makes its file descriptor readable; hooks run on the pool's monitor thread, which also ends
 * waits whose deadline has passed.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/params.h"
#include "pool/device/extension.h"
#include "pool/lease/admission.h"

#define TICKET_MAGIC 0x7469636bu
#define TICKET_DEAD 0xdead7469u

struct pool_ticket {
    atomic_uint magic;
    struct admission *admission; /* constant, as are the next two and `terms` */
    pool_grant_hook hook;
    void *user;
    struct lease_terms terms; /* for messages; without ranks */

    /* guarded by the admission's lock */
    pool_error_slot *error; /* of the request, until it is filled; NULL: none */
    pool_lease *lease;      /* that waits, or was granted and not taken */
    pool_status status;
    bool is_decided;
    bool is_taken;
    bool is_hook_listed;
    int fd; /* -1: not asked for */
    pool_ticket *next_hook;
};

static pool_status check_ticket(const char *call, const pool_ticket *ticket)
{
    if (!ticket)
        return base_fail_null(call, "ticket");
    if (atomic_load_explicit(&ticket->magic, memory_order_relaxed) != TICKET_MAGIC)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the ticket has been destroyed, or the pointer never was a ticket", call);
    return device_pool_check(ticket->admission->pool, DEVICE_USE_HOST);
}

/* --- decisions, with the lock held --------------------------------------------------------------
 */

static void notify_fd(const pool_ticket *ticket)
{
    const uint64_t one = 1;

    /* It cannot block: the counter is written once. */
    if (ticket->fd >= 0 && write(ticket->fd, &one, sizeof(one)) < 0)
        return;
}

static void list_hook(pool_ticket *ticket)
{
    struct admission *admission = ticket->admission;

    ticket->is_hook_listed = true;
    ticket->next_hook = NULL;
    if (admission->hooks_last)
        admission->hooks_last->next_hook = ticket;
    else
        admission->hooks = ticket;
    admission->hooks_last = ticket;
}

static void unlist_hook(pool_ticket *ticket)
{
    struct admission *admission = ticket->admission;
    pool_ticket *before = NULL;

    if (!ticket->is_hook_listed)
        return;
    for (pool_ticket *at = admission->hooks; at != ticket; at = at->next_hook)
        before = at;
    if (before)
        before->next_hook = ticket->next_hook;
    else
        admission->hooks = ticket->next_hook;
    if (admission->hooks_last == ticket)
        admission->hooks_last = before;
    ticket->is_hook_listed = false;
}

void ticket_decided(pool_ticket *ticket)
{
    pool_lease *lease = ticket->lease;

    ticket->is_decided = true;
    ticket->status = lease->status;
    lease->ticket = NULL;
    lease->cancel = NULL;
    if (lease->status) {
        admission_return_lease(ticket->admission, lease);
        ticket->lease = NULL;
    }
    notify_fd(ticket);
    if (ticket->hook)
        list_hook(ticket);
}

bool ticket_poll_cancels(struct admission *admission, uint64_t now)
{
    pool_lease *lease = admission->active, *next;
    bool has_cancels = false;

    for (; lease; lease = next) {
        next = lease->next;
        /* A request that has just been decided is delivered afterwards. */
        if (!lease->ticket || !lease->cancel || lease->request.decision != SCHEDULER_WAITING)
            continue;
        if (pool_cancel_requested(lease->cancel)) {
            admission_cancel(admission, lease, POOL_ERR_CANCELLED, now);
            next = admission->active; /* this has changed the list */
        } else {
            has_cancels = true;
        }
    }
    return has_cancels;
}

void ticket_run_hooks(struct admission *admission)
{
    pthread_mutex_lock(&admission->lock);
    while (admission->hooks) {
        pool_ticket *ticket = admission->hooks;
        pool_grant_hook hook = ticket->hook; /* a destruction that waits for it clears it */
        void *hook_user = ticket->user;

        unlist_hook(ticket);
        admission->hook_running = ticket;
        pthread_mutex_unlock(&admission->lock);
        hook(hook_user, ticket); /* which may destroy the ticket */
        pthread_mutex_lock(&admission->lock);
        admission->hook_running = NULL;
        pthread_cond_broadcast(&admission->hook_returned);
    }
    pthread_mutex_unlock(&admission->lock);
}

/* --- making a request ---------------------------------------------------------------------------
 */

/* Submits the request of a new ticket, which exists unless this fails. */
static pool_status submit_ticket(pool_ticket *ticket, const struct lease_terms *terms)
{
    struct admission *admission = ticket->admission;
    enum scheduler_decision decision = SCHEDULER_NONE;
    uint64_t now = admission_now(admission);
    struct lease_terms timed = *terms;
    pool_lease *lease;

    if (terms->timeout_ns < SCHEDULER_NEVER - now)
        timed.request.deadline = now + terms->timeout_ns;
    pthread_mutex_lock(&admission->lock);
    lease = admission_take_lease(admission);
    if (lease) {
        ticket->lease = lease;
        lease->ticket = ticket;
        lease->cancel = terms->cancel;
        decision = admission_submit(admission, lease, &timed, now);
        if (decision == SCHEDULER_GRANTED)
            ticket_decided(ticket);
        else if (decision == SCHEDULER_WAITING && !terms->timeout_ns)
            admission_cancel(admission, lease, POOL_ERR_TIMEOUT, now);
        else if (decision == SCHEDULER_REFUSED)
            admission_return_lease(admission, lease);
        admission->tickets += decision != SCHEDULER_REFUSED;
    }
    admission_deliver(admission, now);
    pthread_mutex_unlock(&admission->lock);
    if (!lease)
        return base_fail_memory("a lease");
    return decision == SCHEDULER_REFUSED
               ? lease_terms_refuse("pool_acquire_async", admission, terms)
               : POOL_OK;
}

static pool_status make_ticket(struct admission *admission, const struct lease_terms *terms,
    pool_grant_hook hook, void *user, pool_error_slot *error, pool_ticket **ticket)
{
    pool_ticket *made = base_calloc(1, sizeof(*made));
    pool_status status;

    if (!made)
        return base_fail_memory("a ticket");
    atomic_init(&made->magic, TICKET_MAGIC);
    made->admission = admission;
    made->hook = hook;
    made->user = user;
    made->error = error;
    made->fd = -1;
    made->terms = *terms;
    made->terms.request.ranks = NULL;
    status = submit_ticket(made, terms);
    if (status) {
        base_free(made);
        return status;
    }
    *ticket = made;
    /* Deadline, cancel object and hook are the monitor's to look after. The thread may destroy the
     * ticket from here on. */
    status = admission_run_monitor(admission, base_clock_ns());
    if (status)
        (void)pool_ticket_destroy(&made);
    return status;
}

pool_status pool_acquire_async(device_pool *pool, const pool_request *request, pool_grant_hook hook,
    void *user, pool_ticket **ticket)
{
    struct lease_attempt attempt;
    pool_ticket *made = NULL;
    pool_status status =
        base_check_pointers("pool_acquire_async", {"pool", pool}, {"ticket", ticket});

    if (status)
        return lease_request_end(request, status);
    status = lease_attempt_begin("pool_acquire_async", pool, request, &attempt);
    if (!status)
        status = make_ticket(
            attempt.admission, &attempt.terms, hook, user, lease_request_error(request), &made);
    lease_attempt_end(&attempt);
    if (!status)
        *ticket = made;
    return lease_request_end(request, status);
}

/* --- the caller's side --------------------------------------------------------------------------
 */

pool_status pool_ticket_fd(pool_ticket *ticket, int *fd)
{
    pool_status status = check_ticket("pool_ticket_fd", ticket);
    int made, present;

    if (!status && !fd)
        status = base_fail_null("pool_ticket_fd", "fd");
    if (status)
        return status;
    made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0)
        return base_fail(POOL_ERR_IO, "pool_ticket_fd: eventfd: %s", strerror(errno));
    pthread_mutex_lock(&ticket->admission->lock);
    present = ticket->fd;
    if (present < 0) {
        ticket->fd = made;
        if (ticket->is_decided)
            notify_fd(ticket);
    }
    pthread_mutex_unlock(&ticket->admission->lock);
    if (present >= 0)
        close(made);
    *fd = present < 0 ? made : present;
    return POOL_OK;
}

/* Records why the request was not granted. The slot is filled once, as several threads may come. */
static pool_status fail_request(pool_ticket *ticket, pool_status status)
{
    status = lease_terms_fail("pool_acquire_async", ticket->admission, &ticket->terms, status);
    pthread_mutex_lock(&ticket->admission->lock);
    base_error_fill(ticket->error);
    ticket->error = NULL;
    pthread_mutex_unlock(&ticket->admission->lock);
    return status;
}

pool_status pool_ticket_take(pool_ticket *ticket, pool_lease **lease)
{
    pool_status status = check_ticket("pool_ticket_take", ticket);
    bool is_decided, is_taken;
    pool_lease *taken = NULL;

    if (!status && !lease)
        status = base_fail_null("pool_ticket_take", "lease");
    if (status)
        return status;
    pthread_mutex_lock(&ticket->admission->lock);
    is_decided = ticket->is_decided;
    is_taken = ticket->is_taken;
    status = ticket->status;
    if (is_decided && !status && !is_taken) {
        taken = ticket->lease;
        ticket->lease = NULL;
        ticket->is_taken = true;
    }
    pthread_mutex_unlock(&ticket->admission->lock);
    if (!is_decided)
        return base_fail_quietly(
            POOL_ERR_NOT_READY, "pool_ticket_take: the request has not been decided");
    if (is_taken)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_ticket_take: the lease has been taken already");
    if (status)
        return fail_request(ticket, status);
    *lease = taken;
    return POOL_OK;
}

static void free_ticket(pool_ticket *ticket)
{
    atomic_store_explicit(&ticket->magic, TICKET_DEAD, memory_order_relaxed);
    if (ticket->fd >= 0)
        close(ticket->fd);
    base_free(ticket);
}

pool_status pool_ticket_destroy(pool_ticket **ticket)
{
    struct admission *admission;
    pool_lease *lease;
    pool_ticket *gone;
    bool is_monitor, needs_monitor;
    pool_status status;

    if (!ticket || !*ticket)
        return POOL_OK;
    gone = *ticket;
    status = check_ticket("pool_ticket_destroy", gone);
    if (status && status != POOL_ERR_FORKED)
        return status;
    *ticket = NULL;
    if (status) { /* in a child: the lock may be held for ever */
        free_ticket(gone);
        return POOL_OK;
    }
    admission = gone->admission;
    is_monitor = monitor_is_current(device_pool_monitor(admission->pool));
    pthread_mutex_lock(&admission->lock);
    gone->hook = NULL;
    if (!gone->is_decided)
        admission_cancel(admission, gone->lease, POOL_ERR_CANCELLED, admission_now(admission));
    unlist_hook(gone);
    while (admission->hook_running == gone && !is_monitor)
        pthread_cond_wait(&admission->hook_returned, &admission->lock);
    lease = gone->lease;
    admission->tickets--;
    needs_monitor = admission_needs_monitor(admission);
    pthread_mutex_unlock(&admission->lock);
    free_ticket(gone);
    if (needs_monitor)
        (void)admission_run_monitor(admission, base_clock_ns());
    return pool_release(&lease);
}
