/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a device for the layers above the pool (memory, stream, module, operations).
 */
#ifndef POOL_DEVICE_H
#define POOL_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <devicepool/device.h>
#include <devicepool/log.h>
#include <devicepool/pool.h>

#include "base/thread_pool.h"
#include "driver/driver.h"
#include "pool/device/usable.h"

/* Between enter and leave the device's context is current on the calling thread. */
struct device_scope {
    pool_device *device;
    struct driver *driver;
    CUcontext context;
    int is_pushed;
    int is_counted;     /* in the device's number of calls in progress */
    int is_inside;      /* in the number of threads inside a device that can be lost */
    pool_device *outer; /* the device that the thread had entered before */
};

/*
 * Validates the device (NULL, forked, poisoned, unusable), creates a lazy context, and pushes it.
 * On failure nothing is pushed. No push is made when the context is already current on this thread.
 */
pool_status device_enter(pool_device *device, struct device_scope *scope);

/* device_enter for the pool's own queries, which do not count as work on the device. */
pool_status device_enter_uncounted(pool_device *device, struct device_scope *scope);

/*
 * device_enter for releasing something: it also enters a device that has become unusable, as long
 * as it has its context, and retries after a transient failure, since nothing would release the
 * object later. On failure only host memory can be freed, or the object can be kept for another
 * attempt.
 */
pool_status device_enter_to_release(pool_device *device, struct device_scope *scope);

/*
 * Pops what enter pushed, also when `status` is a failure, and returns `status`, or the pop's own
 * failure when `status` is POOL_OK. The thread's error detail keeps the first failure.
 */
pool_status device_leave(struct device_scope *scope, pool_status status);

/* pthread_mutex_destroy, omitted in a forked child. */
void device_lock_destroy(const pool_device *device, pthread_mutex_t *lock);

/* The device to run on: `wanted`, or when that is NULL the device this thread bound last. */
pool_status device_or_bound(pool_device *wanted, pool_device **device);

/* The first device of the pool on the device's GPU, which is what the parts of a GPU share: the
 * device itself unless it is a part. */
pool_device *device_gpu(const pool_device *device);
static inline bool device_is_same_gpu(const pool_device *device, const pool_device *other)
{
    return device == other || device_gpu(device) == device_gpu(other);
}
/* The next part of the GPU of `device`, after `part`; NULL: the first one, or there is none left.
 * A whole GPU is its only part. */
pool_device *device_next_part(const pool_device *device, pool_device *part);

/* ", part 1 of 2", or "" for a whole GPU; for messages. */
struct device_part_name {
    char text[32];
};
struct device_part_name device_part_name(const pool_device *device);

struct driver *device_driver(const pool_device *device);

struct device_pool *device_pool_of(const pool_device *device);
/* The longest time that one launch should fill the device: `asked`, or for 0 that of the pool,
 * always and while it is shared; how many of its multiprocessors kernels of one block per
 * multiprocessor leave free while it is shared. */
uint64_t device_slice_ns(const pool_device *device, uint64_t asked);
uint64_t device_shared_slice_ns(const pool_device *device, uint64_t asked);
uint32_t device_shared_multiprocessors(const pool_device *device);

/*
 * ---- priority.c ---- Levels of streams: 0 is that of class 0 and of calls without a lease, higher
 * ones are more urgent. The classes at which they change are those of pool_params.
 */
enum { DEVICE_MIN_LEVEL = -2, DEVICE_MAX_LEVEL = 3, DEVICE_LEVELS = 6 };
struct device_levels {
    int32_t urgent[DEVICE_MAX_LEVEL];      /* the lowest class of level 1, 2, 3 */
    int32_t background[-DEVICE_MIN_LEVEL]; /* the highest class of level -1, -2 */
};
pool_status device_levels_read(const pool_params *params, struct device_levels *levels);
int device_level_of_class(const device_pool *pool, int32_t class);

/* The driver's priority for streams of a level; or one brought into its range. Inside device_enter.
 */
pool_status device_priority_of_level(pool_device *device, int level, int *priority);
pool_status device_clamp_priority(pool_device *device, int *priority);

/* The pool's threads, for staged copies and compilations. */
struct base_thread_pool *device_threads(const pool_device *device);

/* --- states (state.c) --- */

pool_device_state device_state(const pool_device *device);
/* "ready", "unusable", … */
const char *device_state_name(pool_device_state state);

/*
 * Tells the layer above that a device's state may have changed; one listener per pool, NULL: none.
 * It is called with no lock held, on the thread that made the change, and reads the state by
 * device_state under its own lock: two calls may be out of order.
 */
typedef void (*device_state_listener)(void *user, pool_device *device);
void device_pool_listen_states(device_pool *pool, device_state_listener listener, void *user);

/*
 * Leases on the device that are overdue, counted by the layer that knows them; takes no lock. While
 * there are any, the device is watched with a short timeout, whether the pool watches its devices
 * or not: device_pool_watch, without locks, begins.
 */
void device_overdue_changed(pool_device *device, int change);
void device_pool_watch(struct device_pool *pool);

/* "device 0 (GPU-…): why" of each device that is not ready, in a row; "" when there is none. */
void device_pool_reasons(const device_pool *pool, char *text, size_t size);

/* 1 for a device that pool_device_abandon was called for: no driver call is made on it, and
 * destructors free host memory only. */
int device_is_abandoned(const pool_device *device);
/* POOL_ERR_UNSUPPORTED for a device in a worker process, whose handles of the driver are of no use
 * in this one; `call` is the function that gives or takes one. */
pool_status device_check_raw(const pool_device *device, const char *call);
/* POOL_ERR_DEVICE_UNUSABLE if it was abandoned, POOL_ERR_DEVICE_LOST if its context was ended, else
 * POOL_OK; for waits that query again and again. */
pool_status device_check_waiting(pool_device *device);
/*
 * POOL_ERR_DEVICE_LOST if another part of the process has ended the device's context, which is
 * examined: for handles of it that a call on another device gives to the driver, and for pinned
 * memory, which the driver has freed then. Without a driver call on devices in worker processes.
 */
pool_status device_check_context(pool_device *device);
/* The same for clean-ups after a failure: the thread's error detail stays as it was. */
bool device_has_context(pool_device *device);
/* Whether it was found ended. */
bool device_has_lost_context(const pool_device *device);
/* Whether pinned memory of that many renewals has ended with a context. The end of a worker process
 * leaves it as it is, because it belongs to this process. */
bool device_pinned_has_ended(const pool_device *device, unsigned renewals);
/* Whether the device comes back after it was lost: with another worker process, or with another
 * context unless the caller's was adopted. What it had is then forgotten. */
bool device_can_return(const pool_device *device);

/*
 * 1 once a device of the pool is abandoned: from then on a driver call that waits for all work of
 * the process (cuMemFreeHost, cuMemHostUnregister) would never return, on whatever device.
 */
int device_may_block(const pool_device *device);

/*
 * Quarantines a device that accepts calls. false: it did not change, because there is no memory
 * (*status) or because the device is lost or abandoned.
 */
bool device_enter_quarantine(pool_device *device, const char *reason, pool_status *status);
/* How often the device was quarantined, and that a probe succeeded which began when the number was
 * this: then it can be resumed. */
unsigned device_quarantines(const pool_device *device);
void device_set_probed(pool_device *device, unsigned quarantines);
/* Calls the pool's fault hook with class DEVICE for a device that the library has taken out. */
void device_report(pool_device *device, const char *message);
/* Logs a message about a device that the thread has not entered. */
void device_log(pool_device *device, pool_log_level level, const char *message);
/* Where a thread has the device that it has entered. Another thread may look, while it exists. */
typedef _Atomic(pool_device *) device_entered_slot;
device_entered_slot *device_entered_of_thread(void);
static inline pool_device *device_entered_by(device_entered_slot *entered)
{
    return atomic_load_explicit(entered, memory_order_relaxed);
}
/* A call on the device does not return: it is quarantined, or its worker process is ended. */
void device_suspect(pool_device *device, const char *reason);
/* One probe at a time; while one is in progress, the pool cannot be destroyed. */
bool device_begin_probe(pool_device *device);
void device_end_probe(pool_device *device);

/* Objects that keep a pool from being destroyed while they exist. */
enum device_dependent {
    DEVICE_DEPENDENT_BUFFER, /* of a caller */
    DEVICE_DEPENDENT_BASES,
    DEVICE_DEPENDENT_DOMAIN,   /* its tables */
    DEVICE_DEPENDENT_RESIDENT, /* objects; counted on the pool's first device */
    DEVICE_DEPENDENT_COPY,     /* their buffers */
    DEVICE_DEPENDENT_PINNED,
    DEVICE_DEPENDENT_STREAM,
    DEVICE_DEPENDENT_MODULE,
    DEVICE_DEPENDENT_GRAPH, /* and captures */
    DEVICE_DEPENDENT_PROBE,
    DEVICE_DEPENDENT_CALL,    /* whose caller has not waited for its end */
    DEVICE_DEPENDENT_VIRTUAL, /* physical memory and ranges of addresses */
    DEVICE_DEPENDENT_KINDS
};
void device_dependent_added(pool_device *device, enum device_dependent kind);
void device_dependent_removed(pool_device *device, enum device_dependent kind);
/* The same with a name for the message of a pool_destroy that is refused. `entry` belongs to the
 * object. */
struct device_named {
    enum device_dependent kind;
    char name[48];                     /* longer ones are cut */
    struct device_named *next, **link; /* guarded by the pool's state lock */
};
void device_dependent_named_added(
    pool_device *device, enum device_dependent kind, const char *name, struct device_named *entry);
void device_dependent_named_removed(pool_device *device, struct device_named *entry);

/*
 * A number that another process of the device changes when it takes over. An object stores the
 * number when it is created; where the two differ, its driver object has ended with its process:
 * calls that use it fail with POOL_ERR_DEVICE_LOST (device_check_object), and destroying it makes
 * no driver call.
 */
unsigned device_renewals(const pool_device *device);
/*
 * Around an operation that enters the device several times: a lost device does not come back
 * meanwhile, so that an address that was checked is of the process that uses it. To be called
 * before anything is checked; the result is for the end.
 */
int device_begin_operation(pool_device *device);
/* The calling thread will use the device soon: its worker process, if it has one, need not be woken
 * by the first call then. */
void device_expect_use(pool_device *device);
void device_end_operation(pool_device *device, int is_inside);

/*
 * A resource that a layer attaches to a device for the life of the pool (its memory pool, staging
 * ring, loaded modules). It is created once, at the first use, however many threads need it; after
 * a failure the next caller tries again. pool_destroy destroys the resources in reverse order of
 * creation, with the device's context current and `driver_alive` 1. After a sticky fault, in a
 * forked child and at process exit `driver_alive` is 0, and only host memory may be touched.
 */
/* An object that stays in the device's memory between jobs, for descriptions. */
struct device_resident {
    const char *kind; /* "bases", "domain", "buffer", "module" */
    const char *name;
    uint64_t bytes;
    uint32_t users;
    uint32_t survivals;
    bool is_pinned;
};
typedef void (*device_resident_visitor)(void *user, const struct device_resident *resident);

struct device_resource_type {
    const char *name;
    bool is_of_gpu; /* the parts of a GPU have it in common, on their first one */
    pool_status (*create)(pool_device *device, void **object); /* inside device_enter */
    void (*destroy)(pool_device *device, void *object, int driver_alive);
    /* Visits objects, with a lock held: the visitor must not call the library. NULL: it has none.
     */
    void (*each_resident)(void *object, device_resident_visitor visit, void *user);
    /*
     * The next three are for devices that are lost with their process and come back with another
     * one; NULL: no-op. `lose`: the driver's objects are gone; objects that can be restored and
     * that nobody uses are released, without a driver call. It is called again while others are
     * left. `renew`: creates the driver's objects of the resource, which stays where it is, again;
     * inside the new context, while no other thread is inside the device. Objects of callers stay.
     */
    void (*lose)(pool_device *device, void *object);
    pool_status (*renew)(pool_device *device, void **object);
    /* After `renew` of all resources: what survived in the device's memory is verified. NULL:
     * no-op. */
    pool_status (*restore)(pool_device *device, void *object);
};
pool_status device_resource_get(
    pool_device *device, const struct device_resource_type *type, void **object);
/* The resource, or NULL while it has not been created. */
void *device_resource_find(pool_device *device, const struct device_resource_type *type);
/* Resident objects of a lost device that are in use: they keep it out of service. */
void device_set_uses(pool_device *device, unsigned count);
/* Calls `visit` for each resident object of all resources. */
void device_each_resident(const pool_device *device, device_resident_visitor visit, void *user);

/*
 * Work in flight. device_work is where launches and streams of the device are counted.
 * device_is_idle asks the driver about all streams of the device's GPU, inside device_enter:
 * POOL_OK, NOT_READY, or a failure. device_pool_is_idle asks every device of its pool that has a
 * context; an abandoned one is never idle.
 */
struct driver_work *device_work(pool_device *device);
pool_status device_is_idle(pool_device *device);
pool_status device_pool_is_idle(pool_device *device);

/*
 * The unfinished work of all devices of a pool at one moment, as marks to be reached. With *marks
 * NULL and *count 0 nothing is unfinished. The caller frees *marks with base_free. The first
 * `abandoned` devices that were abandoned are omitted.
 */
struct driver_mark;
pool_status device_pool_marks(
    pool_device *device, unsigned abandoned, struct driver_mark **marks, uint32_t *count);

/*
 * The account of the device's memory (account.h), kept by the memory layer and by leases.
 *
 * device_account_add notes an allocation before it is made; false: it would exceed the limit of
 * what the library may hold less what leases have reserved. Allocations charged to a lease are
 * limited by its reservation. device_account_subtract notes a release, or an allocation that
 * failed. When a lease ends, what is still charged to it counts as used outside of leases from then
 * on: device_account_outlive first, device_reserved_changed second.
 */
bool device_account_add(pool_device *device, uint64_t bytes, bool is_charged);
void device_account_subtract(pool_device *device, uint64_t bytes, bool is_charged);
void device_account_outlive(pool_device *device, uint64_t bytes);
/* Resident objects that can be evicted are not counted as used outside of leases: `bytes` more, or,
 * negative, fewer of them. */
void device_account_evictable(pool_device *device, int64_t bytes);
/* An addition without a limit, as the memory exists: it stays allocated when it is released. */
void device_account_quarantined(pool_device *device, uint64_t bytes);
/* The caller holds the lock of the admission: nobody else writes these numbers. */
void device_reserved_changed(pool_device *device, int64_t bytes, int leases);
/* What living leases have reserved, and their number; what leases did before they ended is visible
 * to who reads that they are gone (pool_device_wait_drained). */
uint64_t device_reserved(const pool_device *device);
uint32_t device_leases(const pool_device *device);

/* What leases may reserve in all, of which the reservations of the living ones are to be
 * subtracted: of the last sample of the free memory, or of the total memory before the first. */
uint64_t device_capacity(const pool_device *device);
/* The index of the first device of the pool whose memory this one shares: its own, but for
 * integrated devices and parts of a GPU. */
uint32_t device_shares_with(const pool_device *device);
/* The most that this could ever be, with nothing else on the device. */
uint64_t device_capacity_limit(const pool_device *device);

/*
 * What the device has for a job without a lease: free bytes as last sampled and what the library
 * holds unused, within the limit, less what leases have reserved; the total memory takes the place
 * of the free bytes where these are unknown.
 */
uint64_t device_net_free(const pool_device *device);

struct device_account_info {
    uint64_t limit; /* UINT64_MAX: none */
    uint64_t headroom;
    uint64_t used;
    uint64_t used_outside;
    uint64_t charged; /* to living leases */
    uint64_t held;
    uint64_t reserved;
    uint64_t available; /* for further reservations */
    uint32_t leases;
};
void device_account_read(const pool_device *device, struct device_account_info *info);

/* Samples the free memory of one device now, which must have a context. The results may be NULL. */
pool_status device_sample(pool_device *device, uint64_t *free_bytes, uint64_t *total_bytes);

/*
 * How the pool layer learns what the memory layer holds of the device, used and unused: called
 * inside device_enter with every sample of the free memory. Set once, for the life of the pool.
 */
struct device_held {
    pool_status (*measure)(void *object, uint64_t *held_bytes);
    void *object;
};
void device_set_held(pool_device *device, const struct device_held *held);

/* The device's properties, which were read once when the pool was created. */
const pool_device_info *device_properties(const pool_device *device);
bool device_has_clusters(const pool_device *device);

/* What pool_device_get_rate reports, and what it is unless it was measured or set. */
uint64_t device_rate(const pool_device *device);
uint64_t device_model_rate(const pool_device *device);

#endif
