/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of a device's memory and the limit of what the library may hold there.
 */
#include "support/assert.h"
#include "support/mock_pool.h"

#include <pthread.h>

static pool_memory_info info_of(pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info;
}

static struct world limited(uint32_t devices, uint64_t limit)
{
    struct world world = world_of(devices);

    world.params.memory_limit = limit;
    assert_ok(pool_create(&world.pool, &world.params));
    return world;
}

static void test_refused_with_all_numbers(void **state)
{
    struct world world = limited(2, 64 * MIB);
    pool_device *device = device_of(&world, 0);
    pool_buffer *first = NULL, *second = NULL, *elsewhere = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(device, 40 * MIB, &first));
    pool_mock_reset_calls(world.mock);
    assert_status(pool_buffer_alloc(device, 24 * MIB + 1, &second), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_null(second);
    assert_int_equal(pool_mock_calls(world.mock, "cuMemAllocFromPoolAsync"), 0);
    assert_says("an allocation of 24.00 MiB (25165825 bytes) on device 0");
    assert_says("the memory limit of 64 MiB");
    assert_says("41943040 bytes are used by buffers, 41943040 are held");
    assert_says("0 are reserved by 0 leases");
    assert_ok(pool_buffer_alloc(device, 24 * MIB, &second));
    assert_int_equal(info_of(device).memory_limit, 64 * MIB);
    assert_int_equal(info_of(device).available_bytes, 0);
    /* The limit is each device's own. */
    assert_ok(pool_buffer_alloc(device_of(&world, 1), 64 * MIB, &elsewhere));
    assert_ok(pool_buffer_destroy(&elsewhere));
    assert_ok(pool_buffer_destroy(&second));
    assert_ok(pool_buffer_destroy(&first));
    assert_int_equal(info_of(device).available_bytes, 64 * MIB);
    world_end(&world);
}

/* What leases have reserved cannot be allocated without one. */
static void test_reserved_bytes_stay_free(void **state)
{
    struct world world = limited(1, 64 * MIB);
    pool_device *device = device_of(&world, 0);
    pool_buffer *buffer = NULL;
    pool_memory_info info;

    (void)state;
    device_reserved_changed(device, (int64_t)(48 * MIB), 1);
    assert_status(pool_buffer_alloc(device, 17 * MIB, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says("50331648 are reserved by 1 lease (0 of these used)");
    assert_ok(pool_buffer_alloc(device, 16 * MIB, &buffer));
    info = info_of(device);
    assert_int_equal(info.lease_reserved_bytes, 48 * MIB);
    assert_int_equal(info.leases, 1);
    assert_int_equal(info.available_bytes, 0);
    device_reserved_changed(device, -(int64_t)(48 * MIB), -1);
    assert_ok(pool_buffer_destroy(&buffer));
    world_end(&world);
}

/* Memory that the driver's pool keeps counts: it is trimmed, and when that does not help the
 * allocation is undone. The hook stands for a pool that reserves in large blocks. */
static void test_held_memory_counts(void **state)
{
    struct world world = limited(1, 64 * MIB);
    pool_device *device = device_of(&world, 0);
    pool_buffer *buffer = NULL;
    CUmemoryPool handle = NULL;
    CUdeviceptr foreign = 0;
    const pool_cuda_api *api = pool_mock_table(world.mock);
    uint64_t before;

    (void)state;
    assert_ok(pool_memory_handle(device, &handle));
    assert_ok(pool_bind(device));
    /* Unused in the library's memory pool: released before the limit makes a request fail. */
    assert_int_equal(api->MemAllocFromPoolAsync(&foreign, 60 * MIB, handle, NULL), 0);
    assert_int_equal(api->MemFreeAsync(foreign, NULL), 0);
    before = pool_mock_calls(world.mock, "cuMemPoolTrimTo");
    assert_ok(pool_buffer_alloc(device, 63 * MIB, &buffer));
    assert_int_equal(info_of(device).reserved_bytes, 63 * MIB);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_memory_trim(device, 0));
    /* In use by other code that allocates from it: nothing can be released. */
    assert_int_equal(api->MemAllocFromPoolAsync(&foreign, 40 * MIB, handle, NULL), 0);
    assert_status(pool_buffer_alloc(device, 30 * MIB, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says("0 bytes are used by other buffers, 73400320 would be held");
    assert_true(pool_mock_calls(world.mock, "cuMemPoolTrimTo") > before + 1);
    assert_int_equal(info_of(device).used_bytes, 0);
    assert_ok(pool_memory_trim(device, 0));
    assert_int_equal(info_of(device).reserved_bytes, 40 * MIB);
    assert_ok(pool_buffer_alloc(device, 24 * MIB, &buffer));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(api->MemFreeAsync(foreign, NULL), 0);
    assert_ok(pool_unbind(device));
    world_end(&world);
}

struct foreign_block {
    struct world *world;
    CUdeviceptr address;
    int is_freed;
};

static void *free_foreign(void *argument)
{
    struct foreign_block *block = argument;
    const pool_cuda_api *api = pool_mock_table(block->world->mock);

    assert_ok(pool_bind(device_of(block->world, 0)));
    assert_int_equal(api->MemFreeAsync(block->address, NULL), 0);
    assert_ok(pool_unbind(device_of(block->world, 0)));
    return NULL;
}

static pool_cu_result when_undone(void *user, const char *function, uint64_t call)
{
    struct foreign_block *block = user;
    pthread_t thread;

    (void)call;
    if (!block->is_freed && strcmp(function, "cuMemFreeAsync") == 0) {
        block->is_freed = 1;
        assert_int_equal(pthread_create(&thread, NULL, free_foreign, block), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    return 0;
}

/* Drivers place a large allocation in part in a block that could have been released without it: the
 * allocation is undone, the block released, and the allocation made again. The foreign block stands
 * for such a block. */
static void test_allocation_that_kept_a_block_is_repeated(void **state)
{
    struct world world = limited(1, 64 * MIB);
    pool_device *device = device_of(&world, 0);
    const pool_cuda_api *api = pool_mock_table(world.mock);
    struct foreign_block block = {.world = &world};
    pool_buffer *buffer = NULL;
    CUmemoryPool handle = NULL;
    uint64_t before;

    (void)state;
    assert_ok(pool_memory_handle(device, &handle));
    assert_ok(pool_bind(device));
    assert_int_equal(api->MemAllocFromPoolAsync(&block.address, 32 * MIB, handle, NULL), 0);
    assert_ok(pool_unbind(device));
    pool_mock_set_hook(world.mock, when_undone, &block);
    before = pool_mock_calls(world.mock, "cuMemAllocFromPoolAsync");
    assert_ok(pool_buffer_alloc(device, 60 * MIB, &buffer));
    pool_mock_set_hook(world.mock, NULL, NULL);
    assert_int_equal(pool_mock_calls(world.mock, "cuMemAllocFromPoolAsync"), before + 2);
    assert_int_equal(info_of(device).used_bytes, 60 * MIB);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(info_of(device).used_bytes, 0);
    world_end(&world);
}

/* An allocation that fails leaves the account as it was. */
static void test_failures_leave_no_trace(void **state)
{
    static const char *const calls[] = {
        "cuMemAllocFromPoolAsync", "cuMemPoolGetAttribute", "cuMemsetD8Async"};
    struct world world = limited(1, 64 * MIB);
    pool_device *device = device_of(&world, 0);
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_buffer_alloc(device, MIB, &buffer));
    assert_ok(pool_buffer_destroy(&buffer));
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        pool_mock_fail(world.mock, calls[i], 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        assert_true(pool_buffer_zeroed(device, 8 * MIB, &buffer) != POOL_OK);
        assert_int_equal(info_of(device).used_bytes, 0);
        assert_int_equal(info_of(device).available_bytes, 64 * MIB);
    }
    world_end(&world);
}

static uint64_t limit_by(struct world *world, const char *variable)
{
    uint64_t limit;

    if (variable)
        setenv("DEVICEPOOL_MEMORY_LIMIT", variable, 1);
    assert_ok(pool_create(&world->pool, &world->params));
    unsetenv("DEVICEPOOL_MEMORY_LIMIT");
    limit = info_of(device_of(world, 0)).memory_limit;
    assert_ok(pool_destroy(&world->pool));
    return limit;
}

static void test_params_and_environment(void **state)
{
    static const char *const wrong[] = {"24X", "G", "0", "0%", "101%", "-1", "1.5G", "24GB", " 1G",
        "99999999999999999999", "18014398509481984K"};
    struct world world = world_of(1);
    uint64_t total;

    (void)state;
    assert_int_equal(limit_by(&world, NULL), 0);
    assert_int_equal(limit_by(&world, ""), 0);
    assert_int_equal(limit_by(&world, "3G"), 3 * GIB);
    assert_int_equal(limit_by(&world, "512M"), 512 * MIB);
    assert_int_equal(limit_by(&world, "1048576"), MIB);
    assert_int_equal(limit_by(&world, "7K"), 7168);
    assert_ok(pool_create(&world.pool, &world.params));
    total = info_of(device_of(&world, 0)).total_bytes;
    assert_ok(pool_destroy(&world.pool));
    assert_int_equal(limit_by(&world, "50%"), total / 100 * 50);
    world.params.memory_limit = 5 * MIB;
    assert_int_equal(limit_by(&world, "3G"), 5 * MIB);
    world.params.memory_limit = UINT64_MAX;
    assert_int_equal(limit_by(&world, "3G"), 0);
    world.params.memory_limit = 0;
    world.params.memory_limit_percent = 10;
    assert_int_equal(limit_by(&world, "3G"), total / 100 * 10);
    world.params.memory_limit = 1;
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    assert_says("`memory_limit` is 1 and `memory_limit_percent` 10; one of them must be 0");
    world.params.memory_limit = 0;
    world.params.memory_limit_percent = 101;
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    assert_says("unsupported value 101 for `memory_limit_percent`");
    world.params.memory_limit_percent = 0;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        setenv("DEVICEPOOL_MEMORY_LIMIT", wrong[i], 1);
        assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
        assert_says("DEVICEPOOL_MEMORY_LIMIT");
        assert_says(wrong[i]);
    }
    unsetenv("DEVICEPOOL_MEMORY_LIMIT");
    assert_ok(pool_create(&world.pool, &world.params));
    world_end(&world);
}

/* Free bytes, unused ones, headroom and limit make up what leases can reserve. */
static void test_available(void **state)
{
    struct world world = world_of(1);
    pool_device *device;
    pool_buffer *buffer = NULL;
    pool_memory_info info;

    (void)state;
    world.params.memory_headroom = GIB;
    assert_ok(pool_create(&world.pool, &world.params));
    device = device_of(&world, 0);
    pool_mock_set_free_memory(world.mock, 0, 10 * GIB);
    info = info_of(device);
    assert_int_equal(info.memory_headroom, GIB);
    assert_int_equal(info.available_bytes, 9 * GIB);
    /* Allocations are counted immediately, before the next sample. */
    assert_ok(pool_buffer_alloc(device, 3 * GIB, &buffer));
    assert_int_equal(device_capacity(device), 6 * GIB);
    assert_int_equal(info_of(device).available_bytes, 6 * GIB);
    /* Memory that the pool keeps is available. */
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(device_capacity(device), 9 * GIB);
    assert_int_equal(info_of(device).available_bytes, 9 * GIB);
    assert_int_equal(info_of(device).reserved_bytes, 3 * GIB);
    /* The use by other code shows with the next sample. */
    pool_mock_set_free_memory(world.mock, 0, 2 * GIB);
    assert_int_equal(device_capacity(device), 9 * GIB);
    assert_int_equal(info_of(device).available_bytes, 4 * GIB);
    assert_int_equal(device_capacity(device), 4 * GIB);
    world_end(&world);
    /* The default headroom. */
    world = world_with_pool(1);
    info = info_of(device_of(&world, 0));
    assert_int_equal(info.memory_headroom,
        info.total_bytes / 64 < 512 * MIB ? info.total_bytes / 64 : 512 * MIB);
    world_end(&world);
}

/* What is charged to a lease is not used outside of it; what outlives it is from then on. */
static void test_charged_to_leases(void **state)
{
    struct world world = limited(1, 64 * MIB);
    pool_device *device = device_of(&world, 0);
    struct device_account_info account;

    (void)state;
    device_reserved_changed(device, (int64_t)(32 * MIB), 1);
    assert_true(device_account_add(device, 20 * MIB, true));
    device_account_read(device, &account);
    assert_int_equal(account.charged, 20 * MIB);
    assert_int_equal(account.available, 32 * MIB);
    assert_int_equal(device_net_free(device), 32 * MIB);
    device_account_outlive(device, 20 * MIB);
    device_reserved_changed(device, -(int64_t)(32 * MIB), -1);
    device_account_read(device, &account);
    assert_int_equal(account.charged, 0);
    assert_int_equal(account.available, 44 * MIB);
    device_account_subtract(device, 20 * MIB, false);
    device_account_read(device, &account);
    assert_int_equal(account.used, 0);
    assert_int_equal(account.available, 64 * MIB);
    world_end(&world);
}

static void test_described(void **state)
{
    struct world world = limited(2, 3 * GIB);
    char *text = NULL;

    (void)state;
    device_reserved_changed(device_of(&world, 1), (int64_t)GIB, 1);
    assert_ok(pool_describe(world.pool, 0, &text));
    assert_non_null(strstr(text, "limit GiB"));
    assert_non_null(strstr(text, "  1       3.00     0.00     0.00      1.00 (1)"));
    pool_text_free(&text);
    assert_ok(pool_describe(world.pool, 1, &text));
    assert_non_null(strstr(text, "\"memory_limit\":\t3221225472"));
    assert_non_null(strstr(text, "\"lease_reserved_bytes\":\t1073741824"));
    pool_text_free(&text);
    device_reserved_changed(device_of(&world, 1), -(int64_t)GIB, -1);
    world_end(&world);
}

/* Simulated memory pools reserve 2 MiB at a time: many small buffers stay within the limit. */
static void test_on_a_simulated_device(void **state)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:1,mem=64M", .memory_limit = 8 * MIB};
    pool_buffer *buffers[64] = {0};
    pool_device *device = NULL;
    device_pool *pool = NULL;
    pool_stream *stream = NULL;
    size_t count = 0;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_stream_create(device, NULL, &stream));
    for (int round = 0; round < 3; round++) {
        pool_buffer_params wanted = {.struct_size = sizeof(wanted),
            .bytes = (MIB >> round) - 100,
            .stream = round % 2 ? stream : NULL};

        for (count = 0; count < 64; count++)
            if (pool_buffer_create(device, &wanted, &buffers[count]))
                break;
        assert_true(info_of(device).reserved_bytes <= 8 * MIB);
        assert_true(info_of(device).used_bytes <= 8 * MIB);
        assert_between(count, (8u << round) - 1, 8u << round);
        assert_says("the memory limit of 8 MiB");
        while (count)
            assert_ok(pool_buffer_destroy_on(&buffers[--count], wanted.stream));
    }
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_destroy(&pool));
}

/* The last attempt to stay within the limit waits for other streams, and not for the one that is
 * captured, whose capture the driver would end. */
static void test_beside_a_capture(void **state)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:1,mem=64M", .memory_limit = 8 * MIB};
    pool_buffer *buffers[16] = {0};
    pool_device *device = NULL;
    device_pool *pool = NULL;
    pool_stream *stream = NULL, *other = NULL;
    pool_graph *graph = NULL;
    size_t count = 0;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_stream_create(device, NULL, &other));
    assert_ok(pool_buffer_alloc(device, 4 * MIB - 100, &buffers[count++]));
    assert_ok(pool_stream_begin_capture(stream));
    assert_ok(pool_buffer_fill8(buffers[0], 0, 1000, 1, stream));
    /* The simulated memory pool reserves more than is requested: the account finds room for one
     * more, which the memory pool does not have. */
    while (count < 16 && !pool_buffer_alloc(device, MIB - 100, &buffers[count]))
        count++;
    assert_between(count, 2, 15);
    assert_says("the memory limit of 8 MiB");
    assert_ok(pool_buffer_destroy_on(&buffers[--count], other));
    assert_ok(pool_buffer_alloc(device, MIB - 100, &buffers[count++]));
    assert_ok(pool_stream_end_capture(stream, &graph));
    assert_ok(pool_graph_launch(graph, stream));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_graph_destroy(&graph));
    while (count)
        assert_ok(pool_buffer_destroy(&buffers[--count]));
    assert_ok(pool_stream_destroy(&other));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_destroy(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_with_all_numbers),
        cmocka_unit_test(test_reserved_bytes_stay_free),
        cmocka_unit_test(test_held_memory_counts),
        cmocka_unit_test(test_allocation_that_kept_a_block_is_repeated),
        cmocka_unit_test(test_failures_leave_no_trace),
        cmocka_unit_test(test_params_and_environment),
        cmocka_unit_test(test_available),
        cmocka_unit_test(test_charged_to_leases),
        cmocka_unit_test(test_described),
        cmocka_unit_test(test_on_a_simulated_device),
        cmocka_unit_test(test_beside_a_capture),
    };

    unsetenv("DEVICEPOOL_MEMORY_LIMIT");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
