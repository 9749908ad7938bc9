/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor thread of a pool: when its tasks run, how they are removed, and how the thread ends,
 * also when a task does not return.
 */
#include "support/mock_pool.h"

#include <dirent.h>
#include <semaphore.h>
#include <time.h>

#include "base/clock.h"
#include "pool/device/monitor.h"
#include "support/child.h"

#define MS ((uint64_t)1000000)
#define SECOND (1000 * MS)

struct record {
    struct monitor_task task;
    struct monitor *monitor;
    atomic_int runs;
    atomic_uint_least64_t last_ns; /* of the last run */
    uint64_t again_ns;             /* after each run; 0: never */
    sem_t has_run, may_return;
    bool blocks;
};

static uint64_t run(void *user, uint64_t now_ns)
{
    struct record *record = user;

    atomic_fetch_add(&record->runs, 1);
    atomic_store(&record->last_ns, now_ns);
    sem_post(&record->has_run);
    if (record->blocks)
        while (sem_wait(&record->may_return))
            ;
    return record->again_ns ? now_ns + record->again_ns : MONITOR_NEVER;
}

static void init(struct record *record, device_pool *pool)
{
    *record = (struct record){0};
    record->task.run = run;
    record->task.user = record;
    record->monitor = device_pool_monitor(pool);
    sem_init(&record->has_run, 0, 0);
    sem_init(&record->may_return, 0, 0);
}

static void wait_for_run(struct record *record)
{
    while (sem_wait(&record->has_run))
        ;
}

/* Threads of the process that have the monitor's name. */
static int monitor_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    char path[300], name[32];
    int count = 0;

    assert_non_null(tasks);
    for (const struct dirent *at; (at = readdir(tasks));) {
        FILE *file;

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", at->d_name);
        file = fopen(path, "re");
        if (!file)
            continue;
        count += fgets(name, sizeof(name), file) && !strcmp(name, "pool-monitor\n");
        fclose(file);
    }
    closedir(tasks);
    return count;
}

static void test_runs_when_due(void **state)
{
    struct world world = world_with_pool(1);
    struct record early, late, never;
    uint64_t start = base_clock_ns();

    (void)state;
    init(&early, world.pool);
    init(&late, world.pool);
    init(&never, world.pool);
    assert_int_equal(monitor_threads(), 0);
    assert_ok(monitor_schedule(never.monitor, &never.task, MONITOR_NEVER));
    assert_int_equal(monitor_threads(), 0); /* nothing is due */
    assert_ok(monitor_schedule(late.monitor, &late.task, start + 3600 * SECOND));
    assert_ok(monitor_schedule(early.monitor, &early.task, start + 20 * MS));
    wait_for_run(&early);
    assert_true(atomic_load(&early.last_ns) >= start + 20 * MS);
    assert_int_equal(atomic_load(&late.runs), 0);
    /* A later time does not replace an earlier one; an earlier one wakes the thread. */
    start = base_clock_ns();
    assert_ok(monitor_schedule(late.monitor, &late.task, start + 10 * MS));
    assert_ok(monitor_schedule(late.monitor, &late.task, start + 7200 * SECOND));
    wait_for_run(&late);
    /* A periodic task. */
    early.again_ns = 1 * MS;
    assert_ok(monitor_schedule(early.monitor, &early.task, 0));
    for (int i = 0; i < 5; i++)
        wait_for_run(&early);
    assert_true(monitor_remove(early.monitor, &early.task, 60 * SECOND));
    assert_true(monitor_remove(late.monitor, &late.task, 60 * SECOND));
    assert_true(monitor_remove(late.monitor, &late.task, 0)); /* again: no effect */
    start = (uint64_t)atomic_load(&early.runs);
    usleep(5000);
    assert_int_equal(atomic_load(&early.runs), start);
    assert_int_equal(atomic_load(&never.runs), 0);
    assert_int_equal(monitor_threads(), 1);
    world_end(&world);
    while (monitor_threads()) /* a joined thread is listed in /proc for a while */
        usleep(1000);
}

/* Schedules itself, removes another task, and finds itself on the monitor's thread. */
struct chain {
    struct record record;
    struct monitor_task *victim;
    device_pool **pool;
    pool_status destroyed;
    bool is_current, is_removed;
};

static uint64_t run_chain(void *user, uint64_t now_ns)
{
    struct chain *chain = user;

    chain->is_current = monitor_is_current(chain->record.monitor);
    chain->destroyed = pool_destroy(chain->pool);
    if (atomic_fetch_add(&chain->record.runs, 1) < 3) {
        if (monitor_schedule(chain->record.monitor, &chain->record.task, now_ns + MS))
            return MONITOR_NEVER;
        return now_ns + 3600 * SECOND; /* the earlier of both */
    }
    chain->is_removed = monitor_remove(chain->record.monitor, chain->victim, 0) &&
                        monitor_remove(chain->record.monitor, &chain->record.task, 0);
    sem_post(&chain->record.has_run);
    return MONITOR_NEVER;
}

static void test_task_acts_on_tasks(void **state)
{
    struct world world = world_with_pool(1);
    struct chain chain = {0};
    struct record victim;

    (void)state;
    init(&victim, world.pool);
    init(&chain.record, world.pool);
    chain.record.task.run = run_chain;
    chain.record.task.user = &chain;
    chain.victim = &victim.task;
    chain.pool = &world.pool;
    assert_false(monitor_is_current(victim.monitor));
    assert_ok(monitor_schedule(victim.monitor, &victim.task, base_clock_ns() + 3600 * SECOND));
    assert_ok(monitor_schedule(victim.monitor, &chain.record.task, 0));
    wait_for_run(&chain.record);
    world_end(&world); /* the thread has ended: its writes are visible */
    assert_true(chain.is_current);
    assert_true(chain.is_removed);
    assert_int_equal(chain.destroyed, POOL_ERR_BUSY);
    assert_int_equal(atomic_load(&chain.record.runs), 4);
    assert_int_equal(atomic_load(&victim.runs), 0);
}

enum { SCHEDULERS = 8, ROUNDS = 300 };

static void *schedule_often(void *argument)
{
    struct record *record = argument;

    for (int i = 0; i < ROUNDS; i++) {
        if (monitor_schedule(record->monitor, &record->task, base_clock_ns() + 10000))
            return record;
        if (i % 7 == 0)
            sem_wait(&record->has_run);
        if (i % 13 == 0 && !monitor_remove(record->monitor, &record->task, 60 * SECOND))
            return record;
    }
    return NULL;
}

static void test_many_schedulers(void **state)
{
    struct world world = world_with_pool(1);
    struct record records[SCHEDULERS];
    pthread_t threads[SCHEDULERS];

    (void)state;
    for (int i = 0; i < SCHEDULERS; i++) {
        init(&records[i], world.pool);
        assert_int_equal(pthread_create(&threads[i], NULL, schedule_often, &records[i]), 0);
    }
    for (int i = 0; i < SCHEDULERS; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        assert_null(failed);
        assert_true(atomic_load(&records[i].runs) > 0);
    }
    world_end(&world);
}

/* A task that does not return is not waited for, and nothing of it is freed. */
static void test_hung_task(void **state)
{
    static struct record hung;
    static struct world world;
    struct monitor *monitor;

    (void)state;
    world = world_with_pool(1);
    monitor = device_pool_monitor(world.pool);
    init(&hung, world.pool);
    hung.blocks = true;
    assert_ok(monitor_schedule(monitor, &hung.task, 0));
    wait_for_run(&hung);
    assert_false(monitor_remove(monitor, &hung.task, 10 * MS));
    assert_ok(pool_destroy(&world.pool));
    assert_null(world.pool);
    assert_int_equal(pool_mock_calls(world.mock, "cuDevicePrimaryCtxRelease"), 1);
    /* Returning late, it finds its monitor, which schedules nothing any more. */
    assert_ok(monitor_schedule(monitor, &hung.task, 0));
    sem_post(&hung.may_return);
    while (monitor_threads())
        usleep(1000);
    assert_int_equal(atomic_load(&hung.runs), 1);
}

static int in_child(void *argument)
{
    struct world *world = argument;
    struct record record;

    init(&record, world->pool);
    CHILD_CHECK(monitor_threads() == 0);
    CHILD_CHECK(monitor_schedule(record.monitor, &record.task, 0) == POOL_ERR_FORKED);
    CHILD_CHECK(monitor_remove(record.monitor, &record.task, SECOND));
    CHILD_CHECK(!monitor_is_current(record.monitor));
    CHILD_CHECK(pool_destroy(&world->pool) == POOL_OK);
    return 0;
}

/* The child has no monitor thread, and destroys the pool without waiting for it. */
static void test_fork(void **state)
{
    struct world world = world_with_pool(1);
    struct record record;

    (void)state;
    init(&record, world.pool);
    record.blocks = true;
    assert_ok(monitor_schedule(record.monitor, &record.task, 0));
    wait_for_run(&record);
    assert_int_equal(child_run(in_child, &world), 0);
    sem_post(&record.may_return);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_when_due), cmocka_unit_test(test_task_acts_on_tasks),
        cmocka_unit_test(test_many_schedulers), cmocka_unit_test(test_fork),
        cmocka_unit_test(test_hung_task), /* the last one: its mock driver stays open */
    };

    return cmocka_run_group_tests_name("monitor", tests, NULL, NULL);
}
