/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices are lost while jobs run on all of them: a job is right, or it has failed because of a
 * loss of its device, whose cause its message names. Jobs of a device that was not lost never fail.
 * All devices are in service afterwards, and no process, descriptor, shared mapping or thread is
 * left behind.
 *
 * At the same time a kernel faults on one of four devices and one hangs on another one; or, with
 * SECONDS, worker processes are killed at random times. Such a round kills workers of all devices
 * but one, six times at most; the next pool has all devices again.
 *
 *   test_kills [SECONDS [SEED]]
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
#include "driver/worker/worker.h"

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
    /* Of a device on which a kernel faults or hangs: what each failure must name. Constant while
     * there are jobs. */
    const char *cause, *kernel;
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

/* Whether the message names a process of the device that was killed, or its fault. */
static bool names_cause(struct target *target, const char *message)
{
    static const char before[] = "worker process ", after[] = " was ended by signal 9";

    if (target->cause)
        return strstr(message, target->cause) && strstr(message, target->kernel);
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

/* ---- rounds ------------------------------------------------------------------------------------
 */

static device_pool *pool;
static pthread_t threads[DEVICES * THREADS];

static const char devices[] = "workers:sim:4,mem=512M";

static void open_targets(void)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};

    assert_ok(pool_create(&pool, &params));
    memset(targets, 0, sizeof(targets));
    for (uint32_t i = 0; i < DEVICES; i++) {
        pthread_mutex_init(&targets[i].lock, NULL);
        assert_ok(pool_device_at(pool, i, &targets[i].device));
    }
}

static void start_jobs(void)
{
    for (unsigned i = 0; i < DEVICES * THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_jobs, &targets[i % DEVICES]), 0);
}

static void assert_every_job_has_ended_well(struct target *target)
{
    if (target->unexpected[0])
        fail_msg("device %d: %s", pool_device_ordinal(target->device), target->unexpected);
    assert_int_equal(
        atomic_load(&target->started), atomic_load(&target->done) + atomic_load(&target->lost));
    assert_true(target->cause || atomic_load(&target->shots) || !atomic_load(&target->lost));
    for (unsigned i = 0; i < atomic_load(&target->shots); i++)
        assert_int_equal(kill(atomic_load(&target->shot[i]), 0), -1);
}

/* After the losses: all devices compute. */
static void close_targets(void)
{
    pool_health_info health = {.struct_size = sizeof(health)};

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

static void run_random_kills(void)
{
    unsigned spared = (unsigned)random_below(DEVICES);

    open_targets();
    start_jobs();
    for (int i = 0; i < SHOTS; i++) {
        unsigned target = (unsigned)random_below(DEVICES);

        usleep((unsigned)random_below(60000));
        if (target != spared)
            shoot(&targets[target]);
    }
    close_targets();
}

/* A kernel that harms its device, launched in a pool of its own, which the library watches for
 * progress if `stall_timeout_ns` is not 0. What is slow but right is in the pool of the jobs, which
 * it does not watch. */
struct fault {
    const char *kernel_name, *ptx, *cause;
    uint64_t stall_timeout_ns;
    device_pool *pool;
    pool_device *device;
    pool_module *module;
    pool_kernel *kernel;
    pool_stream *stream;
};

#define HEADER ".version 7.0\n.target sm_75\n.address_size 64\n"

static const struct fault kinds[] = {
    {"store",
        HEADER ".visible .entry store()\n{\n\t.reg .u64 %a;\n\tmov.u64 %a, 16;\n"
               "\tst.global.u32 [%a], 1;\n\tret;\n}\n",
        "ILLEGAL_ADDRESS", .stall_timeout_ns = 0},
    {"spin", HEADER ".visible .entry spin()\n{\nagain:\n\tbra again;\n}\n", "no progress",
        .stall_timeout_ns = 50000000}};

enum { FAULTS = 2 };

static void open_fault(struct fault *fault, unsigned index)
{
    const pool_params params = {.struct_size = sizeof(params),
        .devices = devices,
        .stall_timeout_ns = fault->stall_timeout_ns};
    struct worker_status status;

    assert_ok(pool_create(&fault->pool, &params));
    assert_ok(pool_device_at(fault->pool, index, &fault->device));
    assert_ok(pool_module_load(fault->device, fault->ptx, strlen(fault->ptx), &fault->module));
    assert_ok(pool_kernel_get(fault->module, fault->kernel_name, &fault->kernel));
    assert_ok(pool_stream_create(fault->device, NULL, &fault->stream));
    assert_true(worker_get_status(pool_device_ordinal(fault->device), &status));
    targets[index].generation = status.generation;
    targets[index].cause = fault->cause;
    targets[index].kernel = fault->kernel_name;
}

/* The launch may report the fault that it is the cause of. */
static void launch(struct fault *fault)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_status status = pool_launch(fault->kernel, &shape, NULL, fault->stream);

    if (status)
        assert_status(status, POOL_ERR_DEVICE_LOST);
}

static void close_fault(struct fault *fault)
{
    (void)pool_stream_destroy(&fault->stream);
    (void)pool_module_destroy(&fault->module);
    assert_ok(pool_destroy(&fault->pool));
}

/* The bindings keep the devices out of service in these pools: nothing else runs in them. */
static void run_faults(const unsigned where[FAULTS])
{
    struct fault faults[FAULTS];
    struct worker_status status;

    open_targets();
    memcpy(faults, kinds, sizeof(faults));
    for (int i = 0; i < FAULTS; i++) {
        open_fault(&faults[i], where[i]);
        for (int j = 0; j < FAULTS; j++) {
            pool_device *device;

            assert_ok(pool_device_at(faults[i].pool, where[j], &device));
            assert_ok(pool_bind(device));
        }
    }
    start_jobs();
    for (unsigned i = 0; i < DEVICES; i++)
        while (atomic_load(&targets[i].done) < THREADS)
            usleep(1000);
    for (int i = FAULTS - 1; i >= 0; i--) /* the hang first, of which nobody knows yet */
        launch(&faults[i]);
    for (int i = 0; i < FAULTS; i++) {
        assert_status(pool_stream_synchronize(faults[i].stream), POOL_ERR_DEVICE_LOST);
        assert_says(faults[i].cause);
        assert_says(faults[i].kernel_name);
    }
    for (int i = 0; i < FAULTS; i++)
        wait_for_service(&targets[where[i]]);
    for (int i = FAULTS - 1; i >= 0; i--) {
        for (int j = FAULTS - 1; j >= 0; j--) {
            pool_device *device;

            assert_ok(pool_device_at(faults[i].pool, where[j], &device));
            assert_ok(pool_unbind(device));
        }
        close_fault(&faults[i]);
    }
    for (unsigned i = 0; i < DEVICES; i++) {
        assert_true(worker_get_status(pool_device_ordinal(targets[i].device), &status));
        assert_int_equal(status.generation, targets[i].cause ? 2 : 1);
    }
    close_targets();
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void test_faults(void **state)
{
    static const unsigned places[][FAULTS] = {{0, 1}, {3, 0}, {1, 2}};
    struct left_behind before = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        run_faults(places[i]);
        if (i == 0) /* what the library keeps for the process is created */
            before = look();
        assert_nothing_left(before);
    }
}

static void test_random(void **state)
{
    time_t end = time(NULL) + (time_t)seconds;
    unsigned rounds = 0;
    struct left_behind before;

    (void)state;
    printf("seed %llu\n", (unsigned long long)seed);
    run_random_kills(); /* what the library keeps for the process is created */
    before = look();
    do {
        unsigned faulting = (unsigned)random_below(DEVICES);
        const unsigned where[FAULTS] = {
            faulting, (faulting + 1 + (unsigned)random_below(DEVICES - 1)) % DEVICES};

        run_random_kills();
        assert_nothing_left(before);
        run_faults(where);
        assert_nothing_left(before);
        rounds++;
    } while (time(NULL) < end);
    printf("%u rounds\n", rounds);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest faults[] = {cmocka_unit_test(test_faults)};
    const struct CMUnitTest random[] = {cmocka_unit_test(test_random)};

    /* The same device may be killed several times within a second. */
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "1", 1);
    if (count < 2)
        return cmocka_run_group_tests(faults, NULL, NULL);
    seconds = strtoull(arguments[1], NULL, 10);
    seed = count > 2 ? strtoull(arguments[2], NULL, 10) : (uint64_t)time(NULL);
    return cmocka_run_group_tests(random, NULL, NULL);
}
