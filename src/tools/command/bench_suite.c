/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurement of a suite: which rows, in which order and where, until Ctrl-C. Rows that need a
 * process of their own come first, before this process uses a driver; then everything is compiled
 * that the others use.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench_suite.h"
#include "source.h"

/* Rows of other processes: each takes seconds. */
enum { START_RUNS = 3 };

struct suite {
    const struct cli_suite *options;
    const struct cli_line *line;
    cJSON *old;               /* of --compare; NULL: none */
    bool *is_selected;        /* of suite_rows, as the next two */
    struct bench_case *specs; /* scaled */
    struct cli_suite_result *results;
    size_t selected, done;
    device_pool *pool;
    pool_device *device;
    struct cli_target target; /* all devices */
};

/* The measurement of one row, on a separate thread; never freed if that times out. */
struct suite_job {
    struct bench_run run;
    struct bench_launches launches;
    const char *name;
    char head[64]; /* of the progress line */
    pool_status status;
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

static bool is_over(void)
{
    return is_interrupted;
}

/* Ends after the current run. A second Ctrl-C ends the process. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- selection ------------------------------------------------------------------------------- */

static bool is_group(const char *name)
{
    for (size_t i = 0; i < suite_row_count; i++)
        if (strcmp(suite_rows[i].group, name) == 0)
            return true;
    return false;
}

static void list_groups(char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < suite_row_count && used < size; i++)
        if (!i || strcmp(suite_rows[i].group, suite_rows[i - 1].group) != 0)
            used += (size_t)snprintf(
                text + used, size - used, "%s%s", i ? ", " : "", suite_rows[i].group);
}

static int select_rows(const struct cli_command *self, struct suite *suite)
{
    char names[512], groups[512] = "";
    char *rest = names, *name;

    if (!suite->options->groups) {
        memset(suite->is_selected, true, suite_row_count * sizeof(*suite->is_selected));
    } else {
        snprintf(names, sizeof(names), "%s", suite->options->groups);
        while ((name = strsep(&rest, ","))) {
            list_groups(groups, sizeof(groups));
            if (!is_group(name))
                return cli_usage(self, "bench --suite has no group '%s', but %s", name, groups);
            for (size_t i = 0; i < suite_row_count; i++)
                suite->is_selected[i] |= strcmp(suite_rows[i].group, name) == 0;
        }
    }
    for (size_t i = 0; i < suite_row_count; i++) {
        const uint64_t scale = suite->options->scale;

        if (suite->options->shows_launches && suite_is_apart(&suite_rows[i]))
            suite->is_selected[i] = false;
        suite->selected += suite->is_selected[i];
        suite_scale(&suite_rows[i], scale ? (uint32_t)scale : 63, &suite->specs[i]);
        suite->results[i].old = cli_suite_old(suite->old, &suite_rows[i]);
    }
    if (!suite->selected)
        return cli_usage(self, "bench --launches has no rows of processes of their own, as %s",
            suite->options->groups);
    return CLI_GO;
}

/* ---- results --------------------------------------------------------------------------------- */

static void note_failure(struct cli_suite_result *result, pool_status status, const char *reason)
{
    result->outcome = SUITE_FAILED;
    result->status = status;
    snprintf(result->reason, sizeof(result->reason), "%s", reason);
}

static void skip(struct cli_suite_result *result, const char *reason)
{
    note_failure(result, POOL_OK, reason);
    result->outcome = SUITE_SKIPPED;
}

static void note_run(
    const struct suite_row *row, const struct bench_run *run, struct cli_suite_result *result)
{
    struct bench_run extreme = *run;

    result->outcome = run->is_correct ? SUITE_MEASURED : SUITE_WRONG;
    result->figure = suite_figure(row, run);
    extreme.timing.median = run->timing.min;
    result->best = suite_figure(row, &extreme);
    extreme.timing.median = run->timing.max;
    result->worst = suite_figure(row, &extreme);
    result->first_use = run->first_use;
    result->runs = run->repeat;
}

/* The target that is a figure of this run. */
static void set_target(const struct suite *suite, size_t index)
{
    const struct suite_row *row = &suite_rows[index];
    struct cli_suite_result *result = &suite->results[index];

    if (suite->options->scale)
        return;
    if (!row->devices || row->devices == suite->target.exec.device_count)
        result->target = row->target;
    for (size_t i = 0; row->bare && i < index; i++)
        if (suite_rows[i].spec.subject && strcmp(suite_rows[i].group, row->group) == 0 &&
            strcmp(suite_rows[i].spec.subject, row->bare) == 0 &&
            suite_rows[i].spec.size == row->spec.size && suite->results[i].figure > 0)
            result->target =
                suite->results[i].figure * (row->times > 0 ? row->times : 1) + row->plus;
}

/* Slower than before by more than chance allows, if it is that twice. */
static bool is_slower(const struct suite *suite, size_t index)
{
    const struct cli_suite_result *result = &suite->results[index];

    return result->outcome == SUITE_MEASURED &&
           cli_suite_ratio(&suite_rows[index], result) > SUITE_MAX_RATIO;
}

/* ---- rows in other processes ----------------------------------------------------------------- */

static void measure_apart(struct suite *suite, size_t index)
{
    const struct suite_row *row = &suite_rows[index];
    struct cli_suite_result *result = &suite->results[index];
    const uint64_t runs = row->operation ? 1 : START_RUNS;
    struct bench_run run = {.is_correct = true, .units = 1, .repeat = runs};
    double seconds[START_RUNS];
    struct suite_apart outcome = {0};

    for (uint64_t i = 0; i < runs && run.is_correct && !outcome.status; i++) {
        suite_measure_apart(
            row, &suite->specs[index], suite->line->devices, suite->options->timeout, &outcome);
        seconds[i] = outcome.seconds;
        run.is_correct = outcome.is_correct;
    }
    if (outcome.status == POOL_ERR_NO_DRIVER && !row->operation) {
        skip(result, outcome.failure);
    } else if (outcome.status) {
        note_failure(result, outcome.status, outcome.failure);
    } else {
        run.timing.median = bench_median(seconds, runs);
        run.timing.min = seconds[0];
        run.timing.max = seconds[runs - 1];
        note_run(row, &run, result);
    }
}

/* ---- rows in this process -------------------------------------------------------------------- */

static void show_stage(struct bench_run *run, const char *stage)
{
    const struct suite_job *job = run->user;

    bench_report_progress();
    cli_progress("%s %s: %s", job->head, job->name, stage);
    if (is_interrupted)
        run->prepared = POOL_ERR_CANCELLED;
}

static void *measure_job(void *argument)
{
    struct suite_job *job = argument;

    job->status = bench_measure(&job->run);
    return NULL;
}

static void show_row(const struct suite *suite, size_t index, char *head, size_t size)
{
    char bar[4 * CLI_BAR + 1];

    snprintf(head, size, "%s %zu of %zu", cli_bar(suite->done, suite->selected, bar, sizeof(bar)),
        suite->done + 1, suite->selected);
    cli_progress("%s %s", head, suite_rows[index].name);
}

/* False: the device hangs. */
static bool measure_here(struct suite *suite, size_t index)
{
    const struct suite_row *row = &suite_rows[index];
    struct cli_suite_result *result = &suite->results[index];
    const bool is_together = strcmp(row->group, "several") == 0;
    struct suite_job *job = bench_alloc(1, sizeof(*job));

    if (is_together && suite->target.exec.device_count < 2) {
        skip(result, "there is one device");
        free(job);
        return true;
    }
    job->run = (struct bench_run){.operation = row->operation,
        .spec = suite->specs[index],
        .pool = suite->pool,
        .device = suite->device,
        .together = is_together ? &suite->target.exec : NULL,
        .is_sharded = is_together,
        .warm_ups = suite->options->warm_ups,
        .repeat = suite->options->repeat,
        .on_stage = show_stage,
        .user = job};
    if (suite->options->shows_launches)
        job->run.launches = &job->launches;
    job->name = row->name;
    show_row(suite, index, job->head, sizeof(job->head));
    if (!bench_run_threads(1, suite->options->timeout, measure_job, job)) {
        note_failure(result, POOL_ERR_TIMEOUT,
            "no result in time: the device hangs, or --timeout is too short");
        return false;
    }
    if (job->status == POOL_ERR_UNSUPPORTED)
        skip(result, job->run.failure);
    else if (job->status && !is_interrupted)
        note_failure(result, job->status, job->run.failure);
    else if (!job->status)
        note_run(row, &job->run, result);
    result->launches = job->launches;
    free(job);
    return true;
}

/* A line for each row as it is measured; results are printed at the end. */
static void show_result(const struct suite *suite, size_t index)
{
    const struct suite_row *row = &suite_rows[index];
    const struct cli_suite_result *result = &suite->results[index];

    if (result->outcome == SUITE_MEASURED && suite->options->shows_launches)
        cli_note("%zu of %zu, %.1f s: %s: %llu launches, the longest %s, %.4g ms", suite->done,
            suite->selected, result->seconds, row->name, (unsigned long long)result->launches.count,
            result->launches.kernels[0].name, 1e3 * result->launches.kernels[0].longest);
    else if (result->outcome == SUITE_MEASURED)
        cli_note("%zu of %zu, %.1f s: %s: %.4g %s", suite->done, suite->selected, result->seconds,
            row->name, result->figure, suite_unit_name(row->unit));
    else if (result->outcome != SUITE_NOT_RUN)
        cli_note("%zu of %zu, %.1f s: %s: %s", suite->done, suite->selected, result->seconds,
            row->name, result->outcome == SUITE_WRONG ? "wrong result" : result->reason);
}

/* Measures a row, and again if it is slower than before. False: the device hangs. */
static bool measure_row(struct suite *suite, size_t index)
{
    struct cli_suite_result *result = &suite->results[index];
    const double begin = bench_now();
    bool is_alive = true;

    for (int attempt = 0; attempt < 2 && is_alive && !is_interrupted; attempt++) {
        const struct cli_suite_result before = *result;

        if (attempt && !is_slower(suite, index))
            break;
        if (suite_is_apart(&suite_rows[index]))
            measure_apart(suite, index);
        else
            is_alive = measure_here(suite, index);
        if (attempt && result->outcome == SUITE_MEASURED &&
            cli_suite_ratio(&suite_rows[index], &before) <
                cli_suite_ratio(&suite_rows[index], result))
            *result = before;
    }
    set_target(suite, index);
    result->seconds = bench_now() - begin;
    suite->done++;
    show_result(suite, index);
    return is_alive;
}

static bool measure_rows(struct suite *suite, bool are_apart)
{
    bool is_alive = true;

    for (size_t i = 0; i < suite_row_count && is_alive && !is_interrupted; i++)
        if (suite->is_selected[i] && suite_is_apart(&suite_rows[i]) == are_apart) {
            if (are_apart) {
                char head[64];

                show_row(suite, i, head, sizeof(head));
            }
            is_alive = measure_row(suite, i);
        }
    return is_alive;
}

/* The pool, its first usable device, and all of them. */
static int open_devices(struct suite *suite)
{
    int code = cli_open_device(
        suite->line, &(pool_params){.slots = BENCH_SLOTS}, &suite->pool, &suite->device);

    if (code != CLI_GO)
        return code;
    suite->target.pool = suite->pool;
    cli_target_all(&suite->target);
    return CLI_GO;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int exit_code_of(const struct suite *suite, bool is_alive)
{
    size_t failed = 0, wrong = 0, slower = 0, exceeding = 0;
    int code = is_interrupted ? CLI_FAILED : CLI_OK;

    for (size_t i = 0; i < suite_row_count; i++) {
        failed += suite->results[i].outcome == SUITE_FAILED;
        if (suite->results[i].outcome == SUITE_FAILED && !code)
            code = cli_exit_code(suite->results[i].status);
        wrong += suite->results[i].outcome == SUITE_WRONG;
        slower += is_slower(suite, i);
        exceeding += suite->options->checks && cli_suite_exceeds(&suite->results[i]);
    }
    if (is_interrupted)
        cli_fail_with("bench --suite: interrupted; %zu of %zu rows were measured", suite->done,
            suite->selected);
    if (slower)
        cli_fail_with("bench --suite: %zu rows are slower than in %s by more than %.0f %%", slower,
            suite->options->compare, 100 * (SUITE_MAX_RATIO - 1));
    if (exceeding)
        cli_fail_with("bench --suite: %zu rows have launches of more than %.4g ms, or untimed ones",
            exceeding, 1e3 * SUITE_MAX_LAUNCH);
    if (failed)
        cli_fail_with("bench --suite: %zu rows failed", failed);
    if (wrong)
        cli_fail_with("bench --suite: %zu rows had wrong results", wrong);
    return wrong || !is_alive    ? CLI_DEVICE
           : code                ? code
           : slower || exceeding ? CLI_FAILED
                                 : CLI_OK;
}

/* A suite that was ended early leaves no file, which could be mistaken for a whole report. */
static int write_report(const cJSON *report, struct output_file *output, bool is_complete)
{
    char *text = cJSON_Print(report);
    int code = text && is_complete ? CLI_OK : CLI_FAILED;

    if (output->path && !code)
        code = cli_output_write(output, text, strlen(text));
    cJSON_free(text);
    code = cli_output_close(output, code);
    return is_complete ? code : CLI_OK;
}

static int finish(struct suite *suite, struct output_file *output, bool is_alive)
{
    const bool is_complete = !is_interrupted && is_alive;
    cJSON *report = cli_suite_report(suite->options, suite->results, suite->device,
        suite->target.exec.device_count, is_complete);
    int code = write_report(report, output, is_complete);

    cli_suite_print(report, suite->options, suite->line);
    fflush(stdout);
    return code ? code : exit_code_of(suite, is_alive);
}

static int run_suite(struct suite *suite, struct output_file *output)
{
    bool is_alive;
    int code;

    catch_interrupts();
    is_alive = measure_rows(suite, true);
    code = suite->done < suite->selected && !is_interrupted ? open_devices(suite) : CLI_GO;
    if (code != CLI_GO)
        return cli_output_close(output, code);
    if (suite->device && !is_interrupted) {
        cli_progress("compiling");
        suite_compile(suite->pool, suite->device, suite->specs, suite->is_selected, is_over);
        is_alive = measure_rows(suite, false);
    }
    code = finish(suite, output, is_alive);
    return suite->pool ? cli_close_pool(&suite->pool, code, 0) : code;
}

int cli_run_suite(
    const struct cli_command *self, const struct cli_suite *options, const struct cli_line *line)
{
    struct suite suite = {.options = options,
        .line = line,
        .is_selected = bench_alloc(suite_row_count, sizeof(*suite.is_selected)),
        .specs = bench_alloc(suite_row_count, sizeof(*suite.specs)),
        .results = bench_alloc(suite_row_count, sizeof(*suite.results))};
    struct output_file output;
    int code = CLI_GO;

    if (options->compare && !(suite.old = cli_suite_read(options->compare)))
        code = CLI_FAILED;
    if (code == CLI_GO)
        code = select_rows(self, &suite);
    if (code == CLI_GO)
        code = cli_output_open(options->output, &output);
    if (code == CLI_GO)
        code = run_suite(&suite, &output);
    cJSON_Delete(suite.old);
    free(suite.is_selected);
    free(suite.specs);
    free(suite.results);
    return code;
}
