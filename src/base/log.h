/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes one line to the user's log callback, if one is installed and the level is enabled.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <devicepool/log.h>
#include <devicepool/status.h>

/*
 * The layer that knows the devices sets the function that returns the ordinal of the device that
 * the calling thread is working on, or -1. NULL removes it.
 */
void base_log_set_device(int32_t (*read)(void));

/*
 * The label of the lease on whose behalf the calling thread works, or of the request for one: its
 * records carry it. NULL: none. It must live until the label is set again. Returns the one before.
 */
const char *base_log_set_label(const char *label);
const char *base_log_label(void);

/*
 * From this declaration to the end of its block the thread has this label; NULL leaves the label of
 * the enclosing call. One per block.
 */
#define BASE_LOG_LABEL(label)                                                                      \
    const char *base_log_outer __attribute__((unused, cleanup(base_log_restore_label))) =          \
        base_log_enter_label(label)

/* Its two halves. */
static inline const char *base_log_enter_label(const char *label)
{
    return label ? base_log_set_label(label) : base_log_label();
}

static inline void base_log_restore_label(const char **outer)
{
    (void)base_log_set_label(*outer);
}

void base_log(pool_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message of a failure, with the driver call and its code, or "" and 0. */
void base_log_failure(const char *message, const char *status_name, const char *call, int32_t code);

/* Messages go to standard error, as DEVICEPOOL_LOG says, if the program has not set a callback. */
pool_status base_log_apply_setting(void);

/* Whether the level is enabled: to avoid formatting expensive messages. */
int base_log_wanted(pool_log_level level);

#endif
