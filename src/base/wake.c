/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wake-up on a futex. glibc's semaphores would need a clock that its older versions do not offer
 * for them.
 */
#include "base/wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAKE_IDLE, WAKE_POSTED, WAKE_WAITING };

void base_wake_post(struct base_wake *wake)
{
    int saved = errno; /* of the code that a signal handler interrupted */

    if (atomic_exchange(&wake->state, WAKE_POSTED) == WAKE_WAITING)
        syscall(SYS_futex, &wake->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}

/* Sleeps until the word is not WAKE_WAITING any more; false: the deadline has passed. */
static bool sleep_until(struct base_wake *wake, uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
        .tv_nsec = (long)(deadline_ns % 1000000000u)};
    const struct timespec *limit = deadline_ns > INT64_MAX ? NULL : &until;

    return syscall(SYS_futex, &wake->state, FUTEX_WAIT_BITSET_PRIVATE, WAKE_WAITING, limit, NULL,
               FUTEX_BITSET_MATCH_ANY) == 0 ||
           errno != ETIMEDOUT;
}

bool base_wake_wait(struct base_wake *wake, uint64_t deadline_ns)
{
    for (;;) {
        unsigned expected = WAKE_POSTED;

        if (atomic_compare_exchange_strong(&wake->state, &expected, WAKE_IDLE))
            return true;
        expected = WAKE_IDLE;
        (void)atomic_compare_exchange_strong(&wake->state, &expected, WAKE_WAITING);
        if (sleep_until(wake, deadline_ns))
            continue;
        expected = WAKE_WAITING;
        if (atomic_compare_exchange_strong(&wake->state, &expected, WAKE_IDLE))
            return false;
    }
}
