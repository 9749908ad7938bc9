/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Low-degree extensions: the inverse transforms of the columns, one kernel that spreads each
 * coefficient over all cosets, and the passes of the forward transforms that remain.
 */
#ifndef NTT_EXTEND_H
#define NTT_EXTEND_H

#include "ntt/extend_args.h"
#include "zk/ntt/ntt.h"
#include "zk/operation/devices.h"

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

/* A copy of validated params, in which no member stands for a default. */
pool_status ntt_extend_params_read(
    const char *call, const pool_ntt_extend_params *given, pool_ntt_extend_params *params);

struct ntt_extend_spans {
    pool_span in;
    pool_span coefficients; /* count 0: not kept */
    pool_span out;
};

/* pool_ntt_extend on one device; messages count columns from `first`. */
pool_status ntt_extend_compute(const pool_ntt_extend_params *params, const pool_exec *exec,
    const struct ntt_extend_spans *spans, uint64_t first);

struct ntt_extend_division;
/* Validates a job over several devices and divides it; with `has_data` also host memory. */
pool_status ntt_extend_read_division(const char *call, const pool_ntt_extend_params *params,
    const pool_exec *exec, const struct ntt_extend_spans *spans, bool has_data,
    struct ntt_extend_division *division);

/* ---- extend_devices.c: columns dealt out over devices ---------------------------------------- */

struct ntt_extend_division {
    pool_ntt_extend_params params;        /* validated, like all but the spans */
    pool_exec exec;                       /* with a device_count */
    struct ntt_extend_spans spans;        /* in host memory or sharded */
    struct devices devices;               /* from here on set by ntt_extend_divide */
    uint64_t first[EXEC_MAX_DEVICES + 1]; /* columns of each device */
};

/* Reads the devices and divides the columns: as the shards of a sharded span are, else by the
 * devices' rates. */
pool_status ntt_extend_divide(const char *call, struct ntt_extend_division *division);
pool_status ntt_extend_run_division(const struct ntt_extend_division *division);
pool_status ntt_extend_forecast_division(
    const struct ntt_extend_division *division, uint64_t *bytes);
/* The columns of one device, by calls on it with `exec`. */
pool_status ntt_extend_compute_part(
    const struct ntt_extend_division *division, uint32_t index, const pool_exec *exec);
pool_status ntt_extend_forecast_part(const struct ntt_extend_division *division, uint32_t index,
    const pool_exec *exec, uint64_t *bytes);

#endif
