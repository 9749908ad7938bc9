/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that map, use and unmap parts of one range, with physical memory that they share, on the
 * mock driver and on a simulated device: each part has its own thread's bytes, and in the end the
 * account is balanced.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "support/mock_pool.h"

enum { THREADS = 6, ROUNDS = 40 };

static struct {
    device_pool *pool;
    pool_device *device;
    pool_range *range;
    pool_physical *shared; /* mapped by all threads, at different addresses */
    uint64_t unit;
} common;

struct worker {
    pthread_t thread;
    unsigned number;
    char wrong[512];
};

static pool_status check_bytes(struct worker *worker, pool_buffer *buffer, unsigned char value)
{
    unsigned char bytes[64];
    pool_status status =
        pool_copy_to_host(bytes, buffer, pool_buffer_bytes(buffer) - 64, sizeof(bytes), NULL);

    for (size_t i = 0; i < sizeof(bytes) && !status; i++)
        if (bytes[i] != value)
            snprintf(worker->wrong, sizeof(worker->wrong), "0x%02x in the part of thread %u",
                bytes[i], worker->number);
    return status;
}

/* Two units of the range belong to the thread: its own memory, and the shared one. */
static pool_status one_round(struct worker *worker, unsigned char value)
{
    uint64_t unit = common.unit, offset = 2 * unit * worker->number;
    pool_physical *physical = NULL;
    pool_buffer *buffer = NULL;
    int descriptor = -1;
    pool_status status =
        pool_physical_create(common.device, unit, POOL_PHYSICAL_EXPORTABLE, &physical);

    if (!status)
        status = pool_range_map(common.range, offset, physical);
    if (!status)
        status = pool_range_map(common.range, offset + unit, common.shared);
    if (!status && value % 8 == 0)
        status = pool_physical_export(physical, &descriptor);
    if (descriptor >= 0)
        close(descriptor);
    if (!status)
        status = pool_physical_destroy(&physical);
    if (!status)
        status = pool_range_buffer(common.range, offset, unit, &buffer);
    if (!status)
        status = pool_buffer_fill8(buffer, 0, unit, value, NULL);
    if (!status)
        status = check_bytes(worker, buffer, value);
    if (!status && pool_range_mapped_bytes(common.range) < 2 * unit)
        snprintf(worker->wrong, sizeof(worker->wrong), "mapped bytes are missing");
    if (!status)
        status = pool_buffer_destroy(&buffer);
    return status ? status : pool_range_unmap(common.range, offset, 2 * unit);
}

/* No assertion here: only the main thread may fail. */
static void *map_and_unmap(void *argument)
{
    struct worker *worker = argument;

    for (unsigned i = 0; i < ROUNDS && !worker->wrong[0]; i++)
        if (one_round(worker, (unsigned char)(i + worker->number)) && !worker->wrong[0])
            snprintf(worker->wrong, sizeof(worker->wrong), "%s", pool_last_error()->message);
    return NULL;
}

static void check_pool(device_pool *pool)
{
    struct worker workers[THREADS] = {0};
    pool_memory_info info = {.struct_size = sizeof(info)};

    common.pool = pool;
    assert_ok(pool_device_at(pool, 0, &common.device));
    assert_ok(pool_virtual_granularity(common.device, &common.unit));
    assert_ok(pool_range_reserve(common.device, 2 * THREADS * common.unit, &common.range));
    assert_ok(pool_physical_create(common.device, common.unit, 0, &common.shared));
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, map_and_unmap, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        if (workers[i].wrong[0])
            fail_msg("%s", workers[i].wrong);
    assert_int_equal(pool_range_mapped_bytes(common.range), 0);
    assert_ok(pool_range_destroy(&common.range));
    assert_ok(pool_physical_destroy(&common.shared));
    assert_ok(pool_memory_get_info(common.device, &info));
    assert_int_equal(info.used_bytes, 0);
    assert_int_equal(info.physical_bytes, 0);
}

static void test_mock(void **state)
{
    struct world world = world_of(1);

    (void)state;
    assert_ok(pool_create(&world.pool, &world.params));
    check_pool(world.pool);
    world_end(&world);
}

static void test_sim(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:1"};
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
