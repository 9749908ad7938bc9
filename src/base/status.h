/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording a failure. The first function that knows the cause calls base_fail (or, in driver/,
 * base_fail_driver) once; all callers return the status.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <devicepool/status.h>

/* Fills the thread's detail, logs it at ERROR and returns `status`. */
pool_status base_fail(pool_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same without a log record: for results of queries and tries that a caller expects. */
pool_status base_fail_quietly(pool_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* base_fail for a driver call: its code, the code's name and the call's text go into the detail. */
pool_status base_fail_driver(pool_status status, int driver_code, const char *driver_name,
    const char *call, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "out of host memory for WHAT". */
pool_status base_fail_memory(const char *what);

/* A copy of the thread's detail, which a caller restores after another attempt. */
struct base_error_copy {
    pool_error error;
    char call[128];
    char message[4096]; /* a compile error includes source lines */
};
void base_error_save(struct base_error_copy *copy);
/* Checks a slot that an argument or member names; NULL is valid. */
pool_status base_error_slot_check(
    const char *call, const char *argument, const pool_error_slot *slot);
/* Copies the thread's error to a slot of the caller; no-op for NULL and an invalid slot. */
void base_error_fill(pool_error_slot *slot);
void base_error_restore(const struct base_error_copy *copy);

#endif
