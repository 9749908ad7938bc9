/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of this library are recorded in the thread's detail of devicepool, through its public
 * function: base/ is compiled into both libraries, and each has its own copy.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

pool_status base_fail(pool_status status, const char *format, ...)
{
    char message[4096];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    return pool_error_set(status, message);
}
