/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams for other layers: raw handles, waiting for all streams of a device, polling.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/stream.h>

#include "base/status.h"
#include "driver/work.h"
#include "pool/device/device.h"

/* The first word of a live object; overwritten on destruction, so that stale handles are detected.
 */
#define STREAM_MAGIC 0x7374726dU
#define STREAM_EVENT_MAGIC 0x65766e74U
#define STREAM_DEAD 0xdeadf1eeU

struct pool_stream {
    atomic_uint magic;
    int owned;      /* 0: adopted or default */
    int is_default; /* belongs to the device: callers cannot destroy it */
    int is_leased;  /* belongs to the pool's leases: nor can they destroy this */
    pool_device *device;
    CUstream handle;   /* NULL: the default stream of the context */
    unsigned renewals; /* of the device when it was created; not of a default stream */
    int priority;      /* the driver's; of a default stream that of calls without a lease */
    struct stream_registry *registry;
    struct driver_queue *queue; /* work enqueued here and not known to have finished */
    /* Number of the capture that records its work, 0: none; changes under registry->lock. */
    atomic_uint_least64_t capture;
    pool_stream *next;     /* guarded by registry->lock, as the next one */
    pool_stream *previous; /* NULL: its device was lost, and it is in no list */
};

/* All streams of one device; lives as long as the pool. */
struct stream_registry {
    pthread_mutex_t lock;
    pool_stream default_stream; /* head of the list, never removed */
    /*
     * Memory is freed on `reclaim` after stream_join_all has made it wait for every other stream;
     * nothing else runs there. `join` is the event that each of these waits uses in turn.
     */
    CUstream reclaim;
    CUevent join;                    /* guarded by lock */
    struct stream_set *idle_sets;    /* guarded by lock */
    struct stream_capture *captures; /* guarded by lock */
    uint64_t last_capture;           /* likewise */
    atomic_uint graphs; /* and captures, of the present process; written with lock held */
};

pool_status stream_registry_of(pool_device *device, struct stream_registry **registry);
/* NULL: the device has none yet, and no streams. */
struct stream_registry *stream_registry_find(pool_device *device);

/*
 * Makes the reclaim stream wait for all work that is enqueued on any stream of the device's GPU at
 * the time of the call. Inside device_enter. Does not block.
 */
pool_status stream_join_all(struct driver *driver, struct stream_registry *registry);

/* Later work on the reclaim stream waits for the stream's unfinished work. Inside device_enter,
 * with the registry's lock held. */
pool_status stream_order_reclaim_locked(struct driver *driver, pool_stream *stream);

/*
 * The raw handle for work on `device`: `stream`'s, or the default stream's when that is NULL.
 * Fails for a destroyed handle, for a stream of another device, and for a stream that is being
 * captured. Makes no driver call, but for the first default stream of a part.
 *
 * The default stream of a part of a GPU is a stream of its green context, not NULL: NULL is that of
 * whichever context is current, and the parts of a GPU have their memory, and the threads that
 * copy, in common.
 */
pool_status stream_handle_on(const pool_stream *stream, pool_device *device, CUstream *handle);
/* The same for work that a graph can contain: the stream may be captured. */
pool_status stream_handle_of_work(const pool_stream *stream, pool_device *device, CUstream *handle);
/*
 * Both for memory and code of `*device`, which every part of its GPU can use: *device becomes the
 * stream's, which is to be entered.
 */
pool_status stream_handle_on_gpu(const pool_stream *stream, pool_device **device, CUstream *handle);
pool_status stream_handle_of_work_on_gpu(
    const pool_stream *stream, pool_device **device, CUstream *handle);

/* pool_stream_create with the driver's priority, which is clamped. */
pool_status stream_create(pool_device *device, uint32_t flags, int priority, pool_stream **stream);

/* Destroys a stream that no caller has seen; where that fails now, the pool destroys it later. The
 * thread's error detail stays as it was. */
void stream_discard(pool_stream *stream);

/* Frees the object of a stream that belongs to the library; its driver object has ended with the
 * process that had the device. The registry's lock is held. */
void stream_forget_locked(pool_stream *stream);
void stream_forget(pool_stream *stream);

/*
 * Streams and events for one operation at a time. A set is taken with at least the given numbers of
 * them and returned for the next operation, whatever is still enqueued there. Its streams have the
 * priority of `caller`, the stream of the operation, also on another device; NULL: that of a
 * default stream. A stream of a set must wait for the caller's stream before it does anything.
 */
enum { STREAM_SET_STREAMS = 3, STREAM_SET_EVENTS = 2 * (STREAM_SET_STREAMS + 1) };
struct stream_set {
    struct stream_set *next;
    struct stream_registry *registry;
    unsigned renewals; /* of the device when the set was created */
    int priority;      /* of the streams */
    pool_stream *stream[STREAM_SET_STREAMS];
    pool_event *event[STREAM_SET_EVENTS];
};
pool_status stream_set_take(pool_device *device, const pool_stream *caller, uint32_t streams,
    uint32_t events, struct stream_set **set);
void stream_set_return(struct stream_set *set);

/* Frees the objects of the idle sets, whose driver objects have ended. The registry's lock is held.
 */
void stream_sets_forget_locked(struct stream_registry *registry);
/* For the destruction of the registry: destroys its idle sets; an event of one of them, or NULL. */
void stream_sets_destroy(struct driver *driver, struct stream_registry *registry, int driver_alive);
void stream_free_event(struct driver *driver, pool_event *event, int driver_alive);

/* POOL_OK, or INVALID_ARGUMENT for NULL and for destroyed objects. `call` is the public function.
 */
pool_status stream_check_live(const char *call, const pool_stream *stream);
/* The same, and DEVICE_LOST for a stream that has ended with the process of its device. */
pool_status stream_check(const char *call, const pool_stream *stream);

/* A graph or capture of a device is added; the result of device_renewals says later whether it is
 * still there, when it is removed. */
unsigned stream_graph_added(struct stream_registry *registry);
void stream_graph_removed(struct stream_registry *registry, unsigned renewals);
/* Whether the present process of the device's GPU has a graph or a capture; takes no lock. */
bool stream_has_graphs(pool_device *device);

/* The queue of a stream, NULL being the device's default stream. */
struct driver_queue *stream_queue_on(const pool_stream *stream, pool_device *device);

/* The driver's priority of work on a stream, NULL being the device's default stream. */
int stream_priority_on(const pool_stream *stream, pool_device *device);

/* The driver's handle of a stream, NULL being the device's default stream, whose handle has been
 * asked for by stream_handle_of_work before. */
CUstream stream_handle_or_default(const pool_stream *stream, pool_device *device);

/* The label that launches on the stream carry from now on; see driver_queue_set_label. */
static inline void stream_set_label(pool_stream *stream, const char *label)
{
    driver_queue_set_label(stream->queue, label);
}

/* Whether work goes to a default stream of the driver: NULL, or a handle that stands for one. */
static inline bool stream_is_default_handle(const pool_stream *stream)
{
    return !stream || (uintptr_t)stream->handle <= 2;
}

/* Waits for a stream and notes that its queue has finished. */
pool_status stream_synchronize(struct driver *driver, CUstream stream, struct driver_queue *queue);

/* Polls `query` until it returns other than NOT_READY; POOL_ERR_TIMEOUT after `timeout_ns`. */
typedef pool_status (*stream_query_call)(struct driver *driver, const void *object);
pool_status stream_poll(pool_device *device, stream_query_call query, const void *object,
    const char *what, uint64_t timeout_ns);

/* For messages that name two devices, which may have the same ordinal. */
static inline const char *stream_other_pool(const pool_device *device, const pool_device *other)
{
    return device_pool_of(device) == device_pool_of(other) ? "" : " of another pool";
}

#endif
