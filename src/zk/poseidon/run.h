/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution on a device, for validated spans.
 */
#ifndef POSEIDON_RUN_H
#define POSEIDON_RUN_H

#include "zk/operation/exec.h"
#include "zk/operation/operand.h"
#include "zk/poseidon/arguments.h"
#include "zk/poseidon/kernels.h"

/* A call of pool_poseidon_permute, pool_poseidon_hash or pool_poseidon_sponge. */
struct poseidon_call {
    const char *name; /* of the function */
    const pool_poseidon *set;
    pool_exec exec;
    enum poseidon_kernel kernel;
    struct poseidon_operand in;
    struct poseidon_operand out;
    struct poseidon_sponge sponge; /* of POSEIDON_SPONGE */
    uint64_t first;                /* index of the first item in messages */
};

/* Waits for the results unless the call is asynchronous. */
pool_status poseidon_device_run(const struct poseidon_call *call);
/* The device memory that it allocates. */
pool_status poseidon_device_forecast(const struct poseidon_call *call, uint64_t *bytes);

/* devices.c: the same for a call with exec.device_count; bytes[i] is what device i allocates. */
pool_status poseidon_devices_run(const struct poseidon_call *call);
pool_status poseidon_devices_forecast(const struct poseidon_call *call, uint64_t *bytes);

/* A kernel that computes the items of one span from those of another. */
struct poseidon_operation {
    const pool_poseidon *set;
    enum poseidon_kernel kernel;
    struct poseidon_args args; /* the members that do not depend on the spans */
    size_t in_bytes;           /* per item */
    size_t out_bytes;
};

/* Enqueues the computation of out->count items. Both spans are in the device's memory. */
pool_status poseidon_operation_enqueue(const struct poseidon_operation *operation,
    const struct exec_target *site, const pool_span *in, const pool_span *out);
/* Sets the arguments that a sponge needs. */
void poseidon_operation_set_sponge(
    struct poseidon_operation *operation, const struct poseidon_sponge *sponge);

/* The form in which devices compute with the set's field. */
pool_form poseidon_device_form(const pool_poseidon *set);

/* Refuses a span in device memory that is not the device's or is misaligned. */
pool_status poseidon_check_device_span(
    const struct exec_target *site, const pool_span *span, size_t item_bytes, const char *name);
/* `count` items of a span from item `first` on. */
pool_span poseidon_span_slice(
    const pool_span *span, size_t item_bytes, uint64_t first, uint64_t count);
/* Copies `bytes` of device memory to the host and waits for the copy. */
pool_status poseidon_device_read(const pool_exec *exec, const void *from, void *to, size_t bytes);

/*
 * Computes all items of `in`, in chunks if a span is in host memory: while one chunk is computed,
 * the next one is uploaded and the previous one is downloaded.
 */
struct poseidon_pipeline {
    const pool_poseidon *set;
    struct exec_target site;
    struct poseidon_operand in;
    const pool_span *out;  /* NULL: the computation stores its results itself */
    size_t out_bytes;      /* per item */
    uint64_t multiple;     /* of the items of every chunk but the last one */
    uint64_t weight;       /* of an item in the progress */
    uint64_t first_index;  /* of the first item of `in`, for messages */
    bool checks;           /* elements must be below p */
    uint64_t common_bytes; /* of device memory that the call allocates besides the pipeline's */
    /* Enqueues the computation of a chunk, which is in device memory; its first item is item
     * `first` of the whole input. `out` is NULL if the pipeline's is. */
    pool_status (*compute)(void *user, const struct exec_target *site, const pool_span *in,
        const pool_span *out, uint64_t first);
    void *user;
    struct progress *progress;
};
/* POOL_ERR_OUT_OF_DEVICE_MEMORY when the smallest chunk exceeds the limit of progress->exec. */
pool_status poseidon_pipeline_plan(
    const struct poseidon_pipeline *pipeline, struct poseidon_chunk_plan *plan);
pool_status poseidon_pipeline_run(
    struct poseidon_pipeline *pipeline, const struct poseidon_chunk_plan *plan);

#endif
