/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choice of tuning parameters (devicepool/tuning.h) by measurement. tune.c decides and calls no
 * library function; tune_measure.c measures on a device.
 */
#ifndef BENCH_TUNE_H
#define BENCH_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench.h"

enum {
    TUNE_ASSIGNMENTS = 10,
    TUNE_CANDIDATES = 12,
    TUNE_CASES = 8,
    TUNE_NAME = 48,
    TUNE_MAX_REPEAT = 1000
};

/* A candidate's median must be at least this much shorter in one case, and must not be longer by
 * more than the second number in any. */
#define TUNE_MIN_GAIN 0.03
#define TUNE_MAX_LOSS 0.01

struct tune_assignment {
    char name[TUNE_NAME];
    uint32_t value;
};

/* Numbers that differ from the standard ones. */
struct tune_candidate {
    struct tune_assignment set[TUNE_ASSIGNMENTS];
    size_t count;
};

struct tune_case {
    const struct bench_operation *operation;
    struct bench_case spec;
};

/* Candidates for the same numbers, of which at most one wins, and what they are measured by. */
struct tune_group {
    char title[96];
    struct tune_candidate candidates[TUNE_CANDIDATES];
    size_t candidate_count;
    struct tune_case cases[TUNE_CASES];
    size_t case_count;
};

/* Seconds of interleaved runs of the standard numbers and of a candidate, in one case. */
struct tune_samples {
    double standard[TUNE_MAX_REPEAT];
    double candidate[TUNE_MAX_REPEAT];
    size_t count;
    bool is_equal; /* the candidate's result is that of the standard numbers, and is right */
};

/* What measures; `user` is the caller's. TUNE_SKIPPED: this case or candidate does not fit into
 * memory, or needs a compiler that is missing, which rules the candidate out. TUNE_STOPPED: time is
 * over. */
enum tune_result { TUNE_MEASURED, TUNE_SKIPPED, TUNE_STOPPED, TUNE_FAILED };
typedef enum tune_result (*tune_measure)(void *user, const struct tune_group *group,
    size_t candidate, size_t index_of_case, struct tune_samples *samples);

/* Why a group ended. */
enum tune_verdict {
    TUNE_KEEPS,       /* no candidate is faster */
    TUNE_WINS,        /* outcome.winner is */
    TUNE_NOT_MEASURED /* time was over before any was compared */
};

struct tune_outcome {
    enum tune_verdict verdict;
    size_t winner;
    size_t wrong;                /* candidates with other results */
    size_t skipped;              /* that did not fit */
    double standard[TUNE_CASES]; /* medians when the winner was measured again */
    double candidate[TUNE_CASES];
};

/* 1 - median(candidate) / median(standard): positive where the candidate is faster. Samples that
 * are not positive say nothing: 0. Sorts them. */
double tune_gain(struct tune_samples *samples);

/* Whether these gains, one for each case, let a candidate win. */
bool tune_accepts(const double *gains, size_t count);

/*
 * Measures all candidates of a group and chooses one: right in all cases, accepted by its gains,
 * and accepted again in a second measurement; of several the one with the largest mean gain. False:
 * measuring failed.
 */
bool tune_decide(
    const struct tune_group *group, tune_measure measure, void *user, struct tune_outcome *outcome);

/* ---- tune_measure.c -------------------------------------------------------------------------- */

/* A job over one device, from and to pinned host memory. */
struct tune_exec {
    pool_device *device;
    pool_exec exec;
};

/* Runs on one device of two pools, of which one has the numbers of a candidate. */
struct tune_device {
    pool_params params;   /* of the pools, without numbers */
    size_t index;         /* of the device in them */
    pool_tuning *numbers; /* the standard ones, with the winners until now */
    uint64_t repeat;
    double (*now)(void *user); /* seconds; ends the measurement at `end`; NULL: bench_now */
    void *now_user;
    double end;
    bool is_over;
    void (*on_stage)(void *user, const struct tune_group *group, size_t candidate, size_t index);
    void *user;
    pool_status status; /* of the failure, as is the next */
    char failure[2048];
    /* The case that is open with the standard numbers; case_group NULL: none. */
    const struct tune_group *case_group;
    size_t case_index;
    device_pool *pool;
    struct bench_run run;
    struct tune_exec exec;
};

/* A tune_measure, whose user is a struct tune_device. */
enum tune_result tune_measure_on_device(void *device, const struct tune_group *group,
    size_t candidate, size_t index_of_case, struct tune_samples *samples);

/* Sets the numbers of a candidate. */
pool_status tune_assign(pool_tuning *numbers, const struct tune_candidate *candidate);

/* Ends the open case. */
void tune_device_close(struct tune_device *device);

#endif
