/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of time: what the library does for a job, as it begins and ends, on the host's clock. They
 * go to the caller's hook (for OpenTelemetry, Perfetto, a log) and, when a profiler of NVIDIA is
 * attached to the process, to NVTX, where they stand above the kernels that they launched.
 */
#ifndef DEVICEPOOL_TRACE_H
#define DEVICEPOOL_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>
#include <devicepool/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a range covers. */
typedef enum pool_trace_kind {
    POOL_TRACE_OPERATION = 0, /* a call of an operation: "msm", "ntt", "vector", "poseidon",
                                 "merkle", "bases" */
    POOL_TRACE_PHASE = 1,     /* a stage of an operation being enqueued: "sort", "accumulate" */
    POOL_TRACE_COPY = 2,      /* a copy between host and device: "upload", "download" */
    POOL_TRACE_COMPILE = 3,   /* "compile": NVRTC is running */
    POOL_TRACE_LOAD = 4,      /* "load": the driver loads a module */
    POOL_TRACE_LEASE_WAIT = 5 /* "lease wait": pool_acquire waits; no range where it need not */
} pool_trace_kind;

/*
 * The begin or the end of a range. Ranges of one thread nest. An operation that is asynchronous
 * ends when its work is enqueued. The strings live for the call only.
 */
typedef struct pool_trace_event {
    size_t struct_size;
    int32_t is_end;       /* 0: the range begins; 1: it ends */
    pool_trace_kind kind; /* the same at begin and end, like id, parent, name, subject, device */
    uint64_t id;          /* of the range, unique in the process; never 0 */
    uint64_t parent;      /* the range of this thread that encloses it; 0: none */
    uint64_t time_ns;     /* CLOCK_MONOTONIC */
    const char *name;     /* see pool_trace_kind */
    const char *subject;  /* field, curve, parameter set, module or lease label; "" when none */
    int32_t device;       /* the device's ordinal; -1: none */
    pool_status status;   /* of the range, at its end; POOL_OK at its begin */
    uint64_t items;       /* scalars, elements, states, bytes of a copy; 0 when not known */
} pool_trace_event;

/*
 * Called on the thread that does the work, on several threads at once. It must be fast and must not
 * call functions of the library.
 */
typedef void (*pool_trace_hook)(void *user, const pool_trace_event *event);

/*
 * Sets the process's hook; NULL removes it. Any thread, at any time. A range that has begun without
 * the hook ends without it, but the previous hook may still be running on other threads when this
 * returns. Without a hook and a profiler a range costs one load.
 */
POOL_API void pool_trace_set(pool_trace_hook hook, void *user);

#ifdef __cplusplus
}
#endif

#endif
