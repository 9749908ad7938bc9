/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plots the rows of a benchmark by a gnuplot process that reads its script from a pipe.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

static const char *get_string(const cJSON *row, const char *key)
{
    const char *string = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, key));

    return string ? string : "";
}

static double get_number(const cJSON *row, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(row, key));
}

static int is_same_line(const cJSON *a, const cJSON *b)
{
    return strcmp(get_string(a, "subject"), get_string(b, "subject")) == 0 &&
           strcmp(get_string(a, "uuid"), get_string(b, "uuid")) == 0;
}

/* Writes a single-quoted gnuplot string, in which only the quote itself is special. */
static void write_quoted(FILE *script, const char *string)
{
    fputc('\'', script);
    for (; *string; string++) {
        if (*string == '\'')
            fputc('\'', script);
        if ((unsigned char)*string >= ' ')
            fputc(*string, script);
    }
    fputc('\'', script);
}

/* Writes the rows of each line as one data block; rows of one line are consecutive. */
static void write_data(FILE *script, const cJSON *rows)
{
    const cJSON *last = NULL;
    const cJSON *row;
    int lines = 0;

    cJSON_ArrayForEach(row, rows)
    {
        if (!last || !is_same_line(last, row))
            fprintf(script, "%s$line%d << END\n", last ? "END\n" : "", lines++);
        fprintf(script, "%.17g %.17g %.17g %.17g\n", get_number(row, "size"),
            get_number(row, "median_seconds"), get_number(row, "min_seconds"),
            get_number(row, "max_seconds"));
        last = row;
    }
    if (last)
        fputs("END\n", script);
}

/* Chip, version and date, below the plot. */
static void write_origin(FILE *script, device_pool *pool)
{
    const time_t now = time(NULL);
    char text[512] = "", date[32];
    struct cli_device next = {0};
    size_t used = 0;

    while (cli_next_device(pool, &next))
        if (!strstr(text, next.info.name) && used < sizeof(text))
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s, ", next.info.name);
    used = strlen(text);
    strftime(date, sizeof(date), "%Y-%m-%d", localtime(&now));
    snprintf(text + used, sizeof(text) - used,
        "devicepool %s, %s; bars: fastest to slowest of the runs", pool_version_text(), date);
    fputs("set label 1 ", script);
    write_quoted(script, text);
    fputs(" noenhanced at screen 0.5, screen 0.025 center font ',10'\nset bmargin 5\n", script);
}

static void write_script(FILE *script, device_pool *pool, const cJSON *rows, const char *operation)
{
    const cJSON *last = NULL;
    const cJSON *row;
    char title[256];
    int lines = 0;

    write_data(script, rows);
    write_origin(script, pool);
    fprintf(script,
        "set terminal svg size 800,520 enhanced font 'sans,13' background 'white'\n"
        "set title 'devicepool bench %s'\nset logscale x 2\nset logscale y 10\n"
        "set format x '2^{%%L}'\nset xlabel 'size'\nset ylabel 'median seconds'\n"
        "set format y '10^{%%L}'\nset grid\nset key left top\nplot ",
        operation);
    cJSON_ArrayForEach(row, rows)
    {
        if (last && is_same_line(last, row))
            continue;
        fprintf(script, "%s$line%d with yerrorlines pt 7 ps 0.6 lw 2 title ", last ? ", " : "",
            lines++);
        snprintf(title, sizeof(title), "%s on %s", get_string(row, "subject"),
            get_string(row, "device"));
        write_quoted(script, title);
        fputs(" noenhanced", script);
        last = row;
    }
    fputc('\n', script);
}

int cli_plot_open(const char *path, struct output_file *picture)
{
    int code = cli_output_open(path, picture);

    if (code != CLI_GO || !path || system("command -v gnuplot >/dev/null") == 0)
        return code;
    code = cli_fail_with("--plot draws with gnuplot, which is not installed (Debian: apt-get "
                         "install gnuplot-nox)");
    return cli_output_close(picture, code);
}

/* Runs gnuplot. Returns an exit code. */
static int draw_rows(
    struct output_file *picture, device_pool *pool, const cJSON *rows, const char *operation)
{
    const int is_created = output_file_create(picture) == 0;
    /* A gnuplot that ends early must not end this process. */
    void (*previous)(int) = signal(SIGPIPE, SIG_IGN);
    FILE *script = is_created ? popen("exec gnuplot", "w") : NULL;
    int state = -1;

    if (script) {
        fputs("set output ", script);
        write_quoted(script, picture->is_direct ? picture->path : picture->temporary);
        fputc('\n', script);
        write_script(script, pool, rows, operation);
        state = pclose(script);
    }
    signal(SIGPIPE, previous);
    return state ? cli_fail_with("gnuplot failed to draw '%s'", picture->path) : CLI_OK;
}

int cli_plot_close(struct output_file *picture, device_pool *pool, const cJSON *rows,
    const char *operation, int code)
{
    const char *path = picture->path;
    int plotted = CLI_FAILED;

    if (!path)
        return code;
    if (cJSON_GetArraySize(rows))
        plotted = draw_rows(picture, pool, rows, operation);
    plotted = cli_output_close(picture, plotted);
    if (!plotted)
        cli_note("drawn: %s", path);
    return code ? code : plotted;
}
