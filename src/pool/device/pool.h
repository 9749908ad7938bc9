/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of this layer: the pool, its devices and the published set of usable devices. The
 * layers above include device.h only.
 *
 * Locks, in the order in which one thread may hold them: device->resource_lock,
 * device->context_lock, pool->sample_lock, pool->state_lock, the lock of the binding records. No
 * user callback runs and no driver call is made under the last two.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <devicepool/pool.h>
#include <devicepool/tuning.h>

#include "driver/work.h"
#include "pool/device/account.h"
#include "pool/device/counters.h"
#include "pool/device/device.h"
#include "pool/device/extension.h"
#include "pool/device/monitor.h"
#include "pool/device/split.h"

/* Members that many threads write are this far apart: two cache lines, as processors fetch them in
 * pairs. */
#define CACHE_LINE 128

/*
 * The ready devices at one time. Immutable once published; a pool keeps every set that it ever
 * published, so readers need no lock. A set that is needed again is published again, so a pool has
 * at most one set for each combination of devices.
 */
struct device_set {
    uint64_t limit;      /* a multiple of `count`; counter values from here on take the slow path */
    uint64_t reciprocal; /* 2^64 / count, rounded up */
    uint32_t count;
    pool_device **devices;
    struct device_set *next; /* published before this one */
};

/* An object that a layer above has attached to a device. */
struct device_resource {
    const struct device_resource_type *type;
    void *object;
    struct device_resource *next; /* created before this one */
};

/* What the watchdog knows of a device; written by the monitor's thread, atomics read by all. */
struct device_watch {
    uint64_t finished; /* driver_work_finished at the last check */
    /* When progress was seen last; 0: nothing was unfinished. Reset when a lost device returns. */
    atomic_uint_least64_t since_ns;
    atomic_int overdue;                   /* leases on the device */
    atomic_uint_least64_t query_began_ns; /* the query that is in progress; 0: none */
    atomic_int is_stalled;
};

struct device_reason {
    char text[1024]; /* a cause and names of kernels */
};

struct pool_device {
    /* constant after creation */
    device_pool *pool;
    struct driver *driver;
    CUdevice handle;
    pool_device *gpu; /* the first device of the pool on its GPU: itself unless it is a part */
    struct device_part part;    /* of parts only, as the next one */
    struct device_parts *parts; /* of the GPU, of its first part */
    int is_named; /* the identity was read: properties.uuid and properties.pci are valid */
    pool_device_info properties;
    char gpu_uuid[POOL_UUID_TEXT]; /* of a MIG instance: the UUID of its GPU */
    int has_clusters;              /* of thread blocks */
    bool can_return;               /* it can be lost and come back, see readmit.c */
    const struct tuning *tuning;

    /* read by every use, written rarely */
    _Atomic(CUcontext) context;       /* NULL until it is created; of a part that of `green` */
    CUgreenCtx green;                 /* guarded by context_lock; NULL: it is no part */
    atomic_uint_least64_t context_id; /* by cuCtxGetId; 0: not known */
    struct device_named *named;       /* dependents, the first ones first; guarded by state_lock */
    atomic_int state;                 /* written with the pool's state_lock held; never POISONED */
    atomic_bool is_lost;              /* its worker process or its context has ended */
    pthread_mutex_t context_lock;     /* one thread creates the context */
    pthread_mutex_t resource_lock;    /* one thread creates resources; recursive */
    _Atomic(struct device_resource *) resources;
    pthread_mutex_t capture_lock; /* of the GPU: held during releases that wait for all work */
    unsigned captures; /* of the GPU: streams that are being captured; guarded by capture_lock */
    pthread_mutex_t deferred_lock;
    struct device_deferred *deferred; /* releases to be done later; guarded by deferred_lock */
    atomic_uint_least64_t rate;       /* 0: the model's, see device_rate.c */
    atomic_int priority_count;        /* of the driver's streams; 0: not known yet */
    atomic_uint_least64_t pinned_threshold;   /* of freed pinned memory that is kept for reuse */
    _Atomic(const struct device_held *) held; /* NULL: the library holds no memory there */
    struct device_reason reason;     /* of the state; guarded by state_lock, as the next four */
    struct device_reason last_loss;  /* of a device that has returned since */
    unsigned quarantines;            /* how often it has entered that state */
    bool is_probed;                  /* a probe has succeeded since */
    bool is_probing;                 /* a probe is in progress */
    bool needs_resume;               /* guarded by state_lock: not resumed by its return */
    atomic_bool is_readmitting;      /* a replacement of its worker process is being probed */
    atomic_bool is_renewing;         /* the thread of pool->readmission uses it */
    struct monitor_task return_task; /* ends a replacement that does not answer */
    atomic_uint worker_generation;   /* of the worker process that has its context */
    /* Of the process that was taken into service last: generation and driver_work_finished then. */
    atomic_uint served_generation;
    atomic_uint_least64_t served_from;
    atomic_uint abandoned_as; /* it was the n-th device of the pool to be abandoned; 0: never */

    _Alignas(CACHE_LINE) struct device_account account; /* of the GPU: that of its first device */
    atomic_int leases;         /* living ones that have reserved bytes or slots of the device */
    atomic_uint chosen;        /* times since the last sample of free memory */
    atomic_uint chosen_before; /* in the interval before, if that was the one before */
    atomic_uint dependents[DEVICE_DEPENDENT_KINDS];
    atomic_uint uses;     /* of resident objects, which keep a lost device out of service */
    atomic_uint renewals; /* how often, at most, another process has taken the device over */

    _Alignas(CACHE_LINE) atomic_uint calls; /* of the library that are in progress on it */
    atomic_uint inside; /* threads that have entered it; counted where it can return */
    atomic_uint_least64_t verified_ns; /* by a binding; the coarse clock */
    atomic_uint_least64_t lost_at_ns;  /* when its context was found ended */
    struct driver_work work;
    struct device_watch watch;
    struct device_counters counters;
};

/* Whether a device computes correctly, see pool_device_probe. */
typedef pool_status device_probe_function(pool_device *device, uint64_t timeout_ns);

struct device_pool {
    /* read by every choice */
    unsigned generation; /* of the process that created it */
    /*
     * The number of devices if all are usable and it is a power of two, as on most hosts: then the
     * devices are the array itself and the remainder of the counter is a bit mask. Otherwise 0.
     */
    atomic_uint whole_count;
    _Atomic(const struct device_set *) usable;
    pool_device *devices;
    struct driver *driver;
    size_t count;
    pool_context_mode context_mode;
    unsigned context_flags;
    int is_lazy;
    struct device_account_rules account_rules;
    pool_fault_hook fault_hook;
    void *fault_user;
    struct monitor *monitor;
    struct base_thread_pool *threads;    /* for staged copies and compilations */
    struct status_socket *status_socket; /* NULL: none; constant */
    uint64_t (*host_memory)(void *user); /* NULL: base_host_available */
    void *host_memory_user;
    uint64_t slice_ns;               /* pool_params, or the default */
    uint64_t shared_slice_ns;        /* while a device is shared */
    uint32_t shared_multiprocessors; /* pool_params */
    uint64_t stall_timeout_ns;       /* 0: devices without overdue leases are not watched */
    struct monitor_task watch_task;
    device_probe_function *probe; /* of lost devices that return; constant */
    struct monitor *readmission;  /* its thread takes lost devices into service again */
    struct monitor_task readmission_task;
    atomic_bool is_ending;  /* no other device is taken into service: the pool is being destroyed */
    atomic_uint references; /* pool_create's and pool_retain's; the last one destroys */
    uint32_t slots;         /* of each device, for leases */
    struct device_levels levels; /* constant */
    struct tuning *tuning; /* of all devices; NULL: each has its defaults. Constant, as the next */
    struct pool_tuning_info tuning_info;
    _Atomic(void *) extension; /* of the layer of leases; NULL until its first use */
    const struct device_pool_extension_type *extension_type; /* constant once that is set */
    pthread_mutex_t extension_lock;                          /* one thread creates it */
    bool is_leaked;                  /* its memory is never freed: a thread may still use it */
    atomic_int is_stopped;           /* everything but the leaked memory is released */
    struct device_pool *next_leaked; /* guarded by the lock of that list */

    _Alignas(CACHE_LINE) atomic_uint_fast64_t counter;     /* of round robin */
    _Alignas(CACHE_LINE) atomic_uint_fast64_t tie_counter; /* among equals of the other policies */
    atomic_uint_fast64_t sampled_at;                       /* coarse clock; 0: never */
    atomic_uint_fast64_t polled_at;                        /* clock, of work in flight; 0: never */
    pthread_mutex_t sample_lock;                           /* one thread samples */
    atomic_int timing_level;                               /* pool_set_phase_timing */

    pthread_mutex_t state_lock;
    /* Guarded by state_lock. The reserve has count + 1 sets, so that losing devices needs no
     * memory. */
    struct device_set *sets; /* all that were ever published */
    struct device_set *reserve;
    struct device_set *spares; /* more of the reserve, for devices that came back */
    pool_device **reserve_devices;
    size_t reserve_used;
    device_state_listener state_listener;
    void *state_listener_user;
    atomic_uint abandoned; /* devices in that state; written with state_lock held */
    int is_poisoned;       /* guarded by state_lock: nothing is published any more */
    atomic_int has_fault;  /* `first_cause` is complete */
    int fault_shown_on;    /* index of the device, -1: not known; guarded like `first_cause` */
    int fault_device;      /* index of the culprit, -1: not certain; guarded like `first_cause` */
    char first_cause[1024];
    struct device_fault_count faults[DEVICE_FAULT_KINDS]; /* guarded by state_lock */
    size_t fault_kinds;                                   /* the same */
};

/* --- context.c: the parts of a GPU are described again, for other contexts; no-op for a whole GPU.
 * `device` is the first of them. --- */
pool_status device_split_again(pool_device *device);

/* --- ready_set.c: the published set --- */

/* Allocates every set that the pool can ever need. */
pool_status device_set_allocate(device_pool *pool);
void device_set_free(device_pool *pool);
/*
 * Publishes the devices that are READY now. Taken from the reserve this cannot fail and is allowed
 * once at creation and once for each device that is lost; with `may_allocate` memory is taken. */
void device_set_publish(device_pool *pool);
pool_status device_set_publish_locked(device_pool *pool, bool may_allocate);
/* Adds to the reserve what the loss of one more device needs. Called with state_lock held. */
pool_status device_set_replenish_locked(device_pool *pool);

/* --- extension.c --- */

/* POOL_ERR_BUSY while the layer of leases needs the pool. */
pool_status device_pool_check_extension(device_pool *pool);
void device_pool_destroy_extension(device_pool *pool);

/* The device as filters and scores see it. */
pool_candidate device_candidate(const pool_device *device, uint32_t bindings);

/* --- health.c --- */

/* POOL_ERR_NO_DEVICE with these reasons. */
pool_status device_pool_none_usable(const device_pool *pool);

/* --- state.c --- */

/* The reason of the state; "" while it is READY. */
struct device_reason device_reason(const pool_device *device);
/* The same for the loss of a device, which may have returned since. */
struct device_reason device_loss(const pool_device *device);
/* Another reason of a device that is lost; no-op for others. */
void device_set_loss(pool_device *device, const char *reason);
/* Calls the listener of the layer above; the second for all parts of the GPU. */
void device_notify_state(pool_device *device);
void device_notify_states_of_gpu(pool_device *device);
int device_pool_has_abandoned(const device_pool *pool);

/*
 * Marks the device unusable for good with the calling thread's last error as the reason, publishes
 * the new set and calls the hook. Returns POOL_ERR_DEVICE_UNUSABLE, or POOL_ERR_DEVICE_LOST if it
 * is lost; the detail has the reason.
 */
pool_status device_mark_unusable(pool_device *device);
/* Its two halves, for callers that hold a lock over the first, which returns 1 when the device was
 * usable before. */
int device_set_unusable(pool_device *device);
pool_status device_notify_unusable(pool_device *device, int is_first);

/* Allocates what device_set_returned needs, in advance. */
pool_status device_reserve_return(pool_device *device);
/*
 * A lost device that has been given new driver objects accepts calls again: it is quarantined for
 * `reason`. POOL_ERR_BUSY if it is not lost, or was abandoned.
 */
pool_status device_set_returned(pool_device *device, const char *reason);
/* pool_device_resume, unless it was being drained or was quarantined when it was lost, or has been
 * quarantined by the user since. */
pool_status device_resume_returned(pool_device *device);
bool device_is_probing(const pool_device *device);

/*
 * Returns `status`; if its class is DEVICE, the device is marked unusable first. After a failure of
 * the driver the context is examined: POOL_ERR_DEVICE_LOST if it was ended.
 */
pool_status device_classify(pool_device *device, pool_status status);

/* Listener of the driver's first sticky fault; `user` is the pool. */
void device_pool_fault(void *user, const struct driver_fault *fault);

/* --- context.c --- */

/* The device's context, created now if necessary. Pushes nothing. */
pool_status device_context_create(pool_device *device, CUcontext *context);
/* Forgets the context of a device that was lost, creates another one and enters it. */
pool_status device_enter_again(pool_device *device, struct device_scope *scope);
/*
 * Around whatever uses the context, on devices that can come back: while threads are inside, a lost
 * device does not. To be counted before the state is read.
 */
static inline int device_count_inside(pool_device *device)
{
    if (!device->can_return)
        return 0;
    atomic_fetch_add(&device->inside, 1);
    return 1;
}
static inline void device_count_outside(pool_device *device, int is_inside)
{
    if (is_inside)
        atomic_fetch_sub(&device->inside, 1);
}
/* Refuses a primary context that is in use with other flags than pool_params.context_flags. */
pool_status device_context_check_flags(pool_device *device);
/* Releases the context; failures are only logged. */
void device_context_release(pool_device *device);
/* The device that the calling thread has entered (device_enter), or NULL. */
pool_device *device_entered(void);
/* From now on messages of the log have the thread's device. */
void device_register_log_device(void);
/*
 * Pops `context` from the calling thread's stack. If another context is on top, it is pushed back:
 * POOL_ERR_UNBALANCED with *is_off 0. With *is_off 1 the context is popped, whatever the status.
 */
pool_status device_context_pop(struct driver *driver, CUcontext context, int *is_off);

/* --- context_loss.c --- */

/* Stores the id of the device's new context, to which later ones are compared. */
pool_status device_note_context(pool_device *device, CUcontext context);
/*
 * After a failure with `status`: if another part of the process has ended the context, the device
 * is lost, and the result is POOL_ERR_DEVICE_LOST; otherwise `status`, with its detail.
 */
pool_status device_find_context_ended(pool_device *device, pool_status status);
/* The parts of device_verify_context: after a difference or a failure of cuCtxGetId, and where the
 * driver has no ids. */
pool_status device_verify_context_slowly(pool_device *device, pool_cu_result code);
pool_status device_verify_without_id(pool_device *device);

/* POOL_ERR_DEVICE_LOST if the context, which is about to be used, is not the one that the pool
 * obtained. Inside a device that can be lost. */
static inline pool_status device_verify_context(pool_device *device, CUcontext context)
{
    unsigned long long known = atomic_load_explicit(&device->context_id, memory_order_relaxed), id;
    pool_cu_result code;

    if (!known)
        return device_verify_without_id(device);
    id = known;
    code = device->driver->api.CtxGetId(context, &id);
    return __builtin_expect(!code && id == known, 1) ? POOL_OK
                                                     : device_verify_context_slowly(device, code);
}

/* --- create.c, destroy.c --- */

/* Frees host memory; a pool with is_leaked is put into a list instead. */
void device_pool_free(device_pool *pool);
/* Releases the driver's objects, as far as it still works, then frees host memory; the driver stays
 * open. */
void device_pool_stop(device_pool *pool);

/* --- free_memory.c --- */

/*
 * device_net_free, divided by the number of jobs that share it: the next one and those that the
 * device was chosen for since the last samples. *chosen is how often it was chosen since the last
 * one.
 */
uint64_t device_share(const pool_device *device, unsigned *chosen);

/* --- work.c --- */

/* Queries one device's streams, the ones with unfinished work or all: POOL_OK, NOT_READY, or a
 * failure. */
pool_status device_poll_work(pool_device *device, int all);

/* --- watch.c --- */

/* Starts the watchdog if the pool has one. */
pool_status device_pool_start_watch(device_pool *pool);
/* Whether the device makes no progress. No driver call; may notify the fault hook. */
int device_is_stalled(pool_device *device);
/* Calls the fault hook with the message and kernels of `fault`. */
void device_report_stall(pool_device *device, const struct driver_fault *fault);

/* --- isolation.c --- */

/* Notices the end of worker processes, whose replacements `probe` examines; no-op for a pool
 * without them. */
pool_status device_pool_start_isolation(device_pool *pool, device_probe_function *probe);
void device_pool_stop_isolation(device_pool *pool);
/* Takes lost devices into service again, as far as possible; no-op before
 * device_pool_start_isolation. */
pool_status device_pool_start_readmission(device_pool *pool);
/* The device is lost: its worker process has ended. */
void device_lose(pool_device *device);
/* Stores which worker process the device's driver objects will belong to. */
void device_note_worker(pool_device *device);
/* Waits for the replacement of a worker process that has ended; false: there will be none. */
bool device_wait_worker(const pool_device *device);
/* Whether that process still serves the device; true without workers. */
bool device_has_same_worker(const pool_device *device);

/* --- readmit.c --- */

/* The task that takes lost devices into service again, on the thread of pool->readmission. */
uint64_t device_pool_readmit(void *user, uint64_t now_ns);

/* Ends the device's worker process, which makes no progress; no-op without one. */
void device_end_worker(const pool_device *device, const char *cause);

/* --- bind.c --- */

/* The number of bindings that threads hold now on devices that are not abandoned; `by_device`, if
 * not NULL, receives the number per device. */
unsigned device_pool_bindings(const device_pool *pool, uint32_t *by_device);

/* --- find.c, resources.c --- */

/* Whether `text` is the UUID or a prefix of it, with or without "GPU-" or "MIG-", or the form of
 * old drivers for an instance of the GPU. */
bool device_has_uuid(const pool_device *device, const char *text);
/* Destroys the resources attached to the device, in reverse order of creation. */
void device_destroy_resources(pool_device *device, int driver_alive);
/* For devices that are lost: see struct device_resource_type. */
void device_lose_resources(pool_device *device);
pool_status device_renew_resources(pool_device *device);

/* --- deferred.c --- */

/* Releases everything whose release was deferred, when the pool is destroyed. */
void device_release_all_deferred(pool_device *device, int driver_alive);

/* --- properties.c, identity.c --- */

/* UUID, PCI address and name into device->properties. */
pool_status device_read_identity(pool_device *device);
/* All other properties that do not change. */
pool_status device_read_properties(pool_device *device);

/* --- info.c, describe.c, describe_json.c --- */

pool_status device_read_peer(const pool_device *from, const pool_device *to, pool_peer_info *info);
/* The input of both forms of the description: `count` infos and count * count peers; free both with
 * base_free. */
struct pool_snapshot {
    size_t count;
    pool_device_info *devices;
    pool_peer_info *peers; /* NULL when the driver could not be queried */
};
pool_status device_pool_write_json(
    device_pool *pool, const struct pool_snapshot *snapshot, char **text);
pool_status device_write_json(const pool_device *device, const pool_device_info *info, char **text);
const char *device_context_mode_name(pool_context_mode mode);

/* What usable.h decides by. What was renewed before a lost device returned is visible to a thread
 * that has read its new state. */
static inline struct device_condition device_pool_condition(const device_pool *pool)
{
    return (struct device_condition){.is_forked = pool->generation != driver_fork_generation(),
        .is_poisoned = atomic_load_explicit(&pool->driver->poisoned, memory_order_relaxed)};
}
static inline struct device_condition device_condition(const pool_device *device)
{
    struct device_condition at = device_pool_condition(device->pool);

    at.state = (pool_device_state)atomic_load_explicit(&device->state, memory_order_acquire);
    at.is_lost = atomic_load_explicit(&device->is_lost, memory_order_relaxed);
    at.has_context = atomic_load_explicit(&device->context, memory_order_acquire) != NULL;
    return at;
}

/* Calls are refused because it is lost: it may come back. One load where it is not. */
static inline bool device_is_lost(const pool_device *device)
{
    return __builtin_expect(atomic_load_explicit(&device->is_lost, memory_order_relaxed), 0) &&
           device_refusal(device, DEVICE_USE_CALLS) == POOL_ERR_DEVICE_LOST;
}

/* The context for immediate use, with every check that has to come before. */
static inline pool_status device_context_get(pool_device *device, CUcontext *context)
{
    CUcontext created = atomic_load_explicit(&device->context, memory_order_acquire);

    if (__builtin_expect(
            created && !device_usability(DEVICE_USE_CALLS, device_condition(device)), 1)) {
        *context = created;
        return POOL_OK;
    }
    return device_context_create(device, context);
}

#endif
