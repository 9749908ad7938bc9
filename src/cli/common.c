/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands share: failures, help, JSON texts, sizes.
 */
#include <string.h>

#include "cli.h"

int cli_exit_code(pool_status status)
{
    switch (pool_status_class(status)) {
    case POOL_CLASS_NONE:
        return CLI_OK;
    case POOL_CLASS_CALL:
        return CLI_FAILED;
    case POOL_CLASS_DEVICE:
        return CLI_DEVICE;
    case POOL_CLASS_HOST:
        return CLI_HOST;
    case POOL_CLASS_PROCESS:
        return CLI_PROCESS;
    default:
        return CLI_INTERNAL;
    }
}

void cli_print_json(cJSON *value)
{
    char *text = value ? cJSON_Print(value) : NULL;

    puts(text ? text : "null");
    cJSON_free(text);
    cJSON_Delete(value);
}

int cli_fail(pool_status status, int as_json)
{
    const pool_error *error = pool_last_error();
    int code = cli_exit_code(status);
    cJSON *report;
    cJSON *detail;

    fprintf(stderr, "devicepool: %s\n", error->message);
    if (!as_json)
        return code;
    report = cJSON_CreateObject();
    detail = cJSON_AddObjectToObject(report, "error");
    cJSON_AddStringToObject(detail, "status", pool_status_name(status));
    cJSON_AddStringToObject(detail, "class", pool_error_class_name(pool_status_class(status)));
    cJSON_AddNumberToObject(detail, "driver_code", error->driver_code);
    cJSON_AddStringToObject(detail, "message", error->message);
    cli_print_json(report);
    return code;
}

int cli_usage(const char *command)
{
    fprintf(stderr, "'devicepool %s --help' explains the options\n", command);
    return CLI_USAGE;
}

int cli_help(const char *command)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *found = &cli_commands[i];

        if (strcmp(found->name, command) != 0)
            continue;
        printf("usage: devicepool %s %s\n\n%s.\n\n%s", found->name, found->arguments,
            found->summary, found->help);
        return CLI_OK;
    }
    fprintf(
        stderr, "devicepool: there is no command '%s'; 'devicepool --help' lists them\n", command);
    return CLI_USAGE;
}

const char *cli_bytes(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}
