/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench: the interface between the measurement (bench.c) and the operations.
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

/* The options. */
struct bench_request {
    struct cli_sizes sizes;
    const char *subjects; /* comma-separated fields, curves, parameter sets, copies or calls */
    uint64_t batch;
    uint64_t precompute; /* precompute factor */
    uint64_t repeat;
    uint64_t warm_ups;
    int order;     /* pool_ntt_order */
    int direction; /* pool_ntt_direction */
    int is_coset;
    const char *plot;
    uint64_t timeout; /* seconds */
};

/* One size of one operation on one device. */
struct bench_work {
    const struct bench_request *request;
    const char *subject;
    uint64_t size;
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
    double units; /* processed per run, for the rate; set by open */
    void *state;  /* private to the operation */
};

/*
 * An operation. `open` creates the inputs on the host. `prepare` compiles and computes tables, as a
 * first use does. `load` uploads the inputs. `run` is measured: it enqueues the work on the stream
 * or, if is_host is set, blocks until it is done. `check` compares the last result with an
 * independent answer. `close` is called after any of the others failed, too.
 */
struct bench_operation {
    const char *name;
    const char *unit;   /* of the rate: "elements", "bytes" … */
    const char *option; /* that selects subjects: "field" … */
    const char *default_subjects;
    const char *default_sizes;
    int is_host;
    int needs_powers;  /* sizes are powers of two */
    const char *takes; /* its options among batch, order, inverse, coset, precompute */
    int (*has_subject)(const char *subject);
    uint64_t (*max_size)(const char *subject); /* NULL: unbounded */
    pool_status (*open)(struct bench_work *work);
    pool_status (*prepare)(struct bench_work *work); /* may be NULL */
    pool_status (*load)(struct bench_work *work);    /* may be NULL */
    pool_status (*run)(struct bench_work *work);
    pool_status (*check)(struct bench_work *work, int *is_correct);
    void (*close)(struct bench_work *work);
};

extern const struct bench_operation bench_msm;
extern const struct bench_operation bench_ntt;
extern const struct bench_operation bench_poseidon;
extern const struct bench_operation bench_copy;
extern const struct bench_operation bench_pool;

/* Describes `items` packed items at the beginning of a buffer. */
pool_status bench_span(pool_buffer *buffer, uint64_t items, pool_span *span);

/* A plot of median seconds over size with one line per subject and device, drawn by gnuplot. */
struct bench_plot {
    struct cli_output picture;
};

/* Checks that gnuplot is installed and the file writable. Returns CLI_GO or an exit code. */
int bench_plot_open(const char *path, struct bench_plot *plot);

/* Draws the rows, if there are any. Returns `code`, or an exit code if drawing failed. */
int bench_plot_close(struct bench_plot *plot, const cJSON *rows, const char *operation, int code);

#endif
