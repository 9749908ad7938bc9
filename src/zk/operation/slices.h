/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a blocking call enqueues ahead of its device. Launches that are enqueued cannot be
 * withdrawn, and streams share the device's hardware queues: what a long call has enqueued delays
 * launches of other streams, and a cancellation waits for it. A call whose host waits at its end
 * anyway therefore has two slices enqueued at most, of pool_exec.slice_ns of predicted time each.
 */
#ifndef SLICES_H
#define SLICES_H

#include <stdint.h>

#include "pool/module/program.h"
#include "pool/stream/stream.h"

struct progress;

/* The call's own stream and those of a pipeline. */
enum { SLICES_STREAMS = STREAM_SET_STREAMS + 1 };

/* A slice ends when the work that it has on each of its streams ends. */
struct slice {
    uint32_t count; /* of its streams, and later of the events that end it */
    pool_stream *stream[SLICES_STREAMS];
};

struct slices {
    pool_device *device;
    struct progress *progress; /* of the call */
    uint64_t slice_ns;
    uint64_t enqueued_ns;   /* predicted, in the present slice */
    uint64_t ended;         /* ended by events */
    struct slice slice[2];  /* the present one, and the one before: by their number mod 2 */
    struct stream_set *set; /* has the events of both; NULL before the first one ends */
    /* What the host does before it waits, in about half a slice's time; NULL: nothing. */
    void (*meanwhile)(void *user);
    void *user;
};

/*
 * Called before work is enqueued on the stream, with the seconds that the device takes for it, as
 * predicted. Where the slice would get longer than slice_ns with it, the slice ends with an event
 * on each stream that has work of it, and the host waits for the end of the slice before;
 * POOL_ERR_CANCELLED once that was requested meanwhile. Short calls have no slice to end and pay
 * nothing.
 *
 * `slices` is exec_target.slices. NULL: never waits, as the host must not in asynchronous calls,
 * those that are captured included, and where one thread enqueues on several devices.
 */
pool_status slices_enqueue(struct slices *slices, pool_stream *stream, double seconds);

/* The predicted seconds in which a device multiplies elements of `words` words, or accesses bytes.
 */
double slices_seconds(const pool_device *device, uint32_t words, double products, double bytes);

/*
 * Enqueues a kernel in launches of at most slice_ns each (0: that of the pool), where it can be cut
 * and its predicted time is longer, and as above.
 */
pool_status slices_launch(
    struct slices *slices, uint64_t slice_ns, const struct module_launch *launch);

/*
 * `joined` has made way for `stream`, whose later work waits for that of `joined`: from now on the
 * present slice has an event there instead. Before the stream of a set is returned.
 */
void slices_join(struct slices *slices, pool_stream *joined, pool_stream *stream);

void slices_end(struct slices *slices);

/*
 * Asynchronous calls of this thread, on the device of `slices`, are parts of its call until the
 * next slices_lend: for calls that an operation consists of. Returns what was lent before; NULL:
 * nothing.
 */
struct slices *slices_lend(struct slices *slices);
struct slices *slices_lent(const pool_device *device);

#endif
