/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For groups of cmocka tests that share one device: its pool, opened before the first test and
 * destroyed after the last.
 */
#ifndef TESTS_SUPPORT_POOL_H
#define TESTS_SUPPORT_POOL_H

#include <stdio.h>
#include <stdlib.h>

#include <devicepool.h>

static const char *device_text = "sim"; /* as pool_params takes it; a main may set another */
static device_pool *pool;
static pool_device *device; /* the first one */

/* On that device, all else by default. */
static inline pool_exec exec_here(void)
{
    return (pool_exec){.struct_size = sizeof(pool_exec), .device = device};
}

/* With a limit that makes chunks small. */
static inline pool_exec exec_within(uint64_t memory_limit)
{
    pool_exec exec = exec_here();

    exec.memory_limit = memory_limit;
    return exec;
}

/* No MSM is small: the kernels of large ones compute those of tests, too. */
#define POOL_NO_SMALL_MSMS                                                                         \
    "msm.8.small_max_terms=0,msm.12.small_max_terms=0,msm.16.small_max_terms=0,"                   \
    "msm.24.small_max_terms=0"

/* Tuning parameters of the pool, NAME=VALUE,...; a main may set others. */
static const char *tuning_text = "";

static inline int set_numbers(pool_tuning *tuning, const char *text)
{
    char name[64];
    unsigned value;
    int length = 0;

    for (; sscanf(text, "%63[^=]=%u%n", name, &value, &length) == 2; text += *text == ',') {
        text += length;
        if (pool_tuning_set(tuning, name, value))
            return -1;
    }
    return *text ? -1 : 0;
}

/* DEVICEPOOL_TEST_TUNING replaces the numbers in further runs of the same tests; empty: the default
 * ones. */
static inline int open_pool(void **state)
{
    const char *given = getenv("DEVICEPOOL_TEST_TUNING");
    const char *numbers = given ? given : tuning_text;
    pool_params params = {.struct_size = sizeof(params), .devices = device_text};
    pool_tuning *tuning = NULL;
    int failed = *numbers && (pool_tuning_create(NULL, &tuning) || set_numbers(tuning, numbers));

    (void)state;
    params.tuning = tuning;
    failed = failed || pool_create(&pool, &params) || pool_device_at(pool, 0, &device);
    pool_tuning_destroy(&tuning);
    return failed;
}

static inline int close_pool(void **state)
{
    (void)state;
    return pool_destroy(&pool);
}

#endif
