/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench: how fast an operation is on each device, by events of the device around each
 * run. The first use, which compiles, is timed apart, and no row is printed whose result was not
 * compared with an answer of other origin.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MAX_REPEAT = 10000 };

static const struct bench_operation *const operations[] = {
    &bench_msm, &bench_ntt, &bench_poseidon, &bench_copy, &bench_pool};

/* A bench as it runs. */
struct bench {
    const struct bench_operation *operation;
    struct bench_request request;
    device_pool *pool;
    cJSON *rows;
    int wrong; /* rows whose result is wrong */
};

pool_status bench_span(pool_buffer *buffer, uint64_t items, pool_span *span)
{
    CUdeviceptr address;
    pool_status status = pool_buffer_address(buffer, &address);

    if (status)
        return status;
    *span = (pool_span){
        .data = (void *)(uintptr_t)address, .count = items, .place = POOL_MEMORY_DEVICE};
    return POOL_OK;
}

/* One run, in seconds. */
static pool_status time_run(const struct bench_operation *operation, struct bench_work *work,
    pool_event *start, pool_event *end, double *seconds)
{
    double begin = cli_now();
    double milliseconds = 0;
    pool_status status;

    if (operation->is_host) {
        status = operation->run(work);
        *seconds = cli_now() - begin;
        return status;
    }
    status = pool_event_record(start, work->stream);
    if (!status)
        status = operation->run(work);
    if (!status)
        status = pool_event_record(end, work->stream);
    if (!status)
        status = pool_event_synchronize(end);
    if (!status)
        status = pool_event_elapsed(start, end, &milliseconds);
    *seconds = milliseconds * 1e-3;
    return status;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

struct timing {
    double first; /* seconds until the operation is ready for its first job */
    double median;
    double least;
    double most;
};

/* One row as it is measured, on a thread of its own. Stays when that is given up. */
struct job {
    const struct bench_operation *operation;
    struct bench_work work;
    char subject[128];
    char title[256];
    struct timing timing;
    int is_right;
    pool_status status;
    pool_error error; /* of that thread */
    char message[2048];
};

static pool_status time_all(struct job *job)
{
    struct bench_work *work = &job->work;
    struct timing *timing = &job->timing;
    uint64_t repeat = work->request->repeat;
    uint64_t warm_ups = work->request->warm_ups;
    double *seconds = cli_alloc(repeat, sizeof(*seconds));
    pool_event *start = NULL;
    pool_event *end = NULL;
    pool_status status = pool_event_create(work->device, POOL_EVENT_TIMING, &start);

    if (!status)
        status = pool_event_create(work->device, POOL_EVENT_TIMING, &end);
    for (uint64_t i = 0; i < warm_ups + repeat && !status; i++) {
        double *slot = &seconds[i < warm_ups ? 0 : i - warm_ups];

        cli_progress("%s: run %llu of %llu", job->title, (unsigned long long)i + 1,
            (unsigned long long)(warm_ups + repeat));
        status = time_run(job->operation, work, start, end, slot);
        cli_watch_progress();
    }
    pool_event_destroy(&start);
    pool_event_destroy(&end);
    qsort(seconds, repeat, sizeof(*seconds), by_value);
    timing->median = (seconds[(repeat - 1) / 2] + seconds[repeat / 2]) / 2;
    timing->least = seconds[0];
    timing->most = seconds[repeat - 1];
    free(seconds);
    return status;
}

static void add_row(struct bench *bench, const struct job *job)
{
    const struct bench_work *work = &job->work;
    const struct timing *timing = &job->timing;
    cJSON *row = cJSON_CreateObject();
    char name[160];
    char rate[48];

    cJSON_AddStringToObject(row, "operation", bench->operation->name);
    cJSON_AddStringToObject(row, "subject", work->subject);
    cJSON_AddStringToObject(row, "device", cli_device_label(work->device, name, sizeof(name)));
    cJSON_AddStringToObject(row, "uuid", pool_device_uuid(work->device));
    cJSON_AddNumberToObject(row, "size", (double)work->size);
    if (bench->request.batch > 1)
        cJSON_AddNumberToObject(row, "batch", (double)bench->request.batch);
    if (bench->operation->prepare)
        cJSON_AddNumberToObject(row, "first_use_seconds", timing->first);
    cJSON_AddNumberToObject(row, "repeat", (double)bench->request.repeat);
    cJSON_AddNumberToObject(row, "median_seconds", timing->median);
    cJSON_AddNumberToObject(row, "least_seconds", timing->least);
    cJSON_AddNumberToObject(row, "most_seconds", timing->most);
    if (timing->median > 0)
        cJSON_AddNumberToObject(row, "units_per_second", work->units / timing->median);
    snprintf(rate, sizeof(rate), "%s/s", bench->operation->unit);
    cJSON_AddStringToObject(row, "unit", rate);
    cJSON_AddBoolToObject(row, "checked", job->is_right);
    cJSON_AddItemToArray(bench->rows, row);
    bench->wrong += !job->is_right;
}

static void begin_stage(const struct job *job, const char *stage)
{
    cli_watch_progress();
    cli_progress("%s: %s", job->title, stage);
}

static pool_status prepare(struct job *job)
{
    double begin = cli_now();
    pool_status status;

    begin_stage(job, "first use");
    status = job->operation->prepare(&job->work);
    job->timing.first = cli_now() - begin;
    return status;
}

/* Everything of one row. */
static void *measure(void *argument)
{
    struct job *job = argument;
    struct bench_work *work = &job->work;
    const struct bench_operation *operation = job->operation;
    pool_status status;

    begin_stage(job, "making inputs");
    status = pool_stream_create(work->device, NULL, &work->stream);
    if (!status)
        status = operation->open(work);
    if (!status && operation->prepare)
        status = prepare(job);
    cli_watch_progress();
    if (!status && operation->load)
        status = operation->load(work);
    if (!status)
        status = time_all(job);
    if (!status) {
        begin_stage(job, "checking");
        status = operation->check(work, &job->is_right);
    }
    if (status) {
        job->error = *pool_last_error();
        snprintf(job->message, sizeof(job->message), "%s: %s", job->title, job->error.message);
    }
    operation->close(work);
    pool_stream_destroy(&work->stream);
    job->status = status;
    return NULL;
}

/* Adds the row of one size on one device, or says why there is none. An exit code. */
static int run_job(struct bench *bench, const char *subject, uint64_t size, pool_device *device)
{
    struct job *job = cli_alloc(1, sizeof(*job));
    char name[160];
    char number[CLI_NUMBER];
    int code = CLI_OK;

    job->operation = bench->operation;
    snprintf(job->subject, sizeof(job->subject), "%s", subject);
    job->work = (struct bench_work){.request = &bench->request,
        .subject = job->subject,
        .size = size,
        .pool = bench->pool,
        .device = device};
    snprintf(job->title, sizeof(job->title), "%s %s %s on %s", bench->operation->name, subject,
        cli_size(size, number, sizeof(number)), cli_device_label(device, name, sizeof(name)));
    if (!cli_watch(1, bench->request.timeout, measure, job)) {
        cli_fail_with("%s: no result after %llu s: the device hangs, or --timeout is too short",
            job->title, (unsigned long long)bench->request.timeout);
        return CLI_DEVICE;
    }
    if (job->status)
        code = cli_fail_as(job->status, job->message, job->error.driver_code, 0);
    else
        add_row(bench, job);
    free(job);
    return code;
}

static int is_usable(pool_device *device, pool_device_info *info)
{
    *info = (pool_device_info){.struct_size = sizeof(*info)};
    return pool_device_get_info(device, info) || info->state == POOL_DEVICE_READY;
}

/* Devices that cannot be used are left out, aloud. */
static void name_unusable(device_pool *pool)
{
    pool_device_info info;
    pool_device *device;

    for (size_t i = 0; i < pool_device_count(pool); i++)
        if (!pool_device_at(pool, i, &device) && !is_usable(device, &info))
            cli_note("devicepool: device %u is left out: %s", info.index, info.reason);
}

/* All sizes of a subject on all devices. */
static int measure_subject(struct bench *bench, const char *subject)
{
    const struct cli_sizes *sizes = &bench->request.sizes;
    int code = CLI_OK;

    for (size_t index = 0; index < pool_device_count(bench->pool) && !code; index++) {
        pool_device_info info;
        pool_device *device;
        pool_status status = pool_device_at(bench->pool, index, &device);

        if (status)
            return cli_fail(status, 0);
        for (size_t i = 0; is_usable(device, &info) && i < sizes->count && !code; i++)
            code = run_job(bench, subject, sizes->at[i], device);
    }
    return code;
}

/* Calls `visit` with each of the names that are separated by commas, until it fails. */
static int each_subject(struct bench *bench, int (*visit)(struct bench *bench, const char *subject))
{
    char names[1024];
    char *rest = names;
    char *name;
    int code = CLI_OK;

    snprintf(names, sizeof(names), "%s", bench->request.subjects);
    while (!code && (name = strsep(&rest, ",")))
        code = visit(bench, name);
    return code;
}

/* The subject has to be one of the operation's, and to have all sizes. */
static int check_subject(struct bench *bench, const char *subject)
{
    const struct bench_operation *operation = bench->operation;
    uint64_t most = UINT64_MAX;
    char texts[2][CLI_NUMBER];

    if (!operation->knows(subject)) {
        cli_fail_with("bench %s knows no %s '%s'", operation->name, operation->option, subject);
        return CLI_USAGE;
    }
    if (operation->most)
        most = operation->most(subject);
    for (size_t i = 0; i < bench->request.sizes.count; i++) {
        uint64_t size = bench->request.sizes.at[i];

        if (size <= most)
            continue;
        cli_fail_with("nothing was run: %s has %s sizes up to %s, not %s", subject, operation->name,
            cli_size(most, texts[0], CLI_NUMBER), cli_size(size, texts[1], CLI_NUMBER));
        return CLI_USAGE;
    }
    return CLI_OK;
}

static const struct cli_column columns[] = {
    {"subject", "of", CLI_SHOW_TEXT},
    {"device", "device", CLI_SHOW_TEXT},
    {"size", "size", CLI_SHOW_SIZE},
    {"batch", "batch", CLI_SHOW_SIZE},
    {"first_use_seconds", "first use", CLI_SHOW_DURATION},
    {"median_seconds", "median", CLI_SHOW_DURATION},
    {"least_seconds", "least", CLI_SHOW_DURATION},
    {"most_seconds", "most", CLI_SHOW_DURATION},
    {"units_per_second", "rate", CLI_SHOW_AMOUNT},
    {"unit", "", CLI_SHOW_TEXT},
    {"checked", "checked", CLI_SHOW_CHECK},
};

static int run_bench(struct bench *bench, const struct cli_line *line)
{
    struct bench_plot plot;
    int code = bench_plot_open(bench->request.plot, &plot);

    if (code != CLI_GO)
        return code;
    bench->rows = cJSON_CreateArray();
    code = cli_open_pool(line, 0, &bench->pool);
    if (code == CLI_GO) {
        name_unusable(bench->pool);
        code = each_subject(bench, measure_subject);
        code = code ? code : bench->wrong ? CLI_DEVICE : CLI_OK;
    }
    code = bench_plot_close(&plot, bench->rows, bench->operation->name, code);
    if (!bench->pool) {
        cJSON_Delete(bench->rows);
        return code;
    }
    cli_print_rows(bench->rows, columns, sizeof(columns) / sizeof(columns[0]), line);
    return cli_close_pool(&bench->pool, code, 0);
}

/* Options of some operations have to be this one's. CLI_GO or an exit code. */
static int check_options(const struct cli_command *self, const struct bench *bench)
{
    const struct bench_request *request = &bench->request;
    const struct {
        const char *name;
        int is_given;
    } options[] = {
        {"batch", request->batch != 1},
        {"order", request->order},
        {"inverse", request->direction},
        {"coset", request->is_coset},
        {"precompute", request->precompute != 1},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i].is_given && !strstr(bench->operation->takes, options[i].name))
            return cli_usage(
                self, "bench %s does not take --%s", bench->operation->name, options[i].name);
    return CLI_GO;
}

/* What the options mean together; CLI_GO or an exit code. */
static int check_request(const struct cli_command *self, struct bench *bench,
    const char *const *given, const char *const *options)
{
    const struct bench_operation *operation = bench->operation;
    struct bench_request *request = &bench->request;

    request->subjects = operation->default_subjects;
    for (size_t i = 0; options[i]; i++) {
        if (given[i] && strcmp(options[i], operation->option) != 0)
            return cli_usage(self, "bench %s takes --%s, not --%s", operation->name,
                operation->option, options[i]);
        if (given[i])
            request->subjects = given[i];
    }
    if (!request->sizes.count)
        cli_parse_sizes(operation->default_sizes, &request->sizes);
    for (size_t i = 0; i < request->sizes.count && operation->needs_powers; i++)
        if (request->sizes.at[i] & (request->sizes.at[i] - 1))
            return cli_usage(self, "sizes of %s are powers of two", operation->name);
    if (request->precompute > UINT32_MAX)
        return cli_usage(self, "--precompute is at most 2^32 - 1");
    if (!request->repeat || request->repeat > MAX_REPEAT || request->warm_ups > MAX_REPEAT ||
        !request->batch)
        return cli_usage(self, "--repeat is 1 to %d, --batch at least 1", MAX_REPEAT);
    if (each_subject(bench, check_subject))
        return cli_usage(self, NULL);
    return check_options(self, bench);
}

static const struct bench_operation *find_operation(const char *name)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (strcmp(operations[i]->name, name) == 0)
            return operations[i];
    return NULL;
}

int cli_run_bench(const struct cli_command *self, int count, char **arguments)
{
    static const char *const orders[] = {"nn", "nr", "rn", "rr", NULL};
    static const char *const subject_options[] = {"curve", "field", "set", "what", NULL};
    const char *given[4] = {0};
    struct bench bench = {
        .request = {
            .batch = 1, .precompute = 1, .repeat = 9, .warm_ups = 2, .timeout = CLI_TIMEOUT}};
    struct bench_request *request = &bench.request;
    const struct cli_option options[] = {
        {'s', "sizes", "SIZES", "2^10,2^12 or 1K..1M (each the double of the last)", CLI_SIZES,
            &request->sizes, NULL},
        {'c', "curve", "NAMES", "msm: curves, separated by commas (default bn254_g1)", CLI_TEXT,
            &given[0], NULL},
        {'f', "field", "NAMES", "ntt: fields (default bn254_fr)", CLI_TEXT, &given[1], NULL},
        {0, "set", "NAMES", "poseidon: sets (default circom-bn254-t3)", CLI_TEXT, &given[2], NULL},
        {0, "what", "NAMES",
            "copy: to-device, to-host, each also with -pinned, on-device,\n"
            "peer (the next device); pool: next, best, bind, alloc, event",
            CLI_TEXT, &given[3], NULL},
        {'b', "batch", "COUNT", "ntt, msm: that many at once (default 1)", CLI_COUNT,
            &request->batch, NULL},
        {'o', "order", "ORDER", "ntt: nn (default), nr, rn, rr; n natural, r bit-reversed",
            CLI_CHOICE, &request->order, orders},
        {'i', "inverse", NULL, "ntt: the inverse transform", CLI_SWITCH, &request->direction, NULL},
        {0, "coset", NULL, "ntt: on the coset of the field's generator", CLI_SWITCH,
            &request->is_coset, NULL},
        {0, "precompute", "COUNT", "msm: multiples kept of each point (default 1)", CLI_COUNT,
            &request->precompute, NULL},
        {'r', "repeat", "COUNT", "timed runs (default 9)", CLI_COUNT, &request->repeat, NULL},
        {'w', "warm-ups", "COUNT", "runs before those (default 2)", CLI_COUNT, &request->warm_ups,
            NULL},
        {'t', "timeout", "SECONDS", CLI_TIMEOUT_TEXT, CLI_COUNT, &request->timeout, NULL},
        {'p', "plot", "FILE.svg", "also draw seconds over size, by gnuplot", CLI_TEXT,
            &request->plot, NULL},
    };
    struct cli_line line = {.count = count,
        .arguments = arguments,
        .takes = CLI_TAKES_DEVICES | CLI_TAKES_JSON,
        .least_operands = 1,
        .most_operands = 1};
    int code = cli_parse(self, options, sizeof(options) / sizeof(options[0]), &line);

    if (code != CLI_GO)
        return code;
    bench.operation = find_operation(line.operands[0]);
    if (!bench.operation)
        return cli_usage(self, "bench has no '%s'", line.operands[0]);
    code = check_request(self, &bench, given, subject_options);
    return code == CLI_GO ? run_bench(&bench, &line) : code;
}
