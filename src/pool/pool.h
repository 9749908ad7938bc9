/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share with one another: the pool, its devices and the published set
 * of usable devices. The rooms above see device.h only.
 *
 * Locks, in the order in which one thread may hold them: device->kept_lock, device->context_lock,
 * pool->sample_lock, pool->state_lock, the lock of the binding records. No user callback runs and
 * no driver call is made under the last two.
 */
#ifndef POOL_POOL_INTERNAL_H
#define POOL_POOL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/pool.h>

#include "driver/work.h"
#include "pool/device.h"

/* Things that many threads write lie this far apart: two lines, as processors fetch them in pairs.
 */
#define CACHE_LINE 128

/*
 * The usable devices at one time. Immutable once it is published; a pool keeps all it ever had, so
 * that a reader needs no lock.
 */
struct device_set {
    uint64_t limit;      /* a multiple of `count`; turns from here on take the slow way */
    uint64_t reciprocal; /* 2^64 / count, rounded up */
    uint32_t count;
    pool_device *const *devices;
};

/* One object that a room above keeps on a device. */
struct kept_object {
    const struct device_keep *kind;
    void *object;
    struct kept_object *next; /* made before this one */
};

struct pool_device {
    /* constant after creation */
    device_pool *pool;
    struct driver *driver;
    CUdevice handle;
    int is_named; /* identity could be read: facts.uuid and facts.pci are good */
    pool_device_info facts;

    /* read by every use, written rarely */
    _Atomic(CUcontext) context;   /* NULL until it is made */
    atomic_int state;             /* POOL_DEVICE_READY or UNUSABLE; poison is the driver's */
    char reason[256];             /* written once, before `state` */
    pthread_mutex_t context_lock; /* one thread makes the context */
    pthread_mutex_t kept_lock;    /* one thread makes kept objects; recursive */
    _Atomic(struct kept_object *) kept;
    pthread_mutex_t deferred_lock;
    struct device_deferred *deferred; /* releases to be done later; guarded by deferred_lock */
    atomic_uint_fast64_t free_bytes; /* as last sampled */
    atomic_int is_sampled;

    _Alignas(CACHE_LINE) atomic_int_fast64_t reserved_bytes; /* promised, not allocated yet */
    atomic_uint_fast64_t unused_bytes; /* held by our own memory pool, in nobody's hands */
    atomic_uint chosen;                /* times since the last sample of free memory */
    atomic_uint chosen_before;         /* in the interval before, if that was the one before */
    atomic_uint children[DEVICE_CHILD_KINDS];

    _Alignas(CACHE_LINE) atomic_uint calls; /* of the library that are under way on it */
    struct driver_work work;
};

struct device_pool {
    /* read by every choice */
    unsigned generation; /* of the process that made it */
    /*
     * The number of devices while every one is usable and it is a power of two, as on most hosts:
     * then the devices are the array itself and a turn's remainder one mask. Else 0.
     */
    atomic_uint whole_count;
    _Atomic(const struct device_set *) usable;
    pool_device *devices;
    struct driver *driver;
    size_t count;
    pool_context_mode context_mode;
    unsigned context_flags;
    int is_lazy;
    pool_fault_hook fault_hook;
    void *fault_user;

    _Alignas(CACHE_LINE) atomic_uint_fast64_t turn;     /* of round robin */
    _Alignas(CACHE_LINE) atomic_uint_fast64_t tie_turn; /* among equals of the other policies */
    atomic_uint_fast64_t sampled_at;                    /* coarse clock; 0: never */
    atomic_uint_fast64_t polled_at;                     /* clock, of work in flight; 0: never */
    pthread_mutex_t sample_lock;                        /* one thread samples */

    pthread_mutex_t state_lock;
    struct device_set *sets; /* guarded by state_lock: count + 1 of them, `sets_used` published */
    size_t sets_used;
    pool_device **set_devices;
    int is_poisoned;      /* guarded by state_lock: nothing is published any more */
    atomic_int has_fault; /* `first_cause` is complete */
    int fault_shown_on;   /* index of the device, -1: not known; as `first_cause` */
    int fault_device;     /* index of the culprit, -1: not certain; as `first_cause` */
    char first_cause[1024];
};

/* --- usable.c: the published set --- */

/* Room for every set that the pool can ever need. */
pool_status device_set_allocate(device_pool *pool);
void device_set_free(device_pool *pool);
/* Publishes the devices that are READY now. */
void device_set_publish(device_pool *pool);

/* --- policy.c --- */

/* Test hook: where round robin stands. Turns at and beyond the published limit are folded back. */
void device_pool_set_turn(device_pool *pool, uint64_t turn);

/* --- health.c --- */

/* Why the pool cannot be used: FORKED or PROCESS_POISONED; POOL_OK when it can. */
pool_status device_pool_refusal(const device_pool *pool);

/* "device 0 (GPU-…): why" of each unusable device, in a row; "" when there is none. */
void device_pool_reasons(const device_pool *pool, char *text, size_t size);
/* POOL_ERR_NO_DEVICE with these reasons. */
pool_status device_pool_none_usable(const device_pool *pool);

/*
 * Makes the device unusable for good with the calling thread's last error as reason, publishes the
 * new set and tells the hook. POOL_ERR_DEVICE_UNUSABLE, the detail saying why.
 */
pool_status device_mark_unusable(pool_device *device);
/* Its two halves, for callers that hold a lock over the first: 1 when it was not lost before. */
int device_lose(pool_device *device);
pool_status device_tell_loss(pool_device *device, int is_first);

/* Passes `status` on; when it says that the device is lost, the device is marked so first. */
pool_status device_judge(pool_device *device, pool_status status);

/* POOL_ERR_DEVICE_UNUSABLE with the reason kept. */
pool_status device_unusable(const pool_device *device);

/* Hears the driver's first sticky fault; `user` is the pool. */
void device_pool_fault(void *user, const struct driver_fault *fault);

/* --- context.c --- */

/* The device's context, made now if need be. Pushes nothing. */
pool_status device_context_make(pool_device *device, CUcontext *context);
/* Gives the context back to the driver; failures are logged only. */
void device_context_release(pool_device *device);
/* The device that the calling thread is inside of (device_enter), or NULL. */
pool_device *device_acting(void);
/*
 * Takes `context` off the calling thread's stack. Something else on top is put back:
 * POOL_ERR_UNBALANCED with *is_off 0. *is_off 1: it is not there any more, whatever the status.
 */
pool_status device_context_pop(struct driver *driver, CUcontext context, int *is_off);

/* --- create.c, destroy.c --- */

/* Frees host memory. */
void device_pool_free(device_pool *pool);
/* Gives back what the driver gave, as far as it still answers, then frees; the driver stays open.
 */
void device_pool_stop(device_pool *pool);

/* --- free_memory.c --- */

/* Brings free_bytes up to date unless that was done a moment ago. */
pool_status device_pool_sample(device_pool *pool);
/* Asks the driver for one device now; it has a context. */
pool_status device_sample(pool_device *device, uint64_t *free_bytes);
/* Free, plus our own unused, less reserved; total memory stands for a free that nobody knows. */
uint64_t device_net_free(const pool_device *device);
/*
 * The same, divided by the jobs that share it: one to come and those that the device was chosen for
 * since the last samples. *chosen is how often that was since the last one.
 */
uint64_t device_share(const pool_device *device, unsigned *chosen);

/* --- work.c --- */

/* Asks for the streams that have unfinished work, unless that was done a moment ago. */
pool_status device_pool_poll_work(device_pool *pool);

/* --- bind.c --- */

/* Bindings that threads hold right now; with `by_device` also added up device by device. */
unsigned device_pool_bindings(const device_pool *pool, uint32_t *by_device);

/* --- find.c, resources.c --- */

int device_uuid_starts_with(const char *whole, const char *start);
/* Unmakes what the rooms above keep on the device, the last made first. */
void device_unmake_kept(pool_device *device, int driver_alive);

/* --- deferred.c --- */

/* Releases everything whose release was deferred, when the pool is destroyed. */
void device_release_all_deferred(pool_device *device, int driver_alive);

/* --- properties.c, identity.c --- */

/* UUID, PCI address and name into device->facts. */
pool_status device_read_identity(pool_device *device);
/* Everything else that does not change. */
pool_status device_read_facts(pool_device *device);

/* --- info.c, describe.c, describe_json.c --- */

pool_status device_read_peer(const pool_device *from, const pool_device *to, pool_peer_info *info);
/* What both forms of the description need: `count` infos and count * count peers; base_free. */
struct pool_snapshot {
    size_t count;
    pool_device_info *devices;
    pool_peer_info *peers; /* NULL when the driver could not be asked */
};
pool_status device_pool_write_json(
    device_pool *pool, const struct pool_snapshot *snapshot, char **text);
/* READY, UNUSABLE or POISONED. */
pool_device_state device_state(const pool_device *device);
const char *device_state_name(pool_device_state state);
const char *device_context_mode_name(pool_context_mode mode);

static inline int device_pool_is_fit(const device_pool *pool)
{
    int is_ours = pool->generation == driver_fork_generation();

    return is_ours && !atomic_load_explicit(&pool->driver->poisoned, memory_order_relaxed);
}

/* POOL_OK, or why no call of this pool can do anything. */
static inline pool_status device_pool_check(const device_pool *pool)
{
    return device_pool_is_fit(pool) ? POOL_OK : device_pool_refusal(pool);
}

/* The context for immediate use, with every check that has to come before. */
static inline pool_status device_context_get(pool_device *device, CUcontext *context)
{
    CUcontext made = atomic_load_explicit(&device->context, memory_order_acquire);

    if (__builtin_expect(
            made && device_pool_is_fit(device->pool) &&
                atomic_load_explicit(&device->state, memory_order_relaxed) == POOL_DEVICE_READY,
            1)) {
        *context = made;
        return POOL_OK;
    }
    return device_context_make(device, context);
}

#endif
