/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events: queues of device work, positions in them, and waiting for both.
 *
 * Order. Work on one stream runs in the order in which it was enqueued. Work on different streams
 * is ordered only by pool_stream_wait_event. Everywhere in the library a NULL stream means the
 * device's default stream, which is CUDA's legacy one: it is ordered with every stream created with
 * POOL_STREAM_BLOCKING and with no other. That of a part of a GPU is ordered with no other stream.
 * Functions that take a stream say whether NULL also makes them wait.
 *
 * A stream used with memory, an event or a kernel of another device fails with
 * POOL_ERR_WRONG_DEVICE, and a handle that is NULL or, where this can be detected, destroyed fails
 * with POOL_ERR_INVALID_ARGUMENT, both before any driver call. Every function leaves the calling
 * thread's current context unchanged.
 */
#ifndef DEVICEPOOL_STREAM_H
#define DEVICEPOOL_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/driver.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A queue of work on one device. Any thread may use it, also several concurrently, whose work is
 * then enqueued in some order; only its destruction must not race with another use.
 */
typedef struct pool_stream pool_stream;

/*
 * A position in a stream. Any thread may use it; a wait refers to the last record enqueued before
 * it. Only its destruction must not race with another use.
 */
typedef struct pool_event pool_event;

/* Flags of a stream. */
typedef enum pool_stream_flag {
    POOL_STREAM_BLOCKING = 1 /* ordered with the device's default stream */
} pool_stream_flag;

/* Zero is the default of every member but struct_size. */
typedef struct pool_stream_params {
    size_t struct_size;
    /*
     * As in CUDA: lower is more urgent. Values outside the range of pool_stream_get_priority_range
     * are clamped to it, so that 1 is the least urgent one. 0: as leases of class 0, the middle of
     * the range (-2 of 0 to -5).
     */
    int32_t priority;
    uint32_t flags; /* POOL_STREAM_… */
} pool_stream_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_stream_params_init(pool_stream_params *params, size_t struct_size);

/* The least and the most urgent priority of the device; both 0 where it has none. */
POOL_API pool_status pool_stream_get_priority_range(
    pool_device *device, int32_t *least, int32_t *most_urgent);

/*
 * Creates a stream; params may be NULL. The caller destroys it with pool_stream_destroy before the
 * pool is destroyed. Errors: INVALID_ARGUMENT (NULL, unknown flag), UNSUPPORTED
 * (POOL_STREAM_BLOCKING for a part of a GPU), and those of every device call (status.h).
 */
POOL_API pool_status pool_stream_create(
    pool_device *device, const pool_stream_params *params, pool_stream **stream);

/*
 * Wraps a stream that the caller created; the handles 0, 1 and 2 (default, legacy, per thread) are
 * allowed; 2 means, in each call, the default stream of the calling thread. The stream must belong
 * to the device's context (POOL_ERR_WRONG_DEVICE) and outlive the wrapper; destroying the wrapper
 * does not destroy it.
 */
POOL_API pool_status pool_stream_adopt(pool_device *device, CUstream handle, pool_stream **stream);

/*
 * The device's default stream as an object, for calls that would wait if stream were NULL. It
 * belongs to the device: pool_stream_destroy fails for it.
 */
POOL_API pool_status pool_stream_default(pool_device *device, pool_stream **stream);

/*
 * Destroys the stream and sets *stream to NULL; NULL or a pointer to NULL is a no-op. Does not
 * wait: the driver finishes work that is still enqueued, and memory freed later by
 * pool_buffer_destroy is not reused before that work is done. A driver error is returned, and the
 * object is destroyed nevertheless, unless *stream is still set: then the device's context could
 * not be entered and the call can be repeated. After a sticky fault, in a forked child and during
 * process exit only host memory is freed. POOL_ERR_INVALID_ARGUMENT for a default stream.
 */
POOL_API pool_status pool_stream_destroy(pool_stream **stream);

/* The stream's device; NULL for NULL. */
POOL_API pool_device *pool_stream_device(const pool_stream *stream);

/* The raw handle, for code that calls the driver or the runtime API itself. */
POOL_API pool_status pool_stream_handle(const pool_stream *stream, CUstream *handle);

/* Priority and flags as the driver reports them. */
POOL_API pool_status pool_stream_get_priority(const pool_stream *stream, int32_t *priority);
POOL_API pool_status pool_stream_get_flags(const pool_stream *stream, uint32_t *flags);

/* POOL_OK when all work is done, else POOL_ERR_NOT_READY, which is not logged. */
POOL_API pool_status pool_stream_query(pool_stream *stream);

/*
 * Waits until all work that was enqueued before the call is done. Returns
 * POOL_ERR_PROCESS_POISONED when a kernel has faulted.
 */
POOL_API pool_status pool_stream_synchronize(pool_stream *stream);

/*
 * Waits at most `timeout_ns` nanoseconds, then returns POOL_ERR_TIMEOUT; 0 queries once. Does not
 * hang when a kernel does: it polls the driver, at first without pauses, then with pauses that grow
 * to 0.2 ms.
 */
POOL_API pool_status pool_stream_wait(pool_stream *stream, uint64_t timeout_ns);

/*
 * Waits until all work of the device's context is done that was enqueued before the call: on every
 * stream, the caller's own included. Returns POOL_ERR_PROCESS_POISONED when a kernel has faulted.
 */
POOL_API pool_status pool_device_synchronize(pool_device *device);

/*
 * Waits as pool_stream_wait does, for the work on the device's default stream and on all its
 * pool_streams; the driver cannot be queried about streams that were not adopted. While other
 * threads enqueue work without a pause it may return POOL_ERR_TIMEOUT although what was enqueued
 * before the call is done.
 */
POOL_API pool_status pool_device_wait(pool_device *device, uint64_t timeout_ns);

/*
 * Makes later work on `stream` wait for the event's last record; does not block. The event may
 * belong to another device of the same driver. Waiting for an event that was never recorded is a
 * no-op.
 */
POOL_API pool_status pool_stream_wait_event(pool_stream *stream, pool_event *event);

/*
 * Fork: later work on each of the `count` streams waits for what has been enqueued on `stream`.
 * Join: later work on `stream` waits for what has been enqueued on each of them. Neither blocks.
 * The streams may belong to other devices of the same driver; `stream` itself among them is a
 * no-op, as is count 0. All are checked before anything is enqueued.
 */
POOL_API pool_status pool_stream_fork(
    pool_stream *stream, pool_stream *const *streams, size_t count);
POOL_API pool_status pool_stream_join(
    pool_stream *stream, pool_stream *const *streams, size_t count);

/*
 * Enqueues a call of `function`, which the driver makes on one of its threads after the work before
 * it. The function must be quick and must not call the library or CUDA. It is not called when
 * earlier work on the stream has failed.
 */
typedef void (*pool_host_task)(void *user);
POOL_API pool_status pool_stream_call(pool_stream *stream, pool_host_task function, void *user);

/* Flags of an event, combined by |. */
typedef enum pool_event_flag {
    POOL_EVENT_TIMING = 1,   /* for pool_event_elapsed; records without it are cheaper */
    POOL_EVENT_SLEEP = 2,    /* pool_event_synchronize blocks instead of spinning */
    POOL_EVENT_SHAREABLE = 4 /* for pool_event_share; not with POOL_EVENT_TIMING */
} pool_event_flag;

/*
 * Creates an event. The caller destroys it before the pool is destroyed. POOL_ERR_UNSUPPORTED for
 * POOL_EVENT_SHAREABLE where the driver has no such events.
 */
POOL_API pool_status pool_event_create(pool_device *device, uint32_t flags, pool_event **event);

/* The driver's handle of an event (CUipcEventHandle), to be sent to another process as it is. */
typedef struct pool_shared_event {
    unsigned char handle[64];
} pool_shared_event;

/*
 * Fills `shared` for an event of POOL_EVENT_SHAREABLE, by which another process opens it: its
 * streams and threads can then wait for this one's records, and the reverse: a wait is for the last
 * record that any of the processes had made when the wait was called. The event must exist while
 * the other one does. Errors: INVALID_ARGUMENT (not shareable), UNSUPPORTED.
 */
POOL_API pool_status pool_event_share(pool_event *event, pool_shared_event *shared);

/* Opens an event that another process has shared, on the same device; destroyed by
 * pool_event_destroy. Errors: INVALID_ARGUMENT, UNSUPPORTED, DRIVER. */
POOL_API pool_status pool_event_open(
    pool_device *device, const pool_shared_event *shared, pool_event **event);

/* Destroys the event and sets *event to NULL; NULL or a pointer to NULL is a no-op. Waits that are
 * already enqueued are not affected. */
POOL_API pool_status pool_event_destroy(pool_event **event);

/* The event's device; NULL for NULL. */
POOL_API pool_device *pool_event_device(const pool_event *event);

/* The raw handle. */
POOL_API pool_status pool_event_handle(const pool_event *event, CUevent *handle);

/* Records the event on a stream of its device (NULL: the default stream). */
POOL_API pool_status pool_event_record(pool_event *event, pool_stream *stream);

/* POOL_OK when the last record is done or there is none, else POOL_ERR_NOT_READY (not logged). */
POOL_API pool_status pool_event_query(pool_event *event);

/* Waits for the last record. */
POOL_API pool_status pool_event_synchronize(pool_event *event);

/* Waits at most `timeout_ns` nanoseconds, as pool_stream_wait does. */
POOL_API pool_status pool_event_wait(pool_event *event, uint64_t timeout_ns);

/*
 * Milliseconds between two records of events with POOL_EVENT_TIMING of one device. Errors:
 * INVALID_ARGUMENT (no timing, or never recorded), WRONG_DEVICE, NOT_READY (not logged).
 */
POOL_API pool_status pool_event_elapsed(pool_event *start, pool_event *end, double *milliseconds);

#ifdef __cplusplus
}
#endif

#endif
