/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a blocking call enqueues ahead of its device. Launches that are enqueued cannot be
 * withdrawn, and streams share the device's hardware queues: what a long call has enqueued delays
 * launches of other streams, and a cancellation waits for it. A call whose host waits at its end
 * anyway therefore has two slices enqueued at most, of pool_exec.slice_ns of predicted time each.
 */
#ifndef PACE_H
#define PACE_H

#include <stdint.h>

#include "pool/module/program.h"
#include "pool/stream/stream.h"

struct progress;

enum { PACE_EVENTS = 2 };

struct pace {
    pool_device *device;
    struct progress *progress; /* of the call */
    uint64_t slice_ns;
    uint64_t enqueued_ns;   /* predicted, since the last event */
    uint64_t slices;        /* ended by an event */
    struct stream_set *set; /* has the events of the last two; NULL before the first one */
};

/*
 * Called before work is enqueued on the stream, with the seconds that the device takes for it, as
 * predicted. Where the slice would get longer than slice_ns with it, the slice ends with an event,
 * and the host waits for the end of the slice before; POOL_ERR_CANCELLED once that was requested
 * meanwhile. Short calls have no slice to end and pay nothing.
 *
 * `pace` is exec_target.pace. NULL: never waits, as the host must not in asynchronous calls, those
 * that are captured included, and where one thread enqueues on several devices.
 */
pool_status pace_enqueue(struct pace *pace, pool_stream *stream, double seconds);

/* The predicted seconds in which a device multiplies elements of `words` words, or accesses bytes.
 */
double pace_seconds(const pool_device *device, uint32_t words, double products, double bytes);

/*
 * Enqueues a kernel in launches of at most slice_ns each (0: that of the pool), where it can be cut
 * and its predicted time is longer, and as above.
 */
pool_status pace_launch(struct pace *pace, uint64_t slice_ns, const struct module_launch *launch);

void pace_end(struct pace *pace);

#endif
