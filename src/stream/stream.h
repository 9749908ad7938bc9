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
    pool_stream default_stream; /* head of the list, never taken out */
    /*
     * Device-side rendezvous: memory is freed on `reclaim` after it was made to wait for every
     * stream; nothing else runs there. `join` is the event used for each wait in turn.
     */
    CUstream reclaim;
    CUevent join; /* guarded by lock */
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
pool_status stream_check(const char *call, const pool_stream *stream);
pool_status stream_check_event(const char *call, const pool_event *event);

/* The queue of a stream, NULL being the device's default stream. */
struct driver_queue *stream_queue_on(const pool_stream *stream, pool_device *device);

/* Waits for a stream, whose queue is then known to have finished. */
pool_status stream_settle(struct driver *driver, CUstream stream, struct driver_queue *queue);

/* Asks `query` until it answers other than NOT_READY or the time is over (POOL_ERR_TIMEOUT). */
typedef pool_cu_result (*stream_query_call)(const struct driver *driver, const void *object);
pool_status stream_poll(struct driver *driver, stream_query_call query, const void *object,
    const char *what, uint64_t timeout_ns);

#endif
