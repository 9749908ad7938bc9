/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of operations: traced as they are enqueued, and timed on the device where
 * pool_set_phase_timing has switched that on; single launches likewise.
 */
#ifndef STREAM_PHASE_H
#define STREAM_PHASE_H

#include "driver/trace.h"
#include "pool/stream/stream.h"

/* A phase whose work is being enqueued. */
struct phase {
    struct trace_range range;
    pool_device *device;
    struct phase_ring *ring;
    struct phase_sample *sample; /* NULL: not timed */
    CUstream stream;
};

/*
 * Inside device_enter. `operation` and `name` are static; a stream NULL is the default stream.
 * phase_end returns `status`. A failure to time a phase is no failure of the operation.
 */
void phase_begin(struct phase *phase, pool_device *device, const pool_stream *stream,
    const char *operation, const char *name);
/* The same for the launch of a kernel, which is not traced. */
void phase_begin_launch(
    struct phase *phase, pool_device *device, const pool_stream *stream, const char *kernel);
pool_status phase_end(struct phase *phase, pool_status status);

/* Adds the phases and launches that the device has finished to its counters. Enters the device. */
void phase_collect(pool_device *device);

#endif
