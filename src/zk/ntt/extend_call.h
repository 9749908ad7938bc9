/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of pool_ntt_extend on one device, which extend.c validates and extend_run.c computes.
 */
#ifndef NTT_EXTEND_CALL_H
#define NTT_EXTEND_CALL_H

#include "zk/ntt/extend.h"
#include "zk/operation/pipeline.h"

/* A call, validated. */
struct ntt_extend_call {
    pool_ntt_extend_params params;
    pool_exec exec;
    pool_span in;
    pool_span coefficients; /* count 0: not kept */
    pool_span out;
    pool_ntt_domain *columns_domain; /* of order n */
    struct exec_target target;
    struct ntt_extend_job job;
    struct ntt_extend_operands operands;
    struct ntt_extend_chunks chunks;
    uint64_t first;                    /* number of the first column in messages */
    pool_buffer *kept[PIPELINE_SLOTS]; /* copies of coefficients for host memory */
};

/* extend_run.c: streams the chunks through the device and waits unless the call is asynchronous. */
pool_status ntt_extend_run_chunks(struct ntt_extend_call *call);

#endif
