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

void cli_print_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", out);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

int cli_fail(pool_status status, int as_json)
{
    const pool_error *error = pool_last_error();
    int code = cli_exit_code(status);

    fprintf(stderr, "devicepool: %s\n", error->message);
    if (as_json) {
        printf("{\"error\": {\"status\": \"%s\", \"class\": \"%s\", \"driver_code\": %d, "
               "\"message\": ",
            pool_status_name(status), pool_error_class_name(pool_status_class(status)),
            error->driver_code);
        cli_print_json_text(stdout, error->message);
        printf("}}\n");
    }
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
