/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wake-up for one sleeping thread: one word, so that nothing has to be created or destroyed, and
 * a signal handler may post it.
 */
#ifndef BASE_WAKE_H
#define BASE_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BASE_WAKE_NEVER UINT64_MAX /* as a time: no deadline */

/* Zero: nothing was posted. */
struct base_wake {
    atomic_uint state;
};

/* Wakes the thread that waits, or lets the next wait return at once. Posts do not add up. */
void base_wake_post(struct base_wake *wake);

/* Waits for a post and consumes it; false: `deadline_ns` (of base_clock_ns) passed first. One
 * thread at a time. */
bool base_wake_wait(struct base_wake *wake, uint64_t deadline_ns);

/* Consumes a post that nobody waited for. */
static inline void base_wake_reset(struct base_wake *wake)
{
    atomic_store_explicit(&wake->state, 0, memory_order_relaxed);
}

#endif
