/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting on the host with a deadline. The driver's own waits have none, so this asks again and
 * again.
 */
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/status.h"
#include "stream/stream.h"

/*
 * A query costs under a microsecond. The first ones follow each other at once, because most waits
 * are for work that is nearly done; then pauses double, so that a long wait costs no processor and
 * ends at most this late.
 */
#define EAGER_QUERIES 64
#define FIRST_PAUSE_NS 2000u
#define LONGEST_PAUSE_NS 200000u

static void pause_for(uint64_t ns)
{
    struct timespec span = {.tv_sec = 0, .tv_nsec = (long)ns};

    nanosleep(&span, NULL);
}

pool_status stream_poll(struct driver *driver, stream_query_call query, const void *object,
    const char *what, uint64_t timeout_ns)
{
    uint64_t start = base_clock_ns(), pause = FIRST_PAUSE_NS;

    for (unsigned asked = 0;; asked++) {
        pool_status status = driver_check_query(driver, query(driver, object), "cuStreamQuery");
        uint64_t spent;

        if (status != POOL_ERR_NOT_READY)
            return status;
        /* A fault on another thread may leave this work unfinished for ever. */
        status = driver_usable(driver);
        if (status)
            return status;
        spent = base_clock_ns() - start;
        if (spent >= timeout_ns)
            return base_fail(
                POOL_ERR_TIMEOUT, "%s was not done after %.3f ms", what, (double)spent / 1e6);
        if (asked < EAGER_QUERIES) {
            sched_yield();
            continue;
        }
        pause_for(pause < timeout_ns - spent ? pause : timeout_ns - spent);
        pause = pause * 2 < LONGEST_PAUSE_NS ? pause * 2 : LONGEST_PAUSE_NS;
    }
}
