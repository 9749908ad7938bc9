/* SPDX-License-Identifier: Apache-2.0 */
/* pool/: binding: nesting, misuse, threads that end while bound, queries of contexts. */
#include "support/mock_pool.h"

#include "base/alloc.h"
#include "base/status.h"

static void test_pairs(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *a = device_of(&world, 0), *b = device_of(&world, 1);
    const pool_cuda_api *cuda = world.params.driver;
    CUcontext mine = NULL;
    uint64_t calls;

    (void)state;
    assert_int_equal(cuda->CtxCreate(&mine, 0, 1), 0);
    calls = pool_mock_calls(world.mock, NULL) - pool_mock_calls(world.mock, "cuCtxGetId");
    assert_ok(pool_bind(a));
    assert_ptr_equal(pool_mock_current_context(world.mock), context_of(a));
    assert_ok(pool_unbind(a));
    assert_ptr_equal(pool_mock_current_context(world.mock), mine);
    /* A pair is one push and one pop, and now and then a query of the context's id. */
    assert_int_equal(
        pool_mock_calls(world.mock, NULL) - pool_mock_calls(world.mock, "cuCtxGetId"), calls + 2);

    assert_ok(pool_bind(a));
    assert_ok(pool_bind(b));
    assert_ok(pool_bind(a));
    assert_ok(pool_bind(a));
    assert_ptr_equal(pool_mock_current_context(world.mock), context_of(a));
    assert_ok(pool_unbind(a));
    assert_ok(pool_unbind(a));
    assert_ptr_equal(pool_mock_current_context(world.mock), context_of(b));
    assert_ok(pool_unbind(b));
    assert_ptr_equal(pool_mock_current_context(world.mock), context_of(a));
    assert_ok(pool_unbind(a));
    assert_ptr_equal(pool_mock_current_context(world.mock), mine);
    assert_int_equal(pool_mock_depth(world.mock), 1);
    assert_int_equal(cuda->CtxDestroy(mine), 0);
    world_end(&world);
}

static void test_deep_nesting(void **state)
{
    struct world world = world_with_pool(3);

    (void)state;
    for (size_t i = 0; i < 300; i++)
        assert_ok(pool_bind(device_of(&world, i % 3)));
    for (size_t i = 300; i-- > 0;) {
        assert_ptr_equal(
            pool_mock_current_context(world.mock), context_of(device_of(&world, i % 3)));
        assert_ok(pool_unbind(device_of(&world, i % 3)));
    }
    assert_int_equal(pool_mock_depth(world.mock), 0);
    world_end(&world);
}

static void test_two_pools(void **state)
{
    struct world world = world_with_pool(2);
    device_pool *other = NULL;
    pool_device *mine = device_of(&world, 0), *theirs = NULL, *found = NULL;

    (void)state;
    world.params.context_mode = POOL_CONTEXT_OWN;
    assert_ok(pool_create(&other, &world.params));
    assert_ok(pool_device_at(other, 0, &theirs));
    assert_ok(pool_bind(mine));
    assert_ok(pool_bind(theirs));
    assert_int_equal(pool_unbind(mine), POOL_ERR_UNBALANCED);
    assert_ok(pool_bound_device(other, &found));
    assert_ptr_equal(found, theirs);
    assert_int_equal(pool_bound_device(world.pool, &found), POOL_ERR_NOT_BOUND);
    assert_ok(pool_unbind(theirs));
    assert_ok(pool_bound_device(world.pool, &found));
    assert_ptr_equal(found, mine);
    assert_ok(pool_unbind(mine));
    assert_ok(pool_destroy(&other));
    world_end(&world);
}

static void test_misuse(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *a = device_of(&world, 0), *b = device_of(&world, 1);
    const pool_cuda_api *cuda = world.params.driver;
    CUcontext foreign = NULL, popped = NULL;

    (void)state;
    assert_int_equal(pool_unbind(a), POOL_ERR_UNBALANCED);
    assert_ok(pool_bind(a));
    assert_int_equal(pool_unbind(b), POOL_ERR_UNBALANCED);
    assert_ptr_equal(pool_mock_current_context(world.mock), context_of(a));

    /* A context of other code on top: unbind fails and changes nothing. */
    assert_int_equal(cuda->CtxCreate(&foreign, 0, 1), 0);
    assert_int_equal(pool_unbind(a), POOL_ERR_UNBALANCED);
    assert_ptr_equal(pool_mock_current_context(world.mock), foreign);
    assert_int_equal(pool_mock_depth(world.mock), 2);
    assert_int_equal(pool_destroy(&world.pool), POOL_ERR_BUSY);
    assert_int_equal(cuda->CtxPopCurrent(&popped), 0);
    assert_ok(pool_unbind(a));
    assert_int_equal(pool_mock_depth(world.mock), 0);

    /* Other code has popped the context: reported once, and the record is consistent again. */
    assert_ok(pool_bind(a));
    assert_int_equal(cuda->CtxPopCurrent(&popped), 0);
    assert_int_not_equal(pool_unbind(a), POOL_OK);
    assert_int_equal(pool_unbind(a), POOL_ERR_UNBALANCED);
    assert_says("nothing bound");

    /* Ours was replaced: refused until it is back. */
    assert_ok(pool_bind(a));
    assert_int_equal(cuda->CtxSetCurrent(foreign), 0);
    assert_int_equal(pool_unbind(a), POOL_ERR_UNBALANCED);
    assert_ptr_equal(pool_mock_current_context(world.mock), foreign);
    assert_int_equal(cuda->CtxSetCurrent(context_of(a)), 0);
    assert_ok(pool_unbind(a));
    assert_int_equal(cuda->CtxDestroy(foreign), 0);
    world_end(&world);
}

/* A driver that fails once to push or to pop: the thread keeps the context that it had. */
static void test_driver_failures(void **state)
{
    static const pool_cu_code codes[] = {
        POOL_CU_OUT_OF_MEMORY, POOL_CU_INVALID_CONTEXT, POOL_CU_INVALID_VALUE, POOL_CU_UNKNOWN};
    struct world world = world_with_pool(2);
    pool_device *a = device_of(&world, 0);
    pool_health_info health = {.struct_size = sizeof(health)};

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        pool_mock_fail(world.mock, "cuCtxPushCurrent", 1, codes[i], POOL_MOCK_ONCE);
        assert_int_not_equal(pool_bind(a), POOL_OK);
        assert_int_equal(pool_mock_depth(world.mock), 0);
        assert_int_equal(pool_unbind(a), POOL_ERR_UNBALANCED);
        assert_ok(pool_bind(a));
        pool_mock_fail(world.mock, "cuCtxPopCurrent", 1, codes[i], POOL_MOCK_ONCE);
        assert_int_not_equal(pool_unbind(a), POOL_OK);
        assert_int_equal(pool_mock_depth(world.mock), 0);
        assert_ok(pool_get_health(world.pool, &health));
        assert_int_equal(health.bindings, 0);
    }
    world_end(&world);
}

static void test_lost_device(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *a = device_of(&world, 0);

    (void)state;
    assert_ok(pool_bind(a));
    pool_mock_fail(world.mock, "cuCtxPushCurrent", 1, POOL_CU_DEVICE_UNAVAILABLE, POOL_MOCK_ONCE);
    assert_int_equal(pool_bind(a), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(pool_bind(a), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("CUDA_ERROR_DEVICE_UNAVAILABLE");
    assert_int_equal(pool_usable_count(world.pool), 1);
    /* Earlier bindings can still be released. */
    assert_ok(pool_unbind(a));
    assert_int_equal(pool_mock_depth(world.mock), 0);
    world_end(&world);
}

static int refuse(void *user)
{
    return (*(int *)user)-- == 0;
}

static void *bind_without_memory(void *arg)
{
    struct world *world = arg;

    /* A new thread's first binding needs memory for its record. */
    for (int n = 0;; n++) {
        int countdown = n;
        pool_status status;

        base_alloc_set_hook(refuse, &countdown);
        status = pool_bind(&world->pool->devices[0]);
        base_alloc_set_hook(NULL, NULL);
        if (!status)
            break;
        if (status != POOL_ERR_OUT_OF_HOST_MEMORY || pool_mock_depth(world->mock))
            return "a binding without memory";
    }
    return pool_unbind(&world->pool->devices[0]) ? "unbind" : NULL;
}

static void test_no_host_memory(void **state)
{
    struct world world = world_with_pool(1);
    pthread_t thread;
    void *answer = "";

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, bind_without_memory, &world), 0);
    assert_int_equal(pthread_join(thread, &answer), 0);
    assert_null(answer);
    world_end(&world);
}

struct job {
    struct world *world;
    pool_status answer;
    int calls;
    int leave_bound;
    int take_off;
};

static pool_status task(pool_device *device, void *arg)
{
    struct job *job = arg;

    job->calls++;
    if (pool_mock_current_context(job->world->mock) != atomic_load(&device->context))
        return POOL_ERR_INTERNAL;
    for (int i = 0; i < job->leave_bound; i++)
        if (pool_bind(&job->world->pool->devices[i % 2]))
            return POOL_ERR_INTERNAL;
    if (job->take_off && pool_unbind(device))
        return POOL_ERR_INTERNAL;
    return job->answer ? base_fail(job->answer, "the task's own failure") : POOL_OK;
}

static void test_run_on(void **state)
{
    struct world world = world_with_pool(2);
    struct job job = {.world = &world};

    (void)state;
    assert_ok(pool_run_on(device_of(&world, 1), task, &job));
    job.answer = POOL_ERR_TIMEOUT;
    assert_int_equal(pool_run_on(device_of(&world, 1), task, &job), POOL_ERR_TIMEOUT);
    assert_says("own failure");
    assert_int_equal(job.calls, 2);
    assert_int_equal(pool_mock_depth(world.mock), 0);

    /* A task that leaves bindings leaves none on the thread. */
    job.leave_bound = 3;
    assert_int_equal(pool_run_on(device_of(&world, 1), task, &job), POOL_ERR_TIMEOUT);
    job.answer = POOL_OK;
    assert_int_equal(pool_run_on(device_of(&world, 1), task, &job), POOL_ERR_UNBALANCED);
    assert_says("unbinding 3");
    assert_int_equal(pool_mock_depth(world.mock), 0);
    job.leave_bound = 0;
    job.take_off = 1;
    assert_int_equal(pool_run_on(device_of(&world, 1), task, &job), POOL_ERR_UNBALANCED);
    assert_int_equal(pool_mock_depth(world.mock), 0);

    job.calls = 0;
    pool_mock_fail(world.mock, "cuCtxPushCurrent", 1, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE);
    assert_int_equal(pool_run_on(device_of(&world, 1), task, &job), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(job.calls, 0);
    world_end(&world);
}

static void test_bound_device(void **state)
{
    struct world world = world_of(3);
    const pool_cuda_api *cuda = world.params.driver;
    pool_device *found = NULL;
    CUcontext popped = NULL;

    (void)state;
    world.params.devices = "2,0";
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pool_bound_device(world.pool, &found), POOL_ERR_NOT_BOUND);
    assert_int_equal(pool_check_device(world.pool, 0), POOL_ERR_NOT_BOUND);
    assert_ok(pool_bind(device_of(&world, 0)));
    assert_ok(pool_bound_device(world.pool, &found));
    assert_ptr_equal(found, device_of(&world, 0));
    assert_ok(pool_check_device(world.pool, 2));
    assert_int_equal(pool_check_device(world.pool, 0), POOL_ERR_WRONG_DEVICE);
    assert_says("device 2");
    assert_ok(pool_unbind(device_of(&world, 0)));

    /* Bound by other means, as the runtime API does it. */
    assert_int_equal(cuda->CtxPushCurrent(context_of(device_of(&world, 1))), 0);
    assert_ok(pool_check_device(world.pool, 0));
    assert_int_equal(cuda->CtxPopCurrent(&popped), 0);
    world_end(&world);
}

static void test_or_bound(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *found = NULL;

    (void)state;
    assert_int_equal(device_or_bound(NULL, &found), POOL_ERR_NOT_BOUND);
    assert_ok(device_or_bound(device_of(&world, 1), &found));
    assert_ptr_equal(found, device_of(&world, 1));
    assert_ok(pool_bind(device_of(&world, 0)));
    assert_ok(device_or_bound(NULL, &found));
    assert_ptr_equal(found, device_of(&world, 0));
    assert_ok(device_or_bound(device_of(&world, 1), &found));
    assert_ptr_equal(found, device_of(&world, 1));
    assert_ok(pool_unbind(device_of(&world, 0)));
    world_end(&world);
}

static void test_pointer_device(void **state)
{
    struct world world = world_of(3);
    const pool_cuda_api *cuda = world.params.driver;
    CUdeviceptr on_two = 0, elsewhere = 0;
    pool_device *found = NULL;
    CUcontext foreign = NULL;
    void *pinned = NULL;

    (void)state;
    world.params.devices = "2,0";
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(pool_bind(device_of(&world, 0)));
    assert_int_equal(cuda->MemAlloc(&on_two, 4096), 0);
    assert_int_equal(cuda->MemHostAlloc(&pinned, 4096, 0), 0);
    assert_ok(pool_unbind(device_of(&world, 0)));
    assert_int_equal(cuda->CtxCreate(&foreign, 0, 1), 0);
    assert_int_equal(cuda->MemAlloc(&elsewhere, 4096), 0);

    assert_ok(pool_pointer_device(world.pool, (void *)(uintptr_t)on_two, &found));
    assert_ptr_equal(found, device_of(&world, 0));
    assert_ok(pool_pointer_device(world.pool, (void *)(uintptr_t)(on_two + 4095), &found));
    found = NULL;
    assert_int_equal(
        pool_pointer_device(world.pool, (void *)(uintptr_t)elsewhere, &found), POOL_ERR_NOT_FOUND);
    assert_says("device 1");
    assert_int_equal(pool_pointer_device(world.pool, pinned, &found), POOL_ERR_NOT_FOUND);
    assert_says("host memory");
    assert_int_equal(pool_pointer_device(world.pool, &found, &found), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_pointer_device(world.pool, NULL, &found), POOL_ERR_NOT_FOUND);
    assert_null(found);

    assert_int_equal(cuda->MemFree(elsewhere), 0);
    assert_int_equal(cuda->CtxDestroy(foreign), 0);
    assert_ok(pool_bind(device_of(&world, 0)));
    assert_int_equal(cuda->MemFree(on_two), 0);
    assert_int_equal(cuda->MemFreeHost(pinned), 0);
    assert_ok(pool_unbind(device_of(&world, 0)));
    world_end(&world);
}

static void *end_while_bound(void *arg)
{
    struct world *world = arg;

    if (pool_bind(&world->pool->devices[0]) || pool_bind(&world->pool->devices[1]) ||
        pool_bind(&world->pool->devices[1]))
        return "bind";
    return NULL;
}

static void test_thread_ends_bound(void **state)
{
    struct world world = world_with_pool(2);
    pool_health_info health = {.struct_size = sizeof(health)};
    pthread_t thread;
    void *answer = "";

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, end_while_bound, &world), 0);
    assert_int_equal(pthread_join(thread, &answer), 0);
    assert_null(answer);
    assert_ok(pool_get_health(world.pool, &health));
    assert_int_equal(health.bindings, 0);
    assert_ok(pool_destroy(&world.pool));
    pool_mock_destroy(&world.mock);
}

/* Entering a device for the length of a call: no push when its context is current already. */
static void test_enter(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *a = device_of(&world, 0), *b = device_of(&world, 1);
    struct device_scope outer, inner;
    uint64_t pushes;

    (void)state;
    assert_ok(pool_bind(a));
    pushes = pool_mock_calls(world.mock, "cuCtxPushCurrent");
    assert_ok(device_enter(a, &outer));
    assert_int_equal(pool_mock_calls(world.mock, "cuCtxPushCurrent"), pushes);
    assert_ptr_equal(device_entered(), a);
    assert_ok(device_enter(b, &inner));
    assert_ptr_equal(device_entered(), b);
    assert_ptr_equal(pool_mock_current_context(world.mock), context_of(b));
    assert_ok(device_leave(&inner, POOL_OK));
    assert_ptr_equal(device_entered(), a);
    assert_ptr_equal(pool_mock_current_context(world.mock), context_of(a));
    assert_int_equal(device_leave(&outer, POOL_ERR_TIMEOUT), POOL_ERR_TIMEOUT);
    assert_ok(pool_unbind(a));

    /* The first failure is the one that is notified. */
    assert_ok(device_enter(a, &outer));
    pool_mock_fail(world.mock, "cuCtxPopCurrent", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    base_fail(POOL_ERR_IO, "first");
    assert_int_equal(device_leave(&outer, POOL_ERR_IO), POOL_ERR_IO);
    assert_says("first");
    assert_int_equal(pool_mock_depth(world.mock), 0);
    assert_ok(device_enter(a, &outer));
    pool_mock_fail(world.mock, "cuCtxPopCurrent", 1, POOL_CU_INVALID_VALUE, POOL_MOCK_ONCE);
    assert_int_equal(device_leave(&outer, POOL_OK), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_mock_depth(world.mock), 0);

    /* A room that met a lost device says so by its status. */
    assert_ok(device_enter(a, &outer));
    assert_int_equal(device_leave(&outer, base_fail(POOL_ERR_DEVICE_UNUSABLE, "gone")),
        POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(device_enter(a, &outer), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("gone");
    assert_int_equal(device_enter(NULL, &outer), POOL_ERR_INVALID_ARGUMENT);
    assert_null(device_entered());
    world_end(&world);
}

static int made, destroyed;
static pool_status make_answer;

static pool_status make_thing(pool_device *device, void **object)
{
    (void)device;
    if (make_answer)
        return base_fail(make_answer, "cannot be made");
    *object = &made;
    made++;
    return POOL_OK;
}

static void destroy_thing(pool_device *device, void *object, int driver_alive)
{
    (void)device;
    if (object == &made && driver_alive)
        destroyed++;
}

static const struct device_resource_type thing = {
    .name = "a thing", .create = make_thing, .destroy = destroy_thing};

static pool_status make_on_top(pool_device *device, void **object)
{
    return device_resource_get(device, &thing, object);
}

static void destroy_on_top(pool_device *device, void *object, int driver_alive)
{
    (void)device;
    (void)driver_alive;
    if (object == &made && destroyed == 0)
        destroyed += 100;
}

static const struct device_resource_type on_top = {
    .name = "on top of it", .create = make_on_top, .destroy = destroy_on_top};

static void test_kept(void **state)
{
    struct world world = world_with_pool(2);
    void *object = NULL;

    (void)state;
    make_answer = POOL_ERR_TIMEOUT;
    assert_int_equal(device_resource_get(device_of(&world, 0), &thing, &object), POOL_ERR_TIMEOUT);
    assert_null(object);
    make_answer = POOL_OK;
    assert_ok(device_resource_get(device_of(&world, 0), &on_top, &object));
    assert_ptr_equal(object, &made);
    assert_ok(device_resource_get(device_of(&world, 0), &thing, &object));
    assert_int_equal(made, 1);
    assert_int_equal(pool_mock_depth(world.mock), 0);
    world_end(&world);
    assert_int_equal(destroyed, 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_two_pools),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_driver_failures),
        cmocka_unit_test(test_lost_device),
        cmocka_unit_test(test_no_host_memory),
        cmocka_unit_test(test_run_on),
        cmocka_unit_test(test_bound_device),
        cmocka_unit_test(test_or_bound),
        cmocka_unit_test(test_pointer_device),
        cmocka_unit_test(test_thread_ends_bound),
        cmocka_unit_test(test_enter),
        cmocka_unit_test(test_kept),
    };

    unsetenv("DEVICEPOOL_DEVICES");
    return cmocka_run_group_tests_name("pool bind", tests, NULL, NULL);
}
