/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages after the sort, enqueued: points into buckets, shared buckets together, buckets to
 * sets, sets to results.
 */
#include "msm/msm.h"

#include "base/status.h"

enum {
    SEGMENT_BLOCK = 128,
    FOLD_BLOCK = 256,
    FOLD_LEVELS = 6, /* four lanes for T and Q each of 32 nodes fill a block */
    COMBINE_BLOCK = 32,
    COMBINE_LANES = 4,
};

/* Arguments as the kernels of ptx/msm declare them. */
struct slots {
    CUdeviceptr sums;
    CUdeviceptr buckets;
};

struct accumulate {
    CUdeviceptr entries;
    CUdeviceptr offsets;
    CUdeviceptr buckets;
    struct slots slots;
    CUdeviceptr points;
    uint64_t point_stride;
    uint32_t bucket_count;
    uint32_t threads;
    uint32_t continues;
};

struct merge {
    struct slots slots;
    struct slots next;
    CUdeviceptr buckets;
    uint64_t count;
    uint32_t is_last;
    uint32_t continues;
};

struct segments {
    CUdeviceptr buckets;
    CUdeviceptr pairs;
    uint64_t count;
    uint32_t log_segment;
};

struct fold {
    CUdeviceptr pairs;
    uint32_t done;
    uint32_t levels;
    uint32_t log_pairs;
    CUdeviceptr sums;
};

struct combine {
    CUdeviceptr sums;
    CUdeviceptr results;
    uint64_t result_stride;
    uint64_t batch;
    uint32_t groups;
    uint32_t distance;
    uint32_t layout;
    uint32_t scales;
    uint32_t factor[FIELD_MAX_WORDS];
};

static uint64_t xyzz_bytes(const struct msm_run *run)
{
    return 16 * (uint64_t)run->plan->job.coordinate_words;
}

static uint64_t blocks_for(uint64_t count, uint64_t block)
{
    return (count + block - 1) / block;
}

static pool_status accumulate(
    const struct msm_run *run, const struct msm_part *part, struct slots slots)
{
    const struct msm_plan *plan = run->plan;
    uint32_t block = msm_shape_for(plan->job.coordinate_words).threads;
    const struct accumulate argument = {.entries = run->workspace + plan->entries_at,
        .offsets = run->workspace + plan->offsets_at,
        .buckets = run->workspace + plan->buckets_at,
        .slots = slots,
        .points = part->points,
        .point_stride = part->point_stride,
        .bucket_count = (uint32_t)plan->buckets,
        .threads = plan->threads,
        .continues = run->parts > 0};
    const struct msm_launch launch = {.program = MSM_PROGRAM_ACCUMULATE,
        .kernel = "msm_accumulate",
        .blocks = blocks_for(plan->threads, block),
        .threads = block,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};

    return msm_enqueue(run, &launch);
}

static pool_status merge(
    const struct msm_run *run, struct slots slots, struct slots next, uint64_t count, bool is_last)
{
    const struct merge argument = {.slots = slots,
        .next = next,
        .buckets = run->workspace + run->plan->buckets_at,
        .count = count,
        .is_last = is_last,
        .continues = run->parts > 0};
    const struct msm_launch launch = {.program = MSM_PROGRAM_MERGE,
        .kernel = "msm_merge",
        .blocks = blocks_for(count, MSM_MERGE_BLOCK),
        .threads = MSM_MERGE_BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};

    return msm_enqueue(run, &launch);
}

/* Levels of slots lie one after another in the scratch. */
static uint32_t place_slots(
    const struct msm_run *run, uint64_t count[MSM_MAX_MERGES], struct slots slots[MSM_MAX_MERGES])
{
    uint32_t levels = msm_merge_levels(run->plan->threads, count);
    CUdeviceptr at = run->workspace + run->plan->scratch_at;

    for (uint32_t i = 0; i < levels; i++) {
        slots[i].sums = at;
        at = (at + count[i] * xyzz_bytes(run) + 255) / 256 * 256;
        slots[i].buckets = at;
        at = (at + count[i] * sizeof(uint32_t) + 255) / 256 * 256;
    }
    return levels;
}

pool_status msm_sum_enqueue(const struct msm_run *run, const struct msm_part *part)
{
    uint64_t count[MSM_MAX_MERGES];
    struct slots slots[MSM_MAX_MERGES + 1] = {{0, 0}};
    uint32_t levels = place_slots(run, count, slots);
    pool_status status = accumulate(run, part, slots[0]);

    for (uint32_t i = 0; !status && i < levels; i++)
        status = merge(run, slots[i], slots[i + 1], count[i], i + 1 == levels);
    return status;
}

static pool_status segments(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    const struct segments argument = {.buckets = run->workspace + plan->buckets_at,
        .pairs = run->workspace + plan->scratch_at,
        .count = plan->buckets >> plan->segment,
        .log_segment = plan->segment};
    const struct msm_launch launch = {.program = MSM_PROGRAM_REDUCE,
        .kernel = "msm_segments",
        .blocks = blocks_for(argument.count, SEGMENT_BLOCK),
        .threads = SEGMENT_BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};

    return msm_enqueue(run, &launch);
}

static pool_status fold_once(
    const struct msm_run *run, uint32_t done, uint32_t levels, uint32_t log_pairs, bool is_last)
{
    const struct msm_plan *plan = run->plan;
    const struct fold argument = {.pairs = run->workspace + plan->scratch_at,
        .done = done,
        .levels = levels,
        .log_pairs = log_pairs,
        .sums = is_last ? run->workspace + plan->sums_at : 0};
    const struct msm_launch launch = {.program = MSM_PROGRAM_REDUCE,
        .kernel = "msm_fold",
        .blocks = plan->buckets >> (plan->segment + done + log_pairs),
        .threads = FOLD_BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};

    return msm_enqueue(run, &launch);
}

/*
 * A block folds up to 64 pairs to one, with half of its lanes idle after each level: as long as
 * there are more pairs than the chip has lanes for, a launch folds one level.
 */
static pool_status fold(const struct msm_run *run)
{
    const struct msm_plan *plan = run->plan;
    uint32_t levels = plan->window_bits - 1 - plan->segment;
    uint64_t at_once = (uint64_t)msm_chip_of(run->device).multiprocessors << (FOLD_LEVELS - 1);
    pool_status status = POOL_OK;

    for (uint32_t done = 0; !status && done < levels;) {
        uint32_t most = levels - done < FOLD_LEVELS ? levels - done : FOLD_LEVELS;
        uint64_t nodes = plan->buckets >> (plan->segment + done + 1);
        uint32_t now = nodes > at_once ? 1 : most;

        status = fold_once(run, done, now, most, done + now == levels);
        done += now;
    }
    return status;
}

pool_status msm_run_reduce(const struct msm_run *run)
{
    pool_status status = segments(run);

    return status ? status : fold(run);
}

/* What takes a coordinate from the device's form to the wanted one. */
static void set_factor(const pool_field *field, pool_form form, struct combine *argument)
{
    bool is_standard = (field->flags & FIELD_DEVICE_STANDARD) != 0;
    const uint64_t one[FIELD_MAX_LIMBS] = {1};

    if (is_standard == (form == POOL_FORM_STANDARD))
        return;
    argument->scales = 1;
    for (uint32_t i = 0; i < field->words; i++)
        argument->factor[i] = field_word(is_standard ? field->one : one, i);
}

pool_status msm_run_combine(const struct msm_run *run, const struct msm_target *target)
{
    const struct msm_plan *plan = run->plan;
    struct combine argument = {.sums = run->workspace + plan->sums_at,
        .results = target->results,
        .result_stride = target->stride / sizeof(uint32_t),
        .batch = plan->job.batch,
        .groups = plan->groups,
        .distance = plan->window_bits,
        .layout = target->layout};
    const struct msm_launch launch = {.program = MSM_PROGRAM_COMBINE,
        .kernel = "msm_combine",
        .blocks = blocks_for(plan->job.batch, COMBINE_BLOCK / COMBINE_LANES),
        .threads = COMBINE_BLOCK,
        .argument = &argument,
        .argument_bytes = sizeof(argument)};

    set_factor(run->curve->coordinates.field, target->form, &argument);
    return msm_enqueue(run, &launch);
}
