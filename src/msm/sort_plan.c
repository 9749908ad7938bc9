/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of the sort: how fine the partitions are, what a block takes at a time, where the
 * scratch lies. Pure.
 */
#include "msm/msm.h"

#include <string.h>

/*
 * Measured on one H200. A block orders a partition in shared memory, so PARTITION entries are
 * wanted, and several blocks for each multiprocessor even when that makes partitions small; down to
 * LEAST_PARTITION. A tile of digits is written in one run a partition, so more than 2^HIGH_BITS
 * partitions a set are only better than crowded ones; 2^24 scalars in windows of 20 bits take 3.2
 * ms with 2^10 and 3.4 with 2^9, whose partitions leave room for one block. Beyond 2^WIDE_BITS runs
 * of a usual tile are short: a block of all threads has a tile twice as long (1.5 ms for 1.9 in
 * partition). Blocks of digits each give their counts to memory: with ten of a multiprocessor that
 * is little.
 */
enum {
    PARTITION = 8192,
    LEAST_PARTITION = 1024,
    HIGH_BITS = 10,
    WIDE_BITS = 9,
    MOST_HIGH_BITS = 11,
    FEW_GROUPS = 4,
    MOST_LOW_BITS = 12,
    ITEMS = 16, /* SORT_ITEMS of ptx/msm/sort.cuh */
    MOST_THREADS = 1024,
    DIGIT_THREADS = 512,
    ORDER_THREADS = 512,
    SCALAR_THREADS = 256,
    SCALAR_BLOCKS = 10,
    PIECE_THREADS = 256,
    LEAST_ROOM = 4096,
    LARGE_ROOM = 24576, /* a multiprocessor holds two blocks of it at most */
    LEAST_SHARED = 48 << 10,
    STATIC_SHARED = 1 << 10, /* the kernels' own variables; some 150 bytes */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t ratio_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static uint32_t square_root(uint64_t x)
{
    uint32_t root = 0;

    for (uint32_t bit = UINT32_C(1) << 31; bit; bit >>= 1)
        if ((uint64_t)(root | bit) * (root | bit) <= x)
            root |= bit;
    return root;
}

/* Entries of a partition when all buckets have the same. */
static uint64_t mean_of(const struct msm_plan *plan, uint32_t low_bits)
{
    return plan->buckets ? (plan->entries << low_bits) / plan->buckets : 0;
}

/* Words of shared memory that order needs for the usual partition: its counts and, with a margin of
 * eight times the deviation, its entries. */
static uint64_t usual_room(const struct msm_plan *plan, uint32_t low_bits)
{
    uint64_t mean = mean_of(plan, low_bits);

    return larger(mean + 8 * (uint64_t)square_root(mean) + 64, LEAST_ROOM);
}

static uint64_t shared_words(const struct msm_chip *chip)
{
    return (larger(chip->shared_bytes, LEAST_SHARED) - STATIC_SHARED) / 4;
}

static bool fits(const struct msm_chip *chip, const struct msm_plan *plan, uint32_t low_bits)
{
    return ((uint64_t)1 << low_bits) + usual_room(plan, low_bits) <= shared_words(chip);
}

static uint32_t choose_low_bits(const struct msm_chip *chip, const struct msm_plan *plan)
{
    uint32_t bucket_bits = plan->window_bits - 1;
    uint32_t low_bits = MOST_LOW_BITS;

    /* Not too full. */
    while (low_bits && mean_of(plan, low_bits) > PARTITION && bucket_bits < low_bits + HIGH_BITS)
        low_bits--;
    while (low_bits && !fits(chip, plan, low_bits) && bucket_bits < low_bits + MOST_HIGH_BITS)
        low_bits--;
    /* Tables bring many entries to one set: finer still where they fit into blocks then, and few
     * sets let the counts of a block of digits be small all the same. */
    if (low_bits && plan->groups <= FEW_GROUPS && !fits(chip, plan, low_bits) &&
        fits(chip, plan, low_bits - 1))
        low_bits--;
    /* And enough of them. */
    while (low_bits && plan->buckets >> low_bits < 4 * chip->multiprocessors &&
           mean_of(plan, low_bits) > LEAST_PARTITION && bucket_bits < low_bits + HIGH_BITS)
        low_bits--;
    return low_bits;
}

/* The most partitions that `buckets` neighbouring buckets can touch, wherever they begin. */
static uint64_t bins_of(const struct msm_plan *plan, uint64_t buckets)
{
    return smaller((buckets >> plan->sort.low_bits) + 2, plan->sort.partitions);
}

static uint64_t buckets_of_set(const struct msm_plan *plan)
{
    return (uint64_t)1 << (plan->window_bits - 1);
}

/* Buckets from one window's first of a sum to its last of the sum `sums` - 1 further on. */
static uint64_t span_of(const struct msm_plan *plan, uint64_t sums)
{
    return ((sums - 1) * plan->groups + 1) * buckets_of_set(plan);
}

static void plan_tiles(const struct msm_chip *chip, struct msm_plan *plan)
{
    struct msm_sort_plan *sort = &plan->sort;
    uint64_t words = shared_words(chip);
    uint64_t bins = bins_of(plan, plan->groups * buckets_of_set(plan));

    uint64_t scalars = (plan->job.scalar_words + (uint64_t)1) * SCALAR_THREADS;

    sort->scalar_bins =
        (uint32_t)(bins + scalars <= words ? larger(bins, smaller(words - scalars, 4096)) : 0);
    sort->digit_bins = (uint32_t)larger(bins_of(plan, span_of(plan, 1)), 512);
    sort->digit_threads =
        plan->window_bits - 1 > sort->low_bits + WIDE_BITS ? MOST_THREADS : DIGIT_THREADS;
    while (2 * (sort->digit_bins + (uint64_t)ITEMS * sort->digit_threads) > words)
        sort->digit_threads /= 2;
    /* Small work in more blocks. */
    while (sort->digit_threads > 128 &&
           plan->entries / ITEMS / sort->digit_threads < 2 * (uint64_t)chip->multiprocessors)
        sort->digit_threads /= 2;
    sort->piece = ITEMS * PIECE_THREADS;
    while (2 * (((uint64_t)1 << sort->low_bits) + sort->piece) > words)
        sort->piece /= 2;
}

static void plan_places(struct msm_plan *plan)
{
    struct msm_sort_plan *sort = &plan->sort;
    uint64_t at = aligned(4 * ((uint64_t)sort->partitions + 3));

    sort->most_crowds = smaller(sort->partitions, plan->entries / (sort->room + 1));
    sort->crowd_at = at, at += aligned(12 * sort->most_crowds);
    sort->loose_at = at, at += aligned(4 * plan->entries);
    sort->lows_at = at, at += aligned(2 * plan->entries);
    sort->bytes = at;
}

/* Bits of the largest scalar that is recoded. */
static uint32_t recoded_bits(const struct msm_plan *plan)
{
    uint32_t bits = plan->job.scalar_bits;

    if (bits == 0 || bits > plan->job.order_bits)
        bits = plan->job.order_bits;
    return bits - (plan->negates ? 1 : 0);
}

/* Only a top window that is as wide as the others has digits of 2^(c - 1); less it, all fit into c
 * bits. What has no room for counts has digits of four bytes, so that kernels are fewer. */
static void plan_digits(struct msm_plan *plan)
{
    uint32_t c = plan->window_bits;
    bool is_top_full = plan->windows * c <= recoded_bits(plan) + 1;
    bool is_short = plan->sort.scalar_bins && (c < 16 || (c == 16 && !is_top_full));

    plan->sort.digit_bytes = is_short ? 2 : 4;
    plan->sort.top_most = (1u << (c - 1)) - (c == 16 && is_short);
}

static uint32_t order_threads(uint32_t room)
{
    if (room > LARGE_ROOM)
        return MOST_THREADS;
    return room > LEAST_ROOM ? ORDER_THREADS : ORDER_THREADS / 2;
}

void msm_sort_plan_make(const struct msm_chip *chip, struct msm_plan *plan)
{
    struct msm_sort_plan *sort = &plan->sort;

    memset(sort, 0, sizeof(*sort));
    sort->low_bits = choose_low_bits(chip, plan);
    sort->partitions = (uint32_t)ratio_up(plan->buckets, (uint64_t)1 << sort->low_bits);
    sort->room = (uint32_t)smaller(
        usual_room(plan, sort->low_bits), shared_words(chip) - ((uint64_t)1 << sort->low_bits));
    sort->order_threads = order_threads(sort->room);
    plan_tiles(chip, plan);
    plan_digits(plan);
    plan_places(plan);
}

/* Tiles of about `wanted` scalars, in which sums in number keep to `most_sums`. */
static struct msm_tiling tile(
    const struct msm_plan *plan, uint64_t count, uint64_t wanted, uint64_t most_sums)
{
    uint64_t sums = larger(1, smaller(smaller(wanted / count, most_sums), plan->job.batch));
    uint64_t per_sum = sums > 1 ? 1 : ratio_up(count, wanted);

    return (struct msm_tiling){
        .tiles = (uint32_t)(ratio_up(plan->job.batch, sums) * per_sum),
        .per_sum = (uint32_t)per_sum,
        .sums = (uint32_t)sums,
        .scalars = (uint32_t)(sums > 1 ? sums * count : ratio_up(count, per_sum)),
    };
}

/* The most neighbouring sums whose partitions, `groups` sets of each, fit into `bins`. */
static uint64_t sums_in(const struct msm_plan *plan, uint64_t bins)
{
    uint64_t buckets = plan->groups * buckets_of_set(plan);

    return bins > 2 ? larger(1, ((bins - 2) << plan->sort.low_bits) / buckets) : 1;
}

void msm_sort_tile(const struct msm_chip *chip, const struct msm_plan *plan, uint64_t count,
    struct msm_tiling *scalars, struct msm_tiling *digits)
{
    const struct msm_sort_plan *sort = &plan->sort;
    uint64_t total = count * plan->job.batch;
    uint64_t blocks = (uint64_t)SCALAR_BLOCKS * chip->multiprocessors;
    uint64_t each =
        larger(SCALAR_THREADS, ratio_up(ratio_up(total, blocks), SCALAR_THREADS) * SCALAR_THREADS);

    *scalars = tile(plan, count, each, sort->scalar_bins ? sums_in(plan, sort->scalar_bins) : 1);
    *digits =
        tile(plan, count, (uint64_t)ITEMS * sort->digit_threads, sums_in(plan, sort->digit_bins));
}
