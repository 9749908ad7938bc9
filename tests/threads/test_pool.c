/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool under many threads: contexts are created once, round robin is fair to the last choice,
 * and everything happens at once while devices and then the process fail. Threads count errors;
 * only the main thread asserts.
 */
#include "support/mock_pool.h"

#include "base/status.h"

#define THREADS 24

struct gang {
    struct world *world;
    pthread_barrier_t start;
    atomic_int wrong;
    atomic_int stop;
    atomic_uint seen[16];
    int picks;
};

static void note(struct gang *gang, int is_right, const char *what)
{
    if (!is_right && atomic_fetch_add(&gang->wrong, 1) == 0)
        fprintf(stderr, "wrong: %s (%s)\n", what, pool_last_error()->message);
}

static void run_gang(struct gang *gang, void *(*body)(void *))
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&gang->start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, gang), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&gang->start);
    assert_int_equal(atomic_load(&gang->wrong), 0);
}

static void *use_each_lazily(void *arg)
{
    struct gang *gang = arg;
    device_pool *pool = gang->world->pool;

    pthread_barrier_wait(&gang->start);
    for (size_t i = 0; i < pool->count; i++) {
        pool_device *device = &pool->devices[i];
        CUcontext context = NULL;

        if (i == 2) {
            note(gang, pool_bind(device) == POOL_ERR_DEVICE_UNUSABLE, "a lost device was bound");
            continue;
        }
        note(gang, !pool_bind(device), "bind");
        note(gang, !pool_device_context(device, &context), "context");
        note(gang, pool_mock_current_context(gang->world->mock) == context,
            "the context that is current");
        note(gang, !pool_unbind(device), "unbind");
    }
    return NULL;
}

static void test_lazy_contexts_once(void **state)
{
    (void)state;
    for (int mode = POOL_CONTEXT_PRIMARY; mode <= POOL_CONTEXT_OWN; mode++) {
        const char *maker = mode == POOL_CONTEXT_OWN ? "cuCtxCreate" : "cuDevicePrimaryCtxRetain";
        struct world world = world_of(4);
        struct gang gang = {.world = &world};

        world.params.lazy = 1;
        world.params.context_mode = (pool_context_mode)mode;
        assert_ok(pool_create(&world.pool, &world.params));
        pool_mock_fail_on(world.mock, 2, maker, 1, POOL_CU_DEVICE_UNAVAILABLE, POOL_MOCK_ONCE);
        run_gang(&gang, use_each_lazily);
        assert_int_equal(pool_mock_calls(world.mock, maker), 4);
        world_end(&world);
    }
}

static void *pick_turns(void *arg)
{
    struct gang *gang = arg;
    pool_device *device = NULL;

    pthread_barrier_wait(&gang->start);
    for (int i = 0; i < gang->picks; i++) {
        note(gang, !pool_next_device(gang->world->pool, &device), "next");
        atomic_fetch_add(&gang->seen[pool_device_index(device)], 1);
    }
    return NULL;
}

/* Whole laps by all threads together: every device exactly as often, also across the fold. */
static void test_fair_to_the_last_pick(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 16; count += 3) {
        struct world world = world_of(count);
        struct gang gang = {.world = &world, .picks = (int)count * 400};
        uint64_t limit;

        world.params.lazy = 1;
        assert_ok(pool_create(&world.pool, &world.params));
        limit = atomic_load(&world.pool->usable)->limit;
        if (atomic_load(&world.pool->whole_count))
            limit = 0; /* the end of 64 bits */
        atomic_store(&world.pool->counter, limit - (uint64_t)gang.picks * THREADS / 2);
        run_gang(&gang, pick_turns);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(atomic_load(&gang.seen[i]), 400 * THREADS);
        if (!atomic_load(&world.pool->whole_count)) /* else 64 bits end evenly by themselves */
            assert_true(atomic_load(&world.pool->counter) < limit);
        world_end(&world);
    }
}

static int is_expected(pool_status status)
{
    return status == POOL_OK || status == POOL_ERR_DEVICE_UNUSABLE ||
           status == POOL_ERR_NO_DEVICE || status == POOL_ERR_PROCESS_POISONED;
}

static void bind_somewhere(struct gang *gang, pool_device *device)
{
    pool_device *bound = NULL;
    pool_status status = pool_bind(device);

    note(gang, is_expected(status), "bind");
    if (status)
        return;
    status = pool_bound_device(gang->world->pool, &bound);
    note(gang, status == POOL_ERR_PROCESS_POISONED || bound == device, "the bound device");
    status = pool_unbind(device);
    note(gang, is_expected(status), "unbind");
}

static int any(void *user, const pool_candidate *candidate)
{
    (void)user;
    return candidate->device != NULL;
}

static void *do_everything(void *arg)
{
    struct gang *gang = arg;
    device_pool *pool = gang->world->pool;
    pool_pick pick = {.struct_size = sizeof(pick), .filter = any};
    struct device_scope scope;

    pthread_barrier_wait(&gang->start);
    for (unsigned i = 0; !atomic_load(&gang->stop); i++) {
        pool_health_info health = {.struct_size = sizeof(health)};
        pool_device_info info = {.struct_size = sizeof(info)};
        pool_device *device = NULL;
        char *text = NULL;

        pick.policy = (pool_policy)(i % 3);
        note(gang, is_expected(pool_next_device(pool, &device)), "next");
        if (device)
            bind_somewhere(gang, device);
        note(gang, is_expected(pool_best_device(pool, &device)), "best");
        note(gang, is_expected(pool_pick_device(pool, &pick, &device)), "pick");
        if (device && !device_enter(device, &scope))
            note(gang, is_expected(device_leave(&scope, POOL_OK)), "leave");
        note(gang, !pool_get_health(pool, &health), "health");
        note(gang, health.usable_devices <= health.devices, "usable devices");
        if (i % 16 == 0) {
            note(gang,
                is_expected(pool_device_get_info(&pool->devices[i / 16 % pool->count], &info)),
                "info");
            note(gang, !pool_describe(pool, i % 32 ? POOL_TEXT_PLAIN : POOL_TEXT_JSON, &text),
                "description");
            pool_text_free(&text);
            note(gang,
                !pool_device_describe(&pool->devices[i / 16 % pool->count], POOL_TEXT_PLAIN, &text),
                "description of a device");
            pool_text_free(&text);
            atomic_store(&pool->sampled_at, 1); /* the sample is old: someone renews it */
        }
        note(gang, pool_mock_depth(gang->world->mock) == 0, "the depth of the context stack");
    }
    return NULL;
}

static atomic_int process_faults, device_faults;

/* Each fault comes when the threads have found the previous one, and a while of work after it. */
static void *break_things(void *arg)
{
    struct gang *gang = arg;
    pool_mock *mock = gang->world->mock;

    for (int device = 1; device < 4; device++) {
        usleep(60000);
        pool_mock_fail_on(
            mock, device, "cuMemGetInfo", 1, POOL_CU_DEVICE_UNAVAILABLE, POOL_MOCK_ONCE);
        while (atomic_load(&device_faults) < device)
            usleep(1000);
    }
    usleep(60000);
    pool_mock_poison(mock, POOL_CU_LAUNCH_FAILED);
    while (!atomic_load(&process_faults))
        usleep(1000);
    usleep(60000);
    atomic_store(&gang->stop, 1);
    return NULL;
}

static void hear(void *user, const pool_fault *fault)
{
    (void)user;
    atomic_fetch_add(
        fault->error_class == POOL_CLASS_PROCESS ? &process_faults : &device_faults, 1);
}

static void test_everything_at_once(void **state)
{
    struct world world = world_of(6);
    struct gang gang = {.world = &world};
    pool_health_info health = {.struct_size = sizeof(health)};
    pthread_t breaker;

    (void)state;
    world.params.lazy = 1;
    world.params.fault_hook = hear;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pthread_create(&breaker, NULL, break_things, &gang), 0);
    run_gang(&gang, do_everything);
    pthread_join(breaker, NULL);
    assert_ok(pool_get_health(world.pool, &health));
    assert_int_equal(health.bindings, 0);
    assert_int_equal(health.harmed, POOL_CLASS_PROCESS);
    assert_int_equal(atomic_load(&process_faults), 1);
    assert_int_equal(atomic_load(&device_faults), 3);
    assert_ok(pool_destroy(&world.pool));
    pool_mock_destroy(&world.mock);
}

/* Pools are created and destroyed on the same driver while other threads use theirs. */
static void *make_and_end(void *arg)
{
    struct gang *gang = arg;

    pthread_barrier_wait(&gang->start);
    for (int i = 0; i < 20; i++) {
        pool_params params = gang->world->params;
        device_pool *pool = NULL;
        pool_device *device = NULL;

        params.lazy = i % 2;
        note(gang, !pool_create(&pool, &params), "create");
        if (!pool)
            break;
        note(gang, !pool_next_device(pool, &device), "next");
        note(gang, !pool_bind(device), "bind");
        note(gang, pool_destroy(&pool) == POOL_ERR_BUSY, "destroy while bound");
        note(gang, !pool_unbind(device), "unbind");
        note(gang, !pool_destroy(&pool), "destroy");
    }
    return NULL;
}

static void test_pools_come_and_go(void **state)
{
    struct world world = world_of(2);
    struct gang gang = {.world = &world};

    (void)state;
    run_gang(&gang, make_and_end);
    world_end(&world);
}

/* Every thread owns a reference and releases it while others use the pool; one destroys it. */
static void *share_and_release(void *arg)
{
    struct gang *gang = arg;
    device_pool *pool = gang->world->pool; /* a reference that the main thread took for it */

    pthread_barrier_wait(&gang->start);
    for (int i = 0; i < 200; i++) {
        device_pool *mine = pool_retain(pool);
        pool_device *device = NULL;

        note(gang, mine == pool, "retain");
        note(gang, !pool_next_device(mine, &device), "next");
        note(gang, !pool_destroy(&mine) && !mine, "release");
    }
    note(gang, !pool_destroy(&pool) && !pool, "release of the thread's own reference");
    return NULL;
}

static void test_shared_by_reference(void **state)
{
    struct world world = world_with_pool(4);
    struct gang gang = {.world = &world};

    (void)state;
    for (int i = 1; i < THREADS; i++)
        assert_ptr_equal(pool_retain(world.pool), world.pool);
    run_gang(&gang, share_and_release);
    world.pool = NULL;
    world_end(&world);
}

/* Each thread's pool retains and releases the one primary context of the device. */
static void *use_short_pools(void *arg)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:1"};
    struct gang *gang = arg;

    for (int round = 0; round < 25; round++) {
        uint8_t out[64], in[64];
        pool_buffer *buffer = NULL;
        pool_device *device = NULL;
        device_pool *pool = NULL;

        memset(in, round, sizeof(in));
        note(gang, !pool_create(&pool, &params), "a pool is created");
        note(gang, !pool_device_at(pool, 0, &device), "a device");
        note(gang, !pool_buffer_alloc(device, sizeof(in), &buffer), "a buffer");
        note(gang, !pool_copy_to_device(buffer, 0, in, sizeof(in), NULL), "a copy to the device");
        note(gang, !pool_copy_to_host(out, buffer, 0, sizeof(out), NULL), "a copy to the host");
        note(gang, !memcmp(in, out, sizeof(in)), "the bytes");
        note(gang, !pool_buffer_destroy(&buffer), "a buffer is destroyed");
        note(gang, !pool_destroy(&pool), "a pool is destroyed");
    }
    return NULL;
}

static void test_short_pools(void **state)
{
    struct gang gang = {0};
    pthread_t threads[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_short_pools, &gang), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&gang.wrong), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lazy_contexts_once),
        cmocka_unit_test(test_fair_to_the_last_pick),
        cmocka_unit_test(test_everything_at_once),
        cmocka_unit_test(test_pools_come_and_go),
        cmocka_unit_test(test_shared_by_reference),
        cmocka_unit_test(test_short_pools),
    };

    unsetenv("DEVICEPOOL_DEVICES");
    return cmocka_run_group_tests_name("pool threads", tests, NULL, NULL);
}
