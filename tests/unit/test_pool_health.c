/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool/: faults and the device that is reported for them, fork, the description, properties; every
 * call with NULL.
 */
#include "support/mock_pool.h"

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/status.h"
#include "driver/attributes.h"

struct heard {
    int device_faults, process_faults;
    int code;
    pool_device *device;
    pool_device *shown_on;
    char message[1024];
    device_pool *pool;
    pool_error_class health;
};

static void hear(void *user, const pool_fault *fault)
{
    struct heard *heard = user;
    pool_health_info health = {.struct_size = sizeof(health)};

    if (fault->error_class == POOL_CLASS_DEVICE)
        heard->device_faults++;
    else
        heard->process_faults++;
    heard->code = fault->driver_code;
    heard->device = fault->device;
    heard->shown_on = fault->shown_on;
    snprintf(heard->message, sizeof(heard->message), "%s", fault->message);
    if (heard->pool && !pool_get_health(heard->pool, &health))
        heard->health = health.harmed;
}

/* The pool's only counted fault. */
static void assert_fault_counted(
    device_pool *pool, const char *device, const char *error_class, const char *code)
{
    char sample[160], *text = NULL, *at;

    snprintf(sample, sizeof(sample),
        "\ndevicepool_faults_total{device=\"%s\",class=\"%s\",code=\"%s\"} 1\n", device,
        error_class, code);
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    at = strstr(text, sample);
    assert_non_null(at);
    assert_null(strstr(at + 1 + strlen("devicepool_faults_total{"), "devicepool_faults_total{"));
    pool_text_free(&text);
}

static void test_poison(void **state)
{
    struct world world = world_of(3);
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_pick pick = {.struct_size = sizeof(pick), .policy = POOL_POLICY_MOST_FREE};
    struct heard heard = {0};
    struct device_scope scope;
    pool_device *device = NULL;
    device_pool *second = NULL;
    char *text = NULL;

    (void)state;
    world.params.fault_hook = hear;
    world.params.fault_user = &heard;
    assert_ok(pool_create(&world.pool, &world.params));
    heard.pool = world.pool;
    assert_ok(pool_get_health(world.pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_NONE);
    assert_int_equal(health.usable_devices, 3);
    assert_string_equal(health.first_cause, "");

    assert_ok(pool_bind(device_of(&world, 0)));
    assert_ok(device_enter(device_of(&world, 1), &scope));
    pool_mock_poison(world.mock, POOL_CU_ILLEGAL_ADDRESS);
    assert_int_equal(driver_check(scope.driver, POOL_CU_ILLEGAL_ADDRESS, "cuCtxSynchronize()"),
        POOL_ERR_PROCESS_POISONED);
    assert_int_equal(heard.process_faults, 1);
    assert_int_equal(heard.code, POOL_CU_ILLEGAL_ADDRESS);
    assert_ptr_equal(heard.shown_on, device_of(&world, 1));
    assert_null(heard.device); /* nothing was launched: no launch is reported as the cause */
    assert_int_equal(heard.health, POOL_CLASS_PROCESS);
    assert_int_equal(device_leave(&scope, POOL_ERR_PROCESS_POISONED), POOL_ERR_PROCESS_POISONED);

    assert_int_equal(pool_next_device(world.pool, &device), POOL_ERR_PROCESS_POISONED);
    assert_says("CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(pool_last_error()->driver_code, POOL_CU_ILLEGAL_ADDRESS);
    assert_int_equal(pool_best_device(world.pool, &device), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_pick_device(world.pool, NULL, &device), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_pick_device(world.pool, &pick, &device), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_bind(device_of(&world, 2)), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_bound_device(world.pool, &device), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_check_device(world.pool, 0), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_pointer_device(world.pool, &device, &device), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(device_enter(device_of(&world, 0), &scope), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_create(&second, &world.params), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(heard.process_faults, 1);
    assert_null(device);

    assert_ok(pool_get_health(world.pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_PROCESS);
    assert_int_equal(health.usable_devices, 0);
    assert_int_equal(health.bindings, 1);
    assert_int_equal(health.driver_code, POOL_CU_ILLEGAL_ADDRESS);
    assert_string_equal(health.driver_name, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_non_null(strstr(health.first_cause, "cuCtxSynchronize on device"));
    assert_non_null(strstr(health.first_cause, pool_device_uuid(device_of(&world, 1))));
    assert_true(health.fault_unix_time > 1600000000);
    assert_ok(pool_device_get_info(device_of(&world, 2), &info));
    assert_int_equal(info.state, POOL_DEVICE_POISONED);
    assert_true(strlen(info.reason) > 10);
    assert_ok(pool_describe(world.pool, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, "POISONED"));
    pool_text_free(&text);
    assert_ok(pool_describe(world.pool, POOL_TEXT_JSON, &text));
    pool_text_free(&text);
    assert_ok(pool_device_describe(device_of(&world, 2), POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, "state     poisoned: "));
    pool_text_free(&text);

    assert_fault_counted(world.pool, "unknown", "process", "CUDA_ERROR_ILLEGAL_ADDRESS");

    /* A binding can be released, and then the pool destroyed. */
    assert_int_equal(pool_destroy(&world.pool), POOL_ERR_BUSY);
    assert_int_equal(pool_unbind(device_of(&world, 0)), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_mock_depth(world.mock), 0);
    assert_int_equal(pool_unbind(device_of(&world, 0)), POOL_ERR_UNBALANCED);
    pool_mock_reset_calls(world.mock);
    assert_ok(pool_destroy(&world.pool));
    assert_int_equal(pool_mock_calls(world.mock, NULL), 0);
    pool_mock_destroy(&world.mock);
}

static void test_poison_while_creating(void **state)
{
    struct world world = world_of(3);
    struct heard heard = {0};

    (void)state;
    world.params.fault_hook = hear;
    world.params.fault_user = &heard;
    pool_mock_fail(
        world.mock, "cuDevicePrimaryCtxRetain", 2, POOL_CU_ILLEGAL_ADDRESS, POOL_MOCK_ONCE);
    assert_int_equal(pool_create(&world.pool, &world.params), POOL_ERR_PROCESS_POISONED);
    assert_null(world.pool);
    assert_int_equal(heard.process_faults, 1);
    assert_non_null(heard.shown_on);
    assert_null(heard.device);
    pool_mock_destroy(&world.mock);
}

static void test_device_fault(void **state)
{
    struct world world = world_of(2);
    pool_health_info health = {.struct_size = sizeof(health)};
    struct heard heard = {0};

    (void)state;
    world.params.fault_hook = hear;
    world.params.fault_user = &heard;
    world.params.lazy = 1;
    assert_ok(pool_create(&world.pool, &world.params));
    heard.pool = world.pool;
    pool_mock_fail(
        world.mock, "cuDevicePrimaryCtxRetain", 1, POOL_CU_SYSTEM_NOT_READY, POOL_MOCK_ONCE);
    assert_int_equal(pool_bind(device_of(&world, 1)), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(pool_bind(device_of(&world, 1)), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(heard.device_faults, 1);
    assert_int_equal(heard.process_faults, 0);
    assert_int_equal(heard.code, POOL_CU_SYSTEM_NOT_READY);
    assert_ptr_equal(heard.device, device_of(&world, 1));
    assert_int_equal(heard.health, POOL_CLASS_DEVICE);
    assert_ok(pool_get_health(world.pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_DEVICE);
    assert_int_equal(health.usable_devices, 1);
    assert_int_equal(health.driver_code, 0);
    assert_fault_counted(world.pool, "1", "device", "CUDA_ERROR_SYSTEM_NOT_READY");
    world_end(&world);
}

/* In a child of fork() every call fails before the driver is called; only memory is freed. */
static int child_of_fork(struct world *world)
{
    pool_device *device = device_of(world, 0), *found = NULL;
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device_info info = {.struct_size = sizeof(info)};
    struct device_scope scope;
    char *text = NULL;
    uint64_t calls = pool_mock_calls(world->mock, NULL);
    int wrong = 0;

    wrong += pool_next_device(world->pool, &found) != POOL_ERR_FORKED;
    wrong += pool_best_device(world->pool, &found) != POOL_ERR_FORKED;
    wrong += pool_pick_device(world->pool, NULL, &found) != POOL_ERR_FORKED;
    wrong += pool_bind(device) != POOL_ERR_FORKED;
    wrong += pool_unbind(device) != POOL_ERR_FORKED;
    wrong += pool_bound_device(world->pool, &found) != POOL_ERR_FORKED;
    wrong += pool_check_device(world->pool, 0) != POOL_ERR_FORKED;
    wrong += pool_pointer_device(world->pool, &found, &found) != POOL_ERR_FORKED;
    wrong += pool_get_health(world->pool, &health) != POOL_ERR_FORKED;
    wrong += pool_device_get_info(device, &info) != POOL_ERR_FORKED;
    wrong += pool_describe(world->pool, POOL_TEXT_PLAIN, &text) != POOL_ERR_FORKED;
    wrong += device_enter(device, &scope) != POOL_ERR_FORKED;
    wrong += pool_device_count(world->pool) != 2;
    wrong += pool_destroy(&world->pool) != POOL_OK;
    wrong += world->pool != NULL;
    wrong += pool_mock_calls(world->mock, NULL) != calls;
    return wrong;
}

static void test_fork(void **state)
{
    struct world world = world_with_pool(2);
    int status = -1;
    pid_t child;

    (void)state;
    assert_ok(pool_bind(device_of(&world, 1)));
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_of_fork(&world));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* The parent continues. */
    assert_ok(pool_unbind(device_of(&world, 1)));
    assert_ok(pool_bind(device_of(&world, 0)));
    assert_ok(pool_unbind(device_of(&world, 0)));
    world_end(&world);
}

static void test_facts(void **state)
{
    struct world world = world_of(2);
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_peer_info peer = {.struct_size = sizeof(peer)};

    (void)state;
    pool_mock_set_attribute(world.mock, 1, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 12);
    pool_mock_set_attribute(world.mock, 1, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1);
    pool_mock_set_attribute(world.mock, 1, POOL_CU_ATTRIBUTE_MPS_ENABLED, 1);
    pool_mock_set_attribute(world.mock, 1, POOL_CU_ATTRIBUTE_HOST_NUMA_ID, 1);
    pool_mock_set_attribute(world.mock, 1, POOL_CU_ATTRIBUTE_ECC_ENABLED, 0);
    pool_mock_set_name(world.mock, 1, "NVIDIA H200 MIG 1g.18gb");
    pool_mock_set_free_memory(world.mock, 1, 3 * GIB);
    pool_mock_set_memory(world.mock, 1, 18 * GIB);
    pool_mock_set_peer(world.mock, 0, 1, 1, 0, 2);
    pool_mock_set_peer(world.mock, 1, 0, 0, 0, 3);
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(pool_device_get_info(device_of(&world, 1), &info));
    assert_int_equal(info.index, 1);
    assert_int_equal(info.ordinal, 1);
    assert_string_equal(info.name, "NVIDIA H200 MIG 1g.18gb");
    assert_int_equal(info.mig, 1);
    assert_memory_equal(info.uuid, "MIG-", 4);
    assert_int_equal(strlen(info.uuid), 40);
    assert_int_equal(info.compute_major, 12);
    assert_int_equal(info.compute_minor, 1);
    assert_int_equal(info.mps, 1);
    assert_int_equal(info.ecc, 0);
    assert_int_equal(info.numa_node, 1);
    assert_true(info.total_bytes == 18 * GIB);
    assert_true(info.free_bytes > 0 && info.free_bytes <= 18 * GIB);
    assert_int_equal(info.state, POOL_DEVICE_READY);
    assert_int_equal(info.has_context, 1);
    assert_string_equal(info.reason, "");
    assert_int_equal(pool_mock_depth(world.mock), 0);
    assert_ok(pool_device_get_info(device_of(&world, 0), &info));
    assert_int_equal(info.multiprocessors, 132);
    assert_int_equal(info.mig, 0);
    assert_int_equal(info.warp_size, 32);
    assert_true(info.shared_bytes_per_block_optin > info.shared_bytes_per_block);

    assert_ok(pool_device_get_peer(device_of(&world, 0), device_of(&world, 1), &peer));
    assert_int_equal(peer.access, 1);
    assert_int_equal(peer.native_atomics, 0);
    assert_int_equal(peer.performance_rank, 2);
    assert_ok(pool_device_get_peer(device_of(&world, 1), device_of(&world, 0), &peer));
    assert_int_equal(peer.access, 0);
    assert_ok(pool_device_get_peer(device_of(&world, 1), device_of(&world, 1), &peer));
    assert_int_equal(peer.access, 1);
    world_end(&world);
}

/* An older driver lacks the newer attributes and cuDeviceGetUuid_v2. */
static void test_older_driver(void **state)
{
    struct world world = world_of(1);
    pool_device_info info = {.struct_size = sizeof(info)};

    (void)state;
    pool_mock_remove_function(world.mock, "cuDeviceGetUuid_v2");
    world.params.driver = pool_mock_table(world.mock);
    pool_mock_fail(
        world.mock, "cuDeviceGetAttribute", 3, POOL_CU_INVALID_VALUE, POOL_MOCK_FROM_THEN_ON);
    assert_ok(pool_create(&world.pool, &world.params));
    pool_mock_clear_failures(world.mock);
    assert_ok(pool_device_get_info(device_of(&world, 0), &info));
    assert_int_equal(info.state, POOL_DEVICE_READY);
    assert_int_equal(info.compute_major, 9);
    assert_int_equal(info.multiprocessors, 0);
    assert_memory_equal(info.uuid, "GPU-", 4);
    world_end(&world);
}

/* A driver that does not report how many multiprocessors a context has, under MPS or of the caller,
 * is as good as one without that function. */
static void test_no_multiprocessors_of_context(void **state)
{
    static const pool_cu_code codes[] = {POOL_CU_NOT_SUPPORTED, POOL_CU_NOT_PERMITTED};
    pool_device_info info = {.struct_size = sizeof(info)};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct world world = world_of(1);
        const pool_cuda_api *cu = pool_mock_table(world.mock);
        CUcontext context = NULL;

        pool_mock_set_attribute(world.mock, 0, POOL_CU_ATTRIBUTE_MPS_ENABLED, 1);
        if (i >= 2) {
            assert_int_equal(cu->Init(0), 0);
            assert_int_equal(cu->DevicePrimaryCtxRetain(&context, 0), 0);
            world.params.context_mode = POOL_CONTEXT_ADOPT;
            world.params.contexts = &context;
            world.params.context_count = 1;
        }
        assert_ok(pool_mock_fail(
            world.mock, "cuCtxGetDevResource", 1, codes[i % 2], POOL_MOCK_FROM_THEN_ON));
        assert_ok(pool_create(&world.pool, &world.params));
        assert_int_equal(pool_mock_calls(world.mock, "cuCtxGetDevResource"), 1);
        assert_ok(pool_device_get_info(device_of(&world, 0), &info));
        assert_int_equal(info.state, POOL_DEVICE_READY);
        assert_int_equal(info.multiprocessors, 132);
        assert_ok(pool_destroy(&world.pool));
        if (context)
            assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
        world_end(&world);
    }
}

static void test_description(void **state)
{
    struct world world = world_of(3);
    char *text = NULL;
    cJSON *root, *devices, *device, *peers;

    (void)state;
    pool_mock_fail_on(
        world.mock, 1, "cuDevicePrimaryCtxRetain", 1, POOL_CU_DEVICE_UNAVAILABLE, POOL_MOCK_ONCE);
    pool_mock_set_peer(world.mock, 0, 2, 1, 1, 1);
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(pool_describe(world.pool, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, pool_device_uuid(device_of(&world, 2))));
    assert_non_null(strstr(text, "0000:06:00.0"));
    assert_non_null(strstr(text, "unusable"));
    assert_non_null(strstr(text, "CUDA_ERROR_DEVICE_UNAVAILABLE"));
    assert_non_null(strstr(text, "peer access"));
    pool_text_free(&text);
    assert_null(text);

    assert_ok(pool_describe(world.pool, POOL_TEXT_JSON, &text));
    root = cJSON_Parse(text);
    assert_non_null(root);
    devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    assert_int_equal(cJSON_GetArraySize(devices), 3);
    device = cJSON_GetArrayItem(devices, 1);
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(device, "state")), "unusable");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(device, "uuid")),
        pool_device_uuid(device_of(&world, 1)));
    peers = cJSON_GetObjectItemCaseSensitive(root, "peers");
    assert_int_equal(cJSON_GetArraySize(peers), 3);
    device = cJSON_GetArrayItem(cJSON_GetArrayItem(peers, 0), 2);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(device, "access")));
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(device, "performance_rank")->valueint, 1);
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(cJSON_GetArrayItem(peers, 1), 1)));
    cJSON_Delete(root);
    pool_text_free(&text);
    pool_text_free(&text);
    pool_text_free(NULL);
    assert_int_equal(pool_mock_depth(world.mock), 0);
    world_end(&world);
}

static int refuse(void *user)
{
    return (*(int *)user)-- == 0;
}

static void test_description_without_memory(void **state)
{
    struct world world = world_with_pool(2);

    (void)state;
    for (int i = 0; i < 4; i++)
        for (int n = 0;; n++) {
            pool_text_format format = i % 2 ? POOL_TEXT_JSON : POOL_TEXT_PLAIN;
            int countdown = n;
            char *text = NULL;
            pool_status status;

            base_alloc_set_hook(refuse, &countdown);
            status = i < 2 ? pool_describe(world.pool, format, &text)
                           : pool_device_describe(device_of(&world, 0), format, &text);
            base_alloc_set_hook(NULL, NULL);
            if (!status) {
                pool_text_free(&text);
                assert_true(n > (i < 2 ? 2 : 0));
                break;
            }
            assert_int_equal(status, POOL_ERR_OUT_OF_HOST_MEMORY);
            assert_null(text);
        }
    world_end(&world);
}

static int stop_at_second(void *user, pool_device *device)
{
    (*(int *)user)++;
    return pool_device_index(device) == 1 ? 42 : 0;
}

static void test_finding(void **state)
{
    struct world world = world_of(4);
    pool_device *device = NULL;
    int visits = 0, answer = 0;

    (void)state;
    world.params.devices = "3,1,2";
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pool_device_count(world.pool), 3);
    assert_int_equal(pool_usable_count(world.pool), 3);
    assert_ok(pool_device_by_ordinal(world.pool, 1, &device));
    assert_int_equal(pool_device_index(device), 1);
    assert_int_equal(pool_device_ordinal(device), 1);
    assert_int_equal(pool_device_ordinal(device_of(&world, 0)), 3);
    assert_int_equal(pool_device_by_ordinal(world.pool, 0, &device), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_device_by_ordinal(world.pool, -1, &device), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_device_at(world.pool, 3, &device), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_device_at(world.pool, SIZE_MAX, &device), POOL_ERR_NOT_FOUND);
    assert_ok(pool_device_each(world.pool, stop_at_second, &visits, &answer));
    assert_int_equal(visits, 2);
    assert_int_equal(answer, 42);
    assert_ok(pool_device_each(world.pool, stop_at_second, &visits, NULL));
    assert_ptr_equal(device_properties(device), &device->properties);
    assert_ptr_equal(device_driver(device), world.pool->driver);
    world_end(&world);
}

#define assert_refused(call) assert_int_equal((call), POOL_ERR_INVALID_ARGUMENT)

static pool_status no_task(pool_device *device, void *arg)
{
    (void)device;
    (void)arg;
    return POOL_OK;
}

static void test_all_null(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0), *found = NULL;
    pool_device_info info = {0};
    pool_peer_info peer = {0};
    pool_health_info health = {0};
    CUcontext context;
    CUdevice handle;
    char *text = NULL;

    (void)state;
    pool_params_init(NULL, 64);
    assert_refused(pool_create(NULL, NULL));
    assert_ok(pool_destroy(NULL));
    assert_ok(pool_destroy(&(device_pool *){NULL}));
    assert_int_equal(pool_device_count(NULL), 0);
    assert_int_equal(pool_usable_count(NULL), 0);
    assert_refused(pool_device_at(NULL, 0, &found));
    assert_refused(pool_device_at(world.pool, 0, NULL));
    assert_refused(pool_device_by_ordinal(NULL, 0, &found));
    assert_refused(pool_device_by_ordinal(world.pool, 0, NULL));
    assert_refused(pool_device_by_uuid(NULL, "GPU-0", &found));
    assert_refused(pool_device_by_uuid(world.pool, NULL, &found));
    assert_refused(pool_device_by_uuid(world.pool, "GPU-0", NULL));
    assert_refused(pool_device_by_pci(NULL, "0:0", &found));
    assert_refused(pool_device_by_pci(world.pool, NULL, &found));
    assert_refused(pool_device_by_pci(world.pool, "0:0", NULL));
    assert_refused(pool_device_each(NULL, stop_at_second, NULL, NULL));
    assert_refused(pool_device_each(world.pool, NULL, NULL, NULL));
    assert_refused(pool_describe(NULL, POOL_TEXT_PLAIN, &text));
    assert_refused(pool_describe(world.pool, POOL_TEXT_JSON, NULL));
    assert_refused(pool_describe(world.pool, (pool_text_format)2, &text));
    assert_says("unsupported value 2 for `format`");
    assert_refused(pool_device_describe(NULL, POOL_TEXT_PLAIN, &text));
    assert_refused(pool_device_describe(device_of(&world, 0), POOL_TEXT_PLAIN, NULL));
    assert_refused(pool_device_describe(device_of(&world, 0), (pool_text_format)-1, &text));
    assert_refused(pool_next_device(NULL, &found));
    assert_refused(pool_next_device(world.pool, NULL));
    assert_refused(pool_best_device(NULL, &found));
    assert_refused(pool_best_device(world.pool, NULL));
    assert_refused(pool_pick_device(NULL, NULL, &found));
    assert_refused(pool_pick_device(world.pool, NULL, NULL));
    assert_refused(pool_bind(NULL));
    assert_refused(pool_unbind(NULL));
    assert_refused(pool_bound_device(NULL, &found));
    assert_refused(pool_bound_device(world.pool, NULL));
    assert_refused(pool_check_device(NULL, 0));
    assert_refused(pool_run_on(NULL, no_task, NULL));
    assert_refused(pool_run_on(device, NULL, NULL));
    assert_refused(pool_pointer_device(NULL, &found, &found));
    assert_refused(pool_pointer_device(world.pool, &found, NULL));
    assert_refused(pool_get_health(NULL, &health));
    assert_refused(pool_get_health(world.pool, NULL));
    assert_refused(pool_get_health(world.pool, &health));
    assert_refused(pool_device_get_info(NULL, &info));
    assert_refused(pool_device_get_info(device, NULL));
    assert_refused(pool_device_get_info(device, &info));
    peer.struct_size = sizeof(peer);
    assert_refused(pool_device_get_peer(NULL, device, &peer));
    assert_refused(pool_device_get_peer(device, NULL, &peer));
    assert_refused(pool_device_get_peer(device, device, NULL));
    peer.struct_size = 0;
    assert_refused(pool_device_get_peer(device, device, &peer));
    assert_int_equal(pool_device_index(NULL), -1);
    assert_int_equal(pool_device_ordinal(NULL), -1);
    assert_string_equal(pool_device_uuid(NULL), "");
    assert_refused(pool_device_handle(NULL, &handle));
    assert_refused(pool_device_handle(device, NULL));
    assert_refused(pool_device_context(NULL, &context));
    assert_refused(pool_device_context(device, NULL));
    assert_null(found);
    assert_null(text);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poison),
        cmocka_unit_test(test_poison_while_creating),
        cmocka_unit_test(test_device_fault),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_older_driver),
        cmocka_unit_test(test_no_multiprocessors_of_context),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_description_without_memory),
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_all_null),
    };

    unsetenv("DEVICEPOOL_DEVICES");
    return cmocka_run_group_tests_name("pool health", tests, NULL, NULL);
}
