/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Low-degree extensions: the inverse transforms of the columns, one kernel that spreads each
 * coefficient over all cosets, and the passes of the forward transforms that remain.
 */
#ifndef NTT_EXTEND_H
#define NTT_EXTEND_H

#include "ntt/extend_args.h"
#include "zk/ntt/ntt.h"
#include "zk/operation/operation.h"
#include "zk/operation/pipeline.h"

/* ---- plan_extend.c: pure --------------------------------------------------------------------- */

struct ntt_extend_job {
    uint32_t words;    /* of an element, 32 bits each */
    uint32_t log_size; /* of the results of a column */
    uint32_t log_blowup;
    uint64_t batch;
    pool_ntt_order order;
    pool_ntt_layout layout;
    bool from_coefficients;
    const struct ntt_tuning *tuning; /* NULL: the plan chooses */
};

/* Where the spans of a call are. */
struct ntt_extend_operands {
    uint64_t element_bytes;
    bool in_is_on_host;
    bool out_is_on_host;
    bool keeps_coefficients;
    bool coefficients_are_on_host;
    bool out_begins_with_in;  /* both are the same device memory */
    bool coefficients_are_in; /* likewise */
    bool has_checks;
};

/* A place of intermediate results; all spans in host memory have a copy on the device. */
enum ntt_extend_place {
    NTT_EXTEND_NOWHERE,
    NTT_EXTEND_IN,
    NTT_EXTEND_KEPT, /* the caller's coefficients, or the copy that is downloaded */
    NTT_EXTEND_OUT,
    NTT_EXTEND_OUT_TAIL,     /* behind the first batch * n elements of the output */
    NTT_EXTEND_COEFFICIENTS, /* scratch memory of batch * n elements */
    NTT_EXTEND_WORKSPACE     /* scratch memory of batch * N elements */
};

struct ntt_extend_plan {
    bool inverts;              /* the input has values */
    bool copies;               /* the input has coefficients that the results would overwrite */
    bool spreads;              /* log_blowup is not 0 */
    bool spreads_apart;        /* by the kernel of extensions; else the first pass does */
    struct ntt_job inverse;    /* if it inverts */
    struct ntt_job forward;    /* behind the bits that are spread */
    struct ntt_plan passes[2]; /* [direction] */
    enum ntt_extend_place coefficients;
    enum ntt_extend_place spread;       /* the first forward pass reads here */
    enum ntt_extend_place workspace[2]; /* [direction] */
    /* Scratch memory: the workspace follows the coefficients. */
    uint64_t coefficients_bytes;
    uint64_t scratch_bytes;
};

/* Returns false when a launch would need more blocks than a grid can have. */
bool ntt_extend_plan_make(const struct chip *chip, const struct ntt_extend_job *job,
    const struct ntt_extend_operands *operands, struct ntt_extend_plan *plan);

/* Columns in host memory are divided into chunks of whole columns. */
struct ntt_extend_chunks {
    uint64_t columns; /* of a chunk */
    uint32_t slots;
    uint64_t scratch_bytes; /* of a slot */
    uint64_t bytes;         /* of device memory that the call allocates */
};
/* POOL_ERR_OUT_OF_DEVICE_MEMORY when the smallest chunk needs more than `limit`. */
pool_status ntt_extend_plan_chunks(const struct chip *chip, const struct ntt_extend_job *job,
    const struct ntt_extend_operands *operands, uint64_t limit, struct ntt_extend_chunks *chunks);

/* ---- extend.c -------------------------------------------------------------------------------- */

/* A call of pool_ntt_extend. */
struct ntt_extend_call {
    struct operation_call frame;
    const pool_ntt_extend_params *given;
    const pool_span *in, *coefficients, *out; /* coefficients NULL: not kept */
    pool_ntt_extend_params params;            /* no member stands for a default */
    pool_ntt_domain *columns_domain;          /* of order n */
    struct ntt_extend_job job;
    struct ntt_extend_operands operands;
    struct ntt_extend_chunks chunks;
    uint64_t first;                    /* of the columns in a call over several devices */
    pool_buffer *kept[PIPELINE_SLOTS]; /* copies of coefficients for host memory */
};
extern const struct operation ntt_extend_operation;

/* A copy of validated params, in which no member stands for a default. */
pool_status ntt_extend_params_read(
    const char *call, const pool_ntt_extend_params *given, pool_ntt_extend_params *params);

/* ---- extend_run.c: steps of struct operation --------------------------------------------------
 */

pool_status ntt_extend_run(void *call);
/* Sets columns_domain, whose root is the 2^log_blowup-th power of the results' root. */
pool_status ntt_extend_find_columns(struct ntt_extend_call *call);

#endif
