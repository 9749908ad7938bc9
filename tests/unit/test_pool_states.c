/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing devices from service and returning them: which state changes are possible, what a device
 * can be used for in each state, and who is notified.
 */
#include "support/mock_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "driver/work.h"
#include "pool/device/monitor.h"

#define MS ((uint64_t)1000000)
#define SECOND (1000 * MS)

struct notes {
    int calls;
    pool_device *device;
    pool_device_state state;
};

static void note_state(void *user, pool_device *device)
{
    struct notes *notes = user;

    notes->calls++;
    notes->device = device;
    notes->state = device_state(device);
}

static pool_health_info health_of(struct world *world)
{
    pool_health_info health = {.struct_size = sizeof(health)};

    assert_ok(pool_get_health(world->pool, &health));
    return health;
}

static void assert_state(pool_device *device, pool_device_state state, const char *reason)
{
    pool_device_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_device_get_info(device, &info));
    assert_int_equal(info.state, state);
    if (reason)
        assert_string_equal(info.reason, reason);
    else
        assert_true(info.reason[0] != '\0');
}

/* How often each of the first four devices is chosen in 60 choices of each kind. */
static void choose_often(struct world *world, int seen[4])
{
    pool_pick by_load = {.struct_size = sizeof(by_load), .policy = POOL_POLICY_LEAST_LOADED};
    pool_device *device = NULL;

    memset(seen, 0, 4 * sizeof(*seen));
    for (int i = 0; i < 60; i++) {
        assert_ok(pool_next_device(world->pool, &device));
        seen[pool_device_index(device)]++;
        assert_ok(pool_best_device(world->pool, &device));
        seen[pool_device_index(device)]++;
        assert_ok(pool_pick_device(world->pool, &by_load, &device));
        seen[pool_device_index(device)]++;
    }
}

static void test_drain_and_resume(void **state)
{
    struct world world = world_with_pool(4);
    pool_device *device = device_of(&world, 1), *chosen = NULL;
    struct notes notes = {0};
    pool_health_info health;
    int seen[4];

    (void)state;
    device_pool_listen_states(world.pool, note_state, &notes);
    assert_int_equal(pool_device_wait_drained(device, 0), POOL_ERR_INVALID_ARGUMENT);
    assert_says("pool_device_drain comes first");
    assert_ok(pool_device_resume(device)); /* it is ready: no-op */
    assert_int_equal(notes.calls, 0);

    assert_ok(pool_device_drain(device));
    assert_ok(pool_device_drain(device)); /* again: no-op */
    assert_int_equal(notes.calls, 1);
    assert_ptr_equal(notes.device, device);
    assert_int_equal(notes.state, POOL_DEVICE_DRAINING);
    assert_state(device, POOL_DEVICE_DRAINING, NULL);
    health = health_of(&world);
    assert_int_equal(health.usable_devices, 3);
    assert_int_equal(health.draining_devices, 1);
    assert_int_equal(health.harmed, POOL_CLASS_NONE); /* on purpose */
    choose_often(&world, seen);
    assert_int_equal(seen[1], 0);
    assert_int_equal(seen[0] + seen[2] + seen[3], 180);
    assert_int_equal(pool_usable_count(world.pool), 3);
    /* Named, it can still be used. */
    assert_ok(pool_bind(device));
    assert_ok(pool_unbind(device));
    assert_ok(pool_device_wait_drained(device, 0));

    for (size_t i = 0; i < 4; i++)
        assert_ok(pool_device_drain(device_of(&world, i)));
    assert_int_equal(pool_next_device(world.pool, &chosen), POOL_ERR_NO_DEVICE);
    assert_says("drained");
    assert_int_equal(pool_best_device(world.pool, &chosen), POOL_ERR_NO_DEVICE);
    for (size_t i = 0; i < 4; i++)
        assert_ok(pool_device_resume(device_of(&world, i)));
    assert_int_equal(notes.calls, 8);
    assert_int_equal(notes.state, POOL_DEVICE_READY);
    assert_state(device, POOL_DEVICE_READY, "");
    choose_often(&world, seen);
    assert_int_equal(seen[0] + seen[1] + seen[2] + seen[3], 180);
    for (int i = 0; i < 4; i++)
        assert_true(seen[i] >= 15);
    world_end(&world);
}

/* What keeps a device from being drained is named. */
static void test_wait_drained(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *device = device_of(&world, 0);
    struct device_scope scope;
    uint64_t start;

    (void)state;
    assert_ok(pool_device_drain(device));
    device_reserved_changed(device, 0, 1);
    start = base_clock_ns();
    assert_int_equal(pool_device_wait_drained(device, 20 * MS), POOL_ERR_TIMEOUT);
    assert_true(base_clock_ns() - start >= 20 * MS);
    assert_says("1 leases, 0 calls");
    device_reserved_changed(device, 0, -1);
    assert_ok(device_enter(device, &scope));
    assert_int_equal(pool_device_wait_drained(device, 0), POOL_ERR_TIMEOUT);
    assert_says("0 leases, 1 calls");
    assert_ok(device_leave(&scope, POOL_OK));
    assert_ok(pool_device_wait_drained(device, UINT64_MAX));
    world_end(&world);
}

static void *end_lease(void *argument)
{
    usleep(20000);
    device_reserved_changed(argument, 0, -1);
    return NULL;
}

static void test_wait_drained_by_another_thread(void **state)
{
    struct world world = world_with_pool(1);
    pool_device *device = device_of(&world, 0);
    pthread_t thread;

    (void)state;
    device_reserved_changed(device, 0, 1);
    assert_ok(pool_device_drain(device));
    assert_int_equal(pthread_create(&thread, NULL, end_lease, device), 0);
    assert_ok(pool_device_wait_drained(device, 60 * SECOND));
    pthread_join(thread, NULL);
    world_end(&world);
}

static void test_quarantine(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *device = device_of(&world, 0), *chosen = NULL;
    char long_reason[600];
    pool_health_info health;
    unsigned quarantines;

    (void)state;
    assert_int_equal(pool_device_quarantine(device, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_device_quarantine(device, ""), POOL_ERR_INVALID_ARGUMENT);
    assert_says("reason");
    assert_ok(pool_device_quarantine(device, "two wrong proofs"));
    assert_state(device, POOL_DEVICE_QUARANTINED, "two wrong proofs");
    health = health_of(&world);
    assert_int_equal(health.usable_devices, 1);
    assert_int_equal(health.quarantined_devices, 1);
    assert_int_equal(health.harmed, POOL_CLASS_DEVICE);
    for (int i = 0; i < 10; i++) {
        assert_ok(pool_next_device(world.pool, &chosen));
        assert_ptr_not_equal(chosen, device);
    }
    assert_ok(pool_device_drain(device)); /* no-op */
    assert_state(device, POOL_DEVICE_QUARANTINED, "two wrong proofs");
    assert_ok(pool_device_wait_drained(device, 0));
    assert_int_equal(pool_device_resume(device), POOL_ERR_BUSY);
    assert_says("pool_device_probe");
    assert_says("two wrong proofs");

    /* A probe that began before the last quarantine does not count. */
    quarantines = device_quarantines(device);
    memset(long_reason, 'x', sizeof(long_reason) - 1);
    long_reason[sizeof(long_reason) - 1] = '\0';
    assert_ok(pool_device_quarantine(device, long_reason));
    assert_state(device, POOL_DEVICE_QUARANTINED, NULL); /* shortened */
    device_set_probed(device, quarantines);
    assert_int_equal(pool_device_resume(device), POOL_ERR_BUSY);
    device_set_probed(device, device_quarantines(device));
    assert_ok(pool_device_resume(device));
    assert_state(device, POOL_DEVICE_READY, "");
    assert_int_equal(health_of(&world).harmed, POOL_CLASS_NONE);
    world_end(&world);
}

/* A device that is lost stays lost, whatever its state was. */
static void test_lost_device(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *device = device_of(&world, 0);
    struct notes notes = {0};

    (void)state;
    device_pool_listen_states(world.pool, note_state, &notes);
    assert_ok(pool_device_drain(device));
    base_fail(POOL_ERR_DEVICE_UNUSABLE, "it fell off the bus");
    assert_int_equal(device_mark_unusable(device), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(notes.calls, 2);
    assert_int_equal(notes.state, POOL_DEVICE_UNUSABLE);
    assert_state(device, POOL_DEVICE_UNUSABLE, "it fell off the bus");
    assert_int_equal(pool_device_drain(device), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(pool_device_resume(device), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(pool_device_quarantine(device, "why"), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(pool_device_wait_drained(device, 0), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("it fell off the bus");
    assert_int_equal(health_of(&world).harmed, POOL_CLASS_DEVICE);
    world_end(&world);
}

static int fail_allocation(void *user)
{
    (void)user;
    return 1;
}

/* A change that finds no memory changes nothing; losing a device needs none. */
static void test_no_memory(void **state)
{
    struct world world = world_with_pool(3);
    struct notes notes = {0};

    (void)state;
    device_pool_listen_states(world.pool, note_state, &notes);
    base_alloc_set_hook(fail_allocation, NULL);
    assert_int_equal(pool_device_drain(device_of(&world, 1)), POOL_ERR_OUT_OF_HOST_MEMORY);
    assert_int_equal(
        pool_device_quarantine(device_of(&world, 1), "why"), POOL_ERR_OUT_OF_HOST_MEMORY);
    base_alloc_set_hook(NULL, NULL);
    assert_int_equal(notes.calls, 0);
    assert_state(device_of(&world, 1), POOL_DEVICE_READY, "");
    assert_int_equal(atomic_load(&world.pool->usable)->count, 3);
    assert_ok(pool_device_drain(device_of(&world, 1)));
    assert_ok(pool_device_resume(device_of(&world, 1)));
    base_alloc_set_hook(fail_allocation, NULL);
    /* This set was published before. */
    assert_ok(pool_device_drain(device_of(&world, 1)));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(device_mark_unusable(device_of(&world, i)), POOL_ERR_DEVICE_UNUSABLE);
    base_alloc_set_hook(NULL, NULL);
    assert_int_equal(atomic_load(&world.pool->usable)->count, 0);
    world_end(&world);
}

/* Every set of devices is published at most once, however often devices come and go. */
static void test_sets_are_reused(void **state)
{
    struct world world = world_with_pool(4);
    unsigned random = 1, sets = 0;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        pool_device *device;
        uint32_t ready = 0;

        random = random * 1664525 + 1013904223;
        device = device_of(&world, random >> 8 & 3);
        assert_ok(random >> 16 & 1 ? pool_device_drain(device) : pool_device_resume(device));
        for (size_t k = 0; k < 4; k++)
            ready += device_state(device_of(&world, k)) == POOL_DEVICE_READY;
        assert_int_equal(atomic_load(&world.pool->usable)->count, ready);
        assert_int_equal(atomic_load(&world.pool->whole_count), ready == 4 ? 4 : 0);
    }
    for (const struct device_set *at = world.pool->sets; at; at = at->next)
        sets++;
    assert_true(sets <= 15);
    world_end(&world);
}

/* The listener hears of every device when the process is poisoned; nothing changes afterwards. */
static void test_poisoned(void **state)
{
    struct world world = world_with_pool(2);
    struct notes notes = {0};

    (void)state;
    device_pool_listen_states(world.pool, note_state, &notes);
    assert_ok(pool_device_drain(device_of(&world, 0)));
    pool_mock_poison(world.mock, POOL_CU_ILLEGAL_ADDRESS);
    driver_check(world.pool->driver, POOL_CU_ILLEGAL_ADDRESS, "cuCtxSynchronize");
    assert_int_equal(notes.calls, 3);
    assert_int_equal(notes.state, POOL_DEVICE_POISONED);
    assert_int_equal(pool_device_resume(device_of(&world, 0)), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_device_drain(device_of(&world, 1)), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_device_quarantine(device_of(&world, 1), "x"), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(pool_device_abandon(device_of(&world, 1), "x"), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(
        pool_device_wait_drained(device_of(&world, 0), SECOND), POOL_ERR_PROCESS_POISONED);
    assert_int_equal(health_of(&world).usable_devices, 0);
    assert_ok(pool_destroy(&world.pool));
    pool_mock_destroy(&world.mock);
}

/* Threads choose while others drain and resume: every choice returns a device of the pool. */
struct churn {
    struct world *world;
    atomic_int stop;
};

static void *choose(void *argument)
{
    struct churn *churn = argument;
    pool_device *device = NULL;

    while (!atomic_load(&churn->stop)) {
        pool_status status = pool_next_device(churn->world->pool, &device);

        if (!status && (pool_device_index(device) < 0 || pool_device_index(device) > 3))
            return churn;
        status = pool_best_device(churn->world->pool, &device);
        if (status && status != POOL_ERR_NO_DEVICE)
            return churn;
    }
    return NULL;
}

static void *change(void *argument)
{
    struct churn *churn = argument;

    for (int i = 0; i < 2000; i++) {
        pool_device *device = NULL;
        pool_device_info info = {.struct_size = sizeof(info)};

        if (pool_device_at(churn->world->pool, (size_t)(i * 7 % 4), &device) ||
            (i & 1 ? pool_device_drain(device) : pool_device_resume(device)) ||
            (i % 50 == 0 && pool_device_get_info(device, &info)))
            return churn;
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct world world = world_with_pool(4);
    struct churn churn = {.world = &world};
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < 2 ? choose : change, &churn), 0);
    for (int i = 3; i >= 0; i--) {
        void *failed;

        if (i == 1)
            atomic_store(&churn.stop, 1);
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    for (size_t i = 0; i < 4; i++)
        assert_ok(pool_device_resume(device_of(&world, i)));
    world_end(&world);
}

static void test_refused_arguments(void **state)
{
    (void)state;
    assert_int_equal(pool_device_drain(NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_device_resume(NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_device_wait_drained(NULL, 0), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_device_quarantine(NULL, "x"), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_device_abandon(NULL, "x"), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_device_readmit(NULL), POOL_ERR_INVALID_ARGUMENT);
}

/* Last: the pool is leaked on purpose, and with it its mock driver. */
static void test_abandon(void **state)
{
    static struct world world;
    pool_device *device, *other, *chosen = NULL;
    pool_health_info health;
    CUcontext context;

    (void)state;
    world = world_with_pool(2);
    device = device_of(&world, 0);
    other = device_of(&world, 1);
    assert_int_equal(pool_device_abandon(device, ""), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_bind(device));
    assert_ok(pool_device_readmit(device)); /* no-op */
    assert_ok(pool_device_abandon(device, "a kernel does not end"));
    assert_status(pool_device_readmit(device), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("a kernel does not end");
    assert_ok(pool_device_abandon(device, "again")); /* no-op */
    assert_state(device, POOL_DEVICE_ABANDONED, "a kernel does not end");
    health = health_of(&world);
    assert_int_equal(health.abandoned_devices, 1);
    assert_int_equal(health.usable_devices, 1);
    assert_int_equal(health.harmed, POOL_CLASS_DEVICE);
    assert_int_equal(health.bindings, 0);
    assert_int_equal(pool_bind(device), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("has been abandoned: a kernel does not end");
    assert_int_equal(pool_device_context(device, &context), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(pool_device_resume(device), POOL_ERR_DEVICE_UNUSABLE);
    assert_ok(pool_next_device(world.pool, &chosen));
    assert_ptr_equal(chosen, other);
    assert_ok(pool_bind(other));
    assert_ok(pool_unbind(other));
    /* The binding of the abandoned device does not keep the pool, and can be undone after it. */
    assert_ok(pool_destroy(&world.pool));
    assert_null(world.pool);
    assert_ok(pool_unbind(device));
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRelease"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain_and_resume),
        cmocka_unit_test(test_wait_drained),
        cmocka_unit_test(test_wait_drained_by_another_thread),
        cmocka_unit_test(test_quarantine),
        cmocka_unit_test(test_lost_device),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_sets_are_reused),
        cmocka_unit_test(test_poisoned),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused_arguments),
        cmocka_unit_test(test_abandon),
    };

    return cmocka_run_group_tests_name("pool states", tests, NULL, NULL);
}
