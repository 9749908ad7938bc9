/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a call into chunks that fit into memory and lays out its workspace. Pure.
 */
#include "msm/chunk_plan.h"

#include <string.h>

#include "base/status.h"
#include "base/text.h"

enum { ALIGNMENT = 256, MIN_COUNT = 1 << 10 };

/*
 * Less host memory than this is uploaded in one chunk: a link transfers it in 0.6 ms, and two more
 * chunks cost some 0.2 ms of further passes over the buckets.
 */
const struct msm_tuning msm_default_tuning = {.min_ramp_bytes = (uint64_t)32 << 20};

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

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
    size = smaller(size, limit);
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
            smaller(max_of_chunk(plan, index, batch, plan->sub_batch), batch - chunk->msm);
        return chunk->msm < batch;
    }
    chunk->msms = 1;
    chunk->first += chunk->count;
    if (chunk->first == count) {
        chunk->first = 0;
        chunk->msm++;
    }
    chunk->count = smaller(max_of_chunk(plan, index, count, plan->count), count - chunk->first);
    return chunk->msm < batch;
}

static const struct msm_plan *find_plan(const struct msm_chunk_plan *plan, uint64_t msms)
{
    for (uint32_t i = 0; i < plan->plan_count; i++)
        if (plan->plans[i].job.batch == msms)
            return &plan->plans[i];
    return NULL;
}

const struct msm_plan *msm_chunk_plan_of(
    const struct msm_chunk_plan *plan, const struct msm_chunk *chunk)
{
    return find_plan(plan, chunk->msms);
}

static bool plan_sub_batch(const struct chip *chip, const struct msm_chunk_job *job,
    struct msm_chunk_plan *plan, uint64_t msms, uint32_t window_bits)
{
    struct msm_job sub_batch = job->msm;

    sub_batch.batch = msms;
    sub_batch.chunk_count = plan->count;
    sub_batch.window_bits = window_bits;
    return plan->plan_count < MSM_MAX_SUB_BATCH_SIZES && msm_plan_fits(&sub_batch) &&
           !msm_plan_make(chip, &sub_batch, &plan->plans[plan->plan_count++]);
}

/*
 * Plans the largest sub-batch, and with its windows those of other sizes. The buckets may take half
 * of the memory: wider windows have more buckets, narrower ones more entries.
 */
static bool plan_sub_batches(const struct chip *chip, const struct msm_chunk_job *job,
    uint64_t limit, struct msm_chunk_plan *plan)
{
    struct msm_chunk chunk = {0};
    uint32_t window_bits = job->msm.window_bits;

    for (;;) {
        plan->plan_count = 0;
        if (!plan_sub_batch(chip, job, plan, plan->sub_batch, window_bits))
            return false;
        window_bits = plan->plans[0].window_bits;
        if (job->msm.window_bits || plan->plans[0].bucket_offsets_at <= limit / 2 ||
            window_bits == MSM_MIN_WINDOW_BITS)
            break;
        window_bits--;
    }
    while (plan->has_whole_msms && msm_chunk_next(job, plan, &chunk))
        if (!find_plan(plan, chunk.msms) &&
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

static void plan_workspace(const struct msm_chunk_job *job, struct msm_chunk_plan *plan)
{
    const struct msm_chunk largest = {.msms = plan->sub_batch, .count = plan->count};
    const uint64_t affine_bytes = 8 * (uint64_t)job->msm.coordinate_words;
    const uint64_t window_sums = job->msm.batch * plan->plans[0].sets_per_msm * 2 * affine_bytes;
    uint64_t bases = job->has_bases_span ? msm_chunk_bases(job, &largest) : 0;
    uint64_t at = 0;

    for (uint32_t i = 0; i < plan->plan_count; i++)
        at = plan->plans[i].bytes > at ? plan->plans[i].bytes : at;
    at = reserve_slots(aligned(at), plan->scalars_at, plan->slots,
        job->scalars_on_host ? plan->sub_batch * plan->count * job->scalar_stride : 0);
    at = reserve_slots(at, plan->bases_at, plan->uploads_bases_once ? 1 : plan->slots,
        job->bases_on_host ? bases * job->base_stride : 0);
    plan->converted_at = at;
    if (job->converts_bases)
        at += aligned(bases * affine_bytes);
    plan->window_sums_at = at;
    if (job->combines_on_host && !plan->is_one_sub_batch)
        at += aligned(window_sums);
    plan->results_at = at;
    if (!plan->writes_directly && !(job->combines_on_host && job->results_on_host))
        at += aligned(job->msm.batch * job->result_bytes);
    plan->check_at = at;
    plan->bytes = at + (job->has_checks ? ALIGNMENT : 0);
}

/* False when chunks of this size need more than `limit`. */
static bool plan_chunks(const struct chip *chip, const struct msm_chunk_job *job, uint64_t limit,
    struct msm_chunk_plan *plan)
{
    bool is_one_chunk;

    plan->has_whole_msms = plan->count == job->msm.count;
    is_one_chunk = plan->has_whole_msms && plan->sub_batch == job->msm.batch;
    plan->is_one_sub_batch = plan->has_whole_msms ? is_one_chunk : job->msm.batch == 1;
    plan->uploads_bases_once = job->shares_bases && plan->has_whole_msms;
    plan->writes_directly =
        !job->results_on_host && plan->is_one_sub_batch && !job->combines_on_host;
    plan->slots = (job->bases_on_host || job->scalars_on_host) && !is_one_chunk ? 2 : 1;
    if (!plan_sub_batches(chip, job, limit, plan))
        return false;
    plan_workspace(job, plan);
    return plan->bytes <= limit;
}

/* Halves the sub-batch or, where it is one MSM, the scalars of a chunk. */
static bool make_smaller(const struct msm_chunk_job *job, struct msm_chunk_plan *plan)
{
    if (plan->sub_batch > 1) {
        plan->sub_batch = (plan->sub_batch + 1) / 2;
        return true;
    }
    if (plan->count <= MIN_COUNT)
        return false;
    plan->count = (plan->count + 1) / 2;
    if (plan->count < MIN_COUNT)
        plan->count = MIN_COUNT;
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
    plan->ramps_up = host_bytes >= tuning->min_ramp_bytes;
    if (plan->ramps_up)
        make_smaller(job, plan);
    while (!plan_chunks(chip, job, limit, plan))
        if (!make_smaller(job, plan))
            return base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
                "the smallest chunk of the MSM takes %s; the limit is %s",
                base_size_text(plan->bytes).text, base_size_text(limit).text);
    return POOL_OK;
}
