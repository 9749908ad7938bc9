/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of pool_msm: shared by msm.c (arguments), call.c (checks, plan), run.c (chunks),
 * results.c and devices.c.
 */
#ifndef MSM_CALL_H
#define MSM_CALL_H

#include "zk/msm/bases.h"
#include "zk/msm/convert.h"
#include "zk/operation/operation.h"
#include "zk/operation/pipeline.h"

struct msm_call {
    struct operation_call frame;
    const pool_msm_params *given;
    struct pool_bases *described; /* of a forecast for bases that do not exist; NULL: none */
    const pool_span *scalars;
    const pool_span *points; /* NULL with bases */
    const pool_span *results;
    pool_msm_params params; /* batch at least 1 */
    const struct msm_tuning *tuning;
    const pool_curve *curve;
    uint64_t first_point;  /* indices of the first point and scalar in the data of a call on */
    uint64_t first_scalar; /* several devices */
    struct msm_input_bases input; /* the span of points */
    struct msm_chunk_job job;
    struct msm_chunk_plan plan;
    struct msm_chunk chunk;                        /* that is computed */
    struct msm_chunk last, chunks[PIPELINE_SLOTS]; /* set last, and of each slot */
    struct msm_run run;                            /* of its sub-batch */
};

/* The operands in their order. */
enum msm_operand { MSM_SCALARS, MSM_POINTS, MSM_RESULTS };

/* pool_msm with other tuning than the default, for tests. */
pool_status msm_compute(const struct msm_tuning *tuning, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *points, const pool_span *scalars,
    const pool_span *results);

/* call.c: curve and device of params that have been checked; steps of the call. */
pool_status msm_call_resolve(struct msm_call *call);
/* Whether (0, 0), which is infinity to affine passes, is on the curve. */
bool msm_curve_has_origin(const pool_curve *curve);
pool_status msm_call_check(void *call);
pool_status msm_call_plan(void *call, uint64_t limit);
pool_status msm_call_restore(void *call);

/* run.c: enqueues all chunks on the call's stream. */
pool_status msm_call_run(void *call);

/* results.c: stores the results of a sub-batch, and then writes those of the whole call. */
pool_status msm_results_store(struct msm_call *call, const struct msm_chunk *chunk);
pool_status msm_results_write(struct msm_call *call);

/* devices.c: what a device_count, or none, requires of params and spans; the division. */
pool_status msm_check_devices(const struct msm_call *call);
pool_status msm_divide(void *call, struct operation_division *division);
bool msm_make_part(const void *call, const struct operation_division *division, uint32_t index,
    uint32_t number, void *part);

#endif
