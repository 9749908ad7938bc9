/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of pinned memory: reuse by size classes, the threshold, trim, staging rings, secrets,
 * statistics, and pages near the device.
 */
#include <sys/syscall.h>

#include "pool/memory/numa.h"
#include "support/mock_pool.h"

static pool_memory_info info_of(pool_device *device)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info;
}

/* Creates and destroys pinned memory; the address that it had. */
static void *address_of_next(pool_device *device, uint64_t bytes, uint32_t flags)
{
    pool_pinned *pinned = NULL;
    void *data;

    assert_ok(pool_pinned_create(device, bytes, flags, &pinned));
    assert_int_equal(pool_pinned_bytes(pinned), bytes);
    data = pool_pinned_data(pinned);
    assert_ok(pool_pinned_destroy(&pinned));
    return data;
}

static void test_reuse(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *device = device_of(&world, 0);
    void *data = address_of_next(device, 100000, 0);

    (void)state;
    /* Requests of the same class have the same block; the size is the one asked for. */
    assert_ptr_equal(address_of_next(device, 99000, 0), data);
    assert_ptr_equal(address_of_next(device, 100001, 0), data);
    assert_int_equal(pool_mock_calls(world.mock, "cuMemHostAlloc"), 1);
    assert_int_equal(pool_mock_calls(world.mock, "cuMemFreeHost"), 0);
    /* Not for one that is less than half as large, of another kind or of another device. */
    assert_ptr_not_equal(address_of_next(device, 40000, 0), data);
    assert_ptr_not_equal(address_of_next(device, 100000, POOL_PINNED_WRITE_COMBINED), data);
    assert_ptr_not_equal(address_of_next(device_of(&world, 1), 100000, 0), data);
    assert_int_equal(info_of(device).pinned_allocations, 3);
    assert_int_equal(info_of(device).pinned_reuses, 2);
    assert_int_equal(info_of(device).pinned_bytes, 0);
    assert_true(info_of(device).pinned_unused_bytes >= 240000);
    assert_int_equal(info_of(device).pinned_deferred_bytes, 0);
    world_end(&world);
}

static void test_threshold_and_trim(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0);
    void *last;

    (void)state;
    assert_int_equal(info_of(device).pinned_threshold, 256 * MIB);
    assert_ok(pool_pinned_set_threshold(device, 3 * MIB));
    address_of_next(device, MIB, 0);
    address_of_next(device, 4 * MIB, 0); /* more than the threshold */
    assert_int_equal(info_of(device).pinned_unused_bytes, MIB);
    last = address_of_next(device, 2 * MIB + 4096, 0);
    /* The blocks that were freed last are kept for reuse. */
    assert_true(info_of(device).pinned_unused_bytes <= 3 * MIB);
    assert_ptr_equal(address_of_next(device, 2 * MIB + 4096, 0), last);
    assert_ok(pool_memory_trim(device, 0));
    assert_int_equal(info_of(device).pinned_unused_bytes, 0);
    assert_ok(pool_pinned_set_threshold(device, 0));
    address_of_next(device, 4096, 0);
    assert_int_equal(info_of(device).pinned_unused_bytes, 0);
    world_end(&world);
}

/* When the host cannot pin more memory, unused blocks are released first. */
static void test_full_host(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0);
    pool_pinned *pinned = NULL;

    (void)state;
    address_of_next(device, MIB, 0);
    pool_mock_fail(world.mock, "cuMemHostAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
    assert_ok(pool_pinned_create(device, 8 * MIB, 0, &pinned));
    assert_int_equal(pool_mock_calls(world.mock, "cuMemFreeHost"), 1);
    assert_ok(pool_pinned_destroy(&pinned));
    world_end(&world);
}

/* A freed secret is overwritten immediately on idle devices, otherwise before the memory is reused.
 */
static void test_secrets(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0);
    pool_pinned *pinned = NULL, *again = NULL;
    pool_buffer *buffer = NULL;
    pool_stream *stream = NULL;
    unsigned char *data;

    (void)state;
    assert_ok(pool_pinned_create(device, 4096, POOL_PINNED_SECRET, &pinned));
    data = pool_pinned_data(pinned);
    memset(data, 0x77, 4096);
    assert_ok(pool_pinned_destroy(&pinned));
    for (size_t i = 0; i < 4096; i++)
        assert_int_equal(data[i], 0);

    assert_ok(pool_pinned_create(device, 4096, POOL_PINNED_SECRET, &pinned));
    assert_ptr_equal(pool_pinned_data(pinned), data);
    memset(data, 0x77, 4096);
    assert_ok(pool_buffer_alloc(device, 4096, &buffer));
    assert_ok(pool_stream_create(device, NULL, &stream));
    pool_mock_stall(world.mock);
    assert_ok(pool_copy_to_device(buffer, 0, data, 4096, stream));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_int_equal(info_of(device).pinned_deferred_bytes, 4096);
    assert_ok(pool_pinned_create(device, 4096, 0, &again));
    assert_ptr_not_equal(pool_pinned_data(again), data);
    assert_int_equal(data[0], 0x77); /* the copy may still read it */
    pool_mock_resume(world.mock);
    assert_ok(pool_stream_synchronize(stream));
    assert_int_equal(info_of(device).pinned_unused_bytes, 4096);
    assert_ok(pool_pinned_create(device, 4096, 0, &pinned));
    assert_ptr_equal(pool_pinned_data(pinned), data);
    for (size_t i = 0; i < 4096; i++)
        assert_int_equal(data[i], 0);
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_pinned_destroy(&again));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_buffer_destroy(&buffer));
    world_end(&world);
}

/* Rings are blocks of the same pool. */
static void test_staging(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0);
    unsigned char *data = calloc(1, MIB);
    pool_buffer *buffer = NULL;
    void *block = address_of_next(device, 16 * MIB, 0);

    (void)state;
    assert_ok(pool_buffer_alloc(device, MIB, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, data, MIB, NULL));
    assert_int_equal(info_of(device).staging_bytes, 16 * MIB);
    assert_int_equal(info_of(device).pinned_unused_bytes, 0);
    assert_int_equal(info_of(device).pinned_reuses, 1);
    assert_int_equal(pool_mock_calls(world.mock, "cuMemHostAlloc"), 1);
    assert_ptr_not_equal(address_of_next(device, 16 * MIB, 0), block);
    assert_ok(pool_memory_trim(device, 0));
    assert_int_equal(info_of(device).staging_bytes, 0);
    assert_int_equal(pool_mock_calls(world.mock, "cuMemFreeHost"), 2);
    assert_ok(pool_buffer_destroy(&buffer));
    free(data);
    world_end(&world);
}

static int policy_now(void)
{
    int mode = -1;

    return syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) ? -1 : mode;
}

static void test_numa(void **state)
{
    struct memory_numa_policy before;

    (void)state;
    assert_false(memory_numa_prefer(-1, &before));
    assert_false(memory_numa_prefer(MEMORY_NUMA_NODES, &before));
    if (policy_now() != 0)
        skip(); /* the kernel has no policies here, or the program was started under one */
    if (memory_numa_prefer(0, &before)) {
        assert_int_equal(policy_now(), 1);
        assert_false(memory_numa_prefer(0, &before)); /* a policy of the program is unchanged */
        before.mode = 0;
        memory_numa_restore(&before);
    }
    assert_int_equal(policy_now(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_threshold_and_trim),
        cmocka_unit_test(test_full_host),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_staging),
        cmocka_unit_test(test_numa),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
