/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of a part, sorted by bucket: enqueues the stages of the sort.
 */
#include "msm/msm.h"

#include <string.h>

#include "base/status.h"

enum {
    SORT_WORDS = FIELD_MAX_WORDS + 1,
    SCALAR_THREADS = 256,
    ITEMS = 16, /* of a thread, as ptx/msm/sort.cuh has it */
};

/* The kernels' argument: struct sort of ptx/msm/sort.cuh. */
struct sort_argument {
    CUdeviceptr scalars;
    uint64_t scalar_stride;
    uint64_t scalar_batch;
    CUdeviceptr digits;
    CUdeviceptr cursors;
    CUdeviceptr crowds;
    CUdeviceptr crowd;
    CUdeviceptr loose;
    CUdeviceptr lows;
    CUdeviceptr entries;
    CUdeviceptr offsets;
    struct msm_tiling scalar_tiles;
    struct msm_tiling digit_tiles;
    uint32_t count;
    uint32_t batch;
    uint32_t windows;
    uint32_t groups;
    uint32_t window_bits;
    uint32_t digit_bytes;
    uint32_t low_bits;
    uint32_t partitions;
    uint32_t buckets;
    uint32_t room;
    uint32_t piece;
    uint32_t helpers;
    uint32_t bins;
    uint32_t counts_globally;
    uint32_t first_point;
    uint32_t point_batch;
    uint32_t point_level;
    uint32_t top_most;
    uint32_t convert;
    uint32_t reduces;
    uint32_t negates;
    uint32_t factor[SORT_WORDS];
    uint32_t lifts[2][SORT_WORDS];
};

static void set_bits(uint32_t *words, uint32_t first, uint32_t end)
{
    for (uint32_t bit = first; bit < end; bit++)
        words[bit / 32] |= UINT32_C(1) << (bit % 32);
}

/* 2^(c - 1), and one less, in each window but the top one. */
static void set_lifts(const struct msm_plan *plan, struct sort_argument *sort)
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
    const pool_field *field, const struct msm_part *part, struct sort_argument *sort)
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

static void set_places(const struct msm_run *run, struct sort_argument *sort)
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
    const struct msm_run *run, const struct msm_part *part, struct sort_argument *sort)
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

static pool_status enqueue_digits(const struct msm_run *run, const struct sort_argument *sort)
{
    return msm_enqueue(run, &(struct msm_launch){.program = MSM_PROGRAM_DIGITS,
                                .kernel = "msm_digits",
                                .blocks = sort->scalar_tiles.tiles,
                                .threads = SCALAR_THREADS,
                                .shared_bytes = 4 * run->plan->sort.scalar_bins,
                                .argument = sort,
                                .argument_bytes = sizeof(*sort)});
}

static pool_status enqueue_partition(const struct msm_run *run, const struct sort_argument *sort)
{
    uint32_t threads = run->plan->sort.digit_threads;

    return msm_enqueue(run, &(struct msm_launch){.program = MSM_PROGRAM_PARTITION,
                                .kernel = "msm_partition",
                                .blocks = (uint64_t)sort->digit_tiles.tiles * run->plan->windows,
                                .threads = threads,
                                .shared_bytes = 8 * (sort->bins + ITEMS * threads),
                                .argument = sort,
                                .argument_bytes = sizeof(*sort)});
}

static pool_status enqueue_order(const struct msm_run *run, const struct sort_argument *sort)
{
    uint32_t lows = UINT32_C(1) << sort->low_bits;
    uint32_t words = lows + sort->room;
    struct msm_launch launch = {.program = MSM_PROGRAM_ORDER,
        .kernel = "msm_order",
        .blocks = (uint64_t)sort->partitions + sort->helpers,
        .threads = run->plan->sort.order_threads,
        .shared_bytes = 4 * words,
        .argument = sort,
        .argument_bytes = sizeof(*sort)};
    pool_status status = msm_enqueue(run, &launch);

    if (status || !sort->helpers)
        return status;
    launch.kernel = "msm_spread";
    launch.blocks = sort->helpers;
    launch.threads = sort->piece / ITEMS;
    launch.shared_bytes = 8 * (lows + sort->piece);
    return msm_enqueue(run, &launch);
}

pool_status msm_sort_enqueue(const struct msm_run *run, const struct msm_part *part)
{
    const struct msm_plan *plan = run->plan;
    struct msm_chip chip = msm_chip_of(run->device);
    struct sort_argument sort = {0};
    pool_status status;

    set_places(run, &sort);
    if (part->count == 0 || plan->job.batch == 0)
        return msm_clear(run, sort.offsets, plan->buckets + 1);
    set_part(run, part, &sort);
    set_lifts(plan, &sort);
    set_conversion(run->curve->scalar_field, part, &sort);
    msm_sort_tile(&chip, plan, part->count, &sort.scalar_tiles, &sort.digit_tiles);
    sort.helpers = plan->sort.most_crowds ? 2 * chip.multiprocessors : 0;
    status = msm_clear(run, sort.cursors, (uint64_t)plan->sort.partitions + 3);
    if (!status)
        status = enqueue_digits(run, &sort);
    if (!status)
        status = enqueue_partition(run, &sort);
    return status ? status : enqueue_order(run, &sort);
}
