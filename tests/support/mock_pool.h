/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of the pool: a mock driver with some devices and a pool on it, and the checks
 * at the end of every test: no objects are left in the driver, and the thread's context is the same
 * as before.
 */
#ifndef TESTS_SUPPORT_MOCK_POOL_H
#define TESTS_SUPPORT_MOCK_POOL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "pool/device/pool.h"
#include "support/assert.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

struct world {
    pool_mock *mock;
    device_pool *pool;
    pool_params params;
};

static inline struct world world_of(uint32_t devices)
{
    struct world world = {0};
    pool_mock_params params = {.struct_size = sizeof(params), .devices = devices};

    assert_ok(pool_mock_create(&world.mock, &params));
    pool_params_init(&world.params, sizeof(world.params));
    world.params.driver = pool_mock_table(world.mock);
    return world;
}

static inline struct world world_with_pool(uint32_t devices)
{
    struct world world = world_of(devices);

    assert_ok(pool_create(&world.pool, &world.params));
    return world;
}

static inline void world_end(struct world *world)
{
    assert_ok(pool_destroy(&world->pool));
    assert_null(world->pool);
    assert_string_equal(pool_mock_leaks(world->mock), "");
    assert_string_equal(pool_mock_verify(world->mock), "");
    pool_mock_destroy(&world->mock);
}

/* Fails the making of a pool and checks that nothing is left of it. */
static inline void assert_create_fails(struct world *world, pool_status status)
{
    CUcontext before = pool_mock_current_context(world->mock);

    assert_int_equal(pool_create(&world->pool, &world->params), status);
    assert_null(world->pool);
    assert_ptr_equal(pool_mock_current_context(world->mock), before);
    assert_string_equal(pool_mock_leaks(world->mock), "");
}

static inline pool_device *device_of(struct world *world, size_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(world->pool, index, &device));
    return device;
}

static inline CUcontext context_of(pool_device *device)
{
    CUcontext context = NULL;

    assert_ok(pool_device_context(device, &context));
    assert_non_null(context);
    return context;
}

#endif
