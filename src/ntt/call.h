/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of pool_ntt, as ntt.c and chunk.c share it.
 */
#ifndef NTT_ENTRY_H
#define NTT_ENTRY_H

#include "memory/exec.h"
#include "ntt/ntt.h"

struct ntt_call {
    pool_ntt_params params;
    pool_exec exec;
    pool_span in;
    uint64_t first; /* index of its first element in the caller's span */
    pool_span out;
    struct exec_target target;
    struct ntt_plan plan;
    struct ntt_run run;
    struct memory_operand source; /* the input on the device */
    struct memory_operand result; /* the output, where it is a separate copy */
    pool_buffer *workspace;       /* our own */
};

/*
 * Everything in the order of the call's stream; temporary memory is given back in that order:
 * by compute when it fails, by deliver, or by release, which keeps the first failure.
 */
pool_status ntt_call_compute(struct ntt_call *call);
pool_status ntt_call_deliver(struct ntt_call *call);
pool_status ntt_call_release(struct ntt_call *call, pool_status status);

/* Bytes of device memory that a call with this plan allocates, copies of its spans included. */
uint64_t ntt_call_allocates(const struct ntt_call *call);

/* chunk.c: host memory in batches, copies of some transforms under the computation of others. */
struct ntt_chunking {
    uint64_t rows;  /* of a chunk; 0: the call is not chunked */
    uint32_t slots; /* chunks at a time */
};
/* POOL_ERR_OUT_OF_DEVICE_MEMORY when exec.memory_limit is too small for the smallest chunk. */
pool_status ntt_call_chunking(const struct ntt_call *call, struct ntt_chunking *chunking);
pool_status ntt_call_enqueue_chunks(struct ntt_call *call, const struct ntt_chunking *chunking);

#endif
