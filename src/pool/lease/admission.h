/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this layer share: the admission of a pool, which is the scheduler with its lock
 * and its leases.
 *
 * The lock is the last in the order of locks: under it no other lock is taken, no driver call is
 * made, no user callback runs and no failure is recorded. A lease is taken from the list of free
 * ones when a request is made, carries the request while it waits, and returns to the end of the
 * list when it is released or the request fails.
 */
#ifndef LEASE_ADMISSION_H
#define LEASE_ADMISSION_H

#include <pthread.h>
#include <stddef.h>

#include "base/wake.h"
#include "pool/device/monitor.h"
#include "pool/lease/lease.h"
#include "pool/lease/scheduler.h"
#include "pool/lease/statistics.h"

/* Added to lease_budget.used when the lease is released. */
#define BUDGET_CLOSED (UINT64_C(1) << 63)

/* Released leases that are not reused yet, so that their handles are recognised. */
#define LEASES_UNUSED 256
#define LEASES_PER_CHUNK 64

/* The states of a lease; values that other memory hardly has. */
#define LEASE_FREE 0x6c734600u
#define LEASE_WAITING 0x6c734657u
#define LEASE_HELD 0x6c734648u

struct stream_cache;

/* One device of a lease. */
struct lease_part {
    struct lease_budget budget;           /* first */
    _Atomic(struct stream_cache *) cache; /* of the stream */
    _Atomic(pool_stream *) stream;        /* NULL until its first use */
};

struct pool_lease {
    atomic_uint state; /* LEASE_…; changed under the lock, but for HELD to FREE */
    struct admission *admission;
    struct lease_part *parts; /* as many as the pool has devices; request.devices are in use */
    uint32_t *ranks;          /* of each device, for the request */

    /* constant while the lease is held */
    uint32_t flags;
    uint64_t granted_ns;
    uint64_t duration_ns;
    char label[POOL_LEASE_LABEL_BYTES];

    bool is_overdue; /* guarded by the lock: the monitor has found the lease overdue */

    /* guarded by the lock, but for the thread whose wake was posted after the decision */
    struct scheduler_request request;
    pool_status status; /* why the request was not granted */
    struct base_wake wake;
    pool_ticket *ticket; /* NULL: a thread waits, or nobody */
    pool_cancel *cancel; /* of the ticket */

    /* guarded by the lock: the list of free leases, or of those that wait or are held */
    pool_lease *next;
    pool_lease *previous;
};

struct lease_chunk;

struct admission {
    pthread_mutex_t lock;
    device_pool *pool;
    uint32_t device_count;
    pool_device **devices;
    uint64_t (*_Atomic clock)(
        void); /* monotonic, except in tests; waits of threads do not use it */

    /* guarded by the lock */
    struct scheduler scheduler;
    struct scheduler_device *states; /* of the scheduler */
    uint64_t *shared_ns; /* of each device: when a lease was last granted beside others; 0: never */
    pool_lease *free_first; /* released longest ago */
    pool_lease *free_last;
    uint32_t free_count;
    struct lease_chunk *chunks;
    pool_lease *active; /* waiting and held ones, latest first */
    uint32_t held;
    uint32_t tickets;       /* that exist */
    uint32_t waiting_bytes; /* requests that wait and ask for bytes */
    uint64_t overdue_ns;    /* when the monitor looks for overdue leases next */
    bool has_new_deadline;  /* overdue_ns is earlier than the monitor knows */
    pool_ticket *hooks;     /* tickets whose hook is to be called, oldest first */
    pool_ticket *hooks_last;
    pool_ticket *hook_running;
    pthread_cond_t hook_returned;
    struct lease_statistics
        statistics; /* became_overdue, histograms and queue; the rest is computed */

    /* deadlines and hooks of tickets, samples for requests that wait, overdue leases */
    struct monitor_task task;
};

/* What a request asks for, validated; `ranks` has space for every device of the pool. */
struct lease_terms {
    struct scheduler_request request;
    pool_cancel *cancel;
    uint32_t flags;
    uint64_t timeout_ns;
    uint64_t duration_ns;
    char label[POOL_LEASE_LABEL_BYTES];
};

/* --- admission.c --- */

/* The pool's admission, created now if necessary. */
pool_status admission_of(device_pool *pool, struct admission **admission);

/* Nanoseconds of the clock of all times in this layer. */
static inline uint64_t admission_now(const struct admission *admission)
{
    return atomic_load_explicit(&admission->clock, memory_order_relaxed)();
}

/* The lease whose request it is. */
static inline pool_lease *lease_of_request(const struct scheduler_request *request)
{
    return (pool_lease *)(uintptr_t)((const char *)request - offsetof(pool_lease, request));
}

/* Times of different threads may be out of order by a little. */
static inline uint64_t lease_duration(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Whether a lease that is held should have been released. */
static inline bool lease_is_overdue(const pool_lease *lease, uint64_t now)
{
    return lease->duration_ns && lease_duration(lease->granted_ns, now) > lease->duration_ns;
}

/*
 * The following are called with the lock held.
 */
/* A free lease, which is active from now on; NULL: out of memory. */
pool_lease *admission_take_lease(struct admission *admission);
/* Returns a lease to the list of free ones; its state is LEASE_FREE already. */
void admission_return_lease(struct admission *admission, pool_lease *lease);
/* Submits the lease's request. */
enum scheduler_decision admission_submit(
    struct admission *admission, pool_lease *lease, const struct lease_terms *terms, uint64_t now);
/* Ends the wait of the lease's request with `status`, if it still waits, and delivers everything
 * that this decides. */
void admission_cancel(
    struct admission *admission, pool_lease *lease, pool_status status, uint64_t now);
/* Reads capacities and states of the devices; whether they changed. */
bool admission_read_devices(struct admission *admission);
/* Notifies those whose requests the scheduler has decided. */
void admission_deliver(struct admission *admission, uint64_t now);
/* Whether hooks are to be called, or a lease was granted that becomes overdue before all others:
 * then admission_run_monitor follows without the lock. */
static inline bool admission_needs_monitor(const struct admission *admission)
{
    return admission->hooks || admission->has_new_deadline;
}

/* The lease is released. */
void admission_end_overdue(pool_lease *lease);

/* Without the lock: runs the monitor's task at `due_ns` at the latest. */
pool_status admission_run_monitor(struct admission *admission, uint64_t due_ns);

/* --- request.c --- */

/* Ranks that fit on the stack; a pool with more devices allocates them. */
enum { LEASE_RANKS_ON_STACK = 64 };

/* A request that a call makes: its pool's admission, what it asks for, and the ranks of the
 * devices, which the terms point to. It must not be copied. */
struct lease_attempt {
    struct admission *admission;
    struct lease_terms terms;
    uint32_t *ranks;
    uint32_t ranks_on_stack[LEASE_RANKS_ON_STACK];
};

/* Verifies the pool, validates the request (NULL: all defaults) and evaluates its pick. The caller
 * ends the attempt whatever the status is. */
pool_status lease_attempt_begin(const char *call, device_pool *pool, const pool_request *request,
    struct lease_attempt *attempt);
void lease_attempt_end(struct lease_attempt *attempt);
/* The error slot of a caller's request, which need not be valid; NULL: none. */
pool_error_slot *lease_request_error(const pool_request *given);
/* Fills it after a failure; returns `status`. */
pool_status lease_request_end(const pool_request *given, pool_status status);
/* The failure of a request that the scheduler refused: what would be possible. */
pool_status lease_terms_refuse(
    const char *call, struct admission *admission, const struct lease_terms *terms);
/* The failure of a request that was not granted: deadline, cancel, or what befell the pool. */
pool_status lease_terms_fail(const char *call, struct admission *admission,
    const struct lease_terms *terms, pool_status status);

/* --- lease.c --- */

/* --- statistics.c --- */

/* With the lock held: a request of this priority begins and ends to wait. */
void lease_queue_enter(struct lease_queue *queue, int32_t priority);
void lease_queue_leave(struct lease_queue *queue, int32_t priority);

/* --- streams.c --- */

/* The level of its streams, see device.h. */
int lease_level(const pool_lease *lease);

/* Returns the streams of a lease to their devices; called before the lease's release. */
void lease_return_streams(pool_lease *lease);

/* --- ticket.c --- */

/* With the lock held: the ticket's request was decided. */
void ticket_decided(pool_ticket *ticket);
/* Without the lock, on the monitor's thread: calls the hooks of decided tickets. */
void ticket_run_hooks(struct admission *admission);
/* With the lock held: cancels tickets whose cancel object was requested; whether any ticket that
 * waits has one. */
bool ticket_poll_cancels(struct admission *admission, uint64_t now);

#endif
