/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool/: choice of a device: round robin with its wrapping counter, most free memory, the other
 * policies.
 */
#include "support/assert.h"
#include "support/mock_pool.h"

#include <math.h>

#include "base/status.h"

static void lose(struct world *world, size_t index)
{
    base_fail(POOL_ERR_DRIVER, "lost for a test");
    assert_int_equal(device_mark_unusable(device_of(world, index)), POOL_ERR_DEVICE_UNUSABLE);
}

/* `laps` laps: each usable device comes `laps` times, always in the same order. */
static void check_laps(struct world *world, size_t usable, int laps)
{
    pool_device *order[16], *device = NULL;

    for (size_t i = 0; i < usable; i++) {
        assert_ok(pool_next_device(world->pool, &order[i]));
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(order[i], order[j]);
    }
    for (size_t i = 0; i < usable * (size_t)laps; i++) {
        assert_ok(pool_next_device(world->pool, &device));
        assert_ptr_equal(device, order[i % usable]);
    }
}

static void test_round_robin(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 16; count++) {
        struct world world = world_of(count);

        world.params.lazy = 1;
        assert_ok(pool_create(&world.pool, &world.params));
        check_laps(&world, count, 7);
        /* Losing devices leaves a fair order of the others. */
        for (uint32_t lost = 0; lost + 1 < count; lost++) {
            lose(&world, (lost * 5) % count == 0 || count % 5 == 0 ? lost : (lost * 5) % count);
            check_laps(&world, pool_usable_count(world.pool), 5);
        }
        world_end(&world);
    }
}

/* The order continues where the counter wraps and where a 64-bit counter overflows. */
static void test_counter_end(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 16; count++) {
        struct world world = world_of(count);
        const struct device_set *set;
        pool_device *device = NULL;

        world.params.lazy = 1;
        assert_ok(pool_create(&world.pool, &world.params));
        set = atomic_load(&world.pool->usable);
        assert_int_equal(set->limit % count, 0);
        for (uint64_t before = 0; before < 2 * count; before++) {
            atomic_store(&world.pool->counter, set->limit - before);
            check_laps(&world, count, 4);
            /* Powers of two need no wrapping: their order continues over the end of 64 bits. */
            if (!atomic_load(&world.pool->whole_count))
                assert_true(atomic_load(&world.pool->counter) < 6 * count);
            atomic_store(&world.pool->counter, UINT64_MAX - 1 - before);
            check_laps(&world, count, 4);
        }
        /* The multiplication is the remainder everywhere below the limit. */
        for (uint64_t step = 1, turn = 0; turn < set->limit && step; turn += step, step *= 3) {
            atomic_store(&world.pool->counter, turn);
            assert_ok(pool_next_device(world.pool, &device));
            assert_int_equal(pool_device_index(device), turn % count);
            if (set->limit - turn <= step)
                break;
        }
        for (uint64_t back = 1; back <= 3 * count; back++) {
            atomic_store(&world.pool->counter, set->limit - back);
            assert_ok(pool_next_device(world.pool, &device));
            assert_int_equal(pool_device_index(device), (set->limit - back) % count);
        }
        world_end(&world);
    }
}

static void test_none_left(void **state)
{
    struct world world = world_with_pool(2);
    pool_device *device = NULL;

    (void)state;
    lose(&world, 0);
    lose(&world, 1);
    lose(&world, 1);
    assert_int_equal(pool_next_device(world.pool, &device), POOL_ERR_NO_DEVICE);
    assert_says("device 1");
    assert_int_equal(pool_best_device(world.pool, &device), POOL_ERR_NO_DEVICE);
    assert_int_equal(pool_pick_device(world.pool, NULL, &device), POOL_ERR_NO_DEVICE);
    assert_null(device);
    world_end(&world);
}

/* Waits until the sample of the pool counts as old. */
static void let_sample_age(struct world *world)
{
    atomic_store(&world->pool->sampled_at, 1);
}

/* As if no sample had been taken for a while. */
static void forget_choices(struct world *world)
{
    for (size_t i = 0; i < pool_device_count(world->pool); i++) {
        atomic_store(&device_of(world, i)->chosen, 0);
        atomic_store(&device_of(world, i)->chosen_before, 0);
    }
}

static void test_best(void **state)
{
    struct world world = world_with_pool(4);
    pool_device *device = NULL;
    uint64_t calls;
    int seen[4] = {0};

    (void)state;
    pool_mock_set_free_memory(world.mock, 0, 10 * GIB);
    pool_mock_set_free_memory(world.mock, 1, 30 * GIB);
    pool_mock_set_free_memory(world.mock, 2, 20 * GIB);
    pool_mock_set_free_memory(world.mock, 3, 5 * GIB);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 1);
    calls = pool_mock_calls(world.mock, NULL);
    pool_mock_set_free_memory(world.mock, 3, 50 * GIB);
    for (int i = 0; i < 20; i++) {
        assert_ok(pool_best_device(world.pool, &device));
        seen[pool_device_index(device)]++;
    }
    /* Twenty calls take no 10 ms, unless the machine stood still: then the sample was renewed. In
     * between the choices use the free memory that earlier choices leave. */
    if (pool_mock_calls(world.mock, NULL) == calls) {
        assert_between(seen[0], 3, 4);
        assert_between(seen[1], 8, 9);
        assert_between(seen[2], 6, 7);
        assert_between(seen[3], 1, 2);
    }
    let_sample_age(&world);
    forget_choices(&world);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 3);
    assert_int_equal(pool_mock_depth(world.mock), 0);

    /* Less what leases have reserved, and with what the library's memory pool holds unused. */
    device_reserved_changed(device_of(&world, 3), (int64_t)(25 * GIB), 1);
    forget_choices(&world);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 1);
    device_account_sample(&device_of(&world, 2)->account, 20 * GIB, 11 * GIB);
    forget_choices(&world);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 2);
    device_reserved_changed(device_of(&world, 3), -(int64_t)(25 * GIB), -1);
    forget_choices(&world);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 3);
    device_reserved_changed(device_of(&world, 3), INT64_MAX, 1);
    assert_int_equal(device_net_free(device_of(&world, 3)), 0);
    device_reserved_changed(device_of(&world, 3), -INT64_MAX, -1);
    world_end(&world);
}

/* Many threads that choose at the same time, with a new sample or not: the choice is by the memory
 * that each would have alone. */
static void test_best_shares_by_size(void **state)
{
    struct world world = world_with_pool(3);
    pool_device *device = NULL;
    unsigned chosen;
    int seen[3] = {0};

    (void)state;
    pool_mock_set_free_memory(world.mock, 0, 60 * GIB);
    pool_mock_set_free_memory(world.mock, 1, 30 * GIB);
    pool_mock_set_free_memory(world.mock, 2, 30 * GIB);
    for (int i = 0; i < 8; i++) {
        assert_ok(pool_best_device(world.pool, &device));
        seen[pool_device_index(device)]++;
        /* As if a context had been made: the sample is renewed, the choices count on; and then
         * never again. */
        if (i < 2)
            atomic_store(&world.pool->sampled_at, i ? UINT64_MAX / 2 : 1);
    }
    assert_int_equal(seen[0], 4);
    assert_int_equal(seen[1], 2);
    assert_int_equal(seen[2], 2);
    assert_int_equal(device_share(device_of(&world, 0), &chosen), 12 * GIB);
    assert_int_equal(atomic_load(&device_of(&world, 0)->chosen_before), 1);
    world_end(&world);
}

static void test_best_shares_ties(void **state)
{
    struct world world = world_with_pool(4);
    pool_device *device = NULL;
    int seen[4] = {0};

    (void)state;
    lose(&world, 2);
    for (int i = 0; i < 30; i++) {
        assert_ok(pool_best_device(world.pool, &device));
        seen[pool_device_index(device)]++;
    }
    assert_int_equal(seen[0], 10);
    assert_int_equal(seen[1], 10);
    assert_int_equal(seen[2], 0);
    assert_int_equal(seen[3], 10);
    world_end(&world);
}

/* A device whose query fails keeps its last value; the others are sampled all the same. */
static void test_best_with_failing_sample(void **state)
{
    struct world world = world_with_pool(3);
    pool_device *device = NULL;

    (void)state;
    pool_mock_set_free_memory(world.mock, 0, 9 * GIB);
    pool_mock_set_free_memory(world.mock, 1, 8 * GIB);
    pool_mock_set_free_memory(world.mock, 2, 7 * GIB);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 0);
    pool_mock_set_free_memory(world.mock, 0, 1 * GIB);
    pool_mock_set_free_memory(world.mock, 2, 10 * GIB);
    pool_mock_fail_on(world.mock, 0, "cuMemGetInfo", 1, POOL_CU_NOT_PERMITTED, POOL_MOCK_ONCE);
    let_sample_age(&world);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 2);
    /* One that the driver calls lost leaves the choice. */
    pool_mock_fail_on(world.mock, 2, "cuMemGetInfo", 1, POOL_CU_DEVICE_UNAVAILABLE, POOL_MOCK_ONCE);
    let_sample_age(&world);
    assert_ok(pool_best_device(world.pool, &device));
    assert_int_equal(pool_device_index(device), 1);
    assert_int_equal(pool_usable_count(world.pool), 2);
    world_end(&world);
}

static int odd_only(void *user, const pool_candidate *candidate)
{
    (*(int *)user)++;
    return pool_device_index(candidate->device) % 2;
}

static double by_index(void *user, const pool_candidate *candidate)
{
    (void)user;
    return -(double)pool_device_index(candidate->device);
}

static double nan_for_zero(void *user, const pool_candidate *candidate)
{
    (void)user;
    return pool_device_index(candidate->device) ? 1.0 : (double)NAN;
}

static void test_pick(void **state)
{
    struct world world = world_with_pool(5);
    pool_pick pick = {.struct_size = sizeof(pick)};
    pool_device *device = NULL;
    int calls = 0, seen[5] = {0};

    (void)state;
    for (int i = 0; i < 5; i++)
        pool_mock_set_free_memory(world.mock, i, (uint64_t)(10 + i) * GIB);
    pick.filter = odd_only;
    pick.user = &calls;
    for (int i = 0; i < 10; i++) {
        assert_ok(pool_pick_device(world.pool, &pick, &device));
        seen[pool_device_index(device)]++;
    }
    assert_int_equal(calls, 50);
    assert_int_equal(seen[1], 5);
    assert_int_equal(seen[3], 5);

    pick.policy = POOL_POLICY_MOST_FREE;
    assert_ok(pool_pick_device(world.pool, &pick, &device));
    assert_int_equal(pool_device_index(device), 3);
    pick.filter = NULL;
    assert_ok(pool_pick_device(world.pool, &pick, &device));
    assert_int_equal(pool_device_index(device), 4);

    pick.policy = POOL_POLICY_LEAST_LOADED;
    /* Leases are load, bindings are not. */
    for (size_t i = 0; i < 5; i++) {
        if (i != 2)
            device_reserved_changed(device_of(&world, i), 0, 1);
        else
            assert_ok(pool_bind(device_of(&world, i)));
    }
    assert_ok(pool_pick_device(world.pool, &pick, &device));
    assert_int_equal(pool_device_index(device), 2);
    device_reserved_changed(device_of(&world, 2), 0, 1);
    forget_choices(&world);
    assert_ok(pool_pick_device(world.pool, &pick, &device));
    assert_int_equal(pool_device_index(device), 4);
    assert_ok(pool_unbind(device_of(&world, 2)));
    for (size_t i = 0; i < 5; i++)
        device_reserved_changed(device_of(&world, i), 0, -1);

    pick.policy = POOL_POLICY_SCORE;
    pick.score = by_index;
    assert_ok(pool_pick_device(world.pool, &pick, &device));
    assert_int_equal(pool_device_index(device), 0);
    pick.min_free_bytes = 12 * GIB;
    assert_ok(pool_pick_device(world.pool, &pick, &device));
    assert_int_equal(pool_device_index(device), 2);
    pick.min_free_bytes = 0;
    pick.score = nan_for_zero;
    memset(seen, 0, sizeof(seen));
    for (int i = 0; i < 8; i++) {
        assert_ok(pool_pick_device(world.pool, &pick, &device));
        seen[pool_device_index(device)]++;
    }
    assert_int_equal(seen[0], 0);
    for (int i = 1; i < 5; i++)
        assert_int_equal(seen[i], 2);
    world_end(&world);
}

static void test_pick_refuses(void **state)
{
    struct world world = world_with_pool(2);
    pool_pick pick = {.struct_size = 0};
    pool_device *device = NULL;

    (void)state;
    assert_int_equal(pool_pick_device(world.pool, &pick, &device), POOL_ERR_INVALID_ARGUMENT);
    pick.struct_size = sizeof(pick);
    pick.policy = (pool_policy)17;
    assert_int_equal(pool_pick_device(world.pool, &pick, &device), POOL_ERR_INVALID_ARGUMENT);
    pick.policy = POOL_POLICY_SCORE;
    assert_int_equal(pool_pick_device(world.pool, &pick, &device), POOL_ERR_INVALID_ARGUMENT);
    pick.policy = POOL_POLICY_MOST_FREE;
    pick.min_free_bytes = UINT64_MAX;
    assert_int_equal(pool_pick_device(world.pool, &pick, &device), POOL_ERR_NOT_FOUND);
    assert_null(device);
    world_end(&world);
}

static void test_pick_from_many(void **state)
{
    struct world world = world_of(64);
    pool_pick pick = {.struct_size = sizeof(pick), .policy = POOL_POLICY_SCORE, .score = by_index};
    pool_device *device = NULL;

    (void)state;
    world.params.lazy = 1;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(pool_pick_device(world.pool, &pick, &device));
    assert_int_equal(pool_device_index(device), 0);
    check_laps(&world, 16, 0);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_counter_end),
        cmocka_unit_test(test_none_left),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_best_shares_by_size),
        cmocka_unit_test(test_best_shares_ties),
        cmocka_unit_test(test_best_with_failing_sample),
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_pick_refuses),
        cmocka_unit_test(test_pick_from_many),
    };

    unsetenv("DEVICEPOOL_DEVICES");
    return cmocka_run_group_tests_name("pool choose", tests, NULL, NULL);
}
