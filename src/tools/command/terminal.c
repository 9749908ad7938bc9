/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal output beyond plain text: colours, check marks, the progress line.
 */
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

/* What takes longer shows how long it has taken; also the time between plain lines. */
#define LONG_SECONDS 2.0

static struct {
    pthread_mutex_t lock;
    int is_quiet;
    int is_utf8;
    int shows_progress;
    int is_plain;   /* progress is lines, of which the next does not replace the last */
    int has_line;   /* guarded by lock, as all below: a progress line is shown */
    char text[512]; /* the activity; "": none */
    double begin;   /* of the activity */
    double printed; /* when the last plain line was */
} terminal = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int is_capable(FILE *file)
{
    const char *kind = getenv("TERM");

    return isatty(fileno(file)) && (!kind || strcmp(kind, "dumb") != 0);
}

void cli_terminal_setup(int is_quiet, int wants_progress)
{
    setlocale(LC_CTYPE, "");
    terminal.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    terminal.is_quiet = is_quiet;
    terminal.is_plain = !is_capable(stderr);
    terminal.printed = bench_now(); /* no lines of what is over sooner */
    terminal.shows_progress = wants_progress || (!is_quiet && !terminal.is_plain);
}

/* https://no-color.org: any value but the empty string disables colours. */
const char *cli_colour(FILE *file, enum cli_colour colour)
{
    static const char *const sequences[] = {
        "\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[33m", "\033[36m"};
    const char *refusal = getenv("NO_COLOR");

    if ((refusal && *refusal) || !is_capable(file))
        return "";
    return sequences[colour];
}

const char *cli_mark(int is_correct)
{
    if (terminal.is_utf8)
        return is_correct ? "✓" : "✗";
    return is_correct ? "ok" : "WRONG";
}

const char *cli_bar(size_t done, size_t count, char *string, size_t bytes)
{
    const char *full = terminal.is_utf8 ? "━" : "=";
    const char *rest = terminal.is_utf8 ? "─" : "-";
    size_t length = 0;

    for (size_t i = 0; i < CLI_BAR && length + 4 < bytes; i++)
        length += (size_t)snprintf(
            string + length, bytes - length, "%s", i * count < done * CLI_BAR ? full : rest);
    return string;
}

static int screen_width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 8)
        return size.ws_col;
    return 80;
}

static void erase_line_locked(void)
{
    if (terminal.has_line)
        fputs("\r\033[K", stderr);
    terminal.has_line = 0;
}

/* With the seconds that the activity has taken, where these are more than two. */
static void show_line_locked(void)
{
    const double now = bench_now(), seconds = now - terminal.begin;
    char line[sizeof(terminal.text) + 32];

    if (!terminal.shows_progress || !terminal.text[0] ||
        (terminal.is_plain && now - terminal.printed < LONG_SECONDS))
        return;
    snprintf(line, sizeof(line), "%s", terminal.text);
    if (seconds >= LONG_SECONDS)
        snprintf(line, sizeof(line), "%s  %.0f s", terminal.text, seconds);
    erase_line_locked();
    fputs(cli_colour(stderr, CLI_DIM), stderr);
    cli_print_text(stderr, line, "", terminal.is_plain ? INT_MAX : screen_width() - 1);
    fputs(cli_colour(stderr, CLI_PLAIN), stderr);
    if (terminal.is_plain)
        fputc('\n', stderr);
    fflush(stderr);
    terminal.has_line = !terminal.is_plain;
    terminal.printed = now;
}

void cli_progress(const char *format, ...)
{
    char line[sizeof(terminal.text)];
    va_list list;

    if (!terminal.shows_progress)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    pthread_mutex_lock(&terminal.lock);
    if (strcmp(line, terminal.text) != 0)
        terminal.begin = bench_now();
    strcpy(terminal.text, line);
    show_line_locked();
    pthread_mutex_unlock(&terminal.lock);
}

/* A pipe that is full, or that another thread writes to, is left alone. */
void cli_progress_tick(void)
{
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};

    if (poll(&output, 1, 0) != 1 || pthread_mutex_trylock(&terminal.lock))
        return;
    if (terminal.text[0] && bench_now() - terminal.begin >= LONG_SECONDS)
        show_line_locked();
    pthread_mutex_unlock(&terminal.lock);
}

void cli_progress_end(void)
{
    pthread_mutex_lock(&terminal.lock);
    erase_line_locked();
    terminal.text[0] = 0;
    fflush(stderr);
    pthread_mutex_unlock(&terminal.lock);
}

void cli_note(const char *format, ...)
{
    va_list list;

    if (terminal.is_quiet)
        return;
    pthread_mutex_lock(&terminal.lock);
    erase_line_locked();
    va_start(list, format);
    cli_vprint(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    pthread_mutex_unlock(&terminal.lock);
}

/* Bytes of the UTF-8 character at `at`; *is_printable is 0 for control characters (C0, DEL, C1) and
 * bytes that are none. */
static size_t read_character(const char *at, int *is_printable)
{
    const unsigned char *bytes = (const unsigned char *)at;
    const size_t count = *bytes < 0x80   ? 1
                         : *bytes < 0xc2 ? 0
                         : *bytes < 0xe0 ? 2
                         : *bytes < 0xf0 ? 3
                         : *bytes < 0xf5 ? 4
                                         : 0;

    *is_printable = 0;
    for (size_t i = 1; i < count; i++) {
        if ((bytes[i] & 0xc0) != 0x80) /* also at the end */
            return 1;
    }
    *is_printable =
        count && *bytes >= ' ' && *bytes != 0x7f && !(*bytes == 0xc2 && bytes[1] < 0xa0);
    return count ? count : 1;
}

void cli_print_text(FILE *file, const char *text, const char *kept, int columns)
{
    while (*text && columns-- > 0) {
        int is_printable;
        const size_t count = read_character(text, &is_printable);

        if (is_printable || strchr(kept, *text))
            fwrite(text, 1, count, file);
        else
            fputc('?', file);
        text += count;
    }
}

void cli_vprint(FILE *file, const char *format, va_list list)
{
    char text[8192];

    vsnprintf(text, sizeof(text), format, list);
    cli_print_text(file, text, "\n\t", INT_MAX);
}
