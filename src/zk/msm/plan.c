/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans an MSM: window bits, bucket sets, threads and the layout of the workspace; and divides a
 * call into chunks that fit into memory. Pure. The sort is planned by sort_plan.c.
 */
#include "zk/msm/plan.h"

#include <string.h>

#include <devicepool/msm.h>

#include "base/math.h"
#include "base/status.h"
#include "base/text.h"

enum {
    ALIGNMENT = 256,
    MIN_CHUNK_COUNT = 1 << 10, /* scalars per MSM */
    /* With fewer entries per thread of the accumulation, the merge costs more than the additional
     * threads gain. */
    MIN_ENTRIES_PER_THREAD = 8,
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
    *negates_large = true;
    if (job->half_bits)
        return job->half_bits;
    *negates_large = job->scalar_bits == 0 || job->scalar_bits >= job->order_bits;
    return *negates_large ? job->order_bits - 1 : job->scalar_bits;
}

/* The top window must hold the carry of the windows below it. */
static uint32_t count_windows(uint32_t bits, uint32_t window_bits)
{
    return bits / window_bits + 1;
}

static uint32_t count_sets_per_msm(const struct msm_job *job, uint32_t windows)
{
    return job->sets_per_msm ? job->sets_per_msm
                             : (windows + job->precompute_factor - 1) / job->precompute_factor;
}

/* Saturates; costs are only compared. */
static uint64_t cost_of(const struct msm_numbers *numbers, const struct msm_job *job, uint32_t bits,
    uint32_t window_bits)
{
    uint32_t windows = count_windows(bits, window_bits);
    unsigned __int128 entries = (unsigned __int128)job->count * windows * job->batch;
    unsigned __int128 buckets = ((unsigned __int128)job->batch * count_sets_per_msm(job, windows))
                                << (window_bits - 1);
    unsigned __int128 cost = entries * numbers->entry_cost + buckets * numbers->bucket_cost;

    return cost > UINT64_MAX ? UINT64_MAX : (uint64_t)cost;
}

static uint32_t cheapest_window_bits(
    const struct msm_numbers *numbers, const struct msm_job *job, uint32_t bits)
{
    uint32_t best = MSM_MIN_WINDOW_BITS;

    for (uint32_t c = best + 1; c <= MSM_MAX_WINDOW_BITS; c++)
        if (cost_of(numbers, job, bits, c) < cost_of(numbers, job, bits, best))
            best = c;
    return best;
}

/* The log2 nearest to a count, which is at least 1. */
static uint32_t nearest_log(uint64_t count)
{
    return 63 - (uint32_t)__builtin_clzll(count + count / 2);
}

/* The window bits that were measured for one MSM of this size; 0: none. They hold for full-length
 * scalars, and with precomputed bases where one bucket set is left. */
static uint32_t tuned_window_bits(
    const struct msm_numbers *numbers, const struct msm_job *job, uint32_t bits)
{
    const uint64_t count = job->half_bits ? job->count / 2 : job->count;
    uint32_t log, c;

    if (job->batch != 1 || !count || count >> TUNING_MSM_LOG_SIZES || job->scalar_bits ||
        job->sets_per_msm)
        return 0;
    log = nearest_log(count);
    if (log >= TUNING_MSM_LOG_SIZES)
        return 0;
    if (job->precompute_factor < 2)
        return numbers->window_bits[log];
    c = numbers->table_window_bits[log];
    return c && count_windows(bits, c) <= job->precompute_factor ? c : 0;
}

static uint64_t aligned(uint64_t bytes)
{
    return base_round_up(bytes, ALIGNMENT);
}

/* Plans the levels of the merge: each thread or block leaves two slots, until one block merges all.
 * The partial sums are stored in the scratch memory. Returns its size. */
static uint64_t plan_merge(struct msm_plan *plan, uint64_t xyzz_bytes)
{
    uint64_t slots = 2 * (uint64_t)plan->threads, at = plan->scratch_at;

    for (plan->merge_levels = 0;; plan->merge_levels++) {
        struct msm_merge_level *level = &plan->merge[plan->merge_levels];
        uint64_t blocks = base_ceil_div(slots, MSM_MERGE_THREADS);

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

/* Plans of equal bucket sets whose buckets are reduced together. */
static uint64_t joined(const struct msm_job *job)
{
    return job->results ? job->results : 1;
}

/* Returns the bytes of the scratch memory that the merge uses. */
static uint64_t plan_workspace(struct msm_plan *plan)
{
    const uint64_t xyzz_bytes = 16 * (uint64_t)plan->job.coordinate_words;
    const uint64_t buckets = joined(&plan->job) * plan->buckets;
    uint64_t pairs = 2 * (buckets >> plan->log_segment), merge, scratch;

    plan->buckets_at = 0;
    plan->bucket_offsets_at = aligned(buckets * xyzz_bytes);
    plan->entries_at = plan->bucket_offsets_at + aligned((plan->buckets + 1) * sizeof(uint32_t));
    plan->window_sums_at = plan->entries_at + aligned(plan->entries * sizeof(uint32_t));
    plan->scratch_at =
        plan->window_sums_at + aligned(joined(&plan->job) * plan->bucket_sets * xyzz_bytes);
    merge = plan_merge(plan, xyzz_bytes);
    scratch = base_max(merge, pairs * xyzz_bytes);
    plan->bytes = plan->scratch_at + aligned(base_max(scratch, plan->sort.bytes));
    return merge;
}

static void plan_threads(const struct chip *chip, struct msm_plan *plan)
{
    struct msm_accumulate_bounds bounds = msm_accumulate_bounds_for(plan->job.coordinate_words);
    uint64_t resident = (uint64_t)chip->multiprocessors * bounds.threads * bounds.blocks;
    uint64_t wanted = base_ceil_div(plan->entries, MIN_ENTRIES_PER_THREAD);
    uint64_t buckets = joined(&plan->job) * plan->buckets;
    uint64_t segments =
        (uint64_t)chip->multiprocessors * (buckets > FEW_BUCKETS ? SEGMENTS_MANY : SEGMENTS_FEW);

    plan->threads = (uint32_t)(wanted > resident ? resident : wanted < 1 ? 1 : wanted);
    /* At least one level of the tree remains, because it writes the window sums. */
    while (plan->log_segment + 2 < plan->window_bits && buckets >> plan->log_segment > segments)
        plan->log_segment++;
}

/* Windows, bucket sets and entries; false when there are too many of something. */
static bool plan_windows_of(const struct msm_job *job, uint32_t window_bits, struct msm_plan *plan)
{
    uint32_t bits = magnitude_bits(job, &plan->negates_large);

    plan->window_bits = window_bits;
    plan->windows = count_windows(bits, plan->window_bits);
    plan->sets_per_msm = count_sets_per_msm(job, plan->windows);
    unsigned __int128 sets = (unsigned __int128)job->batch * plan->sets_per_msm;
    unsigned __int128 entries = (unsigned __int128)job->chunk_count * plan->windows * job->batch;
    if (entries > UINT32_MAX || (sets << (plan->window_bits - 1)) * joined(job) > INT32_MAX)
        return false;
    plan->bucket_sets = (uint64_t)sets;
    plan->entries = (uint64_t)entries;
    plan->buckets = plan->bucket_sets << (plan->window_bits - 1);
    return true;
}

static bool plan_windows(const struct chip *chip, const struct msm_job *job, struct msm_plan *plan)
{
    const struct msm_numbers *numbers =
        &chip_tuning(chip)->msm[tuning_msm_width(job->coordinate_words)];
    const uint32_t bits = magnitude_bits(job, &plan->negates_large);
    const uint32_t tuned = tuned_window_bits(numbers, job, bits);

    if (job->window_bits)
        return plan_windows_of(job, job->window_bits, plan);
    return (tuned && plan_windows_of(job, tuned, plan)) ||
           plan_windows_of(job, cheapest_window_bits(numbers, job, bits), plan);
}

void msm_plan_join_results(const struct msm_plan *plan, struct msm_plan *all)
{
    const uint64_t results = joined(&plan->job);

    *all = *plan;
    all->job.batch *= results;
    all->bucket_sets *= results;
    all->buckets *= results;
}

uint32_t msm_plan_windows(const struct msm_job *job, uint32_t window_bits)
{
    bool negates_large;

    return count_windows(magnitude_bits(job, &negates_large), window_bits);
}

bool msm_plan_splits(
    const struct chip *chip, const struct msm_job *job, enum msm_splitting splitting)
{
    const struct msm_numbers *numbers =
        &chip_tuning(chip)->msm[tuning_msm_width(job->coordinate_words)];

    if (splitting == MSM_SPLITS_NEVER || job->precompute_factor > 1 || !job->count ||
        (job->scalar_bits && job->scalar_bits < job->order_bits))
        return false;
    return splitting == MSM_SPLITS_ALWAYS ||
           (job->batch == 1 && job->count >= numbers->split_min_terms &&
               job->count <= numbers->split_max_terms);
}

/* The job of the halves, where terms are split. */
static struct msm_job split_job(const struct msm_job *job)
{
    struct msm_job split = *job;

    if (job->half_bits) {
        split.count *= 2;
        split.chunk_count *= 2;
    }
    return split;
}

/* Whether the numbers of entries and buckets stay below the limits. */
static bool fits(const struct chip *chip, const struct msm_job *job)
{
    const struct msm_job split = split_job(job);
    struct msm_plan plan;

    return plan_windows(chip, &split, &plan);
}

pool_status msm_plan_make(const struct chip *chip, const struct msm_job *job, struct msm_plan *plan)
{
    if (job->window_bits &&
        (job->window_bits < MSM_MIN_WINDOW_BITS || job->window_bits > MSM_MAX_WINDOW_BITS))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "unsupported value %u for `window_bits`; it must be 0 or %d to %d", job->window_bits,
            MSM_MIN_WINDOW_BITS, MSM_MAX_WINDOW_BITS);
    memset(plan, 0, sizeof(*plan));
    plan->job = split_job(job);
    if (!plan_windows(chip, &plan->job, plan))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%llu MSMs of %llu terms with windows of %u bits need more than 2^32 - 1 entries or "
            "2^31 - 1 buckets",
            (unsigned long long)job->batch, (unsigned long long)job->chunk_count,
            plan->window_bits);
    plan_threads(chip, plan);
    msm_sort_plan_make(chip, plan);
    if (!msm_small_plan_make(chip, plan))
        msm_affine_plan_make(chip, plan_workspace(plan), plan);
    return POOL_OK;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

const struct msm_tuning msm_default_tuning = {0};

bool msm_chunk_begins_sub_batch(const struct msm_chunk *chunk)
{
    return chunk->first == 0;
}

bool msm_chunk_ends_sub_batch(const struct msm_chunk_job *job, const struct msm_chunk *chunk)
{
    return chunk->first + chunk->count == job->msm.count;
}

uint64_t msm_chunk_bases(const struct msm_chunk_job *job, const struct msm_chunk *chunk)
{
    return job->shares_bases ? chunk->count : chunk->count * chunk->msms;
}

/* The most that chunk `index` takes of `total`. */
static uint64_t max_of_chunk(
    const struct msm_chunk_plan *plan, uint64_t index, uint64_t total, uint64_t limit)
{
    uint64_t size = limit;

    if (plan->ramps_up && index == 0)
        size = total / 8;
    if (plan->ramps_up && index == 1)
        size = total / 8 * 3;
    size = base_min(size, limit);
    return size ? size : 1;
}

bool msm_chunk_next(
    const struct msm_chunk_job *job, const struct msm_chunk_plan *plan, struct msm_chunk *chunk)
{
    uint64_t index = chunk->index++, batch = job->msm.batch, count = job->msm.count;

    if (plan->has_whole_msms) {
        chunk->msm += chunk->msms;
        chunk->count = count;
        chunk->msms =
            base_min(max_of_chunk(plan, index, batch, plan->sub_batch), batch - chunk->msm);
        return chunk->msm < batch;
    }
    chunk->msms = 1;
    chunk->first += chunk->count;
    if (chunk->first == count) {
        chunk->first = 0;
        chunk->msm++;
    }
    chunk->count = base_min(max_of_chunk(plan, index, count, plan->count), count - chunk->first);
    return chunk->msm < batch;
}

const struct msm_plan *msm_chunk_plan_of(
    const struct msm_chunk_plan *plan, const struct msm_chunk *chunk)
{
    for (uint32_t i = 0; i < plan->plan_count; i++)
        if (plan->plans[i].job.batch == chunk->msms)
            return &plan->plans[i];
    return NULL;
}

static bool plan_sub_batch(const struct chip *chip, const struct msm_chunk_job *job,
    struct msm_chunk_plan *plan, uint64_t msms, uint32_t window_bits)
{
    struct msm_job sub_batch = job->msm;

    sub_batch.batch = msms;
    sub_batch.chunk_count = plan->count;
    sub_batch.window_bits = window_bits;
    return plan->plan_count < MSM_MAX_SUB_BATCH_SIZES && fits(chip, &sub_batch) &&
           !msm_plan_make(chip, &sub_batch, &plan->plans[plan->plan_count++]);
}

/*
 * Plans the largest sub-batch, and with its windows those of other sizes. The windows are narrowed
 * until the buckets take at most `max_bucket_bytes`: wider ones have more buckets, narrower ones
 * more entries.
 */
static bool plan_sub_batches(const struct chip *chip, const struct msm_chunk_job *job,
    uint64_t max_bucket_bytes, struct msm_chunk_plan *plan)
{
    struct msm_chunk chunk = {0};
    uint32_t window_bits = job->msm.window_bits;

    for (;;) {
        plan->plan_count = 0;
        if (!plan_sub_batch(chip, job, plan, plan->sub_batch, window_bits))
            return false;
        window_bits = plan->plans[0].window_bits;
        if (job->msm.window_bits || plan->plans[0].bucket_offsets_at <= max_bucket_bytes ||
            window_bits == MSM_MIN_WINDOW_BITS)
            break;
        window_bits--;
    }
    while (plan->has_whole_msms && msm_chunk_next(job, plan, &chunk))
        if (!msm_chunk_plan_of(plan, &chunk) &&
            !plan_sub_batch(chip, job, plan, chunk.msms, window_bits))
            return false;
    return true;
}

/* Reserves `slots` copies of `bytes` from `at` on and returns their end. */
static uint64_t reserve_slots(uint64_t at, uint64_t slot_at[2], uint32_t slots, uint64_t bytes)
{
    slot_at[0] = at;
    slot_at[1] = slots > 1 ? at + aligned(bytes) : at;
    return at + slots * aligned(bytes);
}

static void plan_call_workspace(const struct msm_chunk_job *job, struct msm_chunk_plan *plan)
{
    const struct msm_chunk largest = {.msms = plan->sub_batch, .count = plan->count};
    const uint64_t affine_bytes = 8 * (uint64_t)job->msm.coordinate_words;
    const uint64_t window_sums = job->msm.batch * plan->plans[0].sets_per_msm * 2 * affine_bytes;
    uint64_t bases = job->has_bases_span ? msm_chunk_bases(job, &largest) : 0;
    uint64_t at = 0;

    for (uint32_t i = 0; i < plan->plan_count; i++)
        at = base_max(at, plan->plans[i].bytes);
    at = reserve_slots(aligned(at), plan->scalars_at, plan->slots,
        job->scalars_on_host ? plan->sub_batch * plan->count * job->scalar_stride : 0);
    at = reserve_slots(at, plan->bases_at, plan->uploads_bases_once ? 1 : plan->slots,
        job->bases_on_host ? bases * job->base_stride : 0);
    plan->converted_at = at;
    if (job->converts_bases)
        at += aligned(bases * affine_bytes);
    plan->halves_at = at;
    if (job->msm.half_bits)
        at += aligned(2 * plan->sub_batch * plan->count * 4 * job->msm.scalar_words);
    plan->mapped_at = at;
    if (job->msm.half_bits)
        at += aligned(2 * msm_chunk_bases(job, &largest) * affine_bytes);
    plan->window_sums_at = at;
    if (job->combines_on_host && !plan->is_one_sub_batch)
        at += aligned(window_sums);
    plan->results_at = at;
    if (!plan->writes_directly && !(job->combines_on_host && job->results_on_host))
        at += aligned(job->msm.batch * job->result_bytes);
    plan->check_at = at;
    plan->bytes = at + (job->has_checks ? ALIGNMENT : 0);
}

bool msm_chunk_plan_has_passes(const struct msm_chunk_plan *plan)
{
    for (uint32_t i = 0; i < plan->plan_count; i++)
        if (plan->plans[i].affine.passes)
            return true;
    return false;
}

/* False when chunks of this size need more than `limit`. */
static bool plan_chunks(const struct chip *chip, const struct msm_chunk_job *job, uint64_t limit,
    struct msm_chunk_plan *plan)
{
    struct msm_chunk_job attempted = *job;
    bool is_one_chunk;

    plan->has_whole_msms = plan->count == job->msm.count;
    is_one_chunk = plan->has_whole_msms && plan->sub_batch == job->msm.batch;
    plan->is_one_sub_batch = plan->has_whole_msms ? is_one_chunk : job->msm.batch == 1;
    plan->uploads_bases_once = job->shares_bases && plan->has_whole_msms;
    plan->writes_directly =
        !job->results_on_host && plan->is_one_sub_batch && !job->combines_on_host;
    plan->slots = (job->bases_on_host || job->scalars_on_host) && !is_one_chunk ? 2 : 1;
    /* The windows that an unlimited call has, so that a limit of its bytes changes nothing; then
     * without affine passes, which take the most memory; then narrower windows, whose buckets take
     * half of the memory. */
    for (int attempt = 0; attempt < 3; attempt++) {
        if (attempt == 1)
            attempted.msm.affine_passes = POOL_AFFINE_NONE;
        if (attempt == 1 && !msm_chunk_plan_has_passes(plan))
            continue;
        if (!plan_sub_batches(chip, &attempted, attempt == 2 ? limit / 2 : UINT64_MAX, plan))
            return false;
        plan_call_workspace(job, plan);
        if (plan->bytes <= limit)
            return true;
    }
    return false;
}

/* Halves the sub-batch or, where it is one MSM, the scalars of a chunk. */
static bool make_smaller(const struct msm_chunk_job *job, struct msm_chunk_plan *plan)
{
    if (plan->sub_batch > 1) {
        plan->sub_batch = (plan->sub_batch + 1) / 2;
        return true;
    }
    if (plan->count <= MIN_CHUNK_COUNT)
        return false;
    plan->count = base_max((plan->count + 1) / 2, MIN_CHUNK_COUNT);
    return plan->count < job->msm.count;
}

pool_status msm_chunk_plan_make(const struct chip *chip, const struct msm_tuning *tuning,
    const struct msm_chunk_job *job, uint64_t limit, struct msm_chunk_plan *plan)
{
    uint64_t scalars = job->msm.count * job->msm.batch;
    uint64_t bases = job->shares_bases ? job->msm.count : scalars;
    uint64_t host_bytes = (job->bases_on_host ? bases * job->base_stride : 0) +
                          (job->scalars_on_host ? scalars * job->scalar_stride : 0);

    memset(plan, 0, sizeof(*plan));
    plan->sub_batch = job->msm.batch;
    plan->count = job->msm.count;
    plan->ramps_up = host_bytes >= (tuning->min_ramp_bytes ? tuning->min_ramp_bytes
                                                           : chip_tuning(chip)->msm_ramp_bytes);
    if (plan->ramps_up)
        make_smaller(job, plan);
    while (!plan_chunks(chip, job, limit, plan))
        if (!make_smaller(job, plan))
            return base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
                "the smallest chunk of the MSM takes %s; the limit is %s",
                base_size_text(plan->bytes).text, base_size_text(limit).text);
    return POOL_OK;
}
