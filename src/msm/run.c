/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a sum, enqueued in order on one stream: cleared buckets, then sort and sum for
 * each part.
 */
#include "msm/msm.h"

/* Infinity is all zeros. */
pool_status msm_run_clear(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;

    return msm_clear(
        run, run->workspace + plan->buckets_at, plan->buckets * 4 * plan->job.coordinate_words);
}

pool_status msm_run_add(struct msm_run *run, const struct msm_part *part)
{
    pool_status status = run->parts == 0 ? msm_run_clear(run) : POOL_OK;

    if (!status && part->count > 0)
        status = msm_sort_enqueue(run, part);
    if (!status && part->count > 0)
        status = msm_sum_enqueue(run, part);
    if (!status)
        run->parts++;
    return status;
}
