/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of pool_msm: shared by msm.c (validation, workspace), run.c (chunks) and results.c.
 */
#ifndef MSM_CALL_H
#define MSM_CALL_H

#include "zk/operation/exec.h"
#include "zk/operation/operand.h"
#include "zk/msm/bases.h"
#include "zk/msm/convert.h"

struct msm_call {
    pool_msm_params params; /* batch at least 1 */
    pool_exec exec;
    const struct msm_tuning *tuning;
    struct exec_target site;
    const pool_curve *curve;
    pool_span points; /* all zeros with a handle */
    pool_span scalars;
    pool_span results;
    uint64_t first_point;  /* indices of the first point and scalar in the data of a call on */
    uint64_t first_scalar; /* several devices */
    bool enqueues_results;        /* copies results to the host in stream order */
    struct msm_input_bases input; /* the span of points */
    struct msm_chunk_job job;
    struct msm_chunk_plan plan;
    pool_buffer *owned;     /* the workspace, where the call allocated it */
    pool_buffer *workspace; /* owned, or the caller's */
    CUdeviceptr address;    /* of the workspace */
    struct msm_chunk chunk; /* in progress */
    struct msm_run run;     /* of its sub-batch */
};

/* pool_msm with other tuning than the default, for tests. */
pool_status msm_compute(const struct msm_tuning *tuning, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *points, const pool_span *scalars,
    const pool_span *results);

/* An MSM or a batch of them on one device, whose points and scalars are those from the given ones
 * on of another call. */
struct msm_part {
    pool_msm_params params;
    pool_span points;
    pool_span scalars;
    pool_span results;
    uint64_t first_point;
    uint64_t first_scalar;
};
pool_status msm_compute_part(
    const struct msm_tuning *tuning, const struct msm_part *part, const pool_exec *exec);

/* run.c: enqueues all chunks on the call's stream. */
pool_status msm_call_run(struct msm_call *call);

/* msm.c: the numbers of scalars, points and results match. */
pool_status msm_check_counts(const struct msm_call *call);

/* devices.c: a call with exec.device_count, which has no site; bytes[i] is what device i needs. */
pool_status msm_devices_run(const struct msm_call *call);
pool_status msm_devices_workspace(const struct msm_call *call, uint64_t *bytes);

/* results.c: stores the results of a sub-batch, and then writes those of the whole call. */
pool_status msm_results_store(struct msm_call *call, const struct msm_chunk *chunk);
pool_status msm_results_write(struct msm_call *call);

#endif
