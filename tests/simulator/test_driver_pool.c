/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of simulated devices: what a user of the library observes of the device string, of injected
 * faults, and of the end of the simulated driver.
 */
#include "driver.h"

static pool_status create(device_pool **pool, const char *devices)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};

    return pool_create(pool, &params);
}

static void destroy(device_pool **pool)
{
    uint64_t leaks = 1;

    assert_int_equal(pool_destroy(pool), POOL_OK);
    assert_int_equal(pool_sim_leaks(POOL_TEXT_PLAIN, &leaks, NULL), POOL_OK);
    assert_int_equal(leaks, 0);
}

static void test_facts(void **state)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device = NULL, *same = NULL;
    device_pool *pool = NULL;
    char prefix[16];

    (void)state;
    assert_int_equal(create(&pool, "sim:3,mem=24G,free=20G,cc=120,name=Card,sms=8"), POOL_OK);
    assert_int_equal(pool_device_count(pool), 3);
    assert_int_equal(pool_device_at(pool, 2, &device), POOL_OK);
    assert_int_equal(pool_device_get_info(device, &info), POOL_OK);
    assert_string_equal(info.name, "Card");
    assert_int_equal(info.compute_major, 12);
    assert_int_equal(info.compute_minor, 0);
    assert_int_equal(info.multiprocessors, 8);
    assert_int_equal(info.total_bytes, UINT64_C(24) << 30);
    assert_int_equal(info.free_bytes, (UINT64_C(20) << 30) - (UINT64_C(524) << 20));
    assert_string_equal(info.pci, "0000:12:00.0");
    snprintf(prefix, sizeof(prefix), "%.8s", info.uuid + strlen("GPU-"));
    assert_int_equal(pool_device_by_uuid(pool, prefix, &same), POOL_OK);
    assert_ptr_equal(same, device);
    assert_int_equal(pool_device_by_pci(pool, info.pci, &same), POOL_OK);
    assert_ptr_equal(same, device);
    destroy(&pool);
}

static void test_sharing(void **state)
{
    device_pool *one = NULL, *two = NULL, *three = NULL;

    (void)state;
    assert_int_equal(create(&one, "sim:2"), POOL_OK);
    assert_int_equal(create(&two, "sim:2,cc=90"), POOL_OK);
    assert_int_equal(create(&three, "sim:3"), POOL_ERR_BUSY);
    assert_int_equal(create(&three, "sim:three"), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_destroy(&one), POOL_OK);
    assert_int_equal(create(&three, "sim:3"), POOL_ERR_BUSY);
    destroy(&two);
    assert_int_equal(create(&three, "sim:3"), POOL_OK);
    destroy(&three);
}

static void test_unusable_device(void **state)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device = NULL;
    device_pool *pool = NULL;

    (void)state;
    assert_int_equal(pool_sim_set_faults("dev1.cuDevicePrimaryCtxRetain=46"), POOL_OK);
    assert_int_equal(create(&pool, "sim:3"), POOL_OK);
    assert_int_equal(pool_usable_count(pool), 2);
    assert_int_equal(pool_device_at(pool, 1, &device), POOL_OK);
    assert_int_equal(pool_device_get_info(device, &info), POOL_OK);
    assert_int_equal(info.state, POOL_DEVICE_UNUSABLE);
    assert_non_null(strstr(info.reason, "46"));
    destroy(&pool);
    assert_int_equal(pool_sim_set_faults("cuDevicePrimaryCtxRetain=46"), POOL_OK);
    assert_int_equal(create(&pool, "sim:2"), POOL_ERR_NO_DEVICE);
    assert_null(pool);
}

static void test_poison_ends_with_the_driver(void **state)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    device_pool *pool = NULL, *other = NULL;
    pool_device *device = NULL;
    CUcontext context = NULL;

    (void)state;
    assert_int_equal(create(&pool, "sim:2"), POOL_OK);
    assert_int_equal(create(&other, "sim:2"), POOL_OK);
    assert_int_equal(pool_device_at(pool, 0, &device), POOL_OK);
    assert_int_equal(pool_device_context(device, &context), POOL_OK);
    assert_int_equal(pool_sim_set_faults("cuMemGetInfo=719"), POOL_OK);
    sleep_ms(20); /* the sample of free memory has become stale */
    assert_int_equal(pool_best_device(pool, &device), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_get_health(other, &health), POOL_OK); /* the other pool is reported */
    assert_int_equal(health.harmed, POOL_CLASS_PROCESS);
    assert_int_equal(health.driver_code, 719);
    assert_int_equal(pool_next_device(other, &device), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_destroy(&pool), POOL_OK);
    assert_int_equal(create(&pool, "sim:2"), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_destroy(&other), POOL_OK);
    assert_int_equal(create(&pool, "sim:2"), POOL_OK);
    assert_int_equal(pool_best_device(pool, &device), POOL_OK);
    destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_unusable_device),
        cmocka_unit_test(test_poison_ends_with_the_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
