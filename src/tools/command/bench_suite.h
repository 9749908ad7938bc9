/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench --suite: the rows of docs/performance.md.
 */
#ifndef CLI_BENCH_SUITE_H
#define CLI_BENCH_SUITE_H

#include "cli.h"
#include "suite.h"

/* The largest factor by which a row may be slower than in the report that --compare names. */
#define SUITE_MAX_RATIO 1.02

/* The longest time that a launch of a row may take, in seconds: prediction is to 25 %. */
#define SUITE_MAX_LAUNCH (1.25e-9 * (double)POOL_SLICE_NS)

struct cli_suite {
    const char *groups; /* comma-separated; NULL: all */
    uint64_t scale;     /* sizes of at most 2^scale; 0: as they are */
    const char *output;
    const char *compare;
    const char *label;
    int shows_launches; /* the launches of each row instead of its figure */
    int checks;         /* fails where one exceeds SUITE_MAX_LAUNCH */
    uint64_t repeat;
    uint64_t warm_ups;
    uint64_t timeout; /* seconds */
};

/* Measures the selected rows. Returns an exit code. */
int cli_run_suite(
    const struct cli_command *self, const struct cli_suite *options, const struct cli_line *line);

/* ---- bench_suite_report.c ---- */

/* What is known about a row once it was measured, or why it was not. */
struct cli_suite_result {
    enum { SUITE_NOT_RUN, SUITE_MEASURED, SUITE_WRONG, SUITE_FAILED, SUITE_SKIPPED } outcome;
    double figure;
    double best, worst; /* of the runs */
    double first_use;   /* seconds; 0: not measured */
    double target;      /* 0: none */
    double old;         /* of --compare; 0: none */
    double seconds;     /* that the whole measurement took */
    uint64_t runs;
    struct bench_launches launches;
    pool_status status; /* of the failure */
    char reason[2048];  /* why it failed or was skipped */
};

/* The figures of an earlier report by name; NULL after reporting the reason. */
cJSON *cli_suite_read(const char *path);
/* The figure of a row in it, of the same unit; 0: none. */
double cli_suite_old(const cJSON *report, const struct suite_row *row);

/* How many times as long as before; 0: there was no figure before. */
double cli_suite_ratio(const struct suite_row *row, const struct cli_suite_result *result);

/* Whether a launch of the row takes longer than SUITE_MAX_LAUNCH, or there are untimed ones. */
bool cli_suite_exceeds(const struct cli_suite_result *result);

/* The report of the rows that were measured or failed; `device` may be NULL. */
cJSON *cli_suite_report(const struct cli_suite *options, const struct cli_suite_result *results,
    pool_device *device, size_t device_count, bool is_complete);

/* Prints the report as a table or, with --json, as it is. Deletes it. */
void cli_suite_print(cJSON *report, const struct cli_suite *options, const struct cli_line *line);

#endif
