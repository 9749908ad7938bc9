/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a sum is cut: windows, sets of buckets, threads, and where everything lies in the workspace.
 * Pure: numbers in, numbers out.
 */
#include "msm/msm.h"

#include <string.h>

#include "base/status.h"

enum {
    ALIGNMENT = 256,
    /* Fewer entries than this a thread of accumulate cost more in shared buckets than they gain. */
    MIN_SHARE = 8,
    /* Costs in sixteenths of a mixed sum: an entry; a bucket, which is two full sums. */
    ENTRY_COST = 16,
    BUCKET_COST = 46,
    /* Warps that reduce has on each of a multiprocessor's four schedulers: a chain of sums is slow,
     * so few buckets go in many short chains, and many buckets in enough chains to fill the chip.
     */
    FEW_BUCKETS = 1 << 20,
    CHAINS_FEW = 300,
    CHAINS_MANY = 512,
};

uint32_t msm_merge_levels(uint32_t threads, uint64_t count[MSM_MAX_MERGES])
{
    uint32_t levels = 1;

    for (count[0] = 2 * (uint64_t)threads; count[levels - 1] > MSM_MERGE_BLOCK; levels++)
        count[levels] = 2 * ((count[levels - 1] + MSM_MERGE_BLOCK - 1) / MSM_MERGE_BLOCK);
    return levels;
}

/* Full-length scalars above half the order count as negatives, so their magnitude has a bit less.
 */
static uint32_t magnitude_bits(const struct msm_job *job, int *negates)
{
    *negates = job->scalar_bits == 0 || job->scalar_bits >= job->order_bits;
    return *negates ? job->order_bits - 1 : job->scalar_bits;
}

/* The top digit has room for the carry of those below. */
static uint32_t windows_of(uint32_t bits, uint32_t window_bits)
{
    return (bits + 1 + window_bits - 1) / window_bits;
}

static uint32_t groups_of(const struct msm_job *job, uint32_t windows)
{
    return job->groups ? job->groups : (windows + job->levels - 1) / job->levels;
}

/* Saturates: only compared. */
static uint64_t cost_of(const struct msm_job *job, uint32_t bits, uint32_t window_bits)
{
    uint32_t windows = windows_of(bits, window_bits);
    unsigned __int128 entries = (unsigned __int128)job->total * windows * job->batch;
    unsigned __int128 buckets = ((unsigned __int128)job->batch * groups_of(job, windows))
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

static uint64_t slot_bytes(const struct msm_plan *plan, uint64_t xyzz_bytes)
{
    uint64_t count[MSM_MAX_MERGES], bytes = 0;
    uint32_t levels = msm_merge_levels(plan->threads, count);

    for (uint32_t i = 0; i < levels; i++)
        bytes += aligned(count[i] * xyzz_bytes) + aligned(count[i] * sizeof(uint32_t));
    return bytes;
}

static uint64_t largest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void place(struct msm_plan *plan)
{
    uint64_t xyzz_bytes = 16 * (uint64_t)plan->job.coordinate_words;
    uint64_t pairs = 2 * (plan->buckets >> plan->segment);
    uint64_t scratch = largest(
        plan->sort.bytes, largest(slot_bytes(plan, xyzz_bytes), aligned(pairs * xyzz_bytes)));

    plan->buckets_at = 0;
    plan->offsets_at = aligned(plan->buckets * xyzz_bytes);
    plan->entries_at = plan->offsets_at + aligned((plan->buckets + 1) * sizeof(uint32_t));
    plan->sums_at = plan->entries_at + aligned(plan->entries * sizeof(uint32_t));
    plan->scratch_at = plan->sums_at + aligned(plan->sets * xyzz_bytes);
    plan->bytes = plan->scratch_at + aligned(scratch);
}

static void share_out(const struct msm_chip *chip, struct msm_plan *plan)
{
    struct msm_shape shape = msm_shape_for(plan->job.coordinate_words);
    uint64_t most = (uint64_t)chip->multiprocessors * shape.threads * shape.blocks;
    uint64_t wanted = (plan->entries + MIN_SHARE - 1) / MIN_SHARE;
    uint64_t chains =
        (uint64_t)chip->multiprocessors * (plan->buckets > FEW_BUCKETS ? CHAINS_MANY : CHAINS_FEW);

    plan->threads = (uint32_t)(wanted > most ? most : wanted < 1 ? 1 : wanted);
    /* At least one level is left to fold, which is where the sums come from. */
    while (plan->segment + 2 < plan->window_bits && plan->buckets >> plan->segment > chains)
        plan->segment++;
}

static pool_status check(const struct msm_job *job)
{
    if (job->window_bits &&
        (job->window_bits < MSM_MIN_WINDOW_BITS || job->window_bits > MSM_MAX_WINDOW_BITS))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "windows have %d to %d bits, not %u",
            MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS, job->window_bits);
    return POOL_OK;
}

/* Windows, groups and sets; false when there are too many of something. */
static bool cut(const struct msm_job *job, struct msm_plan *plan)
{
    uint32_t bits = magnitude_bits(job, &plan->negates);

    plan->window_bits = job->window_bits ? job->window_bits : choose_window_bits(job, bits);
    plan->windows = windows_of(bits, plan->window_bits);
    plan->groups = groups_of(job, plan->windows);
    unsigned __int128 sets = (unsigned __int128)job->batch * plan->groups;
    unsigned __int128 entries = (unsigned __int128)job->count * plan->windows * job->batch;
    if (entries > UINT32_MAX || sets << (plan->window_bits - 1) > INT32_MAX)
        return false;
    plan->sets = (uint64_t)sets;
    plan->entries = (uint64_t)entries;
    plan->buckets = plan->sets << (plan->window_bits - 1);
    return true;
}

bool msm_plan_fits(const struct msm_job *job)
{
    struct msm_plan plan;

    return cut(job, &plan);
}

pool_status msm_plan_make(
    const struct msm_chip *chip, const struct msm_job *job, struct msm_plan *plan)
{
    pool_status status = check(job);

    if (status)
        return status;
    memset(plan, 0, sizeof(*plan));
    plan->job = *job;
    if (!cut(job, plan))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu sums of %llu products with windows of %u bits are too many for one part",
            (unsigned long long)job->batch, (unsigned long long)job->count, plan->window_bits);
    share_out(chip, plan);
    msm_sort_plan_make(chip, plan);
    place(plan);
    return POOL_OK;
}
