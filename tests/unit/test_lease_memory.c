/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is charged to leases: buffers, the scratch memory of operations, limits of chunks,
 * secrets, buffers that outlive their lease, wrong devices, and threads.
 */
#include <pthread.h>

#include "support/assert.h"
#include "support/mock_pool.h"

static pool_memory_info info_of(pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info;
}

static pool_lease *lease_of(device_pool *pool, pool_device *device, uint64_t bytes, uint32_t flags)
{
    pool_request request = {.struct_size = sizeof(request),
        .bytes = bytes,
        .device = device,
        .flags = flags,
        .label = "prover"};
    pool_lease *lease = NULL;

    assert_ok(pool_acquire(pool, &request, &lease));
    return lease;
}

static pool_lease_usage usage_of(pool_lease *lease)
{
    pool_lease_usage usage = {.struct_size = sizeof(usage)};

    assert_ok(pool_lease_get_usage(lease, 0, &usage));
    return usage;
}

static pool_status allocate(
    pool_device *device, pool_lease *lease, uint64_t bytes, pool_buffer **buffer)
{
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bytes, .lease = lease};

    return pool_buffer_create(device, &params, buffer);
}

static void test_budget(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *device = device_of(&world, 0);
    pool_lease *lease = lease_of(world.pool, device, 10 * MIB, 0);
    pool_buffer *first = NULL, *second = NULL, *slice = NULL;

    (void)state;
    assert_ok(allocate(device, lease, 7 * MIB, &first));
    assert_int_equal(usage_of(lease).used_bytes, 7 * MIB);
    assert_int_equal(info_of(device).lease_charged_bytes, 7 * MIB);
    assert_int_equal(info_of(device).lease_reserved_bytes, 10 * MIB);
    assert_status(allocate(device, lease, 3 * MIB + 1, &second), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_null(second);
    assert_says("\"prover\"");
    assert_ok(allocate(device, lease, 3 * MIB, &second));
    /* A slice holds the charge. */
    assert_ok(pool_buffer_slice(first, 0, 16, &slice));
    assert_ok(pool_buffer_destroy(&first));
    assert_int_equal(usage_of(lease).used_bytes, 10 * MIB);
    assert_ok(pool_buffer_destroy(&slice));
    assert_ok(pool_buffer_destroy(&second));
    assert_int_equal(usage_of(lease).used_bytes, 0);
    assert_int_equal(usage_of(lease).peak_bytes, 10 * MIB);
    /* A failed allocation takes its charge back. */
    pool_mock_fail(world.mock, "cuMemAllocFromPoolAsync", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_true(allocate(device, lease, MIB, &first) != POOL_OK);
    assert_int_equal(usage_of(lease).used_bytes, 0);
    /* The device of the buffer must be one of the lease's. */
    assert_status(allocate(device_of(&world, 1), lease, MIB, &first), POOL_ERR_WRONG_DEVICE);
    assert_says("pool_buffer_create");
    assert_ok(pool_release(&lease));
    world_end(&world);
}

static void test_buffer_outlives_lease(void **state)
{
    struct world world = world_of(1);
    pool_device *device;
    pool_lease *lease, *next;
    pool_buffer *buffer = NULL;

    (void)state;
    world.params.memory_limit = 64 * MIB;
    assert_ok(pool_create(&world.pool, &world.params));
    device = device_of(&world, 0);
    lease = lease_of(world.pool, device, 32 * MIB, 0);
    assert_ok(allocate(device, lease, 20 * MIB, &buffer));
    assert_int_equal(info_of(device).available_bytes, 32 * MIB);
    assert_ok(pool_release(&lease));
    assert_int_equal(info_of(device).lease_charged_bytes, 0);
    assert_int_equal(info_of(device).used_bytes, 20 * MIB);
    assert_int_equal(info_of(device).available_bytes, 44 * MIB);
    next = lease_of(world.pool, device, 44 * MIB, 0);
    assert_int_equal(info_of(device).available_bytes, 0);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(info_of(device).available_bytes, 20 * MIB);
    assert_int_equal(usage_of(next).used_bytes, 0);
    assert_ok(pool_release(&next));
    world_end(&world);
}

static void test_secrets(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0);
    pool_lease *lease = lease_of(world.pool, device, MIB, POOL_LEASE_SECRET);
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(allocate(device, lease, 4096, &buffer));
    assert_int_equal(pool_buffer_flags(buffer), POOL_BUFFER_SECRET);
    pool_mock_reset_calls(world.mock);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(pool_mock_calls(world.mock, "cuMemsetD8Async"), 1);
    assert_ok(pool_release(&lease));
    world_end(&world);
}

/* The sum of two vectors in host memory under a lease; *wrong counts the wrong elements. */
static pool_status add_under(
    pool_lease *lease, pool_device *device, uint64_t count, uint64_t *wrong)
{
    const pool_field *field = pool_field_by_name("goldilocks");
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device, .lease = lease};
    uint64_t *data = malloc(count * sizeof(*data));
    pool_span span = {.data = data, .count = count};
    pool_status status;

    for (uint64_t i = 0; i < count; i++)
        data[i] = i;
    status = pool_vector_add(field, &exec, &span, &span, &span);
    for (uint64_t i = 0; i < count && !status; i++)
        *wrong += data[i] != 2 * i;
    free(data);
    return status;
}

/* Operations choose chunks that fit the budget and are charged to it. */
static void test_operations(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:2,mem=256M"};
    device_pool *pool = NULL;
    pool_device *device = NULL, *other = NULL;
    pool_lease *lease, *stale;
    uint64_t wrong = 0;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_device_at(pool, 1, &other));
    lease = lease_of(pool, other, MIB, 0);
    /* 4 MiB of elements go through a budget of 1 MiB, on the lease's device and stream. */
    assert_ok(add_under(lease, NULL, UINT64_C(1) << 19, &wrong));
    assert_int_equal(wrong, 0);
    assert_between(usage_of(lease).peak_bytes, 1, MIB);
    assert_int_equal(usage_of(lease).used_bytes, 0);
    assert_int_equal(info_of(device).used_high_water_bytes, 0);
    assert_status(add_under(lease, device, 8, &wrong), POOL_ERR_WRONG_DEVICE);
    assert_says("pool_vector_add");
    stale = lease;
    assert_ok(pool_release(&lease));
    assert_status(add_under(stale, NULL, 8, &wrong), POOL_ERR_INVALID_ARGUMENT);
    /* Without a byte of budget nothing can be allocated. */
    lease = lease_of(pool, device, 0, 0);
    assert_status(add_under(lease, NULL, 8, &wrong), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_ok(pool_release(&lease));
    assert_ok(pool_destroy(&pool));
}

enum { THREADS = 6, ROUNDS = 60 };

struct worker {
    pthread_t thread;
    device_pool *pool;
    int wrong;
};

/* No assertion here: only the main thread may fail. */
static void *use_leases(void *argument)
{
    struct worker *worker = argument;
    pool_request request = {.struct_size = sizeof(request),
        .bytes = 8 * MIB,
        .timeout_ns = POOL_WAIT_FOREVER,
        .label = "thread"};

    for (int i = 0; i < ROUNDS && !worker->wrong; i++) {
        pool_buffer *buffers[3] = {0};
        pool_device *device = NULL;
        pool_lease *lease = NULL;

        worker->wrong |= pool_acquire(worker->pool, &request, &lease) != POOL_OK;
        worker->wrong |= pool_lease_device(lease, 0, &device) != POOL_OK;
        for (int k = 0; k < 3; k++)
            worker->wrong |= allocate(device, lease, 3 * MIB, &buffers[k]) !=
                             (k < 2 ? POOL_OK : POOL_ERR_OUT_OF_DEVICE_MEMORY);
        worker->wrong |= pool_buffer_destroy(&buffers[0]) != POOL_OK;
        worker->wrong |= pool_release(&lease) != POOL_OK;
        worker->wrong |= pool_buffer_destroy(&buffers[1]) != POOL_OK;
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct world world = world_of(2);
    struct worker workers[THREADS] = {0};

    (void)state;
    world.params.memory_limit = 64 * MIB;
    assert_ok(pool_create(&world.pool, &world.params));
    for (int i = 0; i < THREADS; i++) {
        workers[i].pool = world.pool;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, use_leases, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    for (size_t i = 0; i < 2; i++) {
        pool_memory_info info = info_of(device_of(&world, i));

        assert_int_equal(info.used_bytes, 0);
        assert_int_equal(info.leases, 0);
        assert_int_equal(info.available_bytes, 64 * MIB);
    }
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_buffer_outlives_lease),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
