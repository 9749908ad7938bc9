/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms of points: what the files of this directory share.
 */
#ifndef ECNTT_ECNTT_H
#define ECNTT_ECNTT_H

#include <assert.h>
#include <stdbool.h>

#include <devicepool/ecntt.h>

#include "ecntt/args.h"
#include "pool/module/program.h"
#include "zk/curve/endomorphism.h"
#include "zk/msm/convert.h"
#include "zk/ntt/ntt.h"
#include "zk/operation/operation.h"
#include "zk/operation/pipeline.h"

/* ---- plan.c: pure ---------------------------------------------------------------------------- */

struct ecntt_job {
    uint32_t log_size;
    uint64_t batch;
    bool is_interleaved;
    bool is_inverse;
    bool has_coset;
    uint32_t coordinate_bytes;
    uint32_t scalar_bits; /* of the order */
    uint32_t half_bits;   /* of the halves of factors; 0: they are not split */
    uint64_t in_stride;   /* bytes */
    uint64_t in_bytes;    /* of a point */
    uint64_t out_bytes;
    bool in_is_on_host;
    bool out_is_on_host;
    bool has_checks;
};

/* Offsets are multiples of 256. */
struct ecntt_plan {
    uint64_t transforms; /* of a chunk */
    uint64_t table;      /* factors of a table, see ptx/ecntt/args.h */
    uint64_t factors;    /* of all tables */
    uint32_t windows;
    uint32_t halves;
    uint64_t points_at;
    uint64_t digits_at;
    uint64_t staging_at; /* the input of a chunk, and then its packed results, in host memory */
    uint64_t check_at;
    uint64_t bytes;
};

/* The largest chunks that need at most `limit` bytes; plan->bytes are those of the smallest ones
 * where it returns false. */
bool ecntt_plan_make(const struct ecntt_job *job, uint64_t limit, struct ecntt_plan *plan);

/* Multiplications and squarings in the coordinate field of all butterflies, on average. */
double ecntt_cost(const struct ecntt_job *job, const struct ecntt_plan *plan);

/* ---- kernels.c ------------------------------------------------------------------------------- */

enum ecntt_kernel { ECNTT_KERNEL_LOAD, ECNTT_KERNEL_STAGE, ECNTT_KERNEL_STORE };

/* Visits every program of a curve. */
pool_status ecntt_each_program(const pool_curve *curve, module_program_visit visit, void *user);
pool_status ecntt_kernel_get(
    pool_device *device, const pool_curve *curve, enum ecntt_kernel name, pool_kernel **kernel);
pool_status ecntt_factors_kernel(
    pool_device *device, const pool_curve *curve, pool_kernel **kernel);

/* ---- run.c ----------------------------------------------------------------------------------- */

/* A call of pool_ecntt. */
struct ecntt_call {
    struct operation_call frame;
    const pool_ecntt_params *given;
    const pool_span *in, *out;
    pool_ecntt_params params;                      /* batch at least 1 */
    const struct curve_endomorphism *endomorphism; /* NULL: the curve has none */
    struct ecntt_job job;
    struct ecntt_plan plan;
    uint64_t first; /* of the points in a call over several devices, for messages */
};

pool_status ecntt_run(void *call);

#endif
