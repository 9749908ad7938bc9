/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver calls of clean-up paths: they are omitted once the process is poisoned, and they need not
 * replace the error that led to the clean-up.
 */
#ifndef DRIVER_CLEANUP_H
#define DRIVER_CLEANUP_H

#include <stdbool.h>

#include "base/status.h"
#include "driver/driver.h"

/* Whether a sticky fault has occurred; no driver call can succeed then. */
static inline bool driver_is_poisoned(const struct driver *driver)
{
    return atomic_load_explicit(&driver->poisoned, memory_order_relaxed) != 0;
}

/* DRIVER_CALL, omitted once the process is poisoned. */
#define DRIVER_CLEANUP(driver, call)                                                               \
    (driver_is_poisoned(driver) ? POOL_ERR_PROCESS_POISONED : DRIVER_CALL(driver, call))

/* The same for clean-ups after a failure: the thread's error detail stays as it was. */
#define DRIVER_CLEANUP_QUIETLY(driver, call)                                                       \
    do {                                                                                           \
        struct base_error_copy cleanup_error;                                                      \
        base_error_save(&cleanup_error);                                                           \
        (void)DRIVER_CLEANUP(driver, call);                                                        \
        base_error_restore(&cleanup_error);                                                        \
    } while (0)

#endif
