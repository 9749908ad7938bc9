/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the sort: the size of partitions, the tiles and threads of blocks, and the layout of the
 * scratch memory. Pure.
 */
#include "zk/msm/plan.h"

#include <string.h>

#include "base/math.h"

/*
 * Measured on one H200. A block sorts a partition in shared memory, so partitions should have at
 * most PARTITION_ENTRIES entries, and there should be several per multiprocessor even where that
 * makes them small, down to MIN_PARTITION_ENTRIES. A block writes a tile of digits as one run per
 * partition, so that more than 2^MAX_HIGH_BITS partitions per bucket set are only better than
 * oversized ones; 2^24 scalars in windows of 20 bits take 3.2 ms with 2^10 and 3.4 ms with 2^9,
 * whose partitions leave room for one block per multiprocessor. Beyond 2^WIDE_BITS partitions the
 * runs of an ordinary tile are short; blocks of MAX_THREADS then have tiles twice as long (1.5
 * instead of 1.9 ms in sort_partition). Each block of digits adds its counts to global memory; with
 * SCALAR_BLOCKS per multiprocessor that costs little.
 */
enum {
    PARTITION_ENTRIES = 8192,
    MIN_PARTITION_ENTRIES = 1024,
    MAX_HIGH_BITS = 10,
    WIDE_BITS = 9,
    MAX_HIGH_BITS_TO_FIT = 11,
    FEW_SETS = 4,
    MAX_LOG_PARTITION = 12,
    MAX_THREADS = 1024,
    ALIGNMENT = 256, /* of what the workspace holds */
    DIGIT_THREADS = 512,
    BUCKET_THREADS = 512,
    SCALAR_BLOCKS = 10,
    SLICE_THREADS = 256,
    MIN_CAPACITY = 4096,
    LARGE_CAPACITY = 24576, /* a multiprocessor holds at most two blocks of it */
    MIN_SHARED_BYTES = 48 << 10,
    STATIC_SHARED_BYTES = 1 << 10, /* the kernels' static variables; some 150 bytes */
};

static uint32_t square_root(uint64_t x)
{
    uint32_t root = 0;

    for (uint32_t bit = UINT32_C(1) << 31; bit; bit >>= 1)
        if ((uint64_t)(root | bit) * (root | bit) <= x)
            root |= bit;
    return root;
}

/* Entries per partition for uniform scalars. */
static uint64_t mean_entries(const struct msm_plan *plan, uint32_t log_partition)
{
    return plan->buckets ? (plan->entries << log_partition) / plan->buckets : 0;
}

/* The entries that a block must be able to sort for uniform scalars: the mean with a margin of
 * eight times the standard deviation. */
static uint64_t uniform_capacity(const struct msm_plan *plan, uint32_t log_partition)
{
    uint64_t mean = mean_entries(plan, log_partition);

    return base_max(mean + 8 * (uint64_t)square_root(mean) + 64, MIN_CAPACITY);
}

static uint64_t shared_words(const struct chip *chip)
{
    return (base_max(chip->shared_bytes, MIN_SHARED_BYTES) - STATIC_SHARED_BYTES) / 4;
}

static bool fits(const struct chip *chip, const struct msm_plan *plan, uint32_t log_partition)
{
    return ((uint64_t)1 << log_partition) + uniform_capacity(plan, log_partition) <=
           shared_words(chip);
}

static uint32_t choose_log_partition(const struct chip *chip, const struct msm_plan *plan)
{
    uint32_t bucket_bits = plan->window_bits - 1;
    uint32_t log_partition = MAX_LOG_PARTITION;

    /* Smaller until a block can sort one quickly, and then until it fits into a block. */
    while (log_partition && mean_entries(plan, log_partition) > PARTITION_ENTRIES &&
           bucket_bits < log_partition + MAX_HIGH_BITS)
        log_partition--;
    while (log_partition && !fits(chip, plan, log_partition) &&
           bucket_bits < log_partition + MAX_HIGH_BITS_TO_FIT)
        log_partition--;
    /* Precomputed bases make the sets fewer and fuller: partitions may be smaller still where they
     * then fit into a block, because few sets keep the counts of a block of digits few. */
    if (log_partition && plan->sets_per_msm <= FEW_SETS && !fits(chip, plan, log_partition) &&
        fits(chip, plan, log_partition - 1))
        log_partition--;
    /* Smaller until there are enough for the chip. */
    while (log_partition && plan->buckets >> log_partition < 4 * chip->multiprocessors &&
           mean_entries(plan, log_partition) > MIN_PARTITION_ENTRIES &&
           bucket_bits < log_partition + MAX_HIGH_BITS)
        log_partition--;
    return log_partition;
}

/* The most partitions that `buckets` neighbouring buckets can overlap, wherever they begin. */
static uint64_t max_bins(const struct msm_plan *plan, uint64_t buckets)
{
    return base_min((buckets >> plan->sort.log_partition) + 2, plan->sort.partitions);
}

static uint64_t set_buckets(const struct msm_plan *plan)
{
    return (uint64_t)1 << (plan->window_bits - 1);
}

static void plan_tiles(const struct chip *chip, struct msm_plan *plan)
{
    struct msm_sort_plan *sort = &plan->sort;
    uint64_t words = shared_words(chip);
    uint64_t bins = max_bins(plan, plan->sets_per_msm * set_buckets(plan));
    uint64_t scalars = (plan->job.scalar_words + (uint64_t)1) * MSM_DIGITS_THREADS;

    sort->scalar_bins =
        (uint32_t)(bins + scalars <= words ? base_max(bins, base_min(words - scalars, 4096)) : 0);
    sort->digit_bins = (uint32_t)base_max(max_bins(plan, set_buckets(plan)), 512);
    sort->digit_threads =
        plan->window_bits - 1 > sort->log_partition + WIDE_BITS ? MAX_THREADS : DIGIT_THREADS;
    while (2 * (sort->digit_bins + (uint64_t)MSM_SORT_ITEMS * sort->digit_threads) > words)
        sort->digit_threads /= 2;
    /* Few digits are divided among more blocks. */
    while (sort->digit_threads > 128 && plan->entries / MSM_SORT_ITEMS / sort->digit_threads <
                                            2 * (uint64_t)chip->multiprocessors)
        sort->digit_threads /= 2;
    sort->slice_entries = MSM_SORT_ITEMS * SLICE_THREADS;
    while (2 * (((uint64_t)1 << sort->log_partition) + sort->slice_entries) > words)
        sort->slice_entries /= 2;
}

static void plan_scratch(struct msm_plan *plan)
{
    struct msm_sort_plan *sort = &plan->sort;
    uint64_t at =
        base_round_up(4 * (uint64_t)sort->partitions + sizeof(struct msm_sort_state), ALIGNMENT);

    sort->max_oversized = base_min(sort->partitions, plan->entries / (sort->block_capacity + 1));
    sort->oversized_at = at,
    at += base_round_up(sizeof(struct msm_oversized) * sort->max_oversized, ALIGNMENT);
    sort->partitioned_entries_at = at, at += base_round_up(4 * plan->entries, ALIGNMENT);
    sort->partitioned_buckets_at = at, at += base_round_up(2 * plan->entries, ALIGNMENT);
    sort->bytes = at;
}

/* Bits of the largest scalar that is recoded. */
static uint32_t recoded_bits(const struct msm_plan *plan)
{
    uint32_t bits = plan->job.scalar_bits;

    if (plan->job.half_bits)
        return plan->job.half_bits;
    if (bits == 0 || bits > plan->job.order_bits)
        bits = plan->job.order_bits;
    return bits - (plan->negates_large ? 1 : 0);
}

/* Only a top window as wide as the others can have the digit 2^(c - 1), which stored with its
 * offset of 2^(c - 1) does not fit into c bits. Plans with global counts always have digits of four
 * bytes, so that there are fewer kernels. */
static void plan_digits(struct msm_plan *plan)
{
    uint32_t c = plan->window_bits;
    bool is_top_full = plan->windows * c <= recoded_bits(plan) + 1;
    bool is_short = plan->sort.scalar_bins && (c < 16 || (c == 16 && !is_top_full));

    plan->sort.digit_bytes = is_short ? 2 : 4;
    plan->sort.max_top_digit = (1u << (c - 1)) - (c == 16 && is_short);
}

static uint32_t bucket_threads(uint32_t capacity)
{
    if (capacity > LARGE_CAPACITY)
        return MAX_THREADS;
    return capacity > MIN_CAPACITY ? BUCKET_THREADS : BUCKET_THREADS / 2;
}

void msm_sort_plan_make(const struct chip *chip, struct msm_plan *plan)
{
    struct msm_sort_plan *sort = &plan->sort;

    memset(sort, 0, sizeof(*sort));
    sort->log_partition = choose_log_partition(chip, plan);
    sort->partitions = (uint32_t)base_ceil_div(plan->buckets, (uint64_t)1 << sort->log_partition);
    sort->block_capacity = (uint32_t)base_min(uniform_capacity(plan, sort->log_partition),
        shared_words(chip) - ((uint64_t)1 << sort->log_partition));
    sort->bucket_threads = bucket_threads(sort->block_capacity);
    plan_tiles(chip, plan);
    plan_digits(plan);
    plan_scratch(plan);
}

/* Tiles of about `wanted` scalars and at most `max_msms` MSMs. */
static struct msm_tiling tile_batch(
    const struct msm_plan *plan, uint64_t count, uint64_t wanted, uint64_t max_msms)
{
    uint64_t msms = base_max(1, base_min(base_min(wanted / count, max_msms), plan->job.batch));
    uint64_t per_msm = msms > 1 ? 1 : base_ceil_div(count, wanted);

    return (struct msm_tiling){
        .tiles = (uint32_t)(base_ceil_div(plan->job.batch, msms) * per_msm),
        .tiles_per_msm = (uint32_t)per_msm,
        .msms_per_tile = (uint32_t)msms,
        .scalars_per_tile = (uint32_t)(msms > 1 ? msms * count : base_ceil_div(count, per_msm)),
    };
}

/* The most neighbouring MSMs whose buckets overlap at most `bins` partitions. */
static uint64_t max_msms_in(const struct msm_plan *plan, uint64_t bins)
{
    uint64_t buckets = plan->sets_per_msm * set_buckets(plan);

    return bins > 2 ? base_max(1, ((bins - 2) << plan->sort.log_partition) / buckets) : 1;
}

void msm_sort_tile(const struct chip *chip, const struct msm_plan *plan, uint64_t count,
    struct msm_tiling *scalars, struct msm_tiling *digits)
{
    const struct msm_sort_plan *sort = &plan->sort;
    uint64_t total = count * plan->job.batch;
    uint64_t blocks = (uint64_t)SCALAR_BLOCKS * chip->multiprocessors;
    uint64_t per_block = base_max(MSM_DIGITS_THREADS,
        base_ceil_div(base_ceil_div(total, blocks), MSM_DIGITS_THREADS) * MSM_DIGITS_THREADS);

    *scalars = tile_batch(
        plan, count, per_block, sort->scalar_bins ? max_msms_in(plan, sort->scalar_bins) : 1);
    *digits = tile_batch(plan, count, (uint64_t)MSM_SORT_ITEMS * sort->digit_threads,
        max_msms_in(plan, sort->digit_bins));
}
