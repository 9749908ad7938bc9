/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues the stages of the sort: the entries of a chunk, sorted by bucket.
 */
#include "zk/msm/sort.h"

#include <math.h>

#include "base/math.h"
#include "pool/memory/memory.h"
#include "pool/tuning/rates.h"

static void set_bits(uint32_t *words, uint32_t first, uint32_t end)
{
    for (uint32_t bit = first; bit < end; bit++)
        words[bit / 32] |= UINT32_C(1) << (bit % 32);
}

/* Scalars are converted to standard form by the field's own conversion or, where kernels compute in
 * standard form, by a multiplication with 1/R. */
uint32_t msm_scalar_conversion_of(
    const pool_field *field, pool_form scalar_form, uint32_t *factor_words)
{
    uint64_t factor[FIELD_MAX_LIMBS];

    if (scalar_form != POOL_FORM_MONTGOMERY)
        return MSM_SCALAR_STANDARD;
    if (!(field->flags & FIELD_DEVICE_STANDARD))
        return MSM_SCALAR_FROM_MONTGOMERY;
    field_from_montgomery(field, factor, field->one);
    field_from_montgomery(field, factor, factor);
    for (uint32_t i = 0; i < field->words; i++)
        factor_words[i] = field_word(factor, i);
    return MSM_SCALAR_TIMES_FACTOR;
}

/* Predicted for the stages, as parts of the measured time of all. */
enum { DIGITS_PART = 40, PARTITION_PART = 80, BUCKETS_PART = 50, OVERSIZED_PART = 100 };

static double stage_seconds(const struct chip *chip, uint64_t entries, uint32_t percent)
{
    const struct chip_rates *rates = &chip_rates_h200;

    return (double)entries * rates->msm[0].sort_entry * percent / 100 * rates->multiprocessors /
           chip->multiprocessors;
}

/* Blocks of both kernels that take slices of oversized partitions: several per multiprocessor, and
 * as often as many where it takes as many launches if all partitions are oversized. */
static uint32_t counting_blocks(
    const struct msm_run *run, const struct chip *chip, const struct msm_chunk_operands *chunk)
{
    const struct msm_plan *plan = run->plan;
    const uint64_t entries = chunk->count * plan->job.batch * plan->windows;
    const uint64_t slices = base_ceil_div(entries, plan->sort.slice_entries);
    const double seconds = stage_seconds(chip, entries, OVERSIZED_PART);
    const double launches = floor(seconds / ((double)msm_slice_ns(run) * 1e-9)) + 1;
    const uint32_t blocks = 4 * chip->multiprocessors;

    return launches * blocks < (double)slices
               ? blocks * (uint32_t)launches
               : (uint32_t)base_max(base_round_up(slices, blocks), blocks);
}

void msm_sort_args_init(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, struct msm_sort_args *args)
{
    const struct msm_plan *plan = run->plan;
    const struct msm_sort_plan *sort = &plan->sort;
    const CUdeviceptr scratch = run->workspace + plan->scratch_at;
    const uint32_t c = plan->window_bits;
    struct chip chip = chip_of(run->device);

    *args = (struct msm_sort_args){
        .scalars = chunk->scalars,
        .scalar_stride = chunk->scalar_stride,
        .scalar_batch_stride = chunk->scalar_batch_stride,
        .digits = run->workspace + plan->entries_at, /* until the entries are written */
        .cursors = scratch,
        .state = scratch + 4 * (uint64_t)sort->partitions,
        .oversized = scratch + sort->oversized_at,
        .partitioned_entries = scratch + sort->partitioned_entries_at,
        .partitioned_buckets = scratch + sort->partitioned_buckets_at,
        .entries = run->workspace + plan->entries_at,
        .bucket_offsets = run->workspace + plan->bucket_offsets_at,
        .count = (uint32_t)chunk->count,
        .batch = (uint32_t)plan->job.batch,
        .windows = plan->windows,
        .sets_per_msm = plan->sets_per_msm,
        .window_bits = c,
        .digit_bytes = sort->digit_bytes,
        .log_partition = sort->log_partition,
        .partitions = sort->partitions,
        .buckets = (uint32_t)plan->buckets,
        .block_capacity = sort->block_capacity,
        .slice_entries = sort->slice_entries,
        .counting_blocks = sort->max_oversized ? counting_blocks(run, &chip, chunk) : 0,
        .digit_bins = sort->digit_bins,
        .uses_global_counts = sort->scalar_bins == 0,
        .first_base = (uint32_t)chunk->first_base,
        .base_batch_stride = (uint32_t)chunk->base_batch_stride,
        .multiple_stride = (uint32_t)chunk->multiple_stride,
        .max_top_digit = sort->max_top_digit,
        .reduces = chunk->reduces,
        .negates_large = plan->negates_large,
    };
    msm_sort_tile(&chip, plan, chunk->count, &args->scalar_tiles, &args->digit_tiles);
    args->conversion =
        msm_scalar_conversion_of(run->curve->scalar_field, chunk->scalar_form, args->factor);
    /* 2^(c - 1), and one less, in every window but the top one. */
    for (uint32_t window = 0; window + 1 < plan->windows; window++) {
        set_bits(args->recoding_offsets[0], c * window + c - 1, c * window + c);
        set_bits(args->recoding_offsets[1], c * window, c * window + c - 1);
    }
}

pool_status msm_sort_enqueue(
    const struct msm_run *run, const struct msm_sort_args *given, enum msm_sort_stage stage)
{
    const struct msm_sort_plan *sort = &run->plan->sort;
    const uint32_t partition_buckets = UINT32_C(1) << sort->log_partition;
    const struct chip chip = chip_of(run->device);
    struct msm_sort_args own = *given, *args = &own;
    struct msm_launch launch = {
        .args = args, .args_bytes = sizeof(*args), .first_block = &args->first_block};
    pool_status status = POOL_OK;
    uint32_t percent;

    switch (stage) {
    case MSM_STAGE_CLEAR:
        return memory_clear_words(run->device, run->stream, args->cursors,
            (uint64_t)args->partitions + sizeof(struct msm_sort_state) / sizeof(uint32_t));
    case MSM_STAGE_DIGITS:
        launch.kernel = args->digit_bytes == 2 ? MSM_DIGITS_16 : MSM_DIGITS_32;
        launch.blocks = args->scalar_tiles.tiles;
        launch.threads = MSM_DIGITS_THREADS;
        launch.shared_bytes =
            4 * (sort->scalar_bins + (run->plan->job.scalar_words + 1) * MSM_DIGITS_THREADS);
        percent = DIGITS_PART;
        break;
    case MSM_STAGE_PARTITION:
        launch.kernel =
            args->digit_tiles.msms_per_tile == 1 ? MSM_SORT_PARTITION : MSM_SORT_PARTITION_BATCH;
        launch.blocks = (uint64_t)args->digit_tiles.tiles * args->windows;
        launch.threads = sort->digit_threads;
        launch.shared_bytes = 8 * (args->digit_bins + MSM_SORT_ITEMS * launch.threads);
        percent = PARTITION_PART;
        break;
    case MSM_STAGE_BUCKETS:
        launch.kernel = MSM_SORT_BUCKETS;
        launch.blocks = (uint64_t)args->partitions + args->counting_blocks;
        launch.threads = sort->bucket_threads;
        launch.shared_bytes = 4 * (partition_buckets + args->block_capacity);
        percent = BUCKETS_PART;
        break;
    default:
        launch.kernel = MSM_SORT_OVERSIZED;
        launch.blocks = args->counting_blocks;
        launch.threads = args->slice_entries / MSM_SORT_ITEMS;
        launch.shared_bytes = 8 * (partition_buckets + args->slice_entries);
        percent = OVERSIZED_PART;
    }
    launch.seconds =
        stage_seconds(&chip, (uint64_t)args->count * args->batch * args->windows, percent);
    /* The blocks for oversized partitions and those of the others take all of the time or none. */
    if (stage == MSM_STAGE_BUCKETS && args->counting_blocks &&
        launch.seconds > (double)msm_slice_ns(run) * 1e-9) {
        launch.blocks = args->counting_blocks;
        status = msm_enqueue(run, &launch);
        args->first_block = args->counting_blocks;
        launch.blocks = args->partitions;
    }
    return launch.blocks && !status ? msm_enqueue(run, &launch) : status;
}

pool_status msm_run_sort(const struct msm_run *run, const struct msm_chunk_operands *chunk)
{
    const struct msm_plan *plan = run->plan;
    struct msm_sort_args args;
    pool_status status = POOL_OK;

    if (chunk->count == 0 || plan->job.batch == 0)
        return memory_clear_words(
            run->device, run->stream, run->workspace + plan->bucket_offsets_at, plan->buckets + 1);
    if (plan->small.parts)
        return msm_small_sort(run, chunk);
    msm_sort_args_init(run, chunk, &args);
    for (int stage = 0; stage < MSM_SORT_STAGES && !status; stage++)
        status = msm_sort_enqueue(run, &args, (enum msm_sort_stage)stage);
    return status;
}
