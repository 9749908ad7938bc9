/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls with a pool_exec.timeout_ns. A driver call on a device that hangs does not return, so the
 * operation runs on a thread of the library, with copies of its arguments. The caller waits until
 * the deadline, cancels it then, and leaves the thread behind if it does not end; the device in
 * whose call the thread is gets quarantined.
 */
#ifndef TIMEOUT_H
#define TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <devicepool/exec.h>

#include "zk/operation/exec.h"

struct operation_call;

/* Runs a call whose pool_exec has a timeout; POOL_ERR_TIMEOUT at the deadline. */
pool_status timed_run(const struct operation_call *call);

/* Whether a caller's pool_exec, which is not validated yet, has a timeout_ns. */
bool exec_has_timeout(const pool_exec *given);

/*
 * The timed call that the calling thread works for; NULL: none. Other threads that work for it join
 * it while they do, so that the device in which one of them hangs is found.
 */
struct timed;
struct timed *timed_current(void);
void timed_join(struct timed *timed);
void timed_part(struct timed *timed);

#endif
