/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel of the user stores to an address that nobody has, or a worker is killed, while the next
 * device computes: the jobs of that one are all right, and the device that was lost is in service
 * again in the same pool. Prints how long that took, from the call that failed or from the signal
 * to the first right job.
 *
 *   test_fault [DEVICES]: exit 77 unless there are two of them
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "job.h"
#include "left_behind.h"
#include "support/assert.h"
#include "driver/worker/worker.h"

/* Far more than a return takes. */
#define PATIENCE_NS UINT64_C(600000000000)

/* With more losses in a row than the library accepts the device would be given up. */
enum { ROUNDS = 4 };

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry store(.param .u64 address)\n{\n"
                          "\t.reg .u64 %a;\n"
                          "\tld.param.u64 %a, [address];\n"
                          "\tst.global.u32 [%a], 1;\n\tret;\n}\n";

static const char *devices = "workers:sim:2,mem=1G";
static device_pool *pool;

static pool_device *device_at(uint32_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

static struct worker_status worker_of(pool_device *device)
{
    struct worker_status status;

    assert_true(worker_get_status(pool_device_ordinal(device), &status));
    return status;
}

/* ---- the other device ---------------------------------------------------------------------------
 */

static struct {
    atomic_bool stops;
    atomic_uint done;
    unsigned failed;
    char message[1024];
} other;

static void *run_jobs(void *user)
{
    for (uint32_t i = 0; !atomic_load(&other.stops); i++) {
        pool_status status = run_job(user, i);

        if (!status) {
            atomic_fetch_add(&other.done, 1);
            continue;
        }
        other.failed++;
        snprintf(other.message, sizeof(other.message), "%s: %s", pool_status_name(status),
            status == POOL_ERR_INTERNAL ? "a result is wrong" : pool_last_error()->message);
    }
    return NULL;
}

/* It computes from before the loss until after the return. */
static void wait_for_other(void)
{
    unsigned before = atomic_load(&other.done);
    uint64_t end = base_clock_ns() + PATIENCE_NS;

    while (atomic_load(&other.done) < before + 2) {
        assert_true(base_clock_ns() < end);
        usleep(1000);
    }
}

/* ---- losses
 * --------------------------------------------------------------------------------------
 */

/* Returns the time of the call that reported it. */
static uint64_t store_to_nowhere(pool_device *device)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 1};
    CUdeviceptr address = 0x10;
    void *arguments[] = {&address};
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    pool_stream *stream = NULL;
    pool_status status;
    uint64_t lost;

    assert_ok(pool_module_load(device, ptx, strlen(ptx), &module));
    assert_ok(pool_kernel_get(module, "store", &kernel));
    assert_ok(pool_stream_create(device, NULL, &stream));
    status = pool_launch(kernel, &shape, arguments, stream); /* may report its own fault */
    if (status)
        assert_status(status, POOL_ERR_DEVICE_LOST);
    status = pool_stream_synchronize(stream);
    lost = base_clock_ns();
    assert_status(status, POOL_ERR_DEVICE_LOST);
    assert_says("ILLEGAL_ADDRESS");
    (void)pool_stream_destroy(&stream); /* says it once more */
    assert_null(stream);
    pool_module_destroy(&module);
    return lost;
}

static uint64_t kill_worker(pool_device *device)
{
    uint64_t killed = base_clock_ns();

    assert_int_equal(kill(worker_of(device).pid, SIGKILL), 0);
    return killed;
}

/* A right job in a later process than `generation`. What fails until then says that the device is
 * lost. */
static void wait_for_service(pool_device *device, unsigned generation)
{
    uint64_t end = base_clock_ns() + PATIENCE_NS;

    for (;;) {
        pool_status status = run_job(device, generation);

        if (!status && worker_of(device).generation > generation)
            return;
        if (status)
            assert_status(status, POOL_ERR_DEVICE_LOST);
        if (base_clock_ns() > end)
            fail_msg("the device is not in service: %s", worker_of(device).cause);
        usleep(1000);
    }
}

/* The message of the last loss; read when no thread writes it. */
static char reported[1024];

static void keep_message(void *user, const pool_fault *fault)
{
    (void)user;
    snprintf(reported, sizeof(reported), "%s", fault->message);
}

static void lose_repeatedly(const char *what, uint64_t (*lose)(pool_device *device))
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = devices, .fault_hook = keep_message};
    struct left_behind before = look();
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device *device;
    pthread_t thread;

    assert_ok(pool_create(&pool, &params));
    device = device_at(0);
    memset(&other, 0, sizeof(other));
    assert_int_equal(pthread_create(&thread, NULL, run_jobs, device_at(1)), 0);
    assert_ok(run_job(device, 0));
    for (int i = 0; i < ROUNDS; i++) {
        unsigned generation = worker_of(device).generation;
        uint64_t lost;

        wait_for_other();
        lost = lose(device);
        wait_for_service(device, generation);
        printf(
            "%s: in service again after %.3f s\n", what, (double)(base_clock_ns() - lost) * 1e-9);
        wait_for_other();
    }
    atomic_store(&other.stops, true);
    pthread_join(thread, NULL);
    if (other.failed)
        fail_msg("%u jobs of the other device have failed: %s", other.failed, other.message);
    assert_int_equal(worker_of(device_at(1)).generation, 1);
    assert_ok(pool_get_health(pool, &health));
    assert_int_equal(health.harmed, POOL_CLASS_NONE);
    assert_ok(pool_destroy(&pool));
    assert_nothing_left(before);
}

static void test_illegal_address(void **state)
{
    (void)state;
    lose_repeatedly("illegal address", store_to_nowhere);
    if (!strstr(reported, "ILLEGAL_ADDRESS") || !strstr(reported, "unfinished") ||
        !strstr(reported, "store"))
        fail_msg("the kernel is not in \"%s\"", reported);
}

static void test_kill(void **state)
{
    (void)state;
    lose_repeatedly("signal 9", kill_worker);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_illegal_address), cmocka_unit_test(test_kill)};
    pool_params params = {.struct_size = sizeof(params), .min_devices = 2};

    if (count > 1)
        devices = arguments[1];
    /* Replacements start at once, as after a first loss. */
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "0", 1);
    params.devices = devices;
    if (pool_create(&pool, &params)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    /* With its first program NVRTC may start a thread of the driver in this process. */
    if (run_job(device_at(0), 0) || pool_destroy(&pool))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
