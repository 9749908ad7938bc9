/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker processes are killed at random times while jobs run on all devices: a job is right, or it
 * has failed because of a process of its device that was killed, which its message names. Jobs of a
 * device that was not killed never fail. All devices are in service afterwards, and no process,
 * descriptor, shared mapping or thread is left behind. A round kills workers of all devices but
 * one, six times at most; the next pool has all devices again.
 *
 *   test_kills SECONDS [SEED]
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job.h"
#include "left_behind.h"
#include "support/assert.h"
#include "worker/worker.h"

enum { DEVICES = 4, THREADS = 2 /* per device */, SHOTS = 6 };

static uint64_t seconds, seed;

/* A device with its jobs. */
struct target {
    pool_device *device;
    atomic_bool stops;
    atomic_uint started, done, lost; /* each job that has started is right or lost */
    atomic_uint shots;
    _Atomic(pid_t) shot[SHOTS]; /* the processes that were killed */
    unsigned generation;        /* of the last one */
    pthread_mutex_t lock;
    char unexpected[1200]; /* guarded by lock: a failure that there must not be; "": none */
};

static struct target targets[DEVICES];

static uint64_t random_below(uint64_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % bound;
}

static bool was_shot(struct target *target, long pid)
{
    for (unsigned i = 0; i < atomic_load(&target->shots); i++)
        if (atomic_load(&target->shot[i]) == pid)
            return true;
    return false;
}

/* Whether the message names a process of the device that was killed. */
static bool names_cause(struct target *target, const char *message)
{
    static const char before[] = "worker process ", after[] = " was ended by signal 9";

    for (const char *text = strstr(message, before); text; text = strstr(text, before)) {
        char *end;
        long pid;

        text += sizeof(before) - 1;
        pid = strtol(text, &end, 10);
        if (strncmp(end, after, sizeof(after) - 1) == 0)
            return was_shot(target, pid);
    }
    return false;
}

static void count_failure(struct target *target, pool_status status)
{
    const char *message =
        status == POOL_ERR_INTERNAL ? "a result is wrong" : pool_last_error()->message;

    if (status == POOL_ERR_DEVICE_LOST && names_cause(target, message)) {
        atomic_fetch_add(&target->lost, 1);
        return;
    }
    pthread_mutex_lock(&target->lock);
    snprintf(target->unexpected, sizeof(target->unexpected), "%s: %s", pool_status_name(status),
        message);
    pthread_mutex_unlock(&target->lock);
}

static void *run_jobs(void *user)
{
    struct target *target = user;

    while (!atomic_load(&target->stops)) {
        pool_status status = run_job(target->device, atomic_fetch_add(&target->started, 1));

        if (!status)
            atomic_fetch_add(&target->done, 1);
        else
            count_failure(target, status);
        if (status)
            usleep(1000);
    }
    return NULL;
}

/* Kills the device's worker if it has one at this moment. */
static void shoot(struct target *target)
{
    unsigned shots = atomic_load(&target->shots);
    struct worker_status status;

    assert_true(worker_get_status(pool_device_ordinal(target->device), &status));
    if (status.state != WORKER_STATE_RUNNING || !status.pid)
        return;
    if (shots && atomic_load(&target->shot[shots - 1]) == status.pid)
        return; /* not noticed yet */
    /* Before its jobs fail. */
    atomic_store(&target->shot[shots], status.pid);
    atomic_store(&target->shots, shots + 1);
    target->generation = status.generation;
    assert_int_equal(kill(status.pid, SIGKILL), 0);
}

/* Returns when further jobs of the device are right, in a process that was not killed. */
static void wait_for_service(struct target *target)
{
    struct worker_status status = {0};
    unsigned done;
    int tries = 0;

    do {
        usleep(1000);
        assert_true(worker_get_status(pool_device_ordinal(target->device), &status));
    } while (++tries < 600000 &&
             (status.state != WORKER_STATE_RUNNING || status.generation <= target->generation));
    done = atomic_load(&target->done);
    while (++tries < 600000 && atomic_load(&target->done) < done + 2 * THREADS)
        usleep(1000);
    if (tries >= 600000)
        fail_msg("device %d is not in service: %u of %u jobs done; %s",
            pool_device_ordinal(target->device), atomic_load(&target->done),
            atomic_load(&target->started), status.cause);
}

static void assert_every_job_has_ended_well(struct target *target)
{
    if (target->unexpected[0])
        fail_msg("device %d: %s", pool_device_ordinal(target->device), target->unexpected);
    assert_int_equal(
        atomic_load(&target->started), atomic_load(&target->done) + atomic_load(&target->lost));
    assert_true(atomic_load(&target->shots) || !atomic_load(&target->lost));
    for (unsigned i = 0; i < atomic_load(&target->shots); i++)
        assert_int_equal(kill(atomic_load(&target->shot[i]), 0), -1);
}

static void run_round(void)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:4,mem=512M"};
    unsigned spared = (unsigned)random_below(DEVICES);
    pthread_t threads[DEVICES * THREADS];
    pool_health_info health = {.struct_size = sizeof(health)};
    device_pool *pool = NULL;

    assert_ok(pool_create(&pool, &params));
    memset(targets, 0, sizeof(targets));
    for (uint32_t i = 0; i < DEVICES; i++) {
        pthread_mutex_init(&targets[i].lock, NULL);
        assert_ok(pool_device_at(pool, i, &targets[i].device));
    }
    for (unsigned i = 0; i < DEVICES * THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_jobs, &targets[i % DEVICES]), 0);
    for (int i = 0; i < SHOTS; i++) {
        unsigned target = (unsigned)random_below(DEVICES);

        usleep((unsigned)random_below(60000));
        if (target != spared)
            shoot(&targets[target]);
    }
    for (unsigned i = 0; i < DEVICES; i++)
        wait_for_service(&targets[i]);
    for (unsigned i = 0; i < DEVICES; i++)
        atomic_store(&targets[i].stops, true);
    for (unsigned i = 0; i < DEVICES * THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < DEVICES; i++)
        assert_every_job_has_ended_well(&targets[i]);
    assert_ok(pool_get_health(pool, &health));
    assert_int_equal(health.usable_devices, DEVICES);
    assert_int_equal(health.harmed, POOL_CLASS_NONE);
    assert_ok(pool_destroy(&pool));
    for (unsigned i = 0; i < DEVICES; i++)
        pthread_mutex_destroy(&targets[i].lock);
}

static void test_random_kills(void **state)
{
    time_t end = time(NULL) + (time_t)seconds;
    unsigned rounds = 0;
    struct left_behind before;

    (void)state;
    printf("seed %llu\n", (unsigned long long)seed);
    run_round(); /* what the library keeps for the process is created */
    before = look();
    do {
        run_round();
        assert_nothing_left(before);
        rounds++;
    } while (time(NULL) < end);
    printf("%u rounds\n", rounds);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kills)};

    seconds = count > 1 ? strtoull(arguments[1], NULL, 10) : 60;
    seed = count > 2 ? strtoull(arguments[2], NULL, 10) : (uint64_t)time(NULL);
    /* The same device may be killed several times within a second. */
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
