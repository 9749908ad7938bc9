/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log callback. Callback, user pointer and level change together under a lock; the level is
 * also stored in an atomic, so that a silent library pays one load per message.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/lock.h"

static struct base_lock log_lock = BASE_LOCK_INIT;
static pool_log_callback log_callback; /* guarded by log_lock */
static void *log_user;                 /* guarded by log_lock */
static atomic_int log_level;
static void (*_Atomic read_origin)(struct base_log_origin *origin);

/* A status name and the longest message of an error. */
#define LOG_MESSAGE_BYTES 4200

void pool_log_set(pool_log_callback callback, void *user, pool_log_level level)
{
    base_lock(&log_lock);
    log_callback = callback;
    log_user = user;
    atomic_store(&log_level, callback ? (int)level : (int)POOL_LOG_NONE);
    base_unlock(&log_lock);
}

int base_log_wanted(pool_log_level level)
{
    return (int)level <= atomic_load_explicit(&log_level, memory_order_relaxed);
}

void base_log_set_origin(void (*read)(struct base_log_origin *origin))
{
    atomic_store(&read_origin, read);
}

/* Fills in the origin and calls the user's callback. */
static void deliver(pool_log_record *record)
{
    struct base_log_origin origin = {.device = -1, .lease = ""};
    void (*read)(struct base_log_origin *) = atomic_load(&read_origin);
    pool_log_callback callback;
    void *user;

    base_lock(&log_lock);
    callback = log_callback;
    user = log_user;
    base_unlock(&log_lock);
    if (!callback)
        return;
    if (read)
        read(&origin);
    record->struct_size = sizeof(*record);
    record->device = origin.device;
    record->lease = origin.lease;
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
    record.message = message;
    deliver(&record);
}

void base_log_failure(const char *message, const char *status_name, const char *call, int32_t code)
{
    pool_log_record record = {.level = POOL_LOG_ERROR, .call = call, .code = code};
    char line[LOG_MESSAGE_BYTES];

    if (!base_log_wanted(POOL_LOG_ERROR))
        return;
    snprintf(line, sizeof(line), "%s: %s", status_name, message);
    record.message = line;
    deliver(&record);
}
