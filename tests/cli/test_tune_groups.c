/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates of devicepool tune for affine passes: each differs from the numbers that it is
 * compared with, passes can be turned on and off, and what lost at one size is not tried at smaller
 * ones.
 */
#include "tune_groups.h"

#include <stdlib.h>

#include "support/assert.h"

#include <devicepool.h>

static const uint64_t sizes[] = {1 << 18, 1 << 20, 1 << 22};

struct fixture {
    device_pool *pool;
    pool_tuning *numbers;
    struct tune_plan plan;
    struct tune_group group;
};

static void begin(struct fixture *fixture, const char *curve)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim"};
    pool_device *device = NULL;

    memset(fixture, 0, sizeof(*fixture));
    assert_int_equal(pool_create(&fixture->pool, &params), POOL_OK);
    assert_int_equal(pool_next_device(fixture->pool, &device), POOL_OK);
    assert_int_equal(pool_tuning_create(device, &fixture->numbers), POOL_OK);
    memcpy(fixture->plan.sizes.at, sizes, sizeof(sizes));
    fixture->plan.sizes.count = sizeof(sizes) / sizeof(sizes[0]);
    assert_int_equal(tune_plan_make(NULL, "msm", curve, &fixture->plan), CLI_GO);
}

static void end(struct fixture *fixture)
{
    pool_tuning_destroy(&fixture->numbers);
    assert_int_equal(pool_destroy(&fixture->pool), POOL_OK);
}

/* The index of the group of affine passes for a size. */
static size_t find(const struct fixture *fixture, uint64_t size)
{
    for (size_t i = 0; i < fixture->plan.count; i++)
        if (fixture->plan.groups[i].kind == TUNE_AFFINE && fixture->plan.groups[i].size == size)
            return i;
    fail_msg("no group for %llu", (unsigned long long)size);
    return 0;
}

/* The value that a candidate gives to msm.WIDTH.SUFFIX, or -1. */
static int64_t value_of(const struct tune_candidate *candidate, const char *suffix)
{
    for (size_t i = 0; i < candidate->count; i++)
        if (strcmp(strrchr(candidate->set[i].name, '.') + 1, suffix) == 0)
            return candidate->set[i].value;
    return -1;
}

/* Makes the group of a size and returns its number of candidates, each of which changes a number.
 */
static size_t make_group(struct fixture *fixture, uint64_t size)
{
    const struct tune_group *group = &fixture->group;

    if (!tune_plan_group(&fixture->plan, find(fixture, size), fixture->numbers, &fixture->group))
        return 0;
    for (size_t i = 0; i < group->candidate_count; i++) {
        bool differs = false;

        for (size_t j = 0; j < group->candidates[i].count; j++) {
            const struct tune_assignment *set = &group->candidates[i].set[j];
            uint32_t now = 0;

            assert_int_equal(pool_tuning_get(fixture->numbers, set->name, &now), POOL_OK);
            differs |= now != set->value;
        }
        assert_true(differs);
    }
    return group->candidate_count;
}

/* Candidate `winner` of the last group wins; -1: none does. */
static void settle(struct fixture *fixture, uint64_t size, int winner)
{
    if (winner >= 0)
        for (size_t i = 0; i < fixture->group.candidates[winner].count; i++) {
            const struct tune_assignment *set = &fixture->group.candidates[winner].set[i];

            assert_int_equal(pool_tuning_set(fixture->numbers, set->name, set->value), POOL_OK);
        }
    tune_plan_note(&fixture->plan, find(fixture, size), fixture->numbers);
}

/* BLS12-381 has two passes from 12 * 2^20 entries on: 2^20 terms, not 2^18. */
static void test_default_on(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture, "bls12_381_g1");
    assert_int_equal(make_group(&fixture, 1 << 22), 2);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 1);
    assert_int_equal(value_of(&fixture.group.candidates[1], "affine_passes"), -1);
    assert_int_equal(value_of(&fixture.group.candidates[1], "affine_min_entries"), 20 << 22);
    settle(&fixture, 1 << 22, -1);
    /* With passes at the larger size: without them at this one. */
    assert_int_equal(make_group(&fixture, 1 << 20), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), -1);
    settle(&fixture, 1 << 20, -1);
    /* Without passes now: with as many as the larger size. */
    assert_int_equal(make_group(&fixture, 1 << 18), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 2);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_min_entries"), 8 << 18);
    end(&fixture);
}

static void test_turned_off(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture, "bls12_381_g1");
    assert_int_equal(make_group(&fixture, 1 << 22), 2);
    settle(&fixture, 1 << 22, 0); /* one pass, from this size on */
    assert_int_equal(make_group(&fixture, 1 << 20), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 1);
    settle(&fixture, 1 << 20, 0);
    assert_int_equal(make_group(&fixture, 1 << 18), 1);
    end(&fixture);
    begin(&fixture, "bls12_381_g1");
    assert_int_equal(make_group(&fixture, 1 << 22), 2);
    settle(&fixture, 1 << 22, 1); /* none up to this size */
    assert_int_equal(make_group(&fixture, 1 << 20), 0);
    assert_int_equal(make_group(&fixture, 1 << 18), 0);
    end(&fixture);
}

/* BN254 has none. */
static void test_default_off(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture, "bn254_g1");
    assert_int_equal(make_group(&fixture, 1 << 22), 2);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 1);
    assert_int_equal(value_of(&fixture.group.candidates[1], "affine_passes"), 2);
    settle(&fixture, 1 << 22, 1);
    assert_int_equal(make_group(&fixture, 1 << 20), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 2);
    settle(&fixture, 1 << 20, -1);
    assert_int_equal(make_group(&fixture, 1 << 18), 0);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_default_on),
        cmocka_unit_test(test_turned_off), cmocka_unit_test(test_default_off)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
