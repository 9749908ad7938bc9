/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool/: device strings: ordinals, ranges, UUIDs, PCI addresses, lists, the environment.
 */
#include "support/mock_pool.h"

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "pool/device/device_spec.h"

static void test_grammar(void **state)
{
    struct device_selector *parts = NULL;
    size_t count = 0;

    (void)state;
    assert_ok(device_spec_parse(" 3, 5-7 ,GPU-0a1B,06:00.0,ABCD:0f:1a,all", &parts, &count));
    assert_int_equal(count, 6);
    assert_int_equal(parts[0].kind, DEVICE_SELECT_ORDINALS);
    assert_int_equal(parts[0].first, 3);
    assert_int_equal(parts[0].last, 3);
    assert_int_equal(parts[1].first, 5);
    assert_int_equal(parts[1].last, 7);
    assert_int_equal(parts[2].kind, DEVICE_SELECT_UUID);
    assert_string_equal(parts[2].text, "GPU-0a1B");
    assert_int_equal(parts[3].kind, DEVICE_SELECT_PCI);
    assert_int_equal(parts[3].pci.domain, -1);
    assert_int_equal(parts[3].pci.bus, 6);
    assert_int_equal(parts[3].pci.function, 0);
    assert_int_equal(parts[4].pci.domain, 0xabcd);
    assert_int_equal(parts[4].pci.bus, 0xf);
    assert_int_equal(parts[4].pci.device, 0x1a);
    assert_int_equal(parts[4].pci.function, -1);
    assert_int_equal(parts[5].kind, DEVICE_SELECT_ALL);
    base_free(parts);
}

static void test_grammar_refuses(void **state)
{
    static const char *const wrong[] = {"", " ", ",", "0,", ",0", "0,,1", "-1", "1-", "3-2",
        "1-2-3", "1x", "0x1", "99999999999", "GPU-", "GPU", "GPU--", "GPU-xyz", "MIG-", "gpu",
        "GPU-00000000-0000-0000-0000-0000000000000", "0000:06:00.8", "06:20.0", "06", "6:", ":6",
        "100000000:06:00.0", "0000:106:00.0", "0:0:0:0", "06:00.", "06:00.0x", "sim,0", "0,sim:4",
        "all of them",
        "0000000000000000000000000000000000000000000000000000000000000000000000000000000001"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct device_selector *parts = NULL;
        size_t count = 77;

        if (!strcmp(wrong[i], "06")) /* an ordinal after all */
            continue;
        assert_int_equal(device_spec_parse(wrong[i], &parts, &count), POOL_ERR_INVALID_ARGUMENT);
        assert_null(parts);
        assert_int_equal(count, 77);
        assert_says("device string");
    }
}

static void test_simulated(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:3,cc=80,mem=2G"};
    pool_device_info info = {.struct_size = sizeof(info)};
    device_pool *pool = NULL, *second = NULL;
    pool_device *device = NULL;
    char *text = NULL;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    assert_int_equal(pool_device_count(pool), 3);
    assert_ok(pool_device_at(pool, 2, &device));
    assert_ok(pool_device_get_info(device, &info));
    assert_int_equal(info.compute_major, 8);
    assert_true(info.total_bytes == 2 * GIB);
    assert_ok(pool_bind(device));
    assert_ok(pool_check_device(pool, 2));
    assert_ok(pool_unbind(device));
    assert_ok(pool_describe(pool, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, "simulated"));
    pool_text_free(&text);
    /* Two pools share the simulated driver; the last one ends it. */
    params.devices = NULL;
    setenv("DEVICEPOOL_DEVICES", "sim:3,cc=80,mem=2G", 1);
    params.lazy = 1;
    assert_ok(pool_create(&second, &params));
    unsetenv("DEVICEPOOL_DEVICES");
    assert_ok(pool_destroy(&pool));
    assert_ok(pool_best_device(second, &device));
    assert_ok(pool_destroy(&second));

    params.devices = "sim,0";
    assert_int_equal(pool_create(&pool, &params), POOL_ERR_INVALID_ARGUMENT);
    params.devices = "sim:nonsense";
    assert_int_equal(pool_create(&pool, &params), POOL_ERR_INVALID_ARGUMENT);
    assert_null(pool);
    params.devices = "sim:2";
    params.min_devices = 3;
    assert_int_equal(pool_create(&pool, &params), POOL_ERR_NO_DEVICE);
    params.devices = "sim:5";
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_destroy(&pool));
}

/* Both formats of a device's description; in JSON it is the device's object of the pool's. */
static void test_device_description(void **state)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:2,cc=80,mem=2G", .lazy = 1};
    device_pool *pool = NULL;
    pool_device *device = NULL;
    CUcontext context;
    char *text = NULL, *whole = NULL;
    cJSON *root, *object;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 1, &device));
    assert_ok(pool_device_describe(device, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, "device    1: "));
    assert_non_null(strstr(text, pool_device_uuid(device)));
    assert_non_null(strstr(text, "context   primary, not created yet\n"));
    assert_non_null(strstr(text, "compute   8.0, "));
    assert_non_null(strstr(text, "memory    2.0 GiB, "));
    assert_null(strstr(text, "free"));
    pool_text_free(&text);
    assert_null(text);
    assert_ok(pool_device_context(device, &context));
    assert_ok(pool_device_describe(device, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, "context   primary\n"));
    assert_non_null(strstr(text, " GiB free"));
    pool_text_free(&text);

    assert_ok(pool_device_describe(device, POOL_TEXT_JSON, &text));
    assert_ok(pool_describe(pool, POOL_TEXT_JSON, &whole));
    root = cJSON_Parse(whole);
    object = cJSON_Parse(text);
    assert_non_null(object);
    assert_true(
        cJSON_Compare(object, cJSON_GetArrayItem(cJSON_GetObjectItem(root, "devices"), 1), 1));
    cJSON_Delete(root);
    cJSON_Delete(object);
    pool_text_free(&text);
    pool_text_free(&whole);
    assert_ok(pool_destroy(&pool));
}

/* The ordinals that a string gives on a mock of eight devices, as text; "" is a failure. */
static const char *chosen(struct world *world, const char *devices)
{
    static char text[128];
    size_t used = 0;

    text[0] = '\0';
    world->params.devices = devices;
    if (pool_create(&world->pool, &world->params)) {
        assert_null(world->pool);
        return text;
    }
    for (size_t i = 0; i < pool_device_count(world->pool); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", i ? "," : "",
            pool_device_ordinal(device_of(world, i)));
    assert_ok(pool_destroy(&world->pool));
    return text;
}

static void test_choosing(void **state)
{
    struct world world = world_of(8);

    (void)state;
    world.params.lazy = 1;
    assert_string_equal(chosen(&world, NULL), "0,1,2,3,4,5,6,7");
    assert_string_equal(chosen(&world, "all"), "0,1,2,3,4,5,6,7");
    assert_string_equal(chosen(&world, "5"), "5");
    assert_string_equal(chosen(&world, "7,0"), "7,0");
    assert_string_equal(chosen(&world, "6-7, 1-2"), "6,7,1,2");
    assert_string_equal(chosen(&world, "8"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_NOT_FOUND);
    assert_says("the driver reports 8");
    assert_string_equal(chosen(&world, "2-2000000000"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_NOT_FOUND);
    assert_string_equal(chosen(&world, "1,1"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);
    assert_says("named twice");
    assert_string_equal(chosen(&world, "0-3,2"), "");
    assert_string_equal(chosen(&world, "all,3"), "");
    assert_string_equal(chosen(&world, "nonsense"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);
    world_end(&world);
}

static void test_uuids(void **state)
{
    struct world world = world_of(4);
    unsigned char bytes[16] = {0xaa, 0xbb, 0xcc, 0xdd, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
        0x88, 0x99, 0x00, 0x12, 0x34};
    unsigned char instance[16] = {0xfe, 0xdc};
    pool_device *device = NULL;

    (void)state;
    world.params.lazy = 1;
    pool_mock_set_uuid(world.mock, 2, bytes, NULL);
    bytes[0] = 0xab;
    pool_mock_set_uuid(world.mock, 1, bytes, NULL);
    pool_mock_set_uuid(world.mock, 3, bytes, instance);
    assert_string_equal(chosen(&world, "GPU-aa"), "2");
    assert_string_equal(chosen(&world, "GPU-AABBCCDD-1122"), "2");
    assert_string_equal(chosen(&world, "GPU-aabbccdd-1122-3344-5566-778899001234"), "2");
    assert_string_equal(chosen(&world, "gpu-ab,GPU-aa"), "1,2");
    assert_string_equal(chosen(&world, "MIG-fedc"), "3");
    assert_string_equal(chosen(&world, "GPU-a"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);
    assert_says("more than one");
    assert_string_equal(chosen(&world, "GPU-fedc"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_NOT_FOUND);
    assert_string_equal(chosen(&world, "2,GPU-aabb"), "");
    assert_says("named twice");
    /* Complete ones alone, and the form of old drivers for an instance of a GPU. */
    assert_string_equal(chosen(&world, "aabbccdd-1122-3344-5566-778899001234"), "2");
    assert_string_equal(chosen(&world, "FEDC0000-0000-0000-0000-000000000000,0"), "3,0");
    assert_string_equal(
        chosen(&world, "MIG-GPU-abbbccdd-1122-3344-5566-778899001234/1/2,1"), "3,1");
    assert_string_equal(chosen(&world, "MIG-GPU-aabbccdd-1122-3344-5566-778899001234/1/2"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_NOT_FOUND);
    assert_string_equal(chosen(&world, "MIG-GPU-abbbccdd-1122-3344-5566-778899001234/1"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);
    assert_string_equal(chosen(&world, "aabbccdd-1122-3344-5566-77889900123"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);

    world.params.devices = NULL;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(pool_device_by_uuid(
        world.pool, "MIG-GPU-abbbccdd-1122-3344-5566-778899001234/1/2", &device));
    assert_int_equal(pool_device_ordinal(device), 3);
    assert_ok(pool_device_by_uuid(world.pool, "GPU-aa", &device));
    assert_int_equal(pool_device_ordinal(device), 2);
    assert_ok(pool_device_by_uuid(world.pool, "AABB", &device));
    assert_int_equal(pool_device_ordinal(device), 2);
    assert_ok(pool_device_by_uuid(world.pool, "MIG-FE", &device));
    assert_int_equal(pool_device_ordinal(device), 3);
    assert_string_equal(pool_device_uuid(device), "MIG-fedc0000-0000-0000-0000-000000000000");
    assert_int_equal(pool_device_by_uuid(world.pool, "a", &device), POOL_ERR_INVALID_ARGUMENT);
    assert_says("more than one");
    assert_int_equal(pool_device_by_uuid(world.pool, "zz", &device), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_device_by_uuid(world.pool, "", &device), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_device_ordinal(device), 3);
    world_end(&world);
}

static void test_pci_addresses(void **state)
{
    struct world world = world_of(4);
    pool_device *device = NULL;

    (void)state;
    world.params.lazy = 1;
    pool_mock_set_pci(world.mock, 0, 0, 0x3b, 0);
    pool_mock_set_pci(world.mock, 1, 0, 0xaf, 0);
    pool_mock_set_pci(world.mock, 2, 1, 0xaf, 0);
    pool_mock_set_pci(world.mock, 3, 0x10000, 0x01, 3);
    assert_string_equal(chosen(&world, "0000:3b:00.0"), "0");
    assert_string_equal(chosen(&world, "3B:00.0"), "0");
    assert_string_equal(chosen(&world, "3b:0"), "0");
    assert_string_equal(chosen(&world, "00000000:3b:00.0"), "0");
    assert_string_equal(chosen(&world, "0001:af:00.0,0000:af:00.0"), "2,1");
    assert_string_equal(chosen(&world, "10000:01:03.0"), "3");
    assert_string_equal(chosen(&world, "af:00.0"), "");
    assert_says("more than one");
    assert_string_equal(chosen(&world, "0000:3b:00.1"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_NOT_FOUND);

    world.params.devices = NULL;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(pool_device_by_pci(world.pool, "0000:3B:00.0", &device));
    assert_int_equal(pool_device_ordinal(device), 0);
    assert_ok(pool_device_by_pci(world.pool, "1:af:0", &device));
    assert_int_equal(pool_device_ordinal(device), 2);
    assert_ok(pool_device_by_pci(world.pool, "00010000:01:03.0", &device));
    assert_int_equal(pool_device_ordinal(device), 3);
    assert_status(pool_device_by_pci(world.pool, "af:00.0", &device), POOL_ERR_INVALID_ARGUMENT);
    assert_says("more than one");
    assert_says("0001:af:00.0");
    assert_status(pool_device_by_pci(world.pool, "0000:3b:00.1", &device), POOL_ERR_NOT_FOUND);
    assert_says("0000:3b:00.1");
    assert_status(pool_device_by_pci(world.pool, "", &device), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_device_by_pci(world.pool, "3b", &device), POOL_ERR_INVALID_ARGUMENT);
    assert_says("is not a PCI address");
    assert_int_equal(pool_device_ordinal(device), 3);
    world_end(&world);
}

static void test_environment(void **state)
{
    struct world world = world_of(4);

    (void)state;
    world.params.lazy = 1;
    setenv("DEVICEPOOL_DEVICES", "2,1", 1);
    assert_string_equal(chosen(&world, NULL), "2,1");
    assert_string_equal(chosen(&world, "3"), "3");
    setenv("DEVICEPOOL_DEVICES", "", 1);
    assert_string_equal(chosen(&world, NULL), "0,1,2,3");
    assert_string_equal(chosen(&world, ""), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);
    setenv("DEVICEPOOL_DEVICES", "sim:2", 1);
    assert_string_equal(chosen(&world, NULL), "0,1,2,3");
    assert_string_equal(chosen(&world, "sim:2"), "");
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);
    unsetenv("DEVICEPOOL_DEVICES");

    setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3", 1);
    assert_string_equal(chosen(&world, "6"), "");
    assert_says("CUDA_VISIBLE_DEVICES=\"0,1,2,3\"");
    assert_string_equal(chosen(&world, "GPU-eeeeeeee"), "");
    assert_says("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_VISIBLE_DEVICES");
    world_end(&world);
}

/* For strings of ordinals the identities of devices are not queried before the devices are known.
 */
static void test_no_context_elsewhere(void **state)
{
    struct world world = world_of(8);

    (void)state;
    world.params.devices = "3";
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRetain"), 1);
    assert_int_equal(pool_mock_calls(world.mock, "cuDeviceGetName"), 1);
    assert_int_equal(pool_mock_calls(world.mock, "cuDeviceTotalMem"), 1);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_grammar_refuses),
        cmocka_unit_test(test_simulated),
        cmocka_unit_test(test_device_description),
        cmocka_unit_test(test_choosing),
        cmocka_unit_test(test_uuids),
        cmocka_unit_test(test_pci_addresses),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_no_context_elsewhere),
    };

    unsetenv("DEVICEPOOL_DEVICES");
    unsetenv("CUDA_VISIBLE_DEVICES");
    return cmocka_run_group_tests_name("pool devices", tests, NULL, NULL);
}
