/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accumulation of sorted entries into buckets, in slices: every thread has a range of the
 * entries, and each launch takes the next slice of all ranges, so that none lasts longer than
 * slice_ns. Between the launches a thread's running sum is in memory
 * (ptx/msm/accumulate_range.cuh); the partial buckets at the ends of ranges are merged after the
 * last.
 */
#include "base/math.h"
#include "pool/stream/phase.h"
#include "pool/tuning/rates.h"
#include "zk/msm/msm.h"

uint64_t msm_slice_entries(uint32_t coordinate_words, uint64_t range, uint64_t slice_ns)
{
    return chip_slice(range, (double)range * msm_thread_entry_seconds(coordinate_words), slice_ns);
}

struct msm_partial_buckets msm_partial_buckets_of(const struct msm_run *run, uint32_t level)
{
    const struct msm_merge_level *merge = &run->plan->merge[level];

    return (struct msm_partial_buckets){
        .sums = run->workspace + merge->sums_at, .buckets = run->workspace + merge->buckets_at};
}

/* Merges the partial sums of a level to two per block; the last level has one block. */
static pool_status merge(
    const struct msm_run *run, uint32_t level, uint64_t slots, bool adds_to_buckets)
{
    const struct msm_plan *plan = run->plan;
    bool is_last = slots <= MSM_MERGE_THREADS;
    struct msm_bucket_merge_args args = {
        .partial = msm_partial_buckets_of(run, level),
        .next = is_last ? (struct msm_partial_buckets){0} : msm_partial_buckets_of(run, level + 1),
        .buckets = run->workspace + plan->buckets_at,
        .count = slots,
        .is_last = is_last,
        .adds_to_buckets = adds_to_buckets,
    };
    const struct msm_launch launch = {
        .kernel = MSM_BUCKET_MERGE,
        .blocks = base_ceil_div(args.count, MSM_MERGE_THREADS),
        .threads = MSM_MERGE_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
        .seconds = msm_reduce_seconds(run, (double)slots),
    };

    return msm_enqueue(run, &launch);
}

static pool_status merge_all(const struct msm_run *run, uint32_t threads, bool adds_to_buckets)
{
    uint64_t slots = 2 * (uint64_t)threads, blocks;
    pool_status status = POOL_OK;

    for (uint32_t level = 0; !status; level++) {
        blocks = base_ceil_div(slots, MSM_MERGE_THREADS);
        status = merge(run, level, slots, adds_to_buckets);
        if (blocks == 1)
            break;
        slots = 2 * blocks;
    }
    return status;
}

/* The plan's threads, or as many as the multiprocessors take that the run may fill. */
static uint32_t accumulate_threads(const struct msm_run *run)
{
    struct msm_accumulate_bounds bounds =
        msm_accumulate_bounds_for(run->plan->job.coordinate_words);
    uint64_t resident = (uint64_t)run->share.multiprocessors * bounds.threads * bounds.blocks;

    return run->share.multiprocessors ? (uint32_t)base_min(run->plan->threads, resident)
                                      : run->plan->threads;
}

pool_status msm_run_accumulate_list(const struct msm_run *run, const struct msm_entry_list *list)
{
    const struct msm_plan *plan = run->plan;
    uint32_t block = msm_accumulate_bounds_for(plan->job.coordinate_words).threads;
    uint32_t threads = accumulate_threads(run);
    uint64_t range = base_ceil_div(list->max_entries, threads), slice;
    struct msm_accumulate_args args = {
        .entries = list->entries,
        .bucket_offsets = list->bucket_offsets,
        .buckets = run->workspace + plan->buckets_at,
        .partial = msm_partial_buckets_of(run, 0),
        .bases = list->bases,
        .base_stride = list->base_stride,
        .bucket_count = (uint32_t)plan->buckets,
        .threads = threads,
        .adds_to_buckets = list->adds_to_buckets,
    };
    struct msm_launch launch = {
        .kernel = MSM_ACCUMULATE,
        .blocks = base_ceil_div(threads, block),
        .threads = block,
        .args = &args,
        .args_bytes = sizeof(args),
    };
    struct phase phase;
    pool_status status = POOL_OK;

    slice = msm_slice_entries(plan->job.coordinate_words, range,
        device_slice_ns(run->device, run->share.partial_slice_ns));
    args.slice_entries = (uint32_t)slice;
    launch.seconds = msm_thread_entry_seconds(plan->job.coordinate_words) * (double)slice;
    phase_begin(&phase, run->device, run->stream, "msm", "accumulate");
    for (uint64_t first = 0; !status && first < range; first += slice) {
        args.slice_first = (uint32_t)first;
        status = msm_enqueue(run, &launch);
    }
    if (!status)
        status = merge_all(run, threads, list->adds_to_buckets);
    return phase_end(&phase, status);
}
