/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool version: the versions of library, driver and compiler, and the settings in effect.
 */
#include <stdbool.h>

#include "cli.h"

static void print_component(const char *name, const pool_component *component)
{
    if (component->status)
        printf("%-11s none: %s\n", name, component->message);
    else
        printf("%-11s CUDA %d.%d, %s%s%s\n", name, component->version / 1000,
            component->version % 1000 / 10, component->path, component->message[0] ? "; " : "",
            component->message);
}

/* The packs of machine code that the library looks into. */
static void print_packs(void)
{
    pool_pack_info info = {.struct_size = sizeof(info)};

    for (size_t i = 0; !pool_pack_at(i, &info); i++)
        if (info.is_used)
            printf("%-11s sm_%d, NVRTC %d.%d, %llu programs, %s\n", "pack", info.compute_capability,
                info.compiler_version / 1000, info.compiler_version % 1000 / 10,
                (unsigned long long)info.entries, info.path);
        else
            printf("%-11s %s is not used: %s\n", "pack", info.path, info.reason);
}

static void add_packs(cJSON *report)
{
    pool_pack_info info = {.struct_size = sizeof(info)};
    cJSON *rows = cJSON_AddArrayToObject(report, "packs");

    for (size_t i = 0; !pool_pack_at(i, &info); i++) {
        cJSON *row = cli_add_row(rows);

        cJSON_AddStringToObject(row, "path", info.path);
        cJSON_AddBoolToObject(row, "used", info.is_used);
        cJSON_AddStringToObject(row, "reason", info.reason);
    }
}

static void add_component(cJSON *report, const char *name, const pool_component *component)
{
    cJSON *object = cJSON_AddObjectToObject(report, name);
    char version[32];

    snprintf(version, sizeof(version), "%d.%d", component->version / 1000,
        component->version % 1000 / 10);
    cJSON_AddBoolToObject(object, "usable", !component->status);
    cJSON_AddStringToObject(object, "version", version);
    cJSON_AddStringToObject(object, "path", component->path);
    cJSON_AddStringToObject(object, "message", component->message);
}

static void print_report(const pool_host_info *info)
{
    cJSON *report = cJSON_CreateObject();

    cJSON_AddStringToObject(report, "devicepool", pool_version_text());
    add_component(report, "driver", &info->driver);
    add_component(report, "nvrtc", &info->compiler);
    add_packs(report);
    cli_print_json(report);
}

/* ---- settings -------------------------------------------------------------------------------- */

static pool_status add_settings(cJSON *rows)
{
    pool_setting setting = {.struct_size = sizeof(setting)};
    pool_status status;

    for (size_t i = 0; (status = pool_setting_at(i, &setting)) == POOL_OK; i++) {
        const bool is_default = setting.source == POOL_SETTING_DEFAULT || !setting.value[0];
        char from[560] = "default";
        cJSON *row = cli_add_row(rows);

        if (setting.source == POOL_SETTING_FILE)
            snprintf(from, sizeof(from), "%s:%u", setting.file, (unsigned)setting.line);
        else if (setting.source == POOL_SETTING_ENVIRONMENT)
            snprintf(from, sizeof(from), "environment");
        cJSON_AddStringToObject(row, "setting", setting.name);
        cJSON_AddStringToObject(row, "value", is_default ? setting.fallback : setting.value);
        cJSON_AddStringToObject(row, "from", from);
        cJSON_AddStringToObject(row, "default", setting.fallback);
        cJSON_AddStringToObject(row, "meaning", setting.meaning);
    }
    return status == POOL_ERR_NOT_FOUND ? POOL_OK : status; /* there are no more */
}

static int print_settings(const struct cli_line *line)
{
    static const struct cli_column columns[] = {{"setting", "setting", CLI_SHOW_STRING},
        {"value", "value", CLI_SHOW_STRING}, {"from", "from", CLI_SHOW_STRING}};
    cJSON *rows = cJSON_CreateArray();

    return cli_print_rows_or_fail(add_settings(rows), rows, columns, CLI_COUNT_OF(columns), line);
}

int cli_run_version(const struct cli_command *self, struct cli_line *line)
{
    pool_host_info info = {.struct_size = sizeof(info)};
    int shows_settings = 0;
    const struct cli_option options[] = {
        {0, "config", NULL,
            "show the settings in effect instead: value, and\n"
            "whether it comes from the environment, the\n"
            "configuration file or is the default",
            CLI_SWITCH, &shows_settings, NULL},
    };
    pool_status status;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code != CLI_GO)
        return code;
    if (shows_settings)
        return print_settings(line);
    cli_progress("trying the driver and the compiler");
    cli_watch_begin();
    status = pool_host_get_info(&info);
    cli_watch_end();
    cli_progress_end();
    if (status)
        return cli_fail(status, line->as_json);
    if (line->as_json) {
        print_report(&info);
    } else {
        printf("%-11s %s\n", "devicepool", pool_version_text());
        print_component("driver", &info.driver);
        if (info.driver.status == POOL_ERR_NO_DRIVER || info.driver.status == POOL_ERR_NO_DEVICE)
            cli_explain_host(stdout, info.driver.status);
        print_component("nvrtc", &info.compiler);
        if (info.compiler.status)
            printf(
                "%-11s the library uses its prebuilt PTX kernels and cannot compile others\n", "");
        print_packs();
    }
    return CLI_OK;
}
