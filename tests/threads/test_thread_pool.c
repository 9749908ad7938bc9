/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread pool under callers that run different work at once: every index of every run is used
 * exactly once, nested runs end, and all threads end with the pool.
 */
#include "support/assert.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/thread_pool.h"

enum { CALLERS = 6, RUNS = 2000, LIMIT = 9 };

static struct base_thread_pool *pool;

struct share {
    unsigned calls; /* not atomic: the end of a run orders it before the caller's next access */
};

struct nest {
    struct share shares[LIMIT];
    unsigned count;
    unsigned depth;
};

static void use_share(void *context, unsigned index, unsigned count)
{
    struct nest *nest = context;

    nest->shares[index].calls++;
    if (index == 0)
        nest->count = count;
    if (nest->depth > 0) {
        struct nest inner = {.depth = nest->depth - 1};

        base_thread_pool_run(pool, 3, use_share, &inner);
        for (unsigned i = 0; i < LIMIT; i++)
            assert_int_equal(inner.shares[i].calls, i < inner.count ? 1 : 0);
    }
}

static pool_status count_task(void *user, size_t index)
{
    ((unsigned *)user)[index]++;
    return index == 7 ? POOL_ERR_NOT_FOUND : POOL_OK;
}

static void *call_often(void *argument)
{
    unsigned caller = (unsigned)(uintptr_t)argument;

    for (unsigned run = 0; run < RUNS; run++) {
        struct nest nest = {.depth = run % 16 == 0 ? 2 : 0};
        unsigned tasks[12] = {0};
        struct base_parallel job = {
            .count = 12, .task = count_task, .user = tasks, .tries_all = true};

        base_thread_pool_run(pool, 1 + (caller + run) % LIMIT, use_share, &nest);
        assert_between(nest.count, 1, 1 + (caller + run) % LIMIT);
        for (unsigned i = 0; i < LIMIT; i++)
            assert_int_equal(nest.shares[i].calls, i < nest.count ? 1 : 0);
        if (run % 8)
            continue;
        assert_int_equal(base_parallel_run(pool, &job), POOL_ERR_NOT_FOUND);
        for (unsigned i = 0; i < 12; i++)
            assert_int_equal(tasks[i], 1);
    }
    return NULL;
}

static void test_shared(void **state)
{
    pthread_t callers[CALLERS];

    (void)state;
    assert_true(base_thread_pool_create(LIMIT, &pool));
    for (uintptr_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, (void *)i), 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    base_thread_pool_destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
