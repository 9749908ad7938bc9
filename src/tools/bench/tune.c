/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which candidate wins: pure, but for the measurements that it asks for.
 */
#include "tune.h"

#include <stdlib.h>

double tune_gain(struct tune_samples *samples)
{
    double standard, candidate;

    if (!samples->count)
        return 0;
    standard = bench_median(samples->standard, samples->count);
    candidate = bench_median(samples->candidate, samples->count);
    return standard > 0 && candidate > 0 ? 1 - candidate / standard : 0;
}

bool tune_accepts(const double *gains, size_t count)
{
    bool is_faster = false;

    for (size_t i = 0; i < count; i++) {
        if (!(gains[i] >= -TUNE_MAX_LOSS))
            return false;
        is_faster = is_faster || gains[i] >= TUNE_MIN_GAIN;
    }
    return is_faster;
}

/* The measurement of a group in progress. */
struct contest {
    const struct tune_group *group;
    tune_measure measure;
    void *user;
    struct tune_outcome *outcome;
    struct tune_samples *samples;
};

/* Measures a candidate in all cases; it need not be measured further once it has lost one. */
static enum tune_result measure_candidate(struct contest *contest, size_t candidate, double *mean)
{
    double gains[TUNE_CASES] = {0};

    *mean = 0;
    for (size_t i = 0; i < contest->group->case_count; i++) {
        struct tune_samples *samples = contest->samples;
        enum tune_result result;

        samples->count = 0;
        samples->is_equal = false;
        result = contest->measure(contest->user, contest->group, candidate, i, samples);
        if (result != TUNE_MEASURED)
            return result;
        if (!samples->is_equal) {
            contest->outcome->wrong++;
            return TUNE_SKIPPED;
        }
        gains[i] = tune_gain(samples);
        contest->outcome->standard[i] = bench_median(samples->standard, samples->count);
        contest->outcome->candidate[i] = bench_median(samples->candidate, samples->count);
        *mean += gains[i] / (double)contest->group->case_count;
        if (gains[i] < -TUNE_MAX_LOSS)
            break;
    }
    if (!tune_accepts(gains, contest->group->case_count))
        *mean = -1;
    return TUNE_MEASURED;
}

/* The accepted candidate with the largest mean; false: none is left. */
static bool find_best(const double *means, size_t count, size_t *best)
{
    bool is_found = false;

    for (size_t i = 0; i < count; i++)
        if (means[i] > 0 && (!is_found || means[i] > means[*best])) {
            *best = i;
            is_found = true;
        }
    return is_found;
}

static bool run_contest(struct contest *contest)
{
    const size_t count = contest->group->candidate_count;
    struct tune_outcome *outcome = contest->outcome;
    double means[TUNE_CANDIDATES] = {0}, again;
    size_t measured = 0, best = 0;
    bool is_over = false;

    for (size_t i = 0; i < count && !is_over; i++) {
        const size_t wrong = outcome->wrong;
        enum tune_result result = measure_candidate(contest, i, &means[i]);

        if (result == TUNE_FAILED)
            return false;
        is_over = result == TUNE_STOPPED;
        measured += result == TUNE_MEASURED;
        outcome->skipped += result == TUNE_SKIPPED && outcome->wrong == wrong;
        if (result != TUNE_MEASURED)
            means[i] = 0;
    }
    outcome->verdict = measured ? TUNE_KEEPS : TUNE_NOT_MEASURED;
    while (!is_over && find_best(means, count, &best)) {
        enum tune_result result = measure_candidate(contest, best, &again);

        if (result == TUNE_FAILED)
            return false;
        is_over = result == TUNE_STOPPED;
        if (result == TUNE_MEASURED && again > 0) {
            outcome->verdict = TUNE_WINS;
            outcome->winner = best;
            break;
        }
        means[best] = 0;
    }
    return true;
}

bool tune_decide(
    const struct tune_group *group, tune_measure measure, void *user, struct tune_outcome *outcome)
{
    struct contest contest = {.group = group,
        .measure = measure,
        .user = user,
        .outcome = outcome,
        .samples = bench_alloc(1, sizeof(*contest.samples))};
    bool is_done;

    *outcome = (struct tune_outcome){.verdict = TUNE_NOT_MEASURED};
    is_done = run_contest(&contest);
    free(contest.samples);
    return is_done;
}
