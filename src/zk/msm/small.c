/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues the stages of an MSM of few terms: three launches.
 */
#include "base/math.h"
#include "zk/msm/sort.h"

/*
 * What is predicted for a batch, whose blocks follow each other: products per entry of the sort and
 * of the accumulation with its merge, whose blocks are not as full as those of many terms, and
 * additions that take as long as joining a bucket.
 */
enum { SORT_PRODUCTS = 4, ADDITION_PRODUCTS = 20, JOIN_COST = 8 };

/* Of a product for each entry. */
static double entry_seconds(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;

    return msm_seconds(run, (double)(plan->bucket_sets * plan->small.set_entries), 0);
}

pool_status msm_small_sort(const struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    const struct msm_plan *plan = run->plan;
    struct msm_sort_args args;
    const struct msm_launch launch = {
        .kernel = MSM_SMALL_SORT,
        .blocks = plan->bucket_sets,
        .threads = MSM_SMALL_SORT_THREADS,
        .shared_bytes = plan->small.shared_bytes,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = (double)SORT_PRODUCTS * entry_seconds(run),
    };

    msm_sort_args_init(run, chunk, &args);
    args.cursors = run->workspace + plan->small.counters_at;
    args.log_partition = plan->window_bits - 1;
    args.partitions = (uint32_t)plan->bucket_sets;
    args.block_capacity = plan->small.set_entries;
    return msm_enqueue(run, &launch);
}

pool_status msm_small_accumulate(const struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    const struct msm_plan *plan = run->plan;
    struct msm_small_accumulate_args args = {
        .list = {.entries = run->workspace + plan->entries_at,
            .bucket_offsets = run->workspace + plan->bucket_offsets_at,
            .buckets = run->workspace + plan->buckets_at,
            .partial = msm_partial_buckets_of(run, 0),
            .bases = chunk->bases,
            .base_stride = chunk->base_stride,
            .bucket_count = UINT32_C(1) << (plan->window_bits - 1),
            .threads = plan->small.parts * plan->small.merges * MSM_SMALL_THREADS,
            .slice_entries = UINT32_MAX},
        .next = msm_partial_buckets_of(run, 1),
        .blocks_done = run->workspace + plan->small.counters_at,
        .set_entries = plan->small.set_entries,
        .parts = plan->small.parts,
        .merges = plan->small.merges,
    };
    const struct msm_launch launch = {
        .kernel = MSM_SMALL_ACCUMULATE,
        .blocks = plan->bucket_sets * plan->small.parts,
        .threads = MSM_MERGE_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = (double)ADDITION_PRODUCTS * entry_seconds(run),
    };

    return msm_enqueue(run, &launch);
}

pool_status msm_small_reduce(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    const uint32_t log_buckets = plan->window_bits - 1;
    const uint32_t levels = (uint32_t)base_min(log_buckets, MSM_SMALL_LEVELS);
    struct msm_small_reduce_args args = {
        .tree = {.pairs = run->workspace + plan->scratch_at,
            .levels = levels,
            .log_pairs = levels,
            .window_sums = run->workspace + plan->window_sums_at},
        .buckets = run->workspace + plan->buckets_at,
        .bucket_offsets = run->workspace + plan->bucket_offsets_at,
        .blocks_done = run->workspace + plan->small.counters_at,
        .log_buckets = log_buckets,
    };
    const struct msm_launch launch = {
        .kernel = MSM_SMALL_REDUCE,
        .blocks = plan->buckets >> levels,
        .threads = MSM_TREE_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = msm_reduce_seconds(run, (double)JOIN_COST * (double)plan->buckets),
    };

    return msm_enqueue(run, &launch);
}
