/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool selftest: known-answer tests on each device. A device on which a test does not end is
 * abandoned.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "selftest.h"

static const struct selftest_area *const areas[] = {
    &selftest_copy, &selftest_vector, &selftest_ntt, &selftest_msm, &selftest_poseidon};
enum { AREAS = CLI_COUNT_OF(areas), MAX_THREADS = 16, QUICK_STEP = 8 };

struct selftest {
    int only; /* an index into `areas`; -1: all */
    int is_quick;
    int shows_each;
    uint64_t timeout;        /* seconds */
    pool_component compiler; /* of the first device that has none: only operations with prebuilt */
    size_t skipped;          /* PTX can be tested there */
    device_pool *pool;
    cJSON *rows;
    int code; /* of the first failure */
};

/* The result of one test. */
struct result {
    enum { NOT_RUN, RUNNING, SKIPPED, FINISHED } state;
    pool_status status;
    int is_correct;
    double seconds;
    char failure[400];
};

/* An area on a device. Several threads run its tests, because most of the time is compilation on
 * the host. A round that timed out is never freed, as its threads may still use it. */
struct round {
    device_pool *pool;
    const struct selftest_area *area;
    pool_device *device;
    char name[160];
    size_t count;
    size_t step; /* every step-th test is run */
    int has_compiler;
    atomic_size_t next;
    atomic_int is_over; /* the device cannot be tested any further */
    pthread_mutex_t lock;
    struct result *results; /* guarded by lock, as is the next */
    int has_timed_out;
};

static size_t count_tests(const struct round *round)
{
    return (round->count + round->step - 1) / round->step;
}

/* Stores a result unless the round has timed out. */
static void store_result(struct round *round, size_t index, const struct result *result)
{
    pthread_mutex_lock(&round->lock);
    if (!round->has_timed_out)
        round->results[index] = *result;
    pthread_mutex_unlock(&round->lock);
}

static void run_test(struct round *round, size_t index)
{
    struct result result = {.state = RUNNING};
    pool_error_class error_class;
    double begin = bench_now();

    store_result(round, index, &result);
    result.status = round->area->run(round->pool, round->device, index, &result.is_correct);
    result.seconds = bench_now() - begin;
    result.state =
        result.status == POOL_ERR_NO_COMPILER && !round->has_compiler ? SKIPPED : FINISHED;
    result.is_correct &= !result.status;
    if (!result.is_correct)
        snprintf(result.failure, sizeof(result.failure), "%s",
            result.status ? pool_last_error()->message : "wrong result");
    error_class = pool_status_class(result.status);
    if (error_class == POOL_CLASS_PROCESS || error_class == POOL_CLASS_DEVICE)
        atomic_store(&round->is_over, 1);
    store_result(round, index, &result);
    bench_report_progress();
}

static void *run_tests(void *argument)
{
    struct round *round = argument;
    size_t index;

    while (!atomic_load(&round->is_over) &&
           (index = atomic_fetch_add(&round->next, round->step)) < round->count) {
        cli_progress("%s: %s %zu of %zu, %s", round->name, round->area->name,
            index / round->step + 1, count_tests(round), round->area->subject(index));
        run_test(round, index);
    }
    return NULL;
}

/* Marks the tests that are still running as failed. Their results are ignored from now on. */
static void abandon_round(struct round *round, uint64_t timeout)
{
    pthread_mutex_lock(&round->lock);
    round->has_timed_out = 1;
    for (size_t i = 0; i < round->count; i++) {
        struct result *result = &round->results[i];

        if (result->state != RUNNING)
            continue;
        result->seconds = (double)timeout;
        snprintf(result->failure, sizeof(result->failure),
            "no result after %llu s: the device hangs, or --timeout is too short",
            (unsigned long long)timeout);
    }
    pthread_mutex_unlock(&round->lock);
    atomic_store(&round->is_over, 1);
}

static cJSON *add_row(
    struct selftest *test, const char *device, const char *area, double seconds, int is_correct)
{
    cJSON *row = cli_add_row(test->rows);

    cJSON_AddStringToObject(row, "device", device);
    cJSON_AddStringToObject(row, "area", area);
    cJSON_AddNumberToObject(row, "seconds", seconds);
    cJSON_AddBoolToObject(row, "checked", is_correct);
    return row;
}

/* Adds the row of the area or, with --each, of each test. */
static void report_round(struct selftest *test, const struct round *round, double seconds)
{
    size_t tests = count_tests(round), passed = 0, skipped = 0;
    char failure[512] = "";
    cJSON *row;

    for (size_t i = 0; i < round->count; i++) {
        const struct result *result = &round->results[i];
        const char *subject = round->area->subject(i);

        skipped += result->state == SKIPPED;
        if (result->state == NOT_RUN || result->state == SKIPPED)
            continue;
        passed += result->is_correct != 0;
        if (!result->is_correct && !*failure)
            snprintf(failure, sizeof(failure), "%s: %s", subject, result->failure);
        if (!result->is_correct && !test->code)
            test->code = result->status ? cli_exit_code(result->status) : CLI_DEVICE;
        if (!test->shows_each)
            continue;
        row = add_row(test, round->name, round->area->name, result->seconds, result->is_correct);
        cJSON_AddStringToObject(row, "subject", subject);
        if (!result->is_correct)
            cJSON_AddStringToObject(row, "failure", result->failure);
    }
    test->skipped += skipped;
    tests -= skipped;
    if (test->shows_each)
        return;
    row = add_row(test, round->name, round->area->name, seconds, passed == tests);
    cJSON_AddNumberToObject(row, "tests", (double)tests);
    cJSON_AddNumberToObject(row, "passed", (double)passed);
    if (!tests)
        cJSON_DeleteItemFromObject(row, "checked"); /* neither correct nor wrong */
    if (skipped)
        cJSON_AddNumberToObject(row, "skipped", (double)skipped);
    if (*failure)
        cJSON_AddStringToObject(row, "failure", failure);
}

/* Returns 1 if the device cannot be tested any further. */
static int test_area(struct selftest *test, const struct selftest_area *area,
    const struct cli_device *device, int has_compiler)
{
    struct round *round = bench_alloc(1, sizeof(*round));
    double begin = bench_now();
    int is_over;

    round->pool = test->pool;
    round->area = area;
    round->device = device->device;
    snprintf(round->name, sizeof(round->name), "%s", device->label);
    round->has_compiler = has_compiler;
    round->step = test->is_quick ? QUICK_STEP : 1;
    round->count = area->count(test->pool);
    round->results = bench_alloc(round->count, sizeof(*round->results));
    pthread_mutex_init(&round->lock, NULL);
    if (!bench_run_threads(bench_processors(MAX_THREADS), test->timeout, run_tests, round))
        abandon_round(round, test->timeout);
    report_round(test, round, bench_now() - begin);
    is_over = atomic_load(&round->is_over);
    if (round->has_timed_out)
        return is_over;
    pthread_mutex_destroy(&round->lock);
    free(round->results);
    free(round);
    return is_over;
}

/* An unusable device is a failure. */
static void test_device(struct selftest *test, const struct cli_device *device)
{
    pool_component compiler = {.status = POOL_OK};
    int is_over = 0;

    if (!device->is_usable) {
        cJSON *row = add_row(test, device->label, "device", 0, 0);

        cJSON_AddStringToObject(row, "failure", device->info.reason);
        test->code = test->code ? test->code : CLI_DEVICE;
        return;
    }
    /* If that fails, the tests fail as well and say why. */
    cli_watch_begin();
    (void)pool_device_get_compiler(device->device, &compiler);
    cli_watch_end();
    if (compiler.status && !test->compiler.status)
        test->compiler = compiler;
    for (size_t i = 0; i < AREAS && !is_over; i++)
        if (test->only < 0 || (size_t)test->only == i)
            is_over = test_area(test, areas[i], device, !compiler.status);
}

static const struct cli_column columns[] = {
    {"device", "device", CLI_SHOW_STRING},
    {"area", "area", CLI_SHOW_STRING},
    {"subject", "subject", CLI_SHOW_STRING},
    {"tests", "tests", CLI_SHOW_NUMBER},
    {"passed", "passed", CLI_SHOW_NUMBER},
    {"skipped", "skipped", CLI_SHOW_NUMBER},
    {"seconds", "time", CLI_SHOW_DURATION},
    {"checked", "checked", CLI_SHOW_CHECK},
};

/* In the order of `areas`. */
static const char *const area_names[] = {"copy", "vector", "ntt", "msm", "poseidon", NULL};

int cli_run_selftest(const struct cli_command *self, struct cli_line *line)
{
    struct selftest test = {.only = -1};
    const struct cli_option options[] = {
        {'o', "only", "AREA", "run only copy, vector, ntt, msm or poseidon", CLI_CHOICE, &test.only,
            area_names},
        {0, "quick", NULL, "run one test in eight", CLI_SWITCH, &test.is_quick, NULL},
        {'e', "each", NULL, "print a row per test", CLI_SWITCH, &test.shows_each, NULL},
    };
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);
    struct cli_device next = {0};

    if (code != CLI_GO)
        return code;
    test.timeout = line->timeout;
    code = cli_open_pool(line, 0, &test.pool);
    if (code != CLI_GO)
        return code;
    test.rows = cJSON_CreateArray();
    while (cli_next_device(test.pool, &next))
        test_device(&test, &next);
    cli_print_rows(test.rows, columns, CLI_COUNT_OF(columns), line);
    if (test.skipped)
        fprintf(stderr, "devicepool: %zu tests were skipped because they need NVRTC: %s\n",
            test.skipped, test.compiler.message);
    return cli_close_pool(&test.pool, test.code, 0);
}
