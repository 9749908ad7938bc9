/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler: a state machine that assigns requests to devices. Events go in (submit, cancel,
 * expire, release, a device's capacity or state), decisions come out. It has no locks, no clock and
 * no memory of its own: the caller serialises the events, passes the time in nanoseconds, and owns
 * the requests. The layers below and above are unknown to it, so that it can be explored
 * exhaustively.
 *
 * Order. A request with priority p that was submitted at t comes before every other one with a
 * larger t - p * aging: strict priority classes, first come first served inside a class, and one
 * class gained per `aging` nanoseconds of waiting.
 *
 * The head is the first request of that order that waits although its devices could serve it if
 * all leases were released. Its devices are earmarked: those where it lacks least, as many as it
 * asks for, and all that it may run on once it has waited for `aging`. A request behind it is
 * granted (backfill) only if on each earmarked device it takes either none of the bytes or leaves
 * as many as the head needs, and leaves as many slots as the head needs. So the head is granted at
 * the latest when the leases that existed on its devices when they were earmarked have been
 * released, however many requests follow.
 */
#ifndef LEASE_SCHEDULER_H
#define LEASE_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULER_NEVER UINT64_MAX    /* as a deadline: none */
#define SCHEDULER_EXCLUDED UINT32_MAX /* as a rank: not on this device */
#define SCHEDULER_PRIORITY_MAX 1000   /* so that keys cannot overflow with an aging of hours */

enum scheduler_device_state {
    SCHEDULER_READY,
    SCHEDULER_SUSPENDED, /* draining or quarantined: grants nothing, may come back */
    SCHEDULER_LOST       /* for good */
};

struct scheduler_device {
    uint64_t capacity_bytes; /* that can be reserved now, the reserved ones included */
    uint64_t limit_bytes;    /* that could ever be reserved */
    uint32_t slots;
    uint32_t load; /* work outside of leases, for SCHEDULER_LEAST_LOADED */
    enum scheduler_device_state state;
    struct scheduler_device *account; /* whose memory it shares; NULL: its own */

    /* written by the scheduler only */
    uint32_t reserved_slots;
    uint64_t reserved_bytes; /* of an account: on all devices that share it */
    bool is_earmarked;
};

/* The order among devices of equal rank; equals go round robin. */
enum scheduler_policy {
    SCHEDULER_ROUND_ROBIN,
    SCHEDULER_MOST_FREE,   /* most bytes that can be reserved; without bytes: fewest slots in use */
    SCHEDULER_LEAST_LOADED /* fewest slots in use and `load` together, then most free */
};

enum scheduler_decision {
    SCHEDULER_NONE, /* not submitted */
    SCHEDULER_WAITING,
    SCHEDULER_GRANTED,
    SCHEDULER_REFUSED, /* the devices that are left can never serve it */
    SCHEDULER_EXPIRED,
    SCHEDULER_CANCELLED
};

struct scheduler_request {
    /* set by the caller, constant from submit on */
    uint64_t bytes;   /* on each device */
    uint32_t slots;   /* of each device, at least 1 */
    uint32_t devices; /* at least 1 */
    int32_t priority; /* at most SCHEDULER_PRIORITY_MAX in size */
    enum scheduler_policy policy;
    uint64_t deadline;     /* SCHEDULER_NEVER: none */
    const uint32_t *ranks; /* of each device, lower ones first; NULL: all equal */
    uint32_t *granted;     /* space for `devices` indices, which are ascending */

    /* written by the scheduler only */
    enum scheduler_decision decision;
    uint64_t submitted;
    int64_t key;
    struct scheduler_request *next; /* in the queue, or in the list of decisions */
    struct scheduler_request *previous;
};

struct scheduler {
    struct scheduler_device *devices;
    uint32_t device_count;
    uint64_t aging; /* nanoseconds per class of priority */

    struct scheduler_request *first; /* the queue, in order */
    struct scheduler_request *last;
    uint32_t waiting;
    const struct scheduler_request *head; /* for which devices are earmarked; NULL: none */
    bool is_head_aged;                    /* all its devices are */
    uint32_t turn;                        /* of round robin */
    struct scheduler_request *decided;    /* since they were last taken, oldest first */
    struct scheduler_request *decided_last;
};

/* `devices` are the caller's, with capacity, limit, slots and state set and the rest zero. */
void scheduler_init(
    struct scheduler *scheduler, struct scheduler_device *devices, uint32_t count, uint64_t aging);

/* How many devices could ever serve the request; fewer than it asks for: it is refused. */
uint32_t scheduler_possible_devices(
    const struct scheduler *scheduler, const struct scheduler_request *request);

/*
 * Events. Each examines the queue when it may have made a request grantable. Requests that these
 * calls decide, but for the one that is passed to submit or cancel, are put on the list of
 * decisions.
 */
/* Decides at once (GRANTED, REFUSED) or puts the request into the queue (WAITING). */
enum scheduler_decision scheduler_submit(
    struct scheduler *scheduler, struct scheduler_request *request, uint64_t now);
/* Ends a wait as `decision` (CANCELLED or EXPIRED). No-op unless the request is waiting. */
void scheduler_cancel(struct scheduler *scheduler, struct scheduler_request *request,
    enum scheduler_decision decision, uint64_t now);
/* Ends the waits whose deadline is not after `now`. */
void scheduler_expire(struct scheduler *scheduler, uint64_t now);
/* Returns what was granted to the request. */
void scheduler_release(
    struct scheduler *scheduler, struct scheduler_request *request, uint64_t now);
/* The caller has changed capacity, slots, load or state of devices. */
void scheduler_devices_changed(struct scheduler *scheduler, uint64_t now);

/* The oldest decision that has not been taken yet; NULL: none. */
struct scheduler_request *scheduler_take_decided(struct scheduler *scheduler);

/* The earliest moment at which scheduler_expire, or the aging of the head, has something to do;
 * SCHEDULER_NEVER: none. */
uint64_t scheduler_next_deadline(const struct scheduler *scheduler);

/* Bytes that can be reserved on the device. */
static inline uint64_t scheduler_free_bytes(const struct scheduler_device *device)
{
    uint64_t reserved = device->account ? device->account->reserved_bytes : device->reserved_bytes;

    return device->capacity_bytes > reserved ? device->capacity_bytes - reserved : 0;
}

static inline uint32_t scheduler_free_slots(const struct scheduler_device *device)
{
    return device->slots > device->reserved_slots ? device->slots - device->reserved_slots : 0;
}

#endif
