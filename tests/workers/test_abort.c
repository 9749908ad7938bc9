/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process that ends at any step of the protocol costs its own device, with a cause, and
 * nothing else: DEVICEPOOL_WORKER_ABORT kills the worker of one of two devices when it takes a
 * step for the first, second, … time, until a pool with a small job does not reach the count.
 *
 *   test_abort [all]: every count instead of powers of two
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "left_behind.h"
#include "support/assert.h"
#include "driver/worker/worker.h"

enum { DEVICES = 2, VICTIM = 1 };

static bool takes_all;
static device_pool *pool;

static pool_device *device_at(uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

static void set_abort(const char *step, unsigned count)
{
    char text[64];

    snprintf(text, sizeof(text), "dev%d.%s@%u", VICTIM, step, count);
    setenv("DEVICEPOOL_WORKER_ABORT", text, 1);
}

static bool was_lost(void)
{
    struct worker_status status;

    assert_true(worker_get_status(VICTIM, &status));
    return status.cause[0];
}

/* The call says why it failed, and the other devices compute. */
static void assert_only_victim_is_lost(pool_status status)
{
    if (status != POOL_ERR_DEVICE_LOST)
        assert_status(status, POOL_ERR_DEVICE_UNUSABLE);
    assert_says("signal 9");
    for (uint32_t i = 0; i < DEVICES; i++)
        if (i != VICTIM)
            assert_ok(run_job(device_at(i), i));
}

/* A pool, a job on the device whose worker ends, and the end of the pool; whether it was lost. */
static bool run_pool(const char *step, unsigned count)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:2,mem=512M"};
    struct left_behind before;
    pool_status status;
    bool is_lost;

    set_abort(step, count);
    before = look();
    assert_ok(pool_create(&pool, &params));
    status = run_job(device_at(VICTIM), count);
    if (status)
        assert_only_victim_is_lost(status);
    is_lost = status || was_lost();
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
    return is_lost;
}

/* The counts beyond what the job needs end in pool_destroy. */
static void walk(const char *step, bool is_in_job)
{
    unsigned count = 1, beyond = 0, lost = 0;

    while (beyond < 2) {
        bool is_lost = run_pool(step, count);

        lost += is_lost;
        beyond = is_lost ? 0 : beyond + 1;
        count += takes_all || beyond ? 1 : count;
    }
    printf("%-10s lost at %u of the counts to %u\n", step, lost, count - 1);
    assert_true(!is_in_job || lost > 0);
}

static void test_start(void **state)
{
    static const char *const steps[] = {"start", "control", "driver", "table", "ready", "notified"};

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        assert_true(run_pool(steps[i], 1));
}

static void test_calls(void **state)
{
    (void)state;
    walk("ring", true);
    walk("call", true);
    walk("executed", true);
    walk("reply", true);
}

static void test_posted_calls(void **state)
{
    (void)state;
    walk("posted", true);
    walk("done", true);
}

static void test_host_functions(void **state)
{
    (void)state;
    walk("host-call", true);
    walk("host-done", true);
}

static void test_end(void **state)
{
    (void)state;
    assert_false(run_pool("end", 1));
}

/* Of a pool whose only worker process ends: what fails, and with what. */
static pool_status use_only_device(const char *step, unsigned count)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:1,mem=512M"};
    char text[64];
    pool_status status;

    snprintf(text, sizeof(text), "dev0.%s@%u", step, count);
    setenv("DEVICEPOOL_WORKER_ABORT", text, 1);
    status = pool_create(&pool, &params);
    if (status)
        return status;
    status = run_job(device_at(0), count);
    if (status)
        assert_says("signal 9");
    assert_ok(pool_destroy(&pool));
    return status == POOL_ERR_DEVICE_LOST ? POOL_OK : status;
}

/* A process that has never run is not replaced; the cause says how far it came. */
static void test_only_device_start(void **state)
{
    static const struct {
        const char *step, *phase;
    } cases[] = {{"start", "before it opened the driver"},
        {"control", "before it opened the driver"}, {"driver", "while it opened the driver"},
        {"table", "while it opened the driver"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_status(use_only_device(cases[i].step, 1), POOL_ERR_NO_DEVICE);
        assert_says("signal 9");
        assert_says(cases[i].phase);
    }
}

/* One that has run is lost, also if it ends in a call of pool_create. */
static void test_only_device_calls(void **state)
{
    unsigned lost = 0;

    (void)state;
    for (unsigned count = 1; count <= 48; count++) {
        pool_status status = use_only_device("call", count);

        if (!status)
            continue;
        assert_status(status, POOL_ERR_DEVICE_LOST);
        assert_says("signal 9");
        lost++;
    }
    assert_true(lost > 0);
}

/* A variable that says nothing useful is reported, not ignored. */
static void test_malformed(void **state)
{
    static const char *const texts[] = {
        "start", "dev1", "dev1.never", "dev1.start@", "dev1.start@0", "dev1.gen.start"};
    const pool_params params = {.struct_size = sizeof(params), .devices = "workers:sim:1,mem=512M"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        pool_status status;

        setenv("DEVICEPOOL_WORKER_ABORT", texts[i], 1);
        status = pool_create(&pool, &params);
        if (!status) {
            status = run_job(device_at(0), 1);
            assert_says("DEVICEPOOL_WORKER_ABORT");
            assert_ok(pool_destroy(&pool));
        } else {
            assert_says("DEVICEPOOL_WORKER_ABORT");
        }
        assert_int_not_equal(status, POOL_OK);
    }
}

/* A pool that a failed test has left would keep its workers for the next one. */
static int close_pool(void **state)
{
    (void)state;
    unsetenv("DEVICEPOOL_WORKER_ABORT");
    return pool_destroy(&pool) != POOL_OK;
}

#define TEST(name) cmocka_unit_test_teardown(name, close_pool)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {TEST(test_start), TEST(test_calls), TEST(test_posted_calls),
        TEST(test_host_functions), TEST(test_end), TEST(test_only_device_start),
        TEST(test_only_device_calls), TEST(test_malformed)};

    takes_all = count > 1 && strcmp(arguments[1], "all") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
