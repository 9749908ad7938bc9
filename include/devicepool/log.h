/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log callback. The library prints nothing itself and is silent until a callback is set.
 */
#ifndef DEVICEPOOL_LOG_H
#define DEVICEPOOL_LOG_H

#include <devicepool/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The severity of a message; a level includes those before it. */
typedef enum pool_log_level {
    POOL_LOG_NONE = 0,
    POOL_LOG_ERROR = 1, /* a failure, logged once by the function that knows its cause */
    POOL_LOG_WARN = 2,  /* a problem with which the call continues */
    POOL_LOG_INFO = 3,  /* devices found, contexts created, modules compiled */
    POOL_LOG_DEBUG = 4  /* further detail for diagnosis */
} pool_log_level;

/*
 * `message` has no newline and is valid during the call only. The callback runs on any thread, also
 * on several concurrently, and must not call the library.
 */
typedef void (*pool_log_callback)(void *user, pool_log_level level, const char *message);

/*
 * Sets the process's callback and the highest level that it receives; NULL disables logging. Any
 * thread. A call in progress on another thread may still invoke the previous callback.
 */
POOL_API void pool_log_set(pool_log_callback callback, void *user, pool_log_level level);

#ifdef __cplusplus
}
#endif

#endif
