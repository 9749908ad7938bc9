/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool devices: the devices of a pool and the links between them.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli.h"

/* Tries the compiler for each chip, so that the description says what was found. */
static void try_compilers(device_pool *pool)
{
    struct cli_device next = {0};
    int32_t last = -1;

    cli_progress("trying the compiler");
    cli_watch_begin();
    while (cli_next_device(pool, &next)) {
        int32_t chip = 10 * next.info.compute_major + next.info.compute_minor;
        pool_component compiler;

        if (next.is_usable && chip != last && !pool_device_get_compiler(next.device, &compiler))
            last = chip;
    }
    cli_watch_end();
    cli_progress_end();
}

static int print_description(device_pool *pool, const struct cli_line *line)
{
    char *description;
    pool_status status;

    cli_watch_begin();
    status = pool_describe(pool, line->as_json ? POOL_TEXT_JSON : POOL_TEXT_PLAIN, &description);
    cli_watch_end();
    if (status)
        return cli_fail(status, line->as_json);
    fputs(description, stdout);
    pool_text_free(&description);
    return CLI_OK;
}

/* ---- --watch --------------------------------------------------------------------------------- */

#define NO_WATCH UINT64_MAX
enum { MAX_SECONDS = 86400 };

static volatile sig_atomic_t is_interrupted;
static int interruption = -1; /* an eventfd: the signal may arrive on another thread */

static void interrupt(int signal)
{
    const int error = errno;

    (void)signal;
    is_interrupted = 1;
    if (eventfd_write(interruption, 1))
        is_interrupted = 1; /* cannot fail: it is far from its highest value */
    errno = error;
}

/* The first signal ends the wait, the second one the process, as a driver may hang. */
static bool catch_signals(void)
{
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND},
                           ignore = {.sa_handler = SIG_IGN};

    interruption = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (interruption < 0)
        return false;
    for (size_t i = 0; i < CLI_COUNT_OF(numbers); i++)
        sigaction(numbers[i], &action, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    return true;
}

/* Waits; false: a signal ends the command, or nobody reads the output any more. */
static bool wait_for(double seconds)
{
    struct pollfd files[] = {{.fd = STDOUT_FILENO}, /* reports only that a pipe has no reader */
        {.fd = interruption, .events = POLLIN}};
    const double end = bench_now() + seconds;
    double left;

    while (!is_interrupted && (left = end - bench_now()) > 0) {
        const int count =
            poll(files, CLI_COUNT_OF(files), (int)(1e3 * (left < 60 ? left : 60)) + 1);

        if (count > 0)
            return false;
    }
    return !is_interrupted;
}

/* On a terminal each picture replaces the last one; elsewhere they follow each other, separated by
 * empty lines, or are a sequence of JSON values. */
static int watch_devices(device_pool *pool, uint64_t seconds, const struct cli_line *line)
{
    const bool is_screen = isatty(STDOUT_FILENO);
    int code = CLI_OK;

    if (!catch_signals())
        return cli_fail_with("--watch: no event descriptor: %s", strerror(errno));
    for (bool is_first = true; !code; is_first = false) {
        if (is_screen)
            fputs("\033[H\033[2J", stdout);
        else if (!is_first && !line->as_json)
            putchar('\n');
        code = print_description(pool, line);
        if (!code && is_screen && !line->as_json)
            printf("\nEvery %llu s; Ctrl-C ends\n", (unsigned long long)seconds);
        if (fflush(stdout) && errno == EPIPE) {
            clearerr(stdout); /* as `devicepool devices --watch | head` wants it */
            break;
        }
        if (ferror(stdout) || (!code && !wait_for((double)seconds)))
            break;
    }
    return code;
}

int cli_run_devices(const struct cli_command *self, struct cli_line *line)
{
    int wants_free = 0;
    uint64_t seconds = NO_WATCH;
    const struct cli_option options[] = {
        {'f', "free", NULL,
            "show the free memory, too; creates a context on each\n"
            "device for that (about 0.5 GiB and 0.2 s each)",
            CLI_SWITCH, &wants_free, NULL},
        {'w', "watch", "[=SECONDS]", "show them again every SECONDS (default 1)", CLI_COUNT,
            &seconds, NULL},
    };
    device_pool *pool = NULL;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code == CLI_GO && seconds != NO_WATCH && (!seconds || seconds > MAX_SECONDS))
        code = cli_usage(self, "--watch must be 1 to %d seconds", MAX_SECONDS);
    if (code != CLI_GO)
        return code;
    code = cli_open_pool(line, !wants_free, &pool);
    if (code != CLI_GO)
        return code;
    try_compilers(pool);
    if (!wants_free) {
        /* A trial creates a context. A good verdict is stored, so that in a new pool, which is
         * described, it is known without one. */
        code = cli_close_pool(&pool, CLI_GO, 0);
        if (code == CLI_GO)
            code = cli_open_pool(line, 1, &pool);
        if (code != CLI_GO)
            return code;
        try_compilers(pool);
    }
    code = seconds != NO_WATCH ? watch_devices(pool, seconds, line) : print_description(pool, line);
    return cli_close_pool(&pool, code, 0);
}
