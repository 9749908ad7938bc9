/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool tune: measures on one device what plans choose by tuning parameters, and writes the
 * numbers that are faster to a file that pools read (devicepool/tuning.h). src/tools/bench/tune.h
 * measures and decides; tune_groups.c lists the candidates.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tune_groups.h"

struct tuner {
    struct tune_device device;
    struct tune_plan plan;
    char label[160]; /* of the device */
    cJSON *rows;
    size_t group;   /* in progress */
    size_t changed; /* groups that have a winner */
    size_t unmeasured;
    size_t skipped; /* candidates */
    bool is_begun[TUNE_OPERATIONS];
    size_t wrong;
};

/* ---- rows ------------------------------------------------------------------------------------ */

static const struct cli_column columns[] = {
    {"title", "measured", CLI_SHOW_STRING},
    {"verdict", "result", CLI_SHOW_STRING},
    {"numbers", "numbers", CLI_SHOW_STRING},
    {"default_seconds", "default", CLI_SHOW_DURATION},
    {"winner_seconds", "winner", CLI_SHOW_DURATION},
    {"gain_percent", "gain %", CLI_SHOW_NUMBER},
    {"wrong", "wrong", CLI_SHOW_NUMBER},
};

/* The numbers of a winner as "name 17 (was 15)". */
static void describe_numbers(
    const pool_tuning *numbers, const struct tune_candidate *winner, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < winner->count; i++) {
        uint32_t before = 0;
        int length;

        pool_tuning_get(numbers, winner->set[i].name, &before);
        if (before == winner->set[i].value)
            continue;
        length = snprintf(text + used, size - used, "%s%s %u (was %u)", used ? ", " : "",
            winner->set[i].name, winner->set[i].value, before);
        if (length < 0 || (size_t)length >= size - used)
            return;
        used += (size_t)length;
    }
}

/* Of the case that gains most. */
static void add_times(
    cJSON *row, const struct tune_group *group, const struct tune_outcome *outcome)
{
    size_t best = 0;

    for (size_t i = 1; i < group->case_count; i++)
        if (outcome->candidate[i] * outcome->standard[best] <
            outcome->candidate[best] * outcome->standard[i])
            best = i;
    cJSON_AddNumberToObject(row, "default_seconds", outcome->standard[best]);
    cJSON_AddNumberToObject(row, "winner_seconds", outcome->candidate[best]);
    cJSON_AddNumberToObject(row, "gain_percent",
        (double)(int)(1000 * (1 - outcome->candidate[best] / outcome->standard[best])) / 10);
}

static void add_row(
    struct tuner *tuner, const struct tune_group *group, const struct tune_outcome *outcome)
{
    static const char *const verdicts[] = {
        [TUNE_KEEPS] = "default", [TUNE_WINS] = "faster", [TUNE_NOT_MEASURED] = "not measured"};
    const struct tune_candidate *winner = &group->candidates[outcome->winner];
    cJSON *row = cli_add_row(tuner->rows);
    char text[512];

    cJSON_AddStringToObject(row, "title", group->title);
    cJSON_AddStringToObject(row, "verdict", verdicts[outcome->verdict]);
    if (outcome->wrong)
        cJSON_AddNumberToObject(row, "wrong", (double)outcome->wrong);
    if (outcome->verdict != TUNE_WINS)
        return;
    describe_numbers(tuner->device.numbers, winner, text, sizeof(text));
    cJSON_AddStringToObject(row, "numbers", text);
    add_times(row, group, outcome);
}

static void show_stage(void *user, const struct tune_group *group, size_t candidate, size_t index)
{
    const struct tuner *tuner = user;
    char bar[4 * CLI_BAR + 1];

    bench_report_progress();
    cli_progress("%s %s: candidate %zu of %zu, case %zu of %zu",
        cli_bar(tuner->group, tuner->plan.count, bar, sizeof(bar)), group->title, candidate + 1,
        group->candidate_count, index + 1, group->case_count);
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* The numbers of an operation become the defaults when its first measurement begins. */
struct reset {
    const char *operation;
    pool_tuning *numbers;
};

static int reset_number(void *user, const pool_tuning_number *number)
{
    const struct reset *reset = user;
    const size_t length = strlen(reset->operation);

    if (strncmp(number->name, reset->operation, length) == 0 && number->name[length] == '.')
        pool_tuning_set(reset->numbers, number->name, number->default_value);
    return 0;
}

static void reset_operation(struct tuner *tuner)
{
    struct reset reset = {.numbers = tuner->device.numbers};
    const size_t operation = tune_plan_operation(&tuner->plan, tuner->group, &reset.operation);

    if (tuner->is_begun[operation] || bench_now() >= tuner->device.end)
        return;
    tuner->is_begun[operation] = true;
    pool_tuning_each(tuner->device.numbers, reset_number, &reset);
}

/* Groups are made one after the other, as the candidates of some depend on earlier winners. */
static void measure_groups(struct tuner *tuner)
{
    struct tune_group *group = bench_alloc(1, sizeof(*group));

    for (tuner->group = 0; tuner->group < tuner->plan.count; tuner->group++) {
        struct tune_outcome outcome;
        bool is_done;

        reset_operation(tuner);
        if (!tune_plan_group(&tuner->plan, tuner->group, tuner->device.numbers, group))
            continue;
        is_done = tune_decide(group, tune_measure_on_device, &tuner->device, &outcome);
        tune_device_close(&tuner->device);
        if (!is_done)
            break;
        add_row(tuner, group, &outcome);
        tuner->unmeasured += outcome.verdict == TUNE_NOT_MEASURED && tuner->device.is_over;
        tuner->skipped += outcome.skipped;
        tuner->wrong += outcome.wrong;
        if (outcome.verdict == TUNE_WINS) {
            tuner->changed++;
            if (tune_assign(tuner->device.numbers, &group->candidates[outcome.winner]))
                break;
        }
    }
    free(group);
}

static bool is_same_chip(const pool_device_info *one, const pool_device_info *other)
{
    return strcmp(one->name, other->name) == 0 && one->compute_major == other->compute_major &&
           one->compute_minor == other->compute_minor &&
           one->multiprocessors == other->multiprocessors;
}

/* Whether the file can be written at the end; without a name the one that pools read. */
static int check_output(pool_device *device, const char *output, const struct cli_line *line)
{
    struct output_file file;
    char path[PATH_MAX];
    char *slash;
    int code;

    if (output) {
        code = cli_output_open(output, &file);
        if (code == CLI_GO)
            (void)cli_output_close(&file, CLI_FAILED); /* nothing was written */
        return code;
    }
    if (pool_tuning_path(device, path, sizeof(path)))
        return cli_fail(pool_last_error()->status, line->as_json);
    slash = strrchr(path, '/');
    if (slash && slash != path) {
        *slash = 0;
        if (!cli_make_directory(path))
            return cli_fail_with("the directory '%s' cannot be written: %s; --output names another "
                                 "file",
                path, strerror(errno));
    }
    return CLI_GO;
}

/* The elements of the smallest fields have four bytes. */
static int check_sizes(const struct tuner *tuner, const struct cli_device *device)
{
    const uint64_t most = device->info.total_bytes / sizeof(uint32_t);
    char strings[2][CLI_NUMBER];

    for (size_t i = 0; tuner->plan.has_sizes && i < tuner->plan.sizes.count; i++) {
        if (tuner->plan.sizes.at[i] <= most)
            continue;
        cli_fail_with("tune: device %s has %s of memory, too little for %s elements", device->label,
            cli_bytes(device->info.total_bytes, strings[0], CLI_NUMBER),
            cli_size(tuner->plan.sizes.at[i], strings[1], CLI_NUMBER));
        return CLI_USAGE;
    }
    return CLI_GO;
}

/* Finds the device, and the numbers to begin with. `output` is checked unless it is a dry run. */
static int begin(struct tuner *tuner, const struct cli_line *line, uint64_t index,
    const char *output, bool is_dry_run)
{
    struct cli_device next = {0}, other = {0};
    device_pool *pool = NULL;
    pool_status status;
    int code = cli_open_pool(line, 1, &pool);

    if (code != CLI_GO)
        return code;
    while (cli_next_device(pool, &next) && next.position <= index)
        continue;
    if (next.position != index + 1 || !next.is_usable) {
        cli_fail_with(next.position != index + 1 ? "tune: there is no device %llu"
                                                 : "tune: device %llu cannot be used",
            (unsigned long long)index);
        return cli_close_pool(&pool, CLI_USAGE, 0);
    }
    while (cli_next_device(pool, &other))
        if (!is_same_chip(&other.info, &next.info)) {
            cli_fail_with(
                "tune: the devices are of several kinds; name those of one kind with --devices");
            return cli_close_pool(&pool, CLI_USAGE, 0);
        }
    snprintf(tuner->label, sizeof(tuner->label), "%s", next.label);
    code = check_sizes(tuner, &next);
    if (code == CLI_GO && !is_dry_run)
        code = check_output(next.device, output, line);
    if (code != CLI_GO)
        return cli_close_pool(&pool, code, 0);
    status = pool_tuning_create(next.device, &tuner->device.numbers);
    code = status ? cli_fail(status, line->as_json) : CLI_GO;
    return code == CLI_GO ? (cli_close_pool(&pool, 0, 0) ? CLI_FAILED : CLI_GO)
                          : cli_close_pool(&pool, code, 0);
}

/* ---- the end --------------------------------------------------------------------------------- */

static int write_numbers(
    struct tuner *tuner, const char *output, bool is_dry_run, const struct cli_line *line)
{
    pool_status status;

    if (is_dry_run) {
        cli_note("devicepool: nothing is written (--dry-run)");
        return CLI_OK;
    }
    status = pool_tuning_write(tuner->device.numbers, output);
    if (status)
        return cli_fail(status, line->as_json);
    cli_note("devicepool: %zu of %zu measurements have a faster candidate; the numbers are written",
        tuner->changed, tuner->plan.count);
    return CLI_OK;
}

static int finish(
    struct tuner *tuner, const char *output, bool is_dry_run, const struct cli_line *line)
{
    int code = CLI_OK;

    cli_progress_end();
    if (tuner->device.status)
        code = cli_fail_as(tuner->device.status, tuner->device.failure, 0, 0);
    if (tuner->unmeasured)
        cli_note("devicepool: %zu measurements were not begun in the time of --seconds",
            tuner->unmeasured);
    if (tuner->skipped)
        cli_note("devicepool: %zu candidates were left out: no memory or no compiler for them",
            tuner->skipped);
    cli_print_rows(tuner->rows, columns, CLI_COUNT_OF(columns), line);
    if (!code)
        code = write_numbers(tuner, output, is_dry_run, line);
    if (!code && tuner->wrong) {
        cli_fail_with("tune: %zu candidates had wrong results and were not chosen", tuner->wrong);
        code = CLI_DEVICE;
    }
    pool_tuning_destroy(&tuner->device.numbers);
    return code;
}

static const char *const tune_operations[] = {"msm", "ntt", "poseidon", "copy", NULL};

int cli_run_tune(const struct cli_command *self, struct cli_line *line)
{
    struct tuner *tuner = bench_alloc(1, sizeof(*tuner));
    uint64_t device = 0, seconds = 1800, repeat = 9;
    const char *operations = "msm,ntt,poseidon,copy", *subjects = NULL, *output = NULL;
    int is_dry_run = 0, code;
    const struct cli_option options[] = {
        {0, "device", "NUMBER", "measure the device at this position (default 0)", CLI_COUNT,
            &device, NULL},
        {0, "operation", "LIST", "measure only these: msm, ntt, poseidon, copy", CLI_STRING,
            &operations, tune_operations},
        {0, "subject", "NAMES",
            "measure only these curves, fields and parameter sets\n"
            "(default: one for each length of elements); chunks\n"
            "from the host are measured with BN254",
            CLI_STRING, &subjects, NULL},
        {'s', "sizes", "SIZES", "powers of two (default 2^16,2^18,2^20,2^22,2^24)", CLI_SIZES,
            &tuner->plan.sizes, NULL},
        {0, "seconds", "SECONDS", "begin no measurement after this time (default 1800)", CLI_COUNT,
            &seconds, NULL},
        {'r', "repeat", "COUNT", "timed runs of default and candidate (default 9)", CLI_COUNT,
            &repeat, NULL},
        {'o', "output", "FILE", "write to FILE instead of beside the cached kernels", CLI_STRING,
            &output, NULL},
        {'n', "dry-run", NULL, "write nothing", CLI_SWITCH, &is_dry_run, NULL},
    };

    code = cli_parse(self, options, CLI_COUNT_OF(options), line);
    if (code == CLI_GO && (!repeat || repeat > TUNE_MAX_REPEAT))
        code = cli_usage(self, "--repeat must be 1 to %d", TUNE_MAX_REPEAT);
    if (code == CLI_GO)
        code = tune_plan_make(self, operations, subjects, &tuner->plan);
    if (code == CLI_GO)
        code = begin(tuner, line, device, output, is_dry_run);
    if (code != CLI_GO) {
        free(tuner);
        return code;
    }
    tuner->rows = cJSON_CreateArray();
    tuner->device.params = (pool_params){
        .struct_size = sizeof(tuner->device.params), .devices = line->devices, .lazy = 1};
    tuner->device.index = device;
    tuner->device.repeat = repeat;
    tuner->device.end = bench_now() + (double)seconds;
    tuner->device.on_stage = show_stage;
    tuner->device.user = tuner;
    cli_note("devicepool: %s, %zu measurements", tuner->label, tuner->plan.count);
    cli_watch_begin();
    measure_groups(tuner);
    cli_watch_end();
    code = finish(tuner, output, is_dry_run, line);
    free(tuner);
    return code;
}
