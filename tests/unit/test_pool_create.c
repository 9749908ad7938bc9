/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool/: creation and destruction of a pool: params, context modes, lazy contexts, unusable
 * devices.
 */
#include "support/mock_pool.h"

#include "base/alloc.h"
#include "driver/attributes.h"

static void test_params(void **state)
{
    struct world world = world_of(1);
    CUcontext some = (CUcontext)&world;

    (void)state;
    assert_int_equal(world.params.struct_size, sizeof(pool_params));
    world.params.struct_size = 0;
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    pool_params_init(&world.params, sizeof(world.params));
    world.params.driver = pool_mock_table(world.mock);
    world.params.context_mode = (pool_context_mode)9;
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    world.params.context_mode = POOL_CONTEXT_PRIMARY;
    world.params.contexts = &some;
    world.params.context_count = 1;
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    world.params.context_mode = POOL_CONTEXT_ADOPT;
    world.params.context_flags = 4;
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    assert_says("`context_flags`");
    world.params.context_flags = 0;
    world.params.devices = "0";
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    world.params.devices = NULL;
    world.params.context_count = 0;
    assert_create_fails(&world, POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_mock_calls(world.mock, NULL), 0);
    world_end(&world);
}

/* A program built against a header with more members than ours. */
static void test_newer_program(void **state)
{
    struct world world = world_of(2);
    struct {
        pool_params known;
        uint64_t more;
    } newer = {.known = world.params, .more = 1};
    struct {
        pool_device_info known;
        char more[24];
    } info;

    (void)state;
    newer.known.struct_size = sizeof(newer);
    assert_int_equal(pool_create(&world.pool, &newer.known), POOL_ERR_INVALID_ARGUMENT);
    newer.more = 0;
    assert_ok(pool_create(&world.pool, &newer.known));
    memset(&info, '#', sizeof(info));
    info.known.struct_size = sizeof(info);
    assert_ok(pool_device_get_info(device_of(&world, 1), &info.known));
    assert_int_equal(info.known.struct_size, sizeof(info));
    assert_int_equal(info.known.index, 1);
    for (size_t i = 0; i < sizeof(info.more); i++)
        assert_int_equal(info.more[i], 0); /* unknown here, so the default */
    world_end(&world);
}

static void test_primary(void **state)
{
    struct world world = world_with_pool(3);
    pool_mock_balance balance;

    (void)state;
    pool_mock_get_balance(world.mock, &balance);
    assert_int_equal(balance.primary_refs, 3);
    assert_int_equal(balance.contexts, 0);
    assert_int_equal(pool_mock_depth(world.mock), 0);
    assert_ptr_not_equal(context_of(device_of(&world, 0)), context_of(device_of(&world, 1)));
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRetain"), 3);
    assert_int_equal(pool_mock_calls(world.mock, "cuCtxGetId"), 3);
    assert_int_equal(pool_mock_calls(world.mock, "cuCtx*"), 3);
    world_end(&world);
}

static void test_own(void **state)
{
    struct world world = world_of(2);
    pool_mock_balance balance;
    CUcontext mine = NULL;
    CUdevice handle = -1;

    (void)state;
    assert_int_equal(world.params.driver->Init(0), 0);
    assert_int_equal(world.params.driver->CtxCreate(&mine, 0, 1), 0);
    world.params.context_mode = POOL_CONTEXT_OWN;
    world.params.context_flags = DRIVER_CTX_SCHED_BLOCKING_SYNC;
    assert_ok(pool_create(&world.pool, &world.params));
    pool_mock_get_balance(world.mock, &balance);
    assert_int_equal(balance.contexts, 3);
    assert_int_equal(balance.primary_refs, 0);
    assert_ptr_equal(pool_mock_current_context(world.mock), mine);
    assert_int_equal(pool_mock_depth(world.mock), 1);
    assert_ptr_not_equal(context_of(device_of(&world, 1)), mine);
    assert_ok(pool_device_handle(device_of(&world, 1), &handle));
    assert_int_equal(handle, 1);
    assert_ok(pool_destroy(&world.pool));
    assert_ptr_equal(pool_mock_current_context(world.mock), mine);
    assert_int_equal(world.params.driver->CtxDestroy(mine), 0);
    world_end(&world);
}

static void test_adopt(void **state)
{
    struct world world = world_of(3);
    const pool_cuda_api *cuda = world.params.driver;
    CUcontext contexts[3] = {NULL}, before;

    (void)state;
    setenv("DEVICEPOOL_DEVICES", "1", 1); /* adopted contexts say which devices */
    assert_int_equal(cuda->Init(0), 0);
    assert_int_equal(cuda->CtxCreate(&contexts[0], 0, 2), 0);
    assert_int_equal(cuda->CtxCreate(&contexts[1], 0, 0), 0);
    before = pool_mock_current_context(world.mock);
    world.params.context_mode = POOL_CONTEXT_ADOPT;
    world.params.contexts = contexts;
    world.params.context_count = 2;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ptr_equal(pool_mock_current_context(world.mock), before);
    assert_int_equal(pool_device_count(world.pool), 2);
    assert_int_equal(pool_device_ordinal(device_of(&world, 0)), 2);
    assert_int_equal(pool_device_ordinal(device_of(&world, 1)), 0);
    assert_ptr_equal(context_of(device_of(&world, 0)), contexts[0]);
    assert_ok(pool_bind(device_of(&world, 0)));
    assert_ptr_equal(pool_mock_current_context(world.mock), contexts[0]);
    assert_ok(pool_unbind(device_of(&world, 0)));
    assert_ok(pool_destroy(&world.pool));

    /* Two contexts of one device, and no context at all. */
    assert_int_equal(cuda->CtxCreate(&contexts[2], 0, 2), 0);
    world.params.context_count = 3;
    assert_int_equal(pool_create(&world.pool, &world.params), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(cuda->CtxDestroy(contexts[2]), 0);
    contexts[2] = NULL;
    assert_int_equal(pool_create(&world.pool, &world.params), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_mock_calls(world.mock, "cuCtxDestroy"), 1);
    assert_ptr_equal(pool_mock_current_context(world.mock), before);
    assert_int_equal(cuda->CtxDestroy(contexts[1]), 0);
    assert_int_equal(cuda->CtxDestroy(contexts[0]), 0);
    unsetenv("DEVICEPOOL_DEVICES");
    world_end(&world);
}

/* Contexts of simulated devices: `devices` says only whose they are. */
static void test_adopt_simulated(void **state)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:3", .context_mode = POOL_CONTEXT_OWN};
    device_pool *owner, *pool = NULL;
    CUcontext contexts[2], context;
    pool_device *device;

    (void)state;
    assert_ok(pool_create(&owner, &params));
    for (size_t i = 0; i < 2; i++) {
        assert_ok(pool_device_at(owner, 2 - i, &device));
        assert_ok(pool_device_context(device, &contexts[i]));
    }
    params.context_mode = POOL_CONTEXT_ADOPT;
    params.contexts = contexts;
    params.context_count = 2;
    assert_ok(pool_create(&pool, &params));
    assert_int_equal(pool_device_count(pool), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(pool_device_at(pool, i, &device));
        assert_int_equal(pool_device_ordinal(device), 2 - i);
        assert_ok(pool_device_context(device, &context));
        assert_ptr_equal(context, contexts[i]);
    }
    assert_ok(pool_destroy(&pool));
    params.devices = "sim:5"; /* other devices than those that are there */
    assert_int_equal(pool_create(&pool, &params), POOL_ERR_BUSY);
    assert_ok(pool_destroy(&owner));
}

static void test_lazy(void **state)
{
    struct world world = world_of(3);
    pool_device *device = NULL;
    pool_device_info info = {.struct_size = sizeof(info)};
    char *text = NULL;

    (void)state;
    world.params.lazy = 1;
    assert_ok(pool_create(&world.pool, &world.params));
    for (int i = 0; i < 6; i++)
        assert_ok(pool_next_device(world.pool, &device));
    assert_ok(pool_best_device(world.pool, &device));
    assert_ok(pool_pick_device(world.pool, NULL, &device));
    assert_int_equal(pool_bound_device(world.pool, &device), POOL_ERR_NOT_BOUND);
    assert_ok(pool_device_get_info(device_of(&world, 0), &info));
    assert_int_equal(info.has_context, 0);
    assert_int_equal(info.free_bytes, 0);
    assert_true(info.total_bytes > GIB);
    assert_ok(pool_describe(world.pool, POOL_TEXT_PLAIN, &text));
    pool_text_free(&text);
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRetain"), 0);

    assert_ok(pool_bind(device_of(&world, 1)));
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRetain"), 1);
    assert_ok(pool_unbind(device_of(&world, 1)));
    assert_ok(pool_bind(device_of(&world, 1)));
    assert_ok(pool_unbind(device_of(&world, 1)));
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRetain"), 1);
    assert_ok(pool_device_get_info(device_of(&world, 1), &info));
    assert_int_equal(info.has_context, 1);
    assert_true(info.free_bytes > 0);
    world_end(&world);
}

/* A lazy device that fails at its first use stays so, keeps its reason and is not queried again. */
static void test_lazy_failure(void **state)
{
    struct world world = world_of(2);
    pool_device *device = NULL;
    pool_device_info info = {.struct_size = sizeof(info)};

    (void)state;
    world.params.lazy = 1;
    assert_ok(pool_create(&world.pool, &world.params));
    pool_mock_fail_on(
        world.mock, 0, "cuDevicePrimaryCtxRetain", 1, POOL_CU_DEVICE_UNAVAILABLE, POOL_MOCK_ONCE);
    assert_int_equal(pool_bind(device_of(&world, 0)), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("CUDA_ERROR_DEVICE_UNAVAILABLE");
    assert_int_equal(pool_last_error()->driver_code, POOL_CU_DEVICE_UNAVAILABLE);
    assert_int_equal(pool_bind(device_of(&world, 0)), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("CUDA_ERROR_DEVICE_UNAVAILABLE");
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRetain"), 1);
    assert_int_equal(pool_usable_count(world.pool), 1);
    for (int i = 0; i < 4; i++) {
        assert_ok(pool_next_device(world.pool, &device));
        assert_int_equal(pool_device_index(device), 1);
    }
    assert_ok(pool_device_get_info(device_of(&world, 0), &info));
    assert_int_equal(info.state, POOL_DEVICE_UNUSABLE);
    assert_non_null(strstr(info.reason, "CUDA_ERROR_DEVICE_UNAVAILABLE"));
    world_end(&world);
}

static void test_unusable_are_skipped(void **state)
{
    static const pool_cu_code codes[] = {POOL_CU_OUT_OF_MEMORY, POOL_CU_DEVICE_UNAVAILABLE,
        POOL_CU_NO_DEVICE, POOL_CU_INVALID_DEVICE, POOL_CU_DEVICE_NOT_LICENSED,
        POOL_CU_SYSTEM_NOT_READY, POOL_CU_MPS_MAX_CLIENTS_REACHED, POOL_CU_INVALID_CONTEXT};

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        for (int mode = POOL_CONTEXT_PRIMARY; mode <= POOL_CONTEXT_OWN; mode++) {
            struct world world = world_of(3);
            pool_device_info info = {.struct_size = sizeof(info)};

            world.params.context_mode = (pool_context_mode)mode;
            pool_mock_fail(world.mock,
                mode == POOL_CONTEXT_OWN ? "cuCtxCreate" : "cuDevicePrimaryCtxRetain", 2, codes[i],
                POOL_MOCK_ONCE);
            assert_ok(pool_create(&world.pool, &world.params));
            assert_int_equal(pool_device_count(world.pool), 3);
            assert_int_equal(pool_usable_count(world.pool), 2);
            assert_ok(pool_device_get_info(device_of(&world, 1), &info));
            assert_int_equal(info.state, POOL_DEVICE_UNUSABLE);
            assert_true(strlen(info.reason) > 10);
            assert_int_equal(pool_bind(device_of(&world, 1)), POOL_ERR_DEVICE_UNUSABLE);
            assert_ok(pool_destroy(&world.pool));

            world.params.min_devices = 3;
            pool_mock_fail(world.mock,
                mode == POOL_CONTEXT_OWN ? "cuCtxCreate" : "cuDevicePrimaryCtxRetain", 2, codes[i],
                POOL_MOCK_ONCE);
            assert_create_fails(&world, POOL_ERR_NO_DEVICE);
            assert_says("2 of 3");
            assert_says(info.reason);
            world_end(&world);
        }
}

static void test_none_usable(void **state)
{
    struct world world = world_of(2);

    (void)state;
    pool_mock_fail(world.mock, "cuDevicePrimaryCtxRetain", 1, POOL_CU_DEVICE_UNAVAILABLE,
        POOL_MOCK_FROM_THEN_ON);
    assert_create_fails(&world, POOL_ERR_NO_DEVICE);
    assert_says("device 0");
    assert_says("device 1");
    pool_mock_clear_failures(world.mock);
    world.params.min_devices = 3;
    assert_create_fails(&world, POOL_ERR_NO_DEVICE);
    world_end(&world);

    world = world_of(POOL_MOCK_NO_DEVICES);
    assert_create_fails(&world, POOL_ERR_NO_DEVICE);
    world_end(&world);
}

static void test_prohibited_compute_mode(void **state)
{
    struct world world = world_of(2);

    (void)state;
    world.params.lazy = 1;
    pool_mock_set_attribute(world.mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_MODE, 2);
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pool_usable_count(world.pool), 1);
    assert_int_equal(pool_bind(device_of(&world, 0)), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("prohibited");
    world_end(&world);
}

static void test_context_is_restored(void **state)
{
    (void)state;
    for (int mode = POOL_CONTEXT_PRIMARY; mode <= POOL_CONTEXT_OWN; mode++)
        for (uint64_t n = 1; n < 40; n++) {
            struct world world = world_of(2);
            CUcontext mine = NULL;
            pool_status status;

            assert_int_equal(world.params.driver->Init(0), 0);
            assert_int_equal(world.params.driver->CtxCreate(&mine, 0, 0), 0);
            world.params.context_mode = (pool_context_mode)mode;
            pool_mock_fail(world.mock, "cuCtx*", n, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
            status = pool_create(&world.pool, &world.params);
            assert_true(!status == !!world.pool);
            assert_ptr_equal(pool_mock_current_context(world.mock), mine);
            assert_int_equal(pool_mock_depth(world.mock), 1);
            pool_mock_clear_failures(world.mock);
            assert_ok(pool_destroy(&world.pool));
            assert_int_equal(world.params.driver->CtxDestroy(mine), 0);
            world_end(&world);
        }
}

static int refuse(void *user)
{
    return (*(int *)user)-- == 0;
}

static void test_no_host_memory(void **state)
{
    struct world world = world_of(3);
    int failed = 0;

    (void)state;
    world.params.devices = "0,GPU-00,06:00.0";
    world.params.devices = "0-1,2";
    for (int n = 0;; n++) {
        int countdown = n;
        pool_status status;

        base_alloc_set_hook(refuse, &countdown);
        status = pool_create(&world.pool, &world.params);
        base_alloc_set_hook(NULL, NULL);
        if (!status)
            break;
        failed++;
        assert_int_equal(status, POOL_ERR_OUT_OF_HOST_MEMORY);
        assert_null(world.pool);
        assert_string_equal(pool_mock_leaks(world.mock), "");
    }
    assert_true(failed >= 8);
    world_end(&world);
}

/* The driver calls of pool_create: none without need, each once. */
static void test_cost_in_calls(void **state)
{
    struct world world = world_with_pool(4);

    (void)state;
    assert_int_equal(pool_mock_calls(world.mock, "cuInit"), 1);
    assert_int_equal(pool_mock_calls(world.mock, "cuDeviceGetCount"), 1);
    assert_int_equal(pool_mock_calls(world.mock, "cuDeviceGetP2PAttribute"), 0);
    assert_int_equal(pool_mock_calls(world.mock, "cuMem*"), 0);
    assert_int_equal(pool_mock_calls(world.mock, "cuCtx*"), 4); /* each context's id */
    assert_int_equal(pool_mock_calls(world.mock, "cuCtxGetId"), 4);
    assert_true(pool_mock_calls(world.mock, NULL) <= 4 * 32 + 8);
    world_end(&world);
}

static void test_destroy_is_refused(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *device = device_of(&world, 1);

    (void)state;
    assert_ok(pool_bind(device));
    assert_int_equal(pool_destroy(&world.pool), POOL_ERR_BUSY);
    assert_non_null(world.pool);
    assert_says("1 binding held by threads");
    assert_ok(pool_unbind(device));
    device_dependent_added(device, DEVICE_DEPENDENT_BUFFER);
    device_dependent_added(device, DEVICE_DEPENDENT_BUFFER);
    device_dependent_added(device, DEVICE_DEPENDENT_MODULE);
    assert_int_equal(pool_destroy(&world.pool), POOL_ERR_BUSY);
    assert_says("2 buffers");
    assert_says("1 module");
    device_dependent_removed(device, DEVICE_DEPENDENT_BUFFER);
    device_dependent_removed(device, DEVICE_DEPENDENT_BUFFER);
    device_dependent_removed(device, DEVICE_DEPENDENT_MODULE);
    assert_ok(pool_bind(device));
    assert_ok(pool_unbind(device));
    world_end(&world);
}

/* The driver's refusals at the end are not the caller's problem. */
static void test_destroy_goes_on(void **state)
{
    struct world world = world_with_pool(2);

    (void)state;
    pool_mock_fail(
        world.mock, "cuDevicePrimaryCtxRelease", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_ok(pool_destroy(&world.pool));
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRelease"), 2);
    world_end(&world);

    world = world_with_pool(2);
    pool_mock_fail(world.mock, NULL, 1, POOL_CU_DEINITIALIZED, POOL_MOCK_FROM_THEN_ON);
    assert_ok(pool_destroy(&world.pool));
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRelease"), 0);
    pool_mock_clear_failures(world.mock);
    pool_mock_destroy(&world.mock);
}

static unsigned flags_of(struct world *world, int device)
{
    unsigned flags = 0;
    int is_active = 0;

    assert_int_equal(world->params.driver->DevicePrimaryCtxGetState(device, &flags, &is_active), 0);
    return flags;
}

/* Primary contexts get the flags before they are active; other flags in use are an error. */
static void test_primary_flags(void **state)
{
    struct world world = world_of(2);
    device_pool *second = NULL;
    CUcontext context = NULL;

    (void)state;
    for (int lazy = 0; lazy < 2; lazy++) {
        world.params.lazy = lazy;
        world.params.context_flags = DRIVER_CTX_SCHED_BLOCKING_SYNC;
        assert_ok(pool_create(&world.pool, &world.params));
        (void)context_of(device_of(&world, 1));
        assert_int_equal(flags_of(&world, 1), DRIVER_CTX_SCHED_BLOCKING_SYNC);
        assert_int_equal(flags_of(&world, 0), lazy ? 0 : DRIVER_CTX_SCHED_BLOCKING_SYNC);
        /* The same flags again, or none: the contexts are shared. Others: refused as a whole. */
        assert_ok(pool_create(&second, &world.params));
        assert_ok(pool_destroy(&second));
        world.params.context_flags = 0;
        assert_ok(pool_create(&second, &world.params));
        assert_ok(pool_destroy(&second));
        world.params.context_flags = DRIVER_CTX_SCHED_SPIN;
        assert_status(pool_create(&second, &world.params), POOL_ERR_BUSY);
        assert_null(second);
        assert_says("is active with the flags 0x4, and the pool's `context_flags` are 0x1");
        assert_ok(pool_destroy(&world.pool));
        assert_string_equal(pool_mock_leaks(world.mock), "");
    }
    /* Other code activates the context between pool_create and the first use. */
    world.params.context_flags = DRIVER_CTX_SCHED_YIELD;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(world.params.driver->DevicePrimaryCtxRetain(&context, 0), 0);
    assert_status(pool_bind(device_of(&world, 0)), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("is active with the flags 0x0");
    assert_ok(pool_bind(device_of(&world, 1)));
    assert_ok(pool_unbind(device_of(&world, 1)));
    assert_int_equal(world.params.driver->DevicePrimaryCtxRelease(0), 0);
    assert_ok(pool_destroy(&world.pool));
    /* A driver that cannot set them. */
    pool_mock_remove_function(world.mock, "cuDevicePrimaryCtxSetFlags");
    assert_create_fails(&world, POOL_ERR_UNSUPPORTED);
    assert_says("cuDevicePrimaryCtxSetFlags");
    world.params.context_flags = 0;
    assert_ok(pool_create(&world.pool, &world.params));
    world_end(&world);
}

/* Only the last reference destroys the pool, and only the last one is refused. */
static void test_references(void **state)
{
    struct world world = world_with_pool(2);
    device_pool *first = pool_retain(world.pool), *second = pool_retain(world.pool);
    pool_device *device = device_of(&world, 1);
    pool_buffer *buffer = NULL;

    (void)state;
    assert_null(pool_retain(NULL));
    assert_ptr_equal(first, world.pool);
    assert_ok(pool_buffer_alloc(device, 64, &buffer));
    assert_ok(pool_bind(device));
    assert_ok(pool_destroy(&first)); /* with live objects: they belong to other owners */
    assert_null(first);
    assert_ok(pool_destroy(&world.pool));
    assert_ok(pool_device_synchronize(device));
    assert_status(pool_destroy(&second), POOL_ERR_BUSY);
    assert_non_null(second);
    assert_ok(pool_unbind(device));
    assert_status(pool_destroy(&second), POOL_ERR_BUSY); /* the reference was not lost */
    first = pool_retain(second);
    assert_ok(pool_destroy(&first));
    assert_ok(pool_buffer_destroy(&buffer));
    world.pool = second;
    world_end(&world);
}

/* A child owns no driver objects, but references as its parent has them. */
static void test_references_after_fork(void **state)
{
    struct world world = world_with_pool(1);
    device_pool *second = pool_retain(world.pool);
    int result = -1;
    pid_t child;

    (void)state;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        pool_device *device = NULL;
        int is_wrong = pool_destroy(&second) || second || pool_device_at(world.pool, 0, &device) ||
                       pool_next_device(world.pool, &device) != POOL_ERR_FORKED ||
                       pool_destroy(&world.pool) || world.pool;

        _exit(is_wrong);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_ok(pool_destroy(&second));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_newer_program),
        cmocka_unit_test(test_primary),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_adopt_simulated),
        cmocka_unit_test(test_lazy),
        cmocka_unit_test(test_lazy_failure),
        cmocka_unit_test(test_unusable_are_skipped),
        cmocka_unit_test(test_none_usable),
        cmocka_unit_test(test_prohibited_compute_mode),
        cmocka_unit_test(test_context_is_restored),
        cmocka_unit_test(test_no_host_memory),
        cmocka_unit_test(test_cost_in_calls),
        cmocka_unit_test(test_destroy_is_refused),
        cmocka_unit_test(test_destroy_goes_on),
        cmocka_unit_test(test_primary_flags),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_references_after_fork),
    };

    unsetenv("DEVICEPOOL_DEVICES");
    return cmocka_run_group_tests_name("pool create", tests, NULL, NULL);
}
