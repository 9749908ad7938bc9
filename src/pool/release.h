/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the destructors of the layers above the pool: entering a device to release a resource on it,
 * and deferred releases.
 */
#ifndef POOL_RELEASE_H
#define POOL_RELEASE_H

#include <stdint.h>

#include "pool/device.h"

/*
 * device_enter for destructors.
 * ENTERED: make the driver calls, then device_leave.
 * HOST_ONLY: the driver cannot be used any more (a sticky fault, a forked child, process exit):
 * free host memory only. *status is POOL_OK, or the fault if this call is the one that met it.
 * RETAIN: the context cannot be entered now; the object stays as it is, so that the caller can try
 * again.
 */
enum device_release { DEVICE_RELEASE_ENTERED, DEVICE_RELEASE_HOST_ONLY, DEVICE_RELEASE_RETAIN };
enum device_release device_enter_to_destroy(
    pool_device *device, struct device_scope *scope, pool_status *status);

/*
 * Resources whose release has to wait: because the driver call would block on unfinished work, or
 * because the context could not be entered. The pool releases them later, at the latest when it is
 * destroyed.
 */
enum device_deferred_kind {
    DEVICE_DEFERRED_STREAM,
    DEVICE_DEFERRED_EVENT,
    DEVICE_DEFERRED_PINNED,
    DEVICE_DEFERRED_REGISTERED,
    DEVICE_DEFERRED_MODULE
};

struct device_deferred {
    struct device_deferred *next;
    enum device_deferred_kind kind;
    int is_secret; /* overwritten before it is released or reused */
    void *handle;
    uint64_t bytes; /* of pinned memory */
    uint32_t flags; /* of pinned memory: those that a reuse must have too */
    int is_marked;  /* `marks` say when the resource is unused; 0: unknown */
    uint32_t mark_count;
    struct driver_mark *marks;
};

/* Allocated together with the resource, so that releasing it needs no memory. NULL: out of memory.
 */
struct device_deferred *device_deferred_new(enum device_deferred_kind kind);
void device_deferred_free(struct device_deferred *deferred);

/* Defers a release until the work that is unfinished now has finished. Takes over `deferred`. */
void device_defer(pool_device *device, struct device_deferred *deferred);

/* Defers the release of a resource without an owner to the pool's destruction. */
void device_defer_orphan(pool_device *device, enum device_deferred_kind kind, void *handle);

/*
 * Releases deferred resources if the devices are idle; with `may_wait` also those that nothing uses
 * any more, although the driver then blocks on the work that is enqueued now. Inside device_enter.
 * The thread's error detail stays as it was.
 */
void device_release_deferred(pool_device *device, int may_wait);

/*
 * Deferred pinned memory that nothing uses any more, of at least `bytes` and at most twice as much.
 * The caller owns the result. NULL: there is none.
 */
struct device_deferred *device_reuse_deferred_pinned(
    pool_device *device, uint64_t bytes, uint32_t flags);
uint64_t device_deferred_pinned_bytes(pool_device *device);

#endif
