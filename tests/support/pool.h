/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For groups of cmocka tests that share one device: its pool, opened before the first test and
 * destroyed after the last.
 */
#ifndef TESTS_SUPPORT_POOL_H
#define TESTS_SUPPORT_POOL_H

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

static inline int open_pool(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = device_text};

    (void)state;
    return pool_create(&pool, &params) || pool_device_at(pool, 0, &device);
}

static inline int close_pool(void **state)
{
    (void)state;
    return pool_destroy(&pool);
}

#endif
