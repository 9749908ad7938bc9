/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other rooms may know of streams: raw handles, the wait on everything, polling.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/stream.h>

#include "base/status.h"
#include "driver/work.h"
#include "pool/device.h"

/* First word of a living object; overwritten when it is destroyed, so that stale handles show. */
#define STREAM_MAGIC 0x7374726dU
#define STREAM_EVENT_MAGIC 0x65766e74U
#define STREAM_DEAD 0xdeadf1eeU

struct pool_stream {
    atomic_uint magic;
    int owned;      /* 0: adopted or default */
    int is_default; /* the device's own object: cannot be destroyed by callers */
    pool_device *device;
    CUstream handle;
    struct stream_registry *registry;
    struct driver_queue *queue; /* what is enqueued here and not known to be done */
    pool_stream *next;          /* guarded by registry->lock */
    pool_stream *previous;
};

/* All streams of one device, kept as long as its pool lives. */
struct stream_registry {
    pthread_mutex_t lock;
    unsigned generation;        /* of the process that made it */
    pool_stream default_stream; /* head of the list, never taken out */
    /*
     * Device-side rendezvous: memory is freed on `reclaim` after it was made to wait for every
     * stream; nothing else runs there. `join` is the event used for each wait in turn.
     */
    CUstream reclaim;
    CUevent join;                     /* guarded by lock */
    struct stream_deferred *deferred; /* guarded by lock */
};

pool_status stream_registry_of(pool_device *device, struct stream_registry **registry);

/*
 * Makes the reclaim stream wait for all work that is enqueued on any stream of the device now.
 * Inside device_enter. The host does not wait.
 */
pool_status stream_join_all(struct driver *driver, struct stream_registry *registry);

/*
 * The raw handle for work on `device`: of `stream`, or of the default stream when that is NULL.
 * Fails for a destroyed handle and for a stream of another device; asks no driver.
 */
pool_status stream_handle_on(
    const pool_stream *stream, const pool_device *device, CUstream *handle);

/* Give back what nobody else has; what cannot be given back now the pool keeps. The first failure
 * stays the detail. */
void stream_discard(pool_stream *made);
void stream_discard_event(pool_event *made);

/* POOL_OK, or INVALID_ARGUMENT for NULL and for what was destroyed. */
pool_status stream_check(const pool_stream *stream);
pool_status stream_check_event(const pool_event *event);

/*
 * device_enter for destructors. ENTERED: make the driver calls, then device_leave. HOST_ONLY: the
 * process is lost (a sticky fault, a forked child, exit): free host memory only, silently; *status
 * is POOL_OK, or the fault if it showed right here. KEEP: the context cannot be entered now; the
 * object stays as it is, so that it can be tried again.
 */
enum stream_way { STREAM_ENTERED, STREAM_HOST_ONLY, STREAM_KEEP };
enum stream_way stream_enter_to_destroy(
    pool_device *device, struct device_scope *scope, pool_status *status);

/*
 * What cannot be given back to the driver now: because it would wait for unfinished work, or
 * because the context could not be left after the making. The pool gives it back later, at the
 * latest at its end.
 */
enum stream_deferred_kind {
    STREAM_DEFERRED_STREAM,
    STREAM_DEFERRED_EVENT,
    STREAM_DEFERRED_PINNED,
    STREAM_DEFERRED_REGISTERED,
    STREAM_DEFERRED_MODULE
};

struct stream_deferred {
    struct stream_deferred *next;
    enum stream_deferred_kind kind;
    int is_secret; /* overwritten before it is given back or used again */
    void *handle;
    uint64_t bytes; /* of pinned memory */
    uint32_t flags; /* of pinned memory: those that another use has to share */
    int is_marked;  /* `marks` say when nothing uses it any more; 0: nobody knows */
    uint32_t mark_count;
    struct driver_mark *marks;
};

/* Made together with what it will be for, so that a free needs no memory. NULL: out of memory. */
struct stream_deferred *stream_deferred_new(enum stream_deferred_kind kind);
void stream_deferred_free(struct stream_deferred *deferred);

/* Puts it aside until the work that is unfinished now has finished. */
void stream_defer(struct stream_registry *registry, struct stream_deferred *deferred);

/* The same for what nobody else has; the pool's end gives it back. */
void stream_keep_orphan(
    struct stream_registry *registry, enum stream_deferred_kind kind, void *handle);

/*
 * Gives back what was put aside, if the devices are idle; with `waits` also what nothing uses any
 * more, although the driver then waits for what is enqueued now. Inside device_enter. The thread's
 * error detail stays as it was.
 */
void stream_give_back(struct stream_registry *registry, int waits);
/* The pool's end: everything. */
void stream_give_back_all(struct stream_registry *registry, int driver_alive);

/* Pinned memory that was put aside and that nothing uses any more, at least `bytes` and at most
 * twice as much; now the caller's. NULL: there is none. */
struct stream_deferred *stream_reuse_pinned(
    struct stream_registry *registry, uint64_t bytes, uint32_t flags);
uint64_t stream_deferred_pinned_bytes(struct stream_registry *registry);

/* The queue of a stream, NULL being the device's default stream. */
struct driver_queue *stream_queue_on(const pool_stream *stream, pool_device *device);

/* Waits for a stream, whose queue is then known to have finished. */
pool_status stream_settle(struct driver *driver, CUstream stream, struct driver_queue *queue);

/*
 * A driver call of a cleanup: not made any more once the process is lost. STREAM_UNDO_QUIETLY
 * leaves the thread's detail as it was, for cleanups after a failure that is already there.
 */
#define STREAM_UNDO(driver, call)                                                                  \
    (stream_driver_lost(driver) ? POOL_ERR_PROCESS_POISONED : DRIVER_CALL(driver, call))
#define STREAM_UNDO_QUIETLY(driver, call)                                                          \
    do {                                                                                           \
        struct base_error_copy undo_first;                                                         \
        base_error_save(&undo_first);                                                              \
        (void)STREAM_UNDO(driver, call);                                                           \
        base_error_restore(&undo_first);                                                           \
    } while (0)
static inline int stream_driver_lost(const struct driver *driver)
{
    return atomic_load_explicit(&driver->poisoned, memory_order_relaxed) != 0;
}

/* Whether this is a forked child: another thread of the parent may have held any lock. */
static inline int stream_is_forked(const struct stream_registry *registry)
{
    return registry->generation != driver_fork_generation();
}

/* Asks `query` until it answers other than NOT_READY or the time is over (POOL_ERR_TIMEOUT). */
typedef pool_cu_result (*stream_query_call)(const struct driver *driver, const void *object);
pool_status stream_poll(struct driver *driver, stream_query_call query, const void *object,
    const char *what, uint64_t timeout_ns);

/* NOT_READY without a record, else as driver_check. */
pool_status stream_answer(struct driver *driver, pool_cu_result code, const char *call);

#endif
