/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latency of short jobs that share a device with a long one.
 */
#ifndef BENCH_SHARE_H
#define BENCH_SHARE_H

#include "bench.h"

/* A job that runs again and again, each time under a lease of its own and on its stream. */
struct share_task {
    struct bench_run run; /* operation, spec, pool and device are the caller's */
    /* Bytes of a result in device memory that are read and compared after each call, in turn from
     * its first to its last ones; 0: all. */
    uint64_t window;
    /* private: */
    struct bench_result result;
    pool_pinned *pinned; /* receives results in device memory */
    uint8_t *expected;
    uint64_t lease_bytes;
    uint64_t offset; /* of the window of the next call */
    pool_status status;
};

/*
 * Computes the job once, which is checked against the host's answer (run.is_correct) and is what
 * later results are compared with, and once under a lease to learn the device memory it needs.
 * share_close follows also after a failure, whose message is then in the run.
 */
pool_status share_open(struct share_task *task);
void share_close(struct share_task *task);

/* One measurement. */
struct share_cell {
    struct share_task *clients; /* equal short jobs, each with a thread; NULL: none arrive */
    size_t client_count;
    struct share_task *neighbour; /* the long job; NULL: none */
    int32_t priority;             /* of the leases of the short jobs; the long one's is 0 */
    uint64_t arrivals;
    double rate; /* arrivals per second */
    uint64_t seed;
    double seconds; /* of the measurement, if there are no clients */

    /* Milliseconds from the scheduled arrival until the result is in host memory. */
    double p50, p99, p999, max;
    uint64_t wrong; /* results of short jobs */
    uint64_t neighbour_calls, neighbour_wrong;
    double neighbour_ms; /* per call */
};

/*
 * Short jobs arrive as a Poisson process, however long those before them take: an arrival that
 * finds all clients busy waits for one, which its latency includes. The long job is called in a
 * loop meanwhile. A failure is in the status and the run of its task.
 */
pool_status share_measure(struct share_cell *cell);

#endif
