/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log callback. The library prints nothing by itself and is silent until a callback is set.
 */
#ifndef DEVICEPOOL_LOG_H
#define DEVICEPOOL_LOG_H

#include <devicepool/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How much a message matters; a level includes those before it. */
typedef enum pool_log_level {
    POOL_LOG_NONE = 0,
    POOL_LOG_ERROR = 1, /* a failure, logged once by the function that knows its cause */
    POOL_LOG_WARN = 2,  /* something is off but the call goes on */
    POOL_LOG_INFO = 3,  /* devices found, contexts made, modules compiled */
    POOL_LOG_DEBUG = 4  /* everything else worth reading when something is being looked for */
} pool_log_level;

/*
 * `message` has no newline and lives only for the call. The callback can run on any thread, also on
 * several at once, and must not call into the library.
 */
typedef void (*pool_log_callback)(void *user, pool_log_level level, const char *message);

/*
 * Sets the process's callback and the highest level that it gets; NULL switches logging off.
 * Any thread. A call that is under way on another thread may still reach the old callback.
 */
POOL_API void pool_log_set(pool_log_callback callback, void *user, pool_log_level level);

#ifdef __cplusplus
}
#endif

#endif
