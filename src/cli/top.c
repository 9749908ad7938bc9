/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool top: what the pool of a running service is doing, from its status socket.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "cli.h"

enum { PATIENCE_SECONDS = 10, MAX_SNAPSHOT = 64 << 20, LINE = 512 };

/* ---- the socket -------------------------------------------------------------------------------
 */

/* Reports why no snapshot can be read. */
static int fail_read(const char *path, int error)
{
    const char *why = error == ENOENT         ? "there is no such socket"
                      : error == ECONNREFUSED ? "no service is running at this socket"
                      : error == EACCES       ? "permission denied: it is of another user"
                      : error == EAGAIN       ? "the service does not answer"
                                              : strerror(error);

    return cli_fail_with("'%s' cannot be read: %s", path, why);
}

/* A connection to the socket, or -1 with errno. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    int error, file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (file < 0)
        return -1;
    strcpy(address.sun_path, path);
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)); /* also of connect */
    if (!connect(file, (const struct sockaddr *)&address, sizeof(address)))
        return file;
    error = errno;
    close(file);
    errno = error;
    return -1;
}

/* Reads until the service closes the connection. NULL with errno; EBADMSG: not a snapshot. */
static cJSON *read_snapshot(const char *path)
{
    size_t size = 0, capacity = 1 << 16;
    char *text = bench_alloc(capacity, 1);
    int error = 0, file = connect_to(path);
    cJSON *root = NULL;
    ssize_t count;

    if (file < 0) {
        error = errno;
        free(text);
        errno = error;
        return NULL;
    }
    while ((count = read(file, text + size, capacity - 1 - size)) != 0) {
        if (count < 0 && errno == EINTR)
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

/* ---- values of a snapshot ----------------------------------------------------------------------
 */

static const cJSON *samples_of(const cJSON *root, const char *name)
{
    const cJSON *family;

    cJSON_ArrayForEach(family, cJSON_GetObjectItem(root, "metrics"))
    {
        const char *found = cJSON_GetStringValue(cJSON_GetObjectItem(family, "name"));

        if (found && strcmp(found, name) == 0)
            return cJSON_GetObjectItem(family, "samples");
    }
    return NULL;
}

static const char *label_of(const cJSON *sample, const char *label)
{
    const char *value =
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(sample, "labels"), label));

    return value ? value : "";
}

/* The sum of the samples of a device, or of all with NULL. */
static double value_of(const cJSON *root, const char *name, const char *device)
{
    const cJSON *sample;
    double sum = 0;

    cJSON_ArrayForEach(sample,
        samples_of(root, name)) if (!device || strcmp(label_of(sample, "device"), device) == 0)
        sum += cJSON_GetNumberValue(cJSON_GetObjectItem(sample, "value"));
    return sum;
}

static double time_of(const cJSON *root)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItem(root, "monotonic_seconds"));
}

/* Per second, since the snapshot before; 0 without one. */
static double rate_of(const cJSON *now, const cJSON *before, const char *name, const char *device)
{
    double seconds = before ? time_of(now) - time_of(before) : 0;
    double rise = seconds > 0 ? value_of(now, name, device) - value_of(before, name, device) : 0;

    return rise > 0 ? rise / seconds : 0;
}

static const char *state_of(const cJSON *root, const char *device)
{
    const cJSON *sample;

    cJSON_ArrayForEach(sample,
        samples_of(root,
            "devicepool_device_state")) if (strcmp(label_of(sample, "device"), device) == 0 &&
                                            cJSON_GetNumberValue(cJSON_GetObjectItem(sample,
                                                "value")) == 1) return label_of(sample, "state");
    return "?";
}

/* ---- the view ---------------------------------------------------------------------------------
 */

static struct {
    struct termios before;
    int has_input; /* the keyboard is set to single keys */
    int rows, columns, row;
} screen;

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
    (void)signal;
    is_interrupted = 1;
}

static void begin_screen(void)
{
    struct sigaction action = {.sa_handler = interrupt};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
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

static void begin_picture(void)
{
    struct winsize size = {0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    screen.rows = size.ws_row > 3 ? size.ws_row : 24;
    screen.columns = size.ws_col > 20 ? size.ws_col : 80;
    screen.row = 0;
    fputs("\033[H", stdout);
}

static int is_shown(unsigned char byte)
{
    return byte >= ' ' && byte != 0x7f;
}

/* One line, truncated to the screen. Control characters, which a service's labels might have, are
 * replaced. */
__attribute__((format(printf, 2, 3))) static void show(
    enum cli_colour colour, const char *format, ...)
{
    char line[LINE];
    int width = 0;
    va_list list;

    if (screen.row >= screen.rows - 1)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    fputs(cli_colour(stdout, colour), stdout);
    for (const char *at = line; *at; at++) {
        width += ((unsigned char)*at & 0xc0) != 0x80;
        if (width > screen.columns)
            break;
        putchar(is_shown((unsigned char)*at) ? *at : '?');
    }
    fputs(cli_colour(stdout, CLI_PLAIN), stdout);
    fputs("\033[K\n", stdout);
    screen.row++;
}

static void show_device(const cJSON *now, const cJSON *before, const cJSON *info)
{
    const char *device = label_of(info, "device"), *state = state_of(now, device);
    double total = value_of(now, "devicepool_device_memory_total_bytes", device);
    double used = value_of(now, "devicepool_memory_used_bytes", device);
    double held = value_of(now, "devicepool_memory_held_bytes", device);
    double reserved = value_of(now, "devicepool_memory_lease_reserved_bytes", device);
    char bar[8 * CLI_BAR], a[CLI_NUMBER], b[CLI_NUMBER], c[CLI_NUMBER], d[CLI_NUMBER];
    int is_ready = strcmp(state, "ready") == 0;

    show(CLI_BOLD, "%s  %s  %s", device, label_of(info, "name"), label_of(info, "pci"));
    show(is_ready ? CLI_GREEN : CLI_RED, "   %s", state);
    show(CLI_PLAIN, "   memory %s  %s used, %s held, %s reserved of %s",
        cli_bar((size_t)(used / 1024), (size_t)(total / 1024), bar, sizeof(bar)),
        cli_bytes((uint64_t)used, a, sizeof(a)), cli_bytes((uint64_t)held, b, sizeof(b)),
        cli_bytes((uint64_t)reserved, c, sizeof(c)), cli_bytes((uint64_t)total, d, sizeof(d)));
    show(CLI_PLAIN,
        "   work   %.0f calls, %.0f busy streams, %.0f unfinished; %.0f resident objects",
        value_of(now, "devicepool_calls", device), value_of(now, "devicepool_busy_streams", device),
        value_of(now, "devicepool_unfinished_work", device),
        value_of(now, "devicepool_resident_objects", device));
    show(CLI_PLAIN, "   rate   %s operations/s, %s items/s, %s launches/s, %s/s copied",
        cli_amount(rate_of(now, before, "devicepool_operations_total", device), a, sizeof(a)),
        cli_amount(rate_of(now, before, "devicepool_operation_items_total", device), b, sizeof(b)),
        cli_amount(rate_of(now, before, "devicepool_launches_total", device), c, sizeof(c)),
        cli_bytes(
            (uint64_t)rate_of(now, before, "devicepool_copied_bytes_total", device), d, sizeof(d)));
}

static void show_leases(const cJSON *now, const cJSON *before)
{
    char rate[CLI_NUMBER];

    if (!samples_of(now, "devicepool_leases"))
        return;
    show(CLI_BOLD, "leases %.0f held, %.0f overdue, %.0f requests waiting, %s granted/s",
        value_of(now, "devicepool_leases", NULL), value_of(now, "devicepool_leases_overdue", NULL),
        value_of(now, "devicepool_lease_requests_waiting", NULL),
        cli_amount(
            rate_of(now, before, "devicepool_leases_granted_total", NULL), rate, sizeof(rate)));
}

static void draw(const char *path, const cJSON *now, const cJSON *before)
{
    const cJSON *health = cJSON_GetObjectItem(now, "health"), *info;
    const char *cause = cJSON_GetStringValue(cJSON_GetObjectItem(health, "first_cause"));

    begin_picture();
    show(CLI_PLAIN, "devicepool top  %s  process %.0f  devices %.0f of %.0f usable", path,
        cJSON_GetNumberValue(cJSON_GetObjectItem(now, "pid")),
        value_of(now, "devicepool_usable_devices", NULL),
        value_of(now, "devicepool_devices", NULL));
    if (cause && *cause)
        show(CLI_RED, "fault: %s", cause);
    show_leases(now, before);
    cJSON_ArrayForEach(info, samples_of(now, "devicepool_device_info"))
        show_device(now, before, info);
    fputs("\033[J", stdout);
    printf("%sq: quit%s", cli_colour(stdout, CLI_DIM), cli_colour(stdout, CLI_PLAIN));
    fflush(stdout);
}

/* Waits a second, or for a key; whether the user continues. */
static int wait_for_key(void)
{
    struct pollfd keyboard = {.fd = screen.has_input ? STDIN_FILENO : -1, .events = POLLIN};
    char key = 0;

    if (poll(&keyboard, 1, 1000) > 0 && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q'))
        return 0;
    return !is_interrupted;
}

static int watch(const char *path, cJSON *now)
{
    cJSON *before = NULL;
    int error = 0;

    begin_screen();
    do {
        draw(path, now, before);
        cJSON_Delete(before);
        before = now;
        if (!wait_for_key())
            break;
        now = read_snapshot(path);
        error = now ? 0 : errno;
    } while (now && !is_interrupted);
    end_screen();
    cJSON_Delete(before);
    if (now != before)
        cJSON_Delete(now);
    if (!error || is_interrupted)
        return CLI_OK;
    if (error == ENOENT || error == ECONNREFUSED || error == ECONNRESET)
        return cli_fail_with("'%s': the service has ended", path);
    return fail_read(path, error);
}

int cli_run_top(const struct cli_command *self, struct cli_line *line)
{
    int code = cli_parse(self, NULL, 0, line);
    const char *path;
    cJSON *snapshot;

    if (code != CLI_GO)
        return code;
    path = line->operands[0];
    if (!*path || strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return cli_usage(self, "'%s' is too long or too short for the path of a socket", path);
    snapshot = read_snapshot(path);
    if (!snapshot)
        return errno == EBADMSG
                   ? cli_fail_with(
                         "'%s' is not the status socket of a pool, or refuses this user", path)
                   : fail_read(path, errno);
    if (!line->as_json && isatty(STDOUT_FILENO))
        return watch(path, snapshot);
    cli_print_json(snapshot);
    return CLI_OK;
}
