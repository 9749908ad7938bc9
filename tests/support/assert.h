/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions about calls of the library, for cmocka. A failure names the call, the status and the
 * library's message.
 */
#ifndef TESTS_SUPPORT_ASSERT_H
#define TESTS_SUPPORT_ASSERT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <devicepool.h>

#define assert_status(call, expected)                                                              \
    assert_status_at((call), (expected), #call, __FILE__, __LINE__)
#define assert_ok(call) assert_status(call, POOL_OK)
/* As unsigned numbers. cmocka's assert_in_range is deprecated from 2.0 on, its successor is not
 * in 1.1: tests use neither. */
#undef assert_in_range
#define assert_between(value, lowest, highest)                                                     \
    assert_between_at(                                                                             \
        (uint64_t)(value), (uint64_t)(lowest), (uint64_t)(highest), #value, __FILE__, __LINE__)
/* The thread's last error message contains a text. */
#define assert_says(text) assert_says_at((text), __FILE__, __LINE__)

static inline void assert_status_at(
    pool_status got, pool_status expected, const char *call, const char *file, int line)
{
    /* Every failure sets the detail. */
    if (got == expected && (got >= POOL_OK || pool_last_error()->status == got))
        return;
    if (got == expected) {
        print_error("%s:%d: %s returns %s, and pool_last_error is of %s\n", file, line, call,
            pool_status_name(got), pool_status_name(pool_last_error()->status));
        _fail(file, line);
        return;
    }
    print_error("%s:%d: %s: %s instead of %s: %s\n", file, line, call, pool_status_name(got),
        pool_status_name(expected), pool_last_error()->message);
    _fail(file, line);
}

static inline void assert_between_at(
    uint64_t value, uint64_t lowest, uint64_t highest, const char *text, const char *file, int line)
{
    if (value >= lowest && value <= highest)
        return;
    print_error("%s:%d: %s is %llu, not between %llu and %llu\n", file, line, text,
        (unsigned long long)value, (unsigned long long)lowest, (unsigned long long)highest);
    _fail(file, line);
}

static inline void assert_says_at(const char *text, const char *file, int line)
{
    const char *message = pool_last_error()->message;

    if (message && strstr(message, text))
        return;
    print_error(
        "%s:%d: the message is \"%s\", without \"%s\"\n", file, line, message ? message : "", text);
    _fail(file, line);
}

#endif
