/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets, with a driver that is scripted and inspected: their memory and the staging memory that
 * they passed through are overwritten before they can be used again, whatever fails.
 */
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

#include "pool/memory/memory.h"

#define MIB ((size_t)1 << 20)

static struct device_memory *device_memory_of(pool_device *device)
{
    struct device_memory *memory = NULL;
    struct device_scope scope;

    assert_ok(device_enter(device, &scope));
    assert_ok(device_leave(&scope, memory_of(&scope, &memory)));
    return memory;
}

static struct {
    CUdeviceptr address;
    size_t bytes;
    int frees;
    int was_wiped;
} watched;

/* Examines the memory at the moment when it is freed. */
static pool_cu_result watch_frees(void *user, const char *function, uint64_t call)
{
    (void)user;
    (void)call;
    if (!strncmp(function, "cuMemFree", 9) && strncmp(function, "cuMemFreeHost", 13)) {
        watched.frees++;
        watched.was_wiped = memory_all((void *)(uintptr_t)watched.address, watched.bytes, 0);
    }
    return POOL_CU_SUCCESS;
}

static pool_buffer *make_secret(uint64_t bytes, uint32_t flags)
{
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = bytes, .flags = flags};
    pool_buffer *buffer = NULL;

    assert_ok(pool_buffer_create(memory_device(0), &params, &buffer));
    assert_ok(pool_buffer_address(buffer, &watched.address));
    watched.bytes = bytes;
    watched.frees = 0;
    watched.was_wiped = -1;
    assert_ok(pool_buffer_fill8(buffer, 0, bytes, 0x5e, NULL));
    pool_mock_set_hook(memory_mock, watch_frees, NULL);
    return buffer;
}

static void check_secret_is_wiped(void)
{
    pool_buffer *buffer = make_secret(5000, 0), *slice = NULL;

    /* The watch itself sees what is not wiped. */
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(watched.frees, 1);
    assert_int_equal(watched.was_wiped, 0);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(watched.frees, 1);
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    /* The last slice gives all of it back, not only its own part. */
    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_slice(buffer, 4999, 1, &slice));
    assert_int_equal(pool_buffer_flags(slice), POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(watched.frees, 0);
    assert_ok(pool_buffer_destroy_on(&slice, NULL));
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    assert_ok(pool_buffer_destroy_on(&buffer, NULL));
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);

    /* One failure of the overwriting is got over. */
    buffer = make_secret(5000, POOL_BUFFER_SECRET);
    pool_mock_fail(memory_mock, "cuMemsetD8Async", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_int_equal(watched.frees, 1);
    assert_int_equal(watched.was_wiped, 1);
    pool_mock_set_hook(memory_mock, NULL, NULL);
}

static void test_secret_is_wiped(void **state)
{
    (void)state;
    check_secret_is_wiped();
}

static void test_secret_without_pools(void **state)
{
    (void)state;
    check_secret_is_wiped();
}

/* A secret that cannot be overwritten is not freed. */
static void test_secret_is_quarantined(void **state)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_buffer *buffer = make_secret(5000, POOL_BUFFER_SECRET);
    CUdeviceptr address = watched.address;

    (void)state;
    pool_mock_fail(memory_mock, "cuMemsetD8*", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_FROM_THEN_ON);
    assert_status(pool_buffer_destroy(&buffer), POOL_ERR_DRIVER);
    assert_null(buffer);
    assert_int_equal(watched.frees, 0);
    pool_mock_clear_failures(memory_mock);
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_ok(pool_memory_get_info(memory_device(0), &info));
    assert_int_equal(info.quarantined_bytes, 5000);
    assert_int_equal(info.used_bytes, 0);
    /* For the balance of this test only. */
    assert_ok(pool_bind(memory_device(0)));
    assert_int_equal(memory_driver(memory_device(0))->MemFree(address), 0);
    assert_ok(pool_unbind(memory_device(0)));
}

/* A zeroed secret whose zeroing failed is overwritten all the same before it goes. */
static void test_secret_made_halfway(void **state)
{
    pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = 100,
        .flags = POOL_BUFFER_SECRET | POOL_BUFFER_ZEROED};
    pool_buffer *buffer = NULL;

    (void)state;
    (void)device_memory_of(memory_device(0));
    pool_mock_fail(memory_mock, "cuStreamSynchronize", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_ONCE);
    pool_mock_reset_calls(memory_mock);
    assert_status(pool_buffer_create(memory_device(0), &params, &buffer), POOL_ERR_DRIVER);
    assert_null(buffer);
    assert_int_equal(memory_calls("cuMemsetD8Async"), 2);
    assert_int_equal(memory_calls("cuMemFreeAsync"), 1);
    assert_non_null(strstr(pool_last_error()->call, "StreamSynchronize"));
}

static int rings_are_wiped(const struct memory_rings *rings)
{
    int wiped = 1;

    for (struct memory_ring *ring = rings->first; ring; ring = ring->next)
        wiped = wiped && memory_all(ring->slots, memory_ring_bytes(ring), 0);
    return wiped;
}

/* Whether no slot of the device's staging holds anything but zeros. */
static int staging_is_wiped(void)
{
    struct device_memory *memory = device_memory_of(memory_device(0));

    assert_true(memory->staging.large.first || memory->staging.small.first);
    return rings_are_wiped(&memory->staging.large) && rings_are_wiped(&memory->staging.small);
}

static void test_staging_of_secrets(void **state)
{
    size_t bytes = 20 * MIB + 3; /* more than a ring */
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *plain = NULL, *secret;

    (void)state;
    memory_pattern(data, bytes, 9);
    assert_ok(pool_buffer_alloc(memory_device(0), bytes, &plain));
    assert_ok(pool_copy_to_device(plain, 0, data, bytes, NULL));
    assert_false(staging_is_wiped()); /* the look itself can fail */
    assert_ok(pool_memory_trim(memory_device(0), 0));
    assert_ok(pool_copy_to_host(back, plain, 0, 10, NULL));
    assert_false(staging_is_wiped()); /* also that at small rings */
    assert_ok(pool_memory_trim(memory_device(0), 0));
    secret = make_secret(bytes, POOL_BUFFER_SECRET);
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_ok(pool_copy_to_device(secret, 0, data, bytes, NULL));
    assert_true(staging_is_wiped());
    assert_ok(pool_copy_to_host(back, secret, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 9);
    assert_true(staging_is_wiped());
    /* Small ones too go our way and not the driver's. */
    assert_ok(pool_copy_to_device(secret, 0, data, 10, NULL));
    assert_ok(pool_copy_to_host(back, secret, 0, 10, NULL));
    assert_true(staging_is_wiped());
    assert_ok(pool_copy_2d(&(pool_pitched){.host = back, .pitch = 8},
        &(pool_pitched){.buffer = secret, .pitch = 8}, 7, 1000, NULL));
    assert_memory_equal(back, data, 7);
    assert_true(staging_is_wiped());
    for (uint64_t n = 1; n < 40; n += 6) { /* and when something fails in the middle */
        pool_mock_fail(memory_mock, "cuMemcpyHtoDAsync", n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        pool_mock_fail(memory_mock, "cuEventRecord", 2 * n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        (void)pool_copy_to_device(secret, 0, data, bytes, NULL);
        pool_mock_clear_failures(memory_mock);
        assert_true(staging_is_wiped());
        pool_mock_fail(memory_mock, "cuMemcpyDtoHAsync", n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        pool_mock_fail(memory_mock, "cuEventQuery", 2 * n, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
        (void)pool_copy_to_host(back, secret, 0, bytes, NULL);
        pool_mock_clear_failures(memory_mock);
        assert_true(staging_is_wiped());
    }
    assert_ok(pool_buffer_destroy(&secret));
    assert_ok(pool_buffer_destroy(&plain));
    free(data);
    free(back);
}

/* Between devices that cannot address each other the driver would stage; we do. */
static void test_secret_between_devices(void **state)
{
    size_t bytes = 3 * MIB;
    unsigned char *data = malloc(bytes), *back = malloc(bytes);
    pool_buffer *secret, *there = NULL;

    (void)state;
    pool_mock_set_peer(memory_mock, 0, 1, 0, 0, 0);
    pool_mock_set_peer(memory_mock, 1, 0, 0, 0, 0);
    memory_pattern(data, bytes, 2);
    secret = make_secret(bytes, POOL_BUFFER_SECRET);
    pool_mock_set_hook(memory_mock, NULL, NULL);
    assert_ok(pool_copy_to_device(secret, 0, data, bytes, NULL));
    assert_ok(pool_buffer_alloc(memory_device(1), bytes, &there));
    assert_ok(pool_copy_device(there, 0, secret, 0, bytes, NULL));
    assert_int_equal(memory_calls("cuMemcpyPeerAsync"), 0);
    assert_ok(pool_copy_to_host(back, there, 0, bytes, NULL));
    memory_check_pattern(back, bytes, 2);
    assert_true(staging_is_wiped());
    assert_status(
        pool_device_enable_peer(memory_device(0), memory_device(1)), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_copy_device(there, 0, there, MIB, MIB, NULL));
    assert_ok(pool_buffer_destroy(&secret));
    assert_ok(pool_buffer_destroy(&there));
    free(data);
    free(back);
}

static void test_pinned_secret(void **state)
{
    pool_pinned *pinned = NULL;
    unsigned char *own = aligned_alloc(4096, 8192);

    (void)state;
    memset(own, 0x5e, 8192);
    assert_ok(pool_pinned_register(memory_device(0), own, 8192, POOL_PINNED_SECRET, &pinned));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_true(memory_all(own, 8192, 0));
    memset(own, 0x5e, 8192);
    assert_ok(pool_pinned_register(memory_device(0), own, 8192, 0, &pinned));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_true(memory_all(own, 8192, 0x5e));
    pool_mock_fail(memory_mock, "cuMemHostAlloc", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
    assert_status(
        pool_pinned_create(memory_device(0), 8192, 0, &pinned), POOL_ERR_OUT_OF_HOST_MEMORY);
    assert_null(pinned);
    free(own);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_set_up, memory_tear_down)
#define TEST_WITHOUT_POOLS(name)                                                                   \
    cmocka_unit_test_setup_teardown(name, memory_set_up_without_pools, memory_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_secret_is_wiped),
        TEST_WITHOUT_POOLS(test_secret_without_pools),
        TEST(test_secret_is_quarantined),
        TEST(test_secret_made_halfway),
        TEST(test_staging_of_secrets),
        TEST(test_secret_between_devices),
        TEST(test_pinned_secret),
    };

    return cmocka_run_group_tests_name("secrets on the mock", tests, NULL, NULL);
}
