/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all commands: failures, pools, JSON, number formatting.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

int cli_find_beside(const char *relative, char *path, size_t size)
{
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    char *end;
    int written;

    if (length <= 0)
        return 0;
    program[length] = '\0';
    end = strrchr(program, '/');
    if (!end)
        return 0;
    *end = '\0';
    written = snprintf(path, size, "%s/%s", program, relative);
    return written > 0 && (size_t)written < size && access(path, F_OK) == 0;
}

/* cJSON writes only C0 as \u00XX. */
static void print_json(const char *json)
{
    const unsigned char *at = (const unsigned char *)json;

    for (; *at; at++) {
        if (*at == 0x7f)
            fputs("\\u007f", stdout);
        else if (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
            printf("\\u%04x", *++at);
        else
            putchar(*at);
    }
    putchar('\n');
}

void cli_print_json(cJSON *value)
{
    char *json = value ? cJSON_Print(value) : NULL;

    print_json(json ? json : "null");
    cJSON_free(json);
    cJSON_Delete(value);
}

int cli_fail(pool_status status, int as_json)
{
    const pool_error *error = pool_last_error();

    return cli_fail_as(status, error->message, error->driver_code, as_json);
}

int cli_fail_as(pool_status status, const char *message, int driver_code, int as_json)
{
    int code = cli_exit_code(status);
    cJSON *report;
    cJSON *detail;

    cli_progress_end();
    fputs("devicepool: ", stderr);
    cli_print_text(stderr, message, "\n\t", INT_MAX);
    fputc('\n', stderr);
    if (!as_json)
        return code;
    report = cJSON_CreateObject();
    detail = cJSON_AddObjectToObject(report, "error");
    cJSON_AddStringToObject(detail, "status", pool_status_name(status));
    cJSON_AddStringToObject(detail, "class", pool_error_class_name(pool_status_class(status)));
    cJSON_AddNumberToObject(detail, "driver_code", driver_code);
    cJSON_AddStringToObject(detail, "message", message);
    cli_print_json(report);
    return code;
}

int cli_fail_with(const char *format, ...)
{
    va_list list;

    cli_progress_end();
    fputs("devicepool: ", stderr);
    va_start(list, format);
    cli_vprint(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return CLI_FAILED;
}

int cli_fail_on(const char *source, pool_status status, int as_json)
{
    const pool_error *error = pool_last_error();
    char message[4096];

    if (status != POOL_ERR_BAD_DATA)
        return cli_fail(status, as_json);
    snprintf(message, sizeof(message), "%s: %s", source, error->message);
    return cli_fail_as(status, message, error->driver_code, as_json);
}

int cli_open_pool(const struct cli_line *line, int lazy, device_pool **pool)
{
    return cli_open_pool_of(line, &(pool_params){.lazy = lazy}, pool);
}

int cli_open_pool_of(const struct cli_line *line, pool_params *params, device_pool **pool)
{
    pool_status status;
    int code;

    params->struct_size = sizeof(*params);
    params->devices = line->devices;
    status = pool_create(pool, params);
    if (!status)
        return CLI_GO;
    code = cli_fail(status, line->as_json);
    return status == POOL_ERR_INVALID_ARGUMENT && line->devices ? CLI_USAGE : code;
}

int cli_close_pool(device_pool **pool, int code, int as_json)
{
    pool_status status;

    if (bench_has_timed_out()) {
        fflush(stdout);
        _exit(code);
    }
    status = pool_destroy(pool);
    return status && !code ? cli_fail(status, as_json) : code;
}

int cli_next_device(device_pool *pool, struct cli_device *device)
{
    device->info = (pool_device_info){.struct_size = sizeof(device->info)};
    if (device->position == pool_device_count(pool) ||
        pool_device_at(pool, device->position, &device->device))
        return 0;
    device->is_usable = pool_device_get_info(device->device, &device->info) ||
                        device->info.state == POOL_DEVICE_READY;
    snprintf(device->label, sizeof(device->label), "%zu %s", device->position, device->info.name);
    device->position++;
    return 1;
}

cJSON *cli_add_row(cJSON *rows)
{
    cJSON *row = cJSON_CreateObject();

    cJSON_AddItemToArray(rows, row);
    return row;
}

const char *cli_bytes(uint64_t value, char *string, size_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double scaled = (double)value;
    size_t unit = 0;

    while (scaled >= 1024 && unit + 1 < CLI_COUNT_OF(units)) {
        scaled /= 1024;
        unit++;
    }
    snprintf(string, bytes, unit ? "%.1f %s" : "%.0f %s", scaled, units[unit]);
    return string;
}

const char *cli_size(uint64_t count, char *string, size_t bytes)
{
    int is_power = count >= 1024 && !(count & (count - 1));

    if (is_power)
        snprintf(string, bytes, "2^%d", __builtin_ctzll(count));
    else
        snprintf(string, bytes, "%llu", (unsigned long long)count);
    return string;
}

const char *cli_duration(double seconds, char *string, size_t bytes)
{
    if (seconds >= 1)
        snprintf(string, bytes, "%.2f s", seconds);
    else if (seconds >= 1e-3)
        snprintf(string, bytes, seconds < 0.1 ? "%.2f ms" : "%.0f ms", seconds * 1e3);
    else if (seconds >= 1e-6)
        snprintf(string, bytes, "%.1f us", seconds * 1e6);
    else
        snprintf(string, bytes, "%.1f ns", seconds * 1e9);
    return string;
}

const char *cli_amount(double value, char *string, size_t bytes)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < CLI_COUNT_OF(units)) {
        value /= 1000;
        unit++;
    }
    snprintf(string, bytes, "%.*f%s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[unit]);
    return string;
}

const char *cli_hex(const void *bytes, size_t count, char *digits)
{
    static const char hex[] = "0123456789abcdef";
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < count; i++) {
        digits[2 * i] = hex[byte[i] >> 4];
        digits[2 * i + 1] = hex[byte[i] & 15];
    }
    digits[2 * count] = 0;
    return digits;
}
