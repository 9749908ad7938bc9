/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench share: short jobs alone, then beside each long one in each mode. On a GPU in
 * parts the short jobs are in the first of them and the long ones in the second.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench_share.h"
#include "share.h"
#include "source.h"

enum { MAX_JOBS = 16, MAX_CLIENTS = 256, MAX_ARRIVALS = 1000000, MAX_RATE = 100000 };
/* Of a long result that stays on the device, read after each call. */
enum { WINDOW = 1 << 20 };
/* The long job alone is measured as long as a cell, but no longer than this. */
#define ALONE_SECONDS 3.0

struct kind {
    const char *name;
    const struct bench_operation *operation;
    struct bench_case spec;
    uint64_t short_size, long_size; /* defaults */
};

static const struct kind kinds[] = {
    {"msm", &bench_msm, {.subject = "bn254_g1", .precompute_factor = 1}, 1 << 12, 1 << 24},
    {"ntt", &bench_ntt, {.subject = "bn254_fr"}, 1 << 16, 1 << 26},
    {"poseidon", &bench_poseidon, {.subject = "circom-bn254-t3"}, 1 << 10, 1 << 22},
    {"open", &bench_open, {.subject = "circom-bn254-t3"}, 1 << 20, 1 << 24},
    {"tree", &bench_tree, {.subject = "circom-bn254-t3", .on_device = true}, 1 << 10, 1 << 24},
    {"extend", &bench_extend,
        {.subject = "koalabear", .batch = 64, .log_blowup = 1, .commits = true}, 1 << 10, 1 << 20},
    {"groth16", &cli_bench_groth16, {0}, 0, 0},
};

/* A mode: the priority of the short jobs' leases. */
static const struct mode {
    const char *name;
    int32_t priority;
} modes[] = {{"as-it-comes", 0}, {"priority", 100}};
static const struct mode partition = {"partition", 0};

struct job {
    const struct kind *kind;
    struct bench_case spec;
};

/* The measurement, on a thread; never freed if that times out. */
struct share {
    const struct cli_share *options;
    struct job short_jobs[MAX_JOBS], long_jobs[MAX_JOBS];
    size_t short_count, long_count, mode_count;
    const struct mode *modes[CLI_COUNT_OF(modes)];
    device_pool *pool;
    pool_device *device, *long_device; /* the same, or two parts of a GPU */
    struct share_task *clients[MAX_JOBS];
    cJSON *rows;
    uint64_t wrong;
    int code;
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

/* Ends after the present measurement. A second Ctrl-C ends the process. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- options --------------------------------------------------------------------------------- */

/* The mode or kind of that name; NULL. */
static const struct mode *find_mode(const char *name)
{
    for (size_t i = 0; i < CLI_COUNT_OF(modes); i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    return NULL;
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < CLI_COUNT_OF(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static int read_job(const struct cli_command *self, const struct cli_share *options,
    const char *option, char *text, bool is_long, struct job *job)
{
    const char *name = strsep(&text, ":");
    const struct kind *kind = job->kind = find_kind(name);
    uint64_t max_size = UINT64_MAX;
    char number[CLI_NUMBER];

    if (!kind)
        return cli_usage(self,
            "bench share has no job '%s': %s takes msm, ntt, poseidon, open, tree and extend%s",
            name, option, is_long ? ", and groth16" : "");
    if (kind->operation == &cli_bench_groth16 && !is_long)
        return cli_usage(self, "bench share: groth16 is a long job");
    job->spec = kind->spec;
    job->spec.from_pageable = !is_long;
    job->spec.size = is_long ? kind->long_size : kind->short_size;
    job->spec.key = options->key;
    job->spec.witness = options->witness;
    if (kind->operation == &cli_bench_groth16 && (text || !options->key || !options->witness))
        return cli_usage(
            self, "%s: the size of groth16 is that of its --key and --witness", option);
    if (text && (!cli_parse_count(text, &job->spec.size) || !job->spec.size))
        return cli_usage(self, "%s takes NAME:SIZE, for example %s:2^12", option, name);
    if (kind->operation->needs_powers && job->spec.size & (job->spec.size - 1))
        return cli_usage(self, "%s: sizes of %s must be powers of two", option, name);
    if (kind->operation->max_size)
        max_size = kind->operation->max_size(job->spec.subject) >> job->spec.log_blowup;
    if (job->spec.size > max_size)
        return cli_usage(self, "%s: %s has sizes up to %s", option, name,
            cli_size(max_size, number, sizeof(number)));
    return CLI_GO;
}

static int read_jobs(const struct cli_command *self, const struct cli_share *options,
    const char *option, const char *list, bool is_long, struct job *jobs, size_t *count)
{
    char names[512];
    char *rest = names, *name;
    int code = CLI_GO;

    snprintf(names, sizeof(names), "%s", list);
    while (code == CLI_GO && (name = strsep(&rest, ","))) {
        if (*count == MAX_JOBS)
            return cli_usage(self, "%s takes at most %d jobs", option, MAX_JOBS);
        code = read_job(self, options, option, name, is_long, &jobs[(*count)++]);
    }
    return code;
}

static int read_modes(const struct cli_command *self, const char *list, struct share *share)
{
    char names[128];
    char *rest = names, *name;

    snprintf(names, sizeof(names), "%s", list);
    while ((name = strsep(&rest, ","))) {
        const struct mode *mode = find_mode(name);

        if (!mode || share->mode_count == CLI_COUNT_OF(modes))
            return cli_usage(self, "--mode takes as-it-comes, priority, or both");
        share->modes[share->mode_count++] = mode;
    }
    return CLI_GO;
}

static int read_options(const struct cli_command *self, struct share *share)
{
    const struct cli_share *options = share->options;
    int code;

    if (!options->arrivals || options->arrivals > MAX_ARRIVALS)
        return cli_usage(self, "--arrivals must be 1 to %d", MAX_ARRIVALS);
    if (!options->rate || options->rate > MAX_RATE)
        return cli_usage(self, "--rate must be 1 to %d", MAX_RATE);
    if (!options->clients || options->clients > MAX_CLIENTS)
        return cli_usage(self, "--clients must be 1 to %d", MAX_CLIENTS);
    code = read_jobs(self, options, "--short",
        options->short_jobs ? options->short_jobs : "msm,ntt,poseidon,open", false,
        share->short_jobs, &share->short_count);
    if (code == CLI_GO)
        code = read_jobs(self, options, "--long",
            options->long_jobs ? options->long_jobs : "msm,ntt,tree,extend", true, share->long_jobs,
            &share->long_count);
    return code == CLI_GO
               ? read_modes(self, options->modes ? options->modes : "as-it-comes,priority", share)
               : code;
}

/* ---- the measurement ------------------------------------------------------------------------- */

static void show_stage(struct bench_run *run, const char *stage)
{
    char size[CLI_NUMBER];

    bench_report_progress();
    cli_progress(
        "%s %s: %s", run->operation->name, cli_size(run->spec.size, size, sizeof(size)), stage);
}

static int fail_task(const struct share_task *task, pool_status status)
{
    char message[sizeof(task->run.failure) + 64], size[CLI_NUMBER];

    snprintf(message, sizeof(message), "bench share: %s %s: %s", task->run.operation->name,
        cli_size(task->run.spec.size, size, sizeof(size)), task->run.failure);
    return cli_fail_as(status, message, task->run.driver_code, 0);
}

/* Returns an exit code after reporting the failure or the wrong result. */
static int open_task(struct share *share, const struct job *job, pool_device *device,
    uint64_t window, struct share_task *task)
{
    pool_status status;

    *task = (struct share_task){.window = window,
        .run = {.operation = job->kind->operation,
            .spec = job->spec,
            .pool = share->pool,
            .device = device,
            .on_stage = show_stage}};
    status = share_open(task);
    if (status)
        return fail_task(task, status);
    if (task->run.is_correct)
        return CLI_OK;
    cli_fail_with("bench share: %s: the device computed a wrong result", job->kind->name);
    return CLI_DEVICE;
}

static void add_job(cJSON *row, const char *role, const struct share_task *task)
{
    char member[16];

    if (!task)
        return;
    snprintf(member, sizeof(member), "%s_size", role);
    cJSON_AddStringToObject(row, role, task->run.operation->name);
    cJSON_AddNumberToObject(row, member, (double)task->run.spec.size);
}

/* `alone`: milliseconds of a call of the long job without short ones; 0: this is measured. */
static void add_row(
    struct share *share, const char *mode, const struct share_cell *cell, double alone)
{
    cJSON *row = cli_add_row(share->rows);

    add_job(row, "short", cell->clients);
    add_job(row, "long", cell->neighbour);
    cJSON_AddStringToObject(row, "mode", mode);
    if (cell->clients) {
        cJSON_AddNumberToObject(row, "arrivals", (double)cell->arrivals);
        cJSON_AddNumberToObject(row, "p50_ms", cell->p50);
        cJSON_AddNumberToObject(row, "p99_ms", cell->p99);
        cJSON_AddNumberToObject(row, "p999_ms", cell->p999);
        cJSON_AddNumberToObject(row, "max_ms", cell->max);
    }
    if (cell->neighbour) {
        cJSON_AddNumberToObject(row, "long_calls", (double)cell->neighbour_calls);
        cJSON_AddNumberToObject(row, "long_ms", cell->neighbour_ms);
        if (alone > 0 && cell->neighbour_ms > 0)
            cJSON_AddNumberToObject(row, "long_percent", 100 * alone / cell->neighbour_ms);
    }
    cJSON_AddNumberToObject(row, "wrong", (double)(cell->wrong + cell->neighbour_wrong));
    share->wrong += cell->wrong + cell->neighbour_wrong;
}

/* Measures a cell and adds its row; `*alone` is set where there are no short jobs. */
static int measure(struct share *share, struct share_task *clients, struct share_task *neighbour,
    const struct mode *mode, double *alone)
{
    const struct cli_share *options = share->options;
    const double seconds = (double)options->arrivals / (double)options->rate;
    const char *name = clients && neighbour ? mode->name : "alone";
    struct share_cell cell = {.clients = clients,
        .client_count = options->clients,
        .neighbour = neighbour,
        .priority = mode ? mode->priority : 0,
        .arrivals = options->arrivals,
        .rate = (double)options->rate,
        .seed = options->seed,
        .seconds = seconds < ALONE_SECONDS ? seconds : ALONE_SECONDS};
    pool_status status;

    if (is_interrupted)
        return CLI_FAILED;
    cli_progress("%s beside %s, %s", clients ? clients->run.operation->name : "nothing",
        neighbour ? neighbour->run.operation->name : "nothing", name);
    status = share_measure(&cell);
    for (size_t i = 0; clients && i < options->clients; i++)
        if (clients[i].status)
            return fail_task(&clients[i], clients[i].status);
    if (status)
        return fail_task(neighbour, status);
    add_row(share, name, &cell, clients ? *alone : 0);
    if (!clients)
        *alone = cell.neighbour_ms;
    return CLI_OK;
}

static int measure_beside(struct share *share, const struct job *job)
{
    struct share_task neighbour = {0};
    double alone = 0;
    int code =
        is_interrupted ? CLI_FAILED : open_task(share, job, share->long_device, WINDOW, &neighbour);

    if (!code)
        code = measure(share, NULL, &neighbour, NULL, &alone);
    for (size_t i = 0; i < share->short_count; i++)
        for (size_t m = 0; m < share->mode_count && !code; m++)
            code = measure(share, share->clients[i], &neighbour, share->modes[m], &alone);
    share_close(&neighbour);
    return code;
}

static void measure_all(struct share *share)
{
    const size_t clients = share->options->clients;
    double none = 0;
    int code = CLI_OK;

    for (size_t i = 0; i < share->short_count && !code; i++) {
        share->clients[i] = bench_alloc(clients, sizeof(struct share_task));
        for (size_t k = 0; k < clients && !code; k++)
            code = open_task(share, &share->short_jobs[i], share->device, 0, &share->clients[i][k]);
        if (!code)
            code = measure(share, share->clients[i], NULL, NULL, &none);
    }
    for (size_t i = 0; i < share->long_count && !code; i++)
        code = measure_beside(share, &share->long_jobs[i]);
    for (size_t i = 0; i < share->short_count; i++) {
        for (size_t k = 0; share->clients[i] && k < clients; k++)
            share_close(&share->clients[i][k]);
        free(share->clients[i]);
    }
    share->code = code;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void print_report(const struct share *share, const struct cli_line *line)
{
    static const struct cli_column columns[] = {
        {"short", "short job", CLI_SHOW_STRING},
        {"short_size", "size", CLI_SHOW_SIZE},
        {"long", "beside", CLI_SHOW_STRING},
        {"long_size", "size", CLI_SHOW_SIZE},
        {"mode", "mode", CLI_SHOW_STRING},
        {"p50_ms", "p50 ms", CLI_SHOW_FIGURE},
        {"p99_ms", "p99 ms", CLI_SHOW_FIGURE},
        {"p999_ms", "p99.9 ms", CLI_SHOW_FIGURE},
        {"max_ms", "max ms", CLI_SHOW_FIGURE},
        {"arrivals", "arrivals", CLI_SHOW_NUMBER},
        {"wrong", "wrong", CLI_SHOW_NUMBER},
        {"long_ms", "long ms", CLI_SHOW_FIGURE},
        {"long_percent", "long %", CLI_SHOW_FIGURE},
    };
    cJSON *report;

    cli_progress_end();
    if (!line->as_json) {
        cli_print_rows(share->rows, columns, CLI_COUNT_OF(columns), line);
        return;
    }
    report = bench_report(share->device, share->rows);
    cJSON_AddNumberToObject(report, "rate", (double)share->options->rate);
    cJSON_AddNumberToObject(report, "seed", (double)share->options->seed);
    cJSON_AddNumberToObject(report, "clients", (double)share->options->clients);
    cli_print_json(report);
}

/* In parts of a GPU the mode is that. */
static void choose_parts(struct share *share)
{
    pool_device *next = NULL;

    share->long_device = share->device;
    if (pool_device_partition(share->device) < 0 || pool_device_at(share->pool, 1, &next))
        return;
    share->long_device = next;
    share->modes[0] = &partition;
    share->mode_count = 1;
}

/* Refuses jobs that cannot fit into the memory of the device. */
static int check_memory(const struct share *share)
{
    struct cli_device first = {0};

    if (!cli_next_device(share->pool, &first))
        return CLI_GO;
    for (size_t i = 0; i < share->short_count; i++)
        if (!cli_fits(&first, share->short_jobs[i].kind->operation, &share->short_jobs[i].spec))
            return CLI_USAGE;
    for (size_t i = 0; i < share->long_count; i++)
        if (!cli_fits(&first, share->long_jobs[i].kind->operation, &share->long_jobs[i].spec))
            return CLI_USAGE;
    return CLI_GO;
}

int cli_run_share(
    const struct cli_command *self, const struct cli_share *options, const struct cli_line *line)
{
    struct share *share = bench_alloc(1, sizeof(*share));
    struct output_file picture = {0};
    pool_params params = {.slots = (uint32_t)options->clients + 1};
    device_pool *pool;
    int code;

    share->options = options;
    code = read_options(self, share);
    if (code == CLI_GO)
        code = cli_open_device(line, &params, &share->pool, &share->device);
    if (code != CLI_GO) {
        free(share);
        return code;
    }
    pool = share->pool;
    code = check_memory(share);
    if (code == CLI_GO)
        code = cli_plot_open(options->plot, &picture);
    if (code != CLI_GO) {
        free(share);
        return cli_close_pool(&pool, code, 0);
    }
    choose_parts(share);
    share->rows = cJSON_CreateArray();
    cli_watch_begin();
    catch_interrupts();
    measure_all(share);
    cli_watch_end();
    code = cli_plot_close(
        &picture, pool, share->rows, "share", share->wrong ? CLI_DEVICE : share->code);
    print_report(share, line);
    if (share->wrong)
        cli_fail_with("bench share: %llu results were wrong", (unsigned long long)share->wrong);
    free(share);
    return cli_close_pool(&pool, code, 0);
}
