/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench: measures an operation on each device by device events around each run. The
 * first use, which compiles, is timed separately, and every result is compared with an independent
 * answer.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MAX_REPEAT = 10000 };

static const struct bench_operation *const operations[] = {
    &bench_msm, &bench_ntt, &bench_poseidon, &bench_copy, &bench_pool};

/* One invocation. */
struct bench {
    const struct bench_operation *operation;
    struct bench_request request;
    device_pool *pool;
    cJSON *rows;
    int wrong_count; /* rows with a wrong result */
};

pool_status bench_span(pool_buffer *buffer, uint64_t items, pool_span *span)
{
    CUdeviceptr address;
    pool_status status = pool_buffer_address(buffer, &address);

    if (status)
        return status;
    *span = (pool_span){
        .data = (void *)(uintptr_t)address, .count = items, .space = POOL_MEMORY_DEVICE};
    return POOL_OK;
}

/* Measures one run. */
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

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

struct timing {
    double first_use; /* seconds that `prepare` takes */
    double median;
    double min;
    double max;
};

/* The measurement of one row, on a separate thread; never freed if that times out. */
struct job {
    const struct bench_operation *operation;
    struct bench_work work;
    char subject[128];
    char title[256];
    struct timing timing;
    int is_correct;
    pool_status status;
    pool_error error; /* of the measuring thread */
    char message[2048];
};

static pool_status time_runs(struct job *job)
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
    qsort(seconds, repeat, sizeof(*seconds), compare_doubles);
    timing->median = (seconds[(repeat - 1) / 2] + seconds[repeat / 2]) / 2;
    timing->min = seconds[0];
    timing->max = seconds[repeat - 1];
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
        cJSON_AddNumberToObject(row, "first_use_seconds", timing->first_use);
    cJSON_AddNumberToObject(row, "repeat", (double)bench->request.repeat);
    cJSON_AddNumberToObject(row, "median_seconds", timing->median);
    cJSON_AddNumberToObject(row, "min_seconds", timing->min);
    cJSON_AddNumberToObject(row, "max_seconds", timing->max);
    if (timing->median > 0)
        cJSON_AddNumberToObject(row, "units_per_second", work->units / timing->median);
    snprintf(rate, sizeof(rate), "%s/s", bench->operation->unit);
    cJSON_AddStringToObject(row, "unit", rate);
    cJSON_AddBoolToObject(row, "checked", job->is_correct);
    cJSON_AddItemToArray(bench->rows, row);
    bench->wrong_count += !job->is_correct;
}

static void begin_stage(const struct job *job, const char *stage)
{
    cli_watch_progress();
    cli_progress("%s: %s", job->title, stage);
}

static pool_status time_first_use(struct job *job)
{
    double begin = cli_now();
    pool_status status;

    begin_stage(job, "first use");
    status = job->operation->prepare(&job->work);
    job->timing.first_use = cli_now() - begin;
    return status;
}

/* The thread of one row. */
static void *measure_row(void *argument)
{
    struct job *job = argument;
    struct bench_work *work = &job->work;
    const struct bench_operation *operation = job->operation;
    pool_status status;

    begin_stage(job, "creating inputs");
    status = pool_stream_create(work->device, NULL, &work->stream);
    if (!status)
        status = operation->open(work);
    if (!status && operation->prepare)
        status = time_first_use(job);
    cli_watch_progress();
    if (!status && operation->load)
        status = operation->load(work);
    if (!status)
        status = time_runs(job);
    if (!status) {
        begin_stage(job, "checking");
        status = operation->check(work, &job->is_correct);
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

/* Measures one size on one device and adds its row. Returns an exit code. */
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
    if (!cli_watch(1, bench->request.timeout, measure_row, job)) {
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

/* Unusable devices are omitted with a note. */
static void report_unusable(device_pool *pool)
{
    pool_device_info info;
    pool_device *device;

    for (size_t i = 0; i < pool_device_count(pool); i++)
        if (!pool_device_at(pool, i, &device) && !is_usable(device, &info))
            cli_note("devicepool: device %u is omitted: %s", info.index, info.reason);
}

/* Measures all sizes of a subject on all devices. */
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

/* Calls `visit` with each subject until it fails. */
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

/* Checks that the operation has the subject, in all sizes. */
static int check_subject(struct bench *bench, const char *subject)
{
    const struct bench_operation *operation = bench->operation;
    uint64_t max_size = operation->max_size && operation->has_subject(subject)
                            ? operation->max_size(subject)
                            : UINT64_MAX;
    char strings[2][CLI_NUMBER];

    if (!operation->has_subject(subject)) {
        cli_fail_with("bench %s: no %s '%s'", operation->name, operation->option, subject);
        return CLI_USAGE;
    }
    for (size_t i = 0; i < bench->request.sizes.count; i++) {
        uint64_t size = bench->request.sizes.at[i];

        if (size <= max_size)
            continue;
        cli_fail_with("nothing was run: %s has %s sizes up to %s, not %s", subject, operation->name,
            cli_size(max_size, strings[0], CLI_NUMBER), cli_size(size, strings[1], CLI_NUMBER));
        return CLI_USAGE;
    }
    return CLI_OK;
}

static const struct cli_column columns[] = {
    {"subject", "subject", CLI_SHOW_STRING},
    {"device", "device", CLI_SHOW_STRING},
    {"size", "size", CLI_SHOW_SIZE},
    {"batch", "batch", CLI_SHOW_SIZE},
    {"first_use_seconds", "first use", CLI_SHOW_DURATION},
    {"median_seconds", "median", CLI_SHOW_DURATION},
    {"min_seconds", "min", CLI_SHOW_DURATION},
    {"max_seconds", "max", CLI_SHOW_DURATION},
    {"units_per_second", "rate", CLI_SHOW_AMOUNT},
    {"unit", "", CLI_SHOW_STRING},
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
        report_unusable(bench->pool);
        code = each_subject(bench, measure_subject);
        code = code ? code : bench->wrong_count ? CLI_DEVICE : CLI_OK;
    }
    code = bench_plot_close(&plot, bench->rows, bench->operation->name, code);
    if (!bench->pool) {
        cJSON_Delete(bench->rows);
        return code;
    }
    cli_print_rows(bench->rows, columns, CLI_COUNT_OF(columns), line);
    return cli_close_pool(&bench->pool, code, 0);
}

/* Refuses options that the operation does not have. Returns CLI_GO or an exit code. */
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

    for (size_t i = 0; i < CLI_COUNT_OF(options); i++)
        if (options[i].is_given && !strstr(bench->operation->takes, options[i].name))
            return cli_usage(
                self, "bench %s does not take --%s", bench->operation->name, options[i].name);
    return CLI_GO;
}

/* Checks the options against each other. Returns CLI_GO or an exit code. */
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
            return cli_usage(self, "sizes of %s must be powers of two", operation->name);
    if (request->precompute > UINT32_MAX)
        return cli_usage(self, "--precompute must be at most 2^32 - 1");
    if (!request->repeat || request->repeat > MAX_REPEAT || request->warm_ups > MAX_REPEAT ||
        !request->batch)
        return cli_usage(self, "--repeat must be 1 to %d, --batch at least 1", MAX_REPEAT);
    if (each_subject(bench, check_subject))
        return cli_usage(self, NULL);
    return check_options(self, bench);
}

static const struct bench_operation *find_operation(const char *name)
{
    for (size_t i = 0; i < CLI_COUNT_OF(operations); i++)
        if (strcmp(operations[i]->name, name) == 0)
            return operations[i];
    return NULL;
}

int cli_run_bench(const struct cli_command *self, struct cli_line *line)
{
    static const char *const orders[] = {"nn", "nr", "rn", "rr", NULL};
    static const char *const subject_options[] = {"curve", "field", "set", "what", NULL};
    const char *given[4] = {0};
    struct bench bench = {
        .request = {
            .batch = 1, .precompute = 1, .repeat = 9, .warm_ups = 2, .timeout = CLI_TIMEOUT}};
    struct bench_request *request = &bench.request;
    const struct cli_option options[] = {
        {'s', "sizes", "SIZES", "2^10,2^12 or 1K..1M (sizes that double)", CLI_SIZES,
            &request->sizes, NULL},
        {'c', "curve", "NAMES", "msm: curves, separated by commas (default bn254_g1)", CLI_STRING,
            &given[0], NULL},
        {'f', "field", "NAMES", "ntt: fields (default bn254_fr)", CLI_STRING, &given[1], NULL},
        {0, "set", "NAMES", "poseidon: parameter sets (default circom-bn254-t3)", CLI_STRING,
            &given[2], NULL},
        {0, "what", "NAMES",
            "copy: to-device, to-host, to-device-pinned, to-host-pinned,\n"
            "on-device, peer (the next device);\n"
            "pool: next, best, bind, alloc, event",
            CLI_STRING, &given[3], NULL},
        {'b', "batch", "COUNT", "ntt, msm: operations per run (default 1)", CLI_COUNT,
            &request->batch, NULL},
        {'o', "order", "ORDER", "ntt: nn (default), nr, rn, rr; n natural, r bit-reversed",
            CLI_CHOICE, &request->order, orders},
        {'i', "inverse", NULL, "ntt: the inverse transform", CLI_SWITCH, &request->direction, NULL},
        {0, "coset", NULL, "ntt: on the coset of the field's generator", CLI_SWITCH,
            &request->is_coset, NULL},
        {0, "precompute", "COUNT", "msm: precompute factor of the bases (default 1)", CLI_COUNT,
            &request->precompute, NULL},
        {'r', "repeat", "COUNT", "timed runs (default 9)", CLI_COUNT, &request->repeat, NULL},
        {'w', "warm-ups", "COUNT", "untimed runs before those (default 2)", CLI_COUNT,
            &request->warm_ups, NULL},
        {'t', "timeout", "SECONDS", CLI_TIMEOUT_HELP, CLI_COUNT, &request->timeout, NULL},
        {'p', "plot", "FILE.svg", "also plot seconds over size by gnuplot", CLI_STRING,
            &request->plot, NULL},
    };
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code != CLI_GO)
        return code;
    bench.operation = find_operation(line->operands[0]);
    if (!bench.operation)
        return cli_usage(self, "bench has no '%s'", line->operands[0]);
    code = check_request(self, &bench, given, subject_options);
    return code == CLI_GO ? run_bench(&bench, line) : code;
}
