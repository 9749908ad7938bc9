/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs that measure share: calls that end the program when they fail (with 77 when this
 * host cannot do it), and medians.
 */
#ifndef BENCH_SUPPORT_H
#define BENCH_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include <devicepool.h>

#define MUST(call) must((call), #call)

static inline void must(pool_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, pool_status_name(status), pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static inline int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Sorts the values. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

#endif
