/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of devices: right and wrong results, a device that does not answer in time, and how a
 * quarantined device becomes ready again. With a device string the parts that need no injected
 * fault run on GPUs (exit code 77 without one).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "base/clock.h"
#include "support/assert.h"

#define SECOND ((uint64_t)1000000000)

static const char *device_text = "sim:2,mem=64M";
static int reports;
static char report[1024];

static void count_report(void *user, const pool_fault *fault)
{
    (void)user;
    reports++;
    assert_int_equal(fault->error_class, POOL_CLASS_DEVICE);
    snprintf(report, sizeof(report), "%s", fault->message);
}

static device_pool *create_pool(void)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = device_text, .fault_hook = count_report};
    device_pool *pool = NULL;

    reports = 0;
    assert_ok(pool_create(&pool, &params));
    return pool;
}

static pool_device *device_at(device_pool *pool, size_t index)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, index, &device));
    return device;
}

static void test_probe(void **state)
{
    device_pool *pool = create_pool();
    pool_memory_info before = {.struct_size = sizeof(before)}, after = before;

    (void)state;
    for (size_t i = 0; i < pool_device_count(pool); i++) {
        pool_device *device = device_at(pool, i);

        assert_ok(pool_device_probe(device, 60 * SECOND));
        assert_ok(pool_memory_get_info(device, &before));
        for (int k = 0; k < 5; k++)
            assert_ok(pool_device_probe(device, 60 * SECOND));
        assert_ok(pool_memory_get_info(device, &after));
        assert_int_equal(after.used_bytes, before.used_bytes);
        assert_int_equal(after.pinned_bytes, before.pinned_bytes);
        /* Out of service and into service again. */
        assert_ok(pool_device_quarantine(device, "suspected"));
        assert_int_equal(pool_device_resume(device), POOL_ERR_BUSY);
        assert_ok(pool_device_probe(device, 60 * SECOND));
        assert_ok(pool_device_resume(device));
        assert_ok(pool_device_drain(device));
        assert_ok(pool_device_probe(device, 60 * SECOND));
        assert_ok(pool_device_wait_drained(device, 60 * SECOND));
        assert_ok(pool_device_resume(device));
    }
    assert_int_equal(reports, 0);
    assert_int_equal(pool_device_probe(NULL, 0), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_destroy(&pool));
}

/* A kernel that does not end: the call returns, the next one says that a probe is in progress. */
static void test_hung_probe(void **state)
{
    device_pool *pool = create_pool();
    pool_device *device = device_at(pool, 1);
    pool_status status;
    uint64_t start;

    (void)state;
    assert_ok(pool_device_quarantine(device, "suspected"));
    assert_ok(pool_sim_set_faults("dev1.cuLaunchKernel*@1=hang"));
    start = base_clock_ns();
    assert_int_equal(pool_device_probe(device, SECOND / 5), POOL_ERR_TIMEOUT);
    assert_true(base_clock_ns() - start < 10 * SECOND);
    assert_says("has not answered");
    assert_int_equal(pool_device_probe(device, SECOND), POOL_ERR_BUSY);
    assert_int_equal(pool_destroy(&pool), POOL_ERR_BUSY);
    assert_says("1 probe");
    assert_ok(pool_device_probe(device_at(pool, 0), 60 * SECOND));
    /* The late result does not count: the next probe fails, and the device stays quarantined. */
    assert_ok(pool_sim_set_faults("dev1.cuLaunchKernel*@1=701"));
    assert_ok(pool_sim_resume());
    start = base_clock_ns();
    while ((status = pool_device_probe(device, 60 * SECOND)) == POOL_ERR_BUSY) {
        assert_true(base_clock_ns() - start < 60 * SECOND);
        usleep(1000);
    }
    assert_int_not_equal(status, POOL_OK);
    assert_says("cuLaunchKernel");
    assert_int_equal(pool_device_resume(device), POOL_ERR_BUSY);
    assert_ok(pool_sim_set_faults(NULL));
    assert_ok(pool_device_probe(device, 60 * SECOND));
    assert_ok(pool_device_resume(device));
    assert_int_equal(reports, 0);
    assert_ok(pool_destroy(&pool));
}

/* Failures on the way are the probe's, and change no state. */
static void test_failing_probe(void **state)
{
    device_pool *pool = create_pool();
    pool_device *device = device_at(pool, 0);
    pool_device_info info = {.struct_size = sizeof(info)};

    (void)state;
    assert_ok(pool_sim_set_faults("cuLaunchKernel*@1=701"));
    assert_int_not_equal(pool_device_probe(device, 60 * SECOND), POOL_OK);
    assert_says("cuLaunchKernel");
    assert_ok(pool_sim_set_faults(NULL));
    assert_ok(pool_device_get_info(device, &info));
    assert_int_equal(info.state, POOL_DEVICE_READY);
    assert_ok(pool_device_probe(device, 60 * SECOND));
    assert_ok(pool_destroy(&pool));
}

/* The copy of the results is left out, so that they are wrong. */
static void test_wrong_results(void **state)
{
    pool_mock *mock = NULL;
    const pool_mock_params mock_params = {.struct_size = sizeof(mock_params), .devices = 2};
    pool_params params = {.struct_size = sizeof(params), .fault_hook = count_report};
    pool_device_info info = {.struct_size = sizeof(info)};
    device_pool *pool = NULL;
    pool_device *device;
    char *text = NULL;

    (void)state;
    reports = 0;
    assert_ok(pool_mock_create(&mock, &mock_params)); /* its kernels compute nothing */
    params.driver = pool_mock_table(mock);
    assert_ok(pool_create(&pool, &params));
    device = device_at(pool, 0);
    assert_int_equal(pool_device_probe(device, 60 * SECOND), POOL_ERR_DEVICE_UNUSABLE);
    assert_says("wrong results");
    assert_int_equal(reports, 1);
    assert_non_null(strstr(report, "wrong results"));
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    assert_non_null(
        strstr(text, "_faults_total{device=\"0\",class=\"device\",code=\"probe_failed\"} 1\n"));
    pool_text_free(&text);
    assert_ok(pool_device_get_info(device, &info));
    assert_int_equal(info.state, POOL_DEVICE_QUARANTINED);
    assert_non_null(strstr(info.reason, "wrong results"));
    assert_int_equal(pool_device_resume(device), POOL_ERR_BUSY);
    assert_ok(pool_destroy(&pool));
    pool_mock_destroy(&mock);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest on_gpu[] = {cmocka_unit_test(test_probe)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_hung_probe),
        cmocka_unit_test(test_failing_probe),
        cmocka_unit_test(test_wrong_results),
    };

    if (argc > 1) {
        const pool_params params = {.struct_size = sizeof(params), .devices = argv[1]};
        device_pool *pool = NULL;

        if (pool_create(&pool, &params)) {
            printf("no device: %s\n", pool_last_error()->message);
            return 77;
        }
        device_text = argv[1];
        if (pool_destroy(&pool))
            return 1;
        return cmocka_run_group_tests_name("probe", on_gpu, NULL, NULL);
    }
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
