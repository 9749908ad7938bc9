/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer access between devices of several pools: the pools are destroyed at the same time, and each
 * one ends what the others' devices had of its memory, and its own devices of theirs.
 */
#include <pthread.h>

#include "support/assert.h"

enum { POOLS = 3, DEVICES = 2, ROUNDS = 60 };

static device_pool *pools[POOLS];
static pthread_barrier_t start;

static pool_device *device_at(unsigned pool, uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pools[pool], index, &device));
    return device;
}

static void *destroy(void *user)
{
    device_pool **pool = user;

    pthread_barrier_wait(&start);
    return pool_destroy(pool) ? user : NULL;
}

/* Every device of every other pool. */
static void link_all(void)
{
    for (unsigned from = 0; from < POOLS; from++)
        for (unsigned to = 0; to < POOLS; to++)
            for (uint32_t i = 0; i < DEVICES; i++)
                if (from != to)
                    assert_ok(pool_device_enable_peer(device_at(from, i), device_at(to, 1 - i)));
}

static void test_destroyed_at_once(void **state)
{
    const pool_params params = {.struct_size = sizeof(params),
        .devices = "sim:2,mem=64M",
        .context_mode = POOL_CONTEXT_OWN};

    (void)state;
    pthread_barrier_init(&start, NULL, POOLS);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[POOLS];
        void *failed;

        for (unsigned i = 0; i < POOLS; i++)
            assert_ok(pool_create(&pools[i], &params));
        link_all();
        for (unsigned i = 0; i < POOLS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, destroy, &pools[i]), 0);
        for (unsigned i = 0; i < POOLS; i++) {
            pthread_join(threads[i], &failed);
            assert_null(failed);
        }
    }
    pthread_barrier_destroy(&start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_destroyed_at_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
