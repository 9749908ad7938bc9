/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of transforms for thousands of sizes, batches and chips: what has to hold of every one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ntt/ntt.h"

static const struct ntt_chip chips[] = {
    {.multiprocessors = 1, .shared_bytes = 48 << 10},
    {.multiprocessors = 108, .shared_bytes = 163 << 10},
    {.multiprocessors = 132, .shared_bytes = 227 << 10},
    {.multiprocessors = 170, .shared_bytes = 99 << 10},
};
static const uint32_t words[] = {1, 2, 4, 8, 12, 24};

static void check_trip(const struct ntt_tuning *tuning, const struct ntt_chip *chip,
    const struct ntt_job *job, const struct ntt_trip *trip)
{
    uint32_t tile = trip->bits + trip->log_columns;

    assert_in_range(tile, tuning->radix, tuning->radix + tuning->log_threads);
    assert_int_equal(trip->threads, 1u << (tile - tuning->radix));
    assert_true(trip->shared_bytes <= chip->shared_bytes);
    assert_true(trip->shared_bytes >= ((uint64_t)job->words * 4) << tile);
    assert_int_equal(trip->columns, job->batch << (job->log_size - trip->bits));
    assert_true((uint64_t)trip->blocks << trip->log_columns >= trip->columns);
    assert_true((uint64_t)(trip->blocks - 1) << trip->log_columns < trip->columns);
    assert_true(trip->lower_columns <= trip->log_columns);
    /* Straight from memory goes only what lies there in the order of the threads. */
    if (trip->flags & NTT_LOAD_DIRECT)
        assert_false(trip->flags & (NTT_GATHER | NTT_COSET_IN));
    if (trip->flags & NTT_STORE_DIRECT)
        assert_false(trip->flags & NTT_COSET_OUT);
    if (trip->flags & (NTT_LOAD_DIRECT | NTT_STORE_DIRECT))
        assert_true(trip->bits >= tuning->radix);
    assert_int_equal((trip->flags & NTT_HANDS_ON) != 0,
        trip->blocks > (uint64_t)tuning->blocks * chip->multiprocessors);
}

static void check_plan(
    const struct ntt_tuning *tuning, const struct ntt_chip *chip, const struct ntt_job *job)
{
    struct ntt_plan plan;
    uint32_t done = 0, gathers = 0, scatters = 0;
    int takes_reversed = job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;
    int gives_natural = job->order == POOL_NTT_NN || job->order == POOL_NTT_RN;

    assert_true(ntt_plan_make(tuning, chip, job, &plan));
    assert_in_range(plan.count, 1, NTT_MAX_PASSES);
    for (uint32_t i = 0; i < plan.count; i++) {
        assert_int_equal(plan.trip[i].before, done);
        done += plan.trip[i].bits;
        gathers += (plan.trip[i].flags & NTT_GATHER) != 0;
        scatters += (plan.trip[i].flags & NTT_SCATTER) != 0;
        check_trip(tuning, chip, job, &plan.trip[i]);
    }
    assert_int_equal(done, job->log_size);
    assert_int_equal(gathers, takes_reversed);
    assert_int_equal(scatters, gives_natural);
    assert_int_equal((plan.trip[0].flags & NTT_COSET_IN) != 0, job->coset_in);
    assert_int_equal((plan.trip[plan.count - 1].flags & NTT_COSET_OUT) != 0, job->coset_out);
    /* In place and out of place: a workspace exactly where a trip would read what it wrote. */
    assert_int_equal(
        ntt_run_needs_workspace(&plan, 1, 0), plan.count > 1 && (takes_reversed || gives_natural));
    if (job->order == POOL_NTT_NR)
        assert_false(ntt_run_needs_workspace(&plan, 0, 0));
}

static void test_plans(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++)
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            for (uint32_t way = 0; way < 16; way++)
                for (uint32_t log_size = 0; log_size <= 30; log_size++) {
                    const struct ntt_job job = {.words = words[w],
                        .log_size = log_size,
                        .batch = way & 8 ? 1 + 3 * way : 1,
                        .order = (pool_ntt_order)(way & 3),
                        .layout = (pool_ntt_layout)(way >> 2 & 1),
                        .coset_in = way % 3 == 0,
                        .coset_out = way % 3 == 1};

                    struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[c]);

                    check_plan(&tuning, &chips[c], &job);
                }
        }
}

/* More blocks than a grid has. */
static void test_too_many(void **state)
{
    const struct ntt_job job = {.words = 8, .log_size = 12, .batch = (uint64_t)1 << 45};
    struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[2]);
    struct ntt_plan plan;

    (void)state;
    assert_false(ntt_plan_make(&tuning, &chips[2], &job, &plan));
}

static void test_tables(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
        for (uint32_t log_size = 0; log_size <= POOL_NTT_MAX_LOG_SIZE; log_size++) {
            const struct ntt_job job = {.words = words[w], .log_size = log_size, .batch = 1};
            struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[2]);
            struct ntt_table_layout layout;

            ntt_table_layout_make(&tuning, log_size, &layout);
            assert_int_equal(layout.high_bits + layout.low_bits, log_size);
            assert_true(layout.levels <= log_size);
            assert_true(layout.high - layout.roots >= (uint64_t)2 << layout.levels);
            assert_true(layout.low - layout.high >= (uint64_t)1 << layout.high_bits);
            assert_true(layout.total - layout.squares >= (uint64_t)5 * NTT_SQUARES);
        }
}

/* Which sizes are tuned apart, and that a batch of one of them may not be. */
static void test_tunings(void **state)
{
    static const struct {
        uint32_t words, log_size;
        uint64_t batch;
        uint32_t radix, trips;
    } cases[] = {{8, 16, 1, 1, 2}, {8, 16, 2, 2, 2}, {8, 14, 4, 1, 2}, {8, 17, 1, 2, 3},
        {8, 9, 132, 1, 1}, {8, 9, 133, 2, 1}, {2, 20, 1, 5, 2}, {2, 20, 1000, 5, 2},
        {2, 18, 1, 4, 2}, {2, 21, 1, 4, 3}, {2, 28, 1, 5, 3}, {1, 20, 1, 5, 2}, {12, 16, 1, 2, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ntt_job job = {
            .words = cases[i].words, .log_size = cases[i].log_size, .batch = cases[i].batch};
        struct ntt_tuning tuning = ntt_tuning_for(&job, &chips[2]);
        struct ntt_plan plan;

        assert_int_equal(tuning.radix, cases[i].radix);
        assert_true(ntt_plan_make(&tuning, &chips[2], &job, &plan));
        assert_int_equal(plan.count, cases[i].trips);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans), cmocka_unit_test(test_tunings),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_tables)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
