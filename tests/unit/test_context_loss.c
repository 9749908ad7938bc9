/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts that another part of the process ends: the device is lost, with that reason, and nothing
 * that was in the context is passed to the driver afterwards.
 */
#include "support/mock_pool.h"

#include "driver/driver.h"

struct heard {
    int faults;
    pool_device *device;
    char message[1024];
};

static void hear(void *user, const pool_fault *fault)
{
    struct heard *heard = user;

    assert_int_equal(fault->error_class, POOL_CLASS_DEVICE);
    heard->faults++;
    heard->device = fault->device;
    snprintf(heard->message, sizeof(heard->message), "%s", fault->message);
}

/* One of each kind of object on a device. */
struct objects {
    pool_buffer *buffer, *secret;
    pool_pinned *pinned, *registered;
    pool_stream *stream;
    pool_event *event;
    pool_module *module;
    char host[4096];
};

static const char image[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry k()\n{\nret;\n}\n";

static void create_objects(pool_device *device, struct objects *objects)
{
    assert_ok(pool_buffer_alloc(device, 4096, &objects->buffer));
    assert_ok(pool_buffer_create(device,
        &(pool_buffer_params){
            .struct_size = sizeof(pool_buffer_params), .bytes = 64, .flags = POOL_BUFFER_SECRET},
        &objects->secret));
    assert_ok(pool_pinned_create(device, 4096, POOL_PINNED_SECRET, &objects->pinned));
    assert_ok(pool_pinned_register(
        device, objects->host, sizeof(objects->host), 0, &objects->registered));
    assert_ok(pool_stream_create(device, NULL, &objects->stream));
    assert_ok(pool_event_create(device, 0, &objects->event));
    assert_ok(pool_event_record(objects->event, objects->stream));
    assert_ok(pool_module_load(device, image, sizeof(image), &objects->module));
    assert_ok(pool_copy_to_device(objects->buffer, 0, objects->host, sizeof(objects->host), NULL));
}

static void destroy_objects(struct objects *objects)
{
    assert_ok(pool_buffer_destroy(&objects->buffer));
    assert_ok(pool_buffer_destroy(&objects->secret));
    assert_ok(pool_pinned_destroy(&objects->pinned));
    assert_ok(pool_pinned_destroy(&objects->registered));
    assert_ok(pool_event_destroy(&objects->event));
    assert_ok(pool_stream_destroy(&objects->stream));
    assert_ok(pool_module_destroy(&objects->module));
}

static void assert_lost(pool_status status)
{
    assert_status(status, POOL_ERR_DEVICE_LOST);
    assert_int_equal(pool_status_class(status), POOL_CLASS_DEVICE);
    assert_says("its context was destroyed by another part of the process");
}

/* Every use of an object. */
static void assert_objects_lost(struct objects *objects, pool_stream *other_stream)
{
    char bytes[16];

    assert_lost(pool_copy_to_host(bytes, objects->buffer, 0, sizeof(bytes), NULL));
    assert_lost(pool_copy_to_device(objects->secret, 0, bytes, sizeof(bytes), NULL));
    assert_lost(pool_stream_synchronize(objects->stream));
    assert_lost(pool_stream_query(objects->stream));
    assert_lost(pool_event_record(objects->event, objects->stream));
    assert_lost(pool_event_synchronize(objects->event));
    assert_lost(pool_event_wait(objects->event, 1000));
    if (other_stream)
        assert_lost(pool_stream_wait_event(other_stream, objects->event));
}

/* No call since the last reset of the log was given a handle that does not exist, but for those
 * that ask whether the context exists. */
static void assert_no_stale_handle(pool_mock *mock)
{
    const char *log = pool_mock_log(mock);

    for (const char *at = log; (at = strstr(at, "(stale")); at++)
        assert_true(!strncmp(at - strlen("cuCtxGetId"), "cuCtxGetId", strlen("cuCtxGetId")) ||
                    !strncmp(at - strlen("cuCtxPushCurrent"), "cuCtxPushCurrent",
                        strlen("cuCtxPushCurrent")));
    assert_null(strstr(log, ", stale"));
    assert_null(strstr(log, " = 400"));
    assert_null(strstr(log, "cuMemFree"));
    assert_null(strstr(log, "cuMemHostUnregister"));
    assert_null(strstr(log, "cuModuleUnload"));
}

static void assert_not_chosen(device_pool *pool, const pool_device *device)
{
    for (int i = 0; i < 20; i++) {
        pool_device *chosen = NULL;

        assert_ok(pool_next_device(pool, &chosen));
        assert_ptr_not_equal(chosen, device);
    }
}

enum ending { RELEASED, RESET, DESTROYED };

static void end_context(struct world *world, enum ending ending, CUcontext context)
{
    const pool_cuda_api *api = pool_mock_table(world->mock);

    if (ending == RESET)
        assert_ok(pool_mock_reset_device(world->mock, 0));
    else
        assert_int_equal(
            ending == RELEASED ? api->DevicePrimaryCtxRelease(0) : api->CtxDestroy(context), 0);
}

static void assert_loss(struct world *world, enum ending ending, bool is_made_again)
{
    const pool_cuda_api *api = pool_mock_table(world->mock);
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_mock_balance balance;
    struct objects objects = {0}, others = {0};
    struct heard heard = {0};
    pool_device *device, *other;
    CUcontext context, again = NULL;

    world->params.fault_hook = hear;
    world->params.fault_user = &heard;
    assert_ok(pool_create(&world->pool, &world->params));
    device = device_of(world, 0);
    other = device_of(world, 1);
    context = context_of(device);
    create_objects(device, &objects);
    create_objects(other, &others);

    end_context(world, ending, context);
    if (is_made_again) {
        assert_int_equal(api->DevicePrimaryCtxRetain(&again, 0), 0);
        assert_ptr_equal(again, context);
    }
    pool_mock_reset_calls(world->mock);
    assert_objects_lost(&objects, others.stream);
    assert_lost(pool_buffer_alloc(device, 64, &(pool_buffer *){NULL}));
    assert_int_equal(heard.faults, 1);
    assert_ptr_equal(heard.device, device);
    assert_non_null(strstr(heard.message, "its context was destroyed"));
    assert_int_equal(pool_usable_count(world->pool), 1);
    assert_not_chosen(world->pool, device);
    assert_ok(pool_get_health(world->pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_DEVICE);
    destroy_objects(&objects);
    assert_no_stale_handle(world->mock);
    /* The other device continues. */
    assert_ok(pool_stream_synchronize(others.stream));
    destroy_objects(&others);
    pool_mock_reset_calls(world->mock);
    assert_ok(pool_destroy(&world->pool));
    assert_null(world->pool);
    assert_null(strstr(pool_mock_log(world->mock), "stale"));
    pool_mock_get_balance(world->mock, &balance);
    assert_int_equal(balance.primary_refs, is_made_again ? 1 + (ending == RESET) : 0);
    assert_int_equal(balance.stacked, 0);
    assert_string_equal(pool_mock_verify(world->mock), "");
    pool_mock_destroy(&world->mock);
}

static void test_released_once_too_often(void **state)
{
    struct world world = world_of(2);

    (void)state;
    assert_loss(&world, RELEASED, false);
}

static void test_reset(void **state)
{
    struct world world = world_of(2);

    (void)state;
    assert_loss(&world, RESET, false);
}

static void test_released_and_made_again(void **state)
{
    struct world world = world_of(2);

    (void)state;
    assert_loss(&world, RELEASED, true);
}

static void test_reset_and_made_again(void **state)
{
    struct world world = world_of(2);

    (void)state;
    assert_loss(&world, RESET, true);
}

static void test_own_context_destroyed(void **state)
{
    struct world world = world_of(2);

    (void)state;
    world.params.context_mode = POOL_CONTEXT_OWN;
    assert_loss(&world, DESTROYED, false);
}

/* A driver before CUDA 12.0 has no ids: the primary context is found not active. */
static void test_without_ids(void **state)
{
    struct world world = world_of(2);

    (void)state;
    assert_ok(pool_mock_remove_function(world.mock, "cuCtxGetId"));
    assert_loss(&world, RESET, false);
}

static void test_own_context_without_ids(void **state)
{
    struct world world = world_of(2);

    (void)state;
    assert_ok(pool_mock_remove_function(world.mock, "cuCtxGetId"));
    world.params.context_mode = POOL_CONTEXT_OWN;
    assert_loss(&world, DESTROYED, false);
}

static void test_adopted_context_destroyed(void **state)
{
    struct world world = world_of(2);
    const pool_cuda_api *api = pool_mock_table(world.mock);
    CUcontext contexts[2];

    (void)state;
    assert_int_equal(api->Init(0), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(api->CtxCreate(&contexts[i], 0, i), 0);
        assert_int_equal(api->CtxPopCurrent(NULL), 0);
    }
    world.params.context_mode = POOL_CONTEXT_ADOPT;
    world.params.contexts = contexts;
    world.params.context_count = 2;
    assert_loss(&world, DESTROYED, false);
}

/* Threads that hold a binding can end it, and the pool can be destroyed. */
static void test_bindings(void **state)
{
    struct world world = world_with_pool(2);
    const pool_cuda_api *api = pool_mock_table(world.mock);
    pool_device *device = device_of(&world, 0);

    (void)state;
    assert_ok(pool_bind(device));
    assert_ok(pool_bind(device));
    assert_int_equal(api->DevicePrimaryCtxRelease(0), 0);
    assert_lost(pool_buffer_alloc(device, 64, &(pool_buffer *){NULL}));
    assert_ok(pool_unbind(device));
    assert_int_equal(api->CtxPopCurrent(NULL), 0); /* as the driver may do it by itself */
    assert_lost(pool_unbind(device));
    assert_int_equal(pool_unbind(device), POOL_ERR_UNBALANCED);
    assert_lost(pool_bind(device));
    assert_ok(pool_destroy(&world.pool));
    assert_int_equal(pool_mock_depth(world.mock), 0);
    pool_mock_destroy(&world.mock);
}

static void test_bind_finds_it(void **state)
{
    struct world world = world_with_pool(2);
    const pool_cuda_api *api = pool_mock_table(world.mock);

    (void)state;
    assert_int_equal(api->DevicePrimaryCtxRelease(0), 0);
    assert_lost(pool_bind(device_of(&world, 0)));
    assert_int_equal(pool_usable_count(world.pool), 1);
    assert_ok(pool_destroy(&world.pool));
    pool_mock_destroy(&world.mock);
}

/* The same codes of the driver for what is not ours harm the call only. */
static void test_other_contexts_stay_calls(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0);
    pool_buffer *buffer = NULL;

    (void)state;
    for (int i = 0; i < 3; i++) {
        static const pool_cu_code codes[] = {
            POOL_CU_INVALID_CONTEXT, POOL_CU_CONTEXT_IS_DESTROYED, POOL_CU_INVALID_HANDLE};
        pool_status status;

        assert_ok(
            pool_mock_fail(world.mock, "cuMemAllocFromPoolAsync", 1, codes[i], POOL_MOCK_ONCE));
        status = pool_buffer_alloc(device, 64, &buffer);
        assert_int_equal(pool_status_class(status), POOL_CLASS_CALL);
        assert_int_equal(pool_last_error()->driver_code, codes[i]);
        assert_null(strstr(pool_last_error()->message, "destroyed by another part"));
    }
    assert_int_equal(pool_usable_count(world.pool), 1);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_released_once_too_often),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_released_and_made_again),
        cmocka_unit_test(test_reset_and_made_again),
        cmocka_unit_test(test_own_context_destroyed),
        cmocka_unit_test(test_without_ids),
        cmocka_unit_test(test_own_context_without_ids),
        cmocka_unit_test(test_adopted_context_destroyed),
        cmocka_unit_test(test_bindings),
        cmocka_unit_test(test_bind_finds_it),
        cmocka_unit_test(test_other_contexts_stay_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
