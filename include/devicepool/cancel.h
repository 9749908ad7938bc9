/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancellation of long operations: an object that is passed to them and that any thread can
 * trigger.
 */
#ifndef DEVICEPOOL_CANCEL_H
#define DEVICEPOOL_CANCEL_H

#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A cancellation request, which is permanent: calls that were passed the object return
 * POOL_ERR_CANCELLED as soon as they can. Any thread, also a signal handler, may request and query
 * it. It must outlive the calls that use it.
 */
typedef struct pool_cancel pool_cancel;

/* Creates an object without a request. The caller destroys it. POOL_ERR_OUT_OF_HOST_MEMORY. */
POOL_API pool_status pool_cancel_create(pool_cancel **cancel);

/* Requests cancellation; NULL is a no-op. Async-signal-safe. */
POOL_API void pool_cancel_request(pool_cancel *cancel);

/* 1 if cancellation has been requested, else 0; 0 for NULL. */
POOL_API int pool_cancel_requested(const pool_cancel *cancel);

/* Frees the object and sets *cancel to NULL; NULL or a pointer to NULL is a no-op. */
POOL_API void pool_cancel_destroy(pool_cancel **cancel);

#ifdef __cplusplus
}
#endif

#endif
