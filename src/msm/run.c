/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues the stages of an MSM in the order of the algorithm: per chunk the sort (sort.c), the
 * accumulation and the merge of partial buckets; then the bucket reduction and the combination of
 * the window sums.
 */
#include "msm/msm.h"

#include "base/math.h"
#include "base/status.h"
#include "stream/phase.h"

enum {
    TREE_LEVELS = 6, /* a block has a quad for T and one for Q of each of 32 nodes */
    QUAD_LANES = 4,
};

/* Infinity is all zeros. */
pool_status msm_run_clear(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;

    return msm_clear_words(
        run, run->workspace + plan->buckets_at, plan->buckets * 4 * plan->job.coordinate_words);
}

pool_status msm_run_add(struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    pool_status status = run->chunks == 0 ? msm_run_clear(run) : POOL_OK;
    struct phase phase;

    if (!status && chunk->count > 0) {
        phase_begin(&phase, run->device, run->stream, "msm", "sort");
        status = phase_end(&phase, msm_run_sort(run, chunk));
    }
    if (!status && chunk->count > 0) {
        phase_begin(&phase, run->device, run->stream, "msm", "accumulate");
        status = phase_end(&phase, msm_run_accumulate(run, chunk));
    }
    if (!status)
        run->chunks++;
    return status;
}

/* ---- accumulation ---------------------------------------------------------------------------- */

static struct msm_partial_buckets partial_buckets(const struct msm_run *run, uint32_t level)
{
    const struct msm_merge_level *merge = &run->plan->merge[level];

    return (struct msm_partial_buckets){
        .sums = run->workspace + merge->sums_at, .buckets = run->workspace + merge->buckets_at};
}

static pool_status merge(const struct msm_run *run, uint32_t level)
{
    const struct msm_plan *plan = run->plan;
    bool is_last = level + 1 == plan->merge_levels;
    const struct msm_bucket_merge_args args = {
        .partial = partial_buckets(run, level),
        .next = is_last ? (struct msm_partial_buckets){0} : partial_buckets(run, level + 1),
        .buckets = run->workspace + plan->buckets_at,
        .count = plan->merge[level].slots,
        .is_last = is_last,
        .adds_to_buckets = run->chunks > 0,
    };
    const struct msm_launch launch = {
        .kernel = MSM_BUCKET_MERGE,
        .blocks = base_ceil_div(args.count, MSM_MERGE_THREADS),
        .threads = MSM_MERGE_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
    };

    return msm_enqueue(run, &launch);
}

pool_status msm_run_accumulate(const struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    const struct msm_plan *plan = run->plan;
    uint32_t threads = msm_accumulate_bounds_for(plan->job.coordinate_words).threads;
    const struct msm_accumulate_args args = {
        .entries = run->workspace + plan->entries_at,
        .bucket_offsets = run->workspace + plan->bucket_offsets_at,
        .buckets = run->workspace + plan->buckets_at,
        .partial = partial_buckets(run, 0),
        .bases = chunk->bases,
        .base_stride = chunk->base_stride,
        .bucket_count = (uint32_t)plan->buckets,
        .threads = plan->threads,
        .adds_to_buckets = run->chunks > 0,
    };
    const struct msm_launch launch = {
        .kernel = MSM_ACCUMULATE,
        .blocks = base_ceil_div(plan->threads, threads),
        .threads = threads,
        .args = &args,
        .args_bytes = sizeof(args),
    };
    pool_status status = msm_enqueue(run, &launch);

    for (uint32_t level = 0; !status && level < plan->merge_levels; level++)
        status = merge(run, level);
    return status;
}

/* ---- bucket reduction ------------------------------------------------------------------------ */

static pool_status reduce_segments(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    const struct msm_reduce_segments_args args = {
        .buckets = run->workspace + plan->buckets_at,
        .pairs = run->workspace + plan->scratch_at,
        .count = plan->buckets >> plan->log_segment,
        .log_segment = plan->log_segment,
    };
    const struct msm_launch launch = {
        .kernel = MSM_REDUCE_SEGMENTS,
        .blocks = base_ceil_div(args.count, MSM_SEGMENT_THREADS),
        .threads = MSM_SEGMENT_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
    };

    return msm_enqueue(run, &launch);
}

/*
 * A block joins up to 2^TREE_LEVELS pairs to one, with half of its lanes idle after each level. As
 * long as there are more pairs than the chip has lanes for, a launch therefore joins one level.
 */
static pool_status reduce_tree(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    uint32_t levels = plan->window_bits - 1 - plan->log_segment;
    uint64_t resident_nodes = (uint64_t)chip_of(run->device).multiprocessors << (TREE_LEVELS - 1);
    pool_status status = POOL_OK;

    for (uint32_t done = 0; !status && done < levels;) {
        uint32_t remaining = levels - done < TREE_LEVELS ? levels - done : TREE_LEVELS;
        uint64_t nodes = plan->buckets >> (plan->log_segment + done + 1);
        uint32_t joined = nodes > resident_nodes ? 1 : remaining;
        bool is_last = done + joined == levels;
        const struct msm_reduce_tree_args args = {
            .pairs = run->workspace + plan->scratch_at,
            .levels_done = done,
            .levels = joined,
            .log_pairs = remaining,
            .window_sums = is_last ? run->workspace + plan->window_sums_at : 0,
        };
        const struct msm_launch launch = {
            .kernel = MSM_REDUCE_TREE,
            .blocks = plan->buckets >> (plan->log_segment + done + remaining),
            .threads = MSM_TREE_THREADS,
            .args = &args,
            .args_bytes = sizeof(args),
        };

        status = msm_enqueue(run, &launch);
        done += joined;
    }
    return status;
}

pool_status msm_run_reduce(const struct msm_run *run)
{
    struct phase phase;
    pool_status status;

    phase_begin(&phase, run->device, run->stream, "msm", "reduce");
    status = reduce_segments(run);
    return phase_end(&phase, status ? status : reduce_tree(run));
}

/* ---- window combination ---------------------------------------------------------------------- */

pool_status msm_run_combine(const struct msm_run *run, const struct msm_target *target)
{
    const struct msm_plan *plan = run->plan;
    const pool_field *field = run->curve->coordinates.field;
    bool is_standard = (field->flags & FIELD_DEVICE_STANDARD) != 0;
    const uint64_t one[FIELD_MAX_LIMBS] = {1};
    struct msm_window_combine_args args = {
        .window_sums = run->workspace + plan->window_sums_at,
        .results = target->results,
        .result_stride = target->stride / sizeof(uint32_t),
        .batch = plan->job.batch,
        .sets_per_msm = plan->sets_per_msm,
        .doublings = plan->window_bits,
        .layout = target->layout,
        .converts = is_standard != (target->form == POOL_FORM_STANDARD),
    };
    struct phase phase;
    const struct msm_launch launch = {
        .kernel = MSM_WINDOW_COMBINE,
        .blocks = base_ceil_div(plan->job.batch, MSM_COMBINE_THREADS / QUAD_LANES),
        .threads = MSM_COMBINE_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
    };

    /* The kernel's product with R in standard form, or with 1 in Montgomery form, converts. */
    for (uint32_t i = 0; args.converts && i < field->words; i++)
        args.factor[i] = field_word(is_standard ? field->one : one, i);
    phase_begin(&phase, run->device, run->stream, "msm", "combine");
    return phase_end(&phase, msm_enqueue(run, &launch));
}
