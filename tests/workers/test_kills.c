/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker processes are killed at random times while jobs run on all devices: no answer is wrong,
 * every failed job names its cause, the other devices continue, and nothing is left behind. A round
 * kills workers of all devices but one, six times at most; the next pool has all devices again.
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

enum { DEVICES = 4 };

static uint64_t seconds, seed;

struct jobs {
    pool_device *device;
    atomic_bool stops;
    atomic_uint done;   /* right results */
    unsigned lost;      /* failures that name a killed worker */
    unsigned unnamed;   /* other failures: there must be none */
    char message[1024]; /* of the last one of those */
};

static uint64_t random_below(uint64_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % bound;
}

static void count_failure(struct jobs *jobs, pool_status status)
{
    const pool_error *error = pool_last_error();

    if ((status == POOL_ERR_DEVICE_LOST || status == POOL_ERR_DEVICE_UNUSABLE) &&
        strstr(error->message, "signal 9")) {
        jobs->lost++;
        return;
    }
    jobs->unnamed++;
    snprintf(jobs->message, sizeof(jobs->message), "%s: %s", pool_status_name(status),
        status == POOL_ERR_INTERNAL ? "a result is wrong" : error->message);
}

static void *run_jobs(void *user)
{
    struct jobs *jobs = user;

    for (uint32_t i = 0; !atomic_load(&jobs->stops); i++) {
        pool_status status = run_job(jobs->device, i);

        if (!status)
            atomic_fetch_add(&jobs->done, 1);
        else
            count_failure(jobs, status);
        if (status)
            usleep(1000);
    }
    return NULL;
}

/* Kills the device's worker if it has one at this moment. */
static bool shoot(int ordinal)
{
    struct worker_status status;

    assert_true(worker_get_status(ordinal, &status));
    return status.state == WORKER_STATE_RUNNING && status.pid && kill(status.pid, SIGKILL) == 0;
}

/* Returns when further jobs of a device are done, which they are unless they hang. */
static void wait_for_progress(struct jobs *jobs)
{
    unsigned before = atomic_load(&jobs->done);

    for (int i = 0; i < 60000 && atomic_load(&jobs->done) < before + 2; i++)
        usleep(1000);
    if (atomic_load(&jobs->done) < before + 2)
        fail_msg("the jobs of a device that was not shot do not end");
}

static void run_round(void)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:4,mem=512M"};
    unsigned spared = (unsigned)random_below(DEVICES);
    bool is_shot[DEVICES] = {false};
    struct jobs jobs[DEVICES] = {{0}};
    pthread_t threads[DEVICES];
    device_pool *pool = NULL;

    assert_ok(pool_create(&pool, &params));
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_ok(pool_device_at(pool, i, &jobs[i].device));
        assert_int_equal(pthread_create(&threads[i], NULL, run_jobs, &jobs[i]), 0);
    }
    for (int shots = 0; shots < 6; shots++) {
        unsigned target = (unsigned)random_below(DEVICES);

        usleep((unsigned)random_below(60000));
        if (target != spared)
            is_shot[target] |= shoot((int)target);
    }
    wait_for_progress(&jobs[spared]);
    for (uint32_t i = 0; i < DEVICES; i++)
        atomic_store(&jobs[i].stops, true);
    for (uint32_t i = 0; i < DEVICES; i++) {
        pthread_join(threads[i], NULL);
        if (jobs[i].unnamed)
            fail_msg("device %u: %s", i, jobs[i].message);
        assert_true(is_shot[i] || !jobs[i].lost);
    }
    assert_ok(pool_destroy(&pool));
}

static void test_random_kills(void **state)
{
    time_t end = time(NULL) + (time_t)seconds;
    unsigned rounds = 0;
    struct left_behind before, after;

    (void)state;
    printf("seed %llu\n", (unsigned long long)seed);
    run_round(); /* what the library keeps for the process is created */
    before = look();
    do {
        run_round();
        rounds++;
    } while (time(NULL) < end);
    after = look();
    assert_memory_equal(&before, &after, sizeof(before));
    printf("%u rounds\n", rounds);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kills)};

    seconds = count > 1 ? strtoull(arguments[1], NULL, 10) : 60;
    seed = count > 2 ? strtoull(arguments[2], NULL, 10) : (uint64_t)time(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
