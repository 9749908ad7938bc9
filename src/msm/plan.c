/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans an MSM: window bits, bucket sets, threads and the layout of the workspace. Pure: sizes and
 * the properties of a chip in, launch shapes and offsets out.
 */
#include "msm/msm.h"

#include <string.h>

#include "base/status.h"

enum {
    ALIGNMENT = 256,
    /* With fewer entries per thread of the accumulation, the merge costs more than the additional
     * threads gain. */
    MIN_ENTRIES_PER_THREAD = 8,
    /* Costs in sixteenths of a mixed addition: of an entry; of a bucket, which is two full
     * additions.
     */
    ENTRY_COST = 16,
    BUCKET_COST = 46,
    /* Segments of the bucket reduction per multiprocessor. A segment is a chain of dependent
     * additions: few buckets are divided into many short segments, many buckets into enough
     * segments to fill the chip. */
    FEW_BUCKETS = 1 << 20,
    SEGMENTS_FEW = 300,
    SEGMENTS_MANY = 512,
};

/*
 * One block per multiprocessor, with as many threads as its 65,536 registers hold without spills:
 * for BN254, 512 threads in one block take 2.79 ms for 2^20 points, the same threads in two blocks
 * 2.94, in four 3.06 (H200). Points over extension fields need all 255 registers that a thread can
 * have.
 */
struct msm_accumulate_bounds msm_accumulate_bounds_for(uint32_t coordinate_words)
{
    if (coordinate_words <= 8)
        return (struct msm_accumulate_bounds){512, 1};
    if (coordinate_words <= 12)
        return (struct msm_accumulate_bounds){384, 1};
    return (struct msm_accumulate_bounds){256, 1};
}

/* Full-length scalars above half the order are replaced by their negatives, so that their magnitude
 * has one bit less. */
static uint32_t magnitude_bits(const struct msm_job *job, bool *negates_large)
{
    *negates_large = job->scalar_bits == 0 || job->scalar_bits >= job->order_bits;
    return *negates_large ? job->order_bits - 1 : job->scalar_bits;
}

/* The top window must hold the carry of the windows below it. */
static uint32_t count_windows(uint32_t bits, uint32_t window_bits)
{
    return (bits + 1 + window_bits - 1) / window_bits;
}

static uint32_t count_sets_per_msm(const struct msm_job *job, uint32_t windows)
{
    return job->sets_per_msm ? job->sets_per_msm
                             : (windows + job->precompute_factor - 1) / job->precompute_factor;
}

/* Saturates; costs are only compared. */
static uint64_t cost_of(const struct msm_job *job, uint32_t bits, uint32_t window_bits)
{
    uint32_t windows = count_windows(bits, window_bits);
    unsigned __int128 entries = (unsigned __int128)job->count * windows * job->batch;
    unsigned __int128 buckets = ((unsigned __int128)job->batch * count_sets_per_msm(job, windows))
                                << (window_bits - 1);
    unsigned __int128 cost = entries * ENTRY_COST + buckets * BUCKET_COST;

    return cost > UINT64_MAX ? UINT64_MAX : (uint64_t)cost;
}

static uint32_t choose_window_bits(const struct msm_job *job, uint32_t bits)
{
    uint32_t best = MSM_MIN_WINDOW_BITS;

    for (uint32_t c = best + 1; c <= MSM_MAX_WINDOW_BITS; c++)
        if (cost_of(job, bits, c) < cost_of(job, bits, best))
            best = c;
    return best;
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t largest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Plans the levels of the merge: each thread or block leaves two slots, until one block merges all.
 * The partial sums are stored in the scratch memory. Returns its size. */
static uint64_t plan_merge(struct msm_plan *plan, uint64_t xyzz_bytes)
{
    uint64_t slots = 2 * (uint64_t)plan->threads, at = plan->scratch_at;

    for (plan->merge_levels = 0;; plan->merge_levels++) {
        struct msm_merge_level *level = &plan->merge[plan->merge_levels];
        uint64_t blocks = (slots + MSM_MERGE_THREADS - 1) / MSM_MERGE_THREADS;

        level->slots = slots;
        level->sums_at = at, at += aligned(slots * xyzz_bytes);
        level->buckets_at = at, at += aligned(slots * sizeof(uint32_t));
        if (blocks == 1)
            break;
        slots = 2 * blocks;
    }
    plan->merge_levels++;
    return at - plan->scratch_at;
}

static void plan_workspace(struct msm_plan *plan)
{
    uint64_t xyzz_bytes = 16 * (uint64_t)plan->job.coordinate_words;
    uint64_t pairs = 2 * (plan->buckets >> plan->log_segment), scratch;

    plan->buckets_at = 0;
    plan->bucket_offsets_at = aligned(plan->buckets * xyzz_bytes);
    plan->entries_at = plan->bucket_offsets_at + aligned((plan->buckets + 1) * sizeof(uint32_t));
    plan->window_sums_at = plan->entries_at + aligned(plan->entries * sizeof(uint32_t));
    plan->scratch_at = plan->window_sums_at + aligned(plan->bucket_sets * xyzz_bytes);
    scratch = largest(plan_merge(plan, xyzz_bytes), pairs * xyzz_bytes);
    plan->bytes = plan->scratch_at + aligned(largest(scratch, plan->sort.bytes));
}

static void plan_threads(const struct chip *chip, struct msm_plan *plan)
{
    struct msm_accumulate_bounds bounds = msm_accumulate_bounds_for(plan->job.coordinate_words);
    uint64_t resident = (uint64_t)chip->multiprocessors * bounds.threads * bounds.blocks;
    uint64_t wanted = (plan->entries + MIN_ENTRIES_PER_THREAD - 1) / MIN_ENTRIES_PER_THREAD;
    uint64_t segments = (uint64_t)chip->multiprocessors *
                        (plan->buckets > FEW_BUCKETS ? SEGMENTS_MANY : SEGMENTS_FEW);

    plan->threads = (uint32_t)(wanted > resident ? resident : wanted < 1 ? 1 : wanted);
    /* At least one level of the tree remains, because it writes the window sums. */
    while (
        plan->log_segment + 2 < plan->window_bits && plan->buckets >> plan->log_segment > segments)
        plan->log_segment++;
}

/* Windows, bucket sets and entries; false when there are too many of something. */
static bool plan_windows(const struct msm_job *job, struct msm_plan *plan)
{
    uint32_t bits = magnitude_bits(job, &plan->negates_large);

    plan->window_bits = job->window_bits ? job->window_bits : choose_window_bits(job, bits);
    plan->windows = count_windows(bits, plan->window_bits);
    plan->sets_per_msm = count_sets_per_msm(job, plan->windows);
    unsigned __int128 sets = (unsigned __int128)job->batch * plan->sets_per_msm;
    unsigned __int128 entries = (unsigned __int128)job->chunk_count * plan->windows * job->batch;
    if (entries > UINT32_MAX || sets << (plan->window_bits - 1) > INT32_MAX)
        return false;
    plan->bucket_sets = (uint64_t)sets;
    plan->entries = (uint64_t)entries;
    plan->buckets = plan->bucket_sets << (plan->window_bits - 1);
    return true;
}

uint32_t msm_plan_windows(const struct msm_job *job, uint32_t window_bits)
{
    bool negates_large;

    return count_windows(magnitude_bits(job, &negates_large), window_bits);
}

bool msm_plan_fits(const struct msm_job *job)
{
    struct msm_plan plan;

    return plan_windows(job, &plan);
}

pool_status msm_plan_make(const struct chip *chip, const struct msm_job *job, struct msm_plan *plan)
{
    if (job->window_bits &&
        (job->window_bits < MSM_MIN_WINDOW_BITS || job->window_bits > MSM_MAX_WINDOW_BITS))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "unsupported value %u for `window_bits`; it must be 0 or %d to %d", job->window_bits,
            MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS);
    memset(plan, 0, sizeof(*plan));
    plan->job = *job;
    if (!plan_windows(job, plan))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu MSMs of %llu terms with windows of %u bits need more than 2^32 - 1 entries or "
            "2^31 - 1 buckets",
            (unsigned long long)job->batch, (unsigned long long)job->chunk_count,
            plan->window_bits);
    plan_threads(chip, plan);
    msm_sort_plan_make(chip, plan);
    plan_workspace(plan);
    return POOL_OK;
}
