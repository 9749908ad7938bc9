/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of a suite: where and when it was measured, and a row for each figure.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_suite.h"

enum { MAX_REPORT = 64 << 20 };

/* ---- earlier reports ------------------------------------------------------------------------- */

/* NULL, with the reason in `reason`. */
static char *read_text(const char *path, const char **reason)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0, count = 0;

    *reason = "it cannot be read";
    while (file && size < MAX_REPORT) {
        text = realloc(text, size + (1 << 16) + 1);
        if (!text)
            break;
        count = fread(text + size, 1, 1 << 16, file);
        size += count;
        if (count < 1 << 16)
            break;
    }
    if (text)
        text[size] = 0;
    if (!text || ferror(file) || size >= MAX_REPORT || strlen(text) != size) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

cJSON *cli_suite_read(const char *path)
{
    const char *reason = NULL;
    char *text = read_text(path, &reason);
    cJSON *report = text ? cJSON_Parse(text) : NULL;

    output_file_add_input(path);
    free(text);
    if (report && cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(report, "rows")))
        return report;
    if (text)
        reason = "it is no report of bench --suite";
    cli_fail_with("'%s': %s", path, reason);
    cJSON_Delete(report);
    return NULL;
}

static bool has_text(const cJSON *row, const char *member, const char *text)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, member);

    return cJSON_IsString(value) && strcmp(value->valuestring, text) == 0;
}

double cli_suite_old(const cJSON *report, const struct suite_row *row)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(report, "rows");
    const cJSON *old;

    cJSON_ArrayForEach(old, rows)
    {
        const cJSON *figure = cJSON_GetObjectItemCaseSensitive(old, "figure");

        if (has_text(old, "name", row->name) && has_text(old, "unit", suite_unit_name(row->unit)))
            return cJSON_IsNumber(figure) && figure->valuedouble > 0 ? figure->valuedouble : 0;
    }
    return 0;
}

/* How many times as long the figure is as another one of the row. */
static double slowdown(const struct suite_row *row, double figure, double other)
{
    if (!(figure > 0) || !(other > 0))
        return 0;
    return suite_is_rate(row->unit) ? other / figure : figure / other;
}

double cli_suite_ratio(const struct suite_row *row, const struct cli_suite_result *result)
{
    return slowdown(row, result->figure, result->old);
}

/* ---- a report -------------------------------------------------------------------------------- */

/* "580.159.04" of ".../libcuda.so.580.159.04". */
static void add_driver(cJSON *report, const pool_component *driver)
{
    static const char name[] = "libcuda.so.";
    char *path = driver->status ? NULL : realpath(driver->path, NULL);
    const char *version = path ? strstr(path, name) : NULL;

    if (version && strchr(version + strlen(name), '.'))
        cJSON_AddStringToObject(report, "driver", version + strlen(name));
    free(path);
}

static void add_version(cJSON *report, const char *name, const pool_component *component)
{
    char text[32];

    if (component->status)
        return;
    snprintf(
        text, sizeof(text), "%d.%d", component->version / 1000, component->version % 1000 / 10);
    cJSON_AddStringToObject(report, name, text);
}

static void add_host(cJSON *report)
{
    enum { MANY = 4096 };
    pool_host_info info = {.struct_size = sizeof(info)};
    const time_t now = time(NULL);
    struct tm parts;
    char date[32] = "";

    if (gmtime_r(&now, &parts))
        strftime(date, sizeof(date), "%Y-%m-%d", &parts);
    cJSON_AddStringToObject(report, "date", date);
    cJSON_AddStringToObject(report, "version", pool_version_text());
    cJSON_AddNumberToObject(report, "processors", (double)bench_processors(MANY));
    if (pool_host_get_info(&info))
        return;
    add_driver(report, &info.driver);
    add_version(report, "cuda", &info.driver);
    add_version(report, "nvrtc", &info.compiler);
}

static void add_number(cJSON *row, const char *name, double value)
{
    if (value > 0)
        cJSON_AddNumberToObject(row, name, value);
}

bool cli_suite_exceeds(const struct cli_suite_result *result)
{
    return result->launches.untimed || (result->launches.kernel_count &&
                                           result->launches.kernels[0].longest > SUITE_MAX_LAUNCH);
}

static void add_launches(cJSON *row, const struct cli_suite_result *result)
{
    const struct bench_launches *launches = &result->launches;
    cJSON *kernels = cJSON_AddArrayToObject(row, "kernels");

    for (size_t i = 0; i < launches->kernel_count; i++) {
        cJSON *kernel = cli_add_row(kernels);

        cJSON_AddStringToObject(kernel, "kernel", launches->kernels[i].name);
        cJSON_AddNumberToObject(kernel, "launches", (double)launches->kernels[i].count);
        cJSON_AddNumberToObject(kernel, "longest_seconds", launches->kernels[i].longest);
    }
    cJSON_AddNumberToObject(row, "launches", (double)launches->count);
    add_number(row, "untimed", (double)launches->untimed);
    if (launches->kernel_count) {
        cJSON_AddStringToObject(row, "longest", launches->kernels[0].name);
        cJSON_AddNumberToObject(row, "longest_seconds", launches->kernels[0].longest);
    }
    cJSON_AddBoolToObject(row, "is_bounded", !cli_suite_exceeds(result));
}

static void add_row(cJSON *rows, const struct suite_row *row, const struct cli_suite_result *result,
    size_t device_count, const struct cli_suite *options)
{
    const bool is_scaled = options->scale > 0;
    const bool has_peer = !is_scaled && (!row->devices || row->devices == device_count);
    cJSON *added;

    if (result->outcome == SUITE_NOT_RUN)
        return;
    added = cli_add_row(rows);
    cJSON_AddStringToObject(added, "name", row->name);
    cJSON_AddStringToObject(added, "group", row->group);
    if (result->outcome == SUITE_SKIPPED)
        cJSON_AddStringToObject(added, "skipped", result->reason);
    if (result->outcome == SUITE_FAILED)
        cJSON_AddStringToObject(added, "failure", result->reason);
    if (result->outcome == SUITE_WRONG)
        cJSON_AddStringToObject(added, "failure", "wrong result");
    if (result->outcome == SUITE_MEASURED && options->shows_launches) {
        add_launches(added, result);
    } else if (result->outcome == SUITE_MEASURED) {
        cJSON_AddNumberToObject(added, "figure", result->figure);
        cJSON_AddStringToObject(added, "unit", suite_unit_name(row->unit));
        add_number(added, "best", result->best);
        add_number(added, "worst", result->worst);
        add_number(added, "runs", (double)result->runs);
        add_number(added, "first_use_seconds", result->first_use);
        add_number(added, "peer", has_peer ? row->peer : 0);
        add_number(added, "of_peer", has_peer ? slowdown(row, result->figure, row->peer) : 0);
        add_number(added, "target", result->target);
        add_number(added, "of_target", slowdown(row, result->figure, result->target));
        add_number(added, "before", result->old);
        add_number(added, "of_before", cli_suite_ratio(row, result));
    }
    cJSON_AddNumberToObject(added, "seconds", result->seconds);
    if (result->outcome == SUITE_MEASURED || result->outcome == SUITE_WRONG)
        cJSON_AddBoolToObject(added, "checked", result->outcome == SUITE_MEASURED);
}

cJSON *cli_suite_report(const struct cli_suite *options, const struct cli_suite_result *results,
    pool_device *device, size_t device_count, bool is_complete)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    cJSON *report = cJSON_CreateObject();
    cJSON *rows;

    add_host(report);
    if (options->label)
        cJSON_AddStringToObject(report, "label", options->label);
    if (device && !pool_device_get_info(device, &info)) {
        cJSON_AddStringToObject(report, "device", info.name);
        cJSON_AddNumberToObject(report, "devices", (double)device_count);
    }
    add_number(report, "scale", (double)options->scale);
    if (options->shows_launches)
        cJSON_AddNumberToObject(report, "bound_seconds", SUITE_MAX_LAUNCH);
    cJSON_AddBoolToObject(report, "complete", is_complete);
    rows = cJSON_AddArrayToObject(report, "rows");
    for (size_t i = 0; i < suite_row_count; i++)
        add_row(rows, &suite_rows[i], &results[i], device_count, options);
    return report;
}

/* ---- printing -------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *report, const char *member)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(report, member);

    return cJSON_IsString(value) ? value->valuestring : "none";
}

void cli_suite_print(cJSON *report, const struct cli_suite *options, const struct cli_line *line)
{
    static const struct cli_column launches[] = {
        {"name", "measured", CLI_SHOW_STRING},
        {"launches", "launches", CLI_SHOW_NUMBER},
        {"untimed", "not timed", CLI_SHOW_NUMBER},
        {"longest", "longest", CLI_SHOW_STRING},
        {"longest_seconds", "time", CLI_SHOW_DURATION},
        {"is_bounded", "bounded", CLI_SHOW_CHECK},
        {"checked", "checked", CLI_SHOW_CHECK},
        {"skipped", "not measured", CLI_SHOW_STRING},
    };
    static const struct cli_column columns[] = {
        {"name", "measured", CLI_SHOW_STRING},
        {"figure", "figure", CLI_SHOW_FIGURE},
        {"unit", "", CLI_SHOW_STRING},
        {"best", "best", CLI_SHOW_FIGURE},
        {"worst", "worst", CLI_SHOW_FIGURE},
        {"first_use_seconds", "first use", CLI_SHOW_DURATION},
        {"peer", "peer", CLI_SHOW_FIGURE},
        {"of_peer", "time / peer", CLI_SHOW_FIGURE},
        {"target", "target", CLI_SHOW_FIGURE},
        {"of_target", "time / target", CLI_SHOW_FIGURE},
        {"before", "before", CLI_SHOW_FIGURE},
        {"of_before", "time / before", CLI_SHOW_FIGURE},
        {"checked", "checked", CLI_SHOW_CHECK},
        {"skipped", "not measured", CLI_SHOW_STRING},
    };
    cJSON *rows;

    cli_progress_end();
    if (line->as_json) {
        cli_print_json(report);
        return;
    }
    printf("%s, %s, driver %s, devicepool %s%s%s\n\n", text_of(report, "date"),
        text_of(report, "device"), text_of(report, "driver"), text_of(report, "version"),
        cJSON_HasObjectItem(report, "label") ? ", " : "",
        cJSON_HasObjectItem(report, "label") ? text_of(report, "label") : "");
    rows = cJSON_DetachItemFromObjectCaseSensitive(report, "rows");
    if (options->shows_launches)
        cli_print_rows(rows, launches, CLI_COUNT_OF(launches), line);
    else
        cli_print_rows(rows, columns, CLI_COUNT_OF(columns), line);
    cJSON_Delete(report);
}
