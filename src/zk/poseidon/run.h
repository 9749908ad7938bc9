/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution on a device, for validated spans.
 */
#ifndef POSEIDON_RUN_H
#define POSEIDON_RUN_H

#include "zk/operation/operation.h"
#include "zk/poseidon/kernels.h"

/* What calls support of a pool_exec. */
#define POSEIDON_EXEC_RULES                                                                        \
    .checks = POOL_CHECK_CANONICAL, .has_async = true, .has_host = true, .has_workspace = true,    \
    .has_memory_limit = true, .has_devices = true, .has_async_devices = true

/* A call of pool_poseidon_permute, pool_poseidon_hash or pool_poseidon_sponge. */
struct poseidon_call {
    struct operation_call frame;
    const pool_poseidon *set;
    const pool_poseidon_sponge_params *given; /* of POSEIDON_SPONGE, as the next two */
    pool_poseidon_sponge_params params;
    struct poseidon_sponge sponge;
    const pool_span *in;
    const pool_span *out;
    uint32_t in_elements; /* per item */
    uint32_t out_elements;
    enum poseidon_kernel kernel;
    uint64_t first; /* index of the first item in messages */
    struct poseidon_chunk_plan plan;
};
pool_status poseidon_plan(void *call, uint64_t limit);
pool_status poseidon_run(void *call);

/* Items of packed elements. */
struct span_item poseidon_item(const pool_poseidon *set, uint32_t elements);
/* Refuses a result that is too small. */
pool_status poseidon_check_space(
    const struct operation_call *call, const pool_span *out, const char *name, uint64_t items);

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
    const struct exec_target *target, const pool_span *in, const pool_span *out);
/* Sets the arguments that a sponge needs. */
void poseidon_operation_set_sponge(
    struct poseidon_operation *operation, const struct poseidon_sponge *sponge);

/* The form in which devices compute with the set's field. */
pool_form poseidon_device_form(const pool_poseidon *set);

/* Copies `bytes` of device memory to the host and waits for the copy. */
pool_status poseidon_device_read(const pool_exec *exec, const void *from, void *to, size_t bytes);

/* A span of items of packed elements. */
struct poseidon_operand {
    const pool_span *span;
    uint32_t elements; /* per item */
    const char *name;  /* of the argument */
};

/*
 * Computes all items of `in`, in chunks if a span is in host memory: while one chunk is computed,
 * the next one is uploaded and the previous one is downloaded.
 */
struct poseidon_pipeline {
    const pool_poseidon *set;
    struct exec_target target;
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
    pool_status (*compute)(void *user, const struct exec_target *target, const pool_span *in,
        const pool_span *out, uint64_t first);
    void *user;
    struct progress *progress;
};
/* The largest chunks within the limit, or the smallest ones. */
void poseidon_pipeline_plan(
    const struct poseidon_pipeline *pipeline, uint64_t limit, struct poseidon_chunk_plan *plan);
pool_status poseidon_pipeline_run(
    struct poseidon_pipeline *pipeline, const struct poseidon_chunk_plan *plan);

#endif
