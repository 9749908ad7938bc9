/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of pool_msm_joint: shared by joint.c (arguments, checks, plan) and joint_run.c (chunks).
 */
#ifndef MSM_JOINT_H
#define MSM_JOINT_H

#include "zk/msm/call.h"

/* Chunks of one list of scalars, of which the term `leader` is the first one with them. */
struct msm_joint_chunk {
    uint32_t leader;
    uint64_t first; /* scalar */
    uint64_t count;
};

struct msm_joint_call {
    /* The frame, and what results.c reads: results, params.batch, which is their number, and
     * result_layout, job, plan and run. */
    struct msm_call msm;
    const pool_msm_joint_params *given;
    pool_msm_joint_params params;
    const pool_msm_term *terms;
    uint32_t count;
    struct msm_plan chunk_plan; /* of the longest chunk of scalars, with the buckets of result 0 */
    struct msm_plan all;        /* of the buckets of all results */
    uint64_t max_chunk;         /* scalars */
    uint32_t slots;             /* of uploads */
    uint64_t scalars_at[2];     /* of the slots, in the workspace */
    struct msm_joint_chunk chunk;      /* in progress; of count 0: none yet */
    bool is_added[POOL_MSM_MAX_TERMS]; /* whether a result's buckets have sums */
};

/* Whether a term is computed with the sorted digits of another one. */
bool msm_joint_shares_sort(const pool_msm_term *term, const pool_msm_term *other);

/* joint_run.c: enqueues all chunks on the call's stream, and what follows them. */
pool_status msm_joint_run(void *call);

#endif
