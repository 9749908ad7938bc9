/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events: queues of device work, marks in them, and waiting for both.
 *
 * Order. Work on one stream runs in the order in which it was enqueued. Between streams there is no
 * order but the one that pool_stream_wait_event makes. Everywhere in the library a NULL stream
 * means the device's default stream, which is CUDA's legacy one: it is ordered with every stream
 * made with POOL_STREAM_BLOCKING and with nothing else. Functions that take a stream say whether
 * NULL also makes them wait.
 *
 * Refused before the driver is asked: a stream used with memory, an event or a kernel of another
 * device (POOL_ERR_WRONG_DEVICE), and handles that are NULL or, where that can be seen, destroyed
 * (POOL_ERR_INVALID_ARGUMENT). Every function leaves the calling thread's current context as it
 * found it.
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
 * A queue of work on one device. Any thread may use it, several at once too (their work is then
 * enqueued in some order); only its destruction must not race with another use.
 */
typedef struct pool_stream pool_stream;

/*
 * A mark in a stream. Any thread may use it; waiting sees the record that was enqueued last before
 * the wait. Only its destruction must not race with another use.
 */
typedef struct pool_event pool_event;

/* Flags of a stream. */
#define POOL_STREAM_BLOCKING 1u /* ordered with the device's default stream; without it: not */

/* Zero is the default of every member but struct_size. */
typedef struct pool_stream_params {
    size_t struct_size;
    /*
     * As the driver counts: 0 is normal, lower is more urgent. Numbers outside of what
     * pool_stream_get_priority_range says are brought to its nearest end.
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
 * Makes a stream; params may be NULL. The stream is the caller's, to be destroyed with
 * pool_stream_destroy before the pool is. Errors: INVALID_ARGUMENT (NULL, unknown flag), and what
 * the device's state gives.
 */
POOL_API pool_status pool_stream_create(
    pool_device *device, const pool_stream_params *params, pool_stream **stream);

/*
 * Wraps a stream of the caller's own; the handles 0, 1 and 2 (default, legacy, per thread) are
 * allowed; 2 means, in each call, the default stream of the thread that makes the call. It must
 * belong to the device's context (POOL_ERR_WRONG_DEVICE), outlive the wrapper, and is not destroyed
 * with it.
 */
POOL_API pool_status pool_stream_adopt(pool_device *device, CUstream handle, pool_stream **stream);

/*
 * The device's default stream as an object, for calls that wait when they are given NULL and should
 * not. It belongs to the device: pool_stream_destroy refuses it.
 */
POOL_API pool_status pool_stream_default(pool_device *device, pool_stream **stream);

/*
 * Destroys the stream and sets *stream to NULL; NULL and a pointer to NULL are nothing. Does not
 * wait: work that is still enqueued is finished by the driver, and memory freed later by
 * pool_buffer_destroy stays untouched until that work is done. A failure of the driver is returned;
 * the object is gone all the same, unless *stream still is set: then the device's context could not
 * be entered and the call can be made again. After a sticky fault, in a forked child and during
 * process exit only host memory is freed. A default stream is refused with
 * POOL_ERR_INVALID_ARGUMENT.
 */
POOL_API pool_status pool_stream_destroy(pool_stream **stream);

/* The stream's device; NULL for NULL. */
POOL_API pool_device *pool_stream_device(const pool_stream *stream);

/* The raw handle, for code that calls the driver or the runtime API itself. */
POOL_API pool_status pool_stream_handle(const pool_stream *stream, CUstream *handle);

/* Priority and flags as the driver keeps them; either pointer may be NULL. */
POOL_API pool_status pool_stream_get_priority(const pool_stream *stream, int32_t *priority);
POOL_API pool_status pool_stream_get_flags(const pool_stream *stream, uint32_t *flags);

/* POOL_OK when all work is done, POOL_ERR_NOT_READY (no failure: not logged) when not. */
POOL_API pool_status pool_stream_query(pool_stream *stream);

/*
 * Waits until all work that was enqueued before the call is done. A fault of a kernel shows here as
 * POOL_ERR_PROCESS_POISONED.
 */
POOL_API pool_status pool_stream_synchronize(pool_stream *stream);

/*
 * The same for at most `timeout_ns` nanoseconds, then POOL_ERR_TIMEOUT; 0 asks once. Never hangs
 * with a kernel that does: it asks the driver again and again, at first at once, then with pauses
 * that grow to 0.2 ms.
 */
POOL_API pool_status pool_stream_wait(pool_stream *stream, uint64_t timeout_ns);

/*
 * Makes later work of `stream` wait for the event's last record; returns at once. The event may be
 * of another device of the same driver. An event that was never recorded holds nothing up.
 */
POOL_API pool_status pool_stream_wait_event(pool_stream *stream, pool_event *event);

/*
 * Enqueues a call of `function` on a thread of the driver, after the work before it. It must be
 * quick and must not call the library or CUDA. It is not called when the stream fails before.
 */
typedef void (*pool_host_task)(void *user);
POOL_API pool_status pool_stream_call(pool_stream *stream, pool_host_task function, void *user);

/* Flags of an event. */
#define POOL_EVENT_TIMING 1u /* can be asked for elapsed time; without it records are cheaper */
#define POOL_EVENT_SLEEP 2u  /* pool_event_synchronize sleeps where it else spins */

/* Makes an event. It is the caller's, to be destroyed before the pool is. */
POOL_API pool_status pool_event_create(pool_device *device, uint32_t flags, pool_event **event);

/* Destroys the event and sets *event to NULL; NULL is nothing. Waits already enqueued still hold.
 */
POOL_API pool_status pool_event_destroy(pool_event **event);

/* The event's device; NULL for NULL. */
POOL_API pool_device *pool_event_device(const pool_event *event);

/* The raw handle. */
POOL_API pool_status pool_event_handle(const pool_event *event, CUevent *handle);

/* Enqueues the mark on a stream of the event's device (NULL: its default stream). */
POOL_API pool_status pool_event_record(pool_event *event, pool_stream *stream);

/* POOL_OK when the last record is done or there is none, else POOL_ERR_NOT_READY (not logged). */
POOL_API pool_status pool_event_query(pool_event *event);

/* Waits for the last record. */
POOL_API pool_status pool_event_synchronize(pool_event *event);

/* The same for at most `timeout_ns`, as pool_stream_wait does. */
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
