/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the duration of MSMs from their plan: see plan.h. */
#include "zk/msm/plan.h"

#include <math.h>

#include "base/math.h"
#include "pool/tuning/rates.h"

static const struct msm_rates *find_rates(const struct chip_rates *rates, uint32_t coordinate_words)
{
    const struct msm_rates *found = rates->msm;

    while (found < &rates->msm[CHIP_MSM_RATES - 1] && found->coordinate_words < coordinate_words)
        found++;
    return found;
}

static double cost_on_one_device(
    const struct chip *chip, const struct chip_rates *rates, const struct msm_job *job)
{
    const struct msm_rates *msm = find_rates(rates, job->coordinate_words);
    struct msm_plan plan;

    if (!job->count || !job->batch)
        return 0;
    if (msm_plan_make(chip, job, &plan))
        return INFINITY;
    const double entries = (double)plan.entries, buckets = (double)plan.buckets;
    const double cleared_bytes = (double)plan.bucket_offsets_at;

    return entries * (msm->sort_entry + msm->accumulate_entry) + msm->accumulate + msm->reduce +
           buckets * msm->reduce_bucket + cleared_bytes / rates->memory_bytes +
           (plan.sets_per_msm > 1 ? (double)job->batch * msm->finish : 0);
}

double msm_thread_entry_seconds(uint32_t coordinate_words)
{
    const struct chip_rates *rates = &chip_rates_h200;
    const struct msm_rates *msm = find_rates(rates, coordinate_words);
    const struct msm_accumulate_bounds bounds = msm_accumulate_bounds_for(coordinate_words);
    const double longer = coordinate_words > msm->coordinate_words
                              ? (double)coordinate_words / (double)msm->coordinate_words
                              : 1;

    return msm->accumulate_entry * longer * longer * rates->multiprocessors * bounds.threads *
           bounds.blocks;
}

double msm_cost(const struct chip *chip, const struct chip_rates *rates, const struct msm_job *job,
    uint32_t devices)
{
    const uint64_t split = job->batch % devices;
    struct msm_job whole = *job, part = *job;

    if (devices == 1)
        return cost_on_one_device(chip, rates, job);
    whole.batch = job->batch / devices;
    part.batch = split ? 1 : 0;
    part.count = part.chunk_count = base_ceil_div(job->count, devices);
    return cost_on_one_device(chip, rates, &whole) +
           (double)split * cost_on_one_device(chip, rates, &part) + rates->parts;
}
