/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates of devicepool tune for affine passes: each differs from the numbers that it is
 * compared with, in the plans of simulated devices too, passes can be turned on and off, and what
 * lost at one size is not tried at smaller ones.
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

static void begin_sizes(
    struct fixture *fixture, const char *curve, const uint64_t *planned, size_t count)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:1,mem=128G"};
    pool_device *device = NULL;

    memset(fixture, 0, sizeof(*fixture));
    assert_int_equal(pool_create(&fixture->pool, &params), POOL_OK);
    assert_int_equal(pool_next_device(fixture->pool, &device), POOL_OK);
    assert_int_equal(pool_tuning_create(device, &fixture->numbers), POOL_OK);
    memcpy(fixture->plan.sizes.at, planned, count * sizeof(*planned));
    fixture->plan.sizes.count = count;
    assert_int_equal(tune_plan_make(NULL, "msm", curve, &fixture->plan), CLI_GO);
}

static void begin(struct fixture *fixture, const char *curve)
{
    begin_sizes(fixture, curve, sizes, sizeof(sizes) / sizeof(sizes[0]));
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
static void settle(struct fixture *fixture, int winner)
{
    if (winner >= 0)
        for (size_t i = 0; i < fixture->group.candidates[winner].count; i++) {
            const struct tune_assignment *set = &fixture->group.candidates[winner].set[i];

            assert_int_equal(pool_tuning_set(fixture->numbers, set->name, set->value), POOL_OK);
        }
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
    assert_int_equal(value_of(&fixture.group.candidates[1], "affine_min_entries"), 18 << 22);
    settle(&fixture, -1);
    /* With passes at the larger size: without them at this one. */
    assert_int_equal(make_group(&fixture, 1 << 20), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), -1);
    settle(&fixture, -1);
    /* Without passes now: with as many as the larger size. */
    assert_int_equal(make_group(&fixture, 1 << 18), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 2);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_min_entries"), 13 << 18);
    end(&fixture);
}

static void test_turned_off(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture, "bls12_381_g1");
    assert_int_equal(make_group(&fixture, 1 << 22), 2);
    settle(&fixture, 0); /* one pass, from this size on */
    assert_int_equal(make_group(&fixture, 1 << 20), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 1);
    settle(&fixture, 0);
    assert_int_equal(make_group(&fixture, 1 << 18), 1);
    end(&fixture);
    begin(&fixture, "bls12_381_g1");
    assert_int_equal(make_group(&fixture, 1 << 22), 2);
    settle(&fixture, 1); /* none up to this size */
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
    settle(&fixture, 1);
    assert_int_equal(make_group(&fixture, 1 << 20), 1);
    assert_int_equal(value_of(&fixture.group.candidates[0], "affine_passes"), 2);
    settle(&fixture, -1);
    assert_int_equal(make_group(&fixture, 1 << 18), 0);
    end(&fixture);
}

/* Whether MSMs of this size on the device have affine passes, which take memory. */
static bool has_passes(const pool_tuning *numbers, const char *curve, uint64_t size)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:1,mem=128G", .tuning = numbers};
    pool_msm_params msm = {.struct_size = sizeof(msm), .curve = pool_curve_by_name(curve)};
    const pool_span points = {
        .count = size, .form = POOL_FORM_MONTGOMERY, .space = POOL_MEMORY_DEVICE};
    const pool_span scalars = {.count = size, .space = POOL_MEMORY_DEVICE}, result = {.count = 1};
    pool_exec exec = {.struct_size = sizeof(exec)};
    uint64_t chosen = 0, without = 0;
    device_pool *pool = NULL;

    assert_int_equal(pool_create(&pool, &params), POOL_OK);
    assert_int_equal(pool_next_device(pool, &exec.device), POOL_OK);
    assert_int_equal(pool_msm_workspace(&msm, &exec, &points, &scalars, &result, &chosen), POOL_OK);
    msm.affine_passes = POOL_AFFINE_NONE;
    assert_int_equal(
        pool_msm_workspace(&msm, &exec, &points, &scalars, &result, &without), POOL_OK);
    assert_int_equal(pool_destroy(&pool), POOL_OK);
    return chosen != without;
}

/* Sets the numbers of a candidate of the last group. */
static void take(struct fixture *fixture, size_t index)
{
    assert_int_equal(tune_assign(fixture->numbers, &fixture->group.candidates[index]), POOL_OK);
}

static void set_number(struct fixture *fixture, const char *curve, const char *suffix, uint32_t to)
{
    const uint64_t width = pool_point_bytes(pool_curve_by_name(curve), POOL_POINT_AFFINE) / 8;
    char name[2 * TUNE_NAME];

    snprintf(name, sizeof(name), "msm.%llu.%s", (unsigned long long)width, suffix);
    assert_int_equal(pool_tuning_set(fixture->numbers, name, to), POOL_OK);
}

/* The candidates turn the passes of plans on and off, for every width of coordinates, without doing
 * so for half and twice the size. */
static void test_plans(void **state)
{
    static const char *const curves[] = {"bn254_g1", "bls12_381_g1", "bn254_g2", "bw6_761_g1"};

    (void)state;
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            struct fixture fixture;

            begin_sizes(&fixture, curves[i], &sizes[k], 1);
            set_number(&fixture, curves[i], "affine_passes", 0);
            set_number(&fixture, curves[i], "affine_min_bucket_entries", 0);
            assert_false(has_passes(fixture.numbers, curves[i], sizes[k]));
            assert_int_equal(make_group(&fixture, sizes[k]), 2);
            take(&fixture, 1);
            assert_true(has_passes(fixture.numbers, curves[i], sizes[k]));
            assert_false(has_passes(fixture.numbers, curves[i], sizes[k] / 2));
            assert_int_equal(make_group(&fixture, sizes[k]), 2);
            take(&fixture, 1);
            assert_false(has_passes(fixture.numbers, curves[i], sizes[k]));
            assert_true(has_passes(fixture.numbers, curves[i], 2 * sizes[k]));
            end(&fixture);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_default_on),
        cmocka_unit_test(test_turned_off), cmocka_unit_test(test_default_off),
        cmocka_unit_test(test_plans)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
