/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool warm-up: compiles the kernels of fields, extensions, curves and Poseidon parameter
 * sets into the disk cache, before the first job needs them.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"

static pool_status warm_up_field(const pool_field *field, pool_device *device)
{
    pool_ntt_domain_params params = {.struct_size = sizeof(params), .field = field};
    pool_ntt_domain *domain = NULL;
    pool_status status;

    if (pool_field_degree(field) > 1) /* with the vectors' kernels */
        return pool_fri_warm_up(
            field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
    status = pool_vector_warm_up(
        field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
    params.log_size = pool_field_two_adicity(field) < 4 ? pool_field_two_adicity(field) : 4;
    if (!status)
        status = pool_ntt_domain_create(&params, &domain);
    if (!status)
        status = pool_ntt_warm_up(
            domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
    pool_ntt_domain_destroy(&domain);
    return status;
}

/* Without a compiler transforms of points of most curves are left out. */
static pool_status warm_up_curve(const pool_curve *curve, pool_device *device)
{
    pool_status status =
        pool_msm_warm_up(curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});

    if (status || !pool_field_two_adicity(pool_curve_scalar_field(curve)))
        return status;
    status =
        pool_ecntt_warm_up(curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
    return status == POOL_ERR_NO_COMPILER ? POOL_OK : status;
}

static int find_subject(const char *name, struct cli_subject *subject)
{
    *subject = (struct cli_subject){.name = name, .field = pool_field_by_name(name)};
    if (!subject->field)
        subject->curve = pool_curve_by_name(name);
    return subject->field || subject->curve || !pool_poseidon_by_name(name, &subject->set);
}

static const char *kind_of(const struct cli_subject *subject)
{
    return subject->field ? "field" : subject->curve ? "curve" : "set";
}

static pool_status warm_up_subject(const struct cli_subject *subject, pool_device *device)
{
    if (subject->field)
        return warm_up_field(subject->field, device);
    if (subject->curve)
        return warm_up_curve(subject->curve, device);
    return pool_poseidon_warm_up(
        subject->set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device});
}

static pool_status warm_up_device(
    const struct cli_device *device, const struct cli_subject *subjects, int count, cJSON *rows)
{
    for (int i = 0; i < count; i++) {
        const struct cli_subject *subject = &subjects[i];
        double begin = bench_now();
        pool_status status;
        cJSON *row;

        cli_progress(
            "%s: %s %s (%d of %d)", device->label, kind_of(subject), subject->name, i + 1, count);
        status = warm_up_subject(subject, device->device);
        if (status)
            return status;
        row = cli_add_row(rows);
        cJSON_AddStringToObject(row, "device", device->label);
        cJSON_AddStringToObject(row, "kind", kind_of(subject));
        cJSON_AddStringToObject(row, "name", subject->name);
        cJSON_AddNumberToObject(row, "seconds", bench_now() - begin);
    }
    return POOL_OK;
}

/* The kernels are of use to later processes only where they can be stored. */
static int check_cache(void)
{
    char path[4096];

    if (pool_cache_directory(path, sizeof(path)) || cli_make_directory(path))
        return CLI_GO; /* disabled on purpose, or usable */
    return cli_fail_with("no kernels can be stored: the cache directory '%s' cannot be used: %s; "
                         "DEVICEPOOL_CACHE_DIR names another one, DEVICEPOOL_CACHE=off none",
        path, strerror(errno));
}

static int warm_up_all(
    const struct cli_line *line, const struct cli_subject *subjects, int subject_count)
{
    static const struct cli_column columns[] = {
        {"device", "device", CLI_SHOW_STRING},
        {"kind", "kind", CLI_SHOW_STRING},
        {"name", "name", CLI_SHOW_STRING},
        {"seconds", "time", CLI_SHOW_DURATION},
    };
    struct cli_device next = {0};
    device_pool *pool = NULL;
    pool_status status = POOL_OK;
    int code = check_cache();
    cJSON *rows;

    if (code == CLI_GO)
        code = cli_open_pool(line, 0, &pool);
    if (code != CLI_GO)
        return code;
    rows = cJSON_CreateArray();
    cli_watch_begin();
    while (!status && cli_next_device(pool, &next))
        if (next.is_usable)
            status = warm_up_device(&next, subjects, subject_count, rows);
    cli_watch_end();
    code = cli_print_rows_or_fail(status, rows, columns, CLI_COUNT_OF(columns), line);
    return cli_close_pool(&pool, code, 0);
}

static int fail_name(const struct cli_command *self, const char *name)
{
    struct cli_match match = {0};

    cli_match_kinds(name, CLI_FIELDS | CLI_CURVES | CLI_SETS, &match);
    return cli_usage(self,
        "no field, curve or parameter set '%s'%s; see 'devicepool list fields' (or curves, sets)",
        name, cli_suggestion(&match));
}

/* The built-in extensions, which pool_field_at does not count. */
static const char *const extensions[] = {"goldilocks_x2", "babybear_x4", "koalabear_x4"};

/* Everything that has a name. */
static int find_all(struct cli_subject *subjects)
{
    int count = 0;

    for (size_t i = 0; i < pool_field_count(); i++)
        count += find_subject(pool_field_name(pool_field_at(i)), &subjects[count]);
    for (size_t i = 0; i < CLI_COUNT_OF(extensions); i++)
        count += find_subject(extensions[i], &subjects[count]);
    for (size_t i = 0; i < pool_curve_count(); i++)
        count += find_subject(pool_curve_name(pool_curve_at(i)), &subjects[count]);
    for (size_t i = 0; i < pool_poseidon_count(); i++)
        count += find_subject(pool_poseidon_name_at(i), &subjects[count]);
    return count;
}

/* Returns CLI_GO or an exit code. */
static int find_subjects(const struct cli_command *self, const struct cli_line *line,
    struct cli_subject *subjects, int *count)
{
    if (line->operand_count == 1 && strcmp(line->operands[0], "all") == 0) {
        *count = find_all(subjects);
        return CLI_GO;
    }
    for (int i = 0; i < line->operand_count; i++) {
        if (!find_subject(line->operands[i], &subjects[*count]))
            return fail_name(self, line->operands[i]);
        (*count)++;
    }
    return CLI_GO;
}

/* Both options or none: CLI_GO or an exit code. */
static int check_chips(
    const struct cli_command *self, const struct cli_sizes *chips, const char *output)
{
    if (!chips->count != !output)
        return cli_usage(self, "--chip and --output belong together");
    return cli_check_chips(self, chips);
}

int cli_run_warm_up(const struct cli_command *self, struct cli_line *line)
{
    struct cli_subject subjects[CLI_MAX_SUBJECTS];
    struct cli_sizes chips = {0};
    const char *output = NULL;
    const struct cli_option options[] = {
        {0, "chip", "CHIPS",
            "compile for these chips, 80,90,120, into packs in the\n"
            "directory of --output, without a device",
            CLI_SIZES, &chips, NULL},
        {'o', "output", "DIR", "the directory of packs: DIR/sm_90.pack", CLI_STRING, &output, NULL},
    };
    int count = 0;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code == CLI_GO)
        code = check_chips(self, &chips, output);
    if (code != CLI_GO)
        return code;
    code = find_subjects(self, line, subjects, &count);
    if (code == CLI_GO)
        code = output ? cli_warm_up_chips(line, &chips, output, subjects, count)
                      : warm_up_all(line, subjects, count);
    for (int i = 0; i < count; i++)
        pool_poseidon_destroy(&subjects[i].set);
    return code;
}
