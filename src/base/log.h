/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes one line to the user's log callback, if one is installed and the level is enabled.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <devicepool/log.h>

/* What the calling thread is working on. */
struct base_log_origin {
    int32_t device;    /* ordinal; -1: no device */
    const char *lease; /* label, or "" */
};

/*
 * The layer that knows the devices sets the function that fills in the origin of a message; it is
 * called on the thread that logs, with the members set to -1 and "". NULL removes it.
 */
void base_log_set_origin(void (*read)(struct base_log_origin *origin));

void base_log(pool_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message of a failure, with the driver call and its code, or "" and 0. */
void base_log_failure(const char *message, const char *status_name, const char *call, int32_t code);

/* Whether the level is enabled: to avoid formatting expensive messages. */
int base_log_wanted(pool_log_level level);

#endif
