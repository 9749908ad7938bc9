/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the destructors of the layers above the pool: entering a device to release a resource on it,
 * and deferred releases.
 */
#ifndef POOL_RELEASE_H
#define POOL_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "pool/device/device.h"

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
/* The same for an object that was created after `renewals` renewals of the device; HOST_ONLY also
 * where it has ended with an earlier process. */
enum device_release device_enter_to_destroy_object(
    pool_device *device, unsigned renewals, struct device_scope *scope, pool_status *status);

/*
 * Resources whose release has to wait: because the driver call would block on unfinished work, or
 * because the context could not be entered. The pool releases them later, at the latest when it is
 * destroyed.
 */
enum device_deferred_kind {
    DEVICE_DEFERRED_STREAM,
    DEVICE_DEFERRED_EVENT,
    DEVICE_DEFERRED_GRAPH, /* an instantiated one */
    DEVICE_DEFERRED_PINNED,
    DEVICE_DEFERRED_REGISTERED,
    DEVICE_DEFERRED_MODULE
};

struct device_deferred {
    struct device_deferred *next;
    enum device_deferred_kind kind;
    int is_secret; /* overwritten before it is released or reused */
    void *handle;
    uint64_t bytes;     /* of pinned memory */
    uint32_t flags;     /* of pinned memory: those that a reuse must have too */
    unsigned abandoned; /* devices of the pool that were abandoned before the resource was created:
                           they cannot use it */
    int is_marked;      /* `marks` say when the resource is unused; 0: unknown */
    uint32_t mark_count;
    struct driver_mark *marks;
};

/* Allocated before the resource, so that releasing it needs no memory. NULL: out of memory. */
struct device_deferred *device_deferred_new(
    const pool_device *device, enum device_deferred_kind kind);
void device_deferred_free(struct device_deferred *deferred);

/* Defers a release until the work that is unfinished now has finished. Takes over `deferred`. */
void device_defer(pool_device *device, struct device_deferred *deferred);

/* Defers the release of a resource without an owner to the pool's destruction. */
void device_defer_orphan(pool_device *device, enum device_deferred_kind kind, void *handle);

/*
 * Releases deferred resources if the devices are idle. EXCESS keeps pinned memory for reuse, up to
 * the threshold. ALL keeps none, and also releases what nothing uses any more, although the driver
 * then blocks on the work that is enqueued now. Secrets that nothing uses any more are overwritten.
 * Inside device_enter. Returns the first failure; what could not be released stays deferred.
 */
enum device_release_extent { DEVICE_RELEASE_EXCESS, DEVICE_RELEASE_ALL };
pool_status device_release_deferred(pool_device *device, enum device_release_extent extent);
/* The same with EXCESS on the way of another call: failures are ignored. */
void device_try_release_deferred(pool_device *device);

/* Around the capture of a stream: what waits for all work is not released meanwhile, as that would
 * end the capture. */
void device_capture_begins(pool_device *device);
void device_capture_ended(pool_device *device);

/*
 * Deferred pinned memory that nothing uses any more, of at least `bytes` and at most twice as much.
 * The caller owns the result. NULL: there is none.
 */
struct device_deferred *device_reuse_deferred_pinned(
    pool_device *device, uint64_t bytes, uint32_t flags);
bool device_has_deferred_pinned(pool_device *device);

/* Freed pinned memory: that unfinished work may still use, and that nothing uses any more. */
struct device_pinned_bytes {
    uint64_t deferred;
    uint64_t unused;
};
struct device_pinned_bytes device_deferred_pinned_bytes(pool_device *device);

/* How much freed pinned memory is kept for reuse. */
#define DEVICE_PINNED_THRESHOLD (UINT64_C(256) << 20)
void device_set_pinned_threshold(pool_device *device, uint64_t bytes);
uint64_t device_pinned_threshold(const pool_device *device);

#endif
