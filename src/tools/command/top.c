/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool top: what the pool of a running service is doing, from its status socket.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "top.h"

#define RETRY_SECONDS 0.05 /* between two attempts to connect to a busy service */

#define PATIENCE_SECONDS 10.0

enum { MAX_SNAPSHOT = 64 << 20 };

/* ---- the socket -------------------------------------------------------------------------------
 */

const char *top_reason(int error)
{
    return error == ENOENT         ? "there is no such socket"
           : error == ECONNREFUSED ? "no service is running at this socket"
           : error == EACCES       ? "permission denied: it is of another user"
           : error == EAGAIN       ? "the service does not answer"
           : error == EBADMSG      ? "what it answers is no snapshot"
                                   : strerror(error);
}

/* Reports why no snapshot can be read. */
static int fail_read(const char *path, int error)
{
    return cli_fail_with("'%s' cannot be read: %s", path, top_reason(error));
}

static struct {
    struct termios before;
    int has_input; /* the keyboard is set to single keys */
} screen;

static volatile sig_atomic_t is_interrupted;

/* Signals that end the command arrive only while it waits, so that none is missed between a check
 * and the wait. Before top_catch_signals they end it as they do by default. */
static sigset_t unblocked;
static const sigset_t *waiting_mask;

static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

void top_catch_signals(void)
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = interrupt};
    sigset_t blocked;

    sigemptyset(&blocked);
    for (size_t i = 0; i < CLI_COUNT_OF(signals); i++) {
        sigaddset(&blocked, signals[i]);
        sigaction(signals[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &blocked, &unblocked);
    for (size_t i = 0; i < CLI_COUNT_OF(signals); i++)
        sigdelset(&unblocked, signals[i]);
    waiting_mask = &unblocked;
}

int top_poll(struct pollfd *files, nfds_t count, double seconds)
{
    const struct timespec limit = {
        (time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    return ppoll(files, count, &limit, waiting_mask);
}

int top_is_interrupted(void)
{
    return is_interrupted;
}

/* Waits until the socket (-1: none) has data or the time has come, with EAGAIN. ECANCELED: q was
 * pressed, or a signal ends the command. Returns 0 or -1 with errno. */
static int wait_until(int file, double end)
{
    struct pollfd files[] = {{.fd = file, .events = POLLIN},
        {.fd = screen.has_input ? STDIN_FILENO : -1, .events = POLLIN}};

    while (!is_interrupted) {
        const double left = end - bench_now();
        char key = 0;

        if (left <= 0) {
            errno = EAGAIN;
            return -1;
        }
        if (top_poll(files, 2, left) <= 0)
            continue;
        if (files[1].revents && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q'))
            break;
        if (files[0].revents)
            return 0;
    }
    errno = ECANCELED;
    return -1;
}

/* A connection to the socket, or -1 with errno. */
static int connect_to(const char *path, double end)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error, file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (file < 0)
        return -1;
    strcpy(address.sun_path, path);
    /* EAGAIN: too many connections wait for the service. */
    while (connect(file, (const struct sockaddr *)&address, sizeof(address))) {
        const double next = bench_now() + RETRY_SECONDS;

        error = errno;
        if (error == EAGAIN && next < end) {
            (void)wait_until(-1, next);
            error = errno;
            if (error == EAGAIN)
                continue;
        }
        close(file);
        errno = error;
        return -1;
    }
    return file;
}

cJSON *top_read_snapshot(const char *path, double patience)
{
    size_t size = 0, capacity = 1 << 16;
    char *text = bench_alloc(capacity, 1);
    const double end = bench_now() + patience;
    int error = 0, file = connect_to(path, end);
    cJSON *root = NULL;
    ssize_t count;

    if (file < 0) {
        error = errno;
        free(text);
        errno = error;
        return NULL;
    }
    while ((count = read(file, text + size, capacity - 1 - size)) != 0) {
        if (count < 0 && (errno == EINTR || (errno == EAGAIN && !wait_until(file, end))))
            continue;
        if (count < 0)
            break;
        size += (size_t)count;
        if (size == capacity - 1 && capacity < MAX_SNAPSHOT) {
            char *larger = bench_alloc(2 * capacity, 1);

            memcpy(larger, text, size);
            free(text);
            text = larger;
            capacity *= 2;
        }
    }
    error = count < 0 ? errno : 0;
    close(file);
    text[size] = 0;
    if (!error)
        root = cJSON_Parse(text);
    free(text);
    if (!root || !cJSON_IsArray(cJSON_GetObjectItem(root, "metrics"))) {
        cJSON_Delete(root);
        root = NULL;
        errno = error ? error : EBADMSG;
    }
    return root;
}

/* ---- the terminal -----------------------------------------------------------------------------
 */

static void begin_screen(void)
{
    top_catch_signals();
    if (isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &screen.before)) {
        struct termios keys = screen.before;

        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        screen.has_input = !tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    fputs("\033[?1049h\033[?25l", stdout); /* the alternate screen, without a cursor */
}

static void end_screen(void)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (screen.has_input)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

static int watch(const char *path, cJSON *now)
{
    cJSON *before = NULL;
    int error = 0;

    begin_screen();
    do {
        top_draw(path, now, before);
        cJSON_Delete(before);
        before = now;
        if (wait_until(-1, bench_now() + 1) && errno == ECANCELED)
            break;
        now = top_read_snapshot(path, PATIENCE_SECONDS);
        error = now ? 0 : errno;
    } while (now && !is_interrupted);
    end_screen();
    cJSON_Delete(before);
    if (now != before)
        cJSON_Delete(now);
    if (!error || error == ECANCELED || is_interrupted)
        return CLI_OK;
    if (error == ENOENT || error == ECONNREFUSED || error == ECONNRESET)
        return cli_fail_with("'%s': the service has ended", path);
    return fail_read(path, error);
}

int cli_run_top(const struct cli_command *self, struct cli_line *line)
{
    const char *path, *web = NULL;
    const struct cli_option options[] = {{'w', "web", "[ADDRESS:]PORT",
        "serve a page with the same view over HTTP until\n"
        "Ctrl-C; ADDRESS is 127.0.0.1 by default, PORT 0 is\n"
        "any free one",
        CLI_STRING, &web, NULL}};
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);
    cJSON *snapshot;

    if (code != CLI_GO)
        return code;
    path = line->operands[0];
    if (!*path || strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return cli_usage(self, "'%s' is too long or too short for the path of a socket", path);
    if (web && line->as_json)
        return cli_usage(self, "--web and --json exclude each other");
    code = web ? top_check_address(self, web) : CLI_GO;
    if (code != CLI_GO)
        return code;
    snapshot = top_read_snapshot(path, PATIENCE_SECONDS);
    if (!snapshot)
        return errno == EBADMSG
                   ? cli_fail_with(
                         "'%s' is not the status socket of a pool, or refuses this user", path)
                   : fail_read(path, errno);
    if (web) {
        cJSON_Delete(snapshot);
        return top_serve(path, web);
    }
    if (!line->as_json && isatty(STDOUT_FILENO))
        return watch(path, snapshot);
    cli_print_json(snapshot);
    return CLI_OK;
}
