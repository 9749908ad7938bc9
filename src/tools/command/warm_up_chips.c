/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool warm-up --chip: the kernels of fields, curves and parameter sets for chips that need
 * not be there, as packs.
 */
#include <stdlib.h>

#include "cli.h"

/* The subjects as the library takes them. */
struct lists {
    const pool_field *fields[CLI_MAX_SUBJECTS];
    const pool_curve *curves[CLI_MAX_SUBJECTS];
    pool_poseidon *sets[CLI_MAX_SUBJECTS];
};

/* For the line of progress. */
struct progress {
    int chip;
    int done, count; /* subjects */
    uint64_t programs;
};

static int show_progress(void *user, const char *subject, uint64_t programs)
{
    struct progress *progress = user;
    char bar[CLI_NUMBER * 4];

    progress->done++;
    progress->programs += programs;
    cli_progress("sm_%d %s %llu programs, %s", progress->chip,
        cli_bar((size_t)progress->done, (size_t)progress->count, bar, sizeof(bar)),
        (unsigned long long)progress->programs, subject);
    return 0;
}

static void sort_subjects(
    const struct cli_subject *subjects, int count, struct lists *lists, pool_pack_params *params)
{
    for (int i = 0; i < count; i++) {
        if (subjects[i].field)
            lists->fields[params->field_count++] = subjects[i].field;
        else if (subjects[i].curve)
            lists->curves[params->curve_count++] = subjects[i].curve;
        else
            lists->sets[params->set_count++] = subjects[i].set;
    }
    params->fields = lists->fields;
    params->curves = lists->curves;
    params->sets = lists->sets;
}

int cli_warm_up_chips(const struct cli_line *line, const struct cli_sizes *chips,
    const char *output, const struct cli_subject *subjects, int count)
{
    static const struct cli_column columns[] = {
        {"target", "for", CLI_SHOW_STRING},
        {"programs", "programs", CLI_SHOW_NUMBER},
        {"bytes", "size", CLI_SHOW_BYTES},
        {"seconds", "time", CLI_SHOW_DURATION},
        {"path", "file", CLI_SHOW_STRING},
    };
    struct lists lists;
    cJSON *rows = cJSON_CreateArray();
    pool_status status = POOL_OK;

    for (size_t i = 0; i < chips->count && !status; i++) {
        struct progress progress = {.chip = (int)chips->at[i], .count = count};
        pool_pack_params params = {.struct_size = sizeof(params),
            .compute_capability = (int32_t)chips->at[i],
            .progress = show_progress,
            .user = &progress};
        pool_pack_info info = {.struct_size = sizeof(info)};
        double begin = bench_now();
        char target[CLI_NUMBER];
        cJSON *row;

        sort_subjects(subjects, count, &lists, &params);
        status = pool_pack_build(output, &params, &info);
        cli_progress_end();
        if (status)
            break;
        row = cli_add_row(rows);
        snprintf(target, sizeof(target), "sm_%d", info.compute_capability);
        cJSON_AddStringToObject(row, "target", target);
        cJSON_AddNumberToObject(row, "compute_capability", info.compute_capability);
        cJSON_AddNumberToObject(row, "programs", (double)info.entries);
        cJSON_AddNumberToObject(row, "bytes", (double)info.bytes);
        cJSON_AddNumberToObject(row, "seconds", bench_now() - begin);
        cJSON_AddStringToObject(row, "path", info.path);
    }
    return cli_print_rows_or_fail(status, rows, columns, CLI_COUNT_OF(columns), line);
}
