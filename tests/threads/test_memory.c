/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of many threads under a memory limit, on the mock driver and on a simulated device:
 * what is held never exceeds it after a call, every refusal is the limit's, and in the end the
 * account is balanced. Meanwhile other threads sample the free memory and choose devices.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/mock_pool.h"

enum { THREADS = 8, ROUNDS = 150, BUFFERS = 4 };
#define LIMIT (64 * MIB)

static uint64_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

struct worker {
    pthread_t thread;
    device_pool *pool;
    unsigned number;
    unsigned refused;
    char wrong[512];
};

static void check_held(struct worker *worker, pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    if (pool_memory_get_info(device, &info) || info.used_bytes > LIMIT)
        snprintf(worker->wrong, sizeof(worker->wrong), "%llu bytes are used",
            (unsigned long long)info.used_bytes);
}

/* No assertion here: only the main thread may fail. */
static void *allocate_and_free(void *argument)
{
    struct worker *worker = argument;
    pool_buffer *buffers[BUFFERS] = {0};
    pool_device *device = NULL;
    pool_stream *stream = NULL;
    uint64_t seed = worker->number + 1;

    if (pool_device_at(worker->pool, 0, &device) || pool_stream_create(device, NULL, &stream))
        snprintf(worker->wrong, sizeof(worker->wrong), "no stream");
    for (int i = 0; i < ROUNDS && !worker->wrong[0]; i++) {
        pool_buffer **buffer = &buffers[i % BUFFERS];
        pool_buffer_params params = {.struct_size = sizeof(params),
            .bytes = 1 + random_next(&seed) % (8 * MIB),
            .flags = i % 7 ? 0 : POOL_BUFFER_SECRET,
            .stream = i % 3 ? stream : NULL};
        pool_status status = pool_buffer_destroy(buffer);

        if (!status)
            status = pool_buffer_create(device, &params, buffer);
        if (status == POOL_ERR_OUT_OF_DEVICE_MEMORY) {
            worker->refused++;
            if (!strstr(pool_last_error()->message, "memory limit of 64 MiB"))
                snprintf(worker->wrong, sizeof(worker->wrong), "%s", pool_last_error()->message);
        } else if (status) {
            snprintf(worker->wrong, sizeof(worker->wrong), "%s", pool_last_error()->message);
        }
        if (i % 16 == 0)
            check_held(worker, device);
        if (i % 8 == 0 && pool_best_device(worker->pool, &device))
            snprintf(worker->wrong, sizeof(worker->wrong), "pool_best_device failed");
    }
    for (int i = 0; i < BUFFERS; i++)
        if (pool_buffer_destroy_on(&buffers[i], stream))
            snprintf(worker->wrong, sizeof(worker->wrong), "%s", pool_last_error()->message);
    if (pool_stream_destroy(&stream))
        snprintf(worker->wrong, sizeof(worker->wrong), "%s", pool_last_error()->message);
    return NULL;
}

static void check_pool(device_pool *pool)
{
    struct worker workers[THREADS] = {0};
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_device *device = NULL;
    unsigned refused = 0;

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].pool = pool;
        workers[i].number = i;
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, allocate_and_free, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_string_equal(workers[i].wrong, "");
        refused += workers[i].refused;
    }
    assert_true(refused > 0); /* eight times four buffers of 4 MiB do not fit */
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_memory_trim(device, 0));
    assert_ok(pool_memory_get_info(device, &info));
    assert_int_equal(info.used_bytes, 0);
    assert_int_equal(info.reserved_bytes, 0);
    assert_int_equal(info.available_bytes, LIMIT);
    assert_true(info.reserved_high_water_bytes >= LIMIT / 2);
}

static void test_mock(void **state)
{
    struct world world = world_of(1);

    (void)state;
    world.params.memory_limit = LIMIT;
    assert_ok(pool_create(&world.pool, &world.params));
    check_pool(world.pool);
    world_end(&world);
}

static void test_sim(void **state)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:1,mem=128M", .memory_limit = LIMIT};
    device_pool *pool = NULL;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    check_pool(pool);
    assert_ok(pool_destroy(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mock),
        cmocka_unit_test(test_sim),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
