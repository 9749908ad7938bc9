/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examples of custom kernels as bench_custom measures them. Each file includes the example
 * itself, so that its kernels, its inputs and its plain C are those that are measured.
 */
#ifndef TESTS_BENCH_CUSTOM_H
#define TESTS_BENCH_CUSTOM_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool.h>

enum { CUSTOM_MAX_KERNELS = 3 };

struct custom_example {
    const char *name;
    const char *source; /* of the example; includes "fr.cuh" */
    const char *hand;   /* file of the same kernels with the same arguments, written by hand */
    const char *kernels[CUSTOM_MAX_KERNELS]; /* NULL after the last */
    /* Inputs of 2^log_size points, variables or rows, on the host and on the device. */
    void *(*create)(pool_device *device, uint32_t log_size);
    /* Makes the device's memory what it was after `create`. */
    void (*reset)(void *state);
    /* Enqueues one quotient, round or product. */
    void (*launch)(void *state, pool_kernel *const *kernels, pool_stream *stream);
    /* Whether one launch after a reset has computed what plain C does. */
    int (*is_correct)(void *state);
    void (*destroy)(void *state);
};

extern const struct custom_example custom_quotient;
extern const struct custom_example custom_sumcheck;
extern const struct custom_example custom_sparse_product;

#endif
