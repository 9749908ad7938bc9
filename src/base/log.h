/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes one line to the user's log callback, if one is installed and the level is enabled.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <devicepool/log.h>

void base_log(pool_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the level is enabled: to avoid formatting expensive messages. */
int base_log_wanted(pool_log_level level);

#endif
