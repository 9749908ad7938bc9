/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host waits with a timeout, by polling: the driver's waits have none.
 */
#include <sched.h>

#include "base/clock.h"
#include "base/status.h"
#include "pool/stream/stream.h"

/*
 * A query takes less than a microsecond. The first ones follow one another immediately, because
 * most waits are for work that is nearly finished; then the pauses double up to LONGEST_PAUSE_NS,
 * so that a long wait takes little processor time and ends at most that late.
 */
#define EAGER_QUERIES 64
#define FIRST_PAUSE_NS 2000u
#define LONGEST_PAUSE_NS 200000u

pool_status stream_poll(pool_device *device, stream_query_call query, const void *object,
    const char *what, uint64_t timeout_ns)
{
    struct driver *driver = device_driver(device);
    uint64_t start = base_clock_ns(), pause = FIRST_PAUSE_NS;

    for (unsigned queries = 0;; queries++) {
        pool_status status = query(driver, object);
        uint64_t elapsed;

        if (status != POOL_ERR_NOT_READY)
            return status;
        /* A fault on another thread may leave this work unfinished forever. */
        status = driver_usable(driver);
        if (!status)
            status = device_check_waiting(device);
        if (status)
            return status;
        elapsed = base_clock_ns() - start;
        if (elapsed >= timeout_ns)
            return base_fail(
                POOL_ERR_TIMEOUT, "%s had not finished after %.3f ms", what, (double)elapsed / 1e6);
        if (queries < EAGER_QUERIES) {
            sched_yield();
            continue;
        }
        base_sleep_ns(pause < timeout_ns - elapsed ? pause : timeout_ns - elapsed);
        pause = pause * 2 < LONGEST_PAUSE_NS ? pause * 2 : LONGEST_PAUSE_NS;
    }
}
