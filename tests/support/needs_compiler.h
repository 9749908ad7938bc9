/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what has no prebuilt PTX: they are skipped where no NVRTC works. */
#ifndef TESTS_SUPPORT_NEEDS_COMPILER_H
#define TESTS_SUPPORT_NEEDS_COMPILER_H

#include <devicepool.h>
#include <stdbool.h>
#include <stdio.h>

/* True, and said, if no NVRTC compiles for that device; false also after any other failure, which
 * the test then reports. */
static inline bool compiler_is_missing(pool_device *device)
{
    pool_component compiler;

    if (pool_device_get_compiler(device, &compiler) || compiler.status != POOL_ERR_NO_COMPILER)
        return false;
    printf("skipped: %s\n", compiler.message);
    return true;
}

/* The same for simulated devices, before a test has a pool. */
static inline bool simulated_compiler_is_missing(void)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim"};
    device_pool *pool = NULL;
    pool_device *device;
    bool is_missing;

    if (pool_create(&pool, &params))
        return false;
    is_missing = !pool_device_at(pool, 0, &device) && compiler_is_missing(device);
    pool_destroy(&pool);
    return is_missing;
}

#endif
