/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which candidate wins when numbers are tuned: with made-up measurements, and on a simulated device
 * with a clock of the test's.
 */
#include "tools/bench/tune.h"

#include <stdlib.h>

#include "support/ntt.h"

static void test_gain(void **state)
{
    struct tune_samples *samples = calloc(1, sizeof(*samples));
    const double standard[] = {10, 99, 10}, candidate[] = {8, 8, 1};

    (void)state;
    assert_true(tune_gain(samples) == 0); /* none */
    memcpy(samples->standard, standard, sizeof(standard));
    memcpy(samples->candidate, candidate, sizeof(candidate));
    samples->count = 3;
    assert_true(tune_gain(samples) > 0.199 && tune_gain(samples) < 0.201);
    for (int i = 0; i < 3; i++)
        samples->standard[i] = 0;
    assert_true(tune_gain(samples) == 0); /* a clock that stands still */
    free(samples);
}

static void test_accepts(void **state)
{
    (void)state;
    assert_true(tune_accepts((double[]){0.03}, 1));
    assert_false(tune_accepts((double[]){0.0299}, 1));
    assert_true(tune_accepts((double[]){0, 0.5, -0.01}, 3));
    assert_false(tune_accepts((double[]){0, 0.5, -0.011}, 3));
    assert_false(tune_accepts((double[]){0.0 / 1.0, 0.02}, 2));
    assert_false(tune_accepts((double[]){1, __builtin_nan("")}, 2));
    assert_false(tune_accepts(NULL, 0));
}

/* Seconds of each candidate in each of two cases, where the standard takes 100. */
struct fake {
    double seconds[4][2];
    double again;   /* of the second measurement of a candidate; 0: the same */
    size_t wrong;   /* this candidate's result differs; 4: none */
    size_t skipped; /* this one does not fit */
    unsigned calls, stop_at, measured[4];
};

static enum tune_result measure_fake(void *user, const struct tune_group *group, size_t candidate,
    size_t index, struct tune_samples *samples)
{
    struct fake *fake = user;

    assert_true(candidate < group->candidate_count && index < group->case_count);
    if (++fake->calls == fake->stop_at)
        return TUNE_STOPPED;
    if (candidate == fake->skipped)
        return TUNE_SKIPPED;
    samples->count = 1;
    samples->standard[0] = 100;
    samples->candidate[0] = fake->seconds[candidate][index];
    if (index == 0 && fake->measured[candidate]++ && fake->again > 0)
        samples->candidate[0] = fake->again;
    samples->is_equal = candidate != fake->wrong;
    return TUNE_MEASURED;
}

static struct tune_outcome decide(struct fake fake)
{
    static const struct tune_group group = {.candidate_count = 4, .case_count = 2};
    struct tune_outcome outcome;

    assert_true(tune_decide(&group, measure_fake, &fake, &outcome));
    return outcome;
}

static void test_decide(void **state)
{
    struct fake fake = {
        .seconds = {{100, 100}, {98, 98}, {60, 102}, {90, 100}}, .wrong = 4, .skipped = 4};
    struct tune_outcome outcome = decide(fake);

    (void)state;
    /* 0 is equal, 1 gains 2 %, 2 loses in one case, 3 gains in one and loses in none. */
    assert_int_equal(outcome.verdict, TUNE_WINS);
    assert_int_equal(outcome.winner, 3);
    assert_true(outcome.standard[0] == 100 && outcome.candidate[0] == 90);
    fake.wrong = 3;
    outcome = decide(fake);
    assert_int_equal(outcome.verdict, TUNE_KEEPS);
    assert_int_equal(outcome.wrong, 1);
    fake.wrong = 4;
    fake.skipped = 3;
    outcome = decide(fake);
    assert_int_equal(outcome.verdict, TUNE_KEEPS);
    assert_int_equal(outcome.skipped, 1);
    /* The larger gain wins; if it does not show again, the next. */
    fake.skipped = 4;
    fake.seconds[1][0] = 50;
    assert_int_equal(decide(fake).winner, 1);
    fake.again = 99;
    assert_int_equal(decide(fake).verdict, TUNE_KEEPS);
    /* Time is over before the first comparison, or before the second measurement. */
    fake.again = 0;
    for (unsigned stop = 1; stop <= 9; stop++) {
        fake.stop_at = stop;
        assert_int_equal(decide(fake).verdict, stop <= 2 ? TUNE_NOT_MEASURED : TUNE_KEEPS);
    }
    fake.stop_at = 11;
    assert_int_equal(decide(fake).verdict, TUNE_WINS);
}

static enum tune_result fail_to_measure(void *user, const struct tune_group *group,
    size_t candidate, size_t index, struct tune_samples *samples)
{
    (void)user, (void)group, (void)candidate, (void)index, (void)samples;
    return TUNE_FAILED;
}

static void test_failure(void **state)
{
    static const struct tune_group group = {.candidate_count = 1, .case_count = 1};
    struct tune_outcome outcome;

    (void)state;
    assert_false(tune_decide(&group, fail_to_measure, NULL, &outcome));
}

/* ---- on a simulated device ------------------------------------------------------------------- */

static double clock_of_test(void *user)
{
    return ++*(double *)user;
}

/* Copies: times mean nothing, but results are compared, and the clock ends it. */
static void test_device(void **state)
{
    double now = 0;
    struct tune_device tuned = {.params = {.struct_size = sizeof(pool_params), .devices = "sim"},
        .repeat = 3,
        .now = clock_of_test,
        .now_user = &now,
        .end = 3};
    static const struct tune_group group = {
        .candidates = {{.set = {{"copy.chunk_bytes", 4096}}, .count = 1},
            {.set = {{"copy.helpers", 0}, {"copy.slots", 2}}, .count = 2}},
        .candidate_count = 2,
        .cases = {{&bench_copy, {.subject = "to-device", .size = 300000}}},
        .case_count = 1};
    static const struct tune_group unknown = {
        .candidates = {{.set = {{"copy.chunks", 4096}}, .count = 1}},
        .candidate_count = 1,
        .cases = {{&bench_copy, {.subject = "to-host", .size = 10}}},
        .case_count = 1};
    struct tune_samples *samples = calloc(1, sizeof(*samples));

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(tune_measure_on_device(&tuned, &group, i, 0, samples), TUNE_MEASURED);
        assert_true(samples->is_equal);
        assert_int_equal(samples->count, 3);
    }
    assert_int_equal(tune_measure_on_device(&tuned, &group, 0, 0, samples), TUNE_STOPPED);
    assert_true(tuned.is_over);
    tuned.is_over = false;
    tuned.end = 1000;
    assert_int_equal(tune_measure_on_device(&tuned, &unknown, 0, 0, samples), TUNE_FAILED);
    assert_int_equal(tuned.status, POOL_ERR_NOT_FOUND);
    tune_device_close(&tuned);
    tune_device_close(&tuned);
    free(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gain), cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_decide), cmocka_unit_test(test_failure),
        cmocka_unit_test(test_device)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
