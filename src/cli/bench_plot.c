/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture of a bench: gnuplot as a child process that is told what to draw through a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

static const char *text_of(const cJSON *row, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, key));

    return text ? text : "";
}

static double number_of(const cJSON *row, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(row, key));
}

static int same_line(const cJSON *a, const cJSON *b)
{
    return strcmp(text_of(a, "subject"), text_of(b, "subject")) == 0 &&
           strcmp(text_of(a, "uuid"), text_of(b, "uuid")) == 0;
}

/* A text in gnuplot's single quotes, where only the quote itself is special. */
static void write_quoted(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', script);
        if ((unsigned char)*text >= ' ')
            fputc(*text, script);
    }
    fputc('\'', script);
}

/* Each line's rows as a data block of its own. Rows of one line follow each other. */
static void write_data(FILE *script, const cJSON *rows)
{
    const cJSON *last = NULL;
    const cJSON *row;
    int lines = 0;

    cJSON_ArrayForEach(row, rows)
    {
        if (!last || !same_line(last, row))
            fprintf(script, "%s$line%d << END\n", last ? "END\n" : "", lines++);
        fprintf(script, "%.17g %.17g\n", number_of(row, "size"), number_of(row, "median_seconds"));
        last = row;
    }
    if (last)
        fputs("END\n", script);
}

static void write_script(FILE *script, const cJSON *rows, const char *operation)
{
    const cJSON *last = NULL;
    const cJSON *row;
    char title[256];
    int lines = 0;

    write_data(script, rows);
    fprintf(script,
        "set terminal svg size 800,500 enhanced font 'sans,13' background 'white'\n"
        "set title 'devicepool bench %s'\nset logscale x 2\nset logscale y 10\n"
        "set format x '2^{%%L}'\nset xlabel 'size'\nset ylabel 'median seconds'\n"
        "set format y '10^{%%L}'\nset grid\nset key left top\nplot ",
        operation);
    cJSON_ArrayForEach(row, rows)
    {
        if (last && same_line(last, row))
            continue;
        fprintf(script, "%s$line%d with linespoints pt 7 ps 0.6 lw 2 title ", last ? ", " : "",
            lines++);
        snprintf(title, sizeof(title), "%s on %s", text_of(row, "subject"), text_of(row, "device"));
        write_quoted(script, title);
        fputs(" noenhanced", script);
        last = row;
    }
    fputc('\n', script);
}

/* gnuplot with its standard input on our pipe and its output into the picture; 0, or errno. */
static int start_gnuplot(struct bench_plot *plot)
{
    static char name[] = "gnuplot";
    char *arguments[] = {name, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    int error;

    if (pipe2(ends, O_CLOEXEC))
        return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, plot->picture.file, STDOUT_FILENO);
    error = posix_spawnp(&plot->gnuplot, name, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (error)
        close(ends[1]);
    else
        plot->script = ends[1];
    return error;
}

int bench_plot_open(const char *path, struct bench_plot *plot)
{
    int code = cli_output_open(path, &plot->picture);
    int error;

    plot->script = -1;
    if (code != CLI_GO || !path)
        return code;
    error = start_gnuplot(plot);
    if (!error)
        return CLI_GO;
    if (error == ENOENT)
        code = cli_fail_with("--plot draws with gnuplot, which is not installed (Debian: apt-get "
                             "install gnuplot-nox)");
    else
        code =
            cli_fail_with("--plot draws with gnuplot, which does not start: %s", strerror(error));
    return cli_output_close(&plot->picture, code);
}

/* Gives gnuplot its script, or none of it without rows; 0, an errno, or -1 when gnuplot failed. */
static int draw(struct bench_plot *plot, const cJSON *rows, const char *operation)
{
    /* A gnuplot that ends early must not end this process. */
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    FILE *script = fdopen(plot->script, "w");
    int error = script ? 0 : errno;
    int state = 0;

    if (script && cJSON_GetArraySize(rows))
        write_script(script, rows, operation);
    if (script)
        fclose(script);
    else
        close(plot->script);
    signal(SIGPIPE, before);
    while (waitpid(plot->gnuplot, &state, 0) < 0 && errno == EINTR)
        continue;
    return error ? error : !WIFEXITED(state) || WEXITSTATUS(state) ? -1 : 0;
}

int bench_plot_close(struct bench_plot *plot, const cJSON *rows, const char *operation, int code)
{
    const char *path = plot->picture.path;
    int is_drawn = cJSON_GetArraySize(rows) > 0;
    int plotted = CLI_OK;
    int error;

    if (!path)
        return code;
    if (is_drawn)
        plotted = cli_output_write(&plot->picture, NULL, 0);
    error = draw(plot, rows, operation);
    if (error && !plotted)
        plotted = cli_fail_with("gnuplot did not draw '%s': %s", path,
            error > 0 ? strerror(error) : "it says why above");
    plotted = cli_output_close(&plot->picture, !plotted && !is_drawn ? CLI_FAILED : plotted);
    if (!plotted)
        cli_note("drawn: %s", path);
    return code ? code : plotted;
}
