/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the affine passes before the accumulation: whether there are any, the pieces that they are
 * made in, and the layout of their memory. Pure.
 */
#include "msm/affine_args.h"
#include "zk/msm/plan.h"

#include <string.h>

#include <devicepool/msm.h>

#include "base/math.h"

enum {
    ALIGNMENT = 256,
    /* Pieces cost launches, and an inversion each that no other work hides. */
    MAX_PIECES = 16,
    /* Elements per run: its part of an inversion costs a run some six products. */
    RUN_PAIRS = 32,
    MIN_RUN_PAIRS = 16,
    /* Eight runs per resident thread took 34 ms for the first pass of 2^24 BLS12-381, one run 36.
     */
    MAX_RUNS_PER_THREAD = 8,
    MAX_GROUPS = 1 << 28,
};

/*
 * What the passes may add to the workspace: MAX_GROWTH times as much as the call takes without
 * them, up to max_growth_bytes, and min_growth_bytes where that is more. One piece takes 5 to 7
 * times as much; five pieces of 2^24 BLS12-381 terms, which double the workspace, take 7 % longer.
 */
enum { MAX_GROWTH = 8 };
static const uint64_t min_growth_bytes = (uint64_t)1 << 30;
static const uint64_t max_growth_bytes = (uint64_t)32 << 30;

static uint64_t bytes_with_passes(uint64_t bytes)
{
    const uint64_t most = base_max(bytes, max_growth_bytes); /* or doubles it */

    return bytes + base_max(base_min(MAX_GROWTH * bytes, most), min_growth_bytes);
}

uint32_t msm_affine_default_passes(const struct chip *chip, uint32_t coordinate_words)
{
    return chip_tuning(chip)->msm[tuning_msm_width(coordinate_words)].affine_passes;
}

/* Of the launch bounds: the registers are those of msm_accumulate. */
uint32_t msm_affine_blocks_for(uint32_t coordinate_words)
{
    struct msm_accumulate_bounds bounds = msm_accumulate_bounds_for(coordinate_words);

    return bounds.threads * bounds.blocks / MSM_AFFINE_THREADS;
}

uint64_t msm_affine_max_groups(const struct msm_plan *plan, uint32_t passes, uint64_t entries)
{
    /* A bucket that has entries has at most 2^passes - 1 entries of padding. */
    const uint64_t padding = (UINT64_C(1) << passes) - 1;

    return (entries + padding * base_min(entries, plan->buckets)) >> passes;
}

static uint32_t choose_passes(const struct chip *chip, const struct msm_plan *plan)
{
    const struct msm_job *job = &plan->job;
    const struct msm_numbers *numbers =
        &chip_tuning(chip)->msm[tuning_msm_width(job->coordinate_words)];

    if (job->affine_passes)
        return job->affine_passes <= MSM_MAX_AFFINE_PASSES ? job->affine_passes : 0;
    if (plan->entries < numbers->affine_min_entries ||
        plan->entries < numbers->affine_min_bucket_entries * plan->buckets)
        return 0;
    return numbers->affine_passes;
}

/*
 * All runs take equally long, so that they fill the chip a whole number of times: 1.4 runs per
 * resident thread take as long as two.
 */
static uint32_t choose_runs(const struct chip *chip, const struct msm_plan *plan, uint64_t pairs)
{
    const uint64_t resident = (uint64_t)chip->multiprocessors * MSM_AFFINE_THREADS *
                              msm_affine_blocks_for(plan->job.coordinate_words);
    uint64_t per_thread = (pairs + RUN_PAIRS * resident / 2) / (RUN_PAIRS * resident);
    uint64_t runs;

    per_thread = base_min(base_max(per_thread, 1), MAX_RUNS_PER_THREAD);
    runs = base_min(per_thread * resident, base_ceil_div(pairs, MIN_RUN_PAIRS));
    return (uint32_t)base_round_up(base_max(runs, 1), MSM_AFFINE_THREADS);
}

static uint64_t blocks_that_count(const struct msm_plan *plan)
{
    return base_ceil_div(
        plan->buckets, (uint64_t)MSM_AFFINE_GROUP_THREADS * MSM_AFFINE_GROUP_BUCKETS);
}

/* Fills affine->runs and array_at for affine->groups, and returns the end of the arrays. */
static uint64_t lay_out(const struct chip *chip, const struct msm_plan *plan, uint64_t at,
    struct msm_affine_plan *affine)
{
    const uint64_t element = 4 * (uint64_t)plan->job.coordinate_words;
    const uint64_t groups = affine->groups;
    uint64_t bytes[MSM_ARRAYS], most_runs = 0;

    for (uint32_t pass = 0; pass < affine->passes; pass++) {
        affine->runs[pass] = choose_runs(chip, plan, groups << (affine->passes - 1 - pass));
        most_runs = base_max(most_runs, affine->runs[pass]);
    }
    bytes[MSM_ARRAY_BLOCK_SUMS] = 4 * blocks_that_count(plan);
    bytes[MSM_ARRAY_GROUP_OFFSETS] = 4 * (plan->buckets + 1);
    bytes[MSM_ARRAY_PIECE_OFFSETS] = 4 * (plan->buckets + 1);
    bytes[MSM_ARRAY_LIST] = 4 * groups;
    bytes[MSM_ARRAY_PADDED] = 4 * groups << affine->passes;
    bytes[MSM_ARRAY_SUMS] = affine->passes > 1 ? 2 * element * 2 * groups : 0;
    bytes[MSM_ARRAY_PREFIXES] = element * groups;
    bytes[MSM_ARRAY_PACKED_SUMS] = 2 * element * groups;
    bytes[MSM_ARRAY_TOTALS] = bytes[MSM_ARRAY_PRODUCTS] = element * most_runs;
    for (int i = 0; i < MSM_ARRAYS; i++) {
        affine->array_at[i] = at;
        at += base_round_up(bytes[i], ALIGNMENT);
    }
    return at;
}

void msm_affine_plan_make(const struct chip *chip, uint64_t scratch_bytes, struct msm_plan *plan)
{
    const struct msm_job *job = &plan->job;
    struct msm_affine_plan affine = {.passes = choose_passes(chip, plan)};
    const uint64_t bound = bytes_with_passes(plan->bytes);
    uint64_t most;

    /* An index below 2^31 - 1 for each base, see MSM_ENTRY_NO_BASE. */
    if (!affine.passes || !plan->entries || job->chunk_count * job->batch >= INT32_MAX)
        return;
    most = msm_affine_max_groups(plan, affine.passes, plan->entries);
    for (uint64_t pieces = 1; pieces <= MAX_PIECES; pieces++) {
        uint64_t end;

        affine.groups = base_round_up(base_ceil_div(most, pieces), ALIGNMENT);
        if (job->max_affine_groups)
            affine.groups = base_min(affine.groups, job->max_affine_groups);
        end = lay_out(chip, plan, plan->scratch_at + scratch_bytes, &affine);
        if (affine.groups > MAX_GROUPS || end > bound)
            continue;
        plan->affine = affine;
        plan->bytes = base_max(plan->bytes, end);
        return;
    }
}
