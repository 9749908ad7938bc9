/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log callback. Callback, user pointer and level change together under a lock; the level is
 * also stored in an atomic, so that a silent library pays one load per message.
 */
#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/math.h"
#include "base/settings.h"

static struct base_lock log_lock = BASE_LOCK_INIT;
static pool_log_callback log_callback; /* guarded by log_lock */
static void *log_user;                 /* guarded by log_lock */
static bool is_set_by_program;         /* guarded by log_lock */
static atomic_int log_level;
static int32_t (*_Atomic read_device)(void);
static _Thread_local const char *thread_label __attribute__((tls_model("initial-exec")));

/* A status name, the longest message of an error, and a label. */
#define LOG_MESSAGE_BYTES 4300

void pool_log_set(pool_log_callback callback, void *user, pool_log_level level)
{
    base_lock(&log_lock);
    is_set_by_program = true;
    log_callback = callback;
    log_user = user;
    atomic_store(&log_level, callback ? (int)level : (int)POOL_LOG_NONE);
    base_unlock(&log_lock);
}

/* ---- without a callback -----------------------------------------------------------------------
 */

static const char *const level_names[] = {"none", "error", "warn", "info", "debug"};

/* Without the signal, which would end the process, when nobody reads a pipe any more. */
static void write_quietly(const char *text, size_t bytes)
{
    const struct timespec now = {0};
    sigset_t pipe, before, pending;
    ssize_t written;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    written = write(STDERR_FILENO, text, bytes);
    if (written < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* One write, so that the lines of threads and processes do not mix. */
static void write_line(void *user, const pool_log_record *record)
{
    char line[LOG_MESSAGE_BYTES + 64], device[24] = "";
    int length;

    (void)user;
    if (record->device >= 0)
        snprintf(device, sizeof(device), "device %d: ", (int)record->device);
    length = snprintf(line, sizeof(line), "devicepool: %s: %s%s\n", level_names[record->level],
        device, record->message);
    if (length > 0)
        write_quietly(line, base_min((size_t)length, sizeof(line) - 1));
}

pool_status base_log_apply_setting(void)
{
    const char *wanted = base_setting(BASE_SETTING_LOG);
    int level = 0;

    if (!wanted)
        return POOL_OK;
    while (level <= POOL_LOG_DEBUG && strcmp(wanted, level_names[level]) != 0)
        level++;
    if (level > POOL_LOG_DEBUG)
        return base_setting_refuse(BASE_SETTING_LOG, "error, warn, info, debug or none");
    base_lock(&log_lock);
    if (!is_set_by_program) {
        log_callback = write_line;
        atomic_store(&log_level, level);
    }
    base_unlock(&log_lock);
    return POOL_OK;
}

int base_log_wanted(pool_log_level level)
{
    return (int)level <= atomic_load_explicit(&log_level, memory_order_relaxed);
}

void base_log_set_device(int32_t (*read)(void))
{
    atomic_store(&read_device, read);
}

const char *base_log_label(void)
{
    return thread_label;
}

const char *base_log_set_label(const char *label)
{
    const char *before = thread_label;

    thread_label = label;
    return before;
}

/* Appends the label to a message that does not quote it already. */
static void append_label(char *message, size_t size, const char *label)
{
    size_t length = strlen(message);
    char quoted[80];

    snprintf(quoted, sizeof(quoted), "\"%s\"", label);
    if (*label && !strstr(message, quoted))
        snprintf(message + length, size - length, " [lease %s]", quoted);
}

/* Fills in what the thread works on and calls the user's callback. */
static void deliver(pool_log_record *record, char *message, size_t size)
{
    int32_t (*read)(void) = atomic_load(&read_device);
    pool_log_callback callback;
    void *user;

    base_lock(&log_lock);
    callback = log_callback;
    user = log_user;
    base_unlock(&log_lock);
    if (!callback)
        return;
    record->struct_size = sizeof(*record);
    record->device = read ? read() : -1;
    record->lease = thread_label ? thread_label : "";
    append_label(message, size, record->lease);
    record->message = message;
    callback(user, record);
}

void base_log(pool_log_level level, const char *format, ...)
{
    pool_log_record record = {.level = level, .call = ""};
    char message[LOG_MESSAGE_BYTES];
    va_list arguments;

    if (!base_log_wanted(level))
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    deliver(&record, message, sizeof(message));
}

void base_log_failure(const char *message, const char *status_name, const char *call, int32_t code)
{
    pool_log_record record = {.level = POOL_LOG_ERROR, .call = call, .code = code};
    char line[LOG_MESSAGE_BYTES];

    if (!base_log_wanted(POOL_LOG_ERROR))
        return;
    snprintf(line, sizeof(line), "%s: %s", status_name, message);
    deliver(&record, line, sizeof(line));
}

void pool_log_write(pool_log_level level, const char *message)
{
    if (message && level >= POOL_LOG_ERROR && level <= POOL_LOG_DEBUG)
        base_log(level, "%s", message);
}
