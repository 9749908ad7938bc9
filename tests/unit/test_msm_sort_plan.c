/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of the MSM's sort in thousands of combinations: everything fits into the chip, tiles
 * cover every scalar once, and no tile meets more partitions than it has counters for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/assert.h"

#include "zk/msm/msm.h"

enum { ITEMS = 16, OWN_SHARED = 512 /* at most, of the kernels themselves */ };

static const struct chip chips[] = {
    {.multiprocessors = 132, .shared_bytes = 227 << 10},
    {.multiprocessors = 108, .shared_bytes = 163 << 10},
    {.multiprocessors = 84, .shared_bytes = 99 << 10},
    {.multiprocessors = 40, .shared_bytes = 64 << 10},
    {.multiprocessors = 1, .shared_bytes = 48 << 10},
};

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int make(const struct chip *chip, uint32_t bits, uint32_t c, uint32_t levels, uint64_t count,
    uint64_t batch, struct msm_plan *plan)
{
    memset(plan, 0, sizeof(*plan));
    plan->job = (struct msm_job){.order_bits = bits,
        .scalar_words = (bits + 63) / 64 * 2,
        .count = count,
        .chunk_count = count,
        .batch = batch};
    plan->window_bits = c;
    plan->negates_large = 1;
    plan->windows = (bits + c - 1) / c;
    plan->job.precompute_factor = (uint32_t)at_most(levels, plan->windows);
    plan->sets_per_msm =
        (plan->windows + plan->job.precompute_factor - 1) / plan->job.precompute_factor;
    plan->bucket_sets = batch * plan->sets_per_msm;
    plan->buckets = plan->bucket_sets << (c - 1);
    plan->entries = count * batch * plan->windows;
    if (plan->bucket_sets > INT32_MAX || plan->buckets > INT32_MAX || plan->entries > UINT32_MAX)
        return 0;
    msm_sort_plan_make(chip, plan);
    return 1;
}

/* As tile_at in ptx/msm/sort.cuh has it. */
static uint64_t check_tiles(
    const struct msm_plan *plan, uint64_t count, const struct msm_tiling *tiling, uint64_t sets)
{
    const struct msm_sort_plan *sort = &plan->sort;
    uint64_t next = 0, most_bins = 0, half = (uint64_t)1 << (plan->window_bits - 1);
    uint32_t step = tiling->tiles > 40 ? tiling->tiles / 20 : 1;

    assert_true(tiling->tiles_per_msm == 1 || tiling->msms_per_tile == 1);
    for (uint32_t tile = 0; tile < tiling->tiles; tile++) {
        uint64_t sum = (uint64_t)tile / tiling->tiles_per_msm * tiling->msms_per_tile;
        uint64_t end = at_most(sum + tiling->msms_per_tile, plan->job.batch);
        uint64_t first =
            sum * count + tile % tiling->tiles_per_msm * (uint64_t)tiling->scalars_per_tile;
        uint64_t length = at_most(end * count - first, tiling->scalars_per_tile);
        uint64_t start = sum * plan->sets_per_msm * half;
        uint64_t stop = ((end - 1) * plan->sets_per_msm + sets) * half;
        uint64_t bins = ((stop - 1) >> sort->log_partition) - (start >> sort->log_partition) + 1;

        assert_true(first == next || tile > 1);
        assert_between(length, 1, UINT32_MAX);
        assert_true(sum < plan->job.batch);
        assert_true(first + length <= end * count);
        most_bins = bins > most_bins ? bins : most_bins;
        next = first + length;
        /* Long lists: the beginning, some in the middle, the end. */
        if (tiling->tiles > 40 && tile > 20 && tile + 20 < tiling->tiles)
            tile += (uint32_t)at_most(step, tiling->tiles - 20 - tile) - 1;
    }
    assert_int_equal(next, count * plan->job.batch);
    return most_bins;
}

static void check_part(const struct chip *chip, const struct msm_plan *plan, uint64_t count)
{
    const struct msm_sort_plan *sort = &plan->sort;
    struct msm_tiling scalars, digits;

    msm_sort_tile(chip, plan, count, &scalars, &digits);
    uint64_t bins = check_tiles(plan, count, &scalars, plan->sets_per_msm);
    if (sort->scalar_bins)
        assert_between(bins, 1, sort->scalar_bins);
    assert_between(check_tiles(plan, count, &digits, 1), 1, sort->digit_bins);
    assert_between(digits.scalars_per_tile, 1, ITEMS * sort->digit_threads);
    assert_between((uint64_t)digits.tiles * plan->windows, 1, INT32_MAX);
}

static void check(const struct chip *chip, const struct msm_plan *plan)
{
    const struct msm_sort_plan *sort = &plan->sort;
    uint64_t lows = (uint64_t)1 << sort->log_partition, at;

    assert_between(sort->log_partition, 0, 16);
    assert_true(sort->partitions * lows >= plan->buckets);
    assert_true((sort->partitions - 1) * lows < plan->buckets);
    /* shared memory and blocks */
    assert_between(4 * (sort->scalar_bins + 256 * (plan->job.scalar_words + (uint64_t)1)), 1,
        chip->shared_bytes - OWN_SHARED);
    assert_between(8 * (sort->digit_bins + ITEMS * (uint64_t)sort->digit_threads), 1,
        chip->shared_bytes - OWN_SHARED);
    assert_between(4 * (lows + sort->block_capacity), 1, chip->shared_bytes - OWN_SHARED);
    assert_between(8 * (lows + sort->slice_entries), 1, chip->shared_bytes - OWN_SHARED);
    assert_true(sort->digit_threads >= 32 && sort->digit_threads <= 1024);
    assert_true(
        sort->bucket_threads == 256 || sort->bucket_threads == 512 || sort->bucket_threads == 1024);
    assert_true(sort->slice_entries >= 32 * ITEMS && sort->slice_entries % (32 * ITEMS) == 0);
    assert_between(sort->slice_entries, 1, 256 * ITEMS);
    assert_true(sort->scalar_bins != 0 || sort->digit_bytes == 4);
    /* digits: 0 ... 2^c, or one less */
    assert_true(sort->max_top_digit <= 1u << (plan->window_bits - 1));
    assert_true(sort->digit_bytes == 4 ||
                sort->max_top_digit + (1u << (plan->window_bits - 1)) <= UINT16_MAX);
    /* scratch, in order */
    assert_true(sort->max_oversized >= plan->entries / (sort->block_capacity + (uint64_t)1) ||
                sort->max_oversized == sort->partitions);
    at = 4 * (sort->partitions + (uint64_t)3);
    assert_true(sort->oversized_at >= at && sort->oversized_at % 256 == 0);
    assert_true(sort->partitioned_entries_at >= sort->oversized_at + 12 * sort->max_oversized);
    assert_true(sort->partitioned_buckets_at >= sort->partitioned_entries_at + 4 * plan->entries);
    assert_true(sort->bytes >= sort->partitioned_buckets_at + 2 * plan->entries);
    assert_true(sort->bytes <= 6 * plan->entries + 4 * (uint64_t)sort->partitions +
                                   12 * sort->max_oversized + 2048);
}

static void test_all(void **state)
{
    static const uint32_t orders[] = {31, 64, 252, 253, 254, 255, 256, 377, 753};
    static const uint64_t counts[] = {
        1, 2, 3, 100, 1 << 10, 12345, 1 << 16, (1 << 20) + 7, 1 << 24, 1 << 27};
    static const uint64_t batches[] = {1, 2, 16, 1000, 65536, 3000000};
    static const uint32_t levels[] = {1, 3, 1000};
    struct msm_plan plan;
    uint64_t made = 0;

    (void)state;
    for (size_t chip = 0; chip < 5; chip++)
        for (size_t order = 0; order < 9; order++)
            for (uint32_t c = 2; c <= 24; c++)
                for (size_t i = 0; i < 10 * 6 * 3; i++) {
                    uint64_t count = counts[i % 10];
                    if (!make(&chips[chip], orders[order], c, levels[i / 60], count,
                            batches[i / 10 % 6], &plan))
                        continue;
                    check(&chips[chip], &plan);
                    check_part(&chips[chip], &plan, count);
                    check_part(&chips[chip], &plan, (count + 2) / 3); /* a last, smaller part */
                    made++;
                }
    assert_between(made, 50000, 1000000);
}

/* What the usual jobs get: digits of two bytes where they fit, and partitions of a good size. */
static void test_usual(void **state)
{
    struct msm_plan plan;

    (void)state;
    assert_true(make(&chips[0], 254, 16, 1, 1 << 20, 1, &plan));
    assert_int_equal(plan.sort.digit_bytes, 2);
    assert_between(plan.entries / plan.sort.partitions, 1024, 8192);
    assert_true(make(&chips[0], 256, 16, 1, 1 << 20, 1, &plan)); /* the top digit can be 2^15 */
    assert_int_equal(plan.sort.digit_bytes, 4);
    assert_int_equal(plan.sort.max_top_digit, 1 << 15);
    assert_true(make(&chips[0], 254, 20, 1, 1 << 24, 1, &plan));
    assert_int_equal(plan.sort.digit_bytes, 4);
    assert_between(plan.entries / plan.sort.partitions, 4096, 32768);
    assert_true(make(&chips[0], 254, 13, 1, 1 << 16, 1, &plan));
    assert_between(plan.sort.partitions, 2 * 132, 8 * 132);
    assert_true(make(
        &chips[0], 254, 22, 1000, 1 << 24, 1, &plan)); /* precomputed multiples: one bucket set */
    assert_between(plan.entries / plan.sort.partitions, 4096, plan.sort.block_capacity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_usual)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
