/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool version: the versions of library, driver and compiler.
 */
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
    cli_print_json(report);
}

int cli_run_version(const struct cli_command *self, struct cli_line *line)
{
    pool_host_info info = {.struct_size = sizeof(info)};
    pool_status status;
    int code = cli_parse(self, NULL, 0, line);

    if (code != CLI_GO)
        return code;
    status = pool_host_get_info(&info);
    if (status)
        return cli_fail(status, line->as_json);
    if (line->as_json) {
        print_report(&info);
    } else {
        printf("%-11s %s\n", "devicepool", pool_version_text());
        print_component("driver", &info.driver);
        print_component("nvrtc", &info.compiler);
        if (info.compiler.status)
            printf(
                "%-11s the library uses its prebuilt PTX kernels and cannot compile others\n", "");
    }
    return CLI_OK;
}
