/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the pool that bench_pool measures, and what the same takes without the pool.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <stdatomic.h>

#include "bench.h"

/* The driver's own functions, where the device is one of the driver in this process. */
struct bench_driver {
    CUcontext context;
    pool_cu_result (*push)(CUcontext context);
    pool_cu_result (*pop)(CUcontext *context);
    pool_cu_result (*launch)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
        CUstream stream, void **arguments, void **extra);
    pool_cu_result (*copy_to_device)(CUdeviceptr to, const void *from, size_t bytes);
    pool_cu_result (*copy_to_host)(void *to, CUdeviceptr from, size_t bytes);
};

/* POOL_ERR_UNSUPPORTED, with the reason in run->failure, for simulated devices and workers. */
pool_status bench_driver_find(struct bench_run *run, struct bench_driver *driver);

/* A kernel that does nothing, for launches. */
struct calls_kernel {
    pool_module *module;
    pool_kernel *kernel;
    pool_buffer *buffer;
    pool_launch_shape shape;
    CUfunction function;
    CUstream stream;
    CUdeviceptr address;
    unsigned number;
};

struct calls_state {
    const struct calls_function *function;
    uint64_t calls;   /* per run and thread */
    uint64_t threads; /* of a run */
    uint64_t runs;    /* so far */
    atomic_uint_fast64_t failures;
    uint64_t used_bytes; /* before */
    uint64_t granted;    /* leases, before */
    pool_event *event;
    pool_request request;
    struct bench_driver driver;
    struct calls_kernel launched;
};

/* `call` is one thread's part of a run and calls the function state->calls times. */
struct calls_function {
    const char *name;
    unsigned threads;                             /* 0: the caller's only */
    pool_status (*create)(struct bench_run *run); /* may be NULL */
    pool_status (*call)(struct bench_run *run);
    pool_status (*check)(struct bench_run *run, bool *is_correct);
    void (*destroy)(struct bench_run *run); /* may be NULL */
};

/* Ended by an entry without a name. */
extern const struct calls_function calls_of_pool[];
extern const struct calls_function calls_of_driver[];

#endif
