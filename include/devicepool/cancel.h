/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking long work to end: one object that the waiting side holds and another thread fires.
 */
#ifndef DEVICEPOOL_CANCEL_H
#define DEVICEPOOL_CANCEL_H

#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Once requested it stays requested. Calls that were given it answer POOL_ERR_CANCELLED as soon as
 * they can. Any thread, also a signal handler, may request; it must outlive the calls that use it.
 */
typedef struct pool_cancel pool_cancel;

/*
 * Makes one, the caller's, not requested yet; requests it; tells whether it is requested, 1 or 0;
 * frees it and sets *cancel to NULL (NULL is a no-op).
 */
POOL_API pool_status pool_cancel_create(pool_cancel **cancel);
POOL_API void pool_cancel_request(pool_cancel *cancel);
POOL_API int pool_cancel_requested(const pool_cancel *cancel); /* NULL: 0 */
POOL_API void pool_cancel_destroy(pool_cancel **cancel);

#ifdef __cplusplus
}
#endif

#endif
