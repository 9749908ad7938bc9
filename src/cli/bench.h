/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench: what a measured operation is for the part that measures.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <sys/types.h>

#include "cli.h"

/* What was asked for. */
struct bench_request {
    struct cli_sizes sizes;
    const char *subjects; /* names separated by commas: fields, sets, curves, ways to copy */
    uint64_t batch;
    uint64_t precompute; /* multiples kept of each point */
    uint64_t repeat;
    uint64_t warm_ups;
    int order;     /* pool_ntt_order */
    int direction; /* pool_ntt_direction */
    int is_coset;
    const char *plot;
    uint64_t timeout; /* seconds */
};

/* One operation of one size on one device. */
struct bench_work {
    const struct bench_request *request;
    const char *subject;
    uint64_t size;
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
    double units; /* that one run processes, for the rate; set by open */
    void *state;  /* the operation's own */
};

/*
 * An operation. `open` makes inputs on the host, and fails for a size that there is not. `prepare`
 * compiles and makes tables, as a first use would. `load` brings inputs to the device. `run` is
 * what is measured: it enqueues the work on the stream, or, when is_host is set, is done when it
 * returns. `check` compares the last result with an answer of other origin. `close` is
 * called whatever became of the others.
 */
struct bench_operation {
    const char *name;
    const char *unit;   /* of the rate: "elements", "bytes" … */
    const char *option; /* that names subjects: "field" … */
    const char *default_subjects;
    const char *default_sizes;
    int is_host;
    int needs_powers;  /* sizes are powers of two */
    const char *takes; /* those of --batch, --order, --inverse, --coset, --precompute */
    int (*knows)(const char *subject);
    uint64_t (*most)(const char *subject); /* the largest size; NULL: no bound is known */
    pool_status (*open)(struct bench_work *work);
    pool_status (*prepare)(struct bench_work *work); /* NULL: nothing to prepare */
    pool_status (*load)(struct bench_work *work);    /* NULL: open has done it */
    pool_status (*run)(struct bench_work *work);
    pool_status (*check)(struct bench_work *work, int *is_right);
    void (*close)(struct bench_work *work);
};

extern const struct bench_operation bench_msm;
extern const struct bench_operation bench_ntt;
extern const struct bench_operation bench_poseidon;
extern const struct bench_operation bench_copy;
extern const struct bench_operation bench_pool;

/* A span over all of a buffer. */
pool_status bench_span(pool_buffer *buffer, uint64_t items, pool_span *span);

/* A picture of median seconds over size, a line for each subject and device, drawn by gnuplot. */
struct bench_plot {
    struct cli_output picture;
    pid_t gnuplot; /* started before the work, so that it is known to be there */
    int script;    /* its standard input */
};

/* CLI_GO or, having said what is wrong with the path or gnuplot, an exit code. */
int bench_plot_open(const char *path, struct bench_plot *plot);

/* Draws the rows unless `code` is a failure without any. Returns `code` or what went wrong. */
int bench_plot_close(struct bench_plot *plot, const cJSON *rows, const char *operation, int code);

#endif
