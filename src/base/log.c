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

void base_log(pool_log_level level, const char *format, ...)
{
    pool_log_callback callback;
    char message[4200];
    va_list arguments;
    void *user;

    if (!base_log_wanted(level))
        return;
    base_lock(&log_lock);
    callback = log_callback;
    user = log_user;
    base_unlock(&log_lock);
    if (!callback)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    callback(user, level, message);
}
