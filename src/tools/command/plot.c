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

/* Chip, version, date, and what the bars are, below the plot. */
static void write_origin(FILE *script, device_pool *pool, const char *bars)
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
    snprintf(text + used, sizeof(text) - used, "devicepool %s, %s; bars: %s", pool_version_text(),
        date, bars);
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
    write_origin(script, pool, "fastest to slowest of the runs");
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

/* ---- latencies of bench share ---------------------------------------------------------------- */

static bool has_same(const cJSON *a, const cJSON *b, const char *role)
{
    char size[16];

    snprintf(size, sizeof(size), "%s_size", role);
    return strcmp(get_string(a, role), get_string(b, role)) == 0 &&
           cJSON_HasObjectItem(a, role) == cJSON_HasObjectItem(b, role) &&
           (!cJSON_HasObjectItem(a, role) || get_number(a, size) == get_number(b, size));
}

/* Whether this is the first row of its short job, or of that beside its long job. */
static bool is_first(const cJSON *rows, const cJSON *row, bool with_long)
{
    const cJSON *other;

    cJSON_ArrayForEach(other, rows)
    {
        if (other == row)
            return true;
        if (has_same(other, row, "short") && (!with_long || has_same(other, row, "long")))
            break;
    }
    return false;
}

static void write_job(FILE *script, const cJSON *row, const char *role)
{
    char size[CLI_NUMBER], member[16], text[64];

    snprintf(member, sizeof(member), "%s_size", role);
    snprintf(text, sizeof(text), "%s %s", get_string(row, role),
        cli_size((uint64_t)get_number(row, member), size, sizeof(size)));
    for (const char *at = text; *at; at++)
        if (*at != '\'')
            fputc(*at, script);
}

/*
 * Positions from left to right: for each short job alone, then beside each long one. Calls
 * visit(script, position, row, user) for each row of a position.
 */
static void visit_latencies(FILE *script, const cJSON *rows,
    void (*visit)(FILE *script, int position, const cJSON *row, const void *user), const void *user)
{
    const cJSON *head, *cell, *row;
    int position = 0;

    cJSON_ArrayForEach(head, rows)
    {
        if (!cJSON_HasObjectItem(head, "short") || !is_first(rows, head, false))
            continue;
        cJSON_ArrayForEach(cell, rows)
        {
            if (!has_same(cell, head, "short") || !is_first(rows, cell, true))
                continue;
            cJSON_ArrayForEach(row, rows)
            {
                if (has_same(row, cell, "short") && has_same(row, cell, "long"))
                    visit(script, position, row, user);
            }
            position++;
        }
    }
}

static void write_latency(FILE *script, int position, const cJSON *row, const void *mode)
{
    if (strcmp(get_string(row, "mode"), mode) == 0)
        fprintf(script, "%d %.17g %.17g\n", position, get_number(row, "p50_ms"),
            get_number(row, "p99_ms"));
}

/* The label of a position, once for each of its rows: the last one counts. */
static void write_tic(FILE *script, int position, const cJSON *row, const void *user)
{
    (void)user;
    fputs("set xtics add ('", script);
    write_job(script, row, "short");
    if (cJSON_HasObjectItem(row, "long")) {
        fputs(" beside ", script);
        write_job(script, row, "long");
    } else {
        fputs(" alone", script);
    }
    fprintf(script, "' %d)\n", position);
}

static void write_share_script(FILE *script, device_pool *pool, const cJSON *rows)
{
    static const char *const modes[] = {"alone", "as-it-comes", "priority", "partition"};
    const cJSON *row;
    const char *separator = "plot ";

    write_origin(script, pool, "p50 to p99");
    fputs("set terminal svg size 1000,620 enhanced font 'sans,13' background 'white'\n"
          "set title 'devicepool bench share'\nset ylabel 'latency, ms'\nset logscale y 10\n"
          "set grid y\nset key left top\nset offsets 0.5, 0.5, 0, 0\nset bmargin 12\n"
          "set xtics rotate by -40 () noenhanced\n",
        script);
    visit_latencies(script, rows, write_tic, NULL);
    for (size_t i = 0; i < CLI_COUNT_OF(modes); i++) {
        fprintf(script, "$mode%zu << END\n", i);
        visit_latencies(script, rows, write_latency, modes[i]);
        fputs("END\n", script);
    }
    for (size_t i = 0; i < CLI_COUNT_OF(modes); i++)
        cJSON_ArrayForEach(row, rows)
        {
            if (!cJSON_HasObjectItem(row, "short") ||
                strcmp(get_string(row, "mode"), modes[i]) != 0)
                continue;
            fprintf(script,
                "%s$mode%zu using ($1+%g):2:2:3 with yerrorbars pt 7 ps 0.7 lw 2 title '%s'",
                separator, i, 0.15 * (double)i, modes[i]);
            separator = ", ";
            break;
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
        if (strcmp(operation, "share") == 0)
            write_share_script(script, pool, rows);
        else
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
