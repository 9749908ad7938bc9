/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which streams are captured into graphs, and what must not happen to them meanwhile.
 */
#ifndef STREAM_CAPTURE_H
#define STREAM_CAPTURE_H

#include <stdbool.h>

#include "pool/stream/stream.h"

/* In the list of a registry, guarded by its lock. */
struct stream_capture {
    uint64_t number;
    pool_stream *origin; /* on which it began */
    bool is_incomplete;  /* a call was refused */
    struct stream_capture *next;
};

/* The number of the capture that the stream is part of; 0: none. */
static inline uint64_t stream_capture_of(const pool_stream *stream)
{
    return stream ? atomic_load_explicit(&stream->capture, memory_order_relaxed) : 0;
}

/* POOL_ERR_UNSUPPORTED; the end of the capture will fail, too. `what` cannot be part of a graph. */
/* `call` is the public function; NULL: not known. */
pool_status stream_refuse_captured(const char *call, const pool_stream *stream, const char *what);

/* stream_check, and the above for a captured stream. */
pool_status stream_check_uncaptured(const char *call, const pool_stream *stream, const char *what);

/* POOL_ERR_BUSY while a stream of the device is captured. */
pool_status stream_check_no_captures(pool_device *device);

/*
 * A wait of a captured stream, or for an event that was recorded in capture `of_event` (0: none) of
 * a stream of `of_device`, which adds the stream to that capture. Inside device_enter.
 */
pool_status stream_wait_captured(struct driver *driver, pool_stream *stream, CUevent event,
    const pool_device *of_device, uint64_t of_event);

/* The captures have ended with the process of the device. The registry's lock is held. */
void stream_captures_forget_locked(struct stream_registry *registry);

/* Ends the capture that began on the stream; *graph is set on success. Inside device_enter, or with
 * `driver` NULL: the device cannot be entered, and there is no graph. */
pool_status stream_end_capture(
    const char *call, struct driver *driver, pool_stream *stream, CUgraph *graph);

#endif
