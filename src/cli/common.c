/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands share: failures, pools, JSON texts, numbers as text.
 */
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

    return cli_fail_as(status, error->message, error->driver_code, as_json);
}

int cli_fail_as(pool_status status, const char *message, int driver_code, int as_json)
{
    int code = cli_exit_code(status);
    cJSON *report;
    cJSON *detail;

    cli_progress_end();
    fprintf(stderr, "devicepool: %s\n", message);
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
    vfprintf(stderr, format, list);
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
    pool_params params = {.struct_size = sizeof(params), .devices = line->devices, .lazy = lazy};
    pool_status status = pool_create(pool, &params);
    int code;

    if (!status)
        return CLI_GO;
    code = cli_fail(status, line->as_json);
    return status == POOL_ERR_INVALID_ARGUMENT && line->devices ? CLI_USAGE : code;
}

int cli_close_pool(device_pool **pool, int code, int as_json)
{
    pool_status status;

    if (cli_watch_has_given_up()) {
        fflush(stdout);
        _exit(code);
    }
    status = pool_destroy(pool);
    return status && !code ? cli_fail(status, as_json) : code;
}

const char *cli_device_label(pool_device *device, char *text, size_t size)
{
    pool_device_info info = {.struct_size = sizeof(info)};

    if (pool_device_get_info(device, &info))
        snprintf(text, size, "%d", pool_device_index(device));
    else
        snprintf(text, size, "%u %s", info.index, info.name);
    return text;
}

void *cli_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

    if (!memory) {
        fprintf(stderr, "devicepool: out of memory (%zu times %zu bytes)\n", count, bytes);
        exit(CLI_FAILED);
    }
    return memory;
}

double cli_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
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

const char *cli_size(uint64_t count, char *text, size_t size)
{
    int is_power = count >= 1024 && !(count & (count - 1));

    if (is_power)
        snprintf(text, size, "2^%d", __builtin_ctzll(count));
    else
        snprintf(text, size, "%llu", (unsigned long long)count);
    return text;
}

const char *cli_duration(double seconds, char *text, size_t size)
{
    if (seconds >= 1)
        snprintf(text, size, "%.2f s", seconds);
    else if (seconds >= 1e-3)
        snprintf(text, size, seconds < 0.1 ? "%.2f ms" : "%.0f ms", seconds * 1e3);
    else if (seconds >= 1e-6)
        snprintf(text, size, "%.1f us", seconds * 1e6);
    else
        snprintf(text, size, "%.1f ns", seconds * 1e9);
    return text;
}

const char *cli_amount(double value, char *text, size_t size)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1000;
        unit++;
    }
    snprintf(text, size, "%.*f%s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[unit]);
    return text;
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
