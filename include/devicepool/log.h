/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log callback. The library prints nothing itself and is silent until a callback is set, unless
 * the setting DEVICEPOOL_LOG (docs/configuration.md) names a level: then messages of this level go
 * to standard error from the first pool_create on, as long as the program has not called
 * pool_log_set.
 */
#ifndef DEVICEPOOL_LOG_H
#define DEVICEPOOL_LOG_H

#include <stddef.h>
#include <stdint.h>

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
 * A message and what it is about. The library sets every member; struct_size is that of the
 * library, which may have further members at the end. No pointer is NULL.
 */
typedef struct pool_log_record {
    size_t struct_size;
    pool_log_level level;
    int32_t device;      /* ordinal of the device that the thread is working on; -1: none */
    const char *message; /* without a newline; ends with the lease's label unless it quotes it */
    const char *lease;   /* label of the lease on whose behalf the thread works: of pool_exec.lease
                            during an operation, of the lease that a buffer or stream is created
                            under, of a request that fails; "" for none */
    const char *call;    /* the driver call that failed, with its arguments, or "" */
    int32_t code;        /* its CUresult, or 0 */
} pool_log_record;

/*
 * The record and its strings are valid during the call only. The callback runs on any thread, also
 * on several concurrently. Failures are logged where they are found, which can be under a lock of
 * the library. The callback must therefore not call the library, nor wait for a thread that may be
 * in a call of it, nor take a lock that a thread holds while it calls the library; nor may it fork,
 * leave by longjmp or an exception, or end its thread.
 */
typedef void (*pool_log_callback)(void *user, const pool_log_record *record);

/*
 * Sets the process's callback and the highest level that it receives; NULL disables logging. Any
 * thread. A call in progress on another thread may still invoke the previous callback.
 */
POOL_API void pool_log_set(pool_log_callback callback, void *user, pool_log_level level);

/*
 * Passes a message to the callback, if the level is enabled: for libraries above this one. NULL or
 * a level that does not exist: no-op. Any thread.
 */
POOL_API void pool_log_write(pool_log_level level, const char *message);

#ifdef __cplusplus
}
#endif

#endif
