/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases: the admission of jobs to devices. A request names bytes of memory and slots on one or
 * several devices; the pool chooses the devices and reserves both in one step, at once or when
 * other leases have been released. docs/scheduling.md explains the model.
 *
 * Order. Requests wait in classes of priority, first come first served inside a class. A waiting
 * request is raised by one class for each POOL_LEASE_AGING_NS that it has waited: it is overtaken
 * only by requests that are d classes higher and were made less than d times POOL_LEASE_AGING_NS
 * after it. While the first request of the queue waits, a later one is granted (backfill) only if
 * that takes nothing that the first one lacks on the devices that are earmarked for it; once the
 * first one has waited for POOL_LEASE_AGING_NS, all devices that it may run on are earmarked.
 */
#ifndef DEVICEPOOL_LEASE_H
#define DEVICEPOOL_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/cancel.h>
#include <devicepool/pool.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pool_resident; /* pool_resident of resident.h */

/*
 * Bytes and slots that are reserved on one or several devices, from the grant to pool_release. Any
 * number of threads may use a lease at once; only its release must not race with another use. It
 * belongs to its pool. A released lease is recognised in every call until at least 256 others have
 * been released after it.
 */
typedef struct pool_lease pool_lease;

/*
 * A request without a thread that waits for it. Any thread may use it; only its destruction must
 * not race with another use.
 */
typedef struct pool_ticket pool_ticket;

#define POOL_LEASE_AGING_NS 60000000000ull /* a minute: one class of priority */
#define POOL_LEASE_PRIORITY_MAX 1000       /* priorities are -1000 to 1000 */
#define POOL_LEASE_LABEL_BYTES 64          /* of a label, with its end */
#define POOL_LEASE_SLOTS 4                 /* of each device, where pool_params.slots is 0 */
#define POOL_WAIT_FOREVER UINT64_MAX       /* pool_request.timeout_ns: no deadline */

/* Flags of a request. */
typedef enum pool_lease_flag {
    POOL_LEASE_SECRET = 1 /* all memory allocated under the lease is overwritten when freed */
} pool_lease_flag;

/* Zero is the default of every member but struct_size; NULL stands for all defaults. */
typedef struct pool_request {
    size_t struct_size;
    uint64_t bytes;   /* of device memory, on each device; 0: the lease may allocate none */
    uint32_t slots;   /* of each device; 0: 1 */
    uint32_t devices; /* how many, granted all at once; 0: 1 */
    /*
     * How the devices are chosen among those with enough free bytes and slots. NULL: most free
     * memory, equals round robin. A filter and a score are called once for each device, on the
     * calling thread and before the request waits; devices that they leave out are never granted.
     */
    const pool_pick *pick;
    pool_device *device; /* only this one; excludes `pick` and `devices` above 1 */
    /* Devices that have a copy of this object when the request is made come before all others.
     * NULL: no preference. */
    const struct pool_resident *near_resident;
    /* The class: higher ones are granted first, and their streams are more urgent on the device
     * (pool_params.urgent_classes). -POOL_LEASE_PRIORITY_MAX to POOL_LEASE_PRIORITY_MAX */
    int32_t priority;
    uint32_t flags;      /* POOL_LEASE_… */
    uint64_t timeout_ns; /* how long to wait; 0: not at all; POOL_WAIT_FOREVER */
    /* The lease is overdue once it is held longer than that: it is logged and counted, and its
     * devices are watched for progress (pool_params.stall_timeout_ns). 0: never */
    uint64_t duration_ns;
    pool_cancel *cancel; /* ends the wait; it must outlive the call, or the ticket. NULL: none */
    /* For messages, logs and metrics; copied. At most 63 bytes of UTF-8 without control characters.
     * NULL: "" */
    const char *label;
    /* Filled when pool_acquire or pool_acquire_async fails, and when pool_ticket_take returns that
     * the request of its ticket has failed: it must then outlive the ticket. See status.h. NULL:
     * none. */
    pool_error_slot *error;
} pool_request;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_request_init(pool_request *request, size_t struct_size);

/*
 * Waits until devices have what `request` needs, and reserves it. The caller releases the lease.
 * A thread that holds a lease and waits for another one can wait for itself: request several
 * devices at once, or set a deadline. Errors:
 *   TIMEOUT               not granted in time (not logged where timeout_ns is 0); the message says
 *                         what was free and how many requests were ahead
 *   CANCELLED             `cancel` was requested
 *   OUT_OF_DEVICE_MEMORY  more bytes than enough devices have: no wait helps, the message says what
 *                         would be possible
 *   INVALID_ARGUMENT      more slots or devices than the pool has, or members that exclude each
 *                         other
 *   NOT_FOUND             fewer devices passed `pick` than are requested
 *   NO_DEVICE             fewer devices are usable than are requested, also when devices fail while
 *                         the request waits
 */
POOL_API pool_status pool_acquire(
    device_pool *pool, const pool_request *request, pool_lease **lease);

/*
 * Called once for each ticket, when its request has been granted or has failed, on a thread of the
 * library and outside its locks, possibly before pool_acquire_async has returned. It may call
 * pool_ticket_take and pool_ticket_destroy and enqueue work, but must not wait: other tickets are
 * delayed meanwhile.
 */
typedef void (*pool_grant_hook)(void *user, pool_ticket *ticket);

/*
 * Makes the same request without waiting. `hook` may be NULL; then pool_ticket_fd and
 * pool_ticket_take report the decision. The caller destroys the ticket with pool_ticket_destroy.
 * Requests that can never be granted fail here, as with pool_acquire.
 */
POOL_API pool_status pool_acquire_async(device_pool *pool, const pool_request *request,
    pool_grant_hook hook, void *user, pool_ticket **ticket);

/*
 * A file descriptor (an eventfd) that is readable once the request has been decided, for poll and
 * epoll. It belongs to the ticket and is closed by pool_ticket_destroy. POOL_ERR_IO when the
 * process has no descriptor left.
 */
POOL_API pool_status pool_ticket_fd(pool_ticket *ticket, int *fd);

/*
 * The lease of a granted request, which is the caller's from then on. NOT_READY (not logged) while
 * the request waits; INVALID_ARGUMENT when the lease has been taken; else the failure of the
 * request, as of pool_acquire.
 */
POOL_API pool_status pool_ticket_take(pool_ticket *ticket, pool_lease **lease);

/*
 * Ends the wait if the request still waits, releases a granted lease that was not taken, and sets
 * *ticket to NULL; NULL and a pointer to NULL are no-ops. Waits for a hook of this ticket that is
 * running on another thread; afterwards it is not called any more.
 */
POOL_API pool_status pool_ticket_destroy(pool_ticket **ticket);

/*
 * Returns the reservation and sets *lease to NULL; NULL and a pointer to NULL are no-ops. Any
 * thread may do it. It does not wait and makes no driver call: work that is still enqueued
 * continues, so release when the job's results are there. Buffers that were allocated under the
 * lease stay valid. Also works on devices that failed and after a sticky fault. INVALID_ARGUMENT
 * for a lease that has been released.
 */
POOL_API pool_status pool_release(pool_lease **lease);

/* The number of devices; 0 for NULL and for a released lease. */
POOL_API uint32_t pool_lease_device_count(const pool_lease *lease);

/* The index-th device, in the order of the pool; INVALID_ARGUMENT beyond the last. */
POOL_API pool_status pool_lease_device(
    const pool_lease *lease, uint32_t index, pool_device **device);

/*
 * The lease's stream of its index-th device, whose priority follows from the lease's class as
 * requested; waiting (POOL_LEASE_AGING_NS) changes the order of grants only. It is created at the
 * first call and belongs to the pool: it must not be used after the release and cannot be destroyed
 * by the caller. Streams are reused by later leases, never while a previous lease's work on them is
 * unfinished.
 */
POOL_API pool_status pool_lease_stream(pool_lease *lease, uint32_t index, pool_stream **stream);

/* What a lease is. Set struct_size before the call. */
typedef struct pool_lease_info {
    size_t struct_size;
    uint64_t bytes; /* reserved on each device */
    uint32_t slots; /* of each device */
    uint32_t devices;
    int32_t priority;
    uint32_t flags;
    uint64_t waited_ns;   /* from the request to the grant */
    uint64_t held_ns;     /* since the grant */
    uint64_t duration_ns; /* as requested; 0: none */
    int32_t is_overdue;   /* 1: held longer than that */
    /* Of its streams: 0 as calls without a lease, 1 to 3 more urgent, -1 and -2 less; see
     * pool_params.urgent_classes. */
    int32_t level;
    char label[POOL_LEASE_LABEL_BYTES];
} pool_lease_info;

/* Makes no driver call. */
POOL_API pool_status pool_lease_get_info(const pool_lease *lease, pool_lease_info *info);

/* What a lease uses of one of its devices. Set struct_size before the call. */
typedef struct pool_lease_usage {
    size_t struct_size;
    pool_device *device;
    uint64_t limit_bytes; /* pool_lease_info.bytes */
    uint64_t used_bytes;  /* of buffers and scratch allocated under the lease */
    uint64_t peak_bytes;  /* the most that were used at one time */
} pool_lease_usage;

/* Of the index-th device; makes no driver call. */
POOL_API pool_status pool_lease_get_usage(
    const pool_lease *lease, uint32_t index, pool_lease_usage *usage);

/* What the scheduler of a pool is doing. Set struct_size before the call. */
typedef struct pool_lease_counts {
    size_t struct_size;
    uint32_t leases;          /* held */
    uint32_t overdue;         /* of these */
    uint32_t waiting;         /* requests */
    uint32_t reserved;        /* 0 */
    uint64_t longest_wait_ns; /* of a request that waits now */
    uint64_t granted;         /* requests since the pool was created */
    uint64_t failed;          /* requests that ended without a lease: deadlines, cancels, faults */
    uint64_t became_overdue;  /* leases since the pool was created, as the monitor found them */
} pool_lease_counts;

/* Makes no driver call; POOL_OK also after a sticky fault. */
POOL_API pool_status pool_get_lease_counts(device_pool *pool, pool_lease_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
