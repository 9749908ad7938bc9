/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rooms above the pool (memory, stream, module, the operations) may know of a device.
 */
#ifndef POOL_DEVICE_INTERNAL_H
#define POOL_DEVICE_INTERNAL_H

#include <pthread.h>

#include <devicepool/device.h>

#include "driver/driver.h"

/* Between enter and leave the device's context is current on the calling thread. */
struct device_scope {
    pool_device *device;
    struct driver *driver;
    CUcontext context;
    int is_pushed;
    int is_counted;     /* among the device's calls under way */
    pool_device *outer; /* what the thread was inside of before */
};

/*
 * Checks the device (NULL, fork, poison, unusable), makes a lazy context, pushes it. On failure
 * nothing is pushed. Costs no push when the context is already current on this thread.
 */
pool_status device_enter(pool_device *device, struct device_scope *scope);

/* device_enter for the pool's own questions, which are nobody's work on the device. */
pool_status device_enter_uncounted(pool_device *device, struct device_scope *scope);

/*
 * device_enter for giving something back: also on a device that has become unusable, as long as it
 * has its context, and a passing failure is tried again, since nobody comes back to give it back
 * later. On failure only host memory can be freed, or the object be kept for another try.
 */
pool_status device_enter_to_release(pool_device *device, struct device_scope *scope);

/*
 * Pops what enter pushed, also when `status` is a failure, and returns `status`, or the pop's own
 * failure when `status` is POOL_OK. The thread's error detail keeps the first failure.
 */
pool_status device_leave(struct device_scope *scope, pool_status status);

/*
 * 1 when driver calls can be made on the device at all: not after fork, not poisoned, and it has a
 * context. Records nothing: for destructors, which then free host memory only and stay silent.
 */
int device_alive(const pool_device *device);

/*
 * 1 in a child forked from the process that made the pool. There a thread that the child does not
 * have may hold any lock of a handle or wait on its condition, so none is touched: neither taken
 * nor destroyed.
 */
int device_is_forked(const pool_device *device);
/* POOL_ERR_FORKED there, else POOL_OK; for calls that take a lock before they enter the device. */
pool_status device_check_forked(const pool_device *device);
/* pthread_mutex_destroy, omitted in a forked child. */
void device_lock_destroy(const pool_device *device, pthread_mutex_t *lock);

/* The device to run on: `wanted`, or when that is NULL the device this thread bound last. */
pool_status device_or_bound(pool_device *wanted, pool_device **device);

struct driver *device_driver(const pool_device *device);

/* What keeps a pool from being destroyed while it exists. */
enum device_child {
    DEVICE_CHILD_BUFFER,
    DEVICE_CHILD_STREAM,
    DEVICE_CHILD_MODULE,
    DEVICE_CHILD_KINDS
};
void device_child_added(pool_device *device, enum device_child kind);
void device_child_removed(pool_device *device, enum device_child kind);

/*
 * What a room keeps on a device for as long as the pool lives (its memory pool, staging ring,
 * loaded modules). Made at the first use, once, however many threads ask; a failed make is tried
 * again by the next caller. pool_destroy unmakes them, the last made first, with the device's
 * context current and `driver_alive` 1; after a sticky fault, in a forked child and at process exit
 * with 0: then only host memory may be touched.
 */
struct device_keep {
    const char *name;
    pool_status (*make)(pool_device *device, void **object); /* inside device_enter */
    void (*unmake)(pool_device *device, void *object, int driver_alive);
};
pool_status device_kept(pool_device *device, const struct device_keep *kind, void **object);

/*
 * Work in flight. device_work is where launches and streams of the device are counted.
 * device_is_idle asks the driver about all streams of the device, inside device_enter: POOL_OK,
 * NOT_READY, or a failure. device_pool_is_idle asks every device of its pool that has a context.
 */
struct driver_work *device_work(pool_device *device);
pool_status device_is_idle(pool_device *device);
pool_status device_pool_is_idle(pool_device *device);

/*
 * The unfinished work of all devices of a pool at one moment, as marks to be reached. *marks NULL
 * and *count 0: nothing is unfinished. The caller frees them with base_free.
 */
struct driver_mark;
pool_status device_pool_marks(pool_device *device, struct driver_mark **marks, uint32_t *count);

/*
 * What pool_best_device has to know of memory that the driver cannot see: bytes promised to a lease
 * and not allocated yet (added and taken back), and bytes that our own memory pool holds unused.
 */
void device_reserved_changed(pool_device *device, int64_t bytes);
void device_set_unused(pool_device *device, uint64_t bytes);

/* The device's facts as read once when the pool was made. */
const pool_device_info *device_facts(const pool_device *device);

#endif
