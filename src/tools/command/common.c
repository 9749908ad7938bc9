/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all commands: failures, pools, JSON, number formatting.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "host.h"

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

/* Insertions, deletions, replacements and exchanges of neighbours from one string to the other,
 * both of at most MAX_MATCHED characters. */
enum { MAX_MATCHED = 47 };

static size_t distance_of(const char *a, const char *b)
{
    size_t rows[3][MAX_MATCHED + 1];
    const size_t length = strlen(b);

    for (size_t j = 0; j <= length; j++)
        rows[0][j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *row = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = row[j] < last[j] + 1 ? row[j] : last[j] + 1;
            row[j] = row[j] < row[j - 1] + 1 ? row[j] : row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    return rows[strlen(a) % 3][length];
}

void cli_match_name(const char *wrong, const char *candidate, struct cli_match *match)
{
    const size_t length = strlen(wrong);
    size_t distance;

    if (length > MAX_MATCHED || strlen(candidate) > MAX_MATCHED)
        return;
    /* The beginning of a name is as near as one wrong character. */
    distance =
        length > 2 && strncmp(wrong, candidate, length) == 0 ? 1 : distance_of(wrong, candidate);
    if (distance > 2 || 2 * distance > length || (match->name && match->distance <= distance))
        return;
    *match = (struct cli_match){.name = candidate, .distance = distance};
}

void cli_match_kinds(const char *wrong, unsigned kinds, struct cli_match *match)
{
    for (size_t i = 0; kinds & CLI_FIELDS && i < pool_field_count(); i++)
        cli_match_name(wrong, pool_field_name(pool_field_at(i)), match);
    for (size_t i = 0; kinds & CLI_CURVES && i < pool_curve_count(); i++)
        cli_match_name(wrong, pool_curve_name(pool_curve_at(i)), match);
    for (size_t i = 0; kinds & CLI_SETS && i < pool_poseidon_count(); i++)
        cli_match_name(wrong, pool_poseidon_name_at(i), match);
}

const char *cli_suggestion(const struct cli_match *match)
{
    static char text[MAX_MATCHED + 32];

    if (!match->name)
        return "";
    snprintf(text, sizeof(text), " (did you mean '%s'?)", match->name);
    return text;
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

void cli_explain_host(FILE *file, pool_status failure)
{
    struct host_facts facts;
    char text[2048];

    host_find("", &facts);
    fprintf(
        file, "%s\n", host_advice(&facts, failure != POOL_ERR_NO_DRIVER, "  ", text, sizeof(text)));
}

/* Prints an argument as a shell reads it. */
static void print_argument(FILE *file, const char *argument)
{
    if (*argument &&
        !argument[strspn(argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789+,-./:=@^_%")]) {
        fprintf(file, " %s", argument);
        return;
    }
    fputs(" '", file);
    while (*argument) {
        const size_t length = strcspn(argument, "'");
        char *part = bench_alloc(length + 1, 1);

        memcpy(part, argument, length);
        cli_print_text(file, part, "", INT_MAX); /* whole, for characters of several bytes */
        free(part);
        argument += length;
        if (*argument == '\'') {
            fputs("'\\''", file);
            argument++;
        }
    }
    fputc('\'', file);
}

static int wants_simulated(const struct cli_line *line)
{
    pool_setting named = {.struct_size = sizeof(named)};

    if (!line->devices && pool_setting_by_name("DEVICEPOOL_DEVICES", &named))
        return 0;
    return strstr(line->devices ? line->devices : named.value, "sim") != NULL;
}

/* Prints the words of the line with simulated devices in the place of those that it names, so that
 * what follows a "--" stays what it is. */
static void print_with_simulated(const struct cli_line *line)
{
    fputs(line->arguments[0], stderr);
    if (!line->devices)
        fputs(" --devices sim", stderr);
    for (int i = 1; i < line->count; i++) {
        const char *word = line->arguments[i];
        const bool has_devices =
            line->devices && line->devices >= word && line->devices <= word + strlen(word);

        if (!has_devices)
            print_argument(stderr, word);
        else /* "0", "--devices=0" or "-d0" */
            fprintf(stderr, " %.*ssim", (int)(line->devices - word), word);
    }
    fputc('\n', stderr);
}

/* Both ways on: with the GPUs of this host, and without. */
static void explain_missing_gpu(const struct cli_line *line, pool_status failure)
{
    fputs("\nTo use a GPU:\n", stderr);
    cli_explain_host(stderr, failure);
    fputs("\nTo compute without one, on a simulated device, set DEVICEPOOL_DEVICES=sim, or:\n  ",
        stderr);
    print_with_simulated(line);
}

int cli_open_pool_of(const struct cli_line *line, pool_params *params, device_pool **pool)
{
    pool_status status;
    int code;

    params->struct_size = sizeof(*params);
    params->devices = line->devices;
    params->status_socket = ""; /* the setting is for services */
    cli_progress("opening the devices");
    cli_watch_begin();
    status = pool_create(pool, params);
    cli_watch_end();
    cli_progress_end();
    cli_watch_pool(*pool);
    if (!status)
        return CLI_GO;
    code = cli_fail(status, line->as_json);
    if ((status == POOL_ERR_NO_DRIVER || status == POOL_ERR_NO_DEVICE) && !wants_simulated(line))
        explain_missing_gpu(line, status);
    return status == POOL_ERR_INVALID_ARGUMENT && line->devices ? CLI_USAGE : code;
}

int cli_close_pool(device_pool **pool, int code, int as_json)
{
    pool_status status;

    if (bench_has_timed_out()) {
        fflush(stdout);
        _exit(code);
    }
    cli_watch_pool(NULL);
    cli_watch_begin();
    status = pool_destroy(pool);
    cli_watch_end();
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

int cli_fits(const struct cli_device *device, const struct bench_operation *operation,
    const struct bench_case *spec)
{
    const uint64_t needed = bench_device_bytes(operation, spec);
    char strings[3][CLI_NUMBER];

    if (needed <= device->info.total_bytes)
        return 1;
    cli_fail_with(
        "nothing was run: %s of %s %s needs %s of device memory or more, and device %s has "
        "%s",
        operation->name, cli_size(spec->size, strings[0], CLI_NUMBER), spec->subject,
        cli_bytes(needed, strings[1], CLI_NUMBER), device->label,
        cli_bytes(device->info.total_bytes, strings[2], CLI_NUMBER));
    return 0;
}

int cli_make_directory(const char *path)
{
    char part[PATH_MAX];

    snprintf(part, sizeof(part), "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(part, 0700);
        *slash = '/';
    }
    if (mkdir(part, 0700) && errno != EEXIST)
        return 0;
    return access(part, W_OK | X_OK) == 0;
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
