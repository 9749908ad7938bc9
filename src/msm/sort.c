/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of a part, sorted by bucket: enqueues the stages of the sort.
 */
#include "msm/sort.h"

#include <string.h>

enum {
    SCALAR_THREADS = 256,
    CROWDS_WORDS = 3, /* struct crowds, behind the cursors */
    ITEMS = 16,       /* of a thread, as ptx/msm/sort.cuh has it */
};

static void set_bits(uint32_t *words, uint32_t first, uint32_t end)
{
    for (uint32_t bit = first; bit < end; bit++)
        words[bit / 32] |= UINT32_C(1) << (bit % 32);
}

/* 2^(c - 1), and one less, in each window but the top one. */
static void set_lifts(const struct msm_plan *plan, struct msm_sort_argument *sort)
{
    uint32_t c = plan->window_bits;

    for (uint32_t window = 0; window + 1 < plan->windows; window++) {
        set_bits(sort->lifts[0], c * window + c - 1, c * window + c);
        set_bits(sort->lifts[1], c * window, c * window + c - 1);
    }
}

/* How scalars come into standard form: by the device's own conversion, or where it computes in
 * standard form by a product with 1/R. */
static void set_conversion(
    const pool_field *field, const struct msm_part *part, struct msm_sort_argument *sort)
{
    uint64_t factor[FIELD_MAX_LIMBS];

    if (part->scalar_form != POOL_FORM_MONTGOMERY)
        return;
    if (!(field->flags & FIELD_DEVICE_STANDARD)) {
        sort->convert = 1;
        return;
    }
    sort->convert = 2;
    field_from_montgomery(field, factor, field->one);
    field_from_montgomery(field, factor, factor);
    for (uint32_t i = 0; i < field->words; i++)
        sort->factor[i] = field_word(factor, i);
}

static void set_places(const struct msm_run *run, struct msm_sort_argument *sort)
{
    const struct msm_plan *plan = run->plan;
    CUdeviceptr scratch = run->workspace + plan->scratch_at;

    sort->entries = run->workspace + plan->entries_at;
    sort->digits = sort->entries;
    sort->offsets = run->workspace + plan->offsets_at;
    sort->cursors = scratch;
    sort->crowds = scratch + 4 * (uint64_t)plan->sort.partitions;
    sort->crowd = scratch + plan->sort.crowd_at;
    sort->loose = scratch + plan->sort.loose_at;
    sort->lows = scratch + plan->sort.lows_at;
}

static void set_part(
    const struct msm_run *run, const struct msm_part *part, struct msm_sort_argument *sort)
{
    const struct msm_plan *plan = run->plan;

    sort->scalars = part->scalars;
    sort->scalar_stride = part->scalar_stride;
    sort->scalar_batch = part->scalar_batch;
    sort->count = (uint32_t)part->count;
    sort->batch = (uint32_t)plan->job.batch;
    sort->windows = plan->windows;
    sort->groups = plan->groups;
    sort->window_bits = plan->window_bits;
    sort->digit_bytes = plan->sort.digit_bytes;
    sort->low_bits = plan->sort.low_bits;
    sort->partitions = plan->sort.partitions;
    sort->buckets = (uint32_t)plan->buckets;
    sort->room = plan->sort.room;
    sort->piece = plan->sort.piece;
    sort->bins = plan->sort.digit_bins;
    sort->counts_globally = plan->sort.scalar_bins == 0;
    sort->first_point = (uint32_t)part->first_point;
    sort->point_batch = (uint32_t)part->point_batch;
    sort->point_level = (uint32_t)part->point_level;
    sort->top_most = plan->sort.top_most;
    sort->reduces = part->reduces != 0;
    sort->negates = plan->negates != 0;
}

static void launch_digits(
    const struct msm_run *run, const struct msm_sort_argument *sort, struct msm_launch *launch)
{
    launch->program = MSM_PROGRAM_DIGITS;
    launch->kernel = sort->digit_bytes == 2 ? "msm_digits_2" : "msm_digits_4";
    launch->blocks = sort->scalar_tiles.tiles;
    launch->threads = SCALAR_THREADS;
    launch->shared_bytes =
        4 * (run->plan->sort.scalar_bins + (run->plan->job.scalar_words + 1) * SCALAR_THREADS);
}

static void launch_partition(
    const struct msm_run *run, const struct msm_sort_argument *sort, struct msm_launch *launch)
{
    launch->program = MSM_PROGRAM_PARTITION;
    launch->kernel = sort->digit_tiles.sums == 1 ? "msm_partition" : "msm_partition_sums";
    launch->blocks = (uint64_t)sort->digit_tiles.tiles * sort->windows;
    launch->threads = run->plan->sort.digit_threads;
    launch->shared_bytes = 8 * (sort->bins + ITEMS * launch->threads);
}

static void launch_order(
    const struct msm_run *run, const struct msm_sort_argument *sort, struct msm_launch *launch)
{
    launch->program = MSM_PROGRAM_ORDER;
    launch->kernel = "msm_order";
    launch->blocks = (uint64_t)sort->partitions + sort->helpers;
    launch->threads = run->plan->sort.order_threads;
    launch->shared_bytes = 4 * ((UINT32_C(1) << sort->low_bits) + sort->room);
}

static void launch_spread(const struct msm_sort_argument *sort, struct msm_launch *launch)
{
    launch->program = MSM_PROGRAM_ORDER;
    launch->kernel = "msm_spread";
    launch->blocks = sort->helpers;
    launch->threads = sort->piece / ITEMS;
    launch->shared_bytes = 8 * ((UINT32_C(1) << sort->low_bits) + sort->piece);
}

pool_status msm_sort_stage_enqueue(
    const struct msm_run *run, const struct msm_sort_argument *sort, enum msm_sort_stage stage)
{
    struct msm_launch launch = {.argument = sort, .argument_bytes = sizeof(*sort)};

    switch (stage) {
    case MSM_SORT_CLEAR:
        return msm_clear(run, sort->cursors, (uint64_t)sort->partitions + CROWDS_WORDS);
    case MSM_SORT_DIGITS:
        launch_digits(run, sort, &launch);
        break;
    case MSM_SORT_PARTITION:
        launch_partition(run, sort, &launch);
        break;
    case MSM_SORT_ORDER:
        launch_order(run, sort, &launch);
        break;
    default:
        launch_spread(sort, &launch);
    }
    return launch.blocks ? msm_enqueue(run, &launch) : POOL_OK;
}

void msm_sort_prepare(
    const struct msm_run *run, const struct msm_part *part, struct msm_sort_argument *sort)
{
    struct msm_chip chip = msm_chip_of(run->device);

    memset(sort, 0, sizeof(*sort));
    set_places(run, sort);
    set_part(run, part, sort);
    set_lifts(run->plan, sort);
    set_conversion(run->curve->scalar_field, part, sort);
    msm_sort_tile(&chip, run->plan, part->count, &sort->scalar_tiles, &sort->digit_tiles);
    sort->helpers = run->plan->sort.most_crowds ? 4 * chip.multiprocessors : 0;
}

pool_status msm_sort_enqueue(const struct msm_run *run, const struct msm_part *part)
{
    const struct msm_plan *plan = run->plan;
    struct msm_sort_argument sort;
    pool_status status = POOL_OK;

    if (part->count == 0 || plan->job.batch == 0)
        return msm_clear(run, run->workspace + plan->offsets_at, plan->buckets + 1);
    msm_sort_prepare(run, part, &sort);
    for (int stage = 0; stage < MSM_SORT_STAGES && !status; stage++)
        status = msm_sort_stage_enqueue(run, &sort, (enum msm_sort_stage)stage);
    return status;
}
