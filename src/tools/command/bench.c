/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool bench: measures an operation on each device, see src/tools/bench, and prints or plots
 * the results.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_share.h"
#include "bench_suite.h"
#include "source.h"

enum {
    REPEAT = 9,
    WARM_UPS = 2,
    MAX_REPEAT = 10000,
    DEFAULT_BLOWUP = 1,
    DEFAULT_ARITY = 2,
    MAX_AFFINE = 2
};

static const struct bench_operation *const operations[] = {&bench_msm, &bench_ntt, &bench_extend,
    &bench_ecntt, &bench_poseidon, &bench_tree, &bench_commit, &bench_fold, &bench_evaluate,
    &bench_reverse, &bench_vector, &bench_copy, &bench_pool};

static const char *const functions[] = {"mul", "add", "inverse", "powers", NULL};
static const pool_vector_operation function_values[] = {
    POOL_VECTOR_MUL, POOL_VECTOR_ADD, POOL_VECTOR_INVERSE, POOL_VECTOR_POWERS};
static const char *const layouts[] = {"columns", "rows", NULL};

/* What completion proposes. */
static const char *const copies_and_calls[] = {"to-device", "to-device-pinned", "to-device-driver",
    "to-host", "to-host-pinned", "to-host-driver", "on-device", "peer", "next", "best", "bind",
    "lease", "launch", "alloc", "event", NULL};
static const char *const jobs[] = {"msm", "ntt", "poseidon", "open", "tree", "extend", NULL};
static const char *const share_modes[] = {"as-it-comes", "priority", NULL};

/* One invocation. check_options copies options of another type to `spec`. */
struct bench {
    const struct bench_operation *operation;
    struct bench_case spec; /* but for subject and size */
    struct cli_sizes sizes;
    const char *subjects; /* comma-separated */
    uint64_t precompute_factor;
    const char *affine_text;         /* --affine; NULL: not given */
    uint32_t affine[MAX_AFFINE + 1]; /* its values, as pool_msm_params has them */
    size_t affine_count;             /* 0: the default */
    uint64_t repeat;
    uint64_t warm_ups;
    int order;
    int direction;
    int is_coset;
    uint64_t log_blowup;
    uint64_t arity;
    int commits;
    int layout;
    int function;
    int is_montgomery;
    int is_together;
    int is_sharded;
    const char *plot;
    uint64_t timeout; /* seconds */
    int is_suite;
    struct cli_suite suite;
    struct cli_share share;
    device_pool *pool;
    struct cli_target target; /* all devices, with --together */
    double alone;             /* seconds of the row of one device, with --together; 0: none */
    cJSON *rows;
    int wrong_count; /* rows with a wrong result */
};

/* The measurement of one row, on a separate thread; never freed if that times out. */
struct job {
    struct bench_run run;
    char subject[128];
    char title[256];
    pool_status status;
};

/* Rows of several devices have the speed over that of the first one alone, which is measured just
 * before. */
static void add_speedup(struct bench *bench, const struct bench_run *run, cJSON *row)
{
    if (!run->together)
        return;
    if (run->together->device_count == 1)
        bench->alone = run->timing.median;
    else if (bench->alone > 0 && run->timing.median > 0)
        cJSON_AddNumberToObject(row, "speedup", bench->alone / run->timing.median);
}

static void add_row(struct bench *bench, const char *device, const struct bench_run *run)
{
    const struct bench_timing *timing = &run->timing;
    cJSON *row = cli_add_row(bench->rows);
    char rate[48];

    cJSON_AddStringToObject(row, "operation", run->operation->name);
    cJSON_AddStringToObject(row, "subject", run->spec.subject);
    cJSON_AddStringToObject(row, "device", device);
    cJSON_AddStringToObject(row, "uuid", pool_device_uuid(run->device));
    cJSON_AddNumberToObject(row, "size", (double)run->spec.size);
    if (run->spec.batch > 1)
        cJSON_AddNumberToObject(row, "batch", (double)run->spec.batch);
    if (run->operation == &bench_fold)
        cJSON_AddNumberToObject(row, "arity", (double)(1u << run->spec.log_arity));
    if (run->spec.commits)
        cJSON_AddBoolToObject(row, "committed", true);
    if (run->operation == &bench_vector)
        cJSON_AddStringToObject(row, "function", functions[bench->function]);
    if (run->spec.affine_passes)
        cJSON_AddNumberToObject(row, "affine_passes",
            run->spec.affine_passes == POOL_AFFINE_NONE ? 0 : run->spec.affine_passes);
    if (run->operation->warm_up)
        cJSON_AddNumberToObject(row, "first_use_seconds", run->first_use);
    cJSON_AddNumberToObject(row, "repeat", (double)run->repeat);
    cJSON_AddNumberToObject(row, "median_seconds", timing->median);
    cJSON_AddNumberToObject(row, "min_seconds", timing->min);
    cJSON_AddNumberToObject(row, "max_seconds", timing->max);
    if (timing->median > 0)
        cJSON_AddNumberToObject(row, "units_per_second", run->units / timing->median);
    snprintf(rate, sizeof(rate), "%s/s", run->operation->unit);
    cJSON_AddStringToObject(row, "unit", rate);
    add_speedup(bench, run, row);
    cJSON_AddBoolToObject(row, "checked", run->is_correct);
    bench->wrong_count += !run->is_correct;
}

static void show_stage(struct bench_run *run, const char *stage)
{
    const struct job *job = run->user;

    bench_report_progress();
    cli_progress("%s: %s", job->title, stage);
}

static void *measure_row(void *argument)
{
    struct job *job = argument;

    job->status = bench_measure(&job->run);
    return NULL;
}

/* Measures one size on one device and adds its row. Returns an exit code. */
static int run_job(
    struct bench *bench, const char *subject, uint64_t size, const struct cli_device *device)
{
    struct job *job = bench_alloc(1, sizeof(*job));
    char number[CLI_NUMBER];
    char message[sizeof(job->title) + sizeof(job->run.failure) + 2];
    int code = CLI_OK;

    snprintf(job->subject, sizeof(job->subject), "%s", subject);
    snprintf(job->title, sizeof(job->title), "%s %s %s on %s", bench->operation->name, subject,
        cli_size(size, number, sizeof(number)), device->label);
    job->run = (struct bench_run){.operation = bench->operation,
        .spec = bench->spec,
        .pool = bench->pool,
        .device = device->device,
        .together = bench->is_together ? &bench->target.exec : NULL,
        .is_sharded = bench->is_sharded,
        .warm_ups = bench->warm_ups,
        .repeat = bench->repeat,
        .on_stage = show_stage,
        .user = job};
    job->run.spec.subject = job->subject;
    job->run.spec.size = size;
    if (!bench_run_threads(1, bench->timeout, measure_row, job)) {
        cli_fail_with("%s: no result after %llu s: the device hangs, or --timeout is too short",
            job->title, (unsigned long long)bench->timeout);
        return CLI_DEVICE;
    }
    snprintf(message, sizeof(message), "%s: %s", job->title, job->run.failure);
    if (job->status)
        code = cli_fail_as(job->status, message, job->run.driver_code, 0);
    else
        add_row(bench, device->label, &job->run);
    free(job);
    return code;
}

/* Measures one size as one job over the first `count` devices. */
static int measure_over(struct bench *bench, const char *subject, uint64_t size, uint32_t count)
{
    struct cli_device shown = {.device = bench->target.devices[0]};

    bench->target.exec.device_count = count;
    snprintf(shown.label, sizeof(shown.label), count == 1 ? "%u alone" : "%u together", count);
    return run_job(bench, subject, size, &shown);
}

/* The number of measurements, each size with each number of affine passes; begins number i. */
static size_t variant_count(const struct bench *bench)
{
    return bench->sizes.count * (bench->affine_count ? bench->affine_count : 1);
}

static uint64_t begin_variant(struct bench *bench, size_t i)
{
    if (!bench->affine_count)
        return bench->sizes.at[i];
    bench->spec.affine_passes = bench->affine[i % bench->affine_count];
    return bench->sizes.at[i / bench->affine_count];
}

/* Measures all sizes of a subject on the first device alone and on all devices together. */
static int measure_together(struct bench *bench, const char *subject)
{
    const uint32_t count = bench->target.exec.device_count;
    int code = CLI_OK;

    for (size_t i = 0; i < variant_count(bench) && !code; i++) {
        uint64_t size = begin_variant(bench, i);

        bench->alone = 0;
        code = measure_over(bench, subject, size, 1);
        if (!code && count > 1)
            code = measure_over(bench, subject, size, count);
    }
    return code;
}

/* Measures all sizes of a subject on all devices; unusable ones are omitted. */
static int measure_subject(struct bench *bench, const char *subject)
{
    struct cli_device next = {0};
    int code = CLI_OK;

    if (bench->is_together)
        return measure_together(bench, subject);
    while (!code && cli_next_device(bench->pool, &next))
        for (size_t i = 0; next.is_usable && i < variant_count(bench) && !code; i++)
            code = run_job(bench, subject, begin_variant(bench, i), &next);
    return code;
}

/* Calls `visit` with each subject until it fails. */
static int each_subject(struct bench *bench, int (*visit)(struct bench *bench, const char *subject))
{
    char names[1024];
    char *rest = names;
    char *name;
    int code = CLI_OK;

    snprintf(names, sizeof(names), "%s", bench->subjects);
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
    for (size_t i = 0; i < bench->sizes.count; i++) {
        uint64_t size = bench->sizes.at[i];

        if (size <= max_size)
            continue;
        cli_fail_with("nothing was run: %s has %s sizes up to %s, not %s", subject, operation->name,
            cli_size(max_size, strings[0], CLI_NUMBER), cli_size(size, strings[1], CLI_NUMBER));
        return CLI_USAGE;
    }
    return CLI_OK;
}

/* Refuses what cannot fit into the memory of a device, before anything is measured. */
static int check_memory(struct bench *bench, const char *subject)
{
    struct bench_case spec = bench->spec;
    struct cli_device next = {0};

    spec.subject = subject;
    while (cli_next_device(bench->pool, &next))
        for (size_t i = 0; next.is_usable && i < bench->sizes.count; i++) {
            spec.size = bench->sizes.at[i];
            if (cli_fits(&next, bench->operation, &spec))
                continue;
            return CLI_USAGE;
        }
    return CLI_OK;
}

static const struct cli_column columns[] = {
    {"subject", "subject", CLI_SHOW_STRING},
    {"device", "device", CLI_SHOW_STRING},
    {"size", "size", CLI_SHOW_SIZE},
    {"batch", "batch", CLI_SHOW_SIZE},
    {"function", "function", CLI_SHOW_STRING},
    {"arity", "arity", CLI_SHOW_NUMBER},
    {"affine_passes", "affine passes", CLI_SHOW_NUMBER},
    {"first_use_seconds", "first use", CLI_SHOW_DURATION},
    {"median_seconds", "median", CLI_SHOW_DURATION},
    {"min_seconds", "min", CLI_SHOW_DURATION},
    {"max_seconds", "max", CLI_SHOW_DURATION},
    {"units_per_second", "rate", CLI_SHOW_AMOUNT},
    {"unit", "", CLI_SHOW_STRING},
    {"speedup", "speed-up", CLI_SHOW_AMOUNT},
    {"checked", "checked", CLI_SHOW_CHECK},
};

static int run_bench(struct bench *bench, const struct cli_line *line)
{
    struct cli_device next = {0};
    struct output_file picture;
    int code = cli_plot_open(bench->plot, &picture);

    if (code != CLI_GO)
        return code;
    bench->rows = cJSON_CreateArray();
    code = cli_open_pool_of(line, &(pool_params){.slots = BENCH_SLOTS}, &bench->pool);
    if (code == CLI_GO) {
        while (cli_next_device(bench->pool, &next))
            if (!next.is_usable)
                cli_note("devicepool: device %u is omitted: %s", next.info.index, next.info.reason);
        bench->target.pool = bench->pool;
        if (bench->is_together)
            cli_target_all(&bench->target);
        /* Jobs over several devices are in the host's memory, or in parts. */
        code = bench->is_together ? CLI_OK : each_subject(bench, check_memory);
        if (!code)
            code = each_subject(bench, measure_subject);
        code = code ? code : bench->wrong_count ? CLI_DEVICE : CLI_OK;
    }
    code = cli_plot_close(&picture, bench->pool, bench->rows, bench->operation->name, code);
    if (!bench->pool) {
        cJSON_Delete(bench->rows);
        return code;
    }
    cli_print_rows(bench->rows, columns, CLI_COUNT_OF(columns), line);
    return cli_close_pool(&bench->pool, code, 0);
}

/* Reads "0", "0,2" and the like. Returns false for another text. */
static bool read_affine(struct bench *bench, const char *text)
{
    for (; bench->affine_count <= MAX_AFFINE; text++) {
        if (*text < '0' || *text > '0' + MAX_AFFINE)
            return false;
        bench->affine[bench->affine_count++] =
            *text == '0' ? POOL_AFFINE_NONE : (uint32_t)(*text - '0');
        if (*++text != ',')
            return !*text;
    }
    return false;
}

/* Checks the options against each other. Returns CLI_GO or an exit code. */
static int check_options(
    const struct cli_command *self, struct bench *bench, const struct cli_line *line)
{
    const struct bench_operation *operation = bench->operation;
    char accepted[256];
    int code;

    snprintf(accepted, sizeof(accepted), "sizes plot repeat warm-ups %s %s", operation->option,
        operation->options);
    code = cli_check_given(self, line, operation->name, accepted);
    if (code != CLI_GO)
        return code;
    if (bench->affine_text && !read_affine(bench, bench->affine_text))
        return cli_usage(self, "--affine must be 0, 1 or 2, or several of them: 0,2");
    if (bench->affine_count > 1 && bench->plot)
        return cli_usage(self, "--plot takes one value of --affine");
    if (!bench->subjects)
        bench->subjects = operation->default_subjects;
    if (!bench->sizes.count)
        cli_parse_sizes(operation->default_sizes, &bench->sizes);
    for (size_t i = 0; i < bench->sizes.count && operation->needs_powers; i++)
        if (bench->sizes.at[i] & (bench->sizes.at[i] - 1))
            return cli_usage(self, "sizes of %s must be powers of two", operation->name);
    if (!bench->log_blowup || bench->log_blowup > POOL_NTT_MAX_LOG_BLOWUP)
        return cli_usage(self, "--blowup must be 1 to %d", POOL_NTT_MAX_LOG_BLOWUP);
    if (bench->arity != 2 && bench->arity != 4 && bench->arity != 8)
        return cli_usage(self, "--arity must be 2, 4 or 8");
    for (size_t i = 0; i < bench->sizes.count && operation == &bench_fold; i++)
        if (bench->sizes.at[i] < bench->arity)
            return cli_usage(self, "sizes of fold must be at least --arity");
    if (bench->precompute_factor > UINT32_MAX)
        return cli_usage(self, "--precompute must be at most 2^32 - 1");
    if (!bench->repeat || bench->repeat > MAX_REPEAT || bench->warm_ups > MAX_REPEAT ||
        !bench->spec.batch)
        return cli_usage(self, "--repeat must be 1 to %d, --batch at least 1", MAX_REPEAT);
    if (each_subject(bench, check_subject))
        return cli_usage(self, NULL);
    if (bench->is_sharded && !bench->is_together)
        return cli_usage(self, "--sharded needs --together");
    if (bench->is_sharded && operation == &bench_msm && bench->spec.batch > 1)
        return cli_usage(self, "bench msm --sharded computes one MSM: --batch must be 1");
    bench->spec.order = (pool_ntt_order)bench->order;
    bench->spec.direction = (pool_ntt_direction)bench->direction;
    bench->spec.is_coset = bench->is_coset;
    bench->spec.log_blowup = (uint32_t)bench->log_blowup;
    bench->spec.precompute_factor = (uint32_t)bench->precompute_factor;
    bench->spec.log_arity = (uint32_t)__builtin_ctzll(bench->arity);
    bench->spec.commits = bench->commits;
    bench->spec.layout = (pool_matrix_layout)bench->layout;
    bench->spec.function = function_values[bench->function];
    bench->spec.form = bench->is_montgomery ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD;
    return CLI_GO;
}

static int run_share(
    const struct cli_command *self, struct bench *bench, const struct cli_line *line)
{
    int code = cli_check_given(
        self, line, "share", "short long mode arrivals rate seed clients key witness plot");

    bench->share.plot = bench->plot;
    return code == CLI_GO ? cli_run_share(self, &bench->share, line) : code;
}

static int run_suite(
    const struct cli_command *self, struct bench *bench, const struct cli_line *line)
{
    int code = cli_check_given(
        self, line, "--suite", "suite output compare label launches check scale repeat warm-ups");

    if (code != CLI_GO)
        return code;
    if (bench->suite.checks && !bench->suite.shows_launches)
        return cli_usage(self, "--check needs --launches");
    if (bench->suite.compare && bench->suite.shows_launches)
        return cli_usage(self, "--launches has no figures for --compare");
    if (!bench->repeat || bench->repeat > MAX_REPEAT || bench->warm_ups > MAX_REPEAT)
        return cli_usage(self, "--repeat must be 1 to %d", MAX_REPEAT);
    if (bench->suite.scale > 40)
        return cli_usage(self, "--scale must be at most 40");
    bench->suite.groups = line->operand_count ? line->operands[0] : NULL;
    bench->suite.repeat = bench->repeat;
    bench->suite.warm_ups = bench->warm_ups;
    bench->suite.timeout = bench->timeout;
    return cli_run_suite(self, &bench->suite, line);
}

int cli_run_bench(const struct cli_command *self, struct cli_line *line)
{
    struct bench bench = {.spec.batch = 1,
        .precompute_factor = 1,
        .log_blowup = DEFAULT_BLOWUP,
        .arity = DEFAULT_ARITY,
        .repeat = REPEAT,
        .warm_ups = WARM_UPS,
        .share = {.arrivals = 2000, .rate = 140, .seed = 1, .clients = 16}};
    const struct cli_option options[] = {
        {'s', "sizes", "SIZES", "2^10,2^12 or 1K..1M (sizes that double)", CLI_SIZES, &bench.sizes,
            NULL},
        {'c', "curve", "CURVES", "msm, ecntt: curves (default bn254_g1)", CLI_STRING,
            &bench.subjects, NULL},
        {'f', "field", "FIELDS",
            "ntt, extend, reverse: fields (default bn254_fr,\n"
            "koalabear, babybear); fold, evaluate: extensions\n"
            "(default babybear_x4); vector: fields of up to 64\n"
            "bits, extensions (default goldilocks_x2,babybear_x4)",
            CLI_STRING, &bench.subjects, NULL},
        {0, "set", "SETS",
            "poseidon, tree, commit: parameter sets (default\n"
            "circom-bn254-t3; commit: poseidon2-plonky3-babybear-\n"
            "t16)",
            CLI_STRING, &bench.subjects, NULL},
        {0, "what", "LIST",
            "copy: to-device, to-host, to-device-pinned,\n"
            "to-host-pinned, to-device-driver, to-host-driver,\n"
            "on-device, peer (the next device); pool: next, best,\n"
            "bind, lease, launch, alloc, event ...",
            CLI_STRING, &bench.subjects, copies_and_calls},
        {'b', "batch", "COUNT",
            "ntt, extend, ecntt, msm: operations per run; commit,\n"
            "evaluate, reverse: columns (default 1)",
            CLI_COUNT, &bench.spec.batch, NULL},
        {'o', "order", "ORDER",
            "ntt, extend, ecntt: nn (default), nr, rn, rr;\n"
            "n natural, r bit-reversed",
            CLI_CHOICE, &bench.order, cli_orders},
        {'i', "inverse", NULL, "ntt, ecntt: measure the inverse transform", CLI_SWITCH,
            &bench.direction, NULL},
        {0, "coset", NULL,
            "ntt, ecntt: transform on the coset of the field's\n"
            "generator",
            CLI_SWITCH, &bench.is_coset, NULL},
        {0, "blowup", "BITS", "extend: compute 2^BITS results per element (default 1)", CLI_COUNT,
            &bench.log_blowup, NULL},
        {0, "arity", "COUNT", "fold: by 2 (default), 4 or 8", CLI_COUNT, &bench.arity, NULL},
        {0, "commit", NULL, "fold: commit to the results, too, as the next layer", CLI_SWITCH,
            &bench.commits, NULL},
        {0, "layout", "LAYOUT",
            "evaluate, reverse: layout of the matrix: columns\n"
            "(default), rows",
            CLI_CHOICE, &bench.layout, layouts},
        {0, "function", "NAME", "vector: mul (default), add, inverse, powers", CLI_CHOICE,
            &bench.function, functions},
        {0, "montgomery", NULL, "vector: use elements in Montgomery form", CLI_SWITCH,
            &bench.is_montgomery, NULL},
        {0, "precompute", "COUNT", "msm: precompute factor of the bases (default 1)", CLI_COUNT,
            &bench.precompute_factor, NULL},
        {0, "affine", "PASSES",
            "msm: passes of affine additions, 0 to 2; 0,2 measures\n"
            "both (default: as the library chooses)",
            CLI_STRING, &bench.affine_text, NULL},
        {0, "together", NULL,
            "msm, ntt, extend, ecntt, poseidon, tree, commit: run\n"
            "one job over all devices, from and to pinned host\n"
            "memory, MSMs over sharded bases; timed by the host's\n"
            "clock, after the same job on the first device alone",
            CLI_SWITCH, &bench.is_together, NULL},
        {0, "sharded", NULL, "with --together: use shards on the devices instead", CLI_SWITCH,
            &bench.is_sharded, NULL},
        {'r', "repeat", "COUNT", "timed runs (default 9)", CLI_COUNT, &bench.repeat, NULL},
        {'w', "warm-ups", "COUNT", "untimed runs before those (default 2)", CLI_COUNT,
            &bench.warm_ups, NULL},
        {'p', "plot", "FILE",
            "plot seconds over size, or the latencies of share, as\n"
            "SVG, with gnuplot",
            CLI_STRING, &bench.plot, NULL},
        {0, "suite", NULL,
            "measure the rows of docs/performance.md, or groups of\n"
            "them: msm,ntt,extend,poseidon,tree,copy,pool,start,\n"
            "first,several",
            CLI_SWITCH, &bench.is_suite, NULL},
        {0, "output", "FILE", "--suite: write the report as JSON, too", CLI_STRING,
            &bench.suite.output, NULL},
        {0, "compare", "FILE",
            "--suite: compare with an earlier report; fail where a\n"
            "row takes more than 2 % longer, in two measurements",
            CLI_STRING, &bench.suite.compare, NULL},
        {0, "label", "TEXT", "--suite: add TEXT to the report, for example a commit", CLI_STRING,
            &bench.suite.label, NULL},
        {0, "launches", NULL,
            "--suite: record events around every launch; show\n"
            "their number and the longest one of each row, instead\n"
            "of the figures",
            CLI_SWITCH, &bench.suite.shows_launches, NULL},
        {0, "check", NULL,
            "with --launches: fail where a launch takes more than\n"
            "2.5 ms",
            CLI_SWITCH, &bench.suite.checks, NULL},
        {0, "scale", "LOG", "--suite: limit sizes to 2^LOG, to try it out", CLI_COUNT,
            &bench.suite.scale, NULL},
        {0, "short", "JOBS",
            "share: jobs whose latency is measured, as NAME or\n"
            "NAME:SIZE (default msm:2^12,ntt:2^16,poseidon:2^10,\n"
            "open:2^20)",
            CLI_STRING, &bench.share.short_jobs, jobs},
        {0, "long", "JOBS",
            "share: jobs that run beside them in a loop (default\n"
            "msm:2^24,ntt:2^26,tree:2^24,extend:2^20)",
            CLI_STRING, &bench.share.long_jobs, jobs},
        {0, "mode", "MODES",
            "share: as-it-comes (equal leases), priority (short\n"
            "jobs under leases of priority 100); default: both",
            CLI_STRING, &bench.share.modes, share_modes},
        {0, "arrivals", "COUNT", "share: short jobs per measurement (default 2000)", CLI_COUNT,
            &bench.share.arrivals, NULL},
        {0, "rate", "COUNT", "share: arrivals per second (default 140)", CLI_COUNT,
            &bench.share.rate, NULL},
        {0, "seed", "NUMBER", "share: seed of the times of arrival (default 1)", CLI_COUNT,
            &bench.share.seed, NULL},
        {0, "clients", "COUNT", "share: threads that serve arrivals (default 16)", CLI_COUNT,
            &bench.share.clients, NULL},
        {0, "key", "FILE", "share: zkey of the long job groth16", CLI_STRING, &bench.share.key,
            NULL},
        {0, "witness", "FILE", "share: wtns of the long job groth16", CLI_STRING,
            &bench.share.witness, NULL},
    };
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code != CLI_GO)
        return code;
    bench.timeout = line->timeout;
    if (bench.is_suite)
        return run_suite(self, &bench, line);
    if (!line->operand_count)
        return cli_usage(self, "bench needs %s", self->operands);
    if (strcmp(line->operands[0], "share") == 0)
        return run_share(self, &bench, line);
    for (size_t i = 0; i < CLI_COUNT_OF(operations); i++)
        if (strcmp(operations[i]->name, line->operands[0]) == 0)
            bench.operation = operations[i];
    if (!bench.operation)
        return cli_fail_operation(self, line->operands[0]);
    code = check_options(self, &bench, line);
    return code == CLI_GO ? run_bench(&bench, line) : code;
}
