/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends one line to the user's log callback, if there is one and the level is asked for.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <devicepool/log.h>

void base_log(pool_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether somebody listens at this level: to spare the making of costly texts. */
int base_log_wanted(pool_log_level level);

#endif
