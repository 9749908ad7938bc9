/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans MSMs of few terms: see struct msm_small_plan. Pure.
 */
#include "zk/msm/plan.h"

#include <devicepool/msm.h>

#include "base/math.h"
#include "pool/tuning/tuning.h"

enum {
    ALIGNMENT = 256,
    /* Of a thread of the accumulation, as in plan.c. */
    ENTRIES_PER_THREAD = 8,
    MAX_LOG_BUCKETS = 2 * MSM_SMALL_LEVELS, /* of a set: two rounds of the reduction */
    MAX_SET_ENTRIES = 1 << 16,              /* see KEY_RANK_BITS in small_sort.cu */
    MAX_GROUPS = MSM_MERGE_THREADS / 2,     /* of a set, whose slots one block merges */
    MIN_SHARED_BYTES = 48 << 10,
    STATIC_SHARED_BYTES = 1 << 10,
};

static uint64_t aligned(uint64_t bytes)
{
    return base_round_up(bytes, ALIGNMENT);
}

static bool has_few_terms(const struct chip *chip, const struct msm_job *job)
{
    const struct msm_numbers *numbers =
        &chip_tuning(chip)->msm[tuning_msm_width(job->coordinate_words)];

    return job->count && job->batch && job->chunk_count == job->count && !job->half_bits &&
           !job->results &&
           job->count <= numbers->small_max_terms / job->batch &&
           (!job->affine_passes || job->affine_passes == POOL_AFFINE_NONE);
}

/* The memory of the merge and, once it is done, of the pairs of the reduction. Returns its end. */
static uint64_t plan_scratch(struct msm_plan *plan, uint64_t xyzz_bytes)
{
    const uint64_t groups = plan->bucket_sets * plan->small.parts * plan->small.merges;
    uint64_t at = plan->scratch_at;

    plan->merge_levels = 2;
    for (uint32_t level = 0; level < plan->merge_levels; level++) {
        struct msm_merge_level *merge = &plan->merge[level];

        merge->slots = groups * (level ? 2 : MSM_MERGE_THREADS);
        merge->sums_at = at, at += aligned(merge->slots * xyzz_bytes);
        merge->buckets_at = at, at += aligned(merge->slots * sizeof(uint32_t));
    }
    return base_max(at, plan->scratch_at + aligned(2 * plan->buckets * xyzz_bytes));
}

static void plan_workspace(struct msm_plan *plan)
{
    const uint64_t xyzz_bytes = 16 * (uint64_t)plan->job.coordinate_words;
    uint64_t at = 0;

    plan->buckets_at = at, at += aligned(plan->buckets * xyzz_bytes);
    plan->bucket_offsets_at = at;
    at += aligned((plan->buckets + plan->bucket_sets) * sizeof(uint32_t));
    plan->entries_at = at;
    at += aligned(plan->bucket_sets * plan->small.set_entries * sizeof(uint32_t));
    plan->small.counters_at = at;
    at += aligned(plan->bucket_sets * MSM_SMALL_COUNTERS * sizeof(uint32_t));
    plan->window_sums_at = at, at += aligned(plan->bucket_sets * xyzz_bytes);
    plan->scratch_at = at;
    plan->bytes = plan_scratch(plan, xyzz_bytes);
}

/*
 * Blocks of the accumulation. A multiprocessor has registers for one, so that there should not be
 * more blocks than multiprocessors: where there would be, all threads of a block accumulate instead
 * of half of them, which is one warp per scheduler, and then the ranges are longer.
 */
static void plan_blocks(const struct chip *chip, struct msm_plan *plan)
{
    struct msm_small_plan *small = &plan->small;
    const uint64_t most = base_max(chip->multiprocessors / plan->bucket_sets, 1);
    const uint64_t group = (uint64_t)ENTRIES_PER_THREAD * MSM_SMALL_THREADS;
    const uint64_t groups = base_ceil_div(small->set_entries, group);

    small->merges = groups > most ? 2 : 1;
    small->parts = (uint32_t)base_min(
        base_min(base_ceil_div(groups, small->merges), most), MAX_GROUPS / small->merges);
    plan->threads =
        (uint32_t)(plan->bucket_sets * small->parts * small->merges * MSM_SMALL_THREADS);
}

bool msm_small_plan_make(const struct chip *chip, struct msm_plan *plan)
{
    const struct msm_job *job = &plan->job;
    const uint32_t log_buckets = plan->window_bits - 1;
    const uint64_t windows_per_set = base_ceil_div(plan->windows, plan->sets_per_msm);
    const uint64_t entries = windows_per_set * job->count;
    const uint64_t shared = sizeof(uint32_t) * ((job->scalar_words + 1) * MSM_SMALL_SORT_THREADS +
                                                   ((uint64_t)1 << log_buckets) + entries);

    if (!has_few_terms(chip, job) || log_buckets > MAX_LOG_BUCKETS || entries > MAX_SET_ENTRIES ||
        shared + STATIC_SHARED_BYTES > base_max(chip->shared_bytes, MIN_SHARED_BYTES))
        return false;
    plan->small = (struct msm_small_plan){
        .merges = 1, .set_entries = (uint32_t)entries, .shared_bytes = (uint32_t)shared};
    plan_blocks(chip, plan);
    plan->log_segment = 0;
    plan_workspace(plan);
    return true;
}
