/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of docs/performance.md, and their measurement one at a time.
 */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include "bench.h"

/* What the figure of a row is. */
enum suite_unit {
    SUITE_MS,        /* milliseconds per call */
    SUITE_NS,        /* nanoseconds per unit of the operation */
    SUITE_MILLIONS,  /* 10^6 units per second */
    SUITE_GIGABYTES, /* 10^9 bytes per second */
    SUITE_S          /* seconds */
};

struct suite_row {
    const char *group;
    const char *name;                        /* of no other row */
    const struct bench_operation *operation; /* NULL: a start, see suite_measure_apart */
    struct bench_case spec;
    enum suite_unit unit;
    double peer;      /* the best figure of another library; 0: none is known */
    double target;    /* 0: none, or: */
    const char *bare; /* the subject of a row of the group before this one, whose figure ... */
    double times;     /* ... times this, or ... */
    double plus;      /* ... plus this is the target */
    uint32_t devices; /* of the peer, of a job over several devices; 0: of one */
};

/* The rows of docs/performance/rows.json, in its order; written by rows.py. */
extern const struct suite_row suite_rows[];
extern const size_t suite_row_count;

const char *suite_unit_name(enum suite_unit unit);
bool suite_is_rate(enum suite_unit unit); /* higher is better */

/* Shortens the case to sizes of 2^log and few operations, for tests on simulated devices. */
void suite_scale(const struct suite_row *row, uint32_t log, struct bench_case *spec);

/* The figure, in the row's unit. */
double suite_figure(const struct suite_row *row, const struct bench_run *run);

/* Whether the row is measured in a process of its own: starts, and first uses without a cache. */
bool suite_is_apart(const struct suite_row *row);

/* The outcome of a measurement in another process. */
struct suite_apart {
    double seconds;
    bool is_correct;
    pool_status status;
    char failure[2048]; /* "": none */
};

/*
 * Measures a row in a child process, forked before this one has used a driver or started a thread.
 * A start is the initialization of the driver, with contexts or without, or of a pool of `devices`,
 * with contexts or lazy. A first use begins with inputs in host memory and ends with the result, in
 * an empty cache. Waits `timeout` seconds (0: for ever), and ends the child then.
 */
void suite_measure_apart(const struct suite_row *row, const struct bench_case *spec,
    const char *devices, uint64_t timeout, struct suite_apart *outcome);

/*
 * Compiles what the rows use on the device, several rows at a time, so that the measurements do not
 * wait for the compiler one after another; begins nothing more once is_over() is true. Failures
 * show in the measurements.
 */
void suite_compile(device_pool *pool, pool_device *device, const struct bench_case *specs,
    const bool *is_selected, bool (*is_over)(void));

#endif
